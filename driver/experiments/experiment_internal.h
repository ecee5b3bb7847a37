/* SPDX-License-Identifier: MIT */
/* The inside of an experiment: for the files experiment*.c only. */
#pragma once

#include <jansson.h>

#include "experiments/experiment.h"
#include "plots/page.h"
#include "plots/plot.h"
#include "quantities/architecture.h"
#include "roof/peak.h"

/* The roof of as many threads as the point uses permits this at its intensity. */
struct experiment_bound {
	const char *ceiling; /* the line that bounds it, borrowed; NULL: not known */
	bool is_bandwidth;
	int nr_threads; /* of that roof; 0: not known */
	double share;   /* of it that the point reaches */
	bool is_most;   /* the share: the line is a peak without an interval, and the machine reaches at least that */
	double probability; /* that this line bounds it and not the other one, by all three intervals; NaN: one has none
			     */
};

/* Independent chains of a kernel that says how many it has, and those that fill the processor; nr 0: not known. */
struct experiment_chains {
	double nr;
	struct operation_known links;
};

struct experiment_point {
	struct pool pool;     /* of all below, but what the values hold */
	json_t *json;         /* what is known before its values, as its element of "points" in OUTPUT.json has it */
	const json_t *result; /* what a result has of it: that element, or one of "functions"; NULL: none is written */
	const char *series, *label;        /* its own */
	struct quantity_request *requests; /* [nr_values]: as asked for; those in the values have their clock chosen */
	struct quantity_value *values;
	size_t nr_values;
	double nr_cpus; /* that it uses; 0: not known, as of programs of controllers */
	struct experiment_chains chains;
	struct texts notes; /* what the values leave out, and doubts about them */
	json_t *derived;    /* its derived values, as OUTPUT.json has them; NULL until they are derived */
	const char *place;  /* of a function or loop, as of struct plot_point; of others NULL */
};

/* Quantities asked for at a point; each once. */
struct experiment_requests {
	struct quantity_request *items;
	size_t nr;
};

struct experiment_value_name {
	const char *name;
	struct quantity_request request;
	bool is_everywhere;
};

enum column_kind { COLUMN_SERIES, COLUMN_LABEL, COLUMN_AXIS, COLUMN_QUANTITY, COLUMN_DERIVED, COLUMN_ROOF_SHARE };

struct experiment_column {
	enum column_kind kind;
	const char *axis, *heading;
	struct quantity_request request;
};

struct experiment_own_table {
	const char *title, *condition;
	struct quantity_request best; /* without name: all points */
	struct experiment_column *columns;
	size_t nr_columns;
};

/* A plot as it was added, with its axes parsed. A request without name: x is an axis, y a derived value; all points are
 * shown. */
struct experiment_own_plot {
	struct experiment_plot plot;
	struct quantity_request x, y, best;
	struct experiment_curve *curves;
	size_t nr_curves;
	struct experiment_model *models;
	size_t nr_models;
	struct plot_marker *markers;
	size_t nr_markers;
	struct page_view view;                 /* of a page */
	const struct quantity_request *joined; /* of a roofline of several borders: intensities of each point */
	size_t nr_joined;
};

struct experiment_own_look {
	const char *series, *colour; /* colour: NULL for none */
	enum plot_shape shape;       /* 0: none */
	double order;
};

/* A theoretical curve: nr summaries of single values. */
struct experiment_curve {
	const char *name;
	struct plot_point *points;
	size_t nr;
};

/* A line through a derived value of the points of each series. */
struct experiment_model {
	const char *name, *derived;
};

/* A peak without an interval: (nearly) every run was disturbed, and the machine reaches at least that. */
bool ceiling_is_least(const struct ceiling *ceiling);

/* Is it what the memory modules allow, not measured? It bounds nothing, as no program may come near it. */
#define CEILING_OF_MODULES "modules"
bool ceiling_is_told(const struct ceiling *ceiling);

/* The ceiling that an element of "ceilings" in OUTPUT.json tells; its texts are borrowed. */
struct ceiling ceiling_of_json(const json_t *json);

/* Code of a program that takes time and hardly computes: names, with their shares; "": there is none. */
struct experiment_idle {
	const char *series; /* those that do compute */
	bool are_loops;
	const char *others;
};

