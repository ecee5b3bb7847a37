/* SPDX-License-Identifier: MIT */
/* The C controllers that are linked into the driver: one line each. */
#include "experiments/c_controller.h"

extern const struct rot_controller list_events_controller; /* check/list_controller.c */
extern const struct rot_controller report_controller;      /* check/report.c */
extern const struct rot_controller screening_controller;   /* check/screening.c */
extern const struct rot_controller levels_controller;      /* roof/levels.c */
extern const struct rot_controller ceiling_controller, memory_controller, peaks_controller; /* roof/controllers.c */

const struct rot_controller *const c_controllers[] = {
	&ceiling_controller, &levels_controller, &list_events_controller, &memory_controller,
	&peaks_controller,   &report_controller, &screening_controller,   NULL,
};
