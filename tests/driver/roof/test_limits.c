/* SPDX-License-Identifier: MIT */
/* Limits of processors, after their documents. */
#include "peaks_by_hand.h"
#include "quantities/architecture.h"
#include "roof/peak.h"
#include "testing.h"

static struct architecture *
architecture(const char *name)
{
	struct architecture *read = architecture_read(source_path("driver/architectures/%s.xml", name),
						      source_path("driver/schemas/architecture.rng"), &why);

	ck_assert_msg(read != NULL, "%s", why.text);
	return read;
}

#define DOUBLE "doublePrecisionFlop"
#define SINGLE "singlePrecisionFlop"

/* NAN: nothing is known. */
static const struct {
	const char *architecture;
	int model;
	const char *operation, *border, *access, *instruction_set;
	double limit;
} rows[] = {
	{"zen5", 2, DOUBLE, "", "FMA", "AVX512", 32},
	{"zen5", 2, SINGLE, "", "FMA", "AVX512", 64},
	{"zen5", 2, DOUBLE, "", "FMA_ADD", "AVX512", 48},
	{"zen5", 2, DOUBLE, "", "FMA+ADD", "AVX512", NAN},
	{"zen5", 2, SINGLE, "", "FMA_ADD", "AVX512", 96},
	{"zen5", 2, DOUBLE, "", "FMA_FMA_ADD", "AVX512", 40},
	{"zen5", 2, DOUBLE, "", "FMA_ADD", "AVX2", 24},
	{"zen5", 2, DOUBLE, "", "FMA_ADD", "SCALAR", 6},
	{"zen5", 2, SINGLE, "", "FMA_ADD", "SCALAR", 6},
	{"zen5", 2, DOUBLE, "", "MUL_ADD", "SSE", 8},
	{"zen5", 2, DOUBLE, "", "ADD", "AVX512", 16},
	{"zen5", 2, "compInstr", "", "ADD", "X87", 1},
	{"zen5", 2, "integerOperation", "", "ADD", "AVX512", NAN},
	{"zen5", 2, DOUBLE, "", "DIV", "AVX512", NAN},
	{"zen5", 36, DOUBLE, "", "FMA", "AVX512", NAN},
	{"zen5", 36, DOUBLE, "", "FMA", "AVX2", 16},
	{"zen5", 2, "", "cpuL1", "load", "AVX512", 128},
	{"zen5", 2, "", "cpuL1", "load", "AVX2", 64},
	{"zen5", 2, "", "cpuL1", "copy", "AVX512", 128},
	{"zen5", 2, "", "l1l2", "store", "AVX512", 64},
	{"zen5", 2, "", "l1l2", "update", "AVX512", 128},
	{"zen5", 2, "", "cpuL1", "load2Store", "AVX512", 192},
	{"zen5", 2, "", "l2l3", "load", "AVX512", 32},
	{"sapphirerapids", 143, "", "cpuL1", "load", "AVX512", 128},
	{"sapphirerapids", 143, "", "cpuL1", "load", "AVX2", 96},
	{"sapphirerapids", 143, "", "cpuL1", "load", "SSE", 48},
	{"zen5", 2, "", "l2l3", "load", "SSE", NAN},
	{"zen5", 2, "", "llcRam", "load", "AVX512", NAN},
	{"zen4", 17, DOUBLE, "", "FMA", "AVX512", 16},
	{"zen4", 17, DOUBLE, "", "FMA", "AVX2", 16},
	{"zen2", 49, DOUBLE, "", "FMA", "AVX2", 16},
	{"haswell", 60, DOUBLE, "", "FMA", "AVX2", 16},
	{"haswell", 60, DOUBLE, "", "ADD", "AVX2", 4},
	{"haswell", 60, SINGLE, "", "MUL", "AVX2", 16},
	{"skylake-server", 85, DOUBLE, "", "FMA", "AVX512", 32},
	{"skylake-server", 85, "", "cpuL1", "load", "AVX512", 128},
	{"icelake", 126, DOUBLE, "", "FMA", "AVX512", 16},
	{"generic", 1, DOUBLE, "", "FMA", "AVX2", NAN},
};

TEST_OF(limits_are_those_of_the_documents, NR_ELEMENTS(rows))
{
	autopool pool = {0};
	struct architecture *read = at_end(architecture_delete, architecture(rows[_i].architecture));
	struct peak peak = {
		.kind = rows[_i].border[0] ? PEAK_BANDWIDTH : PEAK_PERFORMANCE,
		.operation = rows[_i].operation,
		.border = rows[_i].border,
		.access = rows[_i].access,
		.instruction_set = rows[_i].instruction_set,
		.search = "full",
	};

	peak_set_limit(&pool, &peak, read, rows[_i].model);
	if (isnan(rows[_i].limit)) {
		ck_assert(isnan(peak.limit_per_cycle));
		ck_assert_str_eq(peak.limit_source, "");
	} else {
		ck_assert_double_eq(peak.limit_per_cycle, rows[_i].limit);
		ck_assert_str_ne(peak.limit_source, "");
	}
}

