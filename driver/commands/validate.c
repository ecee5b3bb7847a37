/* SPDX-License-Identifier: MIT */
/* rot validate: events proved on known work. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "commands/validate_aa.h"
#include "validation/validation.h"

struct choice {
	struct validation_options options;
	bool is_json, with_all;
};

static bool
take_option(struct choice *choice, const char *word)
{
	const struct {
		const char *word;
		bool *flag;
	} flags[] = {
		{"--quick", &choice->options.is_quick},
		{"--no-scrub", &choice->options.without_scrub},
		{"--all", &choice->with_all},
		{"--json", &choice->is_json},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(word, flags[i].word) == 0) {
			*flags[i].flag = true;
			return true;
		}
	}
	return false;
}

static int
validate_option_length(int argc, char *const *argv)
{
	struct choice unused;

	(void)argc;
	return argv[0][0] != '-' || take_option(&unused, argv[0]) || validate_aa_has_option(argv[0]) ? 1 : 0;
}

static void
show(const struct rot *rot, const struct validation *validation, const struct choice *choice)
{
	json_t *json;

	if (!choice->is_json) {
		validation_print(rot, validation, choice->with_all, stdout);
		return;
	}
	json = validation_json(rot, validation);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

static int
validate_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct choice choice = {0};
	struct validation validation;
	struct rot *rot;
	int rc;

	if (argc > 0 && strcmp(argv[0], "aa") == 0)
		return validate_aa_run(context, argc - 1, argv + 1, err);
	for (int i = 0; i < argc; i++) {
		if (!take_option(&choice, argv[i])) {
			rot_error_set(err, 0, "'%s': no argument of rot validate", argv[i]);
			rot_error_hint(err, "usage: rot validate [--quick] [--all] [--no-scrub] [--json]");
			return COMMAND_USAGE;
		}
	}
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	rc = validation_run(rot, &choice.options, &validation, err);
	if (rc == 0)
		show(rot, &validation, &choice);
	if (rc == 0 && !choice.options.without_scrub)
		rc = validation_store(rot, &validation, err);
	context->has_status = rc == 0;
	context->status = rc == 0 && !validation_passes(rot, &validation);
	validation_clear(&validation);
	return rc;
}

const struct command validate_command = {
	.name = "validate",
	.arguments =
		"[--quick] [--all] [--no-scrub] [--json] | aa [CONTROLLER] [--rounds=N] [--budget=SECONDS] [--json]",
	.summary = "prove this machine's hardware events and clocks on work that is known",
	.description =
		"Runs the kernels of the controllers known-operations and known-traffic against every formula of this\n"
		"processor, in the groups that would be opened, in random order, and tries which groups count right at "
		"all.\n"
		"The grades are remembered, and shown with every quantity. --quick: a few seconds, less data. "
		"--no-scrub:\n"
		"see what happens without clearing the counters; nothing is remembered then. Exit status 0 if all is "
		"right.\n"
		"\n"
		"aa: measures the same work twice, round after round, compares as rot diff does, and says how often "
		"that calls\n"
		"different what is equal, which should be 5 %, and how much too narrow intervals are on this host. The "
		"work is that\n"
		"of same-twice or of CONTROLLER, -runs as often (10); rounds begin until the budget (60 seconds) is "
		"used up, or there\n"
		"are N. Ctrl-C ends it earlier. Exit status 1 if a quantity is called different too often.",
	.nr_arguments_max = 4,
	.option_length = validate_option_length,
	.options = "aa --quick --all --no-scrub --json --rounds= --budget=",
	.has_time_report = true,
	.run = validate_run,
};
