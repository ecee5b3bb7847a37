/* SPDX-License-Identifier: MIT */
/* See image.h. */
#include "parent/breakpoints/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <unistd.h>

#include "memory.h"
#include "parent/breakpoints/breakpoints.h"
#include "parent/breakpoints/image_start.h"
#include "parent/breakpoints/slots.h"
#include "parent/tracer/remote.h"

/* Address spaces that nobody has any more, kept because a new process may turn out to have a copy. */
#define MAX_DEAD 64

/* ---- memory ---- */

static int
open_memory(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 && errno == EACCES ? open(path, O_RDONLY | O_CLOEXEC) : fd;
}

int
image_check(const struct thread *thread, struct rot_error *err)
{
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

static int
memory_of(struct image *image)
{
	if (image->memory < 0 && image->pid != 0)
		image->memory = open_memory(image->pid);
	return image->memory;
}

int
image_read(struct image *image, uint64_t address, void *bytes, size_t n)
{
	ssize_t nr = pread(memory_of(image), bytes, n, (off_t)address);

	if (nr == (ssize_t)n)
		return 0;
	errno = nr < 0 ? errno : EIO;
	return -1;
}

int
image_write(struct image *image, const struct thread *thread, uint64_t address, const void *bytes, size_t n)
{
	ssize_t nr = pwrite(memory_of(image), bytes, n, (off_t)address);
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
delete_image(struct images *images, struct image *image)
{
	struct image **at = &images->first;

	while (*at != image)
		at = &(*at)->next;
	*at = image->next;
	breakpoints_clear(image);
	slots_clear(image);
	close_memory(&image->memory);
	free(image);
}

/* The newest are in front. */
static void
forget_old(struct images *images)
{
	size_t nr = 0;

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
		forget_old(images);
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
new_image(struct images *images, pid_t pid)
{
	struct image *image = rot_calloc(1, sizeof(*image));

	image->images = images;
	image->pid = pid;
	image->memory = -1;
	image->next = images->first;
	images->first = image;
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

static bool
has_slots(const struct images *images)
{
	for (const struct image *image = images->first; image; image = image->next) {
		if (image->pages)
			return true;
	}
	return false;
}

/* What the process of a thread has that nobody has seen before. */
static struct image *
find_origin(struct images *images, struct thread *thread)
{
	struct image *origin, *image;
	bool is_shared;
	int memory;

	if (!has_slots(images))
		return new_image(images, thread->pid);
	memory = open_memory(thread->pid);
	origin = slots_find_origin(images, memory, &is_shared);
	if (is_shared) {
		close_memory(&memory);
		return origin;
	}
	image = new_image(images, thread->pid);
	image->memory = memory;
	if (origin) {
		image->loader_state_address = origin->loader_state_address;
		breakpoints_copy(image, origin);
		slots_copy(image, origin, thread);
	}
	return image;
}

void
images_started(struct images *images, struct thread *thread)
{
	struct image *image = image_of_process(images, thread->pid);

	get_image(image ? image : find_origin(images, thread), thread);
}

void
images_executed(struct images *images, struct thread *thread)
{
	put_image(images, thread);
	get_image(new_image(images, thread->pid), thread);
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
