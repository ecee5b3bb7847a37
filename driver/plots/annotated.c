/* SPDX-License-Identifier: MIT */
#include "plots/annotated.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "base/titles.h"
#include "base/utf8.h"
#include "engine/core_launch.h"
#include "memory.h"
#include "number.h"

/* ---- its code ---- */

/* The listing that rot-core makes, to be freed as a graph; NULL: an error. */
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

/* A column is a sum of operations, or of bytes from and to that level. Lines of caches have 64 bytes. */
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

/* Before them stand the share of the time and the number of executions. */
enum {
	TIME,
	EXECUTED,
	FIRST_COLUMN,
	FLOPS = FIRST_COLUMN,
	INTEGERS = FIRST_COLUMN + 2,
	FIRST_MODELLED = FIRST_COLUMN + 5
};
enum { NR_ALL_COLUMNS = FIRST_COLUMN + sizeof(columns) / sizeof(*columns) };

/* options, function and what is made of them are borrowed; memory is of the pool. */
struct annotation {
	struct pool *pool;
	const struct annotated_options *options;
	const json_t *result, *function, *events;
	struct annotated_code *code;
	struct shown *items;
	size_t nr;
	struct loop *loops;
	size_t nr_loops;
	double samples;           /* of the function */
	double share;             /* of the time, of one sample; not finite: not known */
	bool is_counted;          /* its code was translated */
	bool has[NR_ALL_COLUMNS]; /* is there anything in the column? */
	const char *path;         /* of the source file that is open; NULL: none */
	char **lines;             /* its lines */
	size_t nr_lines;
	const char *last_path; /* of the source line that was added last; its number */
	int last_line;
};

static double
value_of(const struct annotation *a, const struct shown *item, const struct column *column)
{
	double sum = 0;
	json_t *event;
	size_t i;

	json_array_foreach(a->events, i, event) {
		for (size_t k = 0; item->counts && k < MOST_EVENTS && column->events[k]; k++)
			if (json_is_string(event) && strcmp(json_string_value(event), column->events[k]) == 0)
				sum += column->factor * item->counts[i];
	}
	return sum;
}

