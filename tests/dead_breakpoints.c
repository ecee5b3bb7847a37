/* SPDX-License-Identifier: MIT */
/*
 * Breakpoints that are accepted and never fire, as under hypervisors that do not hand on the debug registers. Preloaded
 * (LD_PRELOAD), it opens an event that counts nothing where a hardware breakpoint of perf is asked for.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

long
syscall(long number, ...)
{
	static long (*real_syscall)(long number, ...);
	long arguments[6];
	struct perf_event_attr attr;
	va_list list;

	if (!real_syscall)
		*(void **)&real_syscall = dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open &&
	    ((const struct perf_event_attr *)arguments[0])->type == PERF_TYPE_BREAKPOINT) {
		attr = *(const struct perf_event_attr *)arguments[0];
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.bp_type = 0;
		attr.bp_len = 0;
		attr.bp_addr = 0;
		arguments[0] = (long)&attr;
	}
	return real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}
