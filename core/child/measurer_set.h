/* SPDX-License-Identifier: MIT */
/* Measurer sets at work: the state beside the description. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "child/measurer.h"

/* One measurer of a set. type is never NULL: without a measurer it is one that does nothing. */
struct measurer_state {
	const struct measurer_type *type;
	const struct measurer_base *description;
	void *memory;
};

/*
 * A set on the thread that starts it; on other threads see common/thread_set.h. A zeroed one is not initialized.
 *
 * set: the description, NULL if nothing is measured.   states: main, then the additional ones, then those for
 * validation.
 */
struct set_state {
	const struct measurer_set *set;
	pid_t tid;
	struct measurer_state *states;
	size_t nr_additional, nr_validation;
};

/*
 * Initializes all measurers of set (NULL: none) for the calling thread. 0, or -1 and the failure recorded; either way
 * set_dispose must follow.
 */
int set_initialize(struct set_state *state, const struct measurer_set *set, struct failure *failure);

/* Parts of a set, started in list order and stopped in reverse. ahead: those additional ones that are (measurer.h);
 * they are stopped with the others, after them. */
void set_start_validation(struct set_state *state);
void set_stop_validation(struct set_state *state);
void set_start_ahead(struct set_state *state);
void set_start_additional(struct set_state *state);
void set_stop_additional(struct set_state *state);

/* The whole set: validation, additional, main; stopped in reverse. */
void set_start(struct set_state *state);
void set_stop(struct set_state *state);

/* True if it can be started and stopped in a thread that was interrupted anywhere. */
bool set_is_signal_safe(const struct set_state *state);

/* Starts and stops the additional and the main measurers once, so that their code and data are in the caches. */
void set_warm(struct set_state *state);

/* Around what warms the caches. start: does the main measurer follow what they hold? Only if so it is to be stopped. */
bool set_start_warming(struct set_state *state);
void set_stop_warming(struct set_state *state);

/* The main measurer. */
const struct measurer_state *set_main(const struct set_state *state);

/* A fresh MeasurerSetOutput with all it reaches, or NULL and the failure recorded. NULL as well without a set. */
struct measurer_set_output *set_output(struct set_state *state, struct failure *failure);

/* Also of one that is not initialized. */
void set_dispose(struct set_state *state);
