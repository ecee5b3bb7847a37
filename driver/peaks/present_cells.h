/* SPDX-License-Identifier: MIT */
/* What the tables of peaks have in common. For present*.c only. */
#ifndef PEAKS_PRESENT_CELLS_H
#define PEAKS_PRESENT_CELLS_H

#include "peaks/peak.h"

/* "31.990 ±0.010", in units of 1 / factor. Fresh memory. */
char *estimate_text(const struct peak_estimate *estimate, double factor);

/* "double", "single", "extended", "int32": of what its operations are. Fresh memory. */
char *peak_precision(const struct peak *peak);

/* Those of the kind, levels one after the other, closest to the core first; caller frees the array. */
const struct peak **peaks_in_order(const struct peak_list *list, enum peak_kind kind, size_t *nr);

#endif
