/* SPDX-License-Identifier: MIT */
/* The measurement application controller of the thesis: cache, core, missing runs, cache. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config.h"
#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "measuring/core_build.h"
#include "measuring/core_launch.h"
#include "measuring/measuring.h"
#include "measuring/monitor.h"
#include "measuring/result_cache.h"
#include "measuring/sha256.h"
#include "memory.h"
#include "rot.h"
#include "support/progress.h"

struct measuring {
	struct result_cache *cache;
	struct core_builder *builder;
	char **seen; /* description hashes that were measured in this process */
	size_t nr_seen;
};

struct measuring *
measuring_new(struct rot *rot, struct rot_error *err)
{
	struct measuring *measuring = rot_calloc(1, sizeof *measuring);

	(void)err;
	measuring->cache = result_cache_new(rot->paths->cache, rot->registry);
	measuring->builder = core_builder_new(rot);
	return measuring;
}

void
measuring_delete(struct measuring *measuring)
{
	if (!measuring)
		return;
	for (size_t i = 0; i < measuring->nr_seen; i++)
		free(measuring->seen[i]);
	free(measuring->seen);
	core_builder_delete(measuring->builder);
	result_cache_delete(measuring->cache);
	free(measuring);
}

static bool
was_seen(const struct measuring *measuring, const char *hash)
{
	for (size_t i = 0; i < measuring->nr_seen; i++)
		if (strcmp(measuring->seen[i], hash) == 0)
			return true;
	return false;
}

static void
remember_seen(struct measuring *measuring, const char *hash)
{
	if (was_seen(measuring, hash))
		return;
	measuring->seen = rot_realloc(measuring->seen, measuring->nr_seen + 1, sizeof *measuring->seen);
	measuring->seen[measuring->nr_seen++] = rot_strdup(hash);
}

/* ---- description ---- */

/* Ids count from 1 within each kind, in walking order: the same graph always gets the same ids. */
static void
set_ids(struct rot_entity *const *parts, size_t nr)
{
	int nr_workloads = 0, nr_kernels = 0, nr_sets = 0, nr_measurers = 0;

	for (size_t i = 0; i < nr; i++) {
		if (rot_is_a(parts[i], &workload_class))
			((struct workload *)parts[i])->id = ++nr_workloads;
		else if (rot_is_a(parts[i], &kernel_base_class))
			((struct kernel_base *)parts[i])->id = ++nr_kernels;
		else if (rot_is_a(parts[i], &measurer_set_class))
			((struct measurer_set *)parts[i])->id = ++nr_sets;
		else if (rot_is_a(parts[i], &measurer_base_class))
			((struct measurer_base *)parts[i])->id = ++nr_measurers;
	}
}

/* The user's flags are part of the description: they change what is measured. */
static void
set_optimization(const struct rot *rot, struct rot_entity *const *parts, size_t nr)
{
	const char *flags = configuration_string(rot->configuration, "optimization");

	for (size_t i = 0; flags[0] && i < nr; i++) {
		struct kernel_base *kernel = rot_cast(parts[i], &kernel_base_class);

		if (kernel)
			rot_string_set(&kernel->optimization, flags);
	}
}

/* Everything of the machine that may change a result; not the flags, sizes and CPUs, which follow from these or do not
 * matter. */
static void
hash_machine(struct sha256 *hash, const struct machine *machine)
{
	const char *const texts[] = {machine->cpu_vendor, machine->cpu_name, machine->microcode,
				     machine->kernel_release, machine->hypervisor};
	char *numbers =
		rot_format("%d %d %d", (int)machine->cpu_family, (int)machine->cpu_model, (int)machine->cpu_stepping);

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		sha256_add_text(hash, texts[i]);
	sha256_add_text(hash, numbers);
	free(numbers);
}

char *
measuring_description_hash(struct rot *rot, struct measurement *measurement)
{
	size_t nr;
	struct rot_entity **parts = rot_graph_collect(measurement, &nr);
	struct sha256 *hash = sha256_new();
	char hex[SHA256_HEX_SIZE], *xml;

	set_ids(parts, nr);
	set_optimization(rot, parts, nr);
	free(parts);
	xml = rot_xml_write(measurement);
	sha256_add_text(hash, xml);
	hash_machine(hash, rot->machine);
	sha256_finish(hash, hex);
	free(xml);
	return rot_strdup(hex);
}

/* ---- one call of measuring_perform ---- */

struct pass {
	struct measurement *measurement;
	char *hash;
	struct measurement_result *result; /* what there is so far, or NULL */
};

struct performance {
	struct rot *rot;
	struct pass *passes;
	size_t nr;
	int nr_runs;
	const struct core *core; /* NULL: not needed yet */
};

enum outcome { FAILED = -1, DONE, NEEDS_LOCK };

