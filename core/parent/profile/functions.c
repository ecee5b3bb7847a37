/* SPDX-License-Identifier: MIT */
#include "parent/profile/functions.h"

#include <stdlib.h>
#include <string.h>

#include "entity.h"
#include "memory.h"
#include "parent/profile/instructions.h"
#include "parent/profile/named_code.h"
#include "parent/symbols/plain_name.h"
#include "parent/symbols/source_lines.h"

/* How often a thread was found in a function. */
struct thread_samples {
	uint32_t tid;
	uint64_t nr;
};

/* parts, instructions: NULL: it is not divided. */
struct function {
	struct program_place *place;
	struct parts *parts;
	struct instructions *instructions;
	bool is_counted;
	uint32_t last_stack; /* that was added to its total, from 1 */
	struct thread_samples *threads;
	size_t nr_threads;
	int64_t counts[STEP_NR_COUNTS];
};

/* Is added to the parts of a function when it is known how much of the whole it has. */
struct addition {
	struct function *function;
	uint64_t address;
	struct found found;
};

/* The places in one file, or in no file, ordered by address and name. file NULL: nothing is known of its code. */
struct code_file {
	char *path;
	ino_t inode;
	struct symbol_file *file;
	struct function **functions;
	size_t nr_functions;
};

struct functions {
	struct symbol_files *files;
	const struct perf_event_measurer *measurer;
	code_counts count;
	struct parts_wanted wanted;
	struct named_code named;
	struct code_file *items;
	size_t nr_items;
	struct addition *additions;
	size_t nr_additions;
};

struct functions *
functions_new(struct symbol_files *files, const struct perf_event_measurer *measurer, code_counts count,
	      struct parts_wanted wanted)
{
	struct functions *functions = rot_calloc(1, sizeof(*functions));

	*functions = (struct functions){.files = files, .measurer = measurer, .count = count, .wanted = wanted};
	return functions;
}

void
functions_delete(struct functions *functions)
{
	if (!functions)
		return;
	for (size_t i = 0; i < functions->nr_items; i++) {
		struct code_file *item = &functions->items[i];

		for (size_t k = 0; k < item->nr_functions; k++) {
			rot_graph_delete(item->functions[k]->place);
			free(item->functions[k]->threads);
			free(item->functions[k]);
		}
		free(item->functions);
		free(item->path);
	}
	free(functions->items);
	free(functions->additions);
	named_code_clear(&functions->named);
	free(functions);
}

static struct code_file *
find_file(struct functions *functions, const char *path, ino_t inode)
{
	struct code_file *item;

	/* The last one is asked for most. */
	for (size_t i = functions->nr_items; i-- > 0;)
		if (functions->items[i].inode == inode && strcmp(functions->items[i].path, path) == 0)
			return &functions->items[i];
	functions->items = rot_grow(functions->items, functions->nr_items, sizeof(*functions->items));
	item = &functions->items[functions->nr_items++];
	*item = (struct code_file){.path = rot_strdup(path), .inode = inode};
	if (inode != 0)
		item->file = symbol_file_open_same(functions->files, path, inode);
	return item;
}

