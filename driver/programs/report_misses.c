/* SPDX-License-Identifier: MIT */
/* Misses by kind; and at every capacity: as a table, working sets, JSON, and a plot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/text_table.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "plots/plot.h"
#include "programs/options.h"
#include "programs/report.h"
#include "quantities/architecture.h"
#include "quantities/value_text.h"
#include "rot.h"

/* ---- by kind ---- */

const struct program_run_output *
report_run_of_misses(const struct program_report *report)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i);

		if (program_run_output_nr_miss_kinds(run) > 0)
			return run;
	}
	return NULL;
}

static char *
share_text(uint64_t part, uint64_t all)
{
	return all > 0 ? rot_format("%.3g %%", 100 * (double)part / (double)all) : rot_strdup("-");
}

/* ---- by function, loop, object or thread ---- */

/* Levels of a share: lines read by kind, and those written. */
#define NR_LEVELS 3
#define NR_KINDS 3
#define LINE_BYTES 64 /* where no others are asked for */
#define MOST_SHOWN 10
#define NAME_WIDTH 34

static uint64_t
lines_of(const struct miss_share *share, int level, int kind)
{
	return miss_share_lines_at(share, (size_t)(level * (NR_KINDS + 1) + kind));
}

static uint64_t
nr_read(const struct miss_share *share, int level)
{
	return lines_of(share, level, 0) + lines_of(share, level, 1) + lines_of(share, level, 2);
}

/* Most misses in the first level come first. */
static int
by_misses(const void *a, const void *b)
{
	const struct miss_share *one = *(const struct miss_share *const *)a,
				*other = *(const struct miss_share *const *)b;

	for (int level = 0; level < NR_LEVELS; level++)
		if (nr_read(one, level) != nr_read(other, level))
			return nr_read(one, level) < nr_read(other, level) ? 1 : -1;
	return strcmp(one->name, other->name);
}

/* The shares by function, loop, object or thread, sorted; of regions, which have no lines by kind, in the order of the
 * command. Fresh memory. */
static const struct miss_share **
shares_by(const struct program_run_output *run, const char *by, size_t *nr)
{
	const struct miss_share **shares = rot_calloc(program_run_output_nr_miss_shares(run) + 1, sizeof(*shares));

	*nr = 0;
	for (size_t i = 0; i < program_run_output_nr_miss_shares(run); i++)
		if (strcmp(program_run_output_miss_shares_at(run, i)->by, by) == 0)
			shares[(*nr)++] = program_run_output_miss_shares_at(run, i);
	if (*nr > 0 && miss_share_nr_lines(shares[0]) > 0)
		qsort(shares, *nr, sizeof(*shares), by_misses);
	return shares;
}

static char *
share_name(const struct miss_share *share)
{
	if (share->number > 0)
		return rot_format("thread %d", (int)share->number);
	if (!share->name[0])
		return rot_strdup("not known");
	return report_fitted(share->name, NAME_WIDTH, strcmp(share->by, "loop") == 0);
}

static char *
megabytes_text(const struct program_report *report, const struct miss_share *share, int level)
{
	const uint64_t lines = nr_read(share, level) + lines_of(share, level, NR_KINDS);
	const int64_t asked = report->architecture->stepping.caches.traits[level].line_bytes;

	return rot_format("%.3g", (double)lines * (double)(asked ? asked : LINE_BYTES) * 1e-6);
}

/* The last level that is there. */
static int
last_level(const struct program_run_output *run)
{
	return (int)program_run_output_miss_kinds_at(run, program_run_output_nr_miss_kinds(run) - 1)->level - 1;
}

/* "function", "loop", "object" or "thread": places of misses; those of lines are not known. */
static const char *
misses_by(const struct program_report *report)
{
	return run_options_by(report->options) == PLACES_LINES ? "function" : report->options->by;
}

