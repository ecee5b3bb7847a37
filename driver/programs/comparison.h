/* SPDX-License-Identifier: MIT */
/* Bytes of modelled caches beside those that the processor's events count in the run that is timed. */
#pragma once

#include "programs/plan.h"
#include "programs/report.h"
#include "programs/values.h"

/* Zeroed: nothing is compared. Both plans have the same requests: bytes of borders. */
struct program_comparison {
	const struct architecture *events, *blocks; /* borrowed */
	struct program_plan counted;                /* one pass, which the timed runs make */
	struct program_plan modelled;
	struct program_values values; /* of what was counted in these runs */
};

/* Chooses what one pass of events counts, out of all that blocks models. events may be NULL. Clear it afterwards. */
void program_comparison_choose(struct program_comparison *comparison, const struct architecture *events,
			       const struct architecture *blocks);

/* Notes both values of each border, and their ratio. output: with the whole run that was counted by blocks. */
int program_comparison_note(const struct program_comparison *comparison, const struct program_command_output *output,
			    struct program_report *report, struct rot_error *err);
void program_comparison_clear(struct program_comparison *comparison);
