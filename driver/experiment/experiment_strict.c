/* SPDX-License-Identifier: MIT */
/* With the key strict, numbers that are not measured and sound are an error. */
#include <stdlib.h>

#include "configuration/configuration.h"
#include "experiment/experiment_internal.h"
#include "memory.h"
#include "quantities/caveats.h"
#include "rot.h"

/* Numbers of all points, those with any caveat, and those with each. */
struct counts {
	size_t nr, nr_with, *nr_of;
};

static void
count(struct counts *counts, const struct quantity_value *value)
{
	const unsigned caveats = quantity_caveats_of(value);

	counts->nr++;
	counts->nr_with += caveats != 0;
	for (size_t i = 0; i < quantity_nr_caveats; i++)
		counts->nr_of[i] += caveats >> i & 1;
}

int
experiment_check_strict(const struct experiment *experiment, const char *path, struct rot_error *err)
{
	struct counts counts = {.nr_of = rot_calloc(quantity_nr_caveats, sizeof(*counts.nr_of))};
	int rc = 0;

	for (size_t i = 0; i < experiment->nr_points; i++)
		for (size_t k = 0; k < experiment->points[i].nr_values; k++)
			count(&counts, &experiment->points[i].values[k]);
	if (counts.nr_with > 0 && configuration_bool(experiment->rot->configuration, "strict")) {
		rc = rot_error_set(err, 0, "strict: %zu of %zu numbers are not both measured and sound", counts.nr_with,
				   counts.nr);
		for (size_t i = 0; i < quantity_nr_caveats; i++)
			if (counts.nr_of[i])
				rot_error_append(err, "\n     %zu: %s", counts.nr_of[i], quantity_caveats[i].meaning);
		rot_error_hint(err, "which they are says '%s' (caveats)", path);
	}
	free(counts.nr_of);
	return rc;
}
