/* SPDX-License-Identifier: MIT */
/* The values fields hold: one row a type, so that every walk over entities handles all types alike. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "entity.h"
#include "number.h"

/* Bytes that the text of any value but a string fits in: "-1.7976931348623157e+308". */
#define VALUE_ROOM ROT_NUMBER_BYTES

/* A slot is the memory of one value: the member itself, or one item of a list. Alignment equals size. */
struct value_type {
	const char *name;   /* in definitions: "ulong"       */
	const char *c_type; /* in C: "uint64_t "; ready to put a name behind */
	size_t size;
	/* Reads text into slot; NULL, or what is wrong with it: "is not a whole number". Independent of the locale. */
	const char *(*parse)(void *slot, const char *text);
	/* Shortest text that reads back exactly: in room, or what the slot holds. Independent of the locale. */
	const char *(*text)(const void *slot, char room[VALUE_ROOM]);
	double (*number)(const void *slot); /* NULL: not numeric */
};

/* By enum rot_type. A reference has neither parse nor text. */
extern const struct value_type value_types[ROT_REFERENCE + 1];

/* The type of that name in definitions, or ROT_REFERENCE for any other name. */
enum rot_type value_type_find(const char *name);

/* Like parse, and a string must be one of field->values if there are any. */
const char *value_parse(const struct rot_field *field, void *slot, const char *text);

/* The slots of a field of entity: one for a plain member, nr for a list. */
void *value_slots(const void *entity, const struct rot_field *field, size_t *nr);

/* The i-th of the slots of field. */
static inline void *
value_slot(const struct rot_field *field, void *slots, size_t i)
{
	return (char *)slots + i * value_types[field->type].size;
}

/* The string in a slot, "" for NULL. */
static inline const char *
value_string(const void *slot)
{
	const char *string = *(char *const *)slot;

	return string ? string : "";
}

/* The entity a slot refers to, or NULL. */
static inline struct rot_entity *
value_reference(const void *slot)
{
	return *(struct rot_entity *const *)slot;
}

/* Same primitive value; doubles by bits. */
bool value_equal(enum rot_type type, const void *a, const void *b);
