/* SPDX-License-Identifier: MIT */
/* See caveats.h. */
#include "quantities/caveats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/own_cost.h"
#include "quantities/sample_view.h"

/* ---- doubts: what the runs say against their summary ---- */

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
	return (double)nr > CAVEAT_DISTURBED_SHARE * (double)value->nr_samples;
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

/* Of what runs gave; where they all gave the same, or each instruction was counted, none is needed. */
static bool
lacks_interval(const struct quantity_value *value)
{
	const char *estimator = value->summary.estimator;

	return value->nr_samples > 0 && isnan(value->summary.low) && !isinf(value->summary.value) &&
	       !quantity_is_counted_once(value) && strcmp(estimator, "exact") != 0 &&
	       strcmp(estimator, "expected") != 0;
}

const struct quantity_caveat quantity_caveats[] = {
	{"missing", "could not be computed", is_missing},
	{"expected", "by the kernels' definitions, not counted", is_expected},
	{"modelled", "modelled from what can be counted", is_modelled},
	{"disturbed", "more than 30 % of the runs were disturbed", is_disturbed},
	{"brokenRule", "breaks a rule that sound values keep", breaks_rule},
	{"failingGrade", "of events that count wrong here (grade F)", has_failing_grade},
	{"short", "starting and stopping is more than 1 % of it", is_short},
	{"uneven", "two modes, a drift, outliers or another first run", is_uneven},
	{"noInterval", "of too few runs for an interval", lacks_interval},
};
const size_t quantity_nr_caveats = sizeof(quantity_caveats) / sizeof(*quantity_caveats);

unsigned
quantity_caveats_of(const struct quantity_value *value)
{
	unsigned caveats = 0;

	for (size_t i = 0; i < quantity_nr_caveats; i++)
		caveats |= (unsigned)quantity_caveats[i].applies(value) << i;
	return caveats;
}
