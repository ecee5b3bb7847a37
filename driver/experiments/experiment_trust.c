/* SPDX-License-Identifier: MIT */
/* What speaks for and against values: what measuring costs, the rules they break, and the bytes there might be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/titles.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "quantities/invariants.h"
#include "quantities/own_cost.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* ---- parts of a value ---- */

struct value_part {
	const char *name; /* "time", "bytes (LLC-RAM read)" */
	const char *unit; /* a base unit                    */
	double low, high; /* the cost, of one value or several; NaN: not known */
	double share;
};

static struct value_part
part_of(struct pool *pool, const struct quantity_value *value, bool is_bottom)
{
	const struct quantity_request *request = &value->request;
	const char *words[NR_WORD_ROLES] = {request->operation, request->border, request->clock};
	static const char *const names[] = {"operations", "bytes", "time"};
	int role = WORD_OPERATION;
	const double cost = is_bottom ? value->own_cost.bottom : value->own_cost.top;
	struct value_part part = {.low = cost,
				  .high = cost,
				  .share = is_bottom ? value->own_cost.bottom_share : value->own_cost.top_share};
	autofree char *of = NULL;

	while (role < NR_WORD_ROLES && !words[role])
		role++;
	if (is_bottom && role < NR_WORD_ROLES)
		for (role++; role < NR_WORD_ROLES && !words[role];)
			role++;
	if (role == NR_WORD_ROLES) {
		part.name = pool_own(pool, camel_case_words(value->name), free);
		part.unit = value->unit;
		return part;
	}
	of = value_of_words(&(struct quantity_value){.of = words[role]});
	part.name = pool_format(pool, "%s%s%s%s", names[role], of[0] ? " (" : "", of, of[0] ? ")" : "");
	part.unit = quantity_word_find((enum word_role)role, words[role])->unit;
	return part;
}

/* ---- the empty region ---- */

/* One note for all values of the point. */
static void
note_own_cost(struct experiment_point *point)
{
	autopool pool = {0};
	autofree char *text = NULL;

	for (size_t i = 0; i < point->nr_values; i++) {
		for (int bottom = 0; bottom < 2 && own_cost_is_high(&point->values[i].own_cost); bottom++) {
			const struct value_part part = part_of(&pool, &point->values[i], bottom);
			autofree char *share =
				part.share < 0.995 ? rot_format("%.2g %%", 100 * part.share) : rot_strdup("all");

			if (part.share * OWN_COST_SHORT > 1 && !(text && strstr(text, part.name)))
				rot_append(&text, "%s%s of its %s", text ? ", " : "", share, part.name);
		}
	}
	if (text)
		texts_add(&point->pool, &point->notes,
			  pool_format(&pool, "short: starting and stopping the measurement is %s", text));
}

void
experiment_print_own_costs(const struct experiment *experiment, FILE *out)
{
	autopool pool = {0};
	struct value_part *parts = NULL; /* each over all points */
	size_t nr = 0, at;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];

		for (size_t k = 0; k < 2 * point->nr_values; k++) {
			const struct quantity_value *value = &point->values[k / 2];
			const struct value_part part = part_of(&pool, value, k % 2);

			if (!value->own_cost.is_known || isnan(part.low))
				continue;
			for (at = 0; at < nr; at++)
				if (strcmp(parts[at].name, part.name) == 0 && strcmp(parts[at].unit, part.unit) == 0)
					break;
			if (at == nr)
				pool_add(&pool, parts, nr) = part;
			parts[at].low = fmin(parts[at].low, part.low);
			parts[at].high = fmax(parts[at].high, part.high);
		}
	}
	for (at = 0; at < nr; at++) {
		const struct value_part *part = &parts[at];
		const bool is_one = part->high - part->low < 0.05 * part->high || part->high == part->low;
		autofree char *to = is_one ? rot_strdup("") : rot_format(" to %.3g", part->high);

		fprintf(out, "%s%s %.3g%s %s", at ? ", " : "an empty region: ", part->name, part->low, to, part->unit);
	}
	if (nr)
		fprintf(out, "; that is in every run, and nothing is subtracted\n");
}

