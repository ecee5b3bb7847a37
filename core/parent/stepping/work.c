/* SPDX-License-Identifier: MIT */
/* See work.h; what a decoded instruction does with the registers of a thread. work_decode.c has decoded it. */
#include "parent/stepping/work.h"

#include <elf.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "parent/stepping/xsave_area.h"

/* ---- vector registers ---- */

/* The area: 512 bytes as FXSAVE has them, a header that begins with the bits of the components that it holds, and the
 * components, each at an offset that the processor tells. Source: Intel SDM 1, 13.4. */
#define AREA_BYTES 4096 /* what is behind is of no use here */
#define SSE_AT 160
#define ENABLED_AT 464 /* what the kernel says there, in bytes that the processor does not use (its asm/user.h) */

enum { COMPONENT_SSE = 1, COMPONENT_AVX = 2, COMPONENT_MASKS = 5, COMPONENT_ZMM_HIGH = 6, COMPONENT_HIGH_ZMM = 7 };

/* The bytes of registers that each component holds, one register after the other. */
static const struct part {
	uint8_t component, first_register, nr_registers, first_byte, nr_bytes;
} parts[] = {
	{COMPONENT_SSE, 0, 16, 0, 16},
	{COMPONENT_AVX, 0, 16, 16, 16},
	{COMPONENT_ZMM_HIGH, 0, 16, 32, 32},
	{COMPONENT_HIGH_ZMM, 16, 16, 0, 64},
};

/* The bytes of a component, NULL: it is as at the start, which is 0. */
static const uint8_t *
component_bytes(const uint8_t *area, size_t area_bytes, unsigned component, size_t nr_bytes)
{
	/* Where a component begins, 0: there is none. */
	uint32_t offset = component == COMPONENT_SSE ? SSE_AT : xsave_component(component)->offset;
	uint64_t components;

	memcpy(&components, area + XSAVE_HEADER_AT, sizeof(components));
	return offset && components & UINT64_C(1) << component && offset + nr_bytes <= area_bytes ? area + offset
												  : NULL;
}

bool
vector_registers_read(pid_t tid, struct vector_registers *registers)
{
	uint8_t area[AREA_BYTES] __attribute__((aligned(64)));
	struct iovec into = {area, sizeof(area)};
	const uint8_t *bytes;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &into) < 0 ||
	    into.iov_len < XSAVE_HEADER_AT + sizeof(uint64_t))
		return false;
	memset(registers, 0, sizeof(*registers));
	memcpy(&registers->enabled, area + ENABLED_AT, sizeof(registers->enabled));
	memcpy(&registers->in_use, area + XSAVE_HEADER_AT, sizeof(registers->in_use));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *part = &parts[i];

		bytes = component_bytes(area, into.iov_len, part->component, part->nr_registers * part->nr_bytes);
		for (unsigned nr = 0; bytes && nr < part->nr_registers; nr++)
			memcpy(registers->vectors[part->first_register + nr] + part->first_byte,
			       bytes + nr * part->nr_bytes, part->nr_bytes);
	}
	bytes = component_bytes(area, into.iov_len, COMPONENT_MASKS, sizeof(registers->masks));
	if (bytes)
		memcpy(registers->masks, bytes, sizeof(registers->masks));
	return true;
}

/* The lowest nr bits, nr at most 64. */
static uint64_t
low_bits(unsigned nr)
{
	return nr < 64 ? (UINT64_C(1) << nr) - 1 : UINT64_MAX;
}

static uint64_t
word(const struct work_thread *thread, uint8_t number)
{
	return number == WORK_NO_REGISTER ? 0 : ((const unsigned long long *)thread->registers)[number];
}

static void
add(struct work_done *done, const struct work_part *part, uint64_t address, uint64_t bytes)
{
	if (done->nr_accesses == WORK_MAX_ACCESSES) {
		done->is_unknown = true;
		return;
	}
	if (!part->flush)
		done->counts[part->is_store ? STEP_STORED_BYTES : STEP_LOADED_BYTES] += bytes;
	done->accesses[done->nr_accesses++] =
		(struct work_access){address, (uint32_t)bytes, part->is_store, part->is_streaming, part->flush};
}

