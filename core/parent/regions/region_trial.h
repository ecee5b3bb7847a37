/* SPDX-License-Identifier: MIT */
#ifndef CORE_PARENT_REGIONS_REGION_TRIAL_H
#define CORE_PARENT_REGIONS_REGION_TRIAL_H

#include <stdio.h>

/*
 * Which backends of regions work here, found out by observing an empty region with each. A line for each, in the order
 * in which they are tried for a region: its name, a tab, and what a hit costs in ns; or its name, two tabs, and why
 * not.
 */
void region_trial_print(FILE *out);

#endif
