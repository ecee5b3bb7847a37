/* SPDX-License-Identifier: MIT */
/* SHA-256 by libcrypto. */
#include <assert.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring/sha256.h"
#include "memory.h"

/* What else the library would read and set up takes longer than all the hashes of a short command. */
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
