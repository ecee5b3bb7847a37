/* SPDX-License-Identifier: MIT */
/* One start of rot-core for somebody else's program. */
#include "programs/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entry.h"
#include "base/files.h"
#include "base/messages.h"
#include "base/paths.h"
#include "base/process.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "engine/core_folder.h"
#include "engine/core_launch.h"
#include "memory.h"
#include "rot.h"

/* ---- repair ---- */

#define INT3 0xcc

/* A mapping of code; file: "" where it is in none. */
struct mapping {
	uint64_t begin, end, offset;
	unsigned long inode;
	char file[PATH_MAX];
};

static bool
read_mapping(const char *line, struct mapping *mapping)
{
	unsigned long begin, end, offset;
	char rights[8];
	int length = 0;

	*mapping->file = '\0';
	if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %n", &begin, &end, rights, &offset, &mapping->inode, &length) < 5 ||
	    rights[2] != 'x' || line[length] != '/')
		return false;
	mapping->begin = begin;
	mapping->end = end;
	mapping->offset = offset;
	snprintf(mapping->file, sizeof(mapping->file), "%.*s", (int)strcspn(line + length, "\n"), line + length);
	return true;
}

static size_t
repair_bytes(int memory, uint64_t address, const uint8_t *is, const uint8_t *should, size_t nr)
{
	size_t nr_int3 = 0;

	for (size_t i = 0; memcmp(is, should, nr) != 0 && i < nr; i++) {
		if (is[i] == INT3 && should[i] != INT3)
			nr_int3 += pwrite(memory, &should[i], 1, (off_t)(address + i)) == 1;
	}
	return nr_int3;
}

static size_t
repair_mapping(pid_t pid, int memory, const struct mapping *mapping)
{
	static uint8_t is[1 << 16], should[1 << 16];
	autofree char *path = rot_format("/proc/%d/root%s", (int)pid, mapping->file);
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	size_t nr_int3 = 0;
	const bool is_it = file >= 0 && fstat(file, &status) == 0 && status.st_ino == mapping->inode;

	for (uint64_t at = mapping->begin; is_it && at < mapping->end; at += sizeof(is)) {
		const size_t rest = mapping->end - at < sizeof(is) ? mapping->end - at : sizeof(is);
		const ssize_t nr = pread(memory, is, rest, (off_t)at);
		const ssize_t nr_file = pread(file, should, rest, (off_t)(mapping->offset + at - mapping->begin));

		if (nr > 0 && nr_file > 0)
			nr_int3 += repair_bytes(memory, at, is, should, (size_t)(nr < nr_file ? nr : nr_file));
	}
	if (file >= 0)
		close(file);
	return nr_int3;
}

/*
 * Code that is in files becomes what these say where int3 stands instead: nobody waits for it any more, and a thread
 * that comes there would end the process. A thread that was stopped by one when the core died has ended it already.
 * The number of int3s.
 */
static size_t
process_repair(pid_t pid)
{
	autofree char *maps_path = rot_format("/proc/%d/maps", (int)pid);
	autofree char *memory_path = rot_format("/proc/%d/mem", (int)pid);
	FILE *maps = fopen(maps_path, "re");
	int memory = open(memory_path, O_RDWR | O_CLOEXEC);
	struct mapping mapping;
	autofree char *line = NULL;
	size_t size = 0, nr_int3 = 0;

	while (maps && memory >= 0 && getline(&line, &size, maps) > 0) {
		if (read_mapping(line, &mapping))
			nr_int3 += repair_mapping(pid, memory, &mapping);
	}
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
	return nr_int3;
}

enum { CANNOT = 1 };

/* ---- finding ---- */

