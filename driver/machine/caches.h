/* SPDX-License-Identifier: MIT */
/*
 * The sizes of the caches as the system or the processor tells them, each with where it comes from.
 *
 * sysfs first. Where it says nothing (some virtual machines have no /sys/devices/system/cpu/cpu0/cache) the processor
 * is asked: leaf 4 (Intel), leaf 8000001D (AMD), and what these do not tell, the older leaves 80000005 and 80000006 of
 * AMD. Of the last only L1 and L2 are taken: its L3 is that of the whole package, of which one CPU reaches a part (32
 * of 384 MiB on an EPYC 9005), so it is kept as a bound. hwloc's x86 backend reads the same leaves and gives that total
 * as the cache of one CPU, which is why it is not used.
 */
#pragma once

#include "base/cache_presets.h"
#include "entities.h"
#include "error.h"

/* Fills sizes, sources and line size of the machine; what nobody tells stays 0 and "". root: as machine_read. */
void machine_read_caches(struct machine *machine, const char *root);

/*
 * How many lines each set of a cache holds, as told where the sizes are (see above). 0: nobody tells, or fully
 * associative.
 */
struct cache_ways {
	int64_t l1_data, l2, llc;
};
struct cache_ways cache_ways_of(const struct machine *machine, const char *root);

/* Translations of addresses that are remembered. ways: of each set; 0: there is one set. */
struct tlb_shape {
	int64_t entries, ways, page_bytes;
};

/* How a level is beside its size and ways. policy: which line of a full set goes, as of StepMeasurer; NULL, 0: not
 * said */
enum cache_sharing { CACHE_SHARING_UNSAID, CACHE_PRIVATE, CACHE_SHARED };
struct cache_trait {
	const char *policy;
	int64_t line_bytes;
	enum cache_sharing sharing;
};
#define CACHE_NR_LEVELS 3

/*
 * Caches that are modelled. machine: whose they are, borrowed, NULL: there are none. Its last level is the second where
 * there are two.
 */
struct cache_shapes {
	const struct machine *machine;
	struct cache_ways ways;
	struct cache_trait traits[CACHE_NR_LEVELS];
	struct tlb_shape tlb;
};

/*
 * Changes caches to others, as "32K:8,1M:16,32M:16": sizes (K, M, G: powers of 1024) and ways of two or three levels,
 * from the one next to the core; ways may be left out, or "full": one set. Behind them may stand which line of a set
 * goes, how long lines are, and "shared" or "private": "32K:8:plru,1M:full:128B:shared". "4096W": so many words of 8
 * bytes, each a line, in one set. "l3=16M": the other levels stay as they are, and what is not said of this one. Or a
 * preset. has_tlb: there may also be "tlb=", as of tlb_parse, and a preset has its own. *machine becomes that of the
 * shapes, with the sizes. -1: text says something else.
 */
int cache_shapes_parse(const char *text, bool has_tlb, struct machine *machine, struct cache_shapes *shapes,
		       struct rot_error *err);

/* "64", "128:4", "64:full:2M": entries, ways and pages (4K); or a preset. -1: text says something else. */
int tlb_parse(const char *text, struct tlb_shape *tlb, struct rot_error *err);

/*
 * Which CPUs share a cache for data: the first one of those that share that of this CPU, as sysfs tells; where it says
 * nothing, the CPU itself.
 */
struct cache_owners {
	int l1_data, l2, llc; /* of the last level, whichever that is */
};
struct cache_owners cache_owners_of(int cpu, const char *root);
