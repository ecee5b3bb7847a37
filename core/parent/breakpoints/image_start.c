/* SPDX-License-Identifier: MIT */
/*
 * See image_start.h and image.h. The entry point is in the auxiliary vector (AT_ENTRY). The loader of shared libraries
 * calls an empty function, whose address it leaves in r_debug (link.h), each time it has begun or ended to change the
 * list of objects.
 */
#include "parent/breakpoints/image_start.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "parent/breakpoints/breakpoints.h"

#define SIGNAL_BIT(number) (1ULL << ((number)-1))
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
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			if (wanted[i].type == pair[0])
				*wanted[i].value = pair[1];
		}
	}
	fclose(file);
	return auxiliary->entry ? 0 : rot_error_set(err, 0, "%s names no entry point", path);
}

/* ---- the list of objects ---- */

static void
on_loader(void *context, const struct breakpoint_hit *hit)
{
	struct images *images = context;
	struct image *image = hit->thread->image;
	int state;

	if (image_read(image, image->loader_state_address, &state, sizeof(state)) == 0 && state == RT_CONSISTENT)
		images->objects_changed(images->context, hit->thread);
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
	for (size_t i = 0; i < nr; i++) {
		if (headers[i].p_type == PT_PHDR)
			bias = auxiliary->headers - headers[i].p_vaddr;
		else if (headers[i].p_type == PT_DYNAMIC)
			dynamic = headers[i].p_vaddr;
	}
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

int
image_watch_objects(struct thread *thread, struct rot_error *err)
{
	struct image *image = thread->image;
	struct breakpoint_user user = {.hit = on_loader, .context = image->images};
	struct auxiliary auxiliary;
	uint64_t debug;
	struct r_debug content;

	if (image->loader_state_address)
		return 0;
	if (read_auxiliary(thread->tid, &auxiliary, err) < 0)
		return -1;
	debug = find_debug(image, find_dynamic(image, &auxiliary));
	if (!debug || image_read(image, debug, &content, sizeof(content)) < 0 || content.r_brk == 0)
		return 0;
	if (breakpoint_set(thread, content.r_brk, user, err) < 0)
		return rot_error_prefix(err, "libraries that are loaded later cannot be noticed");
	image->loader_state_address = debug + offsetof(struct r_debug, r_state);
	return 0;
}

/* ---- the entry point ---- */

static void
refuse(struct images *images, struct thread *thread, const struct rot_error *err)
{
	if (images->refused)
		images->refused(images->context, thread, err);
}

static void
block_trap(struct thread *thread)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) == 0) {
		mask |= SIGNAL_BIT(SIGTRAP);
		ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask);
	}
}

/* A trap that is blocked would be handled in the default way and unblocked by the system. */
static void
unblock_trap(struct thread *thread)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(mask), &mask) < 0 || !(mask & SIGNAL_BIT(SIGTRAP)))
		return;
	mask &= ~SIGNAL_BIT(SIGTRAP);
	ptrace(PTRACE_SETSIGMASK, thread->tid, sizeof(mask), &mask);
	thread->image->blocks_trap = true;
}

static void
on_entry(void *context, const struct breakpoint_hit *hit)
{
	struct images *images = context;
	struct thread *thread = hit->thread;
	struct rot_error err;

	if (thread->image->blocks_trap)
		block_trap(thread);
	if (images->at_entry)
		images->at_entry(images->context, thread);
	if (images->objects_changed && image_watch_objects(thread, &err) < 0)
		refuse(images, thread, &err);
}

void
image_begin(struct thread *thread)
{
	struct images *images = thread->image->images;
	struct breakpoint_user user = {.hit = on_entry, .context = images};
	struct auxiliary auxiliary;
	struct rot_error err;

	if (!images->at_entry && !images->objects_changed)
		return;
	if (image_check(thread, &err) < 0 || read_auxiliary(thread->tid, &auxiliary, &err) < 0 ||
	    breakpoint_set_once(thread, auxiliary.entry, user, &err) < 0) {
		refuse(images, thread, &err);
		return;
	}
	unblock_trap(thread);
}
