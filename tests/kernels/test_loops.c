/* SPDX-License-Identifier: MIT */
/* Each loop, compiled by every compiler here, has the instructions its name says and no others. */
#include "engine/kernel_work.h"
#include "fixture.h"
#include "listing.h"
#include "testing.h"

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
						 is_x87(c) ? "compInstr" : c->precision->operation, &expected, &why),
		      "%s", why.text);
	ck_assert_double_eq(expected, (double)(lanes * (nr_single + 2 * nr_fused)) * number_of(kernel, "iterations"));
}

/* The kernel refuses some for another reason than registers. */
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

/*
 * Each class of variants: operation, precision, instruction set and registers, with as many chains as there is room
 * for. Each operation of a set is tried with every other precision, or with all with ROT_SLOW_TESTS.
 */
TEST_OF(arithmetic_has_its_instructions, (int)(NR_OPERATIONS *NR_PRECISIONS))
{
	const struct arithmetic_operation *o = &operations[(size_t)_i % NR_OPERATIONS];
	const struct arithmetic_precision *precision = &precisions[(size_t)_i / NR_OPERATIONS];

	for (size_t i = 0; i < NR_SETS; i++) {
		struct arithmetic_case c = {&sets[i], o, precision, .unroll = 1 + (i + (size_t)_i) % 5};
		int number = (int)i + _i % (int)NR_OPERATIONS + _i / (int)NR_OPERATIONS;
		autofree char *fields = NULL;

		if (!is_possible(&c) || !kernels_tries(number))
			continue;
		c.dlp = (size_t)(o->fmas && o->adds ? c.set->dlp_fused : is_general(&c) ? 6 : c.set->dlp);
		fields = rot_format("operation=%s precision=%s %s dlp=%zu unroll=%zu iterations=12345", o->name,
				    precision->name, c.set->fields, c.dlp, c.unroll);
		examine_everywhere("Arithmetic", fields, (int)i + _i, "run_loop", look_at_arithmetic, &c);
	}
}

/* ---- Triad, as the compiler makes it ---- */

TEST_OF(triad_is_vectorised_as_the_flags_say, 2)
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
		cleared_by(listing_clear) struct listing listing = listing_of_function(object, "run");

		ck_assert_uint_ge(listing_count(&listing, cases[_i].mul, cases[_i].register_name), 1);
		ck_assert_uint_ge(listing_count(&listing, cases[_i].add, cases[_i].register_name), 1);
		if (_i == 0)
			ck_assert_uint_eq(listing_count(&listing, "mulpd", ""), 0);
		free(object);
	}
}

TEST(dummy_compiles)
{
	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel = kernel_of("Dummy", "");
		char *object = kernel_compile(kernel, kernels_compilers[i], "-c", "dummy.o");
		cleared_by(listing_clear) struct listing listing = listing_of_function(object, "run");

		ck_assert_uint_eq(listing_count(&listing, NULL, "("), 0);
		free(object);
	}
}

UNIT_TESTS(.needs = {fixture_open, has_objdump}, .close = fixture_close);
