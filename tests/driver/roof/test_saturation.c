/* SPDX-License-Identifier: MIT */
/* Bandwidths over numbers of threads: what belongs together, and where it is saturated. */
#include "roof/peak.h"
#include "testing.h"

static struct peak_list list;
static struct growth *growths;
static size_t nr;

static void
set_up(void)
{
	list = (struct peak_list){.nr = 0};
	growths = NULL;
	nr = 0;
	at_end(peak_list_clear, &list);
}

static void
add(const char *name, const char *mode, int nr_threads, double gigabytes)
{
	list.peaks = pool_grow(&list.pool, list.peaks, list.nr, sizeof(*list.peaks));
	list.peaks[list.nr++] = (struct peak){
		.kind = PEAK_BANDWIDTH,
		.name = name,
		.operation = "",
		.border = "llcRam",
		.access = "load",
		.instruction_set = "SSE",
		.mode = mode,
		.nr_threads = nr_threads,
		.per_second = {gigabytes * 1e9, NAN, NAN},
	};
}

/* The rates are those of 1, 2, 4 and 8 threads. */
static const struct {
	double rates[4];
	int saturated_from;
	double factor;
} rows[] = {
	{{10, 20, 40, 80}, 0, 8},      /* each has its own */
	{{10, 20, 30, 30.5}, 4, 3.05}, /* 98 % with four */
	{{10, 9, 8, 7}, 1, 1},         /* more are in each other's way */
	{{10, 20, 40, 41}, 4, 4.1},    {{NAN, 20, 40, 41}, 4, NAN}, {{NAN, NAN, NAN, NAN}, 0, NAN},
};

TEST_OF(saturation_is_where_fewer_threads_get_as_much, NR_ELEMENTS(rows))
{
	/* Not in order: a later search may have added what was between. */
	add("load", "", 1, rows[_i].rates[0]);
	add("load", "", 8, rows[_i].rates[3]);
	add("load", "", 4, rows[_i].rates[2]);
	add("load", "", 2, rows[_i].rates[1]);
	nr = peaks_growths(&list.pool, &list, PEAK_BANDWIDTH, &growths);
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(growths[0].nr, 4);
	ck_assert_int_eq(growths[0].peaks[1]->nr_threads, 2);
	ck_assert_int_eq(growths[0].saturated_from, rows[_i].saturated_from);
	if (isnan(rows[_i].factor))
		ck_assert(isnan(growths[0].factor));
	else
		ck_assert_double_eq_tol(growths[0].factor, rows[_i].factor, 1e-9);
}

TEST(modes_grow_from_the_same_thread)
{
	int *threads;

	add("load", "", 1, 10);
	add("store", "", 1, 10); /* known on one thread alone */
	add("load", "near", 2, 10.9);
	add("load", "far", 2, 20);
	add("load", "far", 3, 30);
	add("L1 load", "", 1, 100);
	add("L1 load", "", 2, 200);
	list.peaks[5].kind = PEAK_LATENCY; /* no bandwidth: that of two threads is alone */
	nr = peaks_growths(&list.pool, &list, PEAK_BANDWIDTH, &growths);
	ck_assert_uint_eq(nr, 2);
	ck_assert_str_eq(growths[0].mode, "near");
	ck_assert_uint_eq(growths[0].nr, 2);
	ck_assert_int_eq(growths[0].saturated_from, 1); /* 9 % more, and 92 % of that with one */
	ck_assert_str_eq(growths[1].mode, "far");
	ck_assert_uint_eq(growths[1].nr, 3);
	ck_assert_double_eq_tol(growths[1].factor, 3, 1e-9);
	ck_assert_uint_eq(growths_threads(&list.pool, growths, nr, &threads), 3);
	ck_assert_int_eq(threads[0], 1);
	ck_assert_int_eq(threads[2], 3);
}

/* Performances of two precisions may have one name. */
TEST(performances_grow_for_themselves)
{
	for (int i = 0; i < 4; i++) {
		add("FMA", "", i % 2 + 1, 10 + i);
		list.peaks[i].kind = PEAK_PERFORMANCE;
		list.peaks[i].border = "";
		list.peaks[i].operation = i < 2 ? "doublePrecisionFlop" : "singlePrecisionFlop";
	}
	ck_assert_uint_eq(peaks_growths(&list.pool, &list, PEAK_BANDWIDTH, &growths), 0);
	nr = peaks_growths(&list.pool, &list, PEAK_PERFORMANCE, &growths);
	ck_assert_uint_eq(nr, 2);
	ck_assert_double_eq_tol(growths[0].factor, 11.0 / 10, 1e-9);
	ck_assert_double_eq_tol(growths[1].factor, 13.0 / 12, 1e-9);
}

TEST(one_number_of_threads_does_not_grow)
{
	int *threads;

	nr = peaks_growths(&list.pool, &list, PEAK_BANDWIDTH, &growths);
	ck_assert_uint_eq(nr, 0);
	add("load", "", 2, 10);
	nr = peaks_growths(&list.pool, &list, PEAK_BANDWIDTH, &growths);
	ck_assert_uint_eq(nr, 0);
	ck_assert_uint_eq(growths_threads(&list.pool, growths, nr, &threads), 0);
	ck_assert_ptr_null(threads);
}

UNIT_TESTS(.set_up = set_up);
