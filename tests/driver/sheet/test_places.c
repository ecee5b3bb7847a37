/* SPDX-License-Identifier: MIT */
/* Answers of curves of lines, ways and pages: those of a Zen 5 guest whose facts are known, and made-up ones. */
#include <math.h>
#include <string.h>

#include "machine/machine.h"
#include "sheet/places.h"
#include "statistics/curve.h"
#include "testing.h"

/* Recorded in a guest with 4 KiB pages in the host; the second half differs by noise. */
static const struct measured_curve line = {
	.at = {8, 16, 32, 48, 64, 96, 128, 192, 256, 512},
	.cycles = {{11.11, 11.12, 11.12, 11.12, 15.54, 15.54, 15.55, 15.59, 15.65, 16.36},
		   {11.11, 11.12, 11.42, 11.12, 15.53, 15.56, 15.57, 15.59, 15.63, 16.36}},
	.nr = 10};
static const struct measured_curve ways = {.at = {2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 18, 24, 32},
					   .cycles = {{4, 4, 4, 4, 4, 4.01, 4.01, 4.01, 27, 14, 14, 14, 14, 14},
						      {4, 4, 4, 4, 4, 4.01, 4.01, 4.01, 27, 14, 14, 14, 14, 14}},
					   .nr = 14};
static const struct measured_curve page = {
	.at = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536},
	.cycles = {{4.01, 4, 4, 4, 4, 4.01, 11, 11, 10.99, 11, 11.01}, {4, 4, 4, 4, 4, 4.01, 11, 11, 11.01, 11.01, 11}},
	.nr = 11};
static const struct measured_curve huge_page = {.at = {64, 512, 4096, 8192, 16384, 65536},
						.cycles = {{4, 4, 4, 4, 4, 4.02}, {4, 4, 4, 4, 4.01, 4.01}},
						.nr = 6};
static const struct measured_curve pages = {
	.at = {16, 48, 64, 80, 88, 96, 104, 112, 128, 256, 512, 1024, 2048, 2560, 3072, 3584, 4096, 5120, 8192},
	.cycles = {{4, 4, 4, 4.01, 4.02, 4.03, 11, 11, 11, 11.01, 11, 21, 21, 21.1, 23, 24.8, 31.9, 51.8, 147},
		   {4, 4, 4, 4.01, 4.02, 4.03, 11, 11, 11, 11.01, 11, 21, 21, 21, 22.9, 24.6, 31.1, 52.6, 151}},
	.nr = 19};
static const struct measured_curve lines = {
	.at = {16, 48, 64, 80, 88, 96, 104, 112, 128, 256, 512, 1024, 2048, 2560, 3072, 3584, 4096, 5120, 8192},
	.cycles = {{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 14, 14, 14, 14, 14, 14, 14, 15.9},
		   {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 14, 14, 14, 14, 14, 14, 14, 16}},
	.nr = 19};
/* 64 entries of huge pages, then 512 at 8 cycles more, which overflow up to 1024. */
static const struct measured_curve huges = {.parameter = "huge pages",
					    .at = {16, 48, 64, 80, 88, 96, 104, 112, 128, 256, 512, 1024, 1536, 2048},
					    .cycles = {{4, 4, 4, 12, 12, 12, 12, 12, 12, 12.1, 12.2, 40, 60, 70},
						       {4, 4, 4.02, 12, 12.01, 12, 12, 12, 12.2, 12, 12.3, 41, 62, 71}},
					    .nr = 14};

static const struct places_told told = {64, 12, 16, 96, 4096, 96, 4096};

static struct places *
recorded(void)
{
	struct places *places = rot_calloc(1, sizeof(*places));

	places->curves[PLACES_LINE] = line;
	places->curves[PLACES_WAYS] = ways;
	places->curves[PLACES_PAGE] = page;
	places->curves[PLACES_HUGE_PAGE] = huge_page;
	places->curves[PLACES_PAGES] = pages;
	places->curves[PLACES_LINES] = lines;
	places->curves[PLACES_HUGES] = huges;
	for (int i = 0; i < PLACES_NR_CURVES; i++)
		places->curves[i].parameter = "places";
	return places;
}

