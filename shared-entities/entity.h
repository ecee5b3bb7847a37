/* SPDX-License-Identifier: MIT */
/*
 * Entities: the objects that driver and core both know.
 *
 * An entity is a C struct whose first member leads to a struct rot_entity, described by a struct rot_class. The structs
 * and classes of rot itself are generated from definitions XML files by codegen; the driver also makes classes at run
 * time (a user's kernel), with the same layout rules, so everything here works on both. One runtime walks the
 * classes: text form, canonical XML, clone, equality, hash, pretty print. References may be shared and may form
 * cycles.
 *
 * Source: thesis, appendix "Multi Language Infrastructure".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

/* ---- classes ---- */

enum rot_type {
	ROT_DOUBLE,    /* double                                                       */
	ROT_INT,       /* int32_t                                                      */
	ROT_LONG,      /* int64_t                                                      */
	ROT_ULONG,     /* uint64_t                                                     */
	ROT_BOOL,      /* bool                                                         */
	ROT_STRING,    /* char *, owned by the entity, never NULL once made            */
	ROT_REFERENCE, /* struct rot_entity *, not owned, NULL allowed                 */
};

/* A list: items points to nr values of the field's type, without gaps. The array is owned by the entity. */
struct rot_list {
	size_t nr;
	void *items;
};

struct rot_class;

struct rot_field {
	const char *name; /* as in XML: "bufferSize"                               */
	enum rot_type type;
	bool is_list;                   /* then the member is a struct rot_list                  */
	const struct rot_class *target; /* ROT_REFERENCE: class (or base) of the referenced entity; else NULL */
	size_t offset;                  /* bytes from the start of the struct                    */
	const char *default_text;       /* XML form of the default, or NULL (zero, "", NULL)     */
	const char *values;             /* ROT_STRING: allowed values, blank separated; or NULL  */
	const char *unit;               /* "bytes", "us"; "" if it has none                      */
	const char *macro;              /* compile-time field: the macro that carries it; or NULL */
	const char *comment;
};

struct rot_class {
	const char *name;               /* as in XML: "PerfEventMeasurer"                        */
	const struct rot_class *base;   /* or NULL                                               */
	const struct rot_field *fields; /* own fields only; those of the base come first in every walk */
	size_t nr_fields;
	size_t size;                 /* bytes of the struct with the fields                   */
	const size_t *instance_size; /* suffix classes: bytes of the hand-written struct; else NULL */
	bool is_abstract;            /* cannot be made or read                                */
	const char *comment;
};

struct rot_entity {
	const struct rot_class *class;
};

/* Any generated struct pointer as an entity; the struct starts with one. */
#define ROT_ENTITY(x) ((struct rot_entity *)(x))

/* True if class is ancestor or derives from it. NULL class: false. */
bool rot_class_is_a(const struct rot_class *class, const struct rot_class *ancestor);

/* The field of that name in class or its bases, or NULL. */
const struct rot_field *rot_class_field(const struct rot_class *class, const char *name);

/* How many fields class has with those of its bases, and the i-th in walking order (the oldest base first). */
size_t rot_class_nr_fields(const struct rot_class *class);
const struct rot_field *rot_class_field_at(const struct rot_class *class, size_t i);

/* ---- registry: classes by name, needed for reading ---- */

struct rot_registry;

struct rot_registry *rot_registry_new(void);
void rot_registry_delete(struct rot_registry *registry);

/* Adds one class (borrowed, must outlive the registry). A second class of the same name is an error. */
int rot_registry_add(struct rot_registry *registry, const struct rot_class *class, struct rot_error *err);

/* Adds the NULL-terminated array that codegen writes (rot_shared_classes). */
int rot_registry_add_all(struct rot_registry *registry, const struct rot_class *const *classes, struct rot_error *err);

/* The class of that name, or NULL. */
const struct rot_class *rot_registry_find(const struct rot_registry *registry, const char *name);

/* Number of classes, and the i-th in order of addition. */
size_t rot_registry_size(const struct rot_registry *registry);
const struct rot_class *rot_registry_at(const struct rot_registry *registry, size_t i);

/* ---- entities ---- */

/* A new entity with its defaults. class must not be abstract (assert). Memory beyond the fields is zeroed. */
void *rot_entity_new(const struct rot_class *class);

/* Frees this entity with its strings and lists; referenced entities stay. NULL is allowed. */
void rot_entity_delete(void *entity);

