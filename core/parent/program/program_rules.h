/* SPDX-License-Identifier: MIT */
/*
 * Rules of a program in one run: events are raised by what the tracer sees, actions are done on behalf of threads. The
 * thread that raises an event is stopped, or has ended, while its event is handled; only at the start and the stop of a
 * run, and of events that concern several threads, others run on meanwhile.
 *
 * Whom an action concerns follows from its event: that of a thread (started, exiting, a breakpoint) that thread alone,
 * one of a process all its threads, one of the run all there are. Source: thesis, "Measuring Core".
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "ProgramCommand.h"
#include "ProgramRunOutput.h"
#include "error.h"
#include "parent/tracer/thread.h"

struct program_rules;
struct symbol_files;

/* Checks that the rules of the command can be followed, before anything runs. 0 or -1. */
int program_rules_check(const struct program_command *command, struct rot_error *err);

/*
 * All borrowed. warn: told, with context, of what could not be done; the same may come again. The run goes on.
 */
struct program_rules_setup {
	const struct program_command *command;
	struct program_run_output *output;
	void (*warn)(void *context, const char *text);
	void *context;
};

/* *rules is NULL without rules, which is allowed for all functions below. -1: a measurer set names unknown events. */
int program_rules_new(struct program_rules **rules, const struct program_rules_setup *setup, struct rot_error *err);
void program_rules_delete(struct program_rules *rules);

/* Checks that the measurer sets can be opened on a process at all. 0 or -1. */
int program_rules_try(const struct program_rules *rules, pid_t pid, struct rot_error *err);

/*
 * For the tracer's hooks of these names (tracer.h), after the thread's own counters were opened or closed. The run
 * starts when a program is executed first. name: of the thread at its end.
 */
void program_rules_started(struct program_rules *rules, struct thread *thread);
void program_rules_executed(struct program_rules *rules, struct thread *thread);
void program_rules_exited(struct program_rules *rules, struct thread *thread, const char *name);

/*
 * True: a rule answers breakpoints. Then resolve is to be called whenever a process has all its libraries, or others
 * than before: thread, stopped with registers of its own, has an image (image.h), in which they are set.
 */
bool program_rules_have_places(const struct program_rules *rules);
void program_rules_resolve(struct program_rules *rules, struct symbol_files *symbols, struct thread *thread);

/* All threads of a running process were announced as started: the run starts. */
void program_rules_visit(struct program_rules *rules);

/* The run stops: before threads that still run are let go. No events are raised afterwards. */
void program_rules_stop(struct program_rules *rules);
