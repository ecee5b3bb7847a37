/* SPDX-License-Identifier: MIT */
/* The table of commands, and what they share. */
#include "commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/find.h"
#include "memory.h"
#include "nearest.h"

const struct command *const commands[] = {
	&measure_command, &remeasure_command, &run_command,  &peaks_command,   &machine_command,
	&plot_command,    &show_command,      &diff_command, &list_command,    &new_command,
	&doctor_command,  &validate_command,  &help_command, &version_command, &complete_command,
};
const size_t nr_commands = sizeof(commands) / sizeof(commands[0]);

enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

const struct command *
command_find(const char *name, struct rot_error *err)
{
	const char *names[NR_COMMANDS];

	for (size_t i = 0; i < NR_COMMANDS; i++) {
		names[i] = commands[i]->name;
		if (!strcmp(name, names[i]))
			return commands[i];
	}
	rot_error_set(err, 0, "unknown command '%s'", name);
	rot_nearest_hint(err, name, names, NR_COMMANDS, "all commands: rot help");
	return NULL;
}

char *
command_usage(const struct command *command)
{
	return rot_format("rot %s%s%s%s", command->name, command->options ? " [OPTION...]" : "",
			  *command->arguments ? " " : "", command->arguments);
}

struct rot *
command_rot(struct command_context *context, struct rot_error *err)
{
	struct configuration *configuration = context->configuration;

	if (context->is_rot_open)
		return &context->rot;
	/* Opening takes the configuration, also when it fails. */
	context->configuration = NULL;
	if (rot_open(&context->rot, configuration, !context->needs_no_kernels, err) < 0)
		return NULL;
	context->configuration = configuration;
	context->rot.command_line = context->command_line;
	context->is_rot_open = true;
	return &context->rot;
}

const struct paths *
command_paths(struct command_context *context, struct rot_error *err)
{
	char *warning = NULL;

	if (context->is_rot_open)
		return context->rot.paths;
	if (!context->paths)
		context->paths = paths_new(context->configuration, &warning, err);
	free(warning); /* nothing is cached without the driver open */
	return context->paths;
}

void
command_context_close(struct command_context *context)
{
	paths_delete(context->paths);
	if (context->is_rot_open)
		rot_close(&context->rot);
	else
		configuration_delete(context->configuration);
	*context = (struct command_context){0};
}

void
command_complete_controllers(struct command_context *context, int i, void (*propose)(const char *word, void *to),
			     void *to)
{
	const struct paths *paths = command_paths(context, NULL);
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr;

	if (i != 0 || !paths)
		return;
	controllers_list(&pool, paths, &infos, &nr);
	for (size_t k = 0; k < nr; k++)
		propose(infos[k].name, to);
}
