/* SPDX-License-Identifier: MIT */
/* Hashes of the content of files. */
#include "measuring/file_hashes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "measuring/sha256.h"
#include "memory.h"

struct file_hash {
	struct stat status; /* when it was read */
	char hex[SHA256_HEX_SIZE];
};

struct file_hashes {
	struct file_hash *items;
	size_t nr;
};

struct file_hashes *
file_hashes_new(void)
{
	return rot_calloc(1, sizeof(struct file_hashes));
}

void
file_hashes_delete(struct file_hashes *hashes)
{
	if (!hashes)
		return;
	free(hashes->items);
	free(hashes);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

const char *
file_hashes_get(struct file_hashes *hashes, const char *path)
{
	struct file_hash hash;

	if (stat(path, &hash.status) < 0 || !S_ISREG(hash.status.st_mode))
		return "";
	for (size_t i = 0; i < hashes->nr; i++)
		if (is_same(&hashes->items[i].status, &hash.status))
			return hashes->items[i].hex;
	if (sha256_of_file(path, hash.hex, NULL) < 0)
		return "";
	hashes->items = rot_realloc(hashes->items, hashes->nr + 1, sizeof(*hashes->items));
	hashes->items[hashes->nr] = hash;
	return hashes->items[hashes->nr++].hex;
}