static void
print_shares(const struct program_report *report, const struct program_run_output *run, FILE *out)
{
	size_t nr;
	autofree const struct miss_share **shares = shares_by(run, misses_by(report), &nr);
	const int first = (int)program_run_output_miss_kinds_at(run, 0)->level - 1;
	autofree char *heading = rot_format("  %s", misses_by(report)), *misses = rot_format("L%d misses", first + 1);
	const struct text_table_column columns[] = {
		{heading, true}, {misses, false}, {"capacity", false}, {"conflict", false}, {"MB of\nmemory", false}};
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 1};
	const size_t most = report->is_all ? nr : MOST_SHOWN;

	for (size_t i = 0; i < nr && i < most; i++) {
		const struct miss_share *share = shares[i];
		const uint64_t all = nr_read(share, first);
		autofree char *name = share_name(share);

		text_table_add(&table, (char *[]){rot_format("  %s", name), rot_number_in_full((double)all),
						  share_text(lines_of(share, first, 1), all),
						  share_text(lines_of(share, first, 2), all),
						  megabytes_text(report, share, last_level(run))});
	}
	fputc('\n', out);
	text_table_print(&table, out);
	text_table_clear(&table);
	if (nr > most)
		fprintf(out, "  %zu more: --all\n", nr - most);
}

void
report_miss_note(struct program_report *report)
{
	const struct program_run_output *run = report_run_of_misses(report);

	if (run && run->allocations_are_missed)
		program_report_note(report, "too many places call malloc and the like: what the last of these allocate "
					    "counts as heap, or as what was there before");
}

static json_t *
share_json(const struct miss_share *share, const struct program_run_output *run)
{
	json_t *levels = json_array(), *json = json_entity(share);

	for (size_t i = 0; i < program_run_output_nr_miss_kinds(run); i++) {
		const int level = (int)program_run_output_miss_kinds_at(run, i)->level;

		json_array_append_new(levels, json_pack("{s:i, s:I, s:I, s:I, s:I}", "level", level, "compulsory",
							(json_int_t)lines_of(share, level - 1, 0), "capacity",
							(json_int_t)lines_of(share, level - 1, 1), "conflict",
							(json_int_t)lines_of(share, level - 1, 2), "writeBacks",
							(json_int_t)lines_of(share, level - 1, NR_KINDS)));
	}
	json_object_del(json, "by");
	json_object_set_new(json, "levels", levels);
	if (miss_share_nr_curve(share) > 0) {
		json_t *curve = json_array();

		for (size_t i = 0; i < miss_share_nr_curve(share); i++)
			json_array_append_new(curve, json_integer((json_int_t)miss_share_curve_at(share, i)));
		json_object_set_new(json, "curve", curve);
	}
	return json;
}

static json_t *
misses_by_json(const struct program_run_output *run)
{
	static const char *const keys[][2] = {
		{"function", "functions"}, {"loop", "loops"}, {"object", "objects"}, {"thread", "threads"}};
	json_t *json = json_object();

	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		size_t nr;
		autofree const struct miss_share **shares = shares_by(run, keys[k][0], &nr);
		json_t *array = json_array();

		for (size_t i = 0; i < nr; i++)
			json_array_append_new(array, share_json(shares[i], run));
		json_object_set_new(json, keys[k][1], array);
	}
	return json;
}

void
report_add_misses_json(const struct program_report *report, json_t *json)
{
	const struct program_run_output *run = report_run_of_misses(report);
	json_t *kinds = json_array(), *conflicts = json_array(), *sharing = json_array();

	for (size_t i = 0; i < program_run_output_nr_miss_kinds(run); i++)
		json_array_append_new(kinds, json_entity(program_run_output_miss_kinds_at(run, i)));
	for (size_t i = 0; i < program_run_output_nr_miss_conflicts(run); i++)
		json_array_append_new(conflicts, json_entity(program_run_output_miss_conflicts_at(run, i)));
	for (size_t i = 0; i < program_run_output_nr_false_sharing(run); i++)
		json_array_append_new(sharing, json_entity(program_run_output_false_sharing_at(run, i)));
	json_object_set_new(json, "missKinds", kinds);
	json_object_set_new(json, "missesBy", misses_by_json(run));
	json_object_set_new(json, "missConflicts", conflicts);
	json_object_set_new(json, "falseSharing", sharing);
}

void
report_miss_kinds(const struct program_report *report, FILE *out)
{
	static const struct text_table_column columns[] = {
		{"  level", true}, {"misses", false}, {"compulsory", false}, {"capacity", false}, {"conflict", false}};
	const struct program_run_output *run = report_run_of_misses(report);
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 1};

	if (!run)
		return;
	for (size_t i = 0; i < program_run_output_nr_miss_kinds(run); i++) {
		const struct miss_kinds *kinds = program_run_output_miss_kinds_at(run, i);
		const uint64_t all = kinds->compulsory + kinds->capacity + kinds->conflict;

		text_table_add(&table, (char *[]){rot_format("  L%d", (int)kinds->level),
						  rot_number_in_full((double)all), share_text(kinds->compulsory, all),
						  share_text(kinds->capacity, all), share_text(kinds->conflict, all)});
	}
	fputs("\n  why lines were missing in the modelled caches\n\n", out);
	text_table_print(&table, out);
	text_table_clear(&table);
	print_shares(report, run, out);
}

