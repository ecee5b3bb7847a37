/* SPDX-License-Identifier: MIT */
/* What is found out by trying: what this user may do here, and the programs and folders that rot needs. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/process.h"
#include "check/doctor.h"
#include "memory.h"
#include "quantities/architecture.h"

/* ---- rights ---- */

/* The value of "NAME:" in /proc/self/status, or NULL. */
static char *
own_status(const char *name)
{
	char *text = file_read("/proc/self/status", NULL, NULL), *value = NULL;

	for (char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
			char *at = line + strlen(name) + 1;

			at += strspn(at, " \t");
			value = rot_strndup(at, strcspn(at, "\n"));
		}
	free(text);
	return value;
}

/* Numbers of capabilities: linux/capability.h, which older systems do not have all of. */
static char *
capability_names(void)
{
	static const struct {
		int number;
		const char *name;
	} known[] = {{19, "CAP_SYS_PTRACE"}, {21, "CAP_SYS_ADMIN"}, {38, "CAP_PERFMON"}};
	autofree char *mask = own_status("CapEff");
	char *names = rot_strdup("");
	unsigned long long bits = mask ? strtoull(mask, NULL, 16) : 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {

		if (!(bits >> known[i].number & 1))
			continue;
		rot_append(&names, "%s%s", *names ? ", " : "", known[i].name);
	}
	return names;
}

static void
look_at_process(struct findings *findings)
{
	autofree char *paranoid = file_first_line("/", "proc/sys/kernel/perf_event_paranoid");
	autofree char *names = capability_names(), *seccomp = own_status("Seccomp");

	findings_add(findings, "this process", FINDING_GOOD, "user %d, %s; kernel.perf_event_paranoid %s",
		     (int)geteuid(), *names ? names : "no capabilities that matter here",
		     paranoid ? paranoid : "is not there");
	if (!seccomp)
		findings_add(findings, "system calls", FINDING_LIMITED,
			     "/proc/self/status is not there, so nobody can say whether they are filtered (seccomp)");
	else if (strcmp(seccomp, "0") != 0)
		findings_add(findings, "system calls", FINDING_LIMITED,
			     "filtered (seccomp): what is refused, or said not to be there, may be so only in here");
	else
		findings_add(findings, "system calls", FINDING_GOOD, "not filtered (no seccomp)");
}

static bool
is_validated(const struct architecture *architecture)
{
	for (size_t i = 0; i < architecture->nr_formulas; i++)
		if (architecture->formulas[i].grade)
			return true;
	return false;
}

static void
try_counters(struct findings *findings, const struct architecture *architecture)
{
	const bool is_known = !architecture_is_generic(architecture);
	struct finding *finding;

	if (architecture->counts_by_steps) {
		findings_add(findings, "hardware counters", FINDING_GOOD, "not looked at, with counting=%s",
			     architecture->by_blocks ? "blocks" : "steps");
		return;
	}
	if (architecture->why_not.text[0]) {
		finding = findings_add(findings, "hardware counters", FINDING_LIMITED,
				       "%s: time is measured, operations and bytes are %s", architecture->why_not.text,
				       architecture->by_steps ? "counted by blocks of whole programs and kernels"
							      : "those that kernels are expected to make");
		finding_advise(finding, "%s", architecture->why_not.hint);
		return;
	}
	finding = findings_add(
		findings, "hardware counters", is_known ? FINDING_GOOD : FINDING_LIMITED,
		"%s: groups of up to %d events%s%s%s", architecture->title, architecture->usable_counters,
		architecture->scrub_event[0] ? "; scrubbed before each run with " : "", architecture->scrub_event,
		is_validated(architecture) ? "" : "; not validated on this machine");
	if (!is_known)
		finding_advise(finding, "describe its events in a file of driver/architectures (README.md there); "
					"or: " STEPS_ADVICE_BESIDE_EVENTS);
	else if (!is_validated(architecture))
		finding_advise(finding, "rot validate");
}

/* 0, or why a process of our own cannot be traced. */
static int
try_to_trace(void)
{
	pid_t pid = fork();
	int reason = 0;

	if (pid < 0)
		return errno;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		reason = errno;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return reason;
}

/* scope: of Yama, "" if it is not there. */
static const char *
ptrace_advice(const char *scope)
{
	if (strcmp(scope, "3") == 0)
		return "kernel.yama.ptrace_scope is 3, which stays so until the next start of the machine";
	if (strcmp(scope, "2") == 0)
		return "sudo sysctl kernel.yama.ptrace_scope=1    (it is 2), or run with CAP_SYS_PTRACE";
	return "docker run --cap-add=SYS_PTRACE --security-opt seccomp=unconfined ...; no debugger around rot";
}

/* Whether it works. */
static bool
try_ptrace(struct findings *findings)
{
	autofree char *scope = file_first_line("/", "proc/sys/kernel/yama/ptrace_scope");
	int reason = try_to_trace();

	if (reason == 0)
		findings_add(findings, "ptrace", FINDING_GOOD, "own children can be traced%s%s",
			     scope ? "; Yama's ptrace_scope " : "", scope ? scope : "");
	else
		finding_advise(findings_add(findings, "ptrace", FINDING_LIMITED,
					    "%s: no threads of libraries, no rot run -t, no regions", strerror(reason)),
			       "%s", ptrace_advice(scope ? scope : ""));
	return reason == 0;
}

