/* SPDX-License-Identifier: MIT */
/* Findings of made-up numbers, each beside its threshold. */
#include "programs/findings.h"

#include "entities.h"
#include "testing.h"

/* ---- code ---- */

/*
 * Numbers of code that takes 60 % of the time, 1 ms, on a machine with vectors of 32 bytes, and does nothing in 10
 * million instructions (10 a ns). The others are not known.
 */
static struct finding_code
usual_code(void)
{
	struct finding_code code = finding_code_unknown();

	for (size_t i = 0; i < FINDING_NR_COUNTS; i++)
		code.counts[i] = 0;
	code.counts[FINDING_SCALAR_INTEGER] = 1e6;
	code.share = (struct summary){.value = 0.6, .low = 0.55, .high = 0.65};
	code.time_ns = (struct summary){.value = 1e6, .low = 0.9e6, .high = 1.1e6};
	code.counts[FINDING_INSTRUCTIONS] = 10e6;
	code.vector_bytes = 32;
	return code;
}

/* With an interval of a tenth. */
static struct summary
about(double value)
{
	return (struct summary){.value = value, .low = 0.9 * value, .high = 1.1 * value};
}

#define MAX_CHANGES 6

/* codes: of all that is found, in their order */
static const struct {
	const char *codes;
	struct {
		enum finding_count count;
		double value;
	} changes[MAX_CHANGES];
	double peak_share, bandwidth_share; /* 0: not known */
	double low_share;                   /* 0: as usual  */
	const char *chain;                  /* NULL: none   */
	double chain_share;
	bool has_no_width; /* of vectors   */
	bool has_no_lines; /* no caches are modelled */
} of_code[] = {
	{"", .changes = {{FINDING_LOADED, 8e6}}},
	/* Scalar operations: half of them and a few more, of enough instructions, with something to gain. */
	{"scalar ", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}},
	{"scalar ",
	 .changes = {{FINDING_SCALAR_DOUBLE, 2.1e6}, {FINDING_PACKED_DOUBLE, 1.9e6}, {FINDING_FLOP_256, 1.9e6}}},
	{"", .changes = {{FINDING_SCALAR_DOUBLE, 1.1e6}, {FINDING_PACKED_DOUBLE, 6e6}, {FINDING_FLOP_256, 6e6}}},
	{"", .changes = {{FINDING_SCALAR_DOUBLE, 0.9e6}}},
	{"", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}, .low_share = 0.04},
	{"scalar ", .changes = {{FINDING_SCALAR_SINGLE, 3e6}}, .bandwidth_share = 0.3},
	{"bandwidth ", .changes = {{FINDING_SCALAR_SINGLE, 3e6}}, .bandwidth_share = 0.7},
	{"peak ", .changes = {{FINDING_SCALAR_SINGLE, 3e6}}, .bandwidth_share = 0.7, .peak_share = 0.8},
	/* All over the interval. */
	{"", .changes = {{FINDING_PACKED_SINGLE, 3e6}, {FINDING_FLOP_256, 3e6}}, .peak_share = 0.54},
	{"", .changes = {{FINDING_LOADED, 8e6}}, .bandwidth_share = 0.36},
	{"", .changes = {{FINDING_SCALAR_SINGLE, 3e6}}, .bandwidth_share = 0.32, .peak_share = 0.62, .low_share = 0.04},
	{"bandwidth ", .changes = {{FINDING_SCALAR_SINGLE, 3e6}}, .bandwidth_share = 0.64},
	{"", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}, .peak_share = 0.1, .has_no_width = true},
	/* Vectors of 16 bytes, where 32 are possible. */
	{"narrowVectors ", .changes = {{FINDING_PACKED_SINGLE, 3e6}}},
	{"", .changes = {{FINDING_PACKED_SINGLE, 3e6}, {FINDING_FLOP_256, 3e6}}},
	{"narrowVectors ", .changes = {{FINDING_PACKED_DOUBLE, 4e6}, {FINDING_FLOP_256, 1.9e6}}},
	{"", .changes = {{FINDING_PACKED_DOUBLE, 4e6}, {FINDING_FLOP_256, 2.1e6}}},
	/* Half of each pair of lanes, and less. */
	{"maskedLanes ", .changes = {{FINDING_PACKED_SINGLE, 3e6}, {FINDING_FLOP_256, 3e6}, {FINDING_MASKED, 1.1e6}}},
	{"", .changes = {{FINDING_PACKED_SINGLE, 3e6}, {FINDING_FLOP_256, 3e6}, {FINDING_MASKED, 0.9e6}}},
	{"splitLines ", .changes = {{FINDING_SPLITS, 0.51e6}}},
	{"", .changes = {{FINDING_SPLITS, 0.49e6}}},
	{"bandwidth ", .changes = {{FINDING_SPLITS, 0.51e6}}, .bandwidth_share = 0.6},
	/* Loads alone; with a counter, with a next address. */
	{"spinning ", .changes = {{FINDING_LOADED, 8e6}, {FINDING_SCALAR_INTEGER, 8}}},
	{"", .changes = {{FINDING_LOADED, 8e6}, {FINDING_SCALAR_INTEGER, 0.02e6}}},
	{"", .changes = {{FINDING_LOADED, 8e6}, {FINDING_SCALAR_INTEGER, 8}}, .chain = "1 load", .chain_share = 0.65},
	{"x87 ", .changes = {{FINDING_X87, 1e6}}},
	{"", .changes = {{FINDING_X87, 0.4e6}}},
	{"", .changes = {{FINDING_X87, 1e6}, {FINDING_PACKED_DOUBLE, 5e6}, {FINDING_FLOP_256, 5e6}}},
	/* Divisions take the time of scalar code; seldom ones do not. */
	{"divisions ", .changes = {{FINDING_SCALAR_DOUBLE, 2e6}, {FINDING_DIVISIONS, 0.3e6}}},
	{"scalar ", .changes = {{FINDING_SCALAR_DOUBLE, 2e6}, {FINDING_DIVISIONS, 0.19e6}}},
	{"", .changes = {{FINDING_SCALAR_DOUBLE, 1e6}, {FINDING_DIVISIONS, 0.108e6}}},
	{"scalar ",
	 .changes = {{FINDING_INSTRUCTIONS, 5e6}, {FINDING_SCALAR_DOUBLE, 0.7e6}, {FINDING_DIVISIONS, 0.08e6}}},
	/* 8 bytes of each line; lines that come faster than one after the other; those that do not. */
	{"sparseLines ", .changes = {{FINDING_LOADED, 8e6}, {FINDING_L1_FILLS, 1e6}, {FINDING_SCALAR_DOUBLE, 1e6}}},
	{"sparseLines ", .changes = {{FINDING_LOADED, 8e6}, {FINDING_STORED, 7e6}, {FINDING_L1_FILLS, 1e6}}},
	{"", .changes = {{FINDING_LOADED, 9e6}, {FINDING_STORED, 8e6}, {FINDING_L1_FILLS, 1e6}}},
	{"", .changes = {{FINDING_LOADED, 64e6},
			 {FINDING_L1_FILLS, 1e6},
			 {FINDING_L2_FILLS, 1e6},
			 {FINDING_MEMORY_READS, 1e6},
			 {FINDING_SCALAR_DOUBLE, 8e6}}},
	{"memoryLatency ", .changes = {{FINDING_INSTRUCTIONS, 0.3e6},
				       {FINDING_LOADED, 1e6},
				       {FINDING_L1_FILLS, 1e4},
				       {FINDING_L2_FILLS, 1e4},
				       {FINDING_MEMORY_READS, 1e4}}},
	{"", .changes = {{FINDING_INSTRUCTIONS, 0.3e6},
			 {FINDING_LOADED, 1e6},
			 {FINDING_L1_FILLS, 1e3},
			 {FINDING_L2_FILLS, 1e3},
			 {FINDING_MEMORY_READS, 1e3}}},
	{"", .changes = {{FINDING_INSTRUCTIONS, 1e6},
			 {FINDING_LOADED, 1e6},
			 {FINDING_L1_FILLS, 1e4},
			 {FINDING_L2_FILLS, 1e4},
			 {FINDING_MEMORY_READS, 1e4}}},
	{"", .changes = {{FINDING_INSTRUCTIONS, 0.3e6}, {FINDING_LOADED, 64e6}, {FINDING_L1_FILLS, 1e6}}},
	{"bandwidth ", .changes = {{FINDING_INSTRUCTIONS, 0.3e6}, {FINDING_LOADED, 64e6}, {FINDING_L1_FILLS, 0.2e6}},
	 .bandwidth_share = 0.6},
	/* Code that waits for lines, or uses little of them, has no other findings than that. */
	{"memoryLatency ", .changes = {{FINDING_INSTRUCTIONS, 0.5e6},
				       {FINDING_LOADED, 64e6},
				       {FINDING_L1_FILLS, 0.2e6},
				       {FINDING_SCALAR_DOUBLE, 0.1e6}}},
	{"scalar ", .changes = {{FINDING_LOADED, 64e6}, {FINDING_L1_FILLS, 0.2e6}, {FINDING_SCALAR_DOUBLE, 3e6}}},
	{"sparseLines ", .changes = {{FINDING_LOADED, 3e6}, {FINDING_L1_FILLS, 0.3e6}, {FINDING_SCALAR_DOUBLE, 2e6}}},
	/* Integer divisions come all the time, or seldom. */
	{"integerDivisions ", .changes = {{FINDING_INTEGER_DIVISIONS, 0.2e6}}},
	{"", .changes = {{FINDING_INTEGER_DIVISIONS, 0.18e6}}},
	/* A conversion for two operations, and fewer; few in all. */
	{"conversions ",
	 .changes = {{FINDING_CONVERSIONS, 1.5e6}, {FINDING_PACKED_DOUBLE, 3e6}, {FINDING_FLOP_256, 3e6}}},
	{"", .changes = {{FINDING_CONVERSIONS, 1.4e6}, {FINDING_PACKED_DOUBLE, 3e6}, {FINDING_FLOP_256, 3e6}}},
	{"conversions ", .changes = {{FINDING_CONVERSIONS, 1.1e6}}},
	{"", .changes = {{FINDING_CONVERSIONS, 0.9e6}}},
	{"gathers ", .changes = {{FINDING_GATHERED, 5.1e6}, {FINDING_LOADED, 8e6}, {FINDING_STORED, 2e6}}},
	{"", .changes = {{FINDING_GATHERED, 4.9e6}, {FINDING_LOADED, 8e6}, {FINDING_STORED, 2e6}}},
	/* A chain from turn to turn takes most of the time, which vectors do not change; less; more than there is. */
	{"chain ", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}, .chain = "1 addition", .chain_share = 0.67},
	{"", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}, .chain = "1 addition", .chain_share = 0.65},
	{"scalar ", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}, .chain = "1 addition", .chain_share = 0.53},
	{"scalar ", .changes = {{FINDING_SCALAR_DOUBLE, 3e6}}, .chain = "1 addition", .chain_share = 1.3},
	{"chain narrowVectors ", .changes = {{FINDING_PACKED_SINGLE, 3e6}}, .chain = "2 additions", .chain_share = 1.2},
	/* Several chains that keep the units busy. */
	{"narrowVectors ", .changes = {{FINDING_PACKED_DOUBLE, 3e6}}, .chain = "8 fused multiply-adds",
	 .chain_share = 0.8, .peak_share = 0.24},
	{"chain narrowVectors ", .changes = {{FINDING_PACKED_DOUBLE, 3e6}}, .chain = "8 fused multiply-adds",
	 .chain_share = 0.8, .peak_share = 0.22},
	{"", .chain = "1 addition", .chain_share = 0.9, .low_share = 0.04},
	{"loadChain ", .changes = {{FINDING_LOADED, 8e6}}, .chain = "1 load and 1 addition", .chain_share = 0.67},
	{"", .changes = {{FINDING_LOADED, 8e6}}, .chain = "1 load", .chain_share = 0.65},
	/* Loads of a chain that miss the L1, or take as long as if they did, where no caches are modelled. */
	{"memoryLatency ",
	 .changes = {{FINDING_INSTRUCTIONS, 0.8e6}, {FINDING_LOADED, 8e6}, {FINDING_L1_FILLS, 0.03e6}},
	 .chain = "1 load", .chain_share = 0.1},
	{"", .changes = {{FINDING_INSTRUCTIONS, 0.8e6}, {FINDING_LOADED, 8e6}, {FINDING_L1_FILLS, 0.02e6}},
	 .chain = "1 load", .chain_share = 0.1},
	{"", .changes = {{FINDING_INSTRUCTIONS, 0.95e6}, {FINDING_LOADED, 8e6}, {FINDING_L1_FILLS, 0.03e6}},
	 .chain = "1 load", .chain_share = 0.1},
	{"memoryLatency ", .changes = {{FINDING_INSTRUCTIONS, 0.8e6}}, .chain = "1 load", .chain_share = 0.1,
	 .has_no_lines = true},
	{"", .changes = {{FINDING_INSTRUCTIONS, 0.8e6}}, .chain = "1 addition", .chain_share = 0.1,
	 .has_no_lines = true},
	{"", .changes = {{FINDING_INSTRUCTIONS, 0.8e6}}, .chain = "1 load", .chain_share = 0.57, .has_no_lines = true},
	/* Lines come fast enough for code that computes as fast as vectors of its width can. */
	{"narrowVectors ", .changes = {{FINDING_PACKED_DOUBLE, 4e6}, {FINDING_LOADED, 32e6}, {FINDING_L1_FILLS, 0.5e6}},
	 .peak_share = 0.2},
	{"", .changes = {{FINDING_PACKED_DOUBLE, 4e6}, {FINDING_LOADED, 32e6}, {FINDING_L1_FILLS, 0.5e6}},
	 .peak_share = 0.18},
};

