/* SPDX-License-Identifier: MIT */
#include "sheet/writes.h"

#include <math.h>
#include <stdbool.h>

#include "machine/machine.h"
#include "rot.h"
#include "sheet/survey.h"

/* Clearly faster means less than this share. */
#define CLEARLY 0.7

#define WRITE_BACK "write back: what is stored stays in L1, as L2 takes longer for it"
#define NO_TELLING "whether L1 writes back cannot be told: L2 takes stores as fast"
#define ALLOCATES "write allocate: the first store has brought the line into a cache"
#define NO_ALLOCATE "no write allocate: the first store has brought the line into no cache"

static struct sheet_answer
answer_of(const char *name, double a, double b)
{
	struct sheet_answer answer = sheet_no_answer(name, "cycles", 0);

	if (isfinite(a) && isfinite(b))
		sheet_read_halves(&answer, a, b);
	else
		answer.remark = "cannot be told: others ran whenever it was measured";
	return answer;
}

/* Is a shorter by far, or b not? NULL: it is not sure. */
static const char *
compare(const struct sheet_answer *a, const struct sheet_answer *b, const char *is_shorter, const char *is_not)
{
	if (!(a->confidence >= CURVE_SURE) || !(b->confidence >= CURVE_SURE))
		return NULL;
	return a->number.value < CLEARLY * b->number.value ? is_shorter : is_not;
}

void
writes_conclude(const double l1[2], const double l2[2], const double first[2], const double five[2],
		struct sheet_answer answers[WRITES_NR_ANSWERS])
{
	const double once = fmin(first[0], first[1]);

	answers[WRITES_L1] = answer_of("line stored in L1", l1[0], l1[1]);
	answers[WRITES_L2] = answer_of("line stored in L2", l2[0], l2[1]);
	answers[WRITES_FIRST] = answer_of("line stored in memory", first[0], first[1]);
	answers[WRITES_AGAIN] = answer_of("line stored again", (five[0] - once) / 4, (five[1] - once) / 4);
	if (!answers[WRITES_L1].remark)
		answers[WRITES_L1].remark = compare(&answers[WRITES_L1], &answers[WRITES_L2], WRITE_BACK, NO_TELLING);
	if (!answers[WRITES_AGAIN].remark)
		answers[WRITES_AGAIN].remark =
			compare(&answers[WRITES_AGAIN], &answers[WRITES_FIRST], ALLOCATES, NO_ALLOCATE);
	for (int i = 0; i < WRITES_NR_ANSWERS; i++)
		sheet_judge(&answers[i]);
}

/* ---- measuring ---- */

#define L1_BYTES 16384   /* half of any first level */
#define USUAL_L2 1048576 /* where none is told */

static int
add(struct survey *survey, int64_t bytes, int passes, int counted, bool is_warm, struct rot_error *err)
{
	return survey_add(survey, 1, "Memory", (double)bytes / 64 * counted, err,
			  "operation=WRITE instructionSet=SSE bufferSize=%lld iterations=%d warmCode=true warmData=%s",
			  (long long)bytes, passes, is_warm ? "true" : "false") < 0
		       ? -1
		       : 0;
}

int
writes_measure(struct rot *rot, struct sheet_answer answers[WRITES_NR_ANSWERS], struct rot_error *err)
{
	const int64_t l2 = (rot->machine->l2_bytes ? rot->machine->l2_bytes : USUAL_L2) / 2 / 64 * 64;
	struct survey *survey = survey_new(rot);
	struct survey_times times[WRITES_NR_ANSWERS];
	int rc = 0;

	if (add(survey, L1_BYTES, 64, 64, true, err) < 0 || add(survey, l2, 8, 8, true, err) < 0 ||
	    add(survey, l2, 1, 1, false, err) < 0 || add(survey, l2, 5, 1, false, err) < 0 ||
	    survey_measure(survey, err) < 0)
		rc = -1;
	for (int i = 0; rc == 0 && i < WRITES_NR_ANSWERS; i++)
		rc = survey_read(survey, i, &times[i], err);
	survey_delete(survey);
	if (rc < 0)
		return rot_error_prefix(err, "where stores go");
	writes_conclude(times[0].cycles, times[1].cycles, times[2].cycles, times[3].cycles, answers);
	return 0;
}
