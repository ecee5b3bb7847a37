/* SPDX-License-Identifier: MIT */
/*
 * Runs functions of a traced process in a thread of it, which goes on afterwards exactly where it was: with its
 * registers, also those of vectors, its red zone, its signals, and the system call that it was in. Nothing waits.
 *
 * The thread is stopped in user code (trigger.h), or by PTRACE_INTERRUPT where it waits in a system call that is not
 * harmed; where it would be, the function runs when the call is over. Order of steps and what each is for:
 * doc/TRACING.md, "Running code in a thread".
 *
 * The function must be async-signal-safe, call nothing that waits, and leave signal handlers and masks alone. Signals
 * are held up while it runs, but for those that it raises itself. A program that ignores SIGTRAP does not ignore it any
 * more afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "parent/injection/trigger.h"
#include "parent/tracer/thread.h"
#include "parent/tracer/tracer.h"

/*
 * Runs function(arguments...), called by the code at trampoline: a copy of inject_trampoline in executable memory of
 * the process. stack: its upper end; 0: that of the thread, below what it uses.
 */
struct injection {
	uint64_t trampoline;
	uint64_t function;
	uint64_t arguments[3];
	uint64_t stack;
};

#define INJECT_TRAMPOLINE_BYTES 3
extern const unsigned char inject_trampoline[INJECT_TRAMPOLINE_BYTES];

enum injection_end {
	INJECTION_DONE,    /* the function returned                                                        */
	INJECTION_FAULTED, /* it raised a signal, and was given up; the thread is as it was before         */
	INJECTION_ENDED,   /* the thread ended or became another program; perhaps in the function          */
	INJECTION_REFUSED, /* nothing was done: the thread executes 32-bit code                            */
};

/* value: what the function returned, if DONE.   signal, address: what it raised, and where, if FAULTED. */
struct injection_outcome {
	pid_t tid;
	enum injection_end end;
	uint64_t value;
	int signal;
	uint64_t address;
};

typedef void (*injection_done)(void *context, const struct injection_outcome *outcome);

/* For tests: what may be left out, to show what it is good for. */
enum injector_neglect {
	INJECTOR_NEGLECTS_VECTORS = 1,
	INJECTOR_NEGLECTS_RED_ZONE = 2,
	INJECTOR_NEGLECTS_RSEQ = 4,
	INJECTOR_NEGLECTS_TRIGGER = 8, /* as where the system allows no such event */
};

/*
 * tracer is borrowed; timer_fd: inject_late is to be called when it can be read.
 *
 * nr_started is the sum of the other three, when nothing is waiting; nr_interrupts: PTRACE_INTERRUPTs sent.
 */
struct injector {
	struct tracer *tracer;
	int timer_fd;
	unsigned neglects;    /* of enum injector_neglect */
	bool delivers_faults; /* a function that raises a signal is as any other of the program that does, and not given
				 up */

	int64_t nr_asked, nr_done, nr_faulted, nr_dropped;
	int64_t nr_triggers, nr_interrupts;

	/* the injector's own */
	struct threads targets;
	size_t nr_waiting;
	bool has_no_trigger;
	uint64_t trigger_period_ns; /* longer where shorter ones were found to keep threads from going on */
};

#define INJECTOR_NONE ((struct injector){.timer_fd = -1, .trigger_period_ns = TRIGGER_SHORTEST_NS})

/* 0 or -1. */
int injector_open(struct injector *injector, struct tracer *tracer, struct rot_error *err);

/*
 * Runs the function in the thread as soon as it can be, behind those that were asked for before. done is called once,
 * from injector_handle or one of those below; it may call injector_run.
 */
void injector_run(struct injector *injector, const struct thread *thread, const struct injection *injection,
		  injection_done done, void *context);

/*
 * Likewise nr of them, in a thread that is in a stop which is being answered and has left it at an instruction of its
 * own: before it executes that. Returns the answer.
 */
enum tracer_answer
injector_run_here(struct injector *injector, struct thread *thread, const struct injection *injections, size_t nr);

/* True while a function runs in the thread. */
bool injector_runs(const struct injector *injector, const struct thread *thread);

/* To be called at every tracer_stop; answers it. */
enum tracer_answer injector_handle(struct injector *injector, const struct tracer_stop *stop);

/* To be called when the tracer says so: what was to be done in the thread will not be. */
void injector_thread_exited(struct injector *injector, const struct thread *thread);
void injector_thread_executed(struct injector *injector, const struct thread *thread, pid_t old_tid);

/* Looks after those that have not stopped yet. */
void injector_late(struct injector *injector);

/* Drops the rest of the work, and calls done. */
void injector_close(struct injector *injector);
