/* SPDX-License-Identifier: MIT */
#include "peaks/modes.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "peaks/rate_modes.h"
#include "rot.h"
#include "support/clock.h"
#include "support/progress.h"

/* Undisturbed runs of a placement: fewer have no interval. */
#define ENOUGH 11

enum mode_kind
modes_of(const char *border, size_t nr_threads)
{
	if (border && strcmp(border, "l2l3") == 0)
		return MODES_OF_RATE;
	if (!border || nr_threads < 2)
		return MODES_NONE;
	return strcmp(border, "llcRam") == 0 ? MODES_OF_PLACEMENT
	       : strcmp(border, "l1l2") == 0 ? MODES_OF_RATE
					     : MODES_NONE;
}

void
modes_add(struct modes *modes, size_t place, struct measurement *measurement, const struct peak_work *work,
	  size_t nr_seen)
{
	struct mode_peak *peak;

	modes->peaks = rot_realloc(modes->peaks, modes->nr + 1, sizeof(*modes->peaks));
	peak = &modes->peaks[modes->nr++];
	*peak = (struct mode_peak){
		.place = place,
		.measurement = measurement,
		.work = *work,
		.nr_seen = nr_seen,
		.kind = modes_of(work->border, measurement_nr_workloads(measurement)),
	};
	if (peak->kind == MODES_OF_PLACEMENT)
		placement_watch(measurement);
}

void
modes_clear(struct modes *modes)
{
	for (size_t i = 0; i < modes->nr; i++) {
		rot_graph_delete(modes->peaks[i].measurement);
		peak_samples_clear(&modes->peaks[i].samples);
		free(modes->peaks[i].ends);
	}
	free(modes->peaks);
	placement_clear(&modes->placement);
	*modes = (struct modes){.nr = 0};
}

/* ---- measuring ---- */

/* One round more. */
static int
measure(struct mode_peak *peak, struct rot *rot, int nr_runs, struct rot_error *err)
{
	const size_t nr = (peak->nr_ends ? peak->ends[peak->nr_ends - 1] : peak->nr_seen) + (size_t)nr_runs;
	struct peak_samples samples;

	if (peak_samples_measure_just(&samples, rot, peak->measurement, &peak->work, (int)nr, err) < 0)
		return -1;
	peak_samples_clear(&peak->samples);
	peak->samples = samples;
	peak->ends = rot_realloc(peak->ends, peak->nr_ends + 1, sizeof(*peak->ends));
	peak->ends[peak->nr_ends++] = samples.nr;
	return 0;
}

static size_t
nr_of_mode(const struct modes *modes, const struct mode_peak *peak, enum placement_mode mode)
{
	size_t nr = 0;

	for (size_t i = 0; i < peak->samples.nr; i++)
		nr += !peak->samples.is_tainted[i] &&
		      placement_mode(&modes->placement, &peak->samples.value, i) == mode;
	return nr;
}

/* Has every peak enough runs of every placement that was seen? */
static bool
have_enough(const struct modes *modes)
{
	double ignored[2];

	if (placement_groups(&modes->placement, ignored) < 2)
		return true;
	for (size_t i = 0; i < modes->nr; i++)
		if (modes->peaks[i].kind == MODES_OF_PLACEMENT &&
		    (nr_of_mode(modes, &modes->peaks[i], PLACEMENT_NEAR) < ENOUGH ||
		     nr_of_mode(modes, &modes->peaks[i], PLACEMENT_FAR) < ENOUGH))
			return false;
	return true;
}

/* Which peaks are in the round of that number. */
struct round {
	bool has[MODES_OF_PLACEMENT + 1];
};

static struct round
plan_round(const struct modes *modes, const struct mode_rounds *rounds, int number, double deadline_s)
{
	const bool is_due = number <= rounds->least, has_time = clock_now_s() <= deadline_s;

	return (struct round){{
		[MODES_OF_RATE] = is_due || (has_time && number <= rounds->processes),
		[MODES_OF_PLACEMENT] = is_due || (has_time && number <= rounds->most && !have_enough(modes)),
	}};
}

static bool
is_empty(const struct modes *modes, const struct round *round)
{
	for (size_t i = 0; i < modes->nr; i++)
		if (round->has[modes->peaks[i].kind])
			return false;
	return true;
}

/* One that cannot be measured is left without samples. */
static int
measure_round(struct modes *modes, struct rot *rot, const struct round *round, int nr_runs, struct rot_error *err)
{
	for (size_t i = 0; i < modes->nr; i++) {
		struct mode_peak *peak = &modes->peaks[i];

		if (!rot_interrupted() && round->has[peak->kind] && measure(peak, rot, nr_runs, err) < 0 &&
		    !rot_interrupted())
			rot_warning("runs of a peak are left out: %s", err->text);
		if (rot_interrupted())
			return rot_error_set(err, 0, "interrupted");
	}
	placement_clear(&modes->placement);
	for (size_t i = 0; i < modes->nr; i++)
		placement_add(&modes->placement, &modes->peaks[i].samples.value);
	return 0;
}

/* ---- peaks ---- */

static void
look_at_mode(const struct modes *modes, struct mode_peak *peak, enum placement_mode mode)
{
	for (size_t i = 0; i < peak->samples.nr; i++)
		peak->samples.is_left_out[i] =
			mode != PLACEMENT_ONE && placement_mode(&modes->placement, &peak->samples.value, i) != mode;
}

