/* SPDX-License-Identifier: MIT */
/*
 * A peak: one line of the machine's roof, found by search. What the search fills, the profile stores, and tables, plots
 * and ceilings of experiments show.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "error.h"

/* The share of the undisturbed runs that stay below a peak, where not more of them were slowed (peak_samples.h). */
#define PEAK_QUANTILE 0.75

enum peak_kind {
	PEAK_PERFORMANCE, /* operations per unit of time */
	PEAK_BANDWIDTH,   /* bytes per unit of time      */
	PEAK_LATENCY,     /* time of one access          */
	NR_PEAK_KINDS,
};

/* "performance", "bandwidth", "latency". */
const char *peak_kind_name(enum peak_kind kind);

/* Is a better than b: higher, or of latencies shorter? Anything is better than NaN. */
bool peak_is_better(enum peak_kind kind, double a, double b);

/* An estimate with its interval of at least 95 %; low and high are NaN where there is none. */
struct peak_estimate {
	double value, low, high;
};

/* One coordinate of a variant: "dlp" = 12. */
struct peak_coordinate {
	const char *name;
	int value;
};

/* A measured point of the search. */
struct peak_point {
	int *coordinates; /* one for each axis, in its order */
	double per_cycle; /* as peak.per_cycle; NaN: could not be built or measured */
};

/* Everything that was tried for one peak, for the heat map; no axes: nothing was searched. */
struct peak_landscape {
	const char **axes;
	size_t nr_axes;
	struct peak_point *points;
	size_t nr_points;
};

struct peak {
	enum peak_kind kind;
	const char *name;      /* "AVX-512 FMA+ADD", "L2 copy": unique together with what follows down to mode */
	const char *operation; /* performance: word of the vocabulary, "doublePrecisionFlop"; else "" */
	const char *border;    /* bandwidth, latency: "cpuL1", "l1l2", "l2l3" or "llcRam"; else "" */
	const char *access;    /* performance: "FMA", of integers "ADD_INT32"; bandwidth: "load", "store", "ntStore",
			    "copy",    "update", "triad"... */
	const char *instruction_set; /* "AVX512", as the kernels name it */
	int nr_threads;              /* each on a CPU of its own; values are of all together */
	/* "": only one was seen; several CPUs: "near", "far" (memory; caches of the CPUs apart), "shared" (one core) */
	const char *mode;

	struct peak_coordinate *variant; /* the best: dlp, unroll, streams, prefetchDistance ... */
	size_t nr_coordinates;
	size_t buffer_bytes; /* bandwidth, latency: of one thread; 0: none */
	bool has_huge_pages; /* its buffer lay in such, whatever was asked for */

	/*
	 * Estimates of the samples that the search did not choose by (no winner's curse). Per core cycle of one thread
	 * (so that one and all threads compare): flop or bytes, latency: cycles. Per second: flop/s or bytes/s of all
	 * threads, latency: seconds.
	 */
	struct peak_estimate per_cycle, per_second;
	struct peak_estimate per_tsc_cycle; /* as per_cycle, in cycles of the time stamp counter */
	double usual_per_cycle;             /* as per_cycle, but the median of all undisturbed runs; NaN: unknown */
	double clock_hz;                    /* of the core while it was measured; NaN: unknown */
	const char *clock_source;           /* "counted", or "probe": chains of dependent instructions, timed */
	size_t nr_samples, nr_tainted;
	const char *search; /* how thoroughly it was looked for: "quick", "full" or "grid"; "" */
	int64_t found_at;   /* seconds since 1970; 0: now, for the profile to set */

	double limit_per_cycle;   /* what the processor's documents allow; NaN: not known */
	const char *limit_source; /* where that is said */
	const char *remark;       /* why it differs from the limit, or what was peculiar; "" if nothing */

	struct peak_landscape landscape;
};

/* A peak that somebody needs: all words that are not "" or NULL are its own. */
struct peak_wish {
	const char *operation, *border, *access, *instruction_set;
};

/* The peaks that a search found, in the order of the description. */
struct peak_list {
	struct peak *peaks;
	size_t nr;
	struct pool pool; /* of the peaks and all that they hold */
};

/* The best alone of peaks that are the same but for their variant stays, at the place of the first. */
void peak_list_keep_best(struct peak_list *list);

