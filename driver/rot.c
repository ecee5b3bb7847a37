/* SPDX-License-Identifier: MIT */
/* Opening the driver: every part in the order in which they need each other. */
#include "rot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/messages.h"
#include "base/paths.h"
#include "check/validation.h"
#include "definition.h"
#include "engine/measuring.h"
#include "engine/monitor.h"
#include "entities.h"
#include "machine/caches.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "plots/places.h"
#include "quantities/architecture.h"
#include "quantities/vocabulary.h"

/* ---- how operations and bytes are counted: the key "counting" ---- */

static struct architecture *
count_events(struct rot *rot, const char *folder, struct rot_error *err)
{
	struct rot_error why_not = {0};
	bool can_count = machine_can_count(&why_not);
	struct architecture *architecture = architecture_load(folder, rot->machine, can_count ? NULL : &why_not, err);

	if (architecture)
		architecture_find_uncore(architecture, "/", true);
	return architecture;
}

/* Whoever chose this needs no warning. */
static struct architecture *
count_nothing(struct rot *rot, const char *folder, struct rot_error *err)
{
	struct rot_error why_not = {0};
	struct architecture *architecture;

	rot_error_set(&why_not, 0, "counting=expected");
	rot_error_hint(&why_not, "-counting=auto uses hardware counters, or else does without them");
	architecture = architecture_load(folder, rot->machine, &why_not, err);
	if (architecture)
		architecture->has_warned = true;
	return architecture;
}

const struct machine *
rot_facts(const struct rot *rot)
{
	return rot->modelled && strcmp(configuration_string(rot->configuration, "caches"), "measured") == 0
		       ? rot->modelled
		       : rot->machine;
}

/* Models that stand on what was measured say so where something has changed since. */
static void
warn_if_stale(const struct rot *rot)
{
	const bool are_used = strcmp(configuration_string(rot->configuration, "caches"), "measured") == 0 ||
			      strcmp(configuration_string(rot->configuration, "tlb"), "measured") == 0 ||
			      strcmp(rot->machine->l1_data_source, "measured") == 0 ||
			      strcmp(rot->machine->l2_source, "measured") == 0 ||
			      strcmp(rot->machine->llc_source, "measured") == 0;
	autofree char *changes = measured_changes(&rot->measured->when, rot->machine);

	if (are_used && changes[0])
		rot_warning("the caches of this machine were measured under other conditions: %s; 'rot remeasure "
			    "levels' measures them anew",
			    changes);
}

/* The key caches may name others than the machine's. */
static int
read_caches(struct rot *rot, struct rot_error *err)
{
	const char *caches = configuration_string(rot->configuration, "caches");
	static char measured[] = "measured", busily[] = "measured while others used them";

	if (strcmp(caches, "auto") == 0 || strcmp(caches, "none") == 0)
		return 0;
	rot->modelled = rot_calloc(1, sizeof(*rot->modelled));
	*rot->modelled = *rot->machine;
	rot->modelled_caches = rot_calloc(1, sizeof(*rot->modelled_caches));
	*rot->modelled_caches =
		(struct cache_shapes){.machine = rot->machine, .ways = cache_ways_of(rot->machine, "/")};
	if (strcmp(caches, measured) == 0) {
		machine_replace_sizes(rot->modelled, rot->measured);
		rot->modelled->l1_data_source = rot->modelled->l2_source = measured;
		rot->modelled->llc_source = measured_levels_are_sure(rot->measured) ? measured : busily;
		rot->modelled_caches->ways = (struct cache_ways){.l1_data = rot->measured->l1_ways};
		if (rot->modelled->l2_bytes)
			return 0;
		rot_error_set(err, 0, "caches=measured: the caches of this machine were not measured yet");
		return rot_error_hint(err, "'rot machine --only=caches -caches=auto' measures them, in some seconds");
	}
	return cache_shapes_parse(caches, false, rot->modelled, rot->modelled_caches, err);
}

static int
read_stepping(struct rot *rot, struct architecture_stepping *stepping, struct rot_error *err)
{
	const bool is_none = strcmp(configuration_string(rot->configuration, "caches"), "none") == 0;
	const int64_t limit = configuration_long(rot->configuration, "stepLimit");

	*stepping = (struct architecture_stepping){.limit = 0};
	if (rot->modelled)
		stepping->caches = *rot->modelled_caches;
	else if (!is_none)
		stepping->caches.ways = cache_ways_of(rot->machine, "/");
	stepping->caches.machine = is_none ? NULL : rot->modelled ? rot->modelled : rot->machine;
	if (!stepping->caches.ways.l1_data)
		stepping->caches.ways.l1_data = rot->measured->l1_ways;
	stepping->counts_tlb = configuration_origin(rot->configuration, "tlb") != CONFIGURATION_DEFAULT;
	if (measured_tlb_parse(configuration_string(rot->configuration, "tlb"), rot->measured, &stepping->caches.tlb,
			       err) < 0)
		return -1;
	stepping->limit = (uint64_t)limit;
	if (limit > 0)
		return 0;
	return rot_error_set(err, 0, "stepLimit of %lld instructions: nothing could be counted", (long long)limit);
}

