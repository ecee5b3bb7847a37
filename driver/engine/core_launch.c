/* SPDX-License-Identifier: MIT */
/* Starting rot-core, following it, and reading what it gives back. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/process.h"
#include "base/progress.h"
#include "engine/core_launch.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"

/* ---- folders of one start ---- */

/* With less than this left, a disk is full. */
#define FULL_BYTES 65536

/* A folder that has been there for longer is locked, or left over. */
#define BEGINNING_S 10

/* The lock of a folder, or -1: somebody has it (errno EWOULDBLOCK), or there is none. */
static int
lock_folder(const char *path, int flags)
{
	autofree char *name = rot_format("%s/lock", path);
	int lock = open(name, O_RDWR | O_CLOEXEC | flags, 0666);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0) {
		int reason = errno;

		close(lock);
		errno = reason;
		return -1;
	}
	return lock;
}

/* A folder whose lock is free belongs to nobody. */
static void
remove_stale(const char *folder)
{
	autofree char **names = folder_list(folder);

	for (size_t i = 0; names[i]; i++) {
		autofree char *path = rot_format("%s%s", folder, names[i]);
		struct stat status;
		/* Else somebody may be about to lock it. */
		const bool is_old = stat(path, &status) == 0 && time(NULL) - status.st_mtime > BEGINNING_S;
		int lock = is_old ? lock_folder(path, 0) : -1;

		if (is_old && (lock >= 0 || errno == ENOENT))
			folder_remove(path);
		if (lock >= 0)
			close(lock);
	}
}

/* prefix: the path up to the name. */
static char *
make_folder(const char *prefix)
{
	char *path = rot_format("%s%ld-XXXXXX", prefix, (long)getpid());

	if (mkdtemp(path))
		return path;
	free(path);
	return NULL;
}

int
work_folder_open(struct work_folder *work, const char *cache_folder, struct rot_error *err)
{
	char *folder = rot_format("%s/work/", cache_folder);
	const char *temporary = getenv("TMPDIR");

	*work = (struct work_folder){.lock = -1};
	if (folder_make(folder, NULL) == 0) {
		remove_stale(folder);
		work->path = make_folder(folder);
	}
	if (!work->path) {
		free(folder);
		folder = rot_format("%s/rot-", temporary && temporary[0] ? temporary : "/tmp");
		work->path = make_folder(folder);
	}
	if (work->path)
		work->lock = lock_folder(work->path, O_CREAT);
	else
		rot_error_set(err, errno, "cannot make the folder '%sXXXXXX' for the measurement", folder);
	free(folder);
	return work->path ? 0 : -1;
}

/* Where the disk that it is on has no room left, the hint of an error says so. */
static void
work_folder_explain(const struct work_folder *work, struct rot_error *err)
{
	struct statvfs disk;

	if (statvfs(work->path, &disk) == 0 && disk.f_bavail * disk.f_frsize < FULL_BYTES)
		rot_error_hint(err,
			       "make room where '%s' is, or name a place that has some: -cacheFolder=FOLDER, TMPDIR",
			       work->path);
}

void
work_folder_close(struct work_folder *work)
{
	if (!work->path)
		return;
	folder_remove(work->path);
	if (work->lock >= 0)
		close(work->lock);
	free(work->path);
	*work = (struct work_folder){.lock = -1};
}

#define STDERR_LIMIT 16384
#define GRACE_S 10 /* what rot-core gets beyond the time limit, which it keeps itself, and after SIGTERM */

/* Has the output everything that the command asked for? */
typedef bool completeness(const void *output, const void *command);

struct core_launch {
	const char *child;   /* NULL: somebody else's program, which writes to our pipe of messages */
	const void *command; /* entity: what is asked for */
	const struct rot_class *answer;
	completeness *is_complete;

	struct core_start start;
	double time_limit_s;
	pid_t pid;              /* 0: not started */
	int progress, messages; /* pipes, -1: closed */
	char line[64];          /* of progress, unfinished */
	size_t line_length;
	char text[STDERR_LIMIT + 1]; /* end of standard error */
	size_t text_length;
	bool has_timed_out;
};

