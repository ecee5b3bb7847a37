/* SPDX-License-Identifier: MIT */
/* See victim.h: its ordinary life, and ways to end. */
#include "victim.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int victim_wire = -1;
const char *victim_output;

void
say(enum wire_kind kind, int64_t argument)
{
	struct wire_message message = {.kind = kind, .argument = argument};

	CHECK(send(victim_wire, &message, sizeof(message), MSG_NOSIGNAL) == (ssize_t)sizeof(message));
}

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

void
write_output(const char *text)
{
	write_file(victim_output, text);
}

struct wire_message
hear(enum wire_kind kind)
{
	struct wire_message message;

	CHECK(recv(victim_wire, &message, sizeof(message), 0) == (ssize_t)sizeof(message) && message.kind == kind);
	return message;
}

void
result(void)
{
	say(WIRE_STARTUP, 3);
	for (int run = 1; run <= 3; run++) {
		say(WIRE_RUN_STARTED, run);
		say(WIRE_RUN_FINISHED, run);
	}
	write_output("result\n");
}

static void
reports_an_error(void)
{
	write_output("reported\n");
	exit(1);
}

/* ---- ends ---- */

static void
no_result(void)
{
}

static void
exit_3(void)
{
	write_output("not a result\n");
	exit(3);
}

/* While it writes its result, too. */
static void
crash(void)
{
	char half_written[PATH_MAX];

	snprintf(half_written, sizeof(half_written), "%s.new", victim_output);
	if (access(half_written, F_OK) < 0 && errno == ENOENT)
		close(open(half_written, O_WRONLY | O_CREAT, 0600));
	say(WIRE_STARTUP, 10);
	say(WIRE_RUN_STARTED, 1);
	say(WIRE_RUN_FINISHED, 1);
	say(WIRE_RUN_STARTED, 2);
	say(WIRE_RUN_FINISHED, 2);
	say(WIRE_RUN_STARTED, 3);
	raise(SIGSEGV);
}

static int *volatile nowhere = (int *)16;

static void
fault(void)
{
	say(WIRE_STARTUP, 2);
	say(WIRE_RUN_STARTED, 1);
	*nowhere = 1;
}

static void
exit_in_run(void)
{
	say(WIRE_STARTUP, 2);
	say(WIRE_RUN_STARTED, 1);
	exit(0);
}

static void
crash_after_result(void)
{
	result();
	abort();
}

void
hang(void)
{
	say(WIRE_STARTUP, 2);
	say(WIRE_RUN_STARTED, 1);
	while (true)
		pause();
}

static void
stop(void)
{
	raise(SIGSTOP);
	write_output("somebody continued it\n");
}

static void
print_much(void)
{
	char line[64];

	for (int i = 0; i < 16384; i++) {
		memset(line, 'x', sizeof(line));
		snprintf(line, sizeof(line), "%s %d", i % 2 ? "error" : "output", i);
		line[strlen(line)] = ' ';
		line[sizeof(line) - 1] = '\n';
		CHECK(write(i % 2 ? STDERR_FILENO : STDOUT_FILENO, line, sizeof(line)) == (ssize_t)sizeof(line));
	}
	CHECK(write(STDERR_FILENO, "nul \0 here\n", 11) == 11);
	abort();
}

static const struct act acts[] = {
	{"crash", crash},
	{"fault", fault},
	{"crash_after_result", crash_after_result},
	{"exit_3", exit_3},
	{"exit_in_run", exit_in_run},
	{"hang", hang},
	{"no_result", no_result},
	{"print_much", print_much},
	{"reports_an_error", reports_an_error},
	{"result", result},
	{"stop", stop},
	{NULL, NULL},
};

/* Does the act of that name. False: there is none. */
static bool
act(const struct act *table, const char *name)
{
	for (; table->name; table++) {
		if (strcmp(table->name, name) == 0) {
			table->act();
			return true;
		}
	}
	return false;
}

int
main(int argc, char **argv)
{
	char name[64] = "";
	FILE *file;

	if (argc == 3 && strcmp(argv[1], "after exec") == 0) {
		victim_output = argv[2];
		write_output("result\n");
		return 0;
	}
	CHECK(argc == 7 && !strcmp(argv[1], "--command") && !strcmp(argv[3], "--output") && !strcmp(argv[5], "--wire"));
	victim_output = argv[4];
	victim_wire = atoi(argv[6]);
	file = fopen(argv[2], "re");
	CHECK(file && fscanf(file, "%63s", name) == 1);
	fclose(file);
	if (act(acts, name) || act(thread_acts, name) || act(signal_acts, name))
		return 0;
	fprintf(stderr, "no act '%s'\n", name);
	return 8;
}
