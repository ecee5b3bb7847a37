/* SPDX-License-Identifier: MIT */
#include "base/home.h"

#include <ctype.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

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
