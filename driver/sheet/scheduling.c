/* SPDX-License-Identifier: MIT */
#include "sheet/scheduling.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#include "base/pool.h"
#include "machine/machine.h"
#include "memory.h"
#include "sheet/on_cpu.h"
#include "statistics/summary.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#define OBSERVED_NS UINT64_C(500000000)

/* Gaps beside another that are shorter are interrupts. */
#define LEAST_SLOT_NS 200000.0

/* Fewer slots say nothing of their length. */
#define LEAST_SLOTS 5

/* Between points of a curve, per cent. */
#define CURVE_STEP 2.5

/* ---- what gaps say ---- */

static struct sheet_answer
answer_of(const char *name, const char *unit, double value, double low, double high)
{
	return (struct sheet_answer){
		.name = name, .unit = unit, .number = {value, low, high}, .told = NAN, .confidence = NAN};
}

/* Fills the slots, in ms, of gaps that are as long as these; returns how many. */
static size_t
find_slots(const struct scheduling_gaps *gaps, double *slots)
{
	size_t nr = 0;

	for (size_t i = 0; i < gaps->nr; i++)
		if ((double)gaps->ns[i] >= LEAST_SLOT_NS)
			slots[nr++] = (double)gaps->ns[i] / 1e6;
	return nr;
}

static struct sheet_answer
slot_of(const struct scheduling_gaps *alone, const struct scheduling_gaps *beside)
{
	autofree double *slots = rot_calloc(alone->nr + beside->nr + 1, sizeof(*slots));
	struct sheet_answer answer = answer_of("time slot of another", "ms", NAN, NAN, NAN);
	const size_t nr_alone = find_slots(alone, slots), nr = find_slots(beside, slots);

	if (nr < LEAST_SLOTS) {
		answer.remark = "cannot be told: the system gave the two processes different CPUs, or others had them";
		return answer;
	}
	answer.number = (struct sheet_number){
		.value = statistics_percentile(slots, nr, 50),
		.low = statistics_percentile(slots, nr, 25),
		.high = statistics_percentile(slots, nr, 75),
	};
	if (nr_alone >= LEAST_SLOTS)
		answer.remark = "not sure: others had the CPU, too, also when none was started beside";
	return answer;
}

/* Each half of the observation has its own; without gaps in both there is none. */
static struct measured_curve
curve_of(const struct scheduling_gaps *gaps)
{
	struct measured_curve curve = {.parameter = "gaps that are shorter, %", .unit = "us"};
	autofree double *us = rot_calloc(gaps->nr + 1, sizeof(*us));
	const size_t half = gaps->nr / 2;

	for (size_t i = 0; i < gaps->nr; i++)
		us[i] = (double)gaps->ns[i] / 1e3;
	for (double share = 0; half > 0 && share <= 100; share += CURVE_STEP) {
		curve.at[curve.nr] = share;
		curve.cycles[0][curve.nr] = statistics_percentile(us, half, share);
		curve.cycles[1][curve.nr++] = statistics_percentile(us + half, gaps->nr - half, share);
	}
	return curve;
}

void
scheduling_conclude(const struct scheduling_gaps *alone, const struct scheduling_gaps *beside,
		    struct scheduling *scheduling)
{
	struct sheet_answer *answers = scheduling->answers;
	const double step = (double)alone->least_step_ns, rate = (double)alone->nr * 1e9 / (double)alone->observed_ns;
	double longest = 0;

	for (size_t i = 0; i < alone->nr; i++)
		longest = fmax(longest, (double)alone->ns[i] / 1e3);
	answers[SCHEDULING_RESOLUTION] = answer_of("least step of the clock", "ns", step, step, step);
	answers[SCHEDULING_INTERRUPTIONS] = answer_of("interruptions", "per second", rate, rate, rate);
	answers[SCHEDULING_LONGEST] = answer_of("longest of them", "us", longest, longest, longest);
	answers[SCHEDULING_SLOT] = slot_of(alone, beside);
	scheduling->curves[0] = curve_of(alone);
	scheduling->curves[1] = curve_of(beside);
	answers[SCHEDULING_LONGEST].curve = &scheduling->curves[0];
	answers[SCHEDULING_SLOT].curve = &scheduling->curves[1];
}

