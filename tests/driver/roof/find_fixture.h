/* SPDX-License-Identifier: MIT */
/* Tests of the search for peaks share this: ceilings of their own, and a machine of 4 GHz whose rates are computed. */
#pragma once

#include <stdbool.h>

#include "fake_rot.h"
#include "roof/find.h"

#define HEAD "<controller name='default-peaks' comment='a test'>\n"
#define TAIL "</controller>\n"
#define KERNEL                                                                                                         \
	"<workload><kernel type='Arithmetic' operation='{$op}' instructionSet='SSE' iterations='10' dlp='{$dlp}' "     \
	"unroll='{$unroll}'/></workload>"
#define PERFORMANCES                                                                                                   \
	"<ceilings><axis name='op'><list values='ADD MUL'/></axis>"                                                    \
	"<ceiling name='SSE {$op}' performance='doublePrecisionFlop' access='{$op}' instructionSet='SSE'>"             \
	"<axis name='dlp'><range from='1' to='19' step='1'/></axis><axis name='unroll'><range from='1' to='19' "       \
	"step='1'/></axis><seed dlp='2' unroll='2'/>" KERNEL "</ceiling></ceilings>\n"
#define MEMORY_OF(its_name)                                                                                            \
	"<ceiling name='" its_name "' throughput='llcRam' access='load' work='{$bufferSize}' rare='{string(1 = 1)}'>"  \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"
#define MEMORY MEMORY_OF("memory load")
#define L2                                                                                                             \
	"<ceiling name='L2 store' throughput='l1l2' access='store' work='{$bufferSize}'>"                              \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"
#define L3                                                                                                             \
	"<ceiling name='L3 store' throughput='l2l3' access='store' work='{$bufferSize}'>"                              \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"
#define LATENCY                                                                                                        \
	"<ceiling name='L1 latency' latency='cpuL1' access='chase' threads='1' work='8'>"                              \
	"<workload><kernel type='Memory' bufferSize='4096'/></workload></ceiling>\n"

/* ---- what a test sets ---- */

extern struct rot rot;
extern double (*per_cycle)(const struct measurement *measurement, size_t run); /* arithmetic_per_cycle */
extern bool tells_placement;  /* runs 0, 1 and 2 are near, 3, 4 and 5 far, and so on; in each 6th the CPUs move */
extern size_t nr_on_one_core; /* the first runs of two threads */

/* Rates. The first: 8 chains hide the latency, 4 steps of each the loop. */
double arithmetic_per_cycle(const struct measurement *measurement, size_t run);
double ten_per_cycle(const struct measurement *measurement, size_t run);

/* A field of the kernel of the first workload; NaN: it has none. */
double number_of(const struct measurement *measurement, const char *field);

/* For fake_measure: every run was disturbed. */
void measure_disturbed(const struct measurement *measurement, const struct quantity_request *requests,
		       size_t nr_requests, int nr_runs, struct quantity_value *values);

/* A machine with documents: additions of SSE on Zen 5 are 4 a cycle. */
void be_zen5(void);

/* ---- what a test does, and finds ---- */

extern const int one_and_two[2]; /* numbers of threads */
extern struct peak_list list;
extern struct rot_error find_error;
extern size_t nr_calls_on_two, nr_together; /* with two workloads; those on CPUs of their own that begin together */

/* Peaks of the description, on one thread unless options say otherwise: into list and find_error. */
int find(const char *description, struct peaks_options options);

/* The same without an error; the second on one thread and on two. */
void find_peaks(const char *description, enum search_strategy strategy);
void find_peaks_of_two(const char *description, enum search_strategy strategy);

/* May this process run on several cores? Says so if not. */
bool has_several_cores(void);

/* A checked fixture. */
void find_fixture_open(void);
void find_fixture_close(void);
