/* SPDX-License-Identifier: MIT */
#include "parent/breakpoints/image.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
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
#include "parent/breakpoints/slots.h"
#include "parent/injection/rseq.h"
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
take_out_image(struct images *images, struct image *image)
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
	take_out_image(images, image);
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

	take_out_image(images, dead);
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

/* The image of a process whose thread nobody has seen before: shared, or copied from the one it was forked from. */
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
	struct image *image = images->first;

	while (image && (image->pid != thread->pid || image->nr_threads == 0))
		image = image->next;
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

/* Another process with the memory of one that was attached to: it may have it since before. 0: none. */
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

/* ---- where a program stands when its libraries are there, and when there are others ---- */
/*
 * The entry point of a program is in the auxiliary vector (AT_ENTRY). The loader of shared libraries calls an empty
 * function, whose address it leaves in r_debug (link.h), each time it has begun or ended to change the list of objects.
 */
#define MAX_HEADERS 64
#define MAX_DYNAMIC 256

struct auxiliary {
	uint64_t entry, headers, nr_headers;
};

static int
read_auxiliary(pid_t tid, struct auxiliary *auxiliary, struct rot_error *err)
{
	const struct {
		uint64_t type, *value;
	} wanted[] = {
		{AT_ENTRY, &auxiliary->entry}, {AT_PHDR, &auxiliary->headers}, {AT_PHNUM, &auxiliary->nr_headers}};
	char path[32];
	uint64_t pair[2];
	FILE *file;

	*auxiliary = (struct auxiliary){0};
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)tid);
	file = fopen(path, "re");
	if (!file)
		return rot_error_set(err, errno, "cannot read %s", path);
	while (fread(pair, sizeof(pair), 1, file) == 1) {
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (wanted[i].type == pair[0])
				*wanted[i].value = pair[1];
	}
	fclose(file);
	return auxiliary->entry ? 0 : rot_error_set(err, 0, "%s names no entry point", path);
}

/* The run-time address of the dynamic section; 0: there is none. */
static uint64_t
find_dynamic(struct image *image, const struct auxiliary *auxiliary)
{
	Elf64_Phdr headers[MAX_HEADERS];
	size_t nr = auxiliary->nr_headers < MAX_HEADERS ? auxiliary->nr_headers : MAX_HEADERS;
	uint64_t bias = 0, dynamic = 0;

	if (image_read(image, auxiliary->headers, headers, nr * sizeof(*headers)) < 0)
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (headers[i].p_type == PT_PHDR)
			bias = auxiliary->headers - headers[i].p_vaddr;
		else if (headers[i].p_type == PT_DYNAMIC)
			dynamic = headers[i].p_vaddr;
	return dynamic ? bias + dynamic : 0;
}

/* Address of r_debug, which the loader writes into the dynamic section; 0: there is none. */
static uint64_t
find_debug(struct image *image, uint64_t dynamic)
{
	Elf64_Dyn entry;

	for (size_t i = 0; dynamic && i < MAX_DYNAMIC; i++) {
		if (image_read(image, dynamic + i * sizeof(entry), &entry, sizeof(entry)) < 0 || entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == DT_DEBUG)
			return entry.d_un.d_ptr;
	}
	return 0;
}

/* Where the loader says what it does, and where it calls its empty function, or 0: there is no loader. */
static int
find_loader(struct thread *thread, uint64_t *state_address, uint64_t *function, struct rot_error *err)
{
	struct image *image = thread->image;
	struct auxiliary auxiliary;
	struct r_debug content;
	uint64_t debug;

	*state_address = *function = 0;
	if (read_auxiliary(thread->tid, &auxiliary, err) < 0)
		return -1;
	debug = find_debug(image, find_dynamic(image, &auxiliary));
	if (!debug || image_read(image, debug, &content, sizeof(content)) < 0)
		return 0;
	*state_address = debug + offsetof(struct r_debug, r_state);
	*function = content.r_brk;
	return 0;
}

