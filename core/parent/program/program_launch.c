/* SPDX-License-Identifier: MIT */
#include "parent/program/program_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "memory.h"
#include "parent/program/process_usage.h"

enum step {
	STEP_EXECUTE,
	STEP_SEARCH, /* no folder of PATH has it */
	STEP_INTERPRETER,
	STEP_FOLDER,
	STEP_DIRECTORY,
	STEP_STANDARD_INPUT,
	STEP_STANDARD_OUTPUT,
};

struct seed {
	const struct program *program;
	const struct loop *loop;
	const struct rlimit *files;
	struct program_begin *begin;
};

/* ---- in the new process ---- */

static struct launch_failure
failed(enum step step, int reason)
{
	return (struct launch_failure){.step = (int)step, .reason = reason};
}

static bool
is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Unlike execvp, leaves a script without a first line to whoever wrote it instead of guessing a shell. */
static struct launch_failure
execute_program(const struct seed *seed, const char *path, char **arguments)
{
	int reason;

	*seed->begin = (struct program_begin){clock_raw_ns(), process_usage_cpu_ns(getpid())};
	execv(path, arguments);
	reason = errno;
	if (reason == EACCES && is_folder(path))
		return failed(STEP_DIRECTORY, EISDIR);
	return failed(reason == ENOENT && access(path, F_OK) == 0 ? STEP_INTERPRETER : STEP_EXECUTE, reason);
}

/* The next file of that name in the folders of *path, which is moved behind it; NULL: none. Free it. */
static char *
next_candidate(const char **path, const char *name)
{
	while (*path) {
		const char *end = strchrnul(*path, ':');
		char *candidate = rot_format("%.*s%s%s", (int)(end - *path), *path, end == *path ? "./" : "/", name);

		*path = *end ? end + 1 : NULL;
		if (access(candidate, F_OK) == 0 && !is_folder(candidate))
			return candidate;
		free(candidate);
	}
	return NULL;
}