/* 96 GB/s, at 4 GHz; half of it for stores, which fill lines. Nothing is known of caches, nor without a clock. */
static const struct {
	const char *border, *access;
	int nr_threads;
	double clock_hz, told, limit;
} of_modules[] = {
	{"llcRam", "load", 1, 4e9, 96e9, 24},  {"llcRam", "load", 2, 4e9, 96e9, 12},
	{"llcRam", "store", 1, 4e9, 96e9, 12}, {"l2l3", "load", 1, 4e9, 96e9, NAN},
	{"llcRam", "load", 1, 4e9, 0, NAN},    {"llcRam", "load", 1, NAN, 96e9, NAN},
};

TEST_OF(limits_of_memory_are_those_of_its_modules, NR_ELEMENTS(of_modules))
{
	struct peak peak = {
		.kind = PEAK_BANDWIDTH,
		.border = of_modules[_i].border,
		.access = of_modules[_i].access,
		.nr_threads = of_modules[_i].nr_threads,
		.clock_hz = of_modules[_i].clock_hz,
		.limit_per_cycle = NAN,
	};

	peak_set_memory_limit(&peak, of_modules[_i].told);
	if (isnan(of_modules[_i].limit))
		ck_assert(isnan(peak.limit_per_cycle));
	else
		ck_assert_double_eq_tol(peak.limit_per_cycle, of_modules[_i].limit, 1e-9);
}

/* 0: nothing is known. */
static const struct {
	const char *architecture, *operation, *precision, *instruction_set;
	int cycles, per_cycle;
} latencies[] = {
	{"zen5", "ADD", "INT64", "SCALAR", 1, 0},    {"zen5", "ADD", "INT32", "AVX512", 2, 0},
	{"zen5", "SQRT", "DOUBLE", "SSE", 20, 0},    {"zen5", "DIV", "INT64", "SCALAR", 0, 0},
	{"zen4", "ADD", "DOUBLE", "AVX2", 3, 0},     {"skylake-server", "FMA", "FLOAT", "AVX512", 4, 0},
	{"generic", "ADD", "INT32", "SCALAR", 0, 0}, {"zen5", "SHIFT", "INT32", "SCALAR", 1, 3},
	{"zen5", "SHIFT", "INT64", "AVX2", 2, 2},    {"zen5", "TO_DOUBLE", "FLOAT", "AVX512", 6, 0},
};

TEST_OF(latencies_are_those_of_the_documents, NR_ELEMENTS(latencies))
{
	struct architecture *read = architecture(latencies[_i].architecture);
	const struct architecture_latency *found = architecture_latency(
		read, latencies[_i].operation, latencies[_i].precision, latencies[_i].instruction_set);

	ck_assert_int_eq(found ? found->cycles : 0, latencies[_i].cycles);
	ck_assert_int_eq(found ? found->per_cycle : 0, latencies[_i].per_cycle);
	ck_assert(!found || found->source[0]);
	architecture_delete(read);
}

TEST(buffers_are_those_of_the_documents)
{
	struct architecture *zen4 = at_end(architecture_delete, architecture("zen4")),
			    *generic = at_end(architecture_delete, architecture("generic"));

	ck_assert_double_eq(architecture_buffer_entries(zen4, "WINDOW"), 320);
	ck_assert_double_eq(architecture_buffer_entries(zen4, "OPERATION"), 6912);
	ck_assert_double_nan(architecture_buffer_entries(zen4, "RETURN"));
	ck_assert_double_nan(architecture_buffer_entries(generic, "WINDOW"));
	ck_assert_str_ne(zen4->buffers[0].source, "");
}

/* A clock that is read too low makes a processor faster than it is. */
TEST(more_than_is_allowed_is_said)
{
	struct architecture *read = at_end(architecture_delete, architecture("zen5"));
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();
	struct peak *peak = peak_by_hand(&list, "AVX-512 ADD", 1);

	peak->per_cycle.value = 16.07;
	peak_set_limit(&list.pool, peak, read, 2);
	ck_assert_str_eq(peak->remark, "");
	peak->per_cycle.value = 16.1;
	peak_set_limit(&list.pool, peak, read, 2);
	ck_assert_has(peak->remark, "above what the documents allow");
}

/* Only of what is below, and never instead of what the search had to say. */
TEST(causes_are_said_of_peaks_below)
{
	struct architecture *read = at_end(architecture_delete, architecture("zen5"));
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();
	struct peak *below = peak_by_hand(&list, "AVX2 FMA+ADD", 1), *full = peak_by_hand(&list, "AVX-512 FMA+ADD", 1);

	peak_set_limit(&list.pool, below, read, 2);
	ck_assert_has(below->remark, "16 registers");
	peak_set_limit(&list.pool, full, read, 2);
	ck_assert_str_eq(full->remark, "");
	below->variant[0].value = 12; /* enough chains: that is not the cause */
	below->remark = "";
	peak_set_limit(&list.pool, below, read, 2);
	ck_assert_has(below->remark, "not known");
	below->remark = "";
	below->search = "quick";
	peak_set_limit(&list.pool, below, read, 2);
	ck_assert_has(below->remark, "a quick search tries few variants");
	below->remark = "";
	below->variant[0].value = 8;
	below->per_cycle.value = 23.9;
	peak_set_limit(&list.pool, below, read, 2);
	ck_assert_str_eq(below->remark, "");
	below->per_cycle.value = 10;
	below->remark = "hot";
	peak_set_limit(&list.pool, below, read, 2);
	ck_assert_str_eq(below->remark, "hot");
}

UNIT_TESTS(.is_in_one_process = true);
