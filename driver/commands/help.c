/* SPDX-License-Identifier: MIT */
/* rot help: what there is, from the tables that register it. */
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/document.h"
#include "commands/print.h"
#include "controllers/find.h"
#include "memory.h"
#include "nearest.h"
#include "support/entry.h"
#include "support/files.h"

static void
print_usage(const char *usage, const char *summary)
{
	const int column = printf("Usage:");

	text_print(usage, column + 1, column, stdout);
	putchar('\n');
	text_print(summary, 0, 0, stdout);
}

static void
print_command(const struct command *command)
{
	autofree char *usage = command_usage(command);

	print_usage(usage, command->summary);
	printf("\nExamples\n");
	for (const struct command_example *example = command->examples; example->line; example++)
		printf("  %-33s %s\n", example->line, example->about);
	if (*command->description) {
		putchar('\n');
		text_print(command->description, 0, 0, stdout);
	}
	if (command->options)
		print_options(command->options);
}

static void
print_controller(const struct controller_info *info)
{
	autofree char *usage = rot_format("rot measure %s [OUTPUT]", info->name);

	print_usage(usage, info->description);
	printf("\n%s%s%s\n", info->place, *info->path ? ": " : "", info->path);
}

/* The first part of a summary that fits beside a name. */
static int
short_length(const char *summary)
{
	enum { ROOM = 65 };
	int length = (int)strcspn(summary, ":;");

	return length <= ROOM ? length : (int)strcspn(summary, ":;,");
}

static void
print_all(void)
{
	printf("rot measures where a program stands under the roofline of this machine.\n\n"
	       "Usage: rot COMMAND [ARGUMENT...] [-KEY=VALUE...]\n\n"
	       "  rot doctor              what works on this machine\n"
	       "  rot measure triad       an experiment: table, triad.pdf, triad.svg, triad.json\n"
	       "  rot run PROGRAM         what a program does, and where it is under the roof\n"
	       "  rot peaks --quick       the roof of this machine, in a minute\n"
	       "\nCommands\n");
	for (size_t i = 0; i < nr_commands; i++)
		printf("  %-10s %.*s\n", commands[i]->name, short_length(commands[i]->summary), commands[i]->summary);
	printf("\nMore\n"
	       "  rot help NAME           of a command, a controller or a key: options, examples\n"
	       "  rot help README.md      how to begin; the other documents are named there\n"
	       "  rot list controllers    experiments to measure\n"
	       "  rot list keys           settings, -KEY=VALUE here or KEY=VALUE in a file\n");
}

/* A document of rot: "RUN.md", "doc/RUN.md", "run". False if there is none of that name. */
static bool
print_document(const struct paths *paths, const char *name)
{
	static const char *const folders[] = {"doc/", ""};
	const char *file = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	autofree char *stem = rot_strdup(file);
	autofree char *text = NULL;

	for (char *c = stem; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c; /* as they are all called */
	if (path_ends_in(stem, ".MD"))
		stem[strlen(stem) - strlen(".MD")] = '\0';
	for (size_t i = 0; i < 2 && !text; i++) {
		autofree char *path = rot_format("%s/%s%s.md", paths->docs, folders[i], stem);

		text = file_read(path, NULL, NULL);
	}
	if (!text)
		return false;
	document_print(text, stdout);
	return true;
}

/* The commands, controllers and keys of that name; false if there is none. */
static bool
print_topic(const struct command_context *context, const char *name, const struct controller_info *infos, size_t nr)
{
	const struct command *command = command_find(name, NULL);
	const struct configuration_key *key = configuration_key_find(name + strspn(name, "-"));
	int nr_printed = 0;

	if (command && ++nr_printed)
		print_command(command);
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(infos[i].name, name) != 0)
			continue;
		if (nr_printed++)
			putchar('\n');
		print_controller(&infos[i]);
	}
	if (key && nr_printed++)
		putchar('\n');
	if (key)
		print_key(context->configuration, key);
	return nr_printed > 0;
}

static int
unknown_topic(const char *name, const struct controller_info *infos, size_t nr, struct rot_error *err)
{
	autofree const char **names = rot_calloc(nr_commands + nr + configuration_nr_keys, sizeof(*names));
	const char *nearest;
	size_t nr_names = 0;

	for (size_t i = 0; i < nr_commands; i++)
		names[nr_names++] = commands[i]->name;
	for (size_t i = 0; i < nr; i++)
		names[nr_names++] = infos[i].name;
	for (size_t i = 0; i < configuration_nr_keys; i++)
		names[nr_names++] = configuration_keys[i].name;
	nearest = rot_nearest(name, names, nr_names);
	rot_error_set(err, 0, "there is no command, controller, key or document '%s'", name);
	if (nearest)
		rot_error_hint(err, "did you mean '%s'? What there is: rot help", nearest);
	else
		rot_error_hint(err, "what there is: rot help");
	return COMMAND_USAGE;
}

static int
help_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	const struct paths *paths = command_paths(context, err);
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr;
	int rc = 0;

	(void)options;
	if (!paths)
		return -1;
	controllers_list(&pool, paths, &infos, &nr);
	if (argc == 0)
		print_all();
	else if (!print_topic(context, argv[0], infos, nr) && !print_document(paths, argv[0]))
		rc = unknown_topic(argv[0], infos, nr, err);
	return rc;
}

static void
help_complete(struct command_context *context, int i, void (*propose)(const char *word, void *to), void *to)
{
	for (size_t k = 0; i == 0 && k < nr_commands; k++)
		propose(commands[k]->name, to);
	command_complete_controllers(context, i, propose, to);
}

const struct command help_command = {
	.name = "help",
	.arguments = "[COMMAND | CONTROLLER | KEY | DOCUMENT]",
	.summary = "what there is, or what one of these does",
	.examples =
		(const struct command_example[]){
			{"rot help measure", "a command"},
			{"rot help triad", "a controller"},
			{"rot help estimator", "a key"},
			{"rot help RUN.md | less", "a document, in lines of a terminal"},
			{0},
		},
	.description = "",
	.nr_arguments_max = 1,
	.run = help_run,
	.complete = help_complete,
};
