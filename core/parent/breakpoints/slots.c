/* SPDX-License-Identifier: MIT */
/*
 * See slots.h. The first slot of the first page of an address space holds two numbers instead: its identity, and one
 * that is changed to see whether another process sees the change. The system has a call that compares address spaces,
 * but containers forbid it.
 */
#include "parent/breakpoints/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "parent/symbols/instruction.h"
#include "parent/tracer/remote.h"

/* ---- an instruction that does in a slot elsewhere what it did in its place ---- */

#define ADDRESS_BYTES 8
#define PUSH_BYTES 6 /* push [rip + disp32] */
#define JUMP_BYTES 6 /* jmp [rip + disp32]  */
#define LONG_JUMP_BYTES (JUMP_BYTES + ADDRESS_BYTES)
#define RSP 4
#define REG_JUMP 4 /* ff /4: jmp r/m */
#define REX_B 1

struct rewriting {
	const uint8_t *bytes;
	const struct instruction *instruction;
	uint64_t from, next, to; /* next: the address behind the instruction */
	struct code_slot *slot;
};

static void
put(struct code_slot *slot, const void *bytes, size_t nr_bytes)
{
	memcpy(slot->bytes + slot->nr_bytes, bytes, nr_bytes);
	slot->nr_bytes = (uint8_t)(slot->nr_bytes + nr_bytes);
}

/* ff MODRM disp32: an instruction on the 8 bytes that stand offset bytes behind it. */
static void
put_relative(struct code_slot *slot, uint8_t modrm, int32_t offset)
{
	const uint8_t opcode[] = {0xff, modrm};

	put(slot, opcode, sizeof(opcode));
	put(slot, &offset, sizeof(offset));
}

static void
put_push(struct code_slot *slot, int32_t offset)
{
	put_relative(slot, 0x35, offset);
}

static void
put_jump(struct code_slot *slot, int32_t offset)
{
	put_relative(slot, 0x25, offset);
}

static void
put_long_jump(struct code_slot *slot, uint64_t target)
{
	put_jump(slot, 0);
	put(slot, &target, sizeof(target));
}

/* Records the meaning of the next byte of the slot. */
static void
mark_point(struct code_slot *slot, bool is_before, uint8_t pushed_bytes, uint64_t address)
{
	slot->points[slot->nr_points++] = (struct code_point){slot->nr_bytes, is_before, pushed_bytes, address};
}

/* Puts the instruction with its own displacement made right. */
static int
put_instruction(const struct rewriting *rewriting, struct rot_error *err)
{
	const struct instruction *instruction = rewriting->instruction;
	struct code_slot *slot = rewriting->slot;
	uint64_t stands_at = rewriting->to + slot->nr_bytes;
	uint8_t copy[INSTRUCTION_MAX_BYTES];

	memcpy(copy, rewriting->bytes, instruction->length);
	if (instruction_is_rip_relative(instruction)) {
		int64_t displacement = instruction->displacement + (int64_t)(rewriting->from - stands_at);
		int32_t encoded = (int32_t)displacement;

		if (instruction->has_address_size)
			return rot_error_set(err, 0, "its operand is relative to a 32-bit instruction pointer");
		if (displacement != encoded)
			return rot_error_set(err, 0, "its operand is further than 2 GiB from where it has to run");
		memcpy(copy + instruction->displacement_offset, &encoded, sizeof(encoded));
	}
	put(slot, copy, instruction->length);
	return 0;
}

static int
relocate_next(const struct rewriting *rewriting, struct rot_error *err)
{
	if (put_instruction(rewriting, err) < 0)
		return -1;
	mark_point(rewriting->slot, false, 0, rewriting->next);
	put_long_jump(rewriting->slot, rewriting->next);
	return 0;
}

static int
relocate_jump(const struct rewriting *rewriting, struct rot_error *err)
{
	(void)err;
	put_long_jump(rewriting->slot, rewriting->next + (uint64_t)rewriting->instruction->relative);
	return 0;
}

/* The short form of the branch leads over the way to the next instruction. */
static int
relocate_branch(const struct rewriting *rewriting, struct rot_error *err)
{
	const struct instruction *instruction = rewriting->instruction;
	struct code_slot *slot = rewriting->slot;
	uint64_t target = rewriting->next + (uint64_t)instruction->relative;
	const uint8_t address_size = 0x67;
	uint8_t branch[] = {instruction->opcode, LONG_JUMP_BYTES};

	(void)err;
	if (instruction->map == 1)
		branch[0] = 0x70 | instruction->condition;
	else if (instruction->has_address_size && instruction->condition >= 16)
		put(slot, &address_size, 1);
	put(slot, branch, sizeof(branch));
	mark_point(slot, false, 0, rewriting->next);
	put_long_jump(slot, rewriting->next);
	mark_point(slot, false, 0, target);
	put_long_jump(slot, target);
	return 0;
}

static int
relocate_call(const struct rewriting *rewriting, struct rot_error *err)
{
	struct code_slot *slot = rewriting->slot;
	uint64_t target = rewriting->next + (uint64_t)rewriting->instruction->relative;

	(void)err;
	put_push(slot, JUMP_BYTES);
	mark_point(slot, false, 0, target);
	put_jump(slot, ADDRESS_BYTES);
	put(slot, &rewriting->next, ADDRESS_BYTES);
	put(slot, &target, ADDRESS_BYTES);
	return 0;
}

