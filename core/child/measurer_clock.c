/* SPDX-License-Identifier: MIT */
/* The measurers of time: the time stamp counter and CLOCK_MONOTONIC_RAW. */
#include "child/measurer.h"
#include "common/clock.h"

struct interval {
	uint64_t start, stop;
};

static void
start_tsc(void *state)
{
	struct interval *interval = state;

	interval->start = tsc_start();
}

static void
stop_tsc(void *state)
{
	struct interval *interval = state;

	interval->stop = tsc_stop();
}

static void *
output_tsc(void *state, const void *description, struct rot_error *err)
{
	struct interval *interval = state;
	struct tsc_measurer_output *output = tsc_measurer_output_new();

	(void)description;
	(void)err;
	output->tics = interval->stop - interval->start;
	return output;
}

static void
start_time(void *state)
{
	struct interval *interval = state;

	interval->start = clock_raw_ns();
}

static void
stop_time(void *state)
{
	struct interval *interval = state;

	interval->stop = clock_raw_ns();
}

static void *
output_time(void *state, const void *description, struct rot_error *err)
{
	struct interval *interval = state;
	struct execution_time_measurer_output *output = execution_time_measurer_output_new();

	(void)description;
	(void)err;
	output->nano_seconds = interval->stop - interval->start;
	output->start_time = interval->start;
	return output;
}

const struct measurer_type tsc_measurer_type = {
	.class = &tsc_measurer_class,
	.is_signal_safe = true,
	.state_size = sizeof(struct interval),
	.start = start_tsc,
	.stop = stop_tsc,
	.output = output_tsc,
};

const struct measurer_type execution_time_measurer_type = {
	.class = &execution_time_measurer_class,
	.is_signal_safe = true,
	.state_size = sizeof(struct interval),
	.start = start_time,
	.stop = stop_time,
	.output = output_time,
};
