/* SPDX-License-Identifier: MIT */
#include "sheet/places.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/entry.h"
#include "base/paths.h"
#include "machine/caches.h"
#include "machine/cpuid.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "rot.h"
#include "sheet/survey.h"
#include "statistics/curve.h"
#include "statistics/summary.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* ---- what curves say ---- */

/* No processor's first TLB has more entries. */
#define MAX_FIRST_TLB 512

/* The second TLB holds what costs less than this times a hit of it; what costs more than the second does not fit.
 * Hashed sets overflow one after the other: with twice the cost, a Zen 5 of 4096 entries was sometimes said to have
 * 3328. */
#define STILL_FITS 1.25
#define CLEARLY_MISSES 3.0

/* So many of the lines, of a cycle of one more than ways, LRU is said to replace. */
#define REPLACES_ALL 85

#define LARGEST_PAGE "at least: the largest distance that was measured needs no entry for each place"

#define NO_L2_WAYS                                                                                                     \
	"cannot be told: as many pages of the same sets as L1 does not hold take as long as more, or others "          \
	"disturbed it"
#define AS_LRU "as LRU, FIFO or a tree of bits would; rot measure replacement tells more of L1"
#define UNLIKE_LRU "unlike LRU and FIFO, which would replace all"
#define NO_HUGE_ENTRIES                                                                                                \
	"cannot be told here: rot was given no huge pages, or the host has small ones below them, and the TLB holds "  \
	"those"
static struct curve_step
step_of(struct curve_step (*find)(const double *values, size_t nr), const struct measured_curve *curve, double most)
{
	size_t nr = 0;

	while (nr < curve->nr && curve->at[nr] <= most)
		nr++;
	return curve_step_of_two(find, curve->cycles[0], curve->cycles[1], nr);
}

/* Answers that are the place of a step. at_least: the remark where there surely is none; NULL: no answer then. */
static const struct step_answer {
	enum places_curve curve;
	const char *name, *unit;
	struct curve_step (*find)(const double *values, size_t nr);
	bool is_behind;
	const char *at_least;
} step_answers[] = {
	[PLACES_LINE_BYTES] = {PLACES_LINE, "cache line", "bytes", curve_biggest_step, true, NULL},
	[PLACES_L1_WAYS] = {PLACES_WAYS, "L1 data ways", "lines", curve_first_step, false, NULL},
	[PLACES_PAGE_BYTES] = {PLACES_PAGE, "page of a TLB entry", "bytes", curve_biggest_step, true, LARGEST_PAGE},
	[PLACES_HUGE_PAGE_BYTES] = {PLACES_HUGE_PAGE, "huge page of a TLB entry", "bytes", curve_biggest_step, true,
				    LARGEST_PAGE},
};

static void
conclude_step(struct places *places, enum places_answer which, double told)
{
	const struct step_answer *row = &step_answers[which];
	struct sheet_answer *answer = &places->answers[which];
	const struct measured_curve curve = curve_undisturbed(&places->curves[row->curve]);
	const struct curve_step step = step_of(row->find, &curve, INFINITY);

	*answer = sheet_no_answer(row->name, row->unit, told);
	answer->curve = &places->curves[row->curve];
	sheet_read_step(answer, &curve, &step, row->is_behind);
	if (row->at_least && isnan(step.rise) && step.confidence >= CURVE_SURE) {
		answer->number = (struct sheet_number){curve.at[curve.nr - 1], curve.at[curve.nr - 1], INFINITY};
		answer->remark = row->at_least;
	}
}

