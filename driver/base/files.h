/* SPDX-License-Identifier: MIT */
/* Files and folders as a whole: read, write so that nobody sees half a file, list, remove. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/*
 * The content of a regular file in fresh memory with a 0 behind it. NULL on error; errno keeps the reason. length may
 * be NULL. What is no regular file is not opened for reading, what is larger than all that rot reads not read.
 */
char *file_read(const char *path, size_t *length, struct rot_error *err);

/* errno of file_read: the file can never be read, since it is no regular one, or too large. */
bool file_is_unreadable(int reason);

/* The first line of root/name without its newline, in fresh memory; NULL if it cannot be read. */
char *file_first_line(const char *root, const char *name);

/* Ends the names of what is complete under another name later. */
#define FILE_TEMPORARY ".rot-XXXXXX"

/*
 * Writes to a temporary name beside path and renames it, so that readers see the old or the new content. Of a symbolic
 * link, the file where it leads. durable: so they do after a power failure, if maybe the old. On error nothing is left
 * behind, and errno keeps the reason.
 */
int file_write(const char *path, const void *bytes, size_t length, bool durable, struct rot_error *err);

/* For what the user names: as file_write, but what is no regular file (a pipe, a device) is written to as it is. */
int file_deliver(const char *path, const void *bytes, size_t length, bool durable, struct rot_error *err);

/* Works like file_write (not durable), but a file that holds just this text is not touched. */
int file_write_if_changed(const char *path, const char *text, struct rot_error *err);

/* Makes the folder and those above it; existing ones are fine. errno keeps the reason. */
int folder_make(const char *path, struct rot_error *err);

/* Removes the folder with all in it, as far as possible; does not follow symbolic links. errno is left alone. */
void folder_remove(const char *path);

/* Removes what processes that were killed left in it under temporary names, more than ten minutes ago. */
void folder_sweep(const char *path);

/* Names in the folder, without "." and "..", sorted bytewise; NULL-terminated, also when there is no such folder. Fresh
 * memory: one block for all. */
char **folder_list(const char *path);

/* For qsort: texts, bytewise. */
int names_compare(const void *a, const void *b);

/* The part of a path behind its last slash. */
const char *path_name(const char *path);

/* True if path ends in the suffix. */
bool path_ends_in(const char *path, const char *suffix);
