/* SPDX-License-Identifier: MIT */
/* Programs that run with other rights than those who execute them. */
#ifndef CORE_PARENT_PROGRAM_PRIVILEGES_H
#define CORE_PARENT_PROGRAM_PRIVILEGES_H

#include <stdbool.h>

/*
 * Whether a process of this user that executes the file gets rights by it: the file is set-uid, set-gid or has
 * capabilities, and neither its file system nor the process has that switched off. The system then takes away counters
 * that were opened before; and unless the tracer is root, a traced process does not get them.
 */
bool privileges_are_gained(const char *path);

/* Whether this process may trace such programs without changing what they do. */
bool privileges_allow_tracing(void);

#endif
