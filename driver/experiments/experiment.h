/* SPDX-License-Identifier: MIT */
/*
 * An experiment collects points with their quantities and ceilings, then writes the table, OUTPUT.json and plots. It is
 * the thesis' RooflineController, for C and XML controllers alike.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "entities.h"
#include "error.h"
#include "planning/space.h"
#include "quantities/quantity.h"
#include "quantities/sample_view.h"

struct rot;
struct json_t;
struct experiment;
struct peak;

/*
 * Both names are copied; output_name NULL: no files are written. nr_points_expected (0: unknown) is for the progress
 * line. Fails, before anything is measured, when OUTPUT.json cannot be written where output_name says.
 */
struct experiment *experiment_new(struct rot *rot, const char *controller_name, const char *output_name,
				  size_t nr_points_expected, struct rot_error *err);
void experiment_delete(struct experiment *experiment);

/* Lives as long as the experiment, for the texts of what it shows: these are borrowed, and never NULL. */
struct pool *experiment_pool(struct experiment *experiment);

/*
 * Runs that the system disturbs are in the values, and are not repeated: for experiments that are about them. What
 * disturbed them is told as ever.
 */
void experiment_keep_disturbed(struct experiment *experiment);

/* ---- what to show; none of it is part of any measurement ---- */

enum experiment_plot_kind {
	EXPERIMENT_ROOFLINE,
	EXPERIMENT_DISTRIBUTION,
	EXPERIMENT_SERIES,
	EXPERIMENT_HISTOGRAM, /* how many runs gave what: 20 steps from the least to the highest */
	EXPERIMENT_RUNS,      /* what runs gave, in their order */
	EXPERIMENT_THREADS,   /* what the second workload gave in a run over what the first one did */
};
enum experiment_labels { EXPERIMENT_LABELS_NONE, EXPERIMENT_LABELS_ENDS, EXPERIMENT_LABELS_ALL };

/*
 * One plot. Texts may hold expressions in braces: of a point's axes,
 * "series", "label" and the values that were given a name (experiment_name_value); "first.NAME" is the value at the
 * plot's first point.
 */
struct experiment_plot {
	enum experiment_plot_kind kind;
	const char *name; /* files are OUTPUT-NAME.*; "": OUTPUT.* */
	const char *title;
	const char *x; /* roofline: an operational intensity, as quantity_parse reads it; distribution and series: the
			  name of an axis, a quantity or a derived value; others have none */
	const char *y; /* a quantity; a roofline's is a performance, and that of a series may be a derived value */
	const char *x_label, *x_unit, *y_label, *y_unit; /* "": after the quantity or axis */
	double x_low, x_high, y_low, y_high;             /* NaN: automatic */
	bool is_x_log, is_y_log;                         /* a roofline's axes always are */
	enum experiment_labels labels;                   /* which points of a series carry their label */
	const char *point_label;                         /* text drawn at a point; "": its label */
	const char *annotation;   /* further lines of the caption; expressions see the plot's last point */
	const char *key_position; /* "": as the configuration key says */
	const char
		*condition; /* the plot shows the points where it is true, an expression like those in texts; "": all */
	const char *best;   /* a quantity: of each series only the point with its highest value; "": all */
	const char
		*difference_from; /* a series: y is its value at the same label less that of the point; "": y itself */
	bool has_view;            /* y is what the view sees of its runs, and nothing where it is not measured */
	struct sample_view view;
	bool connect_same_size; /* dashed lines between points of different series with equal labels */
	bool has_default_peaks; /* roofline: draw the machine's ceilings */
	bool has_views;         /* roofline of a program: a page has it at all borders and of all precisions */
	bool shows_loops;       /* roofline of a program: beside it are its loops, not its functions */
	bool has_all_peaks;     /* also those that say little more than others */
};

/* Ranges automatic, labels at the ends, other texts "". */
struct experiment_plot experiment_plot_default(enum experiment_plot_kind kind);