/* One access for each run of ones in elements. */
static void
add_runs(struct work_done *done, const struct work_part *part, uint64_t address, uint64_t elements)
{
	unsigned first = 0, nr;

	while (elements) {
		nr = (unsigned)__builtin_ctzll(elements);
		elements >>= nr;
		first += nr;
		nr = elements == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~elements);
		add(done, part, address + (uint64_t)first * part->bytes, (uint64_t)nr * part->bytes);
		elements = nr < 64 ? elements >> nr : 0;
		first += nr;
	}
}

/* The elements that active lanes use, of which there are fewer than lanes if what is loaded is broadcast. */
static uint64_t
elements_of(const struct work_part *part, uint64_t active)
{
	uint64_t elements = 0;

	for (; active; active = part->nr_elements < 64 ? active >> part->nr_elements : 0)
		elements |= active & low_bits(part->nr_elements);
	return elements;
}

/* An element of a vector of indices, extended to 64 bits. */
static uint64_t
index_at(const struct vector_registers *vectors, const struct work_part *part, unsigned lane)
{
	const uint8_t *from = vectors->vectors[part->index] + lane * part->index_bytes;
	int32_t narrow;
	uint64_t wide;

	if (part->index_bytes == sizeof(narrow)) {
		memcpy(&narrow, from, sizeof(narrow));
		return (uint64_t)(int64_t)narrow;
	}
	memcpy(&wide, from, sizeof(wide));
	return wide;
}

static void
add_indexed(struct work_done *done, const struct work_part *part, const struct work_thread *thread,
	    const struct vector_registers *vectors, uint64_t active)
{
	uint64_t start = word(thread, part->base) + part->displacement;

	for (; active; active &= active - 1) {
		uint64_t index = index_at(vectors, part, (unsigned)__builtin_ctzll(active));

		add(done, part, ((start + (index << part->scale)) & part->address_mask) + word(thread, part->segment),
		    part->bytes);
		done->counts[STEP_GATHERED_BYTES] += part->bytes;
	}
}

/* How far the element that the selected bit is in lies behind the first one, or before it. */
static uint64_t
selected(const struct work_part *part, const struct work_thread *thread)
{
	const unsigned nr_bits = CHAR_BIT * part->bytes, unused = 64 - nr_bits;
	int64_t bit;

	if (part->selector == WORK_NO_REGISTER)
		return 0;
	bit = (int64_t)(word(thread, part->selector) << unused) >> unused;
	return (uint64_t)(bit >> __builtin_ctz(nr_bits)) * part->bytes;
}

static uint64_t
address_of(const struct work_part *part, const struct work_thread *thread)
{
	const uint64_t index = word(thread, part->index) & part->index_mask;
	const uint64_t address = word(thread, part->base) + (index << part->scale) + part->displacement;

	return ((address + selected(part, thread)) & part->address_mask) + word(thread, part->segment);
}

static void
add_part(struct work_done *done, const struct work_part *part, const struct work_thread *thread,
	 const struct vector_registers *vectors, uint64_t active)
{
	uint64_t address, nr;

	if (part->shape == WORK_INDEXED) {
		add_indexed(done, part, thread, vectors, active);
		return;
	}
	address = address_of(part, thread);
	nr = (uint64_t)__builtin_popcountll(active);
	if (part->shape == WORK_WHOLE)
		add(done, part, address, part->bytes);
	else if (part->shape == WORK_LANES)
		add_runs(done, part, address, elements_of(part, active));
	else if (nr)
		add(done, part, address, nr * part->bytes);
}

