/* SPDX-License-Identifier: MIT */
/*
 * A model of the caches of one core: which lines cross which border when a thread loads and stores at these addresses,
 * and how many translations of addresses are missing (tlb_model.h).
 *
 * Levels of sets whose least recently used line goes, or another one (cache_policy.h); stores
 * allocate, and lines that are modified are written back when they go. A line that is missing is read into all levels
 * on the way. A modified one goes to the next level, which takes it in without reading it; one that is not modified is
 * dropped. What the model leaves out:
 * - prefetching, instructions, tables of pages, other threads (of a shared level the whole is this one's);
 * - physical addresses and hashed sets: sets follow from virtual addresses, so strides of powers of two meet in fewer
 *   sets of the outer levels than they do in a processor;
 * - victim caches: AMD's last level, and that of Intel's servers, takes in what the L2 evicts, not what is read. L2 and
 *   L3 then hold as much as both together; here it is as much as the L3 has, 3 % less where it is 32 times the L2.
 *   Footprints between the two sizes are read from memory again and again here and not there, and at the end less by
 *   up to the size of the L2 is left unwritten; others are alike. Lines that are not modified also cross from the L2 to
 *   such an L3; they are no write-backs, nor do the events that rot takes for this border count them;
 * - inclusive caches: a level that evicts a line leaves the copies above alone. If one of them is modified, and an
 *   older modification was on its way down already, both are written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/step_counts.h"
#include "parent/stepping/tlb_model.h"

/* The ways of a level of which they are not known. */
#define CACHE_MODEL_WAYS 16

/* Lines that streaming stores write at the same time before one of them has to go. */
#define CACHE_MODEL_COMBINED 8

/* An entry of a level is the line's number, and these bits; 0: there is none. */
#define CACHE_IS_VALID 1
#define CACHE_IS_MODIFIED 2
#define CACHE_NR_ENTRY_BITS 2

/* A use of a line, as the entry that it would get. is_store: 0 or 1 */
#define CACHE_USE(line, is_store)                                                                                      \
	((uint64_t)(line) << CACHE_NR_ENTRY_BITS | (uint64_t)(is_store)*CACHE_IS_MODIFIED | CACHE_IS_VALID)

/*
 * Instead of all lines those of some sets may be modelled: lines whose number modulo CACHE_RESIDUES is one of some
 * residues. Where the number of sets is a multiple of that, they share no set with others. Lines of residue 0 stand for
 * themselves, since pages begin there, and with them what many programs access most often; the others for all others.
 */
#define CACHE_RESIDUES 64

/*
 * Most accesses need only this, and are quick. entries: of the first level, [][room], of each set nr_ways, the last
 * used first; NULL: there is none, the number of its sets is no power of two, or these are other sets.
 */
struct cache_front {
	uint64_t *entries;
	uint64_t set_mask, nr_ways, room;
	size_t nr_combined; /* lines that are being streamed */
	unsigned line_shift;
	bool has_pages; /* translations are modelled, as at first */
	struct tlb_model tlb;
};

/* Begins with a struct cache_front. */
struct cache_model;

bool cache_model_has_levels(const struct cache_model *model);

static inline struct cache_front *
cache_model_front(struct cache_model *model)
{
	return (struct cache_front *)model;
}

/*
 * Empty levels. One of less bytes than a line is left out: what would cross to it goes on to the next, so that both of
 * its borders are the same; of borders above all levels nothing is counted, and without any level translations alone.
 * ways: 0 if they are not known (CACHE_MODEL_WAYS); as many as there are lines: fully associative (full_cache.h). The
 * number of sets may be any; bytes that do not make up a whole set are not used. line_bytes: a power of two from 8 to
 * 256 (else the next one below, or the nearest, is taken): the length of lines that are used and counted. Lines of
 * a level may be longer: then each counts as several, and one that is modified goes there as a part of a line, which is
 * read if it is missing. Takes 8 bytes a line, as zeroed memory, more where the ways are no multiple of 8, 28 where it
 * is fully associative; exits without. policies: each an enum cache_policy. tlb: with 0 entries it has 64, for pages of
 * 4 KiB.
 */
struct cache_model *cache_model_new_of(const struct step_caches *caches, uint64_t line_bytes);
unsigned cache_model_line_shift(uint64_t line_bytes);

/* The same with that TLB, all lines alike, the least recently used of which goes, and a last level that is shared. */
struct cache_model *cache_model_new(const struct step_level levels[STEP_NR_LEVELS], uint64_t line_bytes);
void cache_model_delete(struct cache_model *model);

/* Empty levels as the other has them, but for shared ones, which are the other's own: both then find there what either
 * has used. It counts what this one moves. The other must be deleted later. */
struct cache_model *cache_model_new_sharing(const struct cache_model *other);

/*
 * One access of an instruction, to all lines that it touches; of 0 bytes, none.
 *
 * is_streaming: a non-temporal store (of a load it says nothing). Its bytes are combined with those of others to the
 * same line; the line is written to memory, without being read, when all of its bytes are there, when an ordinary
 * access comes to it, or when one more than CACHE_MODEL_COMBINED is begun (the one least recently stored to goes).
 * Caches that hold the line evict it. Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "Memory
 * Type and Non-temporal Stores", the second of the policies there. Fences are not looked at.
 */
static inline void
cache_model_access(struct cache_model *model, uint64_t address, uint32_t bytes, bool is_store, bool is_streaming);

/* The same, of caches alone. */
void
cache_model_access_lines(struct cache_model *model, uint64_t address, uint32_t bytes, bool is_store, bool is_streaming);

