/* SPDX-License-Identifier: MIT */
/* rot machine: the data sheet of the machine. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "levels/levels.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"
#include "sheet/clocks.h"
#include "sheet/cores.h"
#include "sheet/hazards.h"
#include "sheet/operations.h"
#include "sheet/places.h"
#include "sheet/scheduling.h"

struct machine_request {
	bool is_json;
	const char *only; /* NULL: all */
};

static const char *const groups[] = {"caches", "tlb", "cores", "clocks", "scheduling", "hazards", "operations", NULL};

static const struct option_row rows[] = {
	{.letter = "j",
	 .name = "json",
	 .about = "JSON instead of text, with the curves that answers are read from",
	 .offset = offsetof(struct machine_request, is_json)},
	{.name = "only",
	 .about = "this part of the data sheet",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct machine_request, only),
	 .choices = groups},
};

static const struct option_table table = {OPTION_ROWS(rows, struct machine_request)};

static bool
is_wanted(const struct machine_request *request, const char *group)
{
	return !request->only || strcmp(request->only, group) == 0;
}

/* The answers first to last - 1. */
static void
show_answers(const struct sheet_answer *answers, int first, int last, json_t *json, const char *name)
{
	const size_t nr = (size_t)(last - first);

	if (json) {
		json_object_set_new(json, name, sheet_json(answers + first, nr));
		return;
	}
	sheet_print(answers + first, nr, stdout);
	putchar('\n');
}

static int
show_levels(struct rot *rot, json_t *json, struct rot_error *err)
{
	autofree struct measured_curve *curve = rot_calloc(1, sizeof(*curve));
	struct measured_levels levels;

	if (levels_measure(rot, &levels, curve, err) < 0)
		return -1;
	if (json) {
		json_t *own = measured_levels_json(&levels, rot->machine);

		json_object_set_new(own, "curve", sheet_curve_json(curve));
		json_object_set_new(json, "levels", own);
		return 0;
	}
	levels_print(&levels, rot->machine, stdout);
	putchar('\n');
	return 0;
}

static int
show_places(struct rot *rot, const struct machine_request *request, json_t *json, struct rot_error *err)
{
	autofree struct places *places = rot_calloc(1, sizeof(*places));

	if (places_measure(rot, places, err) < 0)
		return -1;
	if (is_wanted(request, "caches"))
		show_answers(places->answers, 0, PLACES_PAGE_BYTES, json, "caches");
	if (is_wanted(request, "tlb"))
		show_answers(places->answers, PLACES_PAGE_BYTES, PLACES_NR_ANSWERS, json, "tlb");
	return 0;
}

static int
show_cores(struct rot *rot, json_t *json, struct rot_error *err)
{
	autofree struct cores *cores = rot_calloc(1, sizeof(*cores));

	if (cores_measure(rot, cores, err) < 0)
		return -1;
	if (json) {
		json_object_set_new(json, "cores", cores_json(cores));
		return 0;
	}
	cores_print(cores, stdout);
	putchar('\n');
	return 0;
}

static int
show_clocks(struct rot *rot, json_t *json, struct rot_error *err)
{
	struct clocks clocks;

	if (clocks_measure(rot, &clocks, err) < 0)
		return -1;
	if (json) {
		json_object_set_new(json, "clocks", clocks_json(&clocks));
		return 0;
	}
	clocks_print(&clocks, stdout);
	putchar('\n');
	return 0;
}

static int
show_scheduling(json_t *json, struct rot_error *err)
{
	struct sheet_answer answers[SCHEDULING_NR_ANSWERS];

	if (scheduling_measure(machine_first_cpu(), answers, err) < 0)
		return -1;
	show_answers(answers, 0, SCHEDULING_NR_ANSWERS, json, "scheduling");
	return 0;
}

static int
show_hazards(struct rot *rot, json_t *json, struct rot_error *err)
{
	struct sheet_answer answers[HAZARDS_NR];

	if (hazards_measure(rot, answers, err) < 0)
		return -1;
	show_answers(answers, 0, HAZARDS_NR, json, "hazards");
	return 0;
}

static int
show_operations(struct rot *rot, json_t *json, struct rot_error *err)
{
	struct operation_sheet sheet;
	int rc = operations_measure(rot, &sheet, err);

	if (rc == 0 && json)
		json_object_set_new(json, "operations", operations_json(&sheet));
	else if (rc == 0)
		operations_print(&sheet, stdout);
	operations_clear(&sheet);
	return rc;
}

static int
machine_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	const struct machine_request *request = options;
	struct rot *rot = command_rot(context, err);
	json_auto_t *json = request->is_json ? json_pack("{s:s}", "schema", "rot.machine/1") : NULL;

	(void)argc;
	(void)argv;
	if (!rot || (is_wanted(request, "caches") && show_levels(rot, json, err) < 0) ||
	    ((is_wanted(request, "caches") || is_wanted(request, "tlb")) && show_places(rot, request, json, err) < 0) ||
	    (is_wanted(request, "cores") && show_cores(rot, json, err) < 0) ||
	    (is_wanted(request, "clocks") && show_clocks(rot, json, err) < 0) ||
	    (is_wanted(request, "scheduling") && show_scheduling(json, err) < 0) ||
	    (is_wanted(request, "hazards") && show_hazards(rot, json, err) < 0) ||
	    (is_wanted(request, "operations") && show_operations(rot, json, err) < 0))
		return -1;
	if (json) {
		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	return 0;
}

const struct command machine_command = {
	.name = "machine",
	.arguments = "",
	.summary = "the data sheet of this machine: caches, TLBs, cores and instructions, measured",
	.examples =
		(const struct command_example[]){
			{"rot machine", "all that is measured of the machine"},
			{"rot machine --only=operations --json", "instructions, with curves"},
			{0},
		},
	.description =
		"Measures by time alone, without privileges, beside what the processor's documents allow. Answers "
		"that cannot be told here have a reason instead. Results are kept: -useCachedResults=false "
		"measures again. rot help MACHINE.md explains each answer.",
	.options = &table,
	.has_time_report = true,
	.run = machine_run,
};
