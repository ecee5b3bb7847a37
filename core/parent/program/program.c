/* SPDX-License-Identifier: MIT */
#include "parent/program/program.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ProgramRunOutput.h"
#include "ProgramThreadOutput.h"
#include "common/clock.h"
#include "common/output.h"
#include "entities.h"
#include "entity.h"
#include "memory.h"
#include "parent/program/itt_tasks.h"
#include "parent/program/program_launch.h"
#include "parent/program/program_rules.h"
#include "parent/program/program_run.h"
#include "parent/supervisor/progress.h"

/*
 * They ask this process to end, or reach it only because it shares the terminal with the program. It does not stop with
 * the program, which may have much to do before it stops, and needs its tracer for it.
 */
static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, 0};

/* ---- what all runs share ---- */

void
session_warn(struct session *session, const char *format, ...)
{
	struct program_command_output *output = session->output;
	char text[sizeof(struct rot_error)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < program_command_output_nr_warnings(output); i++)
		if (strcmp(program_command_output_warnings_at(output, i), text) == 0)
			return;
	program_command_output_warnings_add(output, text);
}

void *
session_fail(struct session *session, const char *kind, const struct rot_error *err)
{
	session->failure = core_failure_new();
	rot_string_set(&session->failure->kind, kind);
	rot_string_set(&session->failure->attempted, err->text);
	rot_string_set(&session->failure->hint, err->hint);
	return NULL;
}

/* ---- the command ---- */

static struct program_command *
read_command(const char *path, struct rot_error *err)
{
	struct rot_registry *registry = rot_registry_new();
	FILE *file = fopen(path, "re");
	void *root = NULL;
	struct program_command *command = NULL;

	if (!file)
		rot_error_set(err, errno, "cannot read '%s'", path);
	else if (rot_registry_add_all(registry, entities, err) == 0)
		root = rot_text_read(registry, file, path, err);
	if (root) {
		command = rot_cast(root, &program_command_class);
		if (!command) {
			rot_error_set(err, 0, "'%s' holds no ProgramCommand: it is a %s", path,
				      ROT_ENTITY(root)->class->name);
			rot_graph_delete(root);
		}
	}
	if (file)
		fclose(file);
	rot_registry_delete(registry);
	return command;
}

static int
check_command(const struct program_command *command, struct rot_error *err)
{
	size_t nr = program_command_nr_passes(command);

	if (nr == 0 || command->run_count < 1)
		return rot_error_set(err, 0, "the command asks for %d runs of %zu passes: nothing to do",
				     command->run_count, nr);
	for (size_t i = 0; i < nr; i++)
		if (!program_command_passes_at(command, i))
			return rot_error_set(err, 0, "pass %zu of the command is missing", i);
	if (!command->program && command->process_id <= 0)
		return rot_error_set(err, 0, "the command names neither a program nor a process");
	if (command->program && program_command_nr_regions(command) > 0 && !command->per_thread)
		return rot_error_set(err, 0, "regions are measured for each thread: the command needs perThread");
	if (!command->program && (nr > 1 || command->run_count > 1))
		return rot_error_set(err, 0,
				     "a running process can be visited in one pass, not in %zu passes of %d runs", nr,
				     command->run_count);
	return program_rules_check(command, err);
}

/* Files open at once are threads times events. What the program may open stays what it was. */
static void
raise_file_limit(struct session *session)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &session->files);
	limit = session->files;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max = 1 << 20;
	if (session->files.rlim_max < limit.rlim_max)
		setrlimit(RLIMIT_NOFILE, &limit);
}

/* A program that was ended by what ended this process as well is not started once more. */
static bool
is_interrupted(const struct session *session, const struct program_run_output *run)
{
	int number = session->interrupted_by;

	return number && (number != SIGINT || run->signal == number || run->exit_status == 128 + number);
}

static const char *
backend(const struct session *session)
{
	if (!session->command->program)
		return "attached with ptrace, counters for each thread";
	return session->is_traced ? "counters for each thread, opened by a tracer (ptrace) before its first instruction"
				  : "inherited counters, without tracing";
}

/*
 * A process of this user that executes the file gets rights by it: the file is set-uid, set-gid or has capabilities,
 * and neither its file system nor the process has that switched off. The system then takes away counters that were
 * opened before; and unless the tracer is root, a traced process does not get the rights.
 */
