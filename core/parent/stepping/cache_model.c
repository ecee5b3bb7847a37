/* SPDX-License-Identifier: MIT */
#include "parent/stepping/cache_model.h"

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/stepping/cache_policy.h"
#include "parent/stepping/full_cache.h"
#include "parent/stepping/tlb_model.h"

#define IS_VALID CACHE_IS_VALID
#define IS_MODIFIED CACHE_IS_MODIFIED
#define NR_ENTRY_BITS CACHE_NR_ENTRY_BITS

/* Only for levels that have_vectors. */
#define IN_VECTORS __attribute__((target("avx512f")))

#define MIN_LINE_SHIFT 3
#define MAX_LINE_SHIFT 8 /* the streaming stores of x86 are of 4 bytes at least: units of a line as large */

struct cache_level {
	struct cache_model *model; /* whose it is */
	struct cache_level *next;  /* what it reads from and writes back to; NULL: memory */
	uint64_t nr_sets, nr_ways;
	uint64_t set_mask; /* nr_sets - 1 if that is a power of two less one; else 0 */
	uint64_t room;     /* entries of a set that there is memory for: nr_ways, or more, which stay 0 */
	uint64_t *entries; /* [nr_sets][room], of each set the last used first, behind all of them zeros */
	enum cache_policy policy;
	struct cache_policy_state *states; /* [nr_sets] where lines of sets stay where they are; else NULL */
	struct full_cache *full;           /* instead of entries; else NULL */
	void *memory;                      /* of the entries */
	uint64_t nr_fills[CACHE_RESIDUES], nr_write_backs[CACHE_RESIDUES];
	struct full_cache *twin; /* of the same lines, where kinds of misses are told; else NULL */
	struct line_set *seen;   /* likewise */
	enum cache_miss_kind kind;
	uint64_t nr_of_kinds[CACHE_NR_KINDS];
	unsigned shift;   /* its lines are 1 << shift of those that are used */
	bool is_shared;   /* by models that are made of this one */
	bool is_borrowed; /* the entries are another model's */
	bool has_vectors; /* for promote_in_vectors */
};

/* A line that is streamed. written: a bit for each of its units. */
struct combined {
	uint64_t line, written;
};

struct cache_model {
	struct cache_front front;
	struct cache_level levels[STEP_NR_LEVELS];
	struct step_tlb tlb;
	struct cache_level *first; /* of those that are there */
	unsigned unit_shift;       /* a byte, or more where 64 bits are too few for a line of them */

	struct combined combined[CACHE_MODEL_COMBINED]; /* the last stored to first */
	uint64_t nr_streamed[CACHE_RESIDUES];           /* lines that were written to memory */

	uint64_t residues;            /* those that are sampled; 0: all lines are modelled */
	struct cache_model *all_were; /* what it had counted before; the counts alone */

	struct cache_cause *(*find_cause)(void *context, const uint64_t *use); /* NULL: causes are not told apart */
	void (*missed)(void *context, const struct cache_miss *miss);          /* NULL: nobody is told */
	void *context;
	const uint64_t *use;       /* that is being modelled */
	struct cache_cause *cause; /* of what crosses borders now */
	struct cache_cause other;  /* where it is not known */

	uint64_t moved[STEP_NR_COUNTS]; /* by cache_model_move_counts, so far */
};

static void
count(struct cache_model *model, uint64_t counts[CACHE_RESIDUES], unsigned which, uint64_t line)
{
	counts[line % CACHE_RESIDUES]++;
	model->cause->lines[model->residues != 0 && line % CACHE_RESIDUES != 0][which]++;
}

static void
count_write_back(struct cache_level *level, uint64_t line)
{
	count(level->model, level->nr_write_backs, 2 * (unsigned)(level - level->model->levels) + 1, line);
}

static void
count_streamed(struct cache_model *model, uint64_t line)
{
	count(model, model->nr_streamed, CACHE_CAUSE_STREAMED, line);
}

/* Counts of the border below each level. */
static const struct {
	enum step_count fills, write_backs;
} borders[STEP_NR_LEVELS] = {
	{STEP_L1_FILLS, STEP_L1_WRITE_BACKS},
	{STEP_L2_FILLS, STEP_L2_WRITE_BACKS},
	{STEP_MEMORY_READS, STEP_MEMORY_WRITES},
};

/* ---- one level ---- */

#define VECTOR_BYTES 64

