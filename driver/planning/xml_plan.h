/* SPDX-License-Identifier: MIT */
/* The plan of an XML controller: its file turned into points and ceilings. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "entities.h"
#include "error.h"
#include "planning/controller_file.h"
#include "planning/space.h"
#include "quantities/quantity.h"
#include "rot.h"

struct planned_point {
	const xmlNode *element;
	char *series, *label;
	char *until; /* a condition over values of the point: where it is true the series ends; "": nowhere */
	const struct point *at;
	struct measurement *measurement;  /* NULL for a program */
	struct program_workload *program; /* or NULL            */
	size_t max_passes;                /* of the program; 0: as many as needed */
	struct quantity_request *requests;
	size_t nr_requests;
	int nr_runs;
};

/* Values of a search axis, ascending or as they are written. */
struct planned_axis {
	char *name;
	int *values;
	size_t nr_values;
};

/* A ceiling; with axes, the best of the variants that they span is looked for (roof/find.h). */
struct planned_ceiling {
	const xmlNode *element;
	struct expression_scope *scope; /* what its texts are evaluated over */
	char *name;
	char *operation, *border;       /* one of these is NULL */
	char *access, *instruction_set; /* "" where not said */
	bool is_latency;                /* of the border */
	bool is_of_one_thread;          /* on several it would say nothing else */
	bool is_rare;                   /* a quick search of everything leaves it out */
	struct planned_axis *axes;
	size_t nr_axes;
	int **seeds; /* recommended variants: a value of each axis */
	size_t nr_seeds;
	/* The measurement of the first seed that is valid; without one, of the first value of each axis. */
	struct measurement *measurement;
	double work;
	int nr_runs;
};

/* A value that is chosen before the points are planned: a variable of all texts. */
struct planned_choice {
	const char *name, *value;
	bool is_known;      /* no: nobody has measured all candidates yet, value is a guess */
	const char *text;   /* what the candidates reach; "" where there are none */
	json_t *candidates; /* [{"value": "SkylakeX", "quantity": {...}}] */
};

struct xml_controller {
	struct rot *rot;
	struct pool pool; /* of all below, and all that points and ceilings hold */
	struct controller_file file;
	const xmlNode **elements; /* below the root, those of <shared> parts in their place */
	size_t nr_elements;
	struct expression_scope *constants;
	bool may_measure; /* choices; else they are made of what is in the cache of results, or guessed */
	struct planned_choice *choices;
	size_t nr_choices;
	struct point *points; /* of the space */
	size_t nr_points;
	struct planned_point *planned;
	size_t nr_planned;
	struct planned_ceiling *ceilings;
	size_t nr_ceilings;
	struct texts missing;   /* libraries, with what brings them; the points that need them are left out */
	bool has_default_peaks; /* plots show peaks, or derived values name some */
	bool has_programs;
};

/* The i-th element below the root with that name, from *i on; NULL when there is none. Advances *i behind it. */
const xmlNode *xml_plan_next(const struct xml_controller *controller, size_t *i, const char *name);

/* The points that those of the elements span that are axes, less those that are skipped; they live as long as the pool.
 * scope: variables of theirs. owner: at whose line errors are that have none. */
int xml_plan_space(const struct xml_controller *controller, struct pool *pool, const xmlNode *owner,
		   const xmlNode *const *elements, size_t nr_elements, const struct expression_scope *scope,
		   struct point **points, size_t *nr_points, struct rot_error *err);
/* The same of the axes that stand in the element. */
int xml_plan_inner_space(const struct xml_controller *controller, struct pool *pool, const xmlNode *parent,
			 const struct expression_scope *scope, struct point **points, size_t *nr_points,
			 struct rot_error *err);
/* Names of axes and choices are variables of texts: none that has a meaning already, nor one that is no name. */
int xml_plan_check_name(const char *name, const xmlNode *element, struct rot_error *err);

/* The element's attribute runs, or else the default. */
int xml_plan_runs(const xmlNode *element, const struct expression_scope *scope, int *nr_runs, struct rot_error *err);

/* The element's measurement (rot_graph_delete), checked unless a library of its kernels is missing, which is told. */
int xml_plan_kernels(struct xml_controller *controller, const xmlNode *element, const struct expression_scope *scope,
		     struct measurement **measurement, bool *is_missing, struct rot_error *err);
struct measurement *xml_plan_measurement(const struct xml_controller *controller, const xmlNode *element,
					 const struct expression_scope *scope, struct rot_error *err);

/* xml_plan_ceilings.c: plans a <ceiling> (inner: coordinates beside those of at, or NULL), or those in a <ceilings>. */
int xml_plan_ceiling(struct xml_controller *controller, const xmlNode *element, const struct point *at,
		     const struct point *inner, struct rot_error *err);
int xml_plan_ceilings(struct xml_controller *controller, const xmlNode *element, const struct point *at,
		      struct rot_error *err);

/*
 * A variant of the ceiling: coordinates has a value of each of its axes. Its measurement (rot_graph_delete) and the
 * work of one run. Errors: the kernel refuses it.
 */
int
xml_plan_ceiling_variant(const struct xml_controller *controller, const struct planned_ceiling *planned,
			 const int *coordinates, struct measurement **measurement, double *work, struct rot_error *err);

/* xml_plan_choices.c: makes the choices, and variables of them. -1 also: interrupted. Are they all known, not guessed?
 */
int xml_plan_choices(struct xml_controller *controller, struct rot_error *err);
bool xml_plan_knows_choices(const struct xml_controller *controller);

/*
 * Reads and validates the file and plans every point and ceiling: all kernels, fields, values, quantities and texts are
 * checked, and nothing is measured or built. NULL on error; messages begin with file and line.
 */
struct xml_controller *xml_controller_open(struct rot *rot, const char *path, struct rot_error *err);
/* Opens the controller that describes the ceilings of the machine, the user's or rot's own. */
struct xml_controller *xml_controller_open_default_peaks(struct rot *rot, struct rot_error *err);

void xml_controller_close(void *controller);

/* Plans once more where choices were guessed: their candidates are measured now. -1 also: interrupted. */
int xml_controller_plan_again(struct xml_controller *controller, struct rot_error *err);

/* The comment of the controller in that file, without validating it; NULL: the file is no XML controller. Fresh memory.
 */
char *xml_controller_comment(const char *path);
