/* SPDX-License-Identifier: MIT */
/* Values as JSON and back: what the files that rot writes have in common. */
#pragma once

#include <jansson.h>

#include "base/pool.h"

/* Whole numbers as JSON integers; what is no number, or infinite, becomes null. New reference. */
json_t *json_number(double number);

/* The same with whole numbers as reals. */
json_t *json_real_or_null(double number);

/* NULL is ""; what is not UTF-8 as utf8_text has it. New reference. */
json_t *json_text(const char *text);

/* The primitive fields of an entity as an object. New reference. */
json_t *json_entity(const void *entity);

/* Sets the fields of the entity that the object has, as texts or whole numbers; others keep their values. */
void json_entity_fill(void *entity, const json_t *object);

/* A text, or a number in full; "" of others. Fresh memory. */
char *json_plain_text(const json_t *value);

/* Member of an object: NaN where there is no number, "" where there is no text (borrowed). */
double json_number_at(const json_t *object, const char *key);
const char *json_text_at(const json_t *object, const char *key);

/* The object of an array whose "name" is that, borrowed; NULL: there is none. */
const json_t *json_named(const json_t *array, const char *name);

/* Gives the reference to the pool, which drops it; gives it back. */
json_t *json_in_pool(struct pool *pool, json_t *json);
