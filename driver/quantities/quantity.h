/* SPDX-License-Identifier: MIT */
/*
 * Quantities: what a user wants to know of a point, and how it is obtained: events of the architecture, packed into
 * passes, measured, computed per sample, summarised. The thesis' QuantityMeasuringService.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/pool.h"
#include "entities.h"
#include "error.h"
#include "statistics/summary.h"

struct rot;
struct json_t;

/* ---- what is asked for ---- */

/*
 * name        operation         border            clock
 * time                                            coreCycles | referenceCycles | tsc | microSeconds | auto
 * operationCount   doublePrecisionFlop | singlePrecisionFlop | flop (both) | compInstr (x87) | integerOperation |
 *                  instructions
 * transferredBytes              l1l2 | l2l3 | llcRam | disk, each alone (both directions), or with ".read" or ".write"
 * performance      as above                        as above      operations per unit of time
 * throughput                    as above          as above      bytes per unit of time
 * operationalIntensity as above as above                        operations per byte
 * maskedOperations, tlbMisses, contextSwitches, migrations, interrupts, instructions           plain counts
 */
struct quantity_request {
	const char *name;
	const char *operation;   /* or NULL */
	const char *border;      /* or NULL */
	const char *clock;       /* or NULL: the configuration key "clock" */
	double given_operations; /* > 0: use this count instead of measuring; else 0 */
	double given_bytes;      /* likewise */
};

/*
 * name[:operation][:border][:clock], the words in any order: "performance:doublePrecisionFlop",
 * "throughput:llcRam.read:tsc", "operationalIntensity:doublePrecisionFlop:llcRam", "time". Errors suggest the nearest
 * word or list what is missing. Strings of the request are static.
 */
int quantity_parse(struct quantity_request *request, const char *text, struct rot_error *err);

/* One row per quantity that can be asked for, for "rot list quantities": name, what it is, whether and how this machine
 * measures it. */
struct quantity_offer {
	const char *name, *of, *unit, *description;
	const char *kind;   /* "measured", "modelled", "expected" (cannot be measured here), "unavailable" (nor known in
			       advance) */
	const char *source; /* events or formula; "" if none */
	const char *grade;  /* "A".."F" after validation; "" if not validated, or not counted */
	const char *reason; /* why it is neither measured nor modelled; else "" */
	const char *advice; /* what would change that, if anything is known; else "" */
	bool may_be_stepped; /* of kernels, where quantity_effort.may_step permits it; as counting=auto */
};
size_t
quantity_offers(struct rot *rot, struct quantity_offer **offers); /* caller frees the array, which holds the strings */

/* Each member is one of the JSON. New reference. */
struct json_t *quantity_offer_json(const struct quantity_offer *offer);

/* ---- what is given back ---- */

/* Why a sample was left out; bits. */
enum sample_taint {
	TAINT_CONTEXT_SWITCH = 1 << 0,
	TAINT_MIGRATION = 1 << 1,
	TAINT_MAJOR_FAULT = 1 << 2,
	TAINT_MULTIPLEXED = 1 << 3,
	TAINT_OVERFLOW = 1 << 4,
	TAINT_UNMEASURED_THREAD = 1 << 5,
	TAINT_CLOCK = 1 << 6,       /* the core clock before and after differ by more than 1 % */
	TAINT_STEAL = 1 << 7,       /* a hypervisor ran something else for at least 1 % of the time */
	TAINT_BROKEN_RULE = 1 << 8, /* its counts break a rule that those of most runs keep (invariants.h) */
	TAINT_BACKGROUND = 1 << 9,  /* of what was counted of the whole machine, more than a tenth was of others */
};

/* Taints that the system caused; the others are faults of the measurement itself. */
#define TAINTS_OF_SYSTEM (TAINT_CONTEXT_SWITCH | TAINT_MIGRATION | TAINT_MAJOR_FAULT | TAINT_CLOCK | TAINT_STEAL)

