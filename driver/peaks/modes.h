/* SPDX-License-Identifier: MIT */
/*
 * Memory on several CPUs: what they get depends on where the host of a virtual machine has put them (placement.h), by a
 * factor of two, and that changes every few seconds. So all such peaks are measured together at the end, in rounds,
 * each a few runs of each, so that each meets the same placements; runs are sorted by placement, and never averaged
 * over.
 */
#ifndef PEAKS_MODES_H
#define PEAKS_MODES_H

#include "peaks/placement.h"
#include "peaks/samples.h"

struct rot;

struct mode_rounds {
	int least, most; /* more than the least until each placement that was seen has enough runs */
	int runs;        /* in a round */
};

/* A peak that waits to be measured. */
struct mode_peak {
	size_t place; /* in the list */
	struct measurement *measurement;
	struct peak_work work;
	struct peak_samples samples; /* of all rounds so far */
};

/* Zeroed: none. */
struct modes {
	struct mode_peak *peaks;
	size_t nr;
	struct placement placement;
};

bool modes_are_possible(const struct measurement *measurement, const struct peak_work *work);

/* Takes the measurement over. */
void modes_add(struct modes *modes, size_t place, struct measurement *measurement, const struct peak_work *work);

/*
 * Measures them and fills their places in the list, behind which the second mode of a peak gets one of its own. What
 * could not be measured, also after an interruption, is taken out of the list. deadline_s: of the clock (clock.h), when
 * only the least rounds are done.
 */
int modes_finish(struct modes *modes, struct rot *rot, const struct mode_rounds *rounds, double deadline_s,
		 struct peak_list *list, struct rot_error *err);
void modes_clear(struct modes *modes);

#endif