/* Codes of what is found, a blank behind each. Fresh memory. */
static char *
codes_of(enum finding_about about, const struct finding_facts *facts)
{
	char *codes = rot_strdup("");

	for (const struct finding_rule *rule = finding_rule_next(NULL); rule; rule = finding_rule_next(rule)) {
		struct finding finding;

		if (rule->about != about || !finding_make(&finding, rule, facts))
			continue;
		rot_append(&codes, "%s ", rule->code);
		ck_assert_msg(!isnan(finding.value) && *finding.measured && *finding.consequence, "%s", rule->code);
		ck_assert_msg(!strstr(finding.measured, " inf ") && !strstr(finding.measured, "nan"), "%s",
			      finding.measured);
		ck_assert_msg(about == FINDING_MEASUREMENT || about == FINDING_DATA || finding.share > 0, "%s",
			      rule->code);
		finding_clear(&finding);
	}
	return codes;
}

TEST_OF(code_has_findings, NR_ELEMENTS(of_code))
{
	struct finding_code code = usual_code();
	autofree char *codes = NULL;

	for (size_t i = 0; i < MAX_CHANGES && of_code[_i].changes[i].value > 0; i++)
		code.counts[of_code[_i].changes[i].count] = of_code[_i].changes[i].value;
	if (of_code[_i].peak_share > 0)
		code.peak_share = about(of_code[_i].peak_share);
	if (of_code[_i].bandwidth_share > 0)
		code.bandwidth_share = about(of_code[_i].bandwidth_share);
	if (of_code[_i].low_share > 0)
		code.share.low = of_code[_i].low_share;
	if (of_code[_i].chain) {
		code.chain = of_code[_i].chain;
		code.chain_share = of_code[_i].chain_share;
		code.chain_ns = 4;
		code.turn_ns = 20;
	}
	if (of_code[_i].has_no_lines)
		code.counts[FINDING_L1_FILLS] = code.counts[FINDING_L2_FILLS] = code.counts[FINDING_MEMORY_READS] = NAN;
	if (of_code[_i].has_no_width)
		code.vector_bytes = NAN;
	codes = codes_of(FINDING_CODE, &(struct finding_facts){.code = &code});
	ck_assert_str_eq(codes, of_code[_i].codes);
}