/* ---- rules ---- */

static void
note_breaches(struct experiment_point *point)
{
	for (size_t i = 0; i < point->nr_values; i++)
		for (size_t k = 0; k < point->values[i].nr_breaches; k++) {
			const struct quantity_breach *breach = &point->values[i].breaches[k];
			autofree char *text = rot_format("%s%s", breach->nr_runs ? "" : "doubtful: ", breach->text);

			texts_add(&point->pool, &point->notes, text);
		}
}

/*
 * Operations that the kernel's definition does not expect. Counts of translated code are exact; others differ where
 * their interval and one in a hundred leave the expected number out.
 */
static void
note_contradictions(struct experiment_point *point)
{
	for (size_t i = 0; i < point->nr_values; i++) {
		const struct quantity_value *value = &point->values[i];
		const struct summary *counted = &value->summary;
		const bool is_exact = strstr(value->source, "blocks") != NULL;
		const double expected = value->expected, slack = is_exact ? 0.5 : 0.01 * expected;
		autofree char *of = NULL, *text = NULL;

		if (strcmp(value->name, "operationCount") != 0 || strcmp(value->kind, "measured") != 0 ||
		    !isfinite(expected) || !(counted->n > 0) ||
		    (expected >= fmin(counted->low, counted->value) - slack &&
		     expected <= fmax(counted->high, counted->value) + slack))
			continue;
		of = value_of_words(value);
		text = rot_format("operations (%s): counted %.10g, the definition expects %.10g", of, counted->value,
				  expected);
		texts_add(&point->pool, &point->notes, text);
	}
}

void
experiment_note_trust(struct experiment_point *point)
{
	note_own_cost(point);
	note_contradictions(point);
	note_breaches(point);
}

/* The highest ceiling of what the value is a rate of, in its unit, for as many threads as the point has; NULL: none. */
static const struct ceiling *
ceiling_of(const struct experiment *experiment, const struct experiment_point *point,
	   const struct quantity_value *value)
{
	const bool is_performance = strcmp(value->name, "performance") == 0;
	const char *of = is_performance ? value->request.operation : value->request.border;
	const struct ceiling *best = NULL;

	if (!of || (!is_performance && strcmp(value->name, "throughput") != 0))
		return NULL;
	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		const struct ceiling *ceiling = &experiment->ceilings[i];
		const char *bounds = is_performance ? ceiling->operation : ceiling->border;

		if (ceiling_is_told(ceiling) ||
		    (ceiling->nr_threads > 0 && point->nr_cpus > 0 &&
		     ceiling->nr_threads != experiment_roof_threads(experiment, point->nr_cpus)))
			continue;
		if (bounds[0] && strlen(bounds) == strcspn(of, ".") && strncmp(bounds, of, strlen(bounds)) == 0 &&
		    strcmp(ceiling->unit, value->unit) == 0 && (!best || ceiling->value > best->value))
			best = ceiling;
	}
	return best;
}

void
experiment_check_ceilings(struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_points; i++) {
		struct experiment_point *point = &experiment->points[i];

		for (size_t k = 0; k < point->nr_values; k++) {
			const struct ceiling *ceiling = ceiling_of(experiment, point, &point->values[k]);

			if (ceiling) {
				const struct shown_unit unit = shown_unit(point->values[k].unit);

				invariants_check_ceiling(&point->values[k], ceiling->value, ceiling->name, unit.shown,
							 unit.factor);
			}
		}
		note_breaches(point);
	}
}

/* ---- three counts of bytes ---- */

/* Two that differ by less are not worth a row, or a mark. */
#define CLEARLY_APART 1.05