/* Errors: x or y is neither an axis nor a quantity; two plots of the same name. Plots are written in the order of
 * addition. */
int experiment_add_plot(struct experiment *experiment, const struct experiment_plot *plot, struct rot_error *err);

/* How a series looks in all plots that show values of points. */
struct experiment_look {
	const char *series; /* its name */
	const char *colour; /* "#0072B2", "blue"; "": that of its place */
	const char *marker; /* "circle"; "": that of its place */
	double order;       /* series are shown in ascending order; 0 where nothing is said, in that of their points */
};

/* Errors: there is no such colour or marker. */
int experiment_add_look(struct experiment *experiment, const struct experiment_look *look, struct rot_error *err);

/*
 * A theoretical curve of the plot that was added last: nr points, copied; as everywhere in base units. A plot that
 * shows no points shows its curves alone.
 */
void experiment_add_curve(struct experiment *experiment, const char *name, const double *x, const double *y, size_t nr);

/*
 * A line of the plot that was added last through the values that a model gives at the points of each series; they are a
 * derived value of that name.
 */
void experiment_add_model(struct experiment *experiment, const char *name, const char *derived);

/* A vertical line at x of the plot that was added last, with a label. */
void experiment_add_marker(struct experiment *experiment, double x, const char *label);

/*
 * The value of that quantity becomes the variable "name" in texts; where runs are known, the best of them the variable
 * "best.NAME", and what a quarter of the undisturbed runs reach, as peaks are given, "upperQuartile.NAME".
 * is_everywhere: it is measured at every point, else only where it is asked for.
 */
int experiment_name_value(struct experiment *experiment, const char *name, const char *quantity, bool is_everywhere,
			  struct rot_error *err);

enum experiment_derived_kind {
	EXPERIMENT_DERIVED_NUMBER,  /* text is an expression */
	EXPERIMENT_DERIVED_TEXT,    /* text holds expressions in braces */
	EXPERIMENT_DERIVED_CEILING, /* text is, evaluated, the name of a ceiling: its value */
	EXPERIMENT_DERIVED_LIMIT,   /* text is, evaluated, the access of a limit of this processor: its value */
	EXPERIMENT_DERIVED_PEAK,    /* text is, evaluated, the access of a peak of this machine: its value */
};

/* A value of each point that follows from others. */
struct experiment_derived {
	enum experiment_derived_kind kind;
	const char *name;      /* a variable in the texts after it; what a column shows */
	const char *unit;      /* a base unit; "": none */
	const char *condition; /* points where it is not true do not have it; "": all */
	const char *text;      /* variables are those of experiment_plot, and the values derived before */
	const char *border, *instruction_set; /* of a limit or peak; evaluated */
	const char *operation;                /* of a peak; evaluated */
	const char *clock;                    /* of a peak: "microSeconds": per second, "tsc"; "": per core cycle */
	const char *base; /* a series, evaluated: "base.NAME" is a value of its point with the same label; "": none */
	double otherwise; /* where there is no such ceiling, limit or peak; NaN: missing */
	bool is_told;     /* that it could not be computed somewhere */
};

/* Derived before anything is written. What is missing at a point is left out of what needs it. */
void experiment_add_derived(struct experiment *experiment, const struct experiment_derived *derived);
bool experiment_has_derived(const struct experiment *experiment, const char *name);

/*
 * Begins a table, of which there is one without a title if none is begun. condition and best as of a plot.
 */
int experiment_add_table(struct experiment *experiment, const char *title, const char *condition, const char *best,
			 struct rot_error *err);

/*
 * A column of the last table: an axis, "series", "label", a quantity or a derived value. heading "" or NULL: after what
 * it is. Without any, the table has series and label (the axes, where no point has a label) and every quantity.
 */
int experiment_add_column(struct experiment *experiment, const char *of, const char *heading, struct rot_error *err);

/*
 * A table of how accurate and precise a quantity was measured, of the points where the condition is true: for each
 * series, and value of the axis `by` ("": all in one), the worst point.
 */
