/* SPDX-License-Identifier: MIT */
/* A private folder for one start of the measuring core: CACHE/work/PID-XXXXXX, locked while in use. */
#pragma once

#include "error.h"

/* Nothing here: path NULL. */
struct work_folder {
	char *path;
	int lock; /* descriptor, or -1 */
};

/*
 * Makes one, and removes those that dead processes left behind more than some seconds ago. Where the cache cannot be
 * written, in TMPDIR.
 */
int work_folder_open(struct work_folder *work, const char *cache_folder, struct rot_error *err);

/* Where the disk that it is on has no room left, the hint of an error says so. */
void work_folder_explain(const struct work_folder *work, struct rot_error *err);
void work_folder_close(struct work_folder *work);
