/* SPDX-License-Identifier: MIT */
/* All of a validation: the groups, then the formulas in them. */
#include "validation/validation.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "rot.h"

static const char *const controllers[] = {"known-operations", "known-traffic"};

/* Some seconds, and a minute. */
static const struct known_work_options quick = {
	.controllers = controllers,
	.nr_controllers = sizeof(controllers) / sizeof(*controllers),
	.nr_rounds = 1,
	.nr_runs = 5,
	.largest_bytes = 8388608,
	.most_points = 9,
};
static const struct known_work_options full = {
	.controllers = controllers,
	.nr_controllers = sizeof(controllers) / sizeof(*controllers),
	.nr_rounds = 3,
	.nr_runs = 5,
	.largest_bytes = INFINITY,
	.most_points = SIZE_MAX,
};

int
validation_run(struct rot *rot, const struct validation_options *options, struct validation *validation,
	       struct rot_error *err)
{
	struct architecture *architecture = rot->architecture;
	const int scrub_count = architecture->scrub_count;
	int rc;

	*validation = (struct validation){.options = *options};
	if (architecture->why_not.text[0]) {
		rot_error_set(err, 0, "there is nothing to validate: %s", architecture->why_not.text);
		return rot_error_hint(err, "%s", architecture->why_not.hint);
	}
	if (shapes_find(rot, &validation->shapes, err) < 0)
		return -1;
	if (options->without_scrub)
		architecture->scrub_count = 0;
	rc = known_work_measure(rot, options->is_quick ? &quick : &full, &validation->work, err);
	architecture->scrub_count = scrub_count;
	return rc;
}

void
validation_clear(struct validation *validation)
{
	shapes_clear(&validation->shapes);
	known_work_clear(&validation->work);
}

bool
validation_passes(const struct rot *rot, const struct validation *validation)
{
	for (size_t i = 0; i < rot->architecture->nr_formulas; i++) {
		if (known_work_grade(&validation->work, &rot->architecture->formulas[i]) == 'F')
			return false;
	}
	return shapes_first_wrong(&validation->shapes) == NULL;
}

void
validation_ensure(struct rot *rot)
{
	const struct validation_options options = {.is_quick = true};
	struct rot_error why = {0};
	struct validation validation;
	int rc;

	if (rot->architecture->why_not.text[0] || rot->is_cached_only || validation_recall(rot) ||
	    strcmp(configuration_string(rot->configuration, "validate"), "auto") != 0)
		return;
	rot_note("the events of this machine are validated first, once");
	rc = validation_run(rot, &options, &validation, &why);
	if (rc == 0)
		rc = validation_store(rot, &validation, &why);
	if (rc < 0 && !rot_interrupted())
		rot_warning("the events are not validated: %s", why.text);
	else if (rc == 0 && !validation_passes(rot, &validation))
		rot_warning("some events do not count here what they should: rot validate");
	validation_clear(&validation);
}
