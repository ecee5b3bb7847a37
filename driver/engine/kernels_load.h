/* SPDX-License-Identifier: MIT */
/* Finding the kernels' definitions. */
#pragma once

#include "error.h"
#include "rot.h"

/*
 * Loads the definitions USER/kernels and DATA/kernels hold (FOLDER/NAME/NAME.xml) into rot->kernels and their classes
 * into rot->registry, which holds the shared entities already. The user's kernel hides a built-in one of the same name.
 * A broken definition is left out with a warning. An error only if there is no kernel at all.
 */
int kernels_load(struct rot *rot, struct rot_error *err);