/* Names of the causes: "contextSwitch, migration"; fresh memory. */
char *sample_taints_text(unsigned taints);

/*
 * Counts of an empty region that is started and stopped by the same measurers: they are within every value, and nothing
 * of them is taken off. A ratio has those of the numerator (top) and the denominator (bottom), each in its own unit
 * (wall time: us). NaN for a part that was not measured.
 */
struct quantity_own_cost {
	bool is_known;
	double top, bottom;
	double top_share, bottom_share; /* of what was measured; NaN where that is 0 as well */
};

/* A rule that the value, or some of its runs, break although every sound one keeps it (invariants.h). */
struct quantity_breach {
	const char *rule;    /* static: "passesAgree", ..., as invariants.h names them                       */
	const char *text;    /* with both numbers                                                            */
	double found, bound; /* in base units; of runs: of the first of them                                 */
	size_t nr_runs;      /* that break it alone, and are left out; 0: the value does                     */
};

/* The least and most that a PingPongMeasurer told, before and after the runs that a sample is of; 0: not told. */
struct nearness {
	double line_ns_min, line_ns_max;   /* of a cache line from one CPU to the other */
	double slowdown_min, slowdown_max; /* of one by the other: 2 on one core, 1 on two */
};

struct quantity_value {
	struct quantity_request request; /* strings are static; clock is the one used */
	struct pool pool;                /* of its texts, unless these are borrowed */
	const char *name;                /* "operationCount" */
	const char *of;           /* "doublePrecisionFlop", "llcRam.read", "doublePrecisionFlop/llcRam", "coreCycles" */
	const char *unit;         /* "flop", "byte", "flop/cycle", "flop/byte", "us"... */
	const char *kind;         /* "measured", "modelled", "expected", "given"; the weakest of its parts */
	const char *source;       /* events: "r8f03 + raf03"; or "kernel definition" */
	const char *grade;        /* "A".."F" after validation; "" if not validated on this machine */
	const char *why_expected; /* what kept steps from counting a part of it; static, "": nothing did */
	double expected;          /* what the kernel's definition says; NaN if it says nothing */
	double compulsory;  /* of bytes: what goes across if each datum does once; of an intensity: that of these bytes;
			       0: not known */
	bool goes_round;    /* of bytes: those of stores that go round caches nearer to the core are in it */
	bool is_of_machine; /* a part was counted for the whole machine */
	struct quantity_own_cost own_cost;
	struct quantity_breach *breaches;
	size_t nr_breaches;
	struct summary summary;
	double *samples;      /* one per run, also tainted ones; NULL if nothing was measured */
	unsigned *taints;     /* enum sample_taint bits per sample, same length */
	unsigned kept_taints; /* of these, those that are no reason to leave a run out */
	size_t *starts;       /* which start of the core (of a program: of itself) each sample is of, same length */
	size_t nr_samples;
	const char *runs_end; /* NULL or "": as many undisturbed runs as were asked for; else why there are no more:
				 "disturbed" (too many were), "budget", and with a precision "narrow", "most",
				 "noInterval" */

	/* With several workloads, each with its own measurers: the samples of each, [nr_threads][nr_samples]; else
	 * NULL. */
	double *thread_samples;
	size_t nr_threads;

	/* Per sample, if the measurement has a PingPongMeasurer in its overall set (roof/modes.h). Else NULL. */
	struct nearness *nearness;
};

void quantity_value_clear(struct quantity_value *value);
void quantity_values_clear(struct quantity_value *values, size_t nr);

/* The best undisturbed run of a rate. */
double quantity_best_run(const struct quantity_value *value);

/* The rate that a quarter of the undisturbed runs reach, as peaks are given (roof/peak_samples.h). */
double quantity_upper_quartile(const struct quantity_value *value);

