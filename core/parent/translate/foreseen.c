/* SPDX-License-Identifier: MIT */
#include "parent/translate/foreseen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

#define FIRST_LINE "rot executed blocks 1\n"
#define MAX_BLOCKS (UINT32_C(1) << 20)
#define MAX_PLACE INT32_MAX

/* The same file as long as these are the same. */
struct identity {
	uint64_t inode, size, changed_ns;
};

/*
 * blocks: place << 1 | has_entry
 * index: open hash table of their numbers, + 1; 0: free. room: of the table, twice that of blocks
 */
struct foreseen_file {
	struct foreseen_program *program;
	char *path;
	struct identity identity;
	uint32_t *blocks, *index;
	uint32_t nr, room;
	struct foreseen_file *next;
};

struct foreseen_program {
	char *path;
	struct foreseen_file *files;
	bool has_changed;
	struct foreseen_program *next;
};

struct foreseen {
	char *folder;
	struct foreseen_program *programs;
};

/* Places of 256 bytes of code are near each other. */
static uint32_t *
find_block(const struct foreseen_file *file, uint32_t place)
{
	const uint32_t hash = (place >> 8) * UINT32_C(0x9e3779b1) >> 7;

	for (uint32_t i = hash << 6 | (place >> 2 & 63);; i++) {
		uint32_t *number = &file->index[i & (file->room - 1)];

		if (*number == 0 || file->blocks[*number - 1] >> 1 == place)
			return number;
	}
}

static void
grow(struct foreseen_file *file)
{
	file->room = file->room == 0 ? 1024 : 2 * file->room;
	file->blocks = rot_realloc(file->blocks, file->room / 2, sizeof(*file->blocks));
	free(file->index);
	file->index = rot_calloc(file->room, sizeof(*file->index));
	for (uint32_t i = 0; i < file->nr; i++)
		*find_block(file, file->blocks[i] >> 1) = i + 1;
}

/* True if it was not known. */
static bool
add(struct foreseen_file *file, uint64_t place, bool has_entry)
{
	uint32_t *number;

	if (place > MAX_PLACE || file->nr == MAX_BLOCKS)
		return false;
	if (file->nr == file->room / 2)
		grow(file);
	number = find_block(file, (uint32_t)place);
	if (*number != 0) {
		const bool is_new = has_entry && !(file->blocks[*number - 1] & 1);

		file->blocks[*number - 1] |= has_entry;
		return is_new;
	}
	file->blocks[file->nr] = (uint32_t)place << 1 | has_entry;
	*number = ++file->nr;
	return true;
}

static bool
identify(const char *path, struct identity *identity)
{
	struct stat status;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	*identity = (struct identity){status.st_ino, (uint64_t)status.st_size,
				      (uint64_t)status.st_mtim.tv_sec * UINT64_C(1000000000) +
					      (uint64_t)status.st_mtim.tv_nsec};
	return true;
}

static bool
is_same(const struct identity *a, const struct identity *b)
{
	return a->inode == b->inode && a->size == b->size && a->changed_ns == b->changed_ns;
}

static struct foreseen_file *
file_new(struct foreseen_program *program, const char *path, const struct identity *identity)
{
	struct foreseen_file *file = rot_calloc(1, sizeof(*file));

	file->program = program;
	file->path = rot_strdup(path);
	file->identity = *identity;
	file->next = program->files;
	program->files = file;
	return file;
}

/* ---- on disk ---- */

static char *
stored_at(const struct foreseen *foreseen, const char *program)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (const char *c = program; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return rot_format("%s/%016" PRIx64, foreseen->folder, hash);
}

/* The blocks of one file. False: there are no more, or the rest is damaged. */
static bool
read_file(struct foreseen_program *program, FILE *from)
{
	struct identity identity, now;
	struct foreseen_file *file = NULL;
	char path[4096];
	autofree uint32_t *blocks = NULL;
	uint32_t nr;
	size_t nr_read;

	if (fscanf(from, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32 " %4095[^\n]", &identity.inode, &identity.size,
		   &identity.changed_ns, &nr, path) != 5 ||
	    getc(from) != '\n' || nr > MAX_BLOCKS)
		return false;
	if (identify(path, &now) && is_same(&now, &identity))
		file = file_new(program, path, &identity);
	blocks = rot_calloc(nr, sizeof(*blocks));
	nr_read = fread(blocks, sizeof(*blocks), nr, from);
	for (size_t i = 0; file && i < nr_read; i++)
		add(file, blocks[i] >> 1, blocks[i] & 1);
	return nr_read == nr;
}

