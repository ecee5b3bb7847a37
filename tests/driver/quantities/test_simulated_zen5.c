/* SPDX-License-Identifier: MIT */
/*
 * "rot measure triad" from the command to its JSON on a simulated Zen 5 (tests/simulated_pmu.c): groups, scrub, modulo,
 * formulas and taints together give what the processor counted. Not that the processor counts what it is said to.
 */
#include <jansson.h>

#include "permits.h"
#include "testing.h"

#define NR_SIZES 9

static char *work;

/* rot's own controller triad without its plot: the ceilings need instructions that not every machine has. */
static void
write_controller(void)
{
	char *path = source_path("driver/controllers/triad.xml"), *text = file_text(path);
	char *plot = strstr(text, "<plot"), *end = strstr(text, "</plot>");
	FILE *file = fopen("triad.xml", "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(plot);
	ck_assert_ptr_nonnull(end);
	fprintf(file, "%.*s%s", (int)(plot - text), text, end + strlen("</plot>"));
	fclose(file);
}

static void
set_environment(const char *scrub)
{
	autofree char *log = rot_format("%s/log", work);

	setenv("LD_PRELOAD", built_path("tests/simulated_pmu.so"), 1);
	setenv("ROT_SIMULATED_MACHINE", source_path("tests/machines/zen5-turin-kvm"), 1);
	setenv("ROT_SIMULATED_LOG", log, 1);
	setenv("ROT_SIMULATED_SCRUB", scrub, 1);
	setenv("XDG_CACHE_HOME", work, 1);
	setenv("XDG_DATA_HOME", work, 1);
}

/* The JSON of "rot measure ./triad.xml RUNS"; in one start, since some traps come with the n-th read of a process. */
static json_t *
measure(const char *runs, const char *scrub)
{
	char *rot = built_path("driver/rot"), *messages = NULL;
	json_error_t error;
	json_t *json;
	int status;
	pid_t pid;

	write_controller();
	pid = fork();
	if (pid == 0) {
		int fd = open("messages", O_WRONLY | O_CREAT, 0600);

		set_environment(scrub);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(rot, rot, "measure", "./triad.xml", "triad", runs, "-starts=1", "-findPeaks=false",
		      "-validate=never", NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	messages = file_text("messages");
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x: %s", (unsigned)status, messages);
	json = json_load_file("triad.json", 0, &error);
	ck_assert_msg(json != NULL, "%s", error.text);
	return json;
}

static void
enter_folder(void)
{
	work = temporary_folder_new();
	ck_assert_int_eq(chdir(work), 0);
}

static void
leave_folder(void)
{
	ck_assert_int_eq(chdir("/"), 0);
}

/* ---- the JSON ---- */

static const json_t *
point_at(const json_t *json, size_t i)
{
	return json_array_get(json_object_get(json, "points"), i);
}

static double
size_of(const json_t *point)
{
	return json_number_value(json_object_get(json_object_get(point, "coordinates"), "size"));
}

static const json_t *
quantity_of(const json_t *point, const char *name, const char *of)
{
	size_t i;
	json_t *quantity;

	json_array_foreach(json_object_get(point, "quantities"), i, quantity) {
		if (strcmp(json_string_value(json_object_get(quantity, "name")), name) == 0 &&
		    strcmp(json_string_value(json_object_get(quantity, "of")), of) == 0)
			return quantity;
	}
	ck_abort_msg("there is no %s of %s", name, of);
	return NULL;
}

static const char *
text_of(const json_t *quantity, const char *key)
{
	return json_string_value(json_object_get(quantity, key));
}

static bool
is_tainted(const json_t *quantity, size_t run)
{
	size_t i;
	json_t *tainted;

	json_array_foreach(json_object_get(quantity, "taintedSamples"), i, tainted) {
		if ((size_t)json_integer_value(tainted) == run)
			return true;
	}
	return false;
}

/* Each sample without a taint, and the value where there is one, are expected. */
static void
check_samples(const json_t *quantity, double expected)
{
	size_t i, nr_untainted = 0;
	json_t *sample;

	json_array_foreach(json_object_get(quantity, "samples"), i, sample) {
		if (is_tainted(quantity, i))
			continue;
		nr_untainted++;
		ck_assert_double_eq_tol(json_number_value(sample), expected, 1e-9 * expected);
	}
	if (nr_untainted)
		ck_assert_double_eq_tol(json_number_value(json_object_get(quantity, "value")), expected,
					1e-9 * expected);
}

/* The sum of the table of the simulated processor. */
static double
memory_writes(double n)
{
	const double victims = n / 8, fills = n * 24 / 64, from_dram = n * 20 / 64, combined = n / 50, cached = n / 100;

	return 64 * (victims * (from_dram + cached) / (fills + cached) + combined - cached);
}

static double
overflows(const json_t *quantity)
{
	return json_number_value(json_object_get(json_object_get(quantity, "taints"), "overflow"));
}

TEST(the_counts_of_a_zen5_come_through)
{
	json_auto_t *json = NULL;
	const json_t *machine;
	double nr_overflows = 0;
	char *log;

	enter_folder();
	json = measure("-runs=12", "1");
	machine = json_object_get(json, "machine");
	ck_assert_int_eq(json_integer_value(json_object_get(machine, "cpuFamily")), 26);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "points")), NR_SIZES);
	for (size_t i = 0; i < NR_SIZES; i++) {
		const json_t *point = point_at(json, i),
			     *flops = quantity_of(point, "operationCount", "doublePrecisionFlop"),
			     *fills = quantity_of(point, "transferredBytes", "l2l3.read"),
			     *writes = quantity_of(point, "transferredBytes", "llcRam.write"),
			     *time = quantity_of(point, "time", "coreCycles");
		const double n = size_of(point);

		ck_assert_double_eq(n, 10000. * (double)(i + 1));
		ck_assert_str_eq(text_of(flops, "kind"), "measured");
		ck_assert_str_eq(text_of(flops, "source"), "r8f03 + raf03");
		check_samples(flops, 2 * n);
		ck_assert_str_eq(text_of(fills, "kind"), "measured");
		check_samples(fills, 24 * n);
		check_samples(quantity_of(point, "transferredBytes", "llcRam.read"), 20 * n);
		ck_assert_str_eq(text_of(writes, "kind"), "modelled");
		check_samples(writes, memory_writes(n));
		check_samples(quantity_of(point, "transferredBytes", "llcRam"), 20 * n + memory_writes(n));
		ck_assert_str_eq(text_of(time, "unit"), "cycle");
		check_samples(time, n);
		nr_overflows += overflows(flops) + overflows(writes) + overflows(time);
	}
	/* 3 of the 36 reads of a point give a count that is not to be believed */
	ck_assert_double_ge(nr_overflows, NR_SIZES);
	log = file_text("log");
	ck_assert_msg(strstr(log, "trap") == NULL, "%s", strstr(log, "trap"));
	ck_assert_has(log, "read: 8f03 af03\n");
	ck_assert_has(log, "read: 10000de65 100004865 465 2063 4063\n");
	leave_folder();
}

/* The other way round: with counters that stay poisoned counts are wrong, so the scrub is what made them right. Not
 * those of large events, once these alone were counted on each CPU. */
TEST(without_scrub_counts_are_wrong)
{
	json_auto_t *json = NULL;

	enter_folder();
	json = measure("-runs=1", "0");
	for (size_t i = 0; i < NR_SIZES; i++) {
		const json_t *point = point_at(json, i),
			     *samples = json_object_get(quantity_of(point, "transferredBytes", "l2l3.read"), "samples");

		ck_assert_uint_eq(json_array_size(samples), 1);
		ck_assert_double_ne(json_number_value(json_array_get(samples, 0)), 24 * size_of(point));
	}
	leave_folder();
}

UNIT_TESTS(.needs = {permits_preloading});
