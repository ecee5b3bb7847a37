/* SPDX-License-Identifier: MIT */
/* See counting_warnings.h. */
#include "quantities/counting_warnings.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_rows.h"
#include "memory.h"
#include "quantities/pass.h"
#include "rot.h"

/* Of the first workload that is no load. */
static const char *
first_kernel_name(const struct measurement *measurement)
{
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);

		if (!workload_is_load(workload))
			return kernel_class_name(workload->kernel);
	}
	return "";
}

/* ---- steps ---- */

/* As the key says it. */
static const char *
counting_in_use(const struct architecture *architecture)
{
	return architecture->stepping.is_unasked ? "auto" : "steps";
}

bool
counting_note_said(struct architecture *architecture, enum step_obstacle obstacle)
{
	const unsigned bit = 1U << obstacle;
	const bool was_said = architecture->warned_steps & bit;

	architecture->warned_steps |= bit;
	return was_said;
}

void
counting_warn_of_obstacle(struct architecture *architecture, const struct measurement *measurement,
			  enum step_obstacle obstacle, double steps)
{
	char *expected;

	if (obstacle == STEPS_CAN || architecture->stepping.is_unasked || counting_note_said(architecture, obstacle))
		return;
	expected = obstacle == STEPS_TOO_MANY
			   ? rot_format(" (some %.2g of %g)", steps, (double)architecture->stepping.limit)
			   : rot_strdup("");
	rot_warning("counting=%s: kernel '%s': %s%s; what is not counted comes from the kernels' definitions and is "
		    "labelled \"expected\"\n     %s",
		    counting_in_use(architecture), first_kernel_name(measurement), step_obstacle_text(obstacle),
		    expected, step_obstacle_hint(obstacle));
	free(expected);
}

void
counting_warn_of_refusal(const struct architecture *architecture, const struct measurement *measurement,
			 const struct rot_error *why)
{
	(architecture->stepping.is_unasked ? rot_note : rot_warning)(
		"counting=%s: kernel '%s': %s; what is not counted comes from the kernels' definitions "
		"and is labelled \"expected\"\n     %s",
		counting_in_use(architecture), first_kernel_name(measurement), why->text, why->hint);
}

/* ---- events ---- */

static bool
is_expected(const struct quantity_part *part)
{
	return part->kind && strcmp(part->kind, "expected") == 0;
}

/* Where nobody asked for steps. */
static bool
is_counted_unasked(const struct architecture *architecture, const struct quantity_part *part)
{
	return architecture->stepping.is_unasked && part->formula;
}

static bool
needs_word(const struct architecture *architecture, const struct quantity_part *part)
{
	return is_expected(part) || is_counted_unasked(architecture, part);
}

void
counting_warn_of_expectations(struct architecture *architecture, const struct quantity_resolution *resolutions,
			      size_t nr)
{
	bool is_used = false;
	char *advice;

	for (size_t i = 0; i < nr; i++)
		is_used |= needs_word(architecture, &resolutions[i].numerator) ||
			   needs_word(architecture, &resolutions[i].denominator);
	if (!is_used || architecture->has_warned ||
	    (!architecture->why_not.text[0] && !architecture_is_generic(architecture)))
		return;
	architecture->has_warned = true;
	if (!architecture->why_not.text[0]) {
		rot_note("no file describes this processor: generic events of the kernel are counted, and what they do "
			 "not tell comes from the kernels' definitions and is labelled \"expected\"\n     %s",
			 STEPS_ADVICE_BESIDE_EVENTS);
		return;
	}
	if (architecture->stepping.is_unasked) {
		rot_note("no hardware counters: code is counted block by block (see 'rot doctor')");
		return;
	}
	advice = architecture_advice(architecture, true);
	rot_warning("%s; what cannot be counted comes from the kernels' definitions and is labelled \"expected\"%s%s",
		    architecture->why_not.text, advice[0] ? "\n     " : "", advice);
	free(advice);
}