static void
read_program(const struct foreseen *foreseen, struct foreseen_program *program)
{
	char *path = stored_at(foreseen, program->path), line[sizeof(FIRST_LINE)];
	FILE *from = fopen(path, "re");

	if (from && fgets(line, sizeof(line), from) && strcmp(line, FIRST_LINE) == 0) {
		while (read_file(program, from))
			;
	}
	if (from) {
		futimens(fileno(from), NULL); /* it is used now: the least used go first */
		fclose(from);
	}
	free(path);
}

/* Complete or not at all. Where that is refused, the next run foresees less. */
static void
write_program(const struct foreseen *foreseen, const struct foreseen_program *program)
{
	char *path = stored_at(foreseen, program->path), *unfinished = rot_format("%s.%d", path, (int)getpid());
	FILE *to;

	mkdir(foreseen->folder, 0777);
	to = fopen(unfinished, "we");
	if (to) {
		bool is_whole;

		fputs(FIRST_LINE, to);
		for (const struct foreseen_file *file = program->files; file; file = file->next) {
			fprintf(to, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %s\n", file->identity.inode,
				file->identity.size, file->identity.changed_ns, file->nr, file->path);
			fwrite(file->blocks, sizeof(*file->blocks), file->nr, to);
		}
		is_whole = !ferror(to);
		if (fclose(to) != 0 || !is_whole || rename(unfinished, path) < 0)
			unlink(unfinished);
	}
	free(unfinished);
	free(path);
}

/* ---- what others call ---- */

struct foreseen *
foreseen_new(const char *folder)
{
	struct foreseen *foreseen = rot_calloc(1, sizeof(*foreseen));

	foreseen->folder = rot_strdup(folder);
	return foreseen;
}

void
foreseen_delete(struct foreseen *foreseen)
{
	struct foreseen_program *program;
	struct foreseen_file *file;

	if (!foreseen)
		return;
	while ((program = foreseen->programs)) {
		if (program->has_changed)
			write_program(foreseen, program);
		while ((file = program->files)) {
			program->files = file->next;
			free(file->path);
			free(file->blocks);
			free(file->index);
			free(file);
		}
		foreseen->programs = program->next;
		free(program->path);
		free(program);
	}
	free(foreseen->folder);
	free(foreseen);
}

struct foreseen_program *
foreseen_program(struct foreseen *foreseen, const char *path)
{
	struct foreseen_program *program = foreseen->programs;

	while (program && strcmp(program->path, path) != 0)
		program = program->next;
	if (program)
		return program;
	program = rot_calloc(1, sizeof(*program));
	program->path = rot_strdup(path);
	program->next = foreseen->programs;
	foreseen->programs = program;
	read_program(foreseen, program);
	return program;
}

struct foreseen_file *
foreseen_find(struct foreseen_program *program, const char *path)
{
	struct identity identity;
	struct foreseen_file *file = program->files;

	if (!identify(path, &identity))
		return NULL;
	while (file && (strcmp(file->path, path) != 0 || !is_same(&file->identity, &identity)))
		file = file->next;
	return file ? file : file_new(program, path, &identity);
}

size_t
foreseen_nr(const struct foreseen_file *file)
{
	return file->nr;
}

uint64_t
foreseen_at(const struct foreseen_file *file, size_t number, bool *has_entry)
{
	*has_entry = file->blocks[number] & 1;
	return file->blocks[number] >> 1;
}

bool
foreseen_has(const struct foreseen_file *file, uint64_t place)
{
	return place <= MAX_PLACE && file->nr > 0 && *find_block(file, (uint32_t)place) != 0;
}

void
foreseen_add(struct foreseen_file *file, uint64_t place, bool has_entry)
{
	file->program->has_changed |= add(file, place, has_entry);
}
