/* SPDX-License-Identifier: MIT */
#include "engine/kernel_rows.h"

#include <string.h>

#include "rot.h"

const char *
kernel_class_name(const struct kernel_base *kernel)
{
	return kernel->entity.class->name;
}

/* What the caches before a border hold: each thread has its own, but for the last level. 0: there are none, or nobody
 * tells. */
static double
cache_bytes(const struct machine *machine, const struct kernel_base *kernel, const char *border)
{
	const struct {
		const char *border;
		double bytes;
	} caches[] = {
		{"l1l2", (double)machine->l1_data_bytes * kernel->num_threads},
		{"l2l3", (double)machine->l2_bytes * kernel->num_threads},
		{"llcRam", (double)machine->llc_bytes},
	};

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++)
		if (strcmp(caches[i].border, border) == 0)
			return caches[i].bytes;
	return 0;
}

/* The fields of the kernel and the system variables ($l1DataBytes, $l2Bytes, $llcBytes, $lineBytes, and $cacheBytes of
 * the border). */
static struct expression_scope *
kernel_scope(const struct rot *rot, const struct kernel_base *kernel, const char *border)
{
	struct expression_scope *scope = expression_scope_new(NULL);
	const struct machine *machine = rot_facts(rot);

	expression_scope_set_number(scope, "l1DataBytes", (double)machine->l1_data_bytes);
	expression_scope_set_number(scope, "l2Bytes", (double)machine->l2_bytes);
	expression_scope_set_number(scope, "llcBytes", (double)machine->llc_bytes);
	expression_scope_set_number(scope, "lineBytes", (double)machine->line_bytes);
	expression_scope_set_number(scope, "cacheBytes", cache_bytes(machine, kernel, border));
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

/* Is the word (a border) one of those, separated by blanks, that the row is of? */
static bool
is_row_of(const struct definition_row *row, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = row->of; (at = strstr(at, word)); at += length)
		if ((at == row->of || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* border "": rows that are of none. */
static int
each_row(const struct rot *rot, const struct kernel_base *kernel, enum definition_row_kind kind, const char *border,
	 kernel_row_visitor *visit, void *context, struct rot_error *err)
{
	const struct definition *definition = kernel_definition(rot, kernel, err);
	autoscope struct expression_scope *scope = definition ? kernel_scope(rot, kernel, border) : NULL;
	int rc = definition ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < definition->nr_rows; i++) {
		const struct definition_row *row = &definition->rows[i];
		bool holds = true;

		if (row->kind != DEFINITION_LET && (row->kind != kind || (border[0] && !is_row_of(row, border))))
			continue;
		if (row->condition[0])
			rc = expression_bool(scope, row->condition, &holds, err);
		if (rc == 0 && holds)
			rc = row->kind == DEFINITION_LET ? set_variable(row, scope, err)
							 : visit(row, scope, context, err);
		if (rc < 0)
			rot_error_prefix(err, "%s:%d", definition->path, row->line);
	}
	return rc;
}

int
kernel_each_row(const struct rot *rot, const struct kernel_base *kernel, enum definition_row_kind kind,
		kernel_row_visitor *visit, void *context, struct rot_error *err)
{
	return each_row(rot, kernel, kind, "", visit, context, err);
}

int
kernel_each_bytes_row(const struct rot *rot, const struct kernel_base *kernel, const char *border,
		      kernel_row_visitor *visit, void *context, struct rot_error *err)
{
	return each_row(rot, kernel, DEFINITION_BYTES, border, visit, context, err);
}
