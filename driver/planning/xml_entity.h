/* SPDX-License-Identifier: MIT */
/*
 * Entities as controllers write them. An element stands for a field of the entity around it: <kernel> for "kernel", and
 * for an item of the list "kernels". Its attributes are primitive fields, with expressions; "type" names the class
 * where the field's own is not meant; id="NAME" lets <field ref="NAME"/> elsewhere in the same measurement refer to the
 * same entity. An item of a list of primitive values is <argument value="..."/>.
 */
#pragma once

#include <libxml/tree.h>

#include "engine/expression.h"
#include "entities.h"
#include "error.h"

/*
 * The measurement whose fields are the child elements of element; children of other names than its fields are passed
 * over. NULL on error: unknown class, field or reference (with the nearest), a value that is none of its field, with
 * file and line. Free with rot_graph_delete.
 */
struct measurement *xml_measurement(const xmlNode *element, const struct rot_registry *registry,
				    const struct expression_scope *scope, struct rot_error *err);

/*
 * The program that the element describes: its attributes and children are fields of the workload or of its program.
 * "passes" is passed over. As above; also an environment without NAME=, two regions of one name, rules that cannot be
 * followed in a program.
 */
struct program_workload *xml_program_workload(const xmlNode *element, const struct rot_registry *registry,
					      const struct expression_scope *scope, struct rot_error *err);
