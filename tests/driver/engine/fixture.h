/* SPDX-License-Identifier: MIT */
/* A driver in a temporary folder: own cache, own kernels, a recorded machine; compilers and cores are the real ones. */
#pragma once

#include "entities.h"
#include "rot.h"

extern struct rot rot;       /* open between fixture_setup and fixture_teardown */
extern char *fixture_folder; /* temporary, removed at the end                   */

void fixture_setup(void);
void fixture_teardown(void);

/* Starts rot again, so to speak: nothing is remembered but what is on disk. */
void fixture_restart(void);

/* FOLDER/PATH in fresh memory. */
char *fixture_path(const char *path);

/* Writes a file below the temporary folder, with its folders; executable: mode 0755. */
void fixture_write(const char *path, const char *text, bool executable);

/* Sets a configuration key. */
void fixture_configure(const char *key, const char *value);

/* Puts a script in front of a program of PATH: it writes a line to FOLDER/log/PROGRAM and starts the real one. */
void fixture_log_program(const char *program);

/* Makes rot-core a script of this text. "REAL" in it is the real one's path. */
void fixture_replace_core(const char *script);

/* Lines in FOLDER/log/NAME; 0 if there is no such file. compiles: those of the compiler that compile (a link may be
 * another's). */
int fixture_count(const char *name);
int fixture_count_compiles(void);

/* A measurement with one workload: a kernel of the class, measured by its execution time. Fields: "name=value",
 * NULL-terminated. */
struct measurement *fixture_measurement(const char *kernel, const char *const *fields);
struct kernel_base *fixture_kernel(const struct measurement *measurement);
