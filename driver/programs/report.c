/* SPDX-License-Identifier: MIT */
/* Conclusions from the measured values: notes, and the bound in words. */
#include "programs/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "programs/options.h"
#include "quantities/architecture.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"

/* More than this many CPUs in use cannot be compared with the roofs of one. */
#define ONE_CPU 1.2

/* More than this share of a region's time, or of samples, is worth a word. */
#define WORTH_NOTING 0.01

static void
add_note(struct program_report *report, const char *format, va_list arguments)
{
	rot_add(report->notes, report->nr_notes) = rot_vformat(format, arguments);
}

void
program_report_note(struct program_report *report, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_note(report, format, arguments);
	va_end(arguments);
}

static void
program_report_doubt(struct program_report *report, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_note(report, format, arguments);
	va_end(arguments);
	report->nr_doubts++;
}

void
program_report_clear(struct program_report *report)
{
	program_values_clear(&report->total);
	for (size_t i = 0; i < report->nr_threads; i++)
		program_values_clear(&report->threads[i]);
	for (size_t i = 0; i < report->nr_notes; i++)
		free(report->notes[i]);
	program_regions_clear(&report->regions);
	report_findings_clear(report);
	program_places_clear(&report->places);
	free(report->threads);
	free(report->roofs);
	free(report->bound);
	free(report->notes);
	*report = (struct program_report){.title = NULL};
}

static size_t
nr_runs(const struct program_report *report)
{
	return program_command_output_nr_outputs(report->output);
}

double
program_report_median(const struct program_report *report, double (*number)(const struct program_run_output *run))
{
	autofree double *numbers = rot_calloc(nr_runs(report) + 1, sizeof(*numbers));
	size_t nr = 0;

	for (size_t i = 0; i < nr_runs(report); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i);

		if (!report->plan->passes.passes[run->pass].is_stepped)
			numbers[nr++] = number(run);
	}
	return statistics_percentile(numbers, nr, 50);
}

static double
wall_s(const struct program_run_output *run)
{
	return (double)run->wall_time * 1e-9;
}

static double
cpu_s(const struct program_run_output *run)
{
	return (double)(run->user_time + run->system_time) * 1e-9;
}

double
program_report_wall_s(const struct program_report *report)
{
	return program_report_median(report, wall_s);
}

double
program_report_cpu_s(const struct program_report *report)
{
	return program_report_median(report, cpu_s);
}

static double
stopped_share(const struct program_run_output *run)
{
	double lives_ns = 0;

	for (size_t i = 0; i < program_run_output_nr_threads(run); i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(run, i);

		if (thread->stop_time > thread->start_time)
			lives_ns += (double)(thread->stop_time - thread->start_time);
	}
	return run->nr_stops > 0 && lives_ns > 0 ? (double)run->stopped_time / lives_ns : NAN;
}

double
program_report_stopped_share(const struct program_report *report)
{
	return program_report_median(report, stopped_share);
}

static double
nr_cpus(const struct program_report *report)
{
	return program_report_cpu_s(report) / program_report_wall_s(report);
}

/* ---- bound ---- */

static double
value_of(const struct program_values *values, const char *name)
{
	const struct quantity_value *value = program_values_find(values, name, "");

	return value ? value->summary.value : NAN;
}

/* Shares of the peak and of the memory bandwidth; NaN if not known. */
struct roof_shares {
	double peak, bandwidth;
};

static bool
counts_memory(const struct program_plan *plan)
{
	return plan->border && strncmp(plan->border, "llcRam", 6) == 0;
}

static struct roof_shares
shares_of(const struct program_report *report, const struct program_roof *roof, const struct program_values *values)
{
	struct roof_shares shares = {value_of(values, "performance") / roof->peak.value, NAN};

	if (counts_memory(report->plan))
		shares.bandwidth = value_of(values, "throughput") / roof->bandwidth.value;
	return shares;
}

static double
roof_share_of(const struct program_report *report, const struct program_roof *roof, const struct program_values *values)
{
	struct roof_shares shares = shares_of(report, roof, values);

	return isfinite(shares.peak) && isfinite(shares.bandwidth) && shares.peak > 0
		       ? fmax(shares.peak, shares.bandwidth)
		       : NAN;
}

