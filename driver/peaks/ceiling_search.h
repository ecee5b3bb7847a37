/* SPDX-License-Identifier: MIT */
/* The search of one ceiling, and the peak that it finds. For find.c only. */
#ifndef PEAKS_CEILING_SEARCH_H
#define PEAKS_CEILING_SEARCH_H

#include "peaks/find.h"
#include "peaks/modes.h"
#include "peaks/optimiser.h"
#include "peaks/peak_samples.h"
#include "planning/xml_plan.h"

/*
 * Runs of a variant: those that the search compares, those by which the best of the finalists is chosen together with
 * them (0: the search's are enough), and those that are reported: the winner of the former owes a part of its victory
 * to luck, which the latter do not share. 11 undisturbed runs have an interval of 95 %.
 */
struct nr_runs {
	int search, choose, report;
};

struct search_effort {
	const char *name; /* peak.search */
	struct nr_runs runs;
	struct mode_rounds rounds;
	double rounds_s; /* since the beginning; then only the least rounds are done */
};

/* What all searches share. */
struct finding {
	struct rot *rot;
	const struct peaks_options *options;
	const struct search_effort *effort;
	struct xml_controller *controller;
	struct peak_list *list;
	struct modes modes;
	struct architecture *limits; /* NULL: nothing is known */
	int *cpus;
	size_t nr_cpus;
	double deadline_s;        /* of all searches */
	double deadline_now_s;    /* of the ceilings that are looked at now */
	double rounds_deadline_s; /* of the rounds beyond the least */
};

struct ceiling_search {
	struct finding *of;
	const struct planned_ceiling *ceiling;
	struct optimiser *optimiser;
	bool is_begun; /* some variant was measured */
	bool was_cut_short;
	struct rot_error why; /* the last variant could not be measured */
};

/* A variant that is measured next. */
struct variant {
	struct ceiling_search *search;
	size_t index; /* of the optimiser */
	struct measurement *measurement;
	double work;
};

enum peak_kind ceiling_kind(const struct planned_ceiling *ceiling);

/* Delete search->optimiser. */
int ceiling_search_begin(struct ceiling_search *search, struct finding *finding, const struct planned_ceiling *ceiling,
			 struct rot_error *err);

/* Adds the variants of the next batch, none when the search has ended. Delete their measurements. */
void ceiling_search_next(struct ceiling_search *search, struct variant **variants, size_t *nr);

/* Tells the optimiser. -1: it could not be measured; search->why says why. */
int variant_measure(struct variant *variant);

/* Chooses the best and adds its peaks to the list, those with modes to finding->modes. */
int ceiling_search_finish(const struct ceiling_search *search, struct rot_error *err);

#endif