/* Takes the architecture over, which may be NULL; so it is after an error. */
static struct architecture *
with_blocks(struct architecture *architecture, const char *folder, const struct architecture_stepping *stepping,
	    struct rot_error *err)
{
	if (!architecture)
		return NULL;
	architecture->by_blocks = architecture_load_blocks(folder, stepping, err);
	if (architecture->by_blocks)
		return architecture;
	architecture_delete(architecture);
	return NULL;
}

static struct architecture *
count_steps(struct rot *rot, const char *folder, struct rot_error *err)
{
	struct architecture_stepping stepping;
	struct rot_error why = {0};

	rot_error_set(&why, 0, "counting=steps counts regions of programs (--region), not all that they do");
	rot_error_hint(&why, "-counting=blocks counts all of it, -counting=events uses hardware counters");
	return read_stepping(rot, &stepping, err) < 0 ? NULL : architecture_load_steps(folder, &stepping, &why, err);
}

/* A part of a program is stepped. Events count some of it as well, for comparison. */
static struct architecture *
count_blocks(struct rot *rot, const char *folder, struct rot_error *err)
{
	struct architecture_stepping stepping;
	struct architecture *architecture, *events;
	struct rot_error why = {0};

	rot_error_set(&why, 0, "counting=blocks counts programs that rot run starts");
	rot_error_hint(&why, "-counting=events uses hardware counters");
	if (read_stepping(rot, &stepping, err) < 0)
		return NULL;
	architecture = with_blocks(architecture_load_steps(folder, &stepping, &why, err), folder, &stepping, err);
	events = architecture ? count_events(rot, folder, NULL) : NULL;
	if (events && !events->why_not.text[0])
		architecture->by_events = events;
	else
		architecture_delete(events);
	return architecture;
}

/* Events, and steps for what these do not count; or else steps. What that means is said where it is done
 * (quantities/job.c). */
static struct architecture *
count_what_can_be(struct rot *rot, const char *folder, struct rot_error *err)
{
	struct architecture_stepping stepping;
	struct architecture *architecture, *steps;

	if (read_stepping(rot, &stepping, err) < 0)
		return NULL;
	stepping.is_unasked = true;
	architecture = count_events(rot, folder, err);
	steps = architecture ? architecture_load_steps(folder, &stepping, NULL, err) : NULL;
	if (!steps) {
		architecture_delete(architecture);
		return NULL;
	}
	if (!architecture->why_not.text[0]) {
		architecture->beside = steps;
		steps->has_warned = true;
		return architecture;
	}
	architecture->has_warned = true;
	architecture->by_steps = steps;
	architecture->by_steps->why_not = architecture->why_not;
	return with_blocks(architecture, folder, &stepping, err);
}

static const struct {
	const char *counting;
	struct architecture *(*load)(struct rot *rot, const char *folder, struct rot_error *err);
} countings[] = {
	{"auto", count_what_can_be}, {"events", count_events},    {"blocks", count_blocks},
	{"steps", count_steps},      {"expected", count_nothing},
};

static int
open_architecture(struct rot *rot, struct rot_error *err)
{
	const char *counting = configuration_string(rot->configuration, "counting");
	autofree char *folder = rot_format("%s/driver/architectures", rot->paths->data);

	for (size_t i = 0; i < sizeof(countings) / sizeof(*countings); i++)
		if (strcmp(countings[i].counting, counting) == 0)
			rot->architecture = countings[i].load(rot, folder, err);
	return rot->architecture ? 0 : -1;
}

static bool
is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && access(path, R_OK | X_OK) == 0;
}