static void
allocate(struct cache_level *level)
{
	const uint64_t nr = VECTOR_BYTES / sizeof(*level->entries);
	uintptr_t begin;

	level->has_vectors = false;
	if (level->nr_sets == 1 && level->nr_ways > 2 * nr && !level->policy) {
		level->full = full_cache_new(level->nr_ways);
		return;
	}
	if (level->policy)
		level->states = rot_calloc(level->nr_sets, sizeof(*level->states));
	if (level->policy == CACHE_RANDOM)
		cache_policy_open(level->states, level->nr_sets);
	level->has_vectors = !level->policy && level->nr_ways <= 2 * nr && __builtin_cpu_supports("avx512f");
	level->room = level->has_vectors ? (level->nr_ways + nr - 1) / nr * nr : level->nr_ways;
	level->memory = rot_calloc(level->nr_sets * level->room + nr, sizeof(*level->entries));
	begin = ((uintptr_t)level->memory + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
	level->entries = (uint64_t *)begin;
}

/* A tree has two branches everywhere. */
static bool
has_tree(uint64_t nr_ways)
{
	return nr_ways >= 2 && nr_ways <= 64 && (nr_ways & (nr_ways - 1)) == 0;
}

static void
level_open(struct cache_level *level, const struct step_level *size, uint64_t policy, unsigned line_shift,
	   unsigned shift)
{
	uint64_t nr_lines = size->bytes >> line_shift, nr_ways = size->ways ? size->ways : CACHE_MODEL_WAYS;

	if (!nr_lines)
		return;
	level->nr_ways = nr_ways < nr_lines ? nr_ways : nr_lines;
	level->nr_sets = nr_lines / level->nr_ways;
	level->set_mask = (level->nr_sets & (level->nr_sets - 1)) == 0 ? level->nr_sets - 1 : 0;
	level->policy = policy >= CACHE_NR_POLICIES || (policy == CACHE_PLRU && !has_tree(level->nr_ways))
				? CACHE_LRU
				: (enum cache_policy)policy;
	level->shift = shift;
	allocate(level);
}

static uint64_t *
level_set(const struct cache_level *level, uint64_t line)
{
	const uint64_t set = level->set_mask || level->nr_sets == 1 ? line & level->set_mask : line % level->nr_sets;

	return level->entries + set * level->room;
}

static bool
is_of_line(uint64_t entry, uint64_t line)
{
	return (entry | IS_MODIFIED) == CACHE_USE(line, 1);
}

/*
 * Makes the line of an entry the first of its set; those before it move up by one. Returns whether it was there; if
 * not, *victim is the entry that had no room any more, or 0.
 */
static bool
promote(struct cache_level *level, uint64_t entry, uint64_t *victim)
{
	const uint64_t line = entry >> NR_ENTRY_BITS;
	uint64_t *set = level_set(level, line), moving = entry;

	for (uint64_t i = 0; i < level->nr_ways && moving; i++) {
		uint64_t here = set[i];

		set[i] = moving;
		if (is_of_line(here, line)) {
			set[0] |= here;
			return true;
		}
		moving = here;
	}
	*victim = moving;
	return false;
}

/* The same, however the level is. */
static bool
use_entry(struct cache_level *level, uint64_t entry, uint64_t *victim)
{
	uint64_t *set;

	if (level->full)
		return full_cache_use(level->full, entry, victim);
	if (!level->states)
		return promote(level, entry, victim);
	set = level_set(level, entry >> NR_ENTRY_BITS);
	return cache_policy_use(level->policy, set, level->nr_ways,
				&level->states[(size_t)(set - level->entries) / level->room], entry, victim);
}

/*
 * The same with vectors. Which way a line is in cannot be foreseen, so branches that follow from it cost more than all
 * the rest.
 */
IN_VECTORS static inline bool
promote_in_vectors(__m512i *set, uint64_t nr_ways, uint64_t entry, uint64_t *victim)
{
	const __m512i cleans = _mm512_set1_epi64((long long)(entry & ~(uint64_t)IS_MODIFIED));
	const __m512i modifieds = cleans + IS_MODIFIED, low = set[0];
	uint32_t are_clean = _mm512_cmpeq_epi64_mask(low, cleans);
	uint32_t are_modified = _mm512_cmpeq_epi64_mask(low, modifieds), hits, moved;
	__m512i moving;

	if (nr_ways > 8) {
		are_clean |= (uint32_t)_mm512_cmpeq_epi64_mask(set[1], cleans) << 8;
		are_modified |= (uint32_t)_mm512_cmpeq_epi64_mask(set[1], modifieds) << 8;
	}
	*victim = ((uint64_t *)set)[nr_ways - 1];
	hits = are_clean | are_modified;
	moved = (hits ^ (hits - 1)) & (uint32_t)((UINT64_C(1) << nr_ways) - 1);
	moving = are_modified ? modifieds : _mm512_set1_epi64((long long)entry);
	if (nr_ways > 8 && moved >> 8)
		set[1] = _mm512_mask_alignr_epi64(set[1], (__mmask8)(moved >> 8), set[1], low, 7);
	set[0] = _mm512_mask_alignr_epi64(low, (__mmask8)moved, low, moving, 7);
	return hits;
}

/* Where in its set the line is; nr_ways: it is not. */
static uint64_t
level_find(const struct cache_level *level, uint64_t line)
{
	const uint64_t *set = level_set(level, line);
	uint64_t i = 0;

	while (i < level->nr_ways && (set[i] || level->states) && !is_of_line(set[i], line))
		i++;
	return i < level->nr_ways && set[i] ? i : level->nr_ways;
}

/* The line is as it is below from now on, and leaves unless is_kept. Returns whether it was modified. */
static bool
level_clean(struct cache_level *level, uint64_t line, bool is_kept)
{
	uint64_t *set, i, entry;

	if (level->twin)
		full_cache_clean(level->twin, line, is_kept);
	if (level->full)
		return full_cache_clean(level->full, line, is_kept);
	set = level_set(level, line);
	i = level_find(level, line);
	if (i == level->nr_ways)
		return false;
	entry = set[i];
	if (is_kept) {
		set[i] &= ~(uint64_t)IS_MODIFIED;
	} else if (level->states) {
		set[i] = 0;
	} else {
		memmove(set + i, set + i + 1, (level->nr_ways - i - 1) * sizeof(*set));
		set[level->nr_ways - 1] = 0;
	}
	return entry & IS_MODIFIED;
}

/* ---- all of them ---- */

static void use_level(struct cache_level *level, uint64_t entry, bool is_read);

/* An entry as of a level whose lines are 1 << shift as long. */
static uint64_t
shifted(uint64_t entry, unsigned shift)
{
	return entry >> NR_ENTRY_BITS >> shift << NR_ENTRY_BITS | (entry & (IS_VALID | IS_MODIFIED));
}

/* A line of a level, and victim, go to the next one, where it is the whole or a part of one. */
static void
use_next(const struct cache_level *level, uint64_t entry, bool is_read)
{
	const unsigned shift = level->next ? level->next->shift - level->shift : 0;

	use_level(level->next, shift ? shifted(entry, shift) : entry, is_read || shift);
}

/* The line of an entry was missing, and victim has gone for it. */
static void
exchange(struct cache_level *level, uint64_t entry, bool is_read, uint64_t victim)
{
	const uint64_t line = entry >> NR_ENTRY_BITS;
	struct cache_model *model = level->model;

	/* The set of the level behind the next comes from far: fetched meanwhile, strides take half the time. */
	if (level->next && level->next->next && !level->next->next->full) {
		const uint64_t *set = level_set(level->next->next, line >> (level->next->next->shift - level->shift));

		for (uint64_t i = 0; i < level->next->next->nr_ways; i += VECTOR_BYTES / sizeof(*set))
			__builtin_prefetch(set + i, 1);
	}
	if (level == model->first && model->find_cause)
		model->cause = model->find_cause(model->context, model->use);
	if (level->twin && model->missed)
		model->missed(model->context, &(struct cache_miss){.level = (int)(level - model->levels),
								   .kind = level->kind,
								   .line = line << level->shift,
								   .victim = victim >> NR_ENTRY_BITS << level->shift,
								   .is_read = is_read,
								   .is_victim = victim != 0,
								   .is_written = victim & IS_MODIFIED});
	if (is_read) {
		if (level->twin)
			level->nr_of_kinds[level->kind]++;
		count(level->model, level->nr_fills, 2 * (unsigned)(level - level->model->levels), line);
		use_next(level, entry & ~(uint64_t)IS_MODIFIED, true);
	}
	if (victim & IS_MODIFIED) {
		count_write_back(level, victim >> NR_ENTRY_BITS);
		use_next(level, victim, false);
	}
}

IN_VECTORS static void
use_in_vectors(struct cache_level *level, uint64_t entry, bool is_read)
{
	uint64_t *set = level_set(level, entry >> NR_ENTRY_BITS), victim;

	if (!promote_in_vectors((__m512i *)(void *)set, level->nr_ways, entry, &victim))
		exchange(level, entry, is_read, victim);
}

/* Finds the kind of the miss, if the line is missing. */
static void
find_kind(struct cache_level *level, uint64_t entry)
{
	uint64_t victim;
	const bool is_new = line_set_add(level->seen, entry >> NR_ENTRY_BITS);
	const bool twin_has = full_cache_use(level->twin, entry, &victim);

	level->kind = is_new ? CACHE_COMPULSORY : twin_has ? CACHE_CONFLICT : CACHE_CAPACITY;
}

/* A line is read, as it is below, or written back. Calls itself for the next level, so no deeper than there are levels.
 */
static void
use_level(struct cache_level *level, uint64_t entry, bool is_read)
{
	uint64_t victim;

	if (level && level->twin)
		find_kind(level, entry);
	if (level && level->has_vectors)
		use_in_vectors(level, entry, is_read);
	else if (level && !use_entry(level, entry, &victim))
		exchange(level, entry, is_read, victim);
}

/* A modified line crosses all borders below it on its way to memory. */
static void
evict_from_all(struct cache_model *model, uint64_t line)
{
	bool is_modified = false;

	for (struct cache_level *level = model->first; level; level = level->next) {
		is_modified |= level_clean(level, line >> level->shift, false);
		if (is_modified)
			count_write_back(level, line >> level->shift);
	}
}

/* ---- streaming ---- */

/* The units of a line that these bytes touch. */
static uint64_t
units(const struct cache_model *model, uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset >> model->unit_shift, last = (offset + bytes - 1) >> model->unit_shift;

	return UINT64_MAX >> (63 - (last - first)) << first;
}

/* Ends the combining of a line, if there is any. Returns the units of it that were written. */
static uint64_t
take_combined(struct cache_model *model, uint64_t line)
{
	uint64_t written;
	size_t i = 0;

	while (i < model->front.nr_combined && model->combined[i].line != line)
		i++;
	if (i == model->front.nr_combined)
		return 0;
	written = model->combined[i].written;
	model->front.nr_combined--;
	memmove(model->combined + i, model->combined + i + 1,
		(model->front.nr_combined - i) * sizeof(*model->combined));
	return written;
}

static void
stream(struct cache_model *model, uint64_t line, uint64_t offset, uint64_t bytes)
{
	uint64_t before = take_combined(model, line), written = before | units(model, offset, bytes);

	if (!before)
		evict_from_all(model, line);
	if (written == units(model, 0, UINT64_C(1) << model->front.line_shift))
		count_streamed(model, line);
	else {
		if (model->front.nr_combined == CACHE_MODEL_COMBINED) {
			model->front.nr_combined--;
			count_streamed(model, model->combined[model->front.nr_combined].line);
		}
		memmove(model->combined + 1, model->combined, model->front.nr_combined * sizeof(*model->combined));
		model->combined[0] = (struct combined){line, written};
		model->front.nr_combined++;
	}
}

/* ---- accesses ---- */

static void
use_line(struct cache_model *model, uint64_t use)
{
	if (model->front.nr_combined && take_combined(model, use >> NR_ENTRY_BITS))
		count_streamed(model, use >> NR_ENTRY_BITS);
	use_level(model->first, model->first->shift ? shifted(use, model->first->shift) : use, true);
}

void
cache_model_access_lines(struct cache_model *model, uint64_t address, uint32_t bytes, bool is_store, bool is_streaming)
{
	const uint64_t line_bytes = UINT64_C(1) << model->front.line_shift;
	uint64_t line = address >> model->front.line_shift, offset = address & (line_bytes - 1);

	if (!model->first)
		return;
	for (uint64_t left = bytes; left; line++, offset = 0) {
		uint64_t within = left < line_bytes - offset ? left : line_bytes - offset;

		if (is_store && is_streaming)
			stream(model, line, offset, within);
		else
			use_line(model, CACHE_USE(line, is_store));
		left -= within;
	}
}

IN_VECTORS static void
use_lines_in_vectors(struct cache_model *model, const uint64_t *uses, size_t nr)
{
	struct cache_level *level = model->first;
	uint64_t *const entries = level->entries, set_mask = level->set_mask, nr_ways = level->nr_ways;
	const uint64_t room = level->room;
	uint64_t victim;

	for (size_t i = 0; i < nr; i++) {
		const uint64_t use = uses[i];
		uint64_t *const first = entries + (use >> NR_ENTRY_BITS & set_mask) * room;

		if (*first != use && *first != (use | IS_MODIFIED) &&
		    !promote_in_vectors((__m512i *)(void *)first, nr_ways, use, &victim)) {
			model->use = uses + i;
			exchange(level, use, true, victim);
		}
	}
}

void
cache_model_use_lines(struct cache_model *model, const uint64_t *uses, size_t nr)
{
	static uint64_t none; /* an entry that no line has */
	const bool is_quick = model->front.entries && model->front.nr_combined == 0;
	uint64_t *const entries = is_quick ? model->front.entries : &none;
	const uint64_t set_mask = is_quick ? model->front.set_mask : 0, room = is_quick ? model->front.room : 0;

	for (size_t i = 0; model->front.has_pages && i < nr; i++)
		tlb_model_access(&model->front.tlb, uses[i] >> NR_ENTRY_BITS << model->front.line_shift, 1);
	if (!model->first)
		return;
	if (is_quick && model->first->has_vectors) {
		use_lines_in_vectors(model, uses, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		const uint64_t use = uses[i];
		uint64_t *entry = entries + (use >> NR_ENTRY_BITS & set_mask) * room;

		if ((*entry | IS_MODIFIED) != (use | IS_MODIFIED)) {
			model->use = uses + i;
			use_line(model, use);
		} else if (*entry != use)
			*entry |= use;
	}
}

void
cache_model_flush(struct cache_model *model, uint64_t address, bool is_kept)
{
	const uint64_t line = address >> model->front.line_shift;

	if (!model->first)
		return;
	if (take_combined(model, line))
		count_streamed(model, line);
	if (is_kept) {
		bool is_modified = false;

		/* A modified line crosses all borders below it, and stays. */
		for (struct cache_level *level = model->first; level; level = level->next) {
			is_modified |= level_clean(level, line >> level->shift, true);
			if (is_modified)
				count_write_back(level, line >> level->shift);
		}
	} else
		evict_from_all(model, line);
}

/* ---- the model ---- */

static void
tell_kinds(struct cache_level *level)
{
	level->twin = full_cache_new(level->nr_sets * level->nr_ways);
	level->seen = line_set_new();
}

/* Each level with the next one that is there. */
static void
connect(struct cache_model *model)
{
	model->cause = &model->other;
	for (int i = STEP_NR_LEVELS - 1; i >= 0; i--) {
		model->levels[i].model = model;
		if (!model->levels[i].nr_sets)
			continue;
		model->levels[i].next = model->first;
		model->first = &model->levels[i];
	}
	if (model->first && !model->first->full && !model->first->states && !model->first->twin &&
	    !model->first->shift && (model->first->set_mask || model->first->nr_sets == 1)) {
		model->front.entries = model->first->entries;
		model->front.set_mask = model->first->set_mask;
		model->front.nr_ways = model->first->nr_ways;
		model->front.room = model->first->room;
	}
}

static void
set_tlb(struct cache_model *model, const struct step_tlb *tlb)
{
	model->front.has_pages = true;
	model->tlb = tlb->entries ? *tlb : (struct step_tlb){.entries = 64, .page_bytes = 4096};
	tlb_model_open(&model->front.tlb, &model->tlb);
}

unsigned
cache_model_line_shift(uint64_t line_bytes)
{
	unsigned shift = MIN_LINE_SHIFT;

	while (shift < MAX_LINE_SHIFT && line_bytes >> (shift + 1))
		shift++;
	return shift;
}

struct cache_model *
cache_model_new_of(const struct step_caches *caches, uint64_t line_bytes)
{
	struct cache_model *model = rot_calloc(1, sizeof(*model));
	unsigned shift = cache_model_line_shift(line_bytes);

	set_tlb(model, &caches->tlb);
	model->front.line_shift = shift;
	model->unit_shift = shift > 6 ? shift - 6 : 0;
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		if (cache_model_line_shift(caches->line_bytes[i]) > shift)
			shift = cache_model_line_shift(caches->line_bytes[i]);
		model->levels[i].is_shared = caches->are_shared[i];
		level_open(&model->levels[i], &caches->levels[i], caches->policies[i], shift,
			   shift - model->front.line_shift);
	}
	connect(model);
	return model;
}

struct cache_model *
cache_model_new(const struct step_level levels[STEP_NR_LEVELS], uint64_t line_bytes)
{
	struct step_caches caches = {.are_shared = {[STEP_NR_LEVELS - 1] = 1}};

	memcpy(caches.levels, levels, sizeof(caches.levels));
	return cache_model_new_of(&caches, line_bytes);
}

struct cache_model *
cache_model_new_sharing(const struct cache_model *other)
{
	struct cache_model *model = rot_calloc(1, sizeof(*model));

	set_tlb(model, &other->tlb);
	model->front.has_pages = other->front.has_pages;
	model->front.line_shift = other->front.line_shift;
	model->unit_shift = other->unit_shift;
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		struct cache_level *level = &model->levels[i];

		*level = other->levels[i];
		memset(level->nr_fills, 0, sizeof(level->nr_fills));
		memset(level->nr_write_backs, 0, sizeof(level->nr_write_backs));
		level->is_borrowed = level->is_shared;
		memset(level->nr_of_kinds, 0, sizeof(level->nr_of_kinds));
		if (level->nr_sets && !level->is_borrowed) {
			allocate(level);
			if (level->twin)
				tell_kinds(level);
		}
	}
	connect(model);
	return model;
}

