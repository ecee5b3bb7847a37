/* SPDX-License-Identifier: MIT */
/* The measurement application controller of the thesis: cache, core, missing runs, cache. */
#include "engine/measuring.h"

#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/progress.h"
#include "engine/core_build.h"
#include "engine/core_launch.h"
#include "engine/kernel_work.h"
#include "engine/measuring_internal.h"
#include "engine/monitor.h"
#include "engine/performance.h"
#include "engine/result_cache.h"
#include "engine/sha256.h"
#include "memory.h"
#include "rot.h"

/* ---- what a result is found by: the hash of what was measured and of the machine ---- */

void
measuring_complete(const struct rot *rot, const void *description)
{
	const char *flags = configuration_string(rot->configuration, "optimization");
	int nr_workloads = 0, nr_kernels = 0, nr_sets = 0, nr_measurers = 0;
	size_t nr;
	autofree struct rot_entity **parts = rot_graph_collect(description, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct kernel_base *kernel = rot_cast(parts[i], &kernel_base_class);

		if (kernel && flags[0])
			rot_string_set(&kernel->optimization, flags);
		if (kernel)
			kernel->id = ++nr_kernels;
		else if (rot_is_a(parts[i], &workload_class))
			((struct workload *)parts[i])->id = ++nr_workloads;
		else if (rot_is_a(parts[i], &measurer_set_class))
			((struct measurer_set *)parts[i])->id = ++nr_sets;
		else if (rot_is_a(parts[i], &measurer_base_class))
			((struct measurer_base *)parts[i])->id = ++nr_measurers;
	}
}

/* Hashes all of the machine that may change a result: flags, sizes and CPUs follow from it, or do not matter. */
char *
measuring_machine_hash(const struct machine *machine, const char *text)
{
	const char *const texts[] = {text,
				     machine->cpu_vendor,
				     machine->cpu_name,
				     machine->microcode,
				     machine->kernel_release,
				     machine->hypervisor};
	autofree char *numbers =
		rot_format("%d %d %d", (int)machine->cpu_family, (int)machine->cpu_model, (int)machine->cpu_stepping);
	struct sha256 *hash = sha256_new();
	char hex[SHA256_HEX_SIZE];

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		sha256_add_text(hash, texts[i]);
	sha256_add_text(hash, numbers);
	sha256_finish(hash, hex);
	return rot_strdup(hex);
}

char *
measuring_hash(struct rot *rot, const void *description)
{
	autofree char *xml = rot_xml_write(description);

	return measuring_machine_hash(rot->machine, xml);
}

char *
measuring_description_hash(struct rot *rot, struct measurement *measurement)
{
	measuring_complete(rot, measurement);
	return measuring_hash(rot, measurement);
}

/* ---- what stays between two measurements ---- */

struct measuring *
measuring_new(struct rot *rot)
{
	struct measuring *measuring = rot_calloc(1, sizeof *measuring);

	measuring->cache = result_cache_new(rot->paths->cache, rot->registry);
	measuring->builder = core_builder_new(rot);
	measuring->files = file_hashes_new();
	return measuring;
}

void
measuring_forget(struct measuring *measuring)
{
	for (size_t i = 0; i < measuring->nr_seen; i++)
		free(measuring->seen[i]);
	measuring->nr_seen = 0;
}

void
measuring_delete(struct measuring *measuring)
{
	if (!measuring)
		return;
	measuring_forget(measuring);
	free(measuring->seen);
	file_list_clear(&measuring->listed);
	file_hashes_delete(measuring->files);
	core_builder_delete(measuring->builder);
	result_cache_delete(measuring->cache);
	free(measuring);
}

void
measuring_stop_at_missing(struct rot *rot, bool stops)
{
	rot->measuring->stops_at_missing = stops;
	rot->measuring->has_stopped = false;
}

bool
measuring_has_stopped(const struct rot *rot)
{
	return rot->measuring->has_stopped;
}

bool
measuring_may_measure(struct measuring *measuring, struct rot_error *err)
{
	measuring->has_stopped = measuring->stops_at_missing;
	if (measuring->has_stopped)
		rot_error_set(err, 0, "runs are missing, and are not to be measured yet");
	return !measuring->has_stopped;
}

/* ---- what measures ---- */

const char *
measuring_parent_hash(struct rot *rot, struct rot_error *err)
{
	autofree char *path = rot_format("%s/core/rot-core.sha256", rot->paths->built);
	const char *hash = file_hashes_get(rot->measuring->files, path);

	if (!hash[0]) {
		rot_error_set(err, 0, "cannot read '%s'", path);
		rot_error_hint(err, "rot's folder of programs is damaged: install rot again");
	}
	return hash[0] ? hash : NULL;
}

