/* SPDX-License-Identifier: MIT */
/* C controllers: files compiled into shared objects in the cache folder, and loaded. How to write one:
 * doc/CONTROLLERS.md. */
#pragma once

#include "base/configuration.h"
#include "base/paths.h"
#include "error.h"
#include "rot.h"

/* The driver's own, NULL-terminated. */
extern const struct rot_controller *const c_controllers[];

/*
 * Compiles the file with the configured compiler, unless it and all it includes are unchanged since the last time, and
 * loads it. The controller stays loaded until the process ends. NULL on error: no compiler, errors of the compiler (its
 * messages), no symbol "controller".
 */
const struct rot_controller *c_controller_load(const struct paths *paths, const struct configuration *configuration,
					       const char *path, struct rot_error *err);
