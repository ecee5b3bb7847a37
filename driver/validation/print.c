/* SPDX-License-Identifier: MIT */
/* A validation for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "memory.h"
#include "rot.h"
#include "support/text_table.h"
#include "validation/validation.h"

static char *
verdict_text(const struct shape *shape)
{
	switch (shape->verdict) {
	case SHAPE_SOUND:
		return rot_strdup(shape->is_legal ? "right" : "right, though the architecture's file does not use it");
	case SHAPE_WRONG:
		return rot_format("%s: off by %+.3g %%",
				  shape->is_legal ? "WRONG, though the architecture's file allows it" : "wrong",
				  100 * shape->deviation);
	default:
		return rot_strdup(shape->is_legal ? "REFUSED, though the architecture's file allows it" : "refused");
	}
}

static void
print_shapes(const struct rot *rot, const struct shapes *shapes, FILE *out)
{
	static const struct text_table_column columns[] = {{"group", true}, {"counts", true}};
	struct text_table table = {.columns = columns, .nr_columns = 2, .nr_keys = 1};

	for (size_t i = 0; i < shapes->nr; i++)
		text_table_add(&table, (char *[]){shape_text(&shapes->items[i]), verdict_text(&shapes->items[i])});
	text_table_print(&table, out);
	text_table_clear(&table);
	fprintf(out, "\n%u counters work; the processor has %d, the architecture's file uses %d\n",
		shapes->usable_counters, rot->architecture->nominal_counters, rot->architecture->usable_counters);
	if (shapes->is_scrub_tried)
		fprintf(out, "without scrubbing, counts after large events are %s\n",
			shapes->is_scrub_needed ? "wrong: scrubbing is needed" : "right: scrubbing is not needed");
}

static char *
percent(double share)
{
	return isnan(share) ? rot_strdup("-") : rot_format("%+.2f %%", 100 * share);
}

static char *
grade_text(const struct known_work_row *row)
{
	if (!row || !row->grade.letter)
		return rot_strdup("-");
	if (!known_work_is_graded(row))
		return rot_format("(%c)", row->grade.letter);
	return rot_format("%c%s", row->grade.letter, row->grade.is_unstable ? " unstable" : "");
}

static char *
candidate_text(const struct candidate *candidate)
{
	return rot_format("%s%s%s", candidate->quantity, candidate->of[0] ? ":" : "", candidate->of);
}

static char *
ratio_text(const struct summary *ratio)
{
	if (ratio->n == 0)
		return rot_strdup("-");
	if (isnan(ratio->low))
		return rot_format("%.4f", ratio->value);
	return rot_format("%.4f [%.4f, %.4f]", ratio->value, ratio->low, ratio->high);
}

static char *
count_text(double count)
{
	return isnan(count) ? rot_strdup("-") : rot_format("%.10g", count);
}

/* What is to be printed. */
struct printing {
	const struct rot *rot;
	const struct validation *validation;
	bool with_all;
	struct text_table table;
};

/* "not shown: all 15 runs were disturbed"; "" if that is not so. Fresh memory. */
static char *
not_shown_text(const struct validation *validation, const struct candidate *candidate)
{
	const size_t nr = known_work_nr_disturbed(&validation->work, candidate);

	return nr ? rot_format("not shown: all %zu runs were disturbed", nr) : rot_strdup("");
}

/* What there is to say of the row; row NULL: there is none. Fresh memory. */
static char *
remark_text(const struct printing *printing, const struct candidate *candidate, const struct known_work_row *row)
{
	if (row && row->grade.letter == 'F' && known_work_is_graded(row))
		return validation_reason(printing->rot, printing->validation, candidate);
	return not_shown_text(printing->validation, candidate);
}

/* row NULL: the candidate was not tried. */
static void
add_row(struct printing *printing, const struct candidate *candidate, const struct known_work_row *row)
{
	static const struct known_work_row none = {
		.expected = NAN, .measured = NAN, .grade = {.bias = NAN, .spread = NAN}};
	const struct known_work_row *shown = row ? row : &none;

	text_table_add(&printing->table, (char *[]){
						 grade_text(row),
						 candidate_text(candidate),
						 rot_strdup(row ? row->kernel : "no kernel of known work"),
						 count_text(shown->expected),
						 count_text(shown->measured),
						 row ? ratio_text(&row->grade.of) : rot_strdup("-"),
						 percent(shown->grade.bias),
						 percent(shown->grade.spread),
						 rot_format("%zu", shown->grade.of.n),
						 rot_format("%zu", shown->nr_tainted),
						 remark_text(printing, candidate, row),
						 rot_strdup(candidate->source),
					 });
}

