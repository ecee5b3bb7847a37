/* SPDX-License-Identifier: MIT */
/* The loops of kernel LiveRanges add as often as they say, and run. */
#include "fixture.h"
#include "listing.h"
#include "loaded.h"
#include "testing.h"

/* Eight times to each variable; those that are spilled are added as well. */
TEST(loops_add_to_each_variable)
{
	static const struct {
		const char *function;
		size_t nr;
	} loops[] = {{"doubles_3", 24}, {"doubles_8", 64}, {"doubles_24", 192}};

	for (size_t c = 0; kernels_compilers[c]; c++) {
		struct kernel_base *kernel = kernel_of("LiveRanges", "");
		autofree char *object = NULL;

		rot_string_set(&kernel->optimization, "-O2 -fno-tree-vectorize -fno-tree-slp-vectorize");
		object = kernel_compile(kernel, kernels_compilers[c], "-c", "live_ranges.o");
		for (size_t i = 0; i < NR_ELEMENTS(loops); i++) {
			cleared_by(listing_clear) struct listing listing =
				listing_of_function(object, loops[i].function);

			ck_assert_uint_eq(listing_count(&listing, "addsd", ""), loops[i].nr);
		}
	}
}

TEST_OF(loops_run, 2)
{
	static const int numbers[] = {3, 16, 24};

	for (size_t i = 0; i < NR_ELEMENTS(numbers); i++) {
		autofree char *fields = rot_format("variables=%d precision=%s", numbers[i], _i ? "INT64" : "DOUBLE");
		cleared_by(unload) struct loaded kernel = load("LiveRanges", fields);

		run(&kernel);
	}
}

UNIT_TESTS(.needs = {fixture_open, has_objdump}, .close = fixture_close);
