/* SPDX-License-Identifier: MIT */
/* From a request to how its parts are obtained: counted, timed, or known in advance. Pure. */
#pragma once

#include <stdbool.h>

#include "entities.h"
#include "error.h"
#include "quantities/architecture.h"
#include "quantities/quantity.h"

struct rot;

/* ---- why steps do not count ---- */

/* Reasons why steps do not count a quantity, which is then obtained as where nothing is counted. */
enum step_obstacle {
	STEPS_CAN,
	STEPS_OF_OTHERS,      /* a kernel has threads of its own, and is not alone: which are its own is not known */
	STEPS_TOO_MANY,       /* more instructions are expected than may be counted so */
	STEPS_LATE,           /* the core tried, and the time limit was not enough */
	STEPS_REFUSED,        /* the core may not step anything */
	STEPS_CUT_MEMORY,     /* the core tried, and gave up: memory cannot be accessed */
	STEPS_FROM_FULL,      /* caches are modelled as empty when a region begins, which they are not */
	STEPS_WITHOUT_CACHES, /* nobody knows the sizes of the caches that would be modelled */
	NR_STEP_OBSTACLES
};

/* In words, and what helps, as the table of remarks has them; "" for STEPS_CAN. */
const char *step_obstacle_text(enum step_obstacle obstacle);
const char *step_obstacle_hint(enum step_obstacle obstacle);

/* ---- of all that a measurement does ---- */

/*
 * The obstacle that is known before anything is stepped. *steps: instructions that a run is expected to execute where
 * it is stepped; 0: nobody knows. -1: an expression of a kernel's definition failed.
 */
int
step_obstacle_of_work(struct rot *rot, const struct architecture *architecture, const struct measurement *measurement,
		      enum step_obstacle *obstacle, double *steps, struct rot_error *err);

/* ---- of one quantity of it ---- */

/* Every quantity is one part, or a part per another. */
enum part_source {
	PART_COUNTED,  /* formula over events      */
	PART_TSC,      /* time stamp counter       */
	PART_WALL,     /* wall time, ns            */
	PART_PROBED,   /* ticks times core cycles per tick, as the clock probe found them */
	PART_SWITCHES, /* context switches         */
	PART_MOVES,    /* threads that ended on another CPU than they began on */
	PART_KNOWN,    /* expected or given        */
};

struct quantity_part {
	enum part_source source;
	const struct architecture_formula *formula; /* PART_COUNTED                                         */
	double known;                               /* PART_KNOWN                                           */
	const char *kind;                           /* "measured", "modelled", "expected", "given"          */
	const char *text;                           /* where it comes from; borrowed of formula or static   */
	char grade;                                 /* of PART_COUNTED and PART_PROBED: 'A' to 'F', 0: none */
	enum step_obstacle obstacle;                /* PART_KNOWN: steps would count it but for this */
	const struct rot_error *refusal; /* PART_KNOWN: events would count it but for this; NULL: none would */
};

struct quantity_resolution {
	struct quantity_request
		request; /* strings of the vocabulary; clock is never NULL or "auto" where there is one */
	struct quantity_part numerator, denominator;
	bool has_denominator;
	bool is_time_numerator, is_time_denominator; /* the part follows the estimator of times */
	double scale;                                /* of numerator / denominator, to the base unit */
	double expected;                             /* NaN: nothing known                           */
	double compulsory;                           /* as of quantity_value                         */
	unsigned ignored_taints;                     /* what the quantity counts cannot disturb it   */
	unsigned kept_taints;                        /* told, and no reason to leave a run out       */
};

/* Expectations of the kernels' definitions for a request; NaN: none. */
struct quantity_expectation {
	double operations, bytes;
	double compulsory;           /* bytes; 0: not known */
	bool is_cold_only;           /* the bytes are those of cold data, and the data are warm */
	bool can_probe_clock;        /* the work is done by the threads around whose work the clock is probed */
	bool is_of_action;           /* it is what an action does behind a kernel */
	bool is_of_program;          /* its threads are counted, not the machine */
	enum step_obstacle obstacle; /* of anything that steps would count of it */
};

/*
 * default_clock: the configuration key. Error: a part that can neither be counted here nor is known (says why and what
 * would help), an unknown or incomplete request.
 */
int quantity_resolve(struct quantity_resolution *resolution, const struct architecture *architecture,
		     const struct quantity_request *request, const char *default_clock,
		     const struct quantity_expectation *expectation, struct rot_error *err);

/* Unit and "of" of the value, fresh memory: "flop/cycle", "doublePrecisionFlop/llcRam". */
char *quantity_resolution_unit(const struct quantity_resolution *resolution);
char *quantity_resolution_of(const struct quantity_resolution *resolution);

/* The weaker kind of the two: measured, modelled, expected, given. */
const char *quantity_weaker_kind(const char *a, const char *b);

/* The weakest grade of the formulas it is counted by: "A" to "F", "" if one was not validated or there is none. */
const char *quantity_resolution_grade(const struct quantity_resolution *resolution);

/* The kind of the whole, and the texts of its parts ("A per B"; fresh memory). */
const char *quantity_resolution_kind(const struct quantity_resolution *resolution);

char *quantity_resolution_source(const struct quantity_resolution *resolution);
