/* SPDX-License-Identifier: MIT */
/* The file of an XML controller is turned into points and ceilings to measure. */
#include "planning/xml_plan.h"

#include <libxml/xmlreader.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "engine/kernel_work.h"
#include "engine/measuring.h"
#include "engine/program_measuring.h"
#include "machine/caches.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "number.h"
#include "planning/controller_file.h"
#include "planning/xml_entity.h"
#include "programs/plan.h"
#include "quantities/architecture.h"
#include "quantities/pass.h"
#include "rot.h"

/* ---- elements below the root ---- */

#define DEFAULT_RUNS 10

const xmlNode *
xml_plan_next(const struct xml_controller *controller, size_t *i, const char *name)
{
	while (*i < controller->nr_elements) {
		const xmlNode *element = controller->elements[(*i)++];

		if (xml_is(element, name))
			return element;
	}
	return NULL;
}

/* Appends to the elements. */
static void
collect_element(struct xml_controller *controller, const xmlNode *element)
{
	pool_add(&controller->pool, controller->elements, controller->nr_elements) = element;
}

/* ---- the spaces that axes span ---- */

static void
add_values(struct space *space, const xmlNode *element)
{
	static const struct {
		const char *element;
		enum space_values kind;
		const char *attributes[3];
	} forms[] = {
		{"list", SPACE_LIST, {"values"}},
		{"value", SPACE_VALUE, {"is"}},
		{"range", SPACE_RANGE, {"from", "to", "step"}},
		{"geometric", SPACE_GEOMETRIC, {"from", "to", "factor"}},
	};
	autofree char *condition = xml_attribute(element, "if", ""), *where = xml_where(element);
	autopool pool = {0};
	const char *text[3] = {NULL};
	size_t form = 0;

	while (!xml_is(element, forms[form].element))
		form++;
	for (size_t i = 0; i < 3 && forms[form].attributes[i]; i++)
		text[i] = xml_unevaluated(&pool, element, forms[form].attributes[i], "");
	space_add_values(space, forms[form].kind, text, condition, where);
}

/* Names of axes become variables, and variables of texts. */
int
xml_plan_check_name(const char *name, const xmlNode *element, struct rot_error *err)
{
	static const char *const taken[] = {"series",      "label",       "region",    "cpuFlags",   "nrCpus",
					    "l1DataBytes", "l2Bytes",     "llcBytes",  "l1Ways",     "l2Ways",
					    "lineBytes",   "memoryBytes", "quick",     "tlbEntries", "tlbPageBytes",
					    "fmaLatency",  "fmaPerCycle", "fmaSource", "countsBus",  "llcUsableBytes"};
	bool is_taken = false;

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		is_taken = is_taken || strcmp(name, taken[i]) == 0;
	if (!is_taken && xmlValidateNCName((const xmlChar *)name, 0) == 0)
		return 0;
	rot_error_set(err, 0, "%s cannot be called '%s'", xml_is(element, "axis") ? "an axis" : "a choice", name);
	rot_error_hint(err, "%s",
		       is_taken ? "that variable has a meaning of its own"
				: "a name is letters, digits and '_', not beginning with a digit");
	return xml_error_at(element, err);
}

static int
add_axis(struct space *space, const xmlNode *element, struct rot_error *err)
{
	autofree char *name = xml_attribute(element, "name", "");

	if (xml_plan_check_name(name, element, err) < 0)
		return -1;
	if (space_add_axis(space, name, err) < 0)
		return xml_error_at(element, err);
	if (!xml_child(element, NULL)) {
		rot_error_set(err, 0, "<axis> has no values");
		rot_error_hint(err, "expected there: list, value, range, geometric");
		return xml_error_at(element, err);
	}
	for (const xmlNode *child = xml_child(element, NULL); child; child = xml_next(child, NULL))
		add_values(space, child);
	return 0;
}

int
xml_plan_space(const struct xml_controller *controller, struct pool *pool, const xmlNode *owner,
	       const xmlNode *const *elements, size_t nr_elements, const struct expression_scope *scope,
	       struct point **points, size_t *nr_points, struct rot_error *err)
{
	const char *path = controller->file.paths[0];
	struct space *space = space_new(pool);

