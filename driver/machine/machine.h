/* SPDX-License-Identifier: MIT */
/* This machine, without measuring: /proc and /sys below a root, so that recorded machines can be read, and CPUID. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "entities.h"
#include "error.h"

/* root: "/" or the folder of a recorded machine. Facts that cannot be read keep their "unknown" value (0, ""). NULL on
 * error. */
struct machine *machine_read(const char *root, struct rot_error *err);

bool machine_has_flag(const struct machine *machine, const char *cpu_flag);

/* The size of the widest vectors of floating-point numbers. */
int machine_vector_bytes(const struct machine *machine);

/* One line for captions: "AMD EPYC, family 26 model 2, KVM". Fresh memory. */
char *machine_caption(const struct machine *machine);

/* Memory that may be used: all, or what the control group may have of it; 0: not known. */
int64_t machine_usable_bytes(const struct machine *machine);

/* "48 KiB"; "unknown" for 0. Fresh memory. */
char *machine_size_text(int64_t bytes);

/*
 * "L1 data 48 KiB, L2 1 MiB, last level 32 MiB (measured)": the caches that hold data of one CPU, and who told a size
 * if it was not sysfs. Fresh memory.
 */
char *machine_caches_text(const struct machine *machine);

/*
 * Can hardware events be counted here, on all CPUs that this process may use? Tried by opening one (cycles, user mode,
 * own thread). On false, *why holds what failed and, as its hint, the exact command that would change it. Not cached;
 * some microseconds.
 */
bool machine_can_count(struct rot_error *why);

/* The hint where perf_event_open was forbidden although kernel.perf_event_paranoid of that level would permit it. */
void machine_hint_permission(struct rot_error *why, int level);

/* ---- CPUs ---- */

/* Is the CPU in a list of the kernel ("0-3,8")? Pure. */
bool cpu_list_holds(const char *list, int cpu);

/*
 * The CPUs that this process may use, at least one: one of each core first, as far as the system tells which CPUs share
 * a core. *cpus is freed by the caller. *nr_cores (may be NULL): of how many cores they are.
 */
size_t allowed_cpus(int **cpus, size_t *nr_cores);

/* The lowest CPU that this process may use. */
int machine_first_cpu(void);

/*
 * Puts the CPUs, each of which is of the core that cores tells, into an order in which the first n are of as many cores
 * as possible; otherwise they stay in order. Gives the number of cores. Pure.
 */
size_t cpus_spread(int *cpus, const int *cores, size_t nr);