static int
open_parts(struct rot *rot, bool has_kernels, struct rot_error *err)
{
	autofree char *warning = NULL;

	rot->paths = paths_new(rot->configuration, &warning, err);
	if (!rot->paths)
		return -1;
	if (warning)
		rot_warning("%s", warning);
	if (*configuration_string(rot->configuration, "dataFolder") && !is_folder(rot->paths->user))
		rot_warning("the data folder '%s' is no folder that can be read: none of your kernels and controllers "
			    "are known",
			    rot->paths->user);
	/* Facts that were measured before count as known. */
	rot->machine = machine_read("/", err);
	if (!rot->machine)
		return -1;
	rot->measured = rot_calloc(1, sizeof(*rot->measured));
	measured_levels_load(rot->measured, rot->paths->cache, rot->machine);
	machine_take_measured(rot->machine, rot->measured);
	if (rot_registry_add_all(rot->registry, entities, err) < 0 || (has_kernels && kernels_load(rot, err) < 0))
		return -1;
	kernel_words_check(rot->kernels);
	if (read_caches(rot, err) < 0 || open_architecture(rot, err) < 0)
		return -1;
	warn_if_stale(rot);
	validation_recall(rot);
	rot->measuring = measuring_new(rot);
	return 0;
}

int
rot_open(struct rot *rot, struct configuration *configuration, bool has_kernels, struct rot_error *err)
{
	*rot = (struct rot){.configuration = configuration};
	messages_set_quiet(configuration_bool(configuration, "quiet"));
	messages_catch_signals();
	plots_set_up(configuration);
	rot->monitor = monitor_new();
	rot->registry = rot_registry_new();
	rot->kernels = definitions_new();
	monitor_enter(rot->monitor, "startup");
	if (open_parts(rot, has_kernels, err) < 0) {
		rot_close(rot);
		return -1;
	}
	monitor_leave(rot->monitor);
	return 0;
}

void
rot_close(struct rot *rot)
{
	measuring_delete(rot->measuring);
	architecture_delete(rot->architecture);
	definitions_delete(rot->kernels);
	rot_registry_delete(rot->registry);
	free(rot->modelled_caches);
	free(rot->modelled);
	free(rot->measured);
	rot_entity_delete(rot->machine);
	paths_delete(rot->paths);
	monitor_delete(rot->monitor);
	configuration_delete(rot->configuration);
	*rot = (struct rot){0};
}

static void
warn(const struct rot_error *reason)
{
	rot_warning("a kernel is left out: %s%s%s", reason->text, *reason->hint ? "\n     " : "", reason->hint);
}

/*
 * FOLDER/NAME.xml, unless a kernel of that name is there already: one of the user's hides one of rot's, two of the same
 * place (ROOT) are a slip.
 */
static void
load_file(struct rot *rot, const char *root, const char *folder, const char *name)
{
	autofree char *stem = rot_strndup(name, strlen(name) - strlen(".xml"));
	autofree char *path = rot_format("%s/%s", folder, name);
	const struct definition *earlier = definitions_find(rot->kernels, stem);
	struct rot_error reason = {0};

	if (earlier && strncmp(earlier->path, root, strlen(root)) == 0)
		rot_warning("a kernel is left out: %s: '%s' is already defined in %s", path, stem, earlier->path);
	if (!earlier && definitions_load_file(rot->kernels, path, &reason) < 0)
		warn(&reason);
}

/* FOLDER/NAME/ *.xml of every NAME. */
static void
load_folder(struct rot *rot, const char *folder)
{
	autofree char **kernels = folder_list(folder);

	for (size_t k = 0; kernels[k]; k++) {
		autofree char *kernel = rot_format("%s/%s", folder, kernels[k]);
		autofree char **names = folder_list(kernel);

		for (size_t i = 0; names[i]; i++)
			if (names[i][0] != '.' && path_ends_in(names[i], ".xml"))
				load_file(rot, folder, kernel, names[i]);
	}
}

int
kernels_load(struct rot *rot, struct rot_error *err)
{
	autofree char *user = rot_format("%s/kernels", rot->paths->user);
	autofree char *built_in = rot_format("%s/kernels", rot->paths->data);
	struct rot_error reason = {0};
	size_t nr;
	int rc = 0;

	load_folder(rot, user);
	load_folder(rot, built_in);
	/* Definitions that cannot be resolved are dropped, one by one. */
	while (definitions_resolve(rot->kernels, rot->registry, &reason) < 0)
		warn(&reason);
	nr = definitions_size(rot->kernels);
	for (size_t i = 0; i < nr && rc == 0; i++)
		rc = rot_registry_add(rot->registry, definitions_at(rot->kernels, i)->class, err);
	if (nr == 0) {
		rc = rot_error_set(err, 0, "no kernel found in '%s' or '%s'", user, built_in);
		rot_error_hint(err, "install rot again, or call the driver where it was built");
	}
	return rc;
}
