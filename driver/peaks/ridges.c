/* SPDX-License-Identifier: MIT */
/* Ridge points. */
#include "peaks/ridges.h"

#include <math.h>
#include <string.h>

#include "memory.h"

static const struct {
	const char *border, *level;
} levels[] = {{"cpuL1", "L1"}, {"l1l2", "L2"}, {"l2l3", "L3"}, {"llcRam", "memory"}};

int
border_order(const char *border)
{
	int i = 0;

	while (i < (int)(sizeof(levels) / sizeof(*levels)) && strcmp(levels[i].border, border) != 0)
		i++;
	return i;
}

const char *
border_level(const char *border)
{
	size_t i = (size_t)border_order(border);

	return i < sizeof(levels) / sizeof(*levels) ? levels[i].level : border;
}

static bool
is_pair(const struct peak *performance, const struct peak *bandwidth)
{
	return performance->kind == PEAK_PERFORMANCE && bandwidth->kind == PEAK_BANDWIDTH &&
	       strstr(performance->operation, "Flop") && performance->nr_threads == bandwidth->nr_threads;
}

static struct peak_estimate
intensity_of(const struct peak *performance, const struct peak *bandwidth)
{
	bool is_per_cycle = isfinite(performance->per_cycle.value) && isfinite(bandwidth->per_cycle.value);
	struct peak_estimate p = is_per_cycle ? performance->per_cycle : performance->per_second;
	struct peak_estimate b = is_per_cycle ? bandwidth->per_cycle : bandwidth->per_second;

	return (struct peak_estimate){p.value / b.value, p.low / b.high, p.high / b.low};
}

size_t
peaks_ridges(const struct peak_list *list, struct ridge **ridges)
{
	struct ridge *all = rot_calloc(list->nr * list->nr + 1, sizeof(*all));
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		for (size_t k = 0; k < list->nr; k++) {
			const struct peak *performance = &list->peaks[i], *bandwidth = &list->peaks[k];

			if (!is_pair(performance, bandwidth))
				continue;
			all[nr++] = (struct ridge){performance, bandwidth, intensity_of(performance, bandwidth)};
		}
	*ridges = all;
	return nr;
}
