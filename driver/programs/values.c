/* SPDX-License-Identifier: MIT */
/* From the runs of a program to samples, and from these to quantities. */
#include "programs/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/compute.h"
#include "quantities/samples.h"

#define ALL_THREADS SIZE_MAX

/* The part of the runs that is looked at. */
struct selection {
	const struct program_command_output *output;
	double usual_switches; /* involuntary ones of a run; NaN: too few runs to tell */
	size_t thread;         /* index in the threads of each run, or ALL_THREADS */
	const char *region;    /* NULL: all that the threads do                    */
	const char *backend;   /* that observed the region                         */
};

/* A thread that ended before its counters ran has counted nothing, rightly. */
static bool
has_counted(const struct perf_event_measurer_output *counts)
{
	for (size_t i = 0; counts && i < perf_event_measurer_output_nr_event_counts(counts); i++)
		if (perf_event_measurer_output_event_counts_at(counts, i)->time_enabled > 0)
			return true;
	return false;
}

/* All that the threads did, or one of them in its life. */
static void
add_threads(struct pass_run *run, const struct program_run_output *output, const struct architecture *architecture,
	    const struct pass *pass, size_t thread)
{
	run->wall_ns = (double)output->wall_time;
	for (size_t i = 0; i < program_run_output_nr_threads(output); i++) {
		const struct program_thread_output *one = program_run_output_threads_at(output, i);

		if (thread != ALL_THREADS && i != thread)
			continue;
		if (has_counted(one->counts))
			pass_run_add_counts(run, architecture, pass, one->counts, NULL);
		if (thread != ALL_THREADS)
			run->wall_ns = (double)(one->stop_time - one->start_time);
	}
}

const struct empty_region_output *
program_empty_region(const struct program_run_output *output, const char *backend)
{
	for (size_t i = 0; i < program_run_output_nr_empty_regions(output); i++) {
		const struct empty_region_output *empty = program_run_output_empty_regions_at(output, i);

		if (strcmp(empty->backend, backend) == 0)
			return empty;
	}
	return NULL;
}

/*
 * Takes out what observing the hits put into the region; scatter must not leave less than nothing. A measured hit costs
 * what is within an empty region, a hit within it all that one takes. So many threads do so at once.
 */
static void
subtract_empty(struct pass_run *run, const struct empty_region_output *empty, const struct architecture *architecture,
	       const struct pass *pass, double nr_measured, double nr_inner, double at_once)
{
	struct pass_run one = {.wall_ns = (double)empty->time};

	if (empty->counts)
		pass_run_add_counts(&one, architecture, pass, empty->counts, NULL);
	run->wall_ns = fmax(0, run->wall_ns - (nr_measured * one.wall_ns + nr_inner * (double)empty->cost) / at_once);
	for (size_t i = 0; i < pass->nr_events; i++)
		run->counts[i] = fmax(0, run->counts[i] - (nr_measured + nr_inner) * one.counts[i]);
}

static bool
is_of_thread(const struct program_run_output *output, size_t thread, const struct program_region_output *region)
{
	const struct program_thread_output *one;

	if (thread == ALL_THREADS)
		return true;
	one = program_run_output_threads_at(output, thread);
	return one->tid == region->tid && one->pid == region->pid;
}

const struct sampled_region *
program_sampled_region(const struct program_run_output *run, const char *region)
{
	const struct program_profile *profile = run->profile;

	for (size_t i = 0; profile && i < program_profile_nr_regions(profile); i++)
		if (strcmp(program_profile_regions_at(profile, i)->region, region) == 0)
			return program_profile_regions_at(profile, i);
	return NULL;
}

/*
 * CPU time in ns that a sample stands for. Where the kernel is sampled, too, samples that a hypervisor took away are
 * missing everywhere alike.
 */
static double
worth_of_sample(const struct program_run_output *run)
{
	const struct program_profile *profile = run->profile;
	uint64_t nr = 0;

	for (size_t i = 0; i < program_profile_nr_places(profile); i++)
		nr += program_profile_places_at(profile, i)->samples;
	return profile->has_kernel && nr > 0 ? (double)(run->user_time + run->system_time) / (double)nr
					     : (double)profile->period;
}

