/* SPDX-License-Identifier: MIT */
/* The modelled caches: what follows on paper. */
#include "lines_crossed.h"
#include "parent/stepping/cache_model.h"
#include "parent/stepping/cache_policy.h"
#include "testing.h"

/* ---- on paper ---- */

/* clang-format off */
#define SETS {{LINES(64), 8}, {LINES(256), 8}, {LINES(1024), 16}}
#define FULL {{LINES(64), 64}, {LINES(256), 256}, {LINES(1024), 1024}}
#define L1_ALONE {{LINES(64), 64}}
#define FILLS(l1, l2, memory) {{l1, 0, l2, 0, memory, 0}}
/* clang-format on */

#define MAX_WALKS 3

/* Accesses of equal bytes at equal distances. */
struct walk {
	enum { NO_WALK, LOAD, STORE, STREAM } how;
	uint64_t at;
	uint32_t step, bytes;
};

/* One access of each walk in turn, nr_steps times, and all that nr_passes times. */
static const struct walk_case {
	const char *name;
	struct step_level levels[STEP_NR_LEVELS];
	struct walk walks[MAX_WALKS];
	int nr_steps, nr_passes;
	struct crossed expected;
} walk_cases[] = {
	{"nothing", SETS, {{LOAD, 0, 8, 0}}, 100, 1, FILLS(0, 0, 0)},
	{"cold loads", SETS, {{LOAD, 0, 8, 8}}, 8000, 1, FILLS(1000, 1000, 1000)},
	{"cold loads, backwards", SETS, {{LOAD, 1 << 20, -64U, 64}}, 1000, 1, FILLS(1000, 1000, 1000)},
	{"what the L1 holds", SETS, {{LOAD, 0, 64, 64}}, 64, 9, FILLS(64, 64, 64)},
	{"what the L2 holds", SETS, {{LOAD, 0, 64, 64}}, 256, 4, FILLS(1024, 256, 256)},
	{"what the L3 holds", SETS, {{LOAD, 0, 64, 64}}, 1024, 3, FILLS(3072, 3072, 1024)},
	{"what nothing holds", SETS, {{LOAD, 0, 64, 64}}, 2048, 3, FILLS(6144, 6144, 6144)},
	{"one line too many", L1_ALONE, {{LOAD, 0, 64, 64}}, 65, 3, FILLS(195, 195, 195)},
	{"twice as much as fits", L1_ALONE, {{LOAD, 0, 64, 64}}, 128, 4, FILLS(512, 512, 512)},
	/* Lines that are stored to stay if they fit, those of a level and of the ones above. */
	{"stores that stay", SETS, {{STORE, 0, 64, 64}}, 64, 5, FILLS(64, 64, 64)},
	{"stores", SETS, {{STORE, 0, 8, 8}}, 8 * 5000, 1, {{5000, 5000 - 64, 5000, 5000 - 256, 5000, 5000 - 1024}}},
	{"stores that stay in the L2", SETS, {{STORE, 0, 64, 64}}, 128, 3, {{384, 384 - 64, 128, 0, 128, 0}}},
	{"loads, then stores, of a line",
	 L1_ALONE,
	 {{LOAD, 0, 64, 8}, {STORE, 8, 64, 8}},
	 100,
	 1,
	 {{100, 36, 100, 36, 100, 36}}},
	{"stores, then loads, of a line",
	 L1_ALONE,
	 {{STORE, 0, 64, 8}, {LOAD, 8, 64, 8}},
	 100,
	 1,
	 {{100, 36, 100, 36, 100, 36}}},
	/*
	 * y := a x + y. The L1 holds 32 lines of each. The L2 has, of each line of y that is in the L1, a copy that is
	 * not modified, and shares the other 256 - 32 equally between x and what was written back of y: 112. The L3 has
	 * copies of these 32 + 112 and shares the other 1024 - 144: 440.
	 */
	{"daxpy",
	 FULL,
	 {{LOAD, 0, 8, 8}, {LOAD, 1 << 20, 8, 8}, {STORE, 1 << 20, 8, 8}},
	 8000,
	 1,
	 {{2000, 1000 - 32, 2000, 1000 - 32 - 112, 2000, 1000 - 32 - 112 - 440}}},
	/* Streamed. */
	{"a copy", SETS, {{LOAD, 0, 8, 8}, {STREAM, 1 << 20, 8, 8}}, 8000, 1, {{1000, 0, 1000, 0, 1000, 1000}}},
	{"zeros", SETS, {{STREAM, 0, 64, 64}}, 1000, 2, {{0, 0, 0, 0, 0, 2000}}},
	{"halves of lines", SETS, {{STREAM, 0, 64, 32}}, 100, 1, {{0, 0, 0, 0, 0, 100}}},
	{"halves, backwards", SETS, {{STREAM, 1 << 20, -32U, 32}}, 100, 1, {{0, 0, 0, 0, 0, 51}}},
	{"shifted by half a line", SETS, {{STREAM, 32, 64, 64}}, 100, 1, {{0, 0, 0, 0, 0, 101}}},
	/* Straddling. */
	{"loads from the end of one line to the next", SETS, {{LOAD, 56, 64, 16}}, 100, 1, FILLS(101, 101, 101)},
	{"a byte of each of two", SETS, {{LOAD, 63, 128, 2}}, 100, 1, FILLS(200, 200, 200)},
	{"a long one", SETS, {{LOAD, 32, 0, 4096}}, 1, 1, FILLS(65, 65, 65)},
	{"the last bytes there are", SETS, {{LOAD, -8ULL, 0, 8}}, 9, 1, FILLS(1, 1, 1)},
	{"stores to two", L1_ALONE, {{STORE, 60, 64, 8}}, 100, 1, {{101, 37, 101, 37, 101, 37}}},
	/* Levels that are left out. */
	{"no L2", {{LINES(64), 8}, {0, 0}, {LINES(1024), 16}}, {{LOAD, 0, 64, 64}}, 128, 4, FILLS(512, 512, 128)},
	{"no L3", {{LINES(64), 8}, {LINES(256), 8}}, {{LOAD, 0, 64, 64}}, 128, 4, FILLS(512, 128, 128)},
	{"no L1",
	 {{0, 8}, {LINES(256), 8}, {LINES(1024), 16}},
	 {{STORE, 0, 64, 64}},
	 5000,
	 1,
	 {{0, 0, 5000, 5000 - 256, 5000, 5000 - 1024}}},
	{"an L3 alone", {{0}, {0}, {LINES(64), 8}}, {{STORE, 0, 64, 64}}, 100, 1, {{0, 0, 0, 0, 100, 36}}},
	{"no level", {{0}}, {{STORE, 0, 64, 64}, {STREAM, 1 << 20, 64, 64}}, 100, 1, FILLS(0, 0, 0)},
	{"less than a line", {{63, 1}, {LINES(256), 8}}, {{LOAD, 0, 64, 64}}, 128, 4, FILLS(0, 128, 128)},
	/* Sets: each line whose number leaves the same remainder. */
	{"three sets, one of them used", {{LINES(6), 2}}, {{LOAD, 0, 3 * 64, 64}}, 3, 2, FILLS(6, 6, 6)},
	{"three sets, all used", {{LINES(6), 2}}, {{LOAD, 0, 2 * 64, 64}}, 6, 2, FILLS(6, 6, 6)},
	{"seven lines in pairs are six", {{LINES(7), 2}}, {{LOAD, 0, 64, 64}}, 7, 2, FILLS(7 + 3, 7 + 3, 7 + 3)},
	{"a power of two in one set", {{LINES(64), 8}}, {{LOAD, 0, 8 * 64, 64}}, 9, 2, FILLS(18, 18, 18)},
	{"direct mapped", {{LINES(64), 1}}, {{LOAD, 0, 64, 8}, {LOAD, LINES(64), 64, 8}}, 64, 2, FILLS(256, 256, 256)},
	{"ways not known, 16", {{LINES(64), 0}}, {{LOAD, 0, 4 * 64, 64}}, 16, 2, FILLS(16, 16, 16)},
	{"ways not known, 17", {{LINES(64), 0}}, {{LOAD, 0, 4 * 64, 64}}, 17, 2, FILLS(34, 34, 34)},
	{"more ways than lines", {{LINES(5), 99}}, {{LOAD, 0, 64, 64}}, 5, 2, FILLS(5, 5, 5)},
};