static void
remove_at(struct peak_list *list, size_t place)
{
	peak_clear(&list->peaks[place]);
	memmove(&list->peaks[place], &list->peaks[place + 1], (list->nr - place - 1) * sizeof(*list->peaks));
	list->nr--;
}

/* The place of a copy right behind it, without landscape and remark. */
static size_t
insert_behind(struct peak_list *list, size_t place)
{
	struct peak *from, *copy;

	list->peaks = rot_realloc(list->peaks, list->nr + 1, sizeof(*list->peaks));
	from = &list->peaks[place];
	copy = &list->peaks[place + 1];
	memmove(copy + 1, copy, (list->nr - place - 1) * sizeof(*list->peaks));
	list->nr++;
	*copy = *from;
	copy->name = rot_strdup(from->name);
	copy->operation = rot_strdup(from->operation);
	copy->border = rot_strdup(from->border);
	copy->access = rot_strdup(from->access);
	copy->instruction_set = rot_strdup(from->instruction_set);
	copy->mode = rot_strdup(from->mode);
	copy->clock_source = rot_strdup(from->clock_source);
	copy->search = rot_strdup(from->search);
	copy->limit_source = rot_strdup(from->limit_source);
	copy->remark = rot_strdup(from->remark);
	copy->variant = rot_calloc(from->nr_coordinates + 1, sizeof(*copy->variant));
	for (size_t i = 0; i < from->nr_coordinates; i++)
		copy->variant[i] = (struct peak_coordinate){rot_strdup(from->variant[i].name), from->variant[i].value};
	copy->landscape = (struct peak_landscape){.nr_axes = 0};
	return place + 1;
}

static void
fill_placement(const struct modes *modes, struct mode_peak *peak, enum placement_mode mode, struct peak *to)
{
	look_at_mode(modes, peak, mode);
	rot_string_set(&to->mode, placement_mode_name(mode));
	peak_samples_fill(&peak->samples, peak->nr_seen, to);
}

static void
fill_placements(const struct modes *modes, struct mode_peak *peak, struct peak_list *list)
{
	const bool is_near = nr_of_mode(modes, peak, PLACEMENT_NEAR) > 0,
		   is_far = nr_of_mode(modes, peak, PLACEMENT_FAR) > 0;

	if (is_near && is_far) {
		size_t behind = insert_behind(list, peak->place);

		fill_placement(modes, peak, PLACEMENT_FAR, &list->peaks[behind]);
	}
	fill_placement(modes, peak,
		       is_near  ? PLACEMENT_NEAR
		       : is_far ? PLACEMENT_FAR
				: PLACEMENT_ONE,
		       &list->peaks[peak->place]);
}

/* What most processes get, beside the peak. */
static void
note_usual(const struct rate_modes *modes, struct peak *peak)
{
	const double usual = peak->kind == PEAK_LATENCY ? 1 / modes->usual : modes->usual;
	char *text = rot_format("%s%s%.1f in %zu of %zu processes", peak->remark, peak->remark[0] ? "; " : "", usual,
				modes->nr_usual, modes->nr);

	rot_string_set(&peak->remark, text);
	free(text);
}

/* Those of the processes that reached the upper mode, if there are two. */
static void
fill_upper(struct mode_peak *peak, struct peak *to)
{
	double *rates = rot_calloc(peak->nr_ends + 1, sizeof(*rates));
	struct rate_modes modes;

	for (size_t i = 0; i < peak->nr_ends; i++)
		rates[i] = peak_samples_score(&peak->samples, i ? peak->ends[i - 1] : peak->nr_seen, peak->ends[i]);
	modes = rate_modes_find(rates, peak->nr_ends);
	for (size_t i = 0; modes.are_two && i < peak->nr_ends; i++)
		for (size_t k = i ? peak->ends[i - 1] : peak->nr_seen; k < peak->ends[i]; k++)
			peak->samples.is_left_out[k] = !(rates[i] >= modes.low && rates[i] <= modes.high);
	peak_samples_fill(&peak->samples, peak->nr_seen, to);
	if (modes.are_two)
		note_usual(&modes, to);
	free(rates);
}

/* From the last to the first, since those behind a place move. */
static void
fill_all(struct modes *modes, struct peak_list *list)
{
	for (size_t i = modes->nr; i-- > 0;) {
		struct mode_peak *peak = &modes->peaks[i];

		if (peak->samples.nr == 0)
			remove_at(list, peak->place);
		else if (peak->kind == MODES_OF_PLACEMENT)
			fill_placements(modes, peak, list);
		else
			fill_upper(peak, &list->peaks[peak->place]);
	}
}

int
modes_finish(struct modes *modes, struct rot *rot, const struct mode_rounds *rounds, double deadline_s,
	     struct peak_list *list, struct rot_error *err)
{
	int rc = 0;

	for (int number = 1; rc == 0; number++) {
		const struct round round = plan_round(modes, rounds, number, deadline_s);

		if (is_empty(modes, &round))
			break;
		progress_point();
		rc = measure_round(modes, rot, &round, rounds->runs, err);
	}
	fill_all(modes, list);
	return rc;
}
