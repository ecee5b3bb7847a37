/* SPDX-License-Identifier: MIT */
#include "xml_fixture.h"

#include "experiments/experiment.h"
#include "planning/xml_plan.h"
#include "testing.h"

struct rot rot;

void
setup(void)
{
	fake_rot_open(&rot);
}

struct xml_controller *
open_file(const char *path)
{
	struct xml_controller *controller;

	why = (struct rot_error){0};
	controller = xml_controller_open(&rot, path, &why);
	return controller ? at_end(xml_controller_close, controller) : NULL;
}

struct xml_controller *
open_text(const char *text)
{
	file_fill("c.xml", text);
	return open_file("c.xml");
}

struct xml_controller *
opened_file(const char *path)
{
	struct xml_controller *controller = open_file(path);

	ck_assert_msg(controller != NULL, "%s: %s %s", path, why.text, why.hint);
	return controller;
}

struct xml_controller *
opened_text(const char *text)
{
	file_fill("c.xml", text);
	return opened_file("c.xml");
}

struct experiment *
experiment_open(const char *name, const char *output_name, size_t nr_points)
{
	return at_end(experiment_delete, experiment_new(&rot, name, output_name, nr_points, &why));
}