const struct program_roof *
report_roof_of(const struct program_report *report, const struct place_share *item)
{
	return report->roofs ? &report->roofs[item->nr_threads - 1] : &report->roof;
}

/* How probable it is that the intensity is below the ridge, where both roofs are as high. */
static double
memory_bound_of(const struct program_roof *roof, const struct program_values *values)
{
	const struct quantity_value *intensity = program_values_find(values, "operationalIntensity", "");
	const struct summary ridge = summary_quotient(&roof->peak, &roof->bandwidth);

	return intensity ? summary_probability_below(&intensity->summary, &ridge) : NAN;
}

/* Whose roof it is, where it is not that of the one CPU that is used. Beside other programs threads get fewer CPUs. */
static char *
more_cpus_text(const struct program_roof *roof, double nr_cpus, const char *what)
{
	return roof->nr_threads > 1 && nr_cpus < roof->nr_threads - 0.5
		       ? rot_format(" (of %d CPUs, as so many threads worked at once; they got %.2g)", roof->nr_threads,
				    nr_cpus)
	       : roof->nr_threads > 1 ? rot_format(" (of %d CPUs)", roof->nr_threads)
	       : nr_cpus > ONE_CPU    ? rot_format(" (of one CPU; the %s used more)", what)
				      : rot_strdup("");
}

/* No smaller share has digits. */
#define LEAST_SHARE 0.00001

/* "83 % of the peak", "0.042 % of the peak"; "at most" where the roof is at least so high, which has no interval then.
 */
static struct phrase {
	char text[64];
} share_of(const char *what, double share, const struct summary *roof)
{
	const char *format = share < 0.1 ? "%s%.2g %% of the %s" : "%s%.0f %% of the %s";
	struct phrase phrase;

	if (share < LEAST_SHARE)
		snprintf(phrase.text, sizeof(phrase.text), "less than %.2g %% of the %s", 100 * LEAST_SHARE, what);
	else
		snprintf(phrase.text, sizeof(phrase.text), format, isfinite(roof->low) ? "" : "at most ", 100 * share,
			 what);
	return phrase;
}

static struct phrase
bandwidth_text(struct roof_shares shares, const struct program_roof *roof)
{
	return shares.bandwidth == 0 ? (struct phrase){"no memory traffic"}
				     : share_of("memory bandwidth", shares.bandwidth, &roof->bandwidth);
}

static struct phrase
peak_text(struct roof_shares shares, const struct program_roof *roof)
{
	return share_of("peak", shares.peak, &roof->peak);
}

/* Why nobody knows how sure it is on which side of the ridge the work is; "" if that is known. */
static const char *
doubt_of_side(const struct program_report *report, const struct program_values *values, double memory_bound)
{
	const struct quantity_value *intensity = program_values_find(values, "operationalIntensity", "");

	if (!isnan(memory_bound))
		return "";
	if (report->architecture->counts_by_steps)
		return "; how sure is not known, as bytes are modelled";
	return intensity && !isnan(intensity->summary.low) ? "; how sure is not known, as the roofs have no intervals"
							   : "; --runs=6 tells how sure that is";
}

/* Far below both roofs the side of the ridge is told, but not that the work waits for what is scarce there. */
static char *
far_below_text(struct roof_shares shares, const struct program_roof *roof, double memory_bound, const char *more_cpus)
{
	const bool is_memory = shares.bandwidth > shares.peak;
	autofree char *side =
		is_memory ? verdict_text("on the memory side of the ridge", "on the arithmetic side", memory_bound)
			  : verdict_text("on the arithmetic side of the ridge", "on the memory side", 1 - memory_bound);
	autofree char *times = digits_text(1 / fmax(shares.peak, shares.bandwidth), 2);

	return rot_format("%s, %s times below the roof: %s, %s%s; "
			  "something else takes the time (latency, dependences, other instructions, waiting)%s",
			  side, times, bandwidth_text(shares, roof).text, peak_text(shares, roof).text, more_cpus,
			  *more_cpus ? "; threads and functions may differ (-t, --region)" : "");
}

/*
 * more_cpus: what to add to shares, since the work was that of several CPUs. memory_bound: how probable that is, NaN if
 * not known.
 */
