/* SPDX-License-Identifier: MIT */
/* Kernels compute what they say: built as shared objects, loaded here, and run where the CPU has their instructions. */
#include "fixture.h"
#include "loaded.h"
#include "testing.h"

/* ---- Triad ---- */

TEST_OF(triad_adds_and_multiplies, 3)
{
	static const char *const fields[] = {"bufferSize=1", "bufferSize=1001 optimization=-O1", "bufferSize=300000"};
	cleared_by(unload) struct loaded triad = load("Triad", fields[_i]);
	const double *a = triad.buffers[0].start, *b = triad.buffers[1].start, *c = triad.buffers[2].start;
	size_t nr = triad.buffers[0].bytes / sizeof(double);

	ck_assert_uint_eq(triad.nr_buffers, 3);
	ck_assert_uint_eq(triad.buffers[1].bytes, nr * sizeof(double));
	run(&triad);
	for (size_t i = 0; i < nr; i++)
		ck_assert_double_eq_tol(a[i], b[i] + 2.34 * c[i], 1e-14);
}

/* ---- which pages are touched, in which order ---- */

#define PAGE ((size_t)4096)
#define MAX_TOUCHES 4096

static char *watched;
static size_t watched_bytes;
static size_t touched[MAX_TOUCHES];
static size_t nr_touched;

/* Opens the page that was touched, and closes all but this and the one before: an access may lie across two pages. */
static void
note_page(int number, siginfo_t *information, void *context)
{
	char *address = information->si_addr;
	size_t page = (size_t)(address - watched) / PAGE;

	(void)number, (void)context;
	if (address < watched || address >= watched + watched_bytes || nr_touched == MAX_TOUCHES)
		_exit(99);
	mprotect(watched, watched_bytes, PROT_NONE);
	if (nr_touched > 0)
		mprotect(watched + touched[nr_touched - 1] * PAGE, PAGE, PROT_READ | PROT_WRITE);
	mprotect(watched + page * PAGE, PAGE, PROT_READ | PROT_WRITE);
	touched[nr_touched++] = page;
}

static void
run_watched(struct loaded *loaded)
{
	struct sigaction action = {.sa_sigaction = note_page, .sa_flags = SA_SIGINFO};
	struct sigaction old;

	watched = loaded->buffers[0].start;
	watched_bytes = loaded->buffers[0].bytes;
	ck_assert_uint_eq((uintptr_t)watched % PAGE, 0);
	ck_assert_uint_eq(watched_bytes % PAGE, 0);
	nr_touched = 0;
	sigaction(SIGSEGV, &action, &old);
	mprotect(watched, watched_bytes, PROT_NONE);
	run(loaded);
	mprotect(watched, watched_bytes, PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &old, NULL);
}

/* Passes over all pages in order. */
static void
assert_passes(size_t nr_passes)
{
	size_t nr_pages = watched_bytes / PAGE;

	ck_assert_uint_eq(nr_touched, nr_passes * nr_pages);
	for (size_t i = 0; i < nr_touched; i++)
		ck_assert_uint_eq(touched[i], i % nr_pages);
}

TEST_OF(memory_reads_all_of_its_buffer, 4)
{
	static const char *const fields[] = {
		"operation=READ instructionSet=SCALAR bufferSize=40960 iterations=3",
		"operation=READ instructionSet=SSE bufferSize=36864 unroll=32",
		"operation=READ instructionSet=AVX2 bufferSize=53248 unroll=5 iterations=2",
		"operation=READ instructionSet=AVX512 bufferSize=61440 unroll=31",
	};
	cleared_by(unload) struct loaded memory = {0};

	if (!cpu_has(fields[_i]))
		return;
	memory = load("Memory", fields[_i]);
	run_watched(&memory);
	assert_passes((size_t)((const int64_t[]){3, 1, 2, 1})[_i]);
}

TEST(memory_streams_walk_side_by_side)
{
	cleared_by(unload) struct loaded memory =
		load("Memory", "operation=READ instructionSet=SSE streams=2 bufferSize=65536");

	run_watched(&memory);
	ck_assert_uint_ge(nr_touched, 16);
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_eq(touched[i], i / 2 + i % 2 * 8);
}

/* Every page is drawn, and neither in order nor again and again the same. */
TEST(random_read_reads_everywhere)
{
	cleared_by(unload) struct loaded memory =
		load("Memory", "operation=RANDOM_READ bufferSize=65536 streams=3 unroll=4");
	size_t nr_of_page[16] = {0}, nr_in_order = 0;

	run_watched(&memory);
	for (size_t i = 0; i < nr_touched; i++) {
		nr_of_page[touched[i]]++;
		nr_in_order += i > 0 && touched[i] == touched[i - 1] + 1;
	}
	for (size_t i = 0; i < 16; i++)
		ck_assert_uint_ge(nr_of_page[i], 20);
	ck_assert_uint_le(nr_touched, 1024);
	ck_assert_uint_ge(nr_touched, 700);
	ck_assert_uint_le(nr_in_order, nr_touched / 8);
}

