/* SPDX-License-Identifier: MIT */
/* A thread that is stepped (stepper.h), as the files of the stepper see it. */
#ifndef CORE_PARENT_STEPPING_STEPPED_H
#define CORE_PARENT_STEPPING_STEPPED_H

#include "parent/stepping/block.h"
#include "parent/stepping/cache_model.h"
#include "parent/stepping/replay.h"
#include "parent/stepping/stepper.h"

/*
 * code: of its process, once it has begun.   is_active: in the queue, or away.   is_paused: not in the queue.
 * is_joining: likewise, until its next pause. is_away: likewise, until the system call that its block begins with is
 * over.   is_back: then, until it has its turn. block: is being executed, entered with the registers before; NULL:
 * none, the thread is between two. rest: of its turns, when it has been executed and they are being counted.
 * is_interrupted: meanwhile, with its stack at interrupted_at; a handler may be running. is_elsewhere: it executes what
 * somebody else wants it to.   next: waits for its turn behind this one; NULL outside of the queue.
 */
struct stepped {
	struct thread *thread;
	struct code_table *code;
	struct step_region region;
	struct step_end end;
	struct cache_model *caches;
	bool is_begun, is_active, is_paused, is_joining, is_away, is_back;
	const struct block *block;
	struct user_regs_struct before;
	struct replay_rest rest;
	bool is_interrupted;
	uint64_t interrupted_at;
	bool is_elsewhere;
	struct stepped *next;
};

#endif
