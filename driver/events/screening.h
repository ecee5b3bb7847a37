/* SPDX-License-Identifier: MIT */
/*
 * Screening: what every event of this machine counts of some kernels, in groups, several times. It shows which events
 * can be opened, which count at all, and how well they repeat; whether they count what they are named for only "rot
 * validate" proves, on known work.
 */
#ifndef EVENTS_SCREENING_H
#define EVENTS_SCREENING_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "statistics/summary.h"
#include "support/pool.h"

struct rot;

/* A kernel whose run the events are counted of. */
struct screened_kernel {
	const char *name;  /* for tables: "add" */
	const char *class; /* of the kernel */
	const char *fields;
};

/* What an event counted of one kernel. n is 0 where it was not counted all the time. */
struct screened_count {
	double *samples;
	struct summary summary; /* median, with the range */
};

struct screened_event {
	const char *unit; /* "zen5 (rot)", "perf" */
	const char
		*name; /* as libpfm4 reads it: "perf::PERF_COUNT_SW_PAGE_FAULTS"; or that of the architecture's file */
	const char *definition, *description;
	const char *refusal; /* why it is not counted here; "" if it is */
	bool is_hardware; /* counted by the processor: user mode alone. Else kernel mode as well, where that is allowed
			   */
	bool is_alone;    /* shares its group with no other */
	struct screened_count *counts; /* of each kernel, or NULL */
};

struct screening {
	struct pool pool; /* of all below */
	const struct screened_kernel *kernels;
	size_t nr_kernels; /* that all events were counted of: fewer than wanted after an interruption */
	bool is_complete;
	int nr_runs;
	bool counts_kernel_mode; /* of software events */
	struct screened_event *events;
	size_t nr_events;
};

/*
 * Events of the architecture's file and of the units that libpfm4 finds here (but the one for raw codes), each with
 * each unit mask. Where hardware events cannot be counted these are refused with that reason, and nothing else of them
 * is tried. Error: interrupted (what was counted of whole kernels is kept), or nothing can be counted at all. Clear the
 * pool also after an error.
 */
int screening_perform(struct rot *rot, bool is_quick, struct screening *screening, struct rot_error *err);

#endif
