/* SPDX-License-Identifier: MIT */
#include "roof/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/progress.h"
#include "memory.h"
#include "rot.h"
#include "statistics/summary.h"

/* ---- placement ---- */

/* Times of one placement differ by less than this, those of two by more. */
#define GAP 2.0

/* A group has this share of the times at least; what is less was disturbed, by others who wanted the CPUs. */
#define SMALLEST_SHARE 0.05

/* One core: half way between what two cores (1) and what one core (2) take for the same. */
#define SLOWDOWN 1.5

/* ---- what is measured ---- */

void
placement_watch(struct measurement *measurement, int milli_seconds)
{
	int first = -1;

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		int cpu = measurement_workloads_at(measurement, i)->cpu;

		if (first >= 0 && cpu >= 0 && cpu != first) {
			struct ping_pong_measurer *measurer = ping_pong_measurer_new();

			measurer->first_cpu = first;
			measurer->second_cpu = cpu;
			measurer->milli_seconds = milli_seconds;
			if (!measurement->overall_measurer_set)
				measurement->overall_measurer_set = measurer_set_new();
			measurer_set_additional_measurers_add(measurement->overall_measurer_set, &measurer->base);
			return;
		}
		if (first < 0)
			first = cpu;
	}
}

/* ---- groups ---- */

static void
add_time(struct placement *placement, double ns)
{
	if (ns <= 0)
		return;
	placement->ns = rot_realloc(placement->ns, placement->nr + 1, sizeof(*placement->ns));
	placement->ns[placement->nr++] = ns;
}

void
placement_add(struct placement *placement, const struct quantity_value *value)
{
	for (size_t i = 0; value->nearness && i < value->nr_samples; i++) {
		if (value->nearness[i].slowdown_max >= SLOWDOWN)
			continue;
		add_time(placement, value->nearness[i].line_ns_min);
		add_time(placement, value->nearness[i].line_ns_max);
	}
	if (placement->nr)
		qsort(placement->ns, placement->nr, sizeof(*placement->ns), double_compare);
}

struct group {
	double min, median, max;
};

/* The two groups with the shortest times that are large enough; returns how many there are. */
static size_t
find_groups(const struct placement *placement, struct group groups[2])
{
	const double *ns = placement->ns;
	size_t nr = 0, start = 0;

	for (size_t i = 1; i <= placement->nr && nr < 2; i++) {
		if (i < placement->nr && ns[i] < GAP * ns[i - 1])
			continue;
		if ((double)(i - start) >= SMALLEST_SHARE * (double)placement->nr)
			groups[nr++] = (struct group){ns[start], ns[start + (i - start) / 2], ns[i - 1]};
		start = i;
	}
	return nr;
}

size_t
placement_groups(const struct placement *placement, double median_ns[2])
{
	struct group groups[2];
	size_t nr = find_groups(placement, groups);

	for (size_t i = 0; i < nr; i++)
		median_ns[i] = groups[i].median;
	return nr;
}

static enum placement_mode
mode_of(const struct group *groups, size_t nr, double ns)
{
	for (size_t i = 0; i < nr; i++)
		if (ns >= groups[i].min && ns <= groups[i].max)
			return nr == 1 ? PLACEMENT_ONE : i == 0 ? PLACEMENT_NEAR : PLACEMENT_FAR;
	return PLACEMENT_UNKNOWN;
}

enum placement_mode
placement_mode(const struct placement *placement, const struct quantity_value *value, size_t sample)
{
	struct group groups[2];
	size_t nr = find_groups(placement, groups);
	const struct nearness *nearness = value->nearness ? &value->nearness[sample] : NULL;
	enum placement_mode shortest, longest;

	if (!nearness)
		return PLACEMENT_UNKNOWN;
	if (nearness->slowdown_max >= SLOWDOWN)
		return nearness->slowdown_min >= SLOWDOWN ? PLACEMENT_SHARED : PLACEMENT_MIXED;
	shortest = mode_of(groups, nr, nearness->line_ns_min);
	longest = mode_of(groups, nr, nearness->line_ns_max);
	if (shortest == PLACEMENT_UNKNOWN || longest == PLACEMENT_UNKNOWN)
		return PLACEMENT_UNKNOWN;
	return shortest == longest ? shortest : PLACEMENT_MIXED;
}

