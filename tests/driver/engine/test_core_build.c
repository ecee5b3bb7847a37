/* SPDX-License-Identifier: MIT */
/* Building cores: what is compiled when, and what is said when it does not work. */
#include "base/files.h"
#include "base/paths.h"
#include "engine/core_build.h"
#include "engine/core_folder.h"
#include "engine/kernel_work.h"
#include "fixture.h"
#include "testing.h"

static struct core_builder *builder;

static void
setup(void)
{
	fixture_setup();
	builder = core_builder_new(&rot);
}

static void
teardown(void)
{
	core_builder_delete(builder);
	fixture_teardown();
}

static void
restart(void)
{
	core_builder_delete(builder);
	fixture_restart();
	builder = core_builder_new(&rot);
}

/* Builds or finds the core of a kernel with these fields; the child must be there. */
static const struct core *
build(const char *kernel, const char *const *fields)
{
	autograph struct measurement *measurement = fixture_measurement(kernel, fields);
	const struct core *core = NULL;

	ck_assert_ok(core_builder_build(builder, measurement, &core, &why));
	ck_assert_int_eq(access(core->child, X_OK), 0);
	return core;
}

static const char *const size_1[] = {"size=1", NULL}, *const size_2[] = {"size=2", NULL};
static const char *const fast[] = {"optimization=-O2", NULL}, *const slow[] = {"optimization=-O0", NULL};
static const char *const step_3[] = {"step=3", "mode=down", NULL};

static size_t nr_shown; /* calls of note_progress */

static void
note_progress(size_t nr_done, size_t nr)
{
	ck_assert_uint_eq(nr_done, ++nr_shown);
	ck_assert_uint_le(nr_done, nr);
}

TEST(same_core_is_found_without_make)
{
	const struct core *first, *second;
	char hash[SHA256_HEX_SIZE];

	fixture_log_program("make");
	fixture_log_program("gcc");
	first = build("Tiny", size_1);
	strcpy(hash, first->state.hash);
	ck_assert_int_eq(fixture_count("make"), 1);
	ck_assert_int_gt(fixture_count_compiles(), 0);
	int nr_compiles = fixture_count_compiles();

	second = build("Tiny", size_2);
	ck_assert_ptr_eq(first, second);
	restart();
	second = build("Tiny", size_1);
	ck_assert_str_eq(second->state.hash, hash);
	ck_assert_int_eq(fixture_count("make"), 1);
	ck_assert_int_eq(fixture_count_compiles(), nr_compiles);
}

TEST(going_back_to_flags_builds_nothing_and_new_flags_only_the_kernel)
{
	const struct core *first, *second;
	int nr_compiles;

	fixture_log_program("gcc");
	first = build("Tiny", fast);
	nr_compiles = fixture_count_compiles();
	second = build("Tiny", slow);
	ck_assert_str_ne(first->state.hash, second->state.hash);
	ck_assert_int_eq(fixture_count_compiles(), nr_compiles + 1);
	ck_assert_str_eq(first->state.compiler, second->state.compiler);
	ck_assert_has(second->state.compile_lines[0], " -O0 ");
	restart();
	build("Tiny", slow);
	build("Tiny", fast);
	ck_assert_int_eq(fixture_count_compiles(), nr_compiles + 1);
}

TEST(macros_reach_the_kernel)
{
	const struct core *first = build("Tiny", NULL), *second = build("Tiny", step_3);
	autofree char *folder = rot_strndup(second->child, strlen(second->child) - strlen("/child"));
	static const struct {
		const char *name, *text;
	} files[] = {
		{"generated/macros/TEST_STEP.h", "#define TEST_STEP 3\n"},
		{"generated/macros/TEST_MODE.h", "#define TEST_MODE down\n#define TEST_MODE__down 1\n"},
	};

	ck_assert_str_ne(first->state.hash, second->state.hash);
	ck_assert_has(second->state.compile_lines[0], "-DTEST_DOWN -O3");
	for (size_t i = 0; i < 2; i++) {
		autofree char *path = rot_format("%s/%s", folder, files[i].name), *text = file_read(path, NULL, NULL);

		ck_assert_str_eq(text, files[i].text);
	}
}

