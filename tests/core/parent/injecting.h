/* SPDX-License-Identifier: MIT */
/* Runs functions in the threads of inject_victim, over and over, and says what came of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inject_victim.h"
#include "parent/injection/inject.h"

#define INJECTING_MAX_NAMES VICTIM_MAX_SLOTS

/*
 * names: situations of inject_victim, NULL-terminated.   count: functions to be run in each of its threads.
 * function: which of victim_shared's: its offset.   pause_us: between them.   neglects: of the injector.
 * from_copy: a copy of clobber is run, in pages that are mapped for it.
 * stops_and_continues: SIGSTOP and SIGCONT by turns.   kill_after, exec_after: SIGKILL, or another program, when so
 * many were run; 0: never.
 */
struct injecting {
	const char *names[INJECTING_MAX_NAMES + 1];
	int64_t count;
	size_t function;
	int pause_us;
	unsigned neglects;
	bool from_copy;
	bool stops_and_continues;
	int64_t kill_after, exec_after;
};

/* status: of the victim, as of waitpid.   shared: its last words; valid until the next one.   The rest: see injector.
 */
struct injecting_result {
	int status;
	const struct victim_shared *shared;
	int64_t nr_asked, nr_done, nr_faulted, nr_dropped, nr_triggers, nr_interrupts;
	int last_signal;
	double seconds;
};

/* The program ends if the victim cannot be started. */
struct injecting_result injecting_run(const struct injecting *what);
