/* SPDX-License-Identifier: MIT */
/* See image.h. */
#include "parent/breakpoints/image.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <unistd.h>

#include "common/proc.h"
#include "memory.h"
#include "parent/breakpoints/breakpoints.h"
#include "parent/breakpoints/image_start.h"
#include "parent/breakpoints/slots.h"
#include "parent/tracer/remote.h"

/* Address spaces that nobody has any more, kept because a new process may turn out to have a copy. */
#define MAX_DEAD 64

/* ---- memory ---- */

int
image_check(const struct thread *thread, struct rot_error *err)
{
	uint64_t ignored = 0;

	proc_status(thread->tid, "SigIgn", 16, &ignored);
	if (ignored & REMOTE_SIGNAL(SIGTRAP)) {
		rot_error_set(err, 0, "process %d ignores SIGTRAP, and would not any more after the first breakpoint",
			      (int)thread->pid);
		return rot_error_hint(err, "--region-backend=uprobe changes nothing in the program");
	}
	errno = 0;
	if (ptrace(PTRACE_PEEKUSER, thread->tid, offsetof(struct user, regs.cs), NULL) == CODE_SEGMENT_64 || errno)
		return 0;
	rot_error_set(err, 0, "cannot set breakpoints in process %d, which is a 32-bit program", (int)thread->pid);
	return rot_error_hint(err, "regions need a 64-bit program; without regions its threads can be counted");
}

static void
close_memory(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int
image_read(struct image *image, uint64_t address, void *bytes, size_t n)
{
	ssize_t nr = pread(image->memory, bytes, n, (off_t)address);

	if (nr == (ssize_t)n)
		return 0;
	errno = nr < 0 ? errno : EIO;
	return -1;
}

int
image_write(struct image *image, const struct thread *thread, uint64_t address, const void *bytes, size_t n)
{
	ssize_t nr = pwrite(image->memory, bytes, n, (off_t)address);
	struct rot_error err;

	if (nr == (ssize_t)n)
		return 0;
	if (thread && remote_write(thread->tid, address, bytes, n, &err) == 0)
		return 0;
	errno = nr < 0 ? errno : EIO;
	return -1;
}

/* ---- who has which ---- */

static void
take_out(struct images *images, struct image *image)
{
	struct image **at = &images->first;

	while (*at != image)
		at = &(*at)->next;
	*at = image->next;
}

static void
put_in_front(struct images *images, struct image *image)
{
	image->next = images->first;
	images->first = image;
}

static void
delete_image(struct images *images, struct image *image)
{
	take_out(images, image);
	breakpoints_clear(image);
	slots_clear(image);
	close_memory(&image->memory);
	free(image);
}

/*
 * A process that it has forked may still be on its way to its first stop, with breakpoints that are known from here
 * alone. Images without threads stand in the order of their deaths, the last one in front; only MAX_DEAD are kept.
 */
static void
bury(struct images *images, struct image *dead)
{
	size_t nr = 0;

	take_out(images, dead);
	put_in_front(images, dead);
	for (struct image *image = images->first, *next; image; image = next) {
		next = image->next;
		if (image->nr_threads == 0 && ++nr > MAX_DEAD)
			delete_image(images, image);
	}
}

static void
put_image(struct images *images, struct thread *thread)
{
	struct image *image = thread->image;

	thread->image = NULL;
	rewinds_clear(thread);
	if (!image)
		return;
	if (image->pid == thread->tid)
		image->pid = 0;
	if (--image->nr_threads > 0)
		return;
	close_memory(&image->memory);
	if (image->pages)
		bury(images, image);
	else
		delete_image(images, image);
}

static void
get_image(struct image *image, struct thread *thread)
{
	image->nr_threads++;
	thread->image = image;
}

static struct image *
new_image(struct images *images, const struct thread *thread, int memory)
{
	struct image *image = rot_calloc(1, sizeof(*image));

	image->images = images;
	image->pid = thread->pid;
	image->memory = memory;
	put_in_front(images, image);
	return image;
}

static struct image *
image_of_process(struct images *images, pid_t pid)
{
	for (struct image *image = images->first; image; image = image->next) {
		if (image->pid == pid && image->nr_threads > 0)
			return image;
	}
	return NULL;
}

/* What the process of a thread has that nobody has seen before. */
static struct image *
find_origin(struct images *images, struct thread *thread)
{
	int memory = remote_open_memory(thread->tid);
	struct image *origin, *image;
	bool is_shared;

	origin = slots_find_origin(images, memory, &is_shared);
	if (is_shared) {
		close_memory(&memory);
		return origin;
	}
	image = new_image(images, thread, memory);
	if (origin) {
		image->loader_state_address = origin->loader_state_address;
		breakpoints_copy(image, origin);
		slots_copy(image, origin, thread);
		if (images->are_lifted)
			breakpoints_lift_all(image);
	}
	return image;
}

void
images_started(struct images *images, struct thread *thread)
{
	struct image *image = image_of_process(images, thread->pid);

	get_image(image ? image : find_origin(images, thread), thread);
}

/* ---- who shares one ---- */

#define MARK_BYTES 16

struct mark {
	struct image *image;
	uint64_t address;
	uint8_t bytes[MARK_BYTES];
	size_t nr;
};

static bool
has_mark(const struct mark *mark, int memory)
{
	uint8_t bytes[MARK_BYTES];

	return pread(memory, bytes, mark->nr, (off_t)mark->address) == (ssize_t)mark->nr &&
	       memcmp(bytes, mark->bytes, mark->nr) == 0;
}

static void
gather_thread(void *context, struct thread *thread)
{
	const struct mark *mark = context;

	if (!thread->image || thread->image == mark->image || !has_mark(mark, thread->image->memory))
		return;
	put_image(mark->image->images, thread);
	get_image(mark->image, thread);
}

/* Of a process that was attached to: others may have it since before. */
static pid_t
find_stranger(const struct mark *mark, const struct threads *threads)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	pid_t stranger = 0;

	while (folder && stranger == 0 && (entry = readdir(folder))) {
		const pid_t pid = (pid_t)atoi(entry->d_name);
		int memory = pid > 0 && pid != mark->image->pid && !threads_find(threads, pid) ? remote_open_memory(pid)
											       : -1;

		if (memory >= 0 && has_mark(mark, memory))
			stranger = pid;
		close_memory(&memory);
	}
	if (folder)
		closedir(folder);
	return stranger;
}

