/* SPDX-License-Identifier: MIT */
/* The driver: settings and arguments, the command, and the one place that prints errors and chooses the exit status. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entry.h"
#include "base/process.h"
#include "commands/command.h"
#include "engine/monitor.h"
#include "memory.h"
#include "nearest.h"
#include "planning/controller_file.h"

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

/*
 * A stream that was closed by who started us is taken by something that cannot be used, so that no result file gets its
 * number.
 */
static void
occupy_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			return;
}

/* "rot: TEXT", and the hint below it. */
static void
print_error(const struct rot_error *err)
{
	autofree char *text = rot_format("rot: %s", err->text);

	for (const char *line = err->hint; *line; line += strspn(line, "\n")) {
		const int length = (int)strcspn(line, "\n");
		rot_append(&text, "\n     %.*s", length, line);

		line += length;
	}
	fflush(stdout);
	text_print_message(text, stderr);
}

/* Files below the command line, which is in configuration already only as far as it names them. */
static int
load_files(struct configuration *configuration, struct rot_error *err)
{
	char *path = paths_default_config_file();
	int rc = configuration_load(configuration, CONFIGURATION_DEFAULT_FILE, path, false, err);

	free(path);
	if (rc < 0)
		return -1;
	path = paths_user_config_file(configuration);
	rc = configuration_load(configuration, CONFIGURATION_USER_FILE, path,
				*configuration_string(configuration, "userConfigFile") != '\0', err);
	free(path);
	return rc;
}

/*
 * Files first, then the keys of the command line, so that a bare -key turns over what the files say. One of the keys
 * may name the user's file.
 */
static int
configure(struct configuration *configuration, char *const *keys, size_t nr, struct rot_error *err)
{
	static const char user_file[] = "userConfigFile=";

	for (size_t i = 0; i < nr; i++)
		if (strncmp(keys[i] + strspn(keys[i], "-"), user_file, strlen(user_file)) == 0 &&
		    configuration_take_word(configuration, keys[i], err) < 0)
			return COMMAND_USAGE;
	if (load_files(configuration, err) < 0)
		return -1;
	for (size_t i = 0; i < nr; i++)
		if (configuration_take_word(configuration, keys[i], err) < 0)
			return COMMAND_USAGE;
	return 0;
}

/* A word that is neither an option of the command nor a key: the nearest is told as the documents write it. */
static int
unknown_option(const struct command *command, const char *word, struct rot_error *err)
{
	const size_t nr_rows = command->options->nr, nr = nr_rows + configuration_nr_keys + configuration_nr_shorts;
	autofree const char **names = rot_calloc(nr, sizeof(*names));
	const char *nearest;
	autofree char *name = rot_strndup(word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "="));
	bool is_option = false;

	for (size_t i = 0; i < nr; i++)
		names[i] = i < nr_rows                           ? command->options->rows[i].name
			   : i < nr_rows + configuration_nr_keys ? configuration_keys[i - nr_rows].name
								 : configuration_shorts[nr - 1 - i].word;
	nearest = rot_nearest(name, names, nr);
	for (size_t i = 0; nearest && i < nr_rows; i++)
		is_option = is_option || names[i] == nearest;
	rot_error_set(err, 0, "'%s' is neither an option of 'rot %s' nor a configuration key", word, command->name);
	if (nearest)
		rot_error_hint(err, "did you mean '%s%s'? More: rot help %s, rot list keys",
			       is_option && nearest[1] ? "--" : "-", nearest, command->name);
	else
		rot_error_hint(err, "more: rot help %s, rot list keys", command->name);
	return COMMAND_USAGE;
}

static bool
is_key(const char *word)
{
	autofree char *name = rot_strndup(word + strspn(word, "-"), strcspn(word + strspn(word, "-"), "="));

	return configuration_key_find(name) != NULL;
}

static int
usage_error(const struct command *command, struct rot_error *err)
{
	autofree char *usage = command_usage(command);

	rot_error_set(err, 0, "wrong number of arguments for '%s'", command->name);
	rot_error_hint(err, "usage: %s", usage);
	return COMMAND_USAGE;
}

/* Words with a dash that are no options of the command. */
struct strangers {
	const struct command *command; /* that has options; NULL: not known yet, or it has none */
	char **keys;
	size_t nr_keys;
	const char *unknown; /* the first that is neither an option nor a key */
	bool wants_help;
};

/* An option_stranger. */
static void
take_stranger(void *context, char *word)
{
	struct strangers *strangers = context;

	if (!strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "-help"))
		strangers->wants_help = true;
	else if (strangers->command && !is_key(word))
		strangers->unknown = strangers->unknown ? strangers->unknown : word;
	else
		strangers->keys[strangers->nr_keys++] = word;
}

/* The place of the command's name, or argc. Keys stand before it; "rot --version" is "rot version". */
static int
find_name(int argc, char **argv, struct strangers *strangers)
{
	static char version[] = "version";
	int at = 1;

	for (; at < argc && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--") != 0; at++) {
		if (!strcmp(argv[at], "-v") || !strcmp(argv[at], "-V") || !strcmp(argv[at], "--version") ||
		    !strcmp(argv[at], "-version")) {
			argv[argc - 1] = version;
			return argc - 1;
		}
		take_stranger(strangers, argv[at]);
	}
	return at < argc && strcmp(argv[at], "--") == 0 ? at + 1 : at;
}

