/* SPDX-License-Identifier: MIT */
/* See tracepoints.h. Format of the definitions: Documentation/trace/uprobetracer.rst of Linux. */
#include "parent/regions/tracepoints.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "memory.h"
#include "parent/tracer/launch.h"

#define GROUP "rot"

/* How long it may take the kernel to let somebody look at its tracing. */
#define STUCK_MS 2000
#define STUCK_LOOK_MS 50

/* ---- tracefs ---- */

/* A mount that no name space has, or -1. */
static int
mount_detached(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), folder = -1;

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		folder = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	close(context);
	return folder;
}

static int
open_mounted(const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), events;

	if (folder < 0)
		return -1;
	events = openat(folder, "uprobe_events", O_PATH | O_CLOEXEC);
	if (events < 0) {
		close(folder);
		return -1;
	}
	close(events);
	return folder;
}

static int
open_folder(void)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int folder = mount_detached(), error = errno;

	for (size_t i = 0; folder < 0 && i < sizeof(paths) / sizeof(paths[0]); i++)
		folder = open_mounted(paths[i]);
	if (errno == ENOENT)
		errno = error;
	return folder;
}

static int
refused(struct rot_error *err, int error, const char *what)
{
	rot_error_set(err, error, "cannot %s uprobe events in tracefs", what);
	return rot_error_hint(err, "%s",
			      error == ENOENT ? "the kernel needs CONFIG_UPROBE_EVENTS"
					      : "they need root, in a container also --cap-add=SYS_ADMIN,PERFMON");
}

/* ---- a system whose tracing hangs ---- */

/* Where processes wait for whoever changes events (Linux 6.18). */
static const char *const waiting_places[] = {"dyn_event_seq_start", "perf_trace_destroy", "perf_trace_init",
					     "create_or_delete_trace_uprobe", "dyn_event_release"};

static bool
waits_for_tracing(const char *pid)
{
	char *path = rot_format("/proc/%s/wchan", pid), place[64] = "";
	FILE *file = fopen(path, "re");
	bool waits = false;

	if (file && fgets(place, sizeof(place), file)) {
		for (size_t i = 0; i < sizeof(waiting_places) / sizeof(waiting_places[0]); i++)
			waits |= strcmp(place, waiting_places[i]) == 0;
	}
	if (file)
		fclose(file);
	free(path);
	return waits;
}

static pid_t
find_waiting(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *process;
	pid_t found = 0;

	while (processes && found == 0 && (process = readdir(processes))) {
		if (process->d_name[0] >= '1' && process->d_name[0] <= '9' && waits_for_tracing(process->d_name))
			found = (pid_t)atoi(process->d_name);
	}
	if (processes)
		closedir(processes);
	return found;
}

/* Somebody who has been waiting for long, or 0. */
static pid_t
find_stuck(void)
{
	const struct timespec pause = {.tv_nsec = STUCK_LOOK_MS * 1000000L};
	pid_t waiting = find_waiting();
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)waiting);
	for (int i = 0; waiting != 0 && i < STUCK_MS / STUCK_LOOK_MS; i++) {
		nanosleep(&pause, NULL);
		if (!waits_for_tracing(number))
			waiting = 0;
	}
	return waiting;
}

static void
close_one(int fd)
{
	close(fd);
}

/* In a process of its own, which holds nothing of this one's: it may never end. */
static void
read_and_answer(int events, int answer)
{
	char byte;

	dup2(events, STDIN_FILENO);
	dup2(answer, STDOUT_FILENO);
	close(STDERR_FILENO);
	proc_each_descriptor(STDERR_FILENO + 1, close_one);
	if (read(STDIN_FILENO, &byte, 1) >= 0 && write(STDOUT_FILENO, "", 1) == 1)
		_exit(0);
	_exit(1);
}

