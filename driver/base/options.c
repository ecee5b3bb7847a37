/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static bool
is_word(const char *text)
{
	return text[0] != '-' || !text[1];
}

static bool
takes_value(const struct option_row *row)
{
	return row->value || row->choices;
}

static bool
is_named(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && strncmp(name, text, length) == 0;
}

/* value: what follows "=", or NULL. */
static const struct option_row *
find_row(const struct option_table *table, const char *word, const char **value)
{
	const char *text = word + (word[1] == '-' ? 2 : 1);
	const size_t length = strcspn(text, "=");

	*value = text[length] ? text + length + 1 : NULL;
	for (size_t i = 0; i < table->nr; i++)
		if (is_named(table->rows[i].letter, text, length) || is_named(table->rows[i].name, text, length))
			return &table->rows[i];
	return NULL;
}

int
options_length(const struct option_table *table, int argc, char *const *argv)
{
	const struct option_row *row;
	const char *value;

	if (argc < 1 || strcmp(argv[0], "--") == 0)
		return -1;
	if (is_word(argv[0]))
		return table->ends_at_word ? -1 : 1;
	row = find_row(table, argv[0], &value);
	if (!row)
		return 0;
	return takes_value(row) && !value && argc > 1 ? 2 : 1;
}

/* The choices with this between two, and before the last one; fresh memory. */
static char *
join_choices(const struct option_row *row, const char *between, const char *before_last)
{
	char *text = rot_strdup(row->choices[0]);

	for (size_t i = 1; row->choices[i]; i++)
		rot_append(&text, "%s%s", row->choices[i + 1] ? between : before_last, row->choices[i]);
	return text;
}

static int
set_count(const struct option_row *row, const char *value, long *count, struct rot_error *err)
{
	char *end;

	errno = 0;
	*count = strtol(value, &end, 10);
	if (!*end && errno == 0 && *count >= 1 && *count <= row->number)
		return 0;
	return rot_error_set(err, 0, "'%s' is no whole number from 1 to %d, as '%s' needs it", value, row->number,
			     row->name);
}

static int
set_seconds(const struct option_row *row, const char *value, double *seconds, struct rot_error *err)
{
	char *end;

	*seconds = strtod(value, &end);
	if (!*end && *seconds > 0 && *seconds < INT_MAX)
		return 0;
	return rot_error_set(err, 0, "'%s' is no number of seconds above 0, as '%s' needs it", value, row->name);
}

/* The place of the choice that these characters name; -1 with all of them in the error. */
static int
find_choice(const struct option_row *row, const char *value, size_t length, struct rot_error *err)
{
	autofree char *text = NULL;

	for (int i = 0; row->choices[i]; i++)
		if (is_named(row->choices[i], value, length))
			return i;
	text = join_choices(row, ", ", " or ");
	return rot_error_set(err, 0, "'%.*s' is no value of '%s', which takes %s", (int)length, value, row->name, text);
}

static int
set_choice(const struct option_row *row, const char *value, const char **choice, struct rot_error *err)
{
	const int found = find_choice(row, value, strlen(value), err);

	if (found < 0)
		return -1;
	*choice = row->choices[found];
	return 0;
}

static int
set_choices(const struct option_row *row, const char *value, unsigned *bits, struct rot_error *err)
{
	for (;; value++) {
		const size_t length = strcspn(value, ",");
		const int found = find_choice(row, value, length, err);

		if (found < 0)
			return -1;
		*bits |= 1u << found;
		value += length;
		if (!*value)
			return 0;
	}
}

/* value: NULL exactly if the option takes none. */
static int
set(const struct option_row *row, void *values, const char *value, struct rot_error *err)
{
	void *member = (char *)values + row->offset;

	switch (row->type) {
	case OPTION_FLAG:
		*(bool *)member = true;
		break;
	case OPTION_SETTING:
		*(int *)member = row->number;
		break;
	case OPTION_TEXT:
		*(const char **)member = value;
		break;
	case OPTION_COUNT:
		return set_count(row, value, member, err);
	case OPTION_SECONDS:
		return set_seconds(row, value, member, err);
	case OPTION_CHOICE:
		return set_choice(row, value, member, err);
	case OPTION_SET:
		return set_choices(row, value, member, err);
	case OPTION_TAKEN:
		return row->take(values, value, err);
	}
	return 0;
}

static int
read_option(const struct option_table *table, void *values, int length, char *const *argv, struct rot_error *err)
{
	const char *value;
	const struct option_row *row = find_row(table, argv[0], &value);

	if (length == 2)
		value = argv[1];
	if (!takes_value(row) && value)
		return rot_error_set(err, 0, "'%s': this option takes no value", argv[0]);
	if (takes_value(row) && (!value || !*value))
		return rot_error_set(err, 0, "'%s' needs a value", argv[0]);
	return set(row, values, value, err);
}

int
options_take(const struct option_table *table, void *values, int *argc, char **argv, option_stranger *stranger,
	     void *context, struct rot_error *err)
{
	static const struct option_table none;
	struct rot_error later = {0};
	int nr_left = 0, i = 0, length, rc = 0;

	table = table ? table : &none;
	while ((length = options_length(table, *argc - i, argv + i)) >= 0) {
		if (length == 0)
			stranger(context, argv[i]);
		else if (is_word(argv[i]))
			argv[nr_left++] = argv[i];
		else if (read_option(table, values, length, argv + i, rc < 0 ? &later : err) < 0)
			rc = -1;
		i += length ? length : 1;
	}
	if (i < *argc && strcmp(argv[i], "--") == 0)
		i++;
	while (i < *argc)
		argv[nr_left++] = argv[i++];
	argv[nr_left] = NULL;
	*argc = nr_left;
	return rc;
}

void *
option_values_new(const struct option_table *table)
{
	void *values = table ? rot_calloc(1, table->size) : NULL;

	if (table && table->defaults)
		memcpy(values, table->defaults, table->size);
	return values;
}

void
option_values_delete(const struct option_table *table, void *values)
{
	if (values && table->clear)
		table->clear(values);
	free(values);
}

char *
option_names(const struct option_row *row)
{
	const char *dashes = row->name[1] ? "--" : "-";
	autofree char *letter = row->letter ? rot_format("-%s, ", row->letter) : rot_strdup(row->name[1] ? "    " : "");
	autofree char *value = row->choices && !row->value ? join_choices(row, "|", "|") : rot_strdup(row->value);

	return rot_format("%s%s%s%s%s", letter, dashes, row->name, *value ? " " : "", value);
}

void
options_each_word(const struct option_table *table, void (*tell)(const char *word, void *to), void *to)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct option_row *row = &table->rows[i];
		const char *dashes = row->name[1] ? "--" : "-";

		for (size_t k = 0; k == 0 || (row->choices && row->choices[k]); k++) {
			autofree char *word = rot_format("%s%s%s%s", dashes, row->name, takes_value(row) ? "=" : "",
							 row->choices ? row->choices[k] : "");

			tell(word, to);
		}
	}
}