/* ---- what all starts share ---- */

int
core_start_open(struct core_start *start, const struct rot *rot, const void *command, struct rot_error *err)
{
	FILE *out;
	int rc;

	*start = (struct core_start){.rot = rot};
	if (work_folder_open(&start->work, rot->paths->cache, err) < 0)
		return -1;
	start->program = rot_format("%s/core/rot-core", rot->paths->built);
	start->command = rot_format("%s/command", start->work.path);
	start->output = rot_format("%s/output", start->work.path);
	out = fopen(start->command, "we");
	rc = out ? rot_text_write(command, out, err) : rot_error_set(err, errno, "cannot write '%s'", start->command);
	if (out && fclose(out) != 0 && rc == 0)
		rc = rot_error_set(err, errno, "cannot write '%s'", start->command);
	if (rc < 0)
		work_folder_explain(&start->work, err);
	return rc;
}

void
core_start_close(struct core_start *start)
{
	work_folder_close(&start->work);
	free(start->program);
	free(start->command);
	free(start->output);
}

void *
core_start_read(const struct core_start *start, struct rot_error *why)
{
	FILE *in = fopen(start->output, "re");
	void *graph = in ? rot_text_read(start->rot->registry, in, "output of the measuring core", why) : NULL;

	if (in)
		fclose(in);
	else
		rot_error_set(why, errno, "cannot read '%s'", start->output);
	return graph;
}

int
core_start_explain(const struct core_start *start, const struct rot_error *why, struct rot_error *err)
{
	const int status = start->status;

	if (WIFSIGNALED(status))
		return rot_error_set(err, 0, "the measuring core was ended by signal %d (%s)", WTERMSIG(status),
				     strsignal(WTERMSIG(status)));
	rot_error_set(err, 0, "the measuring core ended with exit status %d without a result", WEXITSTATUS(status));
	work_folder_explain(&start->work, err);
	return why->text[0] && WEXITSTATUS(status) == 0 ? rot_error_append(err, ": %s", why->text) : -1;
}

/* ---- a start that measures ---- */

static int
begin(struct core_launch *launch, struct rot_error *err)
{
	int progress[2] = {-1, -1}, messages[2] = {-1, -1};
	const char *core = launch->start.program;
	char fd[16], limit[32];
	const char *argv[] = {
		core,           "--command", launch->start.command, "--output", launch->start.output,
		"--time-limit", limit,       "--progress-fd",       fd,         launch->child ? "--child" : NULL,
		launch->child,  NULL};
	pid_t parent = getpid();
	int rc = -1;

	snprintf(limit, sizeof limit, "%.3f", launch->time_limit_s);
	if (pipe2(progress, O_CLOEXEC) == 0 && pipe2(messages, O_CLOEXEC) == 0) {
		snprintf(fd, sizeof fd, "%d", progress[1]);
		launch->progress = progress[1];
		launch->pid = fork();
		if (launch->pid == 0) {
			/* In the child: never returns. */
			int null = open("/dev/null", O_RDWR);

			process_settle_child(parent);
			if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(messages[1], 2) >= 0 &&
			    fcntl(launch->progress, F_SETFD, 0) == 0)
				execv(argv[0], (char *const *)argv);
			dprintf(messages[1], "cannot start '%s': %s\n", argv[0], strerror(errno));
			_exit(127);
		}
		rc = launch->pid < 0 ? -1 : 0;
	}
	if (rc < 0) {
		rot_error_set(err, errno, "cannot start '%s'", core);
		launch->pid = 0;
	}
	close(progress[1]);
	close(messages[1]);
	launch->progress = progress[0];
	launch->messages = messages[0];
	return rc;
}

/* ---- following ---- */