	/* Only axes and conditions of points left out are read. */
	for (size_t i = 0; i < nr_elements; i++) {
		if (xml_is(elements[i], "axis") && add_axis(space, elements[i], err) < 0)
			return -1;
		if (xml_is(elements[i], "skip")) {
			autofree char *condition = xml_attribute(elements[i], "if", ""),
				      *where = xml_where(elements[i]);

			space_add_skip(space, condition, where);
		}
	}
	if (space_points(space, scope, points, nr_points, err) == 0)
		return 0;
	return strncmp(err->text, path, strlen(path)) == 0 ? -1 : xml_error_at(owner, err);
}

int
xml_plan_inner_space(const struct xml_controller *controller, struct pool *pool, const xmlNode *parent,
		     const struct expression_scope *scope, struct point **points, size_t *nr_points,
		     struct rot_error *err)
{
	const xmlNode **elements = NULL;
	size_t nr_elements = 0;

	for (const xmlNode *child = xml_child(parent, NULL); child; child = xml_next(child, NULL))
		pool_add(pool, elements, nr_elements) = child;
	return xml_plan_space(controller, pool, parent, elements, nr_elements, scope, points, nr_points, err);
}

/* ---- <each>: replaced by what it holds, once at each point of its axes ---- */

/* The copy and all below it get their attributes with expressions evaluated, and the file they are in. */
static int
evaluate(xmlNode *copy, const xmlNode *each, const struct expression_scope *scope, struct rot_error *err)
{
	copy->_private = each->_private;
	for (xmlAttr *a = copy->properties; a; a = a->next) {
		autopool pool = {0};
		char *value = xml_evaluated(&pool, copy, (const char *)a->name, NULL, scope, err);

		if (!value)
			return -1;
		xmlSetProp(copy, a->name, (const xmlChar *)value);
	}
	for (xmlNode *child = copy->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE && evaluate(child, each, scope, err) < 0)
			return -1;
	return 0;
}

/* The copies stand before the element, so that they belong to the document. */
static int
collect_at(struct xml_controller *controller, xmlNode *each, const struct point *at, struct rot_error *err)
{
	autoscope struct expression_scope *scope = expression_scope_new(controller->constants);

	point_set_variables(at, scope);
	for (const xmlNode *child = xml_child(each, NULL); child; child = xml_next(child, NULL)) {
		xmlNode *copy;

		if (xml_is(child, "axis") || xml_is(child, "skip"))
			continue;
		copy = xmlAddPrevSibling(each, xmlDocCopyNode((xmlNode *)child, each->doc, 1));
		if (evaluate(copy, each, scope, err) < 0)
			return -1;
		collect_element(controller, copy);
	}
	return 0;
}

/* Collects what is in an <each>, once for each point of the space that its axes span. */
static int
expand_each(struct xml_controller *controller, const xmlNode *element, struct rot_error *err)
{
	autopool pool = {0};
	struct point *points;
	size_t nr = 0;
	bool is_wanted;

	if (xml_condition(element, controller->constants, &is_wanted, err) < 0 ||
	    (is_wanted &&
	     xml_plan_inner_space(controller, &pool, element, controller->constants, &points, &nr, err) < 0))
		return -1;
	for (size_t i = 0; i < nr; i++)
		if (collect_at(controller, (xmlNode *)element, &points[i], err) < 0)
			return -1;
	return 0;
}

