/* SPDX-License-Identifier: MIT */
#include "sheet/hazards.h"

#include <math.h>
#include <stdbool.h>

#include "quantities/quantity.h"

#define NO_SECOND_CPU "cannot be told: rot may use one CPU alone"
#define NO_TRACING "cannot be told: no process could be traced"

/* Events of a turn. Half of the random branches are predicted. A byte there and back is two switches. */
static const struct hazard {
	const char *field, *name;
	int turns;
	double events;
	size_t nr_cpus;         /* that it needs */
	bool switches;          /* to another process */
	bool varies;            /* from start to start, as other CPUs take part: the median is told */
	const char *if_refused; /* the remark where the system may refuse it */
} hazards[HAZARDS_NR] = {
	{"SPLIT_LINE", "load across two lines", 2000, 8, 1, false, false, NULL},
	{"SPLIT_PAGE", "load across two pages", 2000, 8, 1, false, false, NULL},
	{"FORWARD", "load of what was just stored", 2000, 8, 1, false, false, NULL},
	{"FORWARD_PART", "load of what was half stored", 2000, 8, 1, false, false, NULL},
	{"ALIAS", "load 4096 bytes behind a store", 2000, 8, 1, false, false, NULL},
	{"BRANCH", "mispredicted branch", 4000, 4, 1, false, false, NULL},
	{"DENORMAL", "product of denormal numbers", 2000, 8, 1, false, false, NULL},
	{"LOCK", "atomic addition", 2000, 8, 1, false, false, NULL},
	{"TSC", "reading the time stamp counter", 500, 8, 1, false, false, NULL},
	{"CLOCK", "clock_gettime", 500, 8, 1, false, false, NULL},
	{"CALL", "system call", 100, 8, 1, false, false, NULL},
	{"FAULT", "page fault", 4, 64, 1, false, false, NULL},
	{"BANK", "loads of one bank", 2000, 8, 1, false, false, NULL},
	{"STORES", "stores to two lines by turns", 2000, 8, 1, false, false, NULL},
	{"SHARING", "addition to a line that another CPU writes", 30000, 8, 2, false, true, NULL},
	{"SWITCH", "switch to another process", 20, 16, 1, true, false, NULL},
	{"STOP", "stop of a traced process", 20, 8, 1, true, false, NO_TRACING},
	{"STEP", "step of a traced process", 20, 8, 1, true, false, NO_TRACING},
};

/* The halves differ by less than this share of what is timed, or less than this many cycles, where both are sure. */
#define AGREEMENT 0.1
#define LEAST_CYCLES 0.1

struct sheet_answer
hazard_conclude(const char *name, const struct survey_times *met, const struct survey_times *without, bool varies)
{
	const double base = fmin(without->cycles[0], without->cycles[1]), a = met->cycles[0] - base,
		     b = met->cycles[1] - base;
	struct sheet_answer answer = {.name = name, .unit = "cycles", .told = NAN, .confidence = NAN};

	if (!isfinite(a) || !isfinite(b)) {
		answer.number = (struct sheet_number){NAN, NAN, NAN};
		answer.remark = "cannot be told: the clock changed, or others ran, whenever it was measured";
		return answer;
	}
	answer.number = (struct sheet_number){fmax(0, fmin(a, b)), fmax(0, fmin(a, b)), fmax(0, fmax(a, b))};
	if (varies) {
		answer.number.value = fmax(0, met->median - base);
		answer.number.high = fmax(0, met->most - base);
	} else if (fabs(a - b) > fmax(LEAST_CYCLES, AGREEMENT * (base + fmin(a, b))))
		answer.remark = "not sure: the halves of the runs differ";
	return answer;
}

static int
add(struct survey *survey, const struct hazard *hazard, bool is_met, struct rot_error *err)
{
	int point = survey_add(survey, hazard->nr_cpus, "Hazard", hazard->turns * hazard->events, err,
			       "hazard=%s turns=%d isMet=%s warmCode=true warmData=true", hazard->field, hazard->turns,
			       is_met ? "true" : "false");

	if (point < 0)
		return -1;
	if (hazard->switches)
		survey_allow(survey, point, TAINT_CONTEXT_SWITCH);
	return 0;
}

/* Each has a survey of its own: it fails with what the system refuses, and takes long with many starts. */
enum kind { PLAIN, REFUSABLE, VARYING };

static int
measure_some(struct rot *rot, enum kind kind, struct sheet_answer answers[HAZARDS_NR], struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	const struct hazard *measured[HAZARDS_NR];
	int nr = 0, rc = 0;

	for (const struct hazard *hazard = hazards; rc == 0 && hazard < hazards + HAZARDS_NR; hazard++) {
		const enum kind own = hazard->if_refused ? REFUSABLE : hazard->varies ? VARYING : PLAIN;

		if (own != kind || hazard->nr_cpus > survey_nr_cpus(survey))
			continue;
		measured[nr++] = hazard;
		rc = add(survey, hazard, true, err) < 0 ? -1 : add(survey, hazard, false, err);
	}
	if (kind == VARYING)
		survey_spread(survey);
	if (rc == 0)
		rc = survey_measure(survey, err);
	for (int i = 0; rc == 0 && i < nr; i++) {
		struct survey_times met, without;

		rc = survey_read(survey, 2 * i, &met, err) < 0 ? -1 : survey_read(survey, 2 * i + 1, &without, err);
		answers[measured[i] - hazards] =
			hazard_conclude(measured[i]->name, &met, &without, measured[i]->varies);
	}
	survey_delete(survey);
	return rc < 0 ? rot_error_prefix(err, "what makes code wait") : 0;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct sheet_answer *answers = measured;
	static const struct survey_times none = {.cycles = {NAN, NAN}};
	struct rot_error refusal = {0};

	for (int i = 0; i < HAZARDS_NR; i++) {
		answers[i] = hazard_conclude(hazards[i].name, &none, &none, false);
		answers[i].remark = hazards[i].if_refused ? hazards[i].if_refused : NO_SECOND_CPU;
	}
	measure_some(rot, REFUSABLE, answers, &refusal);
	return measure_some(rot, PLAIN, answers, err) < 0 ? -1 : measure_some(rot, VARYING, answers, err);
}

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	sheet_pictures_draw_bars(pictures, "hazards", "What makes code wait", measured, HAZARDS_NR);
}

const struct sheet_part hazards_part = {
	.heading = "Hazards",
	.nr_answers = HAZARDS_NR,
	.bytes = HAZARDS_NR * sizeof(struct sheet_answer),
	.measure = measure,
	.draw = draw,
};
