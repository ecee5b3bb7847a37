/* SPDX-License-Identifier: MIT */
/*
 * Actions that are queued to a thread and executed there at once, in the middle of whatever it does: the parent makes
 * the thread call a function of ours. Without a parent that traces us they wait for the thread's next event.
 */
#pragma once

#include "child/thread.h"

/* Calls a function in the parent's stead, and returns to the parent (core/parent/injection/inject.h). */
extern const char interruption_trampoline[];

/* wire: to the parent, which learns what to call; -1: there is none. */
void interruption_open(int wire);

/* Asks the parent to interrupt the thread, if it runs already. Does not wait. */
void interruption_ask(const struct child_thread *thread);

/* At the end of an event, during which the calling thread could not be interrupted: what was missed. */
void interruption_catch_up(void);
