/* SPDX-License-Identifier: MIT */
/* Measured levels beside what the machine tells; and that nothing is measured where all is known. */
#include "entities.h"
#include "roof/levels.h"
#include "rot.h"
#include "testing.h"

#define MIB INT64_C(1048576)

/* measured 0: no level was found. */
static const struct {
	int64_t told, measured;
	const char *verdict;
} verdicts[] = {
	{32 * MIB, 32 * MIB, "agrees"},           {32 * MIB, 24 * MIB, "agrees"},
	{32 * MIB, 40 * MIB, "agrees"},           {32 * MIB, 16 * MIB, "smaller than told"},
	{32 * MIB, 64 * MIB, "larger than told"}, {32 * MIB, 0, "not seen"},
	{0, 24 * MIB, "only measured"},           {0, 0, "not found"},
};

TEST_OF(sizes_are_compared, NR_ELEMENTS(verdicts))
{
	struct measured_level found = {.bytes = verdicts[_i].measured};
	const char *verdict = levels_verdict(verdicts[_i].told, found.bytes ? &found : NULL);

	ck_assert_msg(strncmp(verdict, verdicts[_i].verdict, strlen(verdicts[_i].verdict)) == 0, "%s", verdict);
}

/* The table of a machine that tells of a package only, with and without the third level found. */
static char *
printed(size_t nr_levels, bool is_steady, const int64_t runs[3], const char *run_doubt)
{
	static const struct measured_level levels[] = {{48 << 10, 40 << 10, 1.0, 4.0},
						       {MIB, 640 << 10, 3.8, 14.0},
						       {24 * MIB, 16 * MIB, 12.3, NAN},
						       {0, 0, 170, 640}};
	struct measured_levels measured = {.nr = nr_levels,
					   .is_steady = is_steady,
					   .last_level.low_bytes = nr_levels == 4 ? 9 * MIB : 0,
					   .last_level.high_bytes = nr_levels == 4 ? 25 * MIB : 0,
					   .last_level.seconds = 6.9};
	struct machine *machine = machine_new();
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < nr_levels; i++)
		measured.levels[i] = levels[i + 1 < nr_levels ? i : 3];
	if (nr_levels < 4)
		strcpy(measured.last_level.doubt, "others had the CPU");
	strcpy(measured.last_level.run_doubt, run_doubt);
	for (; measured.last_level.nr_runs < 3 && runs[measured.last_level.nr_runs]; measured.last_level.nr_runs++) {
		struct measured_run *run = &measured.last_level.runs[measured.last_level.nr_runs];

		run->bytes = runs[measured.last_level.nr_runs] * MIB;
		snprintf(run->when.created, sizeof(run->when.created), "2026-11-2%zuT09:00:00Z",
			 measured.last_level.nr_runs);
	}
	machine->l1_data_bytes = 48 << 10;
	rot_string_set(&machine->l1_data_source, "cpuid 80000005");
	machine->l2_bytes = 2 * MIB;
	rot_string_set(&machine->l2_source, "sysfs");
	machine->package_llc_bytes = 508 * MIB;
	machine_take_measured(machine, &measured);
	levels_print(&measured, machine, out);
	fclose(out);
	machine_delete(machine);
	return text;
}

static const struct {
	size_t nr_levels;
	bool is_steady;
	const char *parts[9]; /* that the table has; a leading ! : that it has not */
	int64_t runs[3];      /* MiB, that looked at the last level */
	const char *run_doubt;
} tables[] = {
	{4,
	 true,
	 {"48 KiB (cpuid 80000005)", "smaller than told", "at most 508 MiB (the package)", "only measured",
	  "12.3       -", "!others used the machine", "between 9 MiB and 25 MiB stayed", "in 6.9", "!not sure"},
	 .run_doubt = ""},
	{4,
	 true,
	 {"24 MiB is the most of 3 runs since 2026-11-20T09:00; 2 saw as much, within 15 %.",
	  "Others used it in the last run, of 2026-11-22T09:00: it saw 16 MiB.", "!The last run could not"},
	 {24, 23, 16},
	 ""},
	{4,
	 true,
	 {"the most of 2 runs", "!Others used it", "The last run could not see its size: no memory."},
	 {24, 16},
	 "no memory"},
	{4, true, {"!runs since"}, {24}, ""},
	{3,
	 false,
	 {"2 MiB (sysfs)", "not found", "170     640", "rot remeasure levels", "!only measured", "640 KiB",
	  "not sure: others had the CPU", "!stayed from"},
	 .run_doubt = "others had the CPU"},
};

TEST_OF(table_tells_who_says_what, NR_ELEMENTS(tables))
{
	autofree char *text =
		printed(tables[_i].nr_levels, tables[_i].is_steady, tables[_i].runs, tables[_i].run_doubt);

	for (size_t i = 0; i < NR_ELEMENTS(tables[_i].parts) && tables[_i].parts[i]; i++) {
		const char *part = tables[_i].parts[i];
		bool is_wanted = part[0] != '!';

		ck_assert_msg((strstr(text, part + !is_wanted) != NULL) == is_wanted, "'%s' in:\n%s", part, text);
	}
}

/* Without paths and measuring, anything else would crash. */
TEST(nothing_is_measured_without_need)
{
	struct rot rot = {.machine = machine_new()};

	ck_assert(!levels_are_known(rot.machine));
	rot.is_cached_only = true;
	ck_assert_int_eq(levels_ensure(&rot, &why), 0);
	rot.is_cached_only = false;
	rot.machine->l1_data_bytes = rot.machine->l2_bytes = rot.machine->llc_bytes = 1;
	ck_assert(levels_are_known(rot.machine));
	ck_assert_int_eq(levels_ensure(&rot, &why), 0);
	machine_delete(rot.machine);
}
