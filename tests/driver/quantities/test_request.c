/* SPDX-License-Identifier: MIT */
/* Requests: their syntax, and how their parts are obtained on a machine. */
#include "architecture_files.h"
#include "quantities/resolve.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "testing.h"

/* ---- syntax ---- */

static const struct {
	const char *text, *written;
} requests[] = {
	{"time", "time"},
	{"time:coreCycles", "time:coreCycles"},
	{"time::tsc", "time:tsc"},
	{"performance:doublePrecisionFlop", "performance:doublePrecisionFlop"},
	{"throughput:llcRam.read:tsc", "throughput:llcRam.read:tsc"},
	{"throughput:tsc:llcRam.read", "throughput:llcRam.read:tsc"},
	{"operationalIntensity:doublePrecisionFlop:llcRam", "operationalIntensity:doublePrecisionFlop:llcRam"},
	{"operationalIntensity:llcRam:doublePrecisionFlop", "operationalIntensity:doublePrecisionFlop:llcRam"},
	{"transferredBytes:l2l3.read", "transferredBytes:l2l3.read"},
	{"operationCount:instructions", "operationCount:instructions"},
	{"instructions", "instructions"},
};

TEST_OF(test_request_is_understood, NR_ELEMENTS(requests))
{
	struct quantity_request request;
	autofree char *written = NULL;

	ck_assert_ok(quantity_parse(&request, requests[_i].text, &why));
	written = quantity_request_text(&request);
	ck_assert_str_eq(written, requests[_i].written);
	ck_assert(request.given_operations == 0 && request.given_bytes == 0);
}

static const struct {
	const char *text, *complaint, *hint;
} refused[] = {
	{"", "unknown quantity ''", "quantities are: time,"},
	{"performence:doublePrecisionFlop", "unknown quantity 'performence'", "'performance'"},
	{"performance:doublePrecisonFlop", "unknown word 'doublePrecisonFlop'", "'doublePrecisionFlop'"},
	{"performance", "'performance' needs an operation", "doublePrecisionFlop"},
	{"throughput:tsc", "'throughput' needs a border", "llcRam.write"},
	{"transferredBytes:doublePrecisionFlop", "unknown word 'doublePrecisionFlop'", "it takes: cpuL1"},
	{"time:tsc:coreCycles", "'tsc' and 'coreCycles' are both a clock", ""},
	{"interrupts:tsc", "unknown word 'tsc'", "no further words"},
};

TEST_OF(test_request_is_refused, NR_ELEMENTS(refused))
{
	struct quantity_request request;

	ck_assert_int_eq(quantity_parse(&request, refused[_i].text, &why), -1);
	ck_assert_has(why.text, refused[_i].complaint);
	ck_assert_has(why.hint, refused[_i].hint);
}

TEST(test_negative_given_value_is_refused)
{
	struct quantity_request request = {.name = "operationCount", .operation = "flop", .given_operations = -1};

	ck_assert_int_eq(quantity_request_check(&request, &why), -1);
	ck_assert_has(why.text, "negative");
}

/* ---- how the parts are obtained ---- */

