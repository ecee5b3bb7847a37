/* SPDX-License-Identifier: MIT */
/* Groups of perf events, named by libpfm4 strings. perf_event.c and pfm.c alone know libpfm4. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"

/* Most events of one group; more than any processor counts at once. */
#define PERF_MAX_EVENTS 32

/* Most events that others may add to a group. */
#define PERF_MAX_OTHERS 64

/* The processor modes that count where the event string has no :u or :k of its own. At least one must be set. */
struct perf_modes {
	bool user;
	bool kernel;
};

/* The events of a group as the system wants them: encoded once, opened on as many threads as there are. */
struct perf_encoding;

/* Whom a group counts besides the thread it is opened on: what that thread creates from then on. */
enum perf_heirs {
	PERF_HEIRS_NONE,
	PERF_HEIRS_THREADS, /* threads of its process, and theirs; needs Linux 5.13 */
	PERF_HEIRS_ALL,     /* the processes it starts as well                      */
};

enum perf_begin {
	PERF_BEGIN_LATER,   /* with perf_group_start                                 */
	PERF_BEGIN_AT_EXEC, /* before the first instruction of the next program that the thread executes */
	PERF_BEGIN_NOW,
};

/*
 * An open group: all events are counted together or none is. A zeroed group is closed.
 *
 * names: the events as opened, fully qualified; nr of them, borrowed from the encoding. Somebody may add nr_others
 * events of his own, which count with the group and come after its own where it is read.
 */
struct perf_group {
	size_t nr;
	size_t nr_others;
	int fds[PERF_MAX_EVENTS];
	const char *const *names;
	struct perf_encoding *own; /* NULL: the encoding is somebody else's */
	bool has_heirs;
};

/* The counts of a group: raw values in the order of the events, never scaled. running < enabled: it was multiplexed. */
struct perf_counts {
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t values[PERF_MAX_EVENTS];
};

/* Adds counts of the same events to sum. */
static inline void
perf_counts_add(struct perf_counts *sum, const struct perf_counts *counts)
{
	sum->enabled_ns += counts->enabled_ns;
	sum->running_ns += counts->running_ns;
	for (size_t i = 0; i < PERF_MAX_EVENTS; i++)
		sum->values[i] += counts->values[i];
}

/*
 * Opens a group of nr events on thread tid (0: the calling one), wherever it runs; it does not count yet.
 *
 * events: libpfm4 strings, leader first. "perf_raw::rXXXX" gives the configuration itself; an event of a PMU that
 * libpfm4 does not detect here is encoded when it is named in full ("amd64_fam19h_zen4::RETIRED_INSTRUCTIONS"). 0, or
 * -1: unknown event or refused by the system; the hint holds the next step. Then nothing is open.
 */
int perf_group_open(struct perf_group *group, const char *const *events, size_t nr, struct perf_modes modes, pid_t tid,
		    struct rot_error *err);

/*
 * The same in two steps. encode: NULL if an event is unknown. open: encoding must outlive the group; several groups may
 * share it. delete: NULL is allowed.
 */
struct perf_encoding *
perf_encoding_new(const char *const *events, size_t nr, struct perf_modes modes, struct rot_error *err);
int perf_group_open_encoded(struct perf_group *group, const struct perf_encoding *encoding, enum perf_heirs heirs,
			    enum perf_begin begin, pid_t tid, struct rot_error *err);
void perf_encoding_delete(struct perf_encoding *encoding);

/* The i-th event as it is opened, fully qualified. */
const char *perf_encoding_name(const struct perf_encoding *encoding, size_t i);

/* Closing a closed group is allowed. */
void perf_group_close(struct perf_group *group);

/*
 * Sets all values to zero and counts. 0, or the errno of the refusal; no lock, no allocation.
 *
 * Only the leader is switched: the members, always on, come and go with it, all at once and on the same counters. With
 * PERF_IOC_FLAG_GROUP a stop would switch off each member as well, and the next start would count with the leader
 * alone, then with one member more after the other: for AMD's "large increment" events a sequence of groups of which
 * each may poison the next. Members of another PMU than the leader's would not count again at all (seen on Linux 6.18).
 */
int perf_group_start(const struct perf_group *group);

/* Goes on counting, from the values of the last stop. As perf_group_start. */
int perf_group_resume(const struct perf_group *group);

/* Counts no more. As perf_group_start. */
int perf_group_stop(const struct perf_group *group);

/*
 * The values of a stopped (or running) group, also after the end of its thread. With heirs each event is read by
 * itself, since Linux before 6.12 refuses to read them together; they still count together or not at all.
 */
int perf_group_read(const struct perf_group *group, struct perf_counts *counts, struct rot_error *err);

/*
 * Clears what earlier events left behind in the hardware counters: on every CPU that the thread whose (0: the calling
 * one) may use, opens a group of nr copies of event, lets it count for about 100 turns of a loop, and closes it. The
 * event must be one that is counted nowhere else. The affinity of the calling thread is as before, afterwards.
 *
 * Needed for AMD's "large increment" events (0x003, floating-point operations) under KVM: they poison counters for
 * later groups, which then read zero or a multiple, without any sign of it.
 */
int perf_scrub(const char *event, size_t nr, pid_t whose, struct rot_error *err);

/* The configuration an event string stands for; for tests and listings. 0 or -1. */
int
perf_event_encode(const char *event, struct perf_modes modes, uint32_t *type, uint64_t *config, struct rot_error *err);

/* Levels of kernel.perf_event_paranoid up to which anybody may count user mode, the kernel's as well, the machine. */
enum { PERF_PARANOID_MACHINE = 0, PERF_PARANOID_KERNEL = 1, PERF_PARANOID_USER = 2 };

/*
 * Sets the hint that fits errnum and this machine, when perf_event_open is refused; returns -1.
 *
 * paranoid: the highest level that permits it.   nr: events of the group, with the refused one.
 */
int perf_hint(struct rot_error *err, int errnum, int paranoid, size_t nr);

/* ---- what libpfm4 knows ---- */

struct perf_pmu {
	const char *name;
	const char *description;
	int nr_counters;
	int nr_fixed_counters;
	bool is_present;
	bool is_default;
};

struct perf_event_name {
	const char *name;
	const char *description;
	const char *equivalent; /* or "" */
};

/* type: none, umask, modBool, modInteger or rawUmask. */
struct perf_attribute {
	const char *name;
	const char *description;
	const char *type;
};

/* Called for each, in nested order: a PMU, its first event, that event's attributes, its second event... */
struct perf_visitor {
	void (*pmu)(const struct perf_pmu *pmu, void *context);
	void (*event)(const struct perf_event_name *event, void *context);
	void (*attribute)(const struct perf_attribute *attribute, void *context);
	void *context;
};

/* Visits the PMUs (only_present: of this machine) with their events. 0 or -1. */
int perf_list(bool only_present, const struct perf_visitor *visitor, struct rot_error *err);
