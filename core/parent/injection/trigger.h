/* SPDX-License-Identifier: MIT */
/*
 * Stops a thread in user code, and only there: a perf event that counts its time there and raises a signal. So no
 * system call is ever interrupted. It needs no hardware counter, but Linux 5.13.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One thread has it; its descriptor is kept for the next time. None: TRIGGER_NONE. */
struct trigger {
	int fd;
	uint64_t period_ns; /* as it was opened */
	bool is_armed;
};

#define TRIGGER_NONE ((struct trigger){.fd = -1})

/*
 * The period of the event's timer. The system makes it 10 us at least. Where interrupts are slow (nested virtual
 * machines: 10 us each) a thread whose timer is that fast gets nowhere, and is never met in user code: 0.02 % of its
 * speed at 10 us, 60 % at 100 us, 84 % at 200 us on a Zen 5 in two hypervisors. Then a longer one is needed.
 */
#define TRIGGER_SHORTEST_NS 10000
#define TRIGGER_LONGEST_NS 640000

/*
 * From now on the thread's next period of user code ends in a stop with SIGTRAP, once. It must not block that signal,
 * or would get it later from wherever it reads its signals. 0, or the errno of the refusal.
 */
int trigger_arm(struct trigger *trigger, pid_t tid, uint64_t period_ns);

/* A trigger has raised SIGTRAP, about to be delivered to thread tid. It may still come after the trigger was closed. */
bool trigger_raised(const siginfo_t *signal, pid_t tid);

/* Without effect on one that is closed, as if it were never armed. */
void trigger_close(struct trigger *trigger);
