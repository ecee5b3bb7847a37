/* SPDX-License-Identifier: MIT */
/* Rules that sound numbers keep. */
#include "quantities/invariants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"

static void
add_breach_of_runs(struct quantity_value *value, const char *rule, double found, double bound, size_t nr_runs,
		   char *text)
{
	for (size_t i = 0; i < value->nr_breaches; i++) {
		if (strcmp(value->breaches[i].rule, rule) == 0 && strcmp(value->breaches[i].text, text) == 0) {
			free(text);
			return;
		}
	}
	pool_own(&value->pool, text, free);
	pool_add(&value->pool, value->breaches, value->nr_breaches) =
		(struct quantity_breach){rule, text, found, bound, nr_runs};
}

void
quantity_breach_add(struct quantity_value *value, const char *rule, double found, double bound, char *text)
{
	add_breach_of_runs(value, rule, found, bound, 0, text);
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

/* To the core: bytes of the same direction, over borders, all of which should have crossed it. Not cpuL1: there bytes
 * are single ones, behind it whole lines. */
static bool
is_nearer(const struct quantity_value *inner, const struct quantity_value *outer)
{
	const char *outer_direction, *inner_direction;
	const size_t outer_at = border_of(outer, &outer_direction);
	const size_t inner_at = outer_at < NR_BORDERS ? border_of(inner, &inner_direction) : NR_BORDERS;

	return inner_at > 0 && inner_at < outer_at && strcmp(inner_direction, outer_direction) == 0 &&
	       !outer->goes_round;
}

static void
check_order(struct quantity_value *outer, const struct quantity_value *inner)
{
	const double found = outer->summary.value, bound = inner->summary.value;
	const char *direction;

	if (!is_nearer(inner, outer) || !(found > (1 + INVARIANT_TOLERANCE) * bound))
		return;
	border_of(outer, &direction);
	quantity_breach_add(
		outer, "bordersOrdered", found, bound,
		rot_format("%.4g bytes crossed %s, but only %.4g crossed %s, which is nearer to the core "
			   "(prefetching does that%s; else one of the counts is wrong)",
			   found, outer->of, bound, inner->of,
			   strcmp(direction, ".read") == 0
				   ? ""
				   : ", and so do stores that go round caches: non-temporal ones, rep stos"));
}

static void
check_compulsory(struct quantity_value *value)
{
	const char *direction;
	const double found = value->summary.value, bound = INVARIANT_COMPULSORY * value->compulsory;

	if (border_of(value, &direction) == NR_BORDERS || !(found < bound))
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

/* ---- bytes of single runs ---- */

/* inner NULL: atLeastCompulsory of the value; else bordersOrdered of both. */
struct run_rule {
	struct quantity_value *value;
	const struct quantity_value *inner;
};

static bool
is_looked_at(const struct quantity_value *value, size_t run)
{
	return run < value->nr_samples && (value->taints[run] & ~(unsigned)TAINT_BROKEN_RULE) == 0;
}

static double
bound_of_run(const struct run_rule *rule, size_t run)
{
	return rule->inner ? (1 + INVARIANT_TOLERANCE) * rule->inner->samples[run]
			   : INVARIANT_COMPULSORY * rule->value->compulsory;
}

static bool
run_breaks(const struct run_rule *rule, size_t run)
{
	const double excess = rule->value->samples[run] - bound_of_run(rule, run);

	return (rule->inner ? excess : -excess) > INVARIANT_LEAST_BYTES;
}

static void
keep_breach_of_runs(const struct run_rule *rule, size_t first, size_t nr_broken, size_t nr_looked_at)
{
	struct quantity_value *value = rule->value;
	char *text = rule->inner
			     ? rot_format("in %zu of %zu runs more bytes crossed %s than %s, which is nearer to the "
					  "core: they are left out",
					  nr_broken, nr_looked_at, value->of, rule->inner->of)
			     : rot_format("in %zu of %zu runs less than %g of the %.4g bytes crossed %s that must: "
					  "they are left out",
					  nr_broken, nr_looked_at, INVARIANT_COMPULSORY, value->compulsory, value->of);

	add_breach_of_runs(value, rule->inner ? "bordersOrdered" : "atLeastCompulsory", value->samples[first],
			   bound_of_run(rule, first), nr_broken, text);
}

/* Returns how many runs break the rule, if most keep it. */
static size_t
check_runs(const struct run_rule *rule, bool *broken, size_t nr_runs)
{
	size_t nr_looked_at = 0, nr_broken = 0, first = 0;

	for (size_t i = nr_runs; i-- > 0;) {
		if (!is_looked_at(rule->value, i) || (rule->inner && !is_looked_at(rule->inner, i)))
			continue;
		nr_looked_at++;
		if (run_breaks(rule, i)) {
			nr_broken++;
			first = i;
		}
	}
	if (nr_broken == 0 || 2 * nr_broken >= nr_looked_at)
		return 0;
	for (size_t i = 0; broken && i < nr_runs; i++)
		broken[i] = broken[i] || (is_looked_at(rule->value, i) &&
					  (!rule->inner || is_looked_at(rule->inner, i)) && run_breaks(rule, i));
	keep_breach_of_runs(rule, first, nr_broken, nr_looked_at);
	return nr_broken;
}

size_t
invariants_check_runs(struct quantity_value *values, size_t nr, bool *broken, size_t nr_runs)
{
	size_t nr_broken = 0;

	for (size_t i = 0; i < nr; i++) {
		const char *direction;

		if (border_of(&values[i], &direction) == NR_BORDERS)
			continue;
		nr_broken += check_runs(&(struct run_rule){&values[i], NULL}, broken, nr_runs);
		for (size_t k = 0; k < nr; k++)
			if (is_nearer(&values[k], &values[i]))
				nr_broken += check_runs(&(struct run_rule){&values[i], &values[k]}, broken, nr_runs);
	}
	return nr_broken;
}

/* ---- passes ---- */

/* A run of a pass that counted what every run of every pass should count alike. */
struct alike_run {
	struct pass_run *run;
	double count;
};

/* The runs that were not disturbed; fresh memory. */
static struct alike_run *
runs_that_count(const struct pass_plan *plan, const struct pass_samples *samples, size_t event, size_t *nr)
{
	struct alike_run *all = NULL;

	*nr = 0;
	for (size_t i = 0; i < plan->nr_passes; i++) {
		const size_t at = pass_event_at(&plan->passes[i], event);

		if (at == plan->passes[i].nr_events)
			continue;
		all = rot_realloc(all, *nr + samples[i].nr_runs + 1, sizeof(*all));
		for (size_t k = 0; k < samples[i].nr_runs; k++)
			if (samples[i].runs[k].taints == 0)
				all[(*nr)++] = (struct alike_run){&samples[i].runs[k], samples[i].runs[k].counts[at]};
	}
	return all;
}

size_t
invariants_taint_passes(const struct architecture *architecture, const struct pass_plan *plan,
			const struct pass_samples *samples)
{
	const struct architecture_formula *formula = architecture_formula(architecture, "instructions", "");
	autofree struct alike_run *runs = NULL;
	autofree double *counts = NULL;
	size_t nr = 0, nr_off = 0;
	double median;

	if (formula && formula->nr_events == 1)
		runs = runs_that_count(plan, samples, formula->events[0], &nr);
	counts = rot_calloc(nr + 1, sizeof(*counts));
	for (size_t i = 0; i < nr; i++)
		counts[i] = runs[i].count;
	median = statistics_percentile(counts, nr, 50);
	for (size_t i = 0; i < nr; i++)
		nr_off += fabs(runs[i].count - median) > INVARIANT_INSTRUCTIONS * median;
	for (size_t i = 0; 2 * nr_off < nr && i < nr; i++)
		if (fabs(runs[i].count - median) > INVARIANT_INSTRUCTIONS * median)
			runs[i].run->taints |= TAINT_BROKEN_RULE;
	return 2 * nr_off < nr ? nr_off : 0;
}

void
invariants_note_passes(struct quantity_value *values, size_t nr, size_t nr_runs)
{
	for (size_t i = 0; nr_runs > 0 && i < nr; i++)
		if (is_counted(&values[i]))
			add_breach_of_runs(&values[i], "passesAgree", NAN, NAN, nr_runs,
					   rot_format("instructions of %zu run%s are off by more than %g %% from those "
						      "of the others, of all passes: left out",
						      nr_runs, rot_plural((double)nr_runs),
						      100 * INVARIANT_INSTRUCTIONS));
}

/* Quantities that every pass should count alike. */
static const struct {
	const char *quantity, *of, *name;
	double tolerance;
} alike[] = {
	{"instructions", "", "instructions", INVARIANT_INSTRUCTIONS},
	{"time", "coreCycles", "core cycles", INVARIANT_TOLERANCE},
};

/* The summary of the undisturbed runs of a pass; n is 0 if it does not count all events of the formula. */
static int
summary_in_pass(struct summary *summary, const struct architecture_formula *formula,
		const struct architecture *architecture, const struct pass_plan *plan,
		const struct pass_samples *samples, size_t pass, struct rot_error *err)
{
	const struct pass_plan one = {.passes = &plan->passes[pass], .nr_passes = 1};
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

/* ---- steps ---- */

/* Instructions themselves are counted whatever they do. */
static void
check_step_doubts(struct quantity_value *value, const struct pass_samples *samples)
{
	const bool is_of_instructions =
		strcmp(value->name, "instructions") == 0 ||
		(strcmp(value->name, "operationCount") == 0 && strcmp(value->request.operation, "instructions") == 0);
	const struct pass_run *worst = samples->runs;

	for (size_t i = 1; i < samples->nr_runs; i++)
		if (samples->runs[i].unknown_steps > worst->unknown_steps)
			worst = &samples->runs[i];
	if (worst->unknown_steps > 0 && !is_of_instructions)
		quantity_breach_add(
			value, "stepsKnown", worst->unknown_steps, 0,
			rot_format("rot does not know what %.15g executed instruction%s (%s%s), so %s operations and "
				   "bytes are missing",
				   worst->unknown_steps, worst->unknown_steps == 1 ? " does" : "s do",
				   worst->unknown_steps == 1 ? "" : "the first: ", worst->first_unknown,
				   worst->unknown_steps == 1 ? "its" : "their"));
}

void
invariants_check_steps(struct quantity_value *values, size_t nr, const struct architecture *architecture,
		       const struct pass_plan *plan, const struct pass_samples *samples, bool are_threads)
{
	const struct architecture_formula *formula = architecture_formula(architecture, "instructions", "");

	for (size_t pass = 0; formula && pass < plan->nr_passes; pass++) {
		const size_t at = pass_event_at(&plan->passes[pass], formula->events[0]);
		double least = NAN, most = NAN;

		if (!plan->passes[pass].is_stepped || samples[pass].nr_runs == 0)
			continue;
		for (size_t i = 0; at < plan->passes[pass].nr_events && i < samples[pass].nr_runs; i++) {
			const struct pass_run *run = &samples[pass].runs[i];

			least = run->taints ? least : fmin(least, run->counts[at]);
			most = run->taints ? most : fmax(most, run->counts[at]);
		}
		for (size_t i = 0; i < nr; i++) {
			/* Operations or bytes, or made of them. */
			if (!is_counted(&values[i]) || !(values[i].request.operation || values[i].request.border ||
							 strcmp(values[i].name, "instructions") == 0))
				continue;
			if (!are_threads && least < most)
				quantity_breach_add(&values[i], "stepsAgree", most, least,
						    rot_format("counted runs executed from %.15g to %.15g "
							       "instructions: the work is not the same in each run",
							       least, most));
			check_step_doubts(&values[i], &samples[pass]);
		}
	}
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
