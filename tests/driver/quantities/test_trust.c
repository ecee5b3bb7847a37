/* SPDX-License-Identifier: MIT */
/* The cost of an empty region, and the rules that sound values keep. Each rule is broken once, and kept once. */
#include <jansson.h>

#include "architecture_files.h"
#include "quantities/invariants.h"
#include "quantities/own_cost.h"
#include "testing.h"

#define NR_RUNS 10

/* All runs of a pass are like that one. */
static struct pass_samples
samples_of(struct pass_run run)
{
	struct pass_samples samples = {.runs = rot_calloc(NR_RUNS, sizeof(*samples.runs)), .nr_runs = NR_RUNS};

	for (size_t i = 0; i < NR_RUNS; i++)
		samples.runs[i] = run;
	return samples;
}

static struct quantity_value
bytes(const char *border, double measured, double compulsory)
{
	struct quantity_value value = {.request = {.name = "transferredBytes", .border = border},
				       .name = "transferredBytes",
				       .of = border,
				       .unit = "byte",
				       .kind = "measured",
				       .grade = "",
				       .expected = NAN,
				       .compulsory = compulsory,
				       .nr_samples = 1,
				       .samples = rot_calloc(1, sizeof(double)),
				       .taints = rot_calloc(1, sizeof(unsigned)),
				       .summary = summary_single(measured, "median")};

	value.source = "";
	value.samples[0] = measured;
	return value;
}

static void
clear(struct quantity_value *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		quantity_value_clear(&values[i]);
}

TEST(time_of_an_empty_region)
{
	struct architecture *none = architecture_kept("none");
	struct pass passes[1] = {{.nr_events = 0}};
	const struct pass_plan plan = {passes, 1};
	struct pass_samples samples = samples_of((struct pass_run){.wall_ns = 20000, .tsc_ticks = 42000}),
			    empty = samples_of((struct pass_run){.wall_ns = 50, .tsc_ticks = 500});
	const struct quantity_part wall = {.source = PART_WALL, .kind = "measured", .text = ""},
				   ticks = {.source = PART_TSC, .kind = "measured", .text = ""},
				   known = {.source = PART_KNOWN, .known = 7, .kind = "expected", .text = ""};
	const struct quantity_resolution time = {.request = {.name = "time", .clock = "microSeconds"},
						 .numerator = wall,
						 .scale = 1e-3},
					 rate = {.request = {.name = "performance", .clock = "tsc"},
						 .numerator = known,
						 .denominator = ticks,
						 .has_denominator = true,
						 .scale = 1};
	struct quantity_value value = {.nr_samples = 0};

	ck_assert_int_eq(own_cost_compute(&value, &time, none, &plan, &samples, &empty, &why), 0);
	ck_assert(value.own_cost.is_known);
	ck_assert_double_eq_tol(value.own_cost.top, 0.05, 1e-12);
	ck_assert_double_eq_tol(value.own_cost.top_share, 0.0025, 1e-12);
	ck_assert(isnan(value.own_cost.bottom));
	ck_assert(!own_cost_is_high(&value.own_cost));

	ck_assert_int_eq(own_cost_compute(&value, &rate, none, &plan, &samples, &empty, &why), 0);
	ck_assert(isnan(value.own_cost.top));
	ck_assert_double_eq_tol(value.own_cost.bottom, 500, 1e-9);
	ck_assert_double_eq_tol(value.own_cost.bottom_share, 500. / 42000, 1e-12);
	ck_assert(own_cost_is_high(&value.own_cost));
	pass_samples_clear(&samples);
	pass_samples_clear(&empty);
}

TEST(nothing_of_nothing_is_no_share)
{
	struct architecture *zen5 = architecture_kept("zen5");
	const struct architecture_formula *formula = architecture_formula(zen5, "instructions", "");
	struct pass passes[1] = {{.events = {formula->events[0]}, .nr_events = 1}};
	const struct pass_plan plan = {passes, 1};
	struct pass_samples samples = samples_of((struct pass_run){.wall_ns = 1}),
			    busy = samples_of((struct pass_run){.wall_ns = 1, .counts = {100}});
	const struct quantity_resolution resolution = {
		.request = {.name = "instructions"},
		.numerator = {.source = PART_COUNTED, .formula = formula, .kind = "measured", .text = ""},
		.scale = 1};
	struct quantity_value value = {.nr_samples = 0};

	ck_assert_int_eq(own_cost_compute(&value, &resolution, zen5, &plan, &samples, &samples, &why), 0);
	ck_assert(value.own_cost.is_known);
	ck_assert_double_eq(value.own_cost.top, 0);
	ck_assert(isnan(value.own_cost.top_share));
	ck_assert(!own_cost_is_high(&value.own_cost));
	ck_assert_int_eq(own_cost_compute(&value, &resolution, zen5, &plan, &busy, &samples, &why), 0);
	ck_assert_double_eq(value.own_cost.top_share, 0);
	pass_samples_clear(&samples);
	pass_samples_clear(&busy);
}