double
program_region_at_once(const struct program_run_output *output, const char *region)
{
	double time_ns = 0, wall_ns = 0;

	if (program_sampled_region(output, region))
		return fmax(1, (double)(output->user_time + output->system_time) / (double)output->wall_time);
	for (size_t i = 0; i < program_run_output_nr_regions(output); i++) {
		const struct program_region_output *one = program_run_output_regions_at(output, i);

		if (strcmp(one->region, region) != 0)
			continue;
		time_ns += (double)one->time;
		wall_ns += (double)one->wall_time;
	}
	return wall_ns > 0 ? time_ns / wall_ns : 1;
}

/* The time of all threads is that in which any of them was in it. */
static void
add_region(struct pass_run *run, const struct program_run_output *output, const struct architecture *architecture,
	   const struct pass *pass, const struct selection *selection)
{
	const struct empty_region_output *empty = program_empty_region(output, selection->backend);
	const bool is_of_all = selection->thread == ALL_THREADS;
	const struct sampled_region *sampled = program_sampled_region(output, selection->region);
	double nr_measured = 0, nr_inner = 0;

	for (size_t i = 0; i < program_run_output_nr_regions(output); i++) {
		const struct program_region_output *one = program_run_output_regions_at(output, i);

		if (!is_of_thread(output, selection->thread, one) || strcmp(one->region, selection->region) != 0)
			continue;
		nr_measured += (double)(one->measured_hits + one->team_hits);
		nr_inner += (double)one->inner_hits;
		run->wall_ns += (double)(is_of_all ? one->wall_time : one->time);
		if (has_counted(one->counts))
			pass_run_add_counts(run, architecture, pass, one->counts, NULL);
	}
	if (empty)
		subtract_empty(run, empty, architecture, pass, nr_measured, nr_inner,
			       is_of_all ? program_region_at_once(output, selection->region) : 1);
	if (sampled && is_of_all)
		run->wall_ns += (double)sampled->samples * worth_of_sample(output) /
				program_region_at_once(output, selection->region);
}

/* Fewer runs have no habits. */
#define LEAST_FOR_HABITS 3
/* A time slice is some milliseconds: so many preemptions a second cost some percent of the time. */
#define MANY_SWITCHES_PER_S 10
/* A program that has more threads than there are CPUs is preempted by itself, in each run as often. */
#define MORE_THAN_USUAL 3

static double
usual_switches(const struct program_plan *plan, const struct program_command_output *output)
{
	autofree double *switches = rot_calloc(program_command_output_nr_outputs(output) + 1, sizeof(*switches));
	size_t nr = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		if (!plan->passes.passes[run->pass].is_stepped)
			switches[nr++] = (double)run->involuntary_context_switches;
	}
	return nr < LEAST_FOR_HABITS ? NAN : statistics_percentile(switches, nr, 50);
}

/* Stepping switches to another process and back at each stop, and takes its time. */
static unsigned
disturbances_of(const struct program_run_output *output, const struct pass *pass, const struct selection *selection)
{
	const double switches = (double)output->involuntary_context_switches, wall_ns = (double)output->wall_time;
	unsigned taints = 0;

	if (pass->is_stepped)
		return 0;
	if (output->major_faults > 0)
		taints |= TAINT_MAJOR_FAULT;
	if (sample_is_stolen(output->steal_ticks, fmax(wall_ns, (double)(output->user_time + output->system_time))))
		taints |= TAINT_STEAL;
	if (switches > MORE_THAN_USUAL * selection->usual_switches && switches > MANY_SWITCHES_PER_S * 1e-9 * wall_ns)
		taints |= TAINT_CONTEXT_SWITCH;
	return taints;
}

double
program_run_switches(const struct program_run_output *output)
{
	const bool is_known = output->voluntary_context_switches >= 0 && output->involuntary_context_switches >= 0;

	return is_known ? (double)(output->voluntary_context_switches + output->involuntary_context_switches) : NAN;
}