static void
walk(struct cache_model *model, const struct walk_case *tested)
{
	for (int step = 0; step < tested->nr_steps; step++)
		for (int i = 0; i < MAX_WALKS && tested->walks[i].how != NO_WALK; i++) {
			const struct walk *walk = &tested->walks[i];

			cache_model_access(model, walk->at + (uint64_t)((int64_t)step * (int32_t)walk->step),
					   walk->bytes, walk->how != LOAD, walk->how == STREAM);
		}
}

TEST_OF(walks_are_as_on_paper, NR_ELEMENTS(walk_cases))
{
	const struct walk_case *tested = &walk_cases[_i];
	struct cache_model *model = at_end(cache_model_delete, cache_model_new(tested->levels, LINE));

	for (int pass = 0; pass < tested->nr_passes; pass++)
		walk(model, tested);
	expect_crossed(model, &tested->expected, "%s", tested->name);
}

/* Each line is loaded, or streamed, word by word, and once more; asked: the size that is asked for. */
static const struct line_size {
	uint64_t asked, line_bytes;
} line_sizes[] = {{0, 8}, {8, 8}, {32, 32}, {64, 64}, {100, 64}, {128, 128}, {256, 256}, {4096, 256}};

TEST_OF(lines_have_their_size, 2 * NR_ELEMENTS(line_sizes))
{
	static const struct step_level levels[STEP_NR_LEVELS] = {{1 << 16, 4}};
	const struct line_size *size = &line_sizes[_i / 2];
	const uint64_t bytes = 4096, nr_lines = bytes / size->line_bytes;
	const bool streams = _i % 2;
	const struct crossed loaded = FILLS(nr_lines, nr_lines, nr_lines), streamed = {{0, 0, 0, 0, 0, 2 * nr_lines}};
	struct cache_model *model = at_end(cache_model_delete, cache_model_new(levels, size->asked));

	for (uint64_t line = 0; line < bytes; line += size->line_bytes)
		for (uint64_t at = 0; at < 2 * size->line_bytes; at += 4)
			cache_model_access(model, line + at % size->line_bytes, 4, streams, streams);
	expect_crossed(model, streams ? &streamed : &loaded, "lines of %llu bytes", (unsigned long long)size->asked);
}

