/* SPDX-License-Identifier: MIT */
#include "quantities/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/quantity.h"

struct sample_reading {
	const struct architecture *architecture;
	const struct pass *pass;
	struct pass_run *run;
	unsigned seen[PASS_MAX_EVENTS]; /* outputs that had the event */
	size_t nr_probed;               /* sets whose clock was probed */
	bool has_own_threads;           /* kernels compute on other CPUs than that of their workload, too */
	int64_t steal_ticks;            /* stolen over the whole run, from the CPUs that work */
	double set_ticks;               /* of the set that is read */
	double set_cycles_per_tick;     /* likewise; 0: its clock was not probed */
};

/* More than any event counts in a ns: 128 operations a cycle, of others 8, at 8 GHz. */
#define MOST_OPERATIONS_PER_NS 1024
#define MOST_COUNTS_PER_NS 64

/*
 * The count without the bit that a lost initial value adds; what lies in the upper half then is not believed, and what
 * went backwards neither. An event that was counted for long enough may have got there.
 */
static double
read_count(const struct architecture *architecture, size_t event, const struct perf_event_count *count,
	   unsigned *taints)
{
	const bool is_large = architecture->events[event].class == EVENT_LARGE;
	const int bits = architecture->counter_bits ? architecture->counter_bits : 64;
	uint64_t raw = count->raw_count;

	if (raw / (is_large ? MOST_OPERATIONS_PER_NS : MOST_COUNTS_PER_NS) < count->time_running)
		return (double)raw;
	raw &= UINT64_MAX >> (64 - bits);
	if (raw >> (bits - 1))
		*taints |= TAINT_OVERFLOW;
	return (double)raw;
}

void
pass_run_add_counts(struct pass_run *run, const struct architecture *architecture, const struct pass *pass,
		    const struct perf_event_measurer_output *output, unsigned *seen)
{
	for (size_t i = 0; i < perf_event_measurer_output_nr_event_counts(output); i++) {
		struct perf_event_count *count = perf_event_measurer_output_event_counts_at(output, i);
		const struct machine_event_count *of_machine = rot_cast(count, &machine_event_count_class);

		for (size_t k = 0; k < pass->nr_events; k++) {
			const struct architecture_event *event = &architecture->events[pass->events[k]];

			if (strcmp(event->name, count->name) != 0)
				continue;
			if (seen)
				seen[k]++;
			if (of_machine) {
				/*
				 * The event is of the whole machine, in bytes where it has a scale. Its count without
				 * the work is that of others.
				 */
				const double time =
					(double)of_machine->base.time_running / (double)of_machine->background_time;
				const double others = event->uncore.scale * (double)of_machine->background * time;

				run->others[k] += others;
				run->counts[k] += event->uncore.scale * (double)of_machine->base.raw_count - others;
			} else
				run->counts[k] += read_count(architecture, pass->events[k], count, &run->taints);
			if (count->time_running < count->time_enabled)
				run->taints |= TAINT_MULTIPLEXED;
		}
	}
}

static void
read_events(struct sample_reading *reading, const void *output)
{
	pass_run_add_counts(reading->run, reading->architecture, reading->pass, output, reading->seen);
}

/* Counts of it were read as those of any measurer of events. */
static void
read_step_doubts(struct sample_reading *reading, const void *output)
{
	const struct step_measurer_output *steps = output;
	struct pass_run *run = reading->run;

	run->unknown_steps += (double)steps->unknown_instructions;
	if (!run->first_unknown && steps->unknown_instructions > 0)
		run->first_unknown = steps->first_unknown;
}

static void
read_tsc(struct sample_reading *reading, const void *output)
{
	const struct tsc_measurer_output *tsc = output;

	reading->set_ticks = (double)tsc->tics;
	reading->run->tsc_ticks = fmax(reading->run->tsc_ticks, (double)tsc->tics);
}

static void
read_wall_time(struct sample_reading *reading, const void *output)
{
	const struct execution_time_measurer_output *time = output;

	reading->run->wall_ns = fmax(reading->run->wall_ns, (double)time->nano_seconds);
}

/* A clock that changed by more than this share is told by no mean of before and after. */
#define MAX_CLOCK_CHANGE 0.01