/* entity if it is a class (or derives from it), else NULL. NULL gives NULL. */
void *rot_cast(void *entity, const struct rot_class *class);
bool rot_is_a(const void *entity, const struct rot_class *class);

/* Address of a field's member: double *, int32_t *, ..., char **, struct rot_entity **, struct rot_list *. */
void *rot_field_of(const void *entity, const struct rot_field *field);

/*
 * Set a primitive field from text ("100", "true", "-O3"), as XML attributes give it. Errors: no such field (suggests
 * the nearest), a list or a reference, bad number, out of range, value not among the allowed ones.
 */
int rot_entity_set(void *entity, const char *field, const char *text, struct rot_error *err);

/*
 * Fresh text of a primitive field (shortest form that reads back exactly), or NULL if there is no such primitive
 * field.
 */
char *rot_entity_get(const void *entity, const char *field);

/* A number of any numeric field (bool: 0 or 1). Returns false if there is no such numeric field. */
bool rot_entity_number(const void *entity, const char *field, double *value);

/* Append to a list member: value points to one item (char * items are copied; references are kept as they are). */
void rot_list_add(struct rot_list *list, enum rot_type type, const void *value);

/* Set a string member, copying; frees the old value. NULL becomes "". */
void rot_string_set(char **member, const char *value);

/* ---- graphs: an entity and all it reaches ---- */

/*
 * All entities reachable from root, each once: root, what its fields refer to, what those refer to, and so on
 * (breadth first). Caller frees the array.
 */
struct rot_entity **rot_graph_collect(const void *root, size_t *nr);

/* Frees root and all it reaches. NULL is allowed. */
void rot_graph_delete(void *root);

/* The same for a local variable when its block ends, as autofree (memory.h). */
#define autograph __attribute__((cleanup(rot_graph_delete_local)))
void rot_graph_delete_local(void *variable);

/* old -> new pairs of a clone. */
struct rot_clone_map;
void *rot_clone_map_get(const struct rot_clone_map *map, const void *old); /* NULL if not cloned */
void rot_clone_map_delete(struct rot_clone_map *map);

/* A copy of the whole graph. If map is not NULL it receives the pairs; delete it with rot_clone_map_delete. */
void *rot_graph_clone(const void *root, struct rot_clone_map **map);

/* Same classes, same field values (doubles by bits), same shape of sharing and cycles. Two NULLs are equal. */
bool rot_graph_equal(const void *a, const void *b);

/* ---- text form: between driver and core ---- */

/*
 * One line a value. The entities follow one another in the order of rot_graph_collect, so that a graph of any depth
 * is read and written without recursion. For each: class name; per field its name, then the value; a list is its
 * count, then the items. References are "<null>" or "=> N" for the N-th entity (from 0). In strings \n \r and \\ are
 * escaped; doubles are the shortest decimal text that reads back exactly. A last line "<end>", so that truncation is
 * always seen. Returns 0 or -1 (write error). root must not be NULL.
 */
int rot_text_write(const void *root, FILE *out, struct rot_error *err);

/*
 * Reads one graph; name is used in messages ("NAME:LINE: class Triad, field bufferSize: ..."). Never crashes on any
 * input; memory used is bounded by the input's length. Everything after "<end>" is left unread. NULL on error.
 */
void *rot_text_read(const struct rot_registry *registry, FILE *in, const char *name, struct rot_error *err);

/* ---- canonical XML ---- */

/*
 * Canonical XML of the graph in fresh memory (UTF-8, no declaration, no free white space but newlines between
 * elements): the same graph always gives the same bytes. Fields equal to their default are written as well.
 *
 *	<MeasurerSet id="1" xml:id="e1">                       primitive fields are attributes
 *	<mainMeasurer>                                         a reference holds the entity...
 *	<TscMeasurer id="2"/>
 *	</mainMeasurer>
 *	<additionalMeasurers/>                                 ...or nothing: an empty list, a reference to NULL
 *	<validationMeasurers>
 *	<item ref="e2"/>                                       an entity that is written elsewhere has an xml:id there;
 *	</validationMeasurers>                                 a plain reference to one is <field ref="e2"/>
 *	</MeasurerSet>
 *
 * Items of lists of primitives are <item value="..."/>, NULL in a list is <item/>. Entities below a certain depth are
 * written after the root, then <graph> is around them all. In strings, backslashes are doubled, and what XML 1.0
 * cannot hold or would change (control characters, bytes that are not UTF-8) is \n, \r, \t or \xNN. Reading it back
 * is codegen/document.h.
 */
char *rot_xml_write(const void *root);
