/* SPDX-License-Identifier: MIT */
/* rot validate aa: how often equal work is called different on this host. */
#include "commands/validate_aa.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validation/aa.h"

#define DEFAULT_CONTROLLER "same-twice"
#define DEFAULT_RUNS 10
#define DEFAULT_BUDGET_S 60

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
validate_aa_run(struct command_context *context, const char *controller, int nr_rounds, double budget_s, bool is_json,
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
	if (rc == 0)
		show(&aa, is_json);
	context->has_status = rc == 0 && !rot_interrupted();
	context->status = rc == 0 && any_is_too_often(&aa);
	aa_clear(&aa);
	return rc;
}
