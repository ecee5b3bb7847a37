/* SPDX-License-Identifier: MIT */
#include "parent/profile/data.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/ordered.h"
#include "parent/tracer/remote.h"

/* A file with variables. file: NULL: it cannot be read. objects: numbers, + 1, for variables, then for sections; 0: not
 * made yet */
struct data_file {
	struct symbol_file *file;
	struct symbol_ranges variables, sections;
	uint32_t *objects;
	char *path;
};

/* file: the index, + 1, of a data_file, whose addresses are less by bias; 0: all of the interval is object. */
struct interval {
	uint64_t start, end, bias;
	uint32_t object, file;
};

/* Disjoint, ordered by address. */
struct layer {
	struct interval *items;
	size_t nr, room;
};

/*
 * mapped: what data_look has found; put: what hides it
 * heads, next: a hash table of names with chains of numbers + 1
 */
#define NR_HEADS 4096
struct data {
	struct symbol_files *files;
	pthread_mutex_t mutex;
	struct layer mapped, put;
	struct data_file *data_files;
	size_t nr_files;
	struct data_object *objects;
	uint32_t *next;
	uint32_t nr_objects, room;
	uint32_t heads[NR_HEADS];
};

struct data *
data_new(struct symbol_files *files)
{
	struct data *data = rot_calloc(1, sizeof(*data));

	data->files = files;
	pthread_mutex_init(&data->mutex, NULL);
	return data;
}

void
data_delete(struct data *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < data->nr_files; i++) {
		symbol_ranges_clear(&data->data_files[i].variables);
		symbol_ranges_clear(&data->data_files[i].sections);
		free(data->data_files[i].objects);
		free(data->data_files[i].path);
	}
	for (uint32_t i = 0; i < data->nr_objects; i++) {
		free(data->objects[i].name);
		free(data->objects[i].file);
	}
	free(data->data_files);
	free(data->objects);
	free(data->next);
	free(data->mapped.items);
	free(data->put.items);
	pthread_mutex_destroy(&data->mutex);
	free(data);
}

/* ---- objects ---- */

static uint32_t
object_of(struct data *data, const char *name, const char *file)
{
	uint32_t hash = 5381, number;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	for (number = data->heads[hash % NR_HEADS]; number; number = data->next[number - 1])
		if (strcmp(data->objects[number - 1].name, name) == 0 &&
		    strcmp(data->objects[number - 1].file, file) == 0)
			return number - 1;
	if (data->nr_objects == data->room) {
		data->room = 2 * data->room + 64;
		data->objects = rot_realloc(data->objects, data->room, sizeof(*data->objects));
		data->next = rot_realloc(data->next, data->room, sizeof(*data->next));
	}
	number = data->nr_objects++;
	data->objects[number] = (struct data_object){rot_strdup(name), rot_strdup(file)};
	data->next[number] = data->heads[hash % NR_HEADS];
	data->heads[hash % NR_HEADS] = number + 1;
	return number;
}

uint32_t
data_object(struct data *data, const char *name, const char *file)
{
	uint32_t object;

	pthread_mutex_lock(&data->mutex);
	object = object_of(data, name, file);
	pthread_mutex_unlock(&data->mutex);
	return object;
}

struct data_object
data_describe(struct data *data, uint32_t object)
{
	struct data_object described;

	pthread_mutex_lock(&data->mutex);
	described = data->objects[object];
	pthread_mutex_unlock(&data->mutex);
	return described;
}

/* ---- intervals ---- */

/* The first one that ends behind the address. */
static size_t
first_behind(const struct layer *layer, uint64_t address)
{
	return ORDERED_UP_TO(layer->items, layer->nr, end, address);
}

static const struct interval *
find(const struct layer *layer, uint64_t address)
{
	const size_t at = first_behind(layer, address);

	return at < layer->nr && layer->items[at].start <= address ? &layer->items[at] : NULL;
}

