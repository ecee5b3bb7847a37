/* SPDX-License-Identifier: MIT */
/* The runs of all passes of one point, from the cache or measured. */
#include "engine/performance.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/paths.h"
#include "base/progress.h"
#include "config.h"
#include "engine/measuring_internal.h"
#include "engine/monitor.h"
#include "engine/result_cache.h"
#include "memory.h"
#include "rot.h"

static bool
was_seen(const struct measuring *measuring, const char *hash)
{
	for (size_t i = 0; i < measuring->nr_seen; i++)
		if (strcmp(measuring->seen[i], hash) == 0)
			return true;
	return false;
}

static size_t
nr_missing(const struct performance *performance, const struct performance_pass *pass)
{
	size_t nr = pass->result ? performance->kind->runs(pass->result)->nr : 0;

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
forget_result(struct performance_pass *pass)
{
	rot_graph_delete(pass->result);
	pass->result = NULL;
}

/* Loads the results that may be used, which all are where nothing can be measured. True if anything was found. */
static bool
load_results(struct performance *performance)
{
	struct measuring *measuring = performance->rot->measuring;
	const struct performance_kind *kind = performance->kind;
	const bool takes_passing = performance->rot->is_cached_only || !kind->is_passing;
	bool use_cached = configuration_bool(performance->rot->configuration, "useCachedResults"), found = false;

	monitor_enter(performance->rot->monitor, "look up results");
	for (size_t i = 0; i < performance->nr; i++) {
		struct performance_pass *pass = &performance->passes[i];
		const bool is_own = was_seen(measuring, pass->hash);

		forget_result(pass);
		if (use_cached || is_own)
			pass->result = result_cache_load(measuring->cache, pass->hash);
		if (pass->result &&
		    (!kind->runs(pass->result) || (!takes_passing && !is_own && kind->is_passing(pass->result))))
			forget_result(pass);
		found = found || pass->result;
	}
	monitor_leave(performance->rot->monitor);
	return found;
}

static struct measurement_result *
new_result(const struct performance *performance, const struct performance_pass *pass)
{
	struct measurement_result *result = measurement_result_new();
	char created[CLOCK_DATE_SIZE];
	autofree char *description = rot_xml_write(pass->description);

	clock_date(created);
	rot_string_set(&result->description_hash, pass->hash);
	rot_string_set(&result->description, description);
	rot_string_set(&result->core_hash, performance->core_hash);
	rot_string_set(&result->rot_version, PACKAGE_VERSION);
	rot_string_set(&result->created, created);
	result->machine = rot_graph_clone(performance->rot->machine, NULL);
	if (performance->kind->sign)
		performance->kind->sign(performance, result);
	return result;
}

/* Runs those passes that miss runs, as often as the one that misses the fewest. */
static int
measure_once(struct performance *performance, struct rot_error *err)
{
	autofree struct performance_pass **passes = rot_calloc(performance->nr, sizeof(*passes));
	struct measuring *measuring = performance->rot->measuring;
	int nr_runs = (int)least_missing(performance), rc;
	size_t nr = 0;

	for (size_t i = 0; i < performance->nr; i++) {
		struct performance_pass *pass = &performance->passes[i];

		if (!nr_missing(performance, pass))
			continue;
		if (!pass->result)
			pass->result = new_result(performance, pass);
		passes[nr++] = pass;
	}
	progress_run(0, nr_runs * (int)nr);
	monitor_enter(performance->rot->monitor, "measure");
	rc = performance->kind->measure(performance, passes, nr, nr_runs, err);
	monitor_leave(performance->rot->monitor);
	for (size_t i = 0; rc == 0 && i < nr; i++) {
		result_cache_store(measuring->cache, passes[i]->result);
		if (!was_seen(measuring, passes[i]->hash))
			rot_add(measuring->seen, measuring->nr_seen) = rot_strdup(passes[i]->hash);
	}
	return rc;
}

/*
 * After the error that a tool is missing: is all there, measured by one core? Then it is taken, with a warning, though
 * nothing can tell whether the core would be the same today.
 */
static bool
does_without_tools(const struct performance *performance, struct rot_error *err)
{
	const struct performance_pass *passes = performance->passes;
	struct measuring *measuring = performance->rot->measuring;

	if (err->scope != ROT_ERROR_OF_TOOLS || least_missing(performance) || !performance->kind->vouches ||
	    !performance->kind->vouches(performance))
		return false;
	for (size_t i = 1; i < performance->nr; i++)
		if (strcmp(passes[i].result->core_hash, passes[0].result->core_hash) != 0)
			return false;
	if (!measuring->has_warned_of_tools)
		rot_warning("%s: results from the cache are taken as they are, though kernels or compiler may have "
			    "changed since",
			    rot_error_line(err));
	measuring->has_warned_of_tools = true;
	*err = (struct rot_error){0};
	return true;
}

/* Gets all runs. Without the lock nothing is built or measured. */
static enum performance_outcome
perform(struct performance *performance, bool has_lock, struct rot_error *err)
{
	bool is_cached_only = performance->rot->is_cached_only;
	bool check_core = !is_cached_only && configuration_bool(performance->rot->configuration, "shouldCheckCoreHash");
	bool found = load_results(performance);
	enum performance_outcome outcome;

	if (is_cached_only && least_missing(performance)) {
		rot_error_set(err, 0, "not in the result cache");
		return PERFORMANCE_FAILED;
	}
	if ((found && check_core) || least_missing(performance)) {
		outcome = performance->kind->prepare(performance, has_lock, err);
		if (outcome == PERFORMANCE_FAILED && does_without_tools(performance, err))
			return PERFORMANCE_DONE;
		if (outcome == PERFORMANCE_FAILED && found)
			rot_error_append(
				err, "%s",
				err->hint[0] ? "" : "\n(-shouldCheckCoreHash=false uses cached results without it)");
		if (outcome != PERFORMANCE_DONE)
			return outcome;
		/* Results of another core than today's do not count; nor are runs of two cores mixed in one result. */
		for (size_t i = 0; i < performance->nr; i++) {
			struct performance_pass *pass = &performance->passes[i];

			if (pass->result && (check_core || nr_missing(performance, pass)) &&
			    strcmp(pass->result->core_hash, performance->core_hash) != 0)
				forget_result(pass);
		}
	}
	while (least_missing(performance)) {
		if (!has_lock)
			return PERFORMANCE_NEEDS_LOCK;
		if (rot_interrupted()) {
			rot_error_set(err, 0, "interrupted");
			return PERFORMANCE_FAILED;
		}
		if (measure_once(performance, err) < 0)
			return PERFORMANCE_FAILED;
	}
	return PERFORMANCE_DONE;
}

int
performance_run(struct performance *performance, void *const *descriptions, struct measurement_result **results,
		struct rot_error *err)
{
	autofree struct performance_pass *passes = rot_calloc(performance->nr, sizeof(*passes));
	enum performance_outcome outcome;

	performance->passes = passes;
	for (size_t i = 0; i < performance->nr; i++)
		passes[i] = (struct performance_pass){.description = descriptions[i],
						      .hash = measuring_hash(performance->rot, descriptions[i])};
	outcome = perform(performance, false, err);
	if (outcome == PERFORMANCE_NEEDS_LOCK && measuring_may_measure(performance->rot->measuring, err)) {
		const int lock = cache_lock(performance->rot->paths->cache);

		/* Again, since another rot may have measured this point while we waited. */
		if (lock == -2)
			rot_error_set(err, 0, "interrupted");
		else
			outcome = perform(performance, true, err);
		cache_unlock(lock);
	}
	for (size_t i = 0; i < performance->nr; i++) {
		struct rot_list *runs = outcome == PERFORMANCE_DONE ? performance->kind->runs(passes[i].result) : NULL;

		/* Only the first ones, where there are more. */
		while (runs && runs->nr > (size_t)performance->nr_runs)
			rot_graph_delete(((struct rot_entity **)runs->items)[--runs->nr]);
		if (!runs)
			forget_result(&passes[i]);
		results[i] = passes[i].result;
		free(passes[i].hash);
	}
	return outcome == PERFORMANCE_DONE ? 0 : -1;
}
