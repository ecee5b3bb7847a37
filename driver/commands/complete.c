/* SPDX-License-Identifier: MIT */
/* rot complete LINE: what may come next on a command line; the shell's completion calls it. */
#include <stdio.h>
#include <string.h>

#include "base/pool.h"
#include "commands/command.h"
#include "memory.h"
#include "programs/findings.h"
#include "quantities/remarks.h"

/* The words of a line, split at blanks; the last one (possibly "") is to be completed. */
struct words {
	struct pool pool;
	char **items;
	size_t nr;
};

/* Prints a word that starts with the prefix. */
static void
propose(const char *word, void *prefix)
{
	if (!strncmp(word, prefix, strlen(prefix)))
		puts(word);
}

/* "-clock=core" -> the values of the key; text is the word without its dashes. */
static void
propose_values(const char *dashes, const char *text, char *prefix)
{
	autofree char *name = rot_strndup(text, strcspn(text, "="));
	const struct configuration_key *key = configuration_key_find(name);
	size_t before;
	const char *values = !key                              ? ""
			     : key->type == CONFIGURATION_BOOL ? "true false"
			     : key->choices                    ? key->choices
							       : "";
	const char *comma = key && key->type == CONFIGURATION_SET ? strrchr(text, ',') : NULL;

	/* A set with some choices is completed by those behind them: "-plots=html,". */
	before = comma ? (size_t)(comma + 1 - text) : strcspn(text, "=") + 1;
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
 * The number of the last word among the command's words without options and keys. -1: it is the value of an option, or
 * belongs to another program, whose arguments we do not know.
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

/* ---- the manual page's part about commands, options, keys, remarks and findings, in the language mdoc ---- */

/* Text of mdoc(7): a blank line is a paragraph, no line a macro; options can be copied, as they are not hyphenated. */
static void
print_text(const char *text, FILE *out)
{
	bool is_first = true;

	for (; *text; is_first = *text++ == '\n') {
		if (is_first && *text != '\n')
			fputs("\\&", out);
		if (*text == '\n' && text[1] == '\n')
			fputs("\n.Pp", out);
		else if (*text == '-')
			fputs(is_first || strchr(" '(=", text[-1]) ? "\\%\\-" : "\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else
			fputc(*text, out);
	}
	fputc('\n', out);
}

static void
print_command(const struct command *command, FILE *out)
{
	autofree char *usage = command_usage(command);
	const char *words = usage + strlen("rot ") + strlen(command->name);

	fprintf(out, ".It Cm %s%s", command->name, *words ? " No " : "");
	print_text(words + (*words == ' '), out);
	print_text(command->summary, out);
	if (*command->description) {
		fputs(".Pp\n", out);
		print_text(command->description, out);
	}
	if (!command->options)
		return;
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < command->options->nr; i++) {
		const struct option_row *row = &command->options->rows[i];

		fputs(".It", out);
		if (row->letter)
			fprintf(out, " Fl %s ,", row->letter);
		fprintf(out, " Fl %s%s", row->name[1] ? "Fl " : "", row->name);
		for (size_t k = 0; row->choices && row->choices[k]; k++)
			fprintf(out, "%s%s", k ? " | " : " Cm ", row->choices[k]);
		fprintf(out, row->value && !row->choices ? " Ar %s\n" : "\n", row->value);
		print_text(row->about, out);
	}
	fputs(".El\n", out);
}

static void
print_key(const struct configuration_key *key, FILE *out)
{
	fprintf(out, ".It Fl %s Ns = Ns ", key->name);
	if (key->choices)
		for (const char *word = key->choices; *word; word += strspn(word, " ")) {
			fprintf(out, "%s%.*s", word == key->choices ? "Cm " : " | ", (int)strcspn(word, " "), word);
			word += strcspn(word, " ");
		}
	else
		fprintf(out, "Ar \"%s\"", configuration_type_name(key->type));
	fputc('\n', out);
	print_text(key->description, out);
	if (*key->default_text)
		fprintf(out, "(default: %s)\n", key->default_text);
}

static void
print_entry(const char *name, const char *text, const char *advice, FILE *out)
{
	fprintf(out, ".It Cm %s\n", name);
	print_text(text, out);
	if (!*advice)
		return;
	fputs(".Pp\n", out);
	print_text(advice, out);
}

static void
manual_print(FILE *out)
{
	fputs("The commands are:\n.Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < nr_commands; i++)
		if (commands[i] != &complete_command)
			print_command(commands[i], out);
	fputs(".El\n.Sh CONFIGURATION KEYS\n.Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < configuration_nr_keys; i++)
		print_key(&configuration_keys[i], out);
	for (size_t i = 0; i < configuration_nr_shorts; i++)
		fprintf(out, ".It Fl %s\nshort for\n.Fl %s Ns = Ns Cm %s\n", configuration_shorts[i].word,
			configuration_shorts[i].key, configuration_shorts[i].value);
	fputs(".El\n", out);
	fputs(".Sh REMARKS\n", out);
	for (enum remark_group group = 0; group < NR_REMARK_GROUPS; group++) {
		fputs(".Ss ", out);
		print_text(remark_group_words(group), out);
		fputs(".Bl -tag -width Ds\n", out);
		for (const struct remark *remark = remark_next(group, NULL); remark;
		     remark = remark_next(group, remark))
			print_entry(remark->mark ? remark->mark : remark->code, remark->text, remark->advice, out);
		fputs(".El\n", out);
	}
	fputs(".Sh FINDINGS\n", out);
	fputs("These are found in programs by\n.Cm run :\n.Bl -tag -width Ds\n", out);
	for (const struct finding_rule *rule = finding_rule_next(NULL); rule; rule = finding_rule_next(rule)) {
		autofree char *threshold = finding_threshold_text(rule), *advice = rot_format("Try %s.", rule->advice);

		print_entry(rule->code, threshold, advice, out);
	}
	fputs(".El\n", out);
}

static int
complete_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	const struct command *command = NULL;
	struct words words = {.nr = 0};
	size_t i = 1;
	int position = 0;
	const char *line;

	(void)options;
	(void)argc;
	(void)err;
	if (strcmp(argv[0], "--manual") == 0) {
		manual_print(stdout);
		return 0;
	}
	line = argv[0];
	do {
		line += strspn(line, " \t");
		pool_add(&words.pool, words.items, words.nr) = pool_strndup(&words.pool, line, strcspn(line, " \t"));
		line += strcspn(line, " \t");
	} while (*line);
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
