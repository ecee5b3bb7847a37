/* SPDX-License-Identifier: MIT */
#include "sheet/on_cpu.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rot.h"

pid_t
on_cpu_start(int cpu, void (*work)(void *argument), void *argument)
{
	const pid_t parent = getpid(), pid = fork();
	cpu_set_t set;

	if (pid != 0)
		return pid;
	/* Whatever CPUs the driver may use. */
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	work(argument);
	_exit(0);
}

int
on_cpu_await(pid_t pid, const char *work, struct rot_error *err)
{
	int status = 1;

	do {
		if (rot_interrupted())
			kill(pid, SIGKILL);
	} while (waitpid(pid, &status, 0) < 0 && errno == EINTR);
	if (rot_interrupted())
		return rot_error_set(err, 0, "interrupted");
	return status == 0 ? 0 : rot_error_set(err, 0, "the process that %s was ended before it had done so", work);
}

void
on_cpu_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}
