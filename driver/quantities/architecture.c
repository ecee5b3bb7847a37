/* SPDX-License-Identifier: MIT */
/* Architectures: read from XML, chosen by the machine. */
#include "quantities/architecture.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "entities.h"
#include "machine/measured.h"
#include "memory.h"
#include "number.h"
#include "quantities/vocabulary.h"
#include "rot.h"
#include "schema.h"
#include "xml_file.h"

static const char *const event_class_names[EVENT_NR_CLASSES] = {
	[EVENT_PLAIN] = "plain",     [EVENT_LARGE] = "large", [EVENT_FIXED] = "fixed",
	[EVENT_OFFCORE] = "offcore", [EVENT_LOW] = "low",     [EVENT_MACHINE] = "machine",
};

/* ---- one file ---- */

static int
attribute_number(const xmlNode *node, const char *name)
{
	autofree char *text = xml_attribute(node, name, "0");

	return (int)strtol(text, NULL, 10);
}

/* The words of XML Schema; the schema wants one. */
static bool
attribute_bool(const xmlNode *node, const char *name)
{
	autofree char *text = xml_attribute(node, name, "false");

	return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

/* "" without the attribute. */
static char *
text_of(struct architecture *architecture, const xmlNode *node, const char *name)
{
	return pool_own(&architecture->pool, xml_attribute(node, name, ""), free);
}

/* The event of that name (nr characters), or nr_events. */
static size_t
event_find(const struct architecture *architecture, const char *name, size_t nr)
{
	size_t i = 0;

	while (i < architecture->nr_events &&
	       (strncmp(architecture->events[i].name, name, nr) != 0 || architecture->events[i].name[nr]))
		i++;
	return i;
}

static int
read_counters(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	(void)err;
	architecture->nominal_counters = attribute_number(node, "nominal");
	architecture->usable_counters = attribute_number(node, "usable");
	architecture->counter_bits = attribute_number(node, "bits");
	return 0;
}

static int
read_scrub(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	(void)err;
	architecture->scrub_event = text_of(architecture, node, "event");
	architecture->scrub_count = attribute_number(node, "count");
	return 0;
}

static int
read_group(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	struct architecture_group group;

	(void)err;
	for (int class = 0; class < EVENT_NR_CLASSES; class ++)
		group.limit[class] = group.proved[class] = (unsigned)attribute_number(node, event_class_names[class]);
	pool_add(&architecture->pool, architecture->groups, architecture->nr_groups) = group;
	return 0;
}

static int
read_event(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	struct architecture_event event = {.name = text_of(architecture, node, "name"),
					   .definition = text_of(architecture, node, "definition")};
	autofree char *class = xml_attribute(node, "class", "plain");
	bool is_new = event_find(architecture, event.name, strlen(event.name)) == architecture->nr_events;

	while (strcmp(event_class_names[event.class], class) != 0)
		event.class ++;
	pool_add(&architecture->pool, architecture->events, architecture->nr_events) = event;
	if (is_new)
		return 0;
	rot_error_set(err, 0, "event '%s' is defined twice", event.name);
	return xml_error_at(node, err);
}

static int
read_ride(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	autofree char *names = xml_attribute(node, "events", ""), *beside = xml_attribute(node, "beside", "");
	const size_t company = event_find(architecture, beside, strlen(beside));
	char *rest = NULL;
	int rc = 0;

	if (*beside && company == architecture->nr_events) {
		rot_error_set(err, 0, "ride: there is no event '%s'", beside);
		return xml_error_at(node, err);
	}
	for (char *name = strtok_r(names, " \t\n", &rest); name && rc == 0; name = strtok_r(NULL, " \t\n", &rest)) {
		size_t event = event_find(architecture, name, strlen(name));

		if (event == architecture->nr_events) {
			rot_error_set(err, 0, "ride: there is no event '%s'", name);
			rc = xml_error_at(node, err);
			break;
		}
		architecture->company =
			pool_grow(&architecture->pool, architecture->company, architecture->nr_riders, sizeof(event));
		architecture->company[architecture->nr_riders] = company;
		pool_add(&architecture->pool, architecture->riders, architecture->nr_riders) = event;
	}
	return rc;
}

static void
formula_use(struct architecture_formula *formula, size_t event)
{
	size_t i = formula->nr_events;

	for (size_t k = 0; k < formula->nr_events; k++)
		if (formula->events[k] == event)
			return;
	for (; i > 0 && formula->events[i - 1] > event; i--)
		formula->events[i] = formula->events[i - 1];
	formula->events[i] = event;
	formula->nr_events++;
}

/* Finds the $variables of the expression among the events. */
static int
formula_link(const struct architecture *architecture, struct architecture_formula *formula, struct rot_error *err)
{
	for (const char *at = strchr(formula->expression, '$'); at; at = strchr(at, '$')) {
		size_t nr = 0, event;

		at++;
		while (isalnum((unsigned char)at[nr]) || at[nr] == '-')
			nr++;
		event = event_find(architecture, at, nr);
		if (event == architecture->nr_events)
			return rot_error_set(err, 0, "formula of %s %s: there is no event '%.*s'", formula->quantity,
					     formula->of, (int)nr, at);
		if (formula->nr_events == FORMULA_MAX_EVENTS)
			return rot_error_set(err, 0, "formula of %s %s: more than %d events", formula->quantity,
					     formula->of, FORMULA_MAX_EVENTS);
		formula_use(formula, event);
		formula->is_of_machine |= architecture->events[event].class == EVENT_MACHINE;
	}
	if (formula->nr_events == 0)
		return rot_error_set(err, 0, "formula of %s %s: no event in '%s'", formula->quantity, formula->of,
				     formula->expression);
	return 0;
}

static int
read_formula(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	struct architecture_formula formula = {.quantity = text_of(architecture, node, "quantity"),
					       .of = text_of(architecture, node, "of"),
					       .kind = text_of(architecture, node, "kind"),
					       .expression = text_of(architecture, node, "value"),
					       .source = text_of(architecture, node, "source"),
					       .line = (int)xmlGetLineNo((xmlNode *)node),
					       .has_others = attribute_bool(node, "hasOthers"),
					       .goes_round = attribute_bool(node, "goesRound")};
	int rc = quantity_check_formula(formula.quantity, formula.of, err);

	if (rc == 0)
		rc = formula_link(architecture, &formula, err);
	pool_add(&architecture->pool, architecture->formulas, architecture->nr_formulas) = formula;
	return rc < 0 ? xml_error_at(node, err) : 0;
}

static int
read_limit(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	struct architecture_limit limit = {.border = text_of(architecture, node, "border"),
					   .accesses = text_of(architecture, node, "access"),
					   .instruction_sets = text_of(architecture, node, "instructionSets"),
					   .models = text_of(architecture, node, "models"),
					   .source = text_of(architecture, node, "source"),
					   .cause = text_of(architecture, node, "cause")};
	autofree char *number = xml_attribute(node, limit.border[0] ? "bytes" : "instructions", "0");
	autofree char *chains = xml_attribute(node, "causeBelowChains", "0");
	bool is_number = rot_number_parse(number, &limit.per_cycle) && isfinite(limit.per_cycle);

	limit.cause_below_chains = (int)strtol(chains, NULL, 10); /* the schema wants a number */
	pool_add(&architecture->pool, architecture->limits, architecture->nr_limits) = limit;
	if (is_number)
		return 0;
	rot_error_set(err, 0, "a limit per cycle must be a number");
	return xml_error_at(node, err);
}

static int
read_latency(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	(void)err;
	architecture->latencies = pool_grow(&architecture->pool, architecture->latencies, architecture->nr_latencies,
					    sizeof(*architecture->latencies));
	architecture->latencies[architecture->nr_latencies++] = (struct architecture_latency){
		.operations = text_of(architecture, node, "operations"),
		.precisions = text_of(architecture, node, "precisions"),
		.instruction_sets = text_of(architecture, node, "instructionSets"),
		.cycles = attribute_number(node, "cycles"),
		.per_cycle = attribute_number(node, "perCycle"),
		.source = text_of(architecture, node, "source"),
	};
	return 0;
}

static int
read_buffer(struct architecture *architecture, const xmlNode *node, struct rot_error *err)
{
	(void)err;
	pool_add(&architecture->pool, architecture->buffers, architecture->nr_buffers) = (struct architecture_buffer){
		.name = text_of(architecture, node, "name"),
		.entries = attribute_number(node, "entries"),
		.source = text_of(architecture, node, "source"),
	};
	return 0;
}

static const struct {
	const char *element;
	int (*read)(struct architecture *architecture, const xmlNode *node, struct rot_error *err);
} readers[] = {
	{"counters", read_counters}, {"scrub", read_scrub},     {"group", read_group},
	{"event", read_event},       {"ride", read_ride},       {"formula", read_formula},
	{"limit", read_limit},       {"latency", read_latency}, {"buffer", read_buffer},
};

/* A valid document as an architecture; NULL on error. */
static struct architecture *
architecture_from(xmlDoc *doc, const char *path, struct rot_error *err)
{
	const xmlNode *root = xmlDocGetRootElement(doc);
	struct architecture *architecture = rot_calloc(1, sizeof(*architecture));

	architecture->name = text_of(architecture, root, "name");
	architecture->title = text_of(architecture, root, "title");
	architecture->path = pool_strdup(&architecture->pool, path);
	architecture->counts_by_steps = attribute_bool(root, "countsBySteps");
	architecture->scrub_event = pool_strdup(&architecture->pool, "");
	for (const xmlNode *node = root->children; node; node = node->next) {
		for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
			if (!xml_is(node, readers[i].element) || readers[i].read(architecture, node, err) == 0)
				continue;
			architecture_delete(architecture);
			return NULL;
		}
	}
	return architecture;
}

