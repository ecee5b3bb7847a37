/* SPDX-License-Identifier: MIT */
/*
 * Counts what the threads of traced programs execute by translating their code: each executes a copy that counts its
 * basic blocks, at nearly its own speed, and stops only where something is missing.
 *
 * A thread's registers are those of the program whenever somebody can see them: before a signal is delivered, and when
 * it is let go. What cannot be translated is executed natively, instruction by instruction.
 */
#pragma once

#include <sys/user.h>

#include "common/step_counts.h"
#include "parent/profile/counted_code.h"
#include "parent/profile/data.h"
#include "parent/stepping/reuse.h"
#include "parent/symbols/frames.h"
#include "parent/tracer/tracer.h"

struct misses;
struct sharing;
struct translator;
struct what_ifs;

/*
 * caches: those that are to be modelled; NULL: none, which is several times as fast
 * has_pages: translations of addresses, too
 * sampling, has_curve, has_kinds, what_ifs: as of stream_new
 * counted: where functions are counted, borrowed; NULL: they are not
 * counts_trips: of loops also how many turns their entries made, as of struct found
 * data: as of stream_new; what is mapped is looked at, and where stacks are
 * foreseen: folder where it is kept what programs execute (foreseen.h); NULL: nothing is
 * regions: which hits of each are counted, nr_regions of them (kind is not used), borrowed
 */
struct translator_options {
	const struct step_caches *caches;
	bool has_pages, has_curve, has_kinds;
	const struct step_caches *what_ifs;
	size_t nr_what_ifs;
	unsigned sampling;
	struct counted_code *counted;
	bool counts_trips;
	struct data *data;
	const char *foreseen;
	const struct frames_rule *regions;
	size_t nr_regions;
};

/* Follows the threads of the tracer, which is borrowed. */
struct translator *translator_new(struct tracer *tracer, const struct translator_options *options);
void translator_delete(struct translator *translator);

/* For the tracer's callbacks of these names. NULL translator: nothing is done. */
void translator_started(struct translator *translator, struct thread *thread);
void translator_created(struct translator *translator, struct thread *thread, pid_t child);
void translator_executed(struct translator *translator, struct thread *thread);
void translator_exited(struct translator *translator, struct thread *thread);
enum tracer_answer translator_stopped(struct translator *translator, const struct tracer_stop *stop);
enum tracer_answer translator_leaving(struct translator *translator, const struct tracer_stop *stop);

/*
 * Counts of a thread so far; exact once it has ended or is stopped outside of a block. False: nothing of it was
 * translated, and counts are 0.
 */
bool translator_read(const struct thread *thread, uint64_t counts[STEP_NR_COUNTS]);

/*
 * ---- regions of a program that is translated as a whole ----
 *
 * Edges are places where one begins or ends (edges.h), or where the thread stops and somebody is told, in the
 * process of a stopped thread. set: -1: it cannot be counted. lift: also if it is not there.
 */
struct edge;
int translator_set_edge(struct translator *translator, struct thread *thread, const struct edge *edge,
			struct rot_error *err);
void translator_lift_edge(struct translator *translator, struct thread *thread, const struct edge *edge);

/*
 * The thread's visits to a region since the last call, or since it began; open frames are abandoned. It has
 * ended or executes another program. nr_mixed: of the abandoned hits, those whose counts are among the others;
 * nr_cut: of those that were open at the end, likewise. by_capacity: with a curve, uses as of reuse_move.
 */
struct translated_visits {
	int64_t hits, measured_hits, team_hits, inner_hits, abandoned_hits, nr_mixed, nr_cut;
	uint64_t counts[STEP_NR_COUNTS], by_capacity[REUSE_NR + 1];
};
void translator_take_visits(struct translator *translator, struct thread *thread, size_t region,
			    struct translated_visits *visits);

/* Does the process of the thread have an edge of that kind and user at that address? */
bool translator_has_edge(const struct thread *thread, uint64_t address, const struct edge *edge);

/* Calls that are to return to that address stop at no EDGE_CALL of the process any more. */
void translator_know_caller(const struct thread *thread, uint64_t address);

/* Looks at what is mapped in the process of a thread, where data is asked for. */
void translator_look_for_data(const struct translator *translator, const struct thread *thread);

/* Puts an object (data.h) from start to end for all that threads of the process do from now on. thread is stopped. */
void translator_put_object(struct thread *thread, uint64_t start, uint64_t end, uint32_t object);

/* Why regions were not counted, or not wholly; "": they were. */
const char *translator_why_incomplete(const struct translator *translator);

/* For the loop's idle: translates a little of what threads may come to. NULL translator: nothing. */
bool translator_idle(struct translator *translator);

/*
 * ---- regions: threads are translated for a while, and go on by themselves else ----
 *
 * new_of_regions: for regions like this one; threads that are started in one are in it as well. What is not its own
 * trap is left to others: the thread is at an original address then, and goes on translated after translator_follow,
 * with the answer to that stop.
 */
struct translator *translator_new_of_regions(struct tracer *tracer, const struct step_region *region);

/* Other objects may have been mapped in the thread's process since it was translated last. */
void translator_look_for_code(struct thread *thread);

/*
 * enter: the stopped thread goes on translated, which answers its stop; err->text: it cannot be, and goes on by itself.
 * leave: it goes on by itself. False: it was not translated, or has ended.
 */
enum tracer_answer translator_enter(struct translator *translator, struct thread *thread, struct rot_error *err);
bool translator_leave(struct translator *translator, struct thread *thread);
bool translator_has(const struct thread *thread);
enum tracer_answer
translator_follow(struct translator *translator, struct thread *thread, enum tracer_answer answer, bool is_elsewhere);

/*
 * reset: caches of all threads outside are empty, and as region says.   begin: counts of the thread, which has entered,
 * are from here on.   since: counts and unknown instructions of the region, from then on; the thread is stopped, or has
 * left.   is_at_trap: it has left at a trap that is none of the translator's.   end: that trap is no instruction of it,
 * and it goes on by itself.
 */
void translator_reset(struct translator *translator, const struct step_region *region);
void translator_begin(struct translator *translator, struct thread *thread);
void translator_since(const struct thread *thread, struct step_region *region);
bool translator_is_at_trap(const struct thread *thread);
void translator_end(struct thread *thread);

/* A process that nobody follows stands at its first stop: it goes on in original code. */
void translator_let_go(struct translator *translator, struct thread *thread);

/* All threads have ended: lines of caches are counted by code, as far as that is known. */
void translator_count_lines(struct translator *translator);

/* Some of what was to be counted was not, of any thread; unknown instructions are none of that. */
bool translator_has_lost(const struct translator *translator);

/* See stream_sample_text. */
char *translator_sample_text(const struct translator *translator);

/* Curves and kinds of misses; NULL: not asked for (stream.h). */
const struct process_curves *translator_curves(const struct translator *translator);
const struct cache_kinds *translator_kinds(const struct translator *translator);
const struct what_ifs *translator_what_ifs(const struct translator *translator);

/*
 * All threads have ended: misses by code, object and thread, and lines that threads share. NULL: not asked for. code:
 * where a site of misses is. False: it is not known.
 */
const struct misses *translator_misses(const struct translator *translator);
struct sharing *translator_sharing(const struct translator *translator);
bool translator_code_of(const struct translator *translator, uint32_t site, struct counted_at *code);

/* A sentence about what was not counted, or not wholly; NULL: nothing. Fresh memory. */
char *translator_doubts(const struct translator *translator);
