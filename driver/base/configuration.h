/* SPDX-License-Identifier: MIT */
/*
 * Settings by key: command line over user file over default file over the key's default.
 *
 * Every key is one row of base/keys.def (name, type, default, description); a key that is not there is an
 * error that suggests the nearest. Source: thesis, section "Configuration".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum configuration_type {
	CONFIGURATION_STRING,
	CONFIGURATION_BOOL,
	CONFIGURATION_LONG,
	CONFIGURATION_DOUBLE,
	CONFIGURATION_CHOICE,
	CONFIGURATION_SET,   /* one or more choices, comma separated */
	CONFIGURATION_COUNT, /* a whole number up to CONFIGURATION_MAX_RUNS, of runs or starts */
};

struct configuration_key {
	const char *name;
	enum configuration_type type;
	const char *default_text;
	const char *choices; /* CONFIGURATION_CHOICE and _SET: blank separated; else NULL */
	const char *description;
};

/* All keys, sorted by name. */
extern const struct configuration_key configuration_keys[];
extern const size_t configuration_nr_keys;

/* A word that stands for a choice: "-quick" for "-sizes=small". As true or false it chooses that, or the default. */
struct configuration_short {
	const char *word, *key, *value;
};

extern const struct configuration_short configuration_shorts[];
extern const size_t configuration_nr_shorts;

/* The key of that name, or that such a word stands for, or NULL. */
const struct configuration_key *configuration_key_find(const char *name);

/* Is the key there, and does it take the text? */
bool configuration_key_takes(const char *name, const char *text);

enum configuration_source {
	CONFIGURATION_DEFAULT,
	CONFIGURATION_DEFAULT_FILE,
	CONFIGURATION_USER_FILE,
	CONFIGURATION_COMMAND_LINE
};

struct configuration;

struct configuration *configuration_new(void);
void configuration_delete(struct configuration *configuration);

/* Unknown key (with the nearest one as a hint) or a text that is no value of its type: error. */
int configuration_set(struct configuration *configuration, enum configuration_source source, const char *key,
		      const char *text, struct rot_error *err);

/* key=value lines, # comments. A missing file is an error only if required. Errors name file and line. */
int configuration_load(struct configuration *configuration, enum configuration_source source, const char *path,
		       bool required, struct rot_error *err);

/* Takes a word of the command line: "-key=value", "--key=value", a short word, or "-key", which turns a bool over. */
int configuration_take_word(struct configuration *configuration, const char *word, struct rot_error *err);

/* The value of a key of any type as text; key must exist (assert). Valid as a string is, see below. */
const char *configuration_text(const struct configuration *configuration, const char *key);

/* For people: "true or false", "whole number"...; "default", "user file"... */
const char *configuration_type_name(enum configuration_type type);
const char *configuration_source_name(enum configuration_source source);

/* Values. A key that is not in keys.def is our own mistake: assert. Strings are valid until the key is set again. */
const char *configuration_string(const struct configuration *configuration, const char *key);
bool configuration_bool(const struct configuration *configuration, const char *key);
int64_t configuration_long(const struct configuration *configuration, const char *key);
int configuration_count(const struct configuration *configuration, const char *key);
double configuration_double(const struct configuration *configuration, const char *key);
enum configuration_source configuration_origin(const struct configuration *configuration, const char *key);

/* More runs of a point are an error: somebody mistyped. */
#define CONFIGURATION_MAX_RUNS 1000000

/* Changes after push are undone by pop. */
void configuration_push(struct configuration *configuration);
void configuration_pop(struct configuration *configuration);