/* Where lines of one set no longer fit into L2, which is behind where they do not into L1. */
static void
conclude_l2_ways(struct places *places, double told)
{
	const struct sheet_answer *l1 = &places->answers[PLACES_L1_WAYS];
	struct sheet_answer *answer = &places->answers[PLACES_L2_WAYS];
	const struct measured_curve *all = &places->curves[PLACES_SET];
	struct measured_curve behind = {.nr = 0};
	struct curve_step step;

	*answer = sheet_no_answer("L2 ways", "lines", told);
	for (size_t i = 0; i < all->nr; i++) {
		if (!(all->at[i] > l1->number.value))
			continue;
		behind.at[behind.nr] = all->at[i];
		behind.cycles[0][behind.nr] = all->cycles[0][i];
		behind.cycles[1][behind.nr++] = all->cycles[1][i];
	}
	behind = curve_undisturbed(&behind);
	step = step_of(curve_first_step, &behind, INFINITY);
	if (all->nr == 0) {
		answer->remark = places->no_set;
	} else if (isnan(step.rise)) {
		answer->remark = NO_L2_WAYS;
	} else {
		answer->curve = all;
		sheet_read_step(answer, &behind, &step, false);
	}
}

/* The percent of accesses that miss behind the step at so many ways: a miss takes as long as with the most lines. */
static double
replaced_percent(const struct measured_curve *curve, const double *cycles, double ways)
{
	size_t fits = 0;

	while (fits + 1 < curve->nr && curve->at[fits + 1] <= ways)
		fits++;
	if (fits + 2 >= curve->nr || curve->at[fits] != ways || curve->at[fits + 1] != ways + 1)
		return NAN;
	return 100 * fmin(1, (cycles[fits + 1] - cycles[fits]) / (cycles[curve->nr - 1] - cycles[fits]));
}

/* Which line is replaced: a cycle of one line more than ways always misses with LRU and FIFO. */
static void
conclude_replaced(struct places *places, enum places_answer which, const char *name, enum places_answer ways,
		  enum places_curve of)
{
	struct sheet_answer *answer = &places->answers[which];
	const struct measured_curve curve = curve_undisturbed(&places->curves[of]);
	const double at = places->answers[ways].number.value;
	const double shares[] = {replaced_percent(&curve, curve.cycles[0], at),
				 replaced_percent(&curve, curve.cycles[1], at)};

	*answer = sheet_no_answer(name, "%", 0);
	if (!isfinite(shares[0]) || !isfinite(shares[1]) || places->answers[ways].confidence < CURVE_SURE) {
		answer->remark = "cannot be told: its ways are not sure";
		return;
	}
	answer->number = (struct sheet_number){(shares[0] + shares[1]) / 2, fmin(shares[0], shares[1]),
					       fmax(shares[0], shares[1])};
	if (answer->number.low > REPLACES_ALL)
		answer->remark = AS_LRU;
	else if (answer->number.high < REPLACES_ALL)
		answer->remark = UNLIKE_LRU;
	else
		answer->remark = "not sure: the halves of the runs differ";
}

/* The host has them, too. */
static bool
has_huge_pages(const struct places *places)
{
	const struct sheet_answer *page = &places->answers[PLACES_HUGE_PAGE_BYTES];

	return page->number.high >= 2 << 20 && page->confidence >= CURVE_SURE;
}

/*
 * The time that translation adds to an access. The cost of the first access is left in it, as steps are relative. A
 * point that one of both curves lacks is left out.
 */
static struct measured_curve
added_cost(const struct measured_curve *pages, const struct measured_curve *lines)
{
	struct measured_curve added = {.parameter = pages->parameter};

	for (size_t i = 0, k = 0; i < pages->nr; i++) {
		while (k < lines->nr && lines->at[k] < pages->at[i])
			k++;
		if (k == lines->nr || lines->at[k] > pages->at[i])
			continue;
		added.at[added.nr] = pages->at[i];
		for (int half = 0; half < 2; half++)
			added.cycles[half][added.nr] = pages->cycles[half][i] -
						       fmin(lines->cycles[0][k], lines->cycles[1][k]) +
						       fmin(lines->cycles[0][0], lines->cycles[1][0]);
		added.nr++;
	}
	return curve_undisturbed(&added);
}