static int
collect_elements(struct xml_controller *controller, const xmlNode *parent, struct rot_error *err)
{
	for (const xmlNode *child = xml_child(parent, NULL); child; child = xml_next(child, NULL)) {
		int rc = 0;

		if (xml_is(child, "shared"))
			rc = collect_elements(controller, child, err);
		else if (xml_is(child, "each"))
			rc = expand_each(controller, child, err);
		else
			collect_element(controller, child);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- the same work on several CPUs at once: the attribute threads of a point ---- */

/* "all", or how many; 0 where it is neither, or more than there are. */
static size_t
nr_threads(const char *text, size_t nr_cpus)
{
	double number;

	if (strcmp(text, "all") == 0)
		return nr_cpus;
	if (!rot_number_parse(text, &number) || number < 1 || number > (double)nr_cpus || number != floor(number))
		return 0;
	return (size_t)number;
}

/* Puts the point's workload on as many CPUs as its attribute threads says. */
static int
spread_over_threads(struct pool *pool, struct planned_point *planned, const struct expression_scope *scope,
		    struct rot_error *err)
{
	const char *text = xml_evaluated(pool, planned->element, "threads", "", scope, err);
	autofree int *cpus = NULL;
	size_t nr_cpus, nr;

	if (!text || !text[0])
		return text ? 0 : -1;
	nr_cpus = allowed_cpus(&cpus, NULL);
	nr = nr_threads(text, nr_cpus);
	if (nr == 0) {
		rot_error_set(err, 0, "<point threads=\"%s\">: expected 'all' or a number from 1 to %zu", text,
			      nr_cpus);
		rot_error_hint(err, "each thread needs a CPU of its own, of those that rot may run on");
		return xml_error_at(planned->element, err);
	}
	if (measurement_nr_workloads(planned->measurement) != 1) {
		rot_error_set(err, 0, "<point threads>: there are %zu workloads, and it is about the only one",
			      measurement_nr_workloads(planned->measurement));
		return xml_error_at(planned->element, err);
	}
	planned->measurement = pool_own(pool, measurement_on_cpus(planned->measurement, cpus, nr), rot_graph_delete);
	return 0;
}

/* ---- programs ---- */

#define MAX_PASSES 1000

static int
plan_passes(const xmlNode *element, const struct expression_scope *scope, size_t *max_passes, struct rot_error *err)
{
	double passes;

	if (xml_evaluated_number(element, "passes", 0, scope, &passes, err) < 0)
		return -1;
	*max_passes = (size_t)fmax(0, fmin(passes, MAX_PASSES));
	if ((passes >= 1 && passes <= MAX_PASSES && passes == floor(passes)) ||
	    !xmlHasProp(element, (const xmlChar *)"passes"))
		return 0;
	rot_error_set(err, 0, "passes is %g: expected a whole number from 1 to %d", passes, MAX_PASSES);
	return xml_error_at(element, err);
}

/* Fills program and max_passes of a point, and checks what can be checked before its quantities are known. */
static int
plan_program(struct xml_controller *controller, struct planned_point *planned, const xmlNode *element,
	     const struct expression_scope *scope, struct rot_error *err)
{
	controller->has_programs = true;
	if (plan_passes(element, scope, &planned->max_passes, err) < 0)
		return -1;
	planned->program =
		pool_own(&controller->pool, xml_program_workload(element, controller->rot->registry, scope, err),
			 rot_graph_delete);
	if (!planned->program)
		return -1;
	return program_workload_identify(controller->rot, planned->program, err) < 0 ? xml_error_at(element, err) : 0;
}

/* Can the point's quantities be had of a program? */
static int
check_program_quantities(const struct xml_controller *controller, const struct planned_point *planned,
			 struct rot_error *err)
{
	const char *clock = configuration_string(controller->rot->configuration, "clock");
	struct program_plan plan;
	int rc = program_plan_of(&plan, controller->rot->architecture, planned->requests, planned->nr_requests, clock,
				 err);

	program_plan_clear(&plan);
	return rc < 0 ? xml_error_at(planned->element, err) : 0;
}

/* If programs have regions, gives each point the coordinate "region" of the whole program. */
static void
add_region_axis(struct xml_controller *controller)
{
	bool has_regions = false;
	const xmlNode *element;

	for (size_t i = 0; (element = xml_plan_next(controller, &i, "point"));)
		for (const xmlNode *program = xml_child(element, "program"); program;
		     program = xml_next(program, "program"))
			has_regions = has_regions || xml_child(program, "region");
	for (size_t i = 0; has_regions && i < controller->nr_points; i++) {
		struct point *point = &controller->points[i];
		struct coordinate *coordinates =
			pool_calloc(&controller->pool, point->nr_coordinates + 1, sizeof(*coordinates));

		if (point->nr_coordinates)
			memcpy(coordinates, point->coordinates, point->nr_coordinates * sizeof(*coordinates));
		point->coordinates = coordinates;
		point->coordinates[point->nr_coordinates++] =
			(struct coordinate){.axis = "region", .number = NAN, .text = "program"};
	}
}

/* ---- what all texts know ---- */

/* Fused operations on doubles in the widest registers; zeros and "": not known, or there are none. */
static void
set_fused(const struct rot *rot, struct expression_scope *scope)
{
	const char *set = machine_has_flag(rot->machine, "avx512f") ? "AVX512"
			  : machine_has_flag(rot->machine, "fma")   ? "AVX2"
								    : NULL;
	struct operation_known fused = {.source = ""};

	if (set && rot->measured)
		fused = operation_known(rot, "FMA", "DOUBLE", set);
	expression_scope_set_number(scope, "fmaLatency", fused.latency);
	expression_scope_set_number(scope, "fmaPerCycle", fused.per_cycle);
	expression_scope_set_string(scope, "fmaSource", fused.source);
}

/* Data of one CPU may fill this: less than is told where others use it, or a guest gets a part. */
static int64_t
usable_last_level(const struct rot *rot, const struct machine *machine)
{
	const struct measured_level *found = rot->measured ? measured_level_of(rot->measured, rot->machine, 2) : NULL;
	autofree char *changes = found ? measured_changes(&rot->measured->when, rot->machine) : NULL;
	const bool is_smaller = found && !changes[0] && (found->bytes < machine->llc_bytes || !machine->llc_bytes);

	return is_smaller ? found->bytes : machine->llc_bytes;
}

/* $cpuFlags begins and ends with a blank, so that contains($cpuFlags, ' avx2 ') asks for a whole word. */
static struct expression_scope *
make_constants(const struct rot *rot)
{
	const struct machine *machine = rot_facts(rot);
	const struct cache_ways ways = cache_ways_of(rot->machine, "/");
	const bool is_told = machine == rot->machine && (ways.l1_data || !rot->measured);
	struct tlb_shape tlb;
	struct expression_scope *scope = expression_scope_new(NULL);
	autofree char *flags = rot_strdup(" ");

	for (size_t i = 0; i < machine_nr_cpu_flags(machine); i++)
		rot_append(&flags, "%s ", machine_cpu_flags_at(machine, i));
	expression_scope_set_string(scope, "cpuFlags", flags);
	expression_scope_set_number(scope, "quick",
				    strcmp(configuration_string(rot->configuration, "sizes"), "small") == 0);
	expression_scope_set_number(scope, "nrCpus", (double)machine_nr_online_cpus(machine));
	expression_scope_set_number(scope, "l1DataBytes", (double)machine->l1_data_bytes);
	expression_scope_set_number(scope, "l2Bytes", (double)machine->l2_bytes);
	expression_scope_set_number(scope, "llcBytes", (double)machine->llc_bytes);
	expression_scope_set_number(scope, "llcUsableBytes", (double)usable_last_level(rot, machine));
	expression_scope_set_number(scope, "l1Ways", (double)(is_told ? ways.l1_data : rot->measured->l1_ways));
	expression_scope_set_number(scope, "l2Ways", (double)ways.l2);
	if (measured_tlb_parse(configuration_string(rot->configuration, "tlb"), rot->measured, &tlb, NULL) == 0) {
		expression_scope_set_number(scope, "tlbEntries", (double)tlb.entries);
		expression_scope_set_number(scope, "tlbPageBytes", (double)tlb.page_bytes);
	}
	expression_scope_set_number(scope, "countsBus",
				    rot->architecture &&
					    architecture_formula(rot->architecture, "transferredBytes", "memoryBus"));
	set_fused(rot, scope);
	expression_scope_set_number(scope, "lineBytes", (double)machine->line_bytes);
	expression_scope_set_number(scope, "memoryBytes", (double)machine_usable_bytes(machine));
	return scope;
}

/* ---- points ---- */

int
xml_plan_runs(const xmlNode *element, const struct expression_scope *scope, int *nr_runs, struct rot_error *err)
{
	const xmlNode *root = xmlDocGetRootElement(element->doc);
	double of_controller, runs;

	if (xml_evaluated_number(root, "runs", DEFAULT_RUNS, scope, &of_controller, err) < 0 ||
	    xml_evaluated_number(element, "runs", of_controller, scope, &runs, err) < 0)
		return -1;
	if (runs < 1 || runs > CONFIGURATION_MAX_RUNS || runs != floor(runs)) {
		rot_error_set(err, 0, "runs is %g: expected a whole number from 1 to %d", runs, CONFIGURATION_MAX_RUNS);
		return xml_error_at(element, err);
	}
	*nr_runs = (int)runs;
	return 0;
}

/* The element that made the kernel of the i-th workload. */
static const xmlNode *
kernel_element(const xmlNode *element, size_t i)
{
	const xmlNode *workload = xml_child(element, "workload"), *kernel;

	while (i-- > 0 && workload)
		workload = xml_next(workload, "workload");
	kernel = workload ? xml_child(workload, "kernel") : NULL;
	return kernel ? kernel : workload ? workload : element;
}

/* The quantities say what is measured of kernels. */
static int
check_load(const struct measurer_set *set, struct rot_error *err)
{
	if (!set->main_measurer && measurer_set_nr_additional_measurers(set) == 0 &&
	    measurer_set_nr_validation_measurers(set) == 0)
		return 0;
	rot_error_set(err, 0, "the <measurerSet> of a <workload> has measurers, which nobody would read");
	return rot_error_hint(err, "quantities say what is measured, rules measure something else; an empty "
				   "<measurerSet/> makes the workload a load, of which no quantity is");
}

static int
check_kernels(const struct xml_controller *controller, const xmlNode *element, const struct measurement *measurement,
	      struct rot_error *err)
{
	size_t nr_measured = 0;

	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);

		if (!workload->kernel) {
			rot_error_set(err, 0, "<workload> has no <kernel>");
			return xml_error_at(kernel_element(element, i), err);
		}
		if (workload->measurer_set && check_load(workload->measurer_set, err) < 0)
			return xml_error_at(kernel_element(element, i), err);
		nr_measured += !workload_is_load(workload);
		if (kernel_check(controller->rot, workload->kernel, err) < 0)
			return xml_error_at(kernel_element(element, i), err);
	}
	if (nr_measured == 0) {
		rot_error_set(err, 0, "each <workload> is a load, with a <measurerSet/>: there is nothing to measure");
		return xml_error_at(element, err);
	}
	return 0;
}