/* ---- short scripts: l, s and n (load, store, non-temporal store) LINE[:OFFSET+BYTES] ---- */

static const struct script_case {
	const char *script;
	struct crossed expected;
} script_cases[] = {
	{"l0 l1 l0", FILLS(2, 2, 2)},
	/* Streamed lines are not in the caches, and what was there is evicted; nor are other lines. */
	{"n0 l0", {{1, 0, 1, 0, 1, 1}}},
	{"l0 n0 l0", {{2, 0, 2, 0, 2, 1}}},
	{"l0 l1 l2 n1 l0 l2", {{3, 0, 3, 0, 3, 1}}},
	{"l0 l1 l2 l3 n1 l0 l2 l3", {{4, 0, 4, 0, 4, 1}}},
	{"s0 n0", {{1, 1, 1, 1, 1, 2}}},
	{"s0 n0:0+8 l0", {{2, 1, 2, 1, 2, 2}}},
	/* Three ways of one set: line 0 is in the L2 alone, modified. */
	{"s0 l4 l8 l12 l16", {{5, 1, 5, 0, 5, 0}}},
	{"s0 l4 l8 l12 l16 n0", {{5, 1, 5, 1, 5, 2}}},
	{"s0 l4 l8 l12 l16 l0 n0", {{6, 1, 5, 1, 5, 2}}},
	{"s0 l4 l8 l12 l16 s0 n0", {{6, 2, 5, 1, 5, 2}}},
	/* Combining. */
	{"n0:0+16 n0:16+16 n0:32+16", {{0, 0, 0, 0, 0, 1}}},
	{"n0:0+16 n0:32+16 n0:48+16 n0:16+16", {{0, 0, 0, 0, 0, 1}}},
	{"n0 n0:0+8", {{0, 0, 0, 0, 0, 2}}},
	{"n0:0+8 n0:0+8 n0:0+8", {{0, 0, 0, 0, 0, 1}}},
	{"n0:8+56 n0:0+8 n0:8+56 n0:0+8", {{0, 0, 0, 0, 0, 2}}},
	{"n0:0+8 l1 n0:8+8", {{1, 0, 1, 0, 1, 1}}},
	{"n0:0+8 l0 n0:8+8", {{1, 0, 1, 0, 1, 2}}},
	{"n0:0+8 s0 n0:8+8", {{1, 1, 1, 1, 1, 3}}},
	/* The line that is stored to is the last to go. */
	{"n0:0+8 n1:0+8 n2:0+8 n3:0+8 n4:0+8 n5:0+8 n6:0+8 n7:0+8 n0:8+8 n8:0+8 n0:16+48", {{0, 0, 0, 0, 0, 9}}},
	{"n0:0+8 n1:0+8 n2:0+8 n3:0+8 n4:0+8 n5:0+8 n6:0+8 n7:0+8 n8:0+8 n0:8+56", {{0, 0, 0, 0, 0, 10}}},
};

