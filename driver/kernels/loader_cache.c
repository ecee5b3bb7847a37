/* SPDX-License-Identifier: MIT */
/* /etc/ld.so.cache. Source: glibc, sysdeps/generic/dl-cache.h, "struct cache_file_new". */
#include "kernels/loader_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/files.h"

static const char magic[] = "glibc-ld.so.cache1.1";

/* FLAG_ELF_LIBC6 | FLAG_X8664_LIB64 */
#define FLAGS_LIBRARY_X86_64 0x0303

struct head {
	char magic[20];
	uint32_t nr, strings_length;
	uint8_t flags, padding[3];
	uint32_t extensions, unused[3];
};

/* Strings are given by their offset from the head. */
struct entry {
	int32_t flags;
	uint32_t name, path, os_version;
	uint64_t capabilities;
};

/* Where the head is: behind another table in files that older programs can read as well. */
static const char *
find_head(const struct loader_cache *cache)
{
	const char *head = cache->bytes ? memmem(cache->bytes, cache->length, magic, sizeof(magic) - 1) : NULL;

	return head && (size_t)(cache->bytes + cache->length - head) >= sizeof(struct head) ? head : NULL;
}

void
loader_cache_open(struct loader_cache *cache, const char *path)
{
	size_t length = 0;
	char *bytes = file_read(path, &length, NULL);

	*cache = (struct loader_cache){bytes, length};
}

void
loader_cache_close(struct loader_cache *cache)
{
	free(cache->bytes);
	*cache = (struct loader_cache){.bytes = NULL};
}

const char *
loader_cache_find(const struct loader_cache *cache, const char *name, size_t i)
{
	const char *start = find_head(cache);
	size_t length = start ? (size_t)(cache->bytes + cache->length - start) : 0;
	struct head head;

	if (!start)
		return NULL;
	memcpy(&head, start, sizeof(head));
	if (head.nr > (length - sizeof(head)) / sizeof(struct entry))
		return NULL;
	for (size_t k = 0; k < head.nr; k++) {
		struct entry entry;

		memcpy(&entry, start + sizeof(head) + k * sizeof(entry), sizeof(entry));
		if (entry.flags != FLAGS_LIBRARY_X86_64 || entry.name >= length || entry.path >= length)
			continue;
		if (strcmp(start + entry.name, name) == 0 && i-- == 0)
			return start + entry.path;
	}
	return NULL;
}
