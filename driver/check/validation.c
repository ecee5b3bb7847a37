/* SPDX-License-Identifier: MIT */
/* All of a validation: the groups, then the formulas in them. */
#include "check/validation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text_table.h"
#include "engine/measuring.h"
#include "engine/sha256.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"
#include "quantities/architecture.h"
#include "rot.h"

/* Does anything rest on it? Not on a clock of what is also counted by a formula, which is what is used then. */
static bool
is_used(const struct known_work *work, const struct candidate *candidate)
{
	bool is_counted = false;

	for (size_t i = 0; i < work->nr_candidates; i++) {
		const struct candidate *other = &work->candidates[i];

		is_counted |= other->formula && strcmp(other->quantity, candidate->quantity) == 0 &&
			      strcmp(other->of, candidate->of) == 0;
	}
	return candidate->formula || !is_counted;
}

/* Nothing is shown where all runs were disturbed. A candidate that nothing rests on passes. */
static enum validation_verdict
verdict_of(const struct validation *validation, const struct candidate *candidate)
{
	if (!is_used(&validation->work, candidate))
		return VALIDATION_PASSES;
	if (known_work_grade(&validation->work, candidate) == 'F')
		return VALIDATION_FAILS;
	return known_work_nr_disturbed(&validation->work, candidate) > 0 ? VALIDATION_NOT_SHOWN : VALIDATION_PASSES;
}

enum validation_verdict
validation_verdict(const struct validation *validation)
{
	enum validation_verdict worst = shapes_first_wrong(&validation->shapes) ? VALIDATION_FAILS : VALIDATION_PASSES;

	for (size_t i = 0; i < validation->work.nr_candidates; i++) {
		const enum validation_verdict verdict = verdict_of(validation, &validation->work.candidates[i]);

		worst = verdict > worst ? verdict : worst;
	}
	return worst;
}

/* Why a candidate fails, by the rules that are known (known_work.h); "" if it does not. Fresh memory. */
static char *
reason_of(const struct rot *rot, const struct validation *validation, const struct candidate *candidate)
{
	const struct diagnosis_context context = {
		.work = &validation->work,
		.shapes = &validation->shapes,
		.is_scrubbed = rot->architecture->scrub_count > 0 && !validation->options.without_scrub,
	};

	if (known_work_grade(&validation->work, candidate) != 'F')
		return rot_strdup("");
	return diagnosis_of(&context, candidate);
}

/* ---- the record of earlier validations ---- */

static const char schema[] = "rot.validation/1";

/* Fresh memory; NULL if the architecture's file cannot be read. */
static char *
record_path(const struct rot *rot, struct rot_error *err)
{
	char file[SHA256_HEX_SIZE];
	autofree char *hash = NULL;

	if (sha256_of_file(rot->architecture->path, file, err) < 0)
		return NULL;
	hash = measuring_machine_hash(rot->machine, file);
	return rot_format("%s/validation/%s.json", rot->paths->cache, hash);
}

/* ---- to JSON ---- */

static const char *const verdict_names[] = {
	[SHAPE_SOUND] = "sound", [SHAPE_WRONG] = "wrong", [SHAPE_REFUSED] = "refused"};

static json_t *
shapes_json(const struct shapes *shapes)
{
	json_t *items = json_array(), *json;

	for (size_t i = 0; i < shapes->nr; i++)
		json_array_append_new(
			items, json_pack("{s:i, s:i, s:s, s:b, s:o}", "large", (int)shapes->items[i].large, "plain",
					 (int)shapes->items[i].plain, "verdict",
					 verdict_names[shapes->items[i].verdict], "isLegal", shapes->items[i].is_legal,
					 "deviation", json_number(shapes->items[i].deviation)));
	json = json_pack("{s:i, s:o}", "usableCounters", (int)shapes->usable_counters, "groups", items);
	if (shapes->is_scrub_tried)
		json_object_set_new(json, "isScrubNeeded", json_boolean(shapes->is_scrub_needed));
	return json;
}

static json_t *
letter_json(char letter)
{
	return json_stringn(&letter, letter ? 1 : 0);
}

static json_t *
row_json(const struct known_work_row *row)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:b}", "kernel", row->kernel,
			 "expected", json_number(row->expected), "measured", json_number(row->measured), "ratio",
			 json_number(row->grade.of.value), "low", json_number(row->grade.of.low), "high",
			 json_number(row->grade.of.high), "bias", json_number(row->grade.bias), "spread",
			 json_number(row->grade.spread), "grade", letter_json(row->grade.letter), "n",
			 (json_int_t)row->grade.of.n, "tainted", (json_int_t)row->nr_tainted, "isTooSmall",
			 row->is_too_small, "isEstimate", row->is_estimate);
}

