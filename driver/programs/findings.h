/* SPDX-License-Identifier: MIT */
/*
 * Findings: conditions that the numbers of a program or of its code meet, what follows from them, and what to try.
 * Times of code have intervals: a condition is met if it is all over the interval, so that findings stay from run to
 * run.
 * Those about the measurement come first: they say how far the others can be trusted. One table has all of them; "rot
 * list findings" and the manual page print it. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "quantities/architecture.h"
#include "statistics/summary.h"

/* Counts of code, with the names of events (architectures/blocks.xml). */
#define FINDING_COUNTS(X)                                                                                              \
	X(INSTRUCTIONS, "instructions")                                                                                \
	X(SCALAR_DOUBLE, "scalarDouble")                                                                               \
	X(PACKED_DOUBLE, "packedDouble")                                                                               \
	X(SCALAR_SINGLE, "scalarSingle")                                                                               \
	X(PACKED_SINGLE, "packedSingle")                                                                               \
	X(FLOP_256, "flop256")                                                                                         \
	X(FLOP_512, "flop512")                                                                                         \
	X(SCALAR_INTEGER, "scalarInteger")                                                                             \
	X(PACKED_INTEGER, "packedInteger")                                                                             \
	X(DIVISIONS, "divisions")                                                                                      \
	X(INTEGER_DIVISIONS, "integerDivisions")                                                                       \
	X(CONVERSIONS, "conversions")                                                                                  \
	X(GATHERED, "gatheredBytes")                                                                                   \
	X(MASKED, "maskedFlop")                                                                                        \
	X(X87, "x87")                                                                                                  \
	X(LOADED, "loadedBytes")                                                                                       \
	X(STORED, "storedBytes")                                                                                       \
	X(L1_FILLS, "l1Fills")                                                                                         \
	X(L2_FILLS, "l2Fills")                                                                                         \
	X(MEMORY_READS, "memoryReads")                                                                                 \
	X(SPLITS, "splitAccesses")

#define FINDING_COUNT_NUMBER(name, text) FINDING_##name,
enum finding_count { FINDING_COUNTS(FINDING_COUNT_NUMBER) FINDING_NR_COUNTS };
#undef FINDING_COUNT_NUMBER

/* NULL: there are no more. */
const char *finding_count_name(size_t count);

enum finding_origin { FINDING_L2, FINDING_L3, FINDING_MEMORY, FINDING_NR_ORIGINS };

/*
 * Facts of a function, a loop or a kernel; NaN: not known.
 * share: of the CPU time of all
 * time_ns: CPU time in one run, with its interval
 * counts: in one run
 * vector_bytes: of the widest vectors of this machine
 * line_ns: how long code waits for a line from the L2, the L3 and memory; where that was not measured, what few
 *          processors are faster than
 * peak_share, bandwidth_share: what it reaches of the highest performance, and of the bandwidth of memory, with the
 *          interval of its time
 * chain_share: of its time, how long operations take that need each other's results from turn to turn of its loops
 * chain, chain_ns, turn_ns: of the loop where that is longest, what these are in words (borrowed), how long they take
 *          in a turn, and how long the turn does; "": not known
 * links: of the operations of that chain, if they are all of a kind that is known; per_cycle 0: they are not
 * is_called: that loop calls it
 */
struct finding_code {
	struct summary share, time_ns;
	double counts[FINDING_NR_COUNTS];
	double vector_bytes, line_ns[FINDING_NR_ORIGINS];
	struct summary peak_share, bandwidth_share;
	double chain_share, chain_ns, turn_ns;
	const char *chain;
	struct operation_known links;
	bool is_called;
};

/*
 * Facts of a program and its runs; NaN: not known.
 * wall_s, cpu_s: wall and CPU time of a timed run
 * run_s, wait_s: that threads were on a CPU in it, and waited for one
 * top_error: half of the interval of the largest share
 * unknown_share: of the CPU time, in code that is in no function
 * disturbed_share: of the timed runs, those that the system or the host disturbed
 * nr_ends: different ways in which runs ended
 * spread: of instructions of the counted runs, as that of struct program_agreement
 * kernel_share: of the CPU time
 * waiting_share: of the wall time, without a thread on a CPU
 * voluntary_share: of the context switches, those that a thread asked for
 * imbalance: instructions of the busiest thread over the mean of those that computed at the same time
 */
struct finding_run {
	double wall_s, cpu_s, run_s, wait_s, top_error, unknown_share, disturbed_share, nr_ends, spread;
	double kernel_share, waiting_share, voluntary_share, imbalance;
};

struct miss_conflict;
struct false_sharing;

/* The member that a rule is about is set; others may be NULL. Rules on data have conflict or sharing. */
struct finding_facts {
	const struct finding_code *code;
	const struct finding_run *run;
	const struct miss_conflict *conflict;
	const struct false_sharing *sharing;
};

struct finding_code finding_code_unknown(void);
struct finding_run finding_run_unknown(void);

enum finding_about { FINDING_MEASUREMENT, FINDING_PROGRAM, FINDING_DATA, FINDING_CODE, NR_FINDING_ABOUTS };

/*
 * value: in the unit of the rule's threshold
 * share: of the time that it is about; NaN: of the measurement as a whole, and of data
 * measured, consequence: in words; fresh memory each
 */
struct finding {
	const struct finding_rule *rule;
	double value, share;
	char *measured, *consequence;
};

/* condition: in words, which the threshold follows. applies: fills in all but the rule if it is met. */
struct finding_rule {
	enum finding_about about;
	const char *code, *condition;
	double threshold;
	const char *unit;
	const char *advice;
	bool (*applies)(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding);
};

/* The one behind that one, the first for NULL; NULL: there are no more. Of each kind the most important ones first. */
const struct finding_rule *finding_rule_next(const struct finding_rule *before);

/* "measurement": as results have it. */
const char *finding_about_word(enum finding_about about);

/* "more than 50 %". Fresh memory. */
char *finding_threshold_text(const struct finding_rule *rule);

/* The finding of a rule, if it applies; to be cleared. */
bool finding_make(struct finding *finding, const struct finding_rule *rule, const struct finding_facts *facts);
void finding_clear(struct finding *finding);
