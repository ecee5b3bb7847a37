/* SPDX-License-Identifier: MIT */
/* What a kernel is known to do and to need, from the rows of its definition. */
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "measuring/kernel_needs.h"
#include "measuring/kernel_work.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "rot.h"

static const char *
class_name(const struct kernel_base *kernel)
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
	const struct definition *definition = definitions_find(rot->kernels, class_name(kernel));

	if (!definition)
		rot_error_set(err, 0, "there is no kernel '%s'", class_name(kernel));
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

/* ---- expected work ---- */

struct sum {
	const char *of, *direction;
	bool is_compulsory; /* the row's compulsory bytes, where it says other ones */
	double total;
	bool found;
};

/* "flop" is both precisions. */
static bool
is_part_of(const char *part, const char *whole)
{
	return strcmp(part, whole) == 0 || (strcmp(whole, "flop") == 0 && (strcmp(part, "doublePrecisionFlop") == 0 ||
									   strcmp(part, "singlePrecisionFlop") == 0));
}

static int
add_row(const struct definition_row *row, const struct expression_scope *scope, void *context, struct rot_error *err)
{
	struct sum *sum = context;
	const char *expression = sum->is_compulsory && row->text[0] ? row->text : row->expression;
	double value;

	if (!is_part_of(row->of, sum->of))
		return 0;
	if (sum->direction && strcmp(sum->direction, "both") != 0 && strcmp(sum->direction, row->direction) != 0)
		return 0;
	if (expression_number(scope, expression, &value, err) < 0)
		return -1;
	if (value < 0)
		return rot_error_set(err, 0, "expected work '%s' is negative: %g", expression, value);
	sum->total += value;
	sum->found = true;
	return 0;
}

bool
kernel_expected_operations(struct rot *rot, const struct kernel_base *kernel, const char *operation, double *count,
			   struct rot_error *err)
{
	struct sum sum = {.of = operation};

	if (kernel_each_row(rot, kernel, DEFINITION_OPERATIONS, add_row, &sum, err) < 0)
		return false;
	*count = sum.total;
	return sum.found;
}

bool
kernel_expected_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
		      double *bytes, struct rot_error *err)
{
	struct sum sum = {.of = border, .direction = direction};

	if (kernel_each_row(rot, kernel, DEFINITION_BYTES, add_row, &sum, err) < 0)
		return false;
	*bytes = sum.total;
	return sum.found;
}

bool
kernel_compulsory_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
			double *bytes, struct rot_error *err)
{
	struct sum sum = {.of = border, .direction = direction, .is_compulsory = true};

	if (kernel_each_row(rot, kernel, DEFINITION_BYTES, add_row, &sum, err) < 0)
		return false;
	*bytes = sum.total;
	return sum.found;
}

/* ---- refusals ---- */

struct check {
	const struct rot *rot;
	const struct kernel_base *kernel;
};

static int
check_condition(const struct definition_row *row, const struct expression_scope *scope, void *context,
		struct rot_error *err)
{
	const struct check *check = context;
	bool holds;

	if (expression_bool(scope, row->expression, &holds, err) < 0)
		return -1;
	if (holds)
		return 0;
	return rot_error_set(err, 0, "kernel '%s': %s", class_name(check->kernel),
			     row->text[0] ? row->text : row->expression);
}

static int
check_flag(const struct definition_row *row, const struct expression_scope *scope, void *context, struct rot_error *err)
{
	const struct check *check = context;
	char *caption;

	(void)scope;
	if (machine_has_flag(check->rot->machine, row->of))
		return 0;
	caption = machine_caption(check->rot->machine);
	rot_error_set(err, 0, "kernel '%s' needs a processor with '%s', which this one lacks (%s)",
		      class_name(check->kernel), row->of, caption);
	free(caption);
	return rot_error_hint(err, "choose an instruction set that 'grep flags /proc/cpuinfo' lists");
}

static int
add_data(const struct definition_row *row, const struct expression_scope *scope, void *context, struct rot_error *err)
{
	double *sum = context, bytes;

	if (expression_number(scope, row->expression, &bytes, err) < 0)
		return -1;
	*sum += bytes;
	return 0;
}

static int
check_libraries(const struct rot *rot, const struct kernel_base *kernel, struct rot_error *err)
{
	char *missing;
	int rc = kernel_missing(rot, kernel, &missing, err);

	if (rc == 0 && missing)
		rc = rot_error_set(err, 0, "%s", missing);
	free(missing);
	return rc;
}

int
kernel_data_bytes(struct rot *rot, const struct kernel_base *kernel, double *bytes, struct rot_error *err)
{
	*bytes = 0;
	return kernel_each_row(rot, kernel, DEFINITION_DATA_SIZE, add_data, bytes, err);
}

int
kernel_check(struct rot *rot, const struct kernel_base *kernel, struct rot_error *err)
{
	struct check check = {rot, kernel};
	double memory_bytes = (double)rot->machine->memory_bytes, data_bytes;

	if (kernel_each_row(rot, kernel, DEFINITION_CHECK, check_condition, &check, err) < 0 ||
	    check_libraries(rot, kernel, err) < 0 ||
	    kernel_each_row(rot, kernel, DEFINITION_REQUIRES, check_flag, &check, err) < 0 ||
	    kernel_data_bytes(rot, kernel, &data_bytes, err) < 0)
		return -1;
	if (memory_bytes > 0 && data_bytes > memory_bytes) {
		rot_error_set(err, 0, "kernel '%s' needs %.1f MiB of memory, this machine has %.1f MiB",
			      class_name(kernel), data_bytes / 0x1p20, memory_bytes / 0x1p20);
		return rot_error_hint(err, "choose a smaller size");
	}
	return 0;
}
