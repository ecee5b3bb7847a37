/* SPDX-License-Identifier: MIT */
/*
 * Interrupts a program again and again after so much CPU time, in all its threads and the processes that it starts, and
 * keeps where it was: by the CPU clock of perf events, which needs neither counters nor rights, and takes no counter
 * away from what is counted at the same time. Nothing is stopped for it. An event with a ring for each CPU is inherited
 * by whatever the program starts; the rings tell of its mappings as well, so addresses can be understood afterwards.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "parent/profile/waits.h"
#include "parent/symbols/unwind.h"

/*
 * Records as they come from the rings. All but samples end with the time; source: linux/perf_event.h, sample_id_all.
 * Behind a sample stands what sample_stack reads.
 */
struct sample_record {
	struct perf_event_header header;
	uint64_t address;
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct mapping_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

/* PERF_RECORD_FORK and PERF_RECORD_EXIT */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct command_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

struct sampler;

/*
 * Samples begin when process pid executes its program, each period_ns of CPU time of a thread. has_children: in the
 * processes that it starts as well. has_stacks: with the beginning of the thread's stack, where the system permits it.
 * Where it permits that, code of the kernel is sampled too. NULL: refused.
 */
struct sampler *sampler_open(pid_t pid, uint64_t period_ns, bool has_children, bool has_stacks, struct rot_error *err);
void sampler_close(struct sampler *sampler);

bool sampler_has_kernel(const struct sampler *sampler);
bool sampler_has_stacks(const struct sampler *sampler);

/* How long the threads that were sampled ran, and waited for a CPU. */
struct waits_times sampler_waits(const struct sampler *sampler);

/* Registers and stack of the thread in user code; they live as long as the sample. False: there are none. */
bool sample_stack(const struct sample_record *sample, struct unwind_state *state);

/* Becomes readable when a ring fills up. */
int sampler_fd(const struct sampler *sampler);

/*
 * Empties the rings, and keeps their records. is_end: hands all of them on, in the order of their time. Else, where
 * they are many, those before the last call, since others may yet come from other CPUs.
 */
void sampler_drain(struct sampler *sampler, bool is_end,
		   void (*handle)(void *context, const struct perf_event_header *record), void *context);
