/* SPDX-License-Identifier: MIT */
/* Findings in a report: as lines below the tables of functions, and as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "memory.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"

/* ---- what is known of the runs ---- */

/* Instructions of a thread, or 0. */
static double
instructions_of(const struct program_thread_output *thread)
{
	const struct perf_event_measurer_output *counts = thread->counts;

	for (size_t i = 0; counts && i < perf_event_measurer_output_nr_event_counts(counts); i++) {
		const struct perf_event_count *count = perf_event_measurer_output_event_counts_at(counts, i);

		if (strcmp(count->name, finding_count_name(FINDING_INSTRUCTIONS)) == 0)
			return (double)count->raw_count;
	}
	return 0;
}

/* Threads that do less than this share of the busiest one's work only wait for others. */
#define LEAST_WORK 0.05

/*
 * Instructions of the busiest thread over the mean of it and those threads of its process that lived beside it for half
 * of their lives or more; what it may have done before them does not count. NaN: there are none.
 */
static double
imbalance_of(const struct program_run_output *run)
{
	const size_t nr = program_run_has_threads(run) ? program_run_output_nr_threads(run) : 0;
	const struct program_thread_output *busiest = NULL;
	size_t nr_working = 0;
	double sum = 0, most = 0, first = INFINITY, alone;

	for (size_t i = 0; i < nr; i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(run, i);

		if (instructions_of(thread) > most) {
			busiest = thread;
			most = instructions_of(thread);
		}
	}
	for (size_t i = 0; busiest && i < nr; i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(run, i);
		const double from = fmax((double)thread->start_time, (double)busiest->start_time);
		const double to = fmin((double)thread->stop_time, (double)busiest->stop_time);

		if (thread->pid != busiest->pid || instructions_of(thread) < LEAST_WORK * most ||
		    to - from < (double)(thread->stop_time - thread->start_time) / 2)
			continue;
		sum += instructions_of(thread);
		nr_working++;
		if (thread != busiest)
			first = fmin(first, from);
	}
	if (nr_working < 2)
		return NAN;
	alone = fmax(0, first - (double)busiest->start_time) / (double)(busiest->stop_time - busiest->start_time);
	return (1 - alone) * most * (double)nr_working / (sum - alone * most);
}

/* Different exit statuses and signals, of runs that nobody cut off. */
static size_t
nr_ends(const struct program_report *report)
{
	size_t nr = 0;

	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i), *before;
		bool is_new = !program_run_is_cut(report->plan, run);

		for (size_t k = 0; k < i; k++) {
			before = program_command_output_outputs_at(report->output, k);
			is_new &= run->exit_status != before->exit_status || run->signal != before->signal;
		}
		nr += is_new;
	}
	return nr;
}

static double
unknown_share(const struct program_places *places)
{
	const struct place_list *others = &places->lists[PLACES_OTHERS];
	double share = places->has_kernel ? places->missing.value : 0;

	for (size_t i = 0; i < others->nr; i++)
		if (strcmp(others->items[i].place->object, "[kernel]") != 0 &&
		    strcmp(others->items[i].place->object, "[vdso]") != 0)
			share += others->items[i].share.value;
	return share;
}

static double
kernel_share(const struct program_run_output *run)
{
	return (double)run->system_time / (double)(run->user_time + run->system_time);
}

static double
voluntary_share(const struct program_run_output *run)
{
	const double voluntary = (double)run->voluntary_context_switches,
		     involuntary = (double)run->involuntary_context_switches;

	return involuntary < 0 ? NAN : voluntary / (voluntary + involuntary);
}

static struct finding_run
run_of(const struct program_report *report)
{
	const struct program_places *places = &report->places;
	const struct place_list *functions = &places->lists[PLACES_FUNCTIONS];
	const struct quantity_value *time = program_values_find(&report->total, "time", "");
	struct finding_run run = finding_run_unknown();

	run.wall_s = program_report_wall_s(report);
	run.cpu_s = program_report_cpu_s(report);
	run.nr_ends = (double)nr_ends(report);
	run.spread = report->agreement.spread;
	run.kernel_share = program_report_median(report, kernel_share);
	run.voluntary_share = program_report_median(report, voluntary_share);
	if (places->wall_s > 0)
		run.waiting_share = places->off_cpu_s / places->wall_s;
	if (places->run_s > 0) {
		run.run_s = places->run_s / (double)places->nr_runs;
		run.wait_s = places->wait_s / (double)places->nr_runs;
	}
	if (places->nr_samples > 0)
		run.unknown_share = unknown_share(places);
	if (functions->nr > 0)
		run.top_error = (functions->items[0].share.high - functions->items[0].share.low) / 2;
	if (time && time->nr_samples > 0) {
		run.disturbed_share = 0;
		for (size_t i = 0; i < time->nr_samples; i++)
			run.disturbed_share += (time->taints[i] != 0) / (double)time->nr_samples;
	}
	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++) {
		const struct program_run_output *output = program_command_output_outputs_at(report->output, i);

		if (report->plan->passes.passes[output->pass].is_stepped)
			run.imbalance = imbalance_of(output);
	}
	return run;
}

