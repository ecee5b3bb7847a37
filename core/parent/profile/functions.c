/* SPDX-License-Identifier: MIT */
/* See functions.h. */
#include "parent/profile/functions.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "entity.h"
#include "memory.h"
#include "parent/profile/named_code.h"
#include "parent/symbols/plain_name.h"

/* Places of one file, or of what is none, ordered by address and name. file NULL: nothing is known of its code. */
struct code_file {
	char *path;
	ino_t inode;
	struct symbol_file *file;
	struct program_place **places;
	size_t nr_places;
};

struct functions {
	struct symbol_files *files;
	struct named_code named;
	struct code_file *items;
	size_t nr_items;
};

struct functions *
functions_new(struct symbol_files *files)
{
	struct functions *functions = rot_calloc(1, sizeof(*functions));

	functions->files = files;
	return functions;
}

void
functions_delete(struct functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->nr_items; i++) {
		struct code_file *item = &functions->items[i];

		for (size_t k = 0; k < item->nr_places; k++)
			program_place_delete(item->places[k]);
		free(item->places);
		free(item->path);
	}
	free(functions->items);
	named_code_clear(&functions->named);
	free(functions);
}

static struct code_file *
find_file(struct functions *functions, const char *path, ino_t inode)
{
	struct code_file *item;
	struct stat status;
	struct rot_error err;

	/* The last one is asked for most. */
	for (size_t i = functions->nr_items; i-- > 0;)
		if (functions->items[i].inode == inode && strcmp(functions->items[i].path, path) == 0)
			return &functions->items[i];
	functions->items = rot_grow(functions->items, functions->nr_items, sizeof(*functions->items));
	item = &functions->items[functions->nr_items++];
	*item = (struct code_file){.path = rot_strdup(path), .inode = inode};
	if (inode != 0 && stat(path, &status) == 0 && status.st_ino == inode && S_ISREG(status.st_mode))
		item->file = symbol_file_open(functions->files, path, &err);
	return item;
}

/* The index of the first place that is not before it. */
static size_t
position_of(const struct code_file *item, uint64_t address, const char *name)
{
	size_t low = 0, high = item->nr_places;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct program_place *place = item->places[middle];

		if (place->address < address || (place->address == address && strcmp(place->function, name) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct program_place *
add_place(struct code_file *item, size_t at)
{
	struct program_place *place = program_place_new();

	rot_string_set(&place->object, item->path);
	item->places = rot_grow(item->places, item->nr_places, sizeof(*item->places));
	memmove(item->places + at + 1, item->places + at, (item->nr_places - at) * sizeof(*item->places));
	item->places[at] = place;
	item->nr_places++;
	return place;
}

static struct program_place *
find_named(struct functions *functions, const char *object, const char *name)
{
	struct code_file *item = find_file(functions, object, 0);
	const size_t at = position_of(item, 0, name);
	struct program_place *place = at < item->nr_places ? item->places[at] : NULL;

	if (place && strcmp(place->function, name) == 0)
		return place;
	place = add_place(item, at);
	rot_string_set(&place->function, name);
	rot_string_set(&place->symbol, name);
	return place;
}

static void
describe(const struct code_file *item, struct program_place *place, const struct symbol_range *range)
{
	char *plain = range->name ? plain_name(range->name) : NULL;
	const char *behind = range->name || !item->file ? NULL : symbols_name_before(item->file, range->address);

	place->address = range->address;
	place->size = range->size;
	rot_string_set(&place->function, plain ? plain : range->name ? range->name : "");
	rot_string_set(&place->symbol, range->name ? range->name : "");
	rot_string_set(&place->behind, behind ? behind : "");
	free(plain);
}

/* *address: of the code in the file, 0: not known */
static struct program_place *
find_in_file(struct functions *functions, const struct code_object *object, uint64_t offset, uint64_t *address)
{
	struct code_file *item = find_file(functions, object->path, object->inode);
	struct symbol_range range = {0};
	size_t at;

	*address = 0;
	if (item->file && symbols_address(item->file, offset, address) &&
	    !symbols_function_at(item->file, *address, &range))
		range = (struct symbol_range){0};
	at = position_of(item, range.address, "");
	if (at < item->nr_places && item->places[at]->address == range.address)
		return item->places[at];
	describe(item, add_place(item, at), &range);
	return item->places[at];
}

struct program_place *
functions_of(struct functions *functions, const struct code_object *object, uint64_t offset, bool *is_begin)
{
	struct program_place *place;
	uint64_t address = 0;
	const char *name;

	switch (object->origin) {
	case CODE_FILE:
		place = find_in_file(functions, object, offset, &address);
		break;
	case CODE_ANONYMOUS:
		name = named_code_find(&functions->named, object->pid, offset);
		place = find_named(functions, name ? "[jit]" : "[anonymous]", name ? name : "");
		break;
	case CODE_KERNEL:
		place = find_named(functions, "[kernel]", "");
		break;
	case CODE_VDSO:
		place = find_named(functions, "[vdso]", "");
		break;
	default:
		place = find_named(functions, "[unknown]", "");
		break;
	}
	if (is_begin)
		*is_begin = address != 0 && place->size > 0 && place->address == address;
	return place;
}

/* ---- the end ---- */

static int
compare_places(const void *a, const void *b)
{
	const struct program_place *left = *(struct program_place *const *)a,
				   *right = *(struct program_place *const *)b;
	int order = (left->samples < right->samples) - (left->samples > right->samples);

	if (order == 0)
		order = strcmp(left->object, right->object);
	return order ? order : (left->address > right->address) - (left->address < right->address);
}

/* Lines of functions with few samples help nobody, and take long to read where there are many source files. */
#define LEAST_SAMPLES_WITH_LINES 0.001

static void
add_lines(const struct code_file *item, double least_samples)
{
	for (size_t i = 0; item->file && i < item->nr_places; i++) {
		struct program_place *place = item->places[i];
		const char *source = NULL;
		int line = 0;

		if (place->size > 0 && (double)place->samples >= least_samples)
			source = symbols_line_at(item->file, place->address, &line);
		if (!source)
			continue;
		rot_string_set(&place->source, source);
		place->line = line;
	}
}

void
functions_take(struct functions *functions, struct program_profile *profile)
{
	struct rot_list *places = &profile->places;
	uint64_t nr_samples = 0;

	for (size_t i = 0; i < functions->nr_items; i++)
		for (size_t k = 0; k < functions->items[i].nr_places; k++)
			nr_samples += functions->items[i].places[k]->samples;
	for (size_t i = 0; i < functions->nr_items; i++) {
		struct code_file *item = &functions->items[i];

		add_lines(item, LEAST_SAMPLES_WITH_LINES * (double)nr_samples);
		for (size_t k = 0; k < item->nr_places; k++)
			program_profile_places_add(profile, item->places[k]);
		item->nr_places = 0;
	}
	if (places->nr > 0)
		qsort(places->items, places->nr, sizeof(struct program_place *), compare_places);
}
