/* SPDX-License-Identifier: MIT */
/* rot list TOPIC: what can be named elsewhere. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/entry.h"
#include "base/json.h"
#include "base/pool.h"
#include "check/events.h"
#include "commands/command.h"
#include "commands/print.h"
#include "definition.h"
#include "experiments/find.h"
#include "memory.h"
#include "nearest.h"
#include "number.h"
#include "programs/findings.h"
#include "quantities/quantity.h"
#include "quantities/remarks.h"
#include "quantities/vocabulary.h"

struct listing {
	const char *part; /* of names, in any case of letters; "": all */
	json_t *items;    /* what is listed, as objects; NULL: it is printed for people */
	size_t nr;        /* of what is listed */
};

/* Without a part of names rows are short, which --all makes long. */
static bool
is_in_detail(const struct command_context *context, const struct listing *listing)
{
	return *listing->part || listing->items || configuration_bool(context->configuration, "showAll");
}

/* ---- events ---- */

/* Appends those of one unit; an object of the schema rot.events/1 each, with its unit. */
static void
append(struct listing *listing, const struct pmu_description *pmu)
{
	for (size_t i = 0; i < pmu_description_nr_events(pmu); i++) {
		const struct perf_event_description *event = pmu_description_events_at(pmu, i);
		json_t *json;

		if (!strcasestr(event->name, listing->part))
			continue;
		json = event_json(event);
		json_object_set_new(json, "unit", json_text(pmu->pmu_name));
		json_array_append_new(listing->items, json);
		listing->nr++;
	}
}

/* Prints the units of this machine with those events, or adds the events to the items. */
static int
list_events(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	autopool pool = {0};
	struct rot *rot = command_rot(context, err);
	const struct list_events_measurer_output *events = rot ? events_read(rot, &pool, err) : NULL;

	for (size_t i = 0; events && i < list_events_measurer_output_nr_pmus(events); i++) {
		const struct pmu_description *pmu = list_events_measurer_output_pmus_at(events, i);

		if (listing->items)
			append(listing, pmu);
		else if (!is_in_detail(context, listing)) {
			const size_t nr = pmu_description_nr_events(pmu);
			autofree char *text =
				rot_format("%zu event%s: %s", nr, rot_plural((double)nr), pmu->description);

			print_short(pmu->pmu_name, text);
			listing->nr++;
		} else
			listing->nr += events_print_pmu(pmu, listing->part, stdout);
	}
	return events ? 0 : -1;
}

static const struct option_row rows[] = {
	{.name = "json", .about = "JSON instead of text"},
};

static const struct option_table table = {OPTION_ROWS(rows, bool)};

/* The name, or the words that belong to it, hold the part that is asked for. */
static bool
is_asked(const struct listing *listing, const char *name, const char *words)
{
	return strcasestr(name, listing->part) || strcasestr(words, listing->part);
}

/* ---- kernels ---- */

static bool
is_settable(const struct rot_field *field)
{
	return !field->is_list && field->type != ROT_REFERENCE && strcmp(field->name, "id") != 0;
}

static void
print_field(const struct rot_field *field)
{
	enum { INDENT = 10 };
	const char *unit = field->unit ? field->unit : "", *values = field->values;
	autofree char *more = NULL;
	int column;

	if (!is_settable(field))
		return;
	more = rot_format("%s%s%s%s\n%s", values ? "[" : "", values ? values : "", values ? "] " : "",
			  field->macro ? "(compiled in)" : "", field->comment ? field->comment : "");
	column = printf("      %s=%s%s%s", field->name, field->default_text ? field->default_text : "",
			*unit ? " " : "", unit);
	text_print(more, INDENT, column, stdout);
}

static json_t *
kernel_json(const struct definition *definition)
{
	json_t *fields = json_array();

	for (size_t i = 0; i < rot_class_nr_fields(definition->class); i++) {
		const struct rot_field *field = rot_class_field_at(definition->class, i);

		if (is_settable(field))
			json_array_append_new(
				fields,
				json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "name", json_text(field->name), "default",
					  json_text(field->default_text), "unit", json_text(field->unit), "values",
					  json_text(field->values), "isCompiledIn", field->macro != NULL, "description",
					  json_text(field->comment)));
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(definition->class->name), "folder",
			 json_text(definition->folder), "description", json_text(definition->class->comment), "fields",
			 fields);
}