/* ---- what is known of its code ---- */

/* With the interval of the value alone. */
static struct summary
share_of_roof(const struct program_values *values, const char *name, const struct summary *roof)
{
	const struct quantity_value *value = program_values_find(values, name, "");

	return value ? summary_scaled(value->summary, 1 / roof->value) : summary_empty();
}

static bool
is_leaf_of(const struct place_share *item, const struct place_share *loop)
{
	return loop->chained->leaf != 0 && item->place->address == loop->chained->leaf &&
	       strcmp(item->place->object, loop->place->object) == 0;
}

/* The share of the function that turns of the loop call. */
static double
leaf_share(const struct program_places *places, const struct place_share *loop)
{
	const struct place_list *functions = &places->lists[PLACES_FUNCTIONS];

	for (size_t i = 0; i < functions->nr; i++)
		if (is_leaf_of(&functions->items[i], loop))
			return functions->items[i].share.value;
	return 0;
}

/*
 * Chains of the loops of a function, or of the loop that the item is, or of those that call it. The time of a turn is
 * known of sampled ones; that of a function which it calls is part of it.
 */
static void
set_chain(const struct program_places *places, const struct place_share *item, double run_ns, struct finding_code *code)
{
	const struct place_list *loops = &places->lists[PLACES_LOOPS];
	double all_ns = 0, most_ns = 0, besides = 0;

	for (size_t i = 0; i < loops->nr; i++) {
		const struct place_share *loop = &loops->items[i];
		const bool is_own = item->part ? loop == item : place_is_same(loop->place, item->place);
		const bool is_caller = loop->chained && !item->part && is_leaf_of(item, loop);
		double ns, callee;

		if (!loop->chained || loop->nr_samples == 0 || !(is_own || is_caller))
			continue;
		ns = loop->chained->chain_time * (double)loop->nr_turns;
		callee = leaf_share(places, loop);
		besides += is_caller ? loop->share.value : callee;
		all_ns += ns;
		if (ns <= most_ns)
			continue;
		most_ns = ns;
		code->chain = loop->chained->chain;
		code->chain_ns = loop->chained->chain_time;
		code->turn_ns = (loop->share.value + callee) * run_ns / (double)loop->nr_turns;
		code->is_called = is_caller;
	}
	if (most_ns > 0)
		code->chain_share = all_ns / (code->time_ns.value + besides * run_ns);
}

/* Operations as chains name them, and as the kernel Operation does. */
static const struct {
	const char *words[2], *operation;
} chain_operations[] = {
	{{" addition", " additions"}, "ADD"},
	{{" multiplication", " multiplications"}, "MUL"},
	{{" fused multiply-add", " fused multiply-adds"}, "FMA"},
	{{" division", " divisions"}, "DIV"},
	{{" square root", " square roots"}, "SQRT"},
};

/* A chain of operations of one kind, in registers as wide as most of what is computed. */
static struct operation_known
links_of(const struct program_report *report, const struct finding_code *code)
{
	const double packed = code->counts[FINDING_PACKED_DOUBLE] + code->counts[FINDING_PACKED_SINGLE],
		     scalar = code->counts[FINDING_SCALAR_DOUBLE] + code->counts[FINDING_SCALAR_SINGLE],
		     doubles = code->counts[FINDING_SCALAR_DOUBLE] + code->counts[FINDING_PACKED_DOUBLE];
	const char *set = scalar > packed                               ? "SCALAR"
			  : code->counts[FINDING_FLOP_512] > packed / 2 ? "AVX512"
			  : code->counts[FINDING_FLOP_256] > packed / 2 ? "AVX2"
									: "SSE";
	const char *words = code->chain + strspn(code->chain, "0123456789.");

	for (size_t i = 0; i < sizeof(chain_operations) / sizeof(*chain_operations); i++)
		if (strcmp(words, chain_operations[i].words[0]) == 0 ||
		    strcmp(words, chain_operations[i].words[1]) == 0)
			return operation_known(report->rot, chain_operations[i].operation,
					       2 * doubles > scalar + packed ? "DOUBLE" : "FLOAT", set);
	return (struct operation_known){.source = ""};
}

/* Without values of it, nothing is known of what it does: it was not counted, or another part than the timed one was.
 */
