/* SPDX-License-Identifier: MIT */
/* Rules that sound numbers keep. */
#include "quantities/invariants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

void
quantity_breach_add(struct quantity_value *value, const char *rule, double found, double bound, char *text)
{
	for (size_t i = 0; i < value->nr_breaches; i++) {
		if (strcmp(value->breaches[i].rule, rule) == 0 && strcmp(value->breaches[i].text, text) == 0) {
			free(text);
			return;
		}
	}
	value->breaches = rot_realloc(value->breaches, value->nr_breaches + 1, sizeof(*value->breaches));
	value->breaches[value->nr_breaches++] = (struct quantity_breach){rule, text, found, bound};
}

static bool
is_counted(const struct quantity_value *value)
{
	return value->nr_samples > 0 && (strcmp(value->kind, "measured") == 0 || strcmp(value->kind, "modelled") == 0);
}

/* ---- bytes ---- */

/* From the core outwards. */
static const char *const borders[] = {"cpuL1", "l1l2", "l2l3", "llcRam"};

#define NR_BORDERS (sizeof(borders) / sizeof(borders[0]))

/* How far out the border of the value is, or NR_BORDERS; *direction: ".read", ".write" or "". */
static size_t
border_of(const struct quantity_value *value, const char **direction)
{
	const char *of = value->request.border;
	size_t i = 0, length = of ? strcspn(of, ".") : 0;

	if (!of || strcmp(value->name, "transferredBytes") != 0 || !is_counted(value))
		return NR_BORDERS;
	*direction = of + length;
	while (i < NR_BORDERS && !(strlen(borders[i]) == length && strncmp(borders[i], of, length) == 0))
		i++;
	return i;
}

static void
check_order(struct quantity_value *outer, const struct quantity_value *inner)
{
	const char *outer_direction, *inner_direction;
	const size_t outer_at = border_of(outer, &outer_direction);
	const size_t inner_at = outer_at < NR_BORDERS ? border_of(inner, &inner_direction) : NR_BORDERS;
	const double found = outer->summary.value, bound = inner->summary.value;

	if (inner_at >= outer_at || strcmp(inner_direction, outer_direction) != 0 ||
	    !(found > (1 + INVARIANT_TOLERANCE) * bound))
		return;
	quantity_breach_add(outer, "bordersOrdered", found, bound,
			    rot_format("%.4g bytes crossed %s, but only %.4g crossed %s, which is nearer to the core "
				       "(prefetching does that; else one of the counts is wrong)",
				       found, outer->of, bound, inner->of));
}

static void
check_compulsory(struct quantity_value *value)
{
	const char *direction;
	const double found = value->summary.value, bound = INVARIANT_COMPULSORY * value->compulsory;

	if (border_of(value, &direction) == NR_BORDERS || !(value->compulsory > 0) || !(found < bound))
		return;
	quantity_breach_add(value, "atLeastCompulsory", found, bound,
			    rot_format("%.4g bytes counted across %s, less than %g of the %.4g that must cross it "
				       "(were the caches cold?)",
				       found, value->of, INVARIANT_COMPULSORY, value->compulsory));
}

void
invariants_check_bytes(struct quantity_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		check_compulsory(&values[i]);
		for (size_t k = 0; k < nr; k++)
			check_order(&values[i], &values[k]);
	}
}

/* ---- passes ---- */

/* What every pass should count alike. */
static const struct {
	const char *quantity, *of, *name;
	double tolerance;
} alike[] = {
	{"instructions", "", "instructions", INVARIANT_INSTRUCTIONS},
	{"time", "coreCycles", "core cycles", INVARIANT_TOLERANCE},
};

/* The plan with that pass alone; borrows it. */
static struct pass_plan
plan_of_one(const struct pass_plan *plan, size_t pass)
{
	return (struct pass_plan){.passes = &plan->passes[pass], .nr_passes = 1};
}

/* Of the undisturbed runs of a pass; n is 0 if it does not count all events of the formula. */
static int
summary_in_pass(struct summary *summary, const struct architecture_formula *formula,
		const struct architecture *architecture, const struct pass_plan *plan,
		const struct pass_samples *samples, size_t pass, struct rot_error *err)
{
	const struct pass_plan one = plan_of_one(plan, pass);
	const struct quantity_resolution resolution = {
		.request = {.name = formula->quantity},
		.numerator = {.source = PART_COUNTED, .formula = formula, .kind = "measured", .text = ""},
		.scale = 1,
		.expected = NAN,
	};
	struct quantity_value value;
	int rc;

	*summary = summary_empty();
	if (pass_plan_find_all(&one, formula) == one.nr_passes)
		return 0;
	rc = quantity_compute(&value, &resolution, architecture, &one, &samples[pass], false, err);
	if (rc == 0 && value.summary.tainted < value.nr_samples)
		*summary = value.summary;
	quantity_value_clear(&value);
	return rc;
}

static bool
differ(const struct summary *a, const struct summary *b, double tolerance)
{
	const struct summary *low = a->value <= b->value ? a : b, *high = low == a ? b : a;

	if (low->n == 0 || high->n == 0 || high->value - low->value <= tolerance * high->value)
		return false;
	return !(high->low <= low->high); /* also without intervals */
}

static int
check_alike(struct quantity_value *values, size_t nr, const struct architecture_formula *formula, const char *name,
	    double tolerance, const struct architecture *architecture, const struct pass_plan *plan,
	    const struct pass_samples *samples, struct rot_error *err)
{
	struct summary first = summary_empty();
	size_t first_pass = 0;

	for (size_t pass = 0; pass < plan->nr_passes; pass++) {
		struct summary summary;

		if (summary_in_pass(&summary, formula, architecture, plan, samples, pass, err) < 0)
			return -1;
		if (first.n == 0) {
			first = summary;
			first_pass = pass;
			continue;
		}
		for (size_t i = 0; differ(&first, &summary, tolerance) && i < nr; i++)
			if (is_counted(&values[i]))
				quantity_breach_add(&values[i], "passesAgree", summary.value, first.value,
						    rot_format("passes %zu and %zu counted %.6g and %.6g %s: values "
							       "made of both do not belong together",
							       first_pass + 1, pass + 1, first.value, summary.value,
							       name));
	}
	return 0;
}

int
invariants_check_passes(struct quantity_value *values, size_t nr, const struct architecture *architecture,
			const struct pass_plan *plan, const struct pass_samples *samples, struct rot_error *err)
{
	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		const struct architecture_formula *formula =
			architecture_formula(architecture, alike[i].quantity, alike[i].of);

		if (formula && check_alike(values, nr, formula, alike[i].name, alike[i].tolerance, architecture, plan,
					   samples, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- ceilings ---- */

void
invariants_check_ceiling(struct quantity_value *value, double ceiling, const char *name, const char *unit,
			 double factor)
{
	const double found = value->summary.value, bound = (1 + INVARIANT_TOLERANCE) * ceiling;

	if (value->nr_samples == 0 || !(ceiling > 0) || !(found > bound) || isinf(found))
		return;
	quantity_breach_add(value, "belowCeiling", found, bound,
			    rot_format("%s of %.4g %s, above the highest ceiling: %s, %.4g %s", value->name,
				       factor * found, unit, name, factor * ceiling, unit));
}
