/* SPDX-License-Identifier: MIT */
/*
 * Architectures: how the events of a processor make quantities. One XML file each in driver/architectures/, so a new
 * processor is a new file. Schema: driver/schemas/architecture.rng.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"
#include "entities.h"
#include "error.h"
#include "machine/caches.h"
#include "machine/uncore.h"

/*
 * Needs of an event; a group shape says how many of each it may hold.
 * plain: any counter. large: counts by more than one a cycle and is paired with a second counter (AMD event 0x003).
 * fixed: has a counter of its own. offcore: needs one of the extra offcore response registers besides a counter.
 * low: the first few counters alone count it. machine: counted for the whole machine (machine/uncore.h), in no group.
 */
enum event_class { EVENT_PLAIN, EVENT_LARGE, EVENT_FIXED, EVENT_OFFCORE, EVENT_LOW, EVENT_MACHINE, EVENT_NR_CLASSES };

struct architecture_event {
	char *name;       /* in expressions: $name                */
	char *definition; /* libpfm4 event string; of EVENT_MACHINE as uncore_event_find wants it */
	enum event_class class;
	struct uncore_event uncore; /* of EVENT_MACHINE, as architecture_find_uncore found it */
};

/* A formula needs at most this many events. */
#define FORMULA_MAX_EVENTS 16

struct architecture_formula {
	char *quantity;   /* "operationCount", ...: one of events (vocabulary.h)                                    */
	char *of;         /* "doublePrecisionFlop", "llcRam.read", "coreCycles", ... or ""                          */
	char *kind;       /* "measured" or "modelled"                                                               */
	char *expression; /* expression.h, over the events as variables                                             */
	char *source;     /* the events, for people; and what is not seen                                           */
	size_t events[FORMULA_MAX_EVENTS]; /* indices of the events the expression uses, ascending                   */
	size_t nr_events;
	int line;           /* in the architecture's file */
	bool is_of_machine; /* events of the whole machine are in it */
	bool has_others;    /* and what others cause is not subtracted from them */
	bool goes_round;    /* bytes of stores that go round caches nearer to the core are in it */
	char grade;         /* 'A', 'B', 'C', 'F' where it was validated on this machine (check/validation.h), else 0 */
	bool is_not_shown;  /* validation tried it, but every run was disturbed: no grade */
};

/*
 * One legal group: at most limit[class] events of each class by the file, and proved[class] of those by validation
 * (check/shapes.h), which is what is used; the same where nothing was validated.
 */
struct architecture_group {
	unsigned limit[EVENT_NR_CLASSES], proved[EVENT_NR_CLASSES];
};

/*
 * A limit of the processor's documents in a core cycle: instructions of some classes of arithmetic (border ""), or
 * bytes of some kinds of access across a border. Lists are blank separated; "": all.
 */
struct architecture_limit {
	char *border;
	char *accesses; /* "ADD MUL"; "load" */
	char *instruction_sets;
	char *models;
	double per_cycle;
	char *source;
	char *cause;            /* why the best known loops stay below; "" if they do not, or nobody knows */
	int cause_below_chains; /* it is the cause only where there are fewer independent chains; 0: always */
};

/* An instruction, by the documents. Lists are blank separated; "": all. */
struct architecture_latency {
	char *operations, *precisions, *instruction_sets;
	int cycles;
	int per_cycle; /* of independent ones; 0: not told, or by a limit */
	char *source;
};

/* A buffer of the core, by the documents; kernel CoreBuffer gives its name. */
struct architecture_buffer {
	char *name;
	int entries;
	char *source;
};

/* How regions are stepped. machine: whose caches are modelled, as far as it has sizes; borrowed. NULL: none. */
struct architecture_stepping {
	struct cache_shapes caches;
	uint64_t limit;  /* instructions that a kernel may be expected to execute */
	bool is_unasked; /* nobody asked for steps                                */
	bool counts_tlb; /* programs are asked for misses of the TLB as well      */
};

/* Read only once loaded, but for what validation finds, stepping, and what was warned of. */
struct architecture {
	struct pool pool; /* of all below but the other architectures */
	char *name;       /* "zen5", "generic", "none", "steps", "blocks"                           */
	char *title;      /* "AMD Zen 5 (EPYC Turin)"                                               */
	char *path;
	bool counts_by_steps;                  /* events are those of steps, and need no counters   */
	struct architecture_stepping stepping; /* only then                                                */
	struct architecture *of_programs;      /* only then: what counts programs instead; owned, or NULL  */
	struct architecture *by_blocks;        /* counts whole programs that rot starts instead; owned, or NULL */
	struct architecture *by_events;        /* where counts are by blocks: has what events count; owned, or NULL */
	struct architecture *by_steps;         /* counts points of experiments instead; owned, or NULL */
	struct architecture *beside;           /* counts of points what no event counts; owned, or NULL */
	int nominal_counters; /* what the processor has                                                 */
	int usable_counters;  /* what a group may use                                                   */
	int counter_bits;     /* counts are taken modulo 2^counter_bits; 0: as they are                 */
	char *scrub_event;    /* junk event that clears poisoned counters before each run; "" if none   */
	int scrub_count;
	struct architecture_event *events;
	size_t nr_events;
	struct architecture_group *groups;
	size_t nr_groups;
	struct architecture_formula *formulas; /* in order of preference                                     */
	size_t nr_formulas;
	struct architecture_formula *refused; /* those whose events of the machine cannot be counted here            */
	size_t nr_refused;
	struct rot_error why_refused;      /* the last reason, with the hint; empty text: there is none           */
	bool is_forbidden;                 /* they are there, but this process may not count them */
	struct architecture_limit *limits; /* the first that fits holds */
	size_t nr_limits;
	struct architecture_latency *latencies; /* likewise */
	size_t nr_latencies;
	struct architecture_buffer *buffers;
	size_t nr_buffers;
	size_t *riders; /* events that are put into every pass that has room, in this order        */
	size_t nr_riders;
	size_t *company;          /* of each rider an event without which it does not ride; nr_events: none */
	char probed_grade;        /* of core cycles as the clock probe tells them, as architecture_formula.grade */
	bool is_probe_not_shown;  /* of the same, as architecture_formula.is_not_shown */
	struct rot_error why_not; /* why events cannot be counted, with the hint; empty text if they can, or steps were
				     asked for */
	bool has_warned;          /* why_not was said                                                       */
	unsigned warned_steps;    /* bits 1 << enum step_obstacle (resolve.h): that was said                 */
	bool cannot_step;         /* the core may not step here, as it said                                  */
};

