/* SPDX-License-Identifier: MIT */
/* Stolen time as /proc/stat tells it, of all CPUs and of one. */
#include "common/steal_time.h"
#include "testing.h"

#define TWO_CPUS                                                                                                       \
	"cpu  10 20 30 40 50 60 70 80 90 100\n"                                                                        \
	"cpu1 1 2 3 4 5 6 7 8 9 10\n"                                                                                  \
	"cpu12 11 12 13 14 15 16 17 72 19 20\n"                                                                        \
	"intr 1 2 3 4 5 6 7 8 9 10 11 12\n"

static const struct {
	const char *text;
	int cpu;
	int64_t ticks;
} told[] = {
	{TWO_CPUS, STEAL_TIME_ALL, 80},
	{TWO_CPUS, 1, 8},
	{TWO_CPUS, 12, 72},
	{TWO_CPUS, 2, -1},
	{TWO_CPUS, 0, -1},
	{"", STEAL_TIME_ALL, -1},
	{"cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7 8\n", STEAL_TIME_ALL, -1}, /* before Linux 2.6.11 */
	{"cpu  1 2 3 4 5 6 7 8\n", STEAL_TIME_ALL, 8},
	{"cpu  1 2 3 4 5 6 7 81", STEAL_TIME_ALL, -1}, /* more digits may follow */
	{"cpu  1 2 3 4 5 6 7 8 9\ncpu0 1 2 3 4 5 6 7 8", 0, -1},
	{"nonsense\n", STEAL_TIME_ALL, -1},
};

TEST_OF(lines_of_proc_stat, NR_ELEMENTS(told))
{
	ck_assert_int_eq(steal_time_of(told[_i].text, told[_i].cpu), told[_i].ticks);
}

/* All CPUs have room, the last one too; the sum is cut once, each of them once. */
TEST(this_machine)
{
	const int fd = steal_time_open();
	const size_t room = steal_time_room();
	char *text = rot_calloc(room, 1);
	int64_t all, sum = 0, of_one;
	int nr = 0;

	if (fd < 0) {
		free(text);
		return; /* no /proc */
	}
	steal_time_read(fd, text, room);
	all = steal_time_of(text, STEAL_TIME_ALL);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		of_one = steal_time_of(text, cpu);
		sum += of_one >= 0 ? of_one : 0;
		nr += of_one >= 0;
	}
	ck_assert_int_ge(all, 0);
	ck_assert_int_eq(nr, sysconf(_SC_NPROCESSORS_ONLN));
	ck_assert_int_ge(sum, all - nr);
	ck_assert_int_ge(steal_time_now(), all);
	free(text);
	close(fd);
}

TEST(what_cannot_be_read)
{
	char text[8] = "before";

	steal_time_read(-1, text, sizeof(text));
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(steal_time_between(-1, 5), -1);
	ck_assert_int_eq(steal_time_between(5, -1), -1);
	ck_assert_int_eq(steal_time_between(5, 7), 2);
}
