/* SPDX-License-Identifier: MIT */
/* The loops of kernel Operation have the instructions and chains that their names say, and run. */
#include "engine/kernel_work.h"
#include "fixture.h"
#include "listing.h"
#include "loaded.h"
#include "testing.h"

static const struct {
	const char *function, *mnemonic, *registers;
	size_t chains;
} loops[] = {
	{"ADD_SCALAR_INT32_12", "add", "%r14d", 12},
	{"MUL_SCALAR_INT64_5", "imul", "%r14", 5},
	{"ADD_AVX2_INT64_3", "vpaddq", "%ymm15", 3},
	{"MUL_AVX512_INT64_1", "vpmullq", "%zmm15", 1},
	{"ADD_SCALAR_FLOAT_6", "addss", "%xmm15", 6},
	{"DIV_SSE_DOUBLE_7", "divpd", "%xmm15", 7},
	{"FMA_AVX2_DOUBLE_8", "vfmadd213pd", "%ymm15,%ymm14", 8},
	{"FMA_SCALAR_FLOAT_2", "vfmadd213ss", "%xmm15,%xmm14", 2},
	{"SQRT_AVX512_FLOAT_10", "vsqrtps", "%zmm", 10},
	{"SQRT_AVX512_FLOAT_10", "vorps", "%zmm13", 10},
	{"SHIFT_SCALAR_INT32_9", "shl", "", 9},
	{"SHIFT_SSE_INT64_4", "psllq", "$0x1,%xmm", 4},
	{"SHIFT_AVX512_INT32_3", "vpslld", "$0x1,%zmm", 3},
	{"POPCNT_SCALAR_INT64_2", "popcnt", "%r", 2},
	{"POPCNT_AVX512_INT32_5", "vpopcntd", "%zmm", 5},
	{"MAX_SCALAR_DOUBLE_3", "maxsd", "%xmm15", 3},
	{"COMPARE_AVX2_FLOAT_2", "vcmpltps", "%ymm15", 2},
	{"COMPARE_SSE_INT64_6", "pcmpgtq", "%xmm15", 6},
	{"SHUFFLE_AVX512_DOUBLE_7", "vshufpd", "$0x55,%zmm15", 7},
	{"PERMUTE_AVX2_FLOAT_8", "vpermps", "%ymm15", 8},
	{"TO_DOUBLE_AVX2_INT32_3", "vcvtdq2pd", "%xmm", 3},
	{"TO_INT32_AVX512_DOUBLE_4", "vcvttpd2dq", "%zmm", 4},
	{"TO_FLOAT_SCALAR_DOUBLE_12", "cvtsd2ss", "%xmm", 12},
};

/* Eight steps of each chain, and each chain has a register of its own. */
TEST(loops_have_their_instructions)
{
	for (size_t c = 0; kernels_compilers[c]; c++) {
		struct kernel_base *kernel = kernel_of("Operation", "");
		autofree char *object = kernel_compile(kernel, kernels_compilers[c], "-c", "operation.o");

		for (size_t i = 0; i < NR_ELEMENTS(loops); i++) {
			cleared_by(listing_clear) struct listing listing =
				listing_of_function(object, loops[i].function);
			struct listing loop = listing_first_loop(&listing);

			ck_assert_uint_eq(listing_count(&loop, loops[i].mnemonic, loops[i].registers),
					  8 * loops[i].chains);
			ck_assert_uint_eq(listing_count_destinations(&loop, loops[i].mnemonic), loops[i].chains);
			/* Nothing is loaded or stored. */
			ck_assert_uint_eq(listing_count(&loop, NULL, "("), 0);
		}
	}
}

/* A division has its dividend renewed, and a chain alone has no moves that would lengthen it. */
TEST_OF(divisions_are_chains, 2)
{
	struct kernel_base *kernel = kernel_of("Operation", "");
	autofree char *object = kernel_compile(kernel, kernels_compilers[0], "-c", "division.o");
	cleared_by(listing_clear) struct listing listing =
		listing_of_function(object, _i ? "DIV_SCALAR_INT64_6" : "DIV_SCALAR_INT64_1");
	struct listing loop = listing_first_loop(&listing);

	ck_assert_uint_eq(listing_count(&loop, "div", "%r14"), _i ? 48 : 8);
	ck_assert_uint_eq(listing_count(&loop, "or", ""), _i ? 48 : 8);
	ck_assert_uint_eq(listing_count(&loop, "mov", ""), _i ? 96 : 0);
}

