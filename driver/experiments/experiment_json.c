/* SPDX-License-Identifier: MIT */
/* OUTPUT.json: schema rot.result/1, keys in a fixed order, base units. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "config.h"
#include "experiments/experiment_internal.h"
#include "rot.h"

/* Copies, so that whoever changes the JSON leaves the origin as it is. */
static void
add_origin(json_t *json, const struct experiment *experiment)
{
	static const char *const keys[] = {"compilers", "compileLines", "facts"};
	const json_t *origin = experiment->origin;
	json_t *software = json_pack("{s:s, s:o}", "rot", PACKAGE_VERSION, "kernel",
				     json_text(experiment->rot->machine->kernel_release));

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		json_object_set_new(software, keys[i], json_copy(json_object_get(origin, keys[i])));
	json_object_set_new(json, "software", software);
	if (json_object_get(origin, "first"))
		json_object_set_new(json, "measured",
				    json_pack("{s:s, s:s}", "first", json_text_at(origin, "first"), "last",
					      json_text_at(origin, "last")));
	json_object_set_new(json, "descriptionHashes", json_copy(json_object_get(origin, "hashes")));
}

static json_t *
json_texts(const struct rot_list *list)
{
	char *const *texts = list->items;
	json_t *json = json_array();

	for (size_t i = 0; i < list->nr; i++)
		json_array_append_new(json, json_text(texts[i]));
	return json;
}

static void
add_files(json_t *json, const struct rot_list *list)
{
	struct program_file *const *files = list->items;

	for (size_t i = 0; i < list->nr; i++)
		json_object_set_new(json, files[i]->file, json_text(files[i]->sha256));
}

json_t *
experiment_json_program(const struct program_workload *workload)
{
	json_t *json = json_entity(workload->program), *files = json_object();

	add_files(files, &workload->files);
	add_files(files, &workload->inputs);
	json_object_update_new(json, json_pack("{s:o, s:o, s:o, s:o, s:o}", "arguments",
					       json_texts(&workload->program->arguments), "environment",
					       json_texts(&workload->program->environment), "inheritedEnvironment",
					       json_texts(&workload->inherited_environment), "runsIn",
					       json_text(workload->runs_in), "sha256", files));
	return json;
}

/* The bound in the first roofline, where it is known; "of" is that of its intensity. */
void
experiment_json_add_bound(json_t *json, const struct experiment *experiment, const struct experiment_point *point)
{
	const struct experiment_own_plot *plot = experiment_first_roofline(experiment);
	const struct quantity_value *x = plot ? experiment_point_value(point, &plot->x) : NULL;
	struct experiment_bound bound = experiment_bound_of(experiment, plot, point);

	if (bound.ceiling && x) {
		json_object_set_new(json, "roofShare", json_number(bound.share));
		json_object_set_new(json, "boundBy", json_text(bound.ceiling));
		json_object_set_new(json, "roof",
				    json_pack("{s:o, s:s, s:i, s:o}", "of", json_text(x->of), "kind",
					      bound.is_bandwidth ? "bandwidth" : "performance", "threads",
					      bound.nr_threads, "probability", json_number(bound.probability)));
		if (bound.is_most)
			json_object_set_new(json_object_get(json, "roof"), "isLeast", json_true());
	}
}

static json_t *
json_point(const struct experiment *experiment, struct experiment_point *point)
{
	const struct rot_list notes = {.nr = point->notes.nr, .items = point->notes.items};
	json_t *json, *quantities = json_array();

	for (size_t i = 0; i < point->nr_values; i++)
		json_array_append_new(quantities, quantity_value_json(&point->values[i]));
	json = json_pack("{s:O*, s:o*, s:O*, s:O*}", "program", json_object_get(point->json, "program"), "notes",
			 notes.nr ? json_texts(&notes) : NULL, "rules", json_object_get(point->json, "rules"), "passes",
			 json_object_get(point->json, "passes"));
	json_object_update(json, point->json);
	json_object_set_new(json, "quantities", quantities);
	experiment_json_add_bound(json, experiment, point);
	if (point->derived)
		json_object_set(json, "derived", point->derived);
	point->result = json_in_pool(&point->pool, json_incref(json));
	return json;
}

