/* SPDX-License-Identifier: MIT */
/* See fault.h. */
#include "parent/supervisor/fault.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "common/proc.h"
#include "memory.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"
#include "parent/tracer/remote.h"

static bool
is_caught(pid_t pid, int signal)
{
	uint64_t caught;

	return proc_status(pid, "SigCgt", 16, &caught) && (caught & REMOTE_SIGNAL(signal));
}

static char *
place_at(pid_t pid, uint64_t address)
{
	struct symbol_files *files = symbol_files_new();
	struct objects objects = {0};
	struct rot_error err;
	char *text = NULL;

	if (objects_read(pid, &objects, &err) == 0)
		text = place_text_at(files, &objects, address);
	objects_clear(&objects);
	symbol_files_delete(files);
	return text ? text : rot_format("0x%" PRIx64, address);
}

char *
fault_text(const struct tracer_stop *stop)
{
	const struct thread *thread = stop->thread;
	bool has_address = stop->signal == SIGSEGV || stop->signal == SIGBUS;
	struct user_regs_struct registers;
	siginfo_t info;
	char *place, *text;

	if (!remote_is_synchronous(stop->signal) || is_caught(thread->pid, stop->signal) ||
	    ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) < 0 || info.si_code <= 0 ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return NULL;
	place = place_at(thread->pid, registers.rip);
	text = has_address ? rot_format("at %s, with the address %p", place, info.si_addr) : rot_format("at %s", place);
	free(place);
	return text;
}
