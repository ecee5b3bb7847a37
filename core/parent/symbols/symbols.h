/* SPDX-License-Identifier: MIT */
/*
 * A file's code: functions by name, lines, markers, and the way back from an address to a name.
 * Read with libdwfl from the file itself, from separate debug information on this machine (by build-id or debug link;
 * nothing is ever fetched) and from the small symbol table that some systems leave in stripped files (.gnu_debugdata).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* Files that were read, so that none is read twice. */
struct symbol_files;
struct symbol_file;

struct symbol_files *symbol_files_new(void);
void symbol_files_delete(struct symbol_files *files);

/* The file at path, opened now or before; it lives as long as files. NULL: it cannot be read, or is no ELF file. */
struct symbol_file *symbol_file_open(struct symbol_files *files, const char *path, struct rot_error *err);

/* The same, if it is still the file with that inode. NULL: it is gone, replaced, or cannot be read. */
struct symbol_file *symbol_file_open_same(struct symbol_files *files, const char *path, ino_t inode);

/*
 * A stretch of code. address: link-time; size in bytes, 0: not known. file_offset: where it stands in the file. name:
 * NULL if it has none; lives as long as the file. reach: where ordered ranges up to this one end, whichever does last.
 */
struct symbol_range {
	uint64_t address, size, file_offset, reach;
	const char *name;
	bool is_global;   /* other objects can call it by its name            */
	bool is_resolver; /* an ifunc: returns the function that is meant      */
};

/* Ordered by address; free with symbol_ranges_clear; {0} is empty. */
struct symbol_ranges {
	struct symbol_range *ranges;
	size_t nr_ranges;
};

void symbol_ranges_add(struct symbol_ranges *ranges, const struct symbol_range *range);
void symbol_ranges_clear(struct symbol_ranges *ranges);

/*
 * Adds the functions called name: as in the symbol table, without a version (memcpy for memcpy@@GLIBC_2.14), and with
 * what compilers add to copies of a function (.constprop.0, .isra.0). If there is none, C++ and Rust functions by their
 * name without parameters and template arguments, whole (ns::solve) or the end of it (solve): all overloads. Of several
 * names for the same address one is given.
 */
void symbols_find_function(struct symbol_file *file, const char *name, struct symbol_ranges *found);

/*
 * The function that address lies in: by its symbol, as an entry of the PLT ("malloc@plt"), or (without a name) by its
 * frame description in .eh_frame, which stripped files have as well. False: none.
 */
bool symbols_function_at(struct symbol_file *file, uint64_t address, struct symbol_range *range);

/* The last name that stands in the file before a link-time address, or NULL. Lives as long as the file. */
const char *symbols_name_before(const struct symbol_file *file, uint64_t address);

/* The name that the loader knows a library by ("libz.so.1", whatever its file is called), or NULL. Lives with file. */
const char *symbols_library_name(const struct symbol_file *file);

/* Does it ask for a function that loads libraries or starts programs? A file that is not linked dynamically may. */
bool symbols_can_load(const struct symbol_file *file);

/* False: the file does not name its functions. */
bool symbols_has_functions(const struct symbol_file *file);

/* A name that is like the one wanted, or NULL. */
const char *symbols_nearest(struct symbol_file *file, const char *name);

/*
 * Adds for each function (and each copy of it that is inlined in another) the first instruction of a line; size is 0.
 * source: path of the source file, or the end of it from a '/' on. -1: no debug information (there is a hint then), no
 * such file, several of this name, or no code on that line (the hint names the next line that has some).
 * *nr_sources: that are called so, of those that the file was compiled from.
 */
int symbols_find_line(struct symbol_file *file, const char *source, int line, struct symbol_ranges *found,
		      size_t *nr_sources, struct rot_error *err);

/* The source line that the code at a link-time address is of: its file without folders, and its number. NULL: none. */
const char *symbols_line_at(const struct symbol_file *file, uint64_t address, int *line);

/* Adds the places of the markers that begin or end the region of rot-marker.h called name; size is 0. */
void symbols_find_marker(struct symbol_file *file, const char *name, bool is_end, struct symbol_ranges *found);

/*
 * Adds each "mov $number, %ebx" in code that the bytes 64 67 90, a nop with prefixes, stand behind: a mark as emulators
 * and simulators know it; address only. Source: Intel SDE, "SSC marks"; __SSC_MARK of clang.
 */
void symbols_find_ssc(struct symbol_file *file, uint32_t number, struct symbol_ranges *found);

/*
 * Adds the variables that have a place in memory of their own, ordered by address, and the sections that are loaded and
 * are no code. Of several names for the same address one is given.
 */
void symbols_find_data(struct symbol_file *file, struct symbol_ranges *variables, struct symbol_ranges *sections);

/* size bytes of the file that stand at a link-time address, or NULL. They live as long as the file. */
const uint8_t *symbols_bytes(struct symbol_file *file, uint64_t address, uint64_t size);

/* True if what stands at a link-time address can be executed. */
bool symbols_is_code(const struct symbol_file *file, uint64_t address);

/* Where a link-time address of code stands in the file. False: nowhere. */
bool symbols_file_offset(struct symbol_file *file, uint64_t address, uint64_t *offset);

/* And back: the link-time address of code that stands there in the file. False: that is no code. */
bool symbols_address(const struct symbol_file *file, uint64_t offset, uint64_t *address);

/*
 * True: the stack at an instruction is as it was when the function was entered, so that a jump there may be the last
 * thing the function does. From .eh_frame; unknown (no entry) counts as true.
 */
bool symbols_is_at_entry_depth(struct symbol_file *file, uint64_t address);
