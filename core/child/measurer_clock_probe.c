/* SPDX-License-Identifier: MIT */
/*
 * The core clock right before and right after what is measured, in cycles per tick of the time stamp counter, found
 * without hardware events (clock_chains.c). Between the preparation of the caches and the kernel nothing is touched but
 * the code and one line of state.
 */
#include "child/clock_chains.h"
#include "child/measurer.h"

struct clock_probe_state {
	struct clock_reading start, stop;
	unsigned latency;
};

static int
clock_probe_initialize(void *state, const void *description, struct rot_error *err)
{
	struct clock_probe_state *own = state;

	(void)description;
	(void)err;
	own->latency = clock_chain_find_latency();
	return 0;
}

static void
clock_probe_start(void *state)
{
	struct clock_probe_state *own = state;

	own->start = clock_chain_read(own->latency);
}

static void
clock_probe_stop(void *state)
{
	struct clock_probe_state *own = state;

	own->stop = clock_chain_read(own->latency);
}

static void *
clock_probe_output(void *state, const void *description, struct rot_error *err)
{
	const struct clock_probe_state *own = state;
	struct clock_probe_measurer_output *result;

	(void)description;
	if (own->start.ticks == 0 || own->stop.ticks == 0) {
		rot_error_set(err, 0, "the clock probe saw no time pass: the time stamp counter stands still");
		return NULL;
	}
	result = clock_probe_measurer_output_new();
	result->start_additions = own->start.cycles;
	result->start_ticks = own->start.ticks;
	result->stop_additions = own->stop.cycles;
	result->stop_ticks = own->stop.ticks;
	return result;
}

const struct measurer_type clock_probe_measurer_type = {
	.class = &clock_probe_measurer_class,
	.is_ahead = true,
	.is_signal_safe = true,
	.state_size = sizeof(struct clock_probe_state),
	.initialize = clock_probe_initialize,
	.start = clock_probe_start,
	.stop = clock_probe_stop,
	.output = clock_probe_output,
};
