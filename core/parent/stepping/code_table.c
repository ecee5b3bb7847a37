/* SPDX-License-Identifier: MIT */
/* See code_table.h. Open addressing; at most half of the places are taken. */
#include "parent/stepping/code_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory.h"

#define FIRST_PLACES 1024
#define INT3 0xcc

/* address 0: the place is free. */
struct code_place {
	uint64_t address;
	struct block *block; /* NULL: none was asked for */
	bool has_trap;
	bool had_trap;    /* at any time */
	uint8_t original; /* if so: the byte that was there */
};

/* ---- the table ---- */

/* Where the address is, or would be. nr_places is a power of two; the factor is that of Fibonacci hashing. */
static struct code_place *
place_of(const struct code_table *table, uint64_t address)
{
	size_t at = (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->nr_places - 1);

	while (table->places[at].address != 0 && table->places[at].address != address)
		at = (at + 1) & (table->nr_places - 1);
	return &table->places[at];
}

static void
grow(struct code_table *table)
{
	struct code_table larger = *table;

	larger.nr_places = table->nr_places ? 2 * table->nr_places : FIRST_PLACES;
	larger.places = rot_calloc(larger.nr_places, sizeof(*larger.places));
	for (size_t i = 0; i < table->nr_places; i++) {
		if (table->places[i].address != 0)
			*place_of(&larger, table->places[i].address) = table->places[i];
	}
	free(table->places);
	*table = larger;
}

static struct code_place *
find_or_add(struct code_table *table, uint64_t address)
{
	struct code_place *place;

	if (2 * table->nr >= table->nr_places)
		grow(table);
	place = place_of(table, address);
	if (place->address == 0) {
		place->address = address;
		table->nr++;
	}
	return place;
}

/* NULL: there is none. */
static struct code_place *
trap_at(const struct code_table *table, uint64_t address)
{
	struct code_place *place = table->nr_places ? place_of(table, address) : NULL;

	return place && place->has_trap ? place : NULL;
}

/* ---- the code ---- */

/* An instruction may end right before a page that cannot be read. */
static size_t
read_code(void *context, uint64_t address, uint8_t *bytes)
{
	const struct code_table *table = context;
	ssize_t nr = pread(table->memory, bytes, INSTRUCTION_MAX_BYTES, (off_t)address);

	for (ssize_t i = 0; i < nr; i++) {
		const struct code_place *trap = trap_at(table, address + (uint64_t)i);

		if (trap)
			bytes[i] = trap->original;
	}
	return nr > 0 ? (size_t)nr : 0;
}

const struct block *
code_table_block(struct code_table *table, uint64_t address)
{
	struct code_place *place = find_or_add(table, address);

	if (!place->block) {
		place->block = rot_calloc(1, sizeof(*place->block));
		block_decode(place->block, address, read_code, table);
	}
	return place->block;
}

/* ---- traps ---- */

/* A part alone is an error, too. */
static int
check_whole(ssize_t nr, size_t wanted)
{
	if (nr == (ssize_t)wanted)
		return 0;
	if (nr >= 0)
		errno = EIO;
	return -1;
}

int
code_table_read(const struct code_table *table, uint64_t address, void *bytes, size_t n)
{
	return check_whole(pread(table->memory, bytes, n, (off_t)address), n);
}

int
code_table_write(const struct code_table *table, uint64_t address, const void *bytes, size_t n)
{
	return check_whole(pwrite(table->memory, bytes, n, (off_t)address), n);
}

static bool
write_byte(int memory, uint64_t address, uint8_t byte)
{
	return pwrite(memory, &byte, 1, (off_t)address) == 1;
}

/* Not in what was mapped there meanwhile. */
static int
take_out(int memory, const struct code_place *place)
{
	uint8_t byte;

	if (pread(memory, &byte, 1, (off_t)place->address) != 1 || byte != INT3)
		return 0;
	return write_byte(memory, place->address, place->original) ? 0 : -1;
}

int
code_table_trap(struct code_table *table, uint64_t address)
{
	static const uint8_t trap = INT3;
	struct code_place *place = find_or_add(table, address);

	if (place->has_trap)
		return 0;
	if (code_table_read(table, address, &place->original, 1) < 0 || code_table_write(table, address, &trap, 1) < 0)
		return -1;
	place->has_trap = place->had_trap = true;
	return 0;
}

int
code_table_lift(struct code_table *table, uint64_t address)
{
	struct code_place *place = trap_at(table, address);

	if (!place)
		return 0;
	place->has_trap = false;
	return take_out(table->memory, place);
}

bool
code_table_has_trap(const struct code_table *table, uint64_t address)
{
	return trap_at(table, address) != NULL;
}

bool
code_table_had_trap(const struct code_table *table, uint64_t address)
{
	return table->nr_places && place_of(table, address)->had_trap;
}

/* ---- from open to close ---- */

static int
open_memory(pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* What is written into one of them is in the other as well. Without any trap: none is shared. */
static bool
is_shared(const struct code_table *table, int memory)
{
	static const uint8_t trap = INT3;
	uint8_t byte = 0;

	for (size_t i = 0; i < table->nr_places; i++) {
		const struct code_place *place = &table->places[i];

		if (!place->has_trap || pread(memory, &byte, 1, (off_t)place->address) != 1 || byte != INT3 ||
		    !write_byte(memory, place->address, place->original))
			continue;
		if (code_table_read(table, place->address, &byte, 1) == 0 && byte == INT3)
			return false;
		code_table_write(table, place->address, &trap, 1);
		return true;
	}
	return false;
}

bool
code_table_restore(const struct code_table *table, pid_t pid)
{
	int memory = table->nr_places ? open_memory(pid) : -1;
	bool shares = memory >= 0 && is_shared(table, memory);

	for (size_t i = 0; i < table->nr_places && memory >= 0 && !shares; i++) {
		if (table->places[i].had_trap)
			take_out(memory, &table->places[i]);
	}
	if (memory >= 0)
		close(memory);
	return !shares;
}

int
code_table_open(struct code_table *table, pid_t tid)
{
	*table = CODE_TABLE_NONE;
	table->memory = open_memory(tid);
	return table->memory < 0 ? -1 : 0;
}

void
code_table_lift_all(struct code_table *table)
{
	for (size_t i = 0; i < table->nr_places; i++) {
		struct code_place *place = &table->places[i];

		if (place->has_trap)
			take_out(table->memory, place);
		place->has_trap = false;
	}
}

void
code_table_forget(struct code_table *table)
{
	code_table_lift_all(table);
	for (size_t i = 0; i < table->nr_places; i++) {
		struct code_place *place = &table->places[i];

		if (place->block)
			block_clear(place->block);
		free(place->block);
		place->block = NULL;
	}
}

void
code_table_close(struct code_table *table)
{
	code_table_forget(table);
	free(table->places);
	if (table->memory >= 0)
		close(table->memory);
	*table = CODE_TABLE_NONE;
}
