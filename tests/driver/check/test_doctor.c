/* SPDX-License-Identifier: MIT */
/* Findings of the doctor on recorded machines, and how they are shown. */
#include "check/doctor.h"
#include "json_schema.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "testing.h"

static struct findings findings;
static char *folder;

static void
set_up(void)
{
	findings = (struct findings){0};
	folder = temporary_folder_new();
	at_end(findings_clear, &findings);
}

/* All that is read from files below root. */
static void
look(const char *root)
{
	struct machine *machine = at_end(machine_delete, machine_read(root, NULL));

	ck_assert_ptr_nonnull(machine);
	doctor_look_at_machine(&findings, machine, root);
	doctor_look_at_surroundings(&findings, machine, root);
	doctor_look_at_clocks(&findings, machine, root);
}

static void
look_at_recorded(const char *name)
{
	look(source_path("tests/machines/%s", name));
}

/* A machine in folder, of two processors, with one more file. */
static void
look_with(const char *name, const char *text)
{
	folder_write(folder, "proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: constant_tsc nonstop_tsc\n\n");
	folder_write(folder, "sys/devices/system/cpu/online", "0-1\n");
	folder_write(folder, name, text);
	look(folder);
}

static const struct finding *
found(const char *name)
{
	for (size_t i = 0; i < findings.nr; i++)
		if (strcmp(findings.items[i].name, name) == 0)
			return &findings.items[i];
	return NULL;
}

static void
check_finding(const char *name, enum finding_state state, const char *part)
{
	const struct finding *finding = found(name);

	ck_assert_msg(finding != NULL, "nothing said of '%s'", name);
	ck_assert_msg(strstr(finding->text, part) != NULL, "%s: %s", name, finding->text);
	ck_assert_int_eq(finding->state, state);
}

TEST(tells_a_virtual_machine)
{
	look_at_recorded("zen5-turin-kvm");
	check_finding("hypervisor", FINDING_LIMITED, "KVM");
	check_finding("frequency", FINDING_LIMITED, "not under control");
	check_finding("caches", FINDING_GOOD, "L1 data 48 KiB, L2 1 MiB");
	check_finding("time stamp counter", FINDING_GOOD, "constant");
}

TEST(tells_where_sizes_come_from)
{
	look_at_recorded("zen5-turin-no-caches");
	check_finding("caches", FINDING_LIMITED, "L2 1 MiB (cpuid 80000006), last level unknown");
	ck_assert_has(found("caches")->advice, "508 MiB");
}

TEST(shows_measured_sizes_beside_told_ones)
{
	static const struct measured_levels levels = {
		.levels = {{48 << 10, 40 << 10, 1, 4},
			   {512 << 10, 512 << 10, 4, 14},
			   {24 << 20, 16 << 20, 12, 50},
			   {0, 0, 170, 600}},
		.nr = 4,
		.when.created = "2026-11-22T09:00:00Z",
	};
	struct machine *machine = machine_new();

	rot_string_set(&machine->cpu_vendor, "AuthenticAMD");
	machine->l1_data_bytes = 48 << 10;
	machine->l2_bytes = 1 << 20;
	doctor_look_at_levels(&findings, machine, folder);
	ck_assert_uint_eq(findings.nr, 0);
	ck_assert_int_eq(measured_levels_store(&levels, folder, machine, NULL), 0);
	machine_take_measured(machine, &levels);
	doctor_look_at_levels(&findings, machine, folder);
	check_finding("caches measured", FINDING_LIMITED, "L1 data 48 KiB: agrees; L2 512 KiB: smaller than told");
	check_finding("caches measured", FINDING_LIMITED, "last level 24 MiB: only measured; memory 170 ns");
	ck_assert_has(found("caches measured")->advice, "remeasure levels");
	machine_delete(machine);
}

TEST(says_how_to_fix_the_frequency)
{
	look_at_recorded("intel-skylake-server");
	check_finding("hypervisor", FINDING_GOOD, "none");
	ck_assert_ptr_nonnull(found("frequency"));
}

TEST(knows_nothing_of_a_bare_root)
{
	look_at_recorded("minimal");
	check_finding("caches", FINDING_LIMITED, "unknown");
	ck_assert_ptr_null(found("load"));
	check_finding("turbo", FINDING_GOOD, "not under control");
	check_finding("PMUs", FINDING_LIMITED, "none are shown");
}

