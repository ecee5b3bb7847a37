/* SPDX-License-Identifier: MIT */
/* One opened file, shared by symbols.c and symbol_lines.c. Addresses in it are link-time addresses. */
#pragma once

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "parent/symbols/symbols.h"

/*
 * functions, frames, plt: ordered by address; frames and plt are read when first asked for. Frames have no names, and
 *                         names of plt are memory of their own
 * unwind_rows: of unwind.c
 * bytes: the whole file
 * bias: address of Dwfl minus link-time address
 */
struct symbol_file {
	char *path;
	struct stat status;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	GElf_Addr bias;
	const uint8_t *bytes;
	size_t nr_bytes;
	struct symbol_ranges functions;
	struct symbol_ranges frames;
	struct symbol_ranges plt;
	bool frames_are_read, plt_is_read;
	struct unwind_rows *unwind_rows;
};

/* The segment of the file that is loaded to address; NULL: none. */
bool symbol_file_segment(const struct symbol_file *file, uint64_t address, GElf_Phdr *segment);

/* A section by its name, or NULL. */
Elf_Scn *symbol_file_section(const struct symbol_file *file, const char *name, GElf_Shdr *header);

/* The last of the ordered ranges that begins at or before address, or NULL. */
const struct symbol_range *symbol_ranges_before(const struct symbol_ranges *ranges, uint64_t address);

/* Orders by address; of ranges with the same address the first stays. */
void symbol_ranges_order(struct symbol_ranges *ranges);

/* Likewise, but all of them stay. */
void symbol_ranges_sort(struct symbol_ranges *ranges);

/* All frame descriptions. */
const struct symbol_ranges *symbol_file_frames(struct symbol_file *file);

/* Entries of the PLT, called as the function that they lead to: "malloc@plt". */
const struct symbol_ranges *symbol_file_plt(struct symbol_file *file);

/* While nothing may be fetched from the network: debuginfod_hide before, debuginfod_show with its result after. */
char *debuginfod_hide(void);
void debuginfod_show(char *urls);
