/* SPDX-License-Identifier: MIT */
/* See region_trial.h. */
#include "parent/regions/region_trial.h"

#include <inttypes.h>
#include <string.h>

#include "entity.h"
#include "parent/regions/empty_region.h"
#include "parent/regions/regions.h"

/* Where the refusal begins with who refuses, without that. */
static const char *
without_name(const char *text, const char *name)
{
	size_t length = strlen(name);

	return strncmp(text, name, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
}

void
region_trial_print(FILE *out)
{
	const struct counting nothing = {0};

	for (size_t i = 0; i < REGION_NR_BACKENDS; i++) {
		const char *name = region_backends[i]->name;
		struct rot_error err = {0};
		struct empty_region_output *output = empty_region_measure(&nothing, name, &err);

		if (output)
			fprintf(out, "%s\t%" PRIu64 "\n", name, (uint64_t)output->cost);
		else
			fprintf(out, "%s\t\t%s\n", name, without_name(err.text, name));
		rot_graph_delete(output);
	}
}