static const struct {
	enum places_answer answer;
	double value, low, high;
} facts[] = {
	{PLACES_LINE_BYTES, 64, 49, 64},         {PLACES_L1_WAYS, 12, 12, 12},  {PLACES_PAGE_BYTES, 4096, 2049, 4096},
	{PLACES_FIRST_TLB, 96, 96, 103},         {PLACES_SECOND_COST, 7, 7, 7}, {PLACES_SECOND_TLB, 2560, 2560, 5120},
	{PLACES_WALK_COST, 131.1, 131.1, 135.1},
};

TEST(recorded_facts_are_told)
{
	autofree struct places *places = recorded();

	places_conclude(places, &told);
	for (size_t i = 0; i < NR_ELEMENTS(facts); i++) {
		const struct sheet_answer *answer = &places->answers[facts[i].answer];

		ck_assert_double_eq_tol(answer->number.value, facts[i].value, 0.01 * facts[i].value);
		ck_assert_double_eq_tol(answer->number.low, facts[i].low, 0.01 * facts[i].low);
		ck_assert_double_eq_tol(answer->number.high, facts[i].high, 0.01 * facts[i].high);
		ck_assert_msg(!answer->remark, "%s: %s", answer->name, answer->remark);
		ck_assert_ptr_nonnull(answer->curve);
	}
	ck_assert_has(places->answers[PLACES_HUGE_PAGE_BYTES].remark, "at least");
}

TEST(told_values_are_compared)
{
	const struct places_told wrong = {128, 8, 16, 96, 128, 96, 128};
	autofree struct places *places = recorded();

	places_conclude(places, &wrong);
	ck_assert_has(places->answers[PLACES_LINE_BYTES].remark, "not as told");
	ck_assert_has(places->answers[PLACES_L1_WAYS].remark, "not as told");
	ck_assert_has(places->answers[PLACES_SECOND_TLB].remark, "not as told");
	ck_assert_ptr_null(places->answers[PLACES_FIRST_TLB].remark);
}

/* A huge page whose parts each need an entry: the host has small pages below it. */
TEST(small_pages_of_the_host_are_told)
{
	autofree struct places *places = recorded();

	places->curves[PLACES_HUGE_PAGE] = page;
	places_conclude(places, &told);
	ck_assert_double_eq(places->answers[PLACES_HUGE_PAGE_BYTES].number.value, 4096);
	ck_assert_has(places->answers[PLACES_HUGE_PAGE_BYTES].remark, "small ones in the host");
	places->curves[PLACES_HUGE_PAGE].cycles[1][5] = 11;
	places_conclude(places, &told);
	ck_assert_has(places->answers[PLACES_HUGE_PAGE_BYTES].remark, "not sure");
}

TEST(entries_of_huge_pages_need_huge_pages_of_the_host)
{
	const struct places_told with_huge = {64, 12, 16, 96, 4096, 32, 1024};
	autofree struct places *places = recorded();
	const struct sheet_answer *first = &places->answers[PLACES_HUGE_FIRST_TLB],
				  *second = &places->answers[PLACES_HUGE_SECOND_TLB],
				  *hit = &places->answers[PLACES_HUGE_SECOND_COST];

	places->curves[PLACES_HUGE_PAGE] = page;
	places_conclude(places, &with_huge);
	ck_assert_double_nan(first->number.value);
	ck_assert_has(first->remark, "small ones below");
	ck_assert_str_eq(second->remark, first->remark);
	ck_assert_ptr_null(first->curve);
	places->curves[PLACES_HUGE_PAGE] = huge_page;
	places_conclude(places, &with_huge);
	ck_assert_double_eq(first->number.value, 64);
	ck_assert_double_eq(first->number.high, 79);
	ck_assert_has(first->remark, "not as told");
	ck_assert_double_eq_tol(hit->number.value, 8, 0.1);
	/* The lines alone of 1024 places take 10 cycles more. */
	ck_assert_double_eq(second->number.value, 512);
	ck_assert_double_eq(second->number.high, 1024);
	ck_assert_ptr_null(second->remark);
	places->curves[PLACES_HUGES].nr = 11;
	places_conclude(places, &with_huge);
	ck_assert_double_eq(second->number.low, 512);
	ck_assert_has(second->remark, "at least");
}

