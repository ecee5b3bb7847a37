/* SPDX-License-Identifier: MIT */
/* Running programs: one, several at a time, and those that cannot be started. */
#include "base/process.h"
#include "testing.h"

#define MAX_JOBS 8

/* Shell scripts, in order, and what became of them. */
struct scripts {
	const char *argv[MAX_JOBS][4];
	struct process_job jobs[MAX_JOBS];
	size_t nr, nr_begun, nr_ended;
	int rc[MAX_JOBS], status[MAX_JOBS];
	char output[MAX_JOBS][64];
	struct rot_error err[MAX_JOBS];
};

static void
add_script(struct scripts *scripts, const char *program, const char *script, const char *folder)
{
	const size_t i = scripts->nr++;
	const char *const argv[] = {program, "-c", script, NULL};

	memcpy(scripts->argv[i], argv, sizeof(argv));
	scripts->jobs[i] = (struct process_job){.argv = scripts->argv[i], .folder = folder};
}

static struct process_job *
next(void *context)
{
	struct scripts *scripts = context;

	return scripts->nr_begun < scripts->nr ? &scripts->jobs[scripts->nr_begun++] : NULL;
}

static void
ended(void *context, struct process_job *job, int rc, const struct rot_error *err)
{
	struct scripts *scripts = context;
	const size_t i = (size_t)(job - scripts->jobs);

	scripts->nr_ended++;
	scripts->rc[i] = rc;
	scripts->err[i] = *err;
	if (rc == 0) {
		scripts->status[i] = job->result.status;
		snprintf(scripts->output[i], sizeof(scripts->output[i]), "%s", job->result.output);
	}
	process_result_clear(&job->result);
}

static void
run_all(struct scripts *scripts, size_t nr_at_once)
{
	const struct process_source source = {.context = scripts, .next = next, .ended = ended};

	process_run_all(&source, nr_at_once);
	ck_assert_uint_eq(scripts->nr_ended, scripts->nr);
}

/* Each of two waits for what the other does: one after the other they would wait for ever. */
TEST(programs_run_at_the_same_time)
{
	char *folder = temporary_folder_new();
	struct scripts scripts = {.nr = 0};

	add_script(&scripts, "sh", "mkfifo a b && : >go; echo first; cat a; echo last >b", folder);
	add_script(&scripts, "sh", "until [ -e go ]; do sleep 0.01; done; echo second >a; cat b", folder);
	add_script(&scripts, "sh", "echo third >&2; exit 3", folder);
	run_all(&scripts, 2);
	for (size_t i = 0; i < 3; i++)
		ck_assert_msg(scripts.rc[i] == 0, "%s", scripts.err[i].text);
	ck_assert_str_eq(scripts.output[0], "first\nsecond\n");
	ck_assert_str_eq(scripts.output[1], "last\n");
	ck_assert_str_eq(scripts.output[2], "third\n");
	ck_assert_int_eq(scripts.status[1], 0);
	ck_assert_int_eq(scripts.status[2], 3);
}

/* One that cannot be started takes nothing from the others. */
TEST(programs_that_are_missing_are_passed_over)
{
	struct scripts scripts = {.nr = 0};

	add_script(&scripts, "no-such-program", "", NULL);
	add_script(&scripts, "sh", "echo there", NULL);
	add_script(&scripts, "sh", "echo there", "/no/such/folder");
	run_all(&scripts, 1);
	ck_assert_int_eq(scripts.rc[0], -1);
	ck_assert(scripts.jobs[0].is_not_found);
	ck_assert_has(scripts.err[0].text, "cannot find the program 'no-such-program'");
	ck_assert_str_eq(scripts.output[1], "there\n");
	ck_assert_int_eq(scripts.rc[2], -1);
	ck_assert_has(scripts.err[2].text, "/no/such/folder");
}

TEST(a_signal_is_told)
{
	const char *const argv[] = {"sh", "-c", "kill -9 $$", NULL};
	cleared_by(process_result_clear) struct process_result result = {0};

	ck_assert_int_eq(process_run(argv, NULL, &result, NULL, NULL), 0);
	ck_assert_int_eq(result.status, -1);
	ck_assert_int_eq(result.signal, 9);
}
