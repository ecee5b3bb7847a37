/* SPDX-License-Identifier: MIT */
/* The libraries that the system's loader would load for a program, as it says itself. */
#pragma once

#define LOADER_PATH "/lib64/ld-linux-x86-64.so.2" /* as the System V ABI for x86-64 names it */

/* path: NULL if the library is not found; the name where only the path is known. Both are valid during the call. */
typedef void loader_tell(const char *name, const char *path, void *to);

/*
 * Runs argv, a loader with --list and a program, in folder (as process_run), and tells what it lists. The loader maps
 * the libraries and starts nothing.
 */
void loader_list(const char *const *argv, const char *folder, loader_tell *tell, void *to);
