/* SPDX-License-Identifier: MIT */
/* The pass planner: what triad asks for, splits, riders, and no illegal group for any selection of formulas. */
#include "architecture_files.h"
#include "quantities/plan.h"
#include "testing.h"

/* "a b | c": names of the events, passes separated by bars; "clock" for the pass without events. Fresh memory. */
static char *
plan_text(const struct architecture *architecture, const struct pass_plan *plan)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < plan->nr_passes; i++) {
		char *longer = rot_format("%s%s%s", text, i ? " | " : "", plan->passes[i].nr_events ? "" : "clock");

		free(text);
		text = longer;
		for (size_t k = 0; k < plan->passes[i].nr_events; k++) {
			longer = rot_format("%s%s%s", text, k ? " " : "",
					    architecture->events[plan->passes[i].events[k]].name);
			free(text);
			text = longer;
		}
	}
	return text;
}

#define MAX_FORMULAS 64

static const struct {
	const char *architecture;
	const char *formulas; /* "quantity of" pairs, separated by commas */
	bool with_clock;
	const char *plan;
} plans[] = {
	/* triad: operations, bytes and cycles: the flop pair and the five of DRAM leave no room for cycles */
	{"zen5", "operationCount doublePrecisionFlop,transferredBytes llcRam,time coreCycles", false,
	 "l2Fills l2DramFills l2DirtyVictims combinedLines combinedToCache | scalarDouble packedDouble | coreCycles "
	 "instructions"},
	{"zen5",
	 "operationCount doublePrecisionFlop,transferredBytes llcRam,transferredBytes llcRam.read,transferredBytes "
	 "l2l3.read,"
	 "time coreCycles",
	 true,
	 "clock | l2Fills l2DramFills l2DirtyVictims combinedLines combinedToCache | scalarDouble packedDouble | "
	 "coreCycles instructions"},
	{"zen5", "operationCount flop,time coreCycles", false, "allFlops coreCycles instructions"},
	{"zen5", "operationCount singlePrecisionFlop,operationCount doublePrecisionFlop", false,
	 "scalarSingle packedSingle | scalarDouble packedDouble"},
	{"zen5", "transferredBytes l2l3,time coreCycles", false, "coreCycles instructions l2Fills l2DirtyVictims"},
	{"zen5", "time coreCycles,time coreCycles", false, "coreCycles instructions"},
	/* four flop events and the fixed ones do not go together where the watchdog may hold a counter */
	{"skylake-server", "operationCount doublePrecisionFlop,time coreCycles", false,
	 "scalarDouble packed128Double packed256Double packed512Double | coreCycles instructions"},
	{"skylake-server", "operationCount flop", false,
	 "packed128Double packed512Single scalar packedFour | coreCycles instructions packedEight"},
	{"icelake", "operationCount doublePrecisionFlop,time coreCycles", false,
	 "coreCycles instructions scalarDouble packed128Double packed256Double packed512Double"},
	{"generic", "time coreCycles,transferredBytes llcRam.read", false, "coreCycles instructions cacheMisses"},
	{"none", "", true, "clock"},
	{"none", "", false, ""},
};

/* Formulas of the comma separated list. */
static size_t
find_formulas(const struct architecture *architecture, const char *list, const struct architecture_formula *formulas[])
{
	char *copy = rot_strdup(list), *rest = NULL;
	size_t nr = 0;

	for (char *pair = strtok_r(copy, ",", &rest); pair; pair = strtok_r(NULL, ",", &rest)) {
		char *of = strchr(pair, ' ');

		*of++ = '\0';
		formulas[nr] = architecture_formula(architecture, pair, of);
		ck_assert_msg(formulas[nr++] != NULL, "no formula for %s of %s", pair, of);
	}
	free(copy);
	return nr;
}

TEST_OF(test_plans, NR_ELEMENTS(plans))
{
	struct architecture *architecture = architecture_kept(plans[_i].architecture);
	const struct architecture_formula *formulas[MAX_FORMULAS];
	size_t nr = find_formulas(architecture, plans[_i].formulas, formulas);
	cleared_by(pass_plan_clear) struct pass_plan plan = {0};
	autofree char *text = NULL;

	ck_assert_ok(pass_plan_make(&plan, architecture, formulas, nr, plans[_i].with_clock, &why));
	text = plan_text(architecture, &plan);
	ck_assert_str_eq(text, plans[_i].plan);
}

TEST(test_spread_formula_is_found_event_by_event)
{
	struct architecture *architecture = architecture_kept("skylake-server");
	const struct architecture_formula *flop = architecture_formula(architecture, "operationCount", "flop");
	cleared_by(pass_plan_clear) struct pass_plan plan = {0};

	ck_assert_int_eq(pass_plan_make(&plan, architecture, &flop, 1, false, &why), 0);
	ck_assert_uint_eq(plan.nr_passes, 2);
	ck_assert_uint_eq(pass_plan_find_all(&plan, flop), plan.nr_passes);
	for (size_t i = 0; i < flop->nr_events; i++)
		ck_assert_uint_lt(pass_plan_find(&plan, flop->events[i]), plan.nr_passes);
	ck_assert_uint_eq(pass_plan_clock(&plan), plan.nr_passes);
}