static struct pass_run
read_run(const struct program_run_output *output, const struct architecture *architecture, const struct pass *pass,
	 const struct selection *selection)
{
	struct pass_run run = {
		.context_switches = program_run_switches(output),
		.taints = disturbances_of(output, pass, selection),
	};

	if (selection->region)
		add_region(&run, output, architecture, pass, selection);
	else
		add_threads(&run, output, architecture, pass, selection->thread);
	return run;
}

bool
program_run_is_cut(const struct program_plan *plan, const struct program_run_output *run)
{
	return run->interrupted_by != 0 && plan->passes.passes[run->pass].is_stepped;
}

/*
 * Translated code is known, unless the core gave it up. Regions are where they were followed to their ends; in a run
 * that was cut off they may come later.
 */
static bool
is_known(const struct program_run_output *run, const struct pass *pass, const struct selection *selection)
{
	bool has_hits = false;

	if (!pass->is_stepped)
		return true;
	if (!selection->region) {
		/* The program's, or the thread's. */
		for (size_t i = 0; i < program_run_output_nr_threads(run); i++)
			if ((selection->thread == ALL_THREADS || i == selection->thread) &&
			    has_counted(program_run_output_threads_at(run, i)->counts))
				return true;
		return false;
	}
	for (size_t i = 0; i < program_run_output_nr_regions(run); i++) {
		const struct program_region_output *one = program_run_output_regions_at(run, i);

		if (!is_of_thread(run, selection->thread, one) || strcmp(one->region, selection->region) != 0 ||
		    one->measured_hits + one->team_hits == 0)
			continue;
		if (!has_counted(one->counts))
			return false;
		has_hits = true;
	}
	return has_hits || run->interrupted_by == 0;
}

static struct pass_samples
read_pass(const struct selection *selection, const struct architecture *architecture, const struct program_plan *plan,
	  size_t pass)
{
	const struct program_command_output *output = selection->output;
	const size_t nr = program_command_output_nr_outputs(output);
	struct pass_samples samples = {.runs = rot_calloc(nr + 1, sizeof(*samples.runs))};

	for (size_t i = 0; i < nr; i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		if (run->pass != (int32_t)pass || !is_known(run, &plan->passes.passes[pass], selection))
			continue;
		samples.runs[samples.nr_runs] = read_run(run, architecture, &plan->passes.passes[pass], selection);
		samples.runs[samples.nr_runs].start = samples.nr_runs;
		samples.nr_runs++;
	}
	return samples;
}

static bool
is_rate(const struct quantity_request *request)
{
	return strcmp(request->name, "performance") == 0 || strcmp(request->name, "throughput") == 0;
}

static int
compute(struct program_values *values, const struct program_plan *plan, const struct architecture *architecture,
	const struct selection *selection, struct rot_error *err)
{
	const size_t nr_passes = plan->passes.nr_passes;
	autofree struct pass_samples *samples = rot_calloc(nr_passes, sizeof(*samples));
	autofree struct pass_samples *timed = rot_calloc(nr_passes, sizeof(*timed));
	bool is_cut = false;
	int rc = 0;

	*values = (struct program_values){.values = rot_calloc(plan->nr, sizeof(*values->values)), .nr = plan->nr};
	for (size_t i = 0; i < nr_passes; i++) {
		samples[i] = read_pass(selection, architecture, plan, i);
		if (samples[i].nr_runs == 0 && !plan->passes.passes[i].is_stepped && rc == 0)
			rc = rot_error_set(err, 0, "the program did not run in pass %zu of %zu", i + 1, nr_passes);
		if (!plan->passes.passes[i].is_stepped)
			timed[i] = samples[i];
	}
	for (size_t i = 0; i < program_command_output_nr_outputs(selection->output); i++)
		is_cut |= program_run_is_cut(plan, program_command_output_outputs_at(selection->output, i));
	/* The counts of a part do not belong to the time of the whole. */
	for (size_t i = 0; rc == 0 && i < plan->nr; i++)
		rc = quantity_compute(&values->values[i], &plan->resolutions[i], architecture, &plan->passes,
				      is_cut && is_rate(&plan->requests[i]) ? timed : samples, plan->use_minimum, err);
	for (size_t i = 0; i < nr_passes; i++)
		pass_samples_clear(&samples[i]);
	return rc;
}

