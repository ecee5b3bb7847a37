/* SPDX-License-Identifier: MIT */
/* What an XML controller is going to measure of programs. */
#include <math.h>

#include "configuration/configuration.h"
#include "measuring/program_measuring.h"
#include "memory.h"
#include "planning/xml_entity.h"
#include "planning/xml_plan.h"
#include "programs/plan.h"

#define MAX_PASSES 1000

static int
plan_passes(const xmlNode *element, const struct expression_scope *scope, size_t *max_passes, struct rot_error *err)
{
	double passes;

	if (xml_evaluated_number(element, "passes", 0, scope, &passes, err) < 0)
		return -1;
	*max_passes = (size_t)fmax(0, fmin(passes, MAX_PASSES));
	if ((passes >= 1 && passes <= MAX_PASSES && passes == floor(passes)) ||
	    !xmlHasProp(element, (const xmlChar *)"passes"))
		return 0;
	rot_error_set(err, 0, "passes is %g: expected a whole number from 1 to %d", passes, MAX_PASSES);
	return xml_error_at(element, err);
}

int
xml_plan_program(struct xml_controller *controller, struct planned_point *planned, const xmlNode *element,
		 const struct expression_scope *scope, struct rot_error *err)
{
	controller->has_programs = true;
	if (plan_passes(element, scope, &planned->max_passes, err) < 0)
		return -1;
	planned->program = xml_program_workload(element, controller->rot->registry, scope, err);
	if (!planned->program)
		return -1;
	return program_workload_identify(controller->rot, planned->program, err) < 0 ? xml_error_at(element, err) : 0;
}

int
xml_plan_check_quantities(const struct xml_controller *controller, const struct planned_point *planned,
			  struct rot_error *err)
{
	const char *clock = configuration_string(controller->rot->configuration, "clock");
	struct program_plan plan;
	int rc = program_plan_of(&plan, controller->rot->architecture, planned->requests, planned->nr_requests, clock,
				 err);

	program_plan_clear(&plan);
	return rc < 0 ? xml_error_at(planned->element, err) : 0;
}

void
xml_plan_add_region_axis(struct xml_controller *controller)
{
	bool has_regions = false;
	const xmlNode *element;

	for (size_t i = 0; (element = xml_plan_next(controller, &i, "point"));)
		for (const xmlNode *program = xml_child(element, "program"); program;
		     program = xml_next(program, "program"))
			has_regions = has_regions || xml_child(program, "region");
	for (size_t i = 0; has_regions && i < controller->nr_points; i++) {
		struct point *point = &controller->points[i];

		point->coordinates =
			rot_realloc(point->coordinates, point->nr_coordinates + 1, sizeof(*point->coordinates));
		point->coordinates[point->nr_coordinates++] =
			(struct coordinate){.axis = rot_strdup("region"), .number = NAN, .text = rot_strdup("program")};
	}
}
