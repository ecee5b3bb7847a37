/* SPDX-License-Identifier: MIT */
/* SHA-256 over texts and files: the keys of results and cores. */
#pragma once

#include <stddef.h>

#include "error.h"

struct file_hashes;

#define SHA256_HEX_SIZE 65 /* 64 digits and the end */

struct sha256;

struct sha256 *sha256_new(void);

/* Bytes as they are; or framed by their length, so that "a" "bc" and "ab" "c" differ. */
void sha256_add_block(struct sha256 *hash, const void *bytes, size_t length);
void sha256_add_text(struct sha256 *hash, const char *text);

/* Writes the hash in hex and deletes the object. */
void sha256_finish(struct sha256 *hash, char hex[SHA256_HEX_SIZE]);

/* Hash of one text's bytes, of one file's content. */
void sha256_of_bytes(const void *bytes, size_t length, char hex[SHA256_HEX_SIZE]);
int sha256_of_file(const char *path, char hex[SHA256_HEX_SIZE], struct rot_error *err);

/* ---- hashes of files ---- */

struct file_hashes *file_hashes_new(void);
void file_hashes_delete(struct file_hashes *hashes);

/*
 * SHA-256 in hex of what is in the file now; "" if it is no regular file (reading a pipe would take something away) or
 * cannot be read. Valid until the next call.
 */
const char *file_hashes_get(struct file_hashes *hashes, const char *path);