/* ---- the two orders of the introduction ---- */

/* Compilers may exchange loops at -O3, and the example would show nothing: gcc's and clang's code, as it runs. */
TEST_OF(introduction_walks_rows_or_columns, 6)
{
	static const char *const fields[] = {
		"m=2048 n=4 variant=0 optimization=-O0", "m=2048 n=4 variant=1 optimization=-O0",
		"m=2048 n=4 variant=0 optimization=-O2", "m=2048 n=4 variant=1 optimization=-O2",
		"m=2048 n=4 variant=0 optimization=-O3", "m=2048 n=4 variant=1 optimization=-O3",
	};

	for (size_t i = 0; kernels_compilers[i]; i++) {
		cleared_by(unload) struct loaded example =
			load_with("IntroductionExample", fields[_i], kernels_compilers[i]);

		run_watched(&example);
		assert_passes(_i % 2 == 0 ? 1 : 4);
	}
}

TEST(introduction_computes_the_same_in_both_orders)
{
	cleared_by(unload) struct loaded rows = load("IntroductionExample", "m=101 n=7 variant=0");
	cleared_by(unload) struct loaded columns = load("IntroductionExample", "m=101 n=7 variant=1");
	const double *a = rows.buffers[0].start, *b = columns.buffers[0].start;
	double before[101 * 7];

	memcpy(before, a, sizeof before);
	run(&rows);
	run(&columns);
	for (size_t i = 0; i < 101 * 7; i++) {
		ck_assert_double_eq(a[i], 3.0 * (double)(i % 7) * (double)(i % 7) * before[i]);
		ck_assert_double_eq(b[i], a[i]);
	}
}

/* ---- Arithmetic ---- */

static const char *const arithmetics[] = {
	"operation=ADD instructionSet=X87 dlp=7 unroll=3 iterations=1000",
	"operation=MUL instructionSet=X87 dlp=5 unroll=3 iterations=1000",
	"operation=ADD instructionSet=SCALAR dlp=14 unroll=2 iterations=1000",
	"operation=MUL instructionSet=SCALAR dlp=3 unroll=32 iterations=1000",
	"operation=ADD instructionSet=SSE dlp=8 unroll=5 iterations=1000",
	"operation=MUL instructionSet=SSE dlp=8 unroll=1 iterations=1000",
	"operation=MUL_ADD instructionSet=SSE dlp=8 unroll=1 iterations=1000",
	"operation=FMA instructionSet=SSE dlp=12 unroll=4 iterations=1000",
	"operation=ADD instructionSet=SCALAR registers=32 dlp=20 unroll=4 iterations=1000",
	"operation=MUL_ADD instructionSet=AVX2 dlp=14 unroll=4 iterations=1000",
	"operation=FMA instructionSet=AVX2 dlp=14 unroll=4 iterations=1000",
	"operation=FMA_ADD instructionSet=AVX2 dlp=8 unroll=4 iterations=1000",
	"operation=FMA_ADD instructionSet=AVX2 registers=32 dlp=16 unroll=4 iterations=1000",
	"operation=ADD instructionSet=AVX512 dlp=30 unroll=4 iterations=1000",
	"operation=FMA instructionSet=AVX512 dlp=12 unroll=4 iterations=1000",
	"operation=FMA_ADD instructionSet=AVX512 dlp=20 unroll=4 iterations=1000",
	"operation=FMA_ADD instructionSet=AVX512 dlp=2 unroll=4 iterations=1000",
	"operation=FMA_FMA_ADD instructionSet=AVX512 dlp=14 unroll=3 iterations=1000",
	"operation=MUL_ADD instructionSet=SSE dlp=2 unroll=3 iterations=1000",
	"operation=MUL_ADD_ADD instructionSet=AVX512 dlp=30 unroll=3 iterations=1000",
	"operation=MUL_MUL_ADD instructionSet=SCALAR dlp=12 unroll=3 iterations=1000",
	"operation=MIX instructionSet=AVX2 dlp=13 unroll=3 iterations=1000",
	"operation=DIV instructionSet=SSE dlp=5 unroll=3 iterations=1000",
	"operation=DIV instructionSet=X87 dlp=6 unroll=3 iterations=1000",
	"operation=DIV instructionSet=AVX512 dlp=9 unroll=3 iterations=1000",
	"operation=SQRT instructionSet=SCALAR dlp=5 unroll=3 iterations=1000",
	"operation=SQRT instructionSet=SCALAR registers=32 dlp=20 unroll=3 iterations=1000",
	"operation=SQRT instructionSet=AVX2 dlp=5 unroll=3 iterations=1000",
};

