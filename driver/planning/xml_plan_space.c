/* SPDX-License-Identifier: MIT */
/* The spaces that axes of an XML controller span. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "planning/xml_plan.h"

static void
add_values(struct space *space, const xmlNode *element)
{
	static const struct {
		const char *element;
		const char *attributes[3];
	} forms[] = {
		{"list", {"values"}},
		{"value", {"is"}},
		{"range", {"from", "to", "step"}},
		{"geometric", {"from", "to", "factor"}},
	};
	char *condition = xml_attribute(element, "if", ""), *where = xml_where(element), *text[3] = {0};
	size_t form = 0;

	while (!xml_is(element, forms[form].element))
		form++;
	for (size_t i = 0; i < 3 && forms[form].attributes[i]; i++)
		text[i] = xml_attribute(element, forms[form].attributes[i], "");
	if (form == 0)
		space_add_list(space, text[0], condition, where);
	else if (form == 1)
		space_add_value(space, text[0], condition, where);
	else if (form == 2)
		space_add_range(space, text[0], text[1], text[2], condition, where);
	else
		space_add_geometric(space, text[0], text[1], text[2], condition, where);
	for (size_t i = 0; i < 3; i++)
		free(text[i]);
	free(condition);
	free(where);
}

/* Names of axes become variables, and variables of texts. */
int
xml_plan_check_name(const char *name, const xmlNode *element, struct rot_error *err)
{
	static const char *const taken[] = {"series",  "label",    "region",    "cpuFlags",    "nrCpus", "l1DataBytes",
					    "l2Bytes", "llcBytes", "lineBytes", "memoryBytes", "quick"};
	bool is_taken = false;

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		is_taken = is_taken || strcmp(name, taken[i]) == 0;
	if (!is_taken && xmlValidateNCName((const xmlChar *)name, 0) == 0)
		return 0;
	rot_error_set(err, 0, "%s cannot be called '%s'", xml_is(element, "axis") ? "an axis" : "a choice", name);
	rot_error_hint(err, "%s",
		       is_taken ? "that variable has a meaning of its own"
				: "a name is letters, digits and '_', not beginning with a digit");
	return xml_error_at(element, err);
}

static int
add_axis(struct space *space, const xmlNode *element, struct rot_error *err)
{
	char *name = xml_attribute(element, "name", "");
	int rc = xml_plan_check_name(name, element, err);

	if (rc == 0 && space_add_axis(space, name, err) < 0)
		rc = xml_error_at(element, err);
	free(name);
	if (rc == 0 && !xml_child(element, NULL)) {
		rot_error_set(err, 0, "<axis> has no values");
		rot_error_hint(err, "expected there: list, value, range, geometric");
		rc = xml_error_at(element, err);
	}
	for (const xmlNode *child = rc == 0 ? xml_child(element, NULL) : NULL; child; child = xml_next(child, NULL))
		add_values(space, child);
	return rc;
}

/* Those of the elements that are axes and conditions of points left out. */
static int
space_fill(struct space *space, const xmlNode *const *elements, size_t nr, struct rot_error *err)
{
	for (size_t i = 0; i < nr; i++) {
		if (xml_is(elements[i], "axis") && add_axis(space, elements[i], err) < 0)
			return -1;
		if (xml_is(elements[i], "skip")) {
			char *condition = xml_attribute(elements[i], "if", ""), *where = xml_where(elements[i]);

			space_add_skip(space, condition, where);
			free(condition);
			free(where);
		}
	}
	return 0;
}

int
xml_plan_space(const struct xml_controller *controller, const xmlNode *owner, const xmlNode *const *elements,
	       size_t nr_elements, const struct expression_scope *scope, struct point **points, size_t *nr_points,
	       struct rot_error *err)
{
	const char *path = controller->file.paths[0];
	struct space *space = space_new();
	int rc = space_fill(space, elements, nr_elements, err);

	if (rc == 0) {
		rc = space_points(space, scope, points, nr_points, err);
		if (rc < 0 && strncmp(err->text, path, strlen(path)) != 0)
			xml_error_at(owner, err);
	}
	space_delete(space);
	return rc;
}

int
xml_plan_inner_space(const struct xml_controller *controller, const xmlNode *parent,
		     const struct expression_scope *scope, struct point **points, size_t *nr_points,
		     struct rot_error *err)
{
	const xmlNode **elements = NULL;
	size_t nr_elements = 0;
	int rc;

	for (const xmlNode *child = xml_child(parent, NULL); child; child = xml_next(child, NULL)) {
		elements = rot_realloc(elements, nr_elements + 1, sizeof(*elements));
		elements[nr_elements++] = child;
	}
	rc = xml_plan_space(controller, parent, elements, nr_elements, scope, points, nr_points, err);
	free(elements);
	return rc;
}
