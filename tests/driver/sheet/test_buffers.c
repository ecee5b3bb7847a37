/* SPDX-License-Identifier: MIT */
/* Answers of curves of buffers of a core: made-up ones of cores whose buffers are known. */
#include <math.h>
#include <string.h>

#include "sheet/buffers.h"
#include "testing.h"

/* A core, and how exactly it is measured. */
struct core {
	double entries[BUFFERS_NR];
	double fuzz;   /* share of the entries of a buffer between those that always fit and those that never do */
	double noise;  /* share that a run may take longer */
	double spikes; /* share of the points that others disturb */
	double misses; /* that memory delivers while one is waited for */
};

static const struct core zen5 = {{440, 197, 600, 400, 100, 64, 31, 130, 6144}, 0.02, 0.02, 0, 25};

static const double unknown[BUFFERS_NR] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

static unsigned state;

/* From 0 to 1. */
static double
chance(void)
{
	state = state * 1103515245 + 12345;
	return (state >> 16 & 0x7fff) / 32767.0;
}

/* A second load that begins when the first one ends, in the share of turns that have no room for it. */
static double
turn_of(const struct core *core, double full, double entries)
{
	const double late = fmin(1, fmax(0, (entries - full) / (core->fuzz * full + 1)));

	return 550 + entries / 4 + 550 * late;
}

static double
cycles_of(const struct core *core, int which, double entries)
{
	const double own = core->entries[which];

	switch (which) {
	case BUFFERS_MISS:
		return 500 + 500 * fmax(0, entries - fmin(own, core->misses)) / fmin(own, core->misses);
	case BUFFERS_RETURN:
		return (4 * entries + 20 * fmax(0, entries - own)) / entries;
	case BUFFERS_TARGET:
		return 6 + 20 * fmax(0, entries - own) / entries;
	case BUFFERS_OPERATION:
		return entries <= own ? 0.125 : 0.4;
	case BUFFERS_LOAD: /* into vector registers */
		return turn_of(core, fmin(fmin(own, core->entries[BUFFERS_VECTOR]), core->entries[BUFFERS_WINDOW]),
			       entries);
	default:
		return turn_of(core, fmin(own, core->entries[BUFFERS_WINDOW]), entries);
	}
}

static void
measure(const struct core *core, struct measured_curve curves[BUFFERS_NR])
{
	for (int which = 0; which < BUFFERS_NR; which++)
		for (size_t i = 0; i < curves[which].nr; i++)
			for (int half = 0; half < 2; half++)
				curves[which].cycles[half][i] = cycles_of(core, which, curves[which].at[i]) *
								(1 + core->noise * chance()) *
								(chance() < core->spikes ? 1 + chance() : 1);
}

static struct buffers *
concluded(const struct core *core, const double told[BUFFERS_NR])
{
	struct buffers *buffers = rot_calloc(1, sizeof(*buffers));
	autofree struct measured_curve *closer = rot_calloc(BUFFERS_NR, sizeof(*closer));

	buffers_plan(buffers);
	measure(core, buffers->coarse);
	buffers_plan_closer(buffers, closer);
	measure(core, closer);
	buffers_merge(buffers, closer);
	buffers_conclude(buffers, told);
	return buffers;
}

TEST(known_buffers_are_told)
{
	autofree struct buffers *buffers = concluded(&zen5, unknown);
	static const enum buffers_answer sharp[] = {BUFFERS_WINDOW, BUFFERS_INTEGER, BUFFERS_LOAD,
						    BUFFERS_STORE,  BUFFERS_RETURN,  BUFFERS_OPERATION};

	for (size_t i = 0; i < NR_ELEMENTS(sharp); i++) {
		const struct sheet_answer *answer = &buffers->answers[sharp[i]];

		ck_assert_double_eq_tol(answer->number.value, zen5.entries[sharp[i]], 0.02 * zen5.entries[sharp[i]]);
		ck_assert_double_ge(answer->number.high, zen5.entries[sharp[i]]);
		ck_assert_msg(!answer->remark, "%s: %s", answer->name, answer->remark);
	}
	ck_assert_double_eq_tol(buffers->answers[BUFFERS_VECTOR].number.value, 440, 15);
	ck_assert(isinf(buffers->answers[BUFFERS_VECTOR].number.high));
	ck_assert_has(buffers->answers[BUFFERS_VECTOR].remark, "the reorder window is full before");
	ck_assert_double_eq_tol(buffers->answers[BUFFERS_MISS].number.value, 25, 1.5);
	ck_assert_has(buffers->answers[BUFFERS_MISS].remark, "at least");
	ck_assert_double_le(buffers->answers[BUFFERS_TARGET].number.low, 135);
	ck_assert_double_ge(buffers->answers[BUFFERS_TARGET].number.high, 180);
}