/* The same of nr whole lines, each a CACHE_USE. */
void cache_model_use_lines(struct cache_model *model, const uint64_t *uses, size_t nr);

/*
 * Lines that crossed borders for one cause: of each level those that were filled and those that were written back, at
 * last those that were streamed. [1]: of sampled lines that stand for others as well.
 */
#define CACHE_CAUSE_STREAMED (2 * STEP_NR_LEVELS)
struct cache_cause {
	uint64_t lines[2][CACHE_CAUSE_STREAMED + 1];
};

/*
 * From now on lines are counted by cause as well, which find tells of a use that is missing in the first level: what
 * is written back for it is of that cause, too. cache_model_begin: the use has that cause where it is of another kind.
 */
void cache_model_set_causes(struct cache_model *model, struct cache_cause *(*find)(void *context, const uint64_t *use),
			    void *context);
void cache_model_begin(struct cache_model *model, const uint64_t *use);

/* Adds what a model like this one has counted for a cause, as cache_model_add_counts. residues: of cache_model_sample;
 * 0: never called. */
void cache_model_add_cause(const struct cache_model *model, const struct cache_cause *cause, uint64_t residues,
			   uint64_t counts[STEP_NR_COUNTS]);

/*
 * From now on, at first, misses of each level are told apart: lines that it never had; those that a fully associative
 * cache of its size, which is used likewise, misses as well; and those that miss since their set is full. Models that
 * share its last level do so, too. They are not sampled, and take several times as long.
 */
enum cache_miss_kind { CACHE_COMPULSORY, CACHE_CAPACITY, CACHE_CONFLICT, CACHE_NR_KINDS };
void cache_model_tell_kinds(struct cache_model *model);

/* Lines that were read into each level, each as long as they are there. */
struct cache_kinds {
	uint64_t lines[STEP_NR_LEVELS][CACHE_NR_KINDS];
};
void cache_model_add_kinds(const struct cache_model *model, struct cache_kinds *sum);

/*
 * A miss in a level (from 0) where kinds are told apart: of line (of those that are used, the first), which is_read or
 * only stored, and replaces victim if is_victim. kind: of one that is_read. is_written: the victim was written back.
 */
struct cache_miss {
	int level;
	enum cache_miss_kind kind;
	uint64_t line, victim;
	bool is_read, is_victim, is_written;
};

/* Has missed told of each miss from now on, with the context of cache_model_set_causes, behind the find of that. */
void cache_model_tell_misses(struct cache_model *model, void (*missed)(void *context, const struct cache_miss *miss));

/* The line of that address is written back through all levels if it is modified, and leaves them unless is_kept. What
 * is being combined of it is written. */
void cache_model_flush(struct cache_model *model, uint64_t address, bool is_kept);

/*
 * Adds the lines that have crossed each border so far to counts[STEP_NR_COUNTS]: fills are lines that came into the
 * level, write-backs modified lines that left it, memory reads and writes those of the last level, with what was
 * streamed. Lines that are still modified are not written; what is still being combined counts as written. Where
 * lines are sampled, the sampled ones stand for all.
 */
void cache_model_add_counts(const struct cache_model *model, uint64_t counts[STEP_NR_COUNTS]);

/* Counts of a model's lines become those of lines of STEP_LINE_BYTES that have as many bytes. */
void cache_model_in_step_lines(const struct cache_model *model, uint64_t counts[STEP_NR_COUNTS]);

/* Adds what has crossed since the last call. */
void cache_model_move_counts(struct cache_model *model, uint64_t counts[STEP_NR_COUNTS]);

/* Sets of no level are shared by lines of different residues; also where there is none. */
bool cache_model_can_be_sampled(const struct cache_model *model);

/* Lines that every set of the first level keeps, and of the TLB if it is modelled, when as many others are used; 0: not
 * known. */
uint64_t cache_model_least_ways(const struct cache_model *model);

/* From now on only lines are used that have one of these residues, each a bit, the lowest is set, and one other at
 * least. Translations are not modelled any more. */
void cache_model_sample(struct cache_model *model, uint64_t residues);

/* Lines that crossed the border below each level, by residue: before they were sampled (all), and since. */
struct cache_sample {
	uint64_t first[STEP_NR_LEVELS][CACHE_RESIDUES], later[STEP_NR_LEVELS][CACHE_RESIDUES];
};
void cache_model_add_sample(const struct cache_model *model, struct cache_sample *sample);

/* The line that its set used last needs no search, and stays where it is. */
static inline bool
cache_front_has(const struct cache_front *front, uint64_t address, uint32_t bytes, bool is_store)
{
	const uint64_t line = address >> front->line_shift;
	uint64_t *entry, wanted = line << CACHE_NR_ENTRY_BITS | CACHE_IS_VALID;

	if (!front->entries || front->nr_combined > 0 || (address + bytes - 1) >> front->line_shift != line)
		return false;
	entry = front->entries + (line & front->set_mask) * front->room;
	if ((*entry | CACHE_IS_MODIFIED) != (wanted | CACHE_IS_MODIFIED))
		return false;
	if (is_store)
		*entry = wanted | CACHE_IS_MODIFIED;
	return true;
}

static inline void
cache_model_access(struct cache_model *model, uint64_t address, uint32_t bytes, bool is_store, bool is_streaming)
{
	struct cache_front *front = cache_model_front(model);

	if (!bytes)
		return;
	if (front->has_pages)
		tlb_model_access(&front->tlb, address, bytes);
	if (is_streaming || !cache_front_has(front, address, bytes, is_store))
		cache_model_access_lines(model, address, bytes, is_store, is_streaming);
}