/* ---- regions that were to be stepped ---- */

const struct step_measurer_output *
measuring_find_cut(const struct measurement_result *result)
{
	const struct step_measurer_output *cut = NULL;

	for (size_t i = 0; i < measurement_result_nr_outputs(result) && !cut; i++) {
		const struct measurement_run_output *run = measurement_result_outputs_at(result, i);

		for (size_t k = 0; k < measurement_run_output_nr_measurer_set_outputs(run) && !cut; k++) {
			const struct step_measurer_output *stepped =
				rot_cast(measurement_run_output_measurer_set_outputs_at(run, k)->main_measurer_output,
					 &step_measurer_output_class);

			/* Else the set's region was counted to its end, or not at all. */
			cut = stepped && strcmp(stepped->cut, "none") != 0 ? stepped : NULL;
		}
	}
	return cut;
}

/* The set's region has counted many instructions. */
static bool
has_long_count(const struct measurer_set_output *set)
{
	const struct step_measurer_output *stepped = rot_cast(set->main_measurer_output, &step_measurer_output_class);
	const size_t nr = stepped ? perf_event_measurer_output_nr_event_counts(&stepped->base) : 0;

	for (size_t i = 0; i < nr; i++) {
		const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(&stepped->base, i);

		if (strcmp(count->name, "instructions") == 0)
			return count->raw_count > MEASURING_LONG_COUNT;
	}
	return false;
}

bool
measuring_has_long_counts(const struct measurement_result *result)
{
	bool is_long = measurement_result_nr_outputs(result) > 0;

	for (size_t i = 0; i < measurement_result_nr_outputs(result); i++) {
		const struct measurement_run_output *run = measurement_result_outputs_at(result, i);

		is_long &= measurement_run_output_nr_measurer_set_outputs(run) > 0;
		for (size_t k = 0; k < measurement_run_output_nr_measurer_set_outputs(run); k++)
			is_long &= has_long_count(measurement_run_output_measurer_set_outputs_at(run, k));
	}
	return is_long;
}

/*
 * The same for a reason that may be gone: memory was refused. It is measured again by the next process that needs it.
 * What was cut since it cannot be followed is as it is as long as the code is the same.
 */
static bool
was_cut_in_passing(const struct measurement_result *result)
{
	const struct step_measurer_output *cut = measuring_find_cut(result);

	return cut && strcmp(cut->cut, "memory") == 0;
}

/* ---- kernels ---- */

struct kernel_job {
	const struct core *core; /* NULL: not needed yet */
	int nr_starts;           /* of the core for runs that are missing */
};

static struct rot_list *
kernel_runs(const struct measurement_result *result)
{
	return (struct rot_list *)&result->outputs;
}

/* The child counts all but steps, which are counted by the parent. */
static int
hash_core(struct performance *performance, struct rot_error *err)
{
	const struct kernel_job *job = performance->context;
	const char *child = job->core->state.hash, *parent;
	struct sha256 *hash;
	size_t nr;
	autofree struct rot_entity **parts = rot_graph_collect(performance->passes[0].description, &nr);
	bool is_stepped = false;

	for (size_t i = 0; i < nr; i++)
		is_stepped = is_stepped || rot_is_a(parts[i], &step_measurer_class);
	strcpy(performance->core_hash, child);
	if (!is_stepped)
		return 0;
	parent = measuring_parent_hash(performance->rot, err);
	if (!parent)
		return -1;
	hash = sha256_new();
	sha256_add_text(hash, child);
	sha256_add_text(hash, parent);
	sha256_finish(hash, performance->core_hash);
	return 0;
}

static enum performance_outcome
get_core(struct performance *performance, bool may_build, struct rot_error *err)
{
	struct kernel_job *job = performance->context;
	struct core_builder *builder = performance->rot->measuring->builder;
	struct measurement *measurement = performance->passes[0].description;
	int rc = core_builder_find(builder, measurement, &job->core, NULL, err);

	if (rc == 0 && !job->core) {
		if (!may_build)
			return PERFORMANCE_NEEDS_LOCK;
		progress_task("building the measuring core");
		monitor_enter(performance->rot->monitor, "build the core");
		rc = core_builder_build(builder, measurement, &job->core, err);
		monitor_leave(performance->rot->monitor);
	}
	/* One core serves all passes. */
	for (size_t i = 1; rc == 0 && i < performance->nr; i++) {
		const struct core *other;

		rc = core_builder_find(builder, performance->passes[i].description, &other, NULL, err);
		if (rc == 0 && other != job->core)
			rc = rot_error_set(err, 0, "the passes of one point need different measuring cores");
	}
	return rc < 0 || hash_core(performance, err) < 0 ? PERFORMANCE_FAILED : PERFORMANCE_DONE;
}

