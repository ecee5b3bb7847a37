/* SPDX-License-Identifier: MIT */
/* Which two quantities of stored results are drawn: those that all files have. */
#include "stored/stored_plot_axes.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "support/json.h"

struct search {
	const struct stored_result *results;
	size_t nr;
	const char *x, *y; /* what was asked for, or NULL */
	struct stored_axes *axes;
	bool is_mixed; /* of any floating-point operations */
};

/* In a plot of several, the widest that a point has stands for it. */
static const char *const flop_words[] = {"flop", "doublePrecisionFlop", "singlePrecisionFlop"};

#define NR_FLOP_WORDS (sizeof(flop_words) / sizeof(*flop_words))

/* Of a point: the value asked for (a request without clock takes any), as JSON. */
static const json_t *
point_value(const json_t *point, const struct quantity_request *request)
{
	const json_t *quantities = json_object_get(point, "quantities"), *found = NULL;

	for (size_t i = 0; !found && i < json_array_size(quantities); i++) {
		const json_t *json = json_array_get(quantities, i);
		struct quantity_value value;

		if (stored_value(json, &value) == 0 && quantity_same_word(value.request.name, request->name) &&
		    quantity_same_word(value.request.operation, request->operation) &&
		    quantity_same_word(value.request.border, request->border) &&
		    (!request->clock || quantity_same_word(value.request.clock, request->clock)))
			found = json;
		quantity_value_clear(&value);
	}
	return found;
}

bool
stored_axes_values(const struct stored_axes *axes, const json_t *point, const json_t *values[2])
{
	for (size_t i = 0; i < (axes->is_mixed ? NR_FLOP_WORDS : 1); i++) {
		struct quantity_request x = axes->x, y = axes->y;

		if (axes->is_mixed)
			x.operation = y.operation = flop_words[i];
		values[0] = point_value(point, &x);
		values[1] = point_value(point, &y);
		if (values[0] && values[1] && strcmp(json_text_at(values[1], "unit"), axes->unit) == 0)
			return true;
	}
	return false;
}

/* The first point with both values; NULL: there is none. */
static const json_t *
first_point(const struct stored_axes *axes, const struct stored_result *result, const json_t *values[2])
{
	const json_t *points = stored_result_points(result);

	for (size_t i = 0; i < json_array_size(points); i++)
		if (stored_axes_values(axes, json_array_get(points, i), values))
			return json_array_get(points, i);
	return NULL;
}

static bool
has_axes(const struct stored_result *result, const struct stored_axes *axes)
{
	const json_t *values[2];

	return first_point(axes, result, values) != NULL;
}

char *
stored_axes_precision(const struct stored_axes *axes, const struct stored_result *result)
{
	const json_t *values[2];
	struct quantity_value value;
	char *words = rot_strdup("");

	if (first_point(axes, result, values) && stored_value(values[1], &value) == 0) {
		free(words);
		words = value_of_words(&value);
		quantity_value_clear(&value);
	}
	return words;
}

/* Is that what was asked for, if anything was? */
static bool
is_wanted(const char *asked, const struct quantity_request *request)
{
	struct quantity_request wanted = {0};

	if (!asked)
		return true;
	quantity_parse(&wanted, asked, NULL);
	return quantity_same_word(wanted.name, request->name) &&
	       quantity_same_word(wanted.operation, request->operation) &&
	       quantity_same_word(wanted.border, request->border) &&
	       (!wanted.clock || quantity_same_word(wanted.clock, request->clock));
}

/* The y that goes with x in that point. */
static bool
find_y(const struct search *search, const json_t *point, struct stored_axes *axes)
{
	const json_t *quantities = json_object_get(point, "quantities");
	bool is_found = false;

	for (size_t i = 0; !is_found && i < json_array_size(quantities); i++) {
		const json_t *json = json_array_get(quantities, i);
		struct quantity_value value;

		if (stored_value(json, &value) == 0 && strcmp(value.request.name, "performance") == 0 &&
		    quantity_same_word(value.request.operation, axes->x.operation) &&
		    is_wanted(search->y, &value.request)) {
			axes->y = value.request;
			axes->unit = json_text_at(json, "unit");
			is_found = true;
		}
		quantity_value_clear(&value);
	}
	return is_found;
}

static bool
all_have(const struct search *search, const struct stored_axes *axes)
{
	for (size_t i = 1; i < search->nr; i++)
		if (!has_axes(&search->results[i], axes))
			return false;
	return true;
}

