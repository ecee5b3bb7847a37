/* SPDX-License-Identifier: MIT */
/*
 * Measured sizes of this machine's caches (roof/levels.h) are kept in the cache folder, so that they cost once and stay
 * the same. They go into descriptions of measurements, which would all be new if they wavered. Reading measures
 * nothing.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entities.h"
#include "error.h"
#include "machine/caches.h"

struct measured_level {
	int64_t bytes; /* size: half of the accesses to a footprint of it miss; of a last level, which others may
			  share, the most of a larger buffer that stays; 0: memory */
	int64_t fitting_bytes; /* the largest footprint of which at most a tenth miss; 0: memory */
	double ns, cycles;     /* of an access that waits for the one before; cycles NaN: unknown */
};

#define MEASURED_LEVELS_MAX 6

/* When and under which conditions something was measured. */
struct measured_when {
	char created[32];   /* ISO 8601, UTC */
	char found_on[512]; /* conditions.h, as JSON; "": not known */
};

/* Fields of the kernel Operation, and what it told: core cycles, and instructions a cycle of independent chains. */
struct measured_operation {
	char operation[12], instruction_set[8], precision[8];
	double latency, per_cycle;
};

#define MEASURED_OPERATIONS_MAX 192

/* One look at the last level saw this, at least. */
struct measured_run {
	struct measured_when when;
	int64_t bytes, fitting_bytes; /* as in measured_level */
};

#define MEASURED_RUNS_MAX 8
#define MEASURED_DOUBT_SIZE 96

/* From the first level to memory. nr 0: nothing is known. */
struct measured_levels {
	struct measured_level levels[MEASURED_LEVELS_MAX];
	size_t nr;
	bool is_steady; /* both halves of the chases told the same sizes; else others used the machine */
	struct {
		int64_t low_bytes, high_bytes;       /* from moment to moment; 0: nobody looked */
		double seconds;                      /* of looking */
		char doubt[MEASURED_DOUBT_SIZE];     /* why its size is not sure; "": it is, or nobody looked */
		char run_doubt[MEASURED_DOUBT_SIZE]; /* why the last run saw nothing; "": it is the last of these */
		struct measured_run runs[MEASURED_RUNS_MAX]; /* the last ones; the size is the most of them */
		size_t nr_runs;
	} last_level; /* that others may share */
	struct measured_when when;
	int64_t line_bytes, l1_ways,
		tlb_entries; /* of the first level; by rot machine, where it was sure; 0: unknown */
	struct measured_operation operations[MEASURED_OPERATIONS_MAX]; /* by rot machine */
	size_t nr_operations;
	struct measured_when operations_when;
};

/*
 * Loads and stores the levels of this machine (processor and hypervisor). Nothing kept, or a file that cannot be
 * understood, is no error: nr 0.
 */
void measured_levels_load(struct measured_levels *levels, const char *cache_folder, const struct machine *machine);
int measured_levels_store(const struct measured_levels *levels, const char *cache_folder, const struct machine *machine,
			  struct rot_error *err);

/* On that day (ISO 8601, UTC), on this machine as it is: results of other conditions are not taken from the cache. */
struct measured_when measured_on(const struct machine *machine, const char *date);

/* Conditions that changed since then: "kernel 6.1, now 6.12, 200 days old"; "": nothing that is known. Fresh memory. */
char *measured_changes(const struct measured_when *when, const struct machine *machine);

/* NULL: not measured. */
const struct measured_operation *measured_operation_of(const struct measured_levels *levels, const char *operation,
						       const char *precision, const char *instruction_set);

/* Are all levels sure? */
bool measured_levels_are_sure(const struct measured_levels *levels);

/* Adds what was seen at that time, once. Runs of other conditions than now, and the oldest of too many, go. bytes 0:
 * nothing to add. */
void
measured_runs_update(struct measured_levels *levels, const struct measured_run *run, const struct machine *machine);

/* "created" and "foundOn" of an object. */
struct measured_when measured_when_read(const json_t *json);

/* The levels as they are kept: schema rot.levels/1. New reference. */
json_t *measured_levels_json(const struct measured_levels *levels, const struct machine *machine);

/* Which measured level is that of the machine's L1, L2 or last cache (0 to 2), whether its size was told or not; NULL:
 * none can be it. */
const struct measured_level *
measured_level_of(const struct measured_levels *levels, const struct machine *machine, int cache);

/* Sizes, and a line, that nobody told become the measured ones; sizes with the source "measured". */
void machine_take_measured(struct machine *machine, const struct measured_levels *levels);

/* All sizes become the measured ones, told or not; 0: not measured; a measured line likewise. Sources stay. */
void machine_replace_sizes(struct machine *machine, const struct measured_levels *levels);

/* tlb_parse, but "measured" is what was measured, with one set and pages of 4 KiB. levels may be NULL. */
int measured_tlb_parse(const char *text, const struct measured_levels *levels, struct tlb_shape *tlb,
		       struct rot_error *err);

/* "AuthenticAMD-26-2-1-KVM": a name for files that are of machines of one kind. Fresh memory. */
char *machine_file_name(const struct machine *machine);
