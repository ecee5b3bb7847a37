/* SPDX-License-Identifier: MIT */
/* XML controllers: opened with all their points planned and checked, then measured. */
#include "controllers/xml_controller.h"

#include <libxml/xmlreader.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "controllers/find.h"
#include "controllers/xml_plan.h"
#include "levels/levels.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"
#include "support/files.h"

static int
read_and_plan(struct xml_controller *controller, const char *path, struct rot_error *err)
{
	char *schema = rot_format("%s/driver/schemas/controller.rng", controller->rot->paths->data);
	int rc = controller_file_open(&controller->file, path, schema, err);

	free(schema);
	return rc < 0 ? -1 : xml_plan_make(controller, err);
}

struct xml_controller *
xml_controller_open(struct rot *rot, const char *path, struct rot_error *err)
{
	struct xml_controller *controller = rot_calloc(1, sizeof(*controller));

	controller->rot = rot;
	if (read_and_plan(controller, path, err) == 0)
		return controller;
	xml_controller_close(controller);
	return NULL;
}

void
xml_controller_close(struct xml_controller *controller)
{
	if (!controller)
		return;
	xml_plan_clear(controller);
	controller_file_close(&controller->file);
	free(controller);
}

const struct measurement *
xml_controller_point(const struct xml_controller *controller, size_t i, const char **series, const char **label)
{
	const struct planned_point *point = &controller->planned[i];

	*series = point->series;
	*label = point->label;
	return point->measurement;
}

size_t
xml_controller_nr_points(const struct xml_controller *controller)
{
	return controller->nr_planned;
}

/* ---- measuring ---- */

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

struct xml_controller *
xml_controller_open_default_peaks(struct rot *rot, struct rot_error *err)
{
	char *path = controller_find_file(rot->paths, "default-peaks");
	struct xml_controller *peaks = path ? xml_controller_open(rot, path, err) : NULL;

	if (!path) {
		rot_error_set(err, 0, "the controller default-peaks is missing");
		rot_error_hint(err, "rot's data folder is damaged: install rot again");
	}
	free(path);
	return peaks;
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
	const bool finds_roof =
		controller->has_default_peaks && configuration_bool(controller->rot->configuration, "findPeaks");

	if (!finds_roof && !controller->rot->architecture->counts_by_steps)
		return 0;
	return levels_ensure(controller->rot, err);
}

/* The file is read anew: planning has changed the one in memory. What is missing was told. */
static int
plan_again(struct xml_controller *controller, struct rot_error *err)
{
	struct xml_controller again = {.rot = controller->rot,
				       .may_measure = true,
				       .missing = controller->missing,
				       .nr_missing = controller->nr_missing};
	char *path = rot_strdup(controller->file.paths[0]);
	int rc;

	controller->missing = NULL;
	controller->nr_missing = 0;
	xml_plan_clear(controller);
	controller_file_close(&controller->file);
	*controller = again;
	rc = read_and_plan(controller, path, err);
	free(path);
	return rc;
}

static int
run(struct xml_controller *controller, const char *output_name, struct rot_error *err)
{
	if (!xml_plan_knows_choices(controller) && plan_again(controller, err) < 0)
		return -1;

	const xmlNode *root = xmlDocGetRootElement(controller->file.doc);
	char *name = xml_attribute(root, "name", ""), *disturbed = xml_attribute(root, "disturbed", "");
	struct experiment *experiment = experiment_new(controller->rot, name, output_name,
						       controller->nr_planned + controller->nr_ceilings, err);
	struct rot_error later = {0};
	int rc = -1;

	if (!experiment || xml_plan_show(controller, experiment, err) < 0 || know_levels(controller, err) < 0)
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

/* ---- listing ---- */

static void
ignore(void *context, const char *message, xmlParserSeverities severity, xmlTextReaderLocatorPtr where)
{
	(void)context, (void)message, (void)severity, (void)where;
}

char *
xml_controller_comment(const char *path)
{
	size_t length = 0;
	char *content = file_read(path, &length, NULL), *comment = NULL;
	xmlTextReader *reader = content && length < INT_MAX
					? xmlReaderForMemory(content, (int)length, path, NULL,
							     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
					: NULL;

	if (!reader)
		goto out;
	xmlTextReaderSetErrorHandler(reader, ignore, NULL);
	while (xmlTextReaderRead(reader) == 1) {
		if (xmlTextReaderNodeType(reader) != XML_READER_TYPE_ELEMENT)
			continue;
		if (strcmp((const char *)xmlTextReaderConstName(reader), "controller") == 0) {
			xmlChar *text = xmlTextReaderGetAttribute(reader, (const xmlChar *)"comment");

			comment = rot_strdup((const char *)text);
			xmlFree(text);
		}
		break;
	}
	xmlFreeTextReader(reader);
out:
	free(content);
	return comment;
}
