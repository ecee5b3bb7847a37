/* SPDX-License-Identifier: MIT */
/*
 * See refusal.h. The first reason that holds is told: those that are certain come before that of a filter, which all
 * containers have and most of them let trace.
 */
#include "parent/tracer/refusal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"

struct refusal {
	const char *proc;
	pid_t pid;
	bool is_own;
	struct rot_error *err;
};

static bool
read_status(const struct refusal *refusal, const char *who, const char *key, uint64_t *number)
{
	autofree char *folder = rot_format("%s/%s", refusal->proc, who);

	return proc_status_in(folder, key, 10, number);
}

static bool
read_status_of(const struct refusal *refusal, const char *key, uint64_t *number)
{
	char who[16];

	snprintf(who, sizeof(who), "%d", (int)refusal->pid);
	return read_status(refusal, who, key, number);
}

static bool
read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (is_read)
		line[strcspn(line, "\n")] = '\0';
	return is_read;
}

pid_t
refusal_other_tracer(const char *proc, pid_t pid)
{
	autofree char *path = rot_format("%s/%d/task", proc, (int)pid);
	DIR *tasks = opendir(path);
	pid_t other = 0;

	for (struct dirent *task; tasks && other == 0 && (task = readdir(tasks));) {
		autofree char *folder = rot_format("%s/%s", path, task->d_name);
		uint64_t tracer = 0;

		proc_status_in(folder, "TracerPid", 10, &tracer);
		if (tracer != (uint64_t)getpid())
			other = (pid_t)tracer;
	}
	if (tasks)
		closedir(tasks);
	return other;
}

/* ---- reasons: true if it is that one, and err is filled ---- */

/* The system keeps what is left of a first thread until all others have ended: then somebody else is the reason. */
static bool
has_ended(const struct refusal *refusal)
{
	char *folder = rot_format("%s/%d", refusal->proc, (int)refusal->pid), fields[PROC_STAT_BYTES], state = '?';
	bool is_read = proc_stat_in(folder, fields) && sscanf(fields, " %c", &state) == 1;
	uint64_t nr_threads = 1;

	free(folder);
	if (!is_read || state != 'Z')
		return false;
	read_status_of(refusal, "Threads", &nr_threads);
	if (nr_threads > 1)
		return false;
	rot_error_set(refusal->err, 0, "cannot trace process %d: it has ended", (int)refusal->pid);
	rot_error_hint(refusal->err, "'ps' shows it as defunct until its parent takes notice");
	return true;
}

static bool
is_traced_already(const struct refusal *refusal)
{
	const pid_t tracer = refusal_other_tracer(refusal->proc, refusal->pid);
	char *path, name[32] = "?";

	if (tracer == 0)
		return false;
	path = rot_format("%s/%d/comm", refusal->proc, (int)tracer);
	read_line(path, name, sizeof(name));
	free(path);
	rot_error_set(refusal->err, 0, "cannot trace process %d: process %d (%s) traces it already", (int)refusal->pid,
		      (int)tracer, name);
	rot_error_hint(refusal->err, "%s",
		       refusal->is_own ? "one tracer at a time: run rot without a debugger around it"
				       : "one tracer at a time: end that one first");
	return true;
}

/* The first number of "Uid:" is the real one. */
static bool
is_somebody_elses(const struct refusal *refusal)
{
	uint64_t owner;

	if (geteuid() == 0 || !read_status_of(refusal, "Uid", &owner) || owner == geteuid())
		return false;
	rot_error_set(refusal->err, 0, "cannot trace process %d: it belongs to user %u", (int)refusal->pid,
		      (unsigned)owner);
	rot_error_hint(refusal->err, "run rot as that user or as root");
	return true;
}

static const char *const yama_hints[] = {
	[1] = "only a process's own ancestors may trace it: let rot start the program, run rot as root, or set it to 0",
	[2] = "only root may trace: run rot as root, or set it to 0",
	[3] = "nobody may trace, and only a restart of the system changes that: totals need no tracing",
};

static bool
is_forbidden_by_yama(const struct refusal *refusal)
{
	char *path = rot_format("%s/sys/kernel/yama/ptrace_scope", refusal->proc), line[16] = "";
	int scope, least = refusal->is_own ? 2 : 1;

	read_line(path, line, sizeof(line));
	free(path);
	scope = atoi(line);
	if (scope < least || scope > 3 || (scope < 3 && geteuid() == 0))
		return false;
	rot_error_set(refusal->err, 0,
		      "cannot trace process %d: the system forbids it (/proc/sys/kernel/yama/ptrace_scope is %d)",
		      (int)refusal->pid, scope);
	rot_error_hint(refusal->err, "%s", yama_hints[scope]);
	return true;
}

static bool
is_filtered(const struct refusal *refusal)
{
	uint64_t mode;

	if (!read_status(refusal, "self", "Seccomp", &mode) || mode == 0)
		return false;
	rot_error_set(refusal->err, 0, "cannot trace process %d: a seccomp filter around rot does not allow ptrace",
		      (int)refusal->pid);
	rot_error_hint(refusal->err, "in a container: --cap-add=SYS_PTRACE, or --security-opt seccomp=unconfined");
	return true;
}

static bool (*const reasons[])(const struct refusal *refusal) = {
	has_ended, is_traced_already, is_somebody_elses, is_forbidden_by_yama, is_filtered,
};

int
refusal_explain(const char *proc, pid_t pid, bool is_own, int error, struct rot_error *err)
{
	const struct refusal refusal = {proc, pid, is_own, err};

	for (size_t i = 0; error != ESRCH && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i](&refusal))
			return -1;
	rot_error_set(err, error, "cannot trace process %d", (int)pid);
	return rot_error_hint(err, "%s",
			      error == ESRCH ? "no process has this number; 'ps' shows those that run"
					     : "processes of others, set-uid programs and kernel threads are root's to "
					       "trace; a security module may forbid it to all");
}