static char *
bound_of(const struct program_report *report, const struct program_roof *roof, const struct program_values *values,
	 double memory_bound, const char *more_cpus)
{
	struct roof_shares shares = shares_of(report, roof, values);
	const bool is_memory = shares.bandwidth > shares.peak;
	const char *doubt = doubt_of_side(report, values, memory_bound);
	autofree char *verdict = NULL, *text = NULL;

	if (isfinite(shares.peak) && report->architecture->counts_by_steps && !counts_memory(report->plan))
		return rot_format("%s%s; what bounds it is told with modelled caches alone (-caches=auto), which count "
				  "the bytes from memory",
				  peak_text(shares, roof).text, more_cpus);
	if (!isfinite(shares.peak) || !isfinite(shares.bandwidth))
		return rot_strdup("");
	if (shares.peak == 0)
		return rot_format("no floating-point operations; %s%s", bandwidth_text(shares, roof).text, more_cpus);
	if (fmax(shares.peak, shares.bandwidth) < VERDICT_FAR_BELOW) {
		text = far_below_text(shares, roof, memory_bound, more_cpus);
		return rot_format("%s%s", text, report->architecture->counts_by_steps ? "" : doubt);
	}
	verdict = is_memory ? verdict_text("memory-bound", "compute-bound", memory_bound)
			    : verdict_text("compute-bound", "memory-bound", 1 - memory_bound);
	return is_memory ? rot_format("%s: %s at this intensity; %s%s%s", verdict, bandwidth_text(shares, roof).text,
				      peak_text(shares, roof).text, more_cpus, doubt)
			 : rot_format("%s: %s; %s%s%s", verdict, peak_text(shares, roof).text,
				      bandwidth_text(shares, roof).text, more_cpus, doubt);
}

/* ---- notes ---- */

static size_t
nr_tainted(const struct quantity_value *value, unsigned taint)
{
	size_t nr = 0;

	for (size_t i = 0; i < value->nr_samples; i++)
		nr += (value->taints[i] & taint) != 0;
	return nr;
}

/* In how many runs, of the value that has the most: of one that is counted in a pass of its own. */
static void
note_cause(struct program_report *report, const struct remark *cause)
{
	const struct quantity_value *most = NULL;

	for (size_t i = 0; i < report->total.nr; i++) {
		const struct quantity_value *value = &report->total.values[i];

		if (nr_tainted(value, cause->taint) > (most ? nr_tainted(most, cause->taint) : 0))
			most = value;
	}
	if (!most)
		return;
	if (most->nr_samples == 1)
		program_report_note(report, "%s: %s", cause->text, cause->advice);
	else
		program_report_note(report, "%s (%zu of %zu runs%s): %s", cause->text, nr_tainted(most, cause->taint),
				    most->nr_samples, quantity_is_of_tainted(most) ? "" : ", left out", cause->advice);
}

const char *
program_report_counting(const struct program_report *report)
{
	const struct architecture *architecture = report->architecture;

	return architecture->counts_by_steps ? architecture->name : architecture->nr_formulas ? "events" : "none";
}

static void
judge_counting(struct program_report *report)
{
	const struct rot_error *why = &report->architecture->why_not;
	const char *advice = report->options->process_id
				     ? "\n-counting=blocks counts the process without, which is slower meanwhile"
				     : "\n-counting=blocks counts the program without, in a second run";

	if (report->why_once)
		program_report_note(report, "operations and bytes: not counted, which takes a second run: %s",
				    report->why_once);
	else if (why->text[0])
		program_report_note(report, "operations and bytes: not counted: %s%s%s%s", why->text,
				    why->hint[0] ? "\n" : "", why->hint, report->can_step ? advice : "");
	else if (!report->plan->operation && !report->plan->border)
		program_report_note(report, "operations and bytes: the architecture '%s' has no events for them",
				    report->architecture->title);
	if (report->plan->left_out[0])
		program_report_note(report, "not in %zu run%s: %s; --passes=%zu runs the program often enough",
				    report->plan->passes.nr_passes, rot_plural((double)report->plan->passes.nr_passes),
				    report->plan->left_out, report->plan->nr_passes_of_all);
	for (const struct remark *cause = remark_next(REMARK_CAUSE, NULL); cause;
	     cause = remark_next(REMARK_CAUSE, cause))
		note_cause(report, cause);
}

