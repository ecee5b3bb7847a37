/* SPDX-License-Identifier: MIT */
/* The file that the core hands back, from whichever of its processes. */
#pragma once

#include "error.h"

/*
 * Writes the entity and all it reaches to path in text form, complete or not at all. PATH.new is used on the way. 0 or
 * -1. The driver reads it at once, and makes what it keeps of it durable.
 */
int output_write(const void *entity, const char *path, struct rot_error *err);
