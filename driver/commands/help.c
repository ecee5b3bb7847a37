/* SPDX-License-Identifier: MIT */
/* rot help: what there is, from the tables that register it. */
#include <stdio.h>
#include <string.h>

#include "base/entry.h"
#include "base/files.h"
#include "base/pool.h"
#include "commands/command.h"
#include "commands/document.h"
#include "commands/print.h"
#include "experiments/find.h"
#include "memory.h"
#include "nearest.h"

static void
print_usage(const char *usage, const char *summary)
{
	const int column = printf("Usage:");

	text_print(usage, column + 1, column, stdout);
	putchar('\n');
	text_print(summary, 0, 0, stdout);
}

/* A table of more options is shown in short, unless --all asks for all of it. */
#define MANY_OPTIONS 10

static void
print_command(const struct command *command, bool is_all)
{
	const bool is_short = command->options && command->options->nr > MANY_OPTIONS && !is_all;
	const char *description = command->description, *second = strstr(description, "\n\n");
	autofree char *usage = command_usage(command);
	autofree char *first =
		rot_strndup(description, second && is_short ? (size_t)(second - description) + 1 : strlen(description));

	print_usage(usage, command->summary);
	printf("\nExamples\n");
	for (const struct command_example *example = command->examples; example->line; example++)
		printf("  %-33s %s\n", example->line, example->about);
	if (*first) {
		putchar('\n');
		text_print(first, 0, 0, stdout);
	}
	if (command->options)
		print_options(command->options, is_short);
	if (is_short)
		printf("\nAll about them: rot help %s --all\n", command->name);
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
		printf("  %-10s %.*s\n", commands[i]->name, short_length(commands[i]->summary, 65),
		       commands[i]->summary);
	printf("\nMore\n"
	       "  rot help NAME           of a command, a controller or a key: options, examples\n"
	       "  rot help WORD           what a word means: roof, ridge point...\n"
	       "  rot help README.md      how to begin; the other documents are named there\n"
	       "  rot list controllers    experiments to measure\n"
	       "  rot list keys           settings, -KEY=VALUE here or KEY=VALUE in a file\n");
}

