/* SPDX-License-Identifier: MIT */
/* rot run: plan, run, report. */
#include "commands/program_run.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/messages.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "engine/result_cache.h"
#include "engine/sha256.h"
#include "experiments/experiment.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "plots/page.h"
#include "programs/comparison.h"
#include "programs/launch.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/samples.h"
#include "rot.h"

/* One call of program_run. */
struct run_job {
	struct rot *rot;
	const struct run_options *options;
	char *title, *executable; /* executable: NULL if not known  */
	char sha256[SHA256_HEX_SIZE];
	const struct architecture *architecture; /* what it is counted by; borrowed */
	bool is_by_blocks;
	const char *why_once; /* it is not counted by blocks, although it could be; NULL */
	struct program_plan plan;
	struct program_comparison comparison;
	struct program_command *command;  /* with all it refers to; the runs that are timed, if there are any */
	struct program_command *counting; /* the run that is counted by blocks; NULL: there is none beside these */
	struct program_command_output *output;
	struct experiment *experiment;
	struct program_report report;
};

static void
job_clear(struct run_job *job)
{
	program_report_clear(&job->report);
	rot_graph_delete(job->output);
	rot_graph_delete(job->command);
	rot_graph_delete(job->counting);
	program_plan_clear(&job->plan);
	program_comparison_clear(&job->comparison);
	experiment_delete(job->experiment);
	free(job->title);
	free(job->executable);
}

/* ---- before ---- */