/* ---- other caches ---- */

#define NR_BORDERS 3
static const char *const borders[NR_BORDERS] = {"L1-L2", "L2-L3", "LLC-RAM"};

/* A value within this share of what it was is not said to have changed. */
#define LEAST_CHANGED 0.05

/* NULL: they were not asked for. */
static const struct program_run_output *
find_what_ifs(const struct program_report *report)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(report->output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(report->output, i);

		if (program_run_output_nr_what_ifs(run) > 0)
			return run;
	}
	return NULL;
}

static double
moved_bytes(const struct what_if *what_if, size_t border)
{
	return (double)(what_if_read_bytes_at(what_if, border) + what_if_written_bytes_at(what_if, border));
}

/* The first ones are those of the key. */
static const char *
what_if_name(const struct program_report *report, size_t i)
{
	return i == 0 ? "as modelled" : report->options->what_ifs[i - 1];
}

/* "L1-L2 x 0.31": nothing where it is much as it was. */
static void
append_change(char **text, const char *what, double before, double now)
{
	if (before == now || fabs(now / before - 1) <= LEAST_CHANGED)
		return;
	rot_append(text, "%s%s", **text ? ", " : "", what);
	if (before > 0)
		rot_append(text, " times %.3g", now / before);
	else
		rot_append(text, " %.3g instead of 0", now);
}

static char *
changes_text(const struct what_if *first, const struct what_if *other)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < NR_BORDERS; i++)
		append_change(&text, borders[i], moved_bytes(first, i), moved_bytes(other, i));
	append_change(&text, "TLB misses", (double)first->tlb_misses, (double)other->tlb_misses);
	if (!*text)
		rot_append(&text, "all within %g %%", 100 * LEAST_CHANGED);
	return text;
}

void
report_what_ifs(const struct program_report *report, FILE *out)
{
	static const struct text_table_column columns[] = {
		{"  caches", true}, {"MB\nL1-L2", false},   {"misses", false}, {"MB\nL2-L3", false},
		{"misses", false},  {"MB\nLLC-RAM", false}, {"misses", false}, {"TLB\nmisses", false}};
	const struct program_run_output *run = find_what_ifs(report);
	const struct quantity_value *instructions = program_values_find(&report->total, "instructions", "");
	const double thousands = instructions ? instructions->summary.value / 1000 : NAN;
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 1};

	if (!run)
		return;
	for (size_t i = 0; i < program_run_output_nr_what_ifs(run); i++) {
		const struct what_if *what_if = program_run_output_what_ifs_at(run, i);
		char *cells[sizeof(columns) / sizeof(*columns)];

		cells[0] = rot_format("  %s", what_if_name(report, i));
		for (size_t k = 0; k < NR_BORDERS; k++) {
			cells[1 + 2 * k] = rot_format("%.4g", moved_bytes(what_if, k) * 1e-6);
			cells[2 + 2 * k] = rot_format("%.3g", (double)what_if_misses_at(what_if, k) / thousands);
		}
		cells[1 + 2 * NR_BORDERS] = rot_format("%.3g", (double)what_if->tlb_misses / thousands);
		text_table_add(&table, cells);
	}
	fputs("\n  what other caches would move; misses for 1000 instructions\n\n", out);
	text_table_print(&table, out);
	text_table_clear(&table);
	fputc('\n', out);
	for (size_t i = 1; i < program_run_output_nr_what_ifs(run); i++) {
		autofree char *label = rot_format("  %s:", what_if_name(report, i));
		autofree char *text =
			changes_text(program_run_output_what_ifs_at(run, 0), program_run_output_what_ifs_at(run, i));

		text_print_behind(label, text, out);
	}
}

