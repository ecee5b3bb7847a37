/* SPDX-License-Identifier: MIT */
/*
 * The profile of a machine: its peaks, kept as a file of the user's data folder (profiles/VENDOR-FAMILY-MODEL-...json,
 * schema rot.profile/1). Each peak is kept with what it was found on, so that a later rot sees what has changed since.
 */
#pragma once

#include "error.h"
#include "roof/peak.h"

struct rot;

enum profile_match {
	PROFILE_NONE,    /* there is none, or none that can be read: nothing was loaded    */
	PROFILE_FRESH,   /* found on this machine as it is                                 */
	PROFILE_STALE,   /* of this machine, but something changed since: used, and told   */
	PROFILE_FOREIGN, /* of another machine: nothing was loaded                         */
};

struct profile_state {
	enum profile_match match;
	const char *path; /* where this machine's profile is, or would be */
	double age_s;     /* since it was written, which each search does; 0 without a file */
	const char *
		message; /* for the user: what changed, or why it is not used, and what to do; "" if there is nothing */
};

/*
 * The peaks that are kept for this machine. A profile of another processor or hypervisor, a damaged file (it is put
 * aside) and one of a later rot are no errors: see state. -1: the file is there and cannot be read. Clear both.
 */
int profile_load(struct rot *rot, struct peak_list *list, struct profile_state *state, struct rot_error *err);

/*
 * Keeps the peaks together with those that are kept already. Of a peak that was found before (same name, operation,
 * access, instruction set and number of threads, whatever its modes) the new one stays, unless, on the machine as it
 * is, the old one is clearly higher, or was searched fully and the new one quickly and is not higher. A profile of
 * another machine of that name is put aside. Safe against other rots that store at the same time.
 */
int profile_store(struct rot *rot, const struct peak_list *list, struct rot_error *err);
