/* SPDX-License-Identifier: MIT */
/* The modelled caches and random accesses: what simpler models say of them, and what must always hold. */
#include "lines_crossed.h"
#include "parent/stepping/cache_model.h"
#include "testing.h"

/* ---- random accesses ---- */

#define NR_ROUNDS 4
#define SEEDS_A_ROUND 50
#define NR_ACCESSES 3000

static void
run_seeds(void (*check)(uint64_t seed), int round)
{
	for (uint64_t i = 0; i < SEEDS_A_ROUND; i++)
		check((uint64_t)round * SEEDS_A_ROUND + i);
}

/* Sizes of which each level has more than one set, or one, or is not there; each is larger than those above. */
static void
random_levels(uint64_t *state, struct step_level levels[STEP_NR_LEVELS])
{
	uint64_t nr_lines = 1;

	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		uint64_t nr_ways = 1 + random_below(state, 20), nr_sets = 1 + random_below(state, 7);

		nr_lines += nr_ways * nr_sets;
		nr_sets = 1 + nr_lines / nr_ways;
		levels[i] = (struct step_level){LINES(nr_ways * nr_sets), nr_ways};
		if (random_below(state, 3) == 0)
			levels[i].ways = nr_ways * nr_sets;
		if (random_below(state, 6) == 0)
			levels[i].bytes = 0;
	}
}

struct access {
	uint64_t line, offset;
	uint32_t bytes;
	bool is_store, is_streaming;
};

/* Near the last one, or anywhere in the footprint; within one line. */
static struct access
random_access(uint64_t *state, uint64_t nr_lines, const struct access *last, bool streams)
{
	struct access access = {.line = random_below(state, nr_lines)};
	uint64_t how = random_below(state, 8);

	if (random_below(state, 2))
		access.line = (last->line + random_below(state, 3)) % nr_lines;
	access.bytes = 8 << random_below(state, 4);
	access.offset = random_below(state, LINE / access.bytes) * access.bytes;
	access.is_store = how < 3;
	access.is_streaming = streams && how == 0;
	return access;
}

static void
access_model(struct cache_model *model, const struct access *access)
{
	cache_model_access(model, LINES(access->line) + access->offset, access->bytes, access->is_store,
			   access->is_streaming);
}

/* ---- one level by stack distances (Mattson and others, IBM Systems Journal 9(2), 1970) ---- */

#define MAX_STACK 256 /* lines that are accessed */

/* The lines of one set that were ever used, the last one first; so a level of C ways holds the first C. */
struct stack {
	uint64_t lines[MAX_STACK];
	bool is_modified[MAX_STACK];
	size_t nr;
};

static void
stack_use(struct stack *stack, uint64_t nr_ways, uint64_t line, bool is_store, struct crossed *crossed)
{
	size_t distance = 0;
	bool is_modified = is_store, is_new;

	while (distance < stack->nr && stack->lines[distance] != line)
		distance++;
	is_new = distance == stack->nr;
	if (is_new)
		stack->nr++;
	else
		is_modified |= stack->is_modified[distance];
	memmove(stack->lines + 1, stack->lines, distance * sizeof(*stack->lines));
	memmove(stack->is_modified + 1, stack->is_modified, distance * sizeof(*stack->is_modified));
	stack->lines[0] = line;
	stack->is_modified[0] = is_modified;
	if (distance < nr_ways && !is_new)
		return;
	for (int border = 0; border < STEP_NR_LEVELS; border++)
		crossed->lines[2 * border]++;
	if (stack->nr <= nr_ways || !stack->is_modified[nr_ways])
		return;
	stack->is_modified[nr_ways] = false;
	for (int border = 0; border < STEP_NR_LEVELS; border++)
		crossed->lines[2 * border + 1]++;
}

static void
check_one_level(uint64_t seed)
{
	uint64_t state = seed, nr_ways = 1 + random_below(&state, 24);
	uint64_t nr_sets = seed % 2 ? 1 : 1 + random_below(&state, 9), nr_lines = 1 + random_below(&state, 200);
	const struct step_level levels[STEP_NR_LEVELS] = {{LINES(nr_sets * nr_ways), nr_ways}};
	struct cache_model *model = at_end(cache_model_delete, cache_model_new(levels, LINE));
	autofree struct stack *stacks = rot_calloc(nr_sets, sizeof(*stacks));
	struct crossed expected = {{0}};
	struct access access = {0};

	for (int i = 0; i < NR_ACCESSES; i++) {
		access = random_access(&state, nr_lines, &access, false);
		access_model(model, &access);
		stack_use(&stacks[access.line % nr_sets], nr_ways, access.line, access.is_store, &expected);
		expect_crossed(model, &expected, "seed %llu, access %d", (unsigned long long)seed, i);
	}
}

