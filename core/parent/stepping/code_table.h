/* SPDX-License-Identifier: MIT */
/*
 * The code of one process as far as it is stepped through: its blocks, by their addresses, and the traps that were put
 * into it, which blocks do not see.
 */
#ifndef CORE_PARENT_STEPPING_CODE_TABLE_H
#define CORE_PARENT_STEPPING_CODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "parent/stepping/block.h"

struct code_place;

/* memory: of /proc/PID/mem, open for reading and writing; -1: not open. */
struct code_table {
	int memory;
	struct code_place *places;
	size_t nr, nr_places;
};

#define CODE_TABLE_NONE ((struct code_table){.memory = -1})

/* Of the process that this stopped thread is of. 0, or -1 with errno: its code cannot be written. */
int code_table_open(struct code_table *table, pid_t tid);

/* The block that begins there, decoded when it is asked for first: code that changes later is not seen. It stays where
 * it is until code_table_forget. */
const struct block *code_table_block(struct code_table *table, uint64_t address);

/* An int3 instead of the first byte there, and what was there before. 0 or -1. There already, or not there: 0. */
int code_table_trap(struct code_table *table, uint64_t address);
int code_table_lift(struct code_table *table, uint64_t address);
bool code_table_has_trap(const struct code_table *table, uint64_t address);

/* Was there ever one? */
bool code_table_had_trap(const struct code_table *table, uint64_t address);

/* n bytes of data: 0, or -1 with errno. */
int code_table_read(const struct code_table *table, uint64_t address, void *bytes, size_t n);
int code_table_write(const struct code_table *table, uint64_t address, const void *bytes, size_t n);

/*
 * A process that was made by one of this code, and has not executed anything yet: takes all traps out of its memory
 * that came with it. False: it has no memory of its own, but this one.
 */
bool code_table_restore(const struct code_table *table, pid_t pid);

/* Takes all traps out; the code is still known. */
void code_table_lift_all(struct code_table *table);

/* Likewise, and what is in the blocks is looked at anew; where traps were is still known. */
void code_table_forget(struct code_table *table);

/* Likewise, and nothing is known any more. */
void code_table_close(struct code_table *table);

#endif