/* Its additions are core cycles (clock_chains.c in core/child). */
static void
read_clock_probe(struct sample_reading *reading, const void *output)
{
	const struct clock_probe_measurer_output *probe = output;
	const double before = (double)probe->start_additions / (double)probe->start_ticks,
		     after = (double)probe->stop_additions / (double)probe->stop_ticks, mean = (before + after) / 2;

	reading->nr_probed++;
	reading->set_cycles_per_tick = mean;
	if (!(fabs(after - before) <= MAX_CLOCK_CHANGE * mean))
		reading->run->taints |= TAINT_CLOCK;
}

static void
read_usage(struct sample_reading *reading, const void *output)
{
	const struct resource_usage_measurer_output *usage = output;
	struct pass_run *run = reading->run;

	run->context_switches += (double)(usage->voluntary_context_switches + usage->involuntary_context_switches);
	if (usage->involuntary_context_switches > 0)
		run->taints |= TAINT_CONTEXT_SWITCH;
	if (usage->start_cpu != usage->stop_cpu) {
		run->migrations++;
		run->taints |= TAINT_MIGRATION;
	}
	if (usage->major_faults > 0)
		run->taints |= TAINT_MAJOR_FAULT;
}

/* Stolen time is told in these, whatever the kernel's own: USER_HZ is 100 on x86-64 (proc_stat(5)). */
#define STEAL_TICK_NS 1e7
#define MAX_STOLEN 0.01

bool
sample_is_stolen(int64_t ticks, double ns)
{
	return ns >= STEAL_TICK_NS && (double)ticks * STEAL_TICK_NS >= MAX_STOLEN * ns;
}

/*
 * Since before the caches were prepared; of the workload that lost most. Other CPUs matter where the work is on nobody
 * knows which.
 */
static void
read_steal_time(struct sample_reading *reading, const struct measurer_output_base *output)
{
	const struct resource_usage_measurer_output *usage = (const void *)output;
	int64_t ticks;

	if (!output || !rot_is_a(output, &resource_usage_measurer_output_class))
		return;
	ticks = reading->has_own_threads || usage->own_steal_ticks < 0 ? usage->steal_ticks : usage->own_steal_ticks;
	if (ticks > reading->steal_ticks)
		reading->steal_ticks = ticks;
}

/* told: 0 where nobody told. */
static void
add_told(double *min, double *max, double told)
{
	if (told <= 0)
		return;
	*min = *min > 0 ? fmin(*min, told) : told;
	*max = fmax(*max, told);
}

void
nearness_add(struct nearness *nearness, const struct nearness *more)
{
	add_told(&nearness->line_ns_min, &nearness->line_ns_max, more->line_ns_min);
	add_told(&nearness->line_ns_min, &nearness->line_ns_max, more->line_ns_max);
	add_told(&nearness->slowdown_min, &nearness->slowdown_max, more->slowdown_min);
	add_told(&nearness->slowdown_min, &nearness->slowdown_max, more->slowdown_max);
}

/* Only this is taken of the overall set, whose clocks are of more than the kernels. */
static void
read_ping_pong(struct pass_run *run, const struct measurer_output_base *output)
{
	const struct ping_pong_measurer_output *ping_pong = (const void *)output;

	if (!output || !rot_is_a(output, &ping_pong_measurer_output_class))
		return;
	nearness_add(&run->nearness, &(struct nearness){ping_pong->before, ping_pong->after, ping_pong->slowdown_before,
							ping_pong->slowdown_after});
}

static void
read_overall_set(struct pass_run *run, const struct measurer_set_output *set)
{
	read_ping_pong(run, set->main_measurer_output);
	for (size_t i = 0; i < measurer_set_output_nr_additional_measurer_outputs(set); i++)
		read_ping_pong(run, measurer_set_output_additional_measurer_outputs_at(set, i));
}

static const struct {
	const struct rot_class *class;
	void (*read)(struct sample_reading *reading, const void *output);
} output_readers[] = {
	{&perf_event_measurer_output_class, read_events},        {&tsc_measurer_output_class, read_tsc},
	{&execution_time_measurer_output_class, read_wall_time}, {&resource_usage_measurer_output_class, read_usage},
	{&clock_probe_measurer_output_class, read_clock_probe},  {&step_measurer_output_class, read_step_doubts},
};

