/* SPDX-License-Identifier: MIT */
/*
 * libpfm4, loaded when the first event must be named. Its tables are 43 000 pointers that the dynamic linker would
 * relocate at every start of the core, 5 ms each time, and most starts name no event.
 */
#pragma once

#include <perfmon/pfmlib_perf_event.h>

#include "error.h"

/* The functions that are used, as in libpfm4's manual pages, without "pfm_". */
struct pfm {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_strerror) *strerror;
	__typeof__(pfm_get_version) *get_version;
	__typeof__(pfm_get_os_event_encoding) *get_os_event_encoding;
	__typeof__(pfm_get_event_info) *get_event_info;
	__typeof__(pfm_get_event_attr_info) *get_event_attr_info;
	__typeof__(pfm_get_event_next) *get_event_next;
	__typeof__(pfm_get_pmu_info) *get_pmu_info;
};

/* Loads and initializes it, once. NULL and err if that is not possible (with what installs it). */
const struct pfm *pfm_open(struct rot_error *err);
