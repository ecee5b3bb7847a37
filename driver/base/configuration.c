/* SPDX-License-Identifier: MIT */
/* Settings by key, each with the texts its sources gave; the highest source counts. */
#include "base/configuration.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache_presets.h"
#include "base/pool.h"
#include "memory.h"
#include "nearest.h"

#define KEY(name, type, default_text, choices, description)                                                            \
	{name, CONFIGURATION_##type, default_text, choices, description},
#define SHORT(word, key, value)
const struct configuration_key configuration_keys[] = {
#include "base/keys.def"
};
#undef KEY
#undef SHORT
#define KEY(name, type, default_text, choices, description)
#define SHORT(word, key, value) {word, key, value},
const struct configuration_short configuration_shorts[] = {
#include "base/keys.def"
};
#undef KEY
#undef SHORT
const size_t configuration_nr_shorts = sizeof(configuration_shorts) / sizeof(configuration_shorts[0]);
const size_t configuration_nr_keys = sizeof(configuration_keys) / sizeof(configuration_keys[0]);

enum {
	NR_KEYS = sizeof(configuration_keys) / sizeof(configuration_keys[0]),
	NR_SOURCES = CONFIGURATION_COMMAND_LINE + 1
};

/* The texts of one state; NULL where a source says nothing. Text of CONFIGURATION_DEFAULT is that of the key. */
struct state {
	struct pool pool; /* of the texts that the state below does not have */
	const char *texts[NR_KEYS][NR_SOURCES];
	struct state *below; /* what pop goes back to */
};

struct configuration {
	struct state *top;
};

static struct state *
state_new(struct state *below)
{
	struct state *state = rot_calloc(1, sizeof(*state));

	if (below)
		memcpy(state->texts, below->texts, sizeof(state->texts));
	state->below = below;
	return state;
}

/* Returns the state below. */
static struct state *
state_delete(struct state *state)
{
	struct state *below = state->below;

	pool_clear(&state->pool);
	free(state);
	return below;
}

struct configuration *
configuration_new(void)
{
	struct configuration *configuration = rot_calloc(1, sizeof(*configuration));

	configuration->top = state_new(NULL);
	return configuration;
}

void
configuration_delete(struct configuration *configuration)
{
	if (!configuration)
		return;
	while (configuration->top)
		configuration->top = state_delete(configuration->top);
	free(configuration);
}

void
configuration_push(struct configuration *configuration)
{
	configuration->top = state_new(configuration->top);
}

void
configuration_pop(struct configuration *configuration)
{
	assert(configuration->top->below);
	configuration->top = state_delete(configuration->top);
}

static const struct configuration_short *
short_find(const char *word)
{
	for (size_t i = 0; i < configuration_nr_shorts; i++)
		if (!strcmp(configuration_shorts[i].word, word))
			return &configuration_shorts[i];
	return NULL;
}

const struct configuration_key *
configuration_key_find(const char *name)
{
	const struct configuration_short *word = short_find(name);

	if (word)
		name = word->key;
	for (size_t k = 0; k < NR_KEYS; k++)
		if (!strcmp(configuration_keys[k].name, name))
			return &configuration_keys[k];
	return NULL;
}

static bool
is_number(const struct configuration_key *key, const char *text)
{
	char *end;
	double value;

	if (!*text || isspace((unsigned char)*text))
		return false;
	errno = 0;
	value = key->type == CONFIGURATION_DOUBLE ? strtod(text, &end) : (double)strtoll(text, &end, 10);
	return !errno && !*end && isfinite(value) && value >= 0 &&
	       (key->type != CONFIGURATION_COUNT || value <= CONFIGURATION_MAX_RUNS);
}

/* True if word is one of the blank separated words. */
static bool
is_among(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (const char *w = words; length && *w; w += strspn(w, " ")) {
		size_t n = strcspn(w, " ");

		if (n == length && !memcmp(w, word, n))
			return true;
		w += n;
	}
	return false;
}

/* The first part of a list with commas that is none of the words: fresh memory, NULL if all are. */
static char *
stray_part(const char *words, const char *text)
{
	for (const char *w = text; w; w = strchr(w, ',') ? strchr(w, ',') + 1 : NULL) {
		autofree char *word = rot_strndup(w, strcspn(w, ","));

		if (!is_among(words, word))
			return rot_keep(&word);
	}
	return NULL;
}

#define TEXT_OF(number) TEXT_OF_EXPANDED(number)
#define TEXT_OF_EXPANDED(number) #number

/* Values that the type of a key takes; choices are named by the key. */
static const char *const expected[] = {
	[CONFIGURATION_STRING] = "a text",
	[CONFIGURATION_BOOL] = "true or false",
	[CONFIGURATION_LONG] = "a whole number from 0 to 9223372036854775807",
	[CONFIGURATION_DOUBLE] = "a number from 0 to 1e308",
	[CONFIGURATION_COUNT] = "a whole number from 0 to " TEXT_OF(CONFIGURATION_MAX_RUNS),
};

static int
value_check(const struct configuration_key *key, const char *text, struct rot_error *err)
{
	autofree char *stray = NULL;
	bool is_good = true;

	switch (key->type) {
	case CONFIGURATION_STRING:
		break;
	case CONFIGURATION_BOOL:
		is_good = is_among("true false", text);
		break;
	case CONFIGURATION_LONG:
	case CONFIGURATION_DOUBLE:
	case CONFIGURATION_COUNT:
		is_good = is_number(key, text);
		break;
	case CONFIGURATION_CHOICE:
		is_good = is_among(key->choices, text);
		break;
	case CONFIGURATION_SET:
		stray = stray_part(key->choices, text);
		is_good = !stray;
		break;
	}
	if (is_good)
		return 0;
	rot_error_set(err, 0, "'%s' is no value of %s", stray ? stray : text, key->name);
	if (key->type == CONFIGURATION_CHOICE)
		return rot_error_hint(err, "%s takes one of: %s", key->name, key->choices);
	if (key->type == CONFIGURATION_SET)
		return rot_error_hint(err, "%s takes one or several, with commas between: %s (rot help %s)", key->name,
				      key->choices, key->name);
	return rot_error_hint(err, "%s takes %s", key->name, expected[key->type]);
}

bool
configuration_key_takes(const char *name, const char *text)
{
	const struct configuration_key *key = configuration_key_find(name);

	return key && value_check(key, text, NULL) == 0;
}

static void
state_set(struct state *state, const struct configuration_key *key, enum configuration_source source, const char *text)
{
	state->texts[key - configuration_keys][source] = pool_strdup(&state->pool, text);
}

int
configuration_set(struct configuration *configuration, enum configuration_source source, const char *name,
		  const char *text, struct rot_error *err)
{
	const struct configuration_key *key = configuration_key_find(name);
	const struct configuration_short *word = short_find(name);

	if (!key) {
		/* On the command line keys have a dash. */
		const char *names[NR_KEYS], *nearest;

		for (size_t k = 0; k < NR_KEYS; k++)
			names[k] = configuration_keys[k].name;
		rot_error_set(err, 0, "unknown configuration key '%s'", name);
		nearest = rot_nearest(name, names, NR_KEYS);
		if (!nearest)
			return rot_error_hint(err, "all keys: rot list keys");
		return rot_error_hint(err, "did you mean '%s%s'? All keys: rot list keys",
				      source == CONFIGURATION_COMMAND_LINE ? "-" : "", nearest);
	}
	if (word && !is_among("true false", text)) {
		rot_error_set(err, 0, "'%s' is no value of %s", text, name);
		return rot_error_hint(err, "%s is short for %s=%s, and takes true or false", name, word->key,
				      word->value);
	}
	if (word)
		text = strcmp(text, "true") == 0 ? word->value : key->default_text;
	if (value_check(key, text, err) < 0)
		return -1;
	state_set(configuration->top, key, source, text);
	return 0;
}

/* Cuts white space at both ends, in place. */
static char *
trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r\n");
	for (length = strlen(text); length && strchr(" \t\r\n", text[length - 1]); length--)
		;
	text[length] = '\0';
	return text;
}