/* The median of a half behind the step, of points that cost nearly the same. */
static double
hit_cost(const struct measured_curve *added, size_t first, const double *cycles)
{
	double costs[CURVE_MAX_POINTS];
	size_t nr = 0;

	for (size_t i = first; i < added->nr && cycles[i] < STILL_FITS * cycles[first]; i++)
		costs[nr++] = cycles[i] - cycles[0];
	return nr ? statistics_percentile(costs, nr, 50) : NAN;
}

/* From what fits to what clearly does not; the sets of the TLB overflow one after the other in between. walk: NULL, or
 * what the most pages cost. */
static void
second_tlb(const struct measured_curve *added, size_t first, const struct sheet_answer *hit,
	   struct sheet_answer *entries, struct sheet_answer *walk)
{
	const double base = fmin(added->cycles[0][0], added->cycles[1][0]);
	size_t fits = first, misses;

	for (size_t i = first; i < added->nr; i++)
		if (fmin(added->cycles[0][i], added->cycles[1][i]) - base < STILL_FITS * hit->number.value)
			fits = i;
	for (misses = fits; misses < added->nr; misses++)
		if (fmin(added->cycles[0][misses], added->cycles[1][misses]) - base >
		    CLEARLY_MISSES * hit->number.value)
			break;
	if (misses == added->nr) {
		entries->number = (struct sheet_number){added->at[fits], added->at[fits], INFINITY};
		entries->remark = "at least: the most pages that were visited still fit";
		return;
	}
	entries->number = (struct sheet_number){added->at[fits], added->at[fits], added->at[misses]};
	entries->confidence = hit->confidence;
	if (walk)
		sheet_read_halves(walk, added->cycles[0][added->nr - 1] - base, added->cycles[1][added->nr - 1] - base);
}

/* first, second, hit: answers. */
static void
conclude_entries(const struct measured_curve *added, struct sheet_answer *first, struct sheet_answer *second,
		 struct sheet_answer *hit, struct sheet_answer *walk)
{
	const struct curve_step step = step_of(curve_first_step, added, MAX_FIRST_TLB);

	first->curve = second->curve = hit->curve = added->nr ? added : NULL;
	sheet_read_step(first, added, &step, false);
	if (isnan(step.rise))
		return;
	sheet_read_halves(hit, hit_cost(added, step.at + 1, added->cycles[0]),
			  hit_cost(added, step.at + 1, added->cycles[1]));
	second_tlb(added, step.at + 1, hit, second, walk);
}

static void
conclude_tlb(struct places *places, const struct places_told *told)
{
	const struct measured_curve *curves = places->curves;
	struct sheet_answer *answers = places->answers;

	answers[PLACES_FIRST_TLB] = sheet_no_answer("first TLB", "entries", told->first_tlb);
	answers[PLACES_SECOND_TLB] = sheet_no_answer("second TLB", "entries", told->second_tlb);
	answers[PLACES_SECOND_COST] = sheet_no_answer("hit of the second TLB", "cycles", 0);
	answers[PLACES_WALK_COST] = sheet_no_answer("translation, 8192 pages", "cycles", 0);
	places->added = added_cost(&curves[PLACES_PAGES], &curves[PLACES_LINES]);
	answers[PLACES_WALK_COST].curve = &places->added;
	conclude_entries(&places->added, &answers[PLACES_FIRST_TLB], &answers[PLACES_SECOND_TLB],
			 &answers[PLACES_SECOND_COST], &answers[PLACES_WALK_COST]);

	answers[PLACES_HUGE_FIRST_TLB] = sheet_no_answer("first TLB, huge pages", "entries", told->huge_first_tlb);
	answers[PLACES_HUGE_SECOND_TLB] = sheet_no_answer("second TLB, huge pages", "entries", told->huge_second_tlb);
	answers[PLACES_HUGE_SECOND_COST] = sheet_no_answer("hit of it, huge pages", "cycles", 0);
	places->huge_added = added_cost(&curves[PLACES_HUGES], &curves[PLACES_LINES]);
	if (has_huge_pages(places))
		conclude_entries(&places->huge_added, &answers[PLACES_HUGE_FIRST_TLB], &answers[PLACES_HUGE_SECOND_TLB],
				 &answers[PLACES_HUGE_SECOND_COST], NULL);
	for (int i = PLACES_HUGE_FIRST_TLB; i < PLACES_NR_ANSWERS && !has_huge_pages(places); i++)
		answers[i].remark = NO_HUGE_ENTRIES;
}

