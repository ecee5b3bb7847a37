/* SPDX-License-Identifier: MIT */
/*
 * Random machine code that is safe to execute: random bytes, of which the decoder says what they do, with their memory
 * operands redirected into an area of data; and branches, calls, loops, stack and string instructions around them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rbp and r13 hold the address of the data, and keep it; up to so many bytes behind it and before it are used. rsp is
 * balanced. */
#define DATA_BEFORE 0x1000
#define DATA_BEHIND 0x3000

#define NR_KINDS 65536

struct random_kind {
	bool is_counted; /* the number of instructions that it executes is the same for any state, and known */
	const unsigned char *data; /* the address that rbp and r13 will hold */
	/* Does this processor know an instruction? The same answer for all of a kind, whose numbers are below
	 * NR_KINDS. */
	bool (*can_execute)(uint32_t kind, const unsigned char *code, size_t nr_bytes);
};

/* A generator of numbers: the same ones for the same seed. */
uint64_t random_next(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t bound);

/*
 * Writes about nr_pieces pieces of code and a ret to code, where it will be executed; returns where it ends.
 * *nr_executed becomes the number of instructions that are executed, ret included, where the kind is counted. max_bytes
 * must be at least 4096 + 256 a piece.
 */
unsigned char *random_code(const struct random_kind *kind, uint64_t seed, int nr_pieces, unsigned char *code,
			   size_t max_bytes, uint64_t *nr_executed);

/* Prints what the bytes are, one instruction a line. */
void random_code_print(const unsigned char *code, const unsigned char *end);