static bool
standard_input_is_pipe(void)
{
	struct stat info;

	return fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

/* By blocks a program is counted in a run of its own: twice runs only what may. */
static void
choose_counting(struct run_job *job)
{
	const struct run_options *options = job->options;
	const struct architecture *blocks = job->rot->architecture->by_blocks;
	const bool has_regions = options->nr_regions > 0 && !options->process_id;

	if (options->process_id) {
		job->is_by_blocks = options->is_counts_only;
	} else if (blocks) {
		if (options->max_passes == 1)
			job->why_once = "--passes=1 leaves that out; --counts-only counts it and measures no times";
		else if (blocks->stepping.is_unasked && standard_input_is_pipe())
			job->why_once = "standard input is a pipe, which one run alone can read\n"
					"give it a file (rot run ... <FILE), or count without times: --counts-only";
		job->is_by_blocks = !job->why_once;
	}
	job->architecture = job->is_by_blocks ? blocks : program_architecture(job->rot, has_regions);
}

/* One line of a table, however long the command is. */
#define MAX_TITLE 100

/* Takes the text over. */
static char *
make_printable(char *text)
{
	static const char more[] = " ...";
	char *title;

	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	title = utf8_printable(text);
	free(text);
	if (strlen(title) > MAX_TITLE)
		strcpy(title + utf8_fitting(title, MAX_TITLE - sizeof(more) + 1), more);
	return title;
}

static char *
title_of(const struct run_job *job, char *const *argv)
{
	long process_id = job->options->process_id;
	char *title = !process_id       ? rot_strdup("")
		      : job->executable ? rot_format("process %ld (%s)", process_id, job->executable)
					: rot_format("process %ld", process_id);

	for (size_t i = 0; argv[i]; i++)
		rot_append(&title, "%s%s", i ? " " : "", argv[i]);
	return make_printable(title);
}

/* A file on standard input is read from its start by every run; of a pipe only the first run gets something. */
static void
set_standard_input(struct program *program)
{
	char path[PATH_MAX];
	struct stat info;
	ssize_t length = readlink("/proc/self/fd/0", path, sizeof(path) - 1);

	if (length <= 0 || fstat(STDIN_FILENO, &info) < 0)
		return;
	path[length] = '\0';
	if (S_ISREG(info.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 && access(path, R_OK) == 0)
		rot_string_set(&program->standard_input, path);
	else if (standard_input_is_pipe())
		rot_warning("standard input is a pipe: only the first run of the program can read it; "
			    "give it a file instead: rot run ... <FILE");
}

/* The timed runs, and one that is counted by blocks. */
static size_t
nr_runs_of(const struct run_job *job)
{
	const size_t nr_counted = job->is_by_blocks, nr = job->plan.passes.nr_passes - nr_counted;

	return nr * (size_t)job->options->nr_runs + nr_counted;
}

static struct program *
make_program(const struct run_job *job, char *const *argv)
{
	struct program *program = program_new();

	rot_string_set(&program->executable, argv[0]);
	for (size_t i = 1; argv[i]; i++)
		program_arguments_add(program, argv[i]);
	if (nr_runs_of(job) > 1)
		set_standard_input(program);
	return program;
}

/*
 * 163 times a second of CPU time, which is prime, so in step with nothing that happens in whole milliseconds. A sample
 * costs up to 60 us in a virtual machine, with what it takes from the caches, which makes up to 1 %.
 */
#define SAMPLE_PERIOD_NS 6134969

/* Where nothing is modelled, there is nothing to compare. */
static int
add_what_ifs(struct run_job *job, struct rot_error *err)
{
	const struct run_options *options = job->options;
	const struct machine *modelled = job->architecture->stepping.caches.machine;

	if (!job->is_by_blocks || options->nr_what_ifs == 0)
		return 0;
	if (modelled && modelled->l1_data_bytes == 0) {
		rot_error_set(err, 0,
			      "--what-if: nobody tells the caches of this machine, beside which others are shown");
		return rot_error_hint(err,
				      "name them: -caches=32K:8,1M:16; or measure them: 'rot machine --only=caches', "
				      "then -caches=measured");
	}
	for (size_t i = 0; i < options->nr_what_ifs; i++) {
		struct step_measurer *caches = what_if_measurer(job->architecture, options->what_ifs[i], err);

		if (!caches)
			return rot_error_prefix(err, "--what-if");
		program_command_what_ifs_add(job->counting ? job->counting : job->command, caches);
	}
	return 0;
}

static void
make_command(struct run_job *job, char *const *argv)
{
	struct program_command *command = program_command_new();

	job->command = command;
	command->program = job->options->process_id ? NULL : make_program(job, argv);
	command->process_id = (int32_t)job->options->process_id;
	command->run_count = (int32_t)job->options->nr_runs;
	command->cache_sampling = atoi(configuration_string(job->rot->configuration, "cacheSampling"));
	command->miss_curve = job->options->has_miss_curve;
	command->miss_kinds = job->options->has_miss_kinds;
	command->sample_period = job->options->nr_functions != 0 && job->plan.is_timed ? SAMPLE_PERIOD_NS : 0;
	command->samples_stacks = true;
	command->counts_functions = job->options->nr_functions != 0 && job->plan.is_timed;
	command->tells_trips = command->counts_functions && run_options_by(job->options) == PLACES_LOOPS;
	command->tells_lines = command->counts_functions && run_options_by(job->options) == PLACES_LINES;
	command->divides_all = configuration_bool(job->rot->configuration, "showAll");
	command->follow_forks = !job->options->has_no_children;
	command->per_thread = job->options->per_thread || job->options->nr_regions > 0;
	for (size_t i = 0; i < job->options->nr_regions; i++)
		program_command_regions_add(command, rot_graph_clone(job->options->regions[i], NULL));
	rot_string_set(&command->region_backend, job->options->region_backend);
	if (job->is_by_blocks && job->plan.is_timed)
		job->counting = rot_graph_clone(command, NULL);
	for (size_t i = 0; i < job->plan.passes.nr_passes; i++) {
		const struct pass *pass = &job->plan.passes.passes[i], *compared = NULL;

		if (!pass->is_stepped && job->comparison.counted.nr > 0)
			compared = &job->comparison.counted.passes.passes[0];
		program_command_passes_add(pass->is_stepped && job->counting ? job->counting : command,
					   compared ? pass_measurer(job->comparison.events, compared)
						    : pass_measurer(job->architecture, pass));
	}
	if (!job->is_by_blocks)
		return;
	command = job->counting ? job->counting : command;
	command->per_thread = true;
	command->run_count = 1;
}

static int
add_roofline(struct run_job *job, struct rot_error *err)
{
	struct experiment_plot plot = experiment_plot_default(EXPERIMENT_ROOFLINE);
	struct pool *pool = experiment_pool(job->experiment);

	if (!job->plan.operation || !job->plan.border || !job->plan.is_timed)
		return 0;
	plot.title = job->title;
	plot.x = pool_format(pool, "operationalIntensity:%s:%s", job->plan.operation, job->plan.border);
	plot.y = pool_format(pool, "performance:%s:microSeconds", job->plan.operation);
	plot.labels = EXPERIMENT_LABELS_ALL;
	plot.has_default_peaks = true;
	plot.has_views = true;
	plot.shows_loops = run_options_by(job->options) == PLACES_LOOPS;
	plot.condition = program_plan_steps(&job->plan) && !job->is_by_blocks
				 ? "$series != 'program' and $series != 'threads of regions'"
				 : "$series != 'threads' and $series != 'threads of regions'";
	plot.annotation = strcmp(job->plan.operation, "flop") == 0 ? "the peaks are those of double precision" : "";
	return experiment_add_plot(job->experiment, &plot, err);
}

static int
prepare(struct run_job *job, char *const *argv, int *status, struct rot_error *err)
{
	const struct run_options *options = job->options;

	choose_counting(job);
	if (job->architecture == job->rot->architecture->of_programs && !job->why_once)
		rot_warning("%s: of this one time alone is measured", job->architecture->why_not.text);
	if (options->process_id) {
		char *link = rot_format("/proc/%ld/exe", options->process_id), path[PATH_MAX];
		ssize_t length = readlink(link, path, sizeof(path) - 1);

		/* The executable of a running process, or NULL. */
		free(link);
		job->executable = length > 0 ? rot_strndup(path, (size_t)length) : NULL;
	}
	job->title = title_of(job, argv);
	if (!options->process_id) {
		job->executable = program_find(argv[0], status, err);
		if (!job->executable)
			return -1;
	}
	if (!job->executable || sha256_of_file(job->executable, job->sha256, NULL) < 0)
		job->sha256[0] = '\0';
	if (program_plan_make(&job->plan, job->architecture, options->max_passes ? (size_t)options->max_passes : 1,
			      !options->is_counts_only, err) < 0)
		return -1;
	if (job->is_by_blocks && job->plan.is_timed)
		program_comparison_choose(&job->comparison, job->rot->architecture->by_events, job->architecture);
	job->experiment = experiment_new(job->rot, "run", options->output_name, 0, err);
	if (!job->experiment || add_roofline(job, err) < 0 ||
	    (options->json_path && output_check_file(options->json_path, err) < 0))
		return -1;
	make_command(job, argv);
	if (add_what_ifs(job, err) < 0)
		return -1;
	return 0;
}

static void
announce_blocks(const struct run_job *job)
{
	const bool has_caches = program_plan_has_caches(&job->plan);
	const struct program_slowdown slowdown = program_slowdown(has_caches), least = program_slowdown(false);
	const char *why = job->architecture->stepping.is_unasked ? "no hardware counters: " : "";
	const long nr = job->options->nr_runs;
	autofree char *cost = rot_format("%g to %g times as slow", slowdown.least, slowdown.most);

	if (job->options->process_id) {
		rot_note("the process goes on %s; killing rot-core (SIGKILL) would end the process, Ctrl-C does not",
			 cost);
		return;
	}
	if (!job->plan.is_timed) {
		rot_note("the program will run once, to count its blocks, %s", cost);
		return;
	}
	if (nr == 1)
		rot_note("%sthe program will run twice (-counting=expected: once)", why);
	else
		rot_note("%sthe program will run %ld times (-counting=expected: %ld)", why, nr + 1, nr);
	if (has_caches)
		rot_note("timed, then counted once, %s (-caches=none: %g to %g)", cost, least.least, least.most);
	else
		rot_note("timed, then counted once, %s", cost);
}

/* Said before the program runs: what the user may want to stop. */
static void
announce(const struct run_job *job)
{
	const struct program_slowdown slowdown = program_slowdown(program_plan_has_caches(&job->plan));
	const size_t nr = nr_runs_of(job);

	if (job->is_by_blocks)
		announce_blocks(job);
	else if (program_plan_steps(&job->plan))
		rot_note("the program will run %zu times: to time its regions, and to count them, in which they are "
			 "about "
			 "%g to %g times as slow",
			 nr, slowdown.least, slowdown.most);
	else if (nr > 1)
		rot_note("the program will run %zu times (passes: %zu, runs of each: %ld); --passes=1 --runs=1 runs it "
			 "once",
			 nr, job->plan.passes.nr_passes, job->options->nr_runs);
	if (cache_is_locked(job->rot->paths->cache))
		rot_note("another rot is measuring here: both disturb each other");
}

/* ---- between ---- */

/* On a terminal somebody waits; elsewhere short runs need no words. */
#define WORTH_TELLING_S 1
#define WORTH_LOGGING_S 10

/* How long the run for the counts takes, by the longest one that was timed: what it computes is slower, waiting is not.
 */
static struct program_counting
how_long(const struct run_job *job)
{
	const struct program_slowdown slowdown = program_slowdown(program_plan_has_caches(&job->plan));
	struct program_counting counting = {0};
	double longest_s = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(job->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(job->output, i);
		const double wall_s = 1e-9 * (double)run->wall_time;
		const double busy_s = fmin(wall_s, 1e-9 * (double)(run->user_time + run->system_time));

		if (wall_s <= longest_s)
			continue;
		longest_s = wall_s;
		counting = (struct program_counting){wall_s + (slowdown.least - 1) * busy_s,
						     wall_s + (slowdown.most - 1) * busy_s};
	}
	if (longest_s >= (isatty(STDERR_FILENO) ? WORTH_TELLING_S : WORTH_LOGGING_S)) {
		autofree char *range = progress_range(counting.least_s, counting.most_s);

		rot_note("the program took %.3g s; counting it takes %s, and Ctrl-C keeps what is counted until then",
			 longest_s, range);
	}
	return counting;
}

/* The timed run found none of the regions that are asked for: to count them is not worth a slow run. */
static bool
has_no_region(const struct run_job *job)
{
	const struct program_command_output *output = job->output;
	bool has_some = job->options->nr_regions == 0;

	for (size_t i = 0; i < program_command_output_nr_region_services(output); i++)
		has_some |= strcmp(program_command_output_region_services_at(output, i)->backend, "none") != 0;
	return !has_some;
}

/* The program has run: what the run for its counts did not give is missing from the table, which says why. */
static void
count_blocks(struct run_job *job)
{
	const struct program_counting counting = how_long(job);
	const size_t nr = program_command_output_nr_outputs(job->output);
	struct program_command_output *counted = NULL;
	struct rot_error err = {0};
	int status;

	if (program_launch(job->rot, job->counting, 0, &counting, &counted, &status, &err) < 0) {
		program_command_output_warnings_add(job->output, rot_error_line(&err));
		return;
	}
	for (size_t i = 0; i < program_command_output_nr_outputs(counted); i++) {
		struct program_run_output *run = program_command_output_outputs_at(counted, i);

		run->pass += (int32_t)program_command_nr_passes(job->command);
		run->order += (int32_t)nr;
		program_command_output_outputs_add(job->output, run);
	}
	counted->outputs.nr = 0;
	for (size_t i = 0; i < program_command_output_nr_warnings(counted); i++)
		program_command_output_warnings_add(job->output, program_command_output_warnings_at(counted, i));
	rot_graph_delete(counted);
}

/* ---- after ---- */

static int
status_of(const struct program_command_output *output)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		if (run->signal)
			return 128 + run->signal;
		if (run->exit_status > 0)
			return run->exit_status;
	}
	return 0;
}

