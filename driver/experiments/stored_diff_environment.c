/* SPDX-License-Identifier: MIT */
/* Differences between the machines and the software of two results. */
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/paths.h"
#include "experiments/stored_diff.h"
#include "memory.h"

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

/*
 * The words of compile lines, as pages have them, each a key. Where rot builds, matters to nobody. New reference.
 */
static json_t *
words_of(const json_t *lines)
{
	static const char folders[] = "-ffile-prefix-map=";
	json_t *words = json_object(), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		autofree char *text = home_hide_own(json_is_string(line) ? json_string_value(line) : "");
		char *rest = text;

		for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
			if (*word && strncmp(word, folders, sizeof(folders) - 1) != 0)
				json_object_set_new(words, word, json_true());
	}
	return words;
}

/* The words that are not among the other ones. Fresh memory. */
static char *
other_words(json_t *words, const json_t *other)
{
	char *text = rot_strdup("");
	const char *word;
	json_t *ignored;

	json_object_foreach(words, word, ignored) {
		if (!json_object_get(other, word))
			rot_append(&text, "%s%s", *text ? " " : "", word);
	}
	return text;
}

/* 1 if there are any. */
static size_t
print_other_words(FILE *out, const char *key, const json_t *first, const json_t *second)
{
	json_auto_t *before = words_of(first), *after = words_of(second);
	autofree char *gone = other_words(before, after), *come = other_words(after, before);

	if (!*gone && !*come)
		return 0;
	print_side(out, key, "<", gone);
	print_side(out, "", ">", come);
	return 1;
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
		autofree char *text = NULL, *other_text = NULL;

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
		text = text_of(value);
		other_text = text_of(other);
		print_side(out, key, "<", text);
		print_side(out, "", ">", other_text);
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
