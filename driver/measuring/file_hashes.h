/* SPDX-License-Identifier: MIT */
/* Hashes of the content of files, read once as long as they do not change. */
#ifndef MEASURING_FILE_HASHES_H
#define MEASURING_FILE_HASHES_H

struct file_hashes;

struct file_hashes *file_hashes_new(void);
void file_hashes_delete(struct file_hashes *hashes);

/*
 * SHA-256 in hex of what is in the file now; "" if it is no regular file (reading a pipe would take something away) or
 * cannot be read. Valid until the next call.
 */
const char *file_hashes_get(struct file_hashes *hashes, const char *path);

#endif