static struct program_roof
roof_of(const struct run_job *job, double nr_cpus)
{
	const struct experiment *experiment = job->experiment;
	int nr_threads = experiment_roof_threads(experiment, nr_cpus);

	return (struct program_roof){experiment_roof_value(experiment, job->plan.operation, NULL, nr_threads),
				     experiment_roof_value(experiment, NULL, job->plan.border, nr_threads), nr_threads};
}

/* A program that uses 1.1 CPUs is a single thread with helpers. */
static double
whole_cpus(double nr_cpus)
{
	return ceil(nr_cpus - 0.15);
}

/* The CPUs that it used or, on a busy host, its threads that worked at the same time. */
static double
cpus_of_program(const struct run_job *job)
{
	const double used = program_report_cpu_s(&job->report) / program_report_wall_s(&job->report);
	const double at_work = program_threads_at_work(&job->plan, job->architecture, job->output);
	autofree int *cpus = NULL;
	const double nr_cpus = (double)allowed_cpus(&cpus, NULL);

	return isnan(at_work) ? whole_cpus(used) : fmax(whole_cpus(used), fmin(round(at_work), nr_cpus));
}

/* At least one, whatever the clocks say. */
static int
threads_of_program(const struct run_job *job)
{
	const double nr = cpus_of_program(job);

	return isfinite(nr) && nr > 1 ? (int)nr : 1;
}

