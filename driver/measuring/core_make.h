/* SPDX-License-Identifier: MIT */
/* Starting make in a build folder (core_folder.h), and saying what the compiler said. */
#ifndef MEASURING_CORE_MAKE_H
#define MEASURING_CORE_MAKE_H

#include <stddef.h>

#include "error.h"
#include "measuring/core_description.h"
#include "support/process.h"

struct rot;

/* The path of ccache, "" without; fresh memory. NULL: it is wanted and not there. */
char *core_make_ccache(const struct rot *rot, struct rot_error *err);

/* Sets what make and ccache find in the environment; once before they are started. */
void core_make_environment(const struct rot *rot);

/* A command that makes the core in a folder, which must stay while the command is used. */
struct core_make {
	char *makefile, *jobs;
	const char *argv[9];
};

void core_make_init(struct core_make *make, const struct rot *rot, const char *folder, size_t nr_jobs);
void core_make_clear(struct core_make *make);

/* After a make that failed: -1 and what the compiler said. */
int core_make_report(const struct core_description *description, const struct process_result *result,
		     struct rot_error *err);

/* First line of the compiler's --version; "unknown" if it does not say. Fresh memory. */
char *core_make_compiler_version(const struct rot *rot);

#endif