/* "run I of N" */
static void
take_progress(struct core_launch *launch, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		int run, nr_runs;

		if (bytes[i] != '\n') {
			if (launch->line_length < sizeof launch->line - 1)
				launch->line[launch->line_length++] = bytes[i];
			continue;
		}
		launch->line[launch->line_length] = '\0';
		launch->line_length = 0;
		if (sscanf(launch->line, "run %d of %d", &run, &nr_runs) == 2)
			progress_run(run, nr_runs);
	}
}

static void
take_messages(struct core_launch *launch, const char *bytes, size_t length)
{
	size_t room = STDERR_LIMIT - launch->text_length;

	if (length > room) {
		size_t drop = length - room;

		memmove(launch->text, launch->text + drop, launch->text_length - drop);
		launch->text_length -= drop;
	}
	memcpy(launch->text + launch->text_length, bytes, length);
	launch->text_length += length;
	launch->text[launch->text_length] = '\0';
}

/* Reads what is there; closes at the end of file. */
static void
read_pipe(struct core_launch *launch, int *fd,
	  void (*take)(struct core_launch *launch, const char *bytes, size_t length))
{
	char buffer[4096];
	ssize_t nr = read(*fd, buffer, sizeof buffer);

	if (nr > 0)
		take(launch, buffer, (size_t)nr);
	if (nr == 0 || (nr < 0 && errno != EINTR && errno != EAGAIN)) {
		close(*fd);
		*fd = -1;
	}
}

static void
stop(struct core_launch *launch, int *step, double *deadline_s)
{
	kill(launch->pid, (*step)++ == 0 ? SIGTERM : SIGKILL);
	*deadline_s = clock_now_s() + GRACE_S;
}

/*
 * Until rot-core has ended. It keeps the time limit itself; should it hang, it is stopped a little later. Its end
 * counts, not that of its pipes: they may have been inherited.
 */
static void
follow(struct core_launch *launch)
{
	double deadline_s = clock_now_s() + launch->time_limit_s + GRACE_S;
	bool has_ended = false;
	int step = 0;

	for (;;) {
		struct pollfd fds[] = {{.fd = launch->progress, .events = POLLIN},
				       {.fd = launch->messages, .events = POLLIN}};
		bool is_silent = launch->progress < 0 && launch->messages < 0;

		has_ended = has_ended || waitpid(launch->pid, &launch->start.status, WNOHANG) == launch->pid;
		poll(fds, 2, has_ended ? 0 : is_silent ? 1 : 50);
		if (fds[0].revents)
			read_pipe(launch, &launch->progress, take_progress);
		if (fds[1].revents)
			read_pipe(launch, &launch->messages, take_messages);
		if (has_ended && !fds[0].revents && !fds[1].revents)
			break;
		if (!has_ended && clock_now_s() > deadline_s) {
			launch->has_timed_out = !rot_interrupted();
			stop(launch, &step, &deadline_s);
		} else if (!has_ended && rot_interrupted() && step == 0) {
			stop(launch, &step, &deadline_s);
		}
	}
	launch->pid = 0;
}

/* ---- result ---- */

static size_t
length_without_newlines(const char *text, size_t length)
{
	while (length > 0 && text[length - 1] == '\n')
		length--;
	return length;
}

