/* SPDX-License-Identifier: MIT */
/* Choices of an XML controller: of the values of an axis the one that measures best, known before the points are
 * planned. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "memory.h"
#include "planning/xml_plan.h"
#include "quantities/architecture.h"
#include "quantities/expected.h"
#include "quantities/value_text.h"

/* So much better than those before it a candidate must be: of what is as good as equal the first one stays, run by run.
 */
#define CLEARLY_BETTER 1.1

/* A <choice> being made. */
struct choosing {
	struct xml_controller *controller;
	const xmlNode *element;
	struct quantity_request best;
	struct planned_choice *choice;
	double highest;
	const char *guess; /* the first candidate that nothing is said against; or NULL */
};

/* "SkylakeX 104, Haswell 60.1" gets another one; what: its value, or why it has none. */
static void
tell(struct choosing *c, const char *candidate, const char *what)
{
	struct planned_choice *choice = c->choice;

	choice->text = pool_format(&c->controller->pool, "%s%s%s %s", choice->text, choice->text[0] ? ", " : "",
				   candidate, what);
}

/* Disturbances make runs slower: candidates are compared by what a quarter of their runs reach. */
static void
keep_value(struct choosing *c, const char *candidate, const struct quantity_value *value)
{
	struct shown_unit unit = shown_unit(value->unit);
	double reached = quantity_upper_quartile(value);
	autofree char *number = rot_format("%.3g %s", reached * unit.factor, unit.shown);
	json_t *json = json_object();

	tell(c, candidate, number);
	json_object_set_new(json, "value", json_string(candidate));
	json_object_set_new(json, "quantity", quantity_value_json(value));
	json_array_append_new(c->choice->candidates, json);
	if (isnan(c->highest) || reached > CLEARLY_BETTER * c->highest) {
		c->highest = reached;
		c->choice->value = pool_strdup(&c->controller->pool, candidate);
	}
}

static double
given_of(double expected)
{
	return expected > 0 ? expected : 0;
}

/* Candidates do the same work, which steps would count for each of them: what is expected is as good here. */
static struct quantity_request
request_of(const struct choosing *c, const struct measurement *measurement)
{
	struct rot *rot = c->controller->rot;
	struct quantity_request request = c->best;
	double operations, bytes;

	if (!rot->architecture->counts_by_steps ||
	    expected_operations_of(rot, measurement, request.operation, &operations, NULL) < 0 ||
	    expected_bytes_of(rot, measurement, request.border, &bytes, NULL) < 0)
		return request;
	request.given_operations = given_of(operations);
	request.given_bytes = given_of(bytes);
	return request;
}

/* Without may_measure only what was measured before counts. -1: interrupted. */
static int
try_candidate(struct choosing *c, const char *candidate, const struct measurement *measurement, int nr_runs,
	      struct rot_error *err)
{
	struct rot *rot = c->controller->rot;
	const bool was_cached_only = rot->is_cached_only;
	const struct quantity_request request = request_of(c, measurement);
	struct quantity_value value = {.name = NULL};
	struct rot_error why = {0};
	int rc;

	if (!c->guess)
		c->guess = pool_strdup(&c->controller->pool, candidate);
	rot->is_cached_only = was_cached_only || !c->controller->may_measure;
	rc = quantities_measure(rot, measurement, &request, 1, nr_runs, &value, NULL, &why);
	rot->is_cached_only = was_cached_only;
	if (rc == 0) {
		keep_value(c, candidate, &value);
		quantity_value_clear(&value);
	} else if (rot_interrupted()) {
		*err = why;
		return -1;
	} else if (c->controller->may_measure) {
		tell(c, candidate, "impossible");
	} else {
		c->choice->is_known = false;
	}
	return 0;
}

