/* SPDX-License-Identifier: MIT */
/* The child: reads a MeasurementCommand, performs it, writes a MeasurementCommandOutput or a CoreFailure. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child/command.h"
#include "child/journal.h"
#include "child/kernels.h"
#include "common/output.h"

static const char usage[] = "usage: child --command FILE --output FILE [--wire FD] [--journal FILE]\n";

struct options {
	const char *command, *output, *journal;
	int wire;
};

static int
parse_options(int argc, char **argv, struct options *options)
{
	static const struct option table[] = {
		{"command", required_argument, NULL, 'c'},
		{"output", required_argument, NULL, 'o'},
		{"wire", required_argument, NULL, 'w'},
		{"journal", required_argument, NULL, 'j'},
		{0},
	};
	char *end = NULL;
	int option;

	*options = (struct options){.wire = -1};
	while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (option == 'c')
			options->command = optarg;
		else if (option == 'o')
			options->output = optarg;
		else if (option == 'j')
			options->journal = optarg;
		else if (option == 'w')
			options->wire = (int)strtol(optarg, &end, 10);
		else
			return -1;
	}
	if (end && *end != '\0')
		return -1;
	return optind == argc && options->command && options->output ? 0 : -1;
}

static int
write_failure(const struct failure *failure, const char *path, struct rot_error *err)
{
	struct core_failure *output = core_failure_new();
	int rc;

	rot_string_set(&output->attempted, failure->error.text);
	rot_string_set(&output->hint, failure->error.hint);
	rot_string_set(&output->kind, failure_kind_name(failure->kind));
	rc = output_write(output, path, err);
	rot_graph_delete(output);
	return rc;
}

static struct measurement_command *
read_command(const struct rot_registry *registry, const char *path, struct rot_error *err)
{
	FILE *in = fopen(path, "re");
	struct measurement_command *command;
	void *read;

	if (!in) {
		rot_error_set(err, errno, "cannot read the command '%s'", path);
		return NULL;
	}
	read = rot_text_read(registry, in, path, err);
	fclose(in);
	command = rot_cast(read, &measurement_command_class);
	if (read && !command) {
		rot_error_set(err, 0, "'%s' holds a %s instead of a MeasurementCommand", path,
			      ROT_ENTITY(read)->class->name);
		rot_graph_delete(read);
	}
	return command;
}

/* The output, or NULL and the failure. */
static struct measurement_command_output *
perform_request(const struct options *options, struct failure *failure)
{
	struct rot_registry *registry = rot_registry_new();
	struct measurement_command_output *output = NULL;
	struct measurement_command *command = NULL;
	struct notifier notifier;
	struct rot_error error;

	notifier_init(&notifier, options->wire);
	if (rot_registry_add_all(registry, entities, &error) == 0 &&
	    rot_registry_add_all(registry, kernel_entities, &error) == 0)
		command = read_command(registry, options->command, &error);
	if (command) {
		kernel_kept_folder_set(command->kept_folder);
		kernel_memory_limit_set((size_t)command->memory_bytes);
		output = command_perform(command, &notifier, failure);
	} else {
		failure_record(failure, FAILURE_ERROR, &error);
	}
	rot_graph_delete(command);
	notifier_clear(&notifier);
	rot_registry_delete(registry);
	return output;
}

int
main(int argc, char **argv)
{
	struct measurement_command_output *output;
	struct failure failure = FAILURE_NONE;
	struct options options;
	struct rot_error error;
	int rc;

	if (parse_options(argc, argv, &options) < 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (options.journal)
		journal_open();
	kernel_folder_set(options.command);
	output = perform_request(&options, &failure);
	rc = output ? output_write(output, options.output, &error) : write_failure(&failure, options.output, &error);
	if (rc == 0 && options.journal)
		rc = journal_write(options.journal, &error);
	if (rc < 0)
		fprintf(stderr, "child: %s\n", error.text);
	rot_graph_delete(output);
	journal_close();
	return rc == 0 && !failure.happened ? 0 : 1;
}