static size_t
nr_missing(const struct performance *performance, const struct pass *pass)
{
	size_t nr = pass->result ? measurement_result_nr_outputs(pass->result) : 0;

	return nr < (size_t)performance->nr_runs ? (size_t)performance->nr_runs - nr : 0;
}

/* The least number of missing runs of those passes that miss any; 0: all are there. */
static size_t
least_missing(const struct performance *performance)
{
	size_t least = 0;

	for (size_t i = 0; i < performance->nr; i++) {
		size_t nr = nr_missing(performance, &performance->passes[i]);

		if (nr && (!least || nr < least))
			least = nr;
	}
	return least;
}

static void
forget_result(struct pass *pass)
{
	rot_graph_delete(pass->result);
	pass->result = NULL;
}

/* Loads what may be used. True if anything was found. */
static bool
load_results(struct performance *performance)
{
	struct measuring *measuring = performance->rot->measuring;
	bool use_cached = configuration_bool(performance->rot->configuration, "useCachedResults"), found = false;

	monitor_enter(performance->rot->monitor, "look up results");
	for (size_t i = 0; i < performance->nr; i++) {
		struct pass *pass = &performance->passes[i];

		forget_result(pass);
		if (use_cached || was_seen(measuring, pass->hash))
			pass->result = result_cache_load(measuring->cache, pass->hash);
		found = found || pass->result;
	}
	monitor_leave(performance->rot->monitor);
	return found;
}

/* One core serves all passes. */
static int
check_same_core(struct performance *performance, struct rot_error *err)
{
	for (size_t i = 1; i < performance->nr; i++) {
		const struct core *other;

		if (core_builder_find(performance->rot->measuring->builder, performance->passes[i].measurement, &other,
				      err) < 0)
			return -1;
		if (other != performance->core)
			return rot_error_set(err, 0, "the passes of one point need different measuring cores");
	}
	return 0;
}

static enum outcome
get_core(struct performance *performance, bool may_build, struct rot_error *err)
{
	struct core_builder *builder = performance->rot->measuring->builder;
	struct measurement *measurement = performance->passes[0].measurement;
	int rc = core_builder_find(builder, measurement, &performance->core, err);

	if (rc == 0 && !performance->core) {
		if (!may_build)
			return NEEDS_LOCK;
		progress_task("building the measuring core");
		monitor_enter(performance->rot->monitor, "build the core");
		rc = core_builder_build(builder, measurement, &performance->core, err);
		monitor_leave(performance->rot->monitor);
	}
	return rc < 0 || check_same_core(performance, err) < 0 ? FAILED : DONE;
}

/* Results of another core than today's do not count; nor are runs of two cores mixed in one result. */
static void
drop_results_of_other_cores(struct performance *performance, bool check_all)
{
	for (size_t i = 0; i < performance->nr; i++) {
		struct pass *pass = &performance->passes[i];

		if (pass->result && (check_all || nr_missing(performance, pass)) &&
		    strcmp(pass->result->core_hash, performance->core->state.hash) != 0)
			forget_result(pass);
	}
}

static struct measurement_result *
new_result(const struct performance *performance, const struct pass *pass)
{
	struct measurement_result *result = measurement_result_new();
	const struct core_state *core = &performance->core->state;
	char created[32], *description = rot_xml_write(pass->measurement);
	time_t now = time(NULL);
	struct tm utc;

	strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	rot_string_set(&result->description_hash, pass->hash);
	rot_string_set(&result->description, description);
	rot_string_set(&result->core_hash, core->hash);
	rot_string_set(&result->compiler, core->compiler);
	for (size_t i = 0; core->compile_lines[i]; i++)
		measurement_result_compile_lines_add(result, core->compile_lines[i]);
	rot_string_set(&result->rot_version, PACKAGE_VERSION);
	rot_string_set(&result->created, created);
	result->machine = rot_graph_clone(performance->rot->machine, NULL);
	free(description);
	return result;
}

/* Moves the runs of the collection into the pass's result, and stores it. */
static void
merge(struct performance *performance, struct pass *pass, struct measurement_run_output_collection *collection)
{
	if (!pass->result)
		pass->result = new_result(performance, pass);
	for (size_t i = 0; i < measurement_run_output_collection_nr_outputs(collection); i++)
		measurement_result_outputs_add(pass->result,
					       measurement_run_output_collection_outputs_at(collection, i));
	collection->outputs.nr = 0;
	result_cache_store(performance->rot->measuring->cache, pass->result);
	remember_seen(performance->rot->measuring, pass->hash);
}

