/* SPDX-License-Identifier: MIT */
/* See vector_registers.h. */
#include "parent/stepping/vector_registers.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "parent/stepping/xsave_area.h"

/* The area: 512 bytes as FXSAVE has them, a header that begins with the bits of the components that it holds, and the
 * components, each at an offset that the processor tells. Source: Intel SDM 1, 13.4. */
#define AREA_BYTES 4096 /* what is behind is of no use here */
#define SSE_AT 160
#define ENABLED_AT 464 /* what the kernel says there, in bytes that the processor does not use (its asm/user.h) */

enum { COMPONENT_SSE = 1, COMPONENT_AVX = 2, COMPONENT_MASKS = 5, COMPONENT_ZMM_HIGH = 6, COMPONENT_HIGH_ZMM = 7 };

/* Which bytes of which registers a component holds, one register after the other. */
static const struct part {
	uint8_t component, first_register, nr_registers, first_byte, nr_bytes;
} parts[] = {
	{COMPONENT_SSE, 0, 16, 0, 16},
	{COMPONENT_AVX, 0, 16, 16, 16},
	{COMPONENT_ZMM_HIGH, 0, 16, 32, 32},
	{COMPONENT_HIGH_ZMM, 16, 16, 0, 64},
};

/* Where a component begins, 0: there is none. */
static uint32_t
component_offset(unsigned component)
{
	return component == COMPONENT_SSE ? SSE_AT : xsave_component(component)->offset;
}

/* The bytes of a component, NULL: it is as at the start, which is 0. */
static const uint8_t *
component_bytes(const uint8_t *area, size_t area_bytes, unsigned component, size_t nr_bytes)
{
	uint32_t offset = component_offset(component);
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