/* The work of a step on a chain: '+', '*', 'f' (both), '/' or 'r' (the root of a constant). */
static char
step_of(const char *fields, size_t chain, size_t dlp)
{
	if (strstr(fields, "MUL_ADD_ADD"))
		return chain % 3 == 0 ? '*' : '+';
	if (strstr(fields, "MUL_MUL_ADD"))
		return chain % 3 == 2 ? '+' : '*';
	if (strstr(fields, "MUL_ADD"))
		return chain & 2 || (chain == dlp - 1 && (chain & 3) == 1) ? '+' : '*';
	if (strstr(fields, "FMA_"))
		return chain % 3 == 2 ? '+' : 'f';
	if (strstr(fields, "FMA") || strstr(fields, "MIX"))
		return 'f';
	return strstr(fields, "=ADD") ? '+' : strstr(fields, "=MUL") ? '*' : strstr(fields, "=DIV") ? '/' : 'r';
}

/* A chain after n steps, from what it started with: each adds delta, multiplies by or divides by 1 - delta, or both. */
static double
after(char step, double start, double n)
{
	const double delta = 1e-9;

	switch (step) {
	case '+':
		return start + n * delta;
	case '*':
		return start * pow(1 - delta, n);
	case '/':
		return start * pow(1 - delta, -n);
	case 'r':
		return sqrt(start);
	default:
		return 1 + (start - 1) * pow(1 - delta, n);
	}
}

/* The values of the chains tell how often each was advanced: they move by 1e-9 a step, and doubles hold 1e-16. */
TEST_OF(arithmetic_advances_its_chains, NR_ELEMENTS(arithmetics))
{
	cleared_by(unload) struct loaded arithmetic = {0};
	const double *start, *results, *constant;
	size_t lanes, nr_chains = 0;
	double steps, value, dlp, unroll;
	bool is_x87;

	if (!cpu_has(arithmetics[_i]))
		return;
	arithmetic = load("Arithmetic", arithmetics[_i]);
	start = arithmetic.buffers[0].start;
	results = arithmetic.buffers[1].start;
	constant = start + 30 * 8;
	is_x87 = strstr(arithmetics[_i], "X87");
	lanes = strstr(arithmetics[_i], "AVX512") ? 8
		: strstr(arithmetics[_i], "AVX2") ? 4
		: strstr(arithmetics[_i], "SSE")  ? 2
						  : 1;
	ck_assert(rot_entity_number(arithmetic.entity, "dlp", &dlp) &&
		  rot_entity_number(arithmetic.entity, "unroll", &unroll));
	run(&arithmetic);
	steps = 1000 * unroll;
	for (size_t i = 0; i < arithmetic.buffers[1].bytes / sizeof(double); i++) {
		size_t chain = i / 8;
		char step = step_of(arithmetics[_i], chain, (size_t)dlp);
		bool is_twice = step == '+' && strstr(arithmetics[_i], "=FMA_ADD");

		if (i % 8 >= lanes || results[i] == 0)
			continue;
		nr_chains += i % 8 == 0;
		value = step == 'r' ? constant[i % 8] : start[is_x87 ? ((size_t)dlp - 1 - chain) * 8 : i];
		ck_assert_double_eq_tol(results[i], after(step, value, is_twice ? 2 * steps : steps), 2e-10);
	}
	ck_assert_uint_eq(nr_chains, (size_t)(strstr(arithmetics[_i], "FMA_") ? dlp * 3 / 2 : dlp));
}

static const char *const integers[] = {
	"operation=ADD precision=INT32 instructionSet=SCALAR dlp=11 unroll=3 iterations=77",
	"operation=MUL precision=INT64 instructionSet=SCALAR dlp=10 unroll=4 iterations=77",
	"operation=MUL_ADD precision=INT64 instructionSet=SCALAR dlp=5 unroll=4 iterations=77",
	"operation=MUL_MUL_ADD precision=INT32 instructionSet=SCALAR dlp=9 unroll=1 iterations=77",
	"operation=ADD precision=INT32 instructionSet=SSE dlp=14 unroll=3 iterations=77",
	"operation=MUL precision=INT32 instructionSet=SSE dlp=3 unroll=3 iterations=77",
	"operation=MIX precision=INT32 instructionSet=AVX2 dlp=7 unroll=2 iterations=77",
	"operation=ADD precision=INT64 instructionSet=AVX2 dlp=7 unroll=2 iterations=77",
	"operation=MUL precision=INT64 instructionSet=SSE registers=32 dlp=17 unroll=2 iterations=77",
	"operation=MUL precision=INT32 instructionSet=AVX512 dlp=17 unroll=2 iterations=77",
	"operation=MUL_ADD_ADD precision=INT64 instructionSet=AVX512 dlp=30 unroll=5 iterations=77",
};

