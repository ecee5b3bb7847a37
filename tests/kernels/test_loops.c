/* SPDX-License-Identifier: MIT */
/* Each loop, compiled by every compiler here, has the instructions its name says and no others. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "listing.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "testing.h"

/* ---- Arithmetic ---- */

struct arithmetic_set {
	const char *name, *fields, *register_name;
	bool is_vex; /* names start with "v" */
	bool is_scalar;
	int register_bits; /* of what is computed at once */
};

static const struct arithmetic_set sets[] = {
	{"X87", "instructionSet=X87 dlp=7 unroll=3", "%st", false, true, 0},
	{"SCALAR", "instructionSet=SCALAR dlp=14 unroll=2", "%xmm", false, true, 0},
	{"SCALAR, 32 registers", "instructionSet=SCALAR registers=32 dlp=20", "%xmm", true, true, 0},
	{"SSE", "instructionSet=SSE dlp=8 unroll=5", "%xmm", false, false, 128},
	{"SSE, 32 registers", "instructionSet=SSE registers=32 dlp=12", "%xmm", true, false, 128},
	{"AVX2", "instructionSet=AVX2 dlp=8 unroll=1", "%ymm", true, false, 256},
	{"AVX2, 32 registers", "instructionSet=AVX2 registers=32 dlp=16", "%ymm", true, false, 256},
	{"AVX512", "instructionSet=AVX512 dlp=20 unroll=32", "%zmm", true, false, 512},
};

/* Instructions per step of all chains, as shares of dlp; for MUL_ADD they are counted together. */
struct arithmetic_operation {
	const char *name;
	bool adds, multiplies, fuses;
};

static const struct arithmetic_operation operations[] = {
	{"ADD", true, false, false}, {"MUL", false, true, false},    {"MUL_ADD", true, true, false},
	{"FMA", false, false, true}, {"FMA_ADD", true, false, true},
};

struct arithmetic_case {
	const struct arithmetic_set *set;
	const struct arithmetic_operation *operation;
	bool is_float;
};

/* "vaddpd": what AT&T syntax calls the instruction. */
static void
mnemonic(char name[24], const struct arithmetic_case *c, const char *base)
{
	if (strcmp(c->set->name, "X87") == 0)
		snprintf(name, 24, "f%s", base);
	else
		snprintf(name, 24, "%s%s%c%c", c->set->is_vex || base[0] == 'v' || c->operation->fuses ? "v" : "",
			 base[0] == 'v' ? base + 1 : base, c->set->is_scalar ? 's' : 'p', c->is_float ? 's' : 'd');
}

/* The instructions, their number and independence; beside them the loop has only its counter, so nothing is spilled. */
static void
look_at_arithmetic(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	const struct arithmetic_case *c = context;
	size_t dlp = (size_t)number_of(kernel, "dlp"), steps = dlp * (size_t)number_of(kernel, "unroll");
	size_t bits = c->is_float ? 32 : 64, lanes = c->set->register_bits ? (size_t)c->set->register_bits / bits : 1;
	bool is_x87 = strcmp(c->set->name, "X87") == 0;
	char add[24], mul[24], fma[24];
	size_t adds, muls, fmas;
	struct rot_error err = {0};
	double expected;

	mnemonic(add, c, "add");
	mnemonic(mul, c, "mul");
	mnemonic(fma, c, "vfmadd213");
	adds = listing_count(loop, add, c->set->register_name);
	muls = listing_count(loop, mul, c->set->register_name);
	fmas = listing_count(loop, fma, c->set->register_name);

	ck_assert_uint_eq(adds > 0, c->operation->adds);
	ck_assert_uint_eq(muls > 0, c->operation->multiplies);
	ck_assert_uint_eq(fmas, c->operation->fuses ? steps : 0);
	ck_assert_uint_eq(adds + muls, c->operation->fuses && !c->operation->adds ? 0 : steps);
	if (c->operation->multiplies && c->operation->adds)
		ck_assert_int_le(labs((long)adds - (long)muls) * 7, (long)steps);
	ck_assert_uint_eq(listing_count_destinations(loop, add) + listing_count_destinations(loop, mul) +
				  listing_count_destinations(loop, fma),
			  c->operation->fuses && c->operation->adds ? dlp * 3 / 2 : dlp);
	ck_assert_uint_eq(listing_count(loop, "dec", ""), 1);
	ck_assert_uint_eq(loop->nr, adds + muls + fmas + 2);
	ck_assert_uint_eq(listing_count(loop, NULL, "("), is_x87 ? loop->nr - 2 : 0);

	ck_assert_msg(kernel_expected_operations(&kernels_rot, kernel,
						 is_x87        ? "compInstr"
						 : c->is_float ? "singlePrecisionFlop"
							       : "doublePrecisionFlop",
						 &expected, &err),
		      "%s", err.text);
	ck_assert_double_eq(expected, (double)(lanes * (adds + muls + 2 * fmas)) * number_of(kernel, "iterations"));
}

