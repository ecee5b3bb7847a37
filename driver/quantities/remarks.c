/* SPDX-License-Identifier: MIT */
#include "quantities/remarks.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/titles.h"
#include "memory.h"
#include "number.h"
#include "quantities/own_cost.h"
#include "quantities/sample_view.h"
#include "quantities/value_text.h"

/* ---- doubts ---- */

static bool
depends_on_time(const char *name)
{
	static const char *const names[] = {"time", "performance", "throughput"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct quantity_doubts
quantity_doubts_of(const struct quantity_value *value)
{
	const bool is_asked = value->nr_samples > 0 && depends_on_time(value->name);
	autofree double *kept = rot_calloc(value->nr_samples + 1, sizeof(*kept));
	size_t nr = is_asked ? quantity_kept_samples(value, kept) : 0;
	struct quantity_doubts doubts = {
		.modes = series_modes(kept, nr),
		.drift = series_drift(kept, nr),
		.first = series_first(kept, nr),
		.outliers = series_outliers(kept, nr),
	};

	return doubts;
}

bool
quantity_doubts_any(const struct quantity_doubts *doubts)
{
	return doubts->modes.finding == SERIES_YES || doubts->drift.finding == SERIES_YES ||
	       doubts->first.finding == SERIES_YES || doubts->outliers.finding == SERIES_YES;
}

/* ---- caveats ---- */

/* If more runs than this share were disturbed, the others may be lucky ones. */
#define DISTURBED_SHARE 0.3

static bool
is_missing(const struct quantity_value *value)
{
	return isnan(value->summary.value);
}

static bool
is_expected(const struct quantity_value *value)
{
	return strcmp(value->kind, "expected") == 0;
}

static bool
is_modelled(const struct quantity_value *value)
{
	return strcmp(value->kind, "modelled") == 0;
}

/* All that were disturbed, also those that are kept. */
static bool
is_disturbed(const struct quantity_value *value)
{
	size_t nr = 0;

	for (size_t i = 0; value->taints && i < value->nr_samples; i++)
		nr += value->taints[i] != 0;
	return (double)nr > DISTURBED_SHARE * (double)value->nr_samples;
}

static bool
breaks_rule(const struct quantity_value *value)
{
	for (size_t i = 0; i < value->nr_breaches; i++)
		if (value->breaches[i].nr_runs == 0)
			return true;
	return false;
}

static bool
has_failing_grade(const struct quantity_value *value)
{
	return strcmp(value->grade, "F") == 0;
}

static bool
is_short(const struct quantity_value *value)
{
	return own_cost_is_high(&value->own_cost);
}

static bool
is_uneven(const struct quantity_value *value)
{
	const struct quantity_doubts doubts = quantity_doubts_of(value);

	return quantity_doubts_any(&doubts);
}

/* If all runs gave the same, or each instruction was counted, a value needs no interval. */
static bool
lacks_interval(const struct quantity_value *value)
{
	const char *estimator = value->summary.estimator;

	return value->nr_samples > 0 && isnan(value->summary.low) && !isinf(value->summary.value) &&
	       !quantity_is_counted_once(value) && strcmp(estimator, "exact") != 0 &&
	       strcmp(estimator, "expected") != 0;
}

/* ---- the table ---- */

/* No kind: estimators end so. */
#define OF_TAINTED "OfTainted"

static_assert(SUMMARY_LEAST == 6, "texts below say so");

static const struct remark remarks[] = {
	{REMARK_MARK, "expected", "operations or bytes as the kernel's definition expects, not counted on this machine",
	 .advice = "the remarks say why; see rot doctor", .mark = "(e)"},
	{REMARK_MARK, "modelled", "modelled from counted events, or from blocks and modelled caches",
	 .advice = "take bytes behind the L1 as what the code needs, not as what the machine moved", .mark = "(m)"},
	{REMARK_MARK, "given", "operations or bytes as given by the controller, not counted", .advice = "",
	 .mark = "(g)"},
	{REMARK_MARK, OF_TAINTED, "every run was disturbed, and the value is of these",
	 .advice = "measure again on a quiet machine", .mark = VALUE_DISTURBED},

	{REMARK_CAUSE, "contextSwitch", "another program ran on the CPU",
	 .advice = "stop other programs; rot doctor shows the load", .taint = TAINT_CONTEXT_SWITCH},
	{REMARK_CAUSE, "migration", "the thread moved to another CPU", .advice = "stop other programs",
	 .taint = TAINT_MIGRATION},
	{REMARK_CAUSE, "majorFault", "pages were read from a disk", .advice = "run again: they are in memory then",
	 .taint = TAINT_MAJOR_FAULT},
	{REMARK_CAUSE, "multiplexed", "something else used the counters",
	 .advice = "stop other profilers and the NMI watchdog", .taint = TAINT_MULTIPLEXED},
	{REMARK_CAUSE, "overflow", "a count is larger than a counter can hold", .advice = "run again",
	 .taint = TAINT_OVERFLOW},
	{REMARK_CAUSE, "unmeasuredThread", "the kernel made threads that were not counted",
	 .advice = "set numThreads of the kernel", .taint = TAINT_UNMEASURED_THREAD},
	{REMARK_CAUSE, "clockJump", "the core's clock changed during the run",
	 .advice = "fix the clock, or use more runs", .taint = TAINT_CLOCK},
	{REMARK_CAUSE, "stealTime", "the hypervisor ran something else for 1 % of a run or more",
	 .advice = "measure at another time, or on another host", .taint = TAINT_STEAL},
	{REMARK_CAUSE, "brokenRule", "this run alone breaks a rule", .advice = "see the rule in the remarks",
	 .taint = TAINT_BROKEN_RULE},
	{REMARK_CAUSE, "background",
	 "others moved more than a tenth of the bytes that were counted of the whole machine",
	 .advice = "stop other programs, or use larger sizes; without a run that is better there is no value",
	 .taint = TAINT_BACKGROUND},

	{REMARK_RULE, "bordersOrdered", "more bytes crossed a border than one nearer to the core",
	 .advice = "prefetching and non-temporal stores (rep stos) may do this; else a count is wrong: rot validate"},
	{REMARK_RULE, "atLeastCompulsory", "less than 0.9 of the bytes that must cross a border were counted",
	 .advice = "check that caches are cold, and the compulsory bytes of the kernel"},
	{REMARK_RULE, "belowCeiling", "a rate is more than 5 % above the highest ceiling",
	 .advice = "rot peaks: the roof is probably too low"},
	{REMARK_RULE, "passesAgree",
	 "runs that counted different events differ by more than 1 % in instructions or 5 % in core cycles",
	 .advice = "the work differs between runs: do not combine these values"},
	{REMARK_RULE, "stepsAgree", "counted runs executed different numbers of instructions",
	 .advice = "the work differs between runs: do not combine these values"},
	{REMARK_RULE, "stepsKnown", "the work of some instructions is not known; the first is named",
	 .advice = "operations and bytes lack theirs; instructions are right"},

	{REMARK_RUNS, "modes", "runs fall into two groups; the median is neither",
	 .advice = "find the cause: placement, clock, a neighbour; or use more starts"},
	{REMARK_RUNS, "drift", "runs became slower or faster", .advice = "warm up; compare results in turns"},
	{REMARK_RUNS, "firstRun", "the first run pays for something",
	 .advice = "measure its cost, or use warmCode and warmData"},
	{REMARK_RUNS, "outliers", "fewer than a fifth of the runs lie more than three ranges away",
	 .advice = "usually a shared host; they are in the value"},
	{REMARK_RUNS, "fewStarts",
	 "runs of fewer than 6 starts of the measuring core, so intervals know nothing of what differs between starts",
	 .advice = "rot remeasure, and the key starts"},
	{REMARK_RUNS, "ofMachine",
	 "counted for the whole machine; what others moved is subtracted, but not of memoryBus",
	 .advice = "stop other programs"},

	{REMARK_END, "disturbed", "too many runs were disturbed to have as many as were asked for",
	 .advice = "a quiet machine, or a larger timeBudget"},
	{REMARK_END, "narrow", "runs were added until the intervals were as narrow as the key precision wants",
	 .advice = ""},
	{REMARK_END, "most",
	 "the intervals are wider than the key precision wants, with as many runs as are made at most",
	 .advice = "a quiet machine, or less precision"},
	{REMARK_END, "budget", "more runs would have taken longer than the key timeBudget allows",
	 .advice = "a larger timeBudget"},
	{REMARK_END, "noInterval", "the estimator has no interval that the key precision could be compared with",
	 .advice = "another estimator"},

	{REMARK_OBSTACLE, "severalWorkloads",
	 "a kernel has threads of its own, and those of several workloads cannot be told apart",
	 .advice = "let it compute with one thread, or alone"},
	{REMARK_OBSTACLE, "stepLimit", "more instructions are expected than stepLimit allows to count",
	 .advice = "choose smaller sizes, or raise -stepLimit (some 60 million instructions take a second)"},
	{REMARK_OBSTACLE, "timeLimit", "counting it takes longer than timeLimit allows",
	 .advice = "choose smaller sizes, or raise -timeLimit (seconds)"},
	{REMARK_OBSTACLE, "refused", "the measuring core could not count it", .advice = "see what it said before"},
	{REMARK_OBSTACLE, "memory", "the measuring core cannot access its memory",
	 .advice = "see what the system forbids: /proc/PID/mem, and tracing (rot doctor)"},
	{REMARK_OBSTACLE, "fullCaches", "caches are modelled as empty at the start, which they are not behind a kernel",
	 .advice = "ask for what crosses cpuL1"},
	{REMARK_OBSTACLE, "unknownCaches", "the sizes of the caches to model are not known",
	 .advice = "rot peaks measures them first"},

	{REMARK_CAVEAT, "missing", "could not be computed", .advice = "see the remarks", .applies = is_missing},
	{REMARK_CAVEAT, "expected", "by the kernels' definitions, not counted", .advice = "rot doctor",
	 .applies = is_expected},
	{REMARK_CAVEAT, "modelled", "modelled from what can be counted", .advice = "caches=none leaves such bytes out",
	 .applies = is_modelled},
	{REMARK_CAVEAT, "disturbed", "more than 30 % of the runs were disturbed", .advice = "a quiet machine",
	 .applies = is_disturbed},
	{REMARK_CAVEAT, "brokenRule", "breaks a rule that sound values keep", .advice = "see the rule in the remarks",
	 .applies = breaks_rule},
	{REMARK_CAVEAT, "failingGrade", "of events that count wrong here (grade F)", .advice = "rot validate",
	 .applies = has_failing_grade},
	{REMARK_CAVEAT, "short", "starting and stopping is more than 1 % of it",
	 .advice = "use larger sizes: nothing is subtracted", .applies = is_short},
	{REMARK_CAVEAT, "uneven", "two modes, a drift, outliers or another first run", .advice = "see the remarks",
	 .applies = is_uneven},
	{REMARK_CAVEAT, "noInterval", "of too few runs for an interval", .advice = "6 undisturbed runs or more",
	 .applies = lacks_interval},
};

const struct remark *
remark_next(enum remark_group group, const struct remark *before)
{
	const struct remark *end = remarks + sizeof(remarks) / sizeof(*remarks);
	const struct remark *remark = before ? before + 1 : remarks;

	while (remark < end && remark->group != group)
		remark++;
	return remark < end ? remark : NULL;
}

const struct remark *
remark_find(enum remark_group group, const char *code)
{
	const struct remark *remark = remark_next(group, NULL);

	while (remark && strcmp(remark->code, code) != 0)
		remark = remark_next(group, remark);
	return remark;
}

const char *
remark_group_words(enum remark_group group)
{
	static const char *const words[NR_REMARK_GROUPS] = {
		[REMARK_MARK] = "mark of a value",
		[REMARK_CAUSE] = "why a run is left out",
		[REMARK_RULE] = "broken rule",
		[REMARK_RUNS] = "about the runs of a value",
		[REMARK_END] = "why there are no more runs",
		[REMARK_OBSTACLE] = "why not all is counted by blocks",
		[REMARK_CAVEAT] = "why strict refuses a number",
	};

	return words[group];
}

/* ---- lines ---- */

static bool
has_interval(const json_t *quantity)
{
	return json_number_at(quantity, "low") < json_number_at(quantity, "high");
}

struct texts
remarks_marks(struct pool *pool, const json_t *points)
{
	struct texts lines = {.nr = 0};
	bool has_intervals = false, has_most = false, has_mark[sizeof(remarks) / sizeof(*remarks)] = {false};
	const json_t *point, *quantity;
	size_t i, k;

	json_array_foreach(points, i, point) {
		has_most |= json_is_true(json_object_get(json_object_get(point, "roof"), "isLeast"));
		json_array_foreach(json_object_get(point, "quantities"), k, quantity) {
			const bool is_tainted = strstr(json_text_at(quantity, "estimator"), OF_TAINTED) != NULL;
			const struct remark *mark = remark_find(REMARK_MARK, json_text_at(quantity, "kind"));

			has_intervals |= has_interval(quantity);
			if (mark)
				has_mark[mark - remarks] = true;
			if (is_tainted)
				has_mark[remark_find(REMARK_MARK, OF_TAINTED) - remarks] = true;
		}
	}
	if (has_most)
		texts_add(pool, &lines,
			  VALUE_AT_MOST ": at most, since the roof is at least as high: its runs were disturbed");
	if (has_intervals)
		texts_add(pool, &lines, "±, [low, high]: interval of at least 95 % for the estimate");
	for (const struct remark *mark = remark_next(REMARK_MARK, NULL); mark; mark = remark_next(REMARK_MARK, mark))
		if (has_mark[mark - remarks])
			texts_add(pool, &lines, pool_format(pool, "%s: %s", mark->mark, mark->text));
	return lines;
}

/* A remark on several points. */
struct telling {
	const json_t *first, *last; /* of the points */
	const char *text;
	size_t nr;   /* points */
	bool is_own; /* its numbers are those of the first point */
};

struct tellings {
	struct pool *pool;
	struct telling *items;
	size_t nr;
};

/* Once for each point. */
static void
tell(struct tellings *all, const json_t *point, const char *text, bool is_own)
{
	size_t i = 0;

	while (i < all->nr && !remarks_are_alike(all->items[i].text, text))
		i++;
	if (i == all->nr) {
		pool_add(all->pool, all->items, all->nr) =
			(struct telling){.first = point, .text = pool_strdup(all->pool, text), .is_own = is_own};
	}
	all->items[i].nr += all->items[i].last != point;
	all->items[i].last = point;
}

/* Runs of so few starts say nothing of how starts differ. */
static bool
has_few_starts(const json_t *quantity)
{
	const json_t *starts = json_object_get(quantity, "starts");
	size_t nr = json_array_size(starts) ? 1 : SUMMARY_LEAST;

	for (size_t i = 1; i < json_array_size(starts); i++)
		nr += !json_equal(json_array_get(starts, i), json_array_get(starts, i - 1));
	return nr < SUMMARY_LEAST && has_interval(quantity);
}

static void
tell_of_quantity(struct tellings *all, const json_t *point, const json_t *quantity)
{
	const struct remark *end = remark_find(REMARK_END, json_text_at(quantity, "runsEnd"));
	const struct remark *few = remark_find(REMARK_RUNS, "fewStarts");
	const char *why = json_text_at(quantity, "whyExpected");
	autofree char *few_text = NULL, *why_text = NULL, *machine_text = NULL;

	if (has_few_starts(quantity)) {
		few_text = rot_format("%s (%s)", few->text, few->advice);
		tell(all, point, few_text, false);
	}
	if (*why) {
		why_text = rot_format("not all is counted by blocks: %s", why);
		tell(all, point, why_text, false);
	}
	if (end)
		tell(all, point, end->text, false);
	if (json_is_true(json_object_get(quantity, "ofMachine"))) {
		const bool is_refused = json_is_null(json_object_get(quantity, "value"));
		const struct remark *remark =
			is_refused ? remark_find(REMARK_CAUSE, "background") : remark_find(REMARK_RUNS, "ofMachine");

		machine_text = rot_format("%s (%s)", remark->text, remark->advice);
		tell(all, point, machine_text, false);
	}
}

struct texts
remarks_of_points(struct pool *pool, const json_t *points)
{
	struct tellings all = {.pool = pool};
	struct texts lines = {.nr = 0};
	const json_t *point, *item;
	size_t i, k;

	json_array_foreach(points, i, point) {
		json_array_foreach(json_object_get(point, "quantities"), k, item)
			tell_of_quantity(&all, point, item);
		json_array_foreach(json_object_get(point, "notes"), k, item) {
			if (json_is_string(item))
				tell(&all, point, json_string_value(item), true);
		}
	}
	for (i = 0; i < all.nr; i++) {
		const struct telling *one = &all.items[i];
		autofree char *name =
			point_title(json_text_at(one->first, "series"), " ", json_text_at(one->first, "label"));
		autofree char *more =
			one->nr == 1 ? rot_strdup("")
				     : rot_format(" and %zu more point%s", one->nr - 1, one->nr == 2 ? "" : "s");

		if (!*name || (!one->is_own && one->nr == json_array_size(points) && one->nr > 1))
			texts_add(pool, &lines,
				  pool_format(pool, "%zu of %zu point%s: %s", one->nr, json_array_size(points),
					      rot_plural((double)json_array_size(points)), one->text));
		else
			texts_add(pool, &lines, pool_format(pool, "%s%s: %s", name, more, one->text));
	}
	return lines;
}

/* Behind a number, which may be an address. */
static const char *
behind_number(const char *text)
{
	if (strncmp(text, "0x", 2) == 0)
		text += 2 + strspn(text + 2, "0123456789abcdef");
	return text + strspn(text, "0123456789.,+-");
}

bool
remarks_are_alike(const char *a, const char *b)
{
	bool is_in_word = false;

	for (;; a++, b++) {
		if (!is_in_word) {
			a = behind_number(a);
			b = behind_number(b);
		}
		if (*a != *b || !*a)
			return *a == *b;
		is_in_word = isalnum((unsigned char)*a);
	}
}
