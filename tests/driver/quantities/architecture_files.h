/* SPDX-License-Identifier: MIT */
/* The architecture files of the source tree, for tests. */
#ifndef TESTS_ARCHITECTURE_FILES_H
#define TESTS_ARCHITECTURE_FILES_H

#include "quantities/architecture.h"

#define MAX_ARCHITECTURES 64

/* Paths of all architecture files, sorted; fresh memory each. Returns how many; ends the program if there are none. */
size_t architecture_files(char *paths[MAX_ARCHITECTURES]);

/* "driver/architectures" and the schema in the source tree; fresh memory. */
char *architecture_folder(void);
char *architecture_schema(void);

/* The file NAME.xml; aborts the test if it cannot be read. */
struct architecture *architecture_named(const char *name);

#endif
