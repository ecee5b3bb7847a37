/* SPDX-License-Identifier: MIT */
/* Follows the code of a function to the instructions that leave it. */
#include "parent/symbols/function_exits.h"

#include <inttypes.h>
#include <string.h>

#define MAX_PARTS 32
#define MAX_CALLED 1000
#define ENDBR64_BYTES 4

struct function {
	struct symbol_file *file;
	struct symbol_range parts[MAX_PARTS]; /* the first is the function itself */
	size_t nr_parts;
	struct function_shape *shape;
};

static bool
covers(const struct symbol_range *range, uint64_t address)
{
	return address - range->address < range->size;
}

static bool
is_within(const struct function *function, uint64_t address)
{
	for (size_t i = 0; i < function->nr_parts; i++)
		if (covers(&function->parts[i], address))
			return true;
	return false;
}

/* True if the code of the range jumps into the function behind its first instruction. */
static bool
jumps_back(const struct function *function, const struct symbol_range *range)
{
	const uint8_t *bytes = symbols_bytes(function->file, range->address, range->size);
	const struct symbol_range *self = &function->parts[0];
	struct code_exits exits;
	bool is_back = false;

	if (!bytes)
		return false;
	code_find_exits(bytes, range->size, range->address, &exits);
	for (size_t i = 0; i < exits.nr_exits; i++)
		is_back |= covers(self, exits.exits[i].target) && exits.exits[i].target > function->shape->begin;
	code_exits_clear(&exits);
	return is_back;
}

static bool
is_called_cold(const struct function *function, const struct symbol_range *range)
{
	const char *name = function->parts[0].name;
	size_t length;

	if (!name || !range->name)
		return false;
	length = strlen(name);
	return strncmp(range->name, name, length) == 0 && strncmp(range->name + length, ".cold", 5) == 0;
}

/* Makes the code around target a part of the function if it is one. */
static bool
is_part(struct function *function, const struct code_exit *jump)
{
	bool is_inner = !symbols_is_at_entry_depth(function->file, jump->address);
	struct symbol_range range;

	if (is_within(function, jump->target))
		return true;
	if (!symbols_function_at(function->file, jump->target, &range))
		return is_inner;
	if (!is_inner && !is_called_cold(function, &range) && !jumps_back(function, &range))
		return false;
	if (function->nr_parts < MAX_PARTS)
		function->parts[function->nr_parts++] = range;
	return true;
}

/*
 * True if the first address of the table lies within the function. Where the jump does not say where its table is, 0, a
 * file has nothing, or its header.
 */
static bool
is_own_table(const struct function *function, uint64_t table)
{
	const uint8_t *bytes = symbols_bytes(function->file, table, sizeof(uint64_t));
	uint64_t first;

	if (!bytes)
		return false;
	memcpy(&first, bytes, sizeof(first));
	return is_within(function, first);
}

static bool
is_left_at(struct function *function, const struct code_exit *found)
{
	switch (found->kind) {
	case CODE_RETURN:
		return true;
	case CODE_JUMP:
		return !is_part(function, found);
	case CODE_INDEXED:
		if (is_own_table(function, found->table))
			return false;
		break;
	case CODE_INDIRECT:
		break;
	}
	return symbols_is_at_entry_depth(function->file, found->address);
}

/* Functions whose addresses some code has as constants, or that it calls; each once. */
struct choosing {
	struct symbol_file *file;
	const struct symbol_range *code;
	bool (*is_wanted)(const char *name); /* NULL: all are */
	struct symbol_ranges *choices;
};

static bool
has_range(const struct symbol_ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->nr_ranges; i++)
		if (ranges->ranges[i].address == address)
			return true;
	return false;
}

static void
add_choice(void *context, uint64_t constant)
{
	struct choosing *choosing = context;
	struct symbol_range range;

	if (symbols_function_at(choosing->file, constant, &range) && range.address == constant &&
	    range.address != choosing->code->address &&
	    (!choosing->is_wanted || (range.name && choosing->is_wanted(range.name))) &&
	    !has_range(choosing->choices, range.address))
		symbol_ranges_add(choosing->choices, &range);
}

