/* SPDX-License-Identifier: MIT */
/* rot complete LINE: what may come next on a command line; the shell's completion calls it. */
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "commands/command.h"
#include "commands/manual.h"
#include "memory.h"

/* The words of a line, split at blanks; the last one (possibly "") is to be completed. */
struct words {
	struct pool pool;
	char **items;
	size_t nr;
};

static void
words_split(struct words *words, const char *line)
{
	do {
		line += strspn(line, " \t");
		pool_add(&words->pool, words->items, words->nr) =
			pool_strndup(&words->pool, line, strcspn(line, " \t"));
		line += strcspn(line, " \t");
	} while (*line);
}

/* Prints a word that starts with the prefix. */
static void
propose(const char *word, void *prefix)
{
	if (!strncmp(word, prefix, strlen(prefix)))
		puts(word);
}

/* Of a set with some choices the choices behind them: "-plots=html,". */
static size_t
length_before_value(const char *text, const struct configuration_key *key)
{
	const char *comma = key && key->type == CONFIGURATION_SET ? strrchr(text, ',') : NULL;

	return comma ? (size_t)(comma + 1 - text) : strcspn(text, "=") + 1;
}

/* "-clock=core" -> the values of the key; text is the word without its dashes. */
static void
propose_values(const char *dashes, const char *text, char *prefix)
{
	autofree char *name = rot_strndup(text, strcspn(text, "="));
	const struct configuration_key *key = configuration_key_find(name);
	const size_t before = length_before_value(text, key);
	const char *values = !key                              ? ""
			     : key->type == CONFIGURATION_BOOL ? "true false"
			     : key->choices                    ? key->choices
							       : "";

	for (; *values; values += strspn(values, " ")) {
		size_t value = strcspn(values, " ");
		autofree char *word = rot_format("%s%.*s%.*s", dashes, (int)before, text, (int)value, values);

		propose(word, prefix);
		values += value;
	}
}

static void
propose_keys(char *prefix)
{
	const char *dashes = !strncmp(prefix, "--", 2) ? "--" : "-";

	if (strchr(prefix, '=')) {
		propose_values(dashes, prefix + strlen(dashes), prefix);
		return;
	}
	for (size_t k = 0; k < configuration_nr_keys; k++) {
		autofree char *word = rot_format("%s%s=", dashes, configuration_keys[k].name);

		propose(word, prefix);
	}
	for (size_t k = 0; k < configuration_nr_shorts; k++) {
		autofree char *word = rot_format("%s%s", dashes, configuration_shorts[k].word);

		propose(word, prefix);
	}
}

/*
 * What stands before the last word: its number among the command's words without options and keys; -1 where it is the
 * value of an option, or belongs to another program, whose arguments we do not know.
 */
static int
position_of_last(const struct command *command, int nr, char *const *words)
{
	int position = 0;

	for (int i = 0; i < nr - 1;) {
		int length = command->options ? options_length(command->options, nr - i, words + i) : 1;

		if (length < 0 || i + length >= nr)
			return -1;
		position += length == 1 && words[i][0] != '-';
		i += length ? length : 1;
	}
	return position;
}

static void
propose_words(struct command_context *context, const struct command *command, int position, char *prefix)
{
	if (position < 0)
		return; /* bash completes names of files */
	if (prefix[0] == '-') {
		if (command && command->options)
			options_each_word(command->options, propose, prefix);
		propose_keys(prefix);
	} else if (command && command->complete) {
		command->complete(context, position, propose, prefix);
	} else if (!command) {
		for (size_t i = 0; i < nr_commands; i++)
			if (commands[i] != &complete_command)
				propose(commands[i]->name, prefix);
	}
}

static int
complete_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	const struct command *command = NULL;
	struct words words = {.nr = 0};
	size_t i = 1;
	int position = 0;

	(void)options;
	(void)argc;
	(void)err;
	if (strcmp(argv[0], "--manual") == 0) {
		manual_print(stdout);
		return 0;
	}
	words_split(&words, argv[0]);
	while (i + 1 < words.nr && words.items[i][0] == '-')
		i++;
	if (i + 1 < words.nr) {
		command = command_find(words.items[i++], NULL);
		position = command ? position_of_last(command, (int)(words.nr - i), words.items + i) : -1;
	}
	propose_words(context, command, position, words.items[words.nr - 1]);
	pool_clear(&words.pool);
	return 0;
}

const struct command complete_command = {
	.name = "complete",
	.arguments = "LINE",
	.summary = "words that may come next on a command line; for the shell's completion",
	.examples =
		(const struct command_example[]){
			{"rot complete 'rot mea'", "prints measure"},
			{0},
		},
	.description = "LINE is the command line up to the cursor, beginning with the program's name. --manual in its "
		       "place prints what the manual page tells of commands, options, keys, remarks and findings.",
	.nr_arguments_min = 1,
	.nr_arguments_max = 1,
	.is_raw = true,
	.run = complete_run,
};
