/* SPDX-License-Identifier: MIT */
/* See loader.h. Source: ld.so(8), option --list. */
#include "base/loader.h"

#include <string.h>

#include "base/process.h"

/* NAME => PATH (ADDRESS), NAME => not found, PATH (ADDRESS), or the name and address of something that is no file. */
static void
take_line(char *line, loader_tell *tell, void *to)
{
	char *arrow = strstr(line, " => "), *path = arrow ? arrow + strlen(" => ") : line;
	char *end = strstr(path, " (0x");

	if (arrow)
		*arrow = '\0';
	if (end)
		*end = '\0';
	if (end && strchr(path, '/'))
		tell(line, path, to);
	else if (arrow && !end)
		tell(line, NULL, to);
}

void
loader_list(const char *const *argv, const char *folder, loader_tell *tell, void *to)
{
	struct process_result result = {0};
	char *rest = NULL;

	if (process_run(argv, folder, &result, NULL, NULL) == 0)
		for (char *line = strtok_r(result.output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			if (line[0] == '\t')
				take_line(line + 1, tell, to);
	process_result_clear(&result);
}
