/* SPDX-License-Identifier: MIT */
/* Each loop, compiled by every compiler here, has the instructions its name says and no others. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "listing.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "testing.h"

/* Instructions and operands are the same. */
static void
assert_same_loop(const struct listing *a, const struct listing *b)
{
	ck_assert_uint_eq(a->nr, b->nr);
	for (size_t i = 0; i + 1 < a->nr; i++) {
		ck_assert_str_eq(a->instructions[i].mnemonic, b->instructions[i].mnemonic);
		ck_assert_str_eq(a->instructions[i].operands, b->instructions[i].operands);
	}
}

/*
 * Compiles with every compiler, each with another optimization (which one, turns with the number of the case), gives
 * the first loop of a function to examine, and cleans up. The loop depends neither on compiler nor on optimization.
 */
static void
examine_everywhere(const char *class_name, const char *fields, int number, const char *function,
		   void (*look)(const struct kernel_base *kernel, const struct listing *loop, const void *context),
		   const void *context)
{
	struct listing first = {0}, first_loop = {0};

	for (size_t i = 0; kernels_compilers[i]; i++) {
		char *all = rot_format("%s optimization=-O%d", fields, (number + 2 * (int)i) % 4);
		char *name = rot_format("%s-%ld.o", class_name, (long)getpid());
		struct kernel_base *kernel = kernel_of(class_name, all);
		char *object = kernel_compile(kernel, kernels_compilers[i], "-c", name);
		struct listing listing = listing_of_function(object, function);
		struct listing loop = listing_first_loop(&listing);

		look(kernel, &loop, context);
		if (i == 0) {
			first = listing;
			first_loop = loop;
		} else {
			assert_same_loop(&first_loop, &loop);
			listing_clear(&listing);
		}
		rot_entity_delete(kernel);
		free(object);
		free(name);
		free(all);
	}
	listing_clear(&first);
}

/* ---- Arithmetic ---- */

struct arithmetic_set {
	const char *name, *fields, *register_name;
	bool is_vex;        /* names start with "v" */
	int register_bits;  /* of what is computed at once; 0: one number */
	int dlp, dlp_fused; /* as many chains as there are registers, and with FMA_ADD; multiples of 6 and 2 */
};

static const struct arithmetic_set sets[] = {
	{"X87", "instructionSet=X87", "%st", false, 0, 6, 0},
	{"SCALAR", "instructionSet=SCALAR", "%xmm", false, 0, 12, 8},
	{"SCALAR, 32 registers", "instructionSet=SCALAR registers=32", "%xmm", true, 0, 30, 20},
	{"SSE", "instructionSet=SSE", "%xmm", false, 128, 12, 8},
	{"SSE, 32 registers", "instructionSet=SSE registers=32", "%xmm", true, 128, 30, 20},
	{"AVX2", "instructionSet=AVX2", "%ymm", true, 256, 12, 8},
	{"AVX2, 32 registers", "instructionSet=AVX2 registers=32", "%ymm", true, 256, 30, 20},
	{"AVX512", "instructionSet=AVX512", "%zmm", true, 512, 30, 20},
};

/* Sixths of dlp that are instructions of a step. */
struct arithmetic_operation {
	const char *name;
	size_t adds, muls, divs, roots, fmas;
};

static const struct arithmetic_operation operations[] = {
	{"ADD", .adds = 6},
	{"MUL", .muls = 6},
	{"MUL_ADD", .adds = 3, .muls = 3},
	{"MUL_ADD_ADD", .adds = 4, .muls = 2},
	{"MUL_MUL_ADD", .adds = 2, .muls = 4},
	{"MIX", .adds = 6, .muls = 6},
	{"DIV", .divs = 6},
	{"SQRT", .roots = 6},
	{"FMA", .fmas = 6},
	{"FMA_ADD", .adds = 6, .fmas = 6},
	{"FMA_FMA_ADD", .adds = 3, .fmas = 6},
};

struct arithmetic_precision {
	const char *name, *operation; /* what is expected, but with the x87 */
	int bits;
	bool is_integer;
};

static const struct arithmetic_precision precisions[] = {
	{"DOUBLE", "doublePrecisionFlop", 64, false},
	{"FLOAT", "singlePrecisionFlop", 32, false},
	{"INT32", "integerOperation", 32, true},
	{"INT64", "integerOperation", 64, true},
};

#define NR_SETS (sizeof sets / sizeof sets[0])
#define NR_OPERATIONS (sizeof operations / sizeof operations[0])
#define NR_PRECISIONS (sizeof precisions / sizeof precisions[0])

struct arithmetic_case {
	const struct arithmetic_set *set;
	const struct arithmetic_operation *operation;
	const struct arithmetic_precision *precision;
	size_t dlp, unroll;
};

static bool
is_x87(const struct arithmetic_case *c)
{
	return strcmp(c->set->name, "X87") == 0;
}

static bool
is_general(const struct arithmetic_case *c)
{
	return c->precision->is_integer && strncmp(c->set->name, "SCALAR", 6) == 0;
}

