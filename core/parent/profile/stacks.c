/* SPDX-License-Identifier: MIT */
#include "parent/profile/stacks.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

/* More calls than this are in no copy of a stack, but in one that leads back to itself. */
#define MOST_CALLS 1024

/* The file of an object, read to find callers. file NULL: it was tried in vain, if it was tried. */
struct object_file {
	struct symbol_file *file;
	bool is_tried;
};

/* slots: the calls by what they are, 0: free, else the index + 1; their number is a power of two. */
struct stacks {
	struct spaces *spaces;
	struct symbol_files *files;
	struct object_file *objects; /* by their numbers in the spaces */
	size_t nr_objects;
	struct stack_call *calls;
	size_t nr_calls, room;
	uint32_t *slots;
	size_t nr_slots;
	uint64_t nr_incomplete;
	uint64_t *begins; /* of epochs but the first */
	uint32_t nr_begins;
};

struct stacks *
stacks_new(struct spaces *spaces, struct symbol_files *files)
{
	struct stacks *stacks = rot_calloc(1, sizeof(*stacks));

	*stacks = (struct stacks){.spaces = spaces, .files = files};
	return stacks;
}

void
stacks_delete(struct stacks *stacks)
{
	if (!stacks)
		return;
	free(stacks->objects);
	free(stacks->calls);
	free(stacks->slots);
	free(stacks->begins);
	free(stacks);
}

const struct stack_call *
stacks_calls(const struct stacks *stacks, size_t *nr)
{
	*nr = stacks->nr_calls;
	return stacks->calls;
}

uint64_t
stacks_nr_incomplete(const struct stacks *stacks)
{
	return stacks->nr_incomplete;
}

/* ---- the tree ---- */

#define LEAST_ROOM 4096

/* Where it is, or may be put. */
static uint32_t *
slot_of(struct stacks *stacks, const struct stack_call *call)
{
	uint64_t hash = call->at.offset * UINT64_C(0x9e3779b97f4a7c15) ^ call->at.object;

	hash = (hash ^ hash >> 29 ^ call->around ^ (uint64_t)(call->epoch ^ call->tid << 8) << 32) *
	       UINT64_C(0xbf58476d1ce4e5b9);
	for (size_t i = (size_t)(hash ^ hash >> 32);; i++) {
		uint32_t *slot = &stacks->slots[i & (stacks->nr_slots - 1)];
		const struct stack_call *other = *slot ? &stacks->calls[*slot - 1] : NULL;

		if (!other || (other->at.object == call->at.object && other->at.offset == call->at.offset &&
			       other->around == call->around && other->epoch == call->epoch && other->tid == call->tid))
			return slot;
	}
}

/* Half of the slots stay free. */
static void
make_room(struct stacks *stacks)
{
	if (stacks->nr_calls < stacks->room)
		return;
	stacks->room = stacks->room ? 2 * stacks->room : LEAST_ROOM;
	stacks->nr_slots = 2 * stacks->room;
	stacks->calls = rot_realloc(stacks->calls, stacks->room, sizeof(*stacks->calls));
	free(stacks->slots);
	stacks->slots = rot_calloc(stacks->nr_slots, sizeof(*stacks->slots));
	for (size_t i = 0; i < stacks->nr_calls; i++)
		*slot_of(stacks, &stacks->calls[i]) = (uint32_t)i + 1;
}

static uint32_t
add_call(struct stacks *stacks, const struct stack_call *call)
{
	uint32_t *slot;

	make_room(stacks);
	slot = slot_of(stacks, call);
	if (*slot == 0) {
		stacks->calls[stacks->nr_calls++] = *call;
		*slot = (uint32_t)stacks->nr_calls;
	}
	return *slot - 1;
}

/* ---- epochs ---- */

uint32_t
stacks_begin(struct stacks *stacks, uint64_t time_ns)
{
	stacks->begins = rot_grow(stacks->begins, stacks->nr_begins, sizeof(*stacks->begins));
	stacks->begins[stacks->nr_begins++] = time_ns;
	return stacks->nr_begins;
}