/* name: NULL if none is given. The unknown name of a command may be that of a controller, to be measured. */
static int
no_command(struct command_context *context, const char *name, struct rot_error *err)
{
	const struct paths *paths = name ? command_paths(context, NULL) : NULL;
	autofree char *file = paths ? controller_find_file(paths, name) : NULL;

	if (name) {
		command_find(name, err);
	} else {
		rot_error_set(err, 0, "no command given");
		rot_error_hint(err, "rot measure CONTROLLER measures, rot help says what else there is");
	}
	if (file)
		rot_error_hint(err, "to measure the controller of that name: rot measure %s", name);
	return COMMAND_USAGE;
}

/* Finds and runs the command; *command is set as soon as it is known. "rot COMMAND --help" is "rot help COMMAND". */
static int
run_command_line(struct command_context *context, int argc, char **argv, const struct command **command,
		 struct rot_error *err)
{
	autofree char **keys = rot_calloc((size_t)argc + 1, sizeof(*keys));
	struct strangers strangers = {.keys = keys};
	const int at = find_name(argc, argv, &strangers);
	char *name = at < argc ? argv[at] : NULL;
	const struct option_table *table;
	void *values;
	int rc = 0;

	*command = name ? command_find(name, NULL) : NULL;
	table = *command ? (*command)->options : NULL;
	values = option_values_new(table);
	strangers.command = table ? *command : NULL;
	argv += name ? at + 1 : at;
	argc -= name ? at + 1 : at;
	const bool is_raw = *command && (*command)->is_raw;

	if (!is_raw)
		rc = options_take(table, values, &argc, argv, take_stranger, &strangers, err);
	if (strangers.wants_help) {
		*command = &help_command;
		argv = &name;
		argc = name != NULL;
		rc = 0;
	} else if (rc < 0) {
		if (!*err->hint)
			rot_error_hint(err, "all options: rot help %s", name);
		rc = COMMAND_USAGE;
	} else if (strangers.unknown) {
		rc = unknown_option(*command, strangers.unknown, err);
	} else if (!is_raw) {
		rc = configure(context->configuration, keys, strangers.nr_keys, err);
	}
	if (rc == 0 && !*command)
		rc = no_command(context, name, err);
	else if (rc == 0 && (argc < (*command)->nr_arguments_min || argc > (*command)->nr_arguments_max))
		rc = usage_error(*command, err);
	else if (rc == 0)
		rc = (*command)->run(context, values, argc, argv, err);
	option_values_delete(table, values);
	return rc;
}

/* Makes sure that all output has arrived. 0 or -1, without a message if its reader has seen enough (head). */
static int
finish_output(bool *has_no_reader, struct rot_error *err)
{
	struct pollfd reader = {.fd = STDOUT_FILENO};

	errno = 0;
	if (fflush(stdout) != EOF && !ferror(stdout))
		return 0;
	*has_no_reader = poll(&reader, 1, 0) == 1 && reader.revents & POLLERR;
	if (*has_no_reader)
		return -1;
	rot_error_set(err, errno, "cannot write to standard output");
	return rot_error_hint(err, "it is closed, or on a full disk");
}

/* Output that cannot be written is a failure, whatever the command found, or the program it ran. */
static int
exit_status(const struct command_context *context, int rc)
{
	if (context->has_status)
		return context->status || rc == 0 ? context->status : STATUS_FAILED;
	if (rot_interrupted())
		return STATUS_INTERRUPTED;
	return rc == 0 ? STATUS_DONE : rc == COMMAND_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

int
main(int argc, char **argv)
{
	static struct rot_error err;
	struct command_context context = {.configuration = configuration_new()};
	const struct command *command = NULL;
	autofree const char **typed = rot_calloc((size_t)argc + 1, sizeof(*typed));
	bool has_no_reader = false, has_measured;
	int rc;

	for (int i = 1; i < argc; i++)
		typed[i - 1] = argv[i];
	context.command_line = typed;
	occupy_standard_streams();
	process_ignore_signals();
	rc = run_command_line(&context, argc, argv, &command, &err);
	if (rc == 0)
		rc = finish_output(&has_no_reader, &err);
	has_measured = command && command->has_time_report && context.is_rot_open;
	if (rc < 0 && rot_interrupted() && has_measured &&
	    configuration_bool(context.configuration, "useCachedResults"))
		rot_error_hint(&err, "runs that have ended are kept: the same command goes on from there");
	if (rc < 0 && *err.text)
		print_error(&err);
	if ((rc == 0 || rot_interrupted()) && has_measured && configuration_bool(context.configuration, "timeReport") &&
	    !configuration_bool(context.configuration, "quiet"))
		monitor_print(context.rot.monitor, stderr);
	rc = exit_status(&context, rc);
	command_context_close(&context);
	if (has_no_reader) {
		/* The signal ends rot, as it does programs that only write output. */
		process_restore_signals();
		raise(SIGPIPE);
	}
	return rc;
}