/* Runs those passes that miss runs, as often as the one that misses the fewest. */
static int
measure_once(struct performance *performance, struct rot_error *err)
{
	struct measurement **measurements = rot_calloc(performance->nr, sizeof(struct measurement *));
	struct pass **passes = rot_calloc(performance->nr, sizeof(struct pass *));
	struct measurement_command_output *output = NULL;
	int nr_runs = (int)least_missing(performance), rc;
	size_t nr = 0;

	for (size_t i = 0; i < performance->nr; i++) {
		if (!nr_missing(performance, &performance->passes[i]))
			continue;
		passes[nr] = &performance->passes[i];
		measurements[nr++] = performance->passes[i].measurement;
	}
	progress_run(0, nr_runs * (int)nr);
	monitor_enter(performance->rot->monitor, "measure");
	rc = core_launch(performance->rot, performance->core->child, measurements, nr, nr_runs, &output, err);
	monitor_leave(performance->rot->monitor);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		merge(performance, passes[i], measurement_command_output_collections_at(output, i));
	rot_graph_delete(output);
	free(passes);
	free(measurements);
	return rc;
}

/* Gets all runs. Without the lock nothing is built or measured. */
static enum outcome
perform(struct performance *performance, bool has_lock, struct rot_error *err)
{
	bool is_cached_only = performance->rot->is_cached_only;
	bool check_core = !is_cached_only && configuration_bool(performance->rot->configuration, "shouldCheckCoreHash");
	bool found = load_results(performance);
	enum outcome outcome;

	if (is_cached_only && least_missing(performance)) {
		rot_error_set(err, 0, "not in the result cache");
		return FAILED;
	}
	if ((found && check_core) || least_missing(performance)) {
		outcome = get_core(performance, has_lock, err);
		if (outcome == FAILED && found)
			rot_error_append(
				err, "%s",
				err->hint[0] ? "" : "\n(-shouldCheckCoreHash=false uses cached results without it)");
		if (outcome != DONE)
			return outcome;
		drop_results_of_other_cores(performance, check_core);
	}
	while (least_missing(performance)) {
		if (!has_lock)
			return NEEDS_LOCK;
		if (rot_interrupted()) {
			rot_error_set(err, 0, "interrupted");
			return FAILED;
		}
		if (measure_once(performance, err) < 0)
			return FAILED;
	}
	return DONE;
}

/* Again with the lock, since another rot may have measured this point while we waited. */
static enum outcome
perform_locked(struct performance *performance, struct rot_error *err)
{
	int lock = cache_lock(performance->rot->paths->cache);
	enum outcome outcome = FAILED;

	if (lock == -2)
		rot_error_set(err, 0, "interrupted");
	else
		outcome = perform(performance, true, err);
	cache_unlock(lock);
	return outcome;
}

/* Exactly nr runs: the first ones. */
static void
cut_outputs(struct measurement_result *result, size_t nr)
{
	for (size_t i = measurement_result_nr_outputs(result); i > nr; i--)
		rot_graph_delete(measurement_result_outputs_at(result, i - 1));
	if (result->outputs.nr > nr)
		result->outputs.nr = nr;
}

static int
check_kernels(struct rot *rot, const struct measurement *measurement, struct rot_error *err)
{
	size_t nr;
	struct rot_entity **parts = rot_graph_collect(measurement, &nr);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < nr; i++)
		if (rot_is_a(parts[i], &kernel_base_class))
			rc = kernel_check(rot, (const struct kernel_base *)parts[i], err);
	free(parts);
	return rc;
}

int
measuring_perform(struct rot *rot, struct measurement *const *passes, size_t nr_passes, int nr_runs,
		  struct measurement_result **results, struct rot_error *err)
{
	struct performance performance = {.rot = rot, .nr = nr_passes, .nr_runs = nr_runs};
	enum outcome outcome = FAILED;

	if (nr_passes == 0 || nr_runs < 1)
		return rot_error_set(err, 0, "nothing to measure: %zu passes of %d runs", nr_passes, nr_runs);
	for (size_t i = 0; i < nr_passes; i++)
		if (check_kernels(rot, passes[i], err) < 0)
			return -1;
	performance.passes = rot_calloc(nr_passes, sizeof *performance.passes);
	for (size_t i = 0; i < nr_passes; i++)
		performance.passes[i] =
			(struct pass){.measurement = passes[i], .hash = measuring_description_hash(rot, passes[i])};
	outcome = perform(&performance, false, err);
	if (outcome == NEEDS_LOCK)
		outcome = perform_locked(&performance, err);
	for (size_t i = 0; i < nr_passes; i++) {
		struct pass *pass = &performance.passes[i];

		if (outcome == DONE) {
			cut_outputs(pass->result, (size_t)nr_runs);
			results[i] = pass->result;
		} else {
			forget_result(pass);
		}
		free(pass->hash);
	}
	free(performance.passes);
	return outcome == DONE ? 0 : -1;
}
