/* SPDX-License-Identifier: MIT */
/* From what people write as begin and end of a region to addresses in a process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "parent/symbols/code.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/symbols.h"

/* ---- how people write a place: [OBJECT:] and FUNCTION, 0xADDRESS, FILE:LINE, MARKER, ssc or ssc:NUMBER ---- */

enum place_kind { PLACE_MARKER = 1, PLACE_FUNCTION = 2, PLACE_ADDRESS = 4, PLACE_LINE = 8, PLACE_SSC = 16 };

/*
 * kinds:   what it may be; a word may be a function or a marker, and ssc also a mark of the usual number
 * object:  NULL: any
 * name:    function, marker or source file; NULL with an address and a numbered mark
 * address: or the number of a mark
 */
struct place_name {
	unsigned kinds;
	char *object;
	char *name;
	int line;
	uint64_t address;
};

/* -1: that is no place. Two colons side by side belong to the name of a function. Free with place_name_clear. */
int place_name_read(const char *text, struct place_name *name, struct rot_error *err);
void place_name_clear(struct place_name *name);

/* ---- where that is ---- */

/*
 * object:      borrowed from the objects it was found in
 * address:     run time
 * file_offset: of the instruction in object->file
 * condition:   CODE_ALWAYS, or: a thread that stands there is at the place only if code_is_taken (code.h) says so of
 *              its registers, as with a conditional jump that leaves a function
 * is_team:     of a part of the region's function that every thread of an OpenMP team executes
 * text:        for people: FUNCTION+0x0 (OBJECT:0xADDRESS), the address as in the file
 */
struct place {
	struct object *object;
	uint64_t address, file_offset;
	uint8_t condition;
	bool is_team;
	char *text;
};

/*
 * is_function: the region is a function from its first instruction, where rsp points to the return address, to the
 *              instructions that leave it, where it points there again. Otherwise rsp has any value at both.
 * is_reentered: of a function: code of its own jumps back to its first instruction, so that a thread can pass it
 * several times (with the same rsp) before it leaves. team_below: function_team_below (function_exits.h) of one of the
 * functions.
 */
struct region_places {
	struct place *begins, *ends;
	size_t nr_begins, nr_ends;
	bool is_function;
	bool is_reentered;
	const char *team_below; /* borrowed from files */
};

/*
 * begin, end: FUNCTION, 0xADDRESS (link-time: as in the file of the program, or of the object named), FILE:LINE, the
 * name of a marker, or ssc:NUMBER; "OBJECT:" before it names the object (object_is_called). A number after the last ':'
 * is a line, but behind ssc. "ssc" alone is the mark 0xFACE as a begin and 0xDEAD as an end.
 * Without an object, the program is looked into first, for a marker, then for a function, and if there is none all
 * libraries, for functions that others can call; addresses are those of the program.
 *
 * end NULL or "": of a function (by name, or by the address of its first instruction) wherever it is left, of a marker
 * and of "ssc" its ends; of anything else an error.
 *
 * -1: nothing is called so (similar names are in the hint), or it is no place that can be observed. Several functions
 * of one name, and several copies of a line or marker, are all places. Free with region_places_clear.
 */
int places_resolve(struct symbol_files *files, const struct objects *objects, const char *begin, const char *end,
		   struct region_places *places, struct rot_error *err);
void region_places_clear(struct region_places *places);

/*
 * Can what was not found still come? The object that it names is not there yet, or one of the objects asks for
 * functions that load libraries or start programs.
 */
bool places_may_come(struct symbol_files *files, const struct objects *objects, const char *begin, const char *end);

/* The code at a run-time address, as in struct place; NULL: it is of no object. Free it. */
char *place_text_at(struct symbol_files *files, const struct objects *objects, uint64_t address);

/* "FILE:LINE" of the code at a run-time address; NULL: not known. Free it. */
char *place_line_at(struct symbol_files *files, const struct objects *objects, uint64_t address);