TEST_OF(one_level_agrees_with_stack_distances, NR_ROUNDS)
{
	run_seeds(check_one_level, _i);
}

/* ---- all levels, by times and without sets of their own ---- */

#define MAX_KEPT 256 /* lines that are accessed */

struct kept {
	uint64_t line, time;
	bool is_modified;
};

struct simple_level {
	struct kept kept[MAX_KEPT];
	size_t nr;
	uint64_t nr_sets, nr_ways, fills, write_backs;
};

struct simple {
	struct simple_level levels[STEP_NR_LEVELS];
	int nr_levels;
	uint64_t time;
	struct {
		uint64_t line, time;
		bool has[LINE];
	} pending[CACHE_MODEL_COMBINED + 1];
	size_t nr_pending;
	uint64_t streamed;
};

static void
simple_open(struct simple *simple, const struct step_level levels[STEP_NR_LEVELS])
{
	for (int i = 0; i < STEP_NR_LEVELS; i++)
		if (levels[i].bytes) {
			struct simple_level *level = &simple->levels[simple->nr_levels++];

			level->nr_ways = levels[i].ways;
			level->nr_sets = levels[i].bytes / LINE / levels[i].ways;
		}
}

static struct kept *
simple_find(struct simple_level *level, uint64_t line)
{
	for (size_t i = 0; i < level->nr; i++)
		if (level->kept[i].line == line)
			return &level->kept[i];
	return NULL;
}

/* The line that was used least recently of the set of this one; NULL: there is room. */
static struct kept *
simple_victim(struct simple_level *level, uint64_t line)
{
	struct kept *victim = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < level->nr; i++) {
		struct kept *kept = &level->kept[i];

		if (kept->line % level->nr_sets != line % level->nr_sets)
			continue;
		nr++;
		if (!victim || kept->time < victim->time)
			victim = kept;
	}
	return nr < level->nr_ways ? NULL : victim;
}

static void simple_use(struct simple *simple, int nr, uint64_t line, bool is_modified, bool is_whole);

static void
simple_bring(struct simple *simple, int nr, uint64_t line, bool is_whole)
{
	struct simple_level *level = &simple->levels[nr];
	struct kept *victim;

	if (!is_whole) {
		level->fills++;
		simple_use(simple, nr + 1, line, false, false);
	}
	victim = simple_victim(level, line);
	if (victim && victim->is_modified) {
		level->write_backs++;
		simple_use(simple, nr + 1, victim->line, true, true);
	}
	if (victim)
		*victim = level->kept[--level->nr];
	level->kept[level->nr++] = (struct kept){.line = line};
}

/* is_whole: all of the line is given, it need not be read. */
static void
simple_use(struct simple *simple, int nr, uint64_t line, bool is_modified, bool is_whole)
{
	struct kept *kept;

	if (nr == simple->nr_levels)
		return;
	if (!simple_find(&simple->levels[nr], line))
		simple_bring(simple, nr, line, is_whole);
	kept = simple_find(&simple->levels[nr], line);
	kept->time = ++simple->time;
	kept->is_modified |= is_modified;
}

static void
simple_evict(struct simple *simple, uint64_t line)
{
	bool is_modified = false;

	for (int i = 0; i < simple->nr_levels; i++) {
		struct kept *kept = simple_find(&simple->levels[i], line);

		if (kept) {
			is_modified |= kept->is_modified;
			*kept = simple->levels[i].kept[--simple->levels[i].nr];
		}
		simple->levels[i].write_backs += is_modified;
	}
}

static size_t
simple_pending(const struct simple *simple, uint64_t line)
{
	size_t i = 0;

	while (i < simple->nr_pending && simple->pending[i].line != line)
		i++;
	return i;
}

static void
simple_write_pending(struct simple *simple, size_t i)
{
	simple->streamed++;
	simple->pending[i] = simple->pending[--simple->nr_pending];
}

static void
simple_stream(struct simple *simple, const struct access *access)
{
	size_t i = simple_pending(simple, access->line), oldest = 0;

	if (i == simple->nr_pending) {
		simple_evict(simple, access->line);
		memset(&simple->pending[simple->nr_pending++], 0, sizeof(simple->pending[i]));
		simple->pending[i].line = access->line;
	}
	simple->pending[i].time = ++simple->time;
	memset(simple->pending[i].has + access->offset, true, access->bytes);
	if (!memchr(simple->pending[i].has, false, LINE)) {
		simple_write_pending(simple, i);
		return;
	}
	for (size_t other = 0; other < simple->nr_pending; other++)
		if (simple->pending[other].time < simple->pending[oldest].time)
			oldest = other;
	if (simple->nr_pending > CACHE_MODEL_COMBINED)
		simple_write_pending(simple, oldest);
}