/* Found only when a plot is asked for; else those that are known already. */
static void
add_ceilings(struct run_job *job)
{
	struct program_regions *regions = &job->report.regions;
	struct rot_error why = {0};
	const struct place_list *functions;
	int nr;

	if (!job->plan.operation || !job->plan.border || !job->plan.is_timed)
		return;
	experiment_use_cpus(job->experiment, cpus_of_program(job));
	for (size_t i = 0; i < regions->nr; i++)
		experiment_use_cpus(job->experiment, whole_cpus(regions->items[i].at_once));
	/* The lines of these roofs are drawn. */
	functions = &job->report.places.lists[PLACES_FUNCTIONS];
	for (size_t i = 0; i < functions->nr; i++)
		if (functions->items[i].values.nr > 0)
			experiment_use_cpus(job->experiment, functions->items[i].nr_threads);
	job->rot->is_cached_only = !job->options->output_name;
	if (experiment_add_default_peaks(job->experiment, &why) < 0 && job->options->output_name)
		program_report_note(&job->report, "no ceilings: %s", why.text);
	job->rot->is_cached_only = false;
	job->report.roof = roof_of(job, cpus_of_program(job));
	nr = threads_of_program(job);
	job->report.roofs = rot_calloc((size_t)nr, sizeof(*job->report.roofs));
	for (int i = 0; i < nr; i++)
		job->report.roofs[i] = roof_of(job, i + 1);
	for (size_t i = 0; i < regions->nr; i++)
		regions->items[i].roof = roof_of(job, whole_cpus(regions->items[i].at_once));
}