struct experiment_accuracy {
	const char *title;
	struct quantity_request of;
	const char *by;
	const char *condition;
	struct sample_view view; /* its minimum_of beside each run */
};
void experiment_add_accuracy(struct experiment *experiment, const struct experiment_accuracy *accuracy);

/*
 * Adds a choice made before the points: "core", "SkylakeX", "SkylakeX 104 Gflop/s, Haswell 60.1 Gflop/s", and the
 * candidates for OUTPUT.json. All are copied.
 */
void experiment_add_choice(struct experiment *experiment, const char *name, const char *value, const char *text,
			   struct json_t *candidates);

/* ---- measuring ---- */

/* Where a point is shown. Borrowed for the call. */
struct experiment_position {
	const char *series, *label;
	struct point at; /* zeroed: on no axis */
};

/*
 * Adds a point whose values were obtained elsewhere; they are taken over. For what is not measured by kernels.
 */
void experiment_add_values(struct experiment *experiment, const char *series, const char *label,
			   const struct quantity_request *requests, struct quantity_value *values, size_t nr_values);

/*
 * Measures one point and adds it; the quantities of plots, columns and named values are measured as well, asked for or
 * not. Fails with the points so far kept, so that after an interruption experiment_write still writes them.
 */
int experiment_add_point(struct experiment *experiment, const struct experiment_position *position,
			 const struct measurement *measurement, const struct quantity_request *requests,
			 size_t nr_requests, int nr_runs, struct rot_error *err);

/*
 * The same for a program, in at most max_passes passes (0: as many as the quantities need): one point for all of it,
 * and one for each of its regions, whose coordinate "region" is the region's name and whose series has it at its end.
 * Times are wall times unless a quantity or the configuration says another clock: a roofline with ceilings should name
 * microSeconds as the clock of its y.
 */
int experiment_add_program(struct experiment *experiment, const struct experiment_position *position,
			   struct program_workload *workload, const struct quantity_request *requests,
			   size_t nr_requests, int nr_runs, size_t max_passes, struct rot_error *err);

/*
 * A line of the roof: a performance, or a bandwidth, which has no operation. Texts are never NULL, "" for none; they
 * are borrowed, or of a pool. Values are in base units.
 */
struct ceiling {
	const char *name;      /* "AVX-512 FMA" */
	const char *operation; /* "doublePrecisionFlop" */
	const char *border; /* where the bytes come from: "llcRam", "l2l3", "l1l2", "cpuL1"...; a plot's own border is
			       drawn black */
	const char *access, *instruction_set; /* of a peak: "load", "AVX512" */
	const char *unit;
	double value;            /* of the best run, or of the peak */
	double low, high;        /* the interval of a peak; NaN where there is none */
	double median;           /* of the runs of one that is no peak */
	size_t n;                /* runs */
	bool is_peak;            /* found by search, so one of many */
	int nr_threads;          /* of a peak; 0: not known */
	size_t machine;          /* index of those that stored values are of; 0 */
	const struct peak *peak; /* of this machine, that it is; NULL */
};

/*
 * False for the performance of an operation (NULL: a bandwidth) that no roofline shows, when there are rooflines. A
 * roofline of flop shows those of double precision as well.
 */
bool experiment_wants_ceiling(const struct experiment *experiment, const char *operation);

/*
 * A ceiling: the best of nr_runs runs of a measurement whose work is known, > 0: a performance (border NULL; work in
 * operations) or a bandwidth (operation NULL; work in bytes per run). A second ceiling of the same name replaces the
 * first if it is higher.
 */
int experiment_add_ceiling(struct experiment *experiment, const char *name, const char *operation, const char *border,
			   double work, const struct measurement *measurement, int nr_runs, struct rot_error *err);

/*
 * The peaks of this machine (roof/roof.h) that experiment_wants_ceiling, of as many threads as the points use CPUs,
 * and those that derived values name. After the points: their clock is that of the ceilings. A machine without peaks is
 * no error.
 */
