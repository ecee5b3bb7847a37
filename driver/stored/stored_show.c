/* SPDX-License-Identifier: MIT */
/* See stored_show.h. */
#include "stored/stored_show.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measuring/core_launch.h"
#include "memory.h"
#include "nearest.h"
#include "rot.h"
#include "support/entry.h"
#include "support/files.h"
#include "support/json.h"
#include "support/process.h"
#include "support/titles.h"
#include "support/utf8.h"

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

	json_array_foreach(functions_of(result), i, place)
	{
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

static int
name_nearest(const struct stored_result *result, const char *name, struct rot_error *err)
{
	const json_t *functions = functions_of(result), *place;
	const size_t nr = json_array_size(functions);
	autofree const char **names = rot_calloc(nr + 1, sizeof(*names));
	size_t i;

	json_array_foreach(functions, i, place) names[i] =
		*json_text_at(place, "function") ? json_text_at(place, "function") : NULL;
	rot_error_set(err, 0, "'%s' has no function '%s'", result->path, name);
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
	json_array_foreach(functions_of(result), i, place)
	{
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

/* ---- its code ---- */

/* What rot-core says of the code, to be freed as a graph; NULL: an error. */
static struct code_listing *
read_listing(const struct rot *rot, struct program_place *place, struct rot_error *err)
{
	struct core_start start;
	struct process_result result = {0};
	struct rot_error why = {0};
	void *graph = NULL;
	int rc = core_start_open(&start, rot, place, err);

	if (rc == 0) {
		const char *const argv[] = {start.program, "--listing",  "--command", start.command,
					    "--output",    start.output, NULL};

		rc = process_run(argv, NULL, &result, NULL, err);
	}
	if (rc == 0 && result.status == 0)
		graph = core_start_read(&start, &why);
	if (rc == 0 && !rot_is_a(graph, &code_listing_class))
		rot_error_set(err, 0, "the code of '%s' cannot be listed: %.*s", place->object,
			      (int)process_output_length(&result), result.output);
	process_result_clear(&result);
	core_start_close(&start);
	if (rot_is_a(graph, &code_listing_class))
		return graph;
	rot_graph_delete(graph);
	return NULL;
}

static struct code_listing *
list_code(const struct rot *rot, const json_t *function, struct rot_error *err)
{
	autograph struct program_place *place = program_place_new();
	const char *hash = json_text_at(json_object_get(function, "code"), "hash");
	struct code_listing *listing;

	json_entity_fill(place, function);
	if (access(place->object, R_OK) < 0) {
		rot_error_set(err, errno, "cannot read the code of '%s'", place->object);
		return NULL;
	}
	listing = read_listing(rot, place, err);
	if (!listing || strcmp(listing->hash, hash) == 0)
		return listing;
	rot_graph_delete(listing);
	rot_error_set(err, 0, "'%s' has other code by now than when it was measured", place->object);
	rot_error_hint(err, "measure it again: rot run -o NAME PROGRAM");
	return NULL;
}

/* ---- what was found ---- */

/* counts: of the events of the code; NULL: none. */
struct shown {
	const struct code_instruction *instruction;
	double samples, executions;
	double *counts;
};

struct loop {
	uint64_t header; /* 0: what is in no loop */
	double weight;   /* samples; without any, executed instructions */
	double samples;
	size_t first; /* instruction */
};

/* What a column is the sum of: operations, or bytes from and to that level. Lines of caches have 64 bytes. */
#define MOST_EVENTS 4
static const struct column {
	const char *heading;
	const char *events[MOST_EVENTS];
	double factor;
} columns[] = {
	{"flop", {"scalarDouble", "packedDouble", "scalarSingle", "packedSingle"}, 1},
	{"x87", {"x87"}, 1},
	{"int", {"scalarInteger", "packedInteger"}, 1},
	{"load", {"loadedBytes"}, 1},
	{"store", {"storedBytes"}, 1},
	{"L2", {"l1Fills", "l1WriteBacks"}, 64},
	{"L3", {"l2Fills", "l2WriteBacks"}, 64},
	{"DRAM", {"memoryReads", "memoryWrites"}, 64},
};
#define TIME "time"
#define EXECUTED "executed"
enum { NR_COLUMNS = sizeof(columns) / sizeof(*columns), INTEGERS = 2, FIRST_MODELLED = 5 };

struct show {
	FILE *out;
	size_t width;
	const struct stored_show_options *options;
	const json_t *function, *events;
	struct pool pool;
	struct shown *items;
	size_t nr;
	struct loop *loops;
	size_t nr_loops;
	double samples;                                        /* of the function */
	double share;                                          /* of the time, of one sample; not finite: not known */
	bool is_counted;                                       /* its code was translated */
	size_t time_width, executed_width, widths[NR_COLUMNS]; /* 0: there is nothing in the column */
	const char *path;                                      /* of the source file that is open; NULL: none */
	char **lines;                                          /* its lines */
	size_t nr_lines;
	const char *last_path; /* of the line that was printed last; its number */
	int last_line;
};

static double
value_of(const struct show *show, const struct shown *item, const struct column *column)
{
	double sum = 0;
	json_t *event;
	size_t i;

	json_array_foreach(show->events, i, event)
	{
		for (size_t k = 0; item->counts && k < MOST_EVENTS && column->events[k]; k++)
			if (json_is_string(event) && strcmp(json_string_value(event), column->events[k]) == 0)
				sum += column->factor * item->counts[i];
	}
	return sum;
}

static struct shown *
find_instruction(struct show *show, uint64_t address)
{
	size_t low = 0, high = show->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (show->items[middle].instruction->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &show->items[low - 1] : NULL;
}

/* "OFFSET SAMPLES EXECUTIONS COUNT..." */
static void
take_row(struct show *show, const char *text)
{
	const uint64_t address = (uint64_t)json_number_at(show->function, "address");
	const size_t nr_events = json_array_size(show->events);
	char *end = (char *)text;
	struct shown *item = find_instruction(show, address + strtoull(end, &end, 10));

	if (!item)
		return;
	item->samples += strtod(end, &end);
	item->executions += strtod(end, &end);
	if (!item->counts)
		item->counts = pool_calloc(&show->pool, nr_events + 1, sizeof(*item->counts));
	for (size_t i = 0; i < nr_events; i++)
		item->counts[i] += strtod(end, &end);
}

static struct loop *
find_loop(struct show *show, uint64_t header)
{
	for (size_t i = 0; i < show->nr_loops; i++)
		if (show->loops[i].header == header)
			return &show->loops[i];
	show->loops = pool_grow(&show->pool, show->loops, show->nr_loops, sizeof(*show->loops));
	show->loops[show->nr_loops] = (struct loop){.header = header};
	return &show->loops[show->nr_loops++];
}

static int
compare_loops(const void *a, const void *b)
{
	const struct loop *left = a, *right = b;
	const int order = (left->weight < right->weight) - (left->weight > right->weight);

	return order ? order : (left->header > right->header) - (left->header < right->header);
}

static void
add_up(struct show *show)
{
	for (size_t i = 0; i < show->nr; i++)
		show->samples += show->items[i].samples;
	for (size_t i = 0; i < show->nr; i++) {
		const struct shown *item = &show->items[i];
		struct loop *loop = find_loop(show, item->instruction->loop);

		loop->samples += item->samples;
		loop->weight += show->samples > 0 ? item->samples : item->executions;
	}
	if (show->nr_loops > 0)
		qsort(show->loops, show->nr_loops, sizeof(*show->loops), compare_loops);
}

static void
take(struct show *show, const struct code_listing *listing)
{
	const json_t *code = json_object_get(show->function, "code"), *rows = json_object_get(code, "instructions");
	const json_t *row;
	size_t i;

	show->events = json_object_get(code, "events");
	show->nr = code_listing_nr_instructions(listing);
	show->items = pool_calloc(&show->pool, show->nr + 1, sizeof(*show->items));
	for (i = 0; i < show->nr; i++)
		show->items[i].instruction = code_listing_instructions_at(listing, i);
	json_array_foreach(rows, i, row) take_row(show, json_string_value(row) ? json_string_value(row) : "");
	show->share = json_number_at(show->function, "share") / json_number_at(show->function, "samples");
	add_up(show);
}

/* ---- source ---- */

static void
open_source(struct show *show, const char *path)
{
	char *text = pool_own(&show->pool, file_read(path, NULL, NULL), free);

	show->path = path;
	show->nr_lines = 0;
	show->lines = NULL;
	for (char *line = text, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		show->lines = pool_grow(&show->pool, show->lines, show->nr_lines, sizeof(*show->lines));
		show->lines[show->nr_lines++] = line;
	}
}

/* A line is printed where its code begins, as long as it is; tabs and what a terminal must not get are blanks. */
static void
print_source(struct show *show, const struct code_instruction *instruction)
{
	autofree char *line = NULL;
	const size_t number = (size_t)instruction->line;

	if (show->options->has_no_source || !*instruction->path ||
	    (number == (size_t)show->last_line && show->last_path && strcmp(show->last_path, instruction->path) == 0))
		return;
	if (!show->path || strcmp(show->path, instruction->path) != 0)
		open_source(show, instruction->path);
	show->last_path = instruction->path;
	show->last_line = instruction->line;
	if (number == 0 || number > show->nr_lines)
		return;
	line = utf8_text(show->lines[number - 1]);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	fprintf(show->out, "%6zu  %s\n", number, line);
}

/* ---- lines ---- */

/* Counts are exact as long as they fit. Fresh memory. */
static char *
executions_text(const struct shown *item)
{
	return item->executions > 0 ? rot_format(item->executions < 1e9 ? "%.0f" : "%.3g", item->executions)
				    : rot_strdup("");
}

/* Of the time of all. Fresh memory. */
static char *
time_text(const struct show *show, const struct shown *item)
{
	const double percent = 100 * show->share * item->samples;

	if (!(item->samples > 0))
		return rot_strdup("");
	return isfinite(percent) ? rot_format(percent < 0.05 ? "<0.1" : "%.1f", percent) : rot_strdup("-");
}

/* The same with its unit, of a loop or the function. Fresh memory. */
static char *
share_text(const struct show *show, double samples)
{
	const double percent = 100 * show->share * samples;

	return isfinite(percent) ? rot_format("%.3g %%", percent) : rot_strdup("-");
}

/* Of one execution. Fresh memory. */
static char *
column_text(const struct show *show, const struct shown *item, size_t column)
{
	const double value = value_of(show, item, &columns[column]) / item->executions;

	if (!(value > 0) || isinf(value))
		return rot_strdup("");
	return value < 0.01 ? rot_strdup("<.01")
			    : rot_format(value < 100 && value != floor(value) ? "%.2g" : "%.4g", value);
}

static void
widen(size_t *width, char *text)
{
	if (strlen(text) > *width)
		*width = strlen(text);
	free(text);
}

/* As narrow as what is in them permits: instructions need the room. 0: there is nothing. */
static void
set_widths(struct show *show)
{
	for (size_t i = 0; i < show->nr; i++) {
		widen(&show->time_width, time_text(show, &show->items[i]));
		widen(&show->executed_width, executions_text(&show->items[i]));
		for (size_t k = 0; k < NR_COLUMNS; k++)
			if (k != INTEGERS || show->widths[0] == 0)
				widen(&show->widths[k], column_text(show, &show->items[i], k));
	}
	if (show->widths[0] > 0)
		show->widths[INTEGERS] = 0;
	show->is_counted = show->executed_width > 0;
}

static void
print_cell(const struct show *show, size_t width, const char *heading, const char *text)
{
	if (width > 0)
		fprintf(show->out, " %*s", (int)(width > strlen(heading) ? width : strlen(heading)), text);
}

static void
print_headings(const struct show *show)
{
	print_cell(show, show->time_width, TIME, TIME);
	print_cell(show, show->executed_width, EXECUTED, EXECUTED);
	for (size_t i = 0; i < NR_COLUMNS; i++)
		print_cell(show, show->widths[i], columns[i].heading, columns[i].heading);
	fprintf(show->out, "  instruction\n");
}

static void
print_instruction(const struct show *show, const struct shown *item)
{
	const uint64_t from = (uint64_t)json_number_at(show->function, "address");
	autofree char *time = time_text(show, item), *executions = executions_text(item);

	print_cell(show, show->time_width, TIME, time);
	print_cell(show, show->executed_width, EXECUTED, executions);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		autofree char *text = column_text(show, item, i);

		print_cell(show, show->widths[i], columns[i].heading, text);
	}
	fprintf(show->out, "  +0x%llx %s\n", (unsigned long long)(item->instruction->address - from),
		item->instruction->text);
}

static bool
is_idle(const struct shown *item)
{
	return item->samples == 0 && item->executions == 0;
}

/* How many instructions of the loop, from the one numbered i on, neither were executed nor found. */
static size_t
count_idle(const struct show *show, uint64_t header, size_t i)
{
	size_t nr = 0;

	for (; i < show->nr && (show->items[i].instruction->loop != header || is_idle(&show->items[i])); i++)
		nr += show->items[i].instruction->loop == header;
	return nr;
}

/* Fewer are shown. */
#define LEAST_LEFT_OUT 3

static void
print_loop(struct show *show, uint64_t header)
{
	size_t nr_left_out = 0;

	show->last_path = NULL;
	for (size_t i = 0; i < show->nr; i++) {
		const struct shown *item = &show->items[i];

		if (item->instruction->loop != header)
			continue;
		if (nr_left_out == 0 && is_idle(item) && !show->options->is_all) {
			nr_left_out = count_idle(show, header, i);
			if (nr_left_out >= LEAST_LEFT_OUT)
				fprintf(show->out, "    (%zu instructions %s)\n", nr_left_out,
					show->is_counted ? "that were not executed" : "without a sample");
			else
				nr_left_out = 0;
		}
		if (nr_left_out > 0 && nr_left_out--)
			continue;
		print_source(show, item->instruction);
		print_instruction(show, item);
	}
}

/* ---- the whole ---- */

static const json_t *
find_part(const struct stored_result *result, const json_t *function, uint64_t header)
{
	const json_t *parts = json_object_get(json_object_get(result->json, "functions"), "loops"), *part;
	const double address = json_number_at(function, "address");
	size_t i;

	json_array_foreach(parts, i, part)
	{
		if (json_number_at(part, "header") == (double)header &&
		    json_number_at(part, "functionAddress") == address &&
		    strcmp(json_text_at(part, "object"), json_text_at(function, "object")) == 0)
			return part;
	}
	return NULL;
}

/* "loop at +0x3a, relax.c:17-20: 58.1 % of the time, 13824 turns, 2304 entries" */
static void
print_loop_title(const struct show *show, const struct stored_result *result, const struct loop *loop)
{
	const json_t *part = loop->header ? find_part(result, show->function, loop->header) : NULL;
	const uint64_t from = (uint64_t)json_number_at(show->function, "address");
	const double line = json_number_at(part, "line"), last = json_number_at(part, "lastLine");
	const double turns = json_number_at(part, "turns"), entries = json_number_at(part, "entries");
	autofree char *text = loop->header ? rot_format("loop at +0x%llx", (unsigned long long)(loop->header - from))
					   : rot_strdup(show->nr_loops > 1 ? "in no loop" : "all of it");
	autofree char *share = share_text(show, loop->samples);

	if (line > 0)
		rot_append(&text, last > line ? ", %s:%.0f-%.0f" : ", %s:%.0f", json_text_at(part, "source"), line,
			   last);
	if (loop->samples > 0)
		rot_append(&text, ": %s of the time", share);
	if (turns > 0)
		rot_append(&text, "%s %.0f turn%s", loop->samples > 0 ? "," : ":", turns, turns == 1 ? "" : "s");
	if (turns > 0 && entries > 0)
		rot_append(&text, ", entered %.0f time%s", entries, entries == 1 ? "" : "s");
	rot_append(&text, "\n");
	fputc('\n', show->out);
	text_print_within(text, show->width, show->out);
}

static void
print_title(const struct show *show)
{
	autofree char *name = function_title(show->function, 0), *share = share_text(show, show->samples);
	bool has_modelled = false;
	autofree char *text = rot_format("%s, %s", name, function_file(show->function));

	if (show->samples > 0)
		rot_append(&text, ": %s of the CPU time, %.0f samples", share, show->samples);
	rot_append(&text, "\n");
	if (show->samples > 0)
		rot_append(&text, "time: in %% of all; a sample may be of the instruction behind the slow one\n");
	if (show->is_counted)
		rot_append(&text, "behind executed: operations and bytes of one execution\n");
	for (size_t i = FIRST_MODELLED; i < NR_COLUMNS; i++)
		has_modelled |= show->widths[i] > 0;
	if (has_modelled)
		rot_append(&text, "L2 to DRAM: modelled bytes, of all accesses up to the next value or jump\n");
	text_print_within(text, show->width, show->out);
}

/* A source file that changed after the program was made may have other lines than what ran. */
static void
print_doubts(const struct show *show)
{
	autofree char *missing = rot_strdup("source not found: "), *newer = rot_strdup("newer than the program: ");
	const size_t nr_missing = strlen(missing), nr_newer = strlen(newer);
	struct stat object, source;

	if (show->options->has_no_source || stat(json_text_at(show->function, "object"), &object) < 0)
		return;
	for (size_t i = 0; i < show->nr; i++) {
		const char *path = show->items[i].instruction->path;
		const bool is_there = stat(path, &source) == 0;

		if (!*path || strstr(missing, path) || strstr(newer, path))
			continue;
		if (!is_there)
			rot_append(&missing, "%s%s", missing[nr_missing] ? ", " : "", path);
		else if (source.st_mtim.tv_sec > object.st_mtim.tv_sec)
			rot_append(&newer, "%s%s", newer[nr_newer] ? ", " : "", path);
	}
	rot_append(&missing, "\n");
	rot_append(&newer, "\n");
	if (missing[nr_missing] != '\n')
		text_print_within(missing, show->width, show->out);
	if (newer[nr_newer] != '\n')
		text_print_within(newer, show->width, show->out);
}

int
stored_show_print(FILE *out, size_t width, const struct rot *rot, const struct stored_result *result,
		  const char *function, const struct stored_show_options *options, struct rot_error *err)
{
	struct show show = {.out = out, .width = width, .options = options};
	autograph struct code_listing *listing = NULL;

	show.function = find_function(result, function, err);
	listing = show.function ? list_code(rot, show.function, err) : NULL;
	if (!listing)
		return -1;
	take(&show, listing);
	set_widths(&show);
	print_title(&show);
	print_doubts(&show);
	for (size_t i = 0; i < show.nr_loops; i++) {
		print_loop_title(&show, result, &show.loops[i]);
		print_headings(&show);
		print_loop(&show, show.loops[i].header);
	}
	pool_clear(&show.pool);
	return 0;
}
