/* SPDX-License-Identifier: MIT */
#include "sheet/hazards.h"

#include <math.h>
#include <stdbool.h>

#include "sheet/survey.h"

/* Events of a turn. Half of the random branches are predicted. */
static const struct hazard {
	const char *field, *name;
	int turns;
	double events;
} hazards[HAZARDS_NR] = {
	{"SPLIT_LINE", "load across two lines", 2000, 8},
	{"SPLIT_PAGE", "load across two pages", 2000, 8},
	{"FORWARD", "load of what was just stored", 2000, 8},
	{"FORWARD_PART", "load of what was half stored", 2000, 8},
	{"ALIAS", "load 4096 bytes behind a store", 2000, 8},
	{"BRANCH", "mispredicted branch", 4000, 4},
	{"DENORMAL", "product of denormal numbers", 2000, 8},
	{"LOCK", "atomic addition", 2000, 8},
	{"TSC", "reading the time stamp counter", 500, 8},
	{"CLOCK", "clock_gettime", 500, 8},
	{"CALL", "system call", 100, 8},
	{"FAULT", "page fault", 4, 64},
};

/* The halves differ by less than this share of what is timed, or less than this many cycles, where both are sure. */
#define AGREEMENT 0.1
#define LEAST_CYCLES 0.1

struct sheet_answer
hazard_conclude(const char *name, const double met[2], const double without[2])
{
	const double base = fmin(without[0], without[1]), a = met[0] - base, b = met[1] - base;
	struct sheet_answer answer = {.name = name, .unit = "cycles", .told = NAN, .confidence = NAN};

	if (!isfinite(met[0]) || !isfinite(met[1]) || !isfinite(base)) {
		answer.number = (struct sheet_number){NAN, NAN, NAN};
		answer.remark = "cannot be told: the clock changed, or others ran, whenever it was measured";
		return answer;
	}
	answer.number = (struct sheet_number){fmax(0, fmin(a, b)), fmax(0, fmin(a, b)), fmax(0, fmax(a, b))};
	if (fabs(a - b) > fmax(LEAST_CYCLES, AGREEMENT * fmin(met[0], met[1])))
		answer.remark = "not sure: the halves of the runs differ";
	return answer;
}

static int
add(struct survey *survey, const struct hazard *hazard, bool is_met, struct rot_error *err)
{
	int point = survey_add(survey, 1, "Hazard", hazard->turns * hazard->events, err,
			       "hazard=%s turns=%d isMet=%s warmCode=true", hazard->field, hazard->turns,
			       is_met ? "true" : "false");

	return point < 0 ? -1 : 0;
}

static int
read_answers(struct survey *survey, struct sheet_answer answers[HAZARDS_NR], struct rot_error *err)
{
	for (int i = 0; i < HAZARDS_NR; i++) {
		struct survey_times met, without;

		if (survey_read(survey, 2 * i, &met, err) < 0 || survey_read(survey, 2 * i + 1, &without, err) < 0)
			return -1;
		answers[i] = hazard_conclude(hazards[i].name, met.cycles, without.cycles);
	}
	return 0;
}

int
hazards_measure(struct rot *rot, struct sheet_answer answers[HAZARDS_NR], struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	int rc = 0;

	for (int i = 0; rc == 0 && i < HAZARDS_NR; i++)
		if (add(survey, &hazards[i], true, err) < 0 || add(survey, &hazards[i], false, err) < 0)
			rc = -1;
	if (rc == 0)
		rc = survey_measure(survey, err);
	if (rc == 0)
		rc = read_answers(survey, answers, err);
	survey_delete(survey);
	return rc < 0 ? rot_error_prefix(err, "what makes code wait") : 0;
}
