/* SPDX-License-Identifier: MIT */
/* Where a program stands when its libraries are there, and when there are others. */
#ifndef CORE_PARENT_BREAKPOINTS_IMAGE_START_H
#define CORE_PARENT_BREAKPOINTS_IMAGE_START_H

#include "parent/tracer/thread.h"

/* thread has just executed a program, whose image it has: calls what its images want to be called from now on. */
void image_begin(struct thread *thread);

#endif
