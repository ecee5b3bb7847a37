/* SPDX-License-Identifier: MIT */
/* A measured fact of a machine depends on these besides the processor: they are kept with it, and compared later. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "entities.h"

/* Facts older than this are worth measuring anew: memory is added, firmware and hosts change without telling. */
#define CONDITIONS_MAX_AGE_DAYS 180

#define CONDITIONS_NR 4

/* The conditions as they are. New reference. */
json_t *conditions_json(const struct machine *machine);

bool conditions_are_same(const json_t *then, const json_t *now);

bool conditions_are_old(time_t then);

/* Appends to a list "kernel 6.1, now 6.12" if the i-th one of CONDITIONS_NR is another one now. Was it? */
bool conditions_append_change(char **text, size_t i, const json_t *then, const json_t *now);

/* Appends "200 days old" if it is. prefix: "up to ", or "". */
void conditions_append_age(char **text, const char *prefix, time_t then);
