/* SPDX-License-Identifier: MIT */
/* Cores of many measurements, built side by side before they are needed. */
#include <stdlib.h>

#include "configuration/paths.h"
#include "measuring/core_build.h"
#include "measuring/measuring.h"
#include "measuring/measuring_internal.h"
#include "measuring/monitor.h"
#include "measuring/result_cache.h"
#include "memory.h"
#include "rot.h"
#include "support/progress.h"

static void
show_builds(size_t nr_done, size_t nr)
{
	char *task = rot_format("building measuring cores, %zu of %zu ready", nr_done, nr);

	progress_task(task);
	free(task);
}

/* Copies with the user's flags, of those whose kernels can work. Gives the number of the others. */
static int
copy_measurable(struct rot *rot, struct measurement *const *measurements, size_t nr, struct measurement **copies,
		size_t *nr_copies, struct rot_error *err)
{
	int nr_refused = 0;

	for (size_t i = 0; i < nr; i++) {
		struct rot_error local = {0};
		struct rot_entity **parts;
		size_t nr_parts;

		if (measuring_check_kernels(rot, measurements[i], &local) < 0) {
			if (nr_refused++ == 0 && err)
				*err = local;
			continue;
		}
		copies[*nr_copies] = rot_graph_clone(measurements[i], NULL);
		parts = rot_graph_collect(copies[*nr_copies], &nr_parts);
		measuring_set_optimization(rot, parts, nr_parts);
		free(parts);
		(*nr_copies)++;
	}
	return nr_refused;
}

static bool
misses_core(struct rot *rot, struct measurement *const *measurements, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct core *core;

		if (core_builder_find(rot->measuring->builder, measurements[i], &core, NULL) < 0 || !core)
			return true;
	}
	return false;
}

static int
build_cores(struct rot *rot, struct measurement *const *measurements, size_t nr, struct rot_error *err)
{
	int lock = cache_lock(rot->paths->cache), nr_failed;

	if (lock == -2)
		return rot_error_set(err, 0, "interrupted");
	monitor_enter(rot->monitor, "build the cores");
	nr_failed = core_builder_build_all(rot->measuring->builder, measurements, nr, show_builds, err);
	monitor_leave(rot->monitor);
	cache_unlock(lock);
	return nr_failed;
}

int
measuring_prepare(struct rot *rot, struct measurement *const *measurements, size_t nr, struct rot_error *err)
{
	struct measurement **copies = rot_calloc(nr, sizeof(*copies));
	struct rot_error of_builds = {0};
	size_t nr_copies = 0;
	int nr_refused, nr_failed = 0;

	nr_refused = rot->is_cached_only ? 0 : copy_measurable(rot, measurements, nr, copies, &nr_copies, err);
	if (misses_core(rot, copies, nr_copies))
		nr_failed = build_cores(rot, copies, nr_copies, &of_builds);
	if (err && (nr_failed < 0 || (nr_failed > 0 && nr_refused == 0)))
		*err = of_builds;
	for (size_t i = 0; i < nr_copies; i++)
		rot_graph_delete(copies[i]);
	free(copies);
	return nr_failed < 0 ? -1 : nr_refused + nr_failed;
}