/* A mean of widths, but no more than memory and the peak permit. */
TEST(gains_are_bounded)
{
	static const struct {
		double bandwidth_share, peak_share;
		const char *consequence;
	} gains[] = {
		{NAN, NAN, "at most 4 times as fast with vectors, if turns of a loop do not need each other's results"},
		{0.3, NAN,
		 "at most 3.33 times as fast with vectors, if turns of a loop do not need each other's results"},
		{0.3, 0.5,
		 "at most 2 times as fast with vectors, if turns of a loop do not need each other's results"}};
	const struct finding_rule *rule = finding_rule_next(NULL);

	while (strcmp(rule->code, "scalar") != 0)
		rule = finding_rule_next(rule);
	for (size_t i = 0; i < NR_ELEMENTS(gains); i++) {
		struct finding_code code = usual_code();
		struct finding finding;

		code.counts[FINDING_SCALAR_DOUBLE] = 5e6;
		code.bandwidth_share = about(gains[i].bandwidth_share);
		code.peak_share = about(gains[i].peak_share);
		ck_assert(finding_make(&finding, rule, &(struct finding_facts){.code = &code}));
		ck_assert_str_eq(finding.consequence, gains[i].consequence);
		ck_assert_double_eq_tol(finding.value, 100, 1e-9);
		ck_assert_double_eq_tol(finding.share, 0.6, 1e-9);
		finding_clear(&finding);
	}
}