/* Replaces the intervals from first on, up to behind, by nr_by others. */
static void
replace(struct layer *layer, size_t first, size_t behind, const struct interval *by, size_t nr_by)
{
	const size_t nr = layer->nr - (behind - first) + nr_by;

	if (nr > layer->room) {
		layer->room = 2 * nr + 64;
		layer->items = rot_realloc(layer->items, layer->room, sizeof(*layer->items));
	}
	if (behind < layer->nr)
		memmove(layer->items + first + nr_by, layer->items + behind,
			(layer->nr - behind) * sizeof(*layer->items));
	memcpy(layer->items + first, by, nr_by * sizeof(*by));
	layer->nr = nr;
}

/* Puts an interval in place of what others have there; their parts before and behind it stay. */
static void
put(struct layer *layer, const struct interval *new)
{
	const size_t first = first_behind(layer, new->start);
	struct interval by[3];
	size_t behind = first, nr = 0;

	if (new->start >= new->end)
		return;
	if (first < layer->nr && layer->items[first].start < new->start) {
		by[nr] = layer->items[first];
		by[nr++].end = new->start;
	}
	by[nr++] = *new;
	while (behind < layer->nr && layer->items[behind].start < new->end)
		behind++;
	if (behind > first && layer->items[behind - 1].end > new->end) {
		by[nr] = layer->items[behind - 1];
		by[nr++].start = new->end;
	}
	replace(layer, first, behind, by, nr);
}

void
data_put(struct data *data, uint64_t start, uint64_t end, uint32_t object)
{
	pthread_mutex_lock(&data->mutex);
	put(&data->put, &(struct interval){.start = start, .end = end, .object = object});
	pthread_mutex_unlock(&data->mutex);
}

#define PAGE_BYTES 4096

void
data_put_stack(struct data *data, uint32_t space, unsigned thread, uint64_t rsp, uint64_t fs_base)
{
	const uint64_t bits = (uint64_t)space << DATA_SPACE_SHIFT;
	autofree char *name = rot_format("stack of thread %u", thread);
	const struct interval *around;

	pthread_mutex_lock(&data->mutex);
	around = find(&data->mapped, rsp | bits);
	if (around) {
		struct interval stack = {.start = around->start, .end = around->end};
		const uint64_t with_locals = ((fs_base | bits) | (PAGE_BYTES - 1)) + 1;

		/* Another mapping may follow it without a gap. */
		if (thread > 1 && with_locals > (rsp | bits) && with_locals < stack.end)
			stack.end = with_locals;
		stack.object = object_of(data, name, "");
		put(&data->put, &stack);
	}
	pthread_mutex_unlock(&data->mutex);
}

/* ---- what is mapped ---- */

static uint32_t
find_file(struct data *data, const char *path, const char *opened)
{
	struct data_file *file;
	struct rot_error err;

	for (size_t i = 0; i < data->nr_files; i++)
		if (strcmp(data->data_files[i].path, path) == 0)
			return data->data_files[i].file ? (uint32_t)i + 1 : 0;
	data->data_files = rot_realloc(data->data_files, data->nr_files + 1, sizeof(*data->data_files));
	file = &data->data_files[data->nr_files++];
	*file = (struct data_file){.path = rot_strdup(path)};
	file->file = opened ? symbol_file_open(data->files, opened, &err) : NULL;
	if (!file->file)
		return 0;
	symbols_find_data(file->file, &file->variables, &file->sections);
	file->objects = rot_calloc(file->variables.nr_ranges + file->sections.nr_ranges + 1, sizeof(*file->objects));
	return (uint32_t)data->nr_files;
}

/* The stack grows down, and the heap up, to what is beside them. */
static struct interval
interval_of(struct data *data, const struct remote_mapping *mappings, size_t nr, size_t i)
{
	const struct remote_mapping *mapping = &mappings[i];
	struct interval interval = {.start = mapping->start, .end = mapping->end};

	if (strcmp(mapping->name, "[stack]") == 0) {
		interval.start = i > 0 ? mappings[i - 1].end : mapping->start;
		interval.object = object_of(data, "stack of thread 1", "");
	} else if (strcmp(mapping->name, "[heap]") == 0) {
		interval.end = i + 1 < nr ? mappings[i + 1].start : mapping->end;
		interval.object = object_of(data, "heap", "");
	} else if (mapping->name[0] == '/') {
		interval.object = object_of(data, basename(mapping->name), mapping->name);
	} else {
		interval.object = object_of(data, "anonymous memory", "");
	}
	return interval;
}

