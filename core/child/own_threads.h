/* SPDX-License-Identifier: MIT */
/* Threads of the child that are rot's own, and none of a kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Marks what the main thread creates as rot's own, until own_threads_end. Such a thread takes the mark off when it
 * runs: what it creates is not rot's.
 */
void own_threads_begin(void);
void own_threads_end(void);
void own_thread_runs(void);

/* True if a thread that does not run yet is marked. */
bool own_threads_has(pid_t tid);

/*
 * Threads that are made and end within a run, beside those of the workloads: whoever made one tells of it, so that it
 * is not taken for one of a kernel. own_threads_take moves at most max of them to tids and forgets all. From any
 * thread.
 */
#define OWN_THREADS_MAX 64
void own_threads_tell(pid_t tid);
size_t own_threads_take(pid_t *tids, size_t max);
