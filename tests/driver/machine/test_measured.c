/* SPDX-License-Identifier: MIT */
/* Measured sizes: kept, read back, and taken where nobody tells. */
#include "base/clock.h"
#include "machine/measured.h"
#include "testing.h"

#define KIB INT64_C(1024)
#define MIB INT64_C(1048576)

#define LEVEL "{\"bytes\": 1, \"ns\": 1}"
#define EIGHT LEVEL ", " LEVEL ", " LEVEL ", " LEVEL ", " LEVEL ", " LEVEL ", " LEVEL ", " LEVEL

static char *folder;
static struct machine *machine;

static const struct measured_levels turin = {
	.levels = {{48 * KIB, 40 * KIB, 1.0, 4.0},
		   {MIB, 640 * KIB, 3.8, 14.0},
		   {24 * MIB, 16 * MIB, 12.3, 50.5},
		   {0, 0, 170, NAN}},
	.nr = 4,
	.is_steady = true,
	.last_level = {8 * MIB,
		       25 * MIB,
		       6.5,
		       "others use it",
		       "others had the CPU",
		       {{.when = {.created = "2026-11-22T09:00:00Z"}, .bytes = 20 * MIB, .fitting_bytes = 16 * MIB}},
		       1},
	.when.created = "2026-11-22T09:00:00Z",
	.line_bytes = 128,
	.l1_ways = 12,
	.tlb_entries = 96,
	.operations = {{"FMA", "AVX512", "DOUBLE", 4, 2}, {"ADD", "SCALAR", "DOUBLE", 2, 2.5}},
	.nr_operations = 2,
	.operations_when.created = "2026-11-23T09:00:00Z",
};

static void
set_up(void)
{
	folder = temporary_folder_new();
	machine = machine_new();
	rot_string_set(&machine->cpu_vendor, "AuthenticAMD");
	rot_string_set(&machine->cpu_name, "AMD EPYC");
	rot_string_set(&machine->hypervisor, "Hyper-V");
	machine->cpu_family = 26;
	at_end(machine_delete, machine);
}

TEST(what_is_kept_is_read_back)
{
	struct measured_levels levels;

	measured_levels_load(&levels, folder, machine);
	ck_assert_uint_eq(levels.nr, 0);
	ck_assert_int_eq(measured_levels_store(&turin, folder, machine, NULL), 0);
	measured_levels_load(&levels, folder, machine);
	ck_assert_uint_eq(levels.nr, turin.nr);
	for (size_t i = 0; i < turin.nr; i++) {
		ck_assert_int_eq(levels.levels[i].bytes, turin.levels[i].bytes);
		ck_assert_int_eq(levels.levels[i].fitting_bytes, turin.levels[i].fitting_bytes);
		ck_assert_double_eq(levels.levels[i].ns, turin.levels[i].ns);
	}
	ck_assert(isnan(levels.levels[3].cycles));
	ck_assert(levels.is_steady);
	ck_assert_int_eq(levels.last_level.low_bytes, 8 * MIB);
	ck_assert_int_eq(levels.last_level.high_bytes, 25 * MIB);
	ck_assert_double_eq(levels.last_level.seconds, 6.5);
	ck_assert_str_eq(levels.last_level.doubt, "others use it");
	ck_assert_str_eq(levels.last_level.run_doubt, "others had the CPU");
	ck_assert_uint_eq(levels.last_level.nr_runs, 1);
	ck_assert_str_eq(levels.last_level.runs[0].when.created, "2026-11-22T09:00:00Z");
	ck_assert_int_eq(levels.last_level.runs[0].bytes, 20 * MIB);
	ck_assert_int_eq(levels.last_level.runs[0].fitting_bytes, 16 * MIB);
	ck_assert_str_eq(levels.when.created, turin.when.created);
	ck_assert_int_eq(levels.l1_ways, 12);
	ck_assert_int_eq(levels.tlb_entries, 96);
	ck_assert_int_eq(levels.line_bytes, 128);
	ck_assert_str_eq(levels.operations_when.created, "2026-11-23T09:00:00Z");
	ck_assert_double_eq(measured_operation_of(&levels, "ADD", "DOUBLE", "SCALAR")->per_cycle, 2.5);
	ck_assert_ptr_null(measured_operation_of(&levels, "ADD", "FLOAT", "SCALAR"));
}

