/* SPDX-License-Identifier: MIT */
/* Points with their values, derived values, and what texts at a point see of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text_table.h"
#include "base/titles.h"
#include "base/utf8.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "quantities/invariants.h"
#include "quantities/own_cost.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* ---- what speaks for and against values ---- */

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

/* ---- points ---- */

void
experiment_point_clear(struct experiment_point *point)
{
	quantity_values_clear(point->values, point->nr_values);
	pool_clear(&point->pool);
}

struct experiment_point
experiment_point_at(const struct experiment_position *position)
{
	struct experiment_point point = {.nr_values = 0};
	autofree char *series = utf8_printable(position->series), *label = utf8_printable(position->label);
	json_t *coordinates = json_object();

	for (size_t i = 0; i < position->at.nr_coordinates; i++) {
		const struct coordinate *c = &position->at.coordinates[i];
		autofree char *text = isnan(c->number) ? utf8_printable(c->text) : NULL;

		json_object_set_new(coordinates, c->axis, text ? json_text(text) : json_number(c->number));
	}
	point.json =
		json_in_pool(&point.pool, json_pack("{s:o, s:o, s:o, s:s}", "series", json_text(series), "label",
						    json_text(label), "coordinates", coordinates, "cacheState", ""));
	point.series = json_text_at(point.json, "series");
	point.label = json_text_at(point.json, "label");
	return point;
}

const json_t *
experiment_point_on(const struct experiment_point *point, const char *axis)
{
	return json_object_get(json_object_get(point->json, "coordinates"), axis);
}

void
experiment_keep_point(struct experiment *experiment, const struct experiment_point *point)
{
	struct experiment_point *own = &pool_add(&experiment->pool, experiment->points, experiment->nr_points);
	autofree char *doubts = NULL;

	*own = *point;
	/* The runs took the same time for all values of a point: one note, of the first one that has any. */
	for (size_t i = 0; i < own->nr_values && !doubts; i++)
		doubts = value_doubts_text(&own->values[i]);
	texts_add(&own->pool, &own->notes, doubts);
	/* Notes what measuring costs the point, where that is much, and the rules that its values break. */
	note_own_cost(own);
	note_contradictions(own);
	note_breaches(own);
}

static const char *
clock_of(const struct quantity_request *request)
{
	return request->clock && strcmp(request->clock, "auto") != 0 ? request->clock : "";
}

bool
experiment_same_request(const struct quantity_request *a, const struct quantity_request *b)
{
	return quantity_same_word(a->name, b->name) && quantity_same_word(a->operation, b->operation) &&
	       quantity_same_word(a->border, b->border) && quantity_same_word(clock_of(a), clock_of(b));
}

const struct quantity_value *
experiment_point_value(const struct experiment_point *point, const struct quantity_request *request)
{
	for (size_t i = 0; i < point->nr_values && request->name; i++)
		if (experiment_same_request(&point->requests[i], request))
			return &point->values[i];
	return NULL;
}

const struct experiment_point *
experiment_find_point(const struct experiment *experiment, const char *series, const char *label)
{
	for (size_t i = 0; i < experiment->nr_points; i++)
		if (strcmp(experiment->points[i].series, series) == 0 &&
		    strcmp(experiment->points[i].label, label) == 0)
			return &experiment->points[i];
	return NULL;
}

/* Makes the point's named values variables: PREFIXNAME, best.PREFIXNAME, ... */
static void
set_values(const struct experiment *experiment, const struct experiment_point *point, const char *prefix,
	   struct expression_scope *scope)
{
	for (size_t i = 0; i < experiment->nr_names; i++) {
		const struct quantity_value *value = experiment_point_value(point, &experiment->names[i].request);
		autofree char *name = rot_format("%s%s", prefix, experiment->names[i].name);
		autofree char *best = rot_format("best.%s", name);
		autofree char *quartile = rot_format("upperQuartile.%s", name);
		autofree char *expected = rot_format("expected.%s", name);

		if (value)
			expression_scope_set_number(scope, name, value->summary.value);
		if (value && isfinite(quantity_best_run(value)))
			expression_scope_set_number(scope, best, quantity_best_run(value));
		if (value && isfinite(quantity_upper_quartile(value)))
			expression_scope_set_number(scope, quartile, quantity_upper_quartile(value));
		if (value && isfinite(value->expected))
			expression_scope_set_number(scope, expected, value->expected);
	}
}