TEST(changed_source_gives_another_core)
{
	const char *c = "user/kernels/Other/Other.c";
	char *path = fixture_path(c), *text = file_read(path, NULL, NULL), *changed, hash[SHA256_HEX_SIZE];

	strcpy(hash, build("Other", NULL)->state.hash);
	changed = rot_format("%s\nint more_code(int a);\nint more_code(int a) { return 3 * a; }\n", text);
	fixture_write(c, changed, false);
	restart();
	ck_assert_str_ne(build("Other", NULL)->state.hash, hash);
	fixture_write(c, text, false);
	restart();
	ck_assert_str_eq(build("Other", NULL)->state.hash, hash);
	free(changed);
	free(text);
	free(path);
}

/* A header outside the kernel's folder is exchanged by an older one of the same size, which make does not see. */
TEST(exchanged_header_is_seen)
{
	struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char *header = fixture_path("extra.h"), hash[SHA256_HEX_SIZE];
	char *text = rot_format("#include \"%s\"\n%s", header,
				"#include \"kernel.h\"\n#include \"OtherData.h\"\n"
				"struct other { struct other_data data; int result; };\n"
				"static void run(void *kernel) { ((struct other *)kernel)->result = EXTRA; }\n"
				"KERNEL(other, \"Other\", .run = run);\n");

	fixture_write("user/kernels/Other/Other.c", text, false);
	fixture_write("extra.h", "#define EXTRA 1\n", false);
	restart();
	strcpy(hash, build("Other", NULL)->state.hash);
	fixture_write("extra.h", "#define EXTRA 2\n", false);
	ck_assert_int_eq(utimensat(AT_FDCWD, header, old, 0), 0);
	restart();
	ck_assert_str_ne(build("Other", NULL)->state.hash, hash);
	free(text);
	free(header);
}

TEST(damaged_child_is_built_again)
{
	const struct core *core = build("Other", NULL);
	char *child = rot_strdup(core->child), hash[SHA256_HEX_SIZE];

	strcpy(hash, core->state.hash);
	ck_assert_int_eq(truncate(child, 100), 0);
	restart();
	ck_assert_str_eq(build("Other", NULL)->state.hash, hash);
	ck_assert_int_eq(access(child, X_OK), 0);
	free(child);
}

TEST(unfinished_folder_is_finished)
{
	const struct core *core = build("Tiny", NULL);
	char *folder = rot_strndup(core->child, strlen(core->child) - strlen("/child"));
	char *path = rot_format("%s/state", folder), hash[SHA256_HEX_SIZE];

	strcpy(hash, core->state.hash);
	unlink(path);
	unlink(core->child);
	restart();
	ck_assert_str_eq(build("Tiny", NULL)->state.hash, hash);
	free(path);
	free(folder);
}

/* Fills each file below the folder whose name ends so; their number. */
static int
damage(const char *folder, const char *ending)
{
	char **names = folder_list(folder);
	int nr = 0;

	for (size_t i = 0; names[i]; i++) {
		autofree char *path = rot_format("%s/%s", folder, names[i]);
		struct stat status;

		if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
			nr += damage(path, ending);
		else if (path_ends_in(path, ending) && ++nr)
			ck_assert_int_eq(file_write(path, "\377\001: %\n \t\200", 9, false, NULL), 0);
	}
	free(names);
	return nr;
}

/* They may be of an unfinished core, or of one that others start from. */
TEST_OF(damaged_files_are_made_again, 2)
{
	const char *const endings[] = {".d", ".o"};
	const struct core *core = build("Tiny", size_1);
	char *folder = rot_strndup(core->child, strlen(core->child) - strlen("/child"));
	char *state = rot_format("%s/state", folder), hash[SHA256_HEX_SIZE];

	strcpy(hash, core->state.hash);
	unlink(state);
	unlink(core->child);
	ck_assert_int_gt(damage(folder, endings[_i]), 0);
	restart();
	ck_assert_str_eq(build("Tiny", size_1)->state.hash, hash);
	ck_assert_int_gt(damage(folder, endings[_i]), 0);
	restart();
	build("Tiny", step_3);
	build("Tiny", size_1);
	free(state);
	free(folder);
}

