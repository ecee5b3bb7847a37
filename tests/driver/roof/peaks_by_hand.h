/* SPDX-License-Identifier: MIT */
/* A roof as a search would find it, written by hand: values are those of a Zen 5 of two CPUs, rounded. */
#pragma once

#include "roof/peak.h"

/* Clear it with peak_list_clear. Each has a search ("full"), and no found_at. */
struct peak_list peaks_by_hand(void);

/* The peak of that name and number of threads. ck_asserts that it is there. */
struct peak *peak_by_hand(const struct peak_list *list, const char *name, int nr_threads);