void
places_conclude(struct places *places, const struct places_told *told)
{
	struct sheet_answer *huge = &places->answers[PLACES_HUGE_PAGE_BYTES];

	conclude_step(places, PLACES_LINE_BYTES, told->line_bytes);
	conclude_step(places, PLACES_L1_WAYS, told->l1_ways);
	conclude_step(places, PLACES_PAGE_BYTES, 4096);
	conclude_step(places, PLACES_HUGE_PAGE_BYTES, 2 << 20);
	conclude_l2_ways(places, told->l2_ways);
	conclude_replaced(places, PLACES_L1_REPLACED, "L1 replaces of ways + 1", PLACES_L1_WAYS, PLACES_WAYS);
	conclude_replaced(places, PLACES_L2_REPLACED, "L2 replaces of ways + 1", PLACES_L2_WAYS, PLACES_SET);
	conclude_tlb(places, told);
	if (huge->number.high < 2 << 20 && huge->confidence >= CURVE_SURE)
		huge->remark = "huge pages of this guest are small ones in the host, or were not given: each part "
			       "needs an entry";
	for (size_t i = 0; i < PLACES_NR_ANSWERS; i++)
		sheet_judge(&places->answers[i]);
}

/* ---- what is drawn ---- */

void
places_draw(const struct places *places, int first, int last, const struct sheet_pictures *pictures)
{
	static const char *const names[PLACES_NR_ANSWERS] = {
		[PLACES_LINE_BYTES] = "line",           [PLACES_L1_WAYS] = "l1-ways",
		[PLACES_L2_WAYS] = "l2-ways",           [PLACES_PAGE_BYTES] = "page",
		[PLACES_HUGE_PAGE_BYTES] = "huge-page", [PLACES_FIRST_TLB] = "tlb",
		[PLACES_HUGE_FIRST_TLB] = "huge-tlb",
	};

	/* The answers of one curve stand beside each other. */
	for (int end; first < last; first = end) {
		const struct sheet_answer *answer = &places->answers[first];
		autofree char *title = NULL;

		for (end = first + 1; end < last && places->answers[end].curve == answer->curve;)
			end++;
		if (!answer->curve)
			continue;
		title = end == first + 1 ? rot_format("%c%s", toupper(answer->name[0]), answer->name + 1)
					 : rot_strdup(first < PLACES_HUGE_FIRST_TLB ? "Entries of the TLBs"
										    : "Entries of huge pages");
		sheet_pictures_draw_answers(pictures, names[first], title, answer, (size_t)(end - first));
	}
}

/* ---- what is told ---- */

/* Zen 5 and later tell the second TLB in units of 32 entries; a hypervisor may hide the bit that says so. */
#define L2_TLB_SIZE_X32 (1u << 14)
#define FAMILY_X32 26

/* AMD: data TLBs, leaf 80000005 23:16 and 80000006 27:16, EBX for 4 KiB, EAX for 2 MiB; leaf 80000021 EAX 14
 * L2TlbSizeX32. */
static void
read_amd(struct places_told *told, const struct machine *machine, const char *root)
{
	struct cpuid_registers r;

	if (cpuid_read(root, 0x80000005, 0, &r)) {
		told->first_tlb = r.ebx >> 16 & 0xff;
		told->huge_first_tlb = r.eax >> 16 & 0xff;
	}
	if (cpuid_read(root, 0x80000006, 0, &r)) {
		told->second_tlb = r.ebx >> 16 & 0xfff;
		told->huge_second_tlb = r.eax >> 16 & 0xfff;
	}
	if (machine->cpu_family >= FAMILY_X32 || (cpuid_read(root, 0x80000021, 0, &r) && r.eax & L2_TLB_SIZE_X32)) {
		told->second_tlb *= 32;
		told->huge_second_tlb *= 32;
	}
}