/* The cache folder has a space and more in its name, and so has the kernel's. */
TEST(strange_paths_are_fine)
{
	char *old = fixture_path("cache"), *new = fixture_path("ca che's $x #1");
	char *from = fixture_path("user/kernels/Other"), *to = fixture_path("user/kernels/Ot her $");

	ck_assert_int_eq(rename(old, new), 0);
	ck_assert_int_eq(rename(from, to), 0);
	restart();
	core_builder_delete(builder);
	free(rot.paths->cache);
	rot.paths->cache = new;
	free(from);
	free(to);
	free(old);
	builder = core_builder_new(&rot);
	build("Other", NULL);
}

TEST(least_used_cores_are_removed)
{
	static const char *const names[] = {"a", "b", "c", "unfinished"};
	char *folder = fixture_path("prune"), *used, **left;

	for (int i = 0; i < 3; i++) {
		autofree char *name = rot_format("prune/%s/state", names[i]), *path = fixture_path(name);
		struct timespec times[] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};

		fixture_write(name, "", false);
		ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	}
	fixture_write("prune/unfinished/child", "", false);
	prune(folder, "state", 4);
	left = folder_list(folder);
	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(left[i], names[i]);
	free(left);
	used = fixture_path("prune/a");
	core_touch(used);
	prune(folder, "state", 2);
	left = folder_list(folder);
	ck_assert_str_eq(left[0], "a");
	ck_assert_str_eq(left[1], "c");
	ck_assert_ptr_null(left[2]);
	free(left);
	free(used);
	free(folder);
}

static int
build_fails(struct measurement *measurement, struct rot_error *err)
{
	const struct core *core = NULL;
	int rc = core_builder_build(builder, measurement, &core, err);

	rot_graph_delete(measurement);
	return rc;
}

TEST(many_cores_are_built_at_once)
{
	struct measurement *measurements[] = {fixture_measurement("Tiny", size_1), fixture_measurement("Broken", NULL),
					      fixture_measurement("Tiny", step_3), fixture_measurement("Tiny", size_2),
					      fixture_measurement("Other", NULL),  fixture_measurement("Tiny", fast)};
	int nr_compiles;

	fixture_log_program("make");
	fixture_log_program("gcc");
	nr_shown = 0;
	ck_assert_msg(core_builder_build_all(builder, measurements, 6, note_progress, &why) == 1, "%s", why.text);
	ck_assert_has(why.text, "Broken.c:1:");
	ck_assert_uint_eq(nr_shown, 5);
	ck_assert_int_eq(fixture_count("make"), 5);
	nr_compiles = fixture_count_compiles();
	for (size_t i = 0; i < 6; i++) {
		const struct core *core = NULL;

		ck_assert_int_eq(core_builder_find(builder, measurements[i], &core, NULL, &why), 0);
		ck_assert_msg((core == NULL) == (i == 1), "core %zu", i);
		if (core)
			ck_assert_int_eq(access(core->child, X_OK), 0);
	}
	rot_graph_delete(measurements[1]);
	measurements[1] = measurements[5];
	nr_shown = 0;
	ck_assert_int_eq(core_builder_build_all(builder, measurements, 5, note_progress, &why), 0);
	ck_assert_uint_eq(nr_shown, 0);
	ck_assert_int_eq(fixture_count("make"), 5);
	ck_assert_int_eq(fixture_count_compiles(), nr_compiles);
	for (size_t i = 0; i < 5; i++)
		rot_graph_delete(measurements[i]);
}