/* The number of chains that fill the processor is told where it is known. */
TEST(chains_are_held_against_the_processor)
{
	const struct finding_rule *rule = finding_rule_next(NULL);
	struct finding_code code = usual_code();
	struct finding finding;

	while (strcmp(rule->code, "chain") != 0)
		rule = finding_rule_next(rule);
	code.chain = "1 addition";
	code.chain_share = 0.95;
	code.chain_ns = 4;
	code.turn_ns = 4.2;
	ck_assert(finding_make(&finding, rule, &(struct finding_facts){.code = &code}));
	ck_assert_str_eq(finding.consequence, "only a shorter chain, or several at once, make it faster");
	finding_clear(&finding);
	code.links = (struct operation_known){4, 2, "measured 2026-11-27"};
	ck_assert(finding_make(&finding, rule, &(struct finding_facts){.code = &code}));
	ck_assert_str_eq(finding.consequence,
			 "only a shorter chain, or several at once, make it faster: 8 fill the processor "
			 "(latency 4 x 2 a cycle, measured 2026-11-27)");
	finding_clear(&finding);
}

/* ---- runs ---- */

#define RUN .wall_s = 1, .cpu_s = 1, .top_error = 0.02, .unknown_share = 0.01, .disturbed_share = 0, .nr_ends = 1
#define PROGRAM .kernel_share = 0.02, .waiting_share = 0.01, .voluntary_share = 1, .imbalance = 1.1

