/* SPDX-License-Identifier: MIT */
/* The dynamic section of ELF files. Source: System V Application Binary Interface, "Dynamic Linking". */
#include "measuring/elf_needs.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

/* Tables beyond this are those of a damaged file. */
#define MAX_BYTES (64 << 20)

struct file {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr *segments;
};

/* A part of the file with a 0 behind it, in fresh memory, or NULL. */
static void *
read_part(const struct file *file, uint64_t offset, uint64_t size)
{
	autofree char *bytes = NULL;

	if (size == 0 || size > MAX_BYTES || offset > INT64_MAX - MAX_BYTES)
		return NULL;
	bytes = rot_calloc(1, size + 1);
	return pread(file->fd, bytes, size, (off_t)offset) == (ssize_t)size ? rot_keep(&bytes) : NULL;
}

static int
file_open(struct file *file, const char *path)
{
	*file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	if (file->fd < 0 || pread(file->fd, &file->head, sizeof(file->head), 0) != sizeof(file->head) ||
	    memcmp(file->head.e_ident, ELFMAG, SELFMAG) != 0 || file->head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file->head.e_machine != EM_X86_64 || file->head.e_phentsize != sizeof(*file->segments))
		return -1;
	file->segments = read_part(file, file->head.e_phoff, (uint64_t)file->head.e_phnum * sizeof(*file->segments));
	return file->segments ? 0 : -1;
}

static void
file_close(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->segments);
}

static const Elf64_Phdr *
find_segment(const struct file *file, uint32_t type)
{
	for (size_t i = 0; i < file->head.e_phnum; i++)
		if (file->segments[i].p_type == type)
			return &file->segments[i];
	return NULL;
}

/* Where in the file an address of the loaded program is, and how many bytes follow there; false: nowhere. */
static bool
find_address(const struct file *file, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (size_t i = 0; i < file->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &file->segments[i];

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		*offset = segment->p_offset + (address - segment->p_vaddr);
		*room = segment->p_filesz - (address - segment->p_vaddr);
		return true;
	}
	return false;
}

static uint64_t
entry_value(const Elf64_Dyn *entries, size_t nr, int64_t tag)
{
	for (size_t i = 0; i < nr && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == tag)
			return entries[i].d_un.d_val;
	return 0;
}

static void
take_names(struct elf_needs *needs, const Elf64_Dyn *entries, size_t nr, const char *names, uint64_t size)
{
	for (size_t i = 0; i < nr && entries[i].d_tag != DT_NULL; i++) {
		const char *name = entries[i].d_un.d_val < size ? names + entries[i].d_un.d_val : "";
		char **path = entries[i].d_tag == DT_RPATH     ? &needs->rpath
			      : entries[i].d_tag == DT_RUNPATH ? &needs->runpath
							       : NULL;

		if (path && !*path)
			*path = pool_strdup(&needs->pool, name);
		if (entries[i].d_tag != DT_NEEDED || !*name)
			continue;
		needs->libraries =
			pool_grow(&needs->pool, needs->libraries, needs->nr_libraries, sizeof(*needs->libraries));
		needs->libraries[needs->nr_libraries++] = pool_strdup(&needs->pool, name);
	}
}

static int
read_dynamic(const struct file *file, struct elf_needs *needs)
{
	const Elf64_Phdr *segment = find_segment(file, PT_DYNAMIC);
	autofree Elf64_Dyn *entries = segment ? read_part(file, segment->p_offset, segment->p_filesz) : NULL;
	size_t nr = entries ? segment->p_filesz / sizeof(*entries) : 0;
	uint64_t size = entry_value(entries, nr, DT_STRSZ), offset, room;
	autofree char *names = NULL;

	if (find_address(file, entry_value(entries, nr, DT_STRTAB), &offset, &room))
		names = read_part(file, offset, size < room ? size : room);
	if (names)
		take_names(needs, entries, nr, names, size < room ? size : room);
	return !segment || names ? 0 : -1;
}

int
elf_needs_read(struct elf_needs *needs, const char *path)
{
	const Elf64_Phdr *segment;
	struct file file;
	int rc = file_open(&file, path);

	*needs = (struct elf_needs){.nr_libraries = 0};
	segment = rc == 0 ? find_segment(&file, PT_INTERP) : NULL;
	if (segment)
		needs->interpreter =
			pool_own(&needs->pool, read_part(&file, segment->p_offset, segment->p_filesz), free);
	if (rc == 0)
		rc = read_dynamic(&file, needs);
	file_close(&file);
	return rc;
}

void
elf_needs_clear(struct elf_needs *needs)
{
	pool_clear(&needs->pool);
	*needs = (struct elf_needs){.nr_libraries = 0};
}