/* The run for the counts that somebody ended, or NULL. */
static const struct program_run_output *
find_cut(const struct program_report *report)
{
	for (size_t i = 0; i < nr_runs(report); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i);

		if (program_run_is_cut(report->plan, run))
			return run;
	}
	return NULL;
}

/*
 * How much of the whole program that is, nobody counted: its time tells between which shares of it this lies. What of
 * regions is counted, their hits tell.
 */
static void
judge_cut(struct program_report *report)
{
	const struct program_run_output *cut = find_cut(report);
	const double used_s = cut ? 1e-9 * (double)(cut->user_time + cut->system_time) : 0;
	const double times = report->plan->is_timed ? used_s / program_report_cpu_s(report) : NAN;
	const struct program_slowdown slowdown = program_slowdown(program_plan_has_caches(report->plan));
	autofree char *share = rot_strdup("");

	if (cut && report->regions.nr == 0 && times < slowdown.most)
		rot_append(&share, ", by its CPU time %.0f to %.0f %% of the run", 100 * times / slowdown.most,
			   100 * fmin(1, times / slowdown.least));
	if (cut)
		program_report_doubt(
			report,
			"the run for the counts was cut off by signal %d after %.3g s: they are of that part%s%s",
			cut->interrupted_by, 1e-9 * (double)cut->wall_time, share,
			report->plan->is_timed ? ", and there are no rates" : "");
}

static void
judge_runs(struct program_report *report)
{
	const struct program_run_output *first = program_command_output_outputs_at(report->output, 0);
	const struct quantity_value *time = program_values_find(&report->total, "time", "");
	autofree char *doubts = time ? value_doubts_text(time) : NULL;

	if (doubts)
		program_report_note(report, "%s", doubts);
	if (time && time->summary.n > 1 && time->summary.n < SUMMARY_LEAST && isnan(time->summary.low))
		program_report_note(
			report,
			"no intervals: they need %d undisturbed runs, here there are %zu of %zu; --runs=%zu "
			"leaves some to spare",
			SUMMARY_LEAST, time->summary.n, time->nr_samples,
			SUMMARY_LEAST + 2 * (time->nr_samples - time->summary.n) + 2);
	if (report->agreement.spread > PROGRAM_AGREEMENT)
		program_report_doubt(report,
				     "the runs differ: %.3g %% between the fewest and the most instructions; "
				     "quantities of different runs do not belong together",
				     100 * report->agreement.spread);
	if (!report->agreement.has_same_threads)
		program_report_note(
			report, "the runs had different threads, or in another order; they are not shown one by one");
	for (size_t i = 1; i < nr_runs(report); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i);

		if ((run->exit_status == first->exit_status && run->signal == first->signal) ||
		    program_run_is_cut(report->plan, run))
			continue;
		program_report_doubt(report, "the runs ended differently: run %zu not as the first", i + 1);
		break;
	}
}

static void
judge_samples(struct program_report *report)
{
	const struct program_places *places = &report->places;

	if (places->refusal && *places->refusal)
		program_report_note(report, "functions: %s", places->refusal);
	if (places->nr_incomplete > 0 && (double)places->nr_incomplete >= WORTH_NOTING * (double)places->nr_samples)
		program_report_note(report,
				    "functions: %.3g %% of the samples have incomplete stacks, so totals of outer "
				    "functions may be too small",
				    100 * (double)places->nr_incomplete / (double)places->nr_samples);
	if (places->nr_lost > 0)
		program_report_note(report, "functions: %llu record%s of samples and mappings were lost",
				    (unsigned long long)places->nr_lost, rot_plural((double)places->nr_lost));
}

/* ---- regions ---- */

