/* SPDX-License-Identifier: MIT */
/* rot list TOPIC: what can be named elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "commands/list_events.h"
#include "commands/print.h"
#include "controllers/find.h"
#include "definition.h"
#include "memory.h"
#include "nearest.h"
#include "quantities/quantity.h"

static int
print_field(const struct rot_field *field, void *context)
{
	(void)context;
	if (field->is_list || field->type == ROT_REFERENCE || !strcmp(field->name, "id"))
		return 0;
	printf("      %s=%s%s%s%s%s%s%s\n          %s\n", field->name, field->default_text ? field->default_text : "",
	       field->unit && *field->unit ? " " : "", field->unit ? field->unit : "", field->values ? "  [" : "",
	       field->values ? field->values : "", field->values ? "]" : "", field->macro ? "  (compiled in)" : "",
	       field->comment ? field->comment : "");
	return 0;
}

static int
list_kernels(struct command_context *context, const char *part, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);

	if (!rot)
		return -1;
	for (size_t i = 0; i < definitions_size(rot->kernels); i++) {
		const struct definition *definition = definitions_at(rot->kernels, i);
		const struct rot_class *class = definition->class;

		if (class->is_abstract || !strstr(class->name, part))
			continue;
		print_entry(class->name, definition->folder, class->comment ? class->comment : "");
		rot_class_each_field(class, print_field, NULL);
	}
	return 0;
}

static int
list_controllers(struct command_context *context, const char *part, struct rot_error *err)
{
	const struct paths *paths = command_paths(context, err);
	struct controller_info *infos;
	size_t nr;

	if (!paths)
		return -1;
	controllers_list(paths, &infos, &nr);
	for (size_t i = 0; i < nr; i++)
		if (strstr(infos[i].name, part))
			print_entry(infos[i].name, *infos[i].path ? infos[i].path : infos[i].place,
				    infos[i].description);
	controllers_list_delete(infos, nr);
	return 0;
}

static int
list_quantities(struct command_context *context, const char *part, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);
	struct quantity_offer *offers;
	size_t nr;

	if (!rot)
		return -1;
	nr = quantity_offers(rot, &offers);
	for (size_t i = 0; i < nr; i++) {
		const struct quantity_offer *offer = &offers[i];
		char *more = rot_format("%s  [%s] %s%s%s", offer->of, offer->unit, offer->kind,
					*offer->source ? ": " : "", offer->source);

		if (strstr(offer->name, part))
			print_entry(offer->name, more, offer->description);
		free(more);
	}
	free(offers);
	return 0;
}

static int
list_keys(struct command_context *context, const char *part, struct rot_error *err)
{
	(void)err;
	for (size_t i = 0; i < configuration_nr_keys; i++)
		if (strstr(configuration_keys[i].name, part))
			print_key(context->configuration, &configuration_keys[i]);
	return 0;
}

static const struct topic {
	const char *name, *summary;
	int (*list)(struct command_context *context, const char *part, struct rot_error *err);
} topics[] = {
	{"controllers", "experiments that rot measure runs", list_controllers},
	{"events", "hardware and software events of this machine that can be counted", list_events},
	{"kernels", "code under test, with the fields that can be set", list_kernels},
	{"keys", "configuration keys with their values", list_keys},
	{"quantities", "what can be measured here, and how", list_quantities},
};

enum { NR_TOPICS = sizeof(topics) / sizeof(topics[0]) };

static int
unknown_topic(const char *name, struct rot_error *err)
{
	const char *names[NR_TOPICS];
	const char *nearest;

	for (size_t i = 0; i < NR_TOPICS; i++)
		names[i] = topics[i].name;
	nearest = rot_nearest(name, names, NR_TOPICS);
	rot_error_set(err, 0, "there is nothing to list by the name '%s'", name);
	if (nearest)
		rot_error_hint(err, "did you mean '%s'? All topics: rot list", nearest);
	else
		rot_error_hint(err, "all topics: rot list");
	return COMMAND_USAGE;
}

static int
list_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	for (size_t i = 0; i < NR_TOPICS; i++) {
		if (argc == 0)
			print_entry(topics[i].name, "", topics[i].summary);
		else if (!strcmp(topics[i].name, argv[0]))
			return topics[i].list(context, argc > 1 ? argv[1] : "", err);
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
	.summary = "kernels, controllers, events, quantities or keys; with PART those with it in their name",
	.description = "Without TOPIC: the topics.",
	.nr_arguments_max = 2,
	.run = list_run,
	.complete = list_complete,
};