/* One bit for each lane, set by the sign of its element of a vector. */
static uint64_t
signs(const struct vector_registers *vectors, const struct work *work)
{
	const uint8_t *vector = vectors->vectors[work->mask_register];
	uint64_t active = 0;

	for (unsigned lane = 0; lane < work->nr_lanes; lane++)
		active |= (uint64_t)(vector[(lane + 1) * work->mask_bytes - 1] >> 7) << lane;
	return active;
}

static void
do_masked(const struct work *work, const struct work_thread *thread, struct work_done *done)
{
	const struct vector_registers *vectors = thread->read_vectors ? thread->read_vectors(thread->context) : NULL;
	uint64_t active = low_bits(work->nr_lanes);

	if (!vectors) {
		done->is_unknown = true;
		return;
	}
	if (work->mask == WORK_MASK_REGISTER)
		active &= vectors->masks[work->mask_register];
	else if (work->mask == WORK_SIGNS)
		active = signs(vectors, work);
	if (work->operation != STEP_INSTRUCTIONS)
		WORK_ADD_OPERATIONS(work, (uint64_t)__builtin_popcountll(active) * work->nr_operations, done->counts);
	if (work_may_mask_flops(work))
		done->counts[STEP_MASKED_FLOP] =
			(work->nr_lanes - (uint64_t)__builtin_popcountll(active)) * work->nr_operations;
	for (unsigned i = 0; i < work->nr_parts; i++)
		add_part(done, &work->parts[i], thread, vectors, active);
}

/* The header of an area that is restored tells what the area holds, and how. */
static bool
read_header(const struct work_thread *thread, uint64_t area, struct xsave_request *request)
{
	uint64_t header[2];

	if (request->kind != XSAVE_RESTORE)
		return true;
	if (!thread->read_memory ||
	    !thread->read_memory(thread->context, area + XSAVE_HEADER_AT, header, sizeof(header)))
		return false;
	request->held = header[0];
	request->format = header[1];
	return true;
}

static void
do_components(const struct work *work, const struct work_thread *thread, struct work_done *done)
{
	struct work_part part = work->parts[0];
	const uint64_t area = address_of(&part, thread);
	const struct user_regs_struct *registers = thread->registers;
	struct xsave_request request = {.kind = work->mask_register,
					.asked_for = registers->rdx << 32 | (uint32_t)registers->rax};
	struct xsave_span spans[XSAVE_MAX_SPANS];
	const struct vector_registers *vectors = thread->read_vectors ? thread->read_vectors(thread->context) : NULL;
	size_t nr;

	if (!vectors || !read_header(thread, area, &request)) {
		done->is_unknown = true;
		return;
	}
	request.enabled = vectors->enabled;
	request.in_use = vectors->in_use;
	nr = xsave_spans(&request, spans);
	for (size_t i = 0; i < nr; i++) {
		part.is_store = spans[i].is_store;
		add(done, &part, area + spans[i].offset, spans[i].bytes);
	}
}

void
work_do(const struct work *work, const struct work_thread *thread, struct work_done *done)
{
	memset(done->counts, 0, sizeof(done->counts));
	done->counts[STEP_INSTRUCTIONS] = 1;
	done->nr_accesses = 0;
	done->is_unknown = work->is_unknown;
	if (work->is_unknown || (work->is_repeated && !(thread->registers->rcx & work->counter_mask)))
		return;
	done->counts[STEP_CONVERSIONS] = work->nr_converted;
	if (work->mask == WORK_ALL_LANES) {
		if (work->operation != STEP_INSTRUCTIONS)
			WORK_ADD_OPERATIONS(work, (uint64_t)work->nr_lanes * work->nr_operations, done->counts);
		for (unsigned i = 0; i < work->nr_parts; i++)
			add_part(done, &work->parts[i], thread, NULL, 0);
	} else if (work->mask == WORK_COMPONENTS)
		do_components(work, thread, done);
	else
		do_masked(work, thread, done);
	if (done->is_unknown) {
		memset(done->counts, 0, sizeof(done->counts));
		done->counts[STEP_INSTRUCTIONS] = 1;
		done->nr_accesses = 0;
	}
}
