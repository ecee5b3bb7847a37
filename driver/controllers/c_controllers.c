/* SPDX-License-Identifier: MIT */
/* The C controllers that are linked into the driver: one line each. */
#include "controllers/c_controller.h"

extern const struct rot_controller levels_controller; /* peaks/levels_print.c */

const struct rot_controller *const c_controllers[] = {
	&levels_controller,
	NULL,
};