json_t *
report_what_ifs_json(const struct program_report *report)
{
	const struct program_run_output *run = find_what_ifs(report);
	json_t *json = run ? json_array() : NULL;

	for (size_t i = 0; run && i < program_run_output_nr_what_ifs(run); i++) {
		const struct what_if *what_if = program_run_output_what_ifs_at(run, i);
		json_t *moved = json_array();

		for (size_t k = 0; k < NR_BORDERS; k++)
			json_array_append_new(moved,
					      json_pack("{s:s, s:I, s:I, s:I}", "border", borders[k], "readBytes",
							(json_int_t)what_if_read_bytes_at(what_if, k), "writtenBytes",
							(json_int_t)what_if_written_bytes_at(what_if, k), "misses",
							(json_int_t)what_if_misses_at(what_if, k)));
		json_array_append_new(json, json_pack("{s:o, s:o, s:I}", "caches", json_text(what_if_name(report, i)),
						      "borders", moved, "tlbMisses", (json_int_t)what_if->tlb_misses));
	}
	return json;
}

/* ---- by capacity ---- */

/* NULL: it was not asked for, or no line was used. */
static const struct program_run_output *
find_run_of_curve(const struct program_report *report)
{
	const struct program_run_output *run = NULL;

	for (size_t i = 0; i < program_command_output_nr_outputs(report->output) && !(run && run->miss_curve); i++)
		run = program_command_output_outputs_at(report->output, i);
	return run && run->miss_curve && run->miss_curve->lines > 0 ? run : NULL;
}

static const struct miss_curve *
find_curve(const struct program_report *report)
{
	const struct program_run_output *run = find_run_of_curve(report);

	return run ? run->miss_curve : NULL;
}

static size_t
nr_of(const struct miss_curve *curve)
{
	return miss_curve_nr_capacities(curve);
}

static uint64_t
capacity_at(const struct miss_curve *curve, size_t i)
{
	return miss_curve_capacities_at(curve, i) * curve->line_bytes;
}

static uint64_t
misses_at(const struct miss_curve *curve, size_t i)
{
	return miss_curve_misses_at(curve, i);
}

static uint64_t
bytes_at(const struct miss_curve *curve, size_t i)
{
	return (misses_at(curve, i) + miss_curve_write_backs_at(curve, i)) * curve->line_bytes + curve->streamed_bytes;
}

bool
report_is_about_misses(const struct program_report *report)
{
	return !report->is_all && (find_curve(report) || report_run_of_misses(report) || find_what_ifs(report));
}

/* ---- working sets ---- */

/* From one capacity to the next bytes fall at least by that much; all such steps together by so much. */
#define STEEP 0.1
#define WORTH_NAMING 0.2

static bool
is_steep(const struct miss_curve *curve, size_t i)
{
	return i < nr_of(curve) && (double)bytes_at(curve, i) < (1 - STEEP) * (double)bytes_at(curve, i - 1);
}

/*
 * The capacity at which the first fall behind capacity *i ends, which *i becomes; 0: there is none. In a fall there may
 * be steps that are flat, but not two together.
 */
static size_t
next_fall(const struct miss_curve *curve, size_t *i)
{
	while (*i + 1 < nr_of(curve)) {
		const size_t begin = *i;
		size_t end = begin;

		while (is_steep(curve, end + 1) || (end > begin && is_steep(curve, end + 2)))
			end++;
		*i = end > begin ? end : begin + 1;
		if ((double)bytes_at(curve, end) < (1 - WORTH_NAMING) * (double)bytes_at(curve, begin))
			return end;
	}
	return 0;
}

/* "48 KiB, 3.1 MiB"; "": none. Fresh memory. */
static char *
working_sets_text(const struct miss_curve *curve)
{
	char *text = rot_strdup("");

	for (size_t i = 0, end; (end = next_fall(curve, &i)) > 0;) {
		autofree char *size = machine_size_text((int64_t)capacity_at(curve, end));

		rot_append(&text, "%s%s", *text ? ", " : "", size);
	}
	return text;
}

static json_t *
working_sets_json(const struct miss_curve *curve)
{
	json_t *sets = json_array();

	for (size_t i = 0, end; (end = next_fall(curve, &i)) > 0;)
		json_array_append_new(sets, json_integer((json_int_t)capacity_at(curve, end)));
	return sets;
}

/* ---- text ---- */

/* Rows are so many capacities apart, four times the bytes. Without --all a row differs by so much from the one before.
 */
#define ROW_STEPS 8
#define LEAST_CHANGE 0.1

/* "L2", or "L1 (48 KiB)" where that is more: the caches of this machine that hold as much, but not as much as the next
 * capacity; "": none. Fresh memory. */
