/* SPDX-License-Identifier: MIT */
/* The result cache: what is stored comes back, what is damaged never harms. */
#include <poll.h>
#include <sys/resource.h>

#include "base/files.h"
#include "base/paths.h"
#include "engine/result_cache.h"
#include "fixture.h"
#include "testing.h"

#define HASH "ab34567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef"

static struct result_cache *cache;
static char *path; /* of the result's file */

static void
setup(void)
{
	fixture_setup();
	cache = result_cache_new(rot.paths->cache, rot.registry);
	path = fixture_path("cache/results/ab/" HASH ".xml");
}

static void
teardown(void)
{
	result_cache_delete(cache);
	free(path);
	fixture_teardown();
}

/* A result with nr runs, which differ. */
static struct measurement_result *
make_result(int nr)
{
	struct measurement_result *result = measurement_result_new();

	rot_string_set(&result->description_hash, HASH);
	rot_string_set(&result->description, "<Measurement text=\"a &amp; b\"/>");
	result->machine = rot_graph_clone(rot.machine, NULL);
	for (int i = 0; i < nr; i++) {
		struct measurement_run_output *run = measurement_run_output_new();
		struct measurer_set_output *set = measurer_set_output_new();
		struct execution_time_measurer_output *time = execution_time_measurer_output_new();

		run->order = i;
		time->nano_seconds = 1000 + (uint64_t)i;
		set->main_measurer_output = (struct measurer_output_base *)time;
		measurement_run_output_measurer_set_outputs_add(run, set);
		measurement_result_outputs_add(result, run);
	}
	return result;
}

/* Runs action with standard error in a file; what was printed, fresh memory. */
static char *
printed_by(void (*action)(void *context), void *context)
{
	FILE *capture = tmpfile(), *old = stderr;
	char *text;
	long length;

	stderr = capture;
	action(context);
	stderr = old;
	length = ftell(capture);
	text = rot_calloc((size_t)length + 1, 1);
	rewind(capture);
	ck_assert_int_eq((int)fread(text, 1, (size_t)length, capture), (int)length);
	fclose(capture);
	return text;
}

static void
load(void *context)
{
	*(struct measurement_result **)context = result_cache_load(cache, HASH);
}

static void
store(void *context)
{
	result_cache_store(cache, context);
}

/* The message of loading the result; NULL instead of a result must come of it. */
static char *
refused_load(void)
{
	struct measurement_result *loaded = NULL;
	char *text = at_end(free, printed_by(load, &loaded));

	ck_assert_msg(!loaded, "%s", text);
	return text;
}

/* A stored result must come back. */
static void
expect_stored(struct measurement_result *result)
{
	autograph struct measurement_result *loaded = NULL;

	result_cache_store(cache, result);
	loaded = result_cache_load(cache, HASH);
	ck_assert(rot_graph_equal(result, loaded));
}

static bool
is_set_aside(void)
{
	autofree char *damaged = rot_format("%s.damaged", path);

	return access(path, F_OK) < 0 && access(damaged, F_OK) == 0;
}

TEST(stored_result_comes_back)
{
	autograph struct measurement_result *result = make_result(3), *longer = make_result(5);
	autofree char *tag = fixture_path("cache/CACHEDIR.TAG"), *text = NULL;

	ck_assert_ptr_null(result_cache_load(cache, HASH));
	unlink(tag);
	expect_stored(result);
	text = file_read(tag, NULL, NULL);
	ck_assert(text && strncmp(text, "Signature: 8a477f597d28d172789f06886806bc55", 43) == 0);
	expect_stored(longer);
}

/* The file must be absent, and set aside with one warning. */
static void
expect_damaged(const char *content, size_t length, const char *what)
{
	const char *text;

	ck_assert_int_eq(file_write(path, content, length, false, &why), 0);
	text = refused_load();
	ck_assert_msg(strstr(text, "warning") && strstr(text, HASH), "%s: %s", what, text);
	ck_assert_msg(is_set_aside(), "%s", what);
}

TEST(every_kind_of_damage_is_set_aside)
{
	autograph struct measurement_result *result = make_result(2);
	autofree char *content = NULL, *longer = NULL, *older = NULL;
	size_t length;

	result_cache_store(cache, result);
	content = file_read(path, &length, NULL);
	for (size_t i = 0; i < length; i += i < strcspn(content, "\n") + 40 ? 1 : 61) {
		autofree char *changed = rot_strndup(content, length);

		changed[i] ^= 1;
		expect_damaged(changed, length, "a changed byte");
	}
	for (size_t i = 0; i < length; i += 37)
		expect_damaged(content, i, "a truncated file");
	expect_damaged("", 0, "an empty file");
	longer = rot_format("%s\n", content);
	expect_damaged(longer, length + 1, "a longer file");
	older = rot_format("<!-- rot result 0 %s", content + strlen("<!-- rot result 1 "));
	expect_damaged(older, length, "another version");
	expect_stored(result);
}

static void
make_pipe(void)
{
	ck_assert_int_eq(mkfifo(path, 0666), 0);
}

static void
make_folder(void)
{
	ck_assert_int_eq(mkdir(path, 0777), 0);
}

/* The file is so large that reading all of it would take too long. */
static void
make_hole(void)
{
	file_fill(path, "");
	ck_assert_int_eq(truncate(path, (off_t)1 << 42), 0);
}

static void (*const others[])(void) = {make_pipe, make_folder, make_hole};