static int
list_kernels(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	const bool has_fields = is_in_detail(context, listing);

	if (!rot)
		return -1;
	for (size_t i = 0; i < definitions_size(rot->kernels); i++) {
		const struct definition *definition = definitions_at(rot->kernels, i);
		const struct rot_class *class = definition->class;

		if (class->is_abstract || !is_asked(listing, class->name, ""))
			continue;
		listing->nr++;
		if (listing->items) {
			json_array_append_new(listing->items, kernel_json(definition));
			continue;
		}
		if (!has_fields) {
			print_short(class->name, class->comment ? class->comment : "");
			continue;
		}
		print_entry(class->name, "", class->comment ? class->comment : "");
		for (size_t field = 0; field < rot_class_nr_fields(class); field++)
			print_field(rot_class_field_at(class, field));
	}
	return 0;
}

/* ---- controllers ---- */

/* Lines of a screen, without the last one, which is about all. */
#define SCREEN_LINES 39
#define MOST_NAME_LINES 20

/* A heading and the names side by side; what is too much for a screen is counted. */
static void
print_names(const char *place, const struct controller_info *infos, size_t nr)
{
	const size_t width = print_columns();
	autofree char *names = rot_format("%s:", place);
	size_t lines = 1, column = strlen(names), nr_left = 0;

	for (size_t i = 0; i < nr; i++) {
		const size_t length = strlen(infos[i].name);

		if (strcmp(infos[i].place, place) != 0)
			continue;
		if (column + 2 + length > width) {
			lines++;
			column = 1;
		}
		column += 2 + length;
		if (lines <= MOST_NAME_LINES)
			rot_append(&names, "%s %s", names[strlen(names) - 1] == ':' ? "" : ",", infos[i].name);
		else
			nr_left++;
	}
	if (nr_left > 0)
		rot_append(&names, " and %zu more", nr_left);
	text_print(names, 2, 0, stdout);
}

/* A row for each of those that show most in the first half hour. */
static void
print_first(const struct controller_info *infos, size_t nr)
{
	static const char *const first[] = {"intro", "triad", "mmm", "daxpy", "overview", "report"};

	for (size_t k = 0; k < sizeof(first) / sizeof(*first); k++)
		for (size_t i = 0; i < nr; i++)
			if (strcmp(infos[i].name, first[k]) == 0)
				print_short(infos[i].name, infos[i].description);
}