/* ---- what describes code ---- */

/* The kernel gives each process the same: ours, as a file. */
static struct symbol_file *
open_vdso(struct symbol_files *files)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	const size_t nr_bytes = header ? header->e_shoff + (size_t)header->e_shnum * header->e_shentsize : 0;
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	autofree char *path = rot_format("/proc/self/fd/%d", fd);
	struct symbol_file *file = NULL;
	struct rot_error err;

	if (fd < 0)
		return NULL;
	if (header && write(fd, header, nr_bytes) == (ssize_t)nr_bytes)
		file = symbol_file_open(files, path, &err);
	close(fd);
	return file;
}

static struct symbol_file *
file_of(struct stacks *stacks, size_t number)
{
	const struct code_object *object = spaces_object(stacks->spaces, number);
	struct object_file *known;

	while (stacks->nr_objects <= number) {
		stacks->objects = rot_grow(stacks->objects, stacks->nr_objects, sizeof(*stacks->objects));
		stacks->objects[stacks->nr_objects++] = (struct object_file){NULL, false};
	}
	known = &stacks->objects[number];
	if (known->is_tried)
		return known->file;
	known->is_tried = true;
	known->file = object->origin == CODE_VDSO   ? open_vdso(stacks->files)
		      : object->origin == CODE_FILE ? symbol_file_open_same(stacks->files, object->path, object->inode)
						    : NULL;
	return known->file;
}

/* ---- from a sample to its calls ---- */

/* Code that nothing describes was made at run time, or written by hand. */
static enum unwind_result
leave(struct stacks *stacks, const struct code_position *at, struct unwind_state *state)
{
	struct symbol_file *file = file_of(stacks, at->object);
	enum unwind_result result = UNWIND_LOST;
	uint64_t address;

	if (file && symbols_address(file, at->offset, &address))
		result = unwind(file, address, state);
	return result == UNWIND_LOST ? unwind_by_frame_pointer(state) : result;
}

/* Adds the calls from a state outwards, as far as they are known. Returns whether that is all of them. */
static bool
find_calls(struct stacks *stacks, pid_t pid, struct unwind_state *state, struct code_position *calls, size_t *nr)
{
	const size_t unknown = spaces_unknown_object(stacks->spaces);
	enum unwind_result result = UNWIND_CALLER;

	while (result == UNWIND_CALLER && *nr < MOST_CALLS) {
		const struct code_position at = spaces_at(stacks->spaces, pid, unwind_code_address(state));

		if (at.object == unknown)
			return false;
		calls[(*nr)++] = at;
		result = leave(stacks, &at, state);
	}
	return result == UNWIND_OUTERMOST;
}

void
stacks_add(struct stacks *stacks, const struct sample_record *sample)
{
	const struct code_position at = spaces_find(stacks->spaces, sample);
	const bool is_in_kernel = spaces_object(stacks->spaces, at.object)->origin == CODE_KERNEL;
	struct stack_call call = {.around = STACK_NO_CALL, .epoch = stacks->nr_begins};
	struct code_position calls[MOST_CALLS] = {at};
	struct unwind_state state;
	size_t nr = is_in_kernel;
	bool is_complete = false;

	while (call.epoch > 0 && stacks->begins[call.epoch - 1] > sample->time_ns)
		call.epoch--;
	if (sample_stack(sample, &state) && state.nr_bytes > 0)
		is_complete = find_calls(stacks, (pid_t)sample->pid, &state, calls, &nr);
	/* While a program is executed, or its memory given back, only the kernel is there. */
	is_complete |= is_in_kernel && nr == 1;
	stacks->nr_incomplete += !is_complete;
	nr = nr > 0 ? nr : 1;
	while (nr > 0) {
		call.at = calls[--nr];
		call.tid = nr == 0 ? sample->tid : 0;
		call.around = add_call(stacks, &call);
	}
	stacks->calls[call.around].nr++;
}
