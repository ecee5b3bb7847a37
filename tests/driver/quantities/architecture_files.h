/* SPDX-License-Identifier: MIT */
/* The architecture files of the source tree, for tests. */
#pragma once

#include "quantities/architecture.h"

/* Paths of all architecture files, sorted. The program ends if there are none. */
int architecture_nr_files(void);
const char *architecture_file(int i);

/* "driver/architectures" and the schema in the source tree. */
char *architecture_folder(void);
char *architecture_schema(void);

/*
 * The file NAME.xml; aborts the test if it cannot be read. "NAME@TREE": with the events of the whole machine that
 * tests/machines/uncore/TREE has; else there are none.
 */
struct architecture *architecture_named(const char *name);

/* An architecture by its name, deleted when the test ends. */
struct architecture *architecture_kept(const char *name);