static void
read_output(struct sample_reading *reading, const struct measurer_output_base *output)
{
	for (size_t i = 0; output && i < sizeof(output_readers) / sizeof(output_readers[0]); i++)
		if (rot_is_a(output, output_readers[i].class))
			output_readers[i].read(reading, output);
}

/*
 * Adds one workload to all of them together. Each counts the whole machine while it works itself: the one that counted
 * most is right.
 */
static void
add_run(struct pass_run *run, const struct pass_run *own, size_t nr_events, bool is_of_machine)
{
	for (size_t k = 0; k < nr_events; k++) {
		if (is_of_machine && own->counts[k] + own->others[k] <= run->counts[k] + run->others[k])
			continue;
		run->counts[k] = is_of_machine ? own->counts[k] : run->counts[k] + own->counts[k];
		run->others[k] = own->others[k];
	}
	run->tsc_ticks = fmax(run->tsc_ticks, own->tsc_ticks);
	run->wall_ns = fmax(run->wall_ns, own->wall_ns);
	run->core_cycles += own->core_cycles;
	run->context_switches += own->context_switches;
	run->migrations += own->migrations;
	run->unknown_steps += own->unknown_steps;
	run->first_unknown = run->first_unknown ? run->first_unknown : own->first_unknown;
	run->taints |= own->taints;
}

/*
 * Bytes that others moved while the kernel ran are those of the time after it. If they moved none or twice as many
 * meanwhile, counts of which these are a tenth are off by a tenth; larger shares tell nothing.
 */
#define MAX_OTHERS 0.1

/* Into own alone. */
static void
read_set(struct sample_reading *reading, const struct measurer_set_output *set, struct pass_run *own)
{
	struct pass_run *run = reading->run;
	double others = 0, all = 0;

	reading->run = own;
	reading->set_ticks = reading->set_cycles_per_tick = 0;
	read_output(reading, set->main_measurer_output);
	for (size_t i = 0; i < measurer_set_output_nr_additional_measurer_outputs(set); i++)
		read_output(reading, measurer_set_output_additional_measurer_outputs_at(set, i));
	for (size_t i = 0; i < measurer_set_output_nr_validation_measurer_outputs(set); i++)
		read_steal_time(reading, measurer_set_output_validation_measurer_outputs_at(set, i));
	own->core_cycles = reading->set_ticks * reading->set_cycles_per_tick;
	for (size_t k = 0; k < reading->pass->nr_events; k++) {
		others += own->others[k];
		all += own->others[k] + own->counts[k];
	}
	if (others > MAX_OTHERS * all)
		own->taints |= TAINT_BACKGROUND;
	reading->run = run;
}

/* The set of the next workload from *i on that is measured, or NULL. Advances *i behind it. */
static const struct measurer_set *
next_set(const struct measurement *measured, size_t *i)
{
	while (*i < measurement_nr_workloads(measured)) {
		const struct workload *workload = measurement_workloads_at(measured, (*i)++);

		if (workload->measurer_set && !workload_is_load(workload))
			return workload->measurer_set;
	}
	return NULL;
}

/* Workloads that are measured; none in a pass of an action. */
static size_t
nr_measured_workloads(const struct measurement *measured)
{
	size_t nr = 0;

	for (size_t i = 0; next_set(measured, &i);)
		nr++;
	return nr;
}

/* Outputs that a run has to have. */
static size_t
nr_expected_sets(const struct measurement *measured)
{
	const size_t nr = nr_measured_workloads(measured);

	return nr ? nr : 1;
}

static bool
is_set_of_action(const struct measurement *measured, int32_t set_id)
{
	for (size_t i = 0; i < measurement_nr_rules(measured); i++) {
		const struct measure_action_execution *action =
			rot_cast(measurement_rules_at(measured, i)->action, &measure_action_execution_class);

		if (action && action->measurer_set->id == set_id)
			return true;
	}
	return false;
}

/* Which of the measured workloads the set is of, or nr_expected_sets. A pass of an action has one set, with the number
 * 0. */