/*
 * The architecture of the machine, from the XML files in folder (the schema is ../schemas/architecture.rng). why_not is
 * NULL when events can be counted (machine_can_count), else what machine_can_count said: then the architecture is
 * "none" and keeps it. A CPU that no file names gets "generic". NULL on error (file and line). Free with
 * architecture_delete.
 */
struct architecture *architecture_load(const char *folder, const struct machine *machine,
				       const struct rot_error *why_not, struct rot_error *err);

/*
 * "steps": counting by steps on any machine, whose caches are modelled as machine says when they are needed,
 * with these ways; machine is borrowed. why_no_program says why programs are not counted so; NULL: no programs are
 * asked for. NULL on error.
 */
struct architecture *architecture_load_steps(const char *folder, const struct architecture_stepping *stepping,
					     const struct rot_error *why_no_program, struct rot_error *err);

/*
 * "blocks": counting whole programs by translating them, on any machine; of stepping its caches and is_unasked are
 * taken. NULL on error.
 */
struct architecture *
architecture_load_blocks(const char *folder, const struct architecture_stepping *stepping, struct rot_error *err);

/*
 * Finds the events of the whole machine below root ("/", or a recorded machine), and tries whether they may be counted
 * if is_tried. Formulas over others are refused from then on; an architecture that was just read has all.
 */
void architecture_find_uncore(struct architecture *architecture, const char *root, bool is_tried);

/* Why the quantity has no formula although the file has one; NULL: it has none. */
const struct rot_error *
architecture_refusal(const struct architecture *architecture, const char *quantity, const char *of);

/* One file, whatever the machine; architecture_load is made of this. */
struct architecture *architecture_read(const char *path, const char *schema, struct rot_error *err);

void architecture_delete(struct architecture *architecture);

/*
 * The formula of a quantity, or NULL: the first of those with the best grade; without one that passed, the first that
 * was not validated; else the first. of: "" for plain counts.
 */
const struct architecture_formula *
architecture_formula(const struct architecture *architecture, const char *quantity, const char *of);

/* The same of those that count threads, not the whole machine. */
const struct architecture_formula *
architecture_formula_of_threads(const struct architecture *architecture, const char *quantity, const char *of);

/* No file describes the processor: it has what any has. */
bool architecture_is_generic(const struct architecture *architecture);

/* Said of operations and bytes that no event counts: where there are none at all, and where there are others. */
#define STEPS_ADVICE                                                                                                   \
	"-counting=auto counts kernels and programs without events, -counting=steps also regions of programs"
#define STEPS_ADVICE_BESIDE_EVENTS "-counting=steps counts kernels, and regions of programs, without events"

/* The one of these that holds; NULL where steps are counted already. */
const char *architecture_steps_advice(const struct architecture *architecture);

/*
 * Advice for what is not counted: the hint of why_not, and, if steps can count it, to use them.
 * Fresh memory; "": nothing is known.
 */
char *architecture_advice(const struct architecture *architecture, bool can_step);

/* The limit of that access on a CPU of that model: across the border, or of arithmetic where it is "". NULL: none is
 * known. */
const struct architecture_limit *
architecture_limit(const struct architecture *architecture, int model, const char *border, const char *access,
		   const char *instruction_set);

/* NULL: nothing is known. */
const struct architecture_latency *architecture_latency(const struct architecture *architecture, const char *operation,
							const char *precision, const char *instruction_set);

/* NaN: nothing is known. */
double architecture_buffer_entries(const struct architecture *architecture, const char *buffer);

struct rot;

struct operation_known {
	double latency;   /* core cycles; 0: not known */
	double per_cycle; /* of independent ones; 0: not known */
	char source[64];  /* "measured 2026-11-27", "documents of the processor"; "": not known */
};

/* The operation as rot machine measured it, else by the processor's documents. Fields of the kernel Operation. */
struct operation_known
operation_known(const struct rot *rot, const char *operation, const char *precision, const char *instruction_set);