static int
try_at(struct choosing *c, const struct point *at, struct rot_error *err)
{
	autoscope struct expression_scope *scope = expression_scope_new(c->controller->constants);
	autograph struct measurement *measurement = NULL;
	bool is_missing;
	int nr_runs;

	point_set_variables(at, scope);
	if (xml_plan_kernels(c->controller, c->element, scope, &measurement, &is_missing, err) < 0 ||
	    xml_plan_runs(c->element, scope, &nr_runs, err) < 0)
		return -1;
	return is_missing ? 0 : try_candidate(c, at->coordinates[0].text, measurement, nr_runs, err);
}

static int
try_all(struct choosing *c, struct rot_error *err)
{
	const xmlNode *axis = xml_child(c->element, "axis");
	autopool pool = {0};
	struct point *points;
	size_t nr;

	if (xml_plan_space(c->controller, &pool, c->element, &axis, 1, c->controller->constants, &points, &nr, err) < 0)
		return -1;
	for (size_t i = 0; i < nr; i++)
		if (try_at(c, &points[i], err) < 0)
			return -1;
	return 0;
}

static int
measure_choice(struct choosing *c, struct rot_error *err)
{
	const struct expression_scope *constants = c->controller->constants;
	struct planned_choice *choice = c->choice;
	autofree char *best = xml_attribute(c->element, "best", "");
	int rc = quantity_parse(&c->best, best, err);
	bool is_wanted;

	/* The highest time or count is not the best. */
	if (rc == 0 && strcmp(c->best.name, "performance") != 0 && strcmp(c->best.name, "throughput") != 0)
		rc = rot_error_set(err, 0, "<choice best=\"%s\">: expected a performance or a throughput", best);
	if (rc < 0)
		return xml_error_at(c->element, err);
	choice->value = xml_evaluated(&c->controller->pool, c->element, "otherwise", NULL, constants, err);
	if (!choice->value || xml_condition(c->element, constants, &is_wanted, err) < 0 ||
	    (is_wanted && try_all(c, err) < 0))
		return -1;
	if (!choice->is_known && c->guess)
		choice->value = c->guess;
	return 0;
}

/* The value that is said, maybe with its reason. */
static int
compute_choice(struct choosing *c, struct rot_error *err)
{
	struct xml_controller *controller = c->controller;

	c->choice->value = xml_evaluated(&controller->pool, c->element, "is", NULL, controller->constants, err);
	if (!c->choice->value)
		return -1;
	expression_scope_set_string(controller->constants, c->choice->name, c->choice->value);
	c->choice->text = xml_evaluated(&controller->pool, c->element, "because", "", controller->constants, err);
	return c->choice->text ? 0 : -1;
}

static int
make_choice(struct choosing *c, struct rot_error *err)
{
	struct pool *pool = &c->controller->pool;
	struct planned_choice *choice = c->choice;
	const bool is_computed = xmlHasProp(c->element, (const xmlChar *)"is") != NULL;

	choice->name = xml_unevaluated(pool, c->element, "name", "");
	choice->text = "";
	choice->candidates = json_in_pool(pool, json_array());
	choice->is_known = true;
	if (xml_plan_check_name(choice->name, c->element, err) < 0 ||
	    (is_computed ? compute_choice(c, err) : measure_choice(c, err)) < 0)
		return -1;
	expression_scope_set_string(c->controller->constants, choice->name, choice->value);
	return 0;
}

int
xml_plan_choices(struct xml_controller *controller, struct rot_error *err)
{
	const xmlNode *element;

	for (size_t i = 0; (element = xml_plan_next(controller, &i, "choice"));) {
		struct choosing choosing = {.controller = controller, .element = element, .highest = NAN};

		choosing.choice = &pool_add(&controller->pool, controller->choices, controller->nr_choices);
		if (make_choice(&choosing, err) < 0)
			return -1;
	}
	return 0;
}

bool
xml_plan_knows_choices(const struct xml_controller *controller)
{
	for (size_t i = 0; i < controller->nr_choices; i++)
		if (!controller->choices[i].is_known)
			return false;
	return true;
}
