/* SPDX-License-Identifier: MIT */
/*
 * Misses at every capacity at once: those of a fully associative cache of which the least recently used line goes. It
 * misses where as many other lines were used since as it holds: so one list of lines, the last used first, serves all
 * capacities (Mattson and others, "Evaluation techniques for storage hierarchies", 1970).
 *
 * Each line has the time at which it was used last; how many have later times, bits say, and behind them a Fenwick tree
 * of counts. Times are dealt anew when they run out.
 *
 * Stores allocate; a line that is modified is written back when it goes, as by cache_model.h. Bytes that are streamed
 * to memory pass by, and flushes are not looked at.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Capacities: from 4 KiB to 1 GiB, each about a fifth more than the one before. */
#define REUSE_LEAST_BYTES 4096
#define REUSE_STEPS_OF_TWO 4
#define REUSE_NR (18 * REUSE_STEPS_OF_TWO + 1)

/*
 * uses: of lines, as far as they were among those given. lines: that were used at all, so that each was missing once
 * streamed_bytes: that stores have sent to memory
 * shrinks: how often half of the lines that were followed had to be given up, most of one reuse
 */
struct reuse_counts {
	double misses[REUSE_NR], write_backs[REUSE_NR];
	double uses, lines, streamed_bytes;
	unsigned shrinks;
};

struct reuse;

/* The lines that a cache of capacity i holds. */
uint64_t reuse_lines(int i, unsigned line_shift);

/*
 * For lines of 1 << line_shift bytes, 8 to 256. Above max_lines (at least 1024) half of them are given up by a hash of
 * their addresses, and the others stand for them from then on, again and again. Takes up to 32 bytes for each of twice
 * max_lines.
 */
struct reuse *reuse_new(unsigned line_shift, size_t max_lines);
void reuse_delete(struct reuse *reuse);

/* Each a CACHE_USE. */
void reuse_use_lines(struct reuse *reuse, const uint64_t *uses, size_t nr);

/*
 * From now on told hears of each use of a line that the least capacity misses. capacity: the first one that does not,
 * REUSE_NR if the line was never used; weight: of so many lines. NULL: nobody does.
 */
typedef void (*reuse_told)(void *context, uint64_t line, unsigned capacity, double weight);
void reuse_tell(struct reuse *reuse, reuse_told told, void *context);

/* Adds the uses since the last call that the least capacity misses, by the first one that does not; [REUSE_NR]: of
 * lines that were never used. add_up: misses of each capacity, where there were so many of these. */
void reuse_move(struct reuse *reuse, double by_capacity[REUSE_NR + 1]);
void reuse_add_up(const uint64_t by_capacity[REUSE_NR + 1], uint64_t misses[REUSE_NR]);

/* A streaming store to that line. */
void reuse_stream(struct reuse *reuse, uint64_t line, uint64_t bytes);

/*
 * From now on lines alone are followed that have one of these residues (cache_model.h). Lines that are not sampled may be
 * among uses. Once at most.
 */
void reuse_sample(struct reuse *reuse, uint64_t residues);

/* Adds what there was so far. Lines that are still modified are written back as far as they are gone. */
void reuse_add(struct reuse *reuse, struct reuse_counts *sum);
