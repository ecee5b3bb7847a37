/* SPDX-License-Identifier: MIT */
#include "engine/kernel_work.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pool.h"
#include "engine/program_files.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"

/* ---- rows ---- */

const char *
kernel_class_name(const struct kernel_base *kernel)
{
	return kernel->entity.class->name;
}

/*
 * Bytes of the caches before a border: each thread has its own, but for the last level. 0: there are none, or nobody
 * tells.
 */
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

/* border: of rows of bytes, where $cacheBytes is what the caches before it hold; else "". */
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

/* ---- expected work ---- */

struct sum {
	const char *of, *direction; /* the operation; of bytes the direction */
	bool is_compulsory;         /* the row's compulsory bytes, where it says other ones */
	double total;
	bool found;
};

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
	/* "flop" is both precisions. */
	const bool is_part = strcmp(sum->of, "flop") == 0 && (strcmp(row->of, "doublePrecisionFlop") == 0 ||
							      strcmp(row->of, "singlePrecisionFlop") == 0);

	return is_part || strcmp(row->of, sum->of) == 0 ? add_value(row->expression, scope, sum, err) : 0;
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

	if (each_row(rot, kernel, DEFINITION_OPERATIONS, "", add_operations, &sum, err) < 0)
		return false;
	*count = sum.total;
	return sum.found;
}

bool
kernel_expected_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
		      double *bytes, struct rot_error *err)
{
	struct sum sum = {.direction = direction};

	if (each_row(rot, kernel, DEFINITION_BYTES, border, add_bytes, &sum, err) < 0)
		return false;
	*bytes = sum.total;
	return sum.found;
}

bool
kernel_compulsory_bytes(struct rot *rot, const struct kernel_base *kernel, const char *border, const char *direction,
			double *bytes, struct rot_error *err)
{
	struct sum sum = {.direction = direction, .is_compulsory = true};

	if (each_row(rot, kernel, DEFINITION_BYTES, border, add_bytes, &sum, err) < 0)
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

/* ---- libraries ---- */

/* A name that the loader was asked for. */
struct library {
	const char *name;
	char *path; /* NULL: it is not there */
};

/* A loader_tell. */
static void
note_path(const char *name, const char *path, void *to)
{
	struct library *library = to;

	if (path && !library->path && strcmp(name, library->name) == 0)
		library->path = rot_strdup(path);
}

/* The loader of this process finds it; it is asked once for each name. */
static const char *
find_by_loader(const char *name)
{
	static struct pool pool;
	static struct library *known;
	static size_t nr;
	autofree char *self = realpath("/proc/self/exe", NULL);
	const char *const argv[] = {LOADER_PATH, "--preload", name, "--list", self, NULL};

	for (size_t i = 0; i < nr; i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].path;
	known = pool_grow(&pool, known, nr, sizeof(*known));
	known[nr] = (struct library){.name = pool_strdup(&pool, name)};
	if (self)
		loader_list(argv, NULL, note_path, &known[nr]);
	return known[nr++].path;
}

char *
kernel_library_find(const char *name)
{
	const bool is_path = strchr(name, '/');
	autofree char *path = NULL;

	if (is_path && name[0] != '/') {
		Dl_info libc = {.dli_fname = ""};
		const char *slash;

		dladdr((void *)getenv, &libc);
		slash = strrchr(libc.dli_fname, '/');
		path = rot_format("%.*s/%s", slash ? (int)(slash - libc.dli_fname) : 0, libc.dli_fname, name);
	} else {
		path = rot_strdup(is_path ? name : find_by_loader(name));
	}
	return access(path, R_OK) == 0 ? rot_keep(&path) : NULL;
}

/* ---- of a kernel ---- */

struct missing {
	const char *kernel;
	char *what;
};

static int
note_missing(const struct definition_row *row, const struct expression_scope *scope, void *context,
	     struct rot_error *err)
{
	struct missing *missing = context;
	autofree char *path = missing->what ? NULL : kernel_library_find(row->of);

	(void)scope;
	(void)err;
	if (!path && !missing->what)
		missing->what =
			rot_format("kernel '%s' needs the library %s: install %s", missing->kernel, row->of, row->text);
	return 0;
}

int
kernel_missing(const struct rot *rot, const struct kernel_base *kernel, char **what, struct rot_error *err)
{
	struct missing missing = {.kernel = kernel->entity.class->name};
	int rc = kernel_each_row(rot, kernel, DEFINITION_NEEDS, note_missing, &missing, err);

	*what = missing.what;
	return rc;
}

static int
append_file(const struct definition_row *row, const struct expression_scope *scope, void *context,
	    struct rot_error *err)
{
	char **files = context;
	autofree char *path = kernel_library_find(row->of);
	struct stat status;

	(void)scope;
	(void)err;
	if (path && stat(path, &status) == 0)
		rot_append(files, "%s=%s %lld %lld;", row->of, path, (long long)status.st_size,
			   (long long)status.st_mtim.tv_sec);
	return 0;
}

char *
kernel_library_files(const struct rot *rot, const struct kernel_base *kernel, struct rot_error *err)
{
	autofree char *files = rot_strdup("");

	return kernel_each_row(rot, kernel, DEFINITION_NEEDS, append_file, &files, err) == 0 ? rot_keep(&files) : NULL;
}