static void
sign(const struct performance *performance, struct measurement_result *result)
{
	const struct kernel_job *job = performance->context;
	const struct core_state *core = &job->core->state;

	rot_string_set(&result->compiler, core->compiler);
	for (size_t i = 0; core->compile_lines[i]; i++)
		measurement_result_compile_lines_add(result, core->compile_lines[i]);
}

static int
measure_kernels(struct performance *performance, struct performance_pass *const *passes, size_t nr, int nr_runs,
		struct rot_error *err)
{
	const struct kernel_job *job = performance->context;
	autofree struct measurement **measurements = rot_calloc(nr, sizeof(*measurements));
	int nr_left = job->nr_starts < nr_runs ? job->nr_starts : nr_runs, rc = 0;

	for (size_t i = 0; i < nr; i++)
		measurements[i] = passes[i]->description;
	for (int done = 0, now; rc == 0 && done < nr_runs; done += now) {
		autograph struct measurement_command_output *output = NULL;

		now = (nr_runs - done) / nr_left--;
		progress_part(done * (int)nr, nr_runs * (int)nr);
		rc = core_launch(performance->rot, job->core->child, measurements, nr, now, &output, err);
		for (size_t i = 0; rc == 0 && i < nr; i++) {
			struct measurement_run_output_collection *runs =
				measurement_command_output_collections_at(output, i);

			for (size_t k = 0; k < measurement_run_output_collection_nr_outputs(runs); k++)
				measurement_result_outputs_add(passes[i]->result,
							       measurement_run_output_collection_outputs_at(runs, k));
			runs->outputs.nr = 0; /* the results have them now */
		}
	}
	progress_part(0, 0);
	return rc;
}

/*
 * Results know their compiler by the first line of its --version, "gcc (Debian 14.2.0-19) 14.2.0": is the configured
 * one, "/usr/bin/gcc -m64", a word of it?
 */
static bool
is_of_compiler(const char *version, const char *configured)
{
	autofree char *program = rot_strndup(configured, strcspn(configured, " "));
	const char *name = path_name(program);
	const size_t length = strlen(name);
	bool is_it = false;

	for (const char *word = version; length && *word && !is_it; word += strspn(word, " ")) {
		is_it = strcspn(word, " ") == length && strncmp(word, name, length) == 0;
		word += strcspn(word, " ");
	}
	return is_it;
}

/* They were measured by what the configured compiler built, as far as they tell. */
static bool
vouches(const struct performance *performance)
{
	const char *compiler = configuration_string(performance->rot->configuration, "compiler");

	for (size_t i = 0; i < performance->nr; i++)
		if (!is_of_compiler(performance->passes[i].result->compiler, compiler))
			return false;
	return true;
}

static const struct performance_kind kernels = {
	.runs = kernel_runs,
	.prepare = get_core,
	.vouches = vouches,
	.is_passing = was_cut_in_passing,
	.sign = sign,
	.measure = measure_kernels,
};

/* Errors: a kernel refuses its fields. */
static int
check_kernels(struct rot *rot, const struct measurement *measurement, struct rot_error *err)
{
	size_t nr;
	autofree struct rot_entity **parts = rot_graph_collect(measurement, &nr);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i++)
		if (rot_is_a(parts[i], &kernel_base_class))
			rc = kernel_check(rot, (const struct kernel_base *)parts[i], err);
	return rc;
}

/* ---- the passes of one point ---- */

int
measuring_perform(struct rot *rot, struct measurement *const *passes, size_t nr_passes, int nr_runs, int nr_starts,
		  struct measurement_result **results, struct rot_error *err)
{
	struct kernel_job job = {.nr_starts = nr_starts > 1 ? nr_starts : 1};
	struct performance performance = {
		.rot = rot, .kind = &kernels, .context = &job, .nr = nr_passes, .nr_runs = nr_runs};

	if (nr_passes == 0 || nr_runs < 1)
		return rot_error_set(err, 0, "nothing to measure: %zu passes of %d runs", nr_passes, nr_runs);
	for (size_t i = 0; i < nr_passes; i++) {
		if (check_kernels(rot, passes[i], err) < 0)
			return -1;
		measuring_complete(rot, passes[i]);
	}
	return performance_run(&performance, (void *const *)passes, results, err);
}