static int
load_line(struct configuration *configuration, enum configuration_source source, char *line, struct rot_error *err)
{
	char *key = trim(line), *equals = strchr(key, '=');

	if (!*key || *key == '#')
		return 0;
	if (!equals) {
		rot_error_set(err, 0, "'%s' is no setting", key);
		return rot_error_hint(err, "a line is 'key=value', or a comment that starts with '#'");
	}
	*equals = '\0';
	return configuration_set(configuration, source, trim(key), trim(equals + 1), err);
}

int
configuration_load(struct configuration *configuration, enum configuration_source source, const char *path,
		   bool required, struct rot_error *err)
{
	FILE *in = fopen(path, "re");
	autofree char *line = NULL;
	size_t size = 0;
	ssize_t length;
	int number = 0, rc = 0;

	if (!in && errno == ENOENT && !required)
		return 0;
	if (!in)
		return rot_error_set(err, errno, "cannot open the configuration file '%s'", path);
	errno = 0;
	while (!rc && (length = getline(&line, &size, in)) >= 0) {
		number++;
		rc = memchr(line, '\0', (size_t)length) ? rot_error_set(err, 0, "the line holds a zero byte")
							: load_line(configuration, source, line, err);
		if (rc < 0)
			rot_error_prefix(err, "%s:%d", path, number);
		errno = 0;
	}
	if (!rc && ferror(in))
		rc = rot_error_set(err, errno, "cannot read the configuration file '%s'", path);
	fclose(in);
	return rc;
}

