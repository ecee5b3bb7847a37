/* SPDX-License-Identifier: MIT */
/*
 * A roofline on a terminal, without gnuplot: lines in Braille dots (two by four of them a character), points as marks,
 * the names of ceilings at their lines, of bandwidths below. Without UTF-8 in ASCII.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "plots/plot.h"

/* Fewer are widened to this. */
#define ROOFLINE_TEXT_LEAST_COLUMNS 40

struct roofline_text_options {
	size_t columns; /* characters of a line */
	bool is_utf8;
};

/* Title, panel with axes, legend, caption; each line ends with a newline and no blanks. */
void roofline_text_print(const struct roofline_plot *plot, const struct roofline_text_options *options, FILE *out);