static void
set_variable(const char *name, const json_t *value, struct expression_scope *scope)
{
	if (json_is_string(value))
		expression_scope_set_string(scope, name, json_string_value(value));
	else
		expression_scope_set_number(scope, name, json_number_value(value));
}

struct expression_scope *
experiment_place_scope(const json_t *point)
{
	struct expression_scope *scope = expression_scope_new(NULL);
	const char *axis;
	json_t *coordinate;

	expression_scope_set_string(scope, "series", json_text_at(point, "series"));
	expression_scope_set_string(scope, "label", json_text_at(point, "label"));
	json_object_foreach(json_object_get(point, "coordinates"), axis, coordinate)
		set_variable(axis, coordinate, scope);
	return scope;
}

struct expression_scope *
experiment_scope(const struct experiment *experiment, const struct experiment_point *point,
		 const struct experiment_point *first)
{
	struct expression_scope *scope = experiment_place_scope(point->json);
	const json_t *derived;
	size_t i;

	set_values(experiment, point, "", scope);
	json_array_foreach(point->derived, i, derived)
		set_variable(json_text_at(derived, "name"), json_object_get(derived, "value"), scope);
	if (first)
		set_values(experiment, first, "first.", scope);
	return scope;
}

int
experiment_last_holds(const struct experiment *experiment, const char *condition, bool *holds, struct rot_error *err)
{
	autoscope struct expression_scope *scope =
		experiment_scope(experiment, &experiment->points[experiment->nr_points - 1], NULL);

	return expression_bool(scope, condition, holds, err);
}

/* ---- derived values ---- */

void
experiment_add_derived(struct experiment *experiment, const struct experiment_derived *derived)
{
	pool_add(&experiment->pool, experiment->derived, experiment->nr_derived) = *derived;
}

const struct experiment_derived *
experiment_find_derived(const struct experiment *experiment, const char *name)
{
	for (size_t i = 0; i < experiment->nr_derived; i++)
		if (strcmp(experiment->derived[i].name, name) == 0)
			return &experiment->derived[i];
	return NULL;
}

bool
experiment_has_derived(const struct experiment *experiment, const char *name)
{
	return experiment_find_derived(experiment, name) != NULL;
}

/* ---- peaks ---- */

static int
wish_of(struct pool *pool, const struct experiment_derived *derived, const struct expression_scope *scope,
	struct peak_wish *wish, struct rot_error *err)
{
	*wish = (struct peak_wish){
		.operation = pool_own(pool, expression_text(scope, derived->operation, err), free),
		.border = pool_own(pool, expression_text(scope, derived->border, err), free),
		.access = pool_own(pool, expression_text(scope, derived->text, err), free),
		.instruction_set = pool_own(pool, expression_text(scope, derived->instruction_set, err), free),
	};
	return wish->operation && wish->border && wish->access && wish->instruction_set ? 0 : -1;
}

/* A peak that follows from values derived before is not known yet: it is not looked for, only used. */
size_t
experiment_wishes(struct pool *pool, const struct experiment *experiment, struct peak_wish **wishes)
{
	size_t nr = 0, same;

	*wishes = NULL;
	for (size_t p = 0; p < experiment->nr_points; p++) {
		autoscope struct expression_scope *scope = experiment_scope(experiment, &experiment->points[p], NULL);

		for (size_t i = 0; i < experiment->nr_derived; i++) {
			const struct experiment_derived *derived = &experiment->derived[i];
			struct rot_error ignored = {0};
			struct peak_wish wish;
			bool is_wanted = true;

			if (derived->kind != EXPERIMENT_DERIVED_PEAK ||
			    (derived->condition[0] &&
			     expression_bool(scope, derived->condition, &is_wanted, &ignored) < 0) ||
			    !is_wanted || wish_of(pool, derived, scope, &wish, &ignored) < 0)
				continue;
			for (same = 0; same < nr; same++)
				if (strcmp((*wishes)[same].operation, wish.operation) == 0 &&
				    strcmp((*wishes)[same].border, wish.border) == 0 &&
				    strcmp((*wishes)[same].access, wish.access) == 0 &&
				    strcmp((*wishes)[same].instruction_set, wish.instruction_set) == 0)
					break;
			if (same == nr)
				pool_add(pool, *wishes, nr) = wish;
		}
	}
	return nr;
}