/* The kernel, and half a year; what is not known has not changed. */
TEST(changes_since_then_are_told)
{
	struct measured_levels levels = turin;
	char *changes, today[CLOCK_DATE_SIZE];

	rot_string_set(&machine->kernel_release, "6.1");
	clock_date(today);
	levels.when = measured_on(machine, today);
	ck_assert_int_eq(measured_levels_store(&levels, folder, machine, NULL), 0);
	measured_levels_load(&levels, folder, machine);
	changes = measured_changes(&levels.when, machine);
	ck_assert_str_eq(changes, "");
	free(changes);
	rot_string_set(&machine->kernel_release, "6.12");
	changes = measured_changes(&levels.when, machine);
	ck_assert_str_eq(changes, "kernel 6.1, now 6.12");
	free(changes);
	strcpy(levels.operations_when.created, "2020-01-01T00:00:00Z");
	changes = measured_changes(&levels.operations_when, machine);
	ck_assert_has(changes, " days old");
	ck_assert_lacks(changes, "kernel");
	free(changes);
}

/* Not of this machine, or damaged: as if there were nothing. */
TEST_OF(others_are_not_believed, 7)
{
	static const char *const contents[] = {
		"",
		"{}",
		"[1]",
		"{\"schema\": \"rot.levels/1\", \"cpuName\": \"another\", \"levels\": []}",
		"{\"schema\": \"rot.levels/1\", \"cpuName\": \"AMD EPYC\", \"levels\": [{\"bytes\": -1, \"ns\": 1}]}",
		"{\"schema\": \"rot.levels/1\", \"cpuName\": \"AMD EPYC\", \"levels\": [" EIGHT "]}",
		"{\"schema\": \"rot.levels/2\", \"cpuName\": \"AMD EPYC\", \"levels\": [{\"bytes\": 1, \"ns\": 1}]}",
	};
	struct measured_levels levels;

	folder_write(folder, "levels-AuthenticAMD-26-0-0-Hyper-V.json", contents[_i]);
	measured_levels_load(&levels, folder, machine);
	ck_assert_uint_eq(levels.nr, 0);
	machine->cpu_family = 25;
	measured_levels_load(&levels, folder, machine);
	ck_assert_uint_eq(levels.nr, 0);
}

TEST(files_have_names_of_machines)
{
	char *name = machine_file_name(machine);

	ck_assert_str_eq(name, "AuthenticAMD-26-0-0-Hyper-V");
	free(name);
	rot_string_set(&machine->hypervisor, "a/b c");
	name = machine_file_name(machine);
	ck_assert_str_eq(name, "AuthenticAMD-26-0-0-a_b_c");
	free(name);
}

/* Runs of another kernel go, and the oldest of too many; the same one again is one. */
TEST(runs_are_kept)
{
	struct measured_levels levels = {.nr = 0};
	struct measured_run run = {.bytes = MIB};
	char now[CLOCK_DATE_SIZE];

	for (int i = 0; i < MEASURED_RUNS_MAX + 2; i++) {
		clock_date_of(time(NULL) - 100 + i, now);
		run.when = measured_on(machine, now);
		run.bytes = (i + 1) * MIB;
		measured_runs_update(&levels, &run, machine);
		measured_runs_update(&levels, &run, machine);
	}
	ck_assert_uint_eq(levels.last_level.nr_runs, MEASURED_RUNS_MAX);
	ck_assert_int_eq(levels.last_level.runs[0].bytes, 3 * MIB);
	ck_assert_int_eq(levels.last_level.runs[MEASURED_RUNS_MAX - 1].bytes, (MEASURED_RUNS_MAX + 2) * MIB);
	strcpy(levels.last_level.runs[1].when.created, "2020-01-01T00:00:00Z");
	run.bytes = 0;
	strcpy(run.when.created, "");
	measured_runs_update(&levels, &run, machine);
	ck_assert_uint_eq(levels.last_level.nr_runs, MEASURED_RUNS_MAX - 1);
	ck_assert_int_eq(levels.last_level.runs[1].bytes, 5 * MIB);
}

