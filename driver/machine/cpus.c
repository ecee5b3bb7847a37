/* SPDX-License-Identifier: MIT */
#include "machine/cpus.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

bool
cpu_list_holds(const char *list, int cpu)
{
	for (const char *s = list; *s;) {
		char *end;
		long first = strtol(s, &end, 10), last = first;

		if (end == s)
			break;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (first <= cpu && cpu <= last)
			return true;
		s = end + (*end == ',');
	}
	return false;
}

/* A core is known by the first of its CPUs; where nothing is told, each CPU is its own. */
static int
core_of(int cpu)
{
	char path[96];
	FILE *file;
	int first = cpu;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	file = fopen(path, "re");
	if (!file)
		return cpu;
	if (fscanf(file, "%d", &first) != 1)
		first = cpu;
	fclose(file);
	return first;
}

size_t
cpus_spread(int *cpus, const int *cores, size_t nr)
{
	autofree size_t *ranks = rot_calloc(nr + 1, sizeof(*ranks)); /* how many before it are of the same core */
	autofree int *old = rot_calloc(nr + 1, sizeof(*old));
	size_t nr_cores = 0, nr_placed = 0;

	for (size_t i = 0; i < nr; i++) {
		old[i] = cpus[i];
		for (size_t k = 0; k < i; k++)
			ranks[i] += cores[k] == cores[i];
		nr_cores += ranks[i] == 0;
	}
	for (size_t rank = 0; nr_placed < nr; rank++)
		for (size_t i = 0; i < nr; i++)
			if (ranks[i] == rank)
				cpus[nr_placed++] = old[i];
	return nr_cores;
}

size_t
allowed_cpus(int **cpus, size_t *nr_cores)
{
	autofree int *cores = rot_calloc(CPU_SETSIZE, sizeof(*cores));
	cpu_set_t set;
	size_t nr = 0, nr_of_them;

	*cpus = rot_calloc(CPU_SETSIZE, sizeof(**cpus));
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set)) {
			cores[nr] = core_of(cpu);
			(*cpus)[nr++] = cpu;
		}
	if (nr == 0)
		nr = 1; /* CPU 0 */
	nr_of_them = cpus_spread(*cpus, cores, nr);
	if (nr_cores)
		*nr_cores = nr_of_them;
	return nr;
}
