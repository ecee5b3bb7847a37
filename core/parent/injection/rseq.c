/* SPDX-License-Identifier: MIT */
#include "parent/injection/rseq.h"

#include <linux/rseq.h>
#include <stddef.h>
#include <sys/ptrace.h>

#include "parent/tracer/remote.h"

/* Linux 5.13; older headers lack it. */
#define GET_RSEQ_CONFIGURATION ((enum __ptrace_request)0x420f)

struct rseq_configuration {
	uint64_t pointer;
	uint32_t size, signature, flags, padding;
};

/* at: of the sequence that it is or was in; 0: none. False: it has registered no sequences, or that is not known. */
static bool
read_sequence(pid_t tid, uint64_t *at)
{
	struct rseq_configuration configuration;

	return ptrace(GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(configuration), &configuration) > 0 &&
	       configuration.pointer != 0 &&
	       remote_read(tid, configuration.pointer + offsetof(struct rseq, rseq_cs), at, sizeof(*at), NULL) == 0;
}

bool
rseq_is_used(pid_t tid)
{
	uint64_t at;

	return read_sequence(tid, &at) && at != 0;
}

enum rseq_place
rseq_find(pid_t tid, uint64_t rip, uint64_t *handler)
{
	struct rseq_cs section;
	struct rot_error err;
	uint64_t at;

	if (!read_sequence(tid, &at))
		return RSEQ_UNKNOWN;
	if (at == 0)
		return RSEQ_OUTSIDE;
	if (remote_read(tid, at, &section, sizeof(section), &err) < 0)
		return RSEQ_UNKNOWN;
	if (rip - section.start_ip >= section.post_commit_offset)
		return RSEQ_OUTSIDE;
	if (handler)
		*handler = section.abort_ip;
	return RSEQ_INSIDE;
}

bool
rseq_leave(pid_t tid, struct user_regs_struct *registers)
{
	uint64_t handler;

	if (rseq_find(tid, registers->rip, &handler) != RSEQ_INSIDE)
		return false;
	registers->rip = handler;
	return true;
}