struct measurement *
xml_plan_measurement(const struct xml_controller *controller, const xmlNode *element,
		     const struct expression_scope *scope, struct rot_error *err)
{
	autograph struct measurement *measurement = xml_measurement(element, controller->rot->registry, scope, err);

	return measurement && check_kernels(controller, element, measurement, err) == 0 ? rot_keep(&measurement) : NULL;
}

static int
plan_request(const xmlNode *element, const struct expression_scope *scope, struct quantity_request *request,
	     struct rot_error *err)
{
	autopool pool = {0};
	const char *text = xml_evaluated(&pool, element, "is", NULL, scope, err);

	if (!text)
		return -1;
	if (quantity_parse(request, text, err) < 0)
		return xml_error_at(element, err);
	if (xml_evaluated_number(element, "operations", 0, scope, &request->given_operations, err) < 0 ||
	    xml_evaluated_number(element, "bytes", 0, scope, &request->given_bytes, err) < 0)
		return -1;
	if ((!xmlHasProp(element, (const xmlChar *)"operations") || request->given_operations > 0) &&
	    (!xmlHasProp(element, (const xmlChar *)"bytes") || request->given_bytes > 0))
		return 0;
	rot_error_set(err, 0, "<quantity>: given operations and bytes must be above 0");
	return xml_error_at(element, err);
}

