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
