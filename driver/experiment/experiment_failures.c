/* SPDX-License-Identifier: MIT */
/* Points that could not be measured: what is said of them where the others are shown. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/experiment_internal.h"
#include "memory.h"
#include "support/entry.h"
#include "support/json.h"
#include "support/point_title.h"

/* So many points are named for one reason, and in a caption. */
#define MOST_NAMED 6

void
experiment_add_failure(struct experiment *experiment, const struct experiment_position *position,
		       const struct rot_error *why)
{
	experiment->failures =
		rot_realloc(experiment->failures, experiment->nr_failures + 1, sizeof(*experiment->failures));
	experiment->failures[experiment->nr_failures++] = (struct experiment_failure){
		.point = experiment_point_at(position),
		.text = rot_strdup(why->text),
		.hint = rot_strdup(why->hint),
	};
}

size_t
experiment_nr_failures(const struct experiment *experiment)
{
	return experiment->nr_failures;
}

void
experiment_failure_clear(struct experiment_failure *failure)
{
	experiment_point_clear(&failure->point);
	free(failure->text);
	free(failure->hint);
}

static char *
name_of(const struct experiment_failure *failure)
{
	const struct experiment_point *point = &failure->point;

	return point_title(point->series, " ", point->label);
}

/* The number of the first failure for the same reason as failure i: i if there is none before it. */
static size_t
first_of_reason(const struct experiment *experiment, size_t i)
{
	const struct experiment_failure *failures = experiment->failures;

	for (size_t k = 0; k < i; k++)
		if (strcmp(failures[k].text, failures[i].text) == 0 && strcmp(failures[k].hint, failures[i].hint) == 0)
			return k;
	return i;
}

bool
experiment_last_failure_repeats(const struct experiment *experiment)
{
	return experiment->nr_failures > 0 &&
	       first_of_reason(experiment, experiment->nr_failures - 1) != experiment->nr_failures - 1;
}

/* A reason once, behind the points that it concerns. */
static void
print_reasons(const struct experiment *experiment, FILE *out)
{
	if (experiment->nr_failures)
		fprintf(out, "Not complete: %zu of %zu points could not be measured:\n", experiment->nr_failures,
			experiment->nr_failures + experiment->nr_points);
	for (size_t i = 0; i < experiment->nr_failures; i++) {
		const char *text = experiment->failures[i].text;
		const size_t length = strcspn(text, "\n");
		size_t nr = 0;

		if (first_of_reason(experiment, i) != i)
			continue;
		for (size_t k = i; k < experiment->nr_failures; k++) {
			char *name;

			if (first_of_reason(experiment, k) != i || ++nr > MOST_NAMED)
				continue;
			name = name_of(&experiment->failures[k]);
			fprintf(out, "%s%s", nr == 1 ? "  " : ", ", name);
			free(name);
		}
		if (nr > MOST_NAMED)
			fprintf(out, " and %zu more", nr - MOST_NAMED);
		/* What follows on the next lines has been told. */
		fprintf(out, ": %.*s\n", (int)(length && text[length - 1] == ':' ? length - 1 : length), text);
	}
}

void
experiment_print_failures(const struct experiment *experiment, FILE *out)
{
	char *text = NULL;
	size_t length;
	FILE *reasons = open_memstream(&text, &length);

	if (!reasons)
		return;
	print_reasons(experiment, reasons);
	fclose(reasons);
	text_print_fitting(text, out);
	free(text);
}

json_t *
experiment_json_failures(const struct experiment *experiment)
{
	json_t *json = json_array();

	for (size_t i = 0; i < experiment->nr_failures; i++) {
		const struct experiment_failure *failure = &experiment->failures[i];

		json_array_append_new(json,
				      json_pack("{s:o, s:o, s:o, s:o, s:o}", "series", json_text(failure->point.series),
						"label", json_text(failure->point.label), "coordinates",
						experiment_json_coordinates(&failure->point), "error",
						json_text(failure->text), "hint", json_text(failure->hint)));
	}
	return json;
}

/* What the condition is of may be no expression, which the plot itself tells. */
static bool
would_show(const char *condition, const struct experiment_failure *failure)
{
	struct rot_error ignored = {0};
	bool shows;

	return experiment_shows(condition, &failure->point, &shows, &ignored) < 0 || shows;
}

char *
experiment_failures_text(const struct experiment *experiment, const char *condition)
{
	char *text = rot_strdup(""), *longer;
	size_t nr = 0;

	for (size_t i = 0; i < experiment->nr_failures; i++) {
		char *name;

		if (!would_show(condition, &experiment->failures[i]) || ++nr > MOST_NAMED)
			continue;
		name = name_of(&experiment->failures[i]);
		longer = rot_format("%s%s%s", text, nr > 1 ? ", " : "could not be measured: ", name);
		free(text);
		free(name);
		text = longer;
	}
	if (nr <= MOST_NAMED)
		return text;
	longer = rot_format("%s and %zu more", text, nr - MOST_NAMED);
	free(text);
	return longer;
}

int
experiment_tell_failures(const struct experiment *experiment, struct rot_error *err)
{
	char *name;

	if (experiment->nr_failures == 0)
		return 0;
	name = name_of(&experiment->failures[0]);
	rot_error_set(err, 0, "%zu of %zu points could not be measured, the others are in '%s.json'; the first is %s",
		      experiment->nr_failures, experiment->nr_failures + experiment->nr_points, experiment->output_name,
		      name);
	free(name);
	return rot_error_hint(err, "why is said above and in the file (failures); -stopOnError=true ends at the first");
}