static int
plan_requests(struct xml_controller *controller, struct planned_point *planned, const struct expression_scope *scope,
	      struct rot_error *err)
{
	const xmlNode *element = xml_child(planned->element, "quantity");
	bool is_of_point = element != NULL;
	size_t i = 0;

	if (!element)
		element = xml_plan_next(controller, &i, "quantity");
	while (element) {
		struct quantity_request request = {0};

		if (plan_request(element, scope, &request, err) < 0)
			return -1;
		pool_add(&controller->pool, planned->requests, planned->nr_requests) = request;
		element = is_of_point ? xml_next(element, "quantity") : NULL;
		if (!element) {
			is_of_point = false;
			element = xml_plan_next(controller, &i, "quantity");
		}
	}
	return 0;
}

/* One program, or kernels. */
static int
check_content(const xmlNode *point, const xmlNode *program, struct rot_error *err)
{
	static const char *const of_kernels[] = {"threads", "until"};

	if (!program && !xml_child(point, "workload")) {
		rot_error_set(err, 0, "<point> lacks a <workload> or a <program>");
		return xml_error_at(point, err);
	}
	for (const xmlNode *child = xml_child(point, NULL); program && child; child = xml_next(child, NULL))
		if (child != program && !xml_is(child, "quantity")) {
			rot_error_set(err, 0, "<%s> beside <program>: a program is measured alone", child->name);
			return xml_error_at(child, err);
		}
	for (size_t i = 0; program && i < sizeof(of_kernels) / sizeof(*of_kernels); i++)
		if (xmlHasProp(point, (const xmlChar *)of_kernels[i])) {
			rot_error_set(err, 0, "<point %s>: that is of points with kernels", of_kernels[i]);
			return xml_error_at(point, err);
		}
	return 0;
}