/* Each sign that a file gives, and the one finding it leads to. */
static const struct sign {
	const char *file, *text, *name;
	enum finding_state state;
	const char *part, *advice;
} signs[] = {
	{".dockerenv", "", "container", FINDING_LIMITED, "docker", ""},
	{"proc/1/cgroup", "0::/kubepods/x\n", "container", FINDING_LIMITED, "kubernetes", ""},
	{"proc/1/cgroup", "0::/init.scope\n", "container", FINDING_GOOD, "none", ""},
	{"proc/sys/kernel/osrelease", "5.15.1-microsoft-standard\n", "container", FINDING_LIMITED, "WSL", ""},
	{"proc/loadavg", "1.50 1.0 1.0 1/2 3\n", "load", FINDING_LIMITED, "1.50", "ps "},
	{"proc/loadavg", "0.10 1.0 1.0 1/2 3\n", "load", FINDING_GOOD, "0.10", ""},
	{"proc/stat", "cpu  50 0 0 40 0 0 0 10 0 0\n", "stolen time", FINDING_LIMITED, "10.0 %", ""},
	{"sys/devices/system/cpu/cpufreq/boost", "1\n", "turbo", FINDING_LIMITED, "on", "cpufreq/boost"},
	{"sys/devices/system/cpu/cpufreq/boost", "0\n", "turbo", FINDING_GOOD, "off", ""},
	{"sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", "turbo", FINDING_LIMITED, "on", "no_turbo"},
	{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n", "frequency", FINDING_LIMITED,
	 "powersave", "cpupower"},
	{"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n", "frequency", FINDING_GOOD,
	 "performance", ""},
	{"sys/bus/event_source/devices/cpu/type", "4\n", "PMUs", FINDING_GOOD, "cpu", ""},
	{"sys/bus/event_source/devices/cpu_atom/type", "10\n", "PMUs", FINDING_GOOD, "cpu_atom", ""},
	{"sys/bus/event_source/devices/software/type", "1\n", "PMUs", FINDING_LIMITED,
	 "none of the processor; software", ""},
	{"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", "huge pages", FINDING_GOOD,
	 "transparent: madvise", ""},
	{"sys/devices/system/cpu/smt/active", "1\n", "CPUs", FINDING_GOOD, "two or more threads", ""},
	{"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n", "time stamp counter",
	 FINDING_GOOD, "hpet", ""},
};

TEST_OF(reads_a_sign, NR_ELEMENTS(signs))
{
	const struct sign *sign = &signs[_i];

	look_with(sign->file, sign->text);
	check_finding(sign->name, sign->state, sign->part);
	ck_assert_has(found(sign->name)->advice, sign->advice);
	if (!*sign->advice)
		ck_assert_msg(strcmp(sign->name, "frequency") == 0 || *found(sign->name)->advice == '\0', "%s",
			      found(sign->name)->advice);
}

TEST(ignores_damaged_files)
{
	look_with("proc/stat", "cpu x y\n");
	ck_assert_ptr_null(found("stolen time"));
	look_with("sys/kernel/mm/transparent_hugepage/enabled", "always madvise never\n");
	check_finding("huge pages", FINDING_LIMITED, "not offered");
}

/* ---- how they are shown ---- */

static char *
printed(bool is_all)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	findings_print(&findings, is_all, out);
	fclose(out);
	return text;
}

TEST(shows_the_worst)
{
	static const char *const verdicts[] = {"All is well", "rot measure triad works;", "does not work here"};
	char *text;

	for (enum finding_state state = FINDING_GOOD; state <= FINDING_BROKEN; state++) {
		findings_section(&findings, "Things");
		finding_advise(findings_add(&findings, "one", state, "number %d", (int)state), "do %s", "this");
		ck_assert_int_eq(findings_worst(&findings), state);
		text = printed(true);
		ck_assert_has(text, verdicts[state]);
		free(text);
	}
}

TEST(wraps_long_lines_and_keeps_all_words)
{
	char words[1000] = "", *text;
	size_t longest = 0;
	int nr_last;

	for (int i = 0; i < 100; i++)
		sprintf(words + strlen(words), "word%d ", i);
	findings_section(&findings, "Things");
	finding_advise(findings_add(&findings, "one", FINDING_LIMITED, "%s", words), "%s", words);
	text = printed(true);
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strcspn(line, "\n") > longest)
			longest = strcspn(line, "\n");
	ck_assert_msg(longest <= 120, "%zu columns", longest);
	ck_assert_has(text, "! one");
	ck_assert_has(text, "-> word0");
	nr_last = 0;
	for (const char *at = text; (at = strstr(at, "word99")); at++)
		nr_last++;
	ck_assert_int_eq(nr_last, 2);
	free(text);
}

/* The program prints it. */
TEST(json_is_of_the_schema)
{
	autofree char *path = built_path("driver/rot"), *command = rot_format("'%s' doctor --json", path);
	json_error_t fault;
	FILE *in;
	json_auto_t *json = NULL;

	setenv("XDG_CACHE_HOME", folder, 1);
	in = popen(command, "r");
	ck_assert_ptr_nonnull(in);
	json = json_loadf(in, 0, &fault);
	ck_assert_msg(json != NULL, "%s", fault.text);
	expect_schema("driver/schemas/doctor-1.json", json);
	ck_assert_int_ne(pclose(in), -1);
}

/* One screen, whatever was found: advice is for the next step alone. */
TEST(is_short)
{
	autofree char *text = NULL;

	look_at_recorded("zen5-turin-no-caches");
	findings_section(&findings, DOCTOR_QUANTITIES);
	finding_advise(findings_add(&findings, "tlbMisses", FINDING_LIMITED, "unavailable; no event"), "count blocks");
	findings_section(&findings, "Rights");
	finding_advise(
		findings_add(&findings, "hardware counters", FINDING_LIMITED,
			     "these are none: since there is no room in a line for what follows, it is not shown"),
		"do this");
	text = printed(false);
	ck_assert_has(text, "\nnext, for hardware counters: do this\n");
	ck_assert_has(text, "not counted           TLB misses\n");
	ck_assert_has(text, "! hardware counters     these are none\n");
	ck_assert_lacks(text, "count blocks");
	ck_assert_lacks(text, "-> ");
	ck_assert_lacks(text, "Steadiness");
}

UNIT_TESTS(.set_up = set_up);
