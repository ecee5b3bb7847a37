/* SPDX-License-Identifier: MIT */
/* Which end belongs to which beginning: stories, and random programs against what they are known to do. */
#include "parent/symbols/frames.h"
#include "testing.h"

#define TOP 0x7ffe0000u

static struct frames frames;
static uint64_t now_ns;

static void
set_up(void)
{
	frames = (struct frames){.rule = {.kind = FRAMES_FUNCTION, .first_hit = 1}};
	now_ns = 0;
}

static void
tear_down(void)
{
	frames_clear(&frames);
}

/* Depth below the top of the stack, in frames of 16 bytes; each moment is 10 ns and 3 counts after the one before. */
static struct frames_moment
moment(int depth, struct perf_counts *counts)
{
	now_ns += 10;
	*counts = (struct perf_counts){.enabled_ns = now_ns, .running_ns = now_ns, .values = {now_ns * 3 / 10}};
	return (struct frames_moment){.stack_pointer = TOP - 16 * (uint64_t)depth, .time_ns = now_ns, .counts = counts};
}

static void
enter(int depth)
{
	struct perf_counts counts;
	struct frames_moment here = moment(depth, &counts);

	frames_enter(&frames, &here);
}

static void
enter_for_team(int depth)
{
	struct perf_counts counts;
	struct frames_moment here = moment(depth, &counts);

	here.is_team = true;
	frames_enter(&frames, &here);
}

static void
leave(int depth)
{
	struct perf_counts counts;
	struct frames_moment here = moment(depth, &counts);

	frames_leave(&frames, &here);
}

static void
expect(long hits, long measured, long abandoned, long lost)
{
	ck_assert_int_eq(frames.hits, hits);
	ck_assert_int_eq(frames.measured_hits, measured);
	ck_assert_int_eq(frames.abandoned_hits, abandoned);
	ck_assert_int_eq(frames.lost_hits, lost);
}

/* ---- stories ---- */

TEST(a_call)
{
	enter(1);
	leave(1);
	frames_end(&frames);
	expect(1, 1, 0, 0);
	ck_assert_uint_eq(frames.time_ns, 10);
	ck_assert_uint_eq(frames.counts.values[0], 3);
	ck_assert_uint_eq(frames.counts.enabled_ns, 10);
}

TEST(recursion_is_measured_from_outside)
{
	for (int i = 1; i <= 20; i++)
		enter(i);
	for (int i = 20; i >= 1; i--)
		leave(i);
	frames_end(&frames);
	expect(20, 1, 0, 0);
	ck_assert_int_eq(frames.inner_hits, 19);
	ck_assert_uint_eq(frames.time_ns, 390);
}

TEST(exceptions_abandon_frames)
{
	enter(1);
	enter(3);
	enter(5);
	/* caught within the first */
	enter(2);
	leave(2);
	leave(1);
	frames_end(&frames);
	expect(4, 1, 2, 0);
	ck_assert_uint_eq(frames.time_ns, 50);
}

/* The call comes again from the same place: the stack pointer is that of the one that was left. */
TEST(a_loop_around_an_exception)
{
	for (int i = 0; i < 300; i++) {
		enter(4);
		if (i % 3)
			leave(4);
	}
	frames_end(&frames);
	expect(300, 200, 100, 0);
	ck_assert_uint_eq(frames.time_ns, 2000);
}

TEST(ends_without_beginning)
{
	leave(1);
	enter(2);
	leave(1);
	leave(2);
	expect(1, 1, 0, 0);
}

TEST(what_is_open_at_the_end)
{
	enter(1);
	enter(2);
	frames_end(&frames);
	expect(2, 0, 2, 0);
	ck_assert_uint_eq(frames.nr_open, 0);
}

TEST(what_is_open_is_measured_until_it_is_forgotten)
{
	enter(1);
	enter(2);
	frames_forget(&frames, 25);
	expect(2, 1, 0, 0);
	ck_assert_uint_eq(frames.nr_open, 0);
	ck_assert_int_eq(frames.inner_hits, 1);
	ck_assert_uint_eq(frames.time_ns, 15);
}

TEST(what_begins_later_is_forgotten)
{
	now_ns = 30;
	enter(1);
	frames_forget(&frames, 40);
	frames_forget(&frames, 50);
	expect(1, 0, 0, 0);
	ck_assert_uint_eq(frames.nr_open, 0);
	ck_assert_uint_eq(frames.time_ns, 0);
}

TEST(what_may_have_ended_is_forgotten)
{
	enter(1);
	frames_lose(&frames, 1);
	frames_forget(&frames, 25);
	expect(1, 0, 0, 0);
	ck_assert_uint_eq(frames.time_ns, 0);
	leave(1);
	frames_end(&frames);
	expect(1, 0, 0, 0);
}

TEST(some_hits)
{
	frames.rule.first_hit = 3;
	frames.rule.last_hit = 5;
	for (int i = 0; i < 10; i++) {
		enter(1);
		enter(2);
		leave(2);
		leave(1);
	}
	expect(20, 3, 0, 0);
	ck_assert_uint_eq(frames.time_ns, 90);
}

TEST(a_jump_to_the_beginning_is_no_call)
{
	frames.rule.kind = FRAMES_LOOP;
	enter(1);
	enter(1);
	enter(2);
	enter(2);
	leave(2);
	enter(1);
	leave(1);
	frames_end(&frames);
	expect(2, 1, 0, 0);
	ck_assert_uint_eq(frames.time_ns, 60);
}

/* Begin and end are functions that are called from anywhere. */
TEST(a_span)
{
	frames.rule.kind = FRAMES_SPAN;
	enter(5);
	leave(9);
	enter(3);
	leave(2);
	expect(2, 2, 0, 0);
	enter(7);
	enter(7);
	leave(1);
	frames_end(&frames);
	expect(4, 3, 1, 0);
}

