/* SPDX-License-Identifier: MIT */
/* Tests of XML controllers share a driver without a core behind it, and texts that controllers are put together
 * from. */
#pragma once

#include "fake_rot.h"

extern struct rot rot;

/* A checked fixture: opens it. */
void setup(void);

/* The controller, which is closed when the test ends; NULL: why says what is wrong. open_text writes c.xml. */
struct xml_controller *open_file(const char *path);
struct xml_controller *open_text(const char *text);

/* The same, and the test fails if it is NULL. */
struct xml_controller *opened_file(const char *path);
struct xml_controller *opened_text(const char *text);

/* A new experiment, which is deleted when the test ends. */
struct experiment *experiment_open(const char *name, const char *output_name, size_t nr_points);

#define HEAD "<controller name='c' comment='a test' runs='7'>\n"
#define POINT "<point series='s' label='{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>\n"
#define AXIS "<axis name='n'><list values='1 2'/></axis>\n"
#define TAIL "</controller>\n"

#define PROGRAM(attributes, children)                                                                                  \
	"<point series='s' label='{$n}'><program " attributes ">" children "</program></point>\n"
