/* SPDX-License-Identifier: MIT */
/* Random graphs of entities for tests. */
#include "graphs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "value.h"

uint64_t
dice_roll(struct dice *dice)
{
	uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

size_t
dice_below(struct dice *dice, size_t below)
{
	return (size_t)(dice_roll(dice) % below);
}

bool
dice_one_in(struct dice *dice, size_t n)
{
	return dice_below(dice, n) == 0;
}

/* ---- values ---- */

static double
random_double(struct dice *dice)
{
	static const double special[] = {0.0,
					 -0.0,
					 1.0,
					 0.1,
					 1e23,
					 5e-324,
					 2.2250738585072011e-308,
					 1.7976931348623157e308,
					 INFINITY,
					 -INFINITY,
					 NAN,
					 123456789.0,
					 1e15,
					 1e16,
					 1e17};
	uint64_t bits = dice_roll(dice);
	double value;

	if (dice_one_in(dice, 2))
		return special[dice_below(dice, sizeof(special) / sizeof(special[0]))];
	if (dice_one_in(dice, 8))
		bits |= UINT64_C(0x7ff0000000000001);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Whole numbers of any size, so that small ones and the limits occur. */
static uint64_t
random_bits(struct dice *dice)
{
	uint64_t bits = dice_roll(dice) >> dice_below(dice, 64);

	return dice_one_in(dice, 4) ? ~bits : dice_one_in(dice, 8) ? UINT64_C(1) << dice_below(dice, 64) : bits;
}

static char *
random_string(struct dice *dice)
{
	static const char *const special[] = {"",     "<null>", "<end>",    "=> 0",         "\\",   "\\n", "\n",
					      "\r\n", "\t",     " ",        "&amp;",        "]]>",  "\"",  "'",
					      "<a>",  "\\x41",  "\xc3\xa4", "\xed\xa0\x80", "\xff", "\x01"};
	size_t len = dice_below(dice, 12);
	char *string = rot_calloc(len + 1, 1);

	if (dice_one_in(dice, 2)) {
		free(string);
		return rot_strdup(special[dice_below(dice, sizeof(special) / sizeof(special[0]))]);
	}
	for (size_t i = 0; i < len; i++)
		string[i] = (char)(1 + dice_below(dice, 255));
	return string;
}

/* One of blank separated words. */
static char *
random_word(struct dice *dice, const char *words)
{
	size_t nr = 1, chosen;

	for (const char *c = words; *c; c++)
		nr += *c == ' ';
	for (chosen = dice_below(dice, nr); chosen > 0; chosen--)
		words = strchr(words, ' ') + 1;
	return rot_strndup(words, strcspn(words, " "));
}

static void
set_random(struct dice *dice, const struct rot_field *field, void *slot)
{
	char *string;

	switch (field->type) {
	case ROT_DOUBLE:
		*(double *)slot = random_double(dice);
		break;
	case ROT_INT:
		*(int32_t *)slot = (int32_t)random_bits(dice);
		break;
	case ROT_LONG:
	case ROT_ULONG:
		*(uint64_t *)slot = random_bits(dice);
		break;
	case ROT_BOOL:
		*(bool *)slot = dice_one_in(dice, 2);
		break;
	case ROT_STRING:
		string = field->values ? random_word(dice, field->values) : random_string(dice);
		rot_string_set(slot, string);
		free(string);
		break;
	case ROT_REFERENCE:
		break;
	}
}

/* ---- graphs ---- */

struct growing {
	const struct rot_registry *registry;
	struct dice *dice;
	struct rot_entity **entities;
	size_t nr, max;
};

/* A new entity of a random class that is an ancestor (NULL: any), or NULL when there is no such class or no more room.
 */
static struct rot_entity *
add_entity(struct growing *growing, const struct rot_class *ancestor)
{
	size_t nr_classes = rot_registry_size(growing->registry), start = dice_below(growing->dice, nr_classes);

	for (size_t i = 0; i < nr_classes && growing->nr < growing->max; i++) {
		const struct rot_class *class = rot_registry_at(growing->registry, (start + i) % nr_classes);

		if (class->is_abstract || (ancestor && !rot_class_is_a(class, ancestor)))
			continue;
		growing->entities[growing->nr] = rot_entity_new(class);
		return growing->entities[growing->nr++];
	}
	return NULL;
}

static struct rot_entity *
random_target(struct growing *growing, const struct rot_class *class)
{
	size_t start = dice_below(growing->dice, growing->nr);

	if (dice_one_in(growing->dice, 6))
		return NULL;
	if (!dice_one_in(growing->dice, 3))
		return add_entity(growing, class);
	for (size_t i = 0; i < growing->nr; i++)
		if (rot_is_a(growing->entities[(start + i) % growing->nr], class))
			return growing->entities[(start + i) % growing->nr];
	return add_entity(growing, class);
}

static void
fill_slot(struct growing *growing, const struct rot_field *field, void *slot)
{
	if (field->type == ROT_REFERENCE)
		*(struct rot_entity **)slot = random_target(growing, field->target);
	else
		set_random(growing->dice, field, slot);
}

static void
fill_field(struct growing *growing, struct rot_entity *entity, const struct rot_field *field)
{
	struct rot_list *list = rot_field_of(entity, field);
	size_t nr = dice_below(growing->dice, 4);

	if (!field->is_list) {
		fill_slot(growing, field, list);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t zero = 0;

		rot_list_add(list, field->type, &zero);
		fill_slot(growing, field, value_slot(field, list->items, i));
	}
}

void *
random_graph(const struct rot_registry *registry, struct dice *dice, size_t max_entities)
{
	struct growing growing = {.registry = registry, .dice = dice, .max = max_entities};
	struct rot_entity *root;

	growing.entities = rot_calloc(max_entities, sizeof(struct rot_entity *));
	root = add_entity(&growing, NULL);
	for (size_t i = 0; i < growing.nr; i++) {
		size_t nr_fields = rot_class_nr_fields(growing.entities[i]->class);

		for (size_t j = 0; j < nr_fields; j++)
			fill_field(&growing, growing.entities[i], rot_class_field_at(growing.entities[i]->class, j));
	}
	free(growing.entities);
	return root;
}

/* Sets the slot until it differs: a bool needs two attempts on average. */
static void
change_slot(struct dice *dice, const struct rot_field *field, void *slot)
{
	uint64_t before = 0;
	autofree char *string = field->type == ROT_STRING ? rot_strdup(value_string(slot)) : NULL;
	const void *old = string ? (void *)&string : memcpy(&before, slot, value_types[field->type].size);

	while (value_equal(field->type, old, slot))
		set_random(dice, field, slot);
}

bool
change_graph(void *root, struct dice *dice)
{
	size_t nr, start;
	struct rot_entity **entities = rot_graph_collect(root, &nr);
	bool is_changed = false;

	start = dice_below(dice, nr);
	for (size_t i = 0; i < nr && !is_changed; i++) {
		struct rot_entity *entity = entities[(start + i) % nr];
		size_t nr_fields = rot_class_nr_fields(entity->class);

		for (size_t j = 0; j < nr_fields && !is_changed; j++) {
			const struct rot_field *field = rot_class_field_at(entity->class, j);
			size_t nr_slots;
			void *slots = value_slots(entity, field, &nr_slots);

			if (field->type == ROT_REFERENCE || nr_slots == 0 ||
			    (field->values && !strchr(field->values, ' ')))
				continue;
			change_slot(dice, field, value_slot(field, slots, dice_below(dice, nr_slots)));
			is_changed = true;
		}
	}
	free(entities);
	return is_changed;
}