/* The second compiles nothing but its kernel: the first one has compiled the kernel and what is generated. */
TEST(cores_of_a_kind_start_from_the_first)
{
	struct measurement *measurements[] = {fixture_measurement("Tiny", size_1), fixture_measurement("Tiny", step_3)};

	fixture_log_program("gcc");
	ck_assert_int_eq(core_builder_build_all(builder, measurements, 2, NULL, NULL), 0);
	ck_assert_int_eq(fixture_count_compiles(), 2 + 1);
	for (size_t i = 0; i < 2; i++)
		rot_graph_delete(measurements[i]);
}

TEST(removed_core_is_built_again)
{
	const struct core *core = build("Tiny", NULL);
	autofree char *folder = rot_strndup(core->child, strlen(core->child) - strlen("/child"));

	folder_remove(folder);
	build("Tiny", NULL);
	ck_assert_int_eq(access(folder, F_OK), 0);
}

TEST(contradicting_macros_are_named)
{
	struct measurement *measurement = fixture_measurement("Tiny", step_3),
			   *second = fixture_measurement("Other", NULL);

	measurement_workloads_add(measurement, measurement_workloads_at(second, 0));
	measurement_delete(second);
	fixture_log_program("make");
	ck_assert_int_eq(build_fails(measurement, &why), -1);
	ck_assert_msg(strstr(why.text, "TEST_STEP") && strstr(why.text, "'3'") && strstr(why.text, "'1'") &&
			      strstr(why.text, "Tiny") && strstr(why.text, "Other"),
		      "%s", why.text);
	ck_assert_int_eq(fixture_count("make"), 0);
}

TEST(different_flags_in_one_class_are_refused)
{
	struct measurement *measurement = fixture_measurement("Tiny", fast),
			   *second = fixture_measurement("Tiny", slow);

	measurement_workloads_add(measurement, measurement_workloads_at(second, 0));
	measurement_delete(second);
	ck_assert_int_eq(build_fails(measurement, &why), -1);
	ck_assert_msg(strstr(why.text, "-O2") && strstr(why.text, "-O0"), "%s", why.text);
}

TEST(two_kernels_share_a_core)
{
	struct measurement *measurement = fixture_measurement("Tiny", NULL),
			   *second = fixture_measurement("Other", NULL);
	const struct core *core = NULL;

	measurement_workloads_add(measurement, measurement_workloads_at(second, 0));
	measurement_delete(second);
	ck_assert_ok(core_builder_build(builder, measurement, &core, &why));
	ck_assert_ptr_nonnull(core->state.compile_lines[0]);
	ck_assert_ptr_nonnull(core->state.compile_lines[1]);
	rot_graph_delete(measurement);
}

TEST(compile_error_shows_what_the_compiler_said)
{
	ck_assert_int_eq(build_fails(fixture_measurement("Broken", NULL), &why), -1);
	ck_assert_msg(strstr(why.text, "Broken.c:1:") && strstr(why.text, "error"), "%s", why.text);
	ck_assert_msg(!strstr(why.text, "make:"), "%s", why.text);
}

TEST(kernel_without_c_file_is_named)
{
	ck_assert_int_eq(build_fails(fixture_measurement("Missing", NULL), &why), -1);
	ck_assert_msg(strstr(why.text, "Missing.c'"), "%s", why.text);
}

TEST(missing_tools_are_named_with_what_installs_them)
{
	autofree char *empty = fixture_path("nothing"), *only_gcc = fixture_path("bin");

	fixture_log_program("gcc");
	setenv("PATH", only_gcc, 1);
	ck_assert_int_eq(build_fails(fixture_measurement("Other", NULL), &why), -1);
	ck_assert_msg(strstr(why.text, "'make'") && strstr(why.hint, "apt-get install make"), "%s\n%s", why.text,
		      why.hint);
	fixture_configure("ccache", "yes");
	ck_assert_int_eq(build_fails(fixture_measurement("Other", NULL), &why), -1);
	ck_assert_msg(strstr(why.text, "'ccache'") && strstr(why.hint, "apt-get install ccache"), "%s\n%s", why.text,
		      why.hint);
	setenv("PATH", empty, 1);
	fixture_configure("compiler", "clang -v");
	ck_assert_int_eq(build_fails(fixture_measurement("Other", NULL), &why), -1);
	ck_assert_msg(strstr(why.text, "'clang'") && strstr(why.hint, "apt-get install clang"), "%s\n%s", why.text,
		      why.hint);
}

