/* SPDX-License-Identifier: MIT */
/* All that the doctor looks at, in its order. */
#include "doctor/doctor.h"

#include "configuration/paths.h"

void
doctor_look(struct findings *findings, struct rot *rot)
{
	doctor_look_at_machine(findings, rot->machine, "/");
	doctor_look_at_levels(findings, rot->machine, rot->paths->cache);
	doctor_look_at_surroundings(findings, rot->machine, "/");
	doctor_look_at_clocks(findings, rot->machine, "/");
	doctor_try_rights(findings, rot);
	doctor_try_tools(findings, rot);
	doctor_look_at_quantities(findings, rot);
}