static bool
gains_privileges(const char *path)
{
	struct stat status;
	struct statvfs system;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || statvfs(path, &system) < 0 ||
	    (system.f_flag & ST_NOSUID) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	       ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid()) ||
	       (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

static void
warn_of_rights(struct session *session, const struct program_run_output *output)
{
	for (size_t i = 0; geteuid() != 0 && i < program_run_output_nr_threads(output); i++) {
		const struct program_thread_output *thread = program_run_output_threads_at(output, i);

		if (thread->tid == thread->pid && gains_privileges(thread->executable))
			session_warn(session,
				     "'%s' is set-uid or has capabilities, and ran without these rights, since it was "
				     "traced; run rot as root, or without telling threads apart",
				     thread->executable);
	}
}

static void
run_all(struct session *session, const struct request *request)
{
	const struct program_command *command = session->command;
	size_t nr_passes = program_command_nr_passes(command), nr = nr_passes * (size_t)command->run_count;
	uint64_t start_ns = clock_raw_ns();

	for (size_t i = 0; i < nr; i++) {
		struct program_run_output *run;
		double used_s = (double)(clock_raw_ns() - start_ns) / 1e9;

		if (request->time_limit_s > 0)
			session->time_limit_s = used_s < request->time_limit_s ? request->time_limit_s - used_s : 1e-9;
		session->interrupted_by = 0;
		run = program_run(session, (int32_t)(i % nr_passes));
		if (!run)
			return;
		run->order = (int32_t)i;
		warn_of_rights(session, run);
		program_command_output_outputs_add(session->output, run);
		progress_report(request->progress_fd, (int64_t)i + 1, (int64_t)nr);
		if (i + 1 < nr && is_interrupted(session, run)) {
			session_warn(session, "interrupted by signal %d after run %zu of %zu", session->interrupted_by,
				     i + 1, nr);
			return;
		}
	}
}

/*
 * A set-uid program ends inherited counters, so it is traced, which opens them anew; but only root may do so without
 * changing what the program can do.
 */
static void
consider_rights(struct session *session)
{
	autofree char *path = session->command->program ? program_path(session->command->program) : rot_strdup("");
	struct rot_error err;

	if (*path && gains_privileges(path)) {
		if (geteuid() == 0) {
			session->is_traced = true;
		} else if (session->is_traced) {
			rot_error_set(&err, 0,
				      "cannot trace '%s' as an ordinary user: it is set-uid or has capabilities, and "
				      "would run without these rights",
				      path);
			rot_error_hint(&err, "run rot as root, or without telling threads apart");
			session_fail(session, "refused", &err);
		} else {
			session_warn(session,
				     "'%s' is set-uid or has capabilities: the system lets nobody but root count what "
				     "it does",
				     path);
		}
	}
}

static void
measure_program(struct session *session, const struct request *request)
{
	struct rot_error err;

	session->output = program_command_output_new();
	session->is_traced = session->command->per_thread || !session->command->program;
	session->symbols = symbol_files_new();
	session->heirs = session->command->follow_forks ? PERF_HEIRS_ALL : PERF_HEIRS_THREADS;
	consider_rights(session);
	raise_file_limit(session);
	if (session->failure)
		return;
	if (loop_open(&session->loop, signals, &err) < 0) {
		session_fail(session, "error", &err);
	} else {
		/*
		 * A process that is only visited must not keep breakpoints when the driver is killed: it is left then.
		 * Until this is known, and on a kernel that cannot tell it, this process ends with the driver.
		 */
		if (!session->command->program)
			session->driver_fd = (int)syscall(SYS_pidfd_open, getppid(), 0);
		if (session->driver_fd >= 0)
			prctl(PR_SET_PDEATHSIG, 0);
		run_all(session, request);
	}
	rot_string_set(&session->output->backend, backend(session));
}

int
program_measure(const struct request *request, struct rot_error *err)
{
	struct session session = {.loop = LOOP_NONE, .driver_fd = -1};
	struct program_command *command = read_command(request->command, err);
	int rc;

	session.command = command;
	session.leads_parent = request->leads_parent;
	session.foreseen = request->foreseen;
	if (!command || check_command(command, err) < 0 || itt_tasks_prepare(command, err) < 0)
		session_fail(&session, "error", err);
	else
		measure_program(&session, request);
	rc = output_write(session.failure ? (void *)session.failure : session.output, request->output, err);
	if (rc == 0 && session.failure)
		rc = 1;
	loop_close(&session.loop);
	launch_close(&session.driver_fd);
	symbol_files_delete(session.symbols);
	rot_graph_delete(session.failure);
	rot_graph_delete(session.output);
	rot_graph_delete(command);
	return rc;
}
