/* SPDX-License-Identifier: MIT */
/* Where things are: XDG folders, keys, a cache that cannot be written to, the source tree of an uninstalled driver. */
#include "base/paths.h"
#include "testing.h"

static struct configuration *configuration;
static char *folder, *warning;

/* Caches want room, which /tmp need not have: folders are where tests have theirs, whatever the test before has set. */
static void
set_up(void)
{
	static char *place;

	if (!place && getenv("TMPDIR"))
		place = rot_strdup(getenv("TMPDIR"));
	if (place)
		setenv("TMPDIR", place, 1);
	folder = temporary_folder_new();
	configuration = configuration_new();
	memset(&why, 0, sizeof(why));
	warning = NULL;
	setenv("HOME", folder, 1);
	setenv("TMPDIR", folder, 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("XDG_DATA_HOME");
	unsetenv("XDG_CONFIG_HOME");
}

static void
tear_down(void)
{
	configuration_delete(configuration);
	free(warning);
}

/* text is "FOLDER" + tail. */
static void
assert_below(const char *text, const char *tail)
{
	autofree char *wanted = rot_format("%s%s", folder, tail);

	ck_assert_str_eq(text, wanted);
}

static struct paths *
open_paths(void)
{
	struct paths *paths = paths_new(configuration, &warning, &why);

	ck_assert_msg(paths != NULL, "%s", why.text);
	return paths;
}

TEST(without_variables_below_home)
{
	struct paths *paths = at_end(paths_delete, open_paths());
	autofree char *file = paths_user_config_file(configuration);
	autofree char *tag = rot_format("%s/CACHEDIR.TAG", paths->cache);

	ck_assert_ptr_null(warning);
	assert_below(paths->cache, "/.cache/rot");
	assert_below(paths->user, "/.local/share/rot");
	assert_below(file, "/.config/rot/config");
	ck_assert_int_eq(access(tag, R_OK), 0);
	ck_assert(!paths->cache_is_temporary);
}

TEST(variables_count_when_absolute)
{
	autofree char *cache = rot_format("%s/c", folder);
	struct paths *paths;
	char *file;

	setenv("XDG_CACHE_HOME", cache, 1);
	setenv("XDG_DATA_HOME", "relative", 1);
	setenv("XDG_CONFIG_HOME", "/etc/somebody", 1);
	paths = open_paths();
	file = paths_user_config_file(configuration);
	assert_below(paths->cache, "/c/rot");
	assert_below(paths->user, "/.local/share/rot");
	ck_assert_str_eq(file, "/etc/somebody/rot/config");
	free(file);
	paths_delete(paths);
}

TEST(keys_count_more_than_variables)
{
	autofree char *file = NULL;
	struct paths *paths;

	ck_assert_int_eq(chdir(folder), 0);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "cacheFolder", "my/cache//", NULL);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "dataFolder", "/data", NULL);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "userConfigFile", "here.txt", NULL);
	paths = open_paths();
	file = paths_user_config_file(configuration);
	assert_below(paths->cache, "/my/cache");
	ck_assert_str_eq(paths->user, "/data");
	ck_assert_str_eq(file, "here.txt");
	paths_delete(paths);
	ck_assert_int_eq(chdir("/"), 0);
}

/* A file stands where the folder should be: that stops root as well. */
static void
block_cache(void)
{
	free(folder_write(folder, ".cache", ""));
}

TEST(a_cache_that_cannot_be_written_is_replaced)
{
	struct paths *paths;
	struct stat status;
	autofree char *file = NULL, *cache = NULL;

	block_cache();
	paths = open_paths();
	ck_assert(paths->cache_is_temporary);
	ck_assert_has(warning, "cannot write to the cache folder");
	ck_assert_has(warning, "Not a directory");
	ck_assert_int_eq(stat(paths->cache, &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0700);
	file = rot_format("%s/result", paths->cache);
	ck_assert_int_eq(mkdir(file, 0700), 0);
	cache = rot_strdup(paths->cache);
	paths_delete(paths);
	ck_assert_int_eq(access(cache, F_OK), -1);
}

TEST(a_cache_without_write_permission_is_replaced)
{
	autofree char *path = rot_format("%s/.cache/rot", folder);
	struct paths *paths = open_paths();

	paths_delete(paths);
	ck_assert_int_eq(chmod(path, 0500), 0);
	paths = open_paths();
	/* Root may write there all the same. */
	ck_assert_int_eq(paths->cache_is_temporary, geteuid() != 0);
	paths_delete(paths);
	ck_assert_int_eq(chmod(path, 0700), 0);
}

TEST(no_cache_at_all_is_an_error)
{
	block_cache();
	setenv("TMPDIR", "/nowhere", 1);
	ck_assert_ptr_null(paths_new(configuration, &warning, &why));
	ck_assert_has(why.text, "cannot write to the cache folder");
	ck_assert_has(why.text, "/nowhere/rot-");
	ck_assert_str_eq(why.hint, "name a folder you may write to: -cacheFolder=FOLDER");
}

TEST(not_installed_means_source_tree)
{
	struct paths *paths = at_end(paths_delete, open_paths());
	char *build = realpath(getenv("top_builddir"), NULL);
	char *source = realpath(getenv("top_srcdir"), NULL);
	autofree char *driver = rot_format("%s/driver/rot", paths->built),
		      *other = rot_format("%s/stage/usr/bin/rot", paths->built);

	ck_assert_str_eq(paths->data, source);
	ck_assert_str_eq(paths->built, build);
	free(source);
	free(build);
	ck_assert(!paths_is_installed(driver));
	ck_assert(paths_is_installed(other));
	ck_assert(paths_is_installed("/usr/bin/rot"));
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
