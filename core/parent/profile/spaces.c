/* SPDX-License-Identifier: MIT */
#include "parent/profile/spaces.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parent/symbols/ordered.h"

struct mapping {
	uint64_t start, end, offset;
	size_t object;
};

/* A process. Mappings are ordered by their addresses, and do not overlap. */
struct space {
	pid_t pid;
	size_t nr_threads;
	struct mapping *mappings;
	size_t nr_mappings;
};

struct spaces {
	struct space *spaces;
	size_t nr_spaces;
	struct code_object *objects;
	size_t nr_objects;
};

struct spaces *
spaces_new(void)
{
	return rot_calloc(1, sizeof(struct spaces));
}

void
spaces_delete(struct spaces *spaces)
{
	if (!spaces)
		return;
	for (size_t i = 0; i < spaces->nr_spaces; i++)
		free(spaces->spaces[i].mappings);
	for (size_t i = 0; i < spaces->nr_objects; i++)
		free(spaces->objects[i].path);
	free(spaces->spaces);
	free(spaces->objects);
	free(spaces);
}

/* ---- objects ---- */

static size_t
find_object(struct spaces *spaces, enum code_origin origin, pid_t pid, ino_t inode, const char *path)
{
	for (size_t i = 0; i < spaces->nr_objects; i++) {
		const struct code_object *object = &spaces->objects[i];

		if (object->origin == origin && object->inode == inode && object->pid == pid &&
		    strcmp(object->path, path) == 0)
			return i;
	}
	spaces->objects = rot_grow(spaces->objects, spaces->nr_objects, sizeof(*spaces->objects));
	spaces->objects[spaces->nr_objects] = (struct code_object){origin, pid, inode, rot_strdup(path)};
	return spaces->nr_objects++;
}

size_t
spaces_object_of(struct spaces *spaces, pid_t pid, ino_t inode, const char *path)
{
	static const char *const unnamed[] = {"//", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"};
	enum code_origin origin = *path == '/' ? CODE_FILE : CODE_ANONYMOUS;

	for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++)
		if (strncmp(path, unnamed[i], strlen(unnamed[i])) == 0)
			origin = CODE_ANONYMOUS;
	if (strcmp(path, "[vdso]") == 0)
		return find_object(spaces, CODE_VDSO, 0, 0, "");
	if (origin == CODE_ANONYMOUS)
		return find_object(spaces, origin, pid, 0, "");
	return find_object(spaces, origin, 0, inode, path);
}

size_t
spaces_unknown_object(struct spaces *spaces)
{
	return find_object(spaces, CODE_UNKNOWN, 0, 0, "");
}

/* ---- processes ---- */

static struct space *
find_space(struct spaces *spaces, pid_t pid)
{
	/* The last ones are asked for most. */
	for (size_t i = spaces->nr_spaces; i-- > 0;)
		if (spaces->spaces[i].pid == pid)
			return &spaces->spaces[i];
	return NULL;
}

static struct space *
need_space(struct spaces *spaces, pid_t pid)
{
	struct space *space = find_space(spaces, pid);

	if (space)
		return space;
	spaces->spaces = rot_grow(spaces->spaces, spaces->nr_spaces, sizeof(*spaces->spaces));
	space = &spaces->spaces[spaces->nr_spaces++];
	*space = (struct space){.pid = pid, .nr_threads = 1};
	return space;
}

static void
forget_mappings(struct space *space)
{
	free(space->mappings);
	space->mappings = NULL;
	space->nr_mappings = 0;
}

/* The index of the first mapping that ends behind address. */
static size_t
first_behind(const struct space *space, uint64_t address)
{
	return ORDERED_UP_TO(space->mappings, space->nr_mappings, end, address);
}

static void
insert(struct space *space, size_t at, const struct mapping *mapping)
{
	space->mappings = rot_grow(space->mappings, space->nr_mappings, sizeof(*space->mappings));
	memmove(space->mappings + at + 1, space->mappings + at, (space->nr_mappings - at) * sizeof(*mapping));
	space->mappings[at] = *mapping;
	space->nr_mappings++;
}

