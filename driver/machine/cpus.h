/* SPDX-License-Identifier: MIT */
/* The CPUs that threads are measured on. */
#ifndef MACHINE_CPUS_H
#define MACHINE_CPUS_H

#include <stdbool.h>
#include <stddef.h>

/* Is the CPU in a list of the kernel ("0-3,8")? Pure. */
bool cpu_list_holds(const char *list, int cpu);

/*
 * The CPUs that this process may use, at least one: one of each core first, as far as the system tells which CPUs share
 * a core. *cpus is freed by the caller. *nr_cores (may be NULL): of how many cores they are.
 */
size_t allowed_cpus(int **cpus, size_t *nr_cores);

/*
 * Puts the CPUs, each of which is of the core that cores tells, into an order in which the first n are of as many cores
 * as possible; otherwise they stay in order. Gives the number of cores. Pure.
 */
size_t cpus_spread(int *cpus, const int *cores, size_t nr);

#endif