int
program_values_total(struct program_values *values, const struct program_plan *plan,
		     const struct architecture *architecture, const struct program_command_output *output,
		     struct rot_error *err)
{
	const struct selection selection = {
		.output = output, .usual_switches = usual_switches(plan, output), .thread = ALL_THREADS};

	return compute(values, plan, architecture, &selection, err);
}

int
program_values_thread(struct program_values *values, const struct program_plan *plan,
		      const struct architecture *architecture, const struct program_command_output *output,
		      size_t index, struct rot_error *err)
{
	const struct selection selection = {
		.output = output, .usual_switches = usual_switches(plan, output), .thread = index};
	int rc = compute(values, plan, architecture, &selection, err);

	values->thread = program_run_output_threads_at(program_command_output_outputs_at(output, 0), index);
	return rc;
}

/* The more time, the lower the rate. */
static void
set_interval(struct summary *rate, const struct summary *time)
{
	const double work = rate->value * time->value;

	rate->low = work / time->high;
	rate->high = time->low > 0 ? work / time->low : INFINITY;
}

/* The samples of all runs. us_of_all: the time if all samples were in the region, on average. */
struct sampled_time {
	uint64_t nr, nr_all;
	double us_of_all, nr_runs;
};

static struct sampled_time
add_up_samples(const struct program_command_output *output, const char *region)
{
	struct sampled_time sum = {0};

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);
		const struct sampled_region *sampled = program_sampled_region(run, region);

		if (!sampled)
			continue;
		sum.nr += sampled->samples;
		sum.nr_all += sampled->all_samples;
		sum.us_of_all += 1e-3 * (double)sampled->all_samples * worth_of_sample(run) /
				 program_region_at_once(run, region);
		sum.nr_runs++;
	}
	sum.us_of_all /= fmax(1, sum.nr_runs);
	return sum;
}

/* The time of the runs says nothing, nor do rates. */
static void
forget_time(struct program_values *values, const struct program_plan *plan)
{
	const struct quantity_value *time = program_values_find(values, "time", "microSeconds");

	for (size_t i = 0; i < values->nr; i++)
		if (&values->values[i] == time || is_rate(&plan->requests[i])) {
			values->values[i].summary = summary_empty();
			values->values[i].nr_samples = 0;
		}
}

/* No time is left where observing costs at least as much as the hits took. */
static void
forget_no_time(struct program_values *values, const struct program_plan *plan)
{
	const struct quantity_value *time = program_values_find(values, "time", "microSeconds");

	if (time && time->summary.value == 0)
		forget_time(values, plan);
}

/* Many runs have an interval of their own. */
static void
set_sampled_intervals(struct program_values *values, const struct program_plan *plan,
		      const struct program_command_output *output, const char *region)
{
	const struct sampled_time sum = add_up_samples(output, region);
	const struct quantity_value *found = program_values_find(values, "time", "microSeconds");
	const struct summary share = summary_large_share(sum.nr, sum.nr_all);
	struct summary time = found ? found->summary : summary_empty();

	if (sum.nr_runs == 0 || (sum.nr_all > 0 && !isnan(time.low)))
		return;
	/* The hits went on without a sample: the runs tell the time of those before. */
	if (sum.nr_all == 0) {
		forget_time(values, plan);
		return;
	}
	time.low = fmax(0, time.value - (share.value - share.low) * sum.us_of_all);
	time.high = time.value + (share.high - share.value) * sum.us_of_all;
	time.confidence = share.confidence;
	for (size_t i = 0; i < values->nr; i++) {
		struct quantity_value *value = &values->values[i];

		if (is_rate(&plan->requests[i]))
			set_interval(&value->summary, &time);
		if (value == found) {
			value->summary = time;
			value->source = pool_strdup(&value->pool, "samples");
		}
	}
}

