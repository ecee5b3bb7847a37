/* SPDX-License-Identifier: MIT */
/* The loops of kernel Operation have the instructions and chains that their names say, and run. */
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

/* Every row of the kernel's table that this CPU has: a wrong register or instruction would be a signal. */
TEST_OF(loops_run, 6)
{
	static const char *const operations[] = {"ADD", "MUL", "DIV", "SQRT", "FMA", "OR"};
	static const char *const sets[] = {"SCALAR", "SSE", "AVX2", "AVX512"};

	for (int chains = 1; chains <= 12; chains += 11)
		for (int i = 0; i < 4; i++) {
			autofree char *fields = rot_format("operation=%s instructionSet=%s chains=%d turns=10",
							   operations[_i], sets[i], chains);

			if (!cpu_has(fields))
				continue;
			cleared_by(unload) struct loaded kernel = load("Operation", fields);

			run(&kernel);
		}
}

UNIT_TESTS(.needs = {fixture_open, has_objdump}, .close = fixture_close);
