/* SPDX-License-Identifier: MIT */
/* Bytes of modelled caches beside those that the processor's events count in the run that is timed. */
#pragma once

#include "programs/plan.h"
#include "programs/report.h"
#include "programs/values.h"

/* Zeroed: nothing is compared. Both plans have the same requests: bytes of borders. */
struct program_comparison {
	const struct architecture *events, *blocks; /* borrowed */
	struct program_plan counted, modelled;
	struct program_values values; /* of what is counted */
};

/* Chooses what one pass of events counts, out of all that blocks models. events may be NULL. Clear it afterwards. */
void program_comparison_choose(struct program_comparison *comparison, const struct architecture *events,
			       const struct architecture *blocks);

/* The pass that counts it, or NULL. */
const struct pass *program_comparison_pass(const struct program_comparison *comparison);

/* Takes what was counted from the output of the timed runs, all of which made that pass and no other. */
int program_comparison_count(struct program_comparison *comparison, const struct program_command_output *output,
			     struct rot_error *err);

/* Notes both values of each border, and their ratio. output: with the whole run that was counted by blocks. */
int program_comparison_note(const struct program_comparison *comparison, const struct program_command_output *output,
			    struct program_report *report, struct rot_error *err);
void program_comparison_clear(struct program_comparison *comparison);