int
program_values_region(struct program_values *values, const struct program_plan *plan,
		      const struct architecture *architecture, const struct program_command_output *output,
		      const struct region_service *service, struct rot_error *err)
{
	const struct selection selection = {output, usual_switches(plan, output), ALL_THREADS, service->region,
					    service->backend};

	if (compute(values, plan, architecture, &selection, err) < 0)
		return -1;
	set_sampled_intervals(values, plan, output, service->region);
	forget_no_time(values, plan);
	return 0;
}

int
program_values_region_thread(struct program_values *values, const struct program_plan *plan,
			     const struct architecture *architecture, const struct program_command_output *output,
			     const struct region_service *service, size_t index, struct rot_error *err)
{
	const struct selection selection = {output, usual_switches(plan, output), index, service->region,
					    service->backend};
	int rc = compute(values, plan, architecture, &selection, err);

	if (rc == 0)
		forget_no_time(values, plan);
	values->thread = program_run_output_threads_at(program_command_output_outputs_at(output, 0), index);
	return rc;
}

int
program_values_code(struct program_values *values, const struct program_plan *plan,
		    const struct architecture *architecture, const uint64_t *counts, const struct summary *time,
		    struct rot_error *err)
{
	const size_t nr_passes = plan->passes.nr_passes;
	autofree struct pass_samples *samples = rot_calloc(nr_passes, sizeof(*samples));
	int rc = 0;

	*values = (struct program_values){.values = rot_calloc(plan->nr, sizeof(*values->values)), .nr = plan->nr};
	for (size_t i = 0; i < nr_passes; i++) {
		const struct pass *pass = &plan->passes.passes[i];

		samples[i] = (struct pass_samples){.runs = rot_calloc(1, sizeof(*samples->runs)), .nr_runs = 1};
		samples[i].runs[0].wall_ns = time->value;
		for (size_t k = 0; pass->is_stepped && k < pass->nr_events; k++)
			samples[i].runs[0].counts[k] = (double)counts[k];
	}
	for (size_t i = 0; rc == 0 && i < plan->nr; i++) {
		rc = quantity_compute(&values->values[i], &plan->resolutions[i], architecture, &plan->passes, samples,
				      plan->use_minimum, err);
		if (rc == 0 && is_rate(&plan->requests[i]))
			set_interval(&values->values[i].summary, time);
	}
	for (size_t i = 0; i < nr_passes; i++)
		pass_samples_clear(&samples[i]);
	return rc;
}

void
program_values_clear(struct program_values *values)
{
	quantity_values_clear(values->values, values->nr);
	free(values->values);
	*values = (struct program_values){.nr = 0};
}

const struct quantity_value *
program_values_find(const struct program_values *values, const char *name, const char *of)
{
	for (size_t i = 0; i < values->nr; i++) {
		const struct quantity_value *value = &values->values[i];

		if (value->name && strcmp(value->name, name) == 0 && (!of[0] || strcmp(value->of, of) == 0))
			return value;
	}
	return NULL;
}

/* ---- agreement ---- */

bool
program_run_has_threads(const struct program_run_output *run)
{
	return program_run_output_nr_threads(run) > 0 && program_run_output_threads_at(run, 0)->tid != 0;
}

/* Index of the event that counts instructions in the pass, or nr_events. */
static size_t
find_instructions(const struct architecture *architecture, const struct pass *pass)
{
	const struct architecture_formula *formula = architecture_formula(architecture, "instructions", "");
	size_t i = 0;

	while (i < pass->nr_events && !(formula && formula->nr_events == 1 && pass->events[i] == formula->events[0]))
		i++;
	return i;
}

/* Instructions of a run; NaN if its pass does not count them. */
static double
instructions_of(const struct program_plan *plan, const struct architecture *architecture,
		const struct program_run_output *output)
{
	const struct selection selection = {.usual_switches = NAN, .thread = ALL_THREADS};
	const struct pass *pass = &plan->passes.passes[output->pass];
	size_t i = find_instructions(architecture, pass);

	return i < pass->nr_events ? read_run(output, architecture, pass, &selection).counts[i] : NAN;
}

/* A thread begins to work, or (below 0) ends. */
struct work_step {
	uint64_t time;
	double per_ns;
};

