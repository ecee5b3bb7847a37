/* SPDX-License-Identifier: MIT */
/*
 * Where things are. When the running program is the one in its build folder, data come from the source tree, else from
 * where "make install" put them; both trees have the same shape below these folders.
 */
#pragma once

#include <stdbool.h>

#include "base/configuration.h"
#include "error.h"

/* Absolute paths, no slash at the end, owned by the struct. */
struct paths {
	char *data;  /* kernels/, core/core.mk, driver/controllers/, driver/architectures/, driver/schemas/,
			shared-entities/ (headers) */
	char *docs;  /* README.md, and doc/ with what else people read */
	char *built; /* core/rot-core, core/librot-child.a, shared-entities/generated/ (headers)                  */
	char *cache; /* cacheFolder; exists. Not writable: a private folder in TMPDIR, see cache_is_temporary    */
	char *user;  /* dataFolder: kernels/, controllers/; may not exist                                        */
	bool cache_is_temporary; /* removed by paths_delete */
};

/* cache folder not writable: *warning is set to a message (fresh memory) and a temporary one is used; never an error
 * for that. */
struct paths *paths_new(const struct configuration *configuration, char **warning, struct rot_error *err);
void paths_delete(struct paths *paths);

/* False for the driver in its build folder and for the tests there; program is an absolute path. */
bool paths_is_installed(const char *program);

/* The default configuration file: $(sysconfdir)/rot/config when installed. It may not exist. Fresh memory. */
char *paths_default_config_file(void);

/* The user's configuration file according to the key or XDG; fresh memory. */
char *paths_user_config_file(const struct configuration *configuration);

/* The user's home: an absolute path without slashes at the end, or "": not known, or "/". Fresh memory. */
char *home_folder(void);

/*
 * The text with "~" for the folder wherever a path begins with it, also as the value of an option ("-I/home/me/x",
 * "--file=/home/me/x"). What only has such a part, as "/mnt/home/me" or "/home/meadow", stays. folder "": a copy.
 * Fresh memory.
 */
char *home_hide(const char *text, const char *folder);

/* The same of the user's own, also where a path does without links that it is behind. */
char *home_hide_own(const char *text);