static void
run_script(struct cache_model *model, const char *script)
{
	for (const char *at = script; *at; at += strcspn(at, " "), at += *at == ' ') {
		unsigned line = 0, offset = 0, bytes = LINE;

		ck_assert_int_ge(sscanf(at + 1, "%u:%u+%u", &line, &offset, &bytes), 1);
		cache_model_access(model, LINES(line) + offset, bytes, *at != 'l', *at == 'n');
	}
}

TEST_OF(scripts_are_as_on_paper, NR_ELEMENTS(script_cases))
{
	static const struct step_level levels[STEP_NR_LEVELS] = {{LINES(12), 3}, {LINES(64), 16}, {LINES(256), 16}};
	const struct script_case *tested = &script_cases[_i];
	struct cache_model *model = at_end(cache_model_delete, cache_model_new(levels, LINE));

	run_script(model, tested->script);
	expect_crossed(model, &tested->expected, "%s", tested->script);
	expect_crossed(model, &tested->expected, "%s, asked again", tested->script);
}

/* So many lines at the same time, each in four parts. */
TEST_OF(some_lines_are_combined_at_once, 2 * CACHE_MODEL_COMBINED)
{
	static const struct step_level levels[STEP_NR_LEVELS] = SETS;
	const uint64_t nr_lines = (uint64_t)_i;
	struct cache_model *model = at_end(cache_model_delete, cache_model_new(levels, LINE));
	struct crossed crossed;

	for (int part = 0; part < 4; part++)
		for (uint64_t line = 0; line < nr_lines; line++)
			cache_model_access(model, LINES(line) + 16 * (uint64_t)part, 16, true, true);
	crossed = crossed_of(model);
	ck_assert_uint_eq(crossed.lines[MEMORY_WRITES], nr_lines <= CACHE_MODEL_COMBINED ? nr_lines : 4 * nr_lines);
}

TEST(counts_are_added)
{
	static const struct step_level levels[STEP_NR_LEVELS] = SETS;
	struct cache_model *model = cache_model_new(levels, LINE);
	uint64_t counts[STEP_NR_COUNTS] = {[STEP_INSTRUCTIONS] = 7, [STEP_L2_FILLS] = 10};

	cache_model_access(model, 0, 200, false, false);
	cache_model_add_counts(model, counts);
	ck_assert_uint_eq(counts[STEP_INSTRUCTIONS], 7);
	ck_assert_uint_eq(counts[STEP_L2_FILLS], 14);
	cache_model_add_counts(model, counts);
	ck_assert_uint_eq(counts[STEP_L2_FILLS], 18);
	ck_assert_uint_eq(counts[STEP_MEMORY_READS], 8);
	ck_assert_uint_eq(counts[STEP_TLB_MISSES], 2);
	cache_model_delete(model);
	cache_model_delete(NULL);
}

