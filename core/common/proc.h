/* SPDX-License-Identifier: MIT */
/* A process or a thread, as its folder of /proc tells. Source: proc_pid_status(5), proc_pid_stat(5). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The first number of the line "KEY:" of the file status of a process or thread. False: it is gone, or the system does
 * not say.
 */
bool proc_status(pid_t id, const char *key, int base, uint64_t *number);

/* Likewise in any folder: FOLDER/status. */
bool proc_status_in(const char *folder, const char *key, int base, uint64_t *number);

#define PROC_STAT_BYTES 1024

/* The file stat behind the name, which may hold anything: " STATE ppid pgrp ...". As proc_status. */
bool proc_stat(pid_t id, char fields[PROC_STAT_BYTES]);
bool proc_stat_in(const char *folder, char fields[PROC_STAT_BYTES]);

/* How long the thread was on a CPU, and how long it waited for one while it could run. False: as with proc_status. */
bool proc_schedstat(pid_t tid, uint64_t *run_ns, uint64_t *wait_ns);

/* The name of a thread, which is there until its end was taken; "" if it is not. */
#define THREAD_NAME_BYTES 16
void thread_read_name(pid_t tid, char name[THREAD_NAME_BYTES]);

/* Calls visit for each descriptor that this process has open from least on; it may close it. */
void proc_each_descriptor(int least, void (*visit)(int fd));

/* The process or thread is gone, or will execute no more instruction. */
bool proc_is_ending(pid_t id);
