/* SPDX-License-Identifier: MIT */
/* The C controllers that are linked into the driver: one line each. */
#include "controllers/c_controller.h"

const struct rot_controller *const c_controllers[] = {
	NULL,
};