static bool
is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int
check_executable(const char *path, int *status, struct rot_error *err)
{
	struct stat info;

	if (stat(path, &info) < 0) {
		*status = errno == ENOENT || errno == ENOTDIR ? PROGRAM_NOT_FOUND : PROGRAM_NOT_EXECUTABLE;
		return rot_error_set(err, errno, "cannot run '%s'", path);
	}
	if (!S_ISDIR(info.st_mode) && access(path, X_OK) == 0)
		return 0;
	*status = PROGRAM_NOT_EXECUTABLE;
	if (S_ISDIR(info.st_mode))
		return rot_error_set(err, EISDIR, "cannot run '%s'", path);
	rot_error_set(err, errno, "cannot run '%s'", path);
	return rot_error_hint(err, "chmod +x '%s' makes it executable; a script also runs as: rot run -- sh '%s'", path,
			      path);
}

char *
program_find(const char *name, int *status, struct rot_error *err)
{
	char *path = strchr(name, '/') ? rot_strdup(name) : process_find(name);

	if (!path) {
		*status = PROGRAM_NOT_FOUND;
		rot_error_set(err, 0, "cannot run '%s': no such program in PATH", name);
		if (access(name, F_OK) == 0 && !is_folder(name))
			rot_error_hint(err, "the one in this folder is ./%s", name);
		return NULL;
	}
	if (check_executable(path, status, err) == 0)
		return path;
	free(path);
	return NULL;
}

/* Why the system cannot start a file that begins so; the command that follows is of that file. */
static const struct {
	const char *head, *hint, *command;
} formats[] = {
	{"#!", "its first line must name an interpreter that is a program itself", "head -n 1"},
	{"\177ELF", "it is a program for another processor, or damaged", "file"},
	{"", "it is neither an ELF program nor a script that begins with #!; a shell script runs as", "rot run -- sh"},
};

/* ---- signals ---- */

/* At Ctrl-Z this process stops when the program has: its core sees to that. So signals that stop are passed over. */
static const struct {
	int number;
	bool stops;
} caught[] = {
	{SIGINT, false},  {SIGQUIT, false}, {SIGTERM, false}, {SIGHUP, false},
	{SIGCONT, false}, {SIGTSTP, true},  {SIGTTIN, true},  {SIGTTOU, true},
};
enum { NR_CAUGHT = sizeof(caught) / sizeof(caught[0]) };

static volatile pid_t core_pid;
static volatile bool has_core_gone;
static volatile sig_atomic_t asked_by; /* the last signal that asks to stop; 0 */

/*
 * The kernel sends Ctrl-C to all of the terminal's foreground group; a process sends a signal to us alone. Before the
 * core is let go nobody knows whether it got the terminal's. It has them blocked then, and one that is pending and
 * comes again is one.
 */
static void
pass_on(int number, siginfo_t *info, void *context)
{
	int reason = errno;
	bool stops = false;

	(void)context;
	for (size_t i = 0; i < NR_CAUGHT; i++)
		stops |= caught[i].number == number && caught[i].stops;
	if (number != SIGCONT && !stops)
		asked_by = number;
	if (core_pid > 0 && (!has_core_gone || (info->si_code != SI_KERNEL && !stops)))
		kill(core_pid, number);
	errno = reason;
}