/* Names of own controllers, and a row for each that is built in if these fit beside them; else rows of the first. */
static void
print_controllers(const struct controller_info *infos, size_t nr)
{
	static const char built_in[] = "built in";
	const char *places[2] = {NULL};
	size_t nr_rows = 0, nr_bytes = 0;

	for (size_t i = 0; i < nr; i++) {
		const bool is_own = strcmp(infos[i].place, built_in) != 0;

		nr_rows += !is_own;
		nr_bytes += is_own ? strlen(infos[i].name) + 2 : 0;
		if (is_own && strcmp(infos[i].place, places[0] ? places[0] : "") != 0)
			places[places[0] != NULL] = infos[i].place;
	}
	for (size_t i = 0; i < 2 && places[i]; i++)
		print_names(places[i], infos, nr);
	if (nr_rows + 1 + nr_bytes / 60 + (places[1] != NULL) > SCREEN_LINES) {
		print_first(infos, nr);
		print_names(built_in, infos, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		if (strcmp(infos[i].place, built_in) == 0)
			print_short(infos[i].name, infos[i].description);
}

static int
list_controllers(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	const struct paths *paths = command_paths(context, err);
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr;

	if (!paths)
		return -1;
	controllers_list(&pool, paths, &infos, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!is_asked(listing, infos[i].name, ""))
			continue;
		listing->nr++;
		if (listing->items)
			json_array_append_new(listing->items,
					      json_pack("{s:o, s:o, s:o, s:o}", "name", json_text(infos[i].name),
							"path", json_text(infos[i].path), "place",
							json_text(infos[i].place), "description",
							json_text(infos[i].description)));
		else if (is_in_detail(context, listing))
			print_entry(infos[i].name, strcmp(infos[i].place, "built in") ? infos[i].place : "",
				    infos[i].description);
	}
	if (!is_in_detail(context, listing))
		print_controllers(infos, nr);
	return 0;
}

/* ---- quantities ---- */

static void
print_words(enum word_role role, const char *title)
{
	autofree char *names = rot_strdup("");

	for (size_t i = 0; i < nr_quantity_words; i++) {

		if (quantity_words[i].role != role)
			continue;
		rot_append(&names, "%s%s", *names ? ", " : "", quantity_words[i].name);
	}
	print_entry(title, "", names);
}

static void
print_kinds(void)
{
	for (size_t i = 0; i < nr_quantity_kinds; i++) {
		const struct quantity_kind *kind = &quantity_kinds[i];
		autofree char *request = rot_format(
			"%s%s%s%s", kind->name, kind->takes[WORD_OPERATION] ? ":OPERATION" : "",
			kind->takes[WORD_BORDER] ? ":BORDER" : "", kind->takes[WORD_CLOCK] ? "[:CLOCK]" : "");

		text_print(kind->description, 41, printf("  %-38s", request), stdout);
	}
	putchar('\n');
	print_words(WORD_OPERATION, "OPERATION");
	print_words(WORD_BORDER, "BORDER");
	print_words(WORD_CLOCK, "CLOCK");
}

static int
list_quantities(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	autofree struct quantity_offer *offers = NULL;
	size_t nr;

	if (!rot)
		return -1;
	if (!is_in_detail(context, listing)) {
		print_kinds();
		return 0;
	}
	nr = quantity_offers(rot, &offers);
	for (size_t i = 0; i < nr; i++) {
		if (!is_asked(listing, offers[i].name, offers[i].of))
			continue;
		listing->nr++;
		if (listing->items)
			json_array_append_new(listing->items, quantity_offer_json(&offers[i]));
		else {
			autofree char *more = rot_format("%s [%s] %s%s%s", offers[i].of, offers[i].unit, offers[i].kind,
							 *offers[i].source ? ": " : "", offers[i].source);

			entry_print_wrapped(offers[i].name, more, offers[i].description, stdout);
		}
	}
	return 0;
}

/* ---- keys ---- */

static int
list_keys(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	(void)err;
	for (size_t i = 0; i < configuration_nr_keys; i++) {
		const struct configuration_key *key = &configuration_keys[i];
		const enum configuration_source origin = configuration_origin(context->configuration, key->name);
		const char *value = configuration_text(context->configuration, key->name);
		const bool is_default = origin == CONFIGURATION_DEFAULT;

		if (!is_asked(listing, key->name, ""))
			continue;
		listing->nr++;
		if (listing->items) {
			json_array_append_new(
				listing->items,
				json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_text(key->name), "value",
					  json_text(value), "origin", json_text(configuration_source_name(origin)),
					  "type", json_text(configuration_type_name(key->type)), "choices",
					  json_text(key->choices), "description", json_text(key->description)));
		} else if (!is_in_detail(context, listing)) {
			autofree char *name = rot_format("-%s=%s", key->name, value);
			autofree char *text = rot_format("%s%s%s%s", is_default ? "" : "(",
							 is_default ? "" : configuration_source_name(origin),
							 is_default ? "" : ") ", key->description);

			/* A value that is not the default says who set it. */
			print_short(name, text);
		} else {
			print_key(context->configuration, key);
		}
	}
	return 0;
}

/* ---- remarks ---- */

/* Prints each group's remarks behind its heading; in detail each remark in a row with its advice. */
static int
list_remarks(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	const bool is_detailed = is_in_detail(context, listing);

	(void)err;
	for (enum remark_group group = 0; group < NR_REMARK_GROUPS; group++) {
		autofree char *heading = rot_format("%s:", remark_group_words(group)), *names = rot_strdup("");
		bool is_first = true;

		for (const struct remark *remark = remark_next(group, NULL); remark;
		     remark = remark_next(group, remark)) {
			const char *name = remark->mark ? remark->mark : remark->code;

			if (!is_asked(listing, remark->code, remark->mark ? remark->mark : ""))
				continue;
			if (listing->items)
				json_array_append_new(listing->items,
						      json_pack("{s:s, s:s, s:s, s:s}", "name", remark->code, "of",
								remark_group_words(group), "meaning", remark->text,
								"advice", remark->advice));
			else if (is_detailed && is_first)
				printf("%s%s\n", listing->nr ? "\n" : "", heading);
			if (!listing->items && is_detailed)
				entry_print_wrapped(name, remark->text, remark->advice, stdout);
			rot_append(&names, "%s%s", is_first ? "" : ", ", name);
			is_first = false;
			listing->nr++;
		}
		if (!is_detailed)
			entry_print(heading, "", names, stdout);
	}
	return 0;
}

/* ---- findings ---- */