struct architecture *
architecture_read(const char *path, const char *schema, struct rot_error *err)
{
	struct architecture *architecture = NULL;
	xmlDoc *doc = xml_file_read(path, err);

	if (doc && schema_file_validate(schema, doc, err) == 0)
		architecture = architecture_from(doc, path, err);
	xmlFreeDoc(doc);
	return architecture;
}

void
architecture_delete(struct architecture *architecture)
{
	if (!architecture)
		return;
	architecture_delete(architecture->of_programs);
	architecture_delete(architecture->by_blocks);
	architecture_delete(architecture->by_events);
	architecture_delete(architecture->by_steps);
	architecture_delete(architecture->beside);
	pool_clear(&architecture->pool);
	free(architecture);
}

/* By grade; not validated is better than failed. */
static size_t
rank_of(const struct architecture_formula *formula)
{
	static const char ranks[] = {'A', 'B', 'C', 0, 'F'};
	size_t rank = 0;

	while (rank + 1 < sizeof(ranks) && ranks[rank] != formula->grade)
		rank++;
	return rank;
}

static const struct architecture_formula *
best_formula(const struct architecture *architecture, const char *quantity, const char *of, bool may_be_of_machine)
{
	const struct architecture_formula *best = NULL;

	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];

		if (strcmp(formula->quantity, quantity) == 0 && strcmp(formula->of, of) == 0 &&
		    (may_be_of_machine || !formula->is_of_machine) && (!best || rank_of(formula) < rank_of(best)))
			best = formula;
	}
	return best;
}