/* outer and inner bytes, and whether the outer value breaks the rule. */
TEST(borders_are_ordered)
{
	static const struct {
		const char *inner, *outer;
		double inner_bytes, outer_bytes;
		bool is_broken;
	} rows[] = {
		{"l2l3.read", "llcRam.read", 1000, 1000, false},
		{"l2l3.read", "llcRam.read", 1000, 1049, false},
		{"l2l3.read", "llcRam.read", 1000, 1050, false},
		{"l2l3.read", "llcRam.read", 1000, 1051, true},
		{"cpuL1.read", "llcRam.read", 1000, 2000, false}, /* single bytes before, whole lines behind */
		{"l2l3.read", "llcRam.write", 1000, 2000, false},
		{"llcRam.read", "l1l2.read", 1000, 2000, false},
		{"l1l2", "l2l3", 1000, 2000, true},
		{"l1l2", "l2l3.read", 1000, 2000, false},
		{"l1l2.write", "l2l3.write", 1000, 2000, true},
		{"l1l2.read", "llcRam.read", 1000, 2000, true},
		{"l2l3.read", "l2l3.read", 1000, 2000, false}, /* twice the same */
		{"l1.read", "l2l3.read", 1000, 2000, false},   /* no borders */
		{"l9l9.read", "l2l3.read", 1000, 2000, false},
		{"l1l2.read", "l9l9.read", 1000, 2000, false},
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) { /* the outer value comes last, and first */
		const size_t row = i / 2, outer = i % 2, inner = !outer;
		struct quantity_value values[2];

		values[inner] = bytes(rows[row].inner, rows[row].inner_bytes, 0);
		values[outer] = bytes(rows[row].outer, rows[row].outer_bytes, 0);
		invariants_check_bytes(values, 2);
		ck_assert_uint_eq(values[inner].nr_breaches, 0);
		ck_assert_msg(values[outer].nr_breaches == rows[row].is_broken, "row %zu", row);
		if (rows[row].is_broken) {
			const struct quantity_breach *breach = &values[outer].breaches[0];

			ck_assert_str_eq(breach->rule, "bordersOrdered");
			ck_assert_double_eq(breach->found, rows[row].outer_bytes);
			ck_assert_double_eq(breach->bound, 1000);
			ck_assert_has(breach->text, rows[row].inner);
			ck_assert_has(breach->text, rows[row].outer);
			ck_assert_uint_eq(breach->nr_runs, 0);
		}
		clear(values, 2);
	}
}

