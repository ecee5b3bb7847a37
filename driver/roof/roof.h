/* SPDX-License-Identifier: MIT */
/* The roof that rooflines show: what the profile keeps, or what a quick search finds where there is none. */
#pragma once

#include <stdbool.h>

#include "error.h"
#include "roof/peak.h"

struct rot;

/* A line this close below another one of its kind and level says nothing new, and their texts would overlap. */
#define ROOF_NEARLY_THE_SAME 0.93

/*
 * The peaks of this machine; their limits are those of when they were found. A warning tells what is
 * peculiar about the profile. Without peaks of the operation (NULL: of any), or of any bandwidth, a quick search finds
 * and keeps them first, unless is_cached_only or the key findPeaks says no: then what there is has to do. Clear the
 * list in any case. -1: the user interrupted.
 */
int roof_get(struct rot *rot, const char *operation, struct peak_list *list, struct rot_error *err);

/*
 * Adds to the list what a quick search finds of the wishes that no peak of the list is, and keeps it, unless
 * is_cached_only or the key findPeaks says no. A wish that stays without a peak is told as a warning. -1: the user
 * interrupted.
 */
int roof_complete(struct rot *rot, const struct peak_wish *wishes, size_t nr_wishes, struct peak_list *list,
		  struct rot_error *err);

/* How many threads the peaks are to be of for work on that many CPUs: the least number that was measured and is not
 * below, or the largest. 0: the list is empty. */
int roof_nr_threads(const struct peak_list *list, double nr_cpus);

/* "ceilings of 2 threads at 3.9 to 4.1 GHz, found 2026-11-22 (quick search)"; is_per_cycle: of rates that are those of
 * one thread then. Fresh memory. */
char *roof_note(const struct peak_list *list, int nr_threads, bool is_per_cycle);

/*
 * True if every run of the peak was disturbed, or if it is far below what another peak of the list or the processor's
 * documents say: a nearer border slower than a farther one, loads at half of what the same border gives copies, an
 * operation at half of its limit (not memory: a thread may reach a small part of what the modules allow). Latencies are
 * never in doubt.
 */
bool peak_is_doubtful(const struct peak_list *list, const struct peak *peak);