bool
experiment_has_compulsory(const struct quantity_value *value)
{
	const double measured = value->nr_samples ? value->summary.value : NAN;
	const double low =
		fmin(value->compulsory, fmin(value->expected, measured)); /* of a number and NaN, the number */
	const double high = fmax(value->compulsory, fmax(value->expected, measured));

	return value->compulsory > 0 && isfinite(high) && high > CLEARLY_APART * low;
}

static char *
count_text(const struct quantity_value *value, double count)
{
	const double shown = count * shown_unit(value->unit).factor;
	const struct summary summary = summary_single(shown, "expected");

	return isnan(count)           ? rot_strdup("-")
	       : shown == rint(shown) ? rot_format("%.0f", shown)
				      : summary_text(&summary);
}

/* The value of both directions says it of each as well, and the bytes of their intensity. */
static bool
is_said_by_another(const struct experiment_point *point, const struct quantity_value *value)
{
	const char *border = value->request.border;

	for (size_t i = 0; i < point->nr_values; i++) {
		const struct quantity_value *other = &point->values[i];
		const char *of = other->request.border;

		if (other == value || strcmp(other->name, "transferredBytes") != 0 || !experiment_has_compulsory(other))
			continue;
		if (strcmp(of, border) == 0 ? strcmp(value->name, "transferredBytes") != 0
					    : strncmp(of, border, strlen(of)) == 0 && border[strlen(of)] == '.')
			return true;
	}
	return false;
}

void
experiment_print_bytes(const struct experiment *experiment, FILE *out)
{
	static const struct text_table_column columns[] = {{"", true},
							   {"", true},
							   {"each\ndatum\nonce", false},
							   {"expected,\nwith write-\nallocate", false},
							   {"counted", false}};
	struct text_table table = {
		.columns = columns, .nr_columns = sizeof(columns) / sizeof(columns[0]), .nr_keys = 2};

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];

		for (size_t k = 0; k < point->nr_values; k++) {
			const struct quantity_value *value = &point->values[k];
			autofree char *label = value_label(value);

			if (!experiment_has_compulsory(value) || is_said_by_another(point, value))
				continue;
			text_table_add(&table,
				       (char *const[]){
					       point_title(point->series, " ", point->label),
					       rot_format("%s [%s]", label, shown_unit(value->unit).shown),
					       count_text(value, value->compulsory),
					       count_text(value, value->expected),
					       value->nr_samples ? value_text(value) : rot_strdup("not counted"),
				       });
		}
	}
	if (table.nr_rows) {
		text_table_print(&table, out);
		fputc('\n', out);
	}
	text_table_clear(&table);
}

/* ---- the key strict ---- */

int
experiment_check_strict(const struct experiment *experiment, const char *path, struct rot_error *err)
{
	json_auto_t *counts = json_object(); /* numbers of all points by their caveats */
	const json_t *quantity, *code;
	size_t nr = 0, nr_with = 0, i, k;

	for (size_t p = 0; p < experiment->nr_points; p++) {
		json_array_foreach(json_object_get(experiment->points[p].result, "quantities"), i, quantity) {
			const json_t *caveats = json_object_get(quantity, "caveats");

			nr++;
			nr_with += caveats != NULL;
			json_array_foreach(caveats, k, code)
				json_object_set_new(
					counts, json_string_value(code),
					json_number(fmax(json_number_at(counts, json_string_value(code)), 0) + 1));
		}
	}
	if (!configuration_bool(experiment->rot->configuration, "strict") || nr_with == 0)
		return 0;
	rot_error_set(err, 0, "strict: %zu of %zu numbers are not both measured and sound", nr_with, nr);
	for (const struct remark *caveat = remark_next(REMARK_CAVEAT, NULL); caveat;
	     caveat = remark_next(REMARK_CAVEAT, caveat))
		if (json_object_get(counts, caveat->code))
			rot_error_append(err, "\n     %.0f: %s", json_number_at(counts, caveat->code), caveat->text);
	return rot_error_hint(err, "which they are says '%s' (caveats)", path);
}