/* Lines that rot-core wrote itself repeat what the failure says. */
static void
drop_own_lines(struct core_launch *launch)
{
	char *to = launch->text;

	for (const char *line = launch->text, *next; *line; line = next) {
		size_t length = strcspn(line, "\n");

		next = line + length + (line[length] == '\n');
		if (strncmp(line, "rot-core: ", strlen("rot-core: ")) == 0)
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
	launch->text_length = (size_t)(to - launch->text);
}

static void
append_messages(const struct core_launch *launch, const char *already, struct rot_error *err)
{
	size_t length = launch->text_length;
	const char *text = launch->text;

	length = length_without_newlines(text, length);
	if (length > 2000) {
		text += length - 2000;
		length = 2000;
	}
	if (length > 0 && !strstr(already, text))
		rot_error_append(err, "\nThe %s printed:\n%.*s", launch->child ? "core" : "program", (int)length, text);
}

/* Kinds of CoreFailure and what to try, when the core itself has no hint. */
static const struct {
	const char *kind, *hint;
} failure_hints[] = {
	{"timeLimit", "-timeLimit=SECONDS allows more time"},
	{"killed",
	 "a crash in a kernel: look at its buffers and sizes; SIGKILL (9) may be the system running out of memory"},
	{"exited", "a kernel must return, not exit"},
};

/* Does a failure of that kind say nothing of other work? A refusal, or a file not found, is so for others as well. */
static bool
is_of_work(const struct core_launch *launch, const char *kind)
{
	static const char *const kinds[] = {"timeLimit", "killed", "exited"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return launch->child && strcmp(kind, "error") == 0;
}

static bool was_refused, was_late; /* the last start */

bool
core_launch_was_refused(void)
{
	return was_refused;
}

bool
core_launch_was_late(void)
{
	return was_late;
}

static int
report_failure(struct core_launch *launch, const struct core_failure *failure, struct rot_error *err)
{
	was_refused = strcmp(failure->kind, "refused") == 0;
	was_late = strcmp(failure->kind, "timeLimit") == 0;
	rot_error_set(err, 0, "%s", failure->attempted[0] ? failure->attempted : "the measuring core failed");
	if (is_of_work(launch, failure->kind))
		rot_error_scope(err, ROT_ERROR_OF_WORK);
	if (failure->standard_error[0]) {
		size_t length = length_without_newlines(failure->standard_error, strlen(failure->standard_error));
		size_t skip = length > 2000 ? length - 2000 : 0;

		rot_error_append(err, "\nThe kernel printed:\n%.*s", (int)(length - skip),
				 failure->standard_error + skip);
	}
	drop_own_lines(launch);
	append_messages(launch, failure->standard_error, err);
	if (failure->hint[0])
		return rot_error_hint(err, "%s", failure->hint);
	if (!launch->child && strcmp(failure->kind, "timeLimit") != 0)
		return -1;
	for (size_t i = 0; i < sizeof failure_hints / sizeof *failure_hints; i++)
		if (strcmp(failure->kind, failure_hints[i].kind) == 0)
			rot_error_hint(err, "%s", failure_hints[i].hint);
	return -1;
}

static int
report_end(const struct core_launch *launch, const struct rot_error *why, struct rot_error *err)
{
	if (launch->has_timed_out) {
		rot_error_set(err, 0, "the measuring core was stopped: it did not answer within %g s",
			      launch->time_limit_s);
		rot_error_hint(err, "-timeLimit=SECONDS allows more time");
	} else {
		core_start_explain(&launch->start, why, err);
	}
	if (launch->has_timed_out || WIFSIGNALED(launch->start.status))
		rot_error_scope(err, ROT_ERROR_OF_WORK);
	append_messages(launch, "", err);
	return -1;
}

static bool
has_all_collections(const void *output, const void *command)
{
	const struct measurement_command_output *got = output;
	const struct measurement_command *asked = command;
	size_t nr = measurement_command_output_nr_collections(got), nr_asked = asked->measurements.nr;

	for (size_t i = 0; i < nr && i < nr_asked; i++) {
		struct measurement_run_output_collection *collection =
			measurement_command_output_collections_at(got, i);

		if (!collection || measurement_run_output_collection_nr_outputs(collection) != (size_t)asked->run_count)
			return false;
	}
	return nr == nr_asked;
}

bool
program_runs_are_asked(const struct program_command_output *output, const struct program_command *command)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		if (!run || run->pass < 0 || (size_t)run->pass >= program_command_nr_passes(command))
			return false;
	}
	return true;
}

/* A signal that interrupts us also ends the program, whose last run then is none. */
static bool
has_all_runs(const void *output, const void *command)
{
	const struct program_command *asked = command;
	const size_t nr = program_command_nr_passes(asked) * (size_t)asked->run_count;

	return program_runs_are_asked(output, asked) && program_command_output_nr_outputs(output) == nr &&
	       !rot_interrupted();
}

