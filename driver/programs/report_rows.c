/* SPDX-License-Identifier: MIT */
/* Lines of the tables of a program. */
#include "programs/report_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "number.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "support/entry.h"
#include "support/terminal.h"

#define LABEL_WIDTH 44
#define VALUE_WIDTH 16
#define HITS_WIDTH 12
#define TIME_WIDTH 10
#define MAX_THREADS_SHOWN 40

/* ---- one quantity a line ---- */

void
report_row(FILE *out, const char *label, const char *value, const char *unit)
{
	fprintf(out, "  %-*s %*s%s%s\n", LABEL_WIDTH, label, VALUE_WIDTH, value, *unit ? " " : "", unit);
}

void
report_row_number(FILE *out, const char *label, double number, const char *unit)
{
	struct summary summary = summary_single(number, "exact");
	char *text = summary_text(&summary);

	report_row(out, label, text, unit);
	free(text);
}

void
report_row_share(FILE *out, const char *label, double share)
{
	char *text = isnan(share) ? rot_strdup("-") : rot_format("%.3g", 100 * share);

	report_row(out, label, text, isnan(share) ? "" : "%");
	free(text);
}

/* "operation count (double precision)" */
static char *
label_of(const struct quantity_value *value)
{
	const bool is_cycles = strcmp(value->of, "coreCycles") == 0;
	char *name = is_cycles ? rot_strdup("core cycles") : camel_case_words(value->name);
	char *of = is_cycles ? rot_strdup("") : value_of_words(value);
	char *label = rot_format("%s%s%s%s", name, *of ? " (" : "", of, *of ? ")" : "");

	free(name);
	free(of);
	return label;
}

static void
print_value(const struct quantity_value *value, FILE *out)
{
	char *label = label_of(value), *text = value_text(value);

	report_row(out, label, text, strcmp(value->of, "coreCycles") == 0 ? "" : shown_unit(value->unit).shown);
	free(label);
	free(text);
}

void
report_row_time(FILE *out, const char *label, const struct quantity_value *value)
{
	struct quantity_value seconds = *value;
	char *text;

	seconds.summary = summary_scaled(value->summary, 1e-6);
	text = value_text(&seconds);

	report_row(out, label, text, "s");
	free(text);
}

/* Is there one of the same quantity before it? */
static bool
is_further(const struct program_values *values, size_t i)
{
	size_t first = 0;

	while (strcmp(values->values[first].name, values->values[i].name) != 0)
		first++;
	return first < i;
}

/* The names with that of the value behind; frees them. */
static char *
with_label(char *names, const struct quantity_value *value)
{
	char *label = label_of(value), *longer = rot_format("%s%s%s", names, *names ? ", " : "", label);

	free(label);
	free(names);
	return longer;
}

void
report_row_values(FILE *out, const struct program_values *values, bool is_all)
{
	const struct quantity_value *cycles = program_values_find(values, "time", "coreCycles"),
				    *instructions = program_values_find(values, "instructions", ""),
				    *flop = program_values_find(values, "operationCount", "flop"),
				    *masked = program_values_find(values, "maskedOperations", "");
	char *missing = rot_strdup("");
	size_t nr_hidden = 0;

	if (masked && !(masked->summary.value > 0))
		masked = NULL; /* as in most programs */
	for (size_t i = 0; i < values->nr; i++) {
		const struct quantity_value *value = &values->values[i];
		const bool is_time = strcmp(value->name, "time") == 0;
		const bool masks_nothing = strcmp(value->name, "maskedOperations") == 0 && value != masked;

		if ((is_time && value != cycles) || masks_nothing)
			continue;
		if (!is_all && !is_time && is_further(values, i))
			nr_hidden++;
		else if (isnan(value->summary.value))
			missing = with_label(missing, value);
		else
			print_value(value, out);
	}
	if (*missing) {
		text_print_behind("  not counted:", missing, out);
		nr_hidden = 0;
	}
	free(missing);
	if (nr_hidden)
		fprintf(out, "  %zu values of other operations and borders: --all\n", nr_hidden);
	if (masked && flop)
		report_row_share(out, "active lanes",
				 flop->summary.value / (flop->summary.value + masked->summary.value));
	if (cycles && instructions)
		report_row_number(out, "instructions per cycle", instructions->summary.value / cycles->summary.value,
				  "");
}

/* ---- one thread a line ---- */

/* A heading as wide as its column. */
static char *
thread_heading(const struct quantity_value *value)
{
	if (strcmp(value->of, "coreCycles") == 0)
		return rot_strdup("core cycles");
	if (strcmp(value->name, "transferredBytes") == 0)
		return value_of_words(value);
	return rot_strdup(quantity_kind_find(value->name)->short_name);
}

/* The hits of a thread, or what stands above them. */
static void
print_hits(FILE *out, const struct report_thread *thread, const char *heading)
{
	char *number;

	if (isnan(thread->hits))
		return;
	number = rot_number_in_full(thread->hits);
	fprintf(out, "  %*s", HITS_WIDTH, heading ? heading : number);
	free(number);
}

/* Some of the values of threads: as many as fit on a line. The time, which is the first, each part has. */
struct part {
	const size_t *shown;
	size_t nr;
};

