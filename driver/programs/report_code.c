/* SPDX-License-Identifier: MIT */
/* What the instructions of a function did, as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "memory.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/pass.h"

/* Before the counts of an instruction: offset, samples, executions. */
#define NR_BEFORE 3

/* counts: of the run that was translated, borrowed; NULL: the instruction was not executed there. */
struct code_row {
	uint64_t offset, samples, executions;
	const uint64_t *counts;
};

/* hash: of the code; NULL: none of its instructions is known. */
struct code_rows {
	struct code_row *rows;
	size_t nr;
	const char *hash;
	bool are_of_others; /* the file had other code there in another run */
};

static int
compare_rows(const void *a, const void *b)
{
	const uint64_t left = ((const struct code_row *)a)->offset, right = ((const struct code_row *)b)->offset;

	return (left > right) - (left < right);
}

static void
add_rows(struct code_rows *code, const struct program_place *place)
{
	const uint64_t *numbers = place->instructions.items;
	const size_t width = NR_BEFORE + place->counts.nr;

	if (!*place->code_hash)
		return;
	code->are_of_others |= code->hash && strcmp(code->hash, place->code_hash) != 0;
	code->hash = place->code_hash;
	for (size_t i = 0; i + width <= place->instructions.nr; i += width, numbers += width) {
		code->rows = rot_grow(code->rows, code->nr, sizeof(*code->rows));
		code->rows[code->nr++] = (struct code_row){numbers[0], numbers[1], numbers[2],
							   width > NR_BEFORE ? numbers + NR_BEFORE : NULL};
	}
}

/* Of the same instruction there is one row in each run: only one run has executions and counts. */
static void
merge_rows(struct code_rows *code)
{
	size_t nr = 0;

	if (code->nr > 0)
		qsort(code->rows, code->nr, sizeof(*code->rows), compare_rows);
	for (size_t i = 0; i < code->nr; i++) {
		const struct code_row from = code->rows[i];

		if (nr == 0 || code->rows[nr - 1].offset != from.offset) {
			code->rows[nr++] = from;
			continue;
		}
		code->rows[nr - 1].samples += from.samples;
		code->rows[nr - 1].executions += from.executions;
		code->rows[nr - 1].counts = from.counts ? from.counts : code->rows[nr - 1].counts;
	}
	code->nr = nr;
}

static struct code_rows
rows_of(const struct program_command_output *output, const struct program_place *function)
{
	struct code_rows code = {.nr = 0};

	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_profile *profile = program_command_output_outputs_at(output, i)->profile;

		for (size_t k = 0; profile && k < program_profile_nr_places(profile); k++) {
			const struct program_place *place = program_profile_places_at(profile, k);

			if (place->address == function->address && strcmp(place->object, function->object) == 0)
				add_rows(&code, place);
		}
	}
	merge_rows(&code);
	return code;
}

static bool
has_event(const struct code_rows *code, size_t event)
{
	for (size_t i = 0; i < code->nr; i++)
		if (code->rows[i].counts && code->rows[i].counts[event] > 0)
			return true;
	return false;
}

/* Events that no instruction of the function has are left out. */
static json_t *
json_of_rows(const struct program_report *report, const struct code_rows *code)
{
	const struct pass *pass = report->places.counted;
	const size_t nr_events = pass ? pass->nr_events : 0;
	json_t *events = json_array(), *rows = json_array();
	autofree bool *is_there = rot_calloc(nr_events + 1, sizeof(*is_there));

	for (size_t k = 0; k < nr_events; k++) {
		is_there[k] = has_event(code, k);
		if (is_there[k])
			json_array_append_new(events, json_text(report->architecture->events[pass->events[k]].name));
	}
	for (size_t i = 0; i < code->nr; i++) {
		const struct code_row *row = &code->rows[i];
		autofree char *text = rot_format("%llu %llu %llu", (unsigned long long)row->offset,
						 (unsigned long long)row->samples, (unsigned long long)row->executions);

		for (size_t k = 0; k < nr_events; k++)
			if (is_there[k])
				rot_append(&text, " %llu", (unsigned long long)(row->counts ? row->counts[k] : 0));
		json_array_append_new(rows, json_string(text));
	}
	return json_pack("{s:s, s:o, s:o}", "hash", code->hash, "events", events, "instructions", rows);
}

/* Functions with less are told as a whole. */
#define LEAST_SHARE 0.01
#define MOST_TIMED 10

/* Of all code that was translated. Its events are in the order of the pass. */
static double
share_of_instructions(const struct program_report *report, size_t i)
{
	const struct place_list *list = &report->places.lists[PLACES_FUNCTIONS];
	const struct pass *pass = report->places.counted;
	double all = 0;
	size_t event = 0;

	while (pass && event < pass->nr_events &&
	       strcmp(report->architecture->events[pass->events[event]].name, "instructions") != 0)
		event++;
	if (!pass || event == pass->nr_events || !list->items[i].counts)
		return 0;
	for (size_t k = 0; k < list->nr; k++)
		all += list->items[k].counts ? (double)list->items[k].counts[event] : 0;
	return (double)list->items[i].counts[event] / all;
}

json_t *
report_code_json(const struct program_report *report, size_t i)
{
	const struct place_share *item = &report->places.lists[PLACES_FUNCTIONS].items[i];
	const bool is_hot = (i < MOST_TIMED && item->nr_samples > 0) || item->share.value >= LEAST_SHARE;
	struct code_rows code;
	json_t *json = NULL;

	if (!is_hot && share_of_instructions(report, i) < LEAST_SHARE)
		return NULL;
	code = rows_of(report->output, item->place);
	if (code.hash && !code.are_of_others)
		json = json_of_rows(report, &code);
	free(code.rows);
	return json;
}