static const struct {
	const char *architecture, *request, *clock;
	double given_operations, expected_operations, expected_bytes; /* 0: the kernel does not say */
	const char *of, *unit, *kind, *source;
} resolutions[] = {
	{"zen5", "operationCount:doublePrecisionFlop", "auto", 0, 0, 0, "doublePrecisionFlop", "flop", "measured",
	 "r8f03 + raf03"},
	{"zen5", "performance:flop", "auto", 0, 0, 0, "flop", "flop/cycle", "measured", "r0f03 per r0076 (user mode)"},
	{"zen5", "performance:flop:tsc", "auto", 0, 0, 0, "flop", "flop/TSC tick", "measured",
	 "r0f03 per time stamp counter"},
	{"zen5", "performance:flop", "microSeconds", 0, 0, 0, "flop", "flop/s", "measured",
	 "r0f03 per CLOCK_MONOTONIC_RAW"},
	{"zen5", "throughput:llcRam.read:referenceCycles", "auto", 0, 0, 0, "llcRam.read", "byte/reference cycle",
	 "measured", "64 * r100004865 per r100000120 (user mode)"},
	{"zen5", "time", "microSeconds", 0, 0, 0, "microSeconds", "us", "measured", "CLOCK_MONOTONIC_RAW"},
	{"zen5", "time", "auto", 0, 0, 0, "coreCycles", "cycle", "measured", "r0076 (user mode)"},
	{"zen5", "operationCount:flop", "auto", 7, 0, 0, "flop", "flop", "given", "given"},
	{"zen5", "instructions", "auto", 0, 0, 0, "", "instruction", "measured", "r00c0"},
	{"zen5", "contextSwitches", "auto", 0, 0, 0, "", "switch", "measured", "getrusage: voluntary and involuntary"},
	{"none", "contextSwitches", "auto", 0, 0, 0, "", "switch", "measured", "getrusage: voluntary and involuntary"},
	{"zen5", "migrations", "auto", 0, 0, 0, "", "migration", "measured", "sched_getcpu: before and after"},
	{"none", "throughput:disk.write", "auto", 0, 0, 1048576, "disk.write", "byte/s", "expected",
	 "kernel definition per CLOCK_MONOTONIC_RAW"},
	{"none", "time", "auto", 0, 0, 0, "microSeconds", "us", "measured", "CLOCK_MONOTONIC_RAW"},
	{"none", "operationCount:flop", "auto", 0, 20000, 0, "flop", "flop", "expected", "kernel definition"},
	{"none", "operationalIntensity:flop:llcRam", "auto", 0, 20000, 240000, "flop/llcRam", "flop/byte", "expected",
	 "kernel definition per kernel definition"},
	{"none", "performance:flop", "auto", 0, 20000, 0, "flop", "flop/s", "expected",
	 "kernel definition per CLOCK_MONOTONIC_RAW"},
	{"none", "performance:flop", "auto", 5, 20000, 0, "flop", "flop/s", "given", "given per CLOCK_MONOTONIC_RAW"},
	{"zen4", "operationCount:doublePrecisionFlop", "auto", 0, 20000, 0, "doublePrecisionFlop", "flop", "expected",
	 "kernel definition"},
	{"haswell", "operationCount:flop", "auto", 0, 20000, 0, "flop", "flop", "expected", "kernel definition"},
	{"none", "time:coreCycles", "auto", 0, 0, 0, "coreCycles", "cycle", "modelled",
	 "time stamp counter * clock probe"},
	{"none", "throughput:l1l2", "coreCycles", 0, 0, 240000, "l1l2", "byte/cycle", "expected",
	 "kernel definition per time stamp counter * clock probe"},
};

TEST_OF(test_parts_are_found, NR_ELEMENTS(resolutions))
{
	struct architecture *architecture = architecture_kept(resolutions[_i].architecture);
	const double operations = resolutions[_i].expected_operations, bytes = resolutions[_i].expected_bytes;
	const struct quantity_expectation expectation = {.operations = operations > 0 ? operations : NAN,
							 .bytes = bytes > 0 ? bytes : NAN,
							 .can_probe_clock = true};
	struct quantity_resolution resolution;
	struct quantity_request request;
	autofree char *of = NULL, *unit = NULL, *source = NULL;

	ck_assert_int_eq(quantity_parse(&request, resolutions[_i].request, &why), 0);
	request.given_operations = resolutions[_i].given_operations;
	ck_assert_ok(quantity_resolve(&resolution, architecture, &request, resolutions[_i].clock, &expectation, &why));
	of = quantity_resolution_of(&resolution);
	unit = quantity_resolution_unit(&resolution);
	source = quantity_resolution_source(&resolution);
	ck_assert_str_eq(of, resolutions[_i].of);
	ck_assert_str_eq(unit, resolutions[_i].unit);
	ck_assert_str_eq(source, resolutions[_i].source);
	ck_assert_str_eq(quantity_resolution_kind(&resolution), resolutions[_i].kind);
}

/* Where nobody asks for cycles, those that are counted wrong here are not taken. */
TEST_OF(test_automatic_clock_is_right, 2)
{
	struct architecture *architecture = architecture_kept("zen5");
	const struct quantity_expectation expectation = {.operations = NAN, .bytes = NAN};
	struct quantity_resolution resolution;
	struct quantity_request request;

	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		if (strcmp(architecture->formulas[i].of, "coreCycles") == 0)
			architecture->formulas[i].grade = "CF"[_i];
	}
	ck_assert_int_eq(quantity_parse(&request, "time", NULL), 0);
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &expectation, NULL), 0);
	ck_assert_str_eq(resolution.request.clock, _i ? "microSeconds" : "coreCycles");
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "coreCycles", &expectation, NULL), 0);
	ck_assert_str_eq(resolution.request.clock, "coreCycles");
}