/* Intel: leaf 18, subleaves of TLBs: EDX 4:0 type (1 data, 3 unified, 4 loads), 7:5 level, EBX 0 4 KiB, 1 2 MiB, 31:16
 * ways, ECX sets. */
static void
read_intel(struct places_told *told, const char *root)
{
	struct cpuid_registers r;

	for (uint32_t i = 0; i < 16 && cpuid_read(root, 0x18, i, &r); i++) {
		const uint32_t type = r.edx & 31, level = r.edx >> 5 & 7;
		const double entries = (double)(r.ebx >> 16) * r.ecx;

		if ((type != 1 && type != 3 && type != 4) || level < 1 || level > 2)
			continue;
		if (r.ebx & 1)
			*(level == 1 ? &told->first_tlb : &told->second_tlb) = entries;
		if (r.ebx & 2)
			*(level == 1 ? &told->huge_first_tlb : &told->huge_second_tlb) = entries;
	}
}

struct places_told
places_told_of(const struct machine *machine, const char *root)
{
	const struct cache_ways ways = cache_ways_of(machine, root);
	struct places_told told = {.l1_ways = (double)ways.l1_data, .l2_ways = (double)ways.l2};

	if (machine->l1_data_source[0] && strcmp(machine->l1_data_source, "measured") != 0)
		told.line_bytes = machine->line_bytes;
	if (strcmp(machine->cpu_vendor, "GenuineIntel") == 0)
		read_intel(&told, root);
	else
		read_amd(&told, machine, root);
	return told;
}

/* ---- measuring ---- */

#define ACCESSES 32768 /* some 0.1 to 1 ms */

/* A line further in each page, so places fill all sets of the caches; and no two pages beside each other, which some
 * processors translate together. */
#define PAGE_DISTANCE (5 * 4096 + 64)

/* The same of huge pages: where the host has small ones, they lie in different sets of the TLB, too. */
#define HUGE_DISTANCE ((2 << 20) + PAGE_DISTANCE)

/* The system fills each with zeros, so few are taken, and a small part of the memory. */
#define MAX_HUGE_PAGES 1024
#define PART_OF_MEMORY 8

/* Lines that first levels do not hold and second ones do. */
#define PAIRS 1536
#define PAIR_BYTES 576

/* A multiple of what each way of any first level has, and of most second ones. */
#define WAY_DISTANCE 131072

