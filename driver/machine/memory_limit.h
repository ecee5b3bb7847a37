/* SPDX-License-Identifier: MIT */
/* How much memory the control group of this process may use. Source: cgroups(7); the kernel's cgroup-v1/memory,
 * cgroup-v2. */
#ifndef MACHINE_MEMORY_LIMIT_H
#define MACHINE_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * The least limit of the group and of those around it, of both versions, in bytes; INT64_MAX: there is none, or none
 * that can be read. Within a container the path of the group may be one of outside, and the limit is then that of the
 * topmost folder. root: "/" or the folder of a recorded machine.
 */
int64_t memory_limit_read(const char *root);

#endif
