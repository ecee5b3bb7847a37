/* SPDX-License-Identifier: MIT */
/*
 * One line on the terminal while an experiment measures: "point 3 of 9, run 4 of 10, about 12 s left". Where standard
 * error is no terminal (a log), a line of its own once a minute. Silent with -quiet. One experiment at a time; nested
 * ones (default peaks) count as points of the outer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* nr_points: 0 if unknown. Calls may nest; only the outermost sets the number. */
void progress_begin(size_t nr_points, bool quiet);

/* The next point begins. */
void progress_point(void);

/* The point that has begun will begin once more. */
void progress_point_again(void);

/*
 * From now on points are those of a block, each of which has nr_points; block counts from 1. nr_blocks 0: of none any
 * more, they go on where they were; how long these take nobody knows.
 */
void progress_block(int block, int nr_blocks, size_t nr_points);

/* At least until then (of clock.h) it goes on; infinite: nobody knows. The next progress_begin forgets it. */
void progress_until(double at_s);

/* nr_done of nr_runs runs of the current point are finished. */
void progress_run(int nr_done, int nr_runs);

/* From now on progress_run tells of a part of nr_runs runs that comes after nr_before of them; 0, 0: of all again. */
void progress_part(int nr_before, int nr_runs);

/*
 * Between these what begins has points of its own, behind the title: "roof: point 12 of 90, ...". The points around it
 * go on afterwards, with their time. One such part at a time.
 */
void progress_enter(const char *title);
void progress_leave(void);

/* Names work that is no run ("building the core"), until the next call. */
void progress_task(const char *task);

/* Takes the line away; it comes back with the next call of the others. */
void progress_clear(void);

/* Ends the innermost progress_begin. */
void progress_end(void);

/* Where it is: all count from 1, but run, of which so many are finished. */
struct progress_place {
	int block, nr_blocks;    /* 0, 0: there are none  */
	size_t point, nr_points; /* nr_points 0: unknown  */
	int run, nr_runs;
	double least_left_s; /* 0: unknown */
};

/*
 * The text of the line, in fresh memory. elapsed_s: since the first point began; NaN: unknown. title NULL: none; task
 * NULL: a run.
 */
char *progress_text(const char *title, const struct progress_place *place, const char *task, double elapsed_s);

/* "about 12 s", "about 12 s to 3 min"; fresh memory. */
char *progress_range(double least_s, double most_s);
