/* SPDX-License-Identifier: MIT */
/* Event strings become the configurations that the manuals name, on any processor; scrubbing leaves no trace; hints
 * fit. */
#include <limits.h>

#include "common/perf_event.h"
#include "testing.h"

/* type 4: raw, 1: software, 0: hardware (perf_event_open(2)). */
static const struct {
	int line;
	const char *event;
	uint32_t type;
	uint64_t config;
} encodings[] = {
	{__LINE__, "perf_raw::r8f03", 4, 0x8f03},
	{__LINE__, "perf_raw::r10000de65", 4, 0x10000de65},
	{__LINE__, "perf_raw::r100004865", 4, 0x100004865},
	{__LINE__, "perf::PERF_COUNT_SW_PAGE_FAULTS", 1, 2},
	{__LINE__, "perf::PERF_COUNT_SW_CONTEXT_SWITCHES", 1, 3},
	{__LINE__, "perf::PERF_COUNT_HW_CPU_CYCLES", 0, 0},
	{__LINE__, "perf::PERF_COUNT_HW_INSTRUCTIONS", 0, 1},
	{__LINE__, "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS", 4, 0xc0},
	{__LINE__, "amd64_fam19h_zen4::CYCLES_NOT_IN_HALT", 4, 0x76},
	{__LINE__, "amd64_fam19h_zen4::RETIRED_SSE_AVX_FLOPS:ANY", 4, 0x1f03},
	{__LINE__, "skl::FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", 4, 0x1c7},
	{__LINE__, "skl::FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", 4, 0x10c7},
};

TEST_OF(events_of_any_processor_are_encoded, NR_ELEMENTS(encodings))
{
	uint32_t type;
	uint64_t config;
	struct rot_error error;

	ck_assert_msg(
		perf_event_encode(encodings[_i].event, (struct perf_modes){.user = true}, &type, &config, &error) == 0,
		"line %d: %s", encodings[_i].line, error.text);
	ck_assert_msg(type == encodings[_i].type, "line %d: type %u", encodings[_i].line, type);
	/* Intel's encodings carry the enable bits of the counter as well */
	ck_assert_msg((config & ~UINT64_C(0x530000)) == encodings[_i].config, "line %d: config 0x%llx",
		      encodings[_i].line, (unsigned long long)config);
}

static const char *const unknown[] = {"",
				      "nonsense",
				      "nonsense::FOO",
				      "perf::NO_SUCH_EVENT",
				      "perf_raw::rXYZ",
				      "amd64_fam19h_zen4::RETIRED_INSTRUCTIONS:NO_SUCH_MASK"};

TEST_OF(unknown_events_are_errors, NR_ELEMENTS(unknown))
{
	uint32_t type;
	uint64_t config;
	struct rot_error error;

	ck_assert_int_eq(perf_event_encode(unknown[_i], (struct perf_modes){.user = true}, &type, &config, &error), -1);
	ck_assert_has(error.text, "cannot count '");
	ck_assert_has(error.hint, "rot list events");
}

TEST(no_mode_counts_nothing)
{
	uint32_t type;
	uint64_t config;
	struct rot_error error;

	ck_assert_int_eq(perf_event_encode("perf_raw::r76", (struct perf_modes){false, false}, &type, &config, &error),
			 -1);
	ck_assert_has(error.text, "neither user nor kernel");
}

TEST(groups_have_a_size)
{
	const char *events[PERF_MAX_EVENTS + 1] = {0};
	struct perf_group group;
	struct rot_error error;

	ck_assert_int_eq(perf_group_open(&group, events, 0, (struct perf_modes){.user = true}, 0, &error), -1);
	perf_group_close(&group);
	ck_assert_int_eq(
		perf_group_open(&group, events, PERF_MAX_EVENTS + 1, (struct perf_modes){.user = true}, 0, &error), -1);
	perf_group_close(&group);
}

/* On a thread that cannot be: the event is told, its place and whose it should be, and nothing is open. */
TEST(a_refused_group_is_closed)
{
	const char *const events[] = {"perf::PERF_COUNT_SW_PAGE_FAULTS", "perf::PERF_COUNT_SW_CONTEXT_SWITCHES"};
	struct perf_group group;
	struct rot_error error;

	ck_assert_int_eq(perf_group_open(&group, events, 2, (struct perf_modes){.user = true}, INT_MAX, &error), -1);
	ck_assert_uint_eq(group.nr, 0);
	ck_assert_msg(strstr(error.text, "PERF_COUNT_SW_PAGE_FAULTS") &&
			      strstr(error.text, "as event 1 of its group") &&
			      strstr(error.text, "on thread 2147483647"),
		      "%s", error.text);
	perf_group_close(&group);
}

/* It does so whether the events may be counted or not. */
TEST(scrubbing_keeps_the_affinity)
{
	struct rot_error error;
	cpu_set_t before, after;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	perf_scrub("perf::PERF_COUNT_SW_CONTEXT_SWITCHES", 5, 0, &error);
	ck_assert_int_eq(perf_scrub("nonsense::FOO", 5, 0, &error), -1);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
	ck_assert_int_eq(perf_scrub("perf::PERF_COUNT_SW_CONTEXT_SWITCHES", 0, 0, &error), -1);
	ck_assert_int_eq(perf_scrub("perf::PERF_COUNT_SW_CONTEXT_SWITCHES", PERF_MAX_EVENTS + 1, 0, &error), -1);
}

static const struct {
	int errnum;
	size_t nr;
	const char *hint;
} hints[] = {
	{EACCES, 1, "CAP_PERFMON"},
	{EPERM, 1, "CAP_PERFMON"},
	{ENOENT, 1, "no PMU"},
	{EOPNOTSUPP, 2, "no PMU"},
	{EINVAL, 5, "these 5 events at once"},
	{EINVAL, 1, "does not know the event"},
	{EMFILE, 1, "ulimit -n"},
	{EBUSY, 1, "exclusively"},
	{ENOSYS, 1, "seccomp"},
};

TEST_OF(every_refusal_has_a_next_step, NR_ELEMENTS(hints))
{
	struct rot_error error;

	rot_error_set(&error, hints[_i].errnum, "cannot count");
	ck_assert_int_eq(perf_hint(&error, hints[_i].errnum, PERF_PARANOID_USER, hints[_i].nr), -1);
	ck_assert_msg(strstr(error.hint, hints[_i].hint) != NULL, "'%s' not in '%s'", hints[_i].hint, error.hint);
}