static void
simple_access(struct simple *simple, const struct access *access)
{
	size_t pending = simple_pending(simple, access->line);

	if (access->is_streaming) {
		simple_stream(simple, access);
		return;
	}
	if (pending < simple->nr_pending)
		simple_write_pending(simple, pending);
	simple_use(simple, 0, access->line, access->is_store, false);
}

/* levels: as they were opened; what is missing has the counts of the one above. */
static struct crossed
simple_crossed(const struct simple *simple, const struct step_level levels[STEP_NR_LEVELS])
{
	struct crossed crossed = {{0}};
	int nr = -1;

	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		nr += levels[i].bytes != 0;
		if (nr < 0)
			continue;
		crossed.lines[2 * i] = simple->levels[nr].fills;
		crossed.lines[2 * i + 1] = simple->levels[nr].write_backs;
	}
	crossed.lines[MEMORY_WRITES] += simple->streamed + simple->nr_pending;
	return crossed;
}

static void
check_all_levels(uint64_t seed)
{
	uint64_t state = 1000 + seed, nr_lines = 1 + random_below(&state, 250);
	autofree struct simple *simple = rot_calloc(1, sizeof(*simple));
	struct step_level levels[STEP_NR_LEVELS];
	struct access access = {0};
	struct cache_model *model;

	random_levels(&state, levels);
	model = cache_model_new(levels, LINE);
	simple_open(simple, levels);
	for (int i = 0; simple->nr_levels && i < NR_ACCESSES; i++) {
		struct crossed expected;

		access = random_access(&state, nr_lines, &access, seed % 2);
		if (seed % 4 == 0)
			cache_model_use_lines(model, &(uint64_t){CACHE_USE(access.line, access.is_store)}, 1);
		else
			access_model(model, &access);
		simple_access(simple, &access);
		expected = simple_crossed(simple, levels);
		expect_crossed(model, &expected, "seed %llu, access %d", (unsigned long long)seed, i);
	}
	cache_model_delete(model);
}

TEST_OF(all_levels_agree_with_a_simpler_model, NR_ROUNDS)
{
	run_seeds(check_all_levels, _i);
}

/* ---- what must hold ---- */

#define ELSEWHERE (1 << 20) /* a line far from all others */
#define NR_ELSEWHERE 4096

/* Loads are read by each border at most as often as by the one above, and nothing is written. */
static void
check_reads(uint64_t seed)
{
	uint64_t state = 2000 + seed, nr_lines = 1 + random_below(&state, 400);
	struct step_level levels[STEP_NR_LEVELS];
	struct access access = {0};
	struct cache_model *model;
	struct crossed crossed;

	random_levels(&state, levels);
	levels[0] = (struct step_level){LINES(4), 2};
	model = cache_model_new(levels, LINE);
	for (int i = 0; i < NR_ACCESSES; i++) {
		access = random_access(&state, nr_lines, &access, false);
		access.is_store = false;
		access_model(model, &access);
	}
	crossed = crossed_of(model);
	ck_assert_msg(crossed.lines[0] >= crossed.lines[2] && crossed.lines[2] >= crossed.lines[MEMORY_READS] &&
			      crossed.lines[1] + crossed.lines[3] + crossed.lines[MEMORY_WRITES] == 0,
		      "seed %llu", (unsigned long long)seed);
	cache_model_delete(model);
}

TEST_OF(each_level_reads_less_than_the_one_above, NR_ROUNDS)
{
	run_seeds(check_reads, _i);
}

/*
 * Each line is stored to once, ordinarily or as a whole streamed, among any loads: when all caches have been filled
 * with other lines, each was written to memory once, and none before it was stored to.
 */
static void
check_writes(uint64_t seed)
{
	uint64_t state = 3000 + seed, nr_stored = 1 + random_below(&state, 400), written;
	struct step_level levels[STEP_NR_LEVELS];
	struct cache_model *model;
	struct crossed crossed;

	random_levels(&state, levels);
	levels[1] = (struct step_level){LINES(60), 4};
	model = cache_model_new(levels, LINE);
	for (uint64_t line = 0; line < nr_stored; line++) {
		struct access store = {line, 0, LINE, true, random_below(&state, 4) == 0};

		access_model(model, &store);
		if (crossed_of(model).lines[MEMORY_WRITES] > line + 1)
			ck_abort_msg("seed %llu, line %llu", (unsigned long long)seed, (unsigned long long)line);
		for (uint64_t i = random_below(&state, 20); i > 0; i--) {
			struct access load = {random_below(&state, nr_stored), 0, 8, false, false};

			access_model(model, &load);
		}
	}
	written = crossed_of(model).lines[MEMORY_WRITES];
	for (uint64_t line = 0; line < NR_ELSEWHERE; line++)
		cache_model_access(model, LINES(ELSEWHERE + line), LINE, false, false);
	crossed = crossed_of(model);
	ck_assert_msg(written <= nr_stored && crossed.lines[MEMORY_WRITES] == nr_stored,
		      "seed %llu: %llu lines stored to, %llu written, with what was left %llu",
		      (unsigned long long)seed, (unsigned long long)nr_stored, (unsigned long long)written,
		      (unsigned long long)crossed.lines[MEMORY_WRITES]);
	cache_model_delete(model);
}