static bool
is_cut(const struct run_job *job, const struct program_run_output *run)
{
	return program_run_is_cut(&job->plan, run) || program_run_is_ended_by(run, run->interrupted_by);
}

/* Runs that were cut off are not mixed with whole ones. */
static void
drop_cut_runs(struct run_job *job)
{
	struct rot_list *list = &job->output->outputs;
	struct program_run_output **runs = list->items;

	for (size_t i = list->nr; i-- > 0;) {
		bool has_whole = false;

		for (size_t k = 0; k < list->nr; k++)
			has_whole |= runs[k]->pass == runs[i]->pass && !is_cut(job, runs[k]);
		if (!has_whole || !is_cut(job, runs[i]))
			continue;
		program_report_note(&job->report, "run %zu was cut off by signal %d after %.3g s: it is left out",
				    i + 1, runs[i]->interrupted_by, 1e-9 * (double)runs[i]->wall_time);
		rot_graph_delete(runs[i]);
		memmove(&runs[i], &runs[i + 1], (--list->nr - i) * sizeof(*runs));
	}
}

/* After an interruption: passes run in order, so the first ones are there. */
static void
cut_plan(struct run_job *job)
{
	size_t nr = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(job->output); i++) {
		size_t pass = (size_t)program_command_output_outputs_at(job->output, i)->pass;

		nr = pass + 1 > nr ? pass + 1 : nr;
	}
	if (nr < job->plan.passes.nr_passes)
		program_plan_cut(&job->plan, nr);
}