/* Every run was disturbed: the value is of runs that would be left out if there were others. */
bool quantity_is_of_tainted(const struct quantity_value *value);

/* Is it of one run alone, of which each instruction was counted (architectures/blocks.xml, steps.xml), and of no time?
 */
bool quantity_is_counted_once(const struct quantity_value *value);

/*
 * Measures the requests on the measurement (its workloads have kernels and no measurer sets; it is cloned, not changed)
 * with nr_runs runs per pass. values has nr_requests elements and is filled; clear each. What cannot be measured here
 * comes from the kernel's expectation, labelled (it is not stepped unless that was asked for); neither possible: error.
 * All that the results say of themselves is added to origin (engine/origin.h; NULL: to none).
 */
int quantities_measure(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		       size_t nr_requests, int nr_runs, struct quantity_value *values, struct json_t *origin,
		       struct rot_error *err);

/* How often a point is measured. */
struct quantity_effort {
	int nr_runs;          /* undisturbed ones that are wanted; not looked at with a precision */
	double precision;     /* 0: none; else intervals of times and rates shall be within this share of the value */
	double budget_s;      /* no runs are added that take longer than this together */
	int nr_starts;        /* of the core, over which those that are missing are spread; 0: one */
	bool keeps_disturbed; /* runs that the system disturbed are wanted as well: they are in the values and are not
				 repeated */
	bool wants_own_cost;  /* also measure an empty region, once for each group of measurers (own_cost.h) */
	bool only_measures;   /* values stay empty: the runs are there when the same is measured next */
	bool may_step;        /* what no event counts may be stepped, where nobody asked for that (counting=auto) */
};

/* All that is told of a point beside its values; owned by the caller. */
struct quantities_told {
	struct json_t *origin; /* engine/origin.h */
	struct json_t *rules;  /* what measurer sets of the measurement's rules gave (pass.h); NULL: there are none */
	struct json_t *passes; /* of each pass when its runs were measured (quantities/pass.h) */
};

void quantities_told_clear(struct quantities_told *told);

/*
 * The same as quantities_measure, but repeats disturbed runs (up to a limit: effort.h), or adds as many as the
 * precision needs. Samples hold all of them; runs_end of the values says how it ended. What was added is kept if adding
 * more is interrupted, or impossible with rot->is_cached_only. told (may be NULL) is filled; clear it. After an error,
 * and with only_measures, it is zeroed.
 */
int
quantities_measure_with(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
			size_t nr_requests, const struct quantity_effort *effort, struct quantity_value *values,
			struct quantities_told *told, struct rot_error *err);

/*
 * Needs of measuring these: passes over the measurement, and what of them is missing. Nothing is built or
 * measured. core_key: "" if the core is built.
 */
struct quantities_need {
	size_t nr_passes;
	long nr_runs, nr_runs_missing; /* of all passes */
	double steps_s;                /* that stepping through the missing runs takes, about */
	char core_key[65];
};
int quantities_look(struct rot *rot, const struct measurement *measurement, const struct quantity_request *requests,
		    size_t nr_requests, int nr_runs, struct quantities_need *need, struct rot_error *err);

/* The element of "quantities" in OUTPUT.json (design: schema rot.result/1). New reference. */
struct json_t *quantity_value_json(const struct quantity_value *value);

/*
 * The same read back: name, clock, unit, kind, source, grade and summary; no samples. Its texts are those of the JSON:
 * it is not cleared. -1: it is none that this rot knows, or it has no value.
 */
int stored_value(const struct json_t *json, struct quantity_value *value);

/* The words of the quantity, as quantity_parse reads them: "performance:flop:microSeconds". Fresh memory. */
char *stored_value_words(const struct json_t *json);

/* The quantity of a point of OUTPUT.json whose name_of (fresh memory) is that name; NULL: it has none. */
const struct json_t *
stored_quantity(const struct json_t *point, char *(*name_of)(const struct json_t *json), const char *name);
