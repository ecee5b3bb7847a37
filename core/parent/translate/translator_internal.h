/* SPDX-License-Identifier: MIT */
/* Shared by translator.c and visits.c. */
#pragma once

#include "parent/symbols/frames.h"
#include "parent/translate/edges.h"
#include "parent/translate/foreseen.h"
#include "parent/translate/stream.h"
#include "parent/translate/translate.h"
#include "parent/translate/translator.h"

/*
 * An address space, which threads share, and processes made by vfork. cache: also of processes that were forked.
 * program: what is known of what it executes; NULL: nothing can be
 * counted: as of struct translator_options
 */
struct address_space {
	struct counted_code *counted;
	struct foreseen_program *program;
	struct code_cache *cache;
	struct code_range *ranges;
	size_t nr_ranges;
	unsigned nr_users; /* threads, and those that are expected */
	uint32_t number;
	bool is_stale;      /* its code may have changed */
	bool has_sequences; /* some thread has registered restartable sequences, so new ones have to, too */
};

/* Counts of a thread, or of a part of what it has executed. nr_unknown: instructions of which it is not known what they
 * do; unknown_at: the first of them. */
struct totals {
	int64_t counts[STEP_NR_COUNTS];
	uint64_t nr_unknown, unknown_at;
};

/* Counters of a thread while it is in some regions, a bit each. counts: what was counted there in other ways */
struct bank {
	int64_t number; /* of its area */
	uint64_t regions;
	int64_t counts[STEP_NR_COUNTS];
};

/*
 * A thread's visits to a region, less what its struct visit has.
 * counts: of banks that are gone, less what was abandoned; behind STEP_NR_COUNTS uses as of reuse_move
 * nr_outermost: beginnings outside of itself. is_measured: those since the last stop are.
 * nr_free: as the visit had it then
 * has_before: of the frame that is open: counts_before and inner_before are from when it began
 * nr_mixed: abandoned frames whose counts could not be taken away; nr_cut: those that the end has abandoned, likewise
 * inner: of FRAMES_LOOP, the frames within the outermost one
 */
#define NR_VISIT_COUNTS (STEP_NR_COUNTS + REUSE_NR + 1)
struct visits {
	int64_t hits, nr_outermost, measured_hits, team_hits, inner_hits, abandoned_hits, nr_mixed, nr_cut;
	uint64_t nr_free;
	bool is_measured, has_before;
	int64_t counts[NR_VISIT_COUNTS], counts_before[NR_VISIT_COUNTS], inner_before;
	struct frames inner;
};

/*
 * A handler that interrupts an instruction with edges in front of it, which were passed: when it returns they are not
 * passed again. frame: what the kernel has put onto the stack for it; 0: none
 */
struct fault {
	uint64_t frame, address;
};
#define FAULTS_KEPT 16 /* handlers within handlers */

/*
 * space: NULL before its first pause, and when it is not followed (is_native); of a thread that has left, still its own
 * begins: its process executes another program, and has not paused yet
 * stream: what it records; NULL: nothing is recorded
 * banks: the first is its area; bank: the number of the one it counts in. visits: of each region
 * edges: to be set when it has a space
 * fault_at: it enters a handler that was called from behind edges at this address, or 0; faults: the last of these
 * own_gs: what the program believes its gs base to be
 * is_stepping: a single step that was asked for has not been told of yet; it is from stepped_from
 * sets_traps: the set of the call has SIGTRAP
 * trap_waits: a SIGTRAP was sent that the program believes to be blocked
 * call: a system call that is being made and will be concluded (by stepped_from), and its arguments; -1: none
 */
struct translated {
	struct address_space *space;
	int64_t area;
	struct stream_thread *stream;
	uint64_t own_gs, fs_base, stepped_from;
	bool begins, is_native, is_stepping, executes_own;
	bool blocks_traps, sets_traps, trap_waits, enters_handler;
	bool is_traced;  /* by itself: its trap flag was set before the handler */
	bool is_at_trap; /* it has left at a trap that is none of ours */
	int64_t call;
	uint64_t arguments[3];
	struct bank *banks;
	size_t nr_banks, bank;
	struct visits *visits;
	bool has_ended_visits;
	struct edge *edges;
	size_t nr_edges;
	uint64_t fault_at;
	struct fault faults[FAULTS_KEPT];
	unsigned nr_faults;
	struct totals totals, before;
};

/* A thread or process that was announced by who made it. */
struct expected {
	pid_t tid;
	struct address_space *space;
	struct expected *next;
};

/* The address space of a process that has been in a region, as long as it lives. */
struct kept {
	pid_t pid;
	struct address_space *space;
	struct kept *next;
};

/*
 * stream: NULL: addresses are not recorded. foreseen: NULL: nothing is.
 * is_of_regions: threads enter and leave, and traps may be of others
 * rules: of nr_regions regions of a program; are_abandoned: by some thread, a bit each
 * why_incomplete: why regions are not counted; "": they are
 */
struct translator {
	struct tracer *tracer;
	bool is_of_regions;
	const struct frames_rule *rules;
	size_t nr_regions;
	uint64_t are_abandoned;
	struct rot_error why_incomplete;
	struct stream *stream;
	struct counted_code *counted;
	bool counts_trips; /* as of struct translator_options */
	struct data *data;
	struct foreseen *foreseen;
	uint32_t nr_spaces;
	struct kept *kept;
	struct expected *expected;
	pid_t last_tid; /* for which code was translated last */
	uint64_t nr_unknown, nr_native_steps, nr_native_processes;
	uint64_t nr_missed_processes; /* in a visit, made by threads that were not translated yet */
	bool is_checked, is_refused;  /* of the process that is visited: whether it may be translated was looked at */
	char first_unknown[128];
	struct rot_error why_native;
};

/* ---- translator.c ---- */

/* Adds what the counters of a bank have. */
void translator_add_counters(const struct translated *translated, int64_t bank, struct totals *totals);

/* ---- visits.c ---- */

/* begin: a thread has got its area. end: it gives that back, and what it did in regions is kept. */
void visits_begin(struct translator *translator, struct translated *translated);
void visits_end(struct translator *translator, struct thread *thread);
void visits_clear(struct translator *translator, struct translated *translated);

/* The gs base is that of the bank in which the thread counts now. */
void visits_follow(struct translated *translated, uint64_t gs_base);

/* The stopped thread is at an edge of a region, with these registers, whose gs base may change. */
void visits_pass(struct translator *translator, struct thread *thread, const struct edge *edge,
		 struct user_regs_struct *registers);
