/* SPDX-License-Identifier: MIT */
#include "parent/stepping/step_queue.h"

#include <string.h>

#include "testing.h"

#define NR 4

/* Two threads of each of two processes. */
static struct thread threads[NR] = {{.pid = 1}, {.pid = 1}, {.pid = 2}, {.pid = 2}};
static struct stepped stepped[NR];
static struct step_queue queue;

static void
reset(void)
{
	memset(stepped, 0, sizeof(stepped));
	memset(&queue, 0, sizeof(queue));
	for (int i = 0; i < NR; i++)
		stepped[i].thread = &threads[i];
}

/*
 * What happens to thread number n: "+n" it is added, "-n" taken out, "~n" sent away, ">" the queue is rotated. Then who
 * is in the queue, who comes later, and how many are active.
 */
static const struct {
	const char *script, *first, *later;
	size_t nr_active;
} cases[] = {
	{"", "", "", 0},
	{"+0", "0", "", 1},
	{"+0+1", "01", "", 2},
	{"+0+1>", "10", "", 2},
	{"+0>", "0", "", 1},
	{"+0+1-0", "1", "", 1},
	{"+0+1-1", "0", "", 1},
	/* away, and back at the end */
	{"+0+1~0", "1", "", 2},
	{"+0+1~0+0", "10", "", 2},
	{"+0~0", "", "", 1},
	{"~0", "", "", 1},
	{"~0-0", "", "", 0},
	/* one process after the other */
	{"+0+2+1+3", "01", "23", 2},
	{"+0+2-0", "2", "", 1},
	{"+0+2~0", "", "2", 1},
	{"+0+2~0+1", "1", "2", 2},
	{"+0+2~0-0", "2", "", 1},
	{"+0+2+3-2", "0", "3", 1},
	{"+0+2+3-2-0", "3", "", 1},
	{"+2+0+3+1-2-3", "01", "", 2},
	/* again and again, also who is not there */
	{"+0-0+0+1-0+0", "10", "", 2},
	{"+0-1-1", "0", "", 1},
};

static void
apply(const char *script)
{
	for (; *script; script++) {
		if (*script == '>') {
			step_queue_rotate(&queue);
			continue;
		}
		struct stepped *one = &stepped[script[1] - '0'];

		if (*script == '+')
			step_queue_add(&queue, one);
		else if (*script == '~')
			step_queue_send_away(&queue, one);
		else
			step_queue_take_out(&queue, one);
		script++;
	}
}

static void
expect_queue(const struct stepped *first, const char *expected)
{
	char found[NR + 2] = "";
	size_t nr = 0;

	for (; first && nr <= NR; first = first->next)
		found[nr++] = (char)('0' + (first - stepped));
	ck_assert_str_eq(found, expected);
}

START_TEST(threads_take_turns)
{
	reset();
	apply(cases[_i].script);
	expect_queue(queue.first, cases[_i].first);
	expect_queue(queue.later, cases[_i].later);
	ck_assert_uint_eq(queue.nr_active, cases[_i].nr_active);
}
END_TEST

static const struct listed_test tests[] = {
	{&threads_take_turns, NR_ELEMENTS(cases)},
};

const struct suite test_suite = SUITE("step queue", tests);