/* Told sizes stay; unknown ones are measured. package: what is told of the last level. */
static const struct {
	int64_t l1, l2, llc, package;
	size_t nr; /* of the measured levels of turin that were seen */
	int64_t taken_l1, taken_l2, taken_llc;
} takings[] = {
	{0, 0, 0, 0, 4, 48 * KIB, MIB, 24 * MIB},
	{48 * KIB, MIB, 0, 508 * MIB, 4, 48 * KIB, MIB, 24 * MIB},
	{32 * KIB, 512 * KIB, 32 * MIB, 0, 4, 32 * KIB, 512 * KIB, 32 * MIB},
	/* the third level was not seen: the second is not taken for it */
	{48 * KIB, MIB, 0, 508 * MIB, 2, 48 * KIB, MIB, 0},
	/* there is none */
	{48 * KIB, MIB, 0, 0, 2, 48 * KIB, MIB, MIB},
	{0, 0, 0, 0, 0, 0, 0, 0},
};

TEST_OF(unknown_sizes_are_taken, NR_ELEMENTS(takings))
{
	struct measured_levels levels = {.nr = takings[_i].nr};

	for (size_t i = 0; i < levels.nr; i++)
		levels.levels[i] = turin.levels[i];
	if (levels.nr && levels.nr < turin.nr)
		levels.levels[levels.nr++] = turin.levels[3];
	machine->l1_data_bytes = takings[_i].l1;
	machine->l2_bytes = takings[_i].l2;
	machine->llc_bytes = takings[_i].llc;
	machine->package_llc_bytes = takings[_i].package;
	machine_take_measured(machine, &levels);
	ck_assert_int_eq(machine->l1_data_bytes, takings[_i].taken_l1);
	ck_assert_int_eq(machine->l2_bytes, takings[_i].taken_l2);
	ck_assert_int_eq(machine->llc_bytes, takings[_i].taken_llc);
	ck_assert_str_eq(machine->llc_source, takings[_i].taken_llc && !takings[_i].llc ? "measured" : "");
}

/* The key caches: what was measured, whatever is told. */
TEST(told_sizes_are_replaced)
{
	struct measured_levels levels = turin;

	machine->l1_data_bytes = 32 * KIB;
	machine->l2_bytes = 4 * MIB;
	machine->llc_bytes = 256 * MIB;
	machine_replace_sizes(machine, &levels);
	ck_assert_int_eq(machine->l1_data_bytes, 48 * KIB);
	ck_assert_int_eq(machine->l2_bytes, MIB);
	ck_assert_int_eq(machine->llc_bytes, 24 * MIB);
	levels.nr = 0;
	machine_replace_sizes(machine, &levels);
	ck_assert_int_eq(machine->l1_data_bytes + machine->l2_bytes + machine->llc_bytes, 0);
}

TEST(measured_tlbs_are_known_or_not)
{
	struct tlb_shape tlb;

	ck_assert_ok(measured_tlb_parse("128:4", NULL, &tlb, &why));
	ck_assert_int_eq(tlb.entries, 128);
	ck_assert_ok(measured_tlb_parse("measured", &turin, &tlb, &why));
	ck_assert_int_eq(tlb.entries, 96);
	ck_assert_int_eq(tlb.page_bytes, 4096);
	ck_assert_int_eq(tlb.ways, 0);
	ck_assert_int_eq(measured_tlb_parse("measured", NULL, &tlb, &why), -1);
	ck_assert_has(why.text, "was not measured yet");
	ck_assert_has(why.hint, "rot machine");
}

UNIT_TESTS(.set_up = set_up);