/* line: of "rot-core --try-backends". */
static void
add_backend(struct findings *findings, char *line)
{
	static const struct {
		const char *backend, *name, *advice;
	} known[] = {{"uprobe", "regions by uprobe", "root; in a container also --cap-add=SYS_ADMIN,PERFMON"},
		     {"breakpoint", "regions by breakpoint", ""},
		     {"int3", "regions by int3", ""}};
	char *cost = strchr(line, '\t'), *why;

	if (!cost)
		return;
	*cost++ = '\0';
	why = strchr(cost, '\t');
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(known[i].backend, line) != 0)
			continue;
		if (why)
			finding_advise(findings_add(findings, known[i].name, FINDING_LIMITED, "%s", why + 1), "%s",
				       geteuid() == 0 ? "" : known[i].advice);
		else
			findings_add(findings, known[i].name, FINDING_GOOD, "works; a hit costs the program %.1f us",
				     strtod(cost, NULL) / 1e3);
	}
}

/* A group of events has as many descriptors as events, on every thread. */
static void
look_at_limits(struct findings *findings)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max >= 4096)
		return;
	finding_advise(findings_add(findings, "open files", FINDING_LIMITED,
				    "at most %llu: programs of many threads cannot be counted thread by thread",
				    (unsigned long long)files.rlim_max),
		       "ulimit -Hn 65536, as root");
}

void
doctor_try_rights(struct findings *findings, const struct rot *rot)
{
	findings_section(findings, "Rights");
	look_at_process(findings);
	try_counters(findings, rot->architecture);
	if (try_ptrace(findings)) {
		autofree char *core = rot_format("%s/core/rot-core", rot->paths->built);
		const char *const argv[] = {core, "--try-backends", NULL};
		struct process_result result = {0};
		struct rot_error err;

		if (process_run(argv, NULL, &result, NULL, &err) == 0 && result.status == 0) {
			char *rest = result.output;

			for (char *line; (line = strsep(&rest, "\n"));)
				add_backend(findings, line);
		}
		process_result_clear(&result);
	}
	look_at_limits(findings);
}

/* ---- programs ---- */

static void
try_core(struct findings *findings, const struct rot *rot)
{
	static const char *const parts[] = {"core/rot-core", "core/rot-core.sha256", "core/librot-child.a"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		autofree char *path = rot_format("%s/%s", rot->paths->built, parts[i]);

		if (access(path, i == 0 ? X_OK : R_OK) < 0)
			finding_advise(findings_add(findings, "measuring core", FINDING_BROKEN, "'%s': %s", path,
						    strerror(errno)),
				       "make, or make install, again");
	}
}

/* ---- folders ---- */

#define CACHE_BYTES_WANTED (100.0 * 1024 * 1024)
#define CACHE_BYTES_NEEDED (4.0 * 1024 * 1024) /* a core is some of them while it is built */
#define RESULT_BYTES_NEEDED (1.0 * 1024 * 1024)

/* Infinite where that is not told. */
static double
free_bytes_in(const char *folder)
{
	struct statvfs space;

	if (statvfs(folder, &space) < 0 || space.f_blocks == 0)
		return INFINITY;
	return (double)space.f_bavail * (double)space.f_frsize;
}

static void
try_cache(struct findings *findings, const struct rot *rot)
{
	const double free_bytes = free_bytes_in(rot->paths->cache);

	if (free_bytes < CACHE_BYTES_WANTED)
		finding_advise(findings_add(findings, "cache",
					    free_bytes < CACHE_BYTES_NEEDED ? FINDING_BROKEN : FINDING_LIMITED,
					    "%s: only %.0f MiB are free%s", rot->paths->cache,
					    free_bytes / (1024 * 1024),
					    free_bytes < CACHE_BYTES_NEEDED ? ", and kernels cannot be built" : ""),
			       "make room, or -cacheFolder=FOLDER");
	else if (rot->paths->cache_is_temporary)
		finding_advise(findings_add(findings, "cache", FINDING_LIMITED,
					    "not writable: results are forgotten at the end of each rot"),
			       "-cacheFolder=FOLDER, or XDG_CACHE_HOME=FOLDER");
	else
		findings_add(findings, "cache", FINDING_GOOD, "%s: %.1f GiB are free", rot->paths->cache,
			     free_bytes / (1024.0 * 1024 * 1024));
}

void
doctor_try_tools(struct findings *findings, const struct rot *rot)
{
	struct rot_error err;

	doctor_try_programs(findings, rot->configuration);
	try_core(findings, rot);
	try_cache(findings, rot);

	/* the current folder */
	if (output_check("rot-doctor", &err) < 0)
		finding_advise(findings_add(findings, "results", FINDING_BROKEN, "%s", err.text), "%s", err.hint);
	else if (free_bytes_in(".") < RESULT_BYTES_NEEDED)
		finding_advise(findings_add(findings, "results", FINDING_BROKEN,
					    "only %.0f KiB are free where this folder is", free_bytes_in(".") / 1024),
			       "make room, or go to another folder");
}
