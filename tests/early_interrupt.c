/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C at the worst moment. Preloaded (LD_PRELOAD) into what at_terminal starts: before the process that is named
 * EARLY_INTERRUPT makes its first process, somebody presses it, and it has come.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define CTRL_C "\003"

/* A handler that runs meanwhile has got it as well. */
static void
interrupt(void)
{
	const char *terminal = getenv("AT_TERMINAL");
	sigset_t pending;

	if (!terminal || write(atoi(terminal), CTRL_C, 1) != 1)
		abort();
	for (int ms = 0; ms < 1000; ms++) {
		sigpending(&pending);
		if (sigismember(&pending, SIGINT) || usleep(1000) < 0)
			return;
	}
}

pid_t
fork(void)
{
	static bool was_here;
	const char *name = getenv("EARLY_INTERRUPT");
	pid_t (*real_fork)(void);

	*(void **)&real_fork = dlsym(RTLD_NEXT, "fork");
	if (name && strcmp(name, program_invocation_short_name) == 0 && !was_here) {
		was_here = true;
		interrupt();
	}
	return real_fork();
}
