/* SPDX-License-Identifier: MIT */
/* The search of one ceiling, and the peak that it finds. For find.c only. */
#ifndef PEAKS_HUNT_H
#define PEAKS_HUNT_H

#include "controllers/xml_plan.h"
#include "peaks/find.h"
#include "peaks/modes.h"
#include "peaks/samples.h"
#include "peaks/search.h"

/*
 * Runs of a variant: those that the search compares, those by which the best of the finalists is chosen together with
 * them (0: the search's are enough), and those that are reported: the winner of the former owes a part of its victory
 * to luck, which the latter do not share. 11 undisturbed runs have an interval of 95 %.
 */
struct nr_runs {
	int search, choose, report;
};

struct hunting_strategy {
	const char *name; /* peak.search */
	struct nr_runs runs;
	struct mode_rounds rounds;
};

/* What all hunts share. */
struct hunting {
	struct rot *rot;
	const struct peaks_options *options;
	const struct hunting_strategy *strategy;
	struct xml_controller *controller;
	struct peak_list *list;
	struct modes modes;
	int *cpus;
	size_t nr_cpus;
	double deadline_s;     /* of all */
	double deadline_now_s; /* of the ceilings that are looked at now */
};

struct hunt {
	struct hunting *of;
	const struct planned_ceiling *ceiling;
	struct search *search;
	bool was_cut_short;
	struct rot_error why; /* the last variant could not be measured */
};

/* A variant that is measured next. */
struct variant {
	struct hunt *hunt;
	size_t index; /* in the search */
	struct measurement *measurement;
	double work;
};

enum peak_kind hunt_kind(const struct planned_ceiling *ceiling);

/* Delete hunt->search. */
int
hunt_begin(struct hunt *hunt, struct hunting *hunting, const struct planned_ceiling *ceiling, struct rot_error *err);

/* Adds the variants of the next batch, none when the search has ended. Delete their measurements. */
void hunt_next(struct hunt *hunt, struct variant **variants, size_t *nr);

/* Tells the search. -1: it could not be measured; hunt->why says why. */
int variant_measure(struct variant *variant);

/* Chooses the best and adds its peaks to the list, those with modes to hunting->modes. */
int hunt_finish(const struct hunt *hunt, struct rot_error *err);

#endif