TEST_OF(what_is_stored_is_written_once, NR_ROUNDS)
{
	run_seeds(check_writes, _i);
}

/* An access that straddles lines is one to each of them. */
static void
check_straddling(uint64_t seed)
{
	uint64_t state = 4000 + seed;
	struct step_level levels[STEP_NR_LEVELS];
	struct cache_model *models[2];
	struct crossed crossed;

	random_levels(&state, levels);
	for (int i = 0; i < 2; i++)
		models[i] = cache_model_new(levels, LINE);
	for (int i = 0; i < NR_ACCESSES; i++) {
		uint64_t at = random_below(&state, LINES(200)), bytes = 1 + random_below(&state, 300), how = i % 5;

		cache_model_access(models[0], at, (uint32_t)bytes, how < 2, how == 0);
		for (uint64_t end = at + bytes, next; at < end; at = next) {
			next = at / LINE * LINE + LINE < end ? at / LINE * LINE + LINE : end;
			cache_model_access(models[1], at, (uint32_t)(next - at), how < 2, how == 0);
		}
	}
	crossed = crossed_of(models[1]);
	expect_crossed(models[0], &crossed, "seed %llu", (unsigned long long)seed);
	for (int i = 0; i < 2; i++)
		cache_model_delete(models[i]);
}

TEST_OF(straddling_is_an_access_to_each_line, NR_ROUNDS)
{
	run_seeds(check_straddling, _i);
}

/* Random lines, half of them stored to; the same for both models. */
static void
use_at_random(struct cache_model *model, unsigned seed, uint64_t residues)
{
	srandom(seed);
	for (int i = 0; i < 200000; i++) {
		const uint64_t line = (uint64_t)random() % 6000, use = CACHE_USE(line, random() % 2);

		if (residues >> line % CACHE_RESIDUES & 1)
			cache_model_use_lines(model, &use, 1);
	}
}

/* Sets of sampled lines are as they are among all others, and stand for these. */
TEST(sampled_sets_are_exact)
{
	static const struct step_level levels[STEP_NR_LEVELS] = {{8192, 2}, {32768, 4}, {65536, 8}};
	const uint64_t residues = UINT64_C(0x8020080200802009);
	struct cache_model *all = cache_model_new(levels, 64), *sampled = cache_model_new(levels, 64);
	struct cache_sample expected = {0}, found = {0};
	uint64_t counts[2][STEP_NR_COUNTS] = {{0}};

	ck_assert(cache_model_can_be_sampled(all));
	use_at_random(all, 1, UINT64_MAX);
	use_at_random(sampled, 1, UINT64_MAX);
	cache_model_add_counts(all, counts[0]);
	cache_model_sample(sampled, residues);
	cache_model_add_counts(sampled, counts[1]);
	ck_assert_uint_eq(counts[0][STEP_MEMORY_READS], counts[1][STEP_MEMORY_READS]);
	cache_model_sample(all, UINT64_MAX);
	use_at_random(all, 2, UINT64_MAX);
	use_at_random(sampled, 2, residues);
	cache_model_add_sample(all, &expected);
	cache_model_add_sample(sampled, &found);
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		ck_assert_mem_eq(expected.first[i], found.first[i], sizeof(found.first[i]));
		for (unsigned k = 0; k < CACHE_RESIDUES; k++)
			ck_assert_uint_eq(found.later[i][k], residues >> k & 1 ? expected.later[i][k] : 0);
	}
	memset(counts, 0, sizeof(counts));
	cache_model_add_counts(all, counts[0]);
	cache_model_add_counts(sampled, counts[1]);
	for (int i = STEP_L1_FILLS; i <= STEP_MEMORY_WRITES; i++)
		ck_assert_double_eq_tol((double)counts[1][i] / (double)counts[0][i], 1, 0.02);
	cache_model_delete(all);
	cache_model_delete(sampled);
}

/* Three sets less than a multiple; but lines where there is no level. */
TEST(other_caches_cannot_be_sampled)
{
	static const struct step_level odd[STEP_NR_LEVELS] = {{61 * 64 * 8, 8}, {1 << 20, 16}}, none[STEP_NR_LEVELS];

	ck_assert(!cache_model_can_be_sampled(at_end(cache_model_delete, cache_model_new(odd, 64))));
	ck_assert(cache_model_can_be_sampled(at_end(cache_model_delete, cache_model_new(none, 64))));
}
