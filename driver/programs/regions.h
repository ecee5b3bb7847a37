/* SPDX-License-Identifier: MIT */
/* Values of a program's regions from its runs, and what observing them cost. Pure. */
#pragma once

#include <stdbool.h>

#include "entities.h"
#include "programs/plan.h"
#include "programs/values.h"

/* A hit that is shorter than so many times its own cost has a time that cannot be trusted. */
#define PROGRAM_REGION_SHORT 10

/* The roof of a program, or a region. */
struct program_roof {
	struct summary peak, bandwidth; /* flop/s and byte/s (memory), value and interval; NaN if not known */
	int nr_threads;                 /* that it is of; 0 if not known */
};

/* Kinds of hits, as in ProgramRegionOutput. */
enum program_hits { HITS_ALL, HITS_MEASURED, HITS_TEAM, HITS_INNER, HITS_ABANDONED, HITS_LOST, NR_HITS };

struct program_region_thread {
	double hits[NR_HITS];         /* in the first run  */
	struct program_values values; /* with their thread */
};

/* Borrows definition and service. */
struct program_region {
	const struct region *definition;
	const struct region_service *service; /* NULL: the core said nothing about it */
	double hits[NR_HITS];                 /* of all threads, medians over the runs */
	double fewest_hits, most_hits;        /* HITS_ALL of a run                    */
	double cut_hits;                     /* measured in a run for the counts that was cut off, whose hits the others
					      * do not have; NaN: none was */
	bool is_sampled;                     /* its hits were too short to be timed: its time is that of samples  */
	bool are_hits_least;                 /* then: nobody counted all of them                                  */
	uint64_t nr_samples, nr_all_samples; /* in it, and of the program meanwhile, in all runs           */
	bool is_cut;                         /* its hits are those of a run that was cut off, since there is no other */
	size_t nr_entered;                   /* threads that entered it, in the first run */
	double at_once;                      /* threads in it while any was, an average of the first run */
	struct program_values total;         /* nr is 0 if nothing was measured      */
	struct program_region_thread *threads; /* those that entered, by their start; none where runs had others */
	size_t nr_threads;
	double empty_ns, empty_instructions; /* subtracted for each hit; NaN if not known */
	double cost_ns;                      /* wall time that a hit takes from the program; NaN if not known */
	double cost_share;                   /* of the life of the thread from which hits take the most; NaN */
	double time_share;                   /* of the lives of the threads that entered it, in the first run; NaN */
	bool is_short;                       /* see PROGRAM_REGION_SHORT             */
	struct program_roof roof;            /* of as many CPUs, set by who knows it     */
	double roof_share;                   /* as that of the program, set by program_report_judge; NaN */
	char *bound;                         /* likewise; "" if not known            */
	double memory_bound;                 /* as of the report                     */
};

struct program_regions {
	struct program_region *items; /* in the order of the command's */
	size_t nr;
};

/* has_threads: each run had the same threads, told apart. Clear also after an error. */
int program_regions_compute(struct program_regions *regions, const struct program_plan *plan,
			    const struct architecture *architecture, const struct program_command *command,
			    const struct program_command_output *output, bool has_threads, struct rot_error *err);
void program_regions_clear(struct program_regions *regions);

/* Was it found and observed? */
bool program_region_is_served(const struct program_region *region);

/* Microseconds of a measured hit, as an average; NaN if there was none. With a team: of wall time, as if one thread
 * opened it. */
double program_region_hit_us(const struct program_region *region);