static const char *
default_path(const char *path)
{
	return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

/* Like a shell: the first that can be executed; if there is none, the first that could not tells why. */
static struct launch_failure
search_and_execute(const struct seed *seed, char **arguments)
{
	const char *path = default_path(getenv("PATH"));
	struct launch_failure failure = failed(STEP_SEARCH, ENOENT);
	char *candidate;

	while ((candidate = next_candidate(&path, seed->program->executable))) {
		struct launch_failure latest = execute_program(seed, candidate, arguments);

		if (latest.reason != EACCES)
			return latest;
		if (failure.step == STEP_SEARCH)
			failure = latest;
	}
	return failure;
}

/* path "": the stream stays what it is. */
static int
redirect(int stream, const char *path, int flags)
{
	int fd = *path ? open(path, flags | O_CLOEXEC, 0666) : -1;

	return !*path || (fd >= 0 && dup2(fd, stream) >= 0) ? 0 : -1;
}

static struct launch_failure
become_program(void *context)
{
	const struct seed *seed = context;
	const struct program *program = seed->program;
	size_t nr = program_nr_arguments(program);
	char **arguments = rot_calloc(nr + 2, sizeof(*arguments)); /* ends with this process */

	loop_restore_signals(seed->loop);
	setrlimit(RLIMIT_NOFILE, seed->files);
	arguments[0] = program->executable;
	for (size_t i = 0; i < nr; i++)
		arguments[i + 1] = (char *)program_arguments_at(program, i);
	if (redirect(STDIN_FILENO, program->standard_input, O_RDONLY) < 0)
		return failed(STEP_STANDARD_INPUT, errno);
	if (redirect(STDOUT_FILENO, program->standard_output, O_WRONLY | O_CREAT | O_TRUNC) < 0)
		return failed(STEP_STANDARD_OUTPUT, errno);
	if (*program->folder && chdir(program->folder) < 0)
		return failed(STEP_FOLDER, errno);
	for (size_t i = 0; i < program_nr_environment(program); i++)
		putenv((char *)program_environment_at(program, i));
	if (!*program->executable)
		return failed(STEP_SEARCH, ENOENT);
	if (strchr(program->executable, '/'))
		return execute_program(seed, program->executable, arguments);
	return search_and_execute(seed, arguments);
}

int
program_prepare(struct launch *launch, const struct program *program, const struct loop *loop,
		const struct rlimit *files, struct program_begin *begin, struct rot_error *err)
{
	struct seed seed = {program, loop, files, begin};

	*launch = LAUNCH_NONE;
	if (launch_fork(launch, become_program, &seed, err) < 0)
		return rot_error_prefix(err, "program '%s'", program->executable);
	return 0;
}

/* ---- in this one ---- */

static char *
in_folder(const struct program *program, char *path)
{
	char *result =
		*path == '/' || !*program->folder ? rot_strdup(path) : rot_format("%s/%s", program->folder, path);

	free(path);
	return result;
}

char *
program_path(const struct program *program)
{
	const char *path = getenv("PATH");
	char *candidate;

	if (strchr(program->executable, '/'))
		return in_folder(program, rot_strdup(program->executable));
	for (size_t i = 0; i < program_nr_environment(program); i++)
		if (strncmp(program_environment_at(program, i), "PATH=", 5) == 0)
			path = program_environment_at(program, i) + 5;
	for (path = default_path(path); (candidate = next_candidate(&path, program->executable)); free(candidate))
		if (access(candidate, X_OK) == 0)
			return in_folder(program, candidate);
	return rot_strdup("");
}

static const struct {
	int reason;
	const char *hint;
} reason_hints[] = {
	{EACCES,
	 "it must be a file that may be executed: 'chmod +x' allows it, unless its file system is mounted noexec"},
	{ENOEXEC,
	 "it is neither a program of this machine nor a script that names its interpreter: give it a first line such "
	 "as '#!/bin/sh', or run the interpreter: sh SCRIPT"},
	{ENOENT, "is the path right? it counts from the folder the program runs in"},
	{E2BIG, "arguments and environment are too long together"},
	{ETXTBSY, "somebody is writing to it"},
};

/* kind NULL: notFound or notExecutable, by the reason. hint NULL: by the reason. */
static const struct {
	const char *kind, *format, *hint;
} steps[] = {
	[STEP_EXECUTE] = {NULL, "cannot run '%s'", NULL},
	[STEP_SEARCH] = {"notFound", "cannot find the program '%s' in PATH",
			 "a program that is not in PATH needs its folder in front: ./NAME"},
	[STEP_INTERPRETER] =
		{"notExecutable", "cannot run '%s': the interpreter or loader that it names is missing",
		 "see its first line, or 'readelf -l' for a binary; 32-bit programs need 32-bit libraries"},
	[STEP_FOLDER] = {"error", "cannot run in folder '%s'", ""},
	[STEP_DIRECTORY] = {"notExecutable", "cannot run '%s', a folder", ""},
	[STEP_STANDARD_INPUT] = {"error", "cannot read standard input from '%s'", ""},
	[STEP_STANDARD_OUTPUT] = {"error", "cannot write standard output to '%s'", ""},
};

struct core_failure *
program_explain(const struct program *program, const struct launch_failure *failure)
{
	struct core_failure *result = core_failure_new();
	bool is_missing = failure->reason == ENOENT || failure->reason == ENOTDIR;
	const char *subject = program->executable, *kind = steps[failure->step].kind, *hint = steps[failure->step].hint;
	struct rot_error err;

	if (failure->step == STEP_FOLDER)
		subject = program->folder;
	else if (failure->step == STEP_STANDARD_INPUT)
		subject = program->standard_input;
	else if (failure->step == STEP_STANDARD_OUTPUT)
		subject = program->standard_output;
	for (size_t i = 0; !hint && i < sizeof(reason_hints) / sizeof(reason_hints[0]); i++)
		if (reason_hints[i].reason == failure->reason)
			hint = reason_hints[i].hint;
	rot_error_set(&err, failure->reason, steps[failure->step].format, subject);
	rot_string_set(&result->attempted, err.text);
	rot_string_set(&result->hint, hint ? hint : "");
	rot_string_set(&result->kind, kind ? kind : is_missing ? "notFound" : "notExecutable");
	result->number = failure->reason;
	return result;
}
