/* SPDX-License-Identifier: MIT */
/* The time that a hypervisor ran something else while a CPU of ours had work, summed over all CPUs. */
#ifndef CORE_STEAL_TIME_H
#define CORE_STEAL_TIME_H

#include <stdint.h>

/* Clock ticks since the system started, by /proc/stat; -1: it cannot be read. */
int64_t steal_time_now(void);

/* The same in one call, of a file that stays open (-1: there is none). Close it. */
int steal_time_open(void);
int64_t steal_time_read(int fd);

/* Ticks from one to the other; -1: one of them is not known. */
int64_t steal_time_between(int64_t from, int64_t to);

#endif
