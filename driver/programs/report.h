/* SPDX-License-Identifier: MIT */
/* The report on a program: as a table for people, and as JSON. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "entities.h"
#include "programs/findings.h"
#include "programs/places.h"
#include "programs/plan.h"
#include "programs/regions.h"
#include "programs/values.h"

struct architecture;
struct experiment;
struct rot;
struct run_options;

/* item, name: the code that it is about, borrowed; NULL, "": the program, or the measurement. */
struct report_finding {
	struct finding finding;
	const struct place_share *item;
	const char *name;
};

/* Everything is borrowed but the notes and the findings. */
struct program_report {
	bool is_all; /* the table has all values           */
	const struct run_options *options;
	const char *title;             /* "gzip -k file", "process 123"                */
	const struct program *program; /* NULL: a process was attached to             */
	const char *executable;        /* path that was run; NULL if not known          */
	const char *sha256;            /* of its content; "" if it cannot be read      */
	bool can_step;                 /* it could be counted by blocks, and nobody asked for it */
	bool are_lines_sampled;        /* by modelled caches: cacheSampling */
	const char *why_once;          /* why it was not run once more to be counted by blocks; NULL */
	const struct rot *rot;         /* for what is known of instructions; NULL: nothing */
	const struct machine *machine; /* this one, whichever caches are modelled */
	const struct architecture *architecture;
	const struct program_plan *plan;
	const struct program_command_output *output;
	struct program_values total;
	struct program_values *threads;
	size_t nr_threads;
	struct program_regions regions;
	struct program_agreement agreement;
	struct program_places places;
	enum place_kind by;         /* of these in the table */
	long nr_functions;          /* of places that the table shows; 0: none, -1: those that matter */
	struct program_roof roof;   /* of as many CPUs as the program used */
	struct program_roof *roofs; /* of 1, 2, ... threads, as its places have; NULL: not known */
	double roof_share;          /* performance as a share of the roof at this intensity; NaN if not known */
	char *bound;                /* see program_report_judge; fresh memory */
	double memory_bound;        /* how probable it is that the bandwidth is the lower roof here; NaN if not known */
	char **notes;               /* what the numbers leave out, with the next step; fresh memory each */
	size_t nr_notes;
	size_t nr_doubts;                   /* of the notes: for which the numbers should not be taken as sound */
	double vector_bytes;                /* of the widest vectors of this machine                            */
	double line_ns[FINDING_NR_ORIGINS]; /* as measured here; 0: not */
	struct report_finding *findings;    /* those about the measurement first, see report_find   */
	size_t nr_findings;
};

/* printf into a note; doubt: which counts as one. */
void program_report_note(struct program_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
void program_report_clear(struct program_report *report);

/*
 * Adds the notes that follow from what is in the report, and says what bounds the program and each region, in words:
 * "memory-bound (99 % sure): 83 % of the memory bandwidth at this intensity; 4 % of the peak"; "" where operations,
 * bytes or ceilings are not known. How sure that is, is said where intensity and roof have intervals.
 */
void program_report_judge(struct program_report *report);

/* The roof of as many threads as were in that place at once. */
const struct program_roof *report_roof_of(const struct program_report *report, const struct place_share *item);

/* How operations and bytes are counted: "events", "blocks", "steps" (of regions), "none". */
const char *program_report_counting(const struct program_report *report);

/* Seconds of wall time, and of CPU time of all threads: medians over the runs in which the program was not translated.
 */
double
program_report_median(const struct program_report *report, double (*number)(const struct program_run_output *run));
double program_report_wall_s(const struct program_report *report);
double program_report_cpu_s(const struct program_report *report);

/* Share of the run that its threads, one after the other, were stopped by the tracer: a median; NaN without tracing. */
double program_report_stopped_share(const struct program_report *report);

void program_report_print(const struct program_report *report, FILE *out);

struct report_thread {
	const struct program_values *values; /* of a thread                                         */
	double hits;                         /* NaN in all of them: a table without such a column */
};

/* A table of the first threads, with an empty line before it: the values that fit on a line; is_all: all, in parts.
 * Nothing if nr is 0. */
void report_threads(FILE *out, const struct report_thread *threads, size_t nr, bool is_all);

/* The functions, loops or lines in which the CPU time went, with an empty line before; nothing if too few samples say
 * so. */
void report_places(const struct program_report *report, FILE *out);

/* "sweep", or a loop of it: "sweep, relax.c:17-20". Fresh memory, no longer than a column of the tables. */
char *report_place_name(const struct place_share *item);

/* A text that does not fit loses its end or, as qualified names do, its beginning: "...al::LookupIterator::Start".
 * Fresh memory. */
char *report_fitted(const char *text, size_t most, bool keeps_end);

/* All of them: as a member of the JSON, and that (whose functions may have got the roof of a plot) as
 * OUTPUT_NAME-functions.csv, -loops.csv and, if asked for, -lines.csv. */
json_t *report_places_json(const struct program_report *report);
int report_places_csv(const struct program_report *report, const json_t *places, const char *output_name,
		      struct rot_error *err);

/*
 * The counts at the instructions of a function, by its place in the list of functions. Its hash tells whether a file
 * still has that code. NULL: it has little of the whole, or its code is not known.
 */
json_t *report_code_json(const struct program_report *report, size_t i);

/* Fills in the findings, of functions or loops as report->by says (of functions for lines), by what is judged. */
void report_find(struct program_report *report);
void report_findings_clear(struct program_report *report);

/* Findings about the program, its data and its code, with an empty line before, behind those about the measurement. The
 * first two, about data alone if misses were asked for; is_all: all, with thresholds. Nothing if there are none. */
void report_findings(const struct program_report *report, FILE *out);
json_t *report_findings_json(const struct program_report *report);

/* Were misses asked for, but not all values? Then the rest is short, so that both fit on a screen. */
bool report_is_about_misses(const struct program_report *report);

/* The run in which misses were told apart by kind; NULL: there is none. */
const struct program_run_output *report_run_of_misses(const struct program_report *report);

/* Kinds of misses, likewise; and by function, object or thread. Members of the JSON are added only with such a run. */
void report_miss_kinds(const struct program_report *report, FILE *out);
void report_miss_note(struct program_report *report);
void report_add_misses_json(const struct program_report *report, json_t *json);

/* Traffic of other caches, if they were asked for: a table with an empty line before, and a member of the JSON (else
 * NULL). */
void report_what_ifs(const struct program_report *report, FILE *out);
json_t *report_what_ifs_json(const struct program_report *report);

/*
 * Misses at every capacity, if they were asked for: a short table with an empty line before, notes, a member of the
 * JSON (else NULL), and the plot OUTPUT_NAME-misses.
 */
void report_curve(const struct program_report *report, FILE *out);
void report_curve_note(struct program_report *report);
json_t *report_curve_json(const struct program_report *report);
int report_curve_plot(const struct program_report *report, const struct rot *rot, const char *output_name,
		      struct rot_error *err);

/*
 * Adds the members "program", "runs", "threads", ... to the JSON of an experiment. Of what is not timed these are
 * "program" and sums of counts, and what changes from run to run is taken out.
 */
void program_report_add_json(const struct program_report *report, json_t *json);