/* Signals that were ignored when rot started (nohup) stay ignored, also in the program. */
static void
signals_handle(void (*handle)(int, siginfo_t *, void *), struct sigaction old[NR_CAUGHT])
{
	for (size_t i = 0; i < NR_CAUGHT; i++) {
		struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

		if (!handle)
			action = (struct sigaction){.sa_handler = SIG_DFL};
		sigaction(caught[i].number, NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(caught[i].number, &action, NULL);
	}
}

static void
signals_block(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NR_CAUGHT; i++)
		sigaddset(&set, caught[i].number);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* ---- running ---- */

struct program_launch {
	struct core_start start;
	size_t nr_repaired; /* int3s that a killed core left in a process that it visited */
	pid_t drain;        /* reads what the program writes; 0: nobody does */
	int drained_fd;     /* where it writes then */
};

/* Not /dev/null, at which some programs look to save work. The reader ends with this process, or with the launch. */
static int
drain_begin(struct program_launch *launch, struct rot_error *err)
{
	char bytes[65536];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return rot_error_set(err, errno, "cannot make a pipe for the program's output");
	launch->drain = fork();
	if (launch->drain == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signals_block(NULL);
		close(ends[1]);
		while (read(ends[0], bytes, sizeof(bytes)) > 0)
			;
		_exit(0);
	}
	close(ends[0]);
	launch->drained_fd = ends[1];
	if (launch->drain > 0)
		return 0;
	launch->drain = 0;
	close(ends[1]);
	return rot_error_set(err, errno, "cannot make a process that reads the program's output");
}

static void
drain_end(struct program_launch *launch)
{
	if (launch->drain == 0)
		return;
	close(launch->drained_fd);
	kill(launch->drain, SIGKILL);
	while (waitpid(launch->drain, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Until the other end of go is closed, signals are blocked. */
static void
become_core(const struct program_launch *launch, char *const *argv, const int go[2], pid_t driver, const sigset_t *mask)
{
	struct sigaction old[NR_CAUGHT];
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	process_restore_signals();
	signals_handle(NULL, old);
	close(go[1]);
	if (launch->drain > 0)
		dup2(launch->drained_fd, STDOUT_FILENO);
	if (getppid() != driver || read(go[0], &byte, 1) != 0)
		_exit(CANNOT);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(argv[0], argv);
	_exit(PROGRAM_NOT_FOUND);
}

/* Where the program writes to the same terminal, lines of ours come seldom, and not at all if it draws on all of it. */
struct display {
	const struct program_counting *counting; /* NULL: nothing is shown */
	bool rewrites, is_shown;
	double begin_s, next_s; /* of clock.h */
};

static struct display
display_new(const struct program_counting *counting)
{
	struct display display = {.begin_s = clock_now_s(), .rewrites = !isatty(STDOUT_FILENO)};

	if (counting && terminal_can_rewrite(STDERR_FILENO) && !messages_are_quiet())
		display.counting = counting;
	display.next_s = display.begin_s + (display.rewrites ? 1 : 10);
	return display;
}

static bool
draws_on_terminal(void)
{
	struct termios settings;

	return tcgetattr(STDERR_FILENO, &settings) == 0 && !(settings.c_lflag & ICANON);
}

static void
display_show(struct display *display)
{
	const double now_s = clock_now_s(), used_s = now_s - display->begin_s;
	autofree char *left = NULL, *text = NULL;

	if (!display->counting || now_s < display->next_s)
		return;
	display->next_s = display->rewrites ? now_s + 1 : now_s + used_s;
	if (!display->rewrites && draws_on_terminal())
		return;
	left = progress_range(fmax(0, display->counting->least_s - used_s), display->counting->most_s - used_s);
	text = used_s < display->counting->most_s
		       ? rot_format("counting for %.0f s, %s left (Ctrl-C keeps what is counted)", used_s, left)
		       : rot_format("counting for %.0f s (Ctrl-C keeps what is counted)", used_s);
	fprintf(stderr, display->rewrites ? "\r\033[Krot: %s" : "rot: %s\n", text);
	display->is_shown = display->rewrites;
}

/* A core that stops does not look after a program yet: a shell is to see it by this process. */
static void
await_core(struct program_launch *launch, struct display *display)
{
	const struct timespec pause = {.tv_nsec = 20000000};

	while (core_pid > 0) {
		const pid_t pid =
			waitpid(core_pid, &launch->start.status, WUNTRACED | (display->counting ? WNOHANG : 0));

		if (pid == 0) {
			nanosleep(&pause, NULL);
			display_show(display);
		} else if (pid < 0) {
			if (errno != EINTR)
				return;
		} else if (!WIFSTOPPED(launch->start.status)) {
			return;
		} else {
			raise(SIGSTOP);
			kill(core_pid, SIGCONT);
		}
	}
}

/* A signal before they are blocked is remembered, or ends this process; a later one reaches the core. */
static int
run_core(struct program_launch *launch, char *const *argv, const struct program_counting *counting,
	 struct rot_error *err)
{
	struct display display = display_new(counting);
	const pid_t driver = getpid();
	struct sigaction old[NR_CAUGHT];
	sigset_t mask;
	int go[2], rc = 0;

	if (pipe2(go, O_CLOEXEC) < 0)
		return rot_error_set(err, errno, "cannot make a pipe to '%s'", argv[0]);
	signals_block(&mask);
	has_core_gone = false;
	if (rot_interrupted()) {
		rc = rot_error_set(err, 0, "interrupted");
	} else {
		core_pid = fork();
		if (core_pid == 0)
			become_core(launch, argv, go, driver, &mask);
		if (core_pid < 0)
			rc = rot_error_set(err, errno, "cannot start '%s'", argv[0]);
	}
	signals_handle(pass_on, old);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	has_core_gone = true;
	close(go[0]);
	close(go[1]);
	await_core(launch, &display);
	if (display.is_shown)
		fputs("\r\033[K", stderr);
	core_pid = 0;
	for (size_t i = 0; i < NR_CAUGHT; i++)
		sigaction(caught[i].number, &old[i], NULL);
	return rc;
}

/* Programs of which is kept what they execute, some 100 KB each. */
#define MAX_FORESEEN 500

static int
run_launched(struct program_launch *launch, double duration_s, const struct program_counting *counting,
	     struct rot_error *err)
{
	const struct core_start *start = &launch->start;
	autofree char *limit = rot_format("%.6f", duration_s);
	autofree char *foreseen = rot_format("%s/blocks", start->rot->paths->cache);
	const char *argv[] = {start->program, "--command", start->command, "--output", start->output, "--leads-parent",
			      "--foreseen",   foreseen,    "--time-limit", limit,      NULL};
	int rc = 0;

	if (duration_s <= 0)
		argv[8] = NULL;
	fflush(stdout);
	asked_by = 0;
	if (counting && !isatty(STDOUT_FILENO))
		rc = drain_begin(launch, err);
	if (rc == 0)
		rc = run_core(launch, (char *const *)argv, counting, err);
	drain_end(launch);
	prune(foreseen, NULL, MAX_FORESEEN);
	return rc;
}

/* ---- result ---- */

bool
program_run_is_ended_by(const struct program_run_output *run, int number)
{
	return number && (number != SIGINT || run->signal == number || run->exit_status == 128 + number);
}

bool
program_launch_is_over(const struct program_command_output *output)
{
	const size_t nr = program_command_output_nr_outputs(output);

	return program_run_is_ended_by(program_command_output_outputs_at(output, nr - 1), asked_by);
}

static int
report_failure(const struct core_failure *failure, const struct program *program, int *status, struct rot_error *err)
{
	autofree char *path = program ? program_find(program->executable, status, NULL) : NULL;

	*status = strcmp(failure->kind, "notFound") == 0        ? PROGRAM_NOT_FOUND
		  : strcmp(failure->kind, "notExecutable") == 0 ? PROGRAM_NOT_EXECUTABLE
								: CANNOT;
	rot_error_set(err, 0, "%s", failure->attempted[0] ? failure->attempted : "the measuring core failed");
	rot_error_hint(err, "%s", failure->hint);
	if (path && failure->number == ENOEXEC) {
		char head[5] = "";
		FILE *in = fopen(path, "re");
		size_t i = 0, nr = in ? fread(head, 1, sizeof(head) - 1, in) : 0;

		if (in)
			fclose(in);
		head[nr] = '\0';
		while (strncmp(head, formats[i].head, strlen(formats[i].head)) != 0)
			i++;
		rot_error_hint(err, "%s: %s '%s'", formats[i].hint, formats[i].command, path);
	}
	return -1;
}

/* The core ended by it before it looked after a program. */
static bool
is_wish_to_end(int status)
{
	bool is_one = false;

	for (size_t i = 0; i < NR_CAUGHT && WIFSIGNALED(status); i++)
		is_one |= caught[i].number == WTERMSIG(status) && !caught[i].stops;
	return is_one;
}

static int
report_end(const struct program_launch *launch, const struct rot_error *why, int *status, struct rot_error *err)
{
	if (is_wish_to_end(launch->start.status)) {
		*status = 128 + WTERMSIG(launch->start.status);
		return rot_error_set(err, 0, "interrupted");
	}
	core_start_explain(&launch->start, why, err);
	if (launch->nr_repaired > 0)
		rot_error_hint(err,
			       "%zu breakpoints that it left in the process are taken out, which runs on unless a "
			       "thread had come to one",
			       launch->nr_repaired);
	return -1;
}

static void
make_printable(char **text)
{
	autofree char *printable = utf8_printable(*text);

	rot_string_set(text, printable);
}

static void
make_parts_printable(const struct rot_list *parts)
{
	for (size_t i = 0; i < parts->nr; i++) {
		struct program_part *part = ((struct program_part *const *)parts->items)[i];

		make_printable(&part->source);
		make_printable(&part->inlined);
	}
}

/* Names of threads, of files and of code are what a program makes them: they must not steer a terminal. */
static void
make_names_printable(const struct program_run_output *run)
{
	for (size_t i = 0; i < program_run_output_nr_threads(run); i++) {
		struct program_thread_output *thread = program_run_output_threads_at(run, i);

		make_printable(&thread->name);
		make_printable(&thread->executable);
	}
	for (size_t i = 0; run->profile && i < program_profile_nr_places(run->profile); i++) {
		struct program_place *place = program_profile_places_at(run->profile, i);

		make_printable(&place->object);
		make_printable(&place->function);
		make_printable(&place->symbol);
		make_printable(&place->behind);
		make_printable(&place->source);
		make_parts_printable(&place->loops);
		make_parts_printable(&place->lines);
	}
}

static int
read_output(const struct program_launch *launch, const struct program_command *command,
	    struct program_command_output **output, int *status, struct rot_error *err)
{
	struct rot_error why = {0};
	void *graph = core_start_read(&launch->start, &why);

	*status = CANNOT;
	if (rot_is_a(graph, &program_command_output_class) && program_command_output_nr_outputs(graph) > 0 &&
	    program_runs_are_asked(graph, command)) {
		*output = graph;
		for (size_t i = 0; i < program_command_output_nr_outputs(*output); i++)
			make_names_printable(program_command_output_outputs_at(*output, i));
		return 0;
	}
	if (rot_is_a(graph, &core_failure_class)) {
		report_failure(graph, command->program, status, err);
	} else {
		if (graph)
			rot_error_set(&why, 0, "its output holds no run");
		report_end(launch, &why, status, err);
	}
	rot_graph_delete(graph);
	return -1;
}

int
program_launch(const struct rot *rot, struct program_command *command, double duration_s,
	       const struct program_counting *counting, struct program_command_output **output, int *status,
	       struct rot_error *err)
{
	struct program_launch launch = {.drain = 0};
	int rc = -1;

	*status = CANNOT;
	if (core_start_open(&launch.start, rot, command, err) == 0 &&
	    run_launched(&launch, duration_s, counting, err) == 0) {
		if (!command->program && WIFSIGNALED(launch.start.status))
			launch.nr_repaired = process_repair(command->process_id);
		rc = read_output(&launch, command, output, status, err);
	} else if (rot_interrupted()) {
		*status = 128 + SIGINT;
	}
	core_start_close(&launch.start);
	return rc;
}