void
placement_clear(struct placement *placement)
{
	free(placement->ns);
	*placement = (struct placement){.nr = 0};
}

/* Undisturbed runs of a mode: fewer have no interval. */
#define ENOUGH 11

#define FEW 0.1

/* How long two CPUs are looked at, before and after each run. */
#define PLACEMENT_MS 20
#define SHARING_MS 1

/* Several threads on cores of their own come at least this close to what one gets. */
#define UNSHARED 0.9

/* A peak that reached this share of its limit leaves nothing to wait for. */
#define REACHED 0.99

enum mode_kind
modes_of(const struct modes *modes, const char *border, size_t nr_threads)
{
	const bool is_l2 = border && strcmp(border, "l1l2") == 0;

	if ((border && strcmp(border, "l2l3") == 0) || (is_l2 && nr_threads < 2))
		return MODES_OF_RATE;
	if (nr_threads < 2)
		return MODES_NONE;
	if (border && strcmp(border, "llcRam") == 0)
		return MODES_OF_PLACEMENT;
	return nr_threads <= modes->nr_cores ? MODES_OF_SHARING : MODES_NONE;
}

int
mode_rounds_expected(const struct mode_rounds *rounds, int number, double spent_s, double left_s)
{
	const int most = rounds->most > rounds->processes ? rounds->most : rounds->processes;
	const int least = number > rounds->least ? number : rounds->least;
	double fitting = isinf(left_s) ? most : 0;

	if (number > 1 && isfinite(left_s) && left_s > 0)
		fitting = number - 1 + ceil(left_s / (spent_s / (number - 1)));
	return (int)fmax(least, fmin(most, fitting));
}