/* clang-format off */
static const struct {
	const char *codes;
	struct finding_run run;
} of_runs[] = {
	{"", {RUN, PROGRAM, .spread = NAN}},
	{"shortRun ", {PROGRAM, .wall_s = 1, .cpu_s = 0.4, .top_error = 0.02, .nr_ends = 1}},
	{"fewSamples ", {PROGRAM, .wall_s = 1, .cpu_s = 1, .top_error = 0.11, .nr_ends = 1}},
	{"unknownCode ", {PROGRAM, .wall_s = 1, .cpu_s = 1, .unknown_share = 0.21, .nr_ends = 1}},
	{"disturbedRuns ", {PROGRAM, .wall_s = 1, .cpu_s = 1, .disturbed_share = 0.5, .nr_ends = 1}},
	{"busyHost ", {RUN, PROGRAM, .run_s = 0.89, .wait_s = 0.11}},
	{"", {RUN, PROGRAM, .run_s = 0.91, .wait_s = 0.09}},
	{"otherEnds ", {PROGRAM, .wall_s = 1, .cpu_s = 1, .nr_ends = 2}},
	{"otherWork ", {RUN, PROGRAM, .spread = 0.011}},
	{"kernelTime ", {RUN, .kernel_share = 0.11, .waiting_share = 0.01, .voluntary_share = 1, .imbalance = NAN}},
	{"waiting ", {RUN, .kernel_share = 0.09, .waiting_share = 0.21, .voluntary_share = 0.6}},
	{"", {RUN, .kernel_share = 0.09, .waiting_share = 0.21, .voluntary_share = 0.4}},
	{"", {RUN, .kernel_share = 0.09, .waiting_share = 0.21, .voluntary_share = NAN}},
	{"shortRun ", {.wall_s = 1, .cpu_s = 0.09, .kernel_share = 0.9, .waiting_share = 0.1, .voluntary_share = 1}},
	{"imbalance ", {RUN, .voluntary_share = 1, .imbalance = 1.4}},
	{"shortRun ", {.wall_s = 0.09, .cpu_s = 0.09, .kernel_share = 0.9, .waiting_share = 0.9, .voluntary_share = 1}},
};
/* clang-format on */