static size_t
workload_of_set(const struct measurement *measured, int32_t set_id)
{
	const struct measurer_set *set;
	size_t at = 0;

	for (size_t i = 0; (set = next_set(measured, &i)); at++)
		if (set->id == set_id)
			return at;
	return at == 0 && !is_set_of_action(measured, set_id) ? 1 : at;
}

static int
read_run(struct sample_reading *reading, const struct measurement *measured,
	 const struct measurement_run_output *output, struct rot_error *err)
{
	const struct measurer_set *of_threads = pass_thread_set(reading->architecture, measured, reading->pass);
	const size_t nr_expected = nr_expected_sets(measured);
	const bool is_of_machine = pass_is_of_machine(reading->architecture, reading->pass);
	size_t nr_sets = 0, nr_copies = 0;

	if (nr_expected > 1)
		reading->run->threads = rot_calloc(nr_expected, sizeof(*reading->run->threads));
	for (size_t i = 0; i < measurement_run_output_nr_measurer_set_outputs(output); i++) {
		const struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(output, i);
		const size_t workload = workload_of_set(measured, set->set_id);
		struct pass_run own = {.taints = 0};

		if (of_threads && of_threads->id == set->set_id) {
			nr_copies++;
			read_output(reading, set->main_measurer_output);
		} else if (workload < nr_expected) {
			nr_sets++;
			read_set(reading, set, &own);
			add_run(reading->run, &own, reading->pass->nr_events, is_of_machine);
			if (nr_expected > 1)
				reading->run->threads[workload] = own;
		} else if (measured->overall_measurer_set && measured->overall_measurer_set->id == set->set_id) {
			read_overall_set(reading->run, set);
		}
	}
	if (sample_is_stolen(reading->steal_ticks, reading->run->wall_ns))
		reading->run->taints |= TAINT_STEAL;
	if (nr_sets < nr_expected)
		return rot_error_set(err, 0, "%zu of %zu %s gave no output", nr_expected - nr_sets, nr_expected,
				     nr_measured_workloads(measured) ? "workloads" : "measured actions");
	for (size_t k = 0; k < reading->pass->nr_events; k++) {
		if (reading->seen[k] < nr_sets + nr_copies)
			return rot_error_set(err, 0, "event '%s' was not counted",
					     reading->architecture->events[reading->pass->events[k]].name);
	}
	if (reading->pass->probes_clock && reading->nr_probed < nr_sets)
		return rot_error_set(err, 0, "the core clock of %zu of %zu workloads was not probed",
				     nr_sets - reading->nr_probed, nr_sets);
	/* clocks and steps need no measurers on threads that the kernel says it has */
	if (output->unmeasured_threads > 0 &&
	    ((reading->pass->nr_events && !reading->pass->is_stepped && !is_of_machine) ||
	     !measurement_has_own_threads(measured)))
		reading->run->taints |= TAINT_UNMEASURED_THREAD;
	return 0;
}

int
pass_samples_read(struct pass_samples *samples, const struct architecture *architecture, const struct pass *pass,
		  const struct measurement *measured, const struct measurement_result *result, struct rot_error *err)
{
	samples->nr_runs = measurement_result_nr_outputs(result);
	samples->runs = rot_calloc(samples->nr_runs, sizeof(*samples->runs));
	samples->nr_threads = nr_expected_sets(measured) > 1 ? nr_expected_sets(measured) : 0;
	for (size_t i = 0; i < samples->nr_runs; i++) {
		const struct measurement_run_output *output = measurement_result_outputs_at(result, i);
		struct sample_reading reading = {.architecture = architecture,
						 .pass = pass,
						 .run = &samples->runs[i],
						 .has_own_threads = measurement_has_own_threads(measured)};

		if (read_run(&reading, measured, output, err) < 0)
			return rot_error_prefix(err, "run %zu", i + 1);
		/* Each start of the core counts its runs from 0. */
		if (i > 0)
			samples->runs[i].start = samples->runs[i - 1].start +
						 (output->order <= measurement_result_outputs_at(result, i - 1)->order);
	}
	return 0;
}

void
pass_samples_clear(struct pass_samples *samples)
{
	for (size_t i = 0; i < samples->nr_runs; i++)
		free(samples->runs[i].threads);
	free(samples->runs);
	*samples = (struct pass_samples){.runs = NULL};
}