/* An object reaches as far as its sections, of which some are only in memory. */
static struct interval
interval_of_object(struct data *data, const struct object *object, uint32_t number)
{
	struct interval interval = {.start = object->start, .end = object->end, .bias = object->bias, .file = number};
	const struct symbol_ranges *sections = &data->data_files[number - 1].sections;

	if (sections->nr_ranges > 0) {
		const struct symbol_range *last = &sections->ranges[sections->nr_ranges - 1];

		if (last->address + last->size + object->bias > interval.end)
			interval.end = last->address + last->size + object->bias;
	}
	interval.object = object_of(data, basename(object->path), object->path);
	return interval;
}

/* There will be a heap behind the program, where nothing is yet. */
static void
put_heap(struct data *data, const struct remote_mapping *mappings, size_t nr, uint64_t bits, uint64_t program_end)
{
	size_t i = 0;

	while (i < nr && (mappings[i].start | bits) < program_end)
		i++;
	if (i < nr)
		put(&data->mapped, &(struct interval){.start = program_end,
						      .end = mappings[i].start | bits,
						      .object = object_of(data, "heap", "")});
}

void
data_look(struct data *data, pid_t tid, uint32_t space)
{
	const uint64_t bits = (uint64_t)space << DATA_SPACE_SHIFT;
	struct objects objects = {0};
	size_t nr;
	autofree struct remote_mapping *mappings = remote_mappings(tid, &nr, NULL);
	struct rot_error err;

	if (!mappings || objects_read(tid, &objects, &err) < 0)
		return;
	pthread_mutex_lock(&data->mutex);
	for (size_t i = 0; i < nr; i++) {
		struct interval interval = interval_of(data, mappings, nr, i);

		interval.start |= bits;
		interval.end |= bits;
		put(&data->mapped, &interval);
	}
	for (size_t i = 0; i < objects.nr_objects; i++) {
		const struct object *object = &objects.objects[i];
		const uint32_t number = find_file(data, object->path, object->file);
		struct interval interval;

		if (!number)
			continue;
		interval = interval_of_object(data, object, number);
		interval.start |= bits;
		interval.end |= bits;
		interval.bias |= bits;
		put(&data->mapped, &interval);
		if (object->is_program)
			put_heap(data, mappings, nr, bits, interval.end);
	}
	pthread_mutex_unlock(&data->mutex);
	objects_clear(&objects);
}

/* ---- looking up ---- */

static const struct symbol_range *
find_range(const struct symbol_ranges *ranges, uint64_t address)
{
	const size_t behind = ORDERED_UP_TO(ranges->ranges, ranges->nr_ranges, address, address);
	const struct symbol_range *range = behind > 0 ? &ranges->ranges[behind - 1] : NULL;

	return range && address - range->address < range->size ? range : NULL;
}

/* A variable, else a section, else the file. */
static uint32_t
find_variable(struct data *data, const struct interval *interval, uint64_t address, uint64_t *start)
{
	const struct data_file *file = &data->data_files[interval->file - 1];
	const struct symbol_range *range = find_range(&file->variables, address - interval->bias);
	const bool is_variable = range != NULL;
	char *name;
	uint32_t *object;

	if (!range)
		range = find_range(&file->sections, address - interval->bias);
	if (!range)
		return interval->object;
	*start = range->address + interval->bias;
	object = &file->objects[is_variable ? range - file->variables.ranges
					    : range - file->sections.ranges + (ptrdiff_t)file->variables.nr_ranges];
	if (!*object) {
		name = is_variable ? rot_strdup(range->name)
				   : rot_format("%s of %s", range->name, basename(file->path));
		*object = object_of(data, name, file->path) + 1;
		free(name);
	}
	return *object - 1;
}

uint32_t
data_at(struct data *data, uint64_t address, uint64_t *start)
{
	const struct interval *interval;
	uint32_t object;

	pthread_mutex_lock(&data->mutex);
	interval = find(&data->put, address);
	if (!interval)
		interval = find(&data->mapped, address);
	*start = interval ? interval->start : address;
	object = !interval        ? object_of(data, "unknown memory", "")
		 : interval->file ? find_variable(data, interval, address, start)
				  : interval->object;
	pthread_mutex_unlock(&data->mutex);
	return object;
}