int
measuring_look(struct rot *rot, struct measurement *pass, struct measuring_look *look, struct rot_error *err)
{
	autofree char *hash = measuring_description_hash(rot, pass);
	autograph struct measurement_result *result = result_cache_load(rot->measuring->cache, hash);
	const struct core *core;
	int rc;

	*look = (struct measuring_look){.nr_runs_cached = 0};
	if (result && !was_cut_in_passing(result)) {
		look->nr_runs_cached = (int)measurement_result_nr_outputs(result);
		look->is_enough = measuring_find_cut(result) || measuring_has_long_counts(result);
	}
	rc = core_builder_find(rot->measuring->builder, pass, &core, look->core_key, err);
	look->is_built = rc == 0 && core;
	return rc;
}

/* ---- cores of many measurements, built side by side before they are needed ---- */

static void
show_builds(size_t nr_done, size_t nr)
{
	autofree char *task = rot_format("building measuring cores, %zu of %zu ready", nr_done, nr);

	progress_task(task);
}

/* Copies with the user's flags, of those whose kernels can work. Gives the number of the others. */
static int
copy_measurable(struct rot *rot, struct measurement *const *measurements, size_t nr, struct measurement **copies,
		size_t *nr_copies, struct rot_error *err)
{
	int nr_refused = 0;

	for (size_t i = 0; i < nr; i++) {
		struct rot_error local = {0};

		if (check_kernels(rot, measurements[i], &local) < 0) {
			if (nr_refused++ == 0 && err)
				*err = local;
			continue;
		}
		copies[*nr_copies] = rot_graph_clone(measurements[i], NULL);
		measuring_complete(rot, copies[(*nr_copies)++]);
	}
	return nr_refused;
}

int
measuring_prepare(struct rot *rot, struct measurement *const *measurements, size_t nr, struct rot_error *err)
{
	autofree struct measurement **copies = rot_calloc(nr, sizeof(*copies));
	struct core_builder *builder = rot->measuring->builder;
	struct rot_error of_builds = {0};
	size_t nr_copies = 0;
	int nr_refused, nr_failed = 0;
	bool is_missing = false;

	nr_refused = rot->is_cached_only ? 0 : copy_measurable(rot, measurements, nr, copies, &nr_copies, err);
	for (size_t i = 0; i < nr_copies && !is_missing; i++) {
		const struct core *core;

		is_missing = core_builder_find(builder, copies[i], &core, NULL, NULL) < 0 || !core;
	}
	if (is_missing) {
		const int lock = cache_lock(rot->paths->cache);

		if (lock == -2) {
			nr_failed = rot_error_set(&of_builds, 0, "interrupted");
		} else {
			monitor_enter(rot->monitor, "build the cores");
			nr_failed = core_builder_build_all(builder, copies, nr_copies, show_builds, &of_builds);
			monitor_leave(rot->monitor);
		}
		cache_unlock(lock);
	}
	if (err && (nr_failed < 0 || (nr_failed > 0 && nr_refused == 0)))
		*err = of_builds;
	for (size_t i = 0; i < nr_copies; i++)
		rot_graph_delete(copies[i]);
	return nr_failed < 0 ? -1 : nr_refused + nr_failed;
}

/* ---- the same work on several CPUs ---- */

/* At the event that comes right before the measurers of the kernel start. */
static struct rule *
start_together(size_t nr)
{
	struct wait_for_pressure_barrier_action *action = wait_for_pressure_barrier_action_new();
	struct workload_event_predicate *predicate = workload_event_predicate_new();
	struct rule *rule = rule_new();

	action->barrier = pressure_barrier_new();
	action->barrier->threshold = (int32_t)nr;
	rot_string_set(&predicate->event, "kernelStart");
	rule->predicate = &predicate->base;
	rule->action = &action->base;
	return rule;
}

struct measurement *
measurement_on_cpus(const struct measurement *measurement, const int *cpus, size_t nr)
{
	struct measurement *copy = rot_graph_clone(measurement, NULL);

	measurement_workloads_at(copy, 0)->cpu = cpus[0];
	for (size_t i = 1; i < nr; i++) {
		struct workload *workload = rot_graph_clone(measurement_workloads_at(measurement, 0), NULL);

		workload->cpu = cpus[i];
		measurement_workloads_add(copy, workload);
	}
	if (nr > 1)
		measurement_rules_add(copy, start_together(nr));
	return copy;
}
