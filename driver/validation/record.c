/* SPDX-License-Identifier: MIT */
/* What is remembered of a validation: CACHE/validation/HASH.json, by machine and file of the architecture. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "configuration/paths.h"
#include "measuring/measuring.h"
#include "measuring/sha256.h"
#include "memory.h"
#include "rot.h"
#include "support/files.h"
#include "support/json.h"
#include "validation/validation.h"

static const char schema[] = "rot.validation/1";

/* Fresh memory; NULL if the architecture's file cannot be read. */
static char *
record_path(const struct rot *rot, struct rot_error *err)
{
	char file[SHA256_HEX_SIZE], *hash, *path;

	if (sha256_of_file(rot->architecture->path, file, err) < 0)
		return NULL;
	hash = measuring_machine_hash(rot->machine, file);
	path = rot_format("%s/validation/%s.json", rot->paths->cache, hash);
	free(hash);
	return path;
}

/* ---- to JSON ---- */

static const char *const verdict_names[] = {
	[SHAPE_SOUND] = "sound", [SHAPE_WRONG] = "wrong", [SHAPE_REFUSED] = "refused"};

static json_t *
shape_json(const struct shape *shape)
{
	return json_pack("{s:i, s:i, s:s, s:b, s:o}", "large", (int)shape->large, "plain", (int)shape->plain, "verdict",
			 verdict_names[shape->verdict], "isLegal", shape->is_legal, "deviation",
			 json_number(shape->deviation));
}

static json_t *
shapes_json(const struct shapes *shapes)
{
	json_t *items = json_array(), *json;

	for (size_t i = 0; i < shapes->nr; i++)
		json_array_append_new(items, shape_json(&shapes->items[i]));
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
	json_t *rows = json_array(), *json;
	char *reason = validation_reason(rot, validation, candidate);

	for (size_t i = 0; i < validation->work.nr; i++) {
		if (validation->work.rows[i].candidate == candidate)
			json_array_append_new(rows, row_json(&validation->work.rows[i]));
	}
	json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:I, s:s, s:o}", "quantity", candidate->quantity, "of",
			 candidate->of, "kind", candidate->kind, "source", candidate->source, "value",
			 candidate->formula ? candidate->formula->expression : "", "grade",
			 letter_json(known_work_grade(&validation->work, candidate)), "notShown",
			 (json_int_t)known_work_nr_disturbed(&validation->work, candidate), "brokenRule", reason,
			 "rows", rows);
	free(reason);
	return json;
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
	char *bytes = file_read(path, &length, NULL), *aside;

	if (!bytes)
		return NULL;
	json = json_loadb(bytes, length, 0, &why);
	free(bytes);
	if (json && strcmp(json_text_at(json, "schema"), schema) == 0)
		return json;
	json_decref(json);
	aside = rot_format("%s.damaged", path);
	if (rename(path, aside) == 0)
		rot_warning("the record of the validation was damaged and is put aside as '%s'", aside);
	free(aside);
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

/* Those of the record, as far as the planner has to know them. */
static void
apply_groups(struct architecture *architecture, const json_t *groups)
{
	struct shapes shapes = {.items = rot_calloc(json_array_size(groups) + 1, sizeof(*shapes.items))};
	size_t i;
	json_t *item;

	json_array_foreach(groups, i, item)
	{
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
	shapes_clear(&shapes);
}

static void
apply(struct architecture *architecture, const json_t *record)
{
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(record, "formulas"), i, item) apply_grade(architecture, item);
	apply_groups(architecture, json_object_get(json_object_get(record, "shapes"), "groups"));
}

bool
validation_recall(struct rot *rot)
{
	char *path = record_path(rot, NULL);
	json_t *record = path ? read_record(path) : NULL;

	if (record)
		apply(rot->architecture, record);
	json_decref(record);
	free(path);
	return record != NULL;
}

/* What was shown of nothing but the machine's load may be shown now; not with every command, though. */
#define AGAIN_AFTER_S 3600

static bool
is_old(const char *path)
{
	struct stat file;

	return stat(path, &file) == 0 && time(NULL) - file.st_mtime >= AGAIN_AFTER_S;
}

static bool
is_quick(const json_t *record)
{
	return !json_is_false(json_object_get(record, "isQuick"));
}

bool
validation_is_due(const struct rot *rot)
{
	char *path = record_path(rot, NULL);
	json_t *record = path ? read_record(path) : NULL;
	const bool is_due =
		!record ||
		(is_quick(record) &&
		 strcmp(json_text_at(record, "verdict"), verdict_words[VALIDATION_NOT_SHOWN]) == 0 && is_old(path));

	json_decref(record);
	free(path);
	return is_due;
}

static size_t
nr_shown(const json_t *record)
{
	size_t nr = 0, i;
	json_t *item;

	json_array_foreach(json_object_get(record, "formulas"), i, item) nr += letter_of(item) != 0;
	return nr;
}

static int
write_record(const char *path, const json_t *record, struct rot_error *err)
{
	char *text = json_dumps(record, JSON_INDENT(1)),
	     *folder = rot_strndup(path, (size_t)(strrchr(path, '/') - path));
	int rc = folder_make(folder, err);

	if (rc == 0)
		rc = file_write(path, text, strlen(text), false, err);
	free(folder);
	free(text);
	return rc;
}

int
validation_store(struct rot *rot, const struct validation *validation, struct rot_error *err)
{
	char *path = record_path(rot, err);
	json_t *known = path ? read_record(path) : NULL, *record;
	int rc;

	record = validation_json(rot, validation);
	if (known && is_quick(record) && !is_quick(known)) {
		rc = 0;
	} else if (known && is_quick(record) && nr_shown(known) > nr_shown(record)) {
		rc = write_record(path, known, err); /* from now on it counts again when another one is due */
	} else {
		apply(rot->architecture, record);
		rc = path ? write_record(path, record, err) : -1;
	}
	json_decref(record);
	json_decref(known);
	free(path);
	return rc;
}
