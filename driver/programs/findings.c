/* SPDX-License-Identifier: MIT */
/* See findings.h. A condition with a number that is not known (NaN) is not met. */
#include "programs/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "entities.h"
#include "memory.h"
#include "number.h"

static const char *const count_names[] = {
#define FINDING_COUNT_NAME(name, text) text,
	FINDING_COUNTS(FINDING_COUNT_NAME)
#undef FINDING_COUNT_NAME
};

const char *
finding_count_name(size_t count)
{
	return count < FINDING_NR_COUNTS ? count_names[count] : NULL;
}

struct finding_code
finding_code_unknown(void)
{
	struct finding_code code = {.share = summary_empty(),
				    .time_ns = summary_empty(),
				    .vector_bytes = NAN,
				    .line_ns = {2.5, 8, 50},
				    .peak_share = summary_empty(),
				    .bandwidth_share = summary_empty(),
				    .chain_share = NAN,
				    .chain_ns = NAN,
				    .turn_ns = NAN,
				    .chain = ""};

	for (size_t i = 0; i < FINDING_NR_COUNTS; i++)
		code.counts[i] = NAN;
	return code;
}

struct finding_run
finding_run_unknown(void)
{
	return (struct finding_run){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

/* Takes the texts over. */
static bool
found(struct finding *finding, double value, double share, char *measured, char *consequence)
{
	finding->value = value;
	finding->share = share;
	finding->measured = measured;
	finding->consequence = consequence;
	return true;
}

/* ---- the measurement ---- */

static bool
is_short(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double cpu_s = facts->run->cpu_s;

	return cpu_s < rule->threshold && found(finding, cpu_s, NAN, rot_format("a run has %.2g s of CPU time", cpu_s),
						rot_strdup("starting and ending may weigh as much as the work"));
}

static bool
has_few_samples(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double points = 100 * facts->run->top_error;

	return points > rule->threshold &&
	       found(finding, points, NAN, rot_format("the largest share is known to ±%.3g %% of the time", points),
		     rot_strdup("the order of the functions may be another one"));
}

static bool
is_host_busy(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double wait_s = facts->run->wait_s, all_s = wait_s + facts->run->run_s, percent = 100 * wait_s / all_s;

	return percent > rule->threshold &&
	       found(finding, percent, wait_s / all_s,
		     rot_format("the host was busy: threads spent %.2g s of %.2g s waiting for a CPU", wait_s, all_s),
		     rot_strdup("wall times are too long"));
}

static bool
is_of_unknown_code(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double percent = 100 * facts->run->unknown_share;

	return percent > rule->threshold &&
	       found(finding, percent, NAN, rot_format("%.3g %% of the CPU time are in code of no function", percent),
		     rot_strdup("nothing is found there"));
}

static bool
is_disturbed(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double percent = 100 * facts->run->disturbed_share;

	return percent > rule->threshold &&
	       found(finding, percent, NAN, rot_format("%.3g %% of the timed runs were disturbed", percent),
		     rot_strdup("times are too long, and rates too low"));
}

static bool
ends_differ(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double nr = facts->run->nr_ends;

	return nr > rule->threshold && found(finding, nr, NAN, rot_format("the runs ended in %g ways", nr),
					     rot_strdup("counts and times are not of the same work"));
}

static bool
work_differs(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double percent = 100 * facts->run->spread;

	return percent > rule->threshold &&
	       found(finding, percent, NAN, rot_format("the runs differ by %.3g %% in instructions", percent),
		     rot_strdup("counts and times are not of the same work"));
}

/* ---- the program ---- */

/* In shorter runs most of the time is that of starting and ending. */
#define LONG_S 0.1

static bool
is_in_kernel(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double share = facts->run->kernel_share;
	const double busy = facts->run->waiting_share > 0 ? 1 - facts->run->waiting_share : 1;

	return 100 * share > rule->threshold && facts->run->cpu_s >= LONG_S &&
	       found(finding, 100 * share, share * busy,
		     rot_format("the kernel takes %.3g %% of the CPU time", 100 * share),
		     rot_format("at most %.3g times as fast without", 1 / (1 - share * busy)));
}

/* Where most switches are involuntary, threads wait for a CPU, which says something of other programs. */
static bool
waits(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double share = facts->run->waiting_share;

	return 100 * share > rule->threshold && facts->run->wall_s >= LONG_S && facts->run->voluntary_share > 0.5 &&
	       found(finding, 100 * share, share,
		     rot_format("no thread is on a CPU for %.3g %% of the wall time", 100 * share),
		     rot_format("at most %.3g times as fast without", 1 / (1 - share)));
}

static bool
is_unbalanced(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const double imbalance = facts->run->imbalance;

	return imbalance > rule->threshold &&
	       found(finding, imbalance, 1 - 1 / imbalance,
		     rot_format("the busiest thread executes %.3g times the mean", imbalance),
		     rot_strdup("the others wait for it meanwhile"));
}

/* ---- data ---- */

/* "rows of 4,096 bytes of table fall into 1 of 64 sets of the L1". Fresh memory. */
static char *
steps_text(const struct miss_conflict *conflict)
{
	autofree char *stride = rot_number_in_full((double)conflict->stride);

	if (conflict->stride == 0)
		return rot_format("lines of %s and %s meet in sets of the L%d", conflict->data, conflict->other,
				  (int)conflict->level);
	return rot_format("steps of %s bytes through %s fall into %llu of %llu sets of the L%d", stride, conflict->data,
			  (unsigned long long)conflict->sets, (unsigned long long)conflict->all_sets,
			  (int)conflict->level);
}

static bool
has_conflicts(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct miss_conflict *conflict = facts->conflict;
	const double percent = conflict ? 100 * (double)conflict->conflicts / (double)conflict->misses : NAN;
	autofree char *steps = NULL, *padded = NULL;

	if (!(percent > rule->threshold))
		return false;
	steps = steps_text(conflict);
	padded = rot_number_in_full((double)conflict->padded);
	return found(finding, percent, NAN, rot_format("%s: %.3g %% of its misses there are conflicts", steps, percent),
		     conflict->padded ? rot_format("with steps of %s bytes the modelled L%d reads each line once",
						   padded, conflict->level)
				      : rot_strdup("lines are read again that the cache has room for"));
}

static bool
shares_falsely(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct false_sharing *sharing = facts->sharing;
	const double percent = sharing ? 100 * sharing->share : NAN;

	return percent > rule->threshold &&
	       found(finding, percent, NAN,
		     rot_format("threads %d and %d use its bytes from %llu and %llu on, which are in one line, for "
				"%.3g %% of the accesses of one of them",
				(int)sharing->thread, (int)sharing->other_thread, (unsigned long long)sharing->offset,
				(unsigned long long)sharing->other_offset, percent),
		     rot_strdup("the line goes from core to core, though no byte of it is shared"));
}

/* ---- code ---- */

/* Even by the lower end of its interval. */
#define HOT_SHARE 0.05

static double
count_of(const struct finding_code *code, enum finding_count count)
{
	return code->counts[count];
}

static bool
is_hot(const struct finding_code *code)
{
	return code->share.low >= HOT_SHARE && count_of(code, FINDING_INSTRUCTIONS) > 0;
}

static double
flops(const struct finding_code *code)
{
	return count_of(code, FINDING_SCALAR_DOUBLE) + count_of(code, FINDING_SCALAR_SINGLE) +
	       count_of(code, FINDING_PACKED_DOUBLE) + count_of(code, FINDING_PACKED_SINGLE);
}

/* Is there a floating-point operation in ten instructions? */
static bool
computes(const struct finding_code *code)
{
	return flops(code) >= 0.1 * count_of(code, FINDING_INSTRUCTIONS);
}

/* Lines that came from there, by the modelled caches. */
static double
lines_from(const struct finding_code *code, enum finding_origin origin)
{
	const double fills[] = {count_of(code, FINDING_L1_FILLS), count_of(code, FINDING_L2_FILLS),
				count_of(code, FINDING_MEMORY_READS), 0};

	return fmax(0, fills[origin] - fills[origin + 1]);
}

/* How long its lines would take if they came one after the other. */
static double
lines_ns(const struct finding_code *code)
{
	double ns = count_of(code, FINDING_L1_FILLS) * 0; /* NaN: not known */

	for (size_t i = 0; i < FINDING_NR_ORIGINS; i++)
		ns += code->line_ns[i] * lines_from(code, (enum finding_origin)i);
	return ns;
}

#define SLOW_RATE 1 /* instructions a ns */

/*
 * If its time is between these: its lines come one after the other, since they take about as long as that; where
 * several are on their way at once, they would take longer. All the while few instructions are executed.
 */
static bool
waits_for_lines(const struct finding_code *code, double least_ns, double most_ns)
{
	const double ns = lines_ns(code);

	return ns >= 0.2 * most_ns && ns <= 2 * least_ns && count_of(code, FINDING_INSTRUCTIONS) < SLOW_RATE * least_ns;
}

#define LINE_BYTES 64
#define SPARSE_BYTES 16
/* Lines that come more seldom, in instructions, take no time worth mentioning. */
#define LEAST_PER_LINE 200

/* Bytes loaded and stored of each line that comes into the L1; at most, since some are used again. */
static double
bytes_used(const struct finding_code *code)
{
	return (count_of(code, FINDING_LOADED) + count_of(code, FINDING_STORED)) / count_of(code, FINDING_L1_FILLS);
}

/* The roof is no better known on a machine that others use as well. */
#define AT_ROOF 80

static bool
is_bound_by_bandwidth(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double percent = 100 * code->bandwidth_share.value;

	return is_hot(code) && 100 * code->bandwidth_share.low > rule->threshold &&
	       !(code->peak_share.value > code->bandwidth_share.value) &&
	       found(finding, percent, code->share.value,
		     rot_format("it moves %.3g %% of the bandwidth of memory", percent),
		     percent > AT_ROOF
			     ? rot_strdup("memory bounds it: only fewer bytes make it faster")
			     : rot_format("at most %.3g times as fast while it moves as many bytes", 100 / percent));
}

static bool
is_at_peak(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double percent = 100 * code->peak_share.value;

	return is_hot(code) && 100 * code->peak_share.low > rule->threshold &&
	       !(code->bandwidth_share.value > code->peak_share.value) &&
	       found(finding, percent, code->share.value, rot_format("it reaches %.3g %% of the peak", percent),
		     percent > AT_ROOF
			     ? rot_strdup("arithmetic bounds it: only fewer operations make it faster")
			     : rot_format("at most %.3g times as fast with as many operations", 100 / percent));
}

/* ---- latency ---- */

/* Times that contradict each other tell nothing. The clock may differ a little between the runs. */
#define CHAIN_PERCENT 60
#define MOST_CHAIN_SHARE 1.25

/* If it takes so long, most of that is the time of a chain, so nothing helps but a shorter one, or several at once. */
static bool
is_chained(const struct finding_code *code, double time_ns)
{
	return 100 * code->chain_share * code->time_ns.value > CHAIN_PERCENT * time_ns &&
	       code->chain_share <= MOST_CHAIN_SHARE;
}

/*
 * Each load of its chain may only begin when the one before has ended. Turns take so much longer than loads from the L1
 * that these come from farther, and the modelled caches do not deny that.
 */
static bool
waits_for_chained_loads(const struct finding_code *code)
{
	const double misses_per_turn = count_of(code, FINDING_L1_FILLS) * code->turn_ns / code->time_ns.value;

	return strstr(code->chain, "load") && !is_chained(code, code->time_ns.low) &&
	       code->chain_share <= MOST_CHAIN_SHARE && !(misses_per_turn < 0.5) &&
	       count_of(code, FINDING_INSTRUCTIONS) < SLOW_RATE * code->time_ns.low;
}

/* A wait of so many times what a line from there takes is more than caches take. */
#define TLB_TIMES 3

static bool
waits_for_memory(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	static const char *const origins[FINDING_NR_ORIGINS] = {"the L2", "the L3", "memory"};
	const struct finding_code *code = facts->code;
	const double rate = count_of(code, FINDING_INSTRUCTIONS) / code->time_ns.value;
	const bool has_chain = waits_for_chained_loads(code);
	enum finding_origin most = FINDING_L2;
	double line_ns;
	autofree char *waits = NULL;

	for (enum finding_origin i = most; i < FINDING_NR_ORIGINS; i++)
		if (code->line_ns[i] * lines_from(code, i) > code->line_ns[most] * lines_from(code, most))
			most = i;
	line_ns = code->time_ns.value / lines_from(code, most);
	if (!is_hot(code) || !(rate < rule->threshold) || code->bandwidth_share.value > 0.5 ||
	    !(has_chain || waits_for_lines(code, code->time_ns.low, code->time_ns.high)))
		return false;
	if (isfinite(line_ns))
		waits = rot_format("waits %.3g ns for each line from %s%s", line_ns, origins[most],
				   line_ns > TLB_TIMES * code->line_ns[most] ? ", longer than such lines take" : "");
	else
		waits = rot_format("waits %.3g ns for what each turn loads", code->turn_ns);
	found(finding, rate, code->share.value, rot_format("it executes %.2g instructions a ns, and %s", rate, waits),
	      rot_strdup(strstr(code->chain, "load") ? "what is loaded tells the next address, so lines come one "
						       "after the other"
						     : "latency bounds it, not bandwidth"));
	return true;
}

static bool
uses_little_of_lines(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double used = bytes_used(code);
	const bool has_many = LEAST_PER_LINE * count_of(code, FINDING_L1_FILLS) > count_of(code, FINDING_INSTRUCTIONS);

	return is_hot(code) && has_many && used < rule->threshold &&
	       found(finding, used, code->share.value,
		     rot_format("it uses at most %.2g of the %d bytes of each line that comes into the L1", used,
				LINE_BYTES),
		     rot_format("%.3g times fewer lines would do", LINE_BYTES / used));
}

#define SELDOM_NS 10
#define DIVIDING_PERCENT 10

/* If it takes so long. Divisions that come seldom take no time worth mentioning, whatever their share. */
static bool
is_dividing(const struct finding_code *code, double time_ns)
{
	return 100 * count_of(code, FINDING_DIVISIONS) > DIVIDING_PERCENT * flops(code) &&
	       time_ns < SELDOM_NS * count_of(code, FINDING_DIVISIONS);
}

static bool
divides(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double percent = 100 * count_of(code, FINDING_DIVISIONS) / flops(code);

	return is_hot(code) && percent > rule->threshold && is_dividing(code, code->time_ns.high) &&
	       found(finding, percent, code->share.value,
		     rot_format("%.3g %% of its operations divide or take roots, one each %.2g ns", percent,
				code->time_ns.value / count_of(code, FINDING_DIVISIONS)),
		     rot_strdup("the divider has no time for more"));
}

static bool
divides_integers(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double ns = code->time_ns.high / count_of(code, FINDING_INTEGER_DIVISIONS);

	return is_hot(code) && ns < rule->threshold &&
	       found(finding, ns, code->share.value, rot_format("it divides integers, one each %.2g ns", ns),
		     rot_strdup("a division takes as long as many additions, and few are executed at once"));
}

static bool
converts(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double nr = count_of(code, FINDING_CONVERSIONS), percent = 100 * nr / (nr + flops(code));

	return is_hot(code) && percent > rule->threshold && nr >= 0.1 * count_of(code, FINDING_INSTRUCTIONS) &&
	       found(finding, percent, code->share.value,
		     flops(code) > 0 ? rot_format("it converts %.3g numbers for each floating-point operation",
						  nr / flops(code))
				     : rot_strdup("it converts numbers, without floating-point operations"),
		     rot_strdup("each takes as long as an addition, and vectors become narrower"));
}

/* At some time of the interval. */
static bool
may_wait(const struct finding_code *code)
{
	return waits_for_lines(code, code->time_ns.high, code->time_ns.low) || waits_for_chained_loads(code);
}

/* Without misses that take its time: these are another finding. */
static bool
gathers(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double percent = 100 * count_of(code, FINDING_GATHERED) /
			       (count_of(code, FINDING_LOADED) + count_of(code, FINDING_STORED));

	return is_hot(code) && percent > rule->threshold && !may_wait(code) &&
	       found(finding, percent, code->share.value,
		     rot_format("gathers and scatters access %.3g %% of its bytes", percent),
		     rot_strdup("each element is an access of its own, as in scalar code"));
}

/* Where memory takes the time, the L1 has some to spare. */
static bool
splits_lines(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double percent = 100 * count_of(code, FINDING_SPLITS) / count_of(code, FINDING_INSTRUCTIONS);

	return is_hot(code) && percent > rule->threshold && !may_wait(code) && !(code->bandwidth_share.value > 0.5) &&
	       found(finding, percent, code->share.value,
		     rot_format("%.3g of 100 instructions access bytes in two lines at once", percent),
		     rot_strdup("each takes as long as two accesses of the L1, or longer if it is in two pages"));
}

/* It loads and compares, without any arithmetic, store or next address, so that only another thread can end it. */
static bool
spins(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double nr = count_of(code, FINDING_INSTRUCTIONS), percent = 100 * code->share.low;
	const double others = flops(code) + count_of(code, FINDING_SCALAR_INTEGER) +
			      count_of(code, FINDING_PACKED_INTEGER) + count_of(code, FINDING_CONVERSIONS) +
			      count_of(code, FINDING_X87) + count_of(code, FINDING_STORED) / 8;

	return percent > rule->threshold && count_of(code, FINDING_LOADED) >= 0.1 * nr && others < 0.001 * nr &&
	       !(count_of(code, FINDING_L1_FILLS) > 0.001 * nr) && !strstr(code->chain, "load") &&
	       found(finding, percent, code->share.value,
		     rot_format("it only loads and compares, for %.3g %% of the CPU time", 100 * code->share.value),
		     rot_strdup("its thread waits for another one, and keeps a CPU busy meanwhile"));
}

static bool
computes_with_x87(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double nr = count_of(code, FINDING_X87), percent = 100 * nr / (nr + flops(code));

	return is_hot(code) && percent > rule->threshold && nr >= 0.05 * count_of(code, FINDING_INSTRUCTIONS) &&
	       found(finding, percent, code->share.value,
		     rot_format("%.3g %% of its operations are of the x87", percent),
		     rot_strdup("these have no vectors, and few registers"));
}

/* ---- chains ---- */

static double
scalar_share(const struct finding_code *code)
{
	return (count_of(code, FINDING_SCALAR_DOUBLE) + count_of(code, FINDING_SCALAR_SINGLE)) / flops(code);
}

/* How many times as wide the widest vectors are as what its operations are in: a mean over the operations. */
static double
width_ratio(const struct finding_code *code)
{
	const double packed = count_of(code, FINDING_PACKED_DOUBLE) + count_of(code, FINDING_PACKED_SINGLE);
	const double wide = count_of(code, FINDING_FLOP_256), widest = count_of(code, FINDING_FLOP_512);
	const double per_byte = count_of(code, FINDING_SCALAR_DOUBLE) / 8 + count_of(code, FINDING_SCALAR_SINGLE) / 4 +
				(packed - wide - widest) / 16 + wide / 32 + widest / 64;

	return code->vector_bytes * per_byte / flops(code);
}

/* It reaches so much of what vectors as wide as its own could. */
static double
share_of_own_peak(const struct finding_code *code, double peak_share)
{
	return width_ratio(code) * peak_share;
}

/* A chain that leaves the units busy for half of the time is one of several. */
static bool
is_bound_by_chain(const struct finding_code *code)
{
	return is_hot(code) && is_chained(code, code->time_ns.high) &&
	       !(share_of_own_peak(code, code->peak_share.high) > 0.5);
}

/* "8 fill the processor: latency 4 x 2 a cycle, measured 2026-11-27"; "" where that is not known. Fresh memory. */
static char *
filling_text(const struct operation_known *links)
{
	return links->per_cycle > 0
		       ? rot_format(": %.0f fill the processor (latency %.2g x %.2g a cycle, %s)",
				    links->latency * links->per_cycle, links->latency, links->per_cycle, links->source)
		       : rot_strdup("");
}

static bool
found_chain(const struct finding_code *code, struct finding *finding)
{
	autofree char *filling = filling_text(&code->links);

	return found(finding, 100 * code->chain_share, code->share.value,
		     rot_format("a turn of %s takes %.2g ns, and the chain from turn to turn %.2g ns: %s",
				code->is_called ? "the loop that calls it" : "its loop", code->turn_ns, code->chain_ns,
				code->chain),
		     code->chain_share > 0.9
			     ? rot_format("only a shorter chain, or several at once, make it faster%s", filling)
			     : rot_format("at most %.2g times as fast with the same chain", 1 / code->chain_share));
}

static bool
waits_for_results(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;

	(void)rule;
	return is_bound_by_chain(code) && !strstr(code->chain, "load") && found_chain(code, finding);
}

static bool
waits_for_loads(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;

	(void)rule;
	return is_bound_by_chain(code) && strstr(code->chain, "load") && found_chain(code, finding);
}

/* ---- vectors ---- */

/* How many times as fast wider vectors make it at most, if it reaches these shares: memory and the peak do not get
 * faster. */
static double
width_gain(const struct finding_code *code, double bandwidth_share, double peak_share)
{
	const double ratio = width_ratio(code);

	return isnan(ratio) ? NAN : fmin(ratio, fmin(1 / bandwidth_share, 1 / peak_share));
}

static double
likely_gain(const struct finding_code *code)
{
	return width_gain(code, code->bandwidth_share.value, code->peak_share.value);
}

#define LEAST_GAIN 1.5
#define SCALAR_SHARE 0.5

/*
 * Vectors help little if code may wait for data, picks data from many lines, or keeps the divider busy. Where its lines
 * would take longer than it does, they come faster than that, but nothing tells how much faster they could: fast enough
 * for code that reaches a third of what vectors of its width could.
 */
static bool
gains_by_vectors(const struct finding_code *code)
{
	const double ns = code->time_ns.low;
	const bool is_fed = !may_wait(code) && !(lines_ns(code) > ns) && !(bytes_used(code) < SPARSE_BYTES);

	return is_hot(code) && computes(code) &&
	       width_gain(code, code->bandwidth_share.high, code->peak_share.high) >= LEAST_GAIN &&
	       (is_fed || share_of_own_peak(code, code->peak_share.low) > 1. / 3) && !is_dividing(code, ns);
}

/* Where a chain may take its time, it is the finding. */
static bool
is_scalar(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double percent = 100 * scalar_share(code);

	return percent > rule->threshold && gains_by_vectors(code) && !is_chained(code, code->time_ns.low) &&
	       found(finding, percent, code->share.value,
		     rot_format("%.3g %% of its operations are scalar, but vectors here have %g bytes", percent,
				code->vector_bytes),
		     rot_format("at most %.3g times as fast with vectors, if turns of a loop do not need each "
				"other's results%s",
				likely_gain(code),
				isnan(lines_ns(code)) ? ", and data come as fast, which modelled caches tell" : ""));
}

/* Wider ones do more in each turn of a chain. */
static bool
is_narrow(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double ratio = width_ratio(code);

	return ratio > rule->threshold && scalar_share(code) <= SCALAR_SHARE && gains_by_vectors(code) &&
	       found(finding, ratio, code->share.value,
		     rot_format("its operations are %.2g bytes wide in the mean, but vectors here have %g",
				code->vector_bytes / ratio, code->vector_bytes),
		     rot_format("at most %.3g times as fast with wider ones", likely_gain(code)));
}

static bool
leaves_lanes_out(const struct finding_rule *rule, const struct finding_facts *facts, struct finding *finding)
{
	const struct finding_code *code = facts->code;
	const double nr = count_of(code, FINDING_MASKED), share = nr / (nr + flops(code));

	return is_hot(code) && 100 * share > rule->threshold && computes(code) &&
	       found(finding, 100 * share, code->share.value,
		     rot_format("masks leave out %.3g %% of the lanes of its operations", 100 * share),
		     rot_format("at most %.3g times as fast with full vectors", 1 / (1 - share)));
}

/* ---- the table ---- */

static const struct finding_rule rules[] = {
	{FINDING_MEASUREMENT, "shortRun", "CPU time of a run: less than", 0.5, "s", "a larger input", is_short},
	{FINDING_MEASUREMENT, "fewSamples", "half of the interval of the largest share: more than", 10,
	 "% of the CPU time", "--runs=N, whose samples add up, or a larger input", has_few_samples},
	{FINDING_MEASUREMENT, "unknownCode", "CPU time in code that is in no function: more than", 20, "%",
	 "debug information; a file /tmp/perf-PID.map for code that is made at run time", is_of_unknown_code},
	{FINDING_MEASUREMENT, "disturbedRuns", "timed runs that the system or the host disturbed: more than", 0, "%",
	 "a quiet machine", is_disturbed},
	{FINDING_MEASUREMENT, "busyHost", "time that threads which could run waited for a CPU: more than", 10, "%",
	 "no more threads than CPUs, fewer programs beside it", is_host_busy},
	{FINDING_MEASUREMENT, "otherEnds", "ways in which runs ended: more than", 1, "", "the same input for each run",
	 ends_differ},
	{FINDING_MEASUREMENT, "otherWork", "difference of the runs in instructions: more than", 1, "%",
	 "the same input and seeds for each run", work_differs},

	{FINDING_PROGRAM, "kernelTime", "CPU time in the kernel: more than", 10, "%",
	 "larger reads and writes, and memory that is used again; strace -c names the calls", is_in_kernel},
	{FINDING_PROGRAM, "waiting", "wall time without a thread on a CPU, which threads asked for: more than", 20, "%",
	 "input and output beside the work; strace -c -w names the calls", waits},
	{FINDING_PROGRAM, "imbalance",
	 "instructions of the busiest thread, as a multiple of the mean of those that compute at the same time: more "
	 "than",
	 1.3, "", "smaller pieces of work, schedule(dynamic)", is_unbalanced},

	{FINDING_DATA, "falseSharing",
	 "accesses of a thread to other bytes of a line than another thread uses meanwhile, one of which writes: more "
	 "than",
	 1, "%", "alignas(64) for what each thread writes, or local sums", shares_falsely},
	{FINDING_DATA, "conflicts", "lines of a function that a cache misses since their set is full: more than", 25,
	 "%", "rows that are longer by a line, blocks that are copied together", has_conflicts},

	{FINDING_CODE, "bandwidth", "bytes per second, of the highest bandwidth of memory: more than", 33, "%",
	 "blocks that stay in a cache, fused loops, single precision; streaming stores of what is not read soon",
	 is_bound_by_bandwidth},
	{FINDING_CODE, "peak", "operations per second, of the highest performance: more than", 50, "%",
	 "fewer operations, single precision", is_at_peak},
	{FINDING_CODE, "memoryLatency",
	 "instructions a ns, where lines come from a farther cache one after the other: less than", SLOW_RATE, "",
	 "arrays instead of pointers, several searches at once, smaller data, larger pages", waits_for_memory},
	{FINDING_CODE, "sparseLines", "bytes used of each line that comes into the L1: less than", SPARSE_BYTES,
	 "of 64", "another order of loops, arrays of what is used together", uses_little_of_lines},
	{FINDING_CODE, "divisions", "operations that are divisions or square roots, one in 10 ns or more: more than",
	 DIVIDING_PERCENT, "%", "reciprocals, -ffast-math, divisions outside of the loop", divides},
	{FINDING_CODE, "integerDivisions", "ns of CPU time for each integer division: less than", 6, "ns",
	 "constant divisors or powers of two, which need no division; 32 instead of 64 bits", divides_integers},
	{FINDING_CODE, "conversions", "conversions of numbers, among them and floating-point operations: more than", 33,
	 "%", "one precision (constants as 1.0f), and integers converted once", converts},
	{FINDING_CODE, "gathers", "bytes of gathers and scatters, of all that it loads and stores: more than", 50, "%",
	 "arrays of what is used together, in the order of its use", gathers},
	{FINDING_CODE, "splitLines", "accesses that go from one line to the next: more than", 5, "in 100 instructions",
	 "alignas(64), aligned_alloc, rows padded to whole lines", splits_lines},
	{FINDING_CODE, "spinning", "CPU time of code that only loads and compares: more than", 100 * HOT_SHARE, "%",
	 "even pieces of work, pthread_cond_wait for long waits, OMP_WAIT_POLICY=passive", spins},
	{FINDING_CODE, "x87", "operations of the x87: more than", 20, "%",
	 "double instead of long double, -mfpmath=sse", computes_with_x87},
	{FINDING_CODE, "chain",
	 "time of operations of which each needs the result of the one before, from turn to turn of a loop: more than",
	 CHAIN_PERCENT, "% of all its time",
	 "several accumulators (of sums: -ffast-math, #pragma omp simd reduction), several such loops at once",
	 waits_for_results},
	{FINDING_CODE, "loadChain",
	 "time of loads and operations of which each needs the result of the one before, likewise: more than",
	 CHAIN_PERCENT, "% of all its time",
	 "arrays instead of pointers, more data with each load, several searches at once", waits_for_loads},
	{FINDING_CODE, "scalar", "scalar floating-point operations, where vectors may help: more than",
	 100 * SCALAR_SHARE, "%", "-O3 -march=native, restrict, #pragma omp simd", is_scalar},
	{FINDING_CODE, "narrowVectors",
	 "width of vectors here, as a multiple of the mean width of operations: more than", LEAST_GAIN, "",
	 "-march=native; for 64 bytes -mprefer-vector-width=512", is_narrow},
	{FINDING_CODE, "maskedLanes", "lanes that masks leave out of operations: more than", 25, "%",
	 "longer inner loops, work sorted by condition", leaves_lanes_out},
};

const struct finding_rule *
finding_rule_next(const struct finding_rule *before)
{
	const struct finding_rule *rule = before ? before + 1 : rules;

	return rule < rules + sizeof(rules) / sizeof(*rules) ? rule : NULL;
}

const char *
finding_about_word(enum finding_about about)
{
	static const char *const words[NR_FINDING_ABOUTS] = {"measurement", "program", "data", "code"};

	return words[about];
}

char *
finding_threshold_text(const struct finding_rule *rule)
{
	return rot_format("%s %g%s%s", rule->condition, rule->threshold, *rule->unit ? " " : "", rule->unit);
}

bool
finding_make(struct finding *finding, const struct finding_rule *rule, const struct finding_facts *facts)
{
	const bool is_known = rule->about == FINDING_CODE   ? facts->code != NULL
			      : rule->about == FINDING_DATA ? facts->conflict || facts->sharing
							    : facts->run != NULL;

	*finding = (struct finding){.rule = rule};
	return is_known && rule->applies(rule, facts, finding);
}

void
finding_clear(struct finding *finding)
{
	free(finding->measured);
	free(finding->consequence);
	*finding = (struct finding){.rule = NULL};
}
