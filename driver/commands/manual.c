/* SPDX-License-Identifier: MIT */
/* The part of the manual page that tells commands, options, keys, remarks and findings, from their tables. */
#include "commands/manual.h"

#include <string.h>

#include "commands/command.h"
#include "memory.h"
#include "programs/findings.h"
#include "quantities/remarks.h"

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

void
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