/* Stores that went round the caches in between are no breach; why else there may be one, the text says. */
TEST(stores_may_go_round_caches)
{
	static const struct {
		const char *inner, *outer;
		bool goes_round;
		const char *text;
	} rows[] = {
		{"l2l3.write", "llcRam.write", true, NULL},
		{"l2l3.write", "llcRam.write", false, "stores that go round caches"},
		{"l2l3", "llcRam", true, NULL},
		{"l2l3", "llcRam", false, "stores that go round caches"},
		{"l2l3.read", "llcRam.read", false, "(prefetching does that; else"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct quantity_value values[] = {bytes(rows[i].inner, 1, 0), bytes(rows[i].outer, 2, 0)};

		values[1].goes_round = rows[i].goes_round;
		invariants_check_bytes(values, 2);
		ck_assert_uint_eq(values[0].nr_breaches, 0);
		ck_assert_uint_eq(values[1].nr_breaches, rows[i].text != NULL);
		if (rows[i].text)
			ck_assert_has(values[1].breaches[0].text, rows[i].text);
		clear(values, 2);
	}
}

/* Two values would break both rules; each row makes some of them keep them. */
static const struct {
	const char *kind, *name, *border;
	size_t nr_samples, nr_breaches;
} byte_values[] = {
	{"measured", "transferredBytes", "llcRam", 1, 2},     {"modelled", "transferredBytes", "llcRam", 1, 2},
	{"expected", "transferredBytes", "llcRam", 1, 0},     {"measured", "throughput", "llcRam", 1, 0},
	{"measured", "transferredBytes", NULL, 1, 0},         {"measured", "transferredBytes", "llcRam", 0, 0},
	{"measured", "transferredBytes", "cpuL1.read", 1, 1}, /* fewer than must cross, of the innermost too */
};

TEST_OF(counted_bytes_keep_rules, NR_ELEMENTS(byte_values))
{
	struct quantity_value values[] = {bytes("l2l3", 1, 0), bytes("llcRam", 2, 100)};

	values[1].kind = byte_values[_i].kind;
	values[1].name = byte_values[_i].name;
	values[1].request.border = byte_values[_i].border;
	values[1].nr_samples = byte_values[_i].nr_samples;
	invariants_check_bytes(values, 2);
	ck_assert_uint_eq(values[0].nr_breaches, 0);
	ck_assert_uint_eq(values[1].nr_breaches, byte_values[_i].nr_breaches);
	clear(values, 2);
}

/* Two breaches are the same if they are of one rule and say the same. */
TEST(breaches_are_kept_once)
{
	static const struct {
		const char *rule, *text;
		size_t nr;
	} breaches[] = {{"a", "one", 1}, {"a", "two", 2}, {"b", "one", 3}, {"a", "two", 3}, {"b", "one", 3}};
	struct quantity_value value = bytes("llcRam", 1, 0);

	for (size_t i = 0; i < NR_ELEMENTS(breaches); i++) {
		quantity_breach_add(&value, breaches[i].rule, 1, 2, rot_strdup(breaches[i].text));
		ck_assert_uint_eq(value.nr_breaches, breaches[i].nr);
	}
	ck_assert_str_eq(value.breaches[1].text, "two");
	ck_assert(value.breaches[2].found == 1 && value.breaches[2].bound == 2 && value.breaches[2].nr_runs == 0);
	clear(&value, 1);
}

TEST(no_fewer_bytes_than_must_cross)
{
	struct quantity_value values[] = {bytes("llcRam", 900, 1000), bytes("l2l3", 899, 1000), bytes("l1l2", 950, 0)};
	json_t *json, *rule;

	invariants_check_bytes(values, 3);
	ck_assert_uint_eq(values[0].nr_breaches, 0);
	ck_assert_uint_eq(values[1].nr_breaches, 1);
	ck_assert_uint_eq(values[2].nr_breaches, 0);
	invariants_check_bytes(values, 3); /* not told twice */
	ck_assert_uint_eq(values[1].nr_breaches, 1);
	json = quantity_value_json(&values[1]);
	rule = json_array_get(json_object_get(json, "brokenRules"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(rule, "rule")), "atLeastCompulsory");
	ck_assert_double_eq(json_number_value(json_object_get(rule, "found")), 899);
	ck_assert_double_eq(json_number_value(json_object_get(rule, "bound")), 900);
	ck_assert_double_eq(json_number_value(json_object_get(json, "compulsory")), 1000);
	ck_assert_has(values[1].breaches[0].text, "899 bytes counted across l2l3, less than 0.9 of the "
						  "1000");
	json_decref(json);
	clear(values, 3);
}

/* Two passes that both count instructions and cycles; the second counts that many. */
static size_t
breaches_of_passes(double instructions, double cycles, bool is_scattered, unsigned taints)
{
	struct architecture *zen5 = architecture_kept("zen5");
	const struct architecture_formula *counts[] = {architecture_formula(zen5, "instructions", ""),
						       architecture_formula(zen5, "time", "coreCycles")};
	const size_t events[] = {counts[0]->events[0], counts[1]->events[0]};
	struct pass passes[2] = {{.events = {events[0], events[1]}, .nr_events = 2},
				 {.events = {events[1], events[0]}, .nr_events = 2}};
	const struct pass_plan plan = {passes, 2};
	struct pass_samples samples[] = {samples_of((struct pass_run){.counts = {10000, 5000}}),
					 samples_of((struct pass_run){.counts = {cycles, instructions}})};
	struct quantity_value value = bytes("llcRam", 1, 0);
	size_t nr;

	for (size_t i = 0; is_scattered && i < NR_RUNS; i += 2)
		samples[1].runs[i].counts[0] = 4000;
	for (size_t i = 0; i < NR_RUNS; i++)
		samples[1].runs[i].taints = taints;
	ck_assert_int_eq(invariants_check_passes(&value, 1, zen5, &plan, samples, &why), 0);
	nr = value.nr_breaches;
	for (size_t i = 0; i < nr; i++)
		ck_assert_str_eq(value.breaches[i].rule, "passesAgree");
	if (nr == 2) {
		ck_assert(value.breaches[0].found == instructions && value.breaches[0].bound == 10000);
		ck_assert_has(value.breaches[0].text, "passes 1 and 2 counted 10000 and 9000 "
						      "instructions");
		ck_assert_has(value.breaches[1].text, "core cycles");
	}
	clear(&value, 1);
	pass_samples_clear(&samples[0]);
	pass_samples_clear(&samples[1]);
	return nr;
}

TEST(passes_agree)
{
	ck_assert_uint_eq(breaches_of_passes(10000, 5000, false, 0), 0);
	ck_assert_uint_eq(breaches_of_passes(10099, 5200, false, 0), 0);
	ck_assert_uint_eq(breaches_of_passes(10101, 5000, false, 0), 0);
	ck_assert_uint_eq(breaches_of_passes(10102, 5000, false, 0), 1);
	ck_assert_uint_eq(breaches_of_passes(9900, 5000, false, 0), 0);
	ck_assert_uint_eq(breaches_of_passes(9899, 5000, false, 0), 1);
	ck_assert_uint_eq(breaches_of_passes(10000, 5263, false, 0), 0);
	ck_assert_uint_eq(breaches_of_passes(10000, 5300, false, 0), 1);
	ck_assert_uint_eq(breaches_of_passes(9000, 7000, false, 0), 2);
	ck_assert_uint_eq(breaches_of_passes(9000, 7000, false, TAINT_STEAL), 0); /* of no run it is known */
	ck_assert_uint_eq(breaches_of_passes(10000, 7000, true, 0),
			  0); /* nobody knows how many cycles the second took */
}

/*
 * Three passes: one of the clocks, the second with its interval where ten runs of 1000 have it, the third with another.
 * Ranks 2 and 9 of ten are the interval; fewer than six have none.
 */
static const struct {
	const char *what;
	size_t nr_runs;
	double counts[NR_RUNS];
	bool is_broken;
} third_passes[] = {
	{"it begins where the other one is", 10, {1000, 1000, 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1100}, false},
	{"it begins behind it", 10, {1000, 1001, 1100, 1100, 1100, 1100, 1100, 1100, 1100, 1100}, true},
	{"it ends where the other one is", 10, {900, 900, 900, 900, 900, 900, 900, 900, 1000, 1000}, false},
	{"it ends before it", 10, {900, 900, 900, 900, 900, 900, 900, 900, 999, 1000}, true},
	{"it has none", 5, {1000, 1000, 1100, 1100, 1100}, true},
	{"it is within the tolerance", 5, {1000, 1000, 1005, 1100, 1100}, false},
	{"it has one run, above", 1, {10001}, true},
	{"it has one run, below", 1, {100}, true},
	{"it has no runs", 0, {0}, false},
};

TEST_OF(intervals_of_passes_overlap, NR_ELEMENTS(third_passes))
{
	struct architecture *zen5 = architecture_kept("zen5");
	const size_t event = architecture_formula(zen5, "instructions", "")->events[0];
	struct pass passes[] = {
		{.nr_events = 0}, {.events = {event}, .nr_events = 1}, {.events = {event}, .nr_events = 1}};
	const struct pass_plan plan = {passes, NR_ELEMENTS(passes)};
	struct pass_samples samples[] = {samples_of((struct pass_run){.wall_ns = 5}),
					 samples_of((struct pass_run){.counts = {1000}}),
					 samples_of((struct pass_run){.counts = {1000}})};
	struct quantity_value values[] = {bytes("llcRam", 1, 0), bytes("l2l3", 1, 0)};

	values[1].kind = "expected";
	samples[2].nr_runs = third_passes[_i].nr_runs;
	for (size_t i = 0; i < NR_RUNS; i++)
		samples[2].runs[i].counts[0] = third_passes[_i].counts[i];
	ck_assert_int_eq(invariants_check_passes(values, 2, zen5, &plan, samples, &why), 0);
	ck_assert_msg(values[0].nr_breaches == third_passes[_i].is_broken, "%s", third_passes[_i].what);
	ck_assert_uint_eq(values[1].nr_breaches, 0);
	if (third_passes[_i].is_broken)
		ck_assert_has(values[0].breaches[0].text, "passes 2 and 3 counted 1000 and ");
	clear(values, 2);
	for (int i = 0; i < NR_ELEMENTS(samples); i++) {
		samples[i].nr_runs = NR_RUNS;
		pass_samples_clear(&samples[i]);
	}
}

/* The breaches of bytes counted in a pass whose two runs counted so many instructions. */
static size_t
breaches_of_steps(double first, double second, bool is_stepped, unsigned taints)
{
	struct architecture *steps = architecture_kept("steps");
	struct pass passes[2] = {{.nr_events = 0}, {.events = {0}, .nr_events = 1, .is_stepped = is_stepped}};
	const struct pass_plan plan = {passes, 2};
	struct pass_samples samples[] = {samples_of((struct pass_run){.wall_ns = 5}),
					 samples_of((struct pass_run){.counts = {first}})};
	struct quantity_value values[] = {bytes("cpuL1", 1, 0), bytes("cpuL1", 1, 0)};
	size_t nr;

	values[1].request.border = NULL; /* a time, say */
	samples[1].nr_runs = STEP_RUNS;
	samples[1].runs[1].counts[0] = second;
	samples[1].runs[1].taints = taints;
	invariants_check_steps(values, 2, steps, &plan, samples, false);
	nr = values[0].nr_breaches;
	ck_assert_uint_eq(values[1].nr_breaches, 0);
	if (nr)
		ck_assert_str_eq(values[0].breaches[0].rule, "stepsAgree");
	clear(values, 2);
	samples[1].nr_runs = NR_RUNS;
	pass_samples_clear(&samples[0]);
	pass_samples_clear(&samples[1]);
	return nr;
}

/* The worse of two runs is told, of what is counted by steps. */
TEST(steps_tell_what_they_miss)
{
	struct architecture *steps = architecture_kept("steps");
	struct pass passes[] = {{.events = {0}, .nr_events = 1, .is_stepped = true}};
	const struct pass_plan plan = {passes, 1};
	struct pass_samples samples[] = {samples_of((struct pass_run){.counts = {1e6}, .unknown_steps = 3})};
	struct quantity_value values[] = {bytes("cpuL1", 1, 0), bytes("cpuL1", 1, 0)};

	values[1].name = "operationCount";
	values[1].request = (struct quantity_request){.name = "operationCount", .operation = "instructions"};
	samples[0].nr_runs = STEP_RUNS;
	samples[0].runs[0].first_unknown = "xsaveopt at 0x1139";
	samples[0].runs[1].first_unknown = "maskmovq at 0x2000";
	samples[0].runs[1].unknown_steps = 4;
	invariants_check_steps(values, 2, steps, &plan, samples, false);
	ck_assert_uint_eq(values[0].nr_breaches, 1);
	ck_assert_str_eq(values[0].breaches[0].rule, "stepsKnown");
	ck_assert_double_eq(values[0].breaches[0].found, 4);
	ck_assert_has(values[0].breaches[0].text, "what 4 executed instructions do (the first: ");
	ck_assert_has(values[0].breaches[0].text, "maskmovq at 0x2000");
	ck_assert_uint_eq(values[1].nr_breaches, 0); /* instructions are counted whatever they do */
	clear(values, 2);
	samples[0].nr_runs = NR_RUNS;
	pass_samples_clear(&samples[0]);
}

/* Which values say what of a pass by steps with instructions that nobody knows. */
static const struct {
	const char *name, *operation, *border, *kind;
	size_t nr_breaches;
} step_values[] = {
	{"transferredBytes", NULL, "cpuL1", "measured", 2},
	{"transferredBytes", NULL, "l1l2", "modelled", 2},
	{"operationCount", "flop", NULL, "measured", 2},
	{"operationCount", "instructions", NULL, "measured", 1},
	{"instructions", NULL, NULL, "measured", 1},
	{"performance", "instructions", NULL, "measured", 2},
	{"time", NULL, NULL, "measured", 0},
	{"transferredBytes", NULL, "cpuL1", "expected", 0},
};

TEST_OF(values_of_steps, NR_ELEMENTS(step_values))
{
	struct architecture *steps = architecture_kept("steps");
	struct pass passes[] = {{.events = {0}, .nr_events = 1, .is_stepped = true}};
	const struct pass_plan plan = {passes, 1};
	struct pass_samples samples[] = {samples_of(
		(struct pass_run){.counts = {1e6}, .unknown_steps = 1, .first_unknown = "xsaveopt at 0x1139"})};
	struct quantity_value value = bytes("", 1, 0);

	value.name = step_values[_i].name;
	value.kind = step_values[_i].kind;
	value.request = (struct quantity_request){
		.name = value.name, .operation = step_values[_i].operation, .border = step_values[_i].border};
	samples[0].runs[1].counts[0]++;
	samples[0].runs[1].first_unknown = "of as many"; /* the first counts */
	invariants_check_steps(&value, 1, steps, &plan, samples, false);
	ck_assert_msg(value.nr_breaches == step_values[_i].nr_breaches, "%s: %zu", step_values[_i].name,
		      value.nr_breaches);
	if (value.nr_breaches > 0) {
		ck_assert_str_eq(value.breaches[0].rule, "stepsAgree");
		ck_assert(value.breaches[0].found == 1e6 + 1 && value.breaches[0].bound == 1e6);
	}
	if (value.nr_breaches == 2)
		ck_assert_has(value.breaches[1].text, "xsaveopt at 0x1139");
	clear(&value, 1);
	pass_samples_clear(&samples[0]);
}

/* A pass by steps without runs says nothing, and one that does not count instructions not whether they agree. */
TEST(steps_without_runs_or_instructions)
{
	struct architecture *steps = architecture_kept("steps");
	struct pass passes[] = {{.events = {0}, .nr_events = 1, .is_stepped = true},
				{.events = {1}, .nr_events = 1, .is_stepped = true}};
	const struct pass_plan plan = {passes, 2};
	struct pass_samples samples[] = {
		{.nr_runs = 0},
		samples_of((struct pass_run){.counts = {1e6, 1e6}, .unknown_steps = 1, .first_unknown = "x"})};
	struct quantity_value value = bytes("cpuL1", 1, 0);

	samples[1].runs[1].counts[0] = samples[1].runs[1].counts[1] = 5;
	invariants_check_steps(&value, 1, steps, &plan, samples, false);
	ck_assert_uint_eq(value.nr_breaches, 1);
	ck_assert_str_eq(value.breaches[0].rule, "stepsKnown");
	clear(&value, 1);
	pass_samples_clear(&samples[1]);
}

TEST(steps_agree)
{
	ck_assert_uint_eq(breaches_of_steps(1e6, 1e6, true, 0), 0);
	ck_assert_uint_eq(breaches_of_steps(1e6, 1e6 + 1, true, 0), 1);
	ck_assert_uint_eq(breaches_of_steps(1e6 + 1, 1e6, true, 0), 1);
	ck_assert_uint_eq(breaches_of_steps(1e6, 1e6 + 1, false, 0), 0);
	ck_assert_uint_eq(breaches_of_steps(1e6, 2e6, true, TAINT_UNMEASURED_THREAD), 0);
}

/* Ten runs of bytes; those of the array are so many times as many. */
static void
set_runs(struct quantity_value *value, double each, const double *factors)
{
	free(value->samples);
	free(value->taints);
	value->samples = rot_calloc(NR_RUNS, sizeof(*value->samples));
	value->taints = rot_calloc(NR_RUNS, sizeof(*value->taints));
	value->nr_samples = NR_RUNS;
	for (size_t i = 0; i < NR_RUNS; i++)
		value->samples[i] = each * (factors && factors[i] ? factors[i] : 1);
}

/* Bytes of each run, factors of some of the outer border, and how many runs break a rule although the others keep it.
 */
static const struct {
	const char *what;
	double bytes, compulsory, factors[NR_RUNS];
	const char *rule;
	size_t nr_broken;
} run_rows[] = {
	{"all alike", 1e6, 1e6, {0}, NULL, 0},
	{"two count more than what is nearer", 1e6, 0, {0, 1.2, 0, 1.1}, "bordersOrdered", 2},
	{"within the tolerance", 1e6, 0, {0, 1.04}, NULL, 0},
	{"too little to tell", 1e4, 0, {0, 3}, NULL, 0},
	{"most do: the value is doubtful, not the runs", 1e6, 0, {2, 2, 2, 2, 2, 2}, NULL, 0},
	{"half do", 1e6, 0, {2, 2, 2, 2, 2}, NULL, 0},
	{"the first does", 1e6, 0, {2}, "bordersOrdered", 1},
	{"nearly half do", 1e6, 0, {0, 0, 2, 1.5, 2, 0, 2}, "bordersOrdered", 4},
	{"one lost half", 1e6, 1e6, {[9] = 0.5}, "atLeastCompulsory", 1},
	{"none has all", 1e6, 2e6, {[9] = 0.5}, NULL, 0},
	{"one has a little less", 1e6, 1e6, {[9] = 0.91}, NULL, 0},
};

TEST_OF(runs_that_break_a_rule_are_found, NR_ELEMENTS(run_rows))
{
	struct quantity_value values[] = {bytes("llcRam.read", 1, run_rows[_i].compulsory), bytes("l2l3.read", 1, 0)};
	bool broken[NR_RUNS] = {false}, is_broken;
	size_t first = 0;

	set_runs(&values[0], run_rows[_i].bytes, run_rows[_i].factors);
	set_runs(&values[1], run_rows[_i].bytes, NULL);
	ck_assert_msg(invariants_check_runs(values, 2, broken, NR_RUNS) == run_rows[_i].nr_broken, "%s",
		      run_rows[_i].what);
	for (size_t i = 0; i < NR_RUNS; i++) {
		is_broken = run_rows[_i].nr_broken && run_rows[_i].factors[i] != 0;
		ck_assert_msg(broken[i] == is_broken, "%s, run %zu", run_rows[_i].what, i);
	}
	ck_assert_uint_eq(values[0].nr_breaches, run_rows[_i].rule != NULL);
	ck_assert_uint_eq(values[1].nr_breaches, 0);
	if (run_rows[_i].rule) {
		ck_assert_str_eq(values[0].breaches[0].rule, run_rows[_i].rule);
		ck_assert_uint_eq(values[0].breaches[0].nr_runs, run_rows[_i].nr_broken);
		while (run_rows[_i].factors[first] == 0)
			first++;
		ck_assert_double_eq(values[0].breaches[0].found, values[0].samples[first]);
		ck_assert_double_eq_tol(values[0].breaches[0].bound,
					run_rows[_i].compulsory > 0 ? 0.9 * run_rows[_i].compulsory : 1.05e6, 1e-6);
		ck_assert_has(values[0].breaches[0].text, "left out");
	}
	clear(values, 2);
}

/* Runs that are left out for something else keep no rule, and break none. */
TEST(disturbed_runs_are_not_looked_at)
{
	const double factors[NR_RUNS] = {3, 3};
	struct quantity_value values[] = {bytes("llcRam.read", 1, 0), bytes("l2l3.read", 1, 0)};

	set_runs(&values[0], 1e6, factors);
	set_runs(&values[1], 1e6, NULL);
	values[0].taints[0] = TAINT_OVERFLOW;
	values[1].taints[1] = TAINT_MIGRATION;
	ck_assert_uint_eq(invariants_check_runs(values, 2, NULL, NR_RUNS), 0);
	values[0].taints[0] = values[1].taints[1] = TAINT_BROKEN_RULE; /* looked at again */
	ck_assert_uint_eq(invariants_check_runs(values, 2, NULL, NR_RUNS), 2);
	clear(values, 2);
}

/* By how many bytes one run of ten breaks a rule. */
static const struct {
	const char *what;
	double outer, inner, compulsory;
	size_t nr_broken;
} byte_limits[] = {
	{"bytes that nothing crossed nearer to the core", 32768, 0, 0, 0},
	{"and one more", 32769, 0, 0, 1},
	{"fewer than must cross", 1e6 - 32768, 1e7, 1e6 / 0.9, 0},
	{"and one less", 1e6 - 32769, 1e7, 1e6 / 0.9, 1},
};

TEST_OF(few_bytes_say_nothing, NR_ELEMENTS(byte_limits))
{
	struct quantity_value values[] = {bytes("llcRam.read", 1, byte_limits[_i].compulsory),
					  bytes("l2l3.read", 1, 0)};

	set_runs(&values[0], 1e7, NULL);
	set_runs(&values[1], 1e7, NULL);
	values[0].samples[4] = byte_limits[_i].outer;
	values[1].samples[4] = byte_limits[_i].inner;
	ck_assert_msg(invariants_check_runs(values, 2, NULL, NR_RUNS) == byte_limits[_i].nr_broken, "%s",
		      byte_limits[_i].what);
	clear(values, 2);
}

/* A broken rule stays so; runs that break different ones are counted together; there may be fewer runs. */
TEST(rules_add_up)
{
	const double factors[NR_RUNS] = {[1] = 0.5, [2] = 2, [8] = 2};
	struct quantity_value values[] = {bytes("llcRam.read", 1, 1e6), bytes("l2l3.read", 1, 0)};
	bool broken[NR_RUNS] = {[6] = true};

	set_runs(&values[0], 1e6, factors);
	set_runs(&values[1], 1e6, NULL);
	values[1].nr_samples = 8;
	ck_assert_uint_eq(invariants_check_runs(values, 2, broken, NR_RUNS), 2);
	for (size_t i = 0; i < NR_RUNS; i++)
		ck_assert_msg(broken[i] == (i == 1 || i == 2 || i == 6), "run %zu", i);
	ck_assert_uint_eq(values[0].nr_breaches, 2);
	ck_assert_str_eq(values[0].breaches[0].rule, "atLeastCompulsory");
	ck_assert_has(values[0].breaches[0].text, "in 1 of 10 runs less than 0.9 of the 1e+06 bytes");
	ck_assert_str_eq(values[0].breaches[1].rule, "bordersOrdered");
	ck_assert_has(values[0].breaches[1].text, "in 1 of 8 runs more bytes crossed llcRam.read than "
						  "l2l3.read");
	clear(values, 2);
}

/* Runs of two passes; those of the second that are odd have so many instructions more. */
static size_t
tainted_by_instructions(double more, size_t nr_odd, unsigned taints)
{
	struct architecture *zen5 = architecture_kept("zen5");
	const size_t event = architecture_formula(zen5, "instructions", "")->events[0];
	struct pass passes[2] = {{.events = {event}, .nr_events = 1}, {.events = {event}, .nr_events = 1}};
	const struct pass_plan plan = {passes, 2};
	struct pass_samples samples[] = {samples_of((struct pass_run){.counts = {1e6}}),
					 samples_of((struct pass_run){.counts = {1e6}})};
	size_t nr, nr_tainted = 0;

	for (size_t i = 0; i < nr_odd; i++)
		samples[i / NR_RUNS].runs[i % NR_RUNS].counts[0] += more;
	samples[0].runs[0].taints = taints;
	nr = invariants_taint_passes(zen5, &plan, samples);
	samples[0].runs[0].taints &= ~taints;
	for (size_t i = 0; i < 2 * NR_RUNS; i++) {
		bool is_tainted = samples[i / NR_RUNS].runs[i % NR_RUNS].taints == TAINT_BROKEN_RULE;

		ck_assert(is_tainted == (nr > 0 && i < nr_odd && (i > 0 || taints == 0)));
		nr_tainted += is_tainted;
	}
	ck_assert_uint_eq(nr, nr_tainted);
	pass_samples_clear(&samples[0]);
	pass_samples_clear(&samples[1]);
	return nr;
}

/* Counts of single runs of a pass, which of them are off, or none as no more than half agree. */
static const struct {
	size_t nr;
	double counts[4];
	unsigned off; /* bits: those that are left out */
} counts_of_runs[] = {
	{3, {1000, 989.95, 1010}, 1 << 1},
	{3, {1000, 990, 1010.05}, 1 << 2},
	{4, {1000, 1000, 1020, 900}, 0},
	{4, {1000, 1000, 1000, 900}, 1 << 3},
	{2, {1000, 900}, 0},
	{1, {1000}, 0},
};

TEST_OF(half_of_the_runs_must_agree, NR_ELEMENTS(counts_of_runs))
{
	struct architecture *zen5 = architecture_kept("zen5");
	struct pass passes[] = {
		{.events = {architecture_formula(zen5, "instructions", "")->events[0]}, .nr_events = 1}};
	const struct pass_plan plan = {passes, 1};
	cleared_by(pass_samples_clear) struct pass_samples samples = samples_of((struct pass_run){.wall_ns = 1});

	samples.nr_runs = counts_of_runs[_i].nr;
	for (size_t i = 0; i < samples.nr_runs; i++)
		samples.runs[i].counts[0] = counts_of_runs[_i].counts[i];
	ck_assert_uint_eq(invariants_taint_passes(zen5, &plan, &samples), counts_of_runs[_i].off != 0);
	for (size_t i = 0; i < samples.nr_runs; i++)
		ck_assert_int_eq(samples.runs[i].taints != 0, counts_of_runs[_i].off >> i & 1);
	samples.nr_runs = NR_RUNS;
}

/* All values that are counted are told, and runs of all are looked at, in whatever order they stand. */
TEST(all_values_are_looked_at)
{
	const double factors[NR_RUNS] = {[3] = 2};
	struct quantity_value values[] = {bytes("l2l3", 1, 0), bytes("cpuL1", 1, 0), bytes("llcRam", 1, 0),
					  bytes("llcRam", 1, 1e6)};

	for (int i = 0; i < NR_ELEMENTS(values); i++)
		set_runs(&values[i], 1e6, i == 2 ? factors : NULL);
	values[3].kind = "expected";
	values[3].samples[5] = 1;
	ck_assert_uint_eq(invariants_check_runs(values, NR_ELEMENTS(values), NULL, NR_RUNS), 1);
	ck_assert_uint_eq(values[2].nr_breaches, 1);
	invariants_note_passes(values, NR_ELEMENTS(values), 1);
	for (int i = 0; i < NR_ELEMENTS(values); i++)
		ck_assert_uint_eq(values[i].nr_breaches, i == 3 ? 0 : i == 2 ? 2 : 1);
	clear(values, NR_ELEMENTS(values));
}

TEST(runs_of_passes_agree)
{
	struct quantity_value value = bytes("llcRam", 1, 0);

	ck_assert_uint_eq(tainted_by_instructions(0, 1, 0), 0);
	ck_assert_uint_eq(tainted_by_instructions(10000, 3, 0), 0);
	ck_assert_uint_eq(tainted_by_instructions(10001, 3, 0), 3);
	ck_assert_uint_eq(tainted_by_instructions(-10001, 3, 0), 3);
	ck_assert_uint_eq(tainted_by_instructions(-2e5, 9, 0), 9);
	ck_assert_uint_eq(tainted_by_instructions(2e5, 10, 0), 0);              /* who is right? */
	ck_assert_uint_eq(tainted_by_instructions(2e5, 3, TAINT_MIGRATION), 2); /* the first is left out already */
	ck_assert_uint_eq(tainted_by_instructions(2e5, 10, TAINT_MIGRATION), 9);
	invariants_note_passes(&value, 1, 0);
	ck_assert_uint_eq(value.nr_breaches, 0);
	invariants_note_passes(&value, 1, 3);
	ck_assert_uint_eq(value.breaches[0].nr_runs, 3);
	ck_assert_str_eq(value.breaches[0].rule, "passesAgree");
	ck_assert(isnan(value.breaches[0].found) && isnan(value.breaches[0].bound));
	ck_assert_has(value.breaches[0].text, "of 3 runs are off by more than 1 %");
	invariants_note_passes(&value, 1, 1);
	ck_assert_has(value.breaches[1].text, "of 1 run are off");
	value.kind = "expected";
	invariants_note_passes(&value, 1, 2);
	ck_assert_uint_eq(value.nr_breaches, 2);
	clear(&value, 1);
}

/* A machine that counts no instructions, and passes that do not. */
TEST(runs_without_instructions_agree)
{
	struct architecture *none = architecture_kept("none"), *zen5 = architecture_kept("zen5");
	const size_t event = architecture_formula(zen5, "instructions", "")->events[0];
	struct pass passes[] = {{.events = {event + 1}, .nr_events = 1},
				{.events = {event + 1, event}, .nr_events = 2},
				{.nr_events = 0}};
	const struct pass_plan plan = {passes, NR_ELEMENTS(passes)};
	struct pass_samples samples[] = {samples_of((struct pass_run){.counts = {5, 5}}),
					 samples_of((struct pass_run){.counts = {5, 1e6}}),
					 samples_of((struct pass_run){.wall_ns = 5})};
	struct quantity_value value = bytes("llcRam", 1, 0);

	samples[1].runs[7].counts[1] = 2e6;
	ck_assert_uint_eq(invariants_taint_passes(none, &plan, samples), 0);
	ck_assert_int_eq(invariants_check_passes(&value, 1, none, &plan, samples, &why), 0);
	invariants_check_steps(&value, 1, none, &plan, samples, false);
	ck_assert_uint_eq(value.nr_breaches, 0);
	ck_assert_uint_eq(invariants_taint_passes(zen5, &plan, samples), 1);
	ck_assert_uint_eq(samples[1].runs[7].taints, TAINT_BROKEN_RULE);
	clear(&value, 1);
	for (int i = 0; i < NR_ELEMENTS(samples); i++)
		pass_samples_clear(&samples[i]);
}

/* A value, a ceiling, and whether it is above that. */
static const struct {
	double value, ceiling;
	size_t nr_samples;
	bool is_above;
} ceilings[] = {
	{106, 100, 1, true},       {105, 100, 1, false}, {104, 100, 1, false},      {106, 100, 0, false},
	{106, 0, 1, false},        {106, -1, 1, false},  {106, NAN, 1, false},      {NAN, 100, 1, false},
	{INFINITY, 100, 1, false}, {1.1, 1, 1, true},    {106, INFINITY, 1, false},
};

TEST_OF(values_below_ceilings, NR_ELEMENTS(ceilings))
{
	struct quantity_value value = bytes("llcRam", ceilings[_i].value, 0);

	value.nr_samples = ceilings[_i].nr_samples;
	invariants_check_ceiling(&value, ceilings[_i].ceiling, "memory load", "B/s", 1);
	ck_assert_uint_eq(value.nr_breaches, ceilings[_i].is_above);
	if (ceilings[_i].is_above) {
		ck_assert_double_eq(value.breaches[0].found, ceilings[_i].value);
		ck_assert_double_eq(value.breaches[0].bound, 1.05 * ceilings[_i].ceiling);
	}
	clear(&value, 1);
}

TEST(nothing_is_above_the_roof)
{
	struct quantity_value value = bytes("llcRam", 104, 0);

	invariants_check_ceiling(&value, 100, "memory load", "GB/s", 1e-9);
	ck_assert_uint_eq(value.nr_breaches, 0);
	value.summary.value = 106e9;
	invariants_check_ceiling(&value, 100e9, "memory load", "GB/s", 1e-9);
	ck_assert_uint_eq(value.nr_breaches, 1);
	ck_assert_str_eq(value.breaches[0].rule, "belowCeiling");
	ck_assert_has(value.breaches[0].text, "106 GB/s");
	ck_assert_has(value.breaches[0].text, "memory load, 100 GB/s");
	clear(&value, 1);
}

UNIT_TESTS(.is_in_one_process = true);
