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

#include "commands/command.h"
#include "measuring/monitor.h"
#include "memory.h"
#include "nearest.h"
#include "planning/controller_places.h"
#include "support/entry.h"
#include "support/process.h"

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
 * Files first, then the command line, so that a bare -key turns over what the files say. The command line is read
 * twice: it may name the user's file.
 */
static int
configure(struct configuration *configuration, int *argc, char **argv, struct rot_error *err)
{
	int copy_argc = *argc, rc;
	char **copy = rot_calloc((size_t)*argc + 1, sizeof(*copy));

	memcpy(copy, argv, (size_t)*argc * sizeof(*copy));
	configuration_push(configuration);
	rc = configuration_take_arguments(configuration, &copy_argc, copy, err);
	free(copy);
	if (rc < 0)
		return COMMAND_USAGE;
	copy = NULL;
	autofree char *user_file = rot_strdup(configuration_string(configuration, "userConfigFile"));

	configuration_pop(configuration);
	if (*user_file)
		configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "userConfigFile", user_file, NULL);
	if (load_files(configuration, err) < 0)
		return -1;
	return configuration_take_arguments(configuration, argc, argv, err) < 0 ? COMMAND_USAGE : 0;
}

static bool
is_help(const char *argument)
{
	return !strcmp(argument, "-h") || !strcmp(argument, "--help") || !strcmp(argument, "-help");
}

static bool
is_version(const char *argument)
{
	return !strcmp(argument, "-v") || !strcmp(argument, "-V") || !strcmp(argument, "--version") ||
	       !strcmp(argument, "-version");
}

/* The word that names the command, or argc: the first one without a dash. */
static int
command_index(int argc, char *const *argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
		i++;
	return i < argc && argv[i][0] != '-' ? i : argc;
}

/* How many words are ours: all, or those before the arguments of another program. */
static int
nr_own_words(int argc, char *const *argv)
{
	int i = command_index(argc, argv);
	const struct command *command = i < argc ? command_find(argv[i], NULL) : NULL;

	if (!command || !command->options)
		return argc;
	for (i++; i < argc;) {
		int length = options_length(command->options, argc - i, argv + i);

		if (length < 0)
			return i;
		i += length ? length : 1;
	}
	return argc;
}

/*
 * "rot --help" is "rot help", "rot COMMAND --help" is "rot help COMMAND", "rot --version" is "rot version", as is "rot
 * -V". words has room for the program's name, two words and NULL.
 */
static bool
translate(int argc, char **argv, char **words)
{
	static char help[] = "help", version[] = "version";
	int i, command = 0;

	argc = nr_own_words(argc, argv);
	words[0] = argv[0];
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!command && !strcmp(argv[i], "complete"))
			return false;
		if (!command && argv[i][0] != '-')
			command = i;
		if (is_help(argv[i])) {
			words[1] = help;
			words[2] = command ? argv[command] : NULL;
			words[3] = NULL;
			return true;
		}
		if (!command && is_version(argv[i])) {
			words[1] = version;
			words[2] = NULL;
			return true;
		}
	}
	return false;
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

/*
 * Of a command that has options of its own, and maybe another program's arguments: takes the configuration keys out,
 * and leaves the program's name, the command, its options and other words, of which nr_words is the number.
 */
static int
configure_own_words(struct configuration *configuration, int *argc, char **argv, int *nr_words, struct rot_error *err)
{
	const int nr_own = nr_own_words(*argc, argv), at = command_index(*argc, argv);
	const struct command *command = command_find(argv[at], NULL);
	autofree char **keys = rot_calloc((size_t)*argc + 1, sizeof(*keys));
	autofree char **rest = rot_calloc((size_t)*argc + 1, sizeof(*rest));
	int nr_keys = 0, nr_rest = 0, rc = 0;

	*nr_words = 0;
	for (int i = 0; i < at; i++)
		keys[nr_keys++] = argv[i];
	rest[nr_rest++] = argv[0];
	rest[nr_rest++] = argv[at];
	for (int i = at + 1; i < *argc && rc == 0; i++) {
		int length = i < nr_own ? options_length(command->options, *argc - i, argv + i) : 1;

		if (length == 0 && !is_key(argv[i]))
			rc = unknown_option(command, argv[i], err);
		else if (length == 0)
			keys[nr_keys++] = argv[i];
		else
			rest[nr_rest++] = argv[i];
		if (length == 2)
			rest[nr_rest++] = argv[++i];
		else if (length == 1 && (i > nr_own || argv[i][0] != '-' || !argv[i][1]))
			++*nr_words;
	}
	memcpy(argv, rest, (size_t)nr_rest * sizeof(*rest));
	argv[nr_rest] = NULL;
	*argc = nr_rest;
	if (rc == 0)
		rc = configure(configuration, &nr_keys, keys, err);
	return rc;
}