/* low and high: the interval of a peak; else of the median run and the best one, which is the value. */
static json_t *
ceiling_json(const struct ceiling *ceiling)
{
	const bool is_performance = ceiling->operation[0];
	json_t *json = json_pack("{s:o, s:s, s:s, s:s, s:o, s:s, s:I, s:o, s:o}", "name", json_text(ceiling->name),
				 "kind", is_performance ? "performance" : "bandwidth", "of",
				 is_performance ? ceiling->operation : ceiling->border, "unit", ceiling->unit, "value",
				 json_number(ceiling->value), "estimator",
				 ceiling_is_told(ceiling) ? "given"
				 : ceiling->is_peak       ? "peak"
							  : "maximum",
				 "n", (json_int_t)ceiling->n, "low",
				 json_number(ceiling->is_peak ? ceiling->low : fmin(ceiling->median, ceiling->value)),
				 "high", json_number(ceiling->is_peak ? ceiling->high : ceiling->value));

	if (ceiling->is_peak) {
		json_object_set_new(json, "threads", json_integer(ceiling->nr_threads));
		json_object_set_new(json, "access", json_text(ceiling->access));
		json_object_set_new(json, "instructionSet", json_text(ceiling->instruction_set));
	}
	return json;
}

struct ceiling
ceiling_of_json(const json_t *json)
{
	const bool is_performance = strcmp(json_text_at(json, "kind"), "performance") == 0;
	const bool is_peak = json_object_get(json, "access");
	const double n = json_number_at(json, "n");

	return (struct ceiling){
		.name = json_text_at(json, "name"),
		.operation = is_performance ? json_text_at(json, "of") : "",
		.border = is_performance ? "" : json_text_at(json, "of"),
		.access = json_text_at(json, "access"),
		.instruction_set = json_text_at(json, "instructionSet"),
		.unit = json_text_at(json, "unit"),
		.value = json_number_at(json, "value"),
		.low = is_peak ? json_number_at(json, "low") : NAN,
		.high = is_peak ? json_number_at(json, "high") : NAN,
		.median = is_peak ? NAN : json_number_at(json, "low"),
		.n = n > 0 ? (size_t)n : 0,
		.is_peak = is_peak,
		.nr_threads = (int)json_integer_value(json_object_get(json, "threads")),
	};
}

json_t *
experiment_json(struct experiment *experiment, bool is_complete)
{
	const char *const *words = experiment->rot->command_line;
	/* "rot" and what was typed after it: where the program lies says nothing */
	json_t *json, *points = json_array(), *ceilings = json_array(), *typed = words ? json_pack("[s]", "rot") : NULL;

	for (; words && *words; words++)
		json_array_append_new(typed, json_text(*words));
	for (size_t i = 0; i < experiment->nr_points; i++)
		json_array_append_new(points, json_point(experiment, &experiment->points[i]));
	for (size_t i = 0; i < experiment->nr_ceilings; i++)
		json_array_append_new(ceilings, ceiling_json(&experiment->ceilings[i]));
	json = json_pack("{s:s, s:o, s:b, s:o*, s:o}", "schema", "rot.result/1", "controller",
			 json_text(experiment->controller_name), "complete",
			 is_complete && experiment_nr_failures(experiment) == 0, "commandLine", typed, "machine",
			 json_entity(experiment->rot->machine));
	add_origin(json, experiment);
	json_object_update_new(json, json_pack("{s:o, s:O*, s:o, s:o*, s:O*}", "points", points, "failures",
					       experiment->failures, "ceilings", ceilings, "accuracy",
					       experiment->nr_accuracies ? experiment_json_accuracy(experiment) : NULL,
					       "choices", experiment->choices));
	return json;
}
