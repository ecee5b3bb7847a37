/* SPDX-License-Identifier: MIT */
#include "programs/comparison.h"

#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "quantities/value_text.h"

static void
clear_plans(struct program_comparison *comparison)
{
	program_plan_clear(&comparison->counted);
	program_plan_clear(&comparison->modelled);
}

static bool
make_plans(struct program_comparison *comparison, const struct quantity_request *requests, size_t nr)
{
	clear_plans(comparison);
	return program_plan_of(&comparison->counted, comparison->events, requests, nr, "auto", NULL) == 0 &&
	       program_plan_of(&comparison->modelled, comparison->blocks, requests, nr, "auto", NULL) == 0 &&
	       comparison->counted.passes.nr_passes == 1;
}

/* The memory first. Of a border both directions, or else what is read. */
void
program_comparison_choose(struct program_comparison *comparison, const struct architecture *events,
			  const struct architecture *blocks)
{
	static const char *const borders[][2] = {
		{"llcRam", "llcRam.read"}, {"l2l3", "l2l3.read"}, {"l1l2", "l1l2.read"}};
	enum { NR_BORDERS = sizeof(borders) / sizeof(borders[0]) };
	struct quantity_request requests[NR_BORDERS] = {0};
	size_t nr = 0;

	*comparison = (struct program_comparison){.events = events, .blocks = blocks};
	for (size_t i = 0; events && i < NR_BORDERS; i++) {
		const size_t nr_before = nr;

		for (size_t k = 0; nr == nr_before && k < 2; k++) {
			requests[nr] = (struct quantity_request){.name = "transferredBytes", .border = borders[i][k]};
			nr += make_plans(comparison, requests, nr + 1);
		}
	}
	if (nr == 0 || !make_plans(comparison, requests, nr))
		clear_plans(comparison);
}

int
program_comparison_note(const struct program_comparison *comparison, const struct program_command_output *output,
			struct program_report *report, struct rot_error *err)
{
	const struct program_values *counted = &comparison->values;
	struct program_values modelled = {0};
	autofree char *text = NULL;
	size_t length = 0;
	FILE *out;
	int rc;

	if (counted->nr == 0)
		return 0;
	rc = program_values_total(&modelled, &comparison->modelled, comparison->blocks, output, err);
	out = open_memstream(&text, &length);
	for (size_t i = 0; rc == 0 && i < counted->nr; i++) {
		const double model = modelled.values[i].summary.value, events = counted->values[i].summary.value;
		autofree char *of = value_of_words(&counted->values[i]);

		if (model > 0 && events > 0)
			fprintf(out, "%s %s: %.3g and %.3g bytes (%.3g times as many)", ftell(out) > 0 ? ";" : "", of,
				model, events, model / events);
	}
	fclose(out);
	if (length > 0)
		program_report_note(report, "modelled caches beside the processor's events in the timed run:%s", text);
	program_values_clear(&modelled);
	return rc;
}

void
program_comparison_clear(struct program_comparison *comparison)
{
	clear_plans(comparison);
	program_values_clear(&comparison->values);
}