/* A lane of the buffers, which hold numbers of 4 or 8 bytes. */
static uint64_t
integer_at(const void *values, size_t i, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const char *)values + i * bytes, bytes);
	return value;
}

/* Exactly what the steps give, in every lane; 32 bits are the lower half of 64. */
TEST_OF(integers_are_exact, NR_ELEMENTS(integers))
{
	const char *fields = integers[_i];
	size_t bytes = strstr(fields, "INT64") ? 8 : 4, per_chain = 64 / bytes, nr_lanes = 0;
	bool is_scalar = strstr(fields, "SCALAR");
	uint64_t m, a, mask = bytes == 8 ? UINT64_MAX : UINT32_MAX;
	cleared_by(unload) struct loaded arithmetic = {0};
	double dlp, unroll;

	if (!cpu_has(fields) || (strstr(fields, "INT64") && !is_scalar && !__builtin_cpu_supports("avx512dq")))
		return;
	arithmetic = load("Arithmetic", fields);
	ck_assert(rot_entity_number(arithmetic.entity, "dlp", &dlp) &&
		  rot_entity_number(arithmetic.entity, "unroll", &unroll));
	run(&arithmetic);
	m = integer_at(arithmetic.buffers[0].start, 30 * per_chain, bytes);
	a = is_scalar && !strstr(fields, "=ADD") ? m : integer_at(arithmetic.buffers[0].start, 31 * per_chain, bytes);
	for (size_t i = 0; i < (size_t)dlp * per_chain; i++) {
		uint64_t value = integer_at(arithmetic.buffers[0].start, i, bytes);
		uint64_t result = integer_at(arithmetic.buffers[1].start, i, bytes);
		char step = step_of(fields, i / per_chain, (size_t)dlp);

		if (result == 0 && i % per_chain > 0)
			continue; /* beyond the register */
		for (size_t n = 0; n < 77 * (size_t)unroll; n++)
			value = (step == '+' ? value : value * m) + (step == '*' ? 0 : a);
		ck_assert_uint_eq(result, value & mask);
		nr_lanes++;
	}
	ck_assert_uint_eq(nr_lanes, (size_t)dlp * (is_scalar                ? 1
						   : strstr(fields, "SSE")  ? per_chain / 4
						   : strstr(fields, "AVX2") ? per_chain / 2
									    : per_chain));
}

/* However long it runs: chains start anew before they leave [1, 2]. */
TEST_OF(arithmetic_stays_finite, 7)
{
	static const char *const fields[] = {
		"operation=ADD precision=FLOAT instructionSet=SSE iterations=3000000 dlp=2 unroll=4",
		"operation=MUL precision=FLOAT instructionSet=SSE iterations=3000000 dlp=2 unroll=4",
		"operation=MUL_ADD precision=FLOAT instructionSet=SSE iterations=3000000 dlp=4 unroll=4",
		"operation=FMA_ADD precision=FLOAT instructionSet=AVX2 iterations=1048575 dlp=2 unroll=1",
		"operation=DIV precision=FLOAT instructionSet=SSE iterations=1048575 dlp=2 unroll=1",
		"operation=MIX precision=FLOAT instructionSet=SSE iterations=3000000 dlp=2 unroll=3",
		"operation=SQRT precision=FLOAT instructionSet=SSE iterations=300 dlp=2 unroll=3",
	};
	cleared_by(unload) struct loaded arithmetic = {0};
	const float *results;

	if (!cpu_has(fields[_i]))
		return;
	arithmetic = load("Arithmetic", fields[_i]);
	results = arithmetic.buffers[1].start;
	run(&arithmetic);
	for (size_t i = 0; i < 2 * 16; i++)
		ck_assert(i % 16 >= 4 || (results[i] >= 1 && results[i] <= 2));
}

static struct loaded *to_be_stopped;

static void
on_alarm(int number)
{
	(void)number;
	to_be_stopped->type->stop(to_be_stopped->kernel);
}

/* Ends at all (else the test's time limit does it), and can run again. */
TEST(arithmetic_runs_until_stopped)
{
	cleared_by(unload) struct loaded arithmetic = load("Arithmetic", "runUntilStopped=true iterations=1");

	to_be_stopped = &arithmetic;
	signal(SIGALRM, on_alarm);
	for (int i = 0; i < 2; i++) {
		ualarm(20000, 0);
		run(&arithmetic);
	}
	arithmetic.type->warm_code(arithmetic.kernel);
}

TEST(dummy_runs)
{
	cleared_by(unload) struct loaded dummy = load("Dummy", "");

	run(&dummy);
	ck_assert_uint_eq(dummy.nr_buffers, 0);
}

UNIT_TESTS(.needs = {fixture_open}, .close = fixture_close);