void
cache_model_delete(struct cache_model *model)
{
	if (!model)
		return;
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		if (model->levels[i].is_borrowed)
			continue;
		free(model->levels[i].memory);
		free(model->levels[i].states);
		full_cache_delete(model->levels[i].full);
		model->levels[i].entries = model->levels[i].memory = NULL;
		model->levels[i].states = NULL;
		model->levels[i].full = NULL;
		full_cache_delete(model->levels[i].twin);
		line_set_delete(model->levels[i].seen);
	}
	free(model->all_were);
	free(model);
}

bool
cache_model_has_levels(const struct cache_model *model)
{
	return model->first != NULL;
}

/* ---- what was counted ---- */

bool
cache_model_can_be_sampled(const struct cache_model *model)
{
	bool can = true;

	for (const struct cache_level *level = model->first; level; level = level->next)
		can &= level->nr_sets % CACHE_RESIDUES == 0 && !level->shift;
	return can;
}

uint64_t
cache_model_least_ways(const struct cache_model *model)
{
	const uint64_t nr_ways = model->front.entries ? model->front.nr_ways : 0;

	return model->front.has_pages && model->front.tlb.nr_ways < nr_ways ? model->front.tlb.nr_ways : nr_ways;
}

void
cache_model_sample(struct cache_model *model, uint64_t residues)
{
	model->all_were = rot_calloc(1, sizeof(*model));
	*model->all_were = *model;
	model->all_were->all_were = NULL;
	model->residues = residues;
	model->front.has_pages = false;
}

