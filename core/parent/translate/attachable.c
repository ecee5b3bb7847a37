/* SPDX-License-Identifier: MIT */
#include "parent/translate/attachable.h"

#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/proc.h"
#include "parent/symbols/objects.h"
#include "parent/tracer/remote.h"

/* Linux 6.6; older headers lack it. The registers of this set are there where the thread has a shadow stack. */
#ifndef NT_X86_SHSTK
#define NT_X86_SHSTK 0x204
#endif

/* True if the file has restartable sequences: the C library and programs keep their descriptors in this section. */
static bool
has_sequences(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	bool has = false;
	size_t names;

	for (Elf_Scn *section = NULL; elf && !has && elf_getshdrstrndx(elf, &names) == 0;) {
		const char *name = NULL;
		GElf_Shdr header;

		section = elf_nextscn(elf, section);
		if (!section)
			break;
		if (gelf_getshdr(section, &header))
			name = elf_strptr(elf, names, header.sh_name);
		has = name && strcmp(name, "__rseq_cs") == 0;
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return has;
}

static int
check_sequences(pid_t tid, struct rot_error *err)
{
	struct objects objects = {0};
	int rc = objects_read(tid, &objects, err);

	for (size_t i = 0; rc == 0 && i < objects.nr_objects; i++) {
		const struct object *object = &objects.objects[i];

		if (object->file && has_sequences(object->file))
			rc = rot_error_set(err, 0, "%s has restartable sequences (rseq)", object_name(object));
	}
	objects_clear(&objects);
	return rc;
}

int
attachable_check(pid_t tid, struct rot_error *err)
{
	uint64_t locked_kb = 0, ignored = 0, shadow_stack;
	struct iovec registers = {&shadow_stack, sizeof(shadow_stack)};
	struct rlimit limit;

	proc_status(tid, "VmLck", 10, &locked_kb);
	proc_status(tid, "SigIgn", 16, &ignored);
	if (locked_kb > 0)
		return rot_error_set(err, 0, "the process locks memory");
	if (prlimit(tid, RLIMIT_AS, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		return rot_error_set(err, 0, "the memory of the process is limited (RLIMIT_AS)");
	if (ignored & REMOTE_SIGNAL(SIGTRAP))
		return rot_error_set(err, 0, "the process ignores SIGTRAP");
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_SHSTK, &registers) == 0)
		return rot_error_set(err, 0, "the process has a shadow stack");
	return check_sequences(tid, err);
}