static struct finding_code
code_of(const struct program_report *report, const struct place_share *item)
{
	const struct program_places *places = &report->places;
	const struct pass *pass = places->counted;
	const double run_ns = 1e9 * places->cpu_s / (double)places->nr_runs;
	const struct program_roof *roof = report_roof_of(report, item);
	struct finding_code code = finding_code_unknown();

	code.share = item->share;
	code.time_ns = summary_scaled(item->share, run_ns);
	code.vector_bytes = report->vector_bytes;
	for (size_t i = 0; i < FINDING_NR_ORIGINS; i++)
		if (report->line_ns[i] > 0)
			code.line_ns[i] = report->line_ns[i];
	if (item->values.nr == 0)
		return code;
	for (size_t i = 0; i < pass->nr_events; i++)
		for (size_t k = 0; k < FINDING_NR_COUNTS; k++)
			if (strcmp(report->architecture->events[pass->events[i]].name, finding_count_name(k)) == 0)
				code.counts[k] = (double)item->counts[i];
	/* A hot line that is sampled counts as many, one that is not none. */
	if (report->are_lines_sampled)
		code.counts[FINDING_SPLITS] = NAN;
	set_chain(places, item, run_ns, &code);
	if (report->rot)
		code.links = links_of(report, &code);
	code.peak_share = share_of_roof(&item->values, "performance", &roof->peak);
	if (report->plan->border && strncmp(report->plan->border, "llcRam", strlen("llcRam")) == 0)
		code.bandwidth_share = share_of_roof(&item->values, "throughput", &roof->bandwidth);
	return code;
}

/* ---- findings ---- */

static void
add(struct program_report *report, const struct finding_facts *facts, const struct place_share *item, const char *name)
{
	for (const struct finding_rule *rule = finding_rule_next(NULL); rule; rule = finding_rule_next(rule)) {
		struct report_finding found = {.item = item, .name = name};

		if (!finding_make(&found.finding, rule, facts))
			continue;
		report->findings = rot_grow(report->findings, report->nr_findings, sizeof(*report->findings));
		report->findings[report->nr_findings++] = found;
	}
}

/* The measurement comes first, then data; then what is about more of the time. Findings about the same are in the order
 * of the table. */
static int
compare(const void *a, const void *b)
{
	const struct finding *left = &((const struct report_finding *)a)->finding,
			     *right = &((const struct report_finding *)b)->finding;
	const int order = (left->share < right->share) - (left->share > right->share);
	static const int ranks[NR_FINDING_ABOUTS] = {
		[FINDING_MEASUREMENT] = 0, [FINDING_DATA] = 1, [FINDING_PROGRAM] = 2, [FINDING_CODE] = 2};
	const int rank = ranks[left->rule->about] - ranks[right->rule->about];

	if (rank != 0)
		return rank;
	if (left->rule->about == FINDING_DATA && left->rule == right->rule)
		return (left->value < right->value) - (left->value > right->value);
	return order ? order : (left->rule > right->rule) - (left->rule < right->rule);
}

/* The first line that threads share in an object is enough. */
static bool
is_like_before(const struct program_run_output *run, size_t i)
{
	const struct false_sharing *sharing = program_run_output_false_sharing_at(run, i);

	for (size_t k = 0; k < i; k++)
		if (strcmp(program_run_output_false_sharing_at(run, k)->data, sharing->data) == 0)
			return true;
	return false;
}

static void
find_in_data(struct program_report *report)
{
	const struct program_run_output *run = report_run_of_misses(report);

	for (size_t i = 0; run && i < program_run_output_nr_false_sharing(run); i++) {
		const struct false_sharing *sharing = program_run_output_false_sharing_at(run, i);

		if (!is_like_before(run, i))
			add(report, &(struct finding_facts){.sharing = sharing}, NULL, sharing->data);
	}
	for (size_t i = 0; run && i < program_run_output_nr_miss_conflicts(run); i++) {
		const struct miss_conflict *conflict = program_run_output_miss_conflicts_at(run, i);

		add(report, &(struct finding_facts){.conflict = conflict}, NULL, conflict->function);
	}
}

void
report_find(struct program_report *report)
{
	const struct place_list *list =
		&report->places.lists[report->by == PLACES_LINES ? PLACES_FUNCTIONS : report->by];
	const struct finding_run run = run_of(report);
	const bool is_sampled = report->plan->is_timed && report->places.wall_s > 0;

	if (is_sampled)
		add(report, &(struct finding_facts){.run = &run}, NULL, "");
	for (size_t i = 0; is_sampled && i < list->nr; i++) {
		const struct finding_code code = code_of(report, &list->items[i]);

		add(report, &(struct finding_facts){.code = &code}, &list->items[i], "");
	}
	find_in_data(report);
	if (report->nr_findings > 0)
		qsort(report->findings, report->nr_findings, sizeof(*report->findings), compare);
}