const struct architecture_formula *
architecture_formula(const struct architecture *architecture, const char *quantity, const char *of)
{
	return best_formula(architecture, quantity, of, true);
}

const struct architecture_formula *
architecture_formula_of_threads(const struct architecture *architecture, const char *quantity, const char *of)
{
	return best_formula(architecture, quantity, of, false);
}

/* ---- events of the whole machine ---- */

void
architecture_find_uncore(struct architecture *architecture, const char *root, bool is_tried)
{
	autofree struct rot_error *reasons = rot_calloc(architecture->nr_events + 1, sizeof(*reasons));
	size_t nr_kept = 0;

	for (size_t i = 0; i < architecture->nr_events; i++) {
		struct architecture_event *event = &architecture->events[i];

		if (event->class != EVENT_MACHINE)
			continue;
		if (!uncore_event_find(&event->uncore, &architecture->pool, root, event->definition)) {
			rot_error_set(&reasons[i], 0, "the system shows no counters of memory controllers (%s)",
				      event->definition);
			rot_error_hint(&reasons[i],
				       "load their driver: sudo modprobe intel_uncore, or amd_uncore; in a virtual "
				       "machine they are those of its host");
		} else if (is_tried && !uncore_event_can_count(&event->uncore, &reasons[i])) {
			architecture->is_forbidden = true;
		}
	}
	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula formula = architecture->formulas[i];
		const struct rot_error *why = NULL;

		for (size_t k = 0; k < formula.nr_events && !why; k++)
			if (reasons[formula.events[k]].text[0])
				why = &reasons[formula.events[k]];
		if (!why) {
			architecture->formulas[nr_kept++] = formula;
			continue;
		}
		architecture->why_refused = *why;
		pool_add(&architecture->pool, architecture->refused, architecture->nr_refused) = formula;
	}
	architecture->nr_formulas = nr_kept;
}

