/* SPDX-License-Identifier: MIT */
#include "parent/program/itt_tasks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "Program.h"
#include "Region.h"
#include "common/rot-itt.h"
#include "entity.h"
#include "memory.h"

#define PREFIX "itt:"

/* Takes the text over. */
static void
set_variable(struct program *program, char *text)
{
	program_environment_add(program, text);
	free(text);
}

/* It stands beside this program. */
static int
name_collector(struct program *program, struct rot_error *err)
{
	char self[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[length > 0 ? length : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return rot_error_set(err, 0, "cannot find the collector of ITT tasks");
	set_variable(program, rot_format("INTEL_LIBITTNOTIFY64=%.*s/" ROT_ITT_LIBRARY, (int)(slash - self), self));
	set_variable(program, rot_strdup("INTEL_ITTNOTIFY_GROUPS=all"));
	return 0;
}

int
itt_tasks_prepare(struct program_command *command, struct rot_error *err)
{
	char *names[ROT_ITT_MAX_TASKS], *variable = rot_strdup(ROT_ITT_TASKS "=");
	size_t nr = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < program_command_nr_regions(command); i++) {
		struct region *region = program_command_regions_at(command, i);
		const char *name = region->begin + strlen(PREFIX);
		size_t k = 0;

		if (strncmp(region->begin, PREFIX, strlen(PREFIX)) != 0)
			continue;
		while (k < nr && strcmp(names[k], name) != 0)
			k++;
		if (!command->program)
			rc = rot_error_set(err, 0, "ITT tasks are regions only of programs that rot starts");
		else if (*region->end)
			rc = rot_error_set(err, 0, "region '%s': an ITT task ends where the program says",
					   region->name);
		else if (k == ROT_ITT_MAX_TASKS)
			rc = rot_error_set(err, 0, "more than %d ITT tasks are regions", ROT_ITT_MAX_TASKS);
		if (rc < 0)
			break;
		if (k == nr) {
			rot_append(&variable, "%s\n", name);
			names[nr++] = rot_strdup(name);
		}
		free(region->begin);
		region->begin = rot_format(ROT_ITT_LIBRARY ":" ROT_ITT_MARKER "%zu", k);
	}
	if (rc == 0 && nr > 0) {
		program_environment_add(command->program, variable);
		rc = name_collector(command->program, err);
	}
	while (nr > 0)
		free(names[--nr]);
	free(variable);
	return rc;
}
