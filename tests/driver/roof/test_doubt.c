/* SPDX-License-Identifier: MIT */
/* A peak that was disturbed is told from one that is low for a reason. */
#include "roof/roof.h"
#include "testing.h"

#define BANDWIDTH(threads, a, b, value)                                                                                \
	.kind = PEAK_BANDWIDTH, .nr_threads = (threads), .border = (char *)(b), .access = (char *)(a),                 \
	.per_cycle = {value, value, value}
#define DISTURBED(value) .per_cycle = {value, NAN, NAN}, .nr_samples = 14, .nr_tainted = 14

/* The first is judged beside the others. */
static struct {
	const char *name;
	bool is_doubtful;
	struct peak peaks[3];
} cases[] = {
	{"a load at a tenth of a copy",
	 true,
	 {{BANDWIDTH(1, "load", "llcRam", 1.1)}, {BANDWIDTH(1, "copy", "llcRam", 12.5)}}},
	{"a copy and a load as they are",
	 false,
	 {{BANDWIDTH(1, "load", "llcRam", 9.2)}, {BANDWIDTH(1, "copy", "llcRam", 12.5)}}},
	{"stores are slower than copies",
	 false,
	 {{BANDWIDTH(1, "store", "llcRam", 5)}, {BANDWIDTH(1, "copy", "llcRam", 12.5)}}},
	{"a near cache behind a far one",
	 true,
	 {{BANDWIDTH(1, "load", "l1l2", 10)}, {BANDWIDTH(1, "load", "l2l3", 28)}}},
	{"caches in their order", false, {{BANDWIDTH(1, "load", "l2l3", 28)}, {BANDWIDTH(1, "load", "l1l2", 62)}}},
	{"several threads beside one",
	 false,
	 {{BANDWIDTH(1, "load", "llcRam", 3)}, {BANDWIDTH(2, "load", "llcRam", 9)}}},
	{"every run disturbed", true, {{.kind = PEAK_PERFORMANCE, .limit_per_cycle = NAN, DISTURBED(15)}}},
	{"some runs disturbed",
	 false,
	 {{.kind = PEAK_PERFORMANCE,
	   .per_cycle = {15, 14, 16},
	   .limit_per_cycle = NAN,
	   .nr_samples = 14,
	   .nr_tainted = 9}}},
	{"far below the documents",
	 true,
	 {{.kind = PEAK_PERFORMANCE, .per_cycle = {7, 7, 7}, .limit_per_cycle = 16, .nr_samples = 14}}},
	{"below the documents",
	 false,
	 {{.kind = PEAK_PERFORMANCE, .per_cycle = {12, 12, 12}, .limit_per_cycle = 16, .nr_samples = 14}}},
	{"a latency", false, {{.kind = PEAK_LATENCY, .limit_per_cycle = NAN, DISTURBED(90)}}},
};

TEST_OF(disturbed_peaks_are_doubtful, NR_ELEMENTS(cases))
{
	struct peak_list list = {.peaks = cases[_i].peaks, .nr = 3};

	for (size_t i = 0; i < list.nr; i++) {
		struct peak *peak = &list.peaks[i];

		peak->border = peak->border ? peak->border : (char *)"";
		peak->access = peak->access ? peak->access : (char *)"";
		peak->limit_per_cycle = peak->limit_per_cycle > 0 ? peak->limit_per_cycle : NAN;
	}
	ck_assert_msg(peak_is_doubtful(&list, &list.peaks[0]) == cases[_i].is_doubtful, "%s", cases[_i].name);
}
