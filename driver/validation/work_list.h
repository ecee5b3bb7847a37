/* SPDX-License-Identifier: MIT */
/* The known work that is tried: points of controllers, as many as fit into the time there is. */
#ifndef VALIDATION_WORK_LIST_H
#define VALIDATION_WORK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "validation/grade.h"
#include "validation/trial.h"

struct rot;
struct xml_controller;

/* Where points come from. */
struct work_source {
	const char *controller;

	/* What moves is known about, not exactly: prefetchers bring more than is asked for. Shown, and part of a grade
	 * only if the counts are far from it, so that exchanged events are seen. */
	bool is_estimate;
};

struct work_point {
	const struct measurement *measurement; /* borrowed of the controller, */
	const char *series;                    /* as this is                 */
	const char *kernel;                    /* "AVX2 DOUBLE FMA", "WRITE 64 MiB cold" */
	bool is_estimate;
	struct trial *trials;
	size_t nr_trials;
	struct pass_plan plan;
	double seconds; /* a run of all passes, by an estimate */
	bool is_chosen;
	int nr_chosen; /* of its series */
	int nr_done;   /* runs so far */
};

struct work_list {
	struct pool pool; /* of all below, and the controllers */
	struct work_point *points;
	size_t nr;
	size_t nr_left_out; /* by work_list_choose */
};

/* All points at which a candidate can be tried. Clear also after an error. */
int work_list_open(struct work_list *list, struct rot *rot, const struct work_source *sources, size_t nr_sources,
		   const struct candidate *candidates, size_t nr_candidates, struct rot_error *err);
void work_list_clear(struct work_list *list);

/*
 * So many runs of the point in a round: most, and of one that would take long as few as show whether they agree.
 */
int work_point_runs(const struct work_point *point, int most);

/*
 * Keeps as many points as fit into so many seconds by estimates, with up to nr_runs runs (work_point_runs) in
 * each of nr_rounds; cores are built besides. That is
 * three kernels for each candidate in turn, the one with the fewest first, then the cheapest, and of each series some;
 * kernels of estimates get their turn as those of one more candidate. At least one is kept.
 */
void work_list_choose(struct work_list *list, const struct candidate *candidates, size_t nr_candidates, int nr_rounds,
		      int nr_runs, double seconds);

/* Builds the cores of all points; one that cannot be built is an error when it is measured. */
int work_list_prepare(const struct work_list *list, struct rot *rot, struct rot_error *err);

#endif
