/* SPDX-License-Identifier: MIT */
/* The part of the table that shows the regions of a program. */
#ifndef PROGRAMS_REPORT_REGIONS_H
#define PROGRAMS_REPORT_REGIONS_H

#include <stdio.h>

#include "programs/report.h"

/* Regions that were measured; and regions that were not, with the reasons. */
void report_regions_print(const struct program_report *report, FILE *out);
void report_regions_print_unserved(const struct program_report *report, FILE *out);

#endif
