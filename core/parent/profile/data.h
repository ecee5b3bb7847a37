/* SPDX-License-Identifier: MIT */
/*
 * Tells what addresses of traced processes belong to: variables and sections of mapped files, allocations by who asked
 * for them, stacks of threads, files, and other memory. Addresses have the number of their address space from bit 48
 * on. Any thread of rot-core may look them up.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "parent/symbols/symbols.h"

#define DATA_SPACE_SHIFT 48

struct data;

/*
 * name: "malloc in main (list.c:12)", "table", ".bss of solver", "stack of thread 2", "input.dat", "heap"
 * file: path of the file that a variable or section is in, or that is mapped; else ""
 */
struct data_object {
	char *name, *file;
};

/* files is borrowed; data_look alone reads it. */
struct data *data_new(struct symbol_files *files);
void data_delete(struct data *data);

/* Looks at what the process of a thread has mapped now. Earlier objects stay where nothing else is. */
void data_look(struct data *data, pid_t tid, uint32_t space);

/* The number of the object of that name, made where there is none. */
uint32_t data_object(struct data *data, const char *name, const char *file);

/* Puts an object from start to end, from now on. It hides what data_look finds there. */
void data_put(struct data *data, uint64_t start, uint64_t end, uint32_t object);

/* The stack of a new thread, with its thread-local variables: around its stack pointer and fs base. */
void data_put_stack(struct data *data, uint32_t space, unsigned thread, uint64_t rsp, uint64_t fs_base);

/* The object at an address, and where it begins; there always is one. */
uint32_t data_at(struct data *data, uint64_t address, uint64_t *start);

/* Its texts live as long as data. */
struct data_object data_describe(struct data *data, uint32_t object);
