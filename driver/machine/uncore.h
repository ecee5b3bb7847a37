/* SPDX-License-Identifier: MIT */
/* PMUs that count for the whole machine, whoever causes it: memory controllers, as sysfs shows them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "error.h"

/* One counter: a PMU of that type, opened on that CPU, which speaks for a package. */
struct uncore_unit {
	char *name; /* "uncore_imc_0/cas_count_read/" */
	uint64_t type, config;
	int cpu;
};

struct uncore_event {
	struct uncore_unit *units;
	size_t nr_units;
	double scale; /* of a count: bytes, where sysfs has a scale and the unit MiB; else 1 */
};

/*
 * Finds an event as perf writes it: "uncore_imc/cas_count_read/" of the files in events, or
 * "amd_umc/event=0xa,rdwrmask=1/", of all PMUs of the name, or of the name and a number. definition: several of these,
 * blank separated, of which the first that there is is taken. root: "/" or the folder of a recorded machine. false:
 * there is none. The pool owns what event points to.
 */
bool uncore_event_find(struct uncore_event *event, struct pool *pool, const char *root, const char *definition);

/* May this process count it? Tried with the first unit. On false, why has the next step as its hint. */
bool uncore_event_can_count(const struct uncore_event *event, struct rot_error *why);