TEST(test_event_without_group_is_refused)
{
	struct architecture *architecture = architecture_kept("zen5");
	const struct architecture_formula *flop = architecture_formula(architecture, "operationCount", "flop");
	cleared_by(pass_plan_clear) struct pass_plan plan = {0};

	architecture->nr_groups = 0;
	ck_assert_int_eq(pass_plan_make(&plan, architecture, &flop, 1, false, &why), -1);
	ck_assert_has(why.text, "allFlops");
}

/* ---- properties ---- */

/* The shapes that count right on Zen 5, in words of their own. */
static bool
is_right_on_zen5(const struct architecture *architecture, const struct pass *pass)
{
	size_t large = 0, plain = 0;

	for (size_t i = 0; i < pass->nr_events; i++) {
		const char *definition = architecture->events[pass->events[i]].definition;

		if (strcmp(definition + strlen(definition) - 2, "03") == 0)
			large++;
		else
			plain++;
	}
	if (large == 2)
		return plain == 0;
	return large == 1 ? plain <= 2 : large == 0 && plain <= 5;
}

/* Events that the first four counters alone count, of eight. Source: arch/x86/events/intel/core.c of Linux. */
static const struct {
	const char *architecture;
	unsigned first, last; /* codes */
} few_counters[] = {
	{"icelake", 0x03, 0x0a},        {"icelake", 0x1f, 0x28},        {"icelake", 0x48, 0x56},
	{"icelake", 0xf0, 0xf4},        {"icelake-server", 0x03, 0x0a}, {"icelake-server", 0x1f, 0x28},
	{"icelake-server", 0x48, 0x56}, {"icelake-server", 0xf0, 0xf4}, {"sapphirerapids", 0x01, 0x2d},
	{"sapphirerapids", 0x2f, 0x8f},
};

static bool
is_of_few_counters(const struct architecture *architecture, const char *definition)
{
	unsigned long code = strstr(definition, "::r") ? strtoul(strstr(definition, "::r") + 3, NULL, 16) & 0xff : 0;

	for (size_t i = 0; i < NR_ELEMENTS(few_counters); i++) {
		if (strcmp(few_counters[i].architecture, architecture->name) == 0 && few_counters[i].first <= code &&
		    code <= few_counters[i].last)
			return true;
	}
	return false;
}

static size_t
nr_of_few_counters(const struct architecture *architecture, const struct pass *pass)
{
	size_t nr = 0;

	for (size_t i = 0; i < pass->nr_events; i++)
		nr += is_of_few_counters(architecture, architecture->events[pass->events[i]].definition);
	return nr;
}

static void
check_plan(const struct architecture *architecture, const struct pass_plan *plan,
	   const struct architecture_formula *const *formulas, size_t nr)
{
	for (size_t i = 0; i < plan->nr_passes; i++) {
		const struct pass *pass = &plan->passes[i];

		ck_assert(pass->nr_events == 0 || pass_is_legal(architecture, pass->events, pass->nr_events));
		if (strcmp(architecture->name, "zen5") == 0)
			ck_assert(is_right_on_zen5(architecture, pass));
		ck_assert_uint_le(nr_of_few_counters(architecture, pass), 4);
		if (architecture->usable_counters)
			ck_assert_uint_le(pass->nr_events, (size_t)architecture->usable_counters);
		for (size_t k = 1; k < pass->nr_events; k++)
			ck_assert_msg(pass->events[k - 1] < pass->events[k], "an event is in a pass twice");
	}
	for (size_t i = 0; i < nr; i++) {
		if (pass_is_legal(architecture, formulas[i]->events, formulas[i]->nr_events))
			ck_assert_msg(pass_plan_find_all(plan, formulas[i]) < plan->nr_passes, "%s of %s was split",
				      formulas[i]->quantity, formulas[i]->of);
		for (size_t k = 0; k < formulas[i]->nr_events; k++)
			ck_assert_uint_lt(pass_plan_find(plan, formulas[i]->events[k]), plan->nr_passes);
	}
}

TEST_OF(test_any_selection_is_legal, architecture_nr_files())
{
	struct architecture *architecture = architecture_read(architecture_file(_i), architecture_schema(), &why);
	uint64_t random = 1;

	ck_assert_msg(architecture != NULL, "%s", why.text);
	ck_assert_uint_le(architecture->nr_formulas, MAX_FORMULAS);
	for (int trial = 0; trial < 1000; trial++) {
		const struct architecture_formula *formulas[MAX_FORMULAS];
		cleared_by(pass_plan_clear) struct pass_plan plan = {0};
		size_t nr = 0;

		for (size_t i = 0; i < architecture->nr_formulas; i++) {
			random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			if (random >> 62 == 0)
				formulas[nr++] = &architecture->formulas[i];
		}
		ck_assert_ok(pass_plan_make(&plan, architecture, formulas, nr, trial % 2, &why));
		check_plan(architecture, &plan, formulas, nr);
	}
	architecture_delete(architecture);
}