void
image_gather(struct image *image, uint64_t address, const void *bytes, size_t n)
{
	const struct tracer *tracer = image->images->tracer;
	struct mark mark = {.image = image, .address = address, .nr = n};

	memcpy(mark.bytes, bytes, n);
	threads_each((struct threads *)&tracer->threads, gather_thread, &mark);
	if (tracer->is_attached)
		image->stranger = find_stranger(&mark, &tracer->threads);
}

/* ---- what threads do ---- */

void
images_executed(struct images *images, struct thread *thread)
{
	put_image(images, thread);
	get_image(new_image(images, thread, remote_open_memory(thread->tid)), thread);
	image_begin(thread);
}

void
images_exited(struct images *images, struct thread *thread)
{
	put_image(images, thread);
}

enum tracer_answer
images_stopped(struct images *images, const struct tracer_stop *stop)
{
	(void)images;
	return breakpoints_handle(stop);
}

bool
images_may_go(struct images *images, struct thread *thread)
{
	bool has_executed = thread->image != NULL;
	struct tracer_stop stop = {.thread = thread};

	if (has_executed)
		return true;
	images_started(images, thread);
	if (thread->image->nr_threads > 1)
		return false;
	breakpoints_lift_all(thread->image);
	breakpoints_leave(&stop);
	return true;
}

void
images_lift_all(struct images *images)
{
	images->are_lifted = true;
	for (struct image *image = images->first; image; image = image->next) {
		if (image->nr_threads > 0)
			breakpoints_lift_all(image);
	}
}

/* All others have left, and stand in their own code. */
static bool
is_last(const struct thread *thread)
{
	return thread->image && thread->image->nr_threads == 1;
}

enum tracer_answer
images_leaving(struct images *images, const struct tracer_stop *stop)
{
	enum tracer_answer answer = breakpoints_leave(stop);

	(void)images;
	if (answer != TRACER_KEEP && !stop->is_inside && is_last(stop->thread))
		slots_unmap(stop->thread);
	return answer;
}

void
images_clear(struct images *images)
{
	while (images->first)
		delete_image(images, images->first);
}
