/* SPDX-License-Identifier: MIT */
/* rot validate: events proved on known work. */
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check/aa.h"
#include "check/validation.h"
#include "commands/command.h"

/* ---- validate aa ---- */

#define DEFAULT_CONTROLLER "same-twice"
#define DEFAULT_RUNS 10
#define DEFAULT_BUDGET_S 60

/*
 * The return value is that of the run of a command. controller: whose work is measured, NULL: same-twice. nr_rounds: at
 * most, 0: no limit. budget_s: no round begins later, 0: a minute.
 */
static int
perform_aa(struct command_context *context, const char *controller, int nr_rounds, double budget_s, bool is_json,
	   struct rot_error *err)
{
	struct aa_options options = {.controller = controller ? controller : DEFAULT_CONTROLLER,
				     .nr_rounds = nr_rounds,
				     .nr_runs = DEFAULT_RUNS,
				     .budget_s = budget_s > 0 ? budget_s : DEFAULT_BUDGET_S};
	struct rot *rot;
	struct aa aa;
	int runs, rc;

	rot = command_rot(context, err);
	if (!rot)
		return -1;
	runs = configuration_count(rot->configuration, "runs");
	if (runs > 0)
		options.nr_runs = runs;
	rc = aa_measure(rot, &options, &aa, err);
	if (rc == 0) {
		if (is_json) {
			json_auto_t *json = aa_json(&aa);

			json_dumpf(json, stdout, JSON_INDENT(2));
			putchar('\n');
		} else {
			aa_print(&aa, stdout);
		}
	}
	context->has_status = rc == 0 && !rot_interrupted();
	context->status = rc == 0 && aa_is_any_too_often(&aa);
	pool_clear(&aa.pool);
	return rc;
}

struct validate_request {
	struct validation_options options;
	bool is_json, with_all;
	long nr_rounds;  /* 0: as many as the budget allows */
	double budget_s; /* 0: not given                    */
};

static const struct option_row rows[] = {
	{.name = "quick",
	 .about = "a few seconds instead of a minute: fewer kernels",
	 .offset = offsetof(struct validate_request, options.is_quick)},
	{.name = "all", .about = "every kernel in the table", .offset = offsetof(struct validate_request, with_all)},
	{.name = "no-scrub",
	 .about = "see what happens without clearing the counters; nothing is remembered then",
	 .offset = offsetof(struct validate_request, options.without_scrub)},
	{.name = "json", .about = "JSON instead of tables", .offset = offsetof(struct validate_request, is_json)},
	{.name = "rounds",
	 .value = "N",
	 .about = "aa: end after so many rounds",
	 .type = OPTION_COUNT,
	 .offset = offsetof(struct validate_request, nr_rounds),
	 .number = 1000000},
	{.name = "budget",
	 .value = "SECONDS",
	 .about = "measure for about so long; aa: begin no round after that (60, or with rounds: no limit)",
	 .type = OPTION_SECONDS,
	 .offset = offsetof(struct validate_request, budget_s)},
};

static const struct option_table table = {OPTION_ROWS(rows, struct validate_request)};

static void
show_validation(const struct rot *rot, const struct validation *validation, const struct validate_request *request)
{
	json_auto_t *json = NULL;

	if (!request->is_json) {
		validation_print(rot, validation, request->with_all, stdout);
		return;
	}
	json = validation_json(rot, validation);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
}

/* Without words, or "aa" and maybe a controller, with the options of that. */
static int
check(const struct validate_request *request, int argc, char *const *argv, struct rot_error *err)
{
	const bool is_aa = argc > 0 && strcmp(argv[0], "aa") == 0;

	if (argc > 0 && !is_aa)
		rot_error_set(err, 0, "'%s': no argument of rot validate", argv[0]);
	else if (is_aa && (request->options.is_quick || request->options.without_scrub || request->with_all))
		rot_error_set(err, 0, "rot validate aa takes --rounds, --budget and --json alone");
	else if (!is_aa && request->nr_rounds)
		rot_error_set(err, 0, "--rounds belongs to rot validate aa");
	else
		return 0;
	return rot_error_hint(err,
			      "usage: rot validate [--quick] [--budget=SECONDS] [--all] [--no-scrub] [--json], or\n"
			      "rot validate aa [CONTROLLER] [--rounds=N] [--budget=SECONDS] [--json]");
}

static void
complete(struct command_context *context, int i, void (*propose)(const char *word, void *to), void *to)
{
	if (i == 0)
		propose("aa", to);
	else
		command_complete_controllers(context, i - 1, propose, to);
}

static const int statuses[] = {
	[VALIDATION_PASSES] = 0, [VALIDATION_FAILS] = 1, [VALIDATION_NOT_SHOWN] = 3, /* 2 is a wrong command line */
};

static int
validate_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct validate_request *request = options;
	struct validation validation;
	struct rot *rot;
	int rc;

	if (check(request, argc, argv, err) < 0)
		return COMMAND_USAGE;
	if (argc > 0) {
		/* who says how many rounds wants them all */
		const double budget_s = request->budget_s > 0 ? request->budget_s : request->nr_rounds ? INFINITY : 0;

		return perform_aa(context, argc > 1 ? argv[1] : NULL, (int)request->nr_rounds, budget_s,
				  request->is_json, err);
	}
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	request->options.seconds = request->budget_s;
	rc = validation_run(rot, &request->options, &validation, err);
	if (rc == 0)
		show_validation(rot, &validation, request);
	if (rc == 0 && !request->options.without_scrub)
		rc = validation_store(rot, &validation, err);
	context->has_status = rc == 0;
	context->status = rc == 0 ? statuses[validation_verdict(&validation)] : 0;
	pool_clear(&validation.pool);
	return rc;
}

const struct command validate_command = {
	.name = "validate",
	.arguments = "[aa [CONTROLLER]]",
	.summary = "prove this machine's events and clocks on work that is known",
	.examples =
		(const struct command_example[]){
			{"rot validate", "all events that are used here, in a minute"},
			{"rot validate --quick", "some seconds"},
			{"rot validate aa", "how much equal work differs on this host"},
			{0},
		},
	.description =
		"Runs the kernels of the controllers known-operations, known-traffic, known-time and near-traffic "
		"against "
		"every formula of this processor, in the groups that would be opened, in random order, and tries which "
		"groups count right at all. The grades are remembered, and shown with every quantity. As many kernels "
		"are measured as fit into the time. Where no event can be counted it says why, and proves the clocks. "
		"Exit status 0 if all is right, 1 if not, 3 if nothing is wrong, but of something all runs were "
		"disturbed, so that nothing was shown of it.\n\n"
		"aa: measures the same work twice, round after round, compares as rot diff does, and says how "
		"often that calls different what is equal, which should be 5 %, and how much too narrow intervals "
		"are on this host. The work is that of same-twice or of CONTROLLER, -runs as often (10); rounds "
		"begin until the budget (60 seconds) is used up, or there are N. Ctrl-C ends it earlier. Exit "
		"status 1 if a quantity is called different too often.",
	.nr_arguments_max = 2,
	.options = &table,
	.has_time_report = true,
	.run = validate_run,
	.complete = complete,
};
