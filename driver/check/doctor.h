/* SPDX-License-Identifier: MIT */
/* Findings on a machine: what works, what does not, why, and what would change it. Nothing is changed by looking.*/
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "rot.h"

/*
 * GOOD: as it should be, or a plain fact. LIMITED: rot works, but less can be known, or less exactly. BROKEN: "rot
 * measure triad" does not work.
 */
enum finding_state { FINDING_GOOD, FINDING_LIMITED, FINDING_BROKEN };

/* The section of what can be counted. */
#define DOCTOR_QUANTITIES "Quantities (rates and intensities follow from these)"

/* advice: the next step, where possible the exact command; "" if there is none. All fresh memory but section, name. */
struct finding {
	const char *section, *name;
	enum finding_state state;
	char *text, *advice;
};

struct findings {
	struct finding *items;
	size_t nr;
	const char *section; /* of those that are added next */
};

void findings_section(struct findings *findings, const char *section);

/* The text as printf; no advice. */
struct finding *findings_add(struct findings *findings, const char *name, enum finding_state state, const char *format,
			     ...) __attribute__((format(printf, 4, 5)));
void finding_advise(struct finding *finding, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* FINDING_BROKEN if any is, else FINDING_LIMITED if any is. */
enum finding_state findings_worst(const struct findings *findings);
void findings_clear(struct findings *findings);

/* root: "/", or the folder of a recorded machine. */
void doctor_look_at_machine(struct findings *findings, const struct machine *machine, const char *root);
void doctor_look_at_clocks(struct findings *findings, const struct machine *machine, const char *root);
void doctor_look_at_surroundings(struct findings *findings, const struct machine *machine, const char *root);

/* Caches, where they were measured (roof/levels.h). */
void doctor_look_at_levels(struct findings *findings, const struct machine *machine, const char *cache_folder);

/* Versions of rot and its libraries; those of rot-core only with paths. */
void doctor_look_at_versions(struct findings *findings, const struct paths *paths);

/* By trying it, in this process and in children of it. */
void doctor_try_rights(struct findings *findings, const struct rot *rot);
void doctor_try_programs(struct findings *findings, const struct configuration *configuration);
void doctor_try_tools(struct findings *findings, const struct rot *rot);

/* Each quantity that is not made of others: by which events, or why it is not counted. */
void doctor_look_at_quantities(struct findings *findings, struct rot *rot);

/* All of these, on this machine. */
void doctor_look(struct findings *findings, struct rot *rot);

/* On one screen: the verdict, the machine, what is not good, and the next step. is_all: each finding with its advice,
 * by sections. */
void findings_print(const struct findings *findings, bool is_all, FILE *out);

/* All that is known of the machine, but its events: schemas/doctor-1.json. New reference. */
json_t *findings_json(const struct findings *findings, struct rot *rot);