TEST_OF(runs_have_findings, NR_ELEMENTS(of_runs))
{
	const struct finding_facts facts = {.run = &of_runs[_i].run};
	autofree char *measurement = codes_of(FINDING_MEASUREMENT, &facts);
	autofree char *program = codes_of(FINDING_PROGRAM, &facts), *codes = rot_format("%s%s", measurement, program);

	ck_assert_str_eq(codes, of_runs[_i].codes);
}

/* ---- data ---- */

TEST(data_have_findings)
{
	char rows[] = "rows", table[] = "table";
	struct miss_conflict conflict = {.data = rows, .other = table, .level = 1, .misses = 4000, .conflicts = 1001};
	struct false_sharing sharing = {.data = rows, .share = 0.011};
	char *codes = codes_of(FINDING_DATA, &(struct finding_facts){.conflict = &conflict});

	ck_assert_str_eq(codes, "conflicts ");
	free(codes);
	conflict.conflicts = 999;
	codes = codes_of(FINDING_DATA, &(struct finding_facts){.conflict = &conflict});
	ck_assert_str_eq(codes, "");
	free(codes);
	codes = codes_of(FINDING_DATA, &(struct finding_facts){.sharing = &sharing});
	ck_assert_str_eq(codes, "falseSharing ");
	free(codes);
	sharing.share = 0.009;
	codes = codes_of(FINDING_DATA, &(struct finding_facts){.sharing = &sharing});
	ck_assert_str_eq(codes, "");
	free(codes);
}

TEST(nothing_is_found_in_what_is_not_known)
{
	const struct finding_code code = finding_code_unknown();
	const struct finding_run run = finding_run_unknown();

	for (enum finding_about about = 0; about < NR_FINDING_ABOUTS; about++) {
		autofree char *unknown = codes_of(about, &(struct finding_facts){.code = &code, .run = &run});
		autofree char *none = codes_of(about, &(struct finding_facts){.code = NULL});

		ck_assert_str_eq(unknown, "");
		ck_assert_str_eq(none, "");
	}
}

UNIT_TESTS(.is_in_one_process = true);
