/* SPDX-License-Identifier: MIT */
/* Where a code cache is mapped, in a process that is stopped. */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "parent/tracer/remote.h"
#include "parent/translate/code_cache.h"
#include "permits.h"
#include "testing.h"

static const char nothing[] = "";
static pid_t pid;

static void
set_up(void)
{
	int status;

	pid = fork();
	while (pid == 0)
		pause();
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_EXITKILL), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, __WALL), pid);
}

static void
tear_down(void)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
}

/* A process that was forked before its parent got a copy still has the first one. */
TEST(a_copy_takes_the_place_of_a_cache)
{
	struct user_regs_struct registers;
	struct code_cache *first, *copy;

	ck_assert_int_eq(remote_get_registers(pid, &registers, &why), 0);
	first = code_cache_new(pid, PTRACE_O_EXITKILL, (uint64_t)nothing, &why);
	ck_assert_msg(first != NULL, "%s", why.text);
	ck_assert_int_eq(code_cache_arena(first, pid, PTRACE_O_EXITKILL, registers.rip, &why), 0);
	ck_assert(code_cache_is_whole(first, pid));
	copy = code_cache_copy(first, pid, PTRACE_O_EXITKILL, &why);
	ck_assert_msg(copy != NULL, "%s", why.text);
	ck_assert_uint_eq(copy->arenas[0].address, first->arenas[0].address);
	ck_assert(code_cache_is_whole(copy, pid));
	ck_assert(!code_cache_is_whole(first, pid));
	code_cache_unmap(copy, pid, PTRACE_O_EXITKILL);
	ck_assert(!code_cache_is_whole(copy, pid));
	code_cache_release(copy);
	code_cache_release(first);
}

UNIT_TESTS(.needs = {permits_tracing}, .set_up = set_up, .tear_down = tear_down);