/* value: what the formula computes, "" for a clock. */
static json_t *
candidate_json(const struct rot *rot, const struct validation *validation, const struct candidate *candidate)
{
	json_t *rows = json_array();
	autofree char *reason = reason_of(rot, validation, candidate);

	for (size_t i = 0; i < validation->work.nr; i++)
		if (validation->work.rows[i].candidate == candidate)
			json_array_append_new(rows, row_json(&validation->work.rows[i]));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:s, s:o}", "quantity", candidate->quantity, "of",
			 candidate->of, "kind", candidate->kind, "source", candidate->source, "value",
			 candidate->formula ? candidate->formula->expression : "", "grade",
			 letter_json(known_work_grade(&validation->work, candidate)), "notShown",
			 (json_int_t)known_work_nr_disturbed(&validation->work, candidate), "brokenRule", reason,
			 "rows", rows);
}

static const char *const verdict_words[] = {
	[VALIDATION_PASSES] = "passes",
	[VALIDATION_NOT_SHOWN] = "notShown",
	[VALIDATION_FAILS] = "fails",
};

json_t *
validation_json(const struct rot *rot, const struct validation *validation)
{
	const struct known_work *work = &validation->work;
	json_t *formulas = json_array();

	for (size_t i = 0; i < work->nr_candidates; i++)
		json_array_append_new(formulas, candidate_json(rot, validation, &work->candidates[i]));
	return json_pack("{s:s, s:o, s:s, s:b, s:s, s:b, s:b, s:b, s:s, s:I, s:I, s:o, s:o}", "schema", schema,
			 "machine", json_entity(rot->machine), "architecture", rot->architecture->name, "canCount",
			 !validation->why_not.text[0], "whyNot", validation->why_not.text, "isQuick",
			 validation->options.is_quick, "isScrubbed", !validation->options.without_scrub, "passes",
			 validation_verdict(validation) == VALIDATION_PASSES, "verdict",
			 verdict_words[validation_verdict(validation)], "kernels", (json_int_t)work->nr_points,
			 "leftOut", (json_int_t)work->nr_left_out, "shapes", shapes_json(&validation->shapes),
			 "formulas", formulas);
}

/* ---- keeping, and giving grades to formulas ---- */

/* NULL where there is none, or none that is one; that is put aside. */
static json_t *
read_record(const char *path)
{
	json_error_t why;
	json_t *json;
	size_t length;
	autofree char *bytes = file_read(path, &length, NULL), *aside = NULL;

	if (!bytes)
		return NULL;
	json = json_loadb(bytes, length, 0, &why);
	if (json && strcmp(json_text_at(json, "schema"), schema) == 0)
		return json;
	json_decref(json);
	aside = rot_format("%s.damaged", path);
	if (rename(path, aside) == 0)
		rot_warning("the record of the validation was damaged and is put aside as '%s'", aside);
	return NULL;
}

/* Was it tried, and every run disturbed? Records of before "notShown" do not say. */
static bool
is_not_shown(const json_t *item)
{
	return json_integer_value(json_object_get(item, "notShown")) > 0;
}

/* The letter of a grade, or 0. */
static char
letter_of(const json_t *item)
{
	const char *grade = json_text_at(item, "grade");

	return grade[0] && strchr("ABCF", grade[0]) ? grade[0] : 0;
}

static void
apply_grade(struct architecture *architecture, const json_t *item)
{
	const char *quantity = json_text_at(item, "quantity"), *of = json_text_at(item, "of"),
		   *value = json_text_at(item, "value");

	if (!value[0] && strcmp(quantity, "time") == 0 && strcmp(of, "coreCycles") == 0) {
		architecture->probed_grade = letter_of(item);
		architecture->is_probe_not_shown = is_not_shown(item);
		if (architecture->by_steps)
			architecture->by_steps->probed_grade = architecture->probed_grade;
	}
	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		struct architecture_formula *formula = &architecture->formulas[i];

		if (strcmp(quantity, formula->quantity) == 0 && strcmp(of, formula->of) == 0 &&
		    strcmp(value, formula->expression) == 0) {
			formula->grade = letter_of(item);
			formula->is_not_shown = is_not_shown(item);
		}
	}
}

/* Takes the groups of the record, as far as the planner has to know them. */
static void
apply_groups(struct architecture *architecture, const json_t *groups)
{
	autopool pool = {0};
	struct shapes shapes = {.items = pool_calloc(&pool, json_array_size(groups), sizeof(*shapes.items))};
	size_t i;
	json_t *item;

	json_array_foreach(groups, i, item) {
		struct shape shape = {
			.large = (unsigned)json_integer_value(json_object_get(item, "large")),
			.plain = (unsigned)json_integer_value(json_object_get(item, "plain")),
			.verdict = SHAPE_WRONG,
		};

		if (strcmp(json_text_at(item, "verdict"), verdict_names[SHAPE_SOUND]) == 0)
			shape.verdict = SHAPE_SOUND;
		if (shape.large + shape.plain > 0)
			shapes.items[shapes.nr++] = shape;
	}
	shapes_prove(&shapes, architecture);
}

