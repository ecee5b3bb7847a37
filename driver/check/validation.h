/* SPDX-License-Identifier: MIT */
/*
 * "How do you know?": the events and clocks of this machine, proved on known work. What was found is remembered for
 * this processor, microcode, kernel and hypervisor, and this file of the architecture; formulas carry their grade from
 * then on, and only groups that count right are opened. Where no event can be counted, clocks are proved.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "check/known_work.h"
#include "check/shapes.h"
#include "error.h"

struct rot;
struct json_t;

struct validation_options {
	bool is_quick;      /* fewer kernels and runs: some seconds instead of a minute */
	bool without_scrub; /* leave out what clears poisoned counters: the grades must fall where it is needed */
	double seconds;     /* how long formulas and clocks may take, about; 0: by is_quick. Groups take their own */
};

struct validation {
	struct pool pool; /* of all below; the caller clears it */
	struct validation_options options;
	struct rot_error why_not; /* why no event can be counted, with a hint; then shapes are empty */
	struct shapes shapes;
	struct known_work work;
};

/* Measures. The pool is to be cleared also after an error. */
int validation_run(struct rot *rot, const struct validation_options *options, struct validation *validation,
		   struct rot_error *err);

enum validation_verdict {
	VALIDATION_PASSES,    /* all formulas and clocks that were tried, and all groups of the architecture's file */
	VALIDATION_NOT_SHOWN, /* nothing fails, but of some all runs were disturbed                                 */
	VALIDATION_FAILS,
};
enum validation_verdict validation_verdict(const struct validation *validation);

/* Groups, and formulas with the kernel that decided their grade; with_all: every kernel of every formula. */
void validation_print(const struct rot *rot, const struct validation *validation, bool with_all, FILE *out);

/* {"schema": "rot.validation/1", "machine", "canCount", "verdict", "shapes", "formulas": [{quantity, of, grade,
 * notShown, rows: [...]}]}. New reference. */
struct json_t *validation_json(const struct rot *rot, const struct validation *validation);

/*
 * Remembers grades and groups, and gives them to rot->architecture. A quick one replaces no full one, and no other
 * quick one that showed more.
 */
int validation_store(struct rot *rot, const struct validation *validation, struct rot_error *err);

/*
 * Gives rot->architecture the grades and groups that are remembered. False: nothing is, or it cannot be read (then it
 * is put aside with a warning).
 */
bool validation_recall(struct rot *rot);

/*
 * Is nothing remembered, or only a quick validation in which of something all runs were disturbed, an hour ago or
 * longer?
 */
bool validation_is_due(const struct rot *rot);

/*
 * Before events are used: a quick validation if one is due, they can be counted, and the key "validate" does not forbid
 * it. What fails is a warning.
 */
void validation_ensure(struct rot *rot);
