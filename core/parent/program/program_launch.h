/* SPDX-License-Identifier: MIT */
/* Starts somebody else's program as a shell would, and says why it could not. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>

#include "CoreFailure.h"
#include "Program.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/loop.h"

/* Where a program begins. Zeroed: it has not. */
struct program_begin {
	uint64_t time_ns; /* clock_raw_ns                                       */
	uint64_t cpu_ns;  /* what its process has used before, user and system  */
};

/*
 * The process stays in the process group of this one, and has its open files, its terminal, its signals as they were
 * before loop_open, and files as its limit of open ones. The executable is looked for in the folder and the environment
 * that the program gets. *begin, which must be shared with the new process, is set just before it is executed. 0 or -1.
 */
int program_prepare(struct launch *launch, const struct program *program, const struct loop *loop,
		    const struct rlimit *files, struct program_begin *begin, struct rot_error *err);

/*
 * The file that the new process will execute, as far as that can be told before; "" if there is none. Folders of PATH
 * that are no full paths count from the folder of this process. Free it.
 */
char *program_path(const struct program *program);

/* Tells people of failure. Free with core_failure_delete. */
struct core_failure *program_explain(const struct program *program, const struct launch_failure *failure);
