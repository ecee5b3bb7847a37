/* SPDX-License-Identifier: MIT */
/* The time that a hypervisor ran something else while a CPU of ours had work. Source: proc_stat(5). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define STEAL_TIME_ALL (-1)

/*
 * Clock ticks since the system started, summed over all CPUs (STEAL_TIME_ALL) or of one, by the text of /proc/stat or
 * its beginning; -1: it does not tell.
 */
int64_t steal_time_of(const char *text, int cpu);

/* The steal time of all CPUs now; -1: it cannot be read. */
int64_t steal_time_now(void);

/*
 * To read it in one call, of a file that stays open (-1: there is none; close it): what tells of every CPU has room in
 * so many bytes, with a 0 behind it. "" if it cannot be read.
 */
int steal_time_open(void);
size_t steal_time_room(void);
void steal_time_read(int fd, char *text, size_t room);

/* Ticks from one to the other; -1: one of them is not known. */
int64_t steal_time_between(int64_t from, int64_t to);
