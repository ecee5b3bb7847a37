/* SPDX-License-Identifier: MIT */
/* Where things are: the source tree or what was installed, and the user's folders after the XDG base directories. */
#include "base/paths.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "memory.h"

/* A core and some results. */
#define ROOM_BYTES (1 << 20)

static bool
has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* The folder of the running program, or "" if the system does not tell. Fresh memory. */
static char *
driver_path(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	return rot_strndup(path, length > 0 ? (size_t)length : 0);
}

/* path without the prefix of configure, or all of it. */
static const char *
below_prefix(const char *path)
{
	return has_prefix(path, ROT_PREFIX) ? path + strlen(ROT_PREFIX) : path;
}

/*
 * A folder of configure, as it is to the program: below the staging folder when that runs from a DESTDIR, and where the
 * program is when all of it went to another prefix. Fresh memory.
 */
static char *
installed_folder(const char *program, const char *folder)
{
	static const char whole[] = ROT_BINDIR "/rot";
	const char *const tail = below_prefix(whole), *const rest = below_prefix(folder);
	const bool is_staged = path_ends_in(program, whole), is_moved = !is_staged && path_ends_in(program, tail);
	const size_t length = strlen(program) - strlen(is_staged ? whole : tail);
	autofree char *found = is_staged  ? rot_format("%.*s%s", (int)length, program, folder)
			       : is_moved ? rot_format("%.*s%s", (int)length, program, rest)
					  : rot_strdup(folder);

	if (!is_moved || (rest != folder && access(found, F_OK) == 0))
		return rot_keep(&found);
	return rot_strdup(folder);
}

bool
paths_is_installed(const char *program)
{
	return strcmp(program, ROT_BUILD_FOLDER "/driver/rot") != 0 && !has_prefix(program, ROT_BUILD_FOLDER "/tests/");
}

/*
 * The variable if it is an absolute path (XDG ignores relative ones), else fallback in $HOME or in what the system
 * knows as the home of the user; then /rot. Fresh memory.
 */
static char *
xdg_folder(const char *variable, const char *fallback)
{
	const char *value = getenv(variable);
	autofree char *home = NULL;

	if (value && value[0] == '/')
		return rot_format("%s/rot", value);
	home = home_folder();
	return rot_format("%s/%s/rot", home, fallback);
}

/* A folder from a key: made absolute, without slashes at the end; empty: the XDG one. Fresh memory. */
static char *
key_folder(const struct configuration *configuration, const char *key, const char *variable, const char *fallback)
{
	const char *text = configuration_string(configuration, key);
	char here[PATH_MAX];
	char *folder;
	size_t length;

	if (!*text)
		return xdg_folder(variable, fallback);
	if (text[0] != '/' && getcwd(here, sizeof(here)))
		folder = rot_format("%s/%s", here, text);
	else
		folder = rot_strdup(text);
	for (length = strlen(folder); length > 1 && folder[length - 1] == '/'; length--)
		folder[length - 1] = '\0';
	return folder;
}

/*
 * Tried, not asked: a folder that looks writable can lie on a full or broken disk. 0 or -1 with errno. Not every file
 * system can say whether it has room.
 */
static int
try_writing(const char *folder)
{
	autofree char *path = rot_format("%s/.try-XXXXXX", folder);
	int fd = mkstemp(path), reason = fd >= 0 ? 0 : errno;

	if (fd >= 0) {
		if (fallocate(fd, 0, 0, ROOM_BYTES) < 0 && (errno == ENOSPC || errno == EDQUOT))
			reason = errno;
		close(fd);
		unlink(path);
	}
	errno = reason;
	return reason ? -1 : 0;
}

static int
cache_open(struct paths *paths, char **warning, struct rot_error *err)
{
	const char *temporary = getenv("TMPDIR");
	autofree char *folder = NULL;
	int reason;

	if (folder_make(paths->cache, NULL) == 0 && try_writing(paths->cache) == 0) {
		autofree char *path = rot_format("%s/CACHEDIR.TAG", paths->cache);
		FILE *out = fopen(path, "wxe");

		/* Backup programs leave such a folder out (bford.info/cachedir). Failing is no loss. */
		if (out) {
			fputs("Signature: 8a477f597d28d172789f06886806bc55\n# Results and cores of rot; safe to "
			      "delete.\n",
			      out);
			fclose(out);
		}
		return 0;
	}
	reason = errno;
	folder = rot_format("%s/rot-XXXXXX", temporary && temporary[0] == '/' ? temporary : "/tmp");
	if (!mkdtemp(folder)) {
		rot_error_set(err, reason, "cannot write to the cache folder '%s'", paths->cache);
		rot_error_append(err, "; and cannot make the temporary folder '%s': %s", folder, strerror(errno));
		return rot_error_hint(err, "name a folder you may write to: -cacheFolder=FOLDER");
	}
	*warning = rot_format("cannot write to the cache folder '%s' (%s): results of this run are not kept; "
			      "name another one with -cacheFolder=FOLDER",
			      paths->cache, strerror(reason));
	free(paths->cache);
	paths->cache = rot_keep(&folder);
	paths->cache_is_temporary = true;
	return 0;
}

