/* SPDX-License-Identifier: MIT */
#include "parent/profile/waits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/proc.h"
#include "memory.h"

/* A look costs some microseconds a thread. */
#define PAUSE_NS 20000000

struct thread_times {
	uint32_t tid;
	bool is_due;
	struct waits_times times;
};

struct waits {
	struct thread_times *threads;
	size_t nr;
	uint64_t looked_ns;
};

struct waits *
waits_new(void)
{
	return rot_calloc(1, sizeof(struct waits));
}

void
waits_delete(struct waits *waits)
{
	if (waits)
		free(waits->threads);
	free(waits);
}

void
waits_add(struct waits *waits, uint32_t tid)
{
	size_t i = waits->nr;

	while (i > 0 && waits->threads[i - 1].tid != tid)
		i--;
	if (i == 0) {
		waits->threads = rot_grow(waits->threads, waits->nr, sizeof(*waits->threads));
		i = ++waits->nr;
		waits->threads[i - 1] = (struct thread_times){.tid = tid};
	}
	waits->threads[i - 1].is_due = true;
}

void
waits_look(struct waits *waits, uint64_t now_ns)
{
	if (now_ns - waits->looked_ns < PAUSE_NS)
		return;
	waits->looked_ns = now_ns;
	for (size_t i = 0; i < waits->nr; i++) {
		struct thread_times *thread = &waits->threads[i];
		struct waits_times now;

		if (thread->is_due && proc_schedstat((pid_t)thread->tid, &now.run_ns, &now.wait_ns))
			thread->times = now;
		thread->is_due = false;
	}
}

struct waits_times
waits_sum(const struct waits *waits)
{
	struct waits_times sum = {0, 0};

	for (size_t i = 0; i < waits->nr; i++) {
		sum.run_ns += waits->threads[i].times.run_ns;
		sum.wait_ns += waits->threads[i].times.wait_ns;
	}
	return sum;
}
