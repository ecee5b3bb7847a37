/* SPDX-License-Identifier: MIT */
/* SHA-256 by libcrypto; those of files are kept. */
#include <assert.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/sha256.h"
#include "memory.h"

/* ---- hashes of files ---- */

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
	rot_add(hashes->items, hashes->nr) = hash;
	return hashes->items[hashes->nr - 1].hex;
}

/* The library would also read and set up more, which takes longer than all the hashes of a short command. */
#define ONE_DIGEST_ONLY                                                                                                \
	(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS |             \
	 OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS)

struct sha256 {
	EVP_MD_CTX *context;
};

struct sha256 *
sha256_new(void)
{
	struct sha256 *hash = rot_calloc(1, sizeof *hash);
	int ok;

	OPENSSL_init_crypto(ONE_DIGEST_ONLY, NULL);
	hash->context = EVP_MD_CTX_new();
	ok = hash->context && EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL);
	assert(ok);
	(void)ok;
	return hash;
}

static void
sha256_add_bytes(struct sha256 *hash, const void *bytes, size_t length)
{
	EVP_DigestUpdate(hash->context, bytes, length);
}

void
sha256_add_block(struct sha256 *hash, const void *bytes, size_t length)
{
	char frame[32];

	sha256_add_bytes(hash, frame, (size_t)snprintf(frame, sizeof frame, "%zu:", length));
	sha256_add_bytes(hash, bytes, length);
}

void
sha256_add_text(struct sha256 *hash, const char *text)
{
	sha256_add_block(hash, text, strlen(text));
}

void
sha256_finish(struct sha256 *hash, char hex[SHA256_HEX_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned length = 0;

	EVP_DigestFinal_ex(hash->context, digest, &length);
	for (unsigned i = 0; i < length; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	EVP_MD_CTX_free(hash->context);
	free(hash);
}

void
sha256_of_bytes(const void *bytes, size_t length, char hex[SHA256_HEX_SIZE])
{
	struct sha256 *hash = sha256_new();

	sha256_add_bytes(hash, bytes, length);
	sha256_finish(hash, hex);
}

int
sha256_of_file(const char *path, char hex[SHA256_HEX_SIZE], struct rot_error *err)
{
	FILE *file = fopen(path, "re");
	struct sha256 *hash;
	char buffer[65536];
	size_t nr;
	int failed;

	if (!file)
		return rot_error_set(err, errno, "cannot read '%s'", path);
	hash = sha256_new();
	while ((nr = fread(buffer, 1, sizeof buffer, file)) > 0)
		sha256_add_bytes(hash, buffer, nr);
	failed = ferror(file);
	fclose(file);
	sha256_finish(hash, hex);
	return failed ? rot_error_set(err, EIO, "cannot read '%s'", path) : 0;
}
