/* SPDX-License-Identifier: MIT */
/*
 * Runs a command at a terminal of its own, where somebody may press Ctrl-C.
 *
 * at_terminal [-c MICROSECONDS] COMMAND...    -c: that long after the command was executed
 *
 * Prints what the terminal shows. Ends as a shell says it: with the status of the command, or 128 + n. The command can
 * write to the descriptor AT_TERMINAL what is typed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CTRL_C "\003"

static void
become_command(int terminal, char **command)
{
	char number[16];
	int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);

	signal(SIGINT, SIG_DFL); /* which shells have what runs in the background ignore */
	setsid();
	if (side < 0 || ioctl(side, TIOCSCTTY, 0) < 0 || dup2(side, 0) < 0 || dup2(side, 1) < 0 || dup2(side, 2) < 0)
		_exit(99);
	snprintf(number, sizeof(number), "%d", terminal);
	setenv("AT_TERMINAL", number, 1);
	execvp(*command, command);
	_exit(127);
}

/* False: nobody has the terminal any more. */
static bool
show(int terminal)
{
	char bytes[4096];
	ssize_t nr = read(terminal, bytes, sizeof(bytes));

	return nr > 0 && write(STDOUT_FILENO, bytes, (size_t)nr) == nr;
}

int
main(int argc, char **argv)
{
	const bool has_delay = argc > 3 && strcmp(argv[1], "-c") == 0;
	const long delay_us = has_delay ? atol(argv[2]) : 0;
	const struct timespec delay = {delay_us / 1000000, delay_us % 1000000 * 1000};
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	int gone[2], status;
	char byte;
	pid_t pid;

	if (argc < 2 || terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0 || pipe2(gone, O_CLOEXEC) < 0) {
		fprintf(stderr, "at_terminal: no command, or no terminal: %s\n", strerror(errno));
		return 99;
	}
	pid = fork();
	if (pid == 0)
		become_command(terminal, argv + (has_delay ? 3 : 1));
	close(gone[1]);
	if (pid < 0 || read(gone[0], &byte, 1) != 0)
		return 99;
	if (has_delay && (nanosleep(&delay, NULL) < 0 || write(terminal, CTRL_C, 1) < 0))
		return 99;
	while (show(terminal))
		;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
