/* SPDX-License-Identifier: MIT */
/*
 * Help for threads that come to a trap which is not for them, since traps are in the code of all: those that are not
 * stepped, and the stepped one in a handler of a signal.
 */
#ifndef CORE_PARENT_STEPPING_TRAP_HELP_H
#define CORE_PARENT_STEPPING_TRAP_HELP_H

#include <stdbool.h>
#include <sys/user.h>

#include "parent/stepping/block.h"
#include "parent/stepping/code_table.h"
#include "parent/tracer/thread.h"
#include "parent/tracer/tracer.h"

/*
 * All borrowed. code: of the thread that is helped.   stepped: has its turn; NULL: nobody.   block: that it executes;
 * NULL: none.
 */
struct trap_help {
	struct code_table *code;
	const struct thread *stepped;
	const struct block *block;
};

/* The thread has got a SIGTRAP. TRACER_DELIVER: not for one of these traps. */
enum tracer_answer trap_help_over(const struct trap_help *help, struct thread *thread);

/*
 * A signal that somebody sends to a thread before it is stopped for a trap takes the place of that trap's. Has the
 * thread, which has got such a SIGTRAP, met one? Then it has to meet it again.
 */
bool trap_help_is_hidden(const struct trap_help *help, const struct thread *thread,
			 const struct user_regs_struct *registers);

/* As stepper_leaving. */
enum tracer_answer trap_help_leave(const struct trap_help *help, const struct tracer_stop *stop);

#endif