/* Of which operations and borders the values are, under headings that are the same for several of them. */
static void
print_thread_parts(FILE *out, const struct report_thread *thread, struct part part)
{
	const struct quantity_value *values = thread->values->values;
	char *line = rot_strdup("");
	size_t length;

	for (size_t i = 0; i < part.nr; i++) {
		const struct quantity_value *value = &values[part.shown[i]];
		const bool is_said = strcmp(value->name, "transferredBytes") == 0;
		char *of = is_said ? rot_strdup("") : value_of_words(value);
		char *longer = rot_format("%s  %*.*s", line, VALUE_WIDTH, VALUE_WIDTH, of);

		free(of);
		free(line);
		line = longer;
	}
	length = strlen(line);
	while (length > 0 && line[length - 1] == ' ')
		length--;
	if (length > 0) {
		fprintf(out, "  %8s %-16s", "", "");
		print_hits(out, thread, "");
		fprintf(out, " %*s%.*s\n", TIME_WIDTH, "", (int)length, line);
	}
	free(line);
}

static void
print_thread_head(FILE *out, const struct report_thread *thread, struct part part, bool is_all)
{
	const struct program_values *values = thread->values;

	fprintf(out, "\n  %8s %-16s", "thread", "name");
	print_hits(out, thread, "hits");
	fprintf(out, " %*s", TIME_WIDTH, "time [s]");
	for (size_t i = 0; i < part.nr; i++) {
		char *heading = thread_heading(&values->values[part.shown[i]]);

		fprintf(out, "  %*.*s", VALUE_WIDTH, VALUE_WIDTH, heading);
		free(heading);
	}
	fputc('\n', out);
	if (is_all)
		print_thread_parts(out, thread, part);
	if (values->nr == 1)
		return;
	fprintf(out, "  %8s %-16s", "", "");
	print_hits(out, thread, "");
	fprintf(out, " %*s", TIME_WIDTH, "");
	for (size_t i = 0; i < part.nr; i++)
		fprintf(out, "  %*s", VALUE_WIDTH, shown_unit(values->values[part.shown[i]].unit).shown);
	fputc('\n', out);
}

static void
print_thread(FILE *out, const struct report_thread *thread, struct part part)
{
	const struct program_values *values = thread->values;
	struct summary seconds = summary_single(values->values[0].summary.value * 1e-6, "measured");
	char *time = isnan(thread->hits) ? rot_format("%.4f", seconds.value) : summary_text(&seconds);

	fprintf(out, "  %8d %-16.16s", (int)values->thread->tid, values->thread->name);
	print_hits(out, thread, NULL);
	fprintf(out, " %*s", TIME_WIDTH, time);
	for (size_t i = 0; i < part.nr; i++) {
		char *text = value_text(&values->values[part.shown[i]]);

		fprintf(out, "  %*s", VALUE_WIDTH, text);
		free(text);
	}
	fputc('\n', out);
	free(time);
}

static size_t
nr_of_part(FILE *out, const struct report_thread *thread)
{
	const size_t keys = 28 + TIME_WIDTH + (isnan(thread->hits) ? 0 : 2 + HITS_WIDTH);
	const size_t width = terminal_width(out);

	return width > keys + 2 + VALUE_WIDTH ? (width - keys) / (2 + VALUE_WIDTH) : 1;
}

/* The values but the time, those that say most first: indices in fresh memory. */
static size_t *
values_in_order(const struct program_values *values)
{
	static const char *const first[] = {"performance", "operationalIntensity", "throughput", "instructions"};
	const size_t nr_first = sizeof(first) / sizeof(*first);
	size_t *order = rot_calloc(values->nr + 1, sizeof(*order)), nr = 0;

	for (size_t k = 0; k <= nr_first; k++)
		for (size_t i = 1; i < values->nr; i++) {
			size_t rank = 0;

			while (rank < nr_first &&
			       (strcmp(values->values[i].name, first[rank]) != 0 || is_further(values, i)))
				rank++;
			if (rank == k)
				order[nr++] = i;
		}
	return order;
}

void
report_threads(FILE *out, const struct report_thread *threads, size_t nr, bool is_all)
{
	const size_t nr_shown = nr < MAX_THREADS_SHOWN ? nr : MAX_THREADS_SHOWN;
	const size_t nr_values = nr > 0 ? threads[0].values->nr - 1 : 0;
	const size_t nr_fitting = nr > 0 ? nr_of_part(out, &threads[0]) : 1;
	size_t *order = nr > 0 ? values_in_order(threads[0].values) : NULL, done = 0;

	for (bool is_done = nr == 0; !is_done; is_done = done == nr_values || !is_all) {
		struct part part = {order + done, nr_values - done < nr_fitting ? nr_values - done : nr_fitting};

		done += part.nr;
		print_thread_head(out, &threads[0], part, is_all);
		for (size_t i = 0; i < nr_shown; i++)
			print_thread(out, &threads[i], part);
	}
	if (nr > nr_shown)
		fprintf(out, "  and %zu more: --json FILE has them all\n", nr - nr_shown);
	free(order);
}