static void
apply(struct architecture *architecture, const json_t *record)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(record, "formulas"), i, item)
		apply_grade(architecture, item);
	apply_groups(architecture, json_object_get(json_object_get(record, "shapes"), "groups"));
}

bool
validation_recall(struct rot *rot)
{
	autofree char *path = record_path(rot, NULL);
	json_auto_t *record = path ? read_record(path) : NULL;

	if (record)
		apply(rot->architecture, record);
	return record != NULL;
}

/* After a busy hour the machine may be quieter. */
#define AGAIN_AFTER_S 3600

static bool
is_quick(const json_t *record)
{
	return !json_is_false(json_object_get(record, "isQuick"));
}

bool
validation_is_due(const struct rot *rot)
{
	autofree char *path = record_path(rot, NULL);
	json_auto_t *record = path ? read_record(path) : NULL;
	struct stat file;

	return !record ||
	       (is_quick(record) && strcmp(json_text_at(record, "verdict"), verdict_words[VALIDATION_NOT_SHOWN]) == 0 &&
		stat(path, &file) == 0 && time(NULL) - file.st_mtime >= AGAIN_AFTER_S);
}

static size_t
nr_shown(const json_t *record)
{
	size_t nr = 0, i;
	json_t *item;

	json_array_foreach(json_object_get(record, "formulas"), i, item)
		nr += letter_of(item) != 0;
	return nr;
}

static int
write_record(const char *path, const json_t *record, struct rot_error *err)
{
	autofree char *text = json_dumps(record, JSON_INDENT(1));
	autofree char *folder = rot_strndup(path, (size_t)(strrchr(path, '/') - path));

	return folder_make(folder, err) < 0 ? -1 : file_write(path, text, strlen(text), false, err);
}

int
validation_store(struct rot *rot, const struct validation *validation, struct rot_error *err)
{
	autofree char *path = record_path(rot, err);
	json_auto_t *known = path ? read_record(path) : NULL;
	json_auto_t *record = validation_json(rot, validation);

	if (known && is_quick(record) && !is_quick(known))
		return 0;
	if (known && is_quick(record) && nr_shown(known) > nr_shown(record))
		return write_record(path, known, err); /* from now on it counts again when another one is due */
	apply(rot->architecture, record);
	return path ? write_record(path, record, err) : -1;
}

/*
 * A minute, and some seconds. That is of the kernels alone: how long finding the groups took, a second or two, and
 * building the kernels, which is done once, must not change what is measured.
 */
#define FULL_ROUNDS 3
#define FULL_S 52
#define QUICK_ROUNDS 1
#define QUICK_S 3.5

static int
measure_work(struct rot *rot, struct validation *validation, struct rot_error *err)
{
	const struct validation_options *options = &validation->options;
	const double seconds = options->seconds > 0 ? options->seconds : options->is_quick ? QUICK_S : FULL_S;
	struct architecture *architecture = rot->architecture;
	const int scrub_count = architecture->scrub_count;
	int rc;

	if (options->without_scrub)
		architecture->scrub_count = 0;
	rc = known_work_measure(rot, &validation->pool, options->is_quick ? QUICK_ROUNDS : FULL_ROUNDS, seconds,
				&validation->work, err);
	architecture->scrub_count = scrub_count;
	return rc;
}

int
validation_run(struct rot *rot, const struct validation_options *options, struct validation *validation,
	       struct rot_error *err)
{
	*validation = (struct validation){.options = *options, .why_not = rot->architecture->why_not};
	if (rot->architecture->counts_by_steps) {
		rot_error_set(err, 0, "only hardware events are validated, and with counting=%s there are none",
			      rot->architecture->by_blocks ? "blocks" : "steps");
		return rot_error_hint(err, "use -counting=events");
	}
	if (!validation->why_not.text[0]) {
		if (shapes_find(rot, &validation->pool, &validation->shapes, err) < 0)
			return -1;
		shapes_prove(&validation->shapes, rot->architecture);
	}
	return measure_work(rot, validation, err);
}

