/* SPDX-License-Identifier: MIT */
/* rot validate aa: how often equal work is called different on this host. */
#include "commands/validate_aa.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validation/aa.h"

#define DEFAULT_CONTROLLER "same-twice"
#define DEFAULT_RUNS 10
#define DEFAULT_BUDGET_S 60

static const char usage[] = "usage: rot validate aa [CONTROLLER] [--rounds=N] [--budget=SECONDS] [--json]";

struct aa_choice {
	struct aa_options options;
	bool is_json;
};

/* The text behind "--rounds=", or NULL. */
static const char *
text_behind(const char *word, const char *option)
{
	const size_t length = strlen(option);

	return strncmp(word, option, length) == 0 ? word + length : NULL;
}

bool
validate_aa_has_option(const char *word)
{
	return text_behind(word, "--rounds=") || text_behind(word, "--budget=");
}

/* A number above 0 and up to the largest. */
static int
take_number(const char *text, double largest, double *number, struct rot_error *err)
{
	char *end;

	*number = strtod(text, &end);
	if (end != text && *end == '\0' && *number > 0 && *number <= largest)
		return 0;
	rot_error_set(err, 0, "'%s': not a number above 0", text);
	rot_error_hint(err, "%s", usage);
	return COMMAND_USAGE;
}

static int
take_word(struct aa_choice *choice, const char *word, struct rot_error *err)
{
	const char *rounds = text_behind(word, "--rounds="), *budget = text_behind(word, "--budget=");
	double number;
	int rc;

	if (strcmp(word, "--json") == 0) {
		choice->is_json = true;
		return 0;
	}
	if (budget)
		return take_number(budget, INFINITY, &choice->options.budget_s, err);
	if (rounds) {
		rc = take_number(rounds, 1e6, &number, err);
		choice->options.nr_rounds = rc == 0 ? (int)ceil(number) : 0;
		return rc;
	}
	if (word[0] != '-' && strcmp(choice->options.controller, DEFAULT_CONTROLLER) == 0) {
		choice->options.controller = word;
		return 0;
	}
	rot_error_set(err, 0, "'%s': no argument of rot validate aa", word);
	rot_error_hint(err, "%s", usage);
	return COMMAND_USAGE;
}

static int
take_words(struct aa_choice *choice, int argc, char **argv, struct rot_error *err)
{
	bool has_budget = false;

	for (int i = 0; i < argc; i++) {
		int rc = take_word(choice, argv[i], err);

		if (rc < 0)
			return rc;
		has_budget |= text_behind(argv[i], "--budget=") != NULL;
	}
	/* who says how many rounds wants them all */
	if (choice->options.nr_rounds > 0 && !has_budget)
		choice->options.budget_s = INFINITY;
	return 0;
}

static bool
any_is_too_often(const struct aa *aa)
{
	size_t nr;
	struct aa_row *rows = aa_rows(aa, &nr);
	bool any = false;

	for (size_t i = 0; i < nr; i++)
		any |= aa_is_too_often(&rows[i]);
	free(rows);
	return any;
}

static void
show(const struct aa *aa, bool is_json)
{
	if (is_json) {
		json_t *json = aa_json(aa);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(json);
	} else {
		aa_print(aa, stdout);
	}
}

int
validate_aa_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct aa_choice choice = {
		.options = {.controller = DEFAULT_CONTROLLER, .nr_runs = DEFAULT_RUNS, .budget_s = DEFAULT_BUDGET_S}};
	struct rot *rot;
	struct aa aa;
	int rc = take_words(&choice, argc, argv, err);
	long runs;

	if (rc < 0)
		return rc;
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	runs = configuration_long(rot->configuration, "runs");
	if (runs > 0)
		choice.options.nr_runs = (int)runs;
	rc = aa_measure(rot, &choice.options, &aa, err);
	if (rc == 0)
		show(&aa, choice.is_json);
	context->has_status = rc == 0 && !rot_interrupted();
	context->status = rc == 0 && any_is_too_often(&aa);
	aa_clear(&aa);
	return rc;
}