/* A modified line is written once; whether it is read again depends on whether it was kept. */
TEST_OF(lines_are_flushed, 2)
{
	static const struct step_level levels[STEP_NR_LEVELS] = SETS;
	struct cache_model *model = at_end(cache_model_delete, cache_model_new(levels, LINE));
	const bool is_kept = _i == 1;
	uint64_t counts[STEP_NR_COUNTS] = {0};

	cache_model_access(model, 0, 8, true, false);
	cache_model_access(model, LINE, 8, false, false);
	for (uint64_t line = 0; line < 3; line++) { /* the last was never there */
		cache_model_flush(model, line * LINE + 5, is_kept);
		cache_model_flush(model, line * LINE + 5, is_kept);
	}
	cache_model_access(model, 0, 8, false, false);
	cache_model_access(model, LINE, 8, false, false);
	cache_model_add_counts(model, counts);
	ck_assert_uint_eq(counts[STEP_L1_WRITE_BACKS], 1);
	ck_assert_uint_eq(counts[STEP_L2_WRITE_BACKS], 1);
	ck_assert_uint_eq(counts[STEP_MEMORY_WRITES], 1);
	ck_assert_uint_eq(counts[STEP_L1_FILLS], is_kept ? 2 : 4);
	ck_assert_uint_eq(counts[STEP_MEMORY_READS], is_kept ? 2 : 4);
}

/* ---- other lines go ---- */

/*
 * A set of 4. Line 0 comes again and again between new ones, and goes with every fourth of them where it is the first
 * that came. When five lines take turns, the tree keeps line 1 once; the least recently used one is always the next.
 */
static const struct policy_case {
	enum cache_policy policy;
	uint64_t lines[24];
	int nr;
	uint64_t reads, writes;
} policy_cases[] = {
	{CACHE_LRU, {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12}, 24, 13, 9},
	{CACHE_FIFO, {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12}, 24, 15, 11},
	{CACHE_LRU, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, 10, 10, 6},
	{CACHE_PLRU, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, 10, 9, 5},
};

static struct cache_model *
model_with(uint64_t nr_ways, enum cache_policy policy)
{
	const struct step_caches caches = {.levels = {{LINES(nr_ways), nr_ways}}, .policies = {policy}};

	return cache_model_new_of(&caches, LINE);
}

TEST_OF(another_line_goes, sizeof(policy_cases) / sizeof(*policy_cases))
{
	const struct policy_case *is = &policy_cases[_i];
	struct cache_model *model = at_end(cache_model_delete, model_with(4, is->policy));
	struct crossed crossed;

	for (int i = 0; i < is->nr; i++)
		cache_model_access(model, LINES(is->lines[i]), 8, true, false);
	crossed = crossed_of(model);
	ck_assert_uint_eq(crossed.lines[MEMORY_READS], is->reads);
	ck_assert_uint_eq(crossed.lines[MEMORY_WRITES], is->writes);
}

/* Lines in turn, of which some stay by chance; the same ones each time. */
TEST(any_line_goes_where_it_is_random)
{
	struct crossed crossed[2];

	for (int i = 0; i < 2; i++) {
		struct cache_model *model = model_with(16, CACHE_RANDOM);

		for (uint64_t line = 0; line < 4000; line++)
			cache_model_access(model, LINES(line % 20), 8, false, false);
		crossed[i] = crossed_of(model);
		cache_model_delete(model);
	}
	ck_assert_uint_gt(crossed[0].lines[MEMORY_READS], 400);
	ck_assert_uint_lt(crossed[0].lines[MEMORY_READS], 3600);
	ck_assert_uint_eq(crossed[0].lines[MEMORY_READS], crossed[1].lines[MEMORY_READS]);
}

/*
 * Lines that are loaded twice, so many of each of 64 sets of 8 ways. Where any line goes, those that were loaded go as
 * likely as what was there before: of k lines the first pass keeps 8 (1 - (7 / 8)^k), so that more than one a set is
 * too much. else: as many as there is room for.
 */
static const struct {
	enum cache_policy policy;
	uint64_t nr_of_set, least, most; /* that are read in the second pass */
} full_cases[] = {
	{CACHE_RANDOM, 1, 0, 0}, {CACHE_RANDOM, 2, 4, 16}, {CACHE_RANDOM, 4, 44, 80}, {CACHE_RANDOM, 8, 176, 280},
	{CACHE_LRU, 8, 0, 0},    {CACHE_FIFO, 8, 0, 0},    {CACHE_PLRU, 8, 0, 0},
};