const struct rot_error *
architecture_refusal(const struct architecture *architecture, const char *quantity, const char *of)
{
	for (size_t i = 0; i < architecture->nr_refused; i++)
		if (strcmp(architecture->refused[i].quantity, quantity) == 0 &&
		    strcmp(architecture->refused[i].of, of) == 0)
			return &architecture->why_refused;
	return NULL;
}

/* ---- the machine's ---- */

/* Is model in "0-15 33"? */
static bool
models_hold(const char *models, long model)
{
	while (*models) {
		char *end;
		long first = strtol(models, &end, 10), last = first;

		if (end == models)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (first <= model && model <= last)
			return true;
		models = end + strspn(end, " \t\n");
	}
	return false;
}

static bool
document_matches(xmlDoc *doc, const struct machine *machine)
{
	const xmlNode *root = xmlDocGetRootElement(doc);

	for (const xmlNode *cpu = root ? root->children : NULL; cpu; cpu = cpu->next) {
		autofree char *vendor = NULL, *models = NULL;

		if (!xml_is(cpu, "cpu"))
			continue;
		vendor = xml_attribute(cpu, "vendor", "");
		models = xml_attribute(cpu, "models", "");
		if (strcmp(vendor, machine->cpu_vendor) == 0 &&
		    attribute_number(cpu, "family") == machine->cpu_family && models_hold(models, machine->cpu_model))
			return true;
	}
	return false;
}

static int
is_xml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".xml") == 0 && entry->d_name[0] != '.';
}

/* Path of the file in folder whose cpu elements name the machine; generic.xml if none does. Fresh memory, NULL on
 * error. */
static char *
find_for_machine(const char *folder, const struct machine *machine, struct rot_error *err)
{
	autofree struct dirent **entries = NULL;
	int nr = scandir(folder, &entries, is_xml, alphasort);
	autofree char *found = NULL;
	bool failed = false;

	if (nr < 0) {
		rot_error_set(err, errno, "cannot read the architectures in '%s'", folder);
		return NULL;
	}
	for (int i = 0; i < nr; i++) {
		autofree char *path = rot_format("%s/%s", folder, entries[i]->d_name);
		xmlDoc *doc = found || failed ? NULL : xml_file_read(path, err);

		failed = failed || (!found && !doc);
		if (doc && document_matches(doc, machine))
			found = rot_keep(&path);
		xmlFreeDoc(doc);
		free(entries[i]);
	}
	if (failed)
		return NULL;
	return found ? rot_keep(&found) : rot_format("%s/generic.xml", folder);
}

/* taken: the path in fresh memory, taken over; may be NULL after an error. */
static struct architecture *
read_in_folder(const char *folder, char *taken, struct rot_error *err)
{
	autofree char *schema = rot_format("%s/../schemas/architecture.rng", folder), *path = taken;

	return path ? architecture_read(path, schema, err) : NULL;
}

struct architecture *
architecture_load(const char *folder, const struct machine *machine, const struct rot_error *why_not,
		  struct rot_error *err)
{
	char *path = why_not ? rot_format("%s/none.xml", folder) : find_for_machine(folder, machine, err);
	struct architecture *architecture = read_in_folder(folder, path, err);

	if (architecture && why_not)
		architecture->why_not = *why_not;
	return architecture;
}

struct architecture *
architecture_load_steps(const char *folder, const struct architecture_stepping *stepping,
			const struct rot_error *why_no_program, struct rot_error *err)
{
	struct architecture *architecture = read_in_folder(folder, rot_format("%s/steps.xml", folder), err);

	if (!architecture)
		return NULL;
	architecture->stepping = *stepping;
	if (!why_no_program)
		return architecture;
	architecture->of_programs = architecture_load(folder, stepping->caches.machine, why_no_program, err);
	if (architecture->of_programs)
		return architecture;
	architecture_delete(architecture);
	return NULL;
}