/* An operand on the stack stands 8 bytes higher after the push; it is written with a displacement of 4 bytes. */
static int
put_jump_through_stack(const struct rewriting *rewriting, struct rot_error *err)
{
	const struct instruction *instruction = rewriting->instruction;
	int64_t displacement = instruction->displacement;
	int32_t encoded = (int32_t)(displacement + ADDRESS_BYTES);
	uint8_t copy[INSTRUCTION_MAX_BYTES + 4];
	size_t nr_bytes = (size_t)instruction->modrm_offset + 2;

	if (instruction->has_address_size || displacement + ADDRESS_BYTES != encoded ||
	    (displacement > -2 * ADDRESS_BYTES && displacement < 0))
		return rot_error_set(err, 0, "it calls through what it overwrites on the stack");
	memcpy(copy, rewriting->bytes, nr_bytes);
	copy[instruction->modrm_offset] = 2 << 6 | REG_JUMP << 3 | RSP;
	memcpy(copy + nr_bytes, &encoded, sizeof(encoded));
	put(rewriting->slot, copy, nr_bytes + sizeof(encoded));
	return 0;
}

static int
relocate_indirect_call(const struct rewriting *rewriting, struct rot_error *err)
{
	const struct instruction *instruction = rewriting->instruction;
	struct code_slot *slot = rewriting->slot;
	bool is_register = instruction->mod == 3, has_b = instruction->rex & REX_B;
	bool is_on_stack = !is_register && instruction->has_sib && instruction->base == RSP && !has_b;
	uint8_t begin = slot->nr_bytes, at;
	int32_t offset;

	if (is_register && instruction->rm == RSP && !has_b)
		return rot_error_set(err, 0, "it calls the stack");
	put_push(slot, 0);
	mark_point(slot, true, ADDRESS_BYTES, rewriting->from);
	at = slot->nr_bytes;
	if (is_on_stack ? put_jump_through_stack(rewriting, err) < 0 : put_instruction(rewriting, err) < 0)
		return -1;
	slot->bytes[at + instruction->modrm_offset] =
		(uint8_t)((slot->bytes[at + instruction->modrm_offset] & ~0x38) | REG_JUMP << 3);
	offset = slot->nr_bytes - at;
	memcpy(slot->bytes + begin + PUSH_BYTES - sizeof(offset), &offset, sizeof(offset));
	put(slot, &rewriting->next, ADDRESS_BYTES);
	return 0;
}

static int
refuse_instruction(const struct rewriting *rewriting, struct rot_error *err)
{
	(void)rewriting;
	return rot_error_set(err, 0, "such a jump cannot be made from elsewhere");
}

static int (*const relocate[])(const struct rewriting *, struct rot_error *) = {
	[FLOW_NEXT] = relocate_next,
	[FLOW_JUMP] = relocate_jump,
	[FLOW_BRANCH] = relocate_branch,
	[FLOW_CALL] = relocate_call,
	[FLOW_INDIRECT_JUMP] = put_instruction,
	[FLOW_INDIRECT_CALL] = relocate_indirect_call,
	[FLOW_RETURN] = put_instruction,
	[FLOW_OTHER] = refuse_instruction,
};

int
code_relocate(const uint8_t *bytes, size_t nr_bytes, uint64_t from, uint64_t to, struct code_slot *slot,
	      struct rot_error *err)
{
	struct instruction instruction;
	struct rewriting rewriting = {
		.bytes = bytes, .instruction = &instruction, .from = from, .to = to, .slot = slot};

	memset(slot, 0, sizeof(*slot));
	if (!instruction_decode(bytes, nr_bytes, &instruction))
		return rot_error_set(err, 0, "no instruction begins at 0x%llx", (unsigned long long)from);
	rewriting.next = from + instruction.length;
	mark_point(slot, true, 0, from);
	if (relocate[instruction.flow](&rewriting, err) < 0)
		return rot_error_prefix(err, "cannot run the instruction of 0x%llx from another place",
					(unsigned long long)from);
	return 0;
}

const struct code_point *
code_slot_point(const struct code_slot *slot, uint64_t offset)
{
	for (int i = 0; i < slot->nr_points; i++)
		if (slot->points[i].offset == offset)
			return &slot->points[i];
	return NULL;
}

/* ---- the slots of an address space ---- */

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

/* A page with a free slot that reaches what code at near reaches. */
static struct slot_page *
find_page(struct image *image, uint64_t near)
{
	for (struct slot_page *page = image->pages; page; page = page->next) {
		const uint64_t distance = page->address < near ? near - page->address : page->address - near;

		if (page->nr_used < NR_SLOTS && distance < REMOTE_NEAR_BYTES)
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

const struct code_point *
slot_point(const struct image *image, uint64_t rip)
{
	const struct slot_page *page = image->pages;
	size_t i;

	while (page && rip - page->address >= PAGE_BYTES)
		page = page->next;
	i = page ? (rip - page->address) / CODE_SLOT_BYTES : 0;
	if (i == 0 || i >= page->nr_used)
		return NULL;
	return code_slot_point(&page->slots[i], (rip - page->address) % CODE_SLOT_BYTES);
}

/* ---- copies ---- */

/* Processes that are forks of each other have their first page at the same address. */
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
