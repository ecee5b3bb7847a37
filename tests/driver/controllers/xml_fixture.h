/* SPDX-License-Identifier: MIT */
/* What tests of XML controllers share: a driver without a core behind it, and texts that controllers are put together
 * from. */
#ifndef TESTS_XML_FIXTURE_H
#define TESTS_XML_FIXTURE_H

#include "fake_rot.h"

extern struct rot rot;

/* A checked fixture: opens and closes it. */
void setup(void);
void teardown(void);

/* Writes the text to c.xml and opens that. */
struct xml_controller *open_text(const char *text, struct rot_error *err);

#define HEAD "<controller name='c' comment='a test' runs='7'>\n"
#define POINT "<point series='s' label='{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>\n"
#define AXIS "<axis name='n'><list values='1 2'/></axis>\n"
#define TAIL "</controller>\n"

#define PROGRAM(attributes, children)                                                                                  \
	"<point series='s' label='{$n}'><program " attributes ">" children "</program></point>\n"

#endif