static int
compute(struct run_job *job, struct rot_error *err)
{
	struct program_report *report = &job->report;
	const struct architecture *architecture = job->architecture;
	size_t nr = program_run_output_nr_threads(program_command_output_outputs_at(job->output, 0));
	bool are_apart;

	if (program_values_total(&report->total, &job->plan, architecture, job->output, err) < 0 ||
	    program_places_compute(&report->places, &job->plan, architecture, job->output, threads_of_program(job),
				   err) < 0)
		return -1;
	report->agreement = program_agreement_of(&job->plan, architecture, job->output);
	are_apart = report->agreement.has_same_threads &&
		    program_run_has_threads(program_command_output_outputs_at(job->output, 0));
	if (program_regions_compute(&report->regions, &job->plan, architecture, job->command, job->output, are_apart,
				    err) < 0)
		return -1;
	if (!job->options->per_thread || !are_apart)
		return 0;
	report->threads = rot_calloc(nr + 1, sizeof(*report->threads));
	for (; report->nr_threads < nr; report->nr_threads++)
		if (program_values_thread(&report->threads[report->nr_threads], &job->plan, architecture, job->output,
					  report->nr_threads, err) < 0)
			return -1;
	return 0;
}

static void
add_point(struct run_job *job, const char *series, const char *label, struct program_values *values, double nr_cpus)
{
	experiment_add_values(job->experiment, series, label, job->plan.requests, values->values, values->nr);
	experiment_set_cpus(job->experiment, nr_cpus);
}

/* More threads than this are not drawn one by one. */
#define MAX_THREADS_DRAWN 8

static void
add_thread_points(struct run_job *job)
{
	struct program_report *report = &job->report;

	for (size_t i = 0; i < report->nr_threads; i++) {
		const struct program_thread_output *thread = report->threads[i].thread;
		autofree char *label = rot_format("%s %d", thread->name, (int)thread->tid);

		add_point(job, report->nr_threads > MAX_THREADS_DRAWN ? "threads" : label, label, &report->threads[i],
			  1);
	}
}

static void
add_region_points(struct run_job *job, struct program_region *region)
{
	autofree char *series = rot_format("region %s", region->definition->name);

	if (region->total.nr)
		add_point(job, series, region->definition->name, &region->total, whole_cpus(region->at_once));
	for (size_t i = 0; region->nr_threads > 1 && i < region->nr_threads; i++) {
		struct program_values *values = &region->threads[i].values;
		autofree char *label = rot_format("%s: %s %d", region->definition->name, values->thread->name,
						  (int)values->thread->tid);

		add_point(job, "threads of regions", label, values, 1);
	}
}

/* For the JSON and the plot, which take the values over: the last thing that is done. */
static void
add_points(struct run_job *job)
{
	add_point(job, "program", job->title, &job->report.total, cpus_of_program(job));
	for (size_t i = 0; i < job->report.regions.nr; i++)
		add_region_points(job, &job->report.regions.items[i]);
	add_thread_points(job);
}

/* Both positive, as logarithmic axes need it. */
static bool
is_drawable(const struct program_values *values)
{
	const struct quantity_value *performance = program_values_find(values, "performance", ""),
				    *intensity = program_values_find(values, "operationalIntensity", "");

	return performance && intensity && performance->summary.value > 0 && isfinite(intensity->summary.value) &&
	       intensity->summary.value > 0;
}

/* The program, or one of its regions. */
static bool
can_be_drawn(const struct program_report *report)
{
	bool can = is_drawable(&report->total);

	for (size_t i = 0; i < report->regions.nr; i++)
		can |= is_drawable(&report->regions.items[i].total);
	return can;
}

/* OUTPUT of OUTPUT.csv: the name of the results, or that of the JSON. NULL: there is none. */
static char *
csv_name_of(const struct run_options *options)
{
	const char *json = options->json_path;

	if (options->output_name)
		return rot_strdup(options->output_name);
	if (!json || strcmp(json, "-") == 0)
		return NULL;
	return rot_strndup(json, strlen(json) - (path_ends_in(json, ".json") ? strlen(".json") : 0));
}