TEST_OF(caches_are_full_of_other_lines, sizeof(full_cases) / sizeof(*full_cases))
{
	const struct step_caches caches = {.levels = {{LINES(64 * 8), 8}}, .policies = {full_cases[_i].policy}};
	struct cache_model *model = at_end(cache_model_delete, cache_model_new_of(&caches, LINE));
	const uint64_t nr = 64 * full_cases[_i].nr_of_set;
	struct crossed crossed;

	for (uint64_t i = 0; i < 2 * nr; i++)
		cache_model_access(model, LINES(i % nr), 8, false, false);
	crossed = crossed_of(model);
	ck_assert_uint_ge(crossed.lines[MEMORY_READS], nr + full_cases[_i].least);
	ck_assert_uint_le(crossed.lines[MEMORY_READS], nr + full_cases[_i].most);
}

/* ---- kinds of misses ---- */

/* Lines in turn, at a distance of so many, twice. */
static const struct kinds_case {
	const char *name;
	uint64_t nr_lines, step;
	uint64_t kinds[CACHE_NR_KINDS];
} kinds_cases[] = {
	{"what fits", 64, 1, {64, 0, 0}},
	{"one line too many, for one set", 65, 1, {65, 9, 0}},
	{"nothing fits", 128, 1, {128, 128, 0}},
	{"all in one set", 9, 8, {9, 0, 9}},
	{"all in one set, which they fill", 8, 8, {8, 0, 0}},
	{"all in one set, too many for all", 65, 8, {65, 65, 0}},
};

TEST_OF(kinds_are_as_on_paper, sizeof(kinds_cases) / sizeof(*kinds_cases))
{
	static const struct step_level levels[STEP_NR_LEVELS] = {{LINES(64), 8}};
	const struct kinds_case *is = &kinds_cases[_i];
	struct cache_model *first = cache_model_new(levels, LINE), *model;
	struct cache_kinds kinds = {{{0}}};

	cache_model_tell_kinds(first);
	model = cache_model_new_sharing(first);
	for (uint64_t i = 0; i < 2 * is->nr_lines; i++)
		cache_model_access(model, LINES(i % is->nr_lines * is->step), 8, i % 3 == 0, false);
	cache_model_add_kinds(model, &kinds);
	for (int kind = 0; kind < CACHE_NR_KINDS; kind++)
		ck_assert_msg(kinds.lines[0][kind] == is->kinds[kind], "%s: kind %d: %llu", is->name, kind,
			      (unsigned long long)kinds.lines[0][kind]);
	cache_model_delete(model);
	cache_model_delete(first);
}

/* Lines of 64 bytes in the first level, two of them, and of 128 behind it, four. What is counted is of 64 bytes. */
static const struct lines_case {
	uint64_t lines[5];
	int nr, nr_loads; /* the last of them */
	struct crossed crossed;
} lines_cases[] = {
	/* Each second one finds its line. */
	{{0, 1, 2, 3}, 4, 4, {{4, 0, 4, 0, 4, 0}}},
	/* Lines that leave find theirs: the first level writes two back. */
	{{0, 2, 4, 6}, 4, 0, {{4, 2, 8, 0, 8, 0}}},
	/* Line 8 takes the place of 4 and 5 behind the first level. Line 4, which goes then, reads the rest of its line
	 * and drives out that of 0, which is written. */
	{{0, 2, 4, 6, 8}, 5, 1, {{5, 3, 12, 2, 12, 2}}},
};

TEST_OF(lines_may_be_longer_behind, sizeof(lines_cases) / sizeof(*lines_cases))
{
	static const struct step_caches caches = {.levels = {{LINES(2), 2}, {LINES(8), 4}}, .line_bytes = {64, 128}};
	const struct lines_case *is = &lines_cases[_i];
	struct cache_model *model = at_end(cache_model_delete, cache_model_new_of(&caches, LINE));

	for (int i = 0; i < is->nr; i++)
		cache_model_access(model, LINES(is->lines[i]), 8, i < is->nr - is->nr_loads, false);
	expect_crossed(model, &is->crossed, "case %d", _i);
}

