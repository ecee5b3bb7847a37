/* SPDX-License-Identifier: MIT */
/* Where a function begins and where it is left, with the parts of it that the compiler put elsewhere. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "parent/symbols/code.h"
#include "parent/symbols/symbols.h"

/*
 * begin: its first instruction; the one behind endbr64, which the kernel would have to single-step at a probe
 * is_reentered: its own code jumps back to begin, or to the endbr64 before it
 * exits: each ret, and each jump out of it that can be the last thing it does
 * team: what its code hands to OpenMP, so that other threads execute it as well; a function may be there several times
 */
struct function_shape {
	uint64_t begin;
	bool is_reentered;
	struct code_exits exits;
	struct symbol_ranges team;
};

/*
 * A jump out of the function's range is a tail call, unless the stack is not as at its entry then, or the target is
 * code that jumps back into the middle of the function, or is called NAME.cold: then that is a part of the function,
 * and looked at likewise. An indirect jump counts by the same rule, unless it looks like a switch (code.h); one through
 * a table of addresses within the function does not count.
 *
 * Code that the last instruction runs on into is a part as well.
 *
 * -1: the code cannot be read. Free with function_shape_clear.
 */
int function_look_at(struct symbol_file *file, const struct symbol_range *function, struct function_shape *shape,
		     struct rot_error *err);
void function_shape_clear(struct function_shape *shape);

/*
 * The name of a function that this one calls, directly or through others of the file, and that hands parts of itself to
 * OpenMP; NULL: there is none among the first thousand. It lives as long as the file.
 */
const char *function_team_below(struct symbol_file *file, const struct symbol_range *function);

/* Adds the functions whose addresses an ifunc's resolver has as constants: one of them is what it returns. */
void function_choices(struct symbol_file *file, const struct symbol_range *resolver, struct symbol_ranges *choices);
