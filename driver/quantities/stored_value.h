/* SPDX-License-Identifier: MIT */
/* Values of quantities read back from OUTPUT.json. */
#ifndef QUANTITIES_STORED_VALUE_H
#define QUANTITIES_STORED_VALUE_H

#include <jansson.h>

#include "quantities/quantity.h"

/*
 * An element of "quantities": name, clock, unit, kind, source, grade and summary; no
 * samples. Clear it in any case. -1: it is none
 * that this rot knows, or it has no value.
 */
int stored_value(const json_t *json, struct quantity_value *value);

/* Where it is from. Older results of kernels and regions say "steps" for blocks, which is read as that. Fresh memory.
 */
char *stored_value_source(const json_t *json);

/* What it is, as quantity_parse reads it: "performance:flop:microSeconds". Fresh memory. */
char *stored_value_words(const json_t *json);

#endif