static struct shown *
find_instruction(struct annotation *a, uint64_t address)
{
	size_t low = 0, high = a->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (a->items[middle].instruction->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &a->items[low - 1] : NULL;
}

/* "OFFSET SAMPLES EXECUTIONS COUNT..." */
static void
take_row(struct annotation *a, const char *text)
{
	const uint64_t address = (uint64_t)json_number_at(a->function, "address");
	const size_t nr_events = json_array_size(a->events);
	char *end = (char *)text;
	struct shown *item = find_instruction(a, address + strtoull(end, &end, 10));

	if (!item)
		return;
	item->samples += strtod(end, &end);
	item->executions += strtod(end, &end);
	if (!item->counts)
		item->counts = pool_calloc(a->pool, nr_events + 1, sizeof(*item->counts));
	for (size_t i = 0; i < nr_events; i++)
		item->counts[i] += strtod(end, &end);
}

static struct loop *
find_loop(struct annotation *a, uint64_t header)
{
	for (size_t i = 0; i < a->nr_loops; i++)
		if (a->loops[i].header == header)
			return &a->loops[i];
	pool_add(a->pool, a->loops, a->nr_loops) = (struct loop){.header = header};
	return &a->loops[a->nr_loops - 1];
}

static int
compare_loops(const void *one, const void *other)
{
	const struct loop *left = one, *right = other;
	const int order = (left->weight < right->weight) - (left->weight > right->weight);

	return order ? order : (left->header > right->header) - (left->header < right->header);
}

static void
add_up(struct annotation *a)
{
	for (size_t i = 0; i < a->nr; i++)
		a->samples += a->items[i].samples;
	for (size_t i = 0; i < a->nr; i++) {
		const struct shown *item = &a->items[i];
		struct loop *loop = find_loop(a, item->instruction->loop);

		loop->samples += item->samples;
		loop->weight += a->samples > 0 ? item->samples : item->executions;
	}
	if (a->nr_loops > 0)
		qsort(a->loops, a->nr_loops, sizeof(*a->loops), compare_loops);
}

static void
take(struct annotation *a, const struct code_listing *listing)
{
	const json_t *code = json_object_get(a->function, "code"), *rows = json_object_get(code, "instructions");
	const json_t *row;
	size_t i;

	a->events = json_object_get(code, "events");
	a->nr = code_listing_nr_instructions(listing);
	a->items = pool_calloc(a->pool, a->nr + 1, sizeof(*a->items));
	for (i = 0; i < a->nr; i++)
		a->items[i].instruction = code_listing_instructions_at(listing, i);
	json_array_foreach(rows, i, row)
		take_row(a, json_string_value(row) ? json_string_value(row) : "");
	a->share = json_number_at(a->function, "share") / json_number_at(a->function, "samples");
	add_up(a);
}

/* ---- source ---- */

static struct annotated_line *
add_line(struct annotation *a, struct annotated_loop *loop)
{
	return &pool_add(a->pool, loop->lines, loop->nr_lines);
}

/* A line is added where its code begins, with blanks for tabs. */
static void
add_source(struct annotation *a, struct annotated_loop *loop, const struct code_instruction *instruction)
{
	const size_t number = (size_t)instruction->line;

	if (a->options->has_no_source || !*instruction->path ||
	    (number == (size_t)a->last_line && a->last_path && strcmp(a->last_path, instruction->path) == 0))
		return;
	if (!a->path || strcmp(a->path, instruction->path) != 0) {
		char *text = pool_own(a->pool, file_read(instruction->path, NULL, NULL), free);

		a->path = instruction->path;
		a->nr_lines = 0;
		a->lines = NULL;
		for (char *line = text, *end; line && *line; line = end) {
			end = line + strcspn(line, "\n");
			if (*end)
				*end++ = '\0';
			pool_add(a->pool, a->lines, a->nr_lines) = line;
		}
	}
	a->last_path = instruction->path;
	a->last_line = instruction->line;
	if (number == 0 || number > a->nr_lines)
		return;
	for (char *c = a->lines[number - 1]; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	*add_line(a, loop) = (struct annotated_line){
		.number = instruction->line,
		.text = pool_own(a->pool, utf8_printable(a->lines[number - 1]), free),
	};
}

/* ---- cells ---- */

/* Counts are exact as long as they fit. */
static const char *
cell_text(const struct annotation *a, const struct shown *item, size_t column)
{
	if (column == TIME) {
		/* The share of the time of all. */
		const double percent = 100 * a->share * item->samples;

		if (!(item->samples > 0))
			return "";
		return isfinite(percent) ? pool_format(a->pool, percent < 0.05 ? "<0.1" : "%.1f", percent) : "-";
	}
	if (column >= FIRST_COLUMN) {
		/* Operations or bytes of one execution. */
		const double value = value_of(a, item, &columns[column - FIRST_COLUMN]) / item->executions;

		if (!(value > 0) || isinf(value))
			return "";
		return value < 0.01
			       ? "<.01"
			       : pool_format(a->pool, value < 100 && value != floor(value) ? "%.2g" : "%.4g", value);
	}
	return item->executions > 0 ? pool_format(a->pool, item->executions < 1e9 ? "%.0f" : "%.3g", item->executions)
				    : "";
}

/* Columns that have something in them: instructions need the room. */
static void
choose_columns(struct annotation *a)
{
	for (size_t i = 0; i < a->nr; i++)
		for (size_t k = 0; k < NR_ALL_COLUMNS; k++)
			a->has[k] = a->has[k] || *cell_text(a, &a->items[i], k);
	a->has[INTEGERS] = a->has[INTEGERS] && !a->has[FLOPS];
	a->is_counted = a->has[EXECUTED];
	for (size_t k = 0; k < NR_ALL_COLUMNS; k++)
		if (a->has[k])
			texts_add(a->pool, &a->code->headings,
				  k == TIME       ? "time"
				  : k == EXECUTED ? "executed"
						  : columns[k - FIRST_COLUMN].heading);
}

/* ---- lines ---- */

static void
add_instruction(struct annotation *a, struct annotated_loop *loop, const struct shown *item)
{
	const uint64_t from = (uint64_t)json_number_at(a->function, "address");
	const char **cells = pool_calloc(a->pool, a->code->headings.nr + 1, sizeof(*cells));
	size_t nr = 0;

	for (size_t k = 0; k < NR_ALL_COLUMNS; k++)
		if (a->has[k])
			cells[nr++] = cell_text(a, item, k);
	*add_line(a, loop) = (struct annotated_line){
		.cells = cells,
		.text = pool_format(a->pool, "+0x%llx %s", (unsigned long long)(item->instruction->address - from),
				    item->instruction->text)};
}

static bool
is_idle(const struct shown *item)
{
	return item->samples == 0 && item->executions == 0;
}

/* How many instructions of the loop, from the one numbered i on, neither were executed nor found. */
static size_t
count_idle(const struct annotation *a, uint64_t header, size_t i)
{
	size_t nr = 0;

	for (; i < a->nr && (a->items[i].instruction->loop != header || is_idle(&a->items[i])); i++)
		nr += a->items[i].instruction->loop == header;
	return nr;
}

/* Fewer are shown. */
#define LEAST_LEFT_OUT 3

static void
add_lines(struct annotation *a, uint64_t header, struct annotated_loop *loop)
{
	size_t nr_left_out = 0;

	a->last_path = NULL;
	for (size_t i = 0; i < a->nr; i++) {
		const struct shown *item = &a->items[i];

		if (item->instruction->loop != header)
			continue;
		if (nr_left_out == 0 && is_idle(item) && !a->options->is_all) {
			nr_left_out = count_idle(a, header, i);
			if (nr_left_out >= LEAST_LEFT_OUT)
				add_line(a, loop)->text =
					pool_format(a->pool, "(%zu instructions %s)", nr_left_out,
						    a->is_counted ? "that were not executed" : "without a sample");
			else
				nr_left_out = 0;
		}
		if (nr_left_out > 0 && nr_left_out--)
			continue;
		add_source(a, loop, item->instruction);
		add_instruction(a, loop, item);
	}
}

/* ---- the whole ---- */

/* The share of the time of all that a loop or the function has. */
static const char *
share_text(const struct annotation *a, double samples)
{
	const double percent = 100 * a->share * samples;

	return isfinite(percent) ? pool_format(a->pool, "%.3g %%", percent) : "-";
}

static const json_t *
find_part(const struct annotation *a, uint64_t header)
{
	const json_t *parts = json_object_get(json_object_get(a->result, "functions"), "loops"), *part;
	const double address = json_number_at(a->function, "address");
	size_t i;

	json_array_foreach(parts, i, part) {
		if (json_number_at(part, "header") == (double)header &&
		    json_number_at(part, "functionAddress") == address &&
		    strcmp(json_text_at(part, "object"), json_text_at(a->function, "object")) == 0)
			return part;
	}
	return NULL;
}

/* "loop at +0x3a, relax.c:17-20, inlined relax: 58.1 % of the time, 13824 turns, 2304 entries" */
static const char *
loop_title(const struct annotation *a, const struct loop *loop)
{
	const json_t *part = loop->header ? find_part(a, loop->header) : NULL;
	const uint64_t from = (uint64_t)json_number_at(a->function, "address");
	const double line = json_number_at(part, "line"), last = json_number_at(part, "lastLine");
	const double turns = json_number_at(part, "turns"), entries = json_number_at(part, "entries");
	char *text = loop->header ? rot_format("loop at +0x%llx", (unsigned long long)(loop->header - from))
				  : rot_strdup(a->nr_loops > 1 ? "in no loop" : "all of it");

	if (line > 0)
		rot_append(&text, last > line ? ", %s:%.0f-%.0f" : ", %s:%.0f", json_text_at(part, "source"), line,
			   last);
	if (*json_text_at(part, "inlined"))
		rot_append(&text, ", inlined %s", json_text_at(part, "inlined"));
	if (loop->samples > 0)
		rot_append(&text, ": %s of the time", share_text(a, loop->samples));
	if (turns > 0)
		rot_append(&text, "%s %.0f turn%s", loop->samples > 0 ? "," : ":", turns, rot_plural(turns));
	if (turns > 0 && entries > 0)
		rot_append(&text, ", entered %.0f time%s", entries, rot_plural(entries));
	return pool_own(a->pool, text, free);
}

static void
add_about(struct annotation *a)
{
	struct texts *about = &a->code->about;
	autofree char *name = function_title(a->function, 0);
	bool has_modelled = false;
	autofree char *title = rot_format("%s, %s", name, function_file(a->function));

	if (a->samples > 0)
		rot_append(&title, ": %s of the CPU time, %.0f samples", share_text(a, a->samples), a->samples);
	texts_add(a->pool, about, title);
	if (a->samples > 0)
		texts_add(a->pool, about, "time: in % of all; a sample may be of the instruction behind the slow one");
	if (a->is_counted)
		texts_add(a->pool, about, "behind executed: operations and bytes of one execution");
	for (size_t i = FIRST_MODELLED; i < NR_ALL_COLUMNS; i++)
		has_modelled |= a->has[i];
	if (has_modelled)
		texts_add(a->pool, about, "L2 to DRAM: modelled bytes, of all accesses up to the next value or jump");
}

/* A source file that changed after the program was made may have other lines than what ran. */
static void
add_doubts(struct annotation *a)
{
	autofree char *missing = rot_strdup("source not found: "), *newer = rot_strdup("newer than the program: ");
	const size_t nr_missing = strlen(missing), nr_newer = strlen(newer);
	struct stat object, source;

	if (a->options->has_no_source || stat(json_text_at(a->function, "object"), &object) < 0)
		return;
	for (size_t i = 0; i < a->nr; i++) {
		const char *path = a->items[i].instruction->path;
		const bool is_there = stat(path, &source) == 0;

		if (!*path || strstr(missing, path) || strstr(newer, path))
			continue;
		if (!is_there)
			rot_append(&missing, "%s%s", missing[nr_missing] ? ", " : "", path);
		else if (source.st_mtim.tv_sec > object.st_mtim.tv_sec)
			rot_append(&newer, "%s%s", newer[nr_newer] ? ", " : "", path);
	}
	if (missing[nr_missing])
		texts_add(a->pool, &a->code->about, missing);
	if (newer[nr_newer])
		texts_add(a->pool, &a->code->about, newer);
}

int
annotated_code_make(struct pool *pool, struct annotated_code *code, const struct rot *rot, const json_t *result,
		    const json_t *function, const struct annotated_options *options, struct rot_error *err)
{
	struct annotation a = {.pool = pool, .options = options, .result = result, .function = function, .code = code};
	autograph struct code_listing *listing = list_code(rot, function, err);

	*code = (struct annotated_code){.nr_loops = 0};
	if (!listing)
		return -1;
	take(&a, listing);
	choose_columns(&a);
	add_about(&a);
	add_doubts(&a);
	code->nr_loops = a.nr_loops;
	code->loops = pool_calloc(pool, a.nr_loops + 1, sizeof(*code->loops));
	for (size_t i = 0; i < a.nr_loops; i++) {
		code->loops[i].header = a.loops[i].header;
		code->loops[i].title = loop_title(&a, &a.loops[i]);
		add_lines(&a, a.loops[i].header, &code->loops[i]);
	}
	return 0;
}