/* Uses are of 32 bytes, and the first level has 128: of eight uses two are missing, each of which counts as four. */
TEST(uses_may_be_shorter_than_all_lines)
{
	static const struct step_caches caches = {.levels = {{4096, 8}}, .line_bytes = {128, 128, 128}};
	static const struct crossed crossed = {{8, 0, 8, 0, 8, 0}};
	struct cache_model *model = at_end(cache_model_delete, cache_model_new_of(&caches, 32));
	uint64_t uses[8], counts[STEP_NR_COUNTS] = {0};

	for (uint64_t i = 0; i < 8; i++)
		uses[i] = CACHE_USE(i, 0);
	cache_model_use_lines(model, uses, 8);
	expect_crossed(model, &crossed, "short uses");
	cache_model_add_counts(model, counts);
	cache_model_in_step_lines(model, counts);
	ck_assert_uint_eq(counts[STEP_L1_FILLS], 4);
}

/* Two threads load the same four lines, one after the other: what the second one still misses, by level. */
static const struct {
	uint64_t are_shared[STEP_NR_LEVELS];
	struct crossed crossed;
} sharing_cases[] = {
	{{0, 0, 1}, FILLS(4, 4, 0)}, {{0, 1, 1}, FILLS(4, 0, 0)}, {{1, 1, 1}, FILLS(0, 0, 0)},
	{{0, 0, 0}, FILLS(4, 4, 4)}, {{0, 1, 0}, FILLS(4, 0, 0)},
};

TEST_OF(levels_are_shared_or_private, sizeof(sharing_cases) / sizeof(*sharing_cases))
{
	struct step_caches caches = {.levels = {{LINES(8), 8}, {LINES(32), 4}, {LINES(64), 16}}};
	struct cache_model *root, *models[2];

	memcpy(caches.are_shared, sharing_cases[_i].are_shared, sizeof(caches.are_shared));
	root = at_end(cache_model_delete, cache_model_new_of(&caches, LINE));
	for (int i = 0; i < 2; i++) {
		models[i] = at_end(cache_model_delete, cache_model_new_sharing(root));
		for (uint64_t line = 0; line < 4; line++)
			cache_model_access(models[i], LINES(line), 8, false, false);
	}
	expect_crossed(models[1], &sharing_cases[_i].crossed, "case %d", _i);
}

/* Telling kinds changes nothing else: also of lines that are flushed and streamed, and of what two share. */
TEST(kinds_are_all_that_is_read)
{
	static const struct step_level levels[STEP_NR_LEVELS] = {{LINES(32), 4}, {LINES(96), 6}, {LINES(300), 3}};
	struct cache_model *plain = cache_model_new(levels, LINE), *first = cache_model_new(levels, LINE), *model;
	struct cache_kinds kinds = {{{0}}};
	struct crossed crossed;
	uint32_t state = 1;

	cache_model_tell_kinds(first);
	model = cache_model_new_sharing(first);
	for (int i = 0; i < 20000; i++) {
		const uint64_t address = (state = state * 1664525 + 1013904223) >> 8 & (i % 2 ? 0x7fff : 0x1ff);

		for (int k = 0; k < 2; k++) {
			if (i % 50 == 0)
				cache_model_flush(k ? model : plain, address, i % 100);
			else
				cache_model_access(k ? model : plain, address, 16, i % 3 == 0, i % 21 == 0);
		}
	}
	crossed = crossed_of(plain);
	expect_crossed(model, &crossed, "with kinds");
	cache_model_add_kinds(model, &kinds);
	for (int i = 0; i < STEP_NR_LEVELS; i++)
		ck_assert_uint_eq(kinds.lines[i][0] + kinds.lines[i][1] + kinds.lines[i][2], crossed.lines[2 * i]);
	ck_assert_uint_gt(kinds.lines[0][CACHE_CONFLICT], 0);
	cache_model_delete(model);
	cache_model_delete(first);
	cache_model_delete(plain);
}

UNIT_TESTS(.is_in_one_process = true);
