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
group_text(const struct shape *shape)
{
	if (shape->large && shape->plain)
		return rot_format("%u large + %u plain", shape->large, shape->plain);
	return rot_format("%u %s", shape->large + shape->plain, shape->large ? "large" : "plain");
}

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
	struct text_table table = {.columns = columns, .nr_columns = 2};

	for (size_t i = 0; i < shapes->nr; i++)
		text_table_add(&table, (char *[]){group_text(&shapes->items[i]), verdict_text(&shapes->items[i])});
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
	if (row->is_too_small)
		return rot_format("(%c)", row->grade.letter);
	return rot_format("%c%s", row->grade.letter, row->grade.is_unstable ? " unstable" : "");
}

static char *
formula_text(const struct architecture_formula *formula)
{
	return rot_format("%s%s%s", formula->quantity, formula->of[0] ? ":" : "", formula->of);
}

static char *
ratio_text(const struct summary *ratio)
{
	if (isnan(ratio->low))
		return rot_format("%.4f", ratio->value);
	return rot_format("%.4f [%.4f, %.4f]", ratio->value, ratio->low, ratio->high);
}

static char *
count_text(double count)
{
	return isnan(count) ? rot_strdup("-") : rot_format("%.10g", count);
}

/* row NULL: the formula was not tried, or not on enough work. */
static void
add_row(struct text_table *table, const struct architecture_formula *formula, const struct known_work_row *row)
{
	static const struct known_work_row none = {
		.expected = NAN, .measured = NAN, .grade = {.bias = NAN, .spread = NAN}};
	const struct known_work_row *shown = row ? row : &none;

	text_table_add(table, (char *[]){
				      grade_text(row),
				      formula_text(formula),
				      rot_strdup(row ? row->kernel : "-"),
				      count_text(shown->expected),
				      count_text(shown->measured),
				      row ? ratio_text(&row->grade.of) : rot_strdup("-"),
				      percent(shown->grade.bias),
				      percent(shown->grade.spread),
				      rot_format("%zu", shown->grade.of.n),
				      rot_format("%zu", shown->nr_tainted),
				      rot_strdup(formula->source),
			      });
}

static void
add_formula(struct text_table *table, const struct known_work *work, const struct architecture_formula *formula,
	    bool with_all)
{
	if (!with_all) {
		add_row(table, formula, known_work_worst(work, formula));
		return;
	}
	for (size_t i = 0; i < work->nr; i++) {
		if (work->rows[i].formula == formula)
			add_row(table, formula, &work->rows[i]);
	}
}

static void
print_formulas(const struct rot *rot, const struct known_work *work, bool with_all, FILE *out)
{
	static const struct text_table_column columns[] = {
		{"grade", true},     {"quantity", true}, {"of kernel", true},  {"expected", false},
		{"measured", false}, {"ratio", false},   {"bias", false},      {"spread", false},
		{"n", false},        {"tainted", false}, {"counted by", true},
	};
	struct text_table table = {.columns = columns, .nr_columns = sizeof(columns) / sizeof(*columns)};

	for (size_t i = 0; i < rot->architecture->nr_formulas; i++)
		add_formula(&table, work, &rot->architecture->formulas[i], with_all);
	text_table_print(&table, out);
	text_table_clear(&table);
}

/* What is wrong with the file, by name. */
static void
print_faults(const struct rot *rot, const struct validation *validation, FILE *out)
{
	const struct architecture *architecture = rot->architecture;
	const struct shape *wrong = shapes_first_wrong(&validation->shapes);

	if (wrong) {
		char *group = group_text(wrong);

		fprintf(out, "\n'%s' allows groups of %s, which do not count right here\n", architecture->path, group);
		free(group);
	}
	if (validation->shapes.is_scrub_needed && architecture->scrub_count == 0)
		fprintf(out, "\n'%s' scrubs nothing, which is needed here\n", architecture->path);
	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];

		if (known_work_grade(&validation->work, formula) == 'F')
			fprintf(out, "\n%s:%d: %s%s%s counted by %s does not count what it is said to\n",
				architecture->path, formula->line, formula->quantity, formula->of[0] ? ":" : "",
				formula->of, formula->source);
	}
}

void
validation_print(const struct rot *rot, const struct validation *validation, bool with_all, FILE *out)
{
	char *caption = machine_caption(rot->machine);

	fprintf(out, "%s, %s%s\n\n", caption, rot->architecture->title,
		validation->options.without_scrub ? "; WITHOUT scrubbing" : "");
	free(caption);
	print_shapes(rot, &validation->shapes, out);
	fputc('\n', out);
	print_formulas(rot, &validation->work, with_all, out);
	fprintf(out, "\nA within 1 %% of known work, B 3 %%, C 10 %%, F worse or unstable (5th to 95th percentile)%s\n",
		with_all ? "; in parentheses: too little work\nto tell from what caches hold back, no part of a "
			   "formula's grade"
			 : "; the kernel that decided it");
	print_faults(rot, validation, out);
}
