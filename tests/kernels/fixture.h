/* SPDX-License-Identifier: MIT */
/* rot's own kernels for tests: their definitions, entities by text, and objects compiled as for a measuring core. */
#pragma once

#include <check.h>
#include <stdbool.h>

#include "entities.h"
#include "rot.h"

/* Definitions of kernels/, and a machine with 32 KiB, 1 MiB and 32 MiB of caches and every instruction set. */
extern struct rot kernels_rot;

/* A temporary folder, removed by fixture_close. */
extern char *kernels_folder;

/* The compilers found on this machine: gcc and clang, or cc if there is neither. NULL-terminated. */
extern const char *kernels_compilers[];

/*
 * The i-th compiler of the variant of that number, or NULL: the first one compiles all variants, the others one of six,
 * or all with ROT_SLOW_TESTS.
 */
const char *kernels_compiler_of(int number, size_t i);

/* True if the variant of that number is tried: every other one is, or all are with ROT_SLOW_TESTS. */
bool kernels_tries(int number);

/* Suites of kernels need this, once around all tests. Exits with a message on failure; false, after one: no compiler.
 * fixture_close is needed in any case. */
bool fixture_open(void);
void fixture_close(void);

/* A kernel's entity with fields set, which is there until the test ends: kernel_of("Memory", "operation=WRITE"). A bad
 * field fails the test. */
struct kernel_base *kernel_of(const char *class_name, const char *fields);

/*
 * Compiles the kernel as the driver would, with -Wall -Wextra -Werror and more flags, to NAME in kernels_folder. A
 * compiler's complaint fails the test. Returns the path in fresh memory.
 */
char *kernel_compile(const struct kernel_base *kernel, const char *compiler, const char *more_flags, const char *name);

/* The output of a shell command, which must succeed. Fresh memory. */
char *output_of(const char *command);

/* Has PATH the program? */
bool has_program(const char *name);

/* objdump shows the instructions of compiled kernels; says on standard error what to install. */
bool has_objdump(void);
