/* SPDX-License-Identifier: MIT */
/* See pager.h. */
#include "support/pager.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
pager_print(const char *text)
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