/* "vaddpd": what AT&T syntax calls the instruction. */
static void
mnemonic(char name[24], const struct arithmetic_case *c, const char *base)
{
	bool is_vex = c->set->is_vex || c->operation->fmas;
	const char *low = strcmp(base, "mul") == 0 ? "l" : "";

	if (is_x87(c))
		snprintf(name, 24, "f%s", strcmp(base, "div") == 0 ? "divr" : base);
	else if (is_general(c))
		snprintf(name, 24, "%s%s", *low ? "i" : "", base);
	else if (c->precision->is_integer)
		snprintf(name, 24, "%sp%s%s%c", is_vex ? "v" : "", base, low, c->precision->bits == 32 ? 'd' : 'q');
	else
		snprintf(name, 24, "%s%s%c%c", is_vex ? "v" : "", base, c->set->register_bits ? 'p' : 's',
			 c->precision->bits == 32 ? 's' : 'd');
}

/* Counts the instructions of one operation, all in the right registers, and the chains they advance. */
static size_t
count_operation(const struct arithmetic_case *c, const struct listing *loop, const char *base, size_t sixths,
		size_t *nr_chains)
{
	const char *register_name = !is_general(c)             ? c->set->register_name
				    : c->precision->bits == 32 ? "%r14d"
							       : "%r14,";
	size_t expected = sixths * c->dlp * c->unroll / 6;
	char name[24];

	mnemonic(name, c, base);
	ck_assert_msg(listing_count(loop, name, register_name) == expected, "%s: %zu of %zu", name,
		      listing_count(loop, name, register_name), expected);
	ck_assert_uint_eq(listing_count(loop, name, ""), expected);
	*nr_chains += listing_count_destinations(loop, name);
	return expected;
}

/* The instructions, their number and independence; beside them the loop has only its counter, so nothing is spilled. */
static void
look_at_arithmetic(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	const struct arithmetic_case *c = context;
	const struct arithmetic_operation *o = c->operation;
	size_t lanes = c->set->register_bits ? (size_t)(c->set->register_bits / c->precision->bits) : 1;
	size_t nr_chains = 0, nr_single, nr_fused;
	struct rot_error err = {0};
	double expected;

	nr_single = count_operation(c, loop, "add", o->adds, &nr_chains) +
		    count_operation(c, loop, "mul", o->muls, &nr_chains) +
		    count_operation(c, loop, "div", o->divs, &nr_chains) +
		    count_operation(c, loop, "sqrt", o->roots, &nr_chains);
	nr_fused = count_operation(c, loop, "fmadd213", o->fmas, &nr_chains);
	ck_assert_uint_eq(nr_chains, o->fmas && o->adds       ? c->dlp * 3 / 2
				     : strcmp(o->name, "MIX") ? c->dlp
							      : 2 * c->dlp);
	ck_assert_uint_eq(listing_count(loop, "dec", "%rcx"), 1);
	ck_assert_uint_eq(loop->nr, nr_single + nr_fused + 2);
	ck_assert_uint_eq(listing_count(loop, NULL, "("), is_x87(c) ? loop->nr - 2 : 0);

	ck_assert_msg(kernel_expected_operations(&kernels_rot, kernel,
						 is_x87(c) ? "compInstr" : c->precision->operation, &expected, &err),
		      "%s", err.text);
	ck_assert_double_eq(expected, (double)(lanes * (nr_single + 2 * nr_fused)) * number_of(kernel, "iterations"));
}

/* What the kernel refuses for another reason than registers. */
static bool
is_possible(const struct arithmetic_case *c)
{
	const struct arithmetic_operation *o = c->operation;

	if (c->precision->is_integer && (o->divs || o->roots || o->fmas || is_x87(c)))
		return false;
	if (is_x87(c) && (o->roots || o->fmas))
		return false;
	return !c->precision->is_integer || c->precision->bits == 32 || !o->muls || is_general(c) ||
	       c->set->register_bits == 512 || strstr(c->set->fields, "registers=32");
}

/* Each class of variants: operation, precision, instruction set and registers, with as many chains as there is room
 * for. */
START_TEST(arithmetic_has_its_instructions)
{
	const struct arithmetic_operation *o = &operations[(size_t)_i % NR_OPERATIONS];
	const struct arithmetic_precision *precision = &precisions[(size_t)_i / NR_OPERATIONS];

	for (size_t i = 0; i < NR_SETS; i++) {
		struct arithmetic_case c = {&sets[i], o, precision, .unroll = 1 + (i + (size_t)_i) % 5};
		char *fields;

		if (!is_possible(&c))
			continue;
		c.dlp = (size_t)(o->fmas && o->adds ? c.set->dlp_fused : is_general(&c) ? 6 : c.set->dlp);
		fields = rot_format("operation=%s precision=%s %s dlp=%zu unroll=%zu iterations=12345", o->name,
				    precision->name, c.set->fields, c.dlp, c.unroll);
		examine_everywhere("Arithmetic", fields, (int)i + _i, "run_loop", look_at_arithmetic, &c);
		free(fields);
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

	examine_everywhere("Memory", c->fields, _i, "run_loop", look_at_memory, c);
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
	examine_everywhere("Memory", "operation=RANDOM_READ streams=3 unroll=2", 0, "run_loop", look_at_random, NULL);
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
	tcase_add_loop_test(tcase, arithmetic_has_its_instructions, 0, (int)(NR_OPERATIONS * NR_PRECISIONS));
	tcase_add_loop_test(tcase, memory_has_its_instructions, 0, NR_ELEMENTS(memory_cases));
	tcase_add_test(tcase, random_read_waits_for_what_it_reads);
	tcase_add_loop_test(tcase, triad_is_vectorised_as_the_flags_say, 0, 2);
	tcase_add_test(tcase, dummy_compiles);
	suite_add_tcase(suite, tcase);
	nr_failed = suite_run(suite);
	fixture_close();
	return nr_failed;
}
