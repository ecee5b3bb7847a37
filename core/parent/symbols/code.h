/* SPDX-License-Identifier: MIT */
/* Machine code: where a function is left, and instructions that run elsewhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first byte of the instruction that target lies in, when the nr_bytes of code that stand at address are read from
 * their first byte on: target itself if an instruction begins there.
 */
uint64_t code_instruction_at(const uint8_t *bytes, size_t nr_bytes, uint64_t address, uint64_t target);

/* ---- where a range of code is left ---- */

enum code_exit_kind {
	CODE_RETURN,   /* ret                                                                                     */
	CODE_JUMP,     /* jmp or jcc to a target outside of the range: a tail call, or another part of the function */
	CODE_INDIRECT, /* jmp r/m that looks like a tail call                                                     */
	CODE_INDEXED,  /* jmp r/m through a table: of functions or, more often, of places within the function     */
};

#define CODE_ALWAYS 0xff

/*
 * target:    of CODE_JUMP
 * table:     of CODE_INDEXED, where the table lies if the instruction says so; otherwise 0
 * condition: CODE_ALWAYS, or what code_is_taken says of a thread that stands at the instruction: the range is left only
 *            if it is true
 */
struct code_exit {
	enum code_exit_kind kind;
	uint64_t address;
	uint64_t target;
	uint64_t table;
	uint8_t condition;
};

struct code_exits {
	struct code_exit *exits;
	size_t nr_exits;
};

/*
 * Every instruction that leaves the nr_bytes of code that stand at address, but for calls, and jumps that certainly go
 * through a table of places within the function: a notrack jmp, or one to a register that was just added up, as
 * compilers write a switch. Returns of interrupts and far jumps are no exits. The code is read from its first byte on;
 * a byte that begins no instruction (data in between) is passed over. Free with code_exits_clear.
 */
void code_find_exits(const uint8_t *bytes, size_t nr_bytes, uint64_t address, struct code_exits *exits);
void code_exits_add(struct code_exits *exits, const struct code_exit *exit);
void code_exits_clear(struct code_exits *exits);

/* A branch with this condition jumps in a thread with these registers; true for CODE_ALWAYS. */
bool code_is_taken(uint8_t condition, uint64_t eflags, uint64_t rcx);

/*
 * True if what stands behind the nr_bytes of code is executed after the last instruction. False also behind a call, as
 * one that ends a function does not return.
 */
bool code_runs_on(const uint8_t *bytes, size_t nr_bytes);

/* True if a direct jump in the nr_bytes of code that stand at address leads to target. */
bool code_jumps_to(const uint8_t *bytes, size_t nr_bytes, uint64_t address, uint64_t target);

/*
 * Calls found with each address that the code puts into a register as a constant: lea [rip + ...] or mov with 32 bits,
 * as compilers write the address of a function.
 */
void code_find_constants(const uint8_t *bytes, size_t nr_bytes, uint64_t address,
			 void (*found)(void *context, uint64_t constant), void *context);

/* The same with the target of each direct call and jump. */
void code_find_targets(const uint8_t *bytes, size_t nr_bytes, uint64_t address,
		       void (*found)(void *context, uint64_t target), void *context);