int
configuration_take_word(struct configuration *configuration, const char *word, struct rot_error *err)
{
	const char *argument = word + (word[1] == '-' ? 2 : 1), *equals = strchr(argument, '=');
	autofree char *name = rot_strndup(argument, strcspn(argument, "="));
	const struct configuration_key *key = configuration_key_find(name);
	int rc;

	if (short_find(name) && !equals) {
		rc = configuration_set(configuration, CONFIGURATION_COMMAND_LINE, name, "true", err);
	} else if (!key || equals) {
		rc = configuration_set(configuration, CONFIGURATION_COMMAND_LINE, name, equals ? equals + 1 : "", err);
	} else if (key->type == CONFIGURATION_BOOL) {
		state_set(configuration->top, key, CONFIGURATION_COMMAND_LINE,
			  configuration_bool(configuration, name) ? "false" : "true");
		rc = 0;
	} else {
		rot_error_set(err, 0, "-%s has no value", name);
		rc = rot_error_hint(err, "write -%s=VALUE; only true-or-false keys can stand alone", name);
	}
	return rc;
}

static size_t
key_index(const char *name)
{
	const struct configuration_key *key = configuration_key_find(name);

	assert(key);
	return (size_t)(key - configuration_keys);
}

enum configuration_source
configuration_origin(const struct configuration *configuration, const char *name)
{
	const char *const *texts = configuration->top->texts[key_index(name)];
	int source = CONFIGURATION_COMMAND_LINE;

	while (source > CONFIGURATION_DEFAULT && !texts[source])
		source--;
	return (enum configuration_source)source;
}

const char *
configuration_text(const struct configuration *configuration, const char *name)
{
	size_t k = key_index(name);
	const char *text = configuration->top->texts[k][configuration_origin(configuration, name)];

	return text ? text : configuration_keys[k].default_text;
}

const char *
configuration_string(const struct configuration *configuration, const char *name)
{
	assert(configuration_key_find(name)->type == CONFIGURATION_STRING ||
	       configuration_key_find(name)->type == CONFIGURATION_CHOICE ||
	       configuration_key_find(name)->type == CONFIGURATION_SET);
	return configuration_text(configuration, name);
}

bool
configuration_bool(const struct configuration *configuration, const char *name)
{
	assert(configuration_key_find(name)->type == CONFIGURATION_BOOL);
	return !strcmp(configuration_text(configuration, name), "true");
}

int64_t
configuration_long(const struct configuration *configuration, const char *name)
{
	assert(configuration_key_find(name)->type == CONFIGURATION_LONG);
	return strtoll(configuration_text(configuration, name), NULL, 10);
}

int
configuration_count(const struct configuration *configuration, const char *name)
{
	assert(configuration_key_find(name)->type == CONFIGURATION_COUNT);
	return (int)strtol(configuration_text(configuration, name), NULL, 10);
}

double
configuration_double(const struct configuration *configuration, const char *name)
{
	assert(configuration_key_find(name)->type == CONFIGURATION_DOUBLE);
	return strtod(configuration_text(configuration, name), NULL);
}

const char *
configuration_type_name(enum configuration_type type)
{
	static const char *const names[] = {"text",   "true or false", "whole number", "number",
					    "choice", "choices",       "whole number"};

	return names[type];
}

const char *
configuration_source_name(enum configuration_source source)
{
	static const char *const names[] = {"default", "default file", "user file", "command line"};

	return names[source];
}
