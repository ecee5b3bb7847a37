/* SPDX-License-Identifier: MIT */
/* The output about regions: who observed each, and what each thread did in it. */
#pragma once

#include <stdio.h>

#include "ProgramCommand.h"
#include "ProgramCommandOutput.h"
#include "ProgramRunOutput.h"
#include "common/counting.h"
#include "parent/regions/regions.h"
#include "parent/stepping/reuse.h"

struct region_report;

/* Both are borrowed. */
struct region_report *region_report_new(const struct program_command *command, const struct counting *counting);

/*
 * Regions by their index in the command. What is said twice is kept once. Of the reasons why a region is not found the
 * first is kept, unless a later one replaces it.
 */
void region_report_not_found(struct region_report *report, size_t region, bool replaces, const struct rot_error *err);
void
region_report_refusal(struct region_report *report, size_t region, const char *backend, const struct rot_error *err);
void region_report_service(struct region_report *report, size_t region, const char *backend,
			   struct region_point *const *points, size_t nr);

/* Why a region is not observed; NULL: it is found, or nobody has looked for it. */
const char *region_report_why_missing(const struct region_report *report, size_t region);

/* Writes a line with the reason for each region that is not observed because it is not found. */
void region_report_tell_missing(const struct region_report *report, FILE *out);

void region_report_warn(struct region_report *report, const char *text);

/* A thread's hits are not seen. */
void region_report_unseen(struct region_report *report, const struct rot_error *err);

/* A thread's uses of lines in the region, as of reuse_move. */
void region_report_curve(struct region_report *report, size_t region, const uint64_t by_capacity[REUSE_NR + 1]);

/* The thread has ended. One that never was in the region is left out. */
void
region_report_thread(struct region_report *report, size_t region, pid_t pid, pid_t tid, const struct frames *frames);

/* How often a backend served a region so far. */
bool region_report_serves(const struct region_report *report, const char *backend);

/* Adds all that was said to the outputs, which own it then. */
void region_report_output(struct region_report *report, struct program_run_output *run,
			  struct program_command_output *output);

void region_report_delete(struct region_report *report);