/* Are these the words of a peak that is wished for? Each may be NULL, which is the same as "". */
bool peak_wish_is(const struct peak_wish *wish, const char *operation, const char *border, const char *access,
		  const char *instruction_set);

/* Behind what is remarked already, once. */
void peak_add_remark(struct pool *pool, struct peak *peak, const char *text);

void peak_list_clear(struct peak_list *list);

/* Is it a bandwidth of memory? */
bool peak_is_of_memory(const struct peak *peak);

/* Does that border come closer to the core: "cpuL1" before "l1l2" before "l2l3" before "llcRam"? Others are last. */
int border_order(const char *border);

/* "L1", "L2", "L3", "memory". Borrowed. */
const char *border_level(const char *border);

/*
 * The ridge point of a floating point performance and a bandwidth of as many threads: the least operational intensity
 * [flop/byte] at which that performance can be reached when all bytes cross the border at that bandwidth (Williams,
 * Waterman and Patterson 2009). It is of rates per cycle where both clocks are known, so that a clock that moved does
 * not matter. The interval is that of the worst case of both. False: they are no such pair.
 */
bool peak_ridge(const struct peak *performance, const struct peak *bandwidth, struct peak_estimate *intensity);

/*
 * Random access as a bandwidth: the bytes of the lines that are fetched, as many at once as were served best. False:
 * the peak is not of random access. All but the rates is borrowed from it.
 */
bool peak_random_bandwidth(const struct peak *latency, double line_bytes, struct peak *bandwidth);

/*
 * Bytes that cross the border for each that the program loads or stores. A line that is stored to is loaded first
 * (filled) and written back later.
 */
double peak_crossing_bytes(const struct peak *bandwidth);

/* ---- as JSON and back ---- */

/* New reference. */
json_t *peak_json(const struct peak *peak);

/* The peak of such an object; peak is to be cleared in any case. -1: it is none. */
int peak_of_json(struct pool *pool, const json_t *json, struct peak *peak);

/* Fewer threads saturate a rate if they reach this share of its highest. */
#define SATURATION_SHARE 0.95

/* A rate that grows by less than that factor is saturated by the fewest threads. */
#define SATURATION_LEAST 1.1

/* One bandwidth or performance over numbers of threads. */
struct growth {
	const struct peak **peaks; /* of the list, by rising number of threads; two at least */
	size_t nr;
	const char *mode;   /* of those on several threads */
	double factor;      /* the highest, divided by that of the fewest threads */
	int saturated_from; /* threads; 0: the most threads get clearly more than fewer do, so more might get more */
};

/*
 * The growths of all peaks of that kind (no latencies) that are known on two numbers of threads at least, in the order
 * of the list. One on one thread, which has no mode, begins the growth of each mode.
 */
size_t peaks_growths(struct pool *pool, const struct peak_list *list, enum peak_kind kind, struct growth **growths);

/* The numbers of threads of all these, rising. */
size_t growths_threads(struct pool *pool, const struct growth *growths, size_t nr, int **threads);

struct rot;
struct architecture;

/* A peak that is this much below its limit gets a remark with the cause, or that none is known. */
#define LIMIT_NOTABLE 0.02

/* Above its limit by more than this it is not believed: the clock was misread, or the document is. It gets a remark,
 * and the profile replaces it with what is found next. */
#define LIMIT_EXCEEDED 0.005

/* The documents of this machine's processor, whether its events can be counted or not. Delete it. */
struct architecture *limits_load(struct rot *rot, struct rot_error *err);

/* Per core cycle, of kind, operation, border, access and instruction set of the peak; NaN: nothing is known. */
double peak_limit(const struct peak *peak, const struct architecture *architecture, int model);

/*
 * Sets limit, source and remark of the peak, on a CPU of that model; NaN and "" where nothing is known. A remark that
 * is there already stays.
 */
void peak_set_limit(struct pool *pool, struct peak *peak, const struct architecture *architecture, int model);

/* limit_source of what the key says. */
#define LIMIT_OF_MEMORY "key memoryBandwidth"

/* The limit of a bandwidth of memory whose modules allow so many bytes a second; 0: nothing is known. */
void peak_set_memory_limit(struct peak *peak, double bytes_per_second);

/* The limits of all, on this machine. */
int peaks_set_limits(struct rot *rot, struct peak_list *list, struct rot_error *err);
