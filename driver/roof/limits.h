/* SPDX-License-Identifier: MIT */
/* What the processor's documents and the memory modules allow, beside what was found: rows <limit> of
 * driver/architectures/, and the key memoryBandwidth. */
#pragma once

#include "error.h"
#include "roof/peak.h"

struct rot;
struct architecture;

/* A peak that is this much below its limit gets a remark with the cause, or that none is known. */
#define LIMIT_NOTABLE 0.02

/* Above its limit by more than this it is not believed: the clock was misread, or the document is. It gets a remark,
 * and the profile replaces it with what is found next. */
#define LIMIT_EXCEEDED 0.005

/* What the documents of this machine's processor say, whether its events can be counted or not. Delete it. */
struct architecture *limits_load(struct rot *rot, struct rot_error *err);

/* Per core cycle, of kind, operation, border, access and instruction set of the peak; NaN: nothing is known. */
double peak_limit(const struct peak *peak, const struct architecture *architecture, int model);

/*
 * Sets limit, source and remark of the peak, on a CPU of that model; NaN and "" where nothing is known. A remark that
 * is there already stays.
 */
void peak_set_limit(struct pool *pool, struct peak *peak, const struct architecture *architecture, int model);

/* limit_source of what the key says. */
#define LIMIT_OF_MEMORY "key memoryBandwidth"

/* The limit of a bandwidth of memory whose modules allow so many bytes a second; 0: nothing is known. */
void peak_set_memory_limit(struct peak *peak, double bytes_per_second);

/* The limits of all, on this machine. */
int peaks_set_limits(struct rot *rot, struct peak_list *list, struct rot_error *err);
