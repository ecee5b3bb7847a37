/* SPDX-License-Identifier: MIT */
/* The loops of kernel Hazard meet what their names say, and run with and without it. */
#include <pthread.h>

#include "fixture.h"
#include "listing.h"
#include "loaded.h"
#include "testing.h"

static const struct {
	const char *function, *mnemonic, *operand;
} loops[] = {
	{"forward", "mov", "%rax,("},
	{"forward_part", "mov", "%eax,("},
	{"alias", "mov", "0x1000("},
	{"no_alias", "mov", "0x1080("},
	{"lock", "lock", "("},
	{"multiply", "mulsd", "%xmm1,%xmm0"},
	{"read_tsc", "rdtsc", ""},
	{"branch", "je", ""},
	{"load", "mov", "(%rax),%rax"},
	{"two_lines", "mov", "%rax,0x40("},
	{"one_line", "mov", "%rax,0x8("},
	{"no_lock", "addq", "$0x1,("},
};

TEST(loops_have_their_hazard)
{
	for (size_t c = 0; kernels_compilers[c]; c++) {
		struct kernel_base *kernel = kernel_of("Hazard", "");
		autofree char *object = kernel_compile(kernel, kernels_compilers[c], "-c", "hazard.o");

		for (size_t i = 0; i < NR_ELEMENTS(loops); i++) {
			cleared_by(listing_clear) struct listing listing =
				listing_of_function(object, loops[i].function);

			ck_assert_msg(listing_count(&listing, loops[i].mnemonic, loops[i].operand) == 8, "%s: %zu",
				      loops[i].function, listing_count(&listing, loops[i].mnemonic, loops[i].operand));
		}
	}
}

/* A wrong address or register would be a signal. */
TEST_OF(loops_run, 2)
{
	static const char *const hazards[] = {"SPLIT_LINE", "SPLIT_PAGE", "FORWARD", "FORWARD_PART", "ALIAS",
					      "BRANCH",     "DENORMAL",   "LOCK",    "TSC",          "CLOCK",
					      "CALL",       "FAULT",      "BANK",    "STORES",       "SWITCH"};

	for (size_t i = 0; i < NR_ELEMENTS(hazards); i++) {
		autofree char *fields = rot_format("hazard=%s turns=%d isMet=%s", hazards[i], i < 10 ? 40000 : 10,
						   _i ? "true" : "false");
		cleared_by(unload) struct loaded kernel = load("Hazard", fields);

		run(&kernel);
	}
}

static void *
run_beside(void *kernel)
{
	run(kernel);
	return NULL;
}

/* Two threads wait for each other. */
static void
run_two(const char *name, const char *fields)
{
	cleared_by(unload) struct loaded kernel = load(name, fields);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, run_beside, &kernel), 0);
	run(&kernel);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

TEST(threads_add_together)
{
	run_two("Hazard", "hazard=SHARING turns=100");
	run_two("Hazard", "hazard=SHARING turns=100 isMet=false");
}

UNIT_TESTS(.needs = {fixture_open, has_objdump}, .close = fixture_close);