/* Mappings that it covers are gone, as no record tells of their end. Mappings that it covers in part are cut. */
static void
map(struct space *space, const struct mapping *mapping)
{
	size_t at = first_behind(space, mapping->start), end = at;

	if (at < space->nr_mappings && space->mappings[at].start < mapping->start) {
		struct mapping before = space->mappings[at];

		before.end = mapping->start;
		space->mappings[at].offset += mapping->start - space->mappings[at].start;
		space->mappings[at].start = mapping->start;
		insert(space, at++, &before);
	}
	for (end = at; end < space->nr_mappings && space->mappings[end].end <= mapping->end;)
		end++;
	if (end < space->nr_mappings && space->mappings[end].start < mapping->end) {
		space->mappings[end].offset += mapping->end - space->mappings[end].start;
		space->mappings[end].start = mapping->end;
	}
	if (end > at)
		memmove(space->mappings + at, space->mappings + end, (space->nr_mappings - end) * sizeof(*mapping));
	space->nr_mappings -= end - at;
	insert(space, at, mapping);
}

/* ---- records ---- */

static void
handle_mapping(struct spaces *spaces, const struct mapping_record *record)
{
	const struct mapping mapping = {
		record->start, record->start + record->bytes, record->offset,
		spaces_object_of(spaces, (pid_t)record->pid, (ino_t)record->inode, record->path)};

	if (record->bytes > 0)
		map(need_space(spaces, (pid_t)record->pid), &mapping);
}

/* A process that executes a program before anything else is known keeps only the thread that does so. */
static void
handle_command(struct spaces *spaces, const struct command_record *record)
{
	if (record->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		forget_mappings(need_space(spaces, (pid_t)record->pid));
}

static void
handle_fork(struct spaces *spaces, const struct task_record *record)
{
	const struct space *parent;
	struct space *child;

	if (record->pid == record->parent_pid) {
		need_space(spaces, (pid_t)record->pid)->nr_threads++;
		return;
	}
	child = need_space(spaces, (pid_t)record->pid);
	child->nr_threads = 1;
	parent = find_space(spaces, (pid_t)record->parent_pid);
	forget_mappings(child);
	for (size_t i = 0; parent && i < parent->nr_mappings; i++)
		insert(child, i, &parent->mappings[i]);
}

/* The number of a process may be given again. */
static void
handle_exit(struct spaces *spaces, const struct task_record *record)
{
	struct space *space = find_space(spaces, (pid_t)record->pid);

	if (!space || --space->nr_threads > 0)
		return;
	free(space->mappings);
	memmove(space, space + 1, (size_t)(spaces->spaces + --spaces->nr_spaces - space) * sizeof(*space));
}

void
spaces_handle(struct spaces *spaces, const struct perf_event_header *record)
{
	if (record->type == PERF_RECORD_MMAP2)
		handle_mapping(spaces, (const struct mapping_record *)record);
	else if (record->type == PERF_RECORD_COMM)
		handle_command(spaces, (const struct command_record *)record);
	else if (record->type == PERF_RECORD_FORK)
		handle_fork(spaces, (const struct task_record *)record);
	else if (record->type == PERF_RECORD_EXIT)
		handle_exit(spaces, (const struct task_record *)record);
}

struct code_position
spaces_at(struct spaces *spaces, pid_t pid, uint64_t address)
{
	const struct space *space = find_space(spaces, pid);
	const size_t at = space ? first_behind(space, address) : 0;
	const struct mapping *mapping = space && at < space->nr_mappings ? &space->mappings[at] : NULL;

	if (!mapping || mapping->start > address)
		return (struct code_position){spaces_unknown_object(spaces), 0};
	if (spaces->objects[mapping->object].origin == CODE_ANONYMOUS)
		return (struct code_position){mapping->object, address};
	return (struct code_position){mapping->object, mapping->offset + address - mapping->start};
}

struct code_position
spaces_find(struct spaces *spaces, const struct sample_record *sample)
{
	const unsigned mode = sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (mode == PERF_RECORD_MISC_KERNEL)
		return (struct code_position){find_object(spaces, CODE_KERNEL, 0, 0, ""), 0};
	return spaces_at(spaces, (pid_t)sample->pid, sample->address);
}

const struct code_object *
spaces_object(const struct spaces *spaces, size_t object)
{
	return &spaces->objects[object];
}
