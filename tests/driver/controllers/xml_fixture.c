/* SPDX-License-Identifier: MIT */
#include "xml_fixture.h"

#include "planning/xml_controller.h"
#include "testing.h"

struct rot rot;

void
setup(void)
{
	fake_rot_open(&rot);
}

void
teardown(void)
{
	fake_rot_close(&rot);
}

struct xml_controller *
open_text(const char *text, struct rot_error *err)
{
	*err = (struct rot_error){0};
	file_fill("c.xml", text);
	return xml_controller_open(&rot, "c.xml", err);
}
