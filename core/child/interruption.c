/* SPDX-License-Identifier: MIT */
/* See interruption.h. Everything that handle calls is called in the middle of anything, as in a signal handler. */
#include "child/interruption.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "child/actions.h"
#include "child/run.h"
#include "child/spin.h"
#include "common/wire.h"

static int wire = -1;

__asm__(".text\n"
	".balign 16\n"
	".globl interruption_trampoline\n"
	".hidden interruption_trampoline\n"
	".type interruption_trampoline, @function\n"
	"interruption_trampoline:\n"
	"call *%rax\n"
	"int3\n"
	".size interruption_trampoline, .-interruption_trampoline\n");

/* In order: an action that cannot be executed now holds up those behind it. Impossible where nothing is queued. */
static enum action_attempt
execute_first(struct child_thread *thread)
{
	enum action_attempt attempt = ATTEMPT_IMPOSSIBLE;

	if (pthread_mutex_trylock(&thread->lock) != 0)
		return ATTEMPT_BUSY;
	if (thread->nr_queued > 0)
		attempt = action_execute_inside(thread->run, thread->queue[0]);
	if (attempt == ATTEMPT_DONE)
		memmove(thread->queue, thread->queue + 1, --thread->nr_queued * sizeof(*thread->queue));
	pthread_mutex_unlock(&thread->lock);
	return attempt;
}

/* Not 0: something is in use for a moment, and the thread has to be interrupted again; at an event it catches up. */
static uint64_t
handle_interruption(void)
{
	struct child_thread *thread = child_thread_current();
	enum action_attempt attempt = ATTEMPT_DONE;
	int error = errno;

	while (thread && !thread->is_raising && attempt == ATTEMPT_DONE)
		attempt = execute_first(thread);
	errno = error;
	return attempt == ATTEMPT_BUSY;
}

static void
tell_parent(enum wire_kind kind, int64_t argument)
{
	const struct wire_message message = {.kind = kind, .argument = argument};

	if (wire >= 0)
		wire_send(wire, &message, true);
}

void
interruption_open(int fd)
{
	wire = fd;
	tell_parent(WIRE_TRAMPOLINE, (int64_t)(uintptr_t)interruption_trampoline);
	tell_parent(WIRE_HANDLER, (int64_t)(uintptr_t)handle_interruption);
}

void
interruption_ask(const struct child_thread *thread)
{
	if (thread->tid != 0)
		tell_parent(WIRE_INTERRUPT, thread->tid);
}

void
interruption_catch_up(void)
{
	struct spin spin = {0};

	while (handle_interruption() != 0)
		spin_once(&spin);
}