#define NR_SETS (sizeof sets / sizeof sets[0])
#define NR_OPERATIONS (sizeof operations / sizeof operations[0])

START_TEST(arithmetic_has_its_instructions)
{
	const struct arithmetic_set *set = &sets[(size_t)_i % NR_SETS];
	struct arithmetic_case c = {set, &operations[(size_t)_i / NR_SETS], false};

	if (c.operation->fuses && strcmp(set->name, "X87") == 0)
		return;
	for (size_t i = 0; kernels_compilers[i]; i++) {
		const char *dlp = c.operation->fuses && strstr(set->fields, "dlp=14") ? "dlp=8" : "iterations=12345";
		char *fields;
		struct kernel_base *kernel;

		c.is_float = (i + (size_t)_i) % 2 == 0;
		fields = rot_format("operation=%s %s %s precision=%s", c.operation->name, set->fields, dlp,
				    c.is_float ? "FLOAT" : "DOUBLE");
		kernel = kernel_of("Arithmetic", fields);
		examine(kernel, kernels_compilers[i], "run_loop", look_at_arithmetic, &c);
		rot_entity_delete(kernel);
		free(fields);
	}
}
END_TEST

/* Without optimization the loop is the same: it does not depend on the compiler. */
START_TEST(arithmetic_does_not_depend_on_optimization)
{
	struct arithmetic_case c = {&sets[NR_SETS - 1], &operations[NR_OPERATIONS - 1], false};

	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel =
			kernel_of("Arithmetic", "operation=FMA_ADD instructionSet=AVX512 dlp=12 optimization=-O0");

		examine(kernel, kernels_compilers[i], "run_loop", look_at_arithmetic, &c);
		rot_entity_delete(kernel);
	}
}
END_TEST

/* ---- Memory ---- */

struct memory_case {
	const char *fields;
	const char *access, *register_name;
	bool is_store;
	size_t width, streams, unroll;
	const char *prefetch;
	size_t nr_prefetches;
};

static const struct memory_case memory_cases[] = {
	{"operation=READ instructionSet=SCALAR", "mov", "%rax", false, 8, 1, 8, "prefetcht0", 0},
	{"operation=READ instructionSet=SSE unroll=32 streams=8", "movaps", "%xmm0", false, 16, 8, 32, "prefetcht0", 0},
	{"operation=READ instructionSet=AVX2 unroll=4 streams=3 prefetchDistance=512 prefetchHint=NTA", "vmovaps",
	 "%ymm0", false, 32, 3, 4, "prefetchnta", 6},
	{"operation=READ instructionSet=AVX512 unroll=16 prefetchDistance=1024", "vmovaps", "%zmm0", false, 64, 1, 16,
	 "prefetcht0", 16},
	{"operation=WRITE instructionSet=SCALAR unroll=1", "mov", "%rax", true, 8, 1, 1, "prefetcht0", 0},
	{"operation=WRITE instructionSet=SSE streams=2 prefetchDistance=64 prefetchHint=T1", "movaps", "%xmm0", true,
	 16, 2, 8, "prefetcht1", 4},
	{"operation=WRITE instructionSet=AVX2", "vmovaps", "%ymm0", true, 32, 1, 8, "prefetcht0", 0},
	{"operation=WRITE instructionSet=AVX512 prefetchDistance=64 prefetchHint=T2", "vmovaps", "%zmm0", true, 64, 1,
	 8, "prefetcht2", 8},
	{"operation=WRITE_NT instructionSet=SCALAR", "movnti", "%rax", true, 8, 1, 8, "prefetcht0", 0},
	{"operation=WRITE_NT instructionSet=SSE", "movntps", "%xmm0", true, 16, 1, 8, "prefetcht0", 0},
	{"operation=WRITE_NT instructionSet=AVX2 optimization=-O0", "vmovntps", "%ymm0", true, 32, 1, 8, "prefetcht0",
	 0},
	{"operation=WRITE_NT instructionSet=AVX512 streams=4 unroll=3", "vmovntps", "%zmm0", true, 64, 4, 3,
	 "prefetcht0", 0},
};

/* Every access is at an address of its own: WIDTH apart in each stream, and each stream advances past them. */
static void
look_at_addresses(const struct memory_case *c, const struct listing *loop)
{
	for (size_t stream = 0; stream < c->streams; stream++) {
		char text[64];

		for (size_t u = 0; u < c->unroll; u++) {
			if (u * c->width == 0)
				snprintf(text, sizeof text, c->is_store ? ",(%%r%zu)" : "(%%r%zu),", 8 + stream);
			else
				snprintf(text, sizeof text, c->is_store ? ",0x%zx(%%r%zu)" : "0x%zx(%%r%zu),",
					 u * c->width, 8 + stream);
			ck_assert_msg(listing_count(loop, c->access, text) >= 1, "no %s at %s", c->access, text);
		}
		snprintf(text, sizeof text, "$0x%zx,%%r%zu", c->unroll * c->width, 8 + stream);
		ck_assert_uint_eq(listing_count(loop, "add", text), 1);
	}
}