/* Makes the axes those of any floating-point operations, if x and y are of such. */
static void
mix(const struct search *search, struct stored_axes *axes)
{
	for (size_t i = 0; search->is_mixed && !axes->is_mixed && i < NR_FLOP_WORDS; i++)
		if (quantity_same_word(axes->x.operation, flop_words[i])) {
			axes->x.operation = axes->y.operation = flop_words[0];
			axes->is_mixed = true;
		}
}

/* The first pair of that point that all files have; else *first gets the first pair, if there was none before. */
static bool
choose_of_point(struct search *search, const json_t *point, struct stored_axes *first)
{
	const json_t *quantities = json_object_get(point, "quantities");
	bool is_found = false;

	for (size_t i = 0; !is_found && i < json_array_size(quantities); i++) {
		struct stored_axes axes = {.unit = ""};
		struct quantity_value value;

		if (stored_value(json_array_get(quantities, i), &value) == 0 &&
		    strcmp(value.request.name, "operationalIntensity") == 0 && is_wanted(search->x, &value.request)) {
			axes.x = value.request;
			if (find_y(search, point, &axes)) {
				mix(search, &axes);
				is_found = all_have(search, &axes);
				if (is_found)
					*search->axes = axes;
				else if (!first->unit)
					*first = axes;
			}
		}
		quantity_value_clear(&value);
	}
	return is_found;
}

/* "time, performance:flop, ...": of what points of a file have a value. Fresh memory. */
static char *
all_words(const struct stored_result *result)
{
	const json_t *points = stored_result_points(result);
	char *all = rot_strdup("");

	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *quantities = json_object_get(json_array_get(points, i), "quantities");

		for (size_t k = 0; k < json_array_size(quantities); k++) {
			const json_t *quantity = json_array_get(quantities, k);
			char *words = stored_value_words(quantity), *longer;
			struct quantity_value value;

			if (stored_value(quantity, &value) == 0 && !strstr(all, words)) {
				longer = rot_format("%s%s%s", all, *all ? ", " : "", words);
				free(all);
				all = longer;
			}
			quantity_value_clear(&value);
			free(words);
		}
	}
	return all;
}

static int
refuse(const struct stored_result *result, const char *what, struct rot_error *err)
{
	char *words = all_words(result);

	rot_error_set(err, 0, "'%s' has no point with %s; it has: %s", result->path, what, *words ? words : "nothing");
	rot_error_hint(err, "-x and -y choose other quantities; counting operations and bytes needs hardware counters, "
			    "see rot doctor");
	free(words);
	return -1;
}

static int
refuse_axes(const struct search *search, const struct stored_axes *first, struct rot_error *err)
{
	const char *x = search->x ? search->x : "an operationalIntensity",
		   *y = search->y ? search->y : "a performance of the same operation";
	char *what, *x_text, *y_text;
	size_t i = 1;

	if (!first->unit) {
		what = rot_format("%s and %s", x, y);
		refuse(&search->results[0], what, err);
		free(what);
		return -1;
	}
	while (i + 1 < search->nr && has_axes(&search->results[i], first))
		i++;
	x_text = quantity_request_text(&first->x);
	y_text = quantity_request_text(&first->y);
	what = rot_format("%s and %s, as '%s' has", x_text, y_text, search->results[0].path);
	refuse(&search->results[i], what, err);
	free(what);
	free(x_text);
	free(y_text);
	return -1;
}

int
stored_axes_choose(struct stored_axes *axes, const struct stored_result *results, size_t nr, const char *x,
		   const char *y, struct rot_error *err)
{
	struct search whole = {results, nr, x, y, axes, false}, *search = &whole;
	const json_t *points = stored_result_points(&search->results[0]);
	struct quantity_request ignored;
	struct stored_axes first = {.unit = NULL};

	if (search->x && quantity_parse(&ignored, search->x, err) < 0)
		return rot_error_prefix(err, "-x");
	if (search->y && quantity_parse(&ignored, search->y, err) < 0)
		return rot_error_prefix(err, "-y");
	for (int pass = 0; pass < (x || y ? 1 : 2); pass++) {
		search->is_mixed = pass == 1;
		for (size_t i = 0; i < json_array_size(points); i++)
			if (choose_of_point(search, json_array_get(points, i), &first))
				return 0;
	}
	return refuse_axes(search, &first, err);
}
