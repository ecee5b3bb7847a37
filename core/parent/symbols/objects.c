/* SPDX-License-Identifier: MIT */
/* Reads the objects of a process from /proc. */
#include "parent/symbols/objects.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "memory.h"

#define DELETED " (deleted)"
#define VDSO "[vdso]"
#define MAX_SEGMENTS 256

/* One line of /proc/PID/maps. */
struct object_mapping {
	uint64_t start, end, offset;
	char permissions[5];
	dev_t device;
	ino_t inode;
	char *path;
	bool is_deleted;
};

const char *
object_name(const struct object *object)
{
	return basename(object->path);
}

const struct object *
object_at(const struct objects *objects, uint64_t address)
{
	for (size_t i = 0; i < objects->nr_objects; i++)
		if (address >= objects->objects[i].start && address < objects->objects[i].end)
			return &objects->objects[i];
	return NULL;
}

/* ".5" and ".5.4.1" say the same, as far as they say something. */
static bool
is_same_version(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (*a == '\0' && (*b == '\0' || *b == '.')) || (*b == '\0' && *a == '.');
}

/* name up to its ".so" must be that of the file, or without "lib"; what follows in the file: "-r0.3", ".so", ".5.4" */
static bool
is_library_called(const char *file, const char *name)
{
	const char *suffix = strstr(name, ".so");
	size_t length = suffix ? (size_t)(suffix - name) : strlen(name);
	const char *rest = NULL, *file_suffix;

	if (length > 0 && strncmp(file, name, length) == 0)
		rest = file + length;
	else if (length > 0 && strncmp(file, "lib", 3) == 0 && strncmp(file + 3, name, length) == 0)
		rest = file + 3 + length;
	file_suffix = rest && (rest[0] == '.' || rest[0] == '-') ? strstr(rest, ".so") : NULL;
	return file_suffix && (!suffix || is_same_version(file_suffix + 3, suffix + 3));
}

bool
library_is_called(const char *library, const char *name)
{
	return *name && (strcmp(library, name) == 0 || is_library_called(library, name));
}

bool
object_is_called(const struct object *object, const char *name)
{
	size_t length = strlen(name), path_length = strlen(object->path);
	const char *tail;

	if (length == 0 || length > path_length)
		return false;
	tail = object->path + path_length - length;
	if (strcmp(tail, name) == 0 && (length == path_length || name[0] == '/' || tail[-1] == '/'))
		return true;
	return !strchr(name, '/') && is_library_called(object_name(object), name);
}

/* ---- the file behind a mapping ---- */

/* The kernel writes what would break the line as \ooo. */
static void
unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool is_octal = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;

		*to = is_octal ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0')) : *from;
		from += is_octal ? 4 : 1;
	}
	*to = '\0';
}

/* False: the line is none of a mapping. path points into the line. */
static bool
mapping_read(char *line, struct object_mapping *mapping)
{
	int path_at = 0;
	unsigned major, minor;
	uint64_t inode;
	size_t length, deleted_length = strlen(DELETED);

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &mapping->start, &mapping->end,
		   mapping->permissions, &mapping->offset, &major, &minor, &inode, &path_at) < 7)
		return false;
	mapping->device = makedev(major, minor);
	mapping->inode = inode;
	mapping->path = line + path_at;
	length = strlen(mapping->path);
	mapping->is_deleted = length > deleted_length && strcmp(mapping->path + length - deleted_length, DELETED) == 0;
	if (mapping->is_deleted)
		mapping->path[length - deleted_length] = '\0';
	unescape(mapping->path);
	return true;
}

/* A name that opens the mapped file, or NULL (free). */
static char *
file_of(pid_t pid, const struct object_mapping *mapping, bool is_program)
{
	char *candidates[] = {
		rot_strdup(mapping->path),
		rot_format("/proc/%d/root%s", (int)pid, mapping->path),
		rot_format(is_program ? "/proc/%d/exe" : "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
			   mapping->start, mapping->end),
	};
	const int nr_candidates = sizeof(candidates) / sizeof(candidates[0]);
	struct stat status;
	char *file = NULL;

	/* Some file systems show another device in maps than stat does (btrfs, overlayfs), so the inode has to do. */
	for (int i = 0; i < nr_candidates && !file; i++)
		if (stat(candidates[i], &status) == 0 && status.st_ino == mapping->inode &&
		    access(candidates[i], R_OK) == 0)
			file = rot_strdup(candidates[i]);
	if (!file && !mapping->is_deleted && access(candidates[1], R_OK) == 0)
		file = rot_strdup(candidates[1]);
	for (int i = 0; i < nr_candidates; i++)
		free(candidates[i]);
	return file;
}