int experiment_add_default_peaks(struct experiment *experiment, struct rot_error *err);

/* Points on that many CPUs are added; points of kernels say so themselves. */
void experiment_use_cpus(struct experiment *experiment, double nr_cpus);

/* The roof of so many CPUs bounds the point that was added last. */
void experiment_set_cpus(struct experiment *experiment, double nr_cpus);

/*
 * Two facts of the peaks that experiment_add_default_peaks found. The first: how many threads they are of that bound
 * work on so many CPUs (0: there are none). The second: the line that bounds the operation or the border (the other one
 * NULL) with that many threads. It is as drawn: per second, value and interval; NaN if there is none.
 */
int experiment_roof_threads(const struct experiment *experiment, double nr_cpus);
struct summary
experiment_roof_value(const struct experiment *experiment, const char *operation, const char *border, int nr_threads);

/*
 * A point that could not be measured for that reason. experiment_write names it in the table, in OUTPUT.json and in the
 * captions of plots that would show it.
 */
void experiment_add_failure(struct experiment *experiment, const struct experiment_position *position,
			    const struct rot_error *why);

/* Points that were added, and those that failed. */
size_t experiment_nr_points(const struct experiment *experiment);
size_t experiment_nr_failures(const struct experiment *experiment);

/* Is it true of the point that was added last? An expression over what texts at a point see, but for derived values. */
int
experiment_last_holds(const struct experiment *experiment, const char *condition, bool *holds, struct rot_error *err);

/*
 * result: with "functions", of the program whose point is the one of that number (bound: the first one). bound: each
 * that computes gets what bounds it, as points have it. add: those that take most of the time become a series of dots
 * in rooflines of the first one's quantities; number: of the result on its page; before: their names, "a: " or "".
 */
void experiment_bound_functions(struct experiment *experiment, struct json_t *result);
void experiment_add_functions(struct experiment *experiment, size_t program, const char *before,
			      const struct json_t *result, size_t number);

/* ---- results ---- */

/*
 * Prints the table, then writes OUTPUT.json (and OUTPUT.csv, if the key writeCsv says so), then the plots that are
 * asked for. is_complete false: not all points are there (said in the table and in the JSON). A missing gnuplot is an
 * error, after table and JSON; points that could not be measured are one after everything, and with the key strict
 * numbers that are not both measured and sound.
 */
int experiment_write(struct experiment *experiment, bool is_complete, struct rot_error *err);

/* With the key strict: an error where a number of a point has a caveat (quantities/remarks.h). path: names them. */
int experiment_check_strict(const struct experiment *experiment, const char *path, struct rot_error *err);

/*
 * Draws all plots where the key plots says, and on the page (NULL: on none). Also after one that cannot be drawn; the
 * first error is given back. write: with OUTPUT.html where the key says so, which tells of these results as well.
 */
struct page_result;
struct page;
int experiment_draw_plots(const struct experiment *experiment, struct page *page, struct rot_error *err);
int experiment_write_plots(const struct experiment *experiment, const struct page_result *results, size_t nr_results,
			   struct rot_error *err);

/* Forgets all plots that were added. */
void experiment_drop_plots(struct experiment *experiment);

/*
 * Where the key writeCsv is true, OUTPUT.csv of the JSON: one row a point (RFC 4180): series, label, axes, cacheState,
 * of each quantity its parts, derived values. Base units; infinite values are "inf", what is missing is empty.
 */
int experiment_write_csv(const struct experiment *experiment, const struct json_t *json, const char *output_name,
			 struct rot_error *err);

/* The table alone, with what is told below it. result: its JSON. */
void experiment_print_table(const struct experiment *experiment, const struct json_t *result, FILE *out);

/* The JSON alone, which points know then; new reference. */
struct json_t *experiment_json(struct experiment *experiment, bool is_complete);