static int
read_output(struct core_launch *launch, void **output, struct rot_error *err)
{
	const int status = launch->start.status;
	struct rot_error why = {0};
	void *graph = core_start_read(&launch->start, &why);
	const struct core_failure *failure = rot_cast(graph, &core_failure_class);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && rot_is_a(graph, launch->answer) &&
	    launch->is_complete(graph, launch->command)) {
		*output = graph;
		return 0;
	}
	if (rot_interrupted()) {
		rot_error_set(err, 0, "interrupted");
	} else if (failure) {
		report_failure(launch, failure, err);
	} else {
		if (graph)
			rot_error_set(&why, 0, "its output does not hold the runs that were asked for");
		report_end(launch, &why, err);
	}
	rot_graph_delete(graph);
	return -1;
}

/* *printed (may be NULL): the end of standard error, fresh memory. */
static int
launch_and_read(struct core_launch *launch, const struct rot *rot, void **output, char **printed, struct rot_error *err)
{
	int rc = -1;

	was_refused = was_late = false;
	launch->time_limit_s = configuration_double(rot->configuration, "timeLimit");
	launch->progress = launch->messages = -1;
	if (!(launch->time_limit_s >= 0.001 && launch->time_limit_s <= 1e9)) {
		rot_error_set(err, 0, "cannot measure with a timeLimit of %g s", launch->time_limit_s);
		return rot_error_hint(err, "-timeLimit=SECONDS takes 0.001 to 1e9");
	}
	if (core_start_open(&launch->start, rot, launch->command, err) == 0 && begin(launch, err) == 0) {
		follow(launch);
		rc = read_output(launch, output, err);
	}
	if (rc == 0 && printed)
		*printed = rot_strndup(launch->text, length_without_newlines(launch->text, launch->text_length));
	if (launch->progress >= 0)
		close(launch->progress);
	if (launch->messages >= 0)
		close(launch->messages);
	core_start_close(&launch->start);
	return rc;
}

/* The folder of plans and the like that are made for a processor. "": the cache cannot be written. Fresh memory. */
static char *
kept_folder(const struct rot *rot)
{
	const struct machine *machine = rot->machine;
	char *path;

	if (!machine)
		return rot_strdup("");
	path = rot_format("%s/kept/%s-%d-%d-%d", rot->paths->cache, machine->cpu_vendor, (int)machine->cpu_family,
			  (int)machine->cpu_model, (int)machine->cpu_stepping);
	if (folder_make(path, NULL) < 0)
		path[0] = '\0';
	return path;
}

int
core_launch(const struct rot *rot, const char *child, struct measurement *const *measurements, size_t nr_measurements,
	    int nr_runs, struct measurement_command_output **output, struct rot_error *err)
{
	struct measurement_command *command = measurement_command_new();
	struct core_launch launch = {.child = child,
				     .command = command,
				     .answer = &measurement_command_output_class,
				     .is_complete = has_all_collections};
	void *graph = NULL;
	int rc;

	command->run_count = nr_runs;
	command->last_level_bytes = rot->machine ? rot->machine->llc_bytes : 0;
	command->memory_bytes = rot->machine ? machine_usable_bytes(rot->machine) : 0;
	free(command->kept_folder);
	command->kept_folder = kept_folder(rot);
	for (size_t i = 0; i < nr_measurements; i++)
		measurement_command_measurements_add(command, measurements[i]);
	rc = launch_and_read(&launch, rot, &graph, NULL, err);
	if (rc == 0)
		*output = graph;
	measurement_command_delete(command);
	return rc;
}

int
core_launch_program(const struct rot *rot, const struct program_command *command,
		    struct program_command_output **output, char **printed, struct rot_error *err)
{
	struct core_launch launch = {
		.command = command, .answer = &program_command_output_class, .is_complete = has_all_runs};
	void *graph = NULL;
	int rc = launch_and_read(&launch, rot, &graph, printed, err);

	if (rc == 0)
		*output = graph;
	return rc;
}
