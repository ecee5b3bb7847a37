/* SPDX-License-Identifier: MIT */
/* Results in files that are complete or not there. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "document.h"
#include "engine/result_cache.h"
#include "engine/sha256.h"
#include "memory.h"
#include "rot.h"

#define FORMAT_VERSION 1

struct result_cache {
	const char *folder;
	const struct rot_registry *registry;
	bool is_ready;        /* the folder is swept, and marked as a cache */
	bool warned_of_read;  /* about files that cannot be read        */
	bool warned_of_write; /* about files that cannot be written     */
};

struct result_cache *
result_cache_new(const char *folder, const struct rot_registry *registry)
{
	struct result_cache *cache = rot_calloc(1, sizeof *cache);

	cache->folder = folder;
	cache->registry = registry;
	return cache;
}

void
result_cache_delete(struct result_cache *cache)
{
	free(cache);
}

static char *
result_path(const struct result_cache *cache, const char *hash)
{
	return rot_format("%s/results/%.2s/%s.xml", cache->folder, hash, hash);
}

/* ---- loading ---- */

/* The first line for a body, with its newline. Fresh memory. */
static char *
first_line(const char *body, size_t length)
{
	char hex[SHA256_HEX_SIZE];

	sha256_of_bytes(body, length, hex);
	return rot_format("<!-- rot result %d sha256=%s -->\n", FORMAT_VERSION, hex);
}

/* Reads the content of a file; NULL and err: it is damaged. */
static struct measurement_result *
parse(const struct result_cache *cache, const char *content, size_t length, const char *path, const char *hash,
      struct rot_error *err)
{
	const char *body = strchr(content, '\n');
	size_t head_length = body ? (size_t)(body - content) + 1 : length;
	autofree char *head = first_line(content + head_length, length - head_length);
	bool is_intact = strlen(head) == head_length && memcmp(head, content, head_length) == 0;
	struct measurement_result *result;
	autograph void *graph = NULL;

	if (!is_intact) {
		rot_error_set(err, 0, "wrong checksum or version");
		return NULL;
	}
	graph = document_read(cache->registry, content + head_length, length - head_length, path, err);
	result = rot_cast(graph, &measurement_result_class);
	if (result && result->format_version == FORMAT_VERSION && strcmp(result->description_hash, hash) == 0)
		return rot_keep(&graph);
	if (graph)
		rot_error_set(err, 0, "it is not the result %s", hash);
	return NULL;
}

static void
set_aside(const char *path, const struct rot_error *why)
{
	autofree char *damaged = rot_format("%s.damaged", path);

	if (rename(path, damaged) == 0)
		rot_warning("the cached result '%s' is damaged (%s): set aside as '%s', to be measured again", path,
			    why->text, damaged);
	else
		rot_warning("the cached result '%s' is damaged (%s): to be measured again", path, why->text);
}

struct measurement_result *
result_cache_load(struct result_cache *cache, const char *description_hash)
{
	autofree char *path = result_path(cache, description_hash), *content = NULL;
	struct measurement_result *result = NULL;
	struct rot_error err = {0};
	size_t length;

	content = file_read(path, &length, &err);
	if (content) {
		result = parse(cache, content, length, path, description_hash, &err);
		if (!result)
			set_aside(path, &err);
	} else if (file_is_unreadable(errno)) {
		set_aside(path, &err);
	} else if (errno != ENOENT && !cache->warned_of_read) {
		rot_warning("%s: cached results are not used", err.text);
		cache->warned_of_read = true;
	}
	return result;
}

/* ---- storing ---- */

/* Tells backup programs that everything here can be made again. Source: Cache Directory Tagging Specification. */
static void
mark_as_cache(struct result_cache *cache)
{
	static const char text[] =
		"Signature: 8a477f597d28d172789f06886806bc55\n"
		"# Results and measuring cores of rot. It may be removed at any time; rot measures again.\n";
	autofree char *path = rot_format("%s/CACHEDIR.TAG", cache->folder);

	if (!cache->is_ready && access(path, F_OK) < 0)
		file_write(path, text, strlen(text), false, NULL);
	if (!cache->is_ready) {
		/* Parts of files are left over of a rot that was killed while it stored results. */
		autofree char *folder = rot_format("%s/results", cache->folder);
		autofree char **names = folder_list(folder);

		for (size_t i = 0; names[i]; i++) {
			autofree char *part = rot_format("%s/%s", folder, names[i]);

			folder_sweep(part);
		}
	}
	cache->is_ready = true;
}

static int
store(struct result_cache *cache, const struct measurement_result *result, struct rot_error *err)
{
	autofree char *folder = rot_format("%s/results/%.2s", cache->folder, result->description_hash);
	autofree char *path = result_path(cache, result->description_hash);
	autofree char *body = rot_xml_write(result), *head = first_line(body, strlen(body));
	autofree char *content = rot_format("%s%s", head, body);
	int rc = folder_make(folder, err);

	if (rc == 0)
		rc = file_write(path, content, strlen(content), true, err);
	return rc;
}

void
result_cache_store(struct result_cache *cache, const struct measurement_result *result)
{
	struct rot_error err = {0};

	if (store(cache, result, &err) == 0) {
		mark_as_cache(cache);
	} else if (!cache->warned_of_write) {
		rot_warning("%s: results are not kept for the next time", err.text);
		cache->warned_of_write = true;
	}
}

/* ---- one rot at a time ---- */

int
cache_lock(const char *folder)
{
	autofree char *path = rot_format("%s/measuring.lock", folder);
	int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	bool is_noted = false;

	while (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || rot_interrupted()) {
			int result = errno == EWOULDBLOCK ? -2 : -1;

			close(lock);
			return result;
		}
		if (!is_noted)
			rot_note("another rot is measuring here; waiting for it to finish");
		is_noted = true;
		nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
	}
	return lock < 0 ? -1 : lock;
}

void
cache_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

bool
cache_is_locked(const char *folder)
{
	autofree char *path = rot_format("%s/measuring.lock", folder);
	int lock = open(path, O_RDWR | O_CLOEXEC);
	bool is_locked = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	cache_unlock(lock);
	return is_locked;
}
