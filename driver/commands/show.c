/* SPDX-License-Identifier: MIT */
/* rot show: the code of a function, with what was measured of it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/titles.h"
#include "commands/command.h"
#include "experiments/stored_result.h"
#include "memory.h"
#include "nearest.h"
#include "plots/annotated.h"

/* ---- the function ---- */

static const json_t *
functions_of(const struct stored_result *result)
{
	return json_object_get(json_object_get(result->json, "functions"), "functions");
}

static bool
is_called(const json_t *place, const char *name)
{
	autofree char *title = function_title(place, 0);

	return strcmp(name, title) == 0 || strcmp(name, json_text_at(place, "symbol")) == 0;
}

/* Places come in the order of their samples; where there are none, instructions tell. */
static const json_t *
find_hottest(const struct stored_result *result)
{
	const json_t *place, *hottest = NULL;
	double most = -1;
	size_t i;

	json_array_foreach(functions_of(result), i, place) {
		const double samples = json_number_at(place, "samples");
		const double instructions = json_number_at(json_object_get(place, "counts"), "instructions");

		if (!json_object_get(place, "code"))
			continue;
		if (samples > 0)
			return place;
		if (!hottest || instructions > most) {
			hottest = place;
			most = instructions;
		}
	}
	return hottest;
}

/* A function that the compiler inlined is in the code of the one around it. */
static int
name_nearest(const struct stored_result *result, const char *name, struct rot_error *err)
{
	const json_t *functions = functions_of(result), *place;
	const json_t *loops = json_object_get(json_object_get(result->json, "functions"), "loops");
	const size_t nr = json_array_size(functions);
	autofree const char **names = rot_calloc(nr + 1, sizeof(*names));
	size_t i;

	json_array_foreach(functions, i, place)
		names[i] = *json_text_at(place, "function") ? json_text_at(place, "function") : NULL;
	rot_error_set(err, 0, "'%s' has no function '%s'", result->path, name);
	json_array_foreach(loops, i, place) {
		if (strcmp(json_text_at(place, "inlined"), name) == 0)
			return rot_error_hint(err, "it is inlined: rot show %s %s", result->path,
					      json_text_at(place, "function"));
	}
	return rot_nearest_hint(err, name, names, nr, "all of them: --functions=1000 of rot run");
}

/* A program may have several functions of a name: the first one with instructions is meant. */
static const json_t *
find_function(const struct stored_result *result, const char *name, struct rot_error *err)
{
	const json_t *place, *found = NULL;
	size_t i;

	if (json_array_size(functions_of(result)) == 0) {
		rot_error_set(err, 0, "'%s' has no functions", result->path);
		rot_error_hint(err, "results of rot run have some: rot run -o NAME PROGRAM");
		return NULL;
	}
	if (!name) {
		found = find_hottest(result);
		if (!found)
			rot_error_set(err, 0, "'%s' has no instructions of functions", result->path);
		return found;
	}
	json_array_foreach(functions_of(result), i, place) {
		if (is_called(place, name) && (!found || !json_object_get(found, "code")))
			found = place;
	}
	if (!found) {
		name_nearest(result, name, err);
	} else if (strcmp(json_text_at(found, "object"), "[jit]") == 0) {
		rot_error_set(err, 0, "'%s' was made at run time: its code is in no file", name);
		found = NULL;
	} else if (!json_object_get(found, "code")) {
		rot_error_set(err, 0, "'%s' has no instructions of '%s', which has little of the time", result->path,
			      name);
		found = NULL;
	}
	return found;
}

/* ---- its text ---- */

/* A column is as wide as what is in it. */
static size_t *
widths_of(struct pool *pool, const struct annotated_code *code)
{
	size_t *widths = pool_calloc(pool, code->headings.nr + 1, sizeof(*widths));

	for (size_t k = 0; k < code->headings.nr; k++)
		widths[k] = strlen(code->headings.items[k]);
	for (size_t i = 0; i < code->nr_loops; i++)
		for (size_t j = 0; j < code->loops[i].nr_lines; j++)
			for (size_t k = 0; code->loops[i].lines[j].cells && k < code->headings.nr; k++) {
				const size_t width = strlen(code->loops[i].lines[j].cells[k]);

				widths[k] = width > widths[k] ? width : widths[k];
			}
	return widths;
}