struct architecture *
architecture_load_blocks(const char *folder, const struct architecture_stepping *stepping, struct rot_error *err)
{
	struct architecture *architecture = read_in_folder(folder, rot_format("%s/blocks.xml", folder), err);

	if (architecture)
		architecture->stepping = *stepping;
	return architecture;
}

bool
architecture_is_generic(const struct architecture *architecture)
{
	return strcmp(architecture->name, "generic") == 0;
}

/* ---- advice ---- */

const char *
architecture_steps_advice(const struct architecture *architecture)
{
	if (architecture->counts_by_steps)
		return NULL;
	return architecture->nr_formulas ? STEPS_ADVICE_BESIDE_EVENTS : STEPS_ADVICE;
}

char *
architecture_advice(const struct architecture *architecture, bool can_step)
{
	const char *hint = architecture->why_not.hint;
	const char *steps = can_step ? architecture_steps_advice(architecture) : NULL;

	return rot_format("%s%s%s", hint, hint[0] && steps ? "; or: " : "", steps ? steps : "");
}

/* ---- limits ---- */

/* Is the word in the blank separated list? An empty list holds all. */
static bool
list_holds(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t nr = strcspn(at, " ");

		if (nr == length && strncmp(at, word, length) == 0)
			return true;
		at += nr;
	}
	return *list == '\0';
}

const struct architecture_limit *
architecture_limit(const struct architecture *architecture, int model, const char *border, const char *access,
		   const char *instruction_set)
{
	for (size_t i = 0; i < architecture->nr_limits; i++) {
		const struct architecture_limit *limit = &architecture->limits[i];

		if (strcmp(limit->border, border) == 0 && list_holds(limit->accesses, access) &&
		    list_holds(limit->instruction_sets, instruction_set) &&
		    (!limit->models[0] || models_hold(limit->models, model)))
			return limit;
	}
	return NULL;
}

const struct architecture_latency *
architecture_latency(const struct architecture *architecture, const char *operation, const char *precision,
		     const char *instruction_set)
{
	for (size_t i = 0; i < architecture->nr_latencies; i++) {
		const struct architecture_latency *latency = &architecture->latencies[i];

		if (list_holds(latency->operations, operation) && list_holds(latency->precisions, precision) &&
		    list_holds(latency->instruction_sets, instruction_set))
			return latency;
	}
	return NULL;
}

double
architecture_buffer_entries(const struct architecture *architecture, const char *buffer)
{
	for (size_t i = 0; i < architecture->nr_buffers; i++)
		if (strcmp(architecture->buffers[i].name, buffer) == 0)
			return architecture->buffers[i].entries;
	return NAN;
}

/* ---- latency and throughput of an instruction ---- */

static struct operation_known
told(const struct rot *rot, const char *operation, const char *precision, const char *instruction_set)
{
	autofree char *folder = rot_format("%s/driver/architectures", rot->paths->data);
	struct architecture *documents = architecture_load(folder, rot->machine, NULL, NULL);
	const struct architecture_latency *latency = NULL;
	const struct architecture_limit *limit = NULL;
	struct operation_known known = {.source = ""};

	if (documents) {
		latency = architecture_latency(documents, operation, precision, instruction_set);
		limit = architecture_limit(documents, (int)rot->machine->cpu_model, "", operation, instruction_set);
	}
	if (latency && limit)
		known = (struct operation_known){latency->cycles, limit->per_cycle, "the processor's documents"};
	architecture_delete(documents);
	return known;
}

struct operation_known
operation_known(const struct rot *rot, const char *operation, const char *precision, const char *instruction_set)
{
	const struct measured_operation *found =
		measured_operation_of(rot->measured, operation, precision, instruction_set);
	struct operation_known known;
	autofree char *changes = NULL;

	if (!found)
		return told(rot, operation, precision, instruction_set);
	known = (struct operation_known){found->latency, found->per_cycle, ""};
	changes = measured_changes(&rot->measured->operations_when, rot->machine);
	snprintf(known.source, sizeof(known.source), "measured %.10s%s", rot->measured->operations_when.created,
		 changes[0] ? ", under other conditions" : "");
	return known;
}
