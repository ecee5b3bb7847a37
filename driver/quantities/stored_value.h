/* SPDX-License-Identifier: MIT */
/* Values of quantities read back from OUTPUT.json. */
#ifndef QUANTITIES_STORED_VALUE_H
#define QUANTITIES_STORED_VALUE_H

#include <jansson.h>

#include "quantities/quantity.h"

/*
 * An element of "quantities": name, clock, unit, kind, source, grade and summary; no samples. Its texts are those of
 * the JSON: it is not cleared. -1: it is none that this rot knows, or it has no value.
 */
int stored_value(const json_t *json, struct quantity_value *value);

/* What it is, as quantity_parse reads it: "performance:flop:microSeconds". Fresh memory. */
char *stored_value_words(const json_t *json);

#endif