/* The name is one that gcc, clang and flang give to code of a parallel region or a task. */
static bool
is_called_team(const char *name)
{
	static const char *const marks[] = {"._omp_fn.", ".omp_outlined", ".omp_task_entry", "..omp_par"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strstr(name, marks[i]))
			return true;
	return false;
}

static int
look_at_part(struct function *function, const struct symbol_range *part, struct rot_error *err)
{
	const uint8_t *bytes = symbols_bytes(function->file, part->address, part->size);
	struct choosing team = {function->file, part, is_called_team, &function->shape->team};
	struct symbol_range next;
	struct code_exits exits;
	uint64_t behind;

	if (!bytes)
		return rot_error_set(err, 0, "the code at 0x%" PRIx64 " is not in the file", part->address);
	function->shape->is_reentered |= code_jumps_to(bytes, part->size, part->address, function->shape->begin) ||
					 code_jumps_to(bytes, part->size, part->address, function->parts[0].address);
	code_find_exits(bytes, part->size, part->address, &exits);
	for (size_t i = 0; i < exits.nr_exits; i++)
		if (is_left_at(function, &exits.exits[i]))
			code_exits_add(&function->shape->exits, &exits.exits[i]);
	code_exits_clear(&exits);
	code_find_constants(bytes, part->size, part->address, add_choice, &team);
	/* Functions in assembler may run on into others, or into labels that look like others. */
	behind = part->address + part->size;
	if (code_runs_on(bytes, part->size) && function->nr_parts < MAX_PARTS && !is_within(function, behind) &&
	    symbols_function_at(function->file, behind, &next))
		function->parts[function->nr_parts++] = next;
	return 0;
}

/* A loop may begin behind endbr64: then the function begins before it. */
static uint64_t
begin_of(struct symbol_file *file, const struct symbol_range *range)
{
	static const uint8_t endbr64[ENDBR64_BYTES] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint8_t *bytes = symbols_bytes(file, range->address, range->size);
	uint64_t behind = range->address + ENDBR64_BYTES;

	if (bytes && range->size > ENDBR64_BYTES && memcmp(bytes, endbr64, ENDBR64_BYTES) == 0 &&
	    !code_jumps_to(bytes, range->size, range->address, behind))
		return behind;
	return range->address;
}

int
function_look_at(struct symbol_file *file, const struct symbol_range *range, struct function_shape *shape,
		 struct rot_error *err)
{
	struct function function = {.file = file, .parts = {*range}, .nr_parts = 1, .shape = shape};

	*shape = (struct function_shape){.begin = begin_of(file, range)};
	for (size_t i = 0; i < function.nr_parts; i++)
		if (look_at_part(&function, &function.parts[i], err) < 0) {
			function_shape_clear(shape);
			return -1;
		}
	return 0;
}

void
function_shape_clear(struct function_shape *shape)
{
	code_exits_clear(&shape->exits);
	symbol_ranges_clear(&shape->team);
}

const char *
function_team_below(struct symbol_file *file, const struct symbol_range *function)
{
	struct symbol_ranges called = {0};
	const char *name = NULL;

	symbol_ranges_add(&called, function);
	for (size_t i = 0; i < called.nr_ranges && i < MAX_CALLED && !name; i++) {
		const struct symbol_range code = called.ranges[i];
		const uint8_t *bytes = symbols_bytes(file, code.address, code.size);
		struct symbol_ranges parts = {0};
		struct choosing team = {file, &code, is_called_team, &parts}, next = {file, &code, NULL, &called};

		if (!bytes)
			continue;
		if (i > 0)
			code_find_constants(bytes, code.size, code.address, add_choice, &team);
		if (parts.nr_ranges > 0)
			name = code.name;
		code_find_targets(bytes, code.size, code.address, add_choice, &next);
		symbol_ranges_clear(&parts);
	}
	symbol_ranges_clear(&called);
	return name;
}

void
function_choices(struct symbol_file *file, const struct symbol_range *resolver, struct symbol_ranges *choices)
{
	const uint8_t *bytes = symbols_bytes(file, resolver->address, resolver->size);
	struct choosing choosing = {file, resolver, NULL, choices};

	if (bytes)
		code_find_constants(bytes, resolver->size, resolver->address, add_choice, &choosing);
}
