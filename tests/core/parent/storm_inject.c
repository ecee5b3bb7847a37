/* SPDX-License-Identifier: MIT */
/*
 * storm_inject [OPTION]... COUNT SITUATION...: runs COUNT functions, which destroy every register, in a thread of
 * inject_victim for each SITUATION, all at once, and says what became of it. Exit status 1: a thread noticed.
 * OPTIONs: no-trigger, no-vectors, no-red-zone, no-rseq: leave that out.
 */
#include <stddef.h>

#include "injecting.h"
#include "testing.h"

static const struct {
	const char *name;
	unsigned neglects;
} options[] = {
	{"no-trigger", INJECTOR_NEGLECTS_TRIGGER},
	{"no-vectors", INJECTOR_NEGLECTS_VECTORS},
	{"no-red-zone", INJECTOR_NEGLECTS_RED_ZONE},
	{"no-rseq", INJECTOR_NEGLECTS_RSEQ},
};

static unsigned
option_of(const char *name)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, name) == 0)
			return options[i].neglects;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct injecting what = {.function = offsetof(struct victim_shared, clobber), .pause_us = 30};
	struct injecting_result result;
	bool is_right;
	int i = 1;

	for (; i < argc && option_of(argv[i]); i++)
		what.neglects |= option_of(argv[i]);
	if (argc - i < 2 || argc - i > INJECTING_MAX_NAMES || (what.count = atol(argv[i])) <= 0) {
		fputs("usage: storm_inject [OPTION]... COUNT SITUATION...\n", stderr);
		return 2;
	}
	for (int n = 0; ++i < argc; n++)
		what.names[n] = argv[i];
	if (strcmp(what.names[0], "rseq") == 0)
		what.function = offsetof(struct victim_shared, conflict);
	result = injecting_run(&what);
	is_right = result.status == 0;
	for (int n = 0; n < result.shared->nr_slots; n++) {
		const struct victim_slot *slot = &result.shared->slots[n];

		printf("%-16s %8lu interruptions, %9lu rounds, %lu wrong", slot->name, (unsigned long)slot->nr_ran,
		       (unsigned long)slot->nr_rounds, (unsigned long)slot->nr_wrong);
		if (slot->nr_wrong)
			printf(" (last: %lu)", (unsigned long)slot->wrong_value);
		if (slot->nr_strange)
			printf(", %lu in another thread", (unsigned long)slot->nr_strange);
		printf("\n");
		is_right &= slot->nr_wrong == 0 && slot->nr_strange == 0 && slot->nr_ran == (uint64_t)what.count;
	}
	printf("%s: %ld done of %ld, %ld dropped; %ld triggers, %ld interrupts; %.1f s; status 0x%x\n",
	       is_right ? "RIGHT" : "WRONG", (long)result.nr_done, (long)result.nr_asked, (long)result.nr_dropped,
	       (long)result.nr_triggers, (long)result.nr_interrupts, result.seconds, (unsigned)result.status);
	return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