static char *
caches_like(const struct machine *machine, const struct miss_curve *curve, size_t i)
{
	const struct {
		int64_t bytes;
		const char *name;
	} caches[] = {{machine->l1_data_bytes, "L1"},
		      {machine->l2_bytes, "L2"},
		      {machine->llc_bytes / 2, "half the last level"},
		      {machine->llc_bytes, "last level"}};
	char *text = rot_strdup("");

	for (size_t k = 0; k < sizeof(caches) / sizeof(*caches); k++)
		if (caches[k].bytes >= (int64_t)capacity_at(curve, i) &&
		    (i + 1 == nr_of(curve) || caches[k].bytes < (int64_t)capacity_at(curve, i + 1))) {
			autofree char *size = machine_size_text(caches[k].bytes);

			rot_append(&text, "%s%s", *text ? ", " : "", caches[k].name);
			if (caches[k].bytes > (int64_t)capacity_at(curve, i))
				rot_append(&text, " (%s)", size);
		}
	return text;
}

/* caches: taken over */
static void
add_row(struct text_table *table, const struct miss_curve *curve, size_t i, double instructions, char *caches)
{
	const double misses = (double)misses_at(curve, i);
	const struct summary exact[] = {summary_single((double)bytes_at(curve, i) * 1e-6, "exact"),
					summary_single(1000 * misses / instructions, "exact")};

	text_table_add(table,
		       (char *[]){machine_size_text((int64_t)capacity_at(curve, i)), rot_format("%.4g", exact[0].value),
				  isfinite(exact[1].value) ? rot_format("%.3g", exact[1].value) : rot_strdup("-"),
				  caches});
}

/* ---- by capacity and function, loop, object, thread or region ---- */

/* The lines that were read for a share, as a curve. NULL: it has none. Fresh memory. */
static struct miss_curve *
part_of(const struct miss_curve *curve, const struct miss_share *share)
{
	struct miss_curve *part;

	if (miss_share_nr_curve(share) != nr_of(curve))
		return NULL;
	part = miss_curve_new();
	part->line_bytes = curve->line_bytes;
	for (size_t i = 0; i < nr_of(curve); i++) {
		miss_curve_capacities_add(part, miss_curve_capacities_at(curve, i));
		miss_curve_misses_add(part, miss_share_curve_at(share, i));
		miss_curve_write_backs_add(part, 0);
	}
	return part;
}

/* With so many times the lines that all capacities miss, or fewer, it fits. */
#define FITTING 1.05

/* The capacity from which on it fits, as text in fresh memory. */
static char *
fitting_text(const struct miss_curve *curve)
{
	size_t i = nr_of(curve) - 1;
	const double least = FITTING * (double)misses_at(curve, i);

	while (i > 0 && (double)misses_at(curve, i - 1) <= least)
		i--;
	return i == 0 ? rot_strdup("less") : machine_size_text((int64_t)capacity_at(curve, i));
}

/* The misses of the largest capacity that is no larger than that; "-" for 0, a cache that nobody tells. */
static char *
misses_with(const struct miss_curve *curve, int64_t bytes)
{
	size_t i = 0;

	if (bytes == 0)
		return rot_strdup("-");
	while (i + 1 < nr_of(curve) && (int64_t)capacity_at(curve, i + 1) <= bytes)
		i++;
	return rot_number_in_full((double)misses_at(curve, i));
}

/* With the caches that are modelled, as kinds of misses are of these, or with those of this machine. Regions have
 * working sets as well. */
static void
print_curves(const struct program_report *report, const struct program_run_output *run, const char *by, FILE *out)
{
	const struct machine *modelled = report->architecture->stepping.caches.machine;
	const struct machine *machine = modelled ? modelled : report->machine;
	const bool are_regions = strcmp(by, "region") == 0;
	const struct miss_curve *curve = find_curve(report);
	size_t nr;
	autofree const struct miss_share **shares = shares_by(run, by, &nr);
	autofree char *heading = rot_format("  %s", by);
	const struct text_table_column columns[] = {{heading, true},      {"misses with\nthe L1", false},
						    {"the L2", false},    {"the last\nlevel", false},
						    {"fits into", false}, {"working sets", true}};
	struct text_table table = {.columns = columns, .nr_columns = are_regions ? 6 : 5, .nr_keys = 1};

	for (size_t i = 0; i < nr && (report->is_all || are_regions || table.nr_rows < MOST_SHOWN); i++) {
		autofree char *name = share_name(shares[i]);
		struct miss_curve *part = part_of(curve, shares[i]);

		if (!part)
			continue;
		text_table_add(&table,
			       (char *[]){rot_format("  %s", name), misses_with(part, machine->l1_data_bytes),
					  misses_with(part, machine->l2_bytes), misses_with(part, machine->llc_bytes),
					  fitting_text(part), are_regions ? working_sets_text(part) : NULL});
		miss_curve_delete(part);
	}
	if (table.nr_rows > 0) {
		fputc('\n', out);
		text_table_print(&table, out);
	}
	text_table_clear(&table);
}

