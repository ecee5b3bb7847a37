/* SPDX-License-Identifier: MIT */
#include "peaks/modes.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "rot.h"
#include "support/clock.h"
#include "support/progress.h"

/* Undisturbed runs of a placement: fewer have no interval. */
#define ENOUGH 11

bool
modes_are_possible(const struct measurement *measurement, const struct peak_work *work)
{
	return measurement_nr_workloads(measurement) > 1 && work->border && strcmp(work->border, "llcRam") == 0;
}

void
modes_add(struct modes *modes, size_t place, struct measurement *measurement, const struct peak_work *work)
{
	placement_watch(measurement);
	modes->peaks = rot_realloc(modes->peaks, modes->nr + 1, sizeof(*modes->peaks));
	modes->peaks[modes->nr++] = (struct mode_peak){.place = place, .measurement = measurement, .work = *work};
}

void
modes_clear(struct modes *modes)
{
	for (size_t i = 0; i < modes->nr; i++) {
		rot_graph_delete(modes->peaks[i].measurement);
		peak_samples_clear(&modes->peaks[i].samples);
	}
	free(modes->peaks);
	placement_clear(&modes->placement);
	*modes = (struct modes){.nr = 0};
}

/* ---- measuring ---- */

static int
measure(struct mode_peak *peak, struct rot *rot, int nr_runs, struct rot_error *err)
{
	struct peak_samples samples;

	if (peak_samples_measure(&samples, rot, peak->measurement, &peak->work, nr_runs, err) < 0)
		return -1;
	peak_samples_clear(&peak->samples);
	peak->samples = samples;
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
		if (nr_of_mode(modes, &modes->peaks[i], PLACEMENT_NEAR) < ENOUGH ||
		    nr_of_mode(modes, &modes->peaks[i], PLACEMENT_FAR) < ENOUGH)
			return false;
	return true;
}

/* One that cannot be measured is left without samples. */
static int
measure_round(struct modes *modes, struct rot *rot, int nr_runs, struct rot_error *err)
{
	for (size_t i = 0; i < modes->nr; i++) {
		if (!rot_interrupted() && measure(&modes->peaks[i], rot, nr_runs, err) < 0 && !rot_interrupted())
			rot_warning("a peak of several threads is left out: %s", err->text);
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
fill(const struct modes *modes, struct mode_peak *peak, enum placement_mode mode, struct peak *to)
{
	look_at_mode(modes, peak, mode);
	rot_string_set(&to->mode, placement_mode_name(mode));
	peak_samples_fill(&peak->samples, 0, to);
}

/* From the last to the first, since those behind a place move. */
static void
fill_all(struct modes *modes, struct peak_list *list)
{
	for (size_t i = modes->nr; i-- > 0;) {
		struct mode_peak *peak = &modes->peaks[i];
		bool is_near = nr_of_mode(modes, peak, PLACEMENT_NEAR) > 0,
		     is_far = nr_of_mode(modes, peak, PLACEMENT_FAR) > 0;

		if (peak->samples.nr == 0) {
			remove_at(list, peak->place);
			continue;
		}
		if (is_near && is_far) {
			size_t behind = insert_behind(list, peak->place);

			fill(modes, peak, PLACEMENT_FAR, &list->peaks[behind]);
		}
		fill(modes, peak,
		     is_near  ? PLACEMENT_NEAR
		     : is_far ? PLACEMENT_FAR
			      : PLACEMENT_ONE,
		     &list->peaks[peak->place]);
	}
}

int
modes_finish(struct modes *modes, struct rot *rot, const struct mode_rounds *rounds, double deadline_s,
	     struct peak_list *list, struct rot_error *err)
{
	int rc = 0;

	for (int i = 1; rc == 0 && modes->nr > 0 && i <= rounds->most; i++) {
		if (i > rounds->least && (have_enough(modes) || clock_now_s() > deadline_s))
			break;
		progress_point();
		rc = measure_round(modes, rot, i * rounds->runs, err);
	}
	fill_all(modes, list);
	return rc;
}