/* The index of the first function that is not before it. */
static size_t
position_of(const struct code_file *item, uint64_t address, const char *name)
{
	size_t low = 0, high = item->nr_functions;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct program_place *place = item->functions[middle]->place;

		if (place->address < address || (place->address == address && strcmp(place->function, name) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct function *
add_function(struct code_file *item, size_t at)
{
	struct function *function = rot_calloc(1, sizeof(*function)), **where;

	item->functions = rot_grow(item->functions, item->nr_functions, sizeof(*item->functions));
	where = &item->functions[at];
	memmove(where + 1, where, (item->nr_functions++ - at) * sizeof(*where));
	*where = function;
	function->place = program_place_new();
	rot_string_set(&function->place->object, item->path);
	return function;
}

static struct function *
find_named(struct functions *functions, const char *object, const char *name)
{
	struct code_file *item = find_file(functions, object, 0);
	const size_t at = position_of(item, 0, name);
	struct function *function;

	if (at < item->nr_functions && strcmp(item->functions[at]->place->function, name) == 0)
		return item->functions[at];
	function = add_function(item, at);
	rot_string_set(&function->place->function, name);
	rot_string_set(&function->place->symbol, name);
	return function;
}

/* *address: of the code in the file, 0: not known */
static struct function *
find_in_file(struct functions *functions, const struct code_object *object, uint64_t offset, uint64_t *address)
{
	struct code_file *item = find_file(functions, object->path, object->inode);
	struct symbol_range range = {0};
	struct function *function;
	size_t at;
	autofree char *name = NULL;
	const char *behind;

	if (item->file && symbols_address(item->file, offset, address) &&
	    !symbols_function_at(item->file, *address, &range))
		range = (struct symbol_range){0};
	at = position_of(item, range.address, "");
	if (at < item->nr_functions && item->functions[at]->place->address == range.address)
		return item->functions[at];
	function = add_function(item, at);
	name = range.name ? plain_name_or_symbol(range.name) : NULL;
	behind = range.name || !item->file ? NULL : symbols_name_before(item->file, range.address);
	function->place->address = range.address;
	function->place->size = range.size;
	rot_string_set(&function->place->function, name ? name : "");
	rot_string_set(&function->place->symbol, range.name ? range.name : "");
	rot_string_set(&function->place->behind, behind ? behind : "");
	return function;
}

static struct function *
find_function(struct functions *functions, const struct code_object *object, uint64_t offset, uint64_t *address)
{
	const char *name;

	switch (object->origin) {
	case CODE_FILE:
		return find_in_file(functions, object, offset, address);
	case CODE_ANONYMOUS:
		name = named_code_find(&functions->named, object->pid, offset);
		return find_named(functions, name ? "[jit]" : "[anonymous]", name ? name : "");
	case CODE_KERNEL:
		return find_named(functions, "[kernel]", "");
	case CODE_VDSO:
		return find_named(functions, "[vdso]", "");
	default:
		return find_named(functions, "[unknown]", "");
	}
}

static void
add_samples(struct function *function, uint32_t tid, uint64_t nr)
{
	size_t i = function->nr_threads;

	function->place->samples += nr;
	while (i > 0 && function->threads[i - 1].tid != tid)
		i--;
	if (i == 0) {
		function->threads = rot_grow(function->threads, function->nr_threads, sizeof(*function->threads));
		i = ++function->nr_threads;
		function->threads[i - 1] = (struct thread_samples){.tid = tid};
	}
	function->threads[i - 1].nr += nr;
}

static uint64_t
pairs_of_one_thread(const struct function *function)
{
	uint64_t pairs = 0;

	for (size_t i = 0; i < function->nr_threads; i++)
		pairs += function->threads[i].nr * (function->threads[i].nr - 1) / 2;
	return pairs;
}

void
functions_add(struct functions *functions, const struct code_object *object, uint64_t offset, const struct found *found)
{
	uint64_t address = 0;
	struct function *function = find_function(functions, object, offset, &address);
	struct program_place *place = function->place;

	if (found->samples > 0)
		add_samples(function, found->tid, found->samples);
	function->is_counted |= found->counts != NULL;
	for (size_t i = 0; found->counts && i < STEP_NR_COUNTS; i++)
		function->counts[i] += found->counts[i];
	if (found->nr_bytes > 0 && found->nr_bytes < FOUND_TRIPS && address != 0 && place->size > 0 &&
	    place->address == address)
		place->entries += (uint64_t)found->nr_begun;
	if (place->size == 0)
		return;
	functions->additions = rot_grow(functions->additions, functions->nr_additions, sizeof(*functions->additions));
	functions->additions[functions->nr_additions++] = (struct addition){function, address, *found};
}

void
functions_add_stacks(struct functions *functions, const struct stacks *stacks, const struct spaces *spaces)
{
	size_t nr_calls;
	const struct stack_call *calls = stacks_calls(stacks, &nr_calls);
	autofree struct function **found = rot_calloc(nr_calls + 1, sizeof(struct function *));
	uint64_t address;

	for (size_t i = 0; i < nr_calls; i++) {
		const struct code_object *object = spaces_object(spaces, calls[i].at.object);

		found[i] = find_function(functions, object, calls[i].at.offset, &address);
		if (calls[i].nr > 0)
			functions_add(functions, object, calls[i].at.offset,
				      &(struct found){.samples = calls[i].nr, .tid = calls[i].tid});
	}
	/* A sample counts once for a function, however often it is in the stack. */
	for (uint32_t i = 0; i < nr_calls; i++)
		for (uint32_t k = i; calls[i].nr > 0 && k != STACK_NO_CALL; k = calls[k].around) {
			if (found[k]->last_stack != i + 1)
				found[k]->place->total_samples += calls[i].nr;
			found[k]->last_stack = i + 1;
		}
}

/* ---- parts of a program ---- */

static bool
is_watched(struct functions *functions, const struct code_object *object, const struct function *function,
	   const struct watched *watched)
{
	const struct code_file *item =
		object->origin == CODE_FILE ? find_file(functions, object->path, object->inode) : NULL;
	const struct program_place *place = function->place;
	uint64_t address;

	for (size_t i = 0; item && item->file && i < watched->nr_places; i++)
		if (watched->places[i].inode == object->inode &&
		    symbols_address(item->file, watched->places[i].file_offset, &address) &&
		    address - place->address < place->size)
			return true;
	return false;
}

struct sampled_region *
functions_watch(struct functions *functions, const struct stacks *stacks, const struct spaces *spaces,
		const struct watched *watched)
{
	size_t nr_calls;
	const struct stack_call *calls = stacks_calls(stacks, &nr_calls);
	autofree bool *are_in = rot_calloc(nr_calls + 1, sizeof(*are_in));
	struct sampled_region *region = sampled_region_new();
	uint64_t address;

	rot_string_set(&region->region, watched->name);
	for (size_t i = 0; i < nr_calls; i++) {
		const struct code_object *object = spaces_object(spaces, calls[i].at.object);

		if (calls[i].epoch < watched->epoch)
			continue;
		are_in[i] = (calls[i].around != STACK_NO_CALL && are_in[calls[i].around]) ||
			    is_watched(functions, object,
				       find_function(functions, object, calls[i].at.offset, &address), watched);
		region->samples += are_in[i] ? calls[i].nr : 0;
		region->all_samples += calls[i].nr;
	}
	return region;
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

/* Source lines and loops of functions with little of the whole help nobody, and there are thousands of them. */
#define LEAST_WEIGHT 0.001

static void
add_line(const struct code_file *item, struct program_place *place)
{
	int line = 0;
	const char *source = place->size > 0 ? source_lines_declaration(item->file, place->address, &line) : NULL;

	if (!source && place->size > 0)
		source = symbols_line_at(item->file, place->address, &line);
	if (!source)
		return;
	rot_string_set(&place->source, source);
	place->line = line;
}

/* Samples, or instructions. */
static double
weight_of(const struct function *function)
{
	return (double)function->place->samples + (double)function->counts[STEP_INSTRUCTIONS];
}

static double
sum_of_weights(const struct functions *functions)
{
	double weight = 0;

	for (size_t i = 0; i < functions->nr_items; i++)
		for (size_t k = 0; k < functions->items[i].nr_functions; k++)
			weight += weight_of(functions->items[i].functions[k]);
	return weight;
}

static void
divide(struct functions *functions, double least)
{
	for (size_t i = 0; i < functions->nr_items; i++) {
		const struct code_file *item = &functions->items[i];

		for (size_t k = 0; item->file && k < item->nr_functions; k++) {
			struct function *function = item->functions[k];

			if (functions->wanted.of_all || function->place->samples > 0 || weight_of(function) >= least)
				function->parts = parts_new(item->file, function->place, functions->wanted.has_lines);
			if (weight_of(function) >= least)
				function->instructions = instructions_new(item->file, function->place);
		}
	}
	for (size_t i = 0; i < functions->nr_additions; i++) {
		const struct addition *addition = &functions->additions[i];

		if (addition->function->parts)
			parts_add(addition->function->parts, addition->address, &addition->found, functions->count);
		if (addition->function->instructions && addition->found.nr_bytes < FOUND_TRIPS)
			instructions_add(addition->function->instructions, addition->address, &addition->found,
					 functions->count);
	}
}

void
functions_take(struct functions *functions, struct program_profile *profile)
{
	const double least = LEAST_WEIGHT * sum_of_weights(functions);
	const struct chain_latencies latencies =
		functions->measurer ? chain_latencies_measure() : (struct chain_latencies){{0}};
	struct rot_list *places = &profile->places;

	divide(functions, least);
	for (size_t i = 0; i < functions->nr_items; i++) {
		struct code_file *item = &functions->items[i];

		for (size_t k = 0; k < item->nr_functions; k++) {
			struct function *function = item->functions[k];
			const bool with_source = weight_of(function) >= least;

			if (function->is_counted)
				part_counts_add(&function->place->counts, functions->measurer, function->counts);
			if (item->file && with_source)
				add_line(item, function->place);
			if (function->parts)
				parts_take(function->parts, function->place, functions->measurer, with_source,
					   functions->measurer && with_source ? &latencies : NULL);
			if (function->instructions)
				instructions_take(function->instructions, function->place, functions->measurer);
			parts_delete(function->parts);
			instructions_delete(function->instructions);
			function->place->pairs_of_one_thread = pairs_of_one_thread(function);
			program_profile_places_add(profile, function->place);
			free(function->threads);
			free(function);
		}
		item->nr_functions = 0;
	}
	if (places->nr > 0)
		qsort(places->items, places->nr, sizeof(struct program_place *), compare_places);
}