void
report_findings_clear(struct program_report *report)
{
	for (size_t i = 0; i < report->nr_findings; i++)
		finding_clear(&report->findings[i].finding);
	free(report->findings);
}

/* ---- told ---- */

/* The code, or "the program". Fresh memory. */
static char *
name_of(const struct report_finding *found)
{
	return found->item ? report_place_name(found->item)
	       : *found->name
		       ? rot_strdup(found->name)
		       : rot_strdup(found->finding.rule->about == FINDING_MEASUREMENT ? "measurement" : "program");
}

#define MOST_SHOWN 2

static void
print_finding(const struct program_report *report, const struct report_finding *found, FILE *out)
{
	const struct finding *finding = &found->finding;
	autofree char *name = name_of(found), *threshold = finding_threshold_text(finding->rule);
	autofree char *text =
		rot_format("%s: %s; try %s%s%s%s", finding->measured, finding->consequence, finding->rule->advice,
			   report->is_all ? " [" : "", report->is_all ? threshold : "", report->is_all ? "]" : "");

	text_print(text, 6, fprintf(out, "  %s:", name), out);
}

/* The heading grades the measurement. Only --all describes those of its findings that are about no share of the time.
 */
void
report_findings(const struct program_report *report, FILE *out)
{
	const bool is_brief = report_is_about_misses(report);
	size_t nr_weak = 0, nr_checks = 0, nr_told = 0, most, end = report->nr_findings;
	autofree char *weak = rot_strdup(""), *grade = NULL;

	for (const struct finding_rule *rule = finding_rule_next(NULL); rule; rule = finding_rule_next(rule))
		nr_checks += rule->about == FINDING_MEASUREMENT;
	for (; nr_weak < end && report->findings[nr_weak].finding.rule->about == FINDING_MEASUREMENT; nr_weak++) {
		rot_append(&weak, "%s %s", nr_weak ? "," : ":", report->findings[nr_weak].finding.rule->code);
		nr_told += !is_brief && !isnan(report->findings[nr_weak].finding.share);
	}
	most = nr_told > MOST_SHOWN ? 0 : MOST_SHOWN - nr_told;
	/* Beside tables of misses there are findings about data alone. */
	for (size_t i = 0; is_brief && i < most; i++)
		if (nr_weak + i >= end || report->findings[nr_weak + i].finding.rule->about != FINDING_DATA)
			most = i;
	if (is_brief ? most == 0 : nr_weak == end && nr_told == 0)
		return;
	if (!report->is_all && end > nr_weak + most)
		end = nr_weak + most;
	if (!report->plan->is_timed)
		grade = rot_strdup("");
	else if (nr_weak > 0)
		grade = rot_format("(%zu of %zu checks of the measurement fail%s)", nr_weak, nr_checks, weak);
	else
		grade = rot_format("(all %zu checks of the measurement passed)", nr_checks);
	fputc('\n', out);
	text_print_behind("  findings", grade, out);
	for (size_t i = 0; i < end; i++)
		if (report->is_all || i >= nr_weak || (nr_told > 0 && !isnan(report->findings[i].finding.share)))
			print_finding(report, &report->findings[i], out);
	if (end < report->nr_findings)
		fprintf(out, "  %zu more: --all\n", report->nr_findings - end);
}

json_t *
report_findings_json(const struct program_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->nr_findings; i++) {
		const struct finding *finding = &report->findings[i].finding;
		const struct finding_rule *rule = finding->rule;
		const struct place_share *item = report->findings[i].item;
		autofree char *name = name_of(&report->findings[i]);
		json_t *json = json_object();

		json_object_set_new(json, "about", json_text(finding_about_word(rule->about)));
		json_object_set_new(json, "place", json_text(name));
		json_object_set_new(json, "function", json_text(item ? item->place->function : ""));
		json_object_set_new(json, "code", json_text(rule->code));
		json_object_set_new(json, "measured", json_text(finding->measured));
		json_object_set_new(json, "value", json_real_or_null(finding->value));
		json_object_set_new(json, "condition", json_text(rule->condition));
		json_object_set_new(json, "threshold", json_real(rule->threshold));
		json_object_set_new(json, "unit", json_text(rule->unit));
		json_object_set_new(json, "share", json_real_or_null(finding->share));
		json_object_set_new(json, "consequence", json_text(finding->consequence));
		json_object_set_new(json, "advice", json_text(rule->advice));
		json_array_append_new(array, json);
	}
	return array;
}
