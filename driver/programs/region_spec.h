/* SPDX-License-Identifier: MIT */
/* A region of a program as it is written on the command line. Pure. */
#ifndef PROGRAMS_REGION_SPEC_H
#define PROGRAMS_REGION_SPEC_H

#include "entities.h"
#include "error.h"

/* For hints: what a region looks like. */
extern const char region_spec_usage[];

/*
 * The region that "[NAME=]PLACE[..PLACE][#FIRST[-[LAST]]]" describes (fresh memory), or NULL: wrong, with the right
 * form as a hint. #3 is the third hit alone, #3- all from the third on. Places are taken as they are written: what they
 * name is known where the program runs.
 *
 * NAME is made of letters, digits and _ . - ; without it the region is called as its places are written. ".." beside a
 * slash belongs to the path of a file. A '#' within braces belongs to the name of a C++ lambda.
 */
struct region *region_spec_parse(const char *text, struct rot_error *err);

#endif
