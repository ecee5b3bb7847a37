/* SPDX-License-Identifier: MIT */
/*
 * Finds the lines that recorded frames use (recording.h). Sites that come again and again get machine code of their
 * own, which goes from frame to frame by itself; without memory for code everything is done by looking at the site.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "parent/stepping/cache_model.h"
#include "parent/translate/recording.h"
#include "parent/translate/uses.h"

/*
 * How far the frames of a thread have been looked at.
 * frame, end: the next one, and where they end; behind it as many bytes can be read as a frame may have
 * to, room: where its uses of lines go (uses.h), and the last place where one may begin that has room for a frame's
 * space: bits that the lines of its process have, and addresses do not
 * last: 1 more than the number of the site before, 0: none
 * lines: of that site, each use plus 1 if the next line was used, too
 * splits: accesses that went from one line to the next; whoever starts it sets 0
 * code: of the finder
 * origins: where the next origin of uses goes, which has room then; where sites have causes
 */
struct line_search {
	const uint64_t *frame, *end;
	uint64_t *to, *room;
	uint64_t fs_base, space, last;
	const uint8_t *code;
	uint32_t *origins;
	uint64_t splits;
	uint64_t lines[SITE_MAX_ACCESSES];
};

/* Words that a frame adds at most. */
#define LINE_FINDER_MAX_USES (2 * SITE_MAX_ACCESSES)

struct line_finder;

/*
 * For lines of 1 << line_shift bytes, and a first level of nr_ways. compiles: makes machine code, if the system permits
 * it. If lines are shorter than SITE_LINE, all frames are left to others, else those of sites that are not repeatable.
 * residues: only lines that have one of these are found, each a bit (cache_model_sample); 0: all.
 */
struct line_finder *
line_finder_new(const struct sites *sites, unsigned line_shift, uint64_t nr_ways, uint64_t residues, bool compiles);
void line_finder_delete(struct line_finder *finder);

/*
 * Goes on until the frames end, no room is left, or the next frame is left to others (who then set last to 0). Returns
 * the site of that frame, else NULL. A frame of no site, which the program has written, is the end of all.
 */
const struct site *line_finder_run(struct line_finder *finder, struct line_search *search);

/*
 * A sampled line stands for so many, and the first of a row for none, so that it is a whole number. 1: all lines are
 * found.
 */
static inline unsigned
line_finder_weight(uint64_t residues)
{
	return residues ? CACHE_RESIDUES / (unsigned)__builtin_popcountll(residues & ~UINT64_C(1)) : 1;
}

/* Counts an access that goes from its line to the next, if that line is sampled. number: of its site */
static inline void
line_search_split(struct line_search *search, const struct sites *sites, uint32_t number,
		  const struct site_access *access, uint64_t address, unsigned line_shift, uint64_t residues)
{
	const uint64_t line_bytes = UINT64_C(1) << line_shift, within = address & (line_bytes - 1);
	const uint64_t is_counted =
		!residues || (residues & ~UINT64_C(1)) >> (address >> line_shift) % CACHE_RESIDUES & 1;
	const uint64_t nr = access->splits ? access->splits[line_bytes - within] : 1;

	search->splits += is_counted * nr * line_finder_weight(residues);
	sites->splits[number] += is_counted * nr * line_finder_weight(residues);
}

/* Where an access of a frame is. */
static inline uint64_t
site_address(const struct site_access *access, const uint64_t *frame, uint64_t fs_base)
{
	uint64_t address = access->displacement;

	if (access->base)
		address += frame[access->base];
	if (access->index)
		address += frame[access->index] << access->scale;
	address &= access->address_mask;
	return access->is_local ? address + fs_base : address;
}
