/* SPDX-License-Identifier: MIT */
#include "peaks_by_hand.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const struct {
	enum peak_kind kind;
	const char *name, *operation, *border, *access, *instruction_set, *mode;
	int nr_threads, dlp, unroll, streams;
	size_t buffer_bytes;
	double per_cycle, half_width; /* of the interval */
} rows[] = {
	{PEAK_PERFORMANCE, "AVX-512 FMA+ADD", "doublePrecisionFlop", "", "FMA_ADD", "AVX512", "", 1, 12, 4, 0, 0,
	 47.985, 0.02},
	{PEAK_PERFORMANCE, "AVX-512 FMA", "doublePrecisionFlop", "", "FMA", "AVX512", "", 1, 12, 4, 0, 0, 31.99, 0.01},
	{PEAK_PERFORMANCE, "AVX-512 ADD", "doublePrecisionFlop", "", "ADD", "AVX512", "", 1, 8, 5, 0, 0, 16, 0.005},
	{PEAK_PERFORMANCE, "AVX2 FMA+ADD", "doublePrecisionFlop", "", "FMA_ADD", "AVX2", "", 1, 8, 4, 0, 0, 20.4, 0.01},
	{PEAK_PERFORMANCE, "SSE MUL, ADD", "doublePrecisionFlop", "", "MUL_ADD", "SSE", "", 1, 12, 4, 0, 0, 8, 0.01},
	{PEAK_PERFORMANCE, "x87 ADD", "doublePrecisionFlop", "", "ADD", "X87", "", 1, 7, 14, 0, 0, 0.998, 0.001},
	{PEAK_PERFORMANCE, "AVX-512 FMA", "singlePrecisionFlop", "", "FMA", "AVX512", "", 1, 12, 4, 0, 0, 63.98, 0.02},
	{PEAK_PERFORMANCE, "AVX-512 FMA+ADD", "doublePrecisionFlop", "", "FMA_ADD", "AVX512", "", 2, 12, 4, 0, 0, 47.98,
	 0.03},
	{PEAK_BANDWIDTH, "L1 load", "", "cpuL1", "load", "AVX512", "", 1, 0, 16, 1, 24576, 127.9, 0.1},
	{PEAK_BANDWIDTH, "L1 store", "", "cpuL1", "store", "AVX512", "", 1, 0, 16, 1, 24576, 63.9, 0.1},
	{PEAK_BANDWIDTH, "L2 load", "", "l1l2", "load", "AVX512", "", 1, 0, 8, 2, 524288, 63.2, 0.2},
	{PEAK_BANDWIDTH, "L3 load", "", "l2l3", "load", "AVX512", "", 1, 0, 8, 2, 8388608, 31.4, 0.3},
	{PEAK_BANDWIDTH, "DRAM load", "", "llcRam", "load", "AVX512", "", 1, 0, 8, 1, 1073741824, 10.4, 0.4},
	{PEAK_BANDWIDTH, "DRAM non-temporal store", "", "llcRam", "ntStore", "AVX512", "", 1, 0, 8, 1, 1073741824, 11.1,
	 0.6},
	{PEAK_BANDWIDTH, "DRAM load", "", "llcRam", "load", "AVX512", "near", 2, 0, 8, 1, 1073741824, 6.2, 0.5},
	{PEAK_BANDWIDTH, "DRAM load", "", "llcRam", "load", "AVX512", "far", 2, 0, 8, 1, 1073741824, 9.9, 0.6},
	{PEAK_LATENCY, "L1 random access", "", "cpuL1", "chase", "SCALAR", "", 1, 0, 1, 1, 24576, 4, 0.01},
	{PEAK_LATENCY, "DRAM random access", "", "llcRam", "chase", "SCALAR", "", 1, 0, 1, 1, 1073741824, 840, 20},
	{PEAK_LATENCY, "DRAM random access, 12 chains", "", "llcRam", "random", "SCALAR", "", 1, 0, 1, 12, 1073741824,
	 60, 2},
};

#define CLOCK_HZ 4.0e9
#define TSC_HZ 2.6e9

static struct peak_estimate
estimate(double value, double half_width, double factor)
{
	return (struct peak_estimate){value * factor, (value - half_width) * factor, (value + half_width) * factor};
}

static void
add_coordinate(struct peak *peak, const char *name, int value)
{
	if (value == 0)
		return;
	peak->variant[peak->nr_coordinates].name = name;
	peak->variant[peak->nr_coordinates++].value = value;
}