/* The link-time address of what stands at offset in the file. False: it is no 64-bit ELF file, or that is not loaded.
 */
static bool
link_address(const char *file, uint64_t offset, uint64_t *address)
{
	Elf64_Phdr segments[MAX_SEGMENTS];
	Elf64_Ehdr header;
	bool is_found = false;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segments[0]) ||
	    header.e_phnum > MAX_SEGMENTS)
		goto out;
	if (pread(fd, segments, header.e_phnum * sizeof(segments[0]), (off_t)header.e_phoff) !=
	    (ssize_t)(header.e_phnum * sizeof(segments[0])))
		goto out;
	for (int i = 0; i < header.e_phnum && !is_found; i++) {
		const Elf64_Phdr *segment = &segments[i];

		is_found = segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
			   offset >= (segment->p_offset & ~page) && offset < segment->p_offset + segment->p_filesz;
		*address = segment->p_vaddr - segment->p_offset + offset;
	}
out:
	close(fd);
	return is_found;
}

/* ---- objects from mappings ---- */

/* The object that a mapping of code begins or goes on with; files that are no executables are left out. */
static void
add_code(struct objects *objects, pid_t pid, const struct object_mapping *mapping, ino_t program)
{
	struct object object = {.start = mapping->start,
				.end = mapping->end,
				.device = mapping->device,
				.inode = mapping->inode,
				.is_program = mapping->inode != 0 && mapping->inode == program};
	uint64_t address = 0;

	if (mapping->inode != 0) {
		object.file = file_of(pid, mapping, object.is_program);
		if (object.file && !link_address(object.file, mapping->offset, &address)) {
			free(object.file);
			return;
		}
		object.bias = object.file ? mapping->start - address : 0;
	} else if (strcmp(mapping->path, VDSO) != 0) {
		return;
	}
	for (size_t i = 0; i < objects->nr_objects; i++) {
		struct object *known = &objects->objects[i];

		if (known->inode == object.inode && known->device == object.device && known->bias == object.bias) {
			known->end = object.end;
			free(object.file);
			return;
		}
	}
	object.path = rot_strdup(mapping->path);
	rot_add(objects->objects, objects->nr_objects) = object;
}

/* The mappings of data of a file stand next to those of its code. */
static void
add_data(struct objects *objects, const struct object_mapping *mapping)
{
	for (size_t i = 0; i < objects->nr_objects; i++) {
		struct object *object = &objects->objects[i];
		bool is_before = mapping->end == object->start, is_behind = mapping->start == object->end;

		if (object->inode != mapping->inode || object->device != mapping->device || object->inode == 0)
			continue;
		if (is_before)
			object->start = mapping->start;
		else if (is_behind)
			object->end = mapping->end;
	}
}

/* Calls add_code for mappings of code, or add_data for the others. */
static int
read_maps(pid_t tid, struct objects *objects, bool is_code, struct rot_error *err)
{
	char *line = NULL, path[64];
	struct stat status;
	size_t line_bytes = 0;
	ino_t program;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	program = stat(path, &status) == 0 ? status.st_ino : 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	maps = fopen(path, "re");
	if (!maps)
		return rot_error_set(err, errno, "cannot look into the memory of process %d", (int)tid);
	while (getline(&line, &line_bytes, maps) >= 0) {
		struct object_mapping mapping;

		if (!mapping_read(line, &mapping) || (mapping.permissions[2] == 'x') != is_code)
			continue;
		if (is_code)
			add_code(objects, tid, &mapping, program);
		else
			add_data(objects, &mapping);
	}
	free(line);
	fclose(maps);
	return 0;
}

int
objects_read(pid_t tid, struct objects *objects, struct rot_error *err)
{
	*objects = (struct objects){0};
	if (read_maps(tid, objects, true, err) < 0)
		return -1;
	/* Twice, since what lies before the code is found from the last to the first. */
	for (int i = 0; i < 2; i++)
		if (read_maps(tid, objects, false, err) < 0) {
			objects_clear(objects);
			return -1;
		}
	return 0;
}

void
objects_clear(struct objects *objects)
{
	for (size_t i = 0; i < objects->nr_objects; i++) {
		free(objects->objects[i].path);
		free(objects->objects[i].file);
	}
	free(objects->objects);
	*objects = (struct objects){0};
}