/* A document of rot: "RUN.md", "doc/RUN.md", "run". NULL if there is none of that name. Fresh memory. */
static char *
read_document(const struct paths *paths, const char *name)
{
	static const char *const folders[] = {"doc/", ""};
	const char *file = path_name(name);
	autofree char *stem = rot_strdup(file);
	char *text = NULL;

	for (char *c = stem; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c; /* as they are all called */
	if (path_ends_in(stem, ".MD"))
		stem[strlen(stem) - strlen(".MD")] = '\0';
	for (size_t i = 0; i < 2 && !text; i++) {
		autofree char *path = rot_format("%s/%s%s.md", paths->docs, folders[i], stem);

		text = file_read(path, NULL, NULL);
	}
	return text;
}

/* False if there is none of that name. */
static bool
print_document(const struct paths *paths, const char *name)
{
	autofree char *text = read_document(paths, name);

	if (text)
		document_print(text, stdout);
	return text;
}

/* ---- words of the glossary, "- **operational intensity**: operations per byte" ---- */

struct term {
	const char *name, *meaning; /* within the text of the glossary */
	int name_length, meaning_length;
};

/* The next one in the text, from *at on; false: there is none. */
static bool
next_term(const char **at, struct term *term)
{
	static const char before[] = "- **", behind[] = "**";
	const char *end;

	*at = strncmp(*at, before, strlen(before)) == 0 ? *at : strstr(*at, "\n- **");
	if (!*at)
		return false;
	term->name = *at + (**at == '\n') + strlen(before);
	end = strstr(term->name, behind);
	if (!end)
		return false;
	term->name_length = (int)(end - term->name);
	term->meaning = end + strlen(behind) + strspn(end + strlen(behind), ": ");
	term->meaning_length = (int)strcspn(term->meaning, "\n");
	*at = term->meaning + term->meaning_length;
	return true;
}

static bool
holds(const char *text, int length, const char *word)
{
	autofree char *copy = rot_strndup(text, (size_t)length);

	return strcasestr(copy, word);
}

/* The terms that have the word in their names, with what they mean, and those whose meaning has it; false: there is no
 * such name. */
static bool
print_terms(const char *glossary, const char *word)
{
	autofree char *near = rot_strdup("");
	bool has_exact = false, has_some = false;
	struct term term;

	for (const char *at = glossary; next_term(&at, &term);)
		has_exact |= (size_t)term.name_length == strlen(word) && holds(term.name, term.name_length, word);
	for (const char *at = glossary; next_term(&at, &term);) {
		const bool is_exact = (size_t)term.name_length == strlen(word);
		autofree char *name = rot_strndup(term.name, (size_t)term.name_length);
		autofree char *entry = rot_format("**%s**: %.*s\n", name, term.meaning_length, term.meaning);

		if (strcasestr(name, word) && (is_exact || !has_exact)) {
			document_print(entry, stdout);
			has_some = true;
		} else if (strcasestr(name, word) || holds(term.meaning, term.meaning_length, word)) {
			rot_append(&near, "%s%s", *near ? ", " : "", name);
		}
	}
	if (has_some && *near)
		text_print_behind("See also:", near, stdout);
	return has_some;
}

/* ---- all together ---- */

/* The commands, controllers and keys of that name; false if there is none. */
static bool
print_topic(const struct command_context *context, const char *name, const struct controller_info *infos, size_t nr)
{
	const struct command *command = command_find(name, NULL);
	const struct configuration_key *key = configuration_key_find(name + strspn(name, "-"));
	int nr_printed = 0;

	if (command && ++nr_printed)
		print_command(command, configuration_bool(context->configuration, "showAll"));
	for (size_t i = 0; i < nr; i++) {
		autofree char *usage = NULL;

		if (strcmp(infos[i].name, name) != 0)
			continue;
		if (nr_printed++)
			putchar('\n');
		usage = rot_format("rot measure %s [OUTPUT]", infos[i].name);
		print_usage(usage, infos[i].description);
		printf("\n%s%s%s\n", infos[i].place, *infos[i].path ? ": " : "", infos[i].path);
	}
	if (key && nr_printed++)
		putchar('\n');
	if (key)
		print_key(context->configuration, key);
	return nr_printed > 0;
}

static int
unknown_topic(const char *name, const char *glossary, const struct controller_info *infos, size_t nr,
	      struct rot_error *err)
{
	autopool pool = {0};
	const char **names = NULL, *nearest;
	size_t nr_names = 0;
	struct term term;

	for (const char *at = glossary; next_term(&at, &term);)
		pool_add(&pool, names, nr_names) = pool_strndup(&pool, term.name, (size_t)term.name_length);
	for (size_t i = 0; i < nr_commands + nr + configuration_nr_keys; i++) {
		pool_add(&pool, names, nr_names) = i < nr_commands ? commands[i]->name
						   : i - nr_commands < nr
							   ? infos[i - nr_commands].name
							   : configuration_keys[i - nr_commands - nr].name;
	}
	nearest = rot_nearest(name, names, nr_names);
	rot_error_set(err, 0, "there is no command, controller, key, document or term '%s'", name);
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
	autofree char *glossary = paths ? read_document(paths, "GLOSSARY") : NULL;
	autofree char *words = rot_strdup(argc > 0 ? argv[0] : "");
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr;

	(void)options;
	if (!paths)
		return -1;
	for (int i = 1; i < argc; i++)
		rot_append(&words, " %s", argv[i]);
	controllers_list(&pool, paths, &infos, &nr);
	if (argc == 0)
		print_all();
	else if (!print_topic(context, words, infos, nr) && !print_document(paths, words) &&
		 !print_terms(glossary ? glossary : "", words))
		return unknown_topic(words, glossary ? glossary : "", infos, nr, err);
	return 0;
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
	.arguments = "[COMMAND | CONTROLLER | KEY | DOCUMENT | WORD...]",
	.summary = "what there is, or what one of these does",
	.examples =
		(const struct command_example[]){
			{"rot help measure", "a command"},
			{"rot help triad", "a controller"},
			{"rot help estimator", "a key"},
			{"rot help ridge point", "a word of the glossary"},
			{"rot help RUN.md | less", "a document, in lines of a terminal"},
			{0},
		},
	.description = "",
	.nr_arguments_max = 3,
	.run = help_run,
	.complete = help_complete,
};
