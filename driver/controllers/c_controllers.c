/* SPDX-License-Identifier: MIT */
/* The C controllers that are linked into the driver: one line each. */
#include "controllers/c_controller.h"

extern const struct rot_controller list_events_controller; /* events/list_controller.c */
extern const struct rot_controller report_controller;      /* report/report.c */
extern const struct rot_controller screening_controller;   /* events/screening.c */
extern const struct rot_controller levels_controller;      /* levels/levels.c */
extern const struct rot_controller ceiling_controller, memory_controller, peaks_controller; /* peaks/controllers.c */

const struct rot_controller *const c_controllers[] = {
	&ceiling_controller, &levels_controller, &list_events_controller, &memory_controller,
	&peaks_controller,   &report_controller, &screening_controller,   NULL,
};
