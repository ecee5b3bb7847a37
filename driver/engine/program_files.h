/* SPDX-License-Identifier: MIT */
/*
 * The files a program is made of before its first instruction: executable, interpreters of scripts, loader, libraries.
 * The loader itself lists the libraries; the program is not started.
 */
#pragma once

#include "base/pool.h"
#include "entities.h"

/* Zeroed: empty. */
struct file_list {
	char **paths;
	size_t nr;
	struct pool pool; /* of the paths */
};

/*
 * Each once, the executable first. What is not found is there as "NAME (not found)". Not seen: what is opened only
 * later (plug-ins, modules of interpreters).
 */
void program_files_find(const struct program *program, struct file_list *files);
void file_list_clear(struct file_list *files);

#define LOADER_PATH "/lib64/ld-linux-x86-64.so.2" /* as the System V ABI for x86-64 names it */

/* path: NULL if the library is not found; the name where only the path is known. Both are valid during the call. */
typedef void loader_tell(const char *name, const char *path, void *to);

/*
 * Runs argv, a loader with --list and a program, in folder (as process_run), and tells what it lists. The loader maps
 * the libraries and starts nothing.
 */
void loader_list(const char *const *argv, const char *folder, loader_tell *tell, void *to);