void
validation_ensure(struct rot *rot)
{
	const struct validation_options options = {.is_quick = true};
	struct rot_error why = {0};
	struct validation validation;
	int rc;

	if (rot->architecture->why_not.text[0] || rot->architecture->counts_by_steps || rot->is_cached_only ||
	    !validation_is_due(rot) || strcmp(configuration_string(rot->configuration, "validate"), "auto") != 0)
		return;
	rot_note("the events of this machine are validated first%s",
		 validation_recall(rot) ? ", again: of some nothing was shown so far" : ", once");
	rc = validation_run(rot, &options, &validation, &why);
	if (rc == 0)
		rc = validation_store(rot, &validation, &why);
	if (rc < 0 && !rot_interrupted())
		rot_warning("the events are not validated: %s", why.text);
	else if (rc == 0 && validation_verdict(&validation) == VALIDATION_FAILS)
		rot_warning("some events do not count here what they should: rot validate");
	else if (rc == 0 && validation_verdict(&validation) == VALIDATION_NOT_SHOWN)
		rot_warning("nothing is shown of some events, since all their runs were disturbed: rot validate, when "
			    "nothing else runs");
	pool_clear(&validation.pool);
}

/* ---- in words ---- */

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

/* Shared by the functions that print. */
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

/* The remark on the row; row NULL: there is none. Fresh memory. */
static char *
remark_text(const struct printing *printing, const struct candidate *candidate, const struct known_work_row *row)
{
	if (row && row->grade.letter == 'F' && known_work_is_graded(row))
		return reason_of(printing->rot, printing->validation, candidate);
	return not_shown_text(printing->validation, candidate);
}

/* row NULL: the candidate was not tried. */
static void
add_known_work(struct printing *printing, const struct candidate *candidate, const struct known_work_row *row)
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
		add_known_work(printing, candidate, known_work_row_to_show(work, candidate));
		return;
	}
	for (size_t i = 0; i < work->nr; i++)
		if (work->rows[i].candidate == candidate)
			add_known_work(printing, candidate, &work->rows[i]);
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
	fprintf(out, "%zu kernel%s, measured up to %d time%s in different order", work->nr_points,
		rot_plural((double)work->nr_points), work->nr_rounds, rot_plural(work->nr_rounds));
	if (work->nr_left_out)
		fprintf(out, "; %zu other%s did not fit into the time: --budget=SECONDS", work->nr_left_out,
			rot_plural((double)work->nr_left_out));
	fputc('\n', out);
}

/* Names what is wrong with the file, and what is not shown. */
static void
print_faults(const struct rot *rot, const struct validation *validation, FILE *out)
{
	const struct architecture *architecture = rot->architecture;
	const struct shape *wrong = shapes_first_wrong(&validation->shapes);

	if (wrong) {
		autofree char *group = shape_text(wrong);

		fprintf(out, "\n'%s' allows groups of %s, which do not count right here\n", architecture->path, group);
	}
	if (validation->shapes.is_scrub_needed && architecture->scrub_count == 0)
		fprintf(out, "\n'%s' scrubs nothing, which is needed here\n", architecture->path);
	for (size_t i = 0; i < validation->work.nr_candidates; i++) {
		const struct candidate *candidate = &validation->work.candidates[i];
		const enum validation_verdict verdict = verdict_of(validation, candidate);
		autofree char *name = candidate_text(candidate), *not_shown = not_shown_text(validation, candidate);
		autofree char *reason = reason_of(rot, validation, candidate);

		if (verdict == VALIDATION_PASSES)
			continue;
		fputc('\n', out);
		if (verdict == VALIDATION_FAILS && candidate->formula)
			fprintf(out, "%s:%d: ", architecture->path, candidate->formula->line);
		fprintf(out, "%s counted by %s ", name, candidate->source);
		if (verdict == VALIDATION_FAILS)
			fprintf(out, "does not count what it is said to%s%s\n", reason[0] ? ": " : "", reason);
		else
			fprintf(out, "is %s; measure when nothing else runs\n", not_shown);
	}
}

void
validation_print(const struct rot *rot, const struct validation *validation, bool with_all, FILE *out)
{
	struct printing printing = {.rot = rot, .validation = validation, .with_all = with_all};
	autofree char *caption = machine_caption(rot->machine);

	fprintf(out, "%s, %s%s\n\n", caption, rot->architecture->title,
		validation->options.without_scrub ? "; WITHOUT scrubbing" : "");
	if (validation->why_not.text[0]) {
		fprintf(out, "No event is validated: %s.\n", validation->why_not.text);
		if (validation->why_not.hint[0])
			fprintf(out, "-> %s\n", validation->why_not.hint);
		fputs("Operations and bytes are counted by blocks, or expected, which needs no proof by events. The "
		      "clocks need none:\n",
		      out);
	} else
		print_shapes(rot, &validation->shapes, out);
	fputc('\n', out);
	print_work(&printing, out);
	print_faults(rot, validation, out);
}
