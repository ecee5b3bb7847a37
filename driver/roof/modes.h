/* SPDX-License-Identifier: MIT */
/*
 * Peaks that have modes: what a process gets depends on something that nobody tells, and stays so while it runs.
 *
 *	memory on several CPUs: on where the host of a virtual machine has put them, by a factor of two; a cache line
 *		handed to and fro shows it, and both modes are peaks
 *	the L2 and the L3, and what stayed below the limits of the documents: on what is not known, perhaps on whether
 *		another guest of the host is the neighbour on the core; the rate itself shows it (peak_samples.h)
 *	everything else on several CPUs: on whether the host has put two of them on one core, for minutes, where each
 *		gets half; how much they slow each other down shows it (of more than two the rate), and
 *		runs on cores of their own are the peak. Where there are none, the mode of the peak is "shared", and
 *		the profile takes the next that is better
 *
 * So all such peaks are measured together at the end, in rounds. A round is a process of its own of each, with a few
 * runs, so that all meet the same conditions. Runs are sorted by mode, and never averaged over. What has reached its
 *limit is left out of further rounds, which leaves more time for the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "entities.h"
#include "quantities/quantity.h"
#include "roof/peak_samples.h"

struct rot;

/* ---- placement ---- */

enum placement_mode {
	PLACEMENT_UNKNOWN, /* no ping-pong, or its time belongs to no group */
	PLACEMENT_ONE,     /* all that was seen is alike */
	PLACEMENT_NEAR,
	PLACEMENT_FAR,
	PLACEMENT_SHARED, /* both on one core */
	PLACEMENT_MIXED,  /* moved during the sample */
};

/* Times seen so far, ns. Zeroed: none. */
struct placement {
	double *ns;
	size_t nr;
};

/*
 * Puts a PingPongMeasurer for the CPUs of the first two workloads that are pinned to different CPUs into the overall
 * set, which it makes if there is none. It takes that long each time: 20 ms for times that are sure, 1 for whether they
 * share a core. Does nothing if there are no two. It becomes part of the description, thus of its hash.
 */
void placement_watch(struct measurement *measurement, int milli_seconds);

/* Adds the times of all samples that are not of a shared core, if the value has any. */
void placement_add(struct placement *placement, const struct quantity_value *value);

/* The placement of one sample of a value, after all were added. */
enum placement_mode
placement_mode(const struct placement *placement, const struct quantity_value *value, size_t sample);

/* The groups seen: their number, 0 to 2, and the median time of each, the near one first. */
size_t placement_groups(const struct placement *placement, double median_ns[2]);

void placement_clear(struct placement *placement);

struct mode_rounds {
	int least;
	int most;      /* by placement, until each one that was seen has enough runs */
	int processes; /* by rate, by sharing: until the limit is reached; performance without a limit only until
			  enough runs were on cores of their own */
	int runs;      /* in a round */
};

enum mode_kind { MODES_NONE, MODES_OF_RATE, MODES_OF_SHARING, MODES_OF_PLACEMENT };

/* A peak that waits to be measured. */
struct mode_peak {
	size_t place; /* in the list */
	struct measurement *measurement;
	struct peak_work work;
	size_t nr_seen;              /* of the samples, at the front: those that the variant was chosen by */
	struct peak_samples samples; /* these and those of all rounds so far */
	size_t end;                  /* of the samples: behind those of the last round; 0: there was none */
	enum mode_kind kind;
	double limit; /* per core cycle of one thread; 0: not known */
};

/* Zeroed: none. */
struct modes {
	struct mode_peak *peaks;
	size_t nr;
	struct placement placement;
	size_t nr_cores; /* that the CPUs are of; on more threads they share cores anyway */
};

/* How modes of work over that border (NULL: none) are told apart. */
enum mode_kind modes_of(const struct modes *modes, const char *border, size_t nr_threads);

/*
 * Takes the measurement over, which has modes, or may have (of a rate) since it stayed below what is possible. nr_seen
 * of its runs are known already, and are no samples; nr_reported behind them are, of one process. limit: of the
 * documents, per core cycle of one thread; 0: not known.
 */
void modes_add(struct modes *modes, size_t place, struct measurement *measurement, const struct peak_work *work,
	       size_t nr_seen, size_t nr_reported, double limit);

/*
 * Measures them and fills their places in the list, behind which the second placement of a peak gets one of its own.
 * What could not be measured, also after an interruption, is taken out of the list. deadline_s: of the clock (clock.h),
 * when only the least rounds are done.
 */
int modes_finish(struct modes *modes, struct rot *rot, const struct mode_rounds *rounds, double deadline_s,
		 struct peak_list *list, struct rot_error *err);

/*
 * How many rounds there will be, about, while that one is measured: the least, and as many as fit into the time that is
 * left if each takes as long as those before; spent_s: in these.
 */
int mode_rounds_expected(const struct mode_rounds *rounds, int number, double spent_s, double left_s);

void modes_clear(struct modes *modes);