struct experiment {
	struct rot *rot;
	struct pool pool; /* of all below but what points hold, and the roof */
	const char *controller_name, *output_name;
	int configured_runs;  /* instead of those asked for; 0: none */
	bool keeps_disturbed; /* experiment_keep_disturbed */
	bool has_begun;       /* a point */
	int block, nr_blocks; /* experiment_set_block; 0, 0: there are none */
	bool is_ahead;        /* likewise */
	bool has_fewer_runs;  /* some points are of fewer runs than were asked for */
	struct experiment_point *points;
	size_t nr_points;
	json_t *failures;                   /* points that could not be measured, as OUTPUT.json has them */
	struct experiment_point *functions; /* of programs: in rooflines alone */
	size_t nr_functions;
	struct experiment_idle *idle; /* one for each series of functions */
	size_t nr_idle;
	const char *runs_note; /* for captions; "" or NULL */
	struct ceiling *ceilings;
	size_t nr_ceilings;
	struct experiment_own_plot *plots;
	size_t nr_plots;
	struct experiment_value_name *names;
	size_t nr_names;
	struct experiment_derived *derived;
	size_t nr_derived;
	struct experiment_own_table *tables;
	size_t nr_tables;
	struct experiment_accuracy *accuracies;
	size_t nr_accuracies;
	struct experiment_own_look *looks;
	size_t nr_looks;
	struct peak_list roof; /* what experiment_add_default_peaks found */
	struct ceiling *lines; /* that these are in rooflines, of any number of threads */
	size_t nr_lines;
	double nr_cpus;    /* that the points use at most; 0: one */
	double *used_cpus; /* each number that points use */
	size_t nr_used_cpus;
	int nr_roof_threads;          /* of the peaks that became ceilings */
	const char *roof_note;        /* for captions; NULL */
	json_t *choices;              /* name, value, text and candidates of each; NULL: none */
	json_t *origin;               /* engine/origin.h */
	const char **stored_machines; /* captions of those that stored values are of; none: all is of this one */
	size_t nr_stored_machines;
};

/* Same quantity; given work does not matter, and no clock is the same as "auto". */
bool experiment_same_request(const struct quantity_request *a, const struct quantity_request *b);

/* The point's value of that quantity, or NULL. */
const struct quantity_value *
experiment_point_value(const struct experiment_point *point, const struct quantity_request *request);

/* Variables of texts at a point; first (may be NULL) gives "first.NAME". Delete the scope. */
struct expression_scope *experiment_scope(const struct experiment *experiment, const struct experiment_point *point,
					  const struct experiment_point *first);

/* The point of that series and label, or NULL. */
const struct experiment_point *
experiment_find_point(const struct experiment *experiment, const char *series, const char *label);

/* The peaks that derived values of the points name, each once. */
size_t experiment_wishes(struct pool *pool, const struct experiment *experiment, struct peak_wish **wishes);

/* The highest peak that is wished for, of as many threads as the ceilings, per that clock (""); NaN: there is none. */
double experiment_peak_value(const struct experiment *experiment, const struct peak_wish *wish, const char *clock);

/* Does a plot or table of that condition show the point, of OUTPUT.json? Errors: the condition is no expression. */
int experiment_shows(const char *condition, const json_t *point, bool *shows, struct rot_error *err);

/*
 * The points that it shows; if best has a name, of each series only the one with its highest value. The caller frees
 * the array.
 */
int experiment_choose(const struct experiment *experiment, const char *condition, const struct quantity_request *best,
		      const struct experiment_point ***points, size_t *nr, struct rot_error *err);

/* experiment_accuracy.c */
void experiment_print_accuracy(const struct experiment *experiment, const json_t *accuracies, FILE *out);
json_t *experiment_json_accuracy(const struct experiment *experiment);

/*
 * Points that could not be measured: lines below the table; a line for the caption of a plot with that condition ("":
 * none, fresh memory).
 */
void experiment_print_failures(const struct experiment *experiment, FILE *out);
bool experiment_last_failure_repeats(const struct experiment *experiment); /* for the reason of an earlier one */
char *experiment_failures_text(const struct experiment *experiment, const char *condition);

/* The bound of the point in the first roofline, as members of its JSON; none where it is not known. */
void experiment_json_add_bound(json_t *json, const struct experiment *experiment, const struct experiment_point *point);

/* The description that results of a program are stored under. New reference. */
json_t *experiment_json_program(const struct program_workload *workload);

/* Its coordinate, a number or a text; NULL: it is not on that axis. */
const json_t *experiment_point_on(const struct experiment_point *point, const char *axis);

/* Variables of a point of OUTPUT.json: its series, label and coordinates. Delete the scope. */
struct expression_scope *experiment_place_scope(const json_t *point);

/* "is not measured here: REASON", for what needs runs. Fresh memory. */
char *experiment_why_not_measured(const struct experiment *experiment);

/* Computes the derived values of all points that have none yet. */
void experiment_derive(struct experiment *experiment);

/* The derived value of that name; NULL if there is none. */
const struct experiment_derived *experiment_find_derived(const struct experiment *experiment, const char *name);

/* A point without values; everything is copied. Clearing it frees them. */
struct experiment_point experiment_point_at(const struct experiment_position *position);
void experiment_point_clear(struct experiment_point *point);

/* Adds the requests, and those of what is shown of such a point. */
int experiment_gather(const struct experiment *experiment, const struct experiment_point *point,
		      const struct quantity_request *requests, size_t nr_requests, struct experiment_requests *all,
		      struct rot_error *err);

/*
 * From now on points get the runs that they have after so many of the blocks, and no more (0, 0: all that they should).
 * is_ahead: these are measured alone, and no point is added; else the points are of fewer runs than were asked for.
 */
void experiment_set_block(struct experiment *experiment, int block, int nr_blocks, bool is_ahead);

