/* SPDX-License-Identifier: MIT */
/* What measurer sets of rules have measured, as JSON. Pure. */
#pragma once

#include <jansson.h>

#include "entities.h"

/* number: of the set, for readers. */
json_t *set_output_json(const struct measurer_set_output *set, int number);

/*
 * Of one pass over kernels: adds to array an object for each run in which the first nr_rules rules of measured (those
 * that the description has) read a set: "pass" and "measurerSets". Sets are numbered from 1, in the order in which
 * rules name them first.
 */
void rule_outputs_add(json_t *array, const struct measurement *measured, size_t nr_rules,
		      const struct measurement_result *result, size_t pass);