void
report_curve(const struct program_report *report, FILE *out)
{
	static const struct text_table_column columns[] = {{"  capacity", false},
							   {"MB moved", false},
							   {"misses per 1000\ninstructions", false},
							   {"as this machine has", true}};
	const struct miss_curve *curve = find_curve(report);
	const struct quantity_value *instructions = program_values_find(&report->total, "instructions", "");
	struct text_table table = {.columns = columns, .nr_columns = 4, .nr_keys = 1};
	autofree char *sets = curve ? working_sets_text(curve) : NULL;

	if (!curve || nr_of(curve) == 0)
		return;
	for (size_t i = 0, shown = 0, last = nr_of(curve); i < nr_of(curve); i++) {
		char *caches = caches_like(report->machine, curve, i);
		const bool is_row = i % ROW_STEPS == 0 && i <= last;
		const bool is_last = is_row && (misses_at(curve, i) <= curve->lines || i + ROW_STEPS >= nr_of(curve));

		if (*caches ||
		    (is_row && (i == 0 || is_last || report->is_all ||
				(double)bytes_at(curve, i) <= (1 - LEAST_CHANGE) * (double)bytes_at(curve, shown)))) {
			add_row(&table, curve, i, instructions ? instructions->summary.value : NAN, caches);
			shown = i;
		} else {
			free(caches);
		}
		if (is_last)
			last = i;
	}
	fputs("\n  what a cache would move, by its capacity (fully associative)\n\n", out);
	text_table_print(&table, out);
	text_table_clear(&table);
	text_print_behind("  working sets:", *sets ? sets : "none stands out", out);
	if (report_run_of_misses(report))
		print_curves(report, report_run_of_misses(report), misses_by(report), out);
	print_curves(report, find_run_of_curve(report), "region", out);
}

void
report_curve_note(struct program_report *report)
{
	const struct miss_curve *curve = find_curve(report);

	if (!curve)
		return;
	if (curve->is_sampled && curve->largest_error >= 0)
		program_report_note(
			report,
			"misses by capacity are of sampled lines; parts of the run in which all were followed say "
			"that they are off by at most %.2g %% of the uses of lines, and by %.2g %% on average",
			100 * curve->largest_error, 100 * curve->mean_error);
	else if (curve->is_sampled)
		program_report_note(report, "misses by capacity are of sampled lines");
	if (curve->shrinks > 0)
		program_report_note(report,
				    "misses by capacity: a process used more lines than are followed; at last one of "
				    "%llu stood for all",
				    1ULL << curve->shrinks);
}

/* ---- JSON ---- */

/* The curves of regions that read any line that the least capacity misses. */
static json_t *
regions_json(const struct program_run_output *run)
{
	size_t nr;
	autofree const struct miss_share **shares = shares_by(run, "region", &nr);
	json_t *regions = json_array();

	for (size_t i = 0; i < nr; i++) {
		struct miss_curve *part = part_of(run->miss_curve, shares[i]);
		json_t *misses = json_array();

		for (size_t k = 0; k < nr_of(part); k++)
			json_array_append_new(misses, json_integer((json_int_t)misses_at(part, k)));
		json_array_append_new(regions, json_pack("{s:o, s:o, s:o}", "region", json_text(shares[i]->name),
							 "workingSets", working_sets_json(part), "misses", misses));
		miss_curve_delete(part);
	}
	return regions;
}