/* The thread that opens a team is inside already, the others are not; each may open another one. */
TEST(a_team)
{
	enter(1);
	enter_for_team(2);
	leave(2);
	leave(1);
	expect(1, 1, 0, 0);
	ck_assert_int_eq(frames.inner_hits, 1);
	ck_assert_int_eq(frames.team_hits, 0);
	ck_assert_uint_eq(frames.time_ns, 30);
	enter_for_team(1);
	enter_for_team(2);
	leave(2);
	leave(1);
	enter_for_team(1);
	frames_end(&frames);
	expect(1, 1, 1, 0);
	ck_assert_int_eq(frames.team_hits, 1);
	ck_assert_uint_eq(frames.time_ns, 60);
	ck_assert_uint_eq(frames.counts.values[0], 18);
}

/* A signal handler on a stack of its own, above or below. */
TEST(other_stacks)
{
	enter(1000);
	enter(1000 - (int)(FRAMES_STACK_BYTES / 16));
	leave(1000 - (int)(FRAMES_STACK_BYTES / 16));
	enter(1000 + (int)(FRAMES_STACK_BYTES / 16));
	leave(1000 + (int)(FRAMES_STACK_BYTES / 16));
	leave(1000);
	frames_end(&frames);
	expect(3, 1, 0, 0);
}

TEST(lost_moments)
{
	enter(1);
	frames_lose(&frames, 2); /* its end, the next beginning */
	leave(1);
	expect(1, 0, 0, 1);
	frames_lose(&frames, 0);
	enter(1);
	leave(1);
	expect(2, 1, 0, 1);
	frames_end(&frames);
	expect(2, 1, 0, 2);
	frames_end(&frames);
	expect(2, 1, 0, 2);
	frames_lose(&frames, 1); /* of one hit, whichever it was */
	frames_end(&frames);
	expect(2, 1, 0, 3);
}

/* An end and another beginning would be two. */
TEST(a_hit_with_one_lost_moment_is_measured)
{
	enter(1);
	frames_lose(&frames, 1);
	leave(1);
	expect(1, 1, 0, 0);
}

TEST(a_lost_beginning_and_a_lost_end)
{
	frames_lose(&frames, 1);
	leave(1);
	expect(0, 0, 0, 1);
	enter(1);
	frames_lose(&frames, 1);
	enter(1);
	leave(1);
	frames_end(&frames);
	expect(2, 1, 0, 2);
}

TEST(without_counters)
{
	const struct frames_moment begin = {.stack_pointer = TOP, .time_ns = 5},
				   end = {.stack_pointer = TOP, .time_ns = 12};

	frames_enter(&frames, &begin);
	frames_leave(&frames, &end);
	expect(1, 1, 0, 0);
	ck_assert_uint_eq(frames.time_ns, 7);
	ck_assert_uint_eq(frames.counts.values[0], 0);
}

/* ---- random programs ---- */

#define MAX_DEPTH 40
#define NR_STEPS 4000

/* The known doings of a thread: it calls the region's function from itself, returns, and throws. */
struct known {
	uint64_t begin_ns[MAX_DEPTH]; /* of each that is open */
	int depth;
	long hits, measured, abandoned;
	uint64_t time_ns;
	unsigned percent_lost;
	uint64_t nr_lost; /* not told yet */
};

static bool
loses(struct known *known)
{
	if ((unsigned)rand() % 100 >= known->percent_lost) {
		frames_lose(&frames, known->nr_lost);
		known->nr_lost = 0;
		return false;
	}
	known->nr_lost++;
	now_ns += 10;
	return true;
}

static void
call(struct known *known)
{
	if (!loses(known))
		enter(known->depth);
	known->begin_ns[known->depth++] = now_ns;
	known->hits++;
}

static void
return_from(struct known *known)
{
	known->depth--;
	if (!loses(known))
		leave(known->depth);
	if (known->depth == 0) {
		known->measured++;
		known->time_ns += now_ns - known->begin_ns[0];
	}
}

static void
step(struct known *known)
{
	int what = rand() % 100;

	now_ns += (uint64_t)rand() % 5 * 10;
	if (what < 48 && known->depth < MAX_DEPTH) {
		call(known);
	} else if (what < 97 && known->depth > 0) {
		return_from(known);
	} else if (known->depth > 0) {
		int nr = 1 + rand() % known->depth;

		known->depth -= nr;
		known->abandoned += nr;
	}
}

TEST_OF(random_programs, 100)
{
	struct known known = {0};

	srand((unsigned)_i);
	for (int i = 0; i < NR_STEPS; i++)
		step(&known);
	known.abandoned += known.depth;
	frames_end(&frames);
	expect(known.hits, known.measured, known.abandoned, 0);
	ck_assert_uint_eq(frames.time_ns, known.time_ns);
	ck_assert_uint_eq(frames.counts.values[0], known.time_ns / 10 * 3);
}

/* No hit is measured that was none, and all that are missing are known to be. */
TEST_OF(random_programs_with_losses, 100)
{
	struct known known = {.percent_lost = 1 + (unsigned)_i % 30};

	srand((unsigned)_i);
	for (int i = 0; i < NR_STEPS; i++)
		step(&known);
	frames_lose(&frames, known.nr_lost);
	frames_end(&frames);
	ck_assert_int_le(frames.hits, known.hits);
	ck_assert_int_ge(frames.hits + frames.lost_hits, known.hits);
	ck_assert_int_gt(frames.lost_hits, 0);
	ck_assert_int_gt(frames.measured_hits, 0);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = set_up, .tear_down = tear_down);
