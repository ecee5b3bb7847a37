/* SPDX-License-Identifier: MIT */
/* Remarks: the table against the schema of results, and lines that are told of several points. */
#include <jansson.h>

#include "quantities/remarks.h"
#include "testing.h"

TEST(ends_are_those_of_the_schema)
{
	autofree char *path = source_path("driver/schemas/result-1.json"), *schema = file_text(path);
	const char *ends = strstr(schema, "\"runsEnd\": {\"enum\": [");
	autofree char *line = rot_strndup(ends, strcspn(ends, "\n"));
	size_t nr = 0, nr_quotes = 0;

	for (const struct remark *end = remark_next(REMARK_END, NULL); end; end = remark_next(REMARK_END, end), nr++) {
		autofree char *code = rot_format("\"%s\"", end->code);

		ck_assert_msg(strstr(line, code) != NULL, "%s", code);
	}
	for (const char *c = line; *c; c++)
		nr_quotes += *c == '"';
	ck_assert_uint_eq(nr_quotes, 2 * (nr + 2)); /* those of the two keys as well */
}

/* ---- lines ---- */

#define QUANTITY "'kind': 'measured', 'estimator': 'median', 'low': 1, 'high': 2"
#define FEW                                                                                                            \
	"runs of fewer than 6 starts of the measuring core, so intervals know nothing of what differs between "        \
	"starts (rot remeasure, and the key starts)"

static const struct {
	const char *points; /* with ' for " */
	const char *marks, *remarks;
} cases[] = {
	{"[{'label': 'a', 'quantities': [{'kind': 'measured'}]}]", "", ""},
	{"[{'quantities': [{'kind': 'expected', 'estimator': 'expected'}], 'roof': {'isLeast': true}}]",
	 "\u2264: at most, since the roof is at least as high: its runs were disturbed\n"
	 "(e): operations or bytes as the kernel's definition expects, not counted on this machine\n",
	 ""},
	{"[{'quantities': [{'kind': 'measured', 'estimator': 'medianOfTainted', 'low': 1, 'high': 2}]}]",
	 "\u00b1, [low, high]: interval of at least 95 % for the estimate\n"
	 "(d): every run was disturbed, and the value is of these\n",
	 ""},
	/* Once for a point, whatever number of its values says so; a point without a name is counted. */
	{"[{'quantities': [{'runsEnd': 'budget'}, {'runsEnd': 'budget'}]}]", "",
	 "1 of 1 point: more runs would have taken longer than the key timeBudget allows\n"},
	/* All points are counted, some are named. */
	{"[{'label': 'a', 'quantities': [{'whyExpected': 'too long'}]}, "
	 "{'label': 'b', 'quantities': [{'whyExpected': 'too long', 'runsEnd': 'most'}]}]",
	 "",
	 "2 of 2 points: not all is counted by blocks: too long\nb: the intervals are wider than the key precision "
	 "wants, with as many runs as are made at most\n"},
	/* Notes have numbers of the first point, so it is named. Other numbers are no other note; other words are. */
	{"[{'series': 's', 'label': '1', 'notes': ['off by 3 %']}, "
	 "{'series': 's', 'label': '2', 'notes': ['off by 4 %', 'L1 is off', 3]}, "
	 "{'series': 's', 'label': '3', 'notes': ['L2 is off', 'off by 5 %', 'off by 6 %']}]",
	 "", "s 1 and 2 more points: off by 3 %\ns 2: L1 is off\ns 3: L2 is off\n"},
	/* Five starts are few, six are not; without an interval nothing is said. */
	{"[{'label': 'a', 'quantities': [{" QUANTITY ", 'starts': [0, 1, 2, 3, 4, 4]}]}, "
	 "{'label': 'b', 'quantities': [{" QUANTITY ", 'starts': [0, 1, 2, 3, 4, 5]}]}, "
	 "{'label': 'c', 'quantities': [{'starts': [0, 1]}]}]",
	 "\u00b1, [low, high]: interval of at least 95 % for the estimate\n", "a: " FEW "\n"},
};

static char *
joined(struct texts lines)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < lines.nr; i++)
		rot_append(&text, "%s\n", lines.items[i]);
	return text;
}

TEST_OF(lines_are_told_once, NR_ELEMENTS(cases))
{
	autopool pool = {0};
	autofree char *text = rot_strdup(cases[_i].points), *marks = NULL, *told = NULL;
	json_auto_t *points = NULL;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	points = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(points);
	marks = joined(remarks_marks(&pool, points));
	told = joined(remarks_of_points(&pool, points));
	ck_assert_str_eq(marks, cases[_i].marks);
	ck_assert_str_eq(told, cases[_i].remarks);
}

UNIT_TESTS(.is_in_one_process = true);