void
modes_add(struct modes *modes, size_t place, struct measurement *measurement, const struct peak_work *work,
	  size_t nr_seen, size_t nr_reported, double limit)
{
	struct mode_peak *peak;

	modes->peaks = rot_realloc(modes->peaks, modes->nr + 1, sizeof(*modes->peaks));
	peak = &modes->peaks[modes->nr++];
	*peak = (struct mode_peak){
		.place = place,
		.measurement = measurement,
		.work = *work,
		.nr_seen = nr_seen,
		.kind = modes_of(modes, work->border, measurement_nr_workloads(measurement)),
		.limit = limit,
	};
	if (peak->kind == MODES_NONE)
		peak->kind = MODES_OF_RATE;
	if (nr_reported > 0)
		peak->end = nr_seen + nr_reported;
	if (peak->kind == MODES_OF_PLACEMENT)
		placement_watch(measurement, PLACEMENT_MS);
	if (peak->kind == MODES_OF_SHARING)
		placement_watch(measurement, SHARING_MS);
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

/* One round more. */
static int
measure_peak(struct mode_peak *peak, struct rot *rot, int nr_runs, struct rot_error *err)
{
	const size_t nr = (peak->end ? peak->end : peak->nr_seen) + (size_t)nr_runs;
	struct peak_samples samples;

	if (peak_samples_measure(&samples, rot, peak->measurement, &peak->work, (int)nr, false, err) < 0)
		return -1;
	peak_samples_clear(&peak->samples);
	peak->samples = samples;
	peak->end = samples.nr;
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

/* Work per core cycle of the same on one thread; NaN: not known. */
static double
rate_alone(const struct peak_list *list, size_t place)
{
	const struct peak *peak = &list->peaks[place];

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak *other = &list->peaks[i];

		if (other->nr_threads == 1 && strcmp(other->name, peak->name) == 0 &&
		    peak_wish_is(
			    &(struct peak_wish){peak->operation, peak->border, peak->access, peak->instruction_set},
			    other->operation, other->border, other->access, other->instruction_set))
			return peak->kind == PEAK_LATENCY ? 1 / other->per_cycle.value : other->per_cycle.value;
	}
	return NAN;
}

/*
 * Did two of the threads share a core in that run? Of two threads the slowdown tells, of more the rate: two that share
 * a core take twice as many cycles as each of the others, so all together reach nr of nr + 2 of what one reaches alone;
 * half way between that and all of it divides them.
 */
static bool
was_shared(const struct mode_peak *peak, size_t run, double alone)
{
	const double nr = (double)measurement_nr_workloads(peak->measurement);

	if (nr == 2 && peak->samples.value.nearness)
		return peak->samples.value.nearness[run].slowdown_max >= SLOWDOWN;
	return peak->samples.per_cycle[run] < fmin(UNSHARED, (nr + 1) / (nr + 2)) * alone;
}

/* Undisturbed runs on cores of their own, and others. */
static size_t
count_unshared(const struct mode_peak *peak, double alone, size_t *nr_shared)
{
	size_t nr = 0;

	*nr_shared = 0;
	for (size_t i = 0; i < peak->samples.nr; i++) {
		const bool is_shared = was_shared(peak, i, alone);

		nr += !peak->samples.is_tainted[i] && !is_shared;
		*nr_shared += !peak->samples.is_tainted[i] && is_shared;
	}
	return nr;
}

/* Will more runs say nothing new? */
static bool
has_enough(const struct modes *modes, const struct mode_peak *peak, const struct peak_list *list)
{
	double ignored_ns[2];
	size_t ignored;

	if (peak->kind == MODES_OF_PLACEMENT) {
		/* Undisturbed runs of every placement that was seen of any peak. */
		if (placement_groups(&modes->placement, ignored_ns) == 2)
			return nr_of_mode(modes, peak, PLACEMENT_NEAR) >= ENOUGH &&
			       nr_of_mode(modes, peak, PLACEMENT_FAR) >= ENOUGH;
		return nr_of_mode(modes, peak, PLACEMENT_SHARED) == 0 ||
		       nr_of_mode(modes, peak, PLACEMENT_ONE) >= ENOUGH;
	}
	if (peak->kind == MODES_OF_SHARING && count_unshared(peak, rate_alone(list, peak->place), &ignored) < ENOUGH)
		return false;
	return (peak->limit > 0 &&
		peak_samples_score(&peak->samples, peak->nr_seen, peak->samples.nr) >= REACHED * peak->limit) ||
	       (peak->limit <= 0 && !peak->work.border);
}

/* Gives how many peaks it was of. One that cannot be measured is left without samples. begin_s: of the first round. */
static int
measure_round(struct modes *modes, struct rot *rot, const struct mode_rounds *rounds, int number, double begin_s,
	      double deadline_s, const struct peak_list *list, struct rot_error *err)
{
	const double now = clock_now_s();
	const bool has_time = now <= deadline_s;
	autofree bool *is_in = rot_calloc(modes->nr + 1, sizeof(*is_in));
	int nr = 0;

	for (size_t i = 0; i < modes->nr; i++) {
		const struct mode_peak *peak = &modes->peaks[i];
		const int most = peak->kind == MODES_OF_PLACEMENT ? rounds->most : rounds->processes;

		is_in[i] = number <= rounds->least || (has_time && number <= most && !has_enough(modes, peak, list));
		nr += is_in[i];
	}
	progress_block(number, mode_rounds_expected(rounds, number, now - begin_s, deadline_s - now), (size_t)nr);
	for (size_t i = 0; i < modes->nr && !rot_interrupted(); i++) {
		if (!is_in[i])
			continue;
		progress_point();
		if (measure_peak(&modes->peaks[i], rot, rounds->runs, err) < 0 && !rot_interrupted())
			rot_warning("runs of a peak are left out: %s", err->text);
	}
	if (rot_interrupted())
		return rot_error_set(err, 0, "interrupted");
	placement_clear(&modes->placement);
	for (size_t i = 0; i < modes->nr; i++)
		placement_add(&modes->placement, &modes->peaks[i].samples.value);
	return nr;
}

/* ---- peaks ---- */

/* The place of a copy right behind it, without the landscape. */
static size_t
insert_behind(struct peak_list *list, size_t place)
{
	struct peak *from;

	list->peaks = pool_grow(&list->pool, list->peaks, list->nr, sizeof(*list->peaks));
	from = &list->peaks[place];
	memmove(from + 1, from, (list->nr++ - place) * sizeof(*list->peaks));
	from[1].landscape = (struct peak_landscape){.nr_axes = 0};
	return place + 1;
}

static void
fill_placement(struct pool *pool, const struct modes *modes, struct mode_peak *peak, enum placement_mode mode,
	       struct peak *to)
{
	static const char *const names[] = {[PLACEMENT_NEAR] = "near",
					    [PLACEMENT_FAR] = "far",
					    [PLACEMENT_SHARED] = "shared",
					    [PLACEMENT_MIXED] = NULL};

	/* Where all are of one placement, those are as good whose placement is not known. Nothing wanted: all are. */
	for (size_t i = 0; i < peak->samples.nr; i++) {
		const enum placement_mode own = placement_mode(&modes->placement, &peak->samples.value, i);

		peak->samples.is_left_out[i] = mode != PLACEMENT_UNKNOWN && own != mode &&
					       !(mode == PLACEMENT_ONE && own == PLACEMENT_UNKNOWN);
	}
	to->mode = names[mode] ? names[mode] : "";
	peak_samples_fill(pool, &peak->samples, peak->nr_seen, to);
}

/* The first placement that undisturbed runs were in; unknown: there are none, and all runs have to do. */
static enum placement_mode
first_placement(const struct modes *modes, const struct mode_peak *peak)
{
	static const enum placement_mode order[] = {PLACEMENT_NEAR, PLACEMENT_FAR, PLACEMENT_ONE, PLACEMENT_SHARED};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (nr_of_mode(modes, peak, order[i]) > 0)
			return order[i];
	return PLACEMENT_UNKNOWN;
}

/* Runs on cores of their own, if there are any. A few others may be slow for other reasons. */
static void
fill_unshared(struct pool *pool, struct mode_peak *peak, double alone, struct peak *to)
{
	size_t nr_shared, nr_unshared = count_unshared(peak, alone, &nr_shared);

	for (size_t i = 0; nr_unshared > 0 && i < peak->samples.nr; i++)
		peak->samples.is_left_out[i] = was_shared(peak, i, alone);
	peak_samples_fill(pool, &peak->samples, 0, to);
	if (nr_unshared == 0 && nr_shared > 0) {
		to->mode = "shared";
		peak_add_remark(pool, to,
				"about half of what one thread reaches alone: the CPUs seem to share a core, which "
				"nobody tells");
	} else if ((double)nr_shared > FEW * (double)nr_unshared) {
		peak_add_remark(pool, to,
				"without runs that reached about half: the CPUs seem to share a core at times");
	}
}

/*
 * Peaks of a rate come first, since what one thread reaches may be among them. The others follow from the last to the
 * first, since those behind a place move.
 */
static void
fill_all(struct modes *modes, struct peak_list *list)
{
	for (size_t i = 0; i < modes->nr; i++)
		if (modes->peaks[i].kind == MODES_OF_RATE && modes->peaks[i].samples.nr > 0)
			peak_samples_fill(&list->pool, &modes->peaks[i].samples, modes->peaks[i].nr_seen,
					  &list->peaks[modes->peaks[i].place]);
	for (size_t i = modes->nr; i-- > 0;) {
		struct mode_peak *peak = &modes->peaks[i];

		if (peak->samples.nr == 0 && peak->end == 0) {
			memmove(&list->peaks[peak->place], &list->peaks[peak->place + 1],
				(list->nr - peak->place - 1) * sizeof(*list->peaks));
			list->nr--;
		} else if (peak->kind == MODES_OF_PLACEMENT) {
			const enum placement_mode first = first_placement(modes, peak);

			if (first == PLACEMENT_NEAR && nr_of_mode(modes, peak, PLACEMENT_FAR) > 0) {
				size_t behind = insert_behind(list, peak->place);

				fill_placement(&list->pool, modes, peak, PLACEMENT_FAR, &list->peaks[behind]);
			}
			fill_placement(&list->pool, modes, peak, first, &list->peaks[peak->place]);
		} else if (peak->kind == MODES_OF_SHARING)
			fill_unshared(&list->pool, peak, rate_alone(list, peak->place), &list->peaks[peak->place]);
	}
}

int
modes_finish(struct modes *modes, struct rot *rot, const struct mode_rounds *rounds, double deadline_s,
	     struct peak_list *list, struct rot_error *err)
{
	const double begin_s = clock_now_s();
	int nr_measured = 1;

	for (int number = 1; nr_measured > 0; number++)
		nr_measured = measure_round(modes, rot, rounds, number, begin_s, deadline_s, list, err);
	fill_all(modes, list);
	return nr_measured;
}
