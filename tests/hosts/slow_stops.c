/* SPDX-License-Identifier: MIT */
/*
 * Stops as dear as under hypervisors that emulate much: preloaded (LD_PRELOAD), what lets a traced thread go on takes
 * some 100 us more.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <unistd.h>

long
ptrace(enum __ptrace_request request, ...)
{
	static long (*real_ptrace)(enum __ptrace_request request, ...);
	va_list arguments;
	pid_t pid;
	void *address, *data;

	if (!real_ptrace)
		*(void **)&real_ptrace = dlsym(RTLD_NEXT, "ptrace");
	va_start(arguments, request);
	pid = va_arg(arguments, pid_t);
	address = va_arg(arguments, void *);
	data = va_arg(arguments, void *);
	va_end(arguments);
	if (request == PTRACE_CONT || request == PTRACE_SINGLESTEP || request == PTRACE_SYSCALL)
		usleep(50);
	return real_ptrace(request, pid, address, data);
}