/* A modelled write makes the intensity modelled. */
TEST(test_weakest_part_names_the_kind)
{
	struct architecture *architecture = architecture_kept("zen5");
	const struct quantity_expectation expectation = {.operations = 20000, .bytes = 240000};
	struct quantity_resolution resolution;
	struct quantity_request request;

	ck_assert_int_eq(quantity_parse(&request, "operationalIntensity:flop:llcRam", NULL), 0);
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &expectation, NULL), 0);
	ck_assert_str_eq(quantity_resolution_kind(&resolution), "modelled");
	ck_assert_double_eq_tol(resolution.expected, 20000.0 / 240000, 1e-15);
	ck_assert_str_eq(quantity_weaker_kind("measured", "measured"), "measured");
	ck_assert_str_eq(quantity_weaker_kind("expected", "modelled"), "expected");
	ck_assert_str_eq(quantity_weaker_kind("given", "expected"), "given");
}

/* Bytes expected of cold data say nothing of warm data, but are better than nothing where bytes cannot be counted. */
TEST(test_warm_data_have_no_expected_bytes)
{
	struct architecture *architecture = architecture_kept("none");
	const struct quantity_expectation expectation = {.operations = NAN, .bytes = 240000, .is_cold_only = true};
	struct quantity_resolution resolution;
	struct quantity_request request;

	ck_assert_int_eq(quantity_parse(&request, "transferredBytes:llcRam", NULL), 0);
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &expectation, NULL), 0);
	ck_assert(isnan(resolution.expected));
	ck_assert_str_eq(resolution.numerator.text, "kernel definition, for cold data");
}

/* Obstacles that keep steps from counting: then it is as where nothing is counted. */
static const struct {
	const char *request;
	bool is_warm, is_of_action, has_caches;
	enum step_obstacle all; /* of anything */
	enum step_obstacle obstacle;
	const char *kind;
} stepped[] = {
	{"operationCount:flop", false, false, false, STEPS_CAN, STEPS_CAN, "measured"},
	{"operationCount:flop", true, true, false, STEPS_CAN, STEPS_CAN, "measured"},
	{"operationCount:flop", false, false, true, STEPS_OF_OTHERS, STEPS_OF_OTHERS, "expected"},
	{"transferredBytes:cpuL1", true, false, false, STEPS_CAN, STEPS_CAN, "measured"},
	{"transferredBytes:cpuL1", false, false, true, STEPS_TOO_MANY, STEPS_TOO_MANY, "expected"},
	{"transferredBytes:l1l2.write", false, false, true, STEPS_CAN, STEPS_CAN, "modelled"},
	{"transferredBytes:llcRam", false, false, true, STEPS_CAN, STEPS_CAN, "modelled"},
	{"transferredBytes:llcRam", false, false, false, STEPS_CAN, STEPS_WITHOUT_CACHES, "expected"},
	{"transferredBytes:llcRam.read", true, false, true, STEPS_CAN, STEPS_CAN, "modelled"},
	{"transferredBytes:llcRam.read", false, true, true, STEPS_CAN, STEPS_FROM_FULL, "expected"},
	{"transferredBytes:disk.read", true, false, true, STEPS_OF_OTHERS, STEPS_CAN, "expected"},
	{"tlbMisses", false, false, false, STEPS_CAN, STEPS_CAN, "modelled"},
};

TEST_OF(test_steps_have_obstacles, NR_ELEMENTS(stepped))
{
	struct architecture *architecture = architecture_kept("steps");
	struct machine *machine = at_end(machine_delete, machine_new());
	const struct quantity_expectation expectation = {.operations = 1,
							 .bytes = 2,
							 .is_cold_only = stepped[_i].is_warm,
							 .is_of_action = stepped[_i].is_of_action,
							 .obstacle = stepped[_i].all};
	struct quantity_resolution resolution;
	struct quantity_request request;

	machine->l1_data_bytes = machine->l2_bytes = machine->llc_bytes = stepped[_i].has_caches;
	architecture->stepping.caches.machine = machine;
	ck_assert_int_eq(quantity_parse(&request, stepped[_i].request, &why), 0);
	ck_assert_ok(quantity_resolve(&resolution, architecture, &request, "auto", &expectation, &why));
	ck_assert_str_eq(resolution.numerator.kind, stepped[_i].kind);
	ck_assert_int_eq(resolution.numerator.obstacle, stepped[_i].obstacle);
}

