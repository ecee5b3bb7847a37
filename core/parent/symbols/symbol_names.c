/* SPDX-License-Identifier: MIT */
/* Functions by name, and names of addresses. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "nearest.h"
#include "parent/symbols/plain_name.h"
#include "parent/symbols/symbol_file.h"

/* What compilers add to the name of a copy of a function that does the same. */
static const char *const copies[] = {".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias"};

/* A piece of a function that compilers put elsewhere: it does not begin there. */
static bool
is_piece(const char *symbol)
{
	return strstr(symbol, ".cold") || strstr(symbol, ".part.");
}

/* The rest of a symbol's name behind that of the function: nothing, a version, or the mark of a copy. */
static bool
is_same_function(const char *rest)
{
	if (rest[0] == '\0' || rest[0] == '@')
		return true;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		if (strncmp(rest, copies[i], strlen(copies[i])) == 0)
			return !is_piece(rest);
	return false;
}

static bool
is_symbol_called(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	return strncmp(symbol, name, length) == 0 && is_same_function(symbol + length);
}

static bool
is_plainly_called(const char *symbol, const char *name)
{
	char *plain = is_piece(symbol) ? NULL : plain_name(symbol);
	bool is_called = plain && plain_name_ends_with(plain, name);

	free(plain);
	return is_called;
}

/* Where the first of the ranges behind address begins, or limit. */
static uint64_t
next_begin(const struct symbol_ranges *ranges, uint64_t address, uint64_t limit)
{
	const struct symbol_range *before = symbol_ranges_before(ranges, address);
	size_t next = before ? (size_t)(before - ranges->ranges) + 1 : 0;

	return next < ranges->nr_ranges && ranges->ranges[next].address < limit ? ranges->ranges[next].address : limit;
}

/* The end of a function whose symbol has none: that of its frame, or else the begin of the next one. */
static void
complete(struct symbol_file *file, struct symbol_range *range)
{
	const struct symbol_ranges *frames = symbol_file_frames(file);
	const struct symbol_range *frame = symbol_ranges_before(frames, range->address);
	GElf_Phdr segment;
	uint64_t end;

	if (range->size > 0 || !symbol_file_segment(file, range->address, &segment))
		return;
	if (frame && range->address - frame->address < frame->size) {
		range->size = frame->address + frame->size - range->address;
		return;
	}
	end = next_begin(frames, range->address, segment.p_vaddr + segment.p_filesz);
	range->size = next_begin(&file->functions, range->address, end) - range->address;
}

static void
find(struct symbol_file *file, const char *name, bool (*is_called)(const char *, const char *),
     struct symbol_ranges *found)
{
	for (size_t i = 0; i < file->functions.nr_ranges; i++) {
		struct symbol_range range = file->functions.ranges[i];

		if (!is_called(range.name, name))
			continue;
		complete(file, &range);
		symbol_ranges_add(found, &range);
	}
}

void
symbols_find_function(struct symbol_file *file, const char *name, struct symbol_ranges *found)
{
	size_t nr_before = found->nr_ranges;

	find(file, name, is_symbol_called, found);
	if (found->nr_ranges == nr_before)
		find(file, name, is_plainly_called, found);
	symbol_ranges_order(found);
}

/* The range that address lies in, of names for the same the first; labels without size do not count. */
static const struct symbol_range *
covering(const struct symbol_ranges *ranges, uint64_t address)
{
	const struct symbol_range *range = symbol_ranges_before(ranges, address);

	while (range && range->size == 0)
		range = range > ranges->ranges ? range - 1 : NULL;
	if (!range || address - range->address >= range->size)
		return NULL;
	while (range > ranges->ranges && range[-1].address == range->address && range[-1].size >= range->size)
		range--;
	return range;
}

bool
symbols_function_at(struct symbol_file *file, uint64_t address, struct symbol_range *range)
{
	const struct symbol_range *function = covering(&file->functions, address), *frame, *label;

	if (function) {
		*range = *function;
		return true;
	}
	frame = covering(symbol_file_frames(file), address);
	label = symbol_ranges_before(&file->functions, address);
	if (frame) {
		*range = *frame;
		if (label && label->address == frame->address)
			range->name = label->name;
		return true;
	}
	if (!label)
		return false;
	*range = *label;
	complete(file, range);
	return address - range->address < range->size;
}

/* As gcc and clang call them. */
static const char *const team_parts[] = {"._omp_fn.", ".omp_outlined"};

const char *
symbols_team_part(const struct symbol_file *file, const char *function)
{
	const size_t length = strlen(function);

	for (size_t i = 0; i < file->functions.nr_ranges; i++) {
		const char *name = file->functions.ranges[i].name;

		for (size_t k = 0; k < sizeof(team_parts) / sizeof(team_parts[0]); k++) {
			if (strncmp(name, function, length) == 0 &&
			    strncmp(name + length, team_parts[k], strlen(team_parts[k])) == 0)
				return name;
		}
	}
	return NULL;
}

bool
symbols_has_functions(const struct symbol_file *file)
{
	return file->functions.nr_ranges > 0;
}

const char *
symbols_nearest(struct symbol_file *file, const char *name)
{
	const char **names = rot_calloc(file->functions.nr_ranges, sizeof(*names)), *nearest;

	for (size_t i = 0; i < file->functions.nr_ranges; i++)
		names[i] = file->functions.ranges[i].name;
	nearest = rot_nearest(name, names, file->functions.nr_ranges);
	free(names);
	return nearest;
}
