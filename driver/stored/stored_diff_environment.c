/* SPDX-License-Identifier: MIT */
/* What differs between the machines and the software of two results. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "stored/stored_diff.h"
#include "support/entry.h"
#include "support/home.h"
#include "support/json.h"

static char *
text_of(const json_t *value)
{
	autofree char *dumped = NULL;

	if (json_is_string(value))
		return rot_strdup(json_string_value(value));
	if (!value)
		return rot_strdup("not said");
	dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	return rot_strdup(dumped ? dumped : "");
}

static bool
array_has(const json_t *array, const json_t *item)
{
	const json_t *own;
	size_t i;

	json_array_foreach(array, i, own) {
		if (json_equal(own, item))
			return true;
	}
	return false;
}

/* "    key  < TEXT"; the text may be "". */
static void
print_side(FILE *out, const char *key, const char *sign, const char *text)
{
	autofree char *before = rot_format("    %-16s %s", key, sign);

	text_print_behind(before, *text ? text : "\n", out);
}

/* The items of an array that the other does not have. */
static size_t
print_items(FILE *out, const char *key, const char *sign, const json_t *array, const json_t *other)
{
	const json_t *item;
	size_t i, nr = 0;

	json_array_foreach(array, i, item) {
		autofree char *text = NULL;

		if (array_has(other, item))
			continue;
		text = text_of(item);
		print_side(out, key, sign, text);
		nr++;
	}
	return nr;
}

/* Is the word among those of the texts? */
static bool
texts_have(const json_t *texts, const char *word, size_t length)
{
	const json_t *text;
	size_t i;

	json_array_foreach(texts, i, text) {
		const char *at = json_string_value(text);

		for (; at && *at; at += strspn(at, " ")) {
			size_t own = strcspn(at, " ");

			if (own == length && memcmp(at, word, length) == 0)
				return true;
			at += own;
		}
	}
	return false;
}

/* Words of compile lines that the other lines do not have, each once. Where rot builds, matters to nobody. Fresh
 * memory. */
static char *
other_words(const json_t *lines, const json_t *other)
{
	static const char folders[] = "-ffile-prefix-map=";
	char *words = rot_strdup("");
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		const char *at = json_string_value(line);

		for (; at && *at; at += strspn(at, " ")) {
			size_t length = strcspn(at, " ");

			if (strncmp(at, folders, sizeof(folders) - 1) != 0 && !texts_have(other, at, length))
				rot_append(&words, "%s%.*s", *words ? " " : "", (int)length, at);
			at += length;
		}
	}
	return words;
}

/* As pages have them; new reference. */
static json_t *
without_home(const json_t *lines)
{
	json_t *hidden = json_array(), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		autofree char *text = home_hide_own(json_string_value(line) ? json_string_value(line) : "");

		json_array_append_new(hidden, json_text(text));
	}
	return hidden;
}

/* 1 if there are any. */
static size_t
print_other_words(FILE *out, const char *key, const json_t *first, const json_t *second)
{
	json_t *lines[2] = {without_home(first), without_home(second)};
	char *words[2] = {other_words(lines[0], lines[1]), other_words(lines[1], lines[0])};
	size_t nr = *words[0] || *words[1];

	if (nr) {
		print_side(out, key, "<", words[0]);
		print_side(out, "", ">", words[1]);
	}
	for (size_t i = 0; i < 2; i++) {
		free(words[i]);
		json_decref(lines[i]);
	}
	return nr;
}

/* The members of both objects that differ; their number. */
static size_t
print_differences(FILE *out, json_t *first, json_t *second)
{
	const char *key;
	json_t *value;
	size_t nr = 0;

	json_object_foreach(first, key, value) {
		json_t *other = json_object_get(second, key);
		char *texts[2];

		if (other && json_equal(value, other))
			continue;
		if (strcmp(key, "compileLines") == 0 && json_is_array(value) && json_is_array(other)) {
			nr += print_other_words(out, key, value, other);
			continue;
		}
		nr++;
		if (json_is_array(value) && json_is_array(other)) {
			print_items(out, key, "<", value, other);
			print_items(out, key, ">", other, value);
			continue;
		}
		texts[0] = text_of(value);
		texts[1] = text_of(other);
		print_side(out, key, "<", texts[0]);
		print_side(out, "", ">", texts[1]);
		free(texts[0]);
		free(texts[1]);
	}
	return nr;
}

/* " of 2026-11-22 20:31", when the newest of what it holds was measured; "" where the file does not say. Fresh memory.
 */
static char *
date_text(const struct stored_result *result)
{
	const char *last = json_text_at(json_object_get(result->json, "measured"), "last");
	const int day = (int)strcspn(last, "T");

	return *last ? rot_format(" of %.*s %.5s", day, last, last[day] ? last + day + 1 : "") : rot_strdup("");
}

void
stored_diff_print_environment(FILE *out, const struct stored_result *first, const struct stored_result *second)
{
	static const char *const parts[] = {"machine", "software"};
	char *dates[] = {date_text(first), date_text(second)};
	autofree char *title =
		rot_format("environment (< %s%s, > %s%s):\n", first->path, dates[0], second->path, dates[1]);
	size_t nr = 0;

	text_print_fitting(title, out);
	for (size_t i = 0; i < 2; i++)
		nr += print_differences(out, json_object_get(first->json, parts[i]),
					json_object_get(second->json, parts[i]));
	if (nr == 0)
		text_print_fitting("    the same machine, kernel, compiler, flags and libraries, as far as the files "
				   "say\n",
				   out);
	free(dates[0]);
	free(dates[1]);
}
