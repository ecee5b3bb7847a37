/* SPDX-License-Identifier: MIT */
/* What to do next when perf_event_open is refused. */
#ifndef CORE_PERF_HINT_H
#define CORE_PERF_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/*
 * Sets the hint that fits errnum (of perf_event_open) and this machine; returns -1.
 *
 * wants_kernel: kernel mode was to be counted.   nr: events of the group, with the refused one.
 */
int perf_hint(struct rot_error *err, int errnum, bool wants_kernel, size_t nr);

#endif
