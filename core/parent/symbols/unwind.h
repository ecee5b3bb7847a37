/* SPDX-License-Identifier: MIT */
/*
 * From the registers in a function to those in its caller, by what .eh_frame says of the code, which stripped files
 * have as well. What is read of a file is kept with it, so each instruction is looked up once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/symbols/symbols.h"

/* DWARF's numbers. Source: System V ABI for x86-64, 3.6.2 */
enum { UNWIND_RBP = 6, UNWIND_RSP = 7, UNWIND_RIP = 16, UNWIND_NR_REGISTERS = 17 };

/*
 * A thread in one of its calls. stack: a copy of nr_bytes from stack_address on; borrowed. is_return: rip is where the
 * thread will return to, behind a call, so the code of the call is one byte before.
 */
struct unwind_state {
	uint64_t registers[UNWIND_NR_REGISTERS];
	uint64_t stack_address;
	const uint8_t *stack;
	size_t nr_bytes;
	bool is_return;
};

enum unwind_result {
	UNWIND_CALLER,    /* the state is that of the caller                                                */
	UNWIND_OUTERMOST, /* there is none: the thread began here                                           */
	UNWIND_LOST,      /* nobody knows: the code is not described, or the copy of the stack ends before */
};

/* address: link-time, of the code in file that the state is in. */
enum unwind_result unwind(struct symbol_file *file, uint64_t address, struct unwind_state *state);

/* Unwinds code that nothing describes, as if it kept a frame pointer. The caller looks whether rip is in code then. */
enum unwind_result unwind_by_frame_pointer(struct unwind_state *state);

/* The address of the code that the state is in. */
uint64_t unwind_code_address(const struct unwind_state *state);

/* Rules that were read of a file; deleting NULL is allowed. */
struct unwind_rows;
void unwind_rows_delete(struct unwind_rows *rows);
