/* SPDX-License-Identifier: MIT */
/* Two CPUs, near or far: by groups of times, whatever their size. */
#include "roof/modes.h"
#include "testing.h"

#define MAX_SAMPLES 8

/* Pairs of shortest and longest time of samples, ended by 0 0; a negative one was not told. Slowdowns: 0: not told. */
static const struct {
	double ns[MAX_SAMPLES][2];
	enum placement_mode modes[MAX_SAMPLES];
	size_t nr_groups;
	double slowdowns[MAX_SAMPLES][2];
} series[] = {
	{{{41, 45}, {60, 72}, {178, 239}, {44, 201}},
	 {PLACEMENT_NEAR, PLACEMENT_NEAR, PLACEMENT_FAR, PLACEMENT_MIXED},
	 2,
	 {{0}}},
	{{{410, 450}, {600, 720}, {1780, 2390}}, {PLACEMENT_NEAR, PLACEMENT_NEAR, PLACEMENT_FAR}, 2, {{0}}},
	{{{41, 45}, {60, 72}}, {PLACEMENT_ONE, PLACEMENT_ONE}, 1, {{0}}},
	{{{178, 239}}, {PLACEMENT_ONE}, 1, {{0}}},
	{{{41, 45}, {-1, -1}, {200, 210}}, {PLACEMENT_NEAR, PLACEMENT_UNKNOWN, PLACEMENT_FAR}, 2, {{0}}},
	{{{-1, -1}}, {PLACEMENT_UNKNOWN}, 0, {{0}}},
	/* of one core: no group of their own, and none with others */
	{{{12, 14}, {41, 45}, {13, 44}, {11, 12}},
	 {PLACEMENT_SHARED, PLACEMENT_ONE, PLACEMENT_MIXED, PLACEMENT_SHARED},
	 1,
	 {{1.9, 2}, {0.98, 1.2}, {1.1, 2}, {2, 2.6}}},
	{{{12, 14}}, {PLACEMENT_SHARED}, 0, {{1.9, 2}}},
};

static struct quantity_value
value_of(const double (*ns)[2], const double (*slowdowns)[2])
{
	struct quantity_value value = {.nr_samples = 0};

	value.nearness = rot_calloc(MAX_SAMPLES, sizeof(*value.nearness));
	for (size_t i = 0; i < MAX_SAMPLES && ns[i][0] != 0; i++)
		value.nearness[value.nr_samples++] = (struct nearness){
			.line_ns_min = ns[i][0] > 0 ? ns[i][0] : 0,
			.line_ns_max = ns[i][1] > 0 ? ns[i][1] : 0,
			.slowdown_min = slowdowns ? slowdowns[i][0] : 0,
			.slowdown_max = slowdowns ? slowdowns[i][1] : 0,
		};
	return value;
}

TEST_OF(groups_decide, NR_ELEMENTS(series))
{
	cleared_by(quantity_value_clear) struct quantity_value value = value_of(series[_i].ns, series[_i].slowdowns);
	cleared_by(placement_clear) struct placement placement = {.nr = 0};
	double medians[2];

	placement_add(&placement, &value);
	ck_assert_uint_eq(placement_groups(&placement, medians), series[_i].nr_groups);
	for (size_t i = 0; i < value.nr_samples; i++)
		ck_assert_int_eq(placement_mode(&placement, &value, i), series[_i].modes[i]);
}

/* 40 samples of one or two groups, and one in which a CPU was taken by others. */
TEST_OF(disturbed_samples_make_no_group, 2)
{
	const double far_ns = _i == 0 ? 200 : 50;
	cleared_by(placement_clear) struct placement placement = {.nr = 0};
	struct quantity_value values[41];
	double medians[2];

	for (size_t i = 0; i < 41; i++) {
		const double ns = i == 20 ? 9000 : i % 2 ? 50 : far_ns, pairs[MAX_SAMPLES][2] = {{ns, ns}};

		values[i] = value_of(pairs, NULL);
		placement_add(&placement, &values[i]);
	}
	ck_assert_uint_eq(placement_groups(&placement, medians), _i == 0 ? 2 : 1);
	ck_assert_double_eq(medians[0], 50);
	ck_assert_int_eq(placement_mode(&placement, &values[20], 0), PLACEMENT_UNKNOWN);
	ck_assert_int_eq(placement_mode(&placement, &values[21], 0), _i == 0 ? PLACEMENT_NEAR : PLACEMENT_ONE);
	ck_assert_int_eq(placement_mode(&placement, &values[22], 0), _i == 0 ? PLACEMENT_FAR : PLACEMENT_ONE);
	for (size_t i = 0; i < 41; i++)
		quantity_value_clear(&values[i]);
}

TEST(a_value_without_ping_pong_has_no_mode)
{
	double samples[1] = {0};
	struct quantity_value value = {.samples = samples, .nr_samples = 1};
	struct placement placement = {.nr = 0};

	placement_add(&placement, &value);
	ck_assert_uint_eq(placement.nr, 0);
	ck_assert_int_eq(placement_mode(&placement, &value, 0), PLACEMENT_UNKNOWN);
}

/* CPUs of the workloads, -1: not pinned; and those of the ping-pong, first -1: none. */
static const struct {
	int cpus[3], nr, first, second;
} watched[] = {{{3, 0}, 2, 3, 0},   {{0, 1}, 2, 0, 1},     {{3, 3, 2}, 3, 3, 2}, {{-1, 4, 6}, 3, 4, 6},
	       {{0, 0}, 2, -1, -1}, {{-1, -1}, 2, -1, -1}, {{5}, 1, -1, -1}};

TEST_OF(two_different_cpus_are_watched, NR_ELEMENTS(watched))
{
	autograph struct measurement *measurement = measurement_new();

	for (int i = 0; i < watched[_i].nr; i++) {
		struct workload *workload = workload_new();

		workload->cpu = watched[_i].cpus[i];
		measurement_workloads_add(measurement, workload);
	}
	placement_watch(measurement, 7);
	if (watched[_i].first < 0) {
		ck_assert_ptr_null(measurement->overall_measurer_set);
	} else {
		const struct ping_pong_measurer *measurer =
			rot_cast(measurer_set_additional_measurers_at(measurement->overall_measurer_set, 0),
				 &ping_pong_measurer_class);

		ck_assert_int_eq(measurer->milli_seconds, 7);
		ck_assert_int_eq(measurer->first_cpu, watched[_i].first);
		ck_assert_int_eq(measurer->second_cpu, watched[_i].second);
	}
}