/* Only of the caches that the lines have passed the sizes are needed. */
TEST(test_nearer_borders_need_fewer_caches)
{
	static const char *const across[] = {"transferredBytes:l1l2", "transferredBytes:l2l3",
					     "transferredBytes:llcRam"};
	struct architecture *architecture = architecture_kept("steps");
	struct machine *machine = machine_new();
	const struct quantity_expectation expectation = {.operations = 1, .bytes = 2};
	int64_t *const sizes[] = {&machine->l1_data_bytes, &machine->l2_bytes, &machine->llc_bytes};

	architecture->stepping.caches.machine = machine;
	for (size_t known = 0; known <= 3; known++) {
		for (size_t i = 0; i < 3; i++) {
			struct quantity_resolution resolution;
			struct quantity_request request;

			ck_assert_int_eq(quantity_parse(&request, across[i], NULL), 0);
			ck_assert_int_eq(
				quantity_resolve(&resolution, architecture, &request, "auto", &expectation, NULL), 0);
			ck_assert_str_eq(resolution.numerator.kind, i < known ? "modelled" : "expected");
		}
		if (known < 3)
			*sizes[known] = 1;
	}
	machine_delete(machine);
}

TEST(test_unsteppable_says_why)
{
	struct architecture *architecture = architecture_kept("steps");

	for (enum step_obstacle obstacle = STEPS_CAN + 1; obstacle < NR_STEP_OBSTACLES; obstacle++) {
		const struct quantity_expectation expectation = {.operations = NAN, .bytes = NAN, .obstacle = obstacle};
		struct quantity_resolution resolution;
		struct quantity_request request;

		ck_assert_int_eq(quantity_parse(&request, "operationCount:flop", &why), 0);
		ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &expectation, &why), -1);
		ck_assert_has(why.text, step_obstacle_text(obstacle));
		ck_assert_has(why.hint, step_obstacle_hint(obstacle));
		ck_assert(*step_obstacle_text(obstacle) && *step_obstacle_hint(obstacle));
	}
}

static const struct {
	const char *architecture, *request, *why_not, *complaint, *hint;
} impossible[] = {
	{"haswell", "operationCount:flop", "",
	 "operationCount of flop cannot be measured here: no event of Intel Haswell", "rot list quantities"},
	{"none", "operationCount:flop", "cannot count cycles", "cannot be measured here: cannot count cycles",
	 "lower it"},
	{"none", "time:coreCycles", "cannot count cycles", "time of coreCycles cannot be measured here", "lower it"},
	{"generic", "time:referenceCycles", "", "time of referenceCycles cannot be measured here", "microSeconds"},
	{"generic", "interrupts", "", "interrupts cannot be measured here", "rot list quantities"},
	{"steps", "interrupts", "", "interrupts cannot be measured here: no event of steps", ""},
};

TEST_OF(test_impossible_says_why, NR_ELEMENTS(impossible))
{
	struct architecture *architecture = architecture_kept(impossible[_i].architecture);
	const struct quantity_expectation expectation = {.operations = NAN, .bytes = NAN};
	struct quantity_resolution resolution;
	struct quantity_request request;

	if (*impossible[_i].why_not) {
		rot_error_set(&architecture->why_not, 0, "%s", impossible[_i].why_not);
		rot_error_hint(&architecture->why_not, "lower it");
	}
	ck_assert_int_eq(quantity_parse(&request, impossible[_i].request, &why), 0);
	ck_assert_int_eq(quantity_resolve(&resolution, architecture, &request, "auto", &expectation, &why), -1);
	ck_assert_has(why.text, impossible[_i].complaint);
	ck_assert_has(why.hint, impossible[_i].hint);
}

/* ---- offers ---- */

static const struct quantity_offer *
offer_of(const struct quantity_offer *offers, size_t nr, const char *name, const char *of)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(offers[i].name, name) == 0 && strcmp(offers[i].of, of) == 0)
			return &offers[i];
	}
	ck_abort_msg("no offer of %s %s", name, of);
	return NULL;
}

