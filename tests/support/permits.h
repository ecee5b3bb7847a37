/* SPDX-License-Identifier: MIT */
/* The permissions that this system gives to tests. A refusal is said on standard error, with the reason, as a test that
 * ends with TEST_SKIPPED has to. */
#pragma once

#include <stdbool.h>

/* Processes may be traced by those that started them. */
bool permits_tracing(void);

/* Libraries may be loaded before rot: not if it is sanitized, because sanitizers must come first. */
bool permits_preloading(void);

/* Page faults of this process may be counted. */
bool permits_counting(void);
