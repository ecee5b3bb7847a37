/* SPDX-License-Identifier: MIT */
/* See fault.h. */
#include "parent/supervisor/fault.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "common/buffers.h"
#include "common/proc.h"
#include "memory.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"
#include "parent/tracer/remote.h"

/* Farther away than this from a buffer, an address has nothing to do with it. */
#define MAX_AWAY_BYTES ((int64_t)1 << 40)

/* What the process is made of while it stands. */
struct code {
	struct symbol_files *files;
	struct objects objects;
};

static char *
place_at(const struct code *code, uint64_t address)
{
	char *text = place_text_at(code->files, &code->objects, address),
	     *line = place_line_at(code->files, &code->objects, address);
	char *place = text ? rot_format("%s%s%s", line ? line : "", line ? ", " : "", text)
			   : rot_format("0x%" PRIx64, address);

	free(text);
	free(line);
	return place;
}

/*
 * ", which would be element 4608 of the 1000 allocated at Scale.c:20" for each buffer of the table: the one that was
 * meant is not known. Fresh memory; "" without any.
 */
static char *
elements_text(const struct code *code, pid_t tid, uint64_t table, uint64_t address)
{
	struct buffer_table buffers;
	struct rot_error ignored;
	char *text = rot_strdup("");

	if (!table || remote_read(tid, table, &buffers, sizeof(buffers), &ignored) < 0)
		return text;
	for (size_t i = 0; i < BUFFER_TABLE_ROOM; i++) {
		const struct buffer_entry *buffer = &buffers.entries[i];
		const int64_t away = (int64_t)(address - buffer->start), bytes = (int64_t)buffer->element_bytes;
		char *line, *longer;

		if (!buffer->start || bytes <= 0 || away > MAX_AWAY_BYTES || away < -MAX_AWAY_BYTES)
			continue;
		/* The call is before the address that it returns to. */
		line = place_line_at(code->files, &code->objects, buffer->caller - 1);
		longer = rot_format("%s, %selement %" PRId64 " of the %" PRIu64 " allocated%s%s", text,
				    *text ? "or " : "which would be ", away / bytes - (away % bytes < 0),
				    buffer->nr_elements, line ? " at " : "", line ? line : "");
		free(line);
		free(text);
		text = longer;
	}
	return text;
}

char *
fault_text(const struct tracer_stop *stop, uint64_t buffers)
{
	const struct thread *thread = stop->thread;
	const bool has_address = stop->signal == SIGSEGV || stop->signal == SIGBUS;
	struct user_regs_struct registers;
	struct code code = {0};
	struct rot_error ignored;
	siginfo_t info;
	uint64_t caught;
	char *place, *elements, *text;

	if (!remote_is_synchronous(stop->signal) ||
	    (proc_status(thread->pid, "SigCgt", 16, &caught) && (caught & REMOTE_SIGNAL(stop->signal))) ||
	    ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) < 0 || info.si_code <= 0 ||
	    ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0)
		return NULL;
	code.files = symbol_files_new();
	objects_read(thread->pid, &code.objects, &ignored);
	place = place_at(&code, registers.rip);
	elements = elements_text(&code, thread->tid, has_address ? buffers : 0, (uint64_t)(uintptr_t)info.si_addr);
	text = has_address ? rot_format("at %s, with the address %p%s", place, info.si_addr, elements)
			   : rot_format("at %s", place);
	free(place);
	free(elements);
	objects_clear(&code.objects);
	symbol_files_delete(code.files);
	return text;
}
