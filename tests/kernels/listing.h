/* SPDX-License-Identifier: MIT */
/* The instructions of a compiled loop, from objdump. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "entities.h"

struct instruction {
	unsigned long address;
	char mnemonic[24];
	char operands[104]; /* AT&T syntax: the destination is the last one */
};

struct listing {
	struct instruction *instructions;
	size_t nr;
};

/* The function of an object file; fails the test if there is none. Clear it. */
struct listing listing_of_function(const char *object, const char *function);
void listing_clear(struct listing *listing);

/* The innermost loop that comes first, as a part of listing: from its first instruction to the jump back to it. */
struct listing listing_first_loop(const struct listing *listing);

/* Instructions of that name (NULL: any) whose operands contain text. */
size_t listing_count(const struct listing *listing, const char *mnemonic, const char *text);

/* Different last operands of the instructions of that name. */
size_t listing_count_destinations(const struct listing *listing, const char *mnemonic);

/* The last operand: "%zmm3" of "%zmm31,%zmm30,%zmm3". */
const char *instruction_destination(const struct instruction *instruction);

/* Compiles the kernel for one compiler and gives the first loop of a function to look at. */
void examine(struct kernel_base *kernel, const char *compiler, const char *function,
	     void (*look)(const struct kernel_base *kernel, const struct listing *loop, const void *context),
	     const void *context);

/*
 * Compiles with every compiler, each with another optimization (which one, turns with the number of the case), gives
 * the first loop of a function to examine, and cleans up. The loop depends neither on compiler nor on optimization.
 */
void examine_everywhere(const char *class_name, const char *fields, int number, const char *function,
			void (*look)(const struct kernel_base *kernel, const struct listing *loop, const void *context),
			const void *context);

/* A field that is a number. */
double number_of(const struct kernel_base *kernel, const char *field);
