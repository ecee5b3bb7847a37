/* SPDX-License-Identifier: MIT */
/* All of a validation: the groups, then the formulas in them. */
#include "validation/validation.h"

#include <string.h>

#include "configuration/configuration.h"
#include "memory.h"
#include "rot.h"
#include "validation/diagnosis.h"

static const struct work_source sources[] = {
	{"known-operations", false},
	{"known-traffic", false},
	{"known-time", false},
	{"near-traffic", true},
};

/*
 * A minute, and some seconds. That is of the kernels alone: how long finding the groups took, a second or two, and
 * building the kernels, which is done once, must not change what is measured.
 */
static const struct known_work_options full = {
	.sources = sources,
	.nr_sources = sizeof(sources) / sizeof(*sources),
	.nr_rounds = 3,
	.nr_runs = 5,
	.seconds = 52,
};
static const struct known_work_options quick = {
	.sources = sources,
	.nr_sources = sizeof(sources) / sizeof(*sources),
	.nr_rounds = 1,
	.nr_runs = 5,
	.seconds = 3.5,
};

static int
measure_work(struct rot *rot, struct validation *validation, struct rot_error *err)
{
	struct known_work_options options = validation->options.is_quick ? quick : full;
	struct architecture *architecture = rot->architecture;
	const int scrub_count = architecture->scrub_count;
	int rc;

	if (validation->options.seconds > 0)
		options.seconds = validation->options.seconds;
	if (validation->options.without_scrub)
		architecture->scrub_count = 0;
	rc = known_work_measure(rot, &options, &validation->work, err);
	architecture->scrub_count = scrub_count;
	return rc;
}

int
validation_run(struct rot *rot, const struct validation_options *options, struct validation *validation,
	       struct rot_error *err)
{
	*validation = (struct validation){.options = *options, .why_not = rot->architecture->why_not};
	if (rot->architecture->counts_by_steps) {
		rot_error_set(err, 0, "only hardware events are validated, and with counting=%s there are none",
			      rot->architecture->by_blocks ? "blocks" : "steps");
		return rot_error_hint(err, "use -counting=events");
	}
	if (!validation->why_not.text[0]) {
		if (shapes_find(rot, &validation->shapes, err) < 0)
			return -1;
		shapes_prove(&validation->shapes, rot->architecture);
	}
	return measure_work(rot, validation, err);
}

void
validation_clear(struct validation *validation)
{
	shapes_clear(&validation->shapes);
	known_work_clear(&validation->work);
}

/* Is the quantity also counted by a formula, which is what is used then? */
static bool
is_also_counted(const struct known_work *work, const struct candidate *candidate)
{
	for (size_t i = 0; i < work->nr_candidates; i++) {
		const struct candidate *other = &work->candidates[i];

		if (other->formula && strcmp(other->quantity, candidate->quantity) == 0 &&
		    strcmp(other->of, candidate->of) == 0)
			return true;
	}
	return false;
}

/* Does anything rest on it? */
static bool
is_used(const struct known_work *work, const struct candidate *candidate)
{
	return candidate->formula || !is_also_counted(work, candidate);
}

bool
validation_fails(const struct validation *validation, const struct candidate *candidate)
{
	return known_work_grade(&validation->work, candidate) == 'F' && is_used(&validation->work, candidate);
}

bool
validation_shows_nothing(const struct validation *validation, const struct candidate *candidate)
{
	return known_work_nr_disturbed(&validation->work, candidate) > 0 && is_used(&validation->work, candidate);
}

enum validation_verdict
validation_verdict(const struct validation *validation)
{
	bool shows_all = true;

	for (size_t i = 0; i < validation->work.nr_candidates; i++) {
		const struct candidate *candidate = &validation->work.candidates[i];

		if (validation_fails(validation, candidate))
			return VALIDATION_FAILS;
		shows_all = shows_all && !validation_shows_nothing(validation, candidate);
	}
	if (shapes_first_wrong(&validation->shapes))
		return VALIDATION_FAILS;
	return shows_all ? VALIDATION_PASSES : VALIDATION_NOT_SHOWN;
}

char *
validation_reason(const struct rot *rot, const struct validation *validation, const struct candidate *candidate)
{
	const struct diagnosis_context context = {
		.work = &validation->work,
		.shapes = &validation->shapes,
		.is_scrubbed = rot->architecture->scrub_count > 0 && !validation->options.without_scrub,
	};

	if (known_work_grade(&validation->work, candidate) != 'F')
		return rot_strdup("");
	return diagnosis_of(&context, candidate);
}

void
validation_ensure(struct rot *rot)
{
	const struct validation_options options = {.is_quick = true};
	struct rot_error why = {0};
	struct validation validation;
	int rc;

	if (rot->architecture->why_not.text[0] || rot->architecture->counts_by_steps || rot->is_cached_only ||
	    !validation_is_due(rot) || strcmp(configuration_string(rot->configuration, "validate"), "auto") != 0)
		return;
	rot_note("the events of this machine are validated first%s",
		 validation_recall(rot) ? ", again: of some nothing was shown so far" : ", once");
	rc = validation_run(rot, &options, &validation, &why);
	if (rc == 0)
		rc = validation_store(rot, &validation, &why);
	if (rc < 0 && !rot_interrupted())
		rot_warning("the events are not validated: %s", why.text);
	else if (rc == 0 && validation_verdict(&validation) == VALIDATION_FAILS)
		rot_warning("some events do not count here what they should: rot validate");
	else if (rc == 0 && validation_verdict(&validation) == VALIDATION_NOT_SHOWN)
		rot_warning("nothing is shown of some events, since all their runs were disturbed: rot validate, when "
			    "nothing else runs");
	validation_clear(&validation);
}