static void
look_at_memory(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	const struct memory_case *c = context;
	size_t nr = c->streams * c->unroll, nr_right = 0;

	(void)kernel;
	for (size_t i = 0; i < loop->nr; i++) {
		const struct instruction *access = &loop->instructions[i];

		if (strcmp(access->mnemonic, c->access) == 0 && strchr(access->operands, '(') &&
		    (strncmp(access->operands, c->register_name, strlen(c->register_name)) == 0) == c->is_store)
			nr_right++;
	}
	ck_assert_uint_eq(nr_right, nr);
	ck_assert_uint_eq(listing_count(loop, c->access, c->register_name), nr);
	ck_assert_uint_eq(listing_count(loop, c->prefetch, "("), c->nr_prefetches);
	ck_assert_uint_eq(listing_count(loop, NULL, "("), nr + c->nr_prefetches);
	ck_assert_uint_eq(loop->nr, nr + c->nr_prefetches + c->streams + 2);
	look_at_addresses(c, loop);
}

START_TEST(memory_has_its_instructions)
{
	const struct memory_case *c = &memory_cases[_i];

	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel = kernel_of("Memory", c->fields);

		examine(kernel, kernels_compilers[i], "run_loop", look_at_memory, c);
		rot_entity_delete(kernel);
	}
}
END_TEST

/* A chain multiplies, and takes the value read into its state: 8 bytes a step, no stores. */
static void
look_at_random(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	size_t nr = (size_t)(number_of(kernel, "streams") * number_of(kernel, "unroll"));

	(void)context;
	ck_assert_uint_eq(listing_count(loop, "xor", "(%r"), nr);
	ck_assert_uint_eq(listing_count(loop, NULL, "("), nr);
	ck_assert_uint_eq(listing_count_destinations(loop, "xor"), (size_t)number_of(kernel, "streams"));
	ck_assert_uint_eq(loop->nr, 8 * nr + 2);
}

START_TEST(random_read_waits_for_what_it_reads)
{
	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel = kernel_of("Memory", "operation=RANDOM_READ streams=3 unroll=2");

		examine(kernel, kernels_compilers[i], "run_loop", look_at_random, NULL);
		rot_entity_delete(kernel);
	}
}
END_TEST

/* ---- Triad, as the compiler makes it ---- */

START_TEST(triad_is_vectorised_as_the_flags_say)
{
	static const struct {
		const char *fields, *mul, *add, *register_name;
	} cases[] = {
		{"optimization=-O1", "mulsd", "addsd", "%xmm"},
		{"optimization=-O3", "mulpd", "addpd", "%xmm"},
	};

	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel = kernel_of("Triad", cases[_i].fields);
		char *object = kernel_compile(kernel, kernels_compilers[i], "-c", "triad.o");
		struct listing listing = listing_of_function(object, "run");

		ck_assert_uint_ge(listing_count(&listing, cases[_i].mul, cases[_i].register_name), 1);
		ck_assert_uint_ge(listing_count(&listing, cases[_i].add, cases[_i].register_name), 1);
		if (_i == 0)
			ck_assert_uint_eq(listing_count(&listing, "mulpd", ""), 0);
		listing_clear(&listing);
		free(object);
		rot_entity_delete(kernel);
	}
}
END_TEST

START_TEST(dummy_compiles)
{
	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel = kernel_of("Dummy", "");
		char *object = kernel_compile(kernel, kernels_compilers[i], "-c", "dummy.o");
		struct listing listing = listing_of_function(object, "run");

		ck_assert_uint_eq(listing_count(&listing, NULL, "("), 0);
		listing_clear(&listing);
		free(object);
		rot_entity_delete(kernel);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("kernels' loops");
	TCase *tcase = tcase_create("loops");
	int nr_failed;

	if (!has_program("objdump")) {
		fprintf(stderr, "SKIP: there is no objdump: apt-get install binutils\n");
		return TEST_SKIPPED;
	}
	fixture_open();
	if (!kernels_compilers[0]) {
		fprintf(stderr, "SKIP: there is no compiler\n");
		fixture_close();
		return TEST_SKIPPED;
	}
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, arithmetic_has_its_instructions, 0, (int)(NR_SETS * NR_OPERATIONS));
	tcase_add_test(tcase, arithmetic_does_not_depend_on_optimization);
	tcase_add_loop_test(tcase, memory_has_its_instructions, 0, NR_ELEMENTS(memory_cases));
	tcase_add_test(tcase, random_read_waits_for_what_it_reads);
	tcase_add_loop_test(tcase, triad_is_vectorised_as_the_flags_say, 0, 2);
	tcase_add_test(tcase, dummy_compiles);
	suite_add_tcase(suite, tcase);
	nr_failed = suite_run(suite);
	fixture_close();
	return nr_failed;
}