static void
add_candidate(struct printing *printing, const struct candidate *candidate)
{
	const struct known_work *work = &printing->validation->work;

	if (!printing->with_all) {
		add_row(printing, candidate, known_work_row_to_show(work, candidate));
		return;
	}
	for (size_t i = 0; i < work->nr; i++) {
		if (work->rows[i].candidate == candidate)
			add_row(printing, candidate, &work->rows[i]);
	}
}

static void
print_work(struct printing *printing, FILE *out)
{
	static const struct text_table_column columns[] = {
		{"grade", true},     {"quantity", true}, {"of kernel", true},   {"expected", false},
		{"measured", false}, {"ratio", false},   {"bias", false},       {"spread", false},
		{"n", false},        {"tainted", false}, {"broken rule", true}, {"counted by", true},
	};
	const struct known_work *work = &printing->validation->work;

	printing->table =
		(struct text_table){.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns), .nr_keys = 2};
	for (size_t i = 0; i < work->nr_candidates; i++)
		add_candidate(printing, &work->candidates[i]);
	text_table_print(&printing->table, out);
	text_table_clear(&printing->table);
	fprintf(out, "\nA within 1 %% of known work, B 3 %%, C 10 %%, F worse or unstable (5th to 95th percentile)%s\n",
		printing->with_all
			? "; in parentheses: no part of a formula's\ngrade, as it is too little work to tell from what "
			  "caches hold back, or prefetchers bring more than is asked for"
			: "; the kernel that decided it");
	fprintf(out, "%zu kernels, measured up to %d times in different order", work->nr_points, work->nr_rounds);
	if (work->nr_left_out)
		fprintf(out, "; %zu others did not fit into the time: --budget=SECONDS", work->nr_left_out);
	fputc('\n', out);
}

/* What is wrong with the file, by name. */
static void
print_failure(const struct rot *rot, const struct validation *validation, const struct candidate *candidate, FILE *out)
{
	char *name = candidate_text(candidate), *reason = validation_reason(rot, validation, candidate);

	if (candidate->formula)
		fprintf(out, "\n%s:%d: ", rot->architecture->path, candidate->formula->line);
	else
		fputc('\n', out);
	fprintf(out, "%s counted by %s does not count what it is said to%s%s\n", name, candidate->source,
		reason[0] ? ": " : "", reason);
	free(reason);
	free(name);
}

static void
print_not_shown(const struct validation *validation, const struct candidate *candidate, FILE *out)
{
	char *name = candidate_text(candidate), *text = not_shown_text(validation, candidate);

	fprintf(out, "\n%s counted by %s is %s; measure when nothing else runs\n", name, candidate->source, text);
	free(text);
	free(name);
}

static void
print_faults(const struct rot *rot, const struct validation *validation, FILE *out)
{
	const struct architecture *architecture = rot->architecture;
	const struct shape *wrong = shapes_first_wrong(&validation->shapes);

	if (wrong) {
		char *group = shape_text(wrong);

		fprintf(out, "\n'%s' allows groups of %s, which do not count right here\n", architecture->path, group);
		free(group);
	}
	if (validation->shapes.is_scrub_needed && architecture->scrub_count == 0)
		fprintf(out, "\n'%s' scrubs nothing, which is needed here\n", architecture->path);
	for (size_t i = 0; i < validation->work.nr_candidates; i++) {
		const struct candidate *candidate = &validation->work.candidates[i];

		if (validation_fails(validation, candidate))
			print_failure(rot, validation, candidate, out);
		else if (validation_shows_nothing(validation, candidate))
			print_not_shown(validation, candidate, out);
	}
}

static void
print_why_not(const struct rot_error *why_not, FILE *out)
{
	fprintf(out, "No event is validated: %s.\n", why_not->text);
	if (why_not->hint[0])
		fprintf(out, "-> %s\n", why_not->hint);
	fputs("Operations and bytes are counted by blocks, or expected, which needs no proof by events. The clocks need "
	      "none:\n",
	      out);
}

void
validation_print(const struct rot *rot, const struct validation *validation, bool with_all, FILE *out)
{
	struct printing printing = {.rot = rot, .validation = validation, .with_all = with_all};
	char *caption = machine_caption(rot->machine);

	fprintf(out, "%s, %s%s\n\n", caption, rot->architecture->title,
		validation->options.without_scrub ? "; WITHOUT scrubbing" : "");
	free(caption);
	if (validation->why_not.text[0])
		print_why_not(&validation->why_not, out);
	else
		print_shapes(rot, &validation->shapes, out);
	fputc('\n', out);
	print_work(&printing, out);
	print_faults(rot, validation, out);
}
