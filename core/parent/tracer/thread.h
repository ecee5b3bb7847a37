/* SPDX-License-Identifier: MIT */
/* The threads of the traced processes, found by their tid. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum thread_state {
	THREAD_NEW,     /* known, not yet announced to anybody               */
	THREAD_RUNNING, /* will report its next stop or its end by itself    */
	THREAD_HELD,    /* created, waits to be let go                       */
	THREAD_STOPPED, /* stopped with its process by SIGSTOP or its kin, until SIGCONT */
};

struct thread {
	pid_t tid;
	pid_t pid; /* of its process */
	enum thread_state state;
	uint64_t since_ns;             /* clock_raw_ns of its first stop; 0: it was there before */
	bool is_held;                  /* may not run its first instruction yet */
	bool is_unsettled;             /* was attached to, and has not stopped since (tracer_is_settled) */
	bool is_bystander;             /* of a process that is not followed and cannot be let go yet */
	void *measured;                /* of whoever follows the threads; not looked at here */
	void *in_regions;              /* likewise (regions.h) */
	void *ruled;                   /* likewise (program_rules.h) */
	struct translated *translated; /* of translator.c; NULL: it is not translated */
	struct counted *counted;       /* of child_steps.c; NULL: it has not been in a region */
	struct image *image;           /* its address space, where somebody looks after it (image.h); else NULL */
	struct rewinds *rewinds;       /* of breakpoints.c; NULL: none */
	uint64_t hit_address, hit_rsp; /* likewise: where it met one last, and its stack pointer then; 0: nowhere */
	bool is_to_pause;              /* it was interrupted to pause, and is asked again after each other stop */
	bool awaits_return;            /* it goes on in its system call, and is_to_pause when that returns */
	struct thread *next;           /* in the same bucket */
};

#define THREAD_BUCKETS 4096

/* Zeroed: no threads. */
struct threads {
	struct thread *buckets[THREAD_BUCKETS];
	size_t nr;
};

/* The thread of that tid, or NULL. Owned by threads until threads_remove. */
struct thread *threads_find(const struct threads *threads, pid_t tid);

/* A new thread in state THREAD_NEW; tid must not be there yet. */
struct thread *threads_add(struct threads *threads, pid_t pid, pid_t tid);

/* Gives it the tid of its process, which no other may have. */
void threads_make_main(struct threads *threads, struct thread *thread);

/* Calls visit for each; it may remove the one that it is called for. */
void threads_each(struct threads *threads, void (*visit)(void *context, struct thread *thread), void *context);

/* Removing what is not there is allowed. */
void threads_remove(struct threads *threads, pid_t tid);

void threads_clear(struct threads *threads);