static int
compare_steps(const void *a, const void *b)
{
	const struct work_step *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

/* Two steps of each thread that lived and counted instructions; their number. */
static size_t
work_steps(struct work_step *steps, const struct program_plan *plan, const struct architecture *architecture,
	   const struct program_run_output *run)
{
	const struct pass *pass = &plan->passes.passes[run->pass];
	const size_t instructions = find_instructions(architecture, pass);
	size_t nr = 0;

	for (size_t i = 0; instructions < pass->nr_events && i < program_run_output_nr_threads(run); i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(run, i);
		struct pass_run counted = {.taints = 0};
		double per_ns;

		if (!has_counted(thread->counts) || thread->stop_time <= thread->start_time)
			continue;
		pass_run_add_counts(&counted, architecture, pass, thread->counts, NULL);
		per_ns = counted.counts[instructions] / (double)(thread->stop_time - thread->start_time);
		steps[nr++] = (struct work_step){thread->start_time, per_ns};
		steps[nr++] = (struct work_step){thread->stop_time, -per_ns};
	}
	return nr;
}

/* Rates r give (sum of r)^2 / (sum of r^2): n for n equal ones, 1.2 for one beside one of a tenth. */
static double
mean_at_work(struct work_step *steps, size_t nr)
{
	double sum = 0, squares = 0, work = 0, weighted = 0;

	if (nr > 0)
		qsort(steps, nr, sizeof(*steps), compare_steps);
	for (size_t i = 0; i + 1 < nr; i++) {
		double done;

		sum += steps[i].per_ns;
		squares += steps[i].per_ns * fabs(steps[i].per_ns);
		done = sum * (double)(steps[i + 1].time - steps[i].time);
		if (done <= 0 || squares <= 0)
			continue;
		work += done;
		weighted += done * sum * sum / squares;
	}
	return weighted / work;
}

double
program_threads_at_work(const struct program_plan *plan, const struct architecture *architecture,
			const struct program_command_output *output)
{
	double most = NAN;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);
		autofree struct work_step *steps =
			rot_calloc(2 * program_run_output_nr_threads(run) + 1, sizeof(*steps));

		if (program_run_has_threads(run) && !program_run_is_cut(plan, run))
			most = fmax(most, mean_at_work(steps, work_steps(steps, plan, architecture, run)));
	}
	return most;
}

double
program_empty_instructions(const struct program_plan *plan, const struct architecture *architecture,
			   const struct program_run_output *output, const char *backend)
{
	const struct empty_region_output *empty = program_empty_region(output, backend);
	const struct pass *pass = &plan->passes.passes[output->pass];
	size_t i = find_instructions(architecture, pass);
	struct pass_run run = {.taints = 0};

	if (!empty || !empty->counts || i == pass->nr_events)
		return NAN;
	pass_run_add_counts(&run, architecture, pass, empty->counts, NULL);
	return run.counts[i];
}

/* They are as many, and where their names are known the same ones in the same order. */
static bool
have_same_threads(const struct program_run_output *a, const struct program_run_output *b)
{
	const size_t nr = program_run_output_nr_threads(a);
	bool are_same = nr == program_run_output_nr_threads(b);

	for (size_t i = 0; are_same && i < nr; i++) {
		const char *one = program_run_output_threads_at(a, i)->name;
		const char *other = program_run_output_threads_at(b, i)->name;

		are_same = !*one || !*other || strcmp(one, other) == 0;
	}
	return are_same;
}

struct program_agreement
program_agreement_of(const struct program_plan *plan, const struct architecture *architecture,
		     const struct program_command_output *output)
{
	struct program_agreement agreement = {.spread = NAN, .has_same_threads = true};
	const struct program_run_output *first = NULL;
	double fewest = INFINITY, most = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);
		double instructions = instructions_of(plan, architecture, run);

		if (program_run_has_threads(run)) {
			first = first ? first : run;
			agreement.has_same_threads &= have_same_threads(run, first);
		}
		if (isnan(instructions))
			continue;
		agreement.nr_counted++;
		fewest = fmin(fewest, instructions);
		most = fmax(most, instructions);
	}
	if (agreement.nr_counted > 1 && fewest > 0)
		agreement.spread = (most - fewest) / fewest;
	return agreement;
}