static uint64_t
sum(const uint64_t counts[CACHE_RESIDUES], const uint64_t before[CACHE_RESIDUES], uint64_t residues)
{
	uint64_t sum = 0;

	if (residues == UINT64_MAX && !before) {
		for (unsigned i = 0; i < CACHE_RESIDUES; i++)
			sum += counts[i];
		return sum;
	}
	for (unsigned i = 0; i < CACHE_RESIDUES; i++)
		if (residues >> i & 1)
			sum += counts[i] - (before ? before[i] : 0);
	return sum;
}

/* before: when lines began to be sampled; NULL: they are not. */
static uint64_t
total(const struct cache_model *model, const uint64_t counts[CACHE_RESIDUES], const uint64_t before[CACHE_RESIDUES])
{
	const uint64_t others = model->residues & ~UINT64_C(1);

	if (!before)
		return sum(counts, NULL, UINT64_MAX);
	return sum(before, NULL, UINT64_MAX) + counts[0] - before[0] +
	       sum(counts, before, others) * (CACHE_RESIDUES - 1) / (unsigned)__builtin_popcountll(others);
}

/* The level whose lines cross the border below level i; NULL: there is none. */
static const struct cache_level *
level_above(const struct cache_model *model, int i)
{
	while (model && i >= 0 && !model->levels[i].nr_sets)
		i--;
	return !model || i < 0 ? NULL : &model->levels[i];
}