TEST(loads_may_fill_registers_first)
{
	struct core core = zen5;
	autofree struct buffers *buffers = NULL;

	core.entries[BUFFERS_VECTOR] = 300;
	buffers = concluded(&core, unknown);
	ck_assert_ptr_null(buffers->answers[BUFFERS_VECTOR].remark);
	ck_assert(isinf(buffers->answers[BUFFERS_LOAD].number.high));
	ck_assert_has(buffers->answers[BUFFERS_LOAD].remark, "the vector registers are full before");
}

/* Places of functions can fit by luck: 455 did, where 186 to 364 took twice as long in both halves of the runs. */
TEST(what_fits_by_luck_is_not_sure)
{
	autofree struct buffers *buffers = concluded(&zen5, unknown);
	struct measured_curve *curve = &buffers->curves[BUFFERS_TARGET];
	const struct sheet_answer *answer = &buffers->answers[BUFFERS_TARGET];

	for (size_t i = 0; i < curve->nr; i++)
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] =
				curve->at[i] > 480 || (curve->at[i] > 150 && curve->at[i] < 400) ? 20 : 6;
	buffers_conclude(buffers, unknown);
	ck_assert_double_gt(answer->number.value, 400);
	ck_assert_double_le(answer->number.low, 150);
	ck_assert_has(answer->remark, "not sure");
}

/* Registers that hold what was there before are no difference; half of a buffer may be another thread's. */
TEST(told_entries_are_compared)
{
	const double told[BUFFERS_NR] = {448, 240, 384, NAN, 208, NAN, 52, NAN, 4096};
	autofree struct buffers *buffers = concluded(&zen5, told);

	ck_assert_ptr_null(buffers->answers[BUFFERS_WINDOW].remark);
	ck_assert_double_eq(buffers->answers[BUFFERS_WINDOW].told, 448);
	ck_assert_ptr_null(buffers->answers[BUFFERS_INTEGER].remark);
	ck_assert_has(buffers->answers[BUFFERS_STORE].remark, "another thread of this core");
	ck_assert_has(buffers->answers[BUFFERS_RETURN].remark, "not as told");
	ck_assert_has(buffers->answers[BUFFERS_OPERATION].remark, "not as told");
}

/* Numbers of a core, each between the least and the most of real ones. */
static struct core
any_core(void)
{
	static const double least[BUFFERS_NR] = {90, 60, 60, 40, 30, 8, 8, 20, 500};
	static const double most[BUFFERS_NR] = {700, 300, 400, 250, 140, 60, 60, 500, 9000};
	struct core core = {.fuzz = 0.03 * chance(),
			    .noise = 0.04 * chance(),
			    .spikes = 0.1 * chance(),
			    .misses = 10 + 50 * chance()};

	for (int i = 0; i < BUFFERS_NR; i++)
		core.entries[i] = floor(least[i] + (most[i] - least[i]) * chance());
	return core;
}

/* A sure answer is near on all cores, or says that it is a bound, which then holds. */
TEST(sure_answers_are_right)
{
	size_t nr_sure = 0, nr_answers = 0;

	state = 1;
	for (int i = 0; i < 300; i++) {
		const struct core core = any_core();
		autofree struct buffers *buffers = concluded(&core, unknown);

		for (int which = 0; which < BUFFERS_NR; which++) {
			const struct sheet_answer *answer = &buffers->answers[which];
			const double own = core.entries[which];

			nr_answers++;
			if (!isfinite(answer->number.value) || answer->confidence < CURVE_SURE)
				continue;
			nr_sure++;
			ck_assert_msg(answer->number.low <= 1.05 * own, "%s: %g for %g", answer->name,
				      answer->number.low, own);
			ck_assert_msg(answer->number.high >= 0.95 * own, "%s: %g for %g", answer->name,
				      answer->number.high, own);
		}
	}
	ck_assert_uint_gt(nr_sure, nr_answers * 3 / 4);
}

/* No step, or others that ran all the time: no number, and a reason. */
TEST(no_answer_has_a_reason)
{
	autofree struct buffers *buffers = rot_calloc(1, sizeof(*buffers));
	autofree struct measured_curve *closer = rot_calloc(BUFFERS_NR, sizeof(*closer));

	for (int is_disturbed = 0; is_disturbed < 2; is_disturbed++) {
		buffers_plan(buffers);
		for (int which = 0; which < BUFFERS_NR; which++)
			for (size_t i = 0; i < buffers->coarse[which].nr; i++)
				for (int half = 0; half < 2; half++)
					buffers->coarse[which].cycles[half][i] = is_disturbed ? NAN : 4;
		buffers_plan_closer(buffers, closer);
		buffers_merge(buffers, closer);
		buffers_conclude(buffers, unknown);
		for (int which = 0; which < BUFFERS_NR; which++) {
			if (which == BUFFERS_MISS && !is_disturbed)
				continue; /* as many as were measured */
			ck_assert_double_nan(buffers->answers[which].number.value);
			ck_assert_has(buffers->answers[which].remark, "cannot be told");
		}
	}
}
