/* SPDX-License-Identifier: MIT */
/*
 * Functions that destroy every register are run in threads that compute and that wait: no thread notices. Where a part
 * of the care is left out, they do.
 */
#include <stddef.h>

#include "injecting.h"
#include "permits.h"
#include "testing.h"

#define CLOBBER offsetof(struct victim_shared, clobber)
#define CONFLICT offsetof(struct victim_shared, conflict)
#define FAULT offsetof(struct victim_shared, fault)

#define COMPUTING "integers", "red_zone", "sse", "avx", "avx512", "x87", "rounding", "backwards"
#define WAITING                                                                                                        \
	"futex", "futex_timed", "futex_timeout", "nanosleep", "clock_nanosleep", "poll_timeout", "timerfd", "eventfd", \
		"poll", "ppoll", "select", "epoll_wait", "epoll_pwait", "pipe_read", "recv", "accept", "semop",        \
		"semtimedop", "sigtimedwait", "masked"

/* Nothing may be wrong in any thread, and everything must have been done, there and not elsewhere. */
static void
expect_right(const struct injecting_result *result, int64_t count)
{
	ck_assert_int_eq(result->status, 0);
	for (int i = 0; i < result->shared->nr_slots; i++) {
		const struct victim_slot *slot = &result->shared->slots[i];

		ck_assert_msg(slot->nr_wrong == 0, "%s: %lu of %lu rounds wrong, last: %lu", slot->name,
			      (unsigned long)slot->nr_wrong, (unsigned long)slot->nr_rounds,
			      (unsigned long)slot->wrong_value);
		ck_assert_msg(slot->nr_ran == (uint64_t)count && slot->nr_strange == 0,
			      "%s: %lu of %lu were run, %lu elsewhere", slot->name, (unsigned long)slot->nr_ran,
			      (unsigned long)count, (unsigned long)slot->nr_strange);
	}
	ck_assert_int_eq(result->nr_asked, result->nr_done + result->nr_faulted + result->nr_dropped);
}

static const struct injecting harmless[] = {
	{.names = {COMPUTING}, .count = 60, .function = CLOBBER, .pause_us = 50},
	{.names = {COMPUTING}, .count = 60, .function = CLOBBER, .pause_us = 50, .neglects = INJECTOR_NEGLECTS_TRIGGER},
	{.names = {WAITING}, .count = 40, .function = CLOBBER, .pause_us = 50},
	{.names = {WAITING}, .count = 40, .function = CLOBBER, .pause_us = 50, .neglects = INJECTOR_NEGLECTS_TRIGGER},
	{.names = {"rseq"}, .count = 300, .function = CONFLICT, .pause_us = 50},
	{.names = {"integers", "avx", "futex"}, .count = 100, .function = CLOBBER, .pause_us = 50, .from_copy = true},
	{.names = {"integers", "avx", "futex", "nanosleep"},
	 .count = 200,
	 .function = CLOBBER,
	 .pause_us = 50,
	 .stops_and_continues = true},
};

TEST_OF(threads_do_not_notice, NR_ELEMENTS(harmless))
{
	struct injecting_result result = injecting_run(&harmless[_i]);

	expect_right(&result, harmless[_i].count);
	ck_assert_int_eq(result.nr_done, result.nr_asked);
}

/* A write that the pipe has taken a part of can only be saved by not interrupting it. */
TEST(writes_to_a_full_pipe_are_not_cut_short)
{
	const struct injecting what = {.names = {"pipe_write"}, .count = 40, .function = CLOBBER, .pause_us = 50};
	struct injecting_result result = injecting_run(&what);

	if (result.nr_triggers > 0)
		expect_right(&result, what.count);
}

TEST(functions_that_fault_are_given_up)
{
	const struct injecting what = {
		.names = {"integers", "avx", "futex", "epoll_wait"}, .count = 50, .function = FAULT, .pause_us = 50};
	struct injecting_result result = injecting_run(&what);

	expect_right(&result, what.count);
	ck_assert_int_eq(result.nr_faulted, result.nr_asked);
	ck_assert_int_eq(result.last_signal, SIGSEGV);
}

TEST_OF(all_is_answered_when_the_program_is_killed, 5)
{
	const struct injecting what = {.names = {"integers", "avx", "futex", "epoll_wait"},
				       .count = 1000000,
				       .function = CLOBBER,
				       .pause_us = 50,
				       .kill_after = 30 + 7 * _i};
	struct injecting_result result = injecting_run(&what);

	ck_assert(WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGKILL);
	ck_assert_int_eq(result.nr_asked, result.nr_done + result.nr_faulted + result.nr_dropped);
	ck_assert_int_eq(result.nr_faulted, 0);
}

TEST_OF(all_is_answered_when_another_program_is_executed, 5)
{
	const struct injecting what = {.names = {"integers", "avx", "futex", "epoll_wait"},
				       .count = 1000000,
				       .function = CLOBBER,
				       .pause_us = 50,
				       .exec_after = 30 + 7 * _i};
	struct injecting_result result = injecting_run(&what);

	ck_assert_int_eq(result.status, 0);
	ck_assert_int_eq(result.nr_asked, result.nr_done + result.nr_faulted + result.nr_dropped);
	ck_assert_int_eq(result.nr_faulted, 0);
}

/* The same without a part of it. */
static const struct injecting harmful[] = {
	{.names = {"sse"}, .count = 200, .function = CLOBBER, .pause_us = 50, .neglects = INJECTOR_NEGLECTS_VECTORS},
	{.names = {"x87"}, .count = 200, .function = CLOBBER, .pause_us = 50, .neglects = INJECTOR_NEGLECTS_VECTORS},
	{.names = {"rounding"},
	 .count = 200,
	 .function = CLOBBER,
	 .pause_us = 50,
	 .neglects = INJECTOR_NEGLECTS_VECTORS},
	{.names = {"red_zone"},
	 .count = 200,
	 .function = CLOBBER,
	 .pause_us = 50,
	 .neglects = INJECTOR_NEGLECTS_RED_ZONE},
	{.names = {"rseq"}, .count = 400, .function = CONFLICT, .pause_us = 50, .neglects = INJECTOR_NEGLECTS_RSEQ},
};

/* How often a thread is met within a few instructions is left to chance. */
TEST_OF(threads_notice_what_is_left_out, NR_ELEMENTS(harmful))
{
	bool is_noticed = false;

	for (int i = 0; i < 10 && !is_noticed; i++) {
		struct injecting_result result = injecting_run(&harmful[_i]);

		is_noticed = result.shared->nr_slots == 0 || result.shared->slots[0].nr_wrong > 0;
	}
	ck_assert(is_noticed);
}

UNIT_TESTS(.needs = {permits_tracing});
