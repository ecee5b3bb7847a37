/* SPDX-License-Identifier: MIT */
#include "engine/kernel_work.h"

#include <math.h>
#include <string.h>

#include "engine/kernel_needs.h"
#include "engine/kernel_rows.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"

/* ---- expected work ---- */

struct sum {
	const char *of, *direction; /* the operation; of bytes the direction */
	bool is_compulsory;         /* the row's compulsory bytes, where it says other ones */
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
add_value(const char *expression, const struct expression_scope *scope, struct sum *sum, struct rot_error *err)
{
	double value;

	if (expression_number(scope, expression, &value, err) < 0)
		return -1;
	if (value < 0)
		return rot_error_set(err, 0, "expected work '%s' is negative: %g", expression, value);
	sum->total += value;
	sum->found = true;
	return 0;
}

static int
add_operations(const struct definition_row *row, const struct expression_scope *scope, void *context,
	       struct rot_error *err)
{
	struct sum *sum = context;

	return is_part_of(row->of, sum->of) ? add_value(row->expression, scope, sum, err) : 0;
}

static int
add_bytes(const struct definition_row *row, const struct expression_scope *scope, void *context, struct rot_error *err)
{
	struct sum *sum = context;

	if (strcmp(sum->direction, "both") != 0 && strcmp(sum->direction, row->direction) != 0)
		return 0;
	return add_value(sum->is_compulsory && row->text[0] ? row->text : row->expression, scope, sum, err);
}

bool
kernel_expected_operations(struct rot *rot, const struct kernel_base *kernel, const char *operation, double *count,
			   struct rot_error *err)
{
	struct sum sum = {.of = operation};

	if (kernel_each_row(rot, kernel, DEFINITION_OPERATIONS, add_operations, &sum, err) < 0)
		return false;
	*count = sum.total;
	return sum.found;
}

bool
kernel_expected_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
		      double *bytes, struct rot_error *err)
{
	struct sum sum = {.direction = direction};

	if (kernel_each_bytes_row(rot, kernel, border, add_bytes, &sum, err) < 0)
		return false;
	*bytes = sum.total;
	return sum.found;
}

bool
kernel_compulsory_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
			double *bytes, struct rot_error *err)
{
	struct sum sum = {.direction = direction, .is_compulsory = true};

	if (kernel_each_bytes_row(rot, kernel, border, add_bytes, &sum, err) < 0)
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
	return rot_error_set(err, 0, "kernel '%s': %s", kernel_class_name(check->kernel),
			     row->text[0] ? row->text : row->expression);
}

static int
check_flag(const struct definition_row *row, const struct expression_scope *scope, void *context, struct rot_error *err)
{
	const struct check *check = context;
	autofree char *caption = machine_caption(check->rot->machine);

	(void)scope;
	if (machine_has_flag(check->rot->machine, row->of))
		return 0;
	rot_error_set(err, 0, "kernel '%s' needs a processor with '%s', which this one lacks (%s)",
		      kernel_class_name(check->kernel), row->of, caption);
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
	double memory_bytes = (double)machine_usable_bytes(rot->machine), data_bytes;
	autofree char *missing = NULL;

	if (kernel_each_row(rot, kernel, DEFINITION_CHECK, check_condition, &check, err) < 0 ||
	    kernel_missing(rot, kernel, &missing, err) < 0)
		return -1;
	if (missing)
		return rot_error_set(err, 0, "%s", missing);
	if (kernel_each_row(rot, kernel, DEFINITION_REQUIRES, check_flag, &check, err) < 0 ||
	    kernel_data_bytes(rot, kernel, &data_bytes, err) < 0)
		return -1;
	if (memory_bytes > 0 && data_bytes > memory_bytes) {
		autofree char *needed = machine_size_text((int64_t)fmin(data_bytes, 0x1p62));
		autofree char *there = machine_size_text(machine_usable_bytes(rot->machine));

		rot_error_set(err, 0, "kernel '%s' needs %s of memory, %s %s", kernel_class_name(kernel), needed,
			      rot->machine->memory_limit_bytes ? "and rot's control group may have"
							       : "this machine has",
			      there);
		return rot_error_hint(err, "choose a smaller size");
	}
	return 0;
}
