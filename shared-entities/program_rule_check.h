/* SPDX-License-Identifier: MIT */
/* Which rules can be followed in somebody else's program: known when a description is read, by driver and core alike.
 */
#ifndef PROGRAM_RULE_CHECK_H
#define PROGRAM_RULE_CHECK_H

#include <stdbool.h>

#include "BreakpointEventPredicate.h"
#include "Rule.h"
#include "error.h"

/*
 * Threads of a program do nothing for rot: what an action does is done on their behalf, by a tracer that may not wait.
 *
 * is_running: the program runs already, so that its threads can be named by their ids.
 * 0, or -1 with the reason; *culprit is then the entity that is the reason (the rule, something in it), and is NULL
 * only if rule is.
 */
int program_rule_check(const struct rule *rule, bool is_running, const void **culprit, struct rot_error *err);

/* Whether it names a place, and hits that can be. Of programs and kernels. 0 or -1. */
int breakpoint_predicate_check(const struct breakpoint_event_predicate *predicate, struct rot_error *err);

#endif
