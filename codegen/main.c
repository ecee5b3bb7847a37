/* SPDX-License-Identifier: MIT */
/* rot-codegen: writes C from the definitions below folders. */
#include <getopt.h>
#include <libxml/parser.h>
#include <stdio.h>

#include "definition.h"

static const char usage[] =
	"usage: rot-codegen --output FOLDER --set NAME [--known FOLDER]... FOLDER...\n"
	"Writes a header for each class definition (*.xml) below the FOLDERs, and NAME.h and NAME.c with\n"
	"the descriptors. Definitions below --known folders may be referred to, and are not written.\n";

struct arguments {
	const char *output, *set;
	struct definitions *known, *definitions;
};

/* 0, -1 after an error, 1 for wrong usage. */
static int
read_arguments(struct arguments *arguments, int argc, char **argv, struct rot_error *err)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"set", required_argument, NULL, 's'},
		{"known", required_argument, NULL, 'k'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'o')
			arguments->output = optarg;
		else if (option == 's')
			arguments->set = optarg;
		else if (option != 'k')
			return 1;
		else if (definitions_load_folder(arguments->known, optarg, err) < 0)
			return -1;
	}
	if (!arguments->output || !arguments->set || optind == argc)
		return 1;
	for (; optind < argc; optind++)
		if (definitions_load_folder(arguments->definitions, argv[optind], err) < 0)
			return -1;
	return 0;
}

static int
generate(const struct arguments *arguments, struct rot_error *err)
{
	struct rot_registry *registry = rot_registry_new();
	int rc = definitions_resolve(arguments->known, NULL, err);

	for (size_t i = 0; rc == 0 && i < definitions_size(arguments->known); i++)
		rc = rot_registry_add(registry, definitions_at(arguments->known, i)->class, err);
	if (rc == 0)
		rc = definitions_resolve(arguments->definitions, registry, err);
	if (rc == 0)
		rc = definitions_write_c(arguments->definitions, arguments->output, arguments->set, err);
	rot_registry_delete(registry);
	return rc;
}

int
main(int argc, char **argv)
{
	struct arguments arguments = {.known = definitions_new(), .definitions = definitions_new()};
	struct rot_error err = {0};
	int rc = read_arguments(&arguments, argc, argv, &err);

	if (rc == 0)
		rc = generate(&arguments, &err);
	if (rc > 0)
		fputs(usage, stderr);
	else if (rc < 0)
		fprintf(stderr, "rot-codegen: %s\n%s%s", err.text, err.hint, err.hint[0] ? "\n" : "");
	definitions_delete(arguments.definitions);
	definitions_delete(arguments.known);
	xmlCleanupParser();
	return rc > 0 ? 2 : -rc;
}
