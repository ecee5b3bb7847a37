/* SPDX-License-Identifier: MIT */
/*
 * "How do you know?": the events of this machine, proved on known work. What was found is remembered for this
 * processor, microcode, kernel and hypervisor, and this file of the architecture; formulas carry their grade from then
 * on.
 */
#ifndef VALIDATION_VALIDATION_H
#define VALIDATION_VALIDATION_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"
#include "validation/known_work.h"
#include "validation/shapes.h"

struct rot;
struct json_t;

struct validation_options {
	bool is_quick;      /* less data, fewer runs: some seconds instead of a minute */
	bool without_scrub; /* leave out what clears poisoned counters: the grades must fall where it is needed */
};

struct validation {
	struct validation_options options;
	struct shapes shapes;
	struct known_work work;
};

/* Measures. Error, with the reason and a hint: nothing can be counted here. Clear also after an error. */
int validation_run(struct rot *rot, const struct validation_options *options, struct validation *validation,
		   struct rot_error *err);
void validation_clear(struct validation *validation);

/* Do all formulas that were tried pass, and are all groups of the architecture's file sound? */
bool validation_passes(const struct rot *rot, const struct validation *validation);

/* Groups, and formulas with the kernel that decided their grade; with_all: every kernel of every formula. */
void validation_print(const struct rot *rot, const struct validation *validation, bool with_all, FILE *out);

/* {"schema": "rot.validation/1", "machine", "shapes", "formulas": [{quantity, of, grade, rows: [...]}]}. New reference.
 */
struct json_t *validation_json(const struct rot *rot, const struct validation *validation);

/* Remembers the grades, and gives them to the formulas of rot->architecture. A quick one does not replace a full one.
 */
int validation_store(struct rot *rot, const struct validation *validation, struct rot_error *err);

/*
 * Gives the formulas of rot->architecture the grades that are remembered. False: nothing is, or it cannot be read (then
 * it is put aside with a warning).
 */
bool validation_recall(struct rot *rot);

/*
 * Before events are used: a quick validation if nothing is remembered, they can be counted, and the key "validate" does
 * not forbid it. What fails is a warning.
 */
void validation_ensure(struct rot *rot);

#endif