TEST(test_offers)
{
	struct rot rot = {.architecture = architecture_named("zen4")};
	struct quantity_offer *offers;
	size_t nr = quantity_offers(&rot, &offers);
	const struct quantity_offer *offer = offer_of(offers, nr, "operationCount", "flop");

	ck_assert_str_eq(offer->kind, "measured");
	ck_assert_str_eq(offer->source, "r1f03");
	ck_assert_str_eq(offer->unit, "flop");
	ck_assert_str_eq(offer_of(offers, nr, "operationCount", "doublePrecisionFlop")->kind, "expected");
	ck_assert_str_eq(offer_of(offers, nr, "operationCount", "doublePrecisionFlop")->advice,
			 STEPS_ADVICE_BESIDE_EVENTS); /* with counting=auto nothing is stepped then */
	ck_assert_str_eq(offer_of(offers, nr, "transferredBytes", "llcRam.read")->kind, "modelled");
	ck_assert_str_eq(offer_of(offers, nr, "time", "tsc")->kind, "measured");
	ck_assert_str_eq(offer_of(offers, nr, "operationalIntensity", "flop/llcRam")->kind, "expected");
	free(offers);
	architecture_delete(rot.architecture);
	rot.architecture = architecture_named("none");
	nr = quantity_offers(&rot, &offers);
	ck_assert_str_eq(offer_of(offers, nr, "time", "coreCycles")->kind, "modelled");
	ck_assert_str_eq(offer_of(offers, nr, "time", "referenceCycles")->kind, "unavailable");
	ck_assert_str_eq(offer_of(offers, nr, "interrupts", "")->kind, "unavailable");
	ck_assert_str_eq(offer_of(offers, nr, "contextSwitches", "")->kind, "measured");
	ck_assert_str_eq(offer_of(offers, nr, "operationCount", "flop")->advice, STEPS_ADVICE);
	ck_assert_str_eq(offer_of(offers, nr, "interrupts", "")->advice, "");
	ck_assert_str_eq(offer_of(offers, nr, "throughput", "disk.read")->advice, "");
	ck_assert_str_eq(offer_of(offers, nr, "operationCount", "integerOperation")->advice, STEPS_ADVICE);
	free(offers);
	architecture_delete(rot.architecture);
	rot.architecture = architecture_named("steps");
	nr = quantity_offers(&rot, &offers);
	ck_assert_str_eq(offer_of(offers, nr, "operationCount", "flop")->kind, "measured");
	ck_assert_str_eq(offer_of(offers, nr, "operationCount", "flop")->source, "blocks");
	ck_assert_str_eq(offer_of(offers, nr, "time", "coreCycles")->kind, "modelled");
	ck_assert_str_eq(offer_of(offers, nr, "tlbMisses", "")->kind, "modelled");
	ck_assert_str_eq(offer_of(offers, nr, "interrupts", "")->kind, "unavailable");
	ck_assert_str_eq(offer_of(offers, nr, "interrupts", "")->advice, "");
	free(offers);
	architecture_delete(rot.architecture);
}

/* Grades are of what was counted or probed; one part without a grade leaves the whole without. */
static const struct {
	struct quantity_part top, bottom;
	bool has_bottom;
	const char *grade;
} graded[] = {
	{{.source = PART_COUNTED, .grade = 'B'}, {.grade = 'F'}, false, "B"},
	{{.source = PART_COUNTED, .grade = 'A'}, {.source = PART_COUNTED, .grade = 'C'}, true, "C"},
	{{.source = PART_COUNTED, .grade = 'F'}, {.source = PART_PROBED, .grade = 'B'}, true, "F"},
	{{.source = PART_COUNTED, .grade = 'B'}, {.source = PART_TSC}, true, "B"},
	{{.source = PART_KNOWN}, {.source = PART_PROBED, .grade = 'C'}, true, "C"},
	{{.source = PART_COUNTED, .grade = 'A'}, {.source = PART_COUNTED}, true, ""},
	{{.source = PART_COUNTED}, {.source = PART_COUNTED, .grade = 'A'}, true, ""},
	{{.source = PART_COUNTED}, {.grade = 'A'}, false, ""},
	{{.source = PART_KNOWN}, {.source = PART_WALL}, true, ""},
};

TEST_OF(test_weakest_grade_is_of_the_whole, NR_ELEMENTS(graded))
{
	const struct quantity_resolution resolution = {.numerator = graded[_i].top,
						       .denominator = graded[_i].bottom,
						       .has_denominator = graded[_i].has_bottom};

	ck_assert_str_eq(quantity_resolution_grade(&resolution), graded[_i].grade);
}

UNIT_TESTS(.is_in_one_process = true);
