/* SPDX-License-Identifier: MIT */
/* What the runs of a value say against taking its summary for what every run does. */
#include "quantities/doubts.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/sample_view.h"

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
	double *kept = rot_calloc(value->nr_samples + 1, sizeof(*kept));
	size_t nr = is_asked ? quantity_kept_samples(value, kept) : 0;
	struct quantity_doubts doubts = {
		.modes = series_modes(kept, nr),
		.drift = series_drift(kept, nr),
		.first = series_first(kept, nr),
		.outliers = series_outliers(kept, nr),
	};

	free(kept);
	return doubts;
}

bool
quantity_doubts_any(const struct quantity_doubts *doubts)
{
	return doubts->modes.finding == SERIES_YES || doubts->drift.finding == SERIES_YES ||
	       doubts->first.finding == SERIES_YES || doubts->outliers.finding == SERIES_YES;
}
