/* SPDX-License-Identifier: MIT */
/* See notifier.h. */
#include "child/notifier.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

void
notifier_init(struct notifier *notifier, int fd)
{
	*notifier = (struct notifier){.fd = fd};
}

void
notifier_clear(struct notifier *notifier)
{
	free(notifier->tids);
	notifier->tids = NULL;
	notifier->nr_tids = 0;
}

int
notifier_send(struct notifier *notifier, enum wire_kind kind, int64_t argument, struct rot_error *err)
{
	struct wire_message message = {.kind = kind, .argument = argument};

	if (notifier->fd < 0 || wire_send(notifier->fd, &message, true) == 0)
		return 0;
	return rot_error_set(err, errno, "cannot tell the parent of the core how far the measurement is");
}

static void
thread_started(struct notifier *notifier, pid_t tid)
{
	notifier->tids = rot_realloc(notifier->tids, notifier->nr_tids + 1, sizeof(*notifier->tids));
	notifier->tids[notifier->nr_tids++] = tid;
	notifier->nr_started++;
}

static void
thread_exited(struct notifier *notifier, pid_t tid)
{
	for (size_t i = 0; i < notifier->nr_tids; i++) {
		if (notifier->tids[i] == tid) {
			notifier->tids[i] = notifier->tids[--notifier->nr_tids];
			return;
		}
	}
}

static bool
contains(const pid_t *tids, size_t nr, pid_t tid)
{
	for (size_t i = 0; i < nr; i++) {
		if (tids[i] == tid)
			return true;
	}
	return false;
}

/* An own thread is never remembered, so it does not matter when the news of its end comes. */
static void
drain(struct notifier *notifier, const pid_t *own_tids, size_t nr_own_tids)
{
	struct wire_message message;

	while (notifier->fd >= 0 && wire_receive(notifier->fd, &message, false) == 0) {
		if (message.kind == WIRE_THREAD_STARTED && !contains(own_tids, nr_own_tids, message.tid))
			thread_started(notifier, message.tid);
		else if (message.kind == WIRE_THREAD_EXITED)
			thread_exited(notifier, message.tid);
	}
}

/* Whether a thread of this process still executes: there is neither nothing nor a zombie of that id (proc_pid_stat(5)).
 */
static bool
is_alive(pid_t tid)
{
	char path[64], state = '\0';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '\0';
	fclose(file);
	return state != 'Z' && state != 'X';
}

/* The parent's news of a thread's end may come a little later than the end itself. */
static void
forget_ended(struct notifier *notifier)
{
	for (size_t i = notifier->nr_tids; i-- > 0;) {
		if (!is_alive(notifier->tids[i]))
			thread_exited(notifier, notifier->tids[i]);
	}
}

void
notifier_begin_run(struct notifier *notifier)
{
	drain(notifier, NULL, 0);
	forget_ended(notifier);
	notifier->nr_at_begin = notifier->nr_tids;
	notifier->nr_started = 0;
}

size_t
notifier_end_run(struct notifier *notifier, const pid_t *own_tids, size_t nr_own_tids)
{
	drain(notifier, own_tids, nr_own_tids);
	return notifier->nr_at_begin + notifier->nr_started;
}