json_t *
report_curve_json(const struct program_report *report)
{
	const struct miss_curve *curve = find_curve(report);
	json_t *capacities, *json;

	if (!curve)
		return NULL;
	capacities = json_array();
	for (size_t i = 0; i < nr_of(curve); i++)
		json_array_append_new(capacities,
				      json_pack("{s:I, s:I, s:I, s:I}", "capacity", (json_int_t)capacity_at(curve, i),
						"misses", (json_int_t)misses_at(curve, i), "writeBacks",
						(json_int_t)miss_curve_write_backs_at(curve, i), "bytes",
						(json_int_t)bytes_at(curve, i)));
	json = json_pack("{s:I, s:I, s:I, s:b}", "lineBytes", (json_int_t)curve->line_bytes, "lines",
			 (json_int_t)curve->lines, "streamedBytes", (json_int_t)curve->streamed_bytes, "isSampled",
			 curve->is_sampled);
	json_object_set_new(json, "largestError",
			    json_real_or_null(curve->largest_error < 0 ? NAN : curve->largest_error));
	json_object_set_new(json, "meanError", json_real_or_null(curve->mean_error < 0 ? NAN : curve->mean_error));
	json_object_set_new(json, "shrinks", json_integer(curve->shrinks));
	json_object_set_new(json, "workingSets", working_sets_json(curve));
	json_object_set_new(json, "capacities", capacities);
	json_object_set_new(json, "regions", regions_json(find_run_of_curve(report)));
	return json;
}

/* ---- plot ---- */

/* Both axes are logarithmic: what is 0 is left out. */
static void
add_series(struct series_plot *plot, struct plot_series *series, struct pool *pool, enum plot_style style,
	   const struct miss_curve *curve, bool is_read)
{
	struct plot_point *points = pool_calloc(pool, nr_of(curve), sizeof(*points));
	size_t nr = 0;

	for (size_t i = 0; i < nr_of(curve); i++) {
		const uint64_t bytes = is_read ? misses_at(curve, i) * curve->line_bytes : bytes_at(curve, i);

		if (bytes > 0)
			points[nr++] =
				(struct plot_point){.x = summary_single((double)capacity_at(curve, i) / 1024, "exact"),
						    .y = summary_single((double)bytes * 1e-6, "exact"),
						    .size = NAN};
	}
	series[plot->nr_series++] = (struct plot_series){.points = points, .nr_points = nr, .style = style};
}

static int
draw(const struct program_report *report, const struct rot *rot, const char *output_name, struct rot_error *err)
{
	const struct program_run_output *run = find_run_of_curve(report);
	const struct miss_curve *curve = run->miss_curve;
	const struct machine *machine = rot->modelled ? rot->modelled : rot->machine;
	const struct plot_marker markers[] = {{(double)machine->l1_data_bytes / 1024, "L1"},
					      {(double)machine->l2_bytes / 1024, "L2"},
					      {(double)machine->llc_bytes / 1024, "last level"}};
	size_t nr_regions;
	autofree const struct miss_share **regions = shares_by(run, "region", &nr_regions);
	autopool pool = {0};
	struct plot_series *series = pool_calloc(&pool, 2 + nr_regions, sizeof(*series));
	autofree char *sets = working_sets_text(curve);
	struct series_plot plot = {.frame = {.title = report->title,
					     .x = {"capacity", "KiB", true, NAN, NAN},
					     .y = {"bytes moved", "MB", true, NAN, NAN},
					     .key_position = configuration_string(rot->configuration, "keyPosition"),
					     .markers = markers,
					     .nr_markers = sizeof(markers) / sizeof(*markers)},
				   .series = series};

	plot.frame.caption =
		pool_format(&pool, "bytes that fully associative LRU caches of each capacity would move%s%s",
			    *sets ? "; working sets: " : "", sets);
	add_series(&plot, series, &pool, PLOT_JOINED, curve, false);
	series[0].name = "read and written";
	add_series(&plot, series, &pool, PLOT_MODEL, curve, true);
	series[1].name = "read";
	for (size_t i = 0; i < nr_regions; i++) {
		struct miss_curve *part = part_of(curve, regions[i]);

		add_series(&plot, series, &pool, PLOT_JOINED, part, true);
		series[2 + i].name = pool_format(&pool, "read in %s", regions[i]->name);
		miss_curve_delete(part);
	}
	return series_plot_write(&plot, output_name, err);
}

int
report_curve_plot(const struct program_report *report, const struct rot *rot, const char *output_name,
		  struct rot_error *err)
{
	autofree char *name = rot_format("%s-misses", output_name);

	return find_run_of_curve(report) ? draw(report, rot, name, err) : 0;
}