static int
write_files(struct run_job *job, bool has_plot, struct rot_error *err)
{
	const struct run_options *options = job->options;
	autofree char *path = options->output_name ? rot_format("%s.json", options->output_name) : NULL;
	autofree char *csv = csv_name_of(options);
	json_t *json = experiment_json(job->experiment, true);
	int rc = 0;

	program_report_add_json(&job->report, json);
	experiment_bound_functions(job->experiment, json);
	experiment_add_functions(job->experiment, 0, "", json, 0);
	if (path)
		rc = output_write_json(json, path, err);
	if (rc == 0 && csv)
		rc = experiment_write_csv(job->experiment, json, csv, err);
	else if (options->json_path && configuration_bool(job->rot->configuration, "writeCsv"))
		rot_warning("no CSV is written: it has a name beside -o NAME or -j FILE.json");
	if (rc == 0 && csv && program_places_are_known(&job->report.places) &&
	    configuration_bool(job->rot->configuration, "writeCsv"))
		rc = report_places_csv(&job->report, json_object_get(json, "functions"), csv, err);
	if (rc == 0 && options->json_path)
		rc = output_write_json(json, options->json_path, err);
	if (job->plan.is_timed) {
		/*
		 * For "rot plot" without a file: small, so without what each run counted. The user did not ask
		 * for it, so no message tells when it cannot be written.
		 */
		autofree char *last = rot_format("%s/" PROGRAM_LAST_RUN, job->rot->paths->cache);

		json_object_del(json, "runs"); /* the page has none either */
		output_write_json(json, last, NULL);
	}
	if (!has_plot)
		experiment_drop_plots(job->experiment);
	if (rc == 0 && path)
		rc = experiment_write_plots(job->experiment, &(struct page_result){"", json}, 1, err);
	if (rc == 0 && options->output_name)
		rc = report_curve_plot(&job->report, job->rot, options->output_name, err);
	output_print_told();
	json_decref(json);
	return rc;
}

/* By messages_next. */
static void
tell_next(const struct run_job *job, char *const *argv)
{
	const struct run_options *options = job->options;

	if (!job->plan.is_timed)
		messages_next("rot diff compares such counts, of -j BEFORE.json and -j AFTER.json");
	else if (!job->plan.operation || !job->plan.border)
		messages_next("rot doctor says why operations and bytes are not counted");
	else if (isnan(job->report.roof.peak.value) || isnan(job->report.roof.bandwidth.value))
		messages_next("rot peaks --quick finds the roof of this machine in a minute");
	else if (options->nr_regions == 0 && !options->process_id)
		messages_next("rot run --region=FUNCTION %s... measures one function", argv[0]);
	else if (!options->output_name)
		messages_next("rot plot -plots=terminal draws this run here");
}

/* Where the numbers are, with their caveats. */
static char *
json_path_of(const struct run_job *job)
{
	const struct run_options *options = job->options;
	const bool has_json = options->json_path && strcmp(options->json_path, "-") != 0;

	return has_json               ? rot_strdup(options->json_path)
	       : options->output_name ? rot_format("%s.json", options->output_name)
				      : rot_format("%s/" PROGRAM_LAST_RUN, job->rot->paths->cache);
}

/* After everything is written: the points have the values. */
static int
check_strict(const struct run_job *job, struct rot_error *err)
{
	const size_t nr = job->report.nr_doubts;
	autofree char *path = json_path_of(job);
	int rc = experiment_check_strict(job->experiment, path, err);

	if (nr > 0 && configuration_bool(job->rot->configuration, "strict")) {
		if (rc == 0)
			rot_error_set(err, 0, "strict: the numbers are measured, but not sound");
		rc = rot_error_append(err, "\n     %zu: doubts about the runs, as the notes of the table say", nr);
	}
	return rc;
}

/* All runs took place, and none was ended before its time. */
static bool
is_whole(const struct run_job *job)
{
	size_t nr = program_command_output_nr_outputs(job->output);

	for (size_t i = 0; i < program_command_output_nr_outputs(job->output); i++)
		nr -= program_command_output_outputs_at(job->output, i)->interrupted_by != 0;
	return nr == nr_runs_of(job);
}