static int
usage_error(const struct command *command, struct rot_error *err)
{
	autofree char *usage = command_usage(command);

	rot_error_set(err, 0, "wrong number of arguments for '%s'", command->name);
	rot_error_hint(err, "usage: %s", usage);
	return COMMAND_USAGE;
}

/* What is no command may be what somebody wants to measure. */
static int
unknown_command(struct command_context *context, const char *name, struct rot_error *err)
{
	const struct paths *paths = command_paths(context, NULL);
	autofree char *file = paths ? controller_find_file(paths, name) : NULL;

	if (file)
		rot_error_hint(err, "to measure the controller of that name: rot measure %s", name);
	return COMMAND_USAGE;
}

/* Finds and runs the command; *command is set as soon as it is known. */
static int
run_command_line(struct command_context *context, int argc, char **argv, const struct command **command,
		 struct rot_error *err)
{
	bool is_raw = argc > 1 && (*command = command_find(argv[1], NULL)) && (*command)->is_raw;
	int at = command_index(argc, argv), nr_words = 0, rc = 0;
	bool has_options = at < argc && (*command = command_find(argv[at], NULL)) && (*command)->options;

	if (has_options)
		rc = configure_own_words(context->configuration, &argc, argv, &nr_words, err);
	else if (!is_raw)
		rc = configure(context->configuration, &argc, argv, err);
	if (rc < 0)
		return rc;
	is_raw = is_raw || has_options;
	/* "--" only says where keys end. */
	for (int i = 1; i < argc && !is_raw; i++) {
		if (!strcmp(argv[i], "--")) {
			memmove(&argv[i], &argv[i + 1], (size_t)(argc - i) * sizeof(*argv));
			argc--;
			break;
		}
	}
	if (argc < 2) {
		rot_error_set(err, 0, "no command given");
		rot_error_hint(err, "rot measure CONTROLLER measures, rot help says what else there is");
		return COMMAND_USAGE;
	}
	*command = command_find(argv[1], err);
	if (!*command)
		return unknown_command(context, argv[1], err);
	if (!has_options)
		nr_words = argc - 2;
	if (nr_words < (*command)->nr_arguments_min || nr_words > (*command)->nr_arguments_max)
		return usage_error(*command, err);
	return (*command)->run(context, argc - 2, argv + 2, err);
}

/* What was printed has arrived; 0 or -1, without a message if its reader has seen enough (head). */
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

/* What cannot be written is a failure whatever the command found, or the program it ran. */
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
	char *words[4];
	const char **typed = rot_calloc((size_t)argc + 1, sizeof(*typed));
	bool has_no_reader = false;
	int rc;

	for (int i = 1; i < argc; i++)
		typed[i - 1] = argv[i];
	context.command_line = typed;
	occupy_standard_streams();
	process_ignore_signals();
	if (translate(argc, argv, words)) {
		argv = words;
		argc = words[2] ? 3 : 2;
	}
	rc = run_command_line(&context, argc, argv, &command, &err);
	if (rc == 0)
		rc = finish_output(&has_no_reader, &err);
	if (rc < 0 && *err.text)
		print_error(&err);
	if ((rc == 0 || rot_interrupted()) && command && command->has_time_report && context.is_rot_open &&
	    configuration_bool(context.configuration, "timeReport") &&
	    !configuration_bool(context.configuration, "quiet"))
		monitor_print(context.rot.monitor, stderr);
	rc = exit_status(&context, rc);
	command_context_close(&context);
	free(typed);
	if (has_no_reader) {
		/* As programs end that were not busy with more than their output. */
		process_restore_signals();
		raise(SIGPIPE);
	}
	return rc;
}
