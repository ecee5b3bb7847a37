/* SPDX-License-Identifier: MIT */
/* A peak as JSON: as profiles keep it, and as "--json" prints it. Base units, null for what is not known. */
#ifndef PEAKS_PEAK_JSON_H
#define PEAKS_PEAK_JSON_H

#include <jansson.h>

#include "peaks/peak.h"

/* New reference. */
json_t *peak_json(const struct peak *peak);

/* The peak of such an object; peak is to be cleared in any case. -1: it is none. */
int peak_of_json(struct pool *pool, const json_t *json, struct peak *peak);

#endif