static const int line_distances[] = {8, 16, 32, 48, 64, 96, 128, 192, 256, 512};
static const int way_counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 24, 28, 32};
static const int set_counts[] = {9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 26, 28, 32};
static const int page_distances[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const int page_counts[] = {16,   24,   32,   40,   48,   56,   64,   72,   80,   88,   96,   104,  112,  120,
				  128,  144,  160,  192,  224,  256,  288,  320,  384,  448,  512,  1024, 1280, 1536,
				  1792, 2048, 2304, 2560, 2816, 3072, 3328, 3584, 4096, 4608, 5120, 6144, 7168, 8192};

static const int huge_counts[] = {16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128, 160, 192, 256, 512, 1024};

/* More of the survey of a curve: parameters, and the point of each. */
static int
add(struct survey *survey, struct measured_curve *curve, double at, int64_t bytes, int64_t distance, int64_t pair,
    bool is_huge, struct rot_error *err)
{
	const int64_t lines = bytes / distance;

	curve->at[curve->nr++] = at;
	return survey_add(survey, 1, "Chase", ACCESSES, err,
			  "accesses=%d warmAccesses=%lld warmCode=true warmData=true bufferSize=%lld distance=%lld "
			  "pairDistance=%lld hugePages=%s",
			  ACCESSES, (long long)(4 * lines), (long long)bytes, (long long)distance, (long long)pair,
			  is_huge ? "true" : "false") < 0
		       ? -1
		       : 0;
}

static int
add_first(struct survey *survey, struct places *places, struct rot_error *err)
{
	struct measured_curve *curves = places->curves;
	int rc = 0;

	curves[PLACES_LINE].parameter = "bytes between the two accesses of a pair";
	curves[PLACES_WAYS].parameter = "lines of one set";
	curves[PLACES_PAGES].parameter = curves[PLACES_LINES].parameter = "pages";
	for (size_t i = 0; rc == 0 && i < NR(line_distances); i++)
		rc = add(survey, &curves[PLACES_LINE], line_distances[i], PAIRS * PAIR_BYTES, PAIR_BYTES,
			 line_distances[i], true, err);
	for (size_t i = 0; rc == 0 && i < NR(way_counts); i++)
		rc = add(survey, &curves[PLACES_WAYS], way_counts[i], (int64_t)way_counts[i] * WAY_DISTANCE,
			 WAY_DISTANCE, 0, true, err);
	for (size_t i = 0; rc == 0 && i < NR(page_counts); i++)
		rc = add(survey, &curves[PLACES_PAGES], page_counts[i], (int64_t)page_counts[i] * PAGE_DISTANCE,
			 PAGE_DISTANCE, 0, false, err);
	for (size_t i = 0; rc == 0 && i < NR(page_counts); i++)
		rc = add(survey, &curves[PLACES_LINES], page_counts[i], (int64_t)page_counts[i] * 64, 64, 0, true, err);
	return rc;
}

/* Half more places than the first TLB has entries: at half a page's distance they fit, and at a page's they do not. */
static int
add_second(struct survey *survey, struct places *places, struct rot_error *err)
{
	const double entries = places->answers[PLACES_FIRST_TLB].number.value;
	const int64_t nr = isfinite(entries) ? (int64_t)(1.5 * entries) : 96;
	int rc = 0;

	for (int kind = PLACES_PAGE; kind <= PLACES_HUGE_PAGE; kind++) {
		places->curves[kind].parameter = "bytes from place to place";
		for (size_t i = 0; rc == 0 && i < NR(page_distances); i++)
			rc = add(survey, &places->curves[kind], page_distances[i], nr * (page_distances[i] + 64),
				 page_distances[i] + 64, 0, kind == PLACES_HUGE_PAGE, err);
	}
	return rc;
}

static int
add_huge(struct survey *survey, struct places *places, struct rot_error *err)
{
	struct measured_curve *curve = &places->curves[PLACES_HUGES];

	curve->parameter = "huge pages";
	for (size_t i = 0; i < NR(huge_counts) && huge_counts[i] <= places->most_huge_pages; i++)
		if (add(survey, curve, huge_counts[i], (int64_t)huge_counts[i] * HUGE_DISTANCE, HUGE_DISTANCE, 0, true,
			err) < 0)
			return -1;
	return 0;
}

/* The curve twice, each point with pages of its own. */
static int
add_set(struct survey *survey, struct places *places, struct rot_error *err)
{
	struct measured_curve *curve = &places->curves[PLACES_SET];

	curve->parameter = "pages that share sets";
	for (size_t i = 0; i < 2 * NR(set_counts); i++) {
		const int nr = set_counts[i % NR(set_counts)];

		curve->at[i % NR(set_counts)] = nr;
		if (survey_add(survey, 1, "Chase", ACCESSES, err,
			       "accesses=%d warmAccesses=%zu warmCode=true warmData=true bufferSize=%d distance=4096 "
			       "hugePages=false isOfOneSet=true",
			       ACCESSES, ACCESSES + 8 * (i / NR(set_counts)), nr * 4096) < 0)
			return -1;
	}
	curve->nr = NR(set_counts);
	return 0;
}

static int
read_curves(struct survey *survey, struct places *places, const enum places_curve *kinds, size_t nr,
	    struct rot_error *err)
{
	int point = 0;

	for (size_t k = 0; k < nr; k++) {
		struct measured_curve *curve = &places->curves[kinds[k]];

		if (survey_read_curve(survey, point, curve, err) < 0)
			return -1;
		point += (int)curve->nr;
	}
	return 0;
}

/* Adds points, measures and reads them. */
static int
measure(struct rot *rot, struct places *places,
	int (*add_points)(struct survey *survey, struct places *places, struct rot_error *err),
	const enum places_curve *kinds, size_t nr, struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	int rc = add_points(survey, places, err);

	if (rc == 0)
		rc = survey_measure(survey, err);
	if (rc == 0)
		rc = read_curves(survey, places, kinds, nr, err);
	survey_delete(survey);
	return rc;
}

/* Sizes that are sure replace what was kept. */
static int
keep(const struct rot *rot, const struct places *places, struct rot_error *err)
{
	struct measured_levels levels;
	const struct {
		enum places_answer answer;
		int64_t *kept;
	} kept[] = {{PLACES_LINE_BYTES, &levels.line_bytes},
		    {PLACES_L1_WAYS, &levels.l1_ways},
		    {PLACES_FIRST_TLB, &levels.tlb_entries}};

	measured_levels_load(&levels, rot->paths->cache, rot->machine);
	for (size_t i = 0; i < NR(kept); i++) {
		const struct sheet_answer *answer = &places->answers[kept[i].answer];

		if (isfinite(answer->number.value) && answer->confidence >= CURVE_SURE)
			*kept[i].kept = (int64_t)answer->number.value;
	}
	return measured_levels_store(&levels, rot->paths->cache, rot->machine, err);
}

/* Others may disturb the search for pages of the same sets: the answers say so then. */
static int
measure_set(struct rot *rot, struct places *places, struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	struct measured_curve *curve = &places->curves[PLACES_SET];
	struct rot_error failure = {0};
	int rc = add_set(survey, places, &failure);
	struct measured_curve again = *curve;

	if (rc == 0)
		rc = survey_measure(survey, &failure);
	if (rc == 0)
		rc = survey_read_curve(survey, 0, curve, &failure);
	if (rc == 0)
		rc = survey_read_curve(survey, NR(set_counts), &again, &failure);
	survey_delete(survey);
	/* In one of twenty starts a Zen 5 kept a line more than it has ways. */
	for (size_t i = 0; i < curve->nr; i++)
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] = fmax(curve->cycles[half][i], again.cycles[half][i]);
	if (rc == 0)
		return 0;
	if (rot_interrupted()) {
		*err = failure;
		return -1;
	}
	snprintf(places->no_set, sizeof(places->no_set), "cannot be told: %s", rot_error_line(&failure));
	places->curves[PLACES_SET].nr = 0;
	return 0;
}

int
places_measure(struct rot *rot, struct places *places, struct rot_error *err)
{
	static const enum places_curve first[] = {PLACES_LINE, PLACES_WAYS, PLACES_PAGES, PLACES_LINES},
				       second[] = {PLACES_PAGE, PLACES_HUGE_PAGE}, third[] = {PLACES_HUGES};
	const struct places_told told = places_told_of(rot->machine, "/");

	*places = (struct places){0};
	if (measure(rot, places, add_first, first, NR(first), err) < 0 || measure_set(rot, places, err) < 0)
		return rot_error_prefix(err, "lines, ways and pages");
	places_conclude(places, &told);
	if (measure(rot, places, add_second, second, NR(second), err) < 0)
		return rot_error_prefix(err, "pages of the TLB");
	places_conclude(places, &told);
	if (has_huge_pages(places)) {
		places->most_huge_pages = (int)fmin(MAX_HUGE_PAGES, (double)machine_usable_bytes(rot->machine) /
									    PART_OF_MEMORY / HUGE_DISTANCE);
		if (measure(rot, places, add_huge, third, NR(third), err) < 0)
			return rot_error_prefix(err, "huge pages of the TLB");
		places_conclude(places, &told);
	}
	return keep(rot, places, err);
}
