/* SPDX-License-Identifier: MIT */
#include "run_fixture.h"

#include "architecture_files.h"
#include "base/configuration.h"
#include "base/paths.h"
#include "commands/program_run.h"
#include "peaks_by_hand.h"
#include "roof/profile.h"
#include "rot.h"
#include "testing.h"

int status;
char *out, *err;
bool is_strict, has_csv, is_all, is_narrow, has_page, has_peaks;

static char *folder, *fake;

void
run_setup(void)
{
	autofree char *source = realpath(getenv("top_srcdir"), NULL), *built = realpath(getenv("top_builddir"), NULL);

	fake = rot_format("%s/tests/driver/programs/fake_core", built);
	setenv("top_srcdir", source, 1);
	folder = temporary_folder_new();
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(mkdir("core", 0777), 0);
	ck_assert_int_eq(symlink(fake, "core/rot-core"), 0);
	unsetenv("FAKE_CORE");
}

void
run_teardown(void)
{
	ck_assert_int_eq(chdir("/"), 0);
	free(fake);
	out = err = NULL;
}

/* Findings tell how wide the vectors of the machine are. */
static void
set_vectors(struct machine *machine)
{
	char **flags = machine->cpu_flags.items;

	while (machine->cpu_flags.nr > 0)
		free(flags[--machine->cpu_flags.nr]);
	machine_cpu_flags_add(machine, "avx");
}

static void
store_peaks(struct rot *rot)
{
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();

	ck_assert_ok(profile_store(rot, &list, &why));
}

/* In a process of its own, since the program gets its standard streams. */
static int
run_here(const char *architecture, const char *const *words, int nr)
{
	static const struct machine with_caches = {.l1_data_bytes = 32768, .l2_bytes = 1048576, .llc_bytes = 33554432};
	const bool is_both = strcmp(architecture, "blocks beside events") == 0;
	struct configuration *configuration = configuration_new();
	struct run_options *options = option_values_new(&run_options_table);
	struct rot_error error = {0};
	char *argv[MAX_WORDS + 1];
	struct rot rot;
	char *cache = rot_format("%s/cache", folder);
	int result, rc;

	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "cacheFolder", cache, NULL);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "dataFolder", cache, NULL);
	free(cache);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "writeCsv", has_csv ? "true" : "false", NULL);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "showAll", is_all ? "true" : "false", NULL);
	if (has_page) {
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "plots", "files,html", NULL);
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "findPeaks", "false", NULL);
	}
	if (is_strict)
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "strict", "true", NULL);
	memcpy(argv, words, (size_t)nr * sizeof(*argv));
	if (rot_open(&rot, configuration, true, &error) < 0 ||
	    options_take(&run_options_table, options, &nr, argv, NULL, NULL, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 99;
	}
	set_vectors(rot.machine);
	architecture_delete(rot.architecture);
	rot.architecture = architecture_named(is_both || strcmp(architecture, "blocks") == 0 ? "none" : architecture);
	if (is_both || strcmp(architecture, "blocks") == 0) {
		const struct architecture_stepping stepping = {.is_unasked = !is_both,
							       .caches.machine = is_both ? &with_caches : NULL};

		rot.architecture->by_blocks = architecture_load_blocks(architecture_folder(), &stepping, &error);
		rot.architecture->by_events = is_both ? architecture_named("zen5") : NULL;
	}
	if (strcmp(rot.architecture->name, "none") == 0) {
		rot_error_set(&rot.architecture->why_not, 0, "this machine has no counters");
		rot_error_hint(&rot.architecture->why_not, "use another one");
	}
	free(rot.paths->built);
	rot.paths->built = rot_strdup(folder);
	if (has_peaks)
		store_peaks(&rot);
	rc = program_run(&rot, options, argv, &result, &error);
	option_values_delete(&run_options_table, options);
	if (rc < 0)
		fprintf(stderr, "rot: %s [%s]\n", error.text, error.hint);
	rot_close(&rot);
	return rc < 0 && result == 0 ? 1 : result;
}

void
run(const char *architecture, const char *const *words)
{
	int nr = 0;
	pid_t pid;

	while (words[nr])
		nr++;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		ck_assert_ptr_nonnull(freopen("/dev/null", "r", stdin));
		ck_assert_ptr_nonnull(freopen("out", "w", stdout));
		ck_assert_ptr_nonnull(freopen("err", "w", stderr));
		setenv("COLUMNS", is_narrow ? is_all ? "60" : "80" : "1000", 1); /* sentences in one line */
		exit(run_here(architecture, words, nr));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	status = WEXITSTATUS(status);
	out = file_text("out");
	err = file_text("err");
}