TEST_OF(what_is_no_such_file_is_set_aside, NR_ELEMENTS(others))
{
	autograph struct measurement_result *result = make_result(2);

	result_cache_store(cache, result);
	ck_assert_int_eq(unlink(path), 0);
	others[_i]();
	ck_assert_has(refused_load(), "set aside");
	ck_assert(is_set_aside());
	expect_stored(result);
}

/* Before it is known what stands there. */
TEST(a_pipe_is_replaced)
{
	autograph struct measurement_result *result = make_result(2);

	result_cache_store(cache, result);
	ck_assert_int_eq(unlink(path), 0);
	make_pipe();
	expect_stored(result);
}

/* Files that a killed rot left go when the next one stores something; those that another one writes stay. */
TEST(leftovers_are_swept)
{
	const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	autograph struct measurement_result *result = make_result(1);
	autofree char *left = fixture_path("cache/results/cd/cd12.xml" FILE_TEMPORARY),
		      *written = fixture_path("cache/results/cd/cd34.xml" FILE_TEMPORARY);

	fixture_write("cache/results/cd/cd12.xml" FILE_TEMPORARY, "<!--", false);
	fixture_write("cache/results/cd/cd34.xml" FILE_TEMPORARY, "<!--", false);
	ck_assert_int_eq(utimensat(AT_FDCWD, left, old, 0), 0);
	result_cache_store(cache, result);
	ck_assert_int_eq(access(left, F_OK), -1);
	ck_assert_int_eq(access(written, F_OK), 0);
}

/* Intact, but not what the name says. */
TEST(result_of_another_description_is_set_aside)
{
	static const char other[] = "cd34567890abcdef1234567890abcdef1234567890abcdef1234567890abcdef";
	autograph struct measurement_result *result = make_result(1);
	autofree char *name = rot_format("cache/results/cd/%s.xml", other), *from = fixture_path(name);

	rot_string_set(&result->description_hash, other);
	result_cache_store(cache, result);
	fixture_write("cache/results/ab/x", "", false);
	ck_assert_int_eq(rename(from, path), 0);
	ck_assert_has(refused_load(), "it is not the result");
}

/* The results folder is a file: neither reading nor writing works, also for root. */
TEST(unusable_folder_costs_one_warning_each)
{
	autograph struct measurement_result *result = make_result(1);
	autofree char *first = NULL, *second = NULL;

	fixture_write("cache/results", "no folder", false);
	ck_assert_has(refused_load(), "warning");
	first = printed_by(store, result);
	ck_assert_msg(strstr(first, "warning") && strstr(first, "not kept"), "%s", first);
	ck_assert_str_eq(refused_load(), "");
	second = printed_by(store, result);
	ck_assert_str_eq(second, "");
}

/* A disk that takes no more, made by the limit of a file's size. */
TEST(full_disk_keeps_the_old_result)
{
	autograph struct measurement_result *old = make_result(1), *new = make_result(200), *loaded = NULL;
	struct rlimit before, limit;
	char *text, *folder = fixture_path("cache/results/ab"), **names;

	result_cache_store(cache, old);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){2048, before.rlim_max};
	/* Standard error's file is small, so the warning still fits; the one that libcheck reports to may not be. */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	text = printed_by(store, new);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_msg(strstr(text, "warning") && strstr(text, "File too large"), "%s", text);
	loaded = result_cache_load(cache, HASH);
	ck_assert(rot_graph_equal(old, loaded));
	names = folder_list(folder);
	ck_assert(names[0] && !names[1]);
	free(names);
	free(folder);
	free(text);
}

/* Two writers and a reader at once: the reader always sees one of the two results, whole. */
TEST(concurrent_writers_never_show_half_a_file)
{
	struct measurement_result *results[] = {make_result(10), make_result(300)};
	pid_t writers[2];

	result_cache_store(cache, results[0]);
	for (int w = 0; w < 2; w++) {
		writers[w] = fork();
		if (writers[w] == 0) {
			for (int i = 0; i < 20; i++)
				result_cache_store(cache, results[w]);
			_exit(0);
		}
	}
	for (int i = 0; i < 60; i++) {
		autograph struct measurement_result *loaded = result_cache_load(cache, HASH);

		ck_assert(loaded && (rot_graph_equal(loaded, results[0]) || rot_graph_equal(loaded, results[1])));
	}
	for (int w = 0; w < 2; w++) {
		int status;

		waitpid(writers[w], &status, 0);
		ck_assert_int_eq(status, 0);
		rot_graph_delete(results[w]);
	}
}

TEST(lock_is_held_by_one_and_freed_by_death)
{
	int lock = cache_lock(rot.paths->cache), ready[2], status;
	char byte = 0;
	pid_t other;

	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(pipe(ready), 0);
	other = fork();
	if (other == 0) {
		int own;

		close(lock);
		own = cache_lock(rot.paths->cache);
		if (write(ready[1], "x", 1) != 1 || own < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	/* The other waits as long as we have it. */
	ck_assert_int_eq(poll(&(struct pollfd){.fd = ready[0], .events = POLLIN}, 1, 200), 0);
	cache_unlock(lock);
	ck_assert_int_eq((int)read(ready[0], &byte, 1), 1);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	lock = cache_lock(rot.paths->cache);
	ck_assert_int_ge(lock, 0);
	cache_unlock(lock);
	ck_assert_int_eq(cache_lock("/nowhere/at/all"), -1);
	cache_unlock(-1);
	close(ready[0]);
}

UNIT_TESTS(.set_up = setup, .tear_down = teardown);
