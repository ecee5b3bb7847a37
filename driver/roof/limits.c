/* SPDX-License-Identifier: MIT */
/* Limits of peaks. */
#include "roof/limits.h"

#include <math.h>
#include <string.h>

#include "base/configuration.h"
#include "base/paths.h"
#include "entities.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"

/* Bytes of a register; 0: the instruction set has none for vectors, an instruction is one operation. */
static const struct {
	const char *instruction_set;
	int bytes;
} registers[] = {{"SSE", 16}, {"AVX2", 32}, {"AVX512", 64}};

/* Operations of an instruction on one number, averaged over the mix; 1 for those that are not here. */
static const struct {
	const char *access;
	double operations;
} mixes[] = {{"FMA", 2}, {"FMA_ADD", 3.0 / 2}, {"FMA_FMA_ADD", 5.0 / 3}};

/* Numbers in a register. 0: these are no floating point operations, so nothing is known. */
static int
numbers_of(const struct peak *peak)
{
	bool is_double = strcmp(peak->operation, "doublePrecisionFlop") == 0;

	if (strcmp(peak->instruction_set, "X87") == 0)
		return 1;
	if (!is_double && strcmp(peak->operation, "singlePrecisionFlop") != 0)
		return 0;
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		if (strcmp(registers[i].instruction_set, peak->instruction_set) == 0)
			return registers[i].bytes / (is_double ? 8 : 4);
	return 1;
}

static double
operations_of(const char *access)
{
	for (size_t i = 0; i < sizeof(mixes) / sizeof(*mixes); i++)
		if (strcmp(mixes[i].access, access) == 0)
			return mixes[i].operations;
	return 1;
}

/* 0: it has none. */
static int
nr_chains(const struct peak *peak)
{
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		if (strcmp(peak->variant[i].name, "dlp") == 0)
			return peak->variant[i].value;
	return 0;
}

/* A reader must not take for the machine's what is the search's. */
static const char *
unknown_cause(const struct peak *peak)
{
	return strcmp(peak->search, "quick") == 0
		       ? "below what the documents allow: a quick search tries few variants, 'rot peaks' tries more"
		       : "below what the documents allow, for a reason that is not known";
}

static void
set_remark(struct pool *pool, struct peak *peak, const struct architecture_limit *limit)
{
	bool is_cause =
		limit->cause[0] && (limit->cause_below_chains == 0 || nr_chains(peak) < limit->cause_below_chains);

	if (peak->per_cycle.value > (1 + LIMIT_EXCEEDED) * peak->limit_per_cycle)
		peak->remark = "above what the documents allow: the clock was misread, or they are; not to be believed";
	else if (!(peak->remark && peak->remark[0]) &&
		 peak->per_cycle.value < (1 - LIMIT_NOTABLE) * peak->limit_per_cycle)
		peak->remark = pool_strdup(pool, is_cause ? limit->cause : unknown_cause(peak));
}

/* NULL: none. *factor: operations or bytes of what the limit counts. */
static const struct architecture_limit *
find_limit(const struct peak *peak, const struct architecture *architecture, int model, double *factor)
{
	*factor = peak->kind == PEAK_PERFORMANCE ? numbers_of(peak) * operations_of(peak->access)
		  : peak->kind == PEAK_BANDWIDTH ? 1
						 : 0;
	return *factor > 0 ? architecture_limit(architecture, model, peak->kind == PEAK_PERFORMANCE ? "" : peak->border,
						peak->access, peak->instruction_set)
			   : NULL;
}

double
peak_limit(const struct peak *peak, const struct architecture *architecture, int model)
{
	double factor;
	const struct architecture_limit *limit = find_limit(peak, architecture, model, &factor);

	return limit ? limit->per_cycle * factor : NAN;
}

void
peak_set_limit(struct pool *pool, struct peak *peak, const struct architecture *architecture, int model)
{
	double factor;
	const struct architecture_limit *limit = find_limit(peak, architecture, model, &factor);

	peak->limit_source = pool_strdup(pool, limit ? limit->source : "");
	peak->limit_per_cycle = limit ? limit->per_cycle * factor : NAN;
	if (limit)
		set_remark(pool, peak, limit);
}

void
peak_set_memory_limit(struct peak *peak, double bytes_per_second)
{
	if (!(bytes_per_second > 0) || !peak_is_of_memory(peak))
		return;
	peak->limit_per_cycle =
		bytes_per_second / peak_crossing_bytes(peak) / peak->clock_hz / (double)peak->nr_threads;
	peak->limit_source = LIMIT_OF_MEMORY;
}

struct architecture *
limits_load(struct rot *rot, struct rot_error *err)
{
	autofree char *folder = rot_format("%s/driver/architectures", rot->paths->data);

	return architecture_load(folder, rot->machine, NULL, err);
}

int
peaks_set_limits(struct rot *rot, struct peak_list *list, struct rot_error *err)
{
	const double memory = 1e9 * configuration_double(rot->configuration, "memoryBandwidth");
	struct architecture *architecture = limits_load(rot, err);

	for (size_t i = 0; architecture && i < list->nr; i++) {
		peak_set_limit(&list->pool, &list->peaks[i], architecture, (int)rot->machine->cpu_model);
		peak_set_memory_limit(&list->peaks[i], memory);
	}
	if (!architecture)
		return -1;
	architecture_delete(architecture);
	return 0;
}