/* A process that was forked has the places of translated code, and an image of its own. */
static void
on_loader(void *context, const struct breakpoint_hit *hit)
{
	struct images *images = context;
	struct image *image = hit->thread->image;
	uint64_t function;
	struct rot_error err;
	int state;

	if (!image->loader_state_address)
		find_loader(hit->thread, &image->loader_state_address, &function, &err);
	if (image_read(image, image->loader_state_address, &state, sizeof(state)) == 0 && state == RT_CONSISTENT)
		images->objects_changed(images->context, hit->thread);
}

int
image_watch_objects(struct thread *thread, struct rot_error *err)
{
	struct image *image = thread->image;
	struct breakpoint_user user = {.hit = on_loader, .context = image->images};
	uint64_t state_address, function;

	if (image->loader_state_address)
		return 0;
	if (find_loader(thread, &state_address, &function, err) < 0)
		return -1;
	if (function == 0)
		return 0;
	if (breakpoint_set(thread, function, user, err) < 0)
		return rot_error_prefix(err, "libraries that are loaded later cannot be noticed");
	image->loader_state_address = state_address;
	return 0;
}

static void
refuse_program(struct images *images, struct thread *thread, const struct rot_error *err)
{
	if (images->refused)
		images->refused(images->context, thread, err);
}

static void
on_entry(void *context, const struct breakpoint_hit *hit)
{
	struct images *images = context;
	struct thread *thread = hit->thread;
	struct rot_error err;

	if (thread->image->blocks_trap) {
		uint64_t mask;

		if (ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) == 0) {
			mask |= REMOTE_SIGNAL(SIGTRAP);
			ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask);
		}
	}
	if (images->at_entry)
		images->at_entry(images->context, thread);
	if (images->objects_changed && image_watch_objects(thread, &err) < 0)
		refuse_program(images, thread, &err);
}

/* thread has just executed a program, whose image it has: calls what its images want to be called from now on. */
static void
begin_image(struct thread *thread)
{
	struct images *images = thread->image->images;
	struct breakpoint_user user = {.hit = on_entry, .context = images};
	struct auxiliary auxiliary;
	struct rot_error err;
	uint64_t mask;

	if (!images->at_entry && !images->objects_changed)
		return;
	if (image_check(thread, &err) < 0 || read_auxiliary(thread->tid, &auxiliary, &err) < 0 ||
	    breakpoint_set_once(thread, auxiliary.entry, user, &err) < 0) {
		refuse_program(images, thread, &err);
		return;
	}
	/* A trap that is blocked would be handled in the default way and unblocked by the system. */
	if (!images->set && ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) == 0 &&
	    (mask & REMOTE_SIGNAL(SIGTRAP))) {
		mask &= ~REMOTE_SIGNAL(SIGTRAP);
		ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask);
		thread->image->blocks_trap = true;
	}
}

/* ---- what threads do ---- */

bool
image_bring_to_rest(const struct thread *thread)
{
	struct user_regs_struct registers;

	if (!thread->image || ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) < 0 ||
	    remote_raised_signal(thread->tid) != 0)
		return false;
	return !rseq_leave(thread->tid, &registers) || remote_set_registers(thread->tid, &registers) == 0;
}

void
images_executed(struct images *images, struct thread *thread)
{
	put_image(images, thread);
	get_image(new_image(images, thread, remote_open_memory(thread->tid)), thread);
	begin_image(thread);
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
	for (struct image *image = images->first; image; image = image->next)
		if (image->nr_threads > 0)
			breakpoints_lift_all(image);
}

enum tracer_answer
images_leaving(struct images *images, const struct tracer_stop *stop)
{
	enum tracer_answer answer = breakpoints_leave(stop);

	(void)images;
	/* All others have left, and stand in their own code. */
	if (answer != TRACER_KEEP && !stop->is_inside && stop->thread->image && stop->thread->image->nr_threads == 1)
		slots_unmap(stop->thread);
	return answer;
}

void
images_clear(struct images *images)
{
	while (images->first)
		delete_image(images, images->first);
}