static int
list_findings(struct command_context *context, struct listing *listing, struct rot_error *err)
{
	(void)err;
	for (const struct finding_rule *rule = finding_rule_next(NULL); rule; rule = finding_rule_next(rule)) {
		autofree char *threshold = finding_threshold_text(rule), *advice = rot_format("Try %s.", rule->advice);
		const char *about = finding_about_word(rule->about);

		if (!is_asked(listing, rule->code, about))
			continue;
		listing->nr++;
		if (listing->items)
			json_array_append_new(listing->items,
					      json_pack("{s:s, s:s, s:s, s:f, s:s, s:s}", "name", rule->code, "about",
							about, "condition", rule->condition, "threshold",
							rule->threshold, "unit", rule->unit, "advice", rule->advice));
		else
			entry_print_wrapped(rule->code, threshold, is_in_detail(context, listing) ? advice : "",
					    stdout);
	}
	return 0;
}

/* ---- all ---- */

static const struct topic {
	const char *name, *summary;
	int (*list)(struct command_context *context, struct listing *listing, struct rot_error *err);
} topics[] = {
	{"controllers", "experiments that rot measure runs", list_controllers},
	{"events", "hardware and software events of this machine that can be counted", list_events},
	{"findings", "what rot run finds in programs, by which numbers, and what to try", list_findings},
	{"kernels", "code under test, with the fields that can be set", list_kernels},
	{"keys", "configuration keys with their values", list_keys},
	{"quantities", "what can be measured here, and how", list_quantities},
	{"remarks", "marks, and reasons not to trust a number, with what helps", list_remarks},
};

enum { NR_TOPICS = sizeof(topics) / sizeof(topics[0]) };

static int
unknown_topic(const char *name, struct rot_error *err)
{
	const char *names[NR_TOPICS];

	for (size_t i = 0; i < NR_TOPICS; i++)
		names[i] = topics[i].name;
	rot_error_set(err, 0, "there is nothing to list by the name '%s'", name);
	rot_nearest_hint(err, name, names, NR_TOPICS, "all topics: rot list");
	return COMMAND_USAGE;
}

static int
list_topic(struct command_context *context, const struct topic *topic, struct listing *listing, struct rot_error *err)
{
	int rc = topic->list(context, listing, err);

	if (rc == 0 && listing->items) {
		json_auto_t *json = json_pack("{s:s, s:s, s:O}", "schema", "rot.list/1", "topic", topic->name, "items",
					      listing->items);

		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	if (rc == 0 && !is_in_detail(context, listing))
		printf("rot list %s PART, or --all, describes them in full\n", topic->name);
	if (rc < 0 || listing->nr > 0 || !*listing->part)
		return rc;
	rot_error_set(err, 0, "none of the %s has '%s' in its name", topic->name, listing->part);
	return rot_error_hint(err, "'rot list %s' shows all", topic->name);
}

static int
list_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct listing listing = {.part = ""};
	const bool *is_json = options;
	int rc;

	for (size_t i = 0; i < NR_TOPICS; i++) {
		if (argc == 0)
			print_entry(topics[i].name, "", topics[i].summary);
		else if (!strcmp(topics[i].name, argv[0])) {
			listing.part = argc > 1 ? argv[1] : "";
			listing.items = *is_json ? json_array() : NULL;
			rc = list_topic(context, &topics[i], &listing, err);
			json_decref(listing.items);
			return rc;
		}
	}
	return argc == 0 ? 0 : unknown_topic(argv[0], err);
}

static void
list_complete(struct command_context *context, int i, void (*propose)(const char *word, void *to), void *to)
{
	(void)context;
	for (size_t k = 0; i == 0 && k < NR_TOPICS; k++)
		propose(topics[k].name, to);
}

const struct command list_command = {
	.name = "list",
	.arguments = "[TOPIC [PART]]",
	.summary = "kernels, controllers, events, quantities, keys, remarks or findings; with PART those with it in "
		   "their name",
	.examples =
		(const struct command_example[]){
			{"rot list controllers", "experiments to measure"},
			{"rot list kernels triad", "kernels of such a name, with their fields"},
			{"rot list keys", "all settings"},
			{"rot list events l1d", "events of this machine"},
			{0},
		},
	.description =
		"Without TOPIC: the topics. PART may be written in small letters; with it, or --all, "
		"rows are described in full: kernels have their fields, events are named, and quantities say how "
		"they are known here. 'rot help NAME' and --json say "
		"where a controller is, --json where a kernel is.",
	.nr_arguments_max = 2,
	.options = &table,
	.run = list_run,
	.complete = list_complete,
};
