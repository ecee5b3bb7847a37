/* SPDX-License-Identifier: MIT */
/* Which rules can be followed: known when a description is read, by driver and core alike. */
#pragma once

#include <stdbool.h>

#include "Measurement.h"
#include "Rule.h"
#include "error.h"

/*
 * measurement: of kernels, with the workloads that the rule may name. NULL: the rule is of a program. Threads of a
 * program do nothing for rot: what an action does is done on their behalf, by a tracer that may not wait.
 *
 * is_running: the program runs already, so that its threads can be named by their ids.
 * 0, or -1 with the reason; *culprit is then the entity that is the reason (the rule, something in it), and is NULL
 * only if rule is.
 */
int rule_check(const struct rule *rule, const struct measurement *measurement, bool is_running, const void **culprit,
	       struct rot_error *err);