static void
print_cells(FILE *out, const char *const *cells, const size_t *widths, size_t nr, const char *text)
{
	for (size_t k = 0; k < nr; k++)
		fprintf(out, " %*s", (int)widths[k], cells[k]);
	fprintf(out, "  %s\n", text);
}

static void
print_loop(FILE *out, const struct annotated_code *code, const struct annotated_loop *loop, const size_t *widths)
{
	const size_t nr = code->headings.nr;

	print_cells(out, code->headings.items, widths, nr, "instruction");
	for (size_t i = 0; i < loop->nr_lines; i++) {
		const struct annotated_line *line = &loop->lines[i];

		if (line->cells)
			print_cells(out, line->cells, widths, nr, line->text);
		else if (line->number)
			fprintf(out, "%6d  %s\n", line->number, line->text);
		else
			fprintf(out, "    %s\n", line->text);
	}
}

/*
 * Prints a function of a result of rot run in lines of that width, but for source lines; NULL: the one with most of the
 * time. The loop with most of it comes first. Errors: no such function (the hint names the nearest one), its
 * instructions are not in the result, or its file has other code by now.
 */
static int
print_function(FILE *out, size_t width, const struct rot *rot, const struct stored_result *result, const char *name,
	       const struct annotated_options *options, struct rot_error *err)
{
	autopool pool = {0};
	const json_t *function = find_function(result, name, err);
	struct annotated_code code;
	const size_t *widths;

	if (!function || annotated_code_make(&pool, &code, rot, result->json, function, options, err) < 0)
		return -1;
	widths = widths_of(&pool, &code);
	for (size_t i = 0; i < code.about.nr; i++)
		text_print_within(code.about.items[i], width, out);
	for (size_t i = 0; i < code.nr_loops; i++) {
		fputc('\n', out);
		text_print_within(code.loops[i].title, width, out);
		print_loop(out, &code, &code.loops[i], widths);
	}
	return 0;
}

static const struct option_row rows[] = {
	{.name = "no-source",
	 .about = "instructions alone",
	 .offset = offsetof(struct annotated_options, has_no_source)},
};

static const struct option_table table = {OPTION_ROWS(rows, struct annotated_options)};

static int
show_run(struct command_context *context, void *values, int argc, char **argv, struct rot_error *err)
{
	autopool pool = {0};
	struct annotated_options *options = values;
	struct stored_result result = {0};
	autofree char *text = NULL;
	struct rot *rot;
	size_t length;
	FILE *out;
	int rc;

	context->needs_no_kernels = true;
	rot = command_rot(context, err);
	if (!rot || stored_result_read(&pool, &result, argv[0], err) < 0)
		return -1;
	options->is_all = configuration_bool(rot->configuration, "showAll");
	out = open_memstream(&text, &length);
	rc = print_function(out, terminal_width(stdout), rot, &result, argc > 1 ? argv[1] : NULL, options, err);
	fclose(out);
	if (rc == 0)
		terminal_page(text);
	return rc;
}

const struct command show_command = {
	.name = "show",
	.arguments = "RESULT.json [FUNCTION]",
	.summary = "show the code of a function with what was measured of it: time, executions, operations, bytes",
	.examples =
		(const struct command_example[]){
			{"rot show solver.json", "the function with most of the time"},
			{"rot show solver.json relax", "another one"},
			{0},
		},
	.description = "RESULT.json is what rot run wrote with -o or -j. Nothing is measured: instructions are read "
		       "from the program's file, which must still have the same code, and source lines by its debug "
		       "information. The loop with most of the time comes first. Beside each instruction: its share of "
		       "the CPU time, how often it was executed, and, of one execution, operations and bytes. A sample "
		       "is often of the instruction behind the one that takes the time. At a terminal the text goes "
		       "through PAGER, or less. --all: also code that was not executed.",
	.nr_arguments_min = 1,
	.nr_arguments_max = 2,
	.options = &table,
	.run = show_run,
};