/* Without "..", and through links; the path itself if it is not there. Fresh memory. */
static char *
resolved(const char *path)
{
	char whole[PATH_MAX];

	return rot_strdup(realpath(path, whole) ? whole : path);
}

struct paths *
paths_new(const struct configuration *configuration, char **warning, struct rot_error *err)
{
	struct paths *paths = rot_calloc(1, sizeof(*paths));
	autofree char *program = driver_path();

	*warning = NULL;
	if (paths_is_installed(program)) {
		paths->data = installed_folder(program, ROT_DATA_FOLDER);
		paths->docs = installed_folder(program, ROT_DOC_FOLDER);
		paths->built = installed_folder(program, ROT_BUILT_FOLDER);
	} else {
		/* configure may have been called as ../configure; results should not depend on that. */
		paths->data = resolved(ROT_SOURCE_FOLDER);
		paths->docs = rot_strdup(paths->data);
		paths->built = resolved(ROT_BUILD_FOLDER);
	}
	paths->user = key_folder(configuration, "dataFolder", "XDG_DATA_HOME", ".local/share");
	paths->cache = key_folder(configuration, "cacheFolder", "XDG_CACHE_HOME", ".cache");
	if (cache_open(paths, warning, err) < 0) {
		paths_delete(paths);
		return NULL;
	}
	return paths;
}

void
paths_delete(struct paths *paths)
{
	if (!paths)
		return;
	if (paths->cache_is_temporary)
		folder_remove(paths->cache);
	free(paths->data);
	free(paths->docs);
	free(paths->built);
	free(paths->cache);
	free(paths->user);
	free(paths);
}

char *
paths_user_config_file(const struct configuration *configuration)
{
	const char *text = configuration_string(configuration, "userConfigFile");
	autofree char *folder = NULL;

	if (*text)
		return rot_strdup(text);
	folder = xdg_folder("XDG_CONFIG_HOME", ".config");
	return rot_format("%s/config", folder);
}

char *
paths_default_config_file(void)
{
	autofree char *program = driver_path();

	return paths_is_installed(program) ? installed_folder(program, ROT_SYSCONFDIR "/rot/config")
					   : rot_strdup(ROT_SOURCE_FOLDER "/driver/base/config");
}

/* ---- the user's home ---- */

char *
home_folder(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user = home && home[0] == '/' ? NULL : getpwuid(getuid());
	size_t length;

	if (!home || home[0] != '/')
		home = user && user->pw_dir[0] == '/' ? user->pw_dir : "";
	for (length = strlen(home); length > 0 && home[length - 1] == '/'; length--)
		;
	return rot_strndup(home, length);
}

/* Does a name go on with it? Of what is not ASCII nobody knows. */
static bool
is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-+~", c)) || (c & 0x80);
}

/*
 * Does a path begin at that place? There is nothing before it in its word, or the letters of an option. "<" and a path
 * would be the end of an element of HTML.
 */
static bool
begins_path(const char *text, const char *at)
{
	const char *word = at;

	if (at > text && at[-1] == '<')
		return false;
	while (word > text && (isalnum((unsigned char)word[-1]) || strchr("-_/.", word[-1])) &&
	       !(word - 1 > text && word[-2] == '\\'))
		word--;
	return word == at || (*word == '-' && strcspn(word, "/.") == (size_t)(at - word));
}

char *
home_hide(const char *text, const char *folder)
{
	const size_t length = strlen(folder);
	char *hidden = rot_calloc(strlen(text) + 1, 1), *to = hidden;
	const char *at = text, *found;

	while ((found = length ? strstr(at, folder) : NULL)) {
		const bool is_home = !is_of_name(found[length]) && begins_path(text, found);
		const size_t before = (size_t)(found - at) + !is_home;

		to = mempcpy(to, at, before);
		at += before;
		if (is_home) {
			*to++ = '~';
			at += length;
		}
	}
	strcpy(to, at);
	return hidden;
}

char *
home_hide_own(const char *text)
{
	autofree char *home = home_folder(), *real = *home ? realpath(home, NULL) : NULL;
	autofree char *hidden = home_hide(text, home);

	return home_hide(hidden, real ? real : "");
}