/* Takes the point, and notes what its runs say against its values. */
void experiment_keep_point(struct experiment *experiment, const struct experiment_point *point);

/*
 * The line that is named of lines that bound the same, by pictures and verdicts alike. It has the best known access of
 * those nearly as high as the highest. Among those of one access whose intervals overlap, it is the narrowest one.
 * nr > 0.
 */
size_t experiment_bounding_line(const struct ceiling *const *lines, size_t nr);

/*
 * The line that bounds the operation, or the border (the other one NULL), with so many threads, by that rule. It is one
 * of the peaks that experiment_add_default_peaks found; NULL: there is none.
 */
const struct ceiling *experiment_bounding_peak(const struct experiment *experiment, const char *operation,
					       const char *border, int nr_threads);

/*
 * The bound of a point in a roofline (NULL: in the first one): as its result has it, or computed, here alone. The first
 * roofline is NULL where there is none.
 */
struct experiment_bound experiment_bound_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
					    const struct experiment_point *point);
bool experiment_has_bound(const struct experiment *experiment); /* of any point */
const struct experiment_own_plot *experiment_first_roofline(const struct experiment *experiment);

/* Chains of dependent operations, as the kernel of a measurement of one workload tells them. */
struct experiment_chains experiment_chains_of(const struct rot *rot, const struct measurement *measurement);

/* A line a series: how near it comes to which ceiling of the first roofline. */
void experiment_print_verdicts(const struct experiment *experiment, FILE *out);

/* Tells, by messages_next, how to learn more of these points. */
void experiment_tell_next(const struct experiment *experiment);

/* Notes, at the points, rates above all ceilings there are by now. */
void experiment_check_ceilings(struct experiment *experiment);

/* Prints in one line the counts of an empty region; nothing where they are not known. */
void experiment_print_own_costs(const struct experiment *experiment, FILE *out);

/* Bytes and intensities of which it is known how many are compulsory, where that is not what is expected or measured.
 */
void experiment_print_bytes(const struct experiment *experiment, FILE *out);

/* Is that so? */
bool experiment_has_compulsory(const struct quantity_value *value);

/* How often to measure; runs that were asked for on the command line are all that is wanted. */
struct quantity_effort experiment_effort(const struct experiment *experiment, int nr_runs);

/* The configured number, or else this one. */
int experiment_nr_runs(const struct experiment *experiment, int nr_runs);

/* Unless a higher one of its name is there. */
void experiment_keep_ceiling(struct experiment *experiment, const struct ceiling *ceiling);

/*
 * The ceilings that a roofline shows, best first; caller frees the array. Where points are bounded by roofs of
 * different numbers of threads, all ceilings of the most, and of others those that bound.
 */
size_t experiment_ceilings_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
			      const struct ceiling ***ceilings);

/* Among them, the line that bounds: it is black. */
bool experiment_is_main_ceiling(const struct experiment_own_plot *plot, const struct ceiling *const *ceilings,
				size_t nr, size_t i);

/* "ceilings of 2 threads at ...; dashed: of 1 thread"; "": nothing is known. Fresh memory. */
char *experiment_roof_text(const struct experiment *experiment, const struct experiment_own_plot *plot);

/* Is the point one of "loops"? */
bool experiment_is_loop(const json_t *place);

/* The views of the roofline that a page has, itself first; their points get the rates. 0: it is the only one. */
size_t experiment_views_of(struct pool *pool, const struct experiment *experiment,
			   const struct experiment_own_plot *roofline, struct experiment_own_plot **views);

/* ---- a plot while it is put together from points and ceilings: for experiment_plot*.c ---- */

/* It owns all that the plot's structs borrow. */
struct drawing {
	struct pool pool; /* of the series, their points and texts */
	const struct experiment *experiment;
	const struct experiment_own_plot *own;
	struct page *page;                     /* NULL: there is none */
	bool is_view;                          /* it is drawn there alone */
	const struct experiment_point **shown; /* the experiment's points that the plot shows */
	size_t nr_shown;
	struct plot_series *series;
	struct plot_point **points; /* [nr_series][...] */
	size_t nr_series;
	int nr_hidden; /* series of the experiment that the plot does not show */
	char *caption;
	const char *x_label, *y_label;
	const char *x_unit, *y_unit;
};

/* Does it show single runs of its points? */
bool drawing_shows_runs(const struct drawing *d);

/* The series of its points, and those behind them. Errors: a label or x is impossible. */
int drawing_make_series(struct drawing *d, struct rot_error *err);
void drawing_add_compulsory(struct drawing *d);
void drawing_add_curves(struct drawing *d);

/*
 * Values that x and y show at a point; a derived y may be made of any value of the point, so it is all of them. How
 * many; values has room for two and all of the point.
 */
size_t
drawing_values(const struct drawing *d, const struct experiment_point *point, const struct quantity_value **values);

/* The part of a caption that tells of functions and loops. Fresh memory. */
char *drawing_caption_of_dots(const struct drawing *d);

/* Was it, or what it is made of, counted by blocks? */
bool drawing_is_by_blocks(const struct quantity_value *value);
