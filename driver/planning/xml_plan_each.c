/* SPDX-License-Identifier: MIT */
/* What a controller says once for several: <each> with its own axes, replaced by what it holds at each of their points.
 */
#include <stdlib.h>

#include "planning/xml_plan.h"

/* Of the copy and all below it: attributes with their expressions evaluated, and the file they are in. */
static int
evaluate(xmlNode *copy, const xmlNode *each, const struct expression_scope *scope, struct rot_error *err)
{
	copy->_private = each->_private;
	for (xmlAttr *a = copy->properties; a; a = a->next) {
		char *value = xml_evaluated(copy, (const char *)a->name, NULL, scope, err);

		if (!value)
			return -1;
		xmlSetProp(copy, a->name, (const xmlChar *)value);
		free(value);
	}
	for (xmlNode *child = copy->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && evaluate(child, each, scope, err) < 0)
			return -1;
	return 0;
}

/* The copies stand before the element, so that they belong to the document. */
static int
collect_at(struct xml_controller *controller, xmlNode *each, const struct point *at, struct rot_error *err)
{
	struct expression_scope *scope = expression_scope_new(controller->constants);
	int rc = 0;

	point_set_variables(at, scope);
	for (const xmlNode *child = xml_child(each, NULL); rc == 0 && child; child = xml_next(child, NULL)) {
		xmlNode *copy;

		if (xml_is(child, "axis") || xml_is(child, "skip"))
			continue;
		copy = xmlAddPrevSibling(each, xmlDocCopyNode((xmlNode *)child, each->doc, 1));
		rc = evaluate(copy, each, scope, err);
		xml_plan_collect(controller, copy);
	}
	expression_scope_delete(scope);
	return rc;
}

int
xml_plan_each(struct xml_controller *controller, const xmlNode *element, struct rot_error *err)
{
	struct point *points = NULL;
	size_t nr = 0;
	bool is_wanted;
	int rc = xml_condition(element, controller->constants, &is_wanted, err);

	if (rc == 0 && is_wanted)
		rc = xml_plan_inner_space(controller, element, controller->constants, &points, &nr, err);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = collect_at(controller, (xmlNode *)element, &points[i], err);
	points_delete(points, nr);
	return rc;
}