/* ---- one value ---- */

/* The best of the ceilings of a name, and of peaks. *value stays NULL where there is none. */
static int
derive_one(const struct experiment *experiment, const struct architecture *architecture,
	   const struct experiment_derived *derived, const struct expression_scope *scope, json_t **value,
	   struct rot_error *err)
{
	const bool is_of_peaks = derived->kind == EXPERIMENT_DERIVED_LIMIT || derived->kind == EXPERIMENT_DERIVED_PEAK;
	autopool pool = {0};
	autofree char *text = NULL;
	const struct architecture_limit *limit = NULL;
	struct peak_wish wish;
	double number = NAN;
	int rc = 0;

	if (derived->kind == EXPERIMENT_DERIVED_NUMBER) {
		rc = expression_number(scope, derived->text, &number, err);
	} else if (is_of_peaks) {
		rc = wish_of(&pool, derived, scope, &wish, err);
		if (rc == 0 && derived->kind == EXPERIMENT_DERIVED_PEAK)
			number = experiment_peak_value(experiment, &wish, derived->clock);
		else if (rc == 0 && architecture)
			limit = architecture_limit(architecture, (int)experiment->rot->machine->cpu_model, wish.border,
						   wish.access, wish.instruction_set);
		number = limit ? limit->per_cycle : number;
	} else {
		text = expression_text(scope, derived->text, err);
		rc = text ? 0 : -1;
	}
	for (size_t i = 0; text && derived->kind == EXPERIMENT_DERIVED_CEILING && i < experiment->nr_ceilings; i++)
		if (strcmp(experiment->ceilings[i].name, text) == 0)
			number = fmax(number, experiment->ceilings[i].value); /* of a number and NaN the number */
	if (isnan(number))
		number = derived->otherwise;
	if (text && derived->kind == EXPERIMENT_DERIVED_TEXT)
		*value = json_text(text);
	else if (isfinite(number))
		*value = json_number(number);
	return rc;
}

/* ---- all of them ---- */

/* Values that cannot be computed are missing; each of them is told once. */
static void
derive_at(struct experiment *experiment, const struct architecture *architecture, struct experiment_point *point)
{
	autoscope struct expression_scope *scope = experiment_scope(experiment, point, NULL);

	point->derived = json_in_pool(&point->pool, json_array());
	for (size_t i = 0; i < experiment->nr_derived; i++) {
		struct experiment_derived *derived = &experiment->derived[i];
		json_t *value = NULL;
		struct rot_error why = {0};
		const struct experiment_point *base = NULL;
		autofree char *series = NULL; /* of the base */
		bool is_wanted = true;
		int rc = derived->condition[0] ? expression_bool(scope, derived->condition, &is_wanted, &why) : 0;

		if (rc == 0 && is_wanted) {
			series = expression_text(scope, derived->base, &why);
			rc = series ? 0 : -1;
		}
		if (series && *series)
			base = experiment_find_point(experiment, series, point->label);
		if (base)
			set_values(experiment, base, "base.", scope);
		if (rc == 0 && is_wanted && (base || !derived->base[0]))
			rc = derive_one(experiment, architecture, derived, scope, &value, &why);
		if (rc < 0 && !derived->is_told) {
			autofree char *title = point_title(point->series, " ", point->label);

			rot_warning("%s of '%s' is left out: %s", derived->name, title, why.text);
		}
		derived->is_told = derived->is_told || rc < 0;
		if (!value)
			continue;
		set_variable(derived->name, value, scope);
		json_array_append_new(point->derived, json_pack("{s:o, s:o, s:o}", "name", json_text(derived->name),
								"unit", json_text(derived->unit), "value", value));
	}
}

void
experiment_derive(struct experiment *experiment)
{
	autofree char *folder = rot_format("%s/driver/architectures", experiment->rot->paths->data);
	struct rot_error why = {0};
	/* The architecture of this processor, whether its events can be counted or not. */
	struct architecture *architecture =
		experiment->nr_derived ? architecture_load(folder, experiment->rot->machine, NULL, &why) : NULL;

	for (size_t i = 0; experiment->nr_derived && i < experiment->nr_points; i++)
		if (!experiment->points[i].derived)
			derive_at(experiment, architecture, &experiment->points[i]);
	architecture_delete(architecture);
}
