/* SPDX-License-Identifier: MIT */
/* See kernel_rows.h. */
#include "measuring/kernel_rows.h"

#include "rot.h"

const char *
kernel_class_name(const struct kernel_base *kernel)
{
	return kernel->entity.class->name;
}

/* The fields of the kernel and the system variables ($l1DataBytes, $l2Bytes, $llcBytes, $lineBytes). */
static struct expression_scope *
kernel_scope(const struct rot *rot, const struct kernel_base *kernel)
{
	struct expression_scope *scope = expression_scope_new(NULL);

	expression_scope_set_number(scope, "l1DataBytes", (double)rot->machine->l1_data_bytes);
	expression_scope_set_number(scope, "l2Bytes", (double)rot->machine->l2_bytes);
	expression_scope_set_number(scope, "llcBytes", (double)rot->machine->llc_bytes);
	expression_scope_set_number(scope, "lineBytes", (double)rot->machine->line_bytes);
	expression_scope_set_entity(scope, kernel);
	return scope;
}

const struct definition *
kernel_definition(const struct rot *rot, const struct kernel_base *kernel, struct rot_error *err)
{
	const struct definition *definition = definitions_find(rot->kernels, kernel_class_name(kernel));

	if (!definition)
		rot_error_set(err, 0, "there is no kernel '%s'", kernel_class_name(kernel));
	return definition;
}

/* A variable for the rows below. */
static int
set_variable(const struct definition_row *row, struct expression_scope *scope, struct rot_error *err)
{
	double value;

	if (expression_number(scope, row->expression, &value, err) < 0)
		return -1;
	expression_scope_set_number(scope, row->of, value);
	return 0;
}

int
kernel_each_row(const struct rot *rot, const struct kernel_base *kernel, enum definition_row_kind kind,
		int (*visit)(const struct definition_row *row, const struct expression_scope *scope, void *context,
			     struct rot_error *err),
		void *context, struct rot_error *err)
{
	const struct definition *definition = kernel_definition(rot, kernel, err);
	struct expression_scope *scope;
	int rc = 0;

	if (!definition)
		return -1;
	scope = kernel_scope(rot, kernel);
	for (size_t i = 0; rc == 0 && i < definition->nr_rows; i++) {
		const struct definition_row *row = &definition->rows[i];
		bool holds = true;

		if (row->kind != kind && row->kind != DEFINITION_LET)
			continue;
		if (row->condition[0])
			rc = expression_bool(scope, row->condition, &holds, err);
		if (rc == 0 && holds)
			rc = row->kind == DEFINITION_LET ? set_variable(row, scope, err)
							 : visit(row, scope, context, err);
		if (rc < 0)
			rot_error_prefix(err, "%s:%d", definition->path, row->line);
	}
	expression_scope_delete(scope);
	return rc;
}