void
cache_model_add_counts(const struct cache_model *model, uint64_t counts[STEP_NR_COUNTS])
{
	const struct cache_model *all_were = model->all_were;

	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		const struct cache_level *now = level_above(model, i), *before = level_above(all_were, i);

		if (!now)
			continue;
		counts[borders[i].fills] += total(model, now->nr_fills, before ? before->nr_fills : NULL) << now->shift;
		counts[borders[i].write_backs] +=
			total(model, now->nr_write_backs, before ? before->nr_write_backs : NULL) << now->shift;
	}
	counts[STEP_MEMORY_WRITES] +=
		total(model, model->nr_streamed, all_were ? all_were->nr_streamed : NULL) + model->front.nr_combined;
	counts[STEP_TLB_MISSES] += model->front.tlb.nr_misses;
}

void
cache_model_in_step_lines(const struct cache_model *model, uint64_t counts[STEP_NR_COUNTS])
{
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		uint64_t *const lines[] = {&counts[borders[i].fills], &counts[borders[i].write_backs]};

		for (int k = 0; k < 2; k++)
			*lines[k] = (*lines[k] << model->front.line_shift) / STEP_LINE_BYTES;
	}
}

void
cache_model_tell_kinds(struct cache_model *model)
{
	for (struct cache_level *level = model->first; level; level = level->next)
		tell_kinds(level);
	model->front.entries = NULL;
}

