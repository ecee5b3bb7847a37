/* SPDX-License-Identifier: MIT */
/*
 * The data sheet of the machine: latency, throughput and operations in flight of instructions, by time alone. Each
 * instruction is measured in 1 to 12 independent chains (kernel Operation), in core cycles that chains of dependent
 * additions tell. The curve of cycles over chains is kept beside the answers.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "sheet/pictures.h"
#include "sheet/sheet.h"

struct rot;

struct operation_curve {
	const char *operation, *instruction_set, *precision; /* fields of the kernel Operation */
	struct measured_curve cycles;                        /* of one step of all chains, over their number */
};

/* The limits by the processor's documents; NaN and "": they are not known. Sources are borrowed. */
struct operation_told {
	double latency, per_cycle;
	const char *latency_source, *source;
};

struct operation_answer {
	struct sheet_number latency;   /* core cycles */
	struct sheet_number per_cycle; /* instructions that end in a core cycle */
	struct sheet_number in_flight; /* latency times per_cycle */
	int free_chains;   /* so many take no longer than one, by the first step of the curve; 0: not told */
	double confidence; /* of free_chains */
	bool is_least;     /* the most chains take no longer than one: per_cycle and in_flight are at least that */
	struct operation_told told;
	const char *remark; /* why an answer differs, or is missing; "": nothing to say */
};

/*
 * The answer of a curve. Pure. extra: cycles by which the kernel lengthens each step of a chain (NaN: not known).
 */
struct operation_answer
operation_conclude(const struct measured_curve *measured, double extra, const struct operation_told *told);

struct operation_sheet {
	struct operation_curve *curves;
	struct operation_answer *answers;
	size_t nr;
	struct architecture *documents; /* that sources belong to */
};

/* Measures (or takes from the result cache) all instructions that this CPU has. Clear it also after an error. */
int operations_measure(struct rot *rot, struct operation_sheet *sheet, struct rot_error *err);
void operations_clear(struct operation_sheet *sheet);

void operations_print(const struct operation_sheet *sheet, FILE *out);

/* For each kind of numbers a plot of arithmetic, and one of the other instructions. */
void operations_draw(const struct operation_sheet *sheet, const struct sheet_pictures *pictures);

/* Answers with their curves; a new reference. */
json_t *operations_json(const struct operation_sheet *sheet);