/* All combinations of both axes up to 6; the farther from the best, the lower; one could not be measured. */
static void
add_landscape(struct pool *pool, struct peak *peak, int dlp, int unroll)
{
	struct peak_landscape *landscape = &peak->landscape;

	landscape->axes = pool_calloc(pool, 2, sizeof(*landscape->axes));
	landscape->axes[0] = "dlp";
	landscape->axes[1] = "unroll";
	landscape->nr_axes = 2;
	landscape->points = pool_calloc(pool, 144, sizeof(*landscape->points));
	for (int i = 0; i < 144; i++) {
		struct peak_point *point = &landscape->points[landscape->nr_points++];
		int x = 2 * (i % 12) + 2, y = i / 12 + 1;

		point->coordinates = pool_calloc(pool, 2, sizeof(*point->coordinates));
		point->coordinates[0] = x;
		point->coordinates[1] = y;
		point->per_cycle = i == 143 ? NAN
					    : peak->per_cycle.value * fmin(1, (double)x / dlp) *
						      (y == unroll ? 1 : 0.98 - 0.01 / y);
	}
}

/* Chains of misses: twice as many, half the time, up to 12. */
static void
add_curve(struct pool *pool, struct peak *peak)
{
	struct peak_landscape *landscape = &peak->landscape;

	landscape->axes = pool_calloc(pool, 1, sizeof(*landscape->axes));
	landscape->axes[0] = "chains";
	landscape->nr_axes = 1;
	landscape->points = pool_calloc(pool, 12, sizeof(*landscape->points));
	for (int chains = 12; chains > 0; chains--) {
		struct peak_point *point = &landscape->points[landscape->nr_points++];

		point->coordinates = pool_calloc(pool, 1, sizeof(*point->coordinates));
		point->coordinates[0] = chains;
		point->per_cycle = 840.0 / chains;
	}
}

static void
fill(struct pool *pool, struct peak *peak, size_t i)
{
	bool is_latency = rows[i].kind == PEAK_LATENCY;
	double per_second = is_latency ? 1 / CLOCK_HZ : CLOCK_HZ * rows[i].nr_threads;

	peak->kind = rows[i].kind;
	peak->name = rows[i].name;
	peak->operation = rows[i].operation;
	peak->border = rows[i].border;
	peak->access = rows[i].access;
	peak->instruction_set = rows[i].instruction_set;
	peak->mode = rows[i].mode;
	peak->nr_threads = rows[i].nr_threads;
	peak->variant = pool_calloc(pool, 3, sizeof(*peak->variant));
	add_coordinate(peak, "dlp", rows[i].dlp);
	add_coordinate(peak, is_latency ? "chains" : "streams", rows[i].streams);
	add_coordinate(peak, "unroll", rows[i].unroll);
	peak->buffer_bytes = rows[i].buffer_bytes;
	peak->per_cycle = estimate(rows[i].per_cycle, rows[i].half_width, 1);
	peak->per_second = estimate(rows[i].per_cycle, rows[i].half_width, per_second);
	peak->per_tsc_cycle =
		estimate(rows[i].per_cycle, rows[i].half_width, is_latency ? TSC_HZ / CLOCK_HZ : CLOCK_HZ / TSC_HZ);
	peak->usual_per_cycle = 0.75 * rows[i].per_cycle;
	peak->clock_hz = CLOCK_HZ;
	peak->clock_source = "probe";
	peak->nr_samples = 20;
	peak->search = "full";
	peak->limit_per_cycle = NAN;
	peak->limit_source = "";
	peak->remark = "";
	if (i == 0)
		add_landscape(pool, peak, rows[i].dlp, rows[i].unroll);
	if (rows[i].streams == 12)
		add_curve(pool, peak);
}

struct peak_list
peaks_by_hand(void)
{
	struct peak_list list = {.nr = sizeof(rows) / sizeof(*rows)};

	list.peaks = pool_calloc(&list.pool, list.nr, sizeof(*list.peaks));
	for (size_t i = 0; i < list.nr; i++)
		fill(&list.pool, &list.peaks[i], i);
	return list;
}

struct peak *
peak_by_hand(const struct peak_list *list, const char *name, int nr_threads)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(list->peaks[i].name, name) == 0 && list->peaks[i].nr_threads == nr_threads)
			return &list->peaks[i];
	ck_abort_msg("no peak '%s' of %d threads", name, nr_threads);
	return NULL;
}
