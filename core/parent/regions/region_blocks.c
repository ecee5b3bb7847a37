/* SPDX-License-Identifier: MIT */
/*
 * Regions of a program that is translated as a whole: translated code counts them by itself (translate/edges.h), at
 * any number of hits, and what a thread did is told when it has ended.
 */
#include "Region.h"
#include "common/step_counts.h"
#include "parent/regions/regions.h"
#include "parent/translate/edges.h"
#include "parent/translate/translator.h"

static void *
blocks_open(struct regions *regions, struct rot_error *err)
{
	(void)err;
	return regions;
}

static struct edge
edge_of(const struct region_point *point, enum edge_kind kind)
{
	return (struct edge){.address = point->address,
			     .kind = kind,
			     .region = (uint32_t)point->region,
			     .rule = point->kind,
			     .is_team = point->is_team,
			     .condition = kind == EDGE_END ? point->condition : CODE_ALWAYS,
			     .is_behind = kind == EDGE_BEGIN && point->ends && !point->is_instant};
}

static void
blocks_lift(void *context, struct region_thread *witness, const struct region_point *point)
{
	struct translator *translator = regions_setup(context)->translator;
	const struct edge begin = edge_of(point, EDGE_BEGIN), end = edge_of(point, EDGE_END);

	if (point->begins)
		translator_lift_edge(translator, witness->thread, &begin);
	if (point->ends)
		translator_lift_edge(translator, witness->thread, &end);
}

/* Where a region ends and begins again, it ends first. */
static int
blocks_install(void *context, struct region_image *image, struct region_thread *witness,
	       struct region_point *const *points, size_t nr, struct rot_error *err)
{
	struct translator *translator = regions_setup(context)->translator;

	(void)image;
	for (size_t i = 0; i < nr; i++) {
		const struct edge begin = edge_of(points[i], EDGE_BEGIN), end = edge_of(points[i], EDGE_END);

		if ((points[i]->ends && translator_set_edge(translator, witness->thread, &end, err) < 0) ||
		    (points[i]->begins && translator_set_edge(translator, witness->thread, &begin, err) < 0))
			return -1;
	}
	return 0;
}

/* Abandoned hits whose work is among that of others. */
static void
warn_of_mixed(struct regions *regions, size_t region, const struct translated_visits *visits)
{
	const char *name = program_command_regions_at(regions_setup(regions)->command, region)->name;

	if (visits->nr_mixed > 0)
		regions_warn(regions,
			     "region %s: its counts have the work of %lld hits of a thread that were not left where it "
			     "ends, and what came behind them up to the next hit",
			     name, (long long)visits->nr_mixed);
	if (visits->nr_cut > 0)
		regions_warn(regions,
			     "region %s: its counts have what %lld hits of a thread did that had not ended when the "
			     "thread was counted no more",
			     name, (long long)visits->nr_cut);
}

static void
blocks_leave(void *context, struct region_thread *thread)
{
	const struct regions_setup *setup = regions_setup(context);

	for (size_t i = 0; i < program_command_nr_regions(setup->command); i++) {
		struct frames *frames = &thread->frames[i];
		struct translated_visits visits;

		translator_take_visits(setup->translator, thread->thread, i, &visits);
		frames->hits += visits.hits;
		frames->measured_hits += visits.measured_hits;
		frames->team_hits += visits.team_hits;
		frames->inner_hits += visits.inner_hits;
		frames->abandoned_hits += visits.abandoned_hits;
		/* Times are those of another run: the counts are of all of it. */
		frames->counts.enabled_ns = frames->counts.running_ns = 1;
		for (size_t k = 0; k < perf_event_measurer_nr_events(setup->counting->measurer); k++)
			frames->counts.values[k] += step_counts_of_event(setup->counting->measurer, k, visits.counts);
		regions_add_curve(context, i, visits.by_capacity);
		warn_of_mixed(context, i, &visits);
	}
}

static void
blocks_close(void *context)
{
	(void)context;
}

const struct region_backend region_blocks = {.name = "blocks",
					     .number = 3,
					     .open = blocks_open,
					     .install = blocks_install,
					     .lift = blocks_lift,
					     .leave = blocks_leave,
					     .close = blocks_close};
