/* SPDX-License-Identifier: MIT */
#include "child/cache_state.h"

#include "child/caches.h"
#include "child/journal.h"
#include "child/kernels.h"

/* Passes after which 20 MB are in an L3 of 32 MB (Zen 5: 5 % of the reads still miss after six). */
#define WARM_PASSES 8

static void
read_buffers(const struct kernel_type *type, void *kernel, bool is_modelled)
{
	struct kernel_buffer buffers[KERNEL_MAX_BUFFERS];
	size_t nr = kernel_buffers(type, kernel, buffers), bytes = 0;
	int passes;

	journal_add("caches: read buffers", -1);
	for (size_t i = 0; i < nr; i++)
		bytes += buffers[i].bytes;
	passes = is_modelled || bytes > 2 * cache_last_level_bytes() ? 1 : WARM_PASSES;
	for (int pass = 0; pass < passes; pass++)
		for (size_t i = 0; i < nr; i++)
			cache_read(buffers[i].start, buffers[i].bytes);
	if (type->warm_data)
		type->warm_data(kernel);
}

/* Reading comes before running, so that the data are where a run leaves them. */
static void
warm(bool warm_code, bool warm_data, const struct kernel_type *type, void *kernel, struct set_state *set)
{
	const bool is_modelled = set_start_warming(set);

	if (warm_data)
		read_buffers(type, kernel, is_modelled);
	if (warm_code) {
		journal_add("caches: warm code", -1);
		(type->warm_code ? type->warm_code : type->run)(kernel);
	}
	if (!warm_data) {
		struct kernel_buffer buffers[KERNEL_MAX_BUFFERS];
		size_t nr = kernel_buffers(type, kernel, buffers);

		journal_add("caches: flush buffers", -1);
		for (size_t i = 0; i < nr; i++)
			cache_flush(buffers[i].start, buffers[i].bytes);
	}
	if (is_modelled)
		set_stop_warming(set);
}

void
cache_state_prepare(bool warm_code, bool warm_data, const struct kernel_type *type, void *kernel, struct set_state *set)
{
	if (!warm_code || !warm_data) {
		set_warm(set);
		journal_add("caches: clear", -1);
		caches_clear();
	}
	warm(warm_code, warm_data, type, kernel, set);
	if (!warm_code) {
		journal_add("caches: flush code", -1);
		cache_flush_text();
	}
	set_warm(set);
}
