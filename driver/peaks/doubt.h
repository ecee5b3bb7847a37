/* SPDX-License-Identifier: MIT */
/* Peaks that cannot be what the machine can do, since something disturbed their search. */
#ifndef PEAKS_DOUBT_H
#define PEAKS_DOUBT_H

#include <stdbool.h>

#include "peaks/peak.h"

/*
 * True if every run of the peak was disturbed, or if it is far below what another peak of the list or the processor's
 * documents say: a nearer border slower than a farther one, loads at half of what the same border gives copies, an
 * operation at half of its limit. Latencies are never in doubt.
 */
bool peak_is_doubtful(const struct peak_list *list, const struct peak *peak);

#endif
