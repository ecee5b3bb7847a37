/* SPDX-License-Identifier: MIT */
/*
 * Remarks: how a number is known, and reasons not to trust it. One table has their codes and words; results, tables,
 * pages, "rot list remarks", the manual page and the key strict print from it. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "quantities/quantity.h"
#include "statistics/series.h"

enum remark_group {
	REMARK_MARK,     /* what stands behind a value; its code is the "kind" in OUTPUT.json          */
	REMARK_CAUSE,    /* why runs are left out: "taints"                                           */
	REMARK_RULE,     /* that values or single runs break (invariants.h): "brokenRules"            */
	REMARK_RUNS,     /* about the runs that are kept: keys of their own                           */
	REMARK_END,      /* why there are no more runs: "runsEnd"                                     */
	REMARK_OBSTACLE, /* why blocks or steps did not count a part: its text is "whyExpected"       */
	REMARK_CAVEAT,   /* why the key strict refuses a number: "caveats"                            */
	NR_REMARK_GROUPS
};

struct remark {
	enum remark_group group;
	const char *code;                                    /* one of its group */
	const char *text, *advice;                           /* its meaning, and what helps; advice "": nothing does */
	const char *mark;                                    /* else NULL */
	unsigned taint;                                      /* of causes: its bit; else 0 */
	bool (*applies)(const struct quantity_value *value); /* of caveats; else NULL */
};

/* The one of the group behind that one, the first for NULL; NULL: there are no more. */
const struct remark *remark_next(enum remark_group group, const struct remark *before);

/* NULL: there is none. */
const struct remark *remark_find(enum remark_group group, const char *code);

/* In words: "why a run is left out". */
const char *remark_group_words(enum remark_group group);

/* ---- doubts: what the runs of a value say against taking its summary for what every run does ---- */

struct quantity_doubts {
	struct series_modes modes;
	struct series_drift drift;
	struct series_first first;
	struct series_outliers outliers; /* runs that no known cause has disturbed; they are in the value */
};

/*
 * Doubts from the samples without a taint (from all, where all are tainted), in the order of the runs. Only times, and
 * values per time, have some; nothing is known of others, and of values that were not measured.
 */
struct quantity_doubts quantity_doubts_of(const struct quantity_value *value);

/* Is there one? */
bool quantity_doubts_any(const struct quantity_doubts *doubts);

/* The meaning of marks, as far as values of the points have them. points: of OUTPUT.json. */
struct texts remarks_marks(struct pool *pool, const json_t *points);

/* "Triad 1000 and 2 more points: REMARK": those that say the same once, in the order of the points. */
struct texts remarks_of_points(struct pool *pool, const json_t *points);

/* Both say the same, maybe of other numbers and addresses; not of L1 and L2. */
bool remarks_are_alike(const char *a, const char *b);