/* ---- measuring ---- */

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
look(void *argument)
{
	struct scheduling_gaps *gaps = argument;
	const uint64_t start = now_ns();
	uint64_t last = start;

	gaps->least_step_ns = UINT64_MAX;
	while (last - start < OBSERVED_NS && gaps->nr < NR(gaps->ns)) {
		const uint64_t now = now_ns(), gap = now - last;

		if (gap > 0 && gap < gaps->least_step_ns)
			gaps->least_step_ns = gap;
		if (gap > SCHEDULING_GAP_NS)
			gaps->ns[gaps->nr++] = gap;
		last = now;
	}
	gaps->observed_ns = last - start;
}

static void
work_always(void *unused)
{
	(void)unused;
	for (;;)
		now_ns();
}

static int
observe(int cpu, struct scheduling_gaps *gaps, bool is_beside, struct rot_error *err)
{
	const pid_t other = is_beside ? on_cpu_start(cpu, work_always, NULL) : 0,
		    looking = other < 0 ? -1 : on_cpu_start(cpu, look, gaps);
	const int rc = looking < 0 ? rot_error_set(err, errno, "cannot start a process that looks at the clock")
				   : on_cpu_await(looking, "looks at the clock", err);

	on_cpu_end(other);
	return rc;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct scheduling *scheduling = measured;
	const int cpu = machine_first_cpu();
	struct scheduling_gaps *gaps =
		mmap(NULL, 2 * sizeof(*gaps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	(void)rot;
	if (gaps == MAP_FAILED)
		return rot_error_set(err, errno, "cannot map memory for gaps of the clock");
	rc = observe(cpu, &gaps[0], false, err);
	if (rc == 0)
		rc = observe(cpu, &gaps[1], true, err);
	if (rc == 0)
		scheduling_conclude(&gaps[0], &gaps[1], scheduling);
	munmap(gaps, 2 * sizeof(*gaps));
	return rc;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct scheduling *scheduling = measured;
	static const char *const names[] = {"alone", "beside another"};
	const struct sheet_answer *longest = &scheduling->answers[SCHEDULING_LONGEST],
				  *slot = &scheduling->answers[SCHEDULING_SLOT];
	autopool pool = {0};
	struct plot_series series[4];
	struct series_plot plot = {
		.frame = {.title = "Gaps between two looks at the clock",
			  .caption = slot->remark ? pool_format(&pool, "Time slot of another: %s.", slot->remark) : "",
			  .x = {scheduling->curves[0].parameter, "", false, NAN, NAN},
			  .y = {"gap", scheduling->curves[0].unit, true, NAN, NAN}},
		.series = series};

	for (int i = 0; i < 2; i++) {
		series[plot.nr_series] = sheet_curve_series(&pool, &scheduling->curves[i]);
		series[plot.nr_series++].name = names[i];
	}
	if (scheduling->curves[0].nr > 0)
		series[plot.nr_series++] =
			sheet_cost_line(&pool, 0, 100, longest->number.value,
					pool_format(&pool, "longest, alone: %.3g ms", longest->number.value / 1e3));
	if (isfinite(slot->number.value))
		series[plot.nr_series++] =
			sheet_cost_line(&pool, 0, 100, 1e3 * slot->number.value,
					pool_format(&pool, "time slot of another: %.3g ms", slot->number.value));
	sheet_pictures_draw(pictures, "scheduling", &plot);
}

const struct sheet_part scheduling_part = {
	.heading = "Scheduling",
	.nr_answers = SCHEDULING_NR_ANSWERS,
	.bytes = sizeof(struct scheduling),
	.measure = measure,
	.draw = draw,
};
