/* SPDX-License-Identifier: MIT */
/* XML controllers whose points are planned, measured. */
#include "controllers/xml_run.h"

#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "controllers/xml_run_internal.h"
#include "levels/levels.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "planning/xml_controller.h"
#include "quantities/architecture.h"
#include "rot.h"

/* Measures them into the experiment; one that cannot be measured is left out with a warning. A roofline has no
 * latencies. */
static int
add_own_ceilings(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	for (size_t i = 0; i < controller->nr_ceilings; i++) {
		const struct planned_ceiling *p = &controller->ceilings[i];
		struct experiment_ceiling ceiling = {p->name, p->operation, p->border, p->work};
		struct rot_error why = {0};

		if (p->is_latency || !experiment_wants_ceiling(experiment, &ceiling) ||
		    experiment_add_ceiling(experiment, &ceiling, p->measurement, p->nr_runs, &why) == 0)
			continue;
		if (rot_interrupted()) {
			*err = why;
			return -1;
		}
		if (controller->rot->is_cached_only)
			continue;
		xml_error_at(p->element, &why);
		rot_warning("a ceiling is left out: %s", why.text);
	}
	return 0;
}

/*
 * Builds what is missing side by side, instead of each core when its point comes. What cannot be built is told then.
 * Nothing is built for results that are taken from the cache without looking at cores.
 */
static void
prepare_cores(const struct xml_controller *controller)
{
	const struct configuration *configuration = controller->rot->configuration;
	struct measurement **measurements;
	struct rot_error ignored = {0};
	size_t nr = 0;

	if (configuration_bool(configuration, "useCachedResults") &&
	    !configuration_bool(configuration, "shouldCheckCoreHash"))
		return;
	measurements = rot_calloc(controller->nr_planned + 1, sizeof(*measurements));
	for (size_t i = 0; i < controller->nr_planned; i++)
		if (controller->planned[i].measurement)
			measurements[nr++] = controller->planned[i].measurement;
	measuring_prepare(controller->rot, measurements, nr, &ignored);
	free(measurements);
}

/* The points are measured, and worth being written without it. */
static int
add_roof(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	const struct configuration *configuration = controller->rot->configuration;

	if (!controller->has_default_peaks || experiment_add_default_peaks(experiment, err) == 0)
		return 0;
	if (err->scope != ROT_ERROR_OF_WORK || rot_interrupted() || configuration_bool(configuration, "stopOnError"))
		return -1;
	rot_warning("the roof of this machine is left out: %s", rot_error_line(err));
	return 0;
}

static int
measure_all(const struct xml_controller *controller, struct experiment *experiment, struct rot_error *err)
{
	prepare_cores(controller);
	if (xml_points_measure(controller, experiment, err) < 0 || add_own_ceilings(controller, experiment, err) < 0)
		return -1;
	return add_roof(controller, experiment, err);
}

/*
 * The search for the roof would measure sizes that nobody tells after the points, whose expected bytes need them. So do
 * caches that are modelled.
 */
static int
know_levels(const struct xml_controller *controller, struct rot_error *err)
{
	const struct architecture *architecture = controller->rot->architecture;
	const bool finds_roof =
		controller->has_default_peaks && configuration_bool(controller->rot->configuration, "findPeaks");

	if (!finds_roof && !architecture->counts_by_steps && !architecture->by_steps)
		return 0;
	return levels_ensure(controller->rot, err);
}

static int
run(struct xml_controller *controller, const char *output_name, struct rot_error *err)
{
	if (!xml_plan_knows_choices(controller) && xml_controller_plan_again(controller, err) < 0)
		return -1;

	const xmlNode *root = xmlDocGetRootElement(controller->file.doc);
	char *name = xml_attribute(root, "name", ""), *disturbed = xml_attribute(root, "disturbed", "");
	struct experiment *experiment = experiment_new(controller->rot, name, output_name,
						       controller->nr_planned + controller->nr_ceilings, err);
	struct rot_error later = {0};
	int rc = -1;

	if (!experiment || xml_show(controller, experiment, err) < 0 || know_levels(controller, err) < 0)
		goto out;
	if (strcmp(disturbed, "kept") == 0)
		experiment_keep_disturbed(experiment);
	rc = measure_all(controller, experiment, err);
	if (rc == 0)
		rc = experiment_write(experiment, true, err);
	else if (rot_interrupted() && experiment_nr_points(experiment) > 0)
		experiment_write(experiment, false, &later); /* that we were interrupted is what the user must know */
out:
	experiment_delete(experiment);
	free(disturbed);
	free(name);
	return rc;
}

/* Cycles of a program are those of all its threads: where nobody chose a clock, programs and what they are compared
 * with are measured in wall time. */
int
xml_controller_run(struct xml_controller *controller, const char *output_name, struct rot_error *err)
{
	struct configuration *configuration = controller->rot->configuration;
	bool is_wall_time =
		controller->has_programs && strcmp(configuration_string(configuration, "clock"), "auto") == 0;
	int rc;

	configuration_push(configuration);
	if (is_wall_time)
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "clock", "microSeconds", NULL);
	rc = run(controller, output_name, err);
	configuration_pop(configuration);
	return rc;
}
