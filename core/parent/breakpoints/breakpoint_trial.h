/* SPDX-License-Identifier: MIT */
#ifndef CORE_PARENT_BREAKPOINTS_BREAKPOINT_TRIAL_H
#define CORE_PARENT_BREAKPOINTS_BREAKPOINT_TRIAL_H

#include "error.h"

/*
 * Whether hardware breakpoints of perf do what they are asked for. Some hypervisors do not hand the debug registers on
 * to their guests: then the system sets breakpoints without an error, and nothing ever happens. So one is set at a
 * function of our own, which is called; once in a process. 0, or -1: they are accepted and count wrong. If none can be
 * set the answer is 0: why, the system says again when one is needed.
 */
int breakpoint_trial(struct rot_error *err);

#endif