void
cache_model_add_kinds(const struct cache_model *model, struct cache_kinds *sum)
{
	for (int i = 0; i < STEP_NR_LEVELS; i++)
		for (int kind = 0; kind < CACHE_NR_KINDS; kind++)
			sum->lines[i][kind] += model->levels[i].nr_of_kinds[kind];
}

void
cache_model_set_causes(struct cache_model *model, struct cache_cause *(*find)(void *context, const uint64_t *use),
		       void *context)
{
	model->find_cause = find;
	model->context = context;
}

void
cache_model_tell_misses(struct cache_model *model, void (*missed)(void *context, const struct cache_miss *miss))
{
	model->missed = missed;
}

void
cache_model_begin(struct cache_model *model, const uint64_t *use)
{
	model->use = use;
	if (model->find_cause)
		model->cause = model->find_cause(model->context, use);
}

void
cache_model_add_cause(const struct cache_model *model, const struct cache_cause *cause, uint64_t residues,
		      uint64_t counts[STEP_NR_COUNTS])
{
	const uint64_t nr_others = (unsigned)__builtin_popcountll(residues & ~UINT64_C(1));
	uint64_t lines[CACHE_CAUSE_STREAMED + 1];

	for (unsigned i = 0; i <= CACHE_CAUSE_STREAMED; i++)
		lines[i] = cause->lines[0][i] + (nr_others ? cause->lines[1][i] * (CACHE_RESIDUES - 1) / nr_others : 0);
	for (int i = 0; i < STEP_NR_LEVELS; i++) {
		const struct cache_level *level = level_above(model, i);

		if (!level)
			continue;
		counts[borders[i].fills] += lines[2 * (level - model->levels)] << level->shift;
		counts[borders[i].write_backs] += lines[2 * (level - model->levels) + 1] << level->shift;
	}
	counts[STEP_MEMORY_WRITES] += lines[CACHE_CAUSE_STREAMED];
}

void
cache_model_move_counts(struct cache_model *model, uint64_t counts[STEP_NR_COUNTS])
{
	uint64_t now[STEP_NR_COUNTS] = {0};

	cache_model_add_counts(model, now);
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		counts[i] += now[i] - model->moved[i];
	memcpy(model->moved, now, sizeof(now));
}

void
cache_model_add_sample(const struct cache_model *model, struct cache_sample *sample)
{
	const struct cache_model *all_were = model->all_were;

	for (int i = 0; all_were && i < STEP_NR_LEVELS; i++) {
		const struct cache_level *now = level_above(model, i), *before = level_above(all_were, i);
		const bool is_last = i + 1 == STEP_NR_LEVELS;

		for (unsigned k = 0; now && k < CACHE_RESIDUES; k++) {
			const uint64_t first = before->nr_fills[k] + before->nr_write_backs[k] +
					       (is_last ? all_were->nr_streamed[k] : 0);

			sample->first[i][k] += first;
			sample->later[i][k] += now->nr_fills[k] + now->nr_write_backs[k] +
					       (is_last ? model->nr_streamed[k] : 0) - first;
		}
	}
}
