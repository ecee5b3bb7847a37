/* SPDX-License-Identifier: MIT */
/* An answer of the data sheet of the machine, with the curve that it is read from, as text and JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "statistics/curve.h"

/* A measured number, and the range that it is known within. NaN: it cannot be told. */
struct sheet_number {
	double value, low, high;
};

struct sheet_answer {
	const char *name, *unit;
	struct sheet_number number;
	double told;                        /* by the processor or the system; 0 or NaN: nobody tells */
	double confidence;                  /* 0 to 1, see statistics/curve.h; NaN: not read from a curve */
	const char *remark;                 /* why it is missing, or not as told; NULL: nothing to say */
	const struct measured_curve *curve; /* borrowed; NULL: there is none */
};

/* Without a number. */
struct sheet_answer sheet_no_answer(const char *name, const char *unit, double told);

/* The last value before the step, which is of the largest that fits, or the first behind it. */
void sheet_read_step(struct sheet_answer *answer, const struct measured_curve *curve, const struct curve_step *step,
		     bool is_behind);

/* The lower one. Sure if both halves differ by less than an eighth. */
void sheet_read_halves(struct sheet_answer *answer, double a, double b);

/* Adds what there is to say of a number that differs from what was told, or is not sure. */
void sheet_judge(struct sheet_answer *answer);

/* A number with as many digits as one reads; "-": there is none. Fresh memory. */
char *sheet_number_text(double value);

void sheet_print(const struct sheet_answer *answers, size_t nr, FILE *out);

/* {value, low, high}, {name, unit, ..., curve}: new references. */
json_t *sheet_number_json(const struct sheet_number *number);
json_t *sheet_curve_json(const struct measured_curve *curve);
json_t *sheet_json(const struct sheet_answer *answers, size_t nr);