/* The process is nobody's child here, so that nobody waits for it. */
static bool
answers(int events)
{
	struct pollfd answer = {.events = POLLIN};
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return true;
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			read_and_answer(events, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	answer.fd = ends[0];
	while (poll(&answer, 1, STUCK_MS) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return answer.revents != 0;
}

/* Whoever joins those who wait for it can never be killed. Somebody who knows that it does is asked first. */
static int
check_not_stuck(const struct tracepoints *tracepoints, struct rot_error *err)
{
	pid_t stuck = find_stuck();
	int events = openat(tracepoints->folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	bool is_stuck = stuck != 0 || (events >= 0 && !answers(events));

	launch_close(&events);
	if (!is_stuck)
		return 0;
	if (stuck)
		rot_error_set(err, 0, "tracefs does not answer: process %d waits for it as well", (int)stuck);
	else
		rot_error_set(err, 0, "tracefs does not answer within %d s", STUCK_MS / 1000);
	return rot_error_hint(err, "the kernel's log (dmesg) may say why; only a restart of the system helps");
}

/* ---- what others left ---- */

static void
remove_named(const struct tracepoints *tracepoints, const char *name)
{
	char *line = rot_format("-:%s\n", name);

	if (write(tracepoints->events, line, strlen(line)) < 0) {
		/* in use, or gone */
	}
	free(line);
}

/* One line of uprobe_events: "p:rotPID_RANDOM/NAME FILE:OFFSET ...". */
static void
remove_if_stale(const struct tracepoints *tracepoints, char *line)
{
	char *name = line + strlen("p:"), *end;
	long pid;

	if (strncmp(line, "p:" GROUP, strlen("p:" GROUP)) != 0)
		return;
	pid = strtol(name + strlen(GROUP), &end, 10);
	if (pid <= 0 || *end != '_' || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return;
	end[strcspn(end, " ")] = '\0';
	remove_named(tracepoints, name);
}

/* A definition of several probes is several lines; it goes with the first. */
static void
remove_stale(const struct tracepoints *tracepoints)
{
	int fd = openat(tracepoints->folder, "uprobe_events", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0)
		remove_if_stale(tracepoints, line);
	free(line);
	if (file)
		fclose(file);
	else
		launch_close(&fd);
}

int
tracepoints_open(struct tracepoints *tracepoints, struct rot_error *err)
{
	*tracepoints = TRACEPOINTS_CLOSED;
	tracepoints->folder = open_folder();
	if (tracepoints->folder < 0)
		return refused(err, errno, "find");
	tracepoints->events = openat(tracepoints->folder, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (tracepoints->events < 0) {
		int error = errno;

		tracepoints_close(tracepoints);
		return refused(err, error, "define");
	}
	if (check_not_stuck(tracepoints, err) < 0) {
		tracepoints_close(tracepoints);
		return -1;
	}
	remove_stale(tracepoints);
	return 0;
}

void
tracepoints_close(struct tracepoints *tracepoints)
{
	launch_close(&tracepoints->folder);
	launch_close(&tracepoints->events);
}

/* ---- definitions ---- */

/*
 * The file is named by its descriptor: a path may contain blanks. The id is a constant argument, whose values may
 * differ among the probes of an event.
 */
static int
define_one(const struct tracepoints *tracepoints, const char *name, const struct tracepoint_probe *probe,
	   struct rot_error *err)
{
	char *line = rot_format("p:%s /proc/self/fd/%d:0x%llx id=\\%u:u32\n", name, probe->file,
				(unsigned long long)probe->file_offset, probe->id);
	int rc = write(tracepoints->events, line, strlen(line)) < 0 ? refused(err, errno, "define") : 0;

	if (rc < 0 && errno == EINVAL)
		rot_error_hint(err, "the kernel cannot put a probe at offset 0x%llx of that file",
			       (unsigned long long)probe->file_offset);
	free(line);
	return rc;
}

static int
read_type(const struct tracepoints *tracepoints, struct tracepoint *tracepoint, struct rot_error *err)
{
	char *path = rot_format("events/%s/id", tracepoint->name), text[32];
	int fd = openat(tracepoints->folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int rc = 0;

	if (bytes <= 0)
		rc = rot_error_set(err, errno, "cannot read '%s' of tracefs", path);
	else
		text[bytes] = '\0';
	tracepoint->type = rc == 0 ? strtoull(text, NULL, 10) : 0;
	launch_close(&fd);
	free(path);
	return rc;
}

/* Process ids are not unique where there are several name spaces. */
static void
make_name(struct tracepoint *tracepoint)
{
	static uint64_t nr_made;
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = clock_raw_ns();
	snprintf(tracepoint->name, sizeof(tracepoint->name), GROUP "%d_%016llx/at%llu", (int)getpid(),
		 (unsigned long long)random, (unsigned long long)nr_made++);
}

int
tracepoints_define(struct tracepoints *tracepoints, struct tracepoint *tracepoint,
		   const struct tracepoint_probe *probes, size_t nr, struct rot_error *err)
{
	int rc = 0;

	make_name(tracepoint);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = define_one(tracepoints, tracepoint->name, &probes[i], err);
	if (rc == 0)
		rc = read_type(tracepoints, tracepoint, err);
	if (rc < 0)
		remove_named(tracepoints, tracepoint->name);
	return rc;
}

void
tracepoints_remove(struct tracepoints *tracepoints, const struct tracepoint *tracepoint)
{
	remove_named(tracepoints, tracepoint->name);
}