static int
find_missing(struct xml_controller *controller, const xmlNode *element, const struct measurement *measurement,
	     bool *is_missing, struct rot_error *err)
{
	*is_missing = false;
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct kernel_base *kernel = measurement_workloads_at(measurement, i)->kernel;
		autofree char *what = NULL;

		if (kernel && kernel_missing(controller->rot, kernel, &what, err) < 0)
			return xml_error_at(kernel_element(element, i), err);
		*is_missing = *is_missing || what;
		if (what) {
			/* Says each library once. */
			const size_t nr = controller->missing.nr;

			texts_add(&controller->pool, &controller->missing, what);
			if (controller->missing.nr > nr)
				rot_warning("points are left out: %s", what);
		}
	}
	return 0;
}

int
xml_plan_kernels(struct xml_controller *controller, const xmlNode *element, const struct expression_scope *scope,
		 struct measurement **measurement, bool *is_missing, struct rot_error *err)
{
	*measurement = xml_measurement(element, controller->rot->registry, scope, err);
	if (!*measurement || find_missing(controller, element, *measurement, is_missing, err) < 0)
		return -1;
	return *is_missing ? 0 : check_kernels(controller, element, *measurement, err);
}

static int
plan_point(struct xml_controller *controller, const xmlNode *element, const struct point *at,
	   const struct expression_scope *scope, struct rot_error *err)
{
	const xmlNode *program = xml_child(element, "program");
	struct pool *pool = &controller->pool;
	struct planned_point *planned;
	bool is_missing;
	int rc;

	planned = &pool_add(pool, controller->planned, controller->nr_planned);
	*planned = (struct planned_point){.element = element, .at = at};
	planned->series = xml_evaluated(pool, element, "series", "", scope, err);
	planned->label = planned->series ? xml_evaluated(pool, element, "label", "", scope, err) : NULL;
	planned->until = xml_unevaluated(pool, element, "until", "");
	if (!planned->label || xml_plan_runs(element, scope, &planned->nr_runs, err) < 0 ||
	    check_content(element, program, err) < 0)
		return -1;
	if (program) {
		if (plan_program(controller, planned, program, scope, err) < 0 ||
		    plan_requests(controller, planned, scope, err) < 0)
			return -1;
		return check_program_quantities(controller, planned, err);
	}
	rc = xml_plan_kernels(controller, element, scope, &planned->measurement, &is_missing, err);
	pool_own(pool, planned->measurement, rot_graph_delete);
	if (rc < 0)
		return -1;
	if (is_missing) {
		controller->nr_planned--;
		return 0;
	}
	return spread_over_threads(pool, planned, scope, err) < 0 ? -1 : plan_requests(controller, planned, scope, err);
}

/* ---- the whole plan ---- */

static int
plan_at(struct xml_controller *controller, const struct point *at, struct rot_error *err)
{
	autoscope struct expression_scope *scope = expression_scope_new(controller->constants);
	int rc = 0;

	point_set_variables(at, scope);
	for (size_t i = 0; rc == 0 && i < controller->nr_elements; i++) {
		const xmlNode *element = controller->elements[i];
		bool is_wanted;

		/* once: such ceilings do not depend on where in the controller's space they are */
		if (xml_is(element, "ceilings") &&
		    (at == controller->points || !xml_attribute_is(element, "once", "true")))
			rc = xml_plan_ceilings(controller, element, at, err);
		if (!xml_is(element, "point") && !xml_is(element, "ceiling"))
			continue;
		rc = xml_condition(element, scope, &is_wanted, err);
		if (rc == 0 && is_wanted)
			rc = xml_is(element, "point") ? plan_point(controller, element, at, scope, err)
						      : xml_plan_ceiling(controller, element, at, NULL, err);
	}
	if (rc < 0 && at->nr_coordinates > 0) {
		autofree char *place = point_text(at);

		rot_error_append(err, " (at %s)", place);
	}
	return rc;
}

