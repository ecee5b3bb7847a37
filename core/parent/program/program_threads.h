/* SPDX-License-Identifier: MIT */
/* The threads of a traced program in the output of a run. */
#pragma once

#include "ProgramRunOutput.h"
#include "common/counting.h"
#include "parent/program/program_rules.h"
#include "parent/regions/regions.h"
#include "parent/tracer/loop.h"
#include "parent/tracer/thread.h"
#include "parent/translate/translator.h"

/* Zeroed but for the first part. */
struct program_threads {
	const struct counting *counting;
	struct program_run_output *output;
	const struct threads *threads;
	struct program_rules *rules;   /* NULL: there are none                                    */
	struct regions *regions;       /* or NULL                                                */
	struct translator *translator; /* or NULL */
	bool is_per_thread;            /* each gets an output of its own; else all go into total */
	const struct report *report;   /* the one that is being handled, or NULL                 */

	uint64_t start_ns; /* of the program; 0: not yet */
	struct counts total;
	size_t nr_uncounted;        /* threads that could not be counted, or not wholly */
	struct rot_error uncounted; /* why, of the first of them                       */
};

/* Functions for a tracer with struct program_threads as context. */
void program_thread_started(void *self, struct thread *thread);
void program_thread_executed(void *self, struct thread *thread, pid_t old_tid);
void program_thread_exited(void *self, struct thread *thread);
