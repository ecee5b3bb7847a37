/* SPDX-License-Identifier: MIT */
/*
 * See slots.h. The first slot of the first page of an address space holds two numbers instead: its identity, and one
 * that is changed to see whether another process sees the change. The system has a call that compares address spaces,
 * but containers forbid it.
 */
#include "parent/breakpoints/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "parent/tracer/remote.h"

#define PAGE_BYTES ((size_t)16 << 10)
#define NR_SLOTS (PAGE_BYTES / CODE_SLOT_BYTES)

struct slot_page {
	uint64_t address;
	size_t nr_used; /* the first is never a slot of code */
	struct code_slot *slots;
	struct slot_page *next;
};

struct control {
	uint64_t identity, trial;
};

static struct slot_page *
add_page(struct image *image, uint64_t address)
{
	struct slot_page *page = rot_calloc(1, sizeof(*page)), **at = &image->pages;

	while (*at)
		at = &(*at)->next;
	page->address = address;
	page->nr_used = 1;
	page->slots = rot_calloc(1, sizeof(*page->slots));
	*at = page;
	return page;
}

/* At random, so that no other tracer gives the same to a process whose memory looks alike. */
static int
identify(struct image *image, const struct thread *thread)
{
	struct control control;

	if (getrandom(&control, sizeof(control), 0) != (ssize_t)sizeof(control))
		control = (struct control){.identity = ++image->images->last_identity};
	image->identity = control.identity;
	return image_write(image, thread, image->pages->address, &control, sizeof(control));
}

static struct slot_page *
map_page(struct thread *thread, uint64_t near, struct rot_error *err)
{
	struct image *image = thread->image;
	bool is_first = image->pages == NULL;
	struct slot_page *page;
	uint64_t address;

	if (remote_map_near(thread->tid, tracer_options(image->images->tracer), near, PAGE_BYTES, PROT_READ | PROT_EXEC,
			    &address, err) < 0) {
		rot_error_prefix(err, "no room near 0x%llx", (unsigned long long)near);
		return NULL;
	}
	page = add_page(image, address);
	if (is_first && identify(image, thread) == 0)
		image_gather(image, address, &image->identity, sizeof(image->identity));
	return page;
}

static uint64_t
distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* A page with a free slot that reaches what code at near reaches. */
static struct slot_page *
find_page(struct image *image, uint64_t near)
{
	for (struct slot_page *page = image->pages; page; page = page->next) {
		if (page->nr_used < NR_SLOTS && distance(page->address, near) < REMOTE_NEAR_BYTES)
			return page;
	}
	return NULL;
}

uint64_t
slot_make(struct thread *thread, uint64_t from, const uint8_t *bytes, size_t nr_bytes, struct rot_error *err)
{
	struct slot_page *page = find_page(thread->image, from);
	struct code_slot *slot;
	uint64_t address;

	if (!page)
		page = map_page(thread, from, err);
	if (!page)
		return 0;
	page->slots = rot_realloc(page->slots, page->nr_used + 1, sizeof(*page->slots));
	slot = &page->slots[page->nr_used];
	address = page->address + page->nr_used * CODE_SLOT_BYTES;
	if (code_relocate(bytes, nr_bytes, from, address, slot, err) < 0)
		return 0;
	if (image_write(thread->image, thread, address, slot->bytes, slot->nr_bytes) < 0) {
		rot_error_set(err, errno, "cannot write into the memory of process %d", (int)thread->pid);
		return 0;
	}
	page->nr_used++;
	return address;
}

void
slots_unmap(struct thread *thread)
{
	const long options = tracer_options(thread->image->images->tracer);
	struct rot_error err;
	int64_t result;

	for (const struct slot_page *page = thread->image->pages; page; page = page->next) {
		const uint64_t arguments[6] = {page->address, PAGE_BYTES};

		remote_call(thread->tid, options, SYS_munmap, arguments, &result, &err);
	}
}

static const struct slot_page *
page_at(const struct image *image, uint64_t address)
{
	for (const struct slot_page *page = image->pages; page; page = page->next) {
		if (address - page->address < PAGE_BYTES)
			return page;
	}
	return NULL;
}

const struct code_point *
slot_point(const struct image *image, uint64_t rip)
{
	const struct slot_page *page = page_at(image, rip);
	size_t i = page ? (rip - page->address) / CODE_SLOT_BYTES : 0;

	if (i == 0 || i >= page->nr_used)
		return NULL;
	return code_slot_point(&page->slots[i], (rip - page->address) % CODE_SLOT_BYTES);
}

/* ---- copies ---- */

/* Those that are forks of each other have their first page at the same address. */
static struct image *
find_identity(struct images *images, int memory)
{
	uint64_t address = 0, identity = 0;

	for (struct image *image = images->first; image; image = image->next) {
		if (!image->pages)
			continue;
		if (image->pages->address != address) {
			address = image->pages->address;
			if (pread(memory, &identity, sizeof(identity), (off_t)address) != (ssize_t)sizeof(identity))
				identity = 0;
		}
		if (image->identity == identity)
			return image;
	}
	return NULL;
}

struct image *
slots_find_origin(struct images *images, int memory, bool *is_shared)
{
	struct image *image = find_identity(images, memory);
	struct control control;

	*is_shared = false;
	if (!image)
		return NULL;
	control = (struct control){image->identity, ++images->last_identity};
	if (image->nr_threads > 0 && image_write(image, NULL, image->pages->address, &control, sizeof(control)) == 0) {
		uint64_t trial = control.trial;

		*is_shared = pread(memory, &control, sizeof(control), (off_t)image->pages->address) ==
				     (ssize_t)sizeof(control) &&
			     control.trial == trial;
	}
	return image;
}

void
slots_copy(struct image *to, const struct image *from, const struct thread *thread)
{
	for (const struct slot_page *page = from->pages; page; page = page->next) {
		struct slot_page *copy = add_page(to, page->address);

		copy->nr_used = page->nr_used;
		copy->slots = rot_realloc(copy->slots, copy->nr_used, sizeof(*copy->slots));
		for (size_t i = 1; i < copy->nr_used; i++)
			copy->slots[i] = page->slots[i];
	}
	if (to->pages)
		identify(to, thread);
}

void
slots_clear(struct image *image)
{
	struct slot_page *page, *next;

	for (page = image->pages; page; page = next) {
		next = page->next;
		free(page->slots);
		free(page);
	}
	image->pages = NULL;
}