/* An L2 of 16 ways, behind an L1 of 12, of which the 13th line costs more than further ones (recorded on a Zen 5). */
static const struct measured_curve set = {
	.parameter = "pages that share sets",
	.nr = 18,
	.at = {9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 26, 28, 32},
	.cycles = {{4, 4, 4, 4, 26, 14, 14, 14, 19, 22, 25, 27, 29, 31, 32, 32, 32, 35},
		   {4, 4, 4, 4, 26, 14, 14, 14, 19, 22, 25, 27, 29, 31, 32, 32, 32, 38}}};

TEST(ways_of_l2_come_from_pages_that_share_sets)
{
	autofree struct places *places = recorded();
	struct measured_curve *curve = &places->curves[PLACES_SET];
	const struct sheet_answer *answer = &places->answers[PLACES_L2_WAYS],
				  *replaced = &places->answers[PLACES_L2_REPLACED];

	strcpy(places->no_set, "cannot be told: others disturbed it");
	places_conclude(places, &told);
	ck_assert_str_eq(answer->remark, places->no_set);
	ck_assert_has(replaced->remark, "its ways are not sure");
	*curve = set;
	places_conclude(places, &told);
	ck_assert_double_eq(places->answers[PLACES_L1_WAYS].number.value, 12);
	ck_assert_double_eq(answer->number.value, 16);
	ck_assert_ptr_null(answer->remark);
	ck_assert_double_eq_tol(replaced->number.low, 100 * 5.0 / 24, 0.1);
	ck_assert_double_eq_tol(replaced->number.high, 100 * 5.0 / 21, 0.1);
	ck_assert_has(replaced->remark, "unlike LRU");
	for (size_t i = 8; i < curve->nr; i++)
		curve->cycles[0][i] = curve->cycles[1][i] = 48;
	places_conclude(places, &told);
	ck_assert_double_eq(replaced->number.value, 100);
	ck_assert_has(replaced->remark, "as LRU");
	for (size_t i = 8; i < curve->nr; i++)
		curve->cycles[0][i] = curve->cycles[1][i] = 14;
	places_conclude(places, &told);
	ck_assert_has(answer->remark, "take as long as more");
}

/* Without a step nothing is told, and no answer of what follows from it. */
TEST(flat_curves_tell_nothing)
{
	autofree struct places *places = recorded();

	for (int i = 0; i < PLACES_NR_CURVES; i++)
		for (int half = 0; half < 2; half++)
			for (size_t k = 0; k < places->curves[i].nr; k++)
				places->curves[i].cycles[half][k] = 4;
	places_conclude(places, &told);
	ck_assert_double_nan(places->answers[PLACES_LINE_BYTES].number.value);
	ck_assert_double_nan(places->answers[PLACES_L1_WAYS].number.value);
	for (int i = PLACES_FIRST_TLB; i < PLACES_NR_ANSWERS; i++) {
		ck_assert_double_nan(places->answers[i].number.value);
		ck_assert_has(places->answers[i].remark, "cannot be told");
		ck_assert_ptr_eq(places->answers[i].curve,
				 i < PLACES_HUGE_FIRST_TLB ? &places->added : &places->huge_added);
	}
}

static const struct {
	const char *vendor;
	int family;
	const char *cpuid;
	double first, second, huge_first, huge_second;
} processors[] = {
	/* Zen 5, whose hypervisor hides how the second TLB is told; Zen 5 itself; Zen 4; Skylake. */
	{"AuthenticAMD", 26,
	 "80000005 0: ff60ff40 ff60ff40 0 0\n80000006 0: 40802040 60804040 0 0\n80000021 0: 204 0 0 0\n", 96, 4096, 96,
	 4096},
	{"AuthenticAMD", 27, "80000006 0: 0 60804040 0 0\n80000021 0: 4000 0 0 0\n", 0, 4096, 0, 0},
	{"AuthenticAMD", 25, "80000005 0: 0 ff48ff40 0 0\n80000006 0: 0 6c006400 0 0\n80000021 0: 0 0 0 0\n", 72, 3072,
	 0, 0},
	{"GenuineIntel", 6, "18 0: 1 0 0 0\n18 1: 0 40001 10 21\n18 2: 0 c0003 80 43\n18 3: 0 40002 8 21\n", 64, 1536,
	 32, 1536},
};