static void
judge_hits(struct program_report *report, const struct program_region *region)
{
	const char *name = region->definition->name;

	if (region->fewest_hits != region->most_hits)
		program_report_doubt(report,
				     "region %s: %.0f to %.0f hits in the runs: quantities of different runs do not "
				     "belong together",
				     name, region->fewest_hits, region->most_hits);
	if (!isnan(region->cut_hits) && !region->are_hits_least && region->hits[HITS_MEASURED] > 0)
		program_report_doubt(report, "region %s: its counts are of %.0f of %.0f hit%s (%.0f %%)", name,
				     region->cut_hits, region->hits[HITS_MEASURED],
				     rot_plural(region->hits[HITS_MEASURED]),
				     100 * region->cut_hits / region->hits[HITS_MEASURED]);
	if (region->hits[HITS_ABANDONED] > 0)
		program_report_note(report,
				    "region %s: hits not left where it ends (an exception, longjmp, the end of the "
				    "thread%s): %.0f, which are not among the measured ones",
				    name,
				    region->is_cut                    ? " or of the run"
				    : report->options->process_id > 0 ? " or of the measurement"
								      : "",
				    region->hits[HITS_ABANDONED]);
	if (region->hits[HITS_LOST] > 0)
		program_report_doubt(report,
				     "region %s: hits lost, since they came faster than they could be read: %.0f; its "
				     "values are too small",
				     name, region->hits[HITS_LOST]);
}

/* Regions may be within each other; rot does not know which are. */
static void
judge_inner_regions(struct program_report *report, const struct program_region *region)
{
	const double hit_us = program_region_hit_us(region);

	for (size_t i = 0; i < report->regions.nr; i++) {
		const struct program_region *inner = &report->regions.items[i];
		double share = inner->hits[HITS_ALL] * inner->cost_ns * 1e-3 / (hit_us * region->hits[HITS_MEASURED]);

		if (inner != region && share > WORTH_NOTING && share <= 1)
			program_report_note(report,
					    "region %s: if all hits of region %s are within it, observing them is %.2g "
					    "%% of its time",
					    region->definition->name, inner->definition->name, 100 * share);
	}
}

static void
judge_region(struct program_report *report, struct program_region *region)
{
	autofree char *more_cpus = NULL;

	judge_hits(report, region);
	if (!region->total.nr)
		return;
	more_cpus = more_cpus_text(&region->roof, region->at_once, "region");
	judge_inner_regions(report, region);
	region->roof_share = roof_share_of(report, &region->roof, &region->total);
	free(region->bound);
	region->memory_bound = memory_bound_of(&region->roof, &region->total);
	region->bound = bound_of(report, &region->roof, &region->total, region->memory_bound, more_cpus);
	if (region->is_sampled && !report->places.has_kernel)
		program_report_note(
			report,
			"region %s: its time is that of user code, as the system permits no samples of the kernel",
			region->definition->name);
	if (region->is_short)
		program_report_doubt(report,
				     "region %s: shorter than what observing it costs: counts are right after the "
				     "correction, times and rates are not; a region around more work at once is better",
				     region->definition->name);
}

void
program_report_judge(struct program_report *report)
{
	autofree char *more_cpus = more_cpus_text(&report->roof, nr_cpus(report), "program");

	report->roof_share = roof_share_of(report, &report->roof, &report->total);
	report->memory_bound = memory_bound_of(&report->roof, &report->total);
	report->bound = bound_of(report, &report->roof, &report->total, report->memory_bound, more_cpus);
	judge_cut(report);
	judge_counting(report);
	judge_runs(report);
	judge_samples(report);
	report_curve_note(report);
	report_miss_note(report);
	for (size_t kind = 0; kind < NR_PLACE_KINDS; kind++)
		for (size_t i = 0; i < report->places.lists[kind].nr; i++) {
			struct place_share *item = &report->places.lists[kind].items[i];

			if (item->values.nr > 0)
				item->roof_share = roof_share_of(report, report_roof_of(report, item), &item->values);
		}
	report_find(report);
	for (size_t i = 0; i < report->regions.nr; i++)
		judge_region(report, &report->regions.items[i]);
	for (size_t i = 0; i < program_command_output_nr_warnings(report->output); i++)
		program_report_doubt(report, "%s", program_command_output_warnings_at(report->output, i));
	if (report->plan->is_timed && program_values_find(&report->total, "operationalIntensity", "") &&
	    (isnan(report->roof.peak.value) || isnan(report->roof.bandwidth.value)))
		program_report_note(report, "share of the roof: the peaks of this machine are not known yet; 'rot "
					    "peaks' finds them");
}