/* Latencies are known as far as the machine's caches were measured. */
static void
set_latencies(struct run_job *job)
{
	struct measured_levels levels;

	measured_levels_load(&levels, job->rot->paths->cache, job->rot->machine);
	for (int cache = 1; cache <= 2; cache++) {
		const struct measured_level *level = measured_level_of(&levels, job->rot->machine, cache);

		job->report.line_ns[cache - 1] = level ? level->ns : 0;
	}
	if (levels.nr > 0 && levels.levels[levels.nr - 1].bytes == 0)
		job->report.line_ns[FINDING_MEMORY] = levels.levels[levels.nr - 1].ns;
}

static int
report(struct run_job *job, char *const *argv, struct rot_error *err)
{
	bool has_plot;

	job->report = (struct program_report){
		.rot = job->rot,
		.title = job->title,
		.program = job->command->program,
		.executable = job->executable,
		.sha256 = job->sha256,
		.options = job->options,
		.can_step = !job->rot->architecture->of_programs,
		.are_lines_sampled = strcmp(configuration_string(job->rot->configuration, "cacheSampling"), "1") != 0,
		.why_once = job->why_once,
		.architecture = job->architecture,
		.plan = &job->plan,
		.by = run_options_by(job->options),
		.nr_functions = job->plan.is_timed && !job->options->process_id ? job->options->nr_functions : 0,
		.output = job->output,
		.roof = {summary_empty(), summary_empty(), 0},
		.vector_bytes = machine_vector_bytes(job->rot->machine),
		.machine = job->rot->machine,
	};
	set_latencies(job);
	drop_cut_runs(job);
	cut_plan(job);
	if (compute(job, err) < 0)
		return -1;
	if (job->options->has_no_children)
		program_report_note(
			&job->report,
			"processes that the program started are left out; CPU time, context switches, faults "
			"and memory are with those it waited for, since the system has no others");
	add_ceilings(job);
	program_report_judge(&job->report);
	if (is_whole(job) && program_comparison_note(&job->comparison, job->output, &job->report, err) < 0)
		return -1;
	job->report.is_all = configuration_bool(job->rot->configuration, "showAll");
	has_plot = job->options->output_name && can_be_drawn(&job->report);
	if (job->options->output_name && !has_plot)
		program_report_note(&job->report,
				    "no roofline is drawn: it needs a performance and an intensity above 0");
	if (!job->options->is_quiet && !configuration_bool(job->rot->configuration, "quiet"))
		program_report_print(&job->report, stderr);
	add_points(job);
	if (write_files(job, has_plot, err) < 0)
		return -1;
	tell_next(job, argv);
	return check_strict(job, err);
}

int
program_run(struct rot *rot, const struct run_options *options, char *const *argv, int *status, struct rot_error *err)
{
	struct run_job job = {.rot = rot, .options = options};
	int rc = -1;

	*status = 1;
	if (options->is_quiet)
		messages_set_quiet(true);
	if (prepare(&job, argv, status, err) < 0)
		goto out;
	announce(&job);
	if (program_launch(rot, job.command, options->duration_s, NULL, &job.output, status, err) < 0)
		goto out;
	if (job.comparison.counted.nr > 0 && program_values_total(&job.comparison.values, &job.comparison.counted,
								  job.comparison.events, job.output, err) < 0)
		goto out;
	if (job.counting && has_no_region(&job))
		rot_note("the run for the counts is left out, since no region could be measured");
	else if (job.counting && program_launch_is_over(job.output))
		rot_note("the run for the counts is left out, since a signal ended the first");
	else if (job.counting)
		count_blocks(&job);
	*status = options->process_id ? 0 : status_of(job.output);
	rc = report(&job, argv, err);
	for (size_t i = 0; i < job.report.regions.nr && *status == 0; i++)
		*status = program_region_is_served(&job.report.regions.items[i]) ? 0 : 1;
out:
	job_clear(&job);
	return rc;
}
