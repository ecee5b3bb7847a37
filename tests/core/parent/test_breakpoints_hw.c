/* SPDX-License-Identifier: MIT */
/* Breakpoints are hit exactly, and the program does not notice: see kinds.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kinds.h"
#include "memory.h"
#include "parent/breakpoints.h"
#include "testing.h"
#include "traced.h"

static const char *const names[] = {
#define KIND(name, needs, first, rest, result) #name,
	KINDS
#undef KIND
};

static bool
is_possible(int kind)
{
	const bool has[] = {
#define KIND(name, needs, first, rest, result) HAS_##needs,
		KINDS
#undef KIND
	};

	return has[kind];
}

static long hits[NR_KINDS];
static uint64_t addresses[NR_KINDS];

static void
count_hit(void *context, const struct breakpoint_hit *hit)
{
	int kind = (int)((long *)context - hits);

	ck_assert_uint_eq(hit->address, addresses[kind]);
	ck_assert_uint_eq(hit->registers->rip, addresses[kind]);
	hits[kind]++;
}

/* Address of the table in the code of a process; 0: it is not there. */
static uint64_t
find_table(struct image *image, pid_t pid)
{
	char *path = rot_format("/proc/%d/maps", (int)pid), line[4096];
	FILE *file = fopen(path, "re");
	uint64_t found = 0;

	while (file && !found && fgets(line, sizeof(line), file)) {
		unsigned long long start, end;
		char *bytes, *at;

		if (sscanf(line, "%llx-%llx r-xp", &start, &end) < 2 || !strstr(line, "/kinds") ||
		    !strstr(line, "r-xp"))
			continue;
		bytes = rot_calloc(1, end - start);
		ck_assert_int_eq(image_read(image, start, bytes, end - start), 0);
		at = memmem(bytes, end - start, KINDS_MAGIC, sizeof(KINDS_MAGIC));
		found = at ? start + (uint64_t)(at - bytes) : 0;
		free(bytes);
	}
	if (file)
		fclose(file);
	free(path);
	return found;
}

static void
set_on_all_kinds(void *context, struct thread *thread)
{
	uint64_t table = find_table(thread->image, thread->pid);
	int32_t distances[NR_KINDS];

	(void)context;
	ck_assert_uint_ne(table, 0);
	ck_assert_int_eq(image_read(thread->image, table + sizeof(KINDS_MAGIC), distances, sizeof(distances)), 0);
	for (int i = 0; i < NR_KINDS; i++) {
		struct breakpoint_user user = {.hit = count_hit, .context = &hits[i]};
		struct rot_error err;

		addresses[i] = table + (uint64_t)(int64_t)distances[i];
		ck_assert_msg(breakpoint_set(thread, addresses[i], user, &err) == 0, "%s: %s", names[i], err.text);
	}
}

static const char *const victims[] = {"kinds", "kinds_no_pie", "kinds_static", "kinds_static_pie"};

/* Static ones are missing where libc cannot be linked so. */
static char *
victim_path(const char *name)
{
	char *path = built_path("tests/core/parent/%s", name);

	if (access(path, X_OK) == 0)
		return path;
	ck_assert(strstr(name, "static"));
	free(path);
	return NULL;
}

static const struct {
	const char *threads, *rounds, *interval_us;
} ways[] = {{"1", "100", "0"}, {"4", "50", "0"}, {"4", "50", "100"}};

START_TEST(all_kinds_are_exact)
{
	char *path = victim_path(victims[_i / NR_ELEMENTS(ways)]);
	int way = _i % NR_ELEMENTS(ways);
	const char *const arguments[] = {path, ways[way].threads, ways[way].rounds, ways[way].interval_us, NULL};
	long expected = atol(ways[way].threads) * atol(ways[way].rounds);
	struct traced traced = {0};

	if (!path)
		return;
	memset(hits, 0, sizeof(hits));
	traced.images.at_entry = set_on_all_kinds;
	ck_assert_int_eq(traced_begin(&traced, arguments), 0);
	traced_run(&traced);
	ck_assert_int_eq(traced.status, 0);
	for (int i = 0; i < NR_KINDS; i++) {
		long known = is_possible(i) ? expected + (i == KIND_cpuid) : 0;

		ck_assert_msg(hits[i] == known, "%s: %ld hits instead of %ld", names[i], hits[i], known);
	}
	free(path);
}
END_TEST

static Suite *
breakpoints_suite(void)
{
	Suite *suite = suite_create("breakpoints");
	TCase *tcase = tcase_create("kinds");

	tcase_set_timeout(tcase, 300);
	tcase_add_loop_test(tcase, all_kinds_are_exact, 0, NR_ELEMENTS(victims) * NR_ELEMENTS(ways));
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	int status = traced_probe();

	return status ? status : suite_run(breakpoints_suite());
}
