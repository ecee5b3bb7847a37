/* SPDX-License-Identifier: MIT */
#include "parent/profile/counted_code.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/profile/functions.h"

struct counted {
	struct code_position at;
	uint32_t nr_bytes;
	int64_t nr_begun;
	int64_t counts[STEP_NR_COUNTS];
};

/* table: an open hash table of numbers of items, + 1; 0: the place is free. Its size is a power of two. */
struct counted_code {
	struct spaces *spaces;
	struct counted *items;
	size_t nr, room;
	uint32_t *table;
	size_t table_room;
};

#define LEAST_ROOM 4096

struct counted_code *
counted_code_new(void)
{
	struct counted_code *code = rot_calloc(1, sizeof(*code));

	*code = (struct counted_code){.spaces = spaces_new(), .room = LEAST_ROOM, .table_room = 2 * LEAST_ROOM};
	code->items = rot_calloc(code->room, sizeof(*code->items));
	code->table = rot_calloc(code->table_room, sizeof(*code->table));
	spaces_unknown_object(code->spaces);
	return code;
}

void
counted_code_delete(struct counted_code *code)
{
	if (!code)
		return;
	spaces_delete(code->spaces);
	free(code->items);
	free(code->table);
	free(code);
}

size_t
counted_code_object(struct counted_code *code, pid_t pid, ino_t inode, const char *path)
{
	return spaces_object_of(code->spaces, pid, inode, path);
}

const struct code_object *
counted_code_described(const struct counted_code *code, size_t object)
{
	return spaces_object(code->spaces, object);
}

/* Where the number of the item with that position and length is, or would be. */
static uint32_t *
find(const struct counted_code *code, struct code_position at, uint32_t nr_bytes)
{
	const uint64_t key = at.offset ^ at.object << 48 ^ (uint64_t)nr_bytes << 38;
	size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; i++) {
		uint32_t *number = &code->table[i & (code->table_room - 1)];
		const struct counted *item = *number ? &code->items[*number - 1] : NULL;

		if (!item ||
		    (item->at.offset == at.offset && item->at.object == at.object && item->nr_bytes == nr_bytes))
			return number;
	}
}

void
counted_code_add(struct counted_code *code, const struct counted_at *where, int64_t nr_begun,
		 const int64_t counts[STEP_NR_COUNTS])
{
	const bool is_of_file = spaces_object(code->spaces, where->object)->origin == CODE_FILE;
	const struct code_position at = {where->object, is_of_file ? where->offset : where->address};
	uint32_t *number;
	struct counted *item;

	if (code->nr == code->room) {
		code->room *= 2;
		code->items = rot_realloc(code->items, code->room, sizeof(*code->items));
		free(code->table);
		code->table_room = 2 * code->room;
		code->table = rot_calloc(code->table_room, sizeof(*code->table));
		for (size_t i = 0; i < code->nr; i++)
			*find(code, code->items[i].at, code->items[i].nr_bytes) = (uint32_t)i + 1;
	}
	number = find(code, at, where->nr_bytes);
	if (*number == 0) {
		code->items[code->nr++] = (struct counted){.at = at, .nr_bytes = where->nr_bytes};
		*number = (uint32_t)code->nr;
	}
	item = &code->items[*number - 1];
	item->nr_begun += nr_begun;
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		item->counts[i] += counts[i];
}

void
counted_code_move(struct counted_code *code, const struct counted_at *where, const uint64_t counts[STEP_NR_COUNTS])
{
	const uint32_t unknown = *find(code, (struct code_position){0, 0}, 0);
	int64_t moved[STEP_NR_COUNTS];

	for (size_t i = 0; unknown && i < STEP_NR_COUNTS; i++) {
		int64_t *left = &code->items[unknown - 1].counts[i];

		moved[i] = *left < (int64_t)counts[i] ? *left : (int64_t)counts[i];
		*left -= moved[i];
	}
	if (unknown)
		counted_code_add(code, where, 0, moved);
}

struct program_profile *
counted_code_take(const struct counted_code *code, struct symbol_files *files,
		  const struct perf_event_measurer *measurer, code_counts count, struct parts_wanted wanted)
{
	struct program_profile *profile = program_profile_new();
	struct functions *functions = functions_new(files, measurer, count, wanted);

	for (size_t i = 0; i < code->nr; i++) {
		const struct counted *item = &code->items[i];
		const struct found found = {
			.nr_bytes = item->nr_bytes, .nr_begun = item->nr_begun, .counts = item->counts};

		functions_add(functions, spaces_object(code->spaces, item->at.object), item->at.offset, &found);
	}
	functions_take(functions, profile);
	functions_delete(functions);
	return profile;
}