TEST_OF(processors_tell_their_tlbs, NR_ELEMENTS(processors))
{
	char *folder = temporary_folder_new();
	struct machine *machine;
	struct places_told of;

	folder_write(folder, "proc/cpuinfo", "vendor_id\t: none\n\n");
	folder_write(folder, "cpuid", processors[_i].cpuid);
	machine = machine_read(folder, NULL);
	rot_string_set(&machine->cpu_vendor, processors[_i].vendor);
	machine->cpu_family = processors[_i].family;
	of = places_told_of(machine, folder);
	ck_assert_double_eq(of.first_tlb, processors[_i].first);
	ck_assert_double_eq(of.second_tlb, processors[_i].second);
	ck_assert_double_eq(of.huge_first_tlb, processors[_i].huge_first);
	ck_assert_double_eq(of.huge_second_tlb, processors[_i].huge_second);
	machine_delete(machine);
}

/* Half of the points of one half are a third too high: no wrong answer without a remark. */
TEST(disturbed_curves_are_not_sure)
{
	for (unsigned seed = 0; seed < 64; seed++) {
		autofree struct places *places = recorded();
		uint64_t state = seed + 1;

		for (int i = 0; i < PLACES_NR_CURVES; i++)
			for (size_t k = 0; k < places->curves[i].nr; k++) {
				state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
				if (state >> 63)
					places->curves[i].cycles[seed & 1][k] *= 1.33;
			}
		places_conclude(places, &told);
		for (size_t i = 0; i < NR_ELEMENTS(facts); i++) {
			const struct sheet_answer *answer = &places->answers[facts[i].answer];

			if (facts[i].answer != PLACES_WALK_COST && facts[i].answer != PLACES_SECOND_COST)
				ck_assert_msg(answer->remark || fabs(answer->number.value / facts[i].value - 1) < 0.01,
					      "seed %u: %s is %g", seed, answer->name, answer->number.value);
		}
	}
}

/* A point without an undisturbed run is left out. */
TEST(missing_points_are_left_out)
{
	autofree struct places *places = recorded();

	places->curves[PLACES_LINE].cycles[1][7] = NAN;
	places->curves[PLACES_PAGES].cycles[0][9] = NAN;
	places_conclude(places, &told);
	ck_assert_double_eq(places->answers[PLACES_LINE_BYTES].number.value, 64);
	ck_assert_double_eq(places->answers[PLACES_FIRST_TLB].number.value, 96);
	ck_assert_uint_eq(places->added.nr, pages.nr - 1);
}

TEST(sheet_shows_numbers_ranges_and_remarks)
{
	autofree struct places *places = recorded();
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_auto_t *json = NULL;

	strcpy(places->no_set, "cannot be told: others disturbed it");
	places_conclude(places, &told);
	sheet_print(places->answers, PLACES_NR_ANSWERS, out);
	fclose(out);
	ck_assert_has(text, "cache line                      64  bytes          49..64       64");
	ck_assert_has(text, "huge page of a TLB entry     65536  bytes        >= 65536  2097152");
	ck_assert_has(text, "huge page of a TLB entry: at least");
	ck_assert_has(text, "L2 ways                          -  lines               -       16");
	ck_assert_has(text, "L2 ways: cannot be told");
	json = sheet_json(places->answers, PLACES_NR_ANSWERS);
	ck_assert_uint_eq(json_array_size(json), PLACES_NR_ANSWERS);
	for (size_t i = 0; i < PLACES_NR_ANSWERS; i++)
		if (i != PLACES_L2_WAYS && i != PLACES_L1_REPLACED && i != PLACES_L2_REPLACED)
			ck_assert_uint_gt(json_array_size(json_object_get(
						  json_object_get(json_array_get(json, i), "curve"), "points")),
					  0);
}
