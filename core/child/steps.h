/* SPDX-License-Identifier: MIT */
/* Where regions begin that the parent executes instruction by instruction (common/step_counts.h). */
#ifndef CHILD_STEPS_H
#define CHILD_STEPS_H

#include <stdint.h>

/* For WIRE_STEP. */
int64_t steps_place(void);

#endif