/* LEA loads nothing. A gather has its mask renewed and its destination emptied, and its chain goes on from there. */
TEST(sums_and_gathers_are_chains)
{
	struct kernel_base *kernel = kernel_of("Operation", "");
	autofree char *object = kernel_compile(kernel, kernels_compilers[0], "-c", "gather.o");
	cleared_by(listing_clear) struct listing sums = listing_of_function(object, "LEA_SCALAR_INT32_3"),
						 gathers = listing_of_function(object, "GATHER_AVX512_DOUBLE_3");
	struct listing sum = listing_first_loop(&sums), gather = listing_first_loop(&gathers);

	ck_assert_uint_eq(listing_count(&sum, "lea", "(%r14,"), 24);
	ck_assert_uint_eq(listing_count_destinations(&sum, "lea"), 3);
	ck_assert_uint_eq(listing_count(&gather, "vgatherqpd", ",1),%zmm13{%k1}"), 24);
	ck_assert_uint_eq(listing_count(&gather, "kmovw", "%k2,%k1"), 24);
	ck_assert_uint_eq(listing_count(&gather, "vxorps", "%xmm13,%xmm13,%xmm13"), 24);
	ck_assert_uint_eq(listing_count_destinations(&gather, "vmovaps"), 3);
}

/* This CPU has its instructions. */
static bool
runs_here(const char *fields)
{
	if (strstr(fields, "POPCNT") && !__builtin_cpu_supports("popcnt"))
		return false;
	if (strstr(fields, "AVX512") && !__builtin_cpu_supports("avx512dq"))
		return false;
	if (strstr(fields, "POPCNT") && strstr(fields, "AVX512") && !__builtin_cpu_supports("avx512vpopcntdq"))
		return false;
	return __builtin_cpu_supports("sse4.2") && cpu_has(fields);
}

/* The definition refuses what the table of loops lacks, and nothing else. Each runs: a wrong register would be a
 * signal.
 */
TEST(the_definition_knows_the_loops)
{
	static const char *const operations[] = {"ADD",     "MUL",    "DIV",      "SQRT",     "FMA",      "OR",
						 "SHIFT",   "POPCNT", "LEA",      "MAX",      "COMPARE",  "SHUFFLE",
						 "PERMUTE", "GATHER", "TO_INT32", "TO_FLOAT", "TO_DOUBLE"};
	static const char *const sets[] = {"SCALAR", "SSE", "AVX2", "AVX512"};
	static const char *const precisions[] = {"INT32", "INT64", "FLOAT", "DOUBLE"};
	static const int chains[] = {1, 6, 12};
	cleared_by(unload) struct loaded loaded = load("Operation", "");
	size_t nr = 0;

	for (size_t i = 0; i < NR_ELEMENTS(operations) * 4 * 4 * 3; i++) {
		autofree char *fields =
			rot_format("operation=%s instructionSet=%s precision=%s chains=%d turns=10", operations[i / 48],
				   sets[i % 4], precisions[i / 4 % 4], chains[i / 16 % 3]);
		struct kernel_base *kernel = kernel_of("Operation", fields);
		struct rot_error refusal = {0};
		bool is_allowed = kernel_check(&kernels_rot, kernel, &refusal) == 0;

		memset(loaded.kernel, 0, loaded.type->size);
		memcpy(loaded.kernel, kernel, kernel->entity.class->size);
		ck_assert_msg((loaded.type->initialize(loaded.kernel) == 0) == is_allowed, "%s: %s", fields,
			      refusal.text);
		nr += is_allowed;
		if (is_allowed && runs_here(fields))
			run(&loaded);
	}
	ck_assert_uint_eq(nr, 3 * 127 - 2);
}

UNIT_TESTS(.needs = {fixture_open, has_objdump}, .close = fixture_close);