/* Opens the file, and fills elements, constants, points, planned and ceilings of the controller. */
static int
make_plan(struct xml_controller *controller, const char *path, struct rot_error *err)
{
	const xmlNode *root, *plot, *derived;

	if (controller_file_open(&controller->file, &controller->pool, path, controller->rot->paths->data, err) < 0)
		return -1;
	root = xmlDocGetRootElement(controller->file.doc);
	controller->constants = pool_own(&controller->pool, make_constants(controller->rot), expression_scope_delete);
	if (collect_elements(controller, root, err) < 0 || xml_plan_choices(controller, err) < 0 ||
	    xml_plan_space(controller, &controller->pool, root, controller->elements, controller->nr_elements,
			   controller->constants, &controller->points, &controller->nr_points, err) < 0)
		return -1;
	add_region_axis(controller);
	for (size_t i = 0; i < controller->nr_points; i++)
		if (plan_at(controller, &controller->points[i], err) < 0)
			return -1;
	for (size_t i = 0; (plot = xml_plan_next(controller, &i, "plot"));)
		controller->has_default_peaks = controller->has_default_peaks || xml_child(plot, "defaultPeaks");
	for (size_t i = 0; (derived = xml_plan_next(controller, &i, "derived"));)
		controller->has_default_peaks =
			controller->has_default_peaks || xmlHasProp(derived, (const xmlChar *)"peak");
	if (controller->nr_planned + controller->nr_ceilings > 0)
		return 0;
	if (controller->missing.nr > 0) {
		rot_error_set(err, 0, "nothing of this controller can be measured here: %s",
			      controller->missing.items[0]);
		return xml_error_at(root, err);
	}
	rot_error_set(err, 0, "<controller> has nothing to measure");
	rot_error_hint(err, "add a <point> with a <workload> or a <program>: rot help CONTROLLERS.md");
	return xml_error_at(root, err);
}

/* ---- opening ---- */

struct xml_controller *
xml_controller_open(struct rot *rot, const char *path, struct rot_error *err)
{
	struct xml_controller *controller = rot_calloc(1, sizeof(*controller));

	controller->rot = rot;
	if (make_plan(controller, path, err) == 0)
		return controller;
	xml_controller_close(controller);
	return NULL;
}

void
xml_controller_close(void *closed)
{
	autofree struct xml_controller *controller = closed;

	if (controller)
		pool_clear(&controller->pool);
}

/* The file is read anew: planning has changed the one in memory. What is missing was told. It is done once, so the
 * first plan stays in the pool. */
int
xml_controller_plan_again(struct xml_controller *controller, struct rot_error *err)
{
	const char *path = controller->file.paths[0];

	*controller = (struct xml_controller){
		.rot = controller->rot, .pool = controller->pool, .may_measure = true, .missing = controller->missing};
	return make_plan(controller, path, err);
}

struct xml_controller *
xml_controller_open_default_peaks(struct rot *rot, struct rot_error *err)
{
	autofree char *path = controller_find_file(rot->paths, "default-peaks");
	struct xml_controller *peaks = path ? xml_controller_open(rot, path, err) : NULL;

	if (!path) {
		rot_error_set(err, 0, "the controller default-peaks is missing");
		rot_error_hint(err, "rot's data folder is damaged: install rot again");
	}
	return peaks;
}

/* ---- listing ---- */

static void
ignore(void *context, const char *message, xmlParserSeverities severity, xmlTextReaderLocatorPtr where)
{
	(void)context, (void)message, (void)severity, (void)where;
}

char *
xml_controller_comment(const char *path)
{
	size_t length = 0;
	autofree char *content = file_read(path, &length, NULL);
	char *comment = NULL;
	xmlTextReader *reader = content && length < INT_MAX
					? xmlReaderForMemory(content, (int)length, path, NULL,
							     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
					: NULL;

	if (!reader)
		return NULL;
	xmlTextReaderSetErrorHandler(reader, ignore, NULL);
	while (xmlTextReaderRead(reader) == 1) {
		if (xmlTextReaderNodeType(reader) != XML_READER_TYPE_ELEMENT)
			continue;
		if (strcmp((const char *)xmlTextReaderConstName(reader), "controller") == 0) {
			xmlChar *text = xmlTextReaderGetAttribute(reader, (const xmlChar *)"comment");

			comment = rot_strdup((const char *)text);
			xmlFree(text);
		}
		break;
	}
	xmlFreeTextReader(reader);
	return comment;
}