TEST(kernel_that_cannot_work_is_refused)
{
	static const struct {
		const char *fields[3], *text;
	} cases[] = {
		{{"size=0", NULL}, "size must be at least 1"},
		{{"size=9000", NULL}, "avx9000"},
		{{"size=1000000000000000", NULL}, "TiB of memory, this machine has"},
	};
	autograph struct measurement *good = fixture_measurement("Tiny", NULL);

	ck_assert_int_eq(kernel_check(&rot, fixture_kernel(good), &why), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		autograph struct measurement *measurement = fixture_measurement("Tiny", cases[i].fields);

		ck_assert_int_eq(kernel_check(&rot, fixture_kernel(measurement), &why), -1);
		ck_assert_msg(strstr(why.text, cases[i].text) && strstr(why.text, "Tiny"), "%s", why.text);
	}
}

TEST(expected_work_follows_the_definition)
{
	static const char *const small[] = {"size=1000", NULL}, *const large[] = {"size=1000000", NULL};
	static const char *const zero[] = {"step=5", NULL};
	autograph struct measurement *a = fixture_measurement("Tiny", small), *b = fixture_measurement("Tiny", large);
	autograph struct measurement *c = fixture_measurement("Tiny", zero);
	double value = 0;

	ck_assert(kernel_expected_operations(&rot, fixture_kernel(a), "doublePrecisionFlop", &value, &why));
	ck_assert_double_eq(value, 1000);
	ck_assert(kernel_expected_bytes(&rot, fixture_kernel(a), "llcRam", "both", &value, &why));
	ck_assert_double_eq(value, 8000);
	ck_assert(!kernel_expected_bytes(&rot, fixture_kernel(a), "llcRam", "write", &value, &why));
	ck_assert(!kernel_expected_operations(&rot, fixture_kernel(a), "compInstr", &value, &why));
	ck_assert(!kernel_expected_bytes(&rot, fixture_kernel(a), "l2l3", "read", &value, &why));
	ck_assert_str_eq(why.text, "");
	ck_assert(kernel_expected_bytes(&rot, fixture_kernel(b), "l2l3", "read", &value, &why));
	ck_assert_double_eq(value, 8e6);
	ck_assert(!kernel_expected_operations(&rot, fixture_kernel(c), "singlePrecisionFlop", &value, &why));
	ck_assert_msg(strstr(why.text, "Tiny.xml:10"), "%s", why.text);
}

/* One row for several borders: each has its own caches, and each thread its own part of them. */
TEST(rows_are_of_the_borders_they_name)
{
	static const char *const two[] = {"numThreads=2", NULL};
	static const char *const borders[] = {"l1l2", "l2l", "l3", "llcRam"};
	autograph struct measurement *a = fixture_measurement("Tiny", NULL), *b = fixture_measurement("Tiny", two);
	double value = -1;

	rot.machine->l2_bytes = 1000;
	ck_assert(kernel_expected_bytes(&rot, fixture_kernel(a), "l2l3", "write", &value, &why));
	ck_assert_double_eq(value, 1000);
	ck_assert(kernel_expected_bytes(&rot, fixture_kernel(b), "l2l3", "write", &value, &why));
	ck_assert_double_eq(value, 2000);
	ck_assert(kernel_expected_bytes(&rot, fixture_kernel(b), "cpuL1", "write", &value, &why));
	ck_assert_double_eq(value, 0);
	for (size_t i = 0; i < sizeof borders / sizeof *borders; i++)
		ck_assert(!kernel_expected_bytes(&rot, fixture_kernel(a), borders[i], "write", &value, &why));
	ck_assert_str_eq(why.text, "");
}

UNIT_TESTS(.set_up = setup, .tear_down = teardown);
