/* SPDX-License-Identifier: MIT */
#include "base/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t
terminal_columns(int descriptor, size_t otherwise)
{
	struct winsize size;

	return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

size_t
terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	const int configured = columns ? atoi(columns) : 0;

	return terminal_columns(fileno(out), configured > 0 ? (size_t)configured : 80);
}

bool
terminal_can_rewrite(int descriptor)
{
	const char *name = getenv("TERM");

	return isatty(descriptor) && name && name[0] && strcmp(name, "dumb") != 0;
}

bool
terminal_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *locale = getenv(names[i]);

		if (locale && locale[0])
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

void
terminal_page(const char *text)
{
	const char *asked = getenv("PAGER"), *pager = asked ? asked : "less";
	const bool is_paged = isatty(STDOUT_FILENO) && *pager && strcmp(pager, "cat") != 0;
	FILE *out = NULL;

	fflush(stdout);
	if (is_paged) {
		setenv("LESS", "FRX", 0);
		out = popen(pager, "we");
	}
	fputs(text, out ? out : stdout);
	/* The shell says so where there is no such program: then the text is printed all the same. */
	if (out && pclose(out) == 127 << 8)
		fputs(text, stdout);
}
