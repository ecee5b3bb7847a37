/* SPDX-License-Identifier: MIT */
/*
 * The machine code that is inserted between copied instructions. None of it changes flags but emit_count_flags; all
 * registers that it uses are saved in the thread's area, at gs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "parent/stepping/work.h"
#include "parent/translate/code_cache.h"

/* Short jumps. */
#define JRCXZ 0xe3
#define JMP 0xeb

/* Numbers that instructions have for them. */
enum { RAX, RCX, RDX };

/* Where the next byte goes. */
struct emitter {
	uint8_t *bytes; /* of the arena */
	uint32_t at;
};

static inline void
emit_bytes(struct emitter *to, const void *bytes, size_t n)
{
	memcpy(to->bytes + to->at, bytes, n);
	to->at += (uint32_t)n;
}

#define EMIT(to, ...)                                                                                                  \
	do {                                                                                                           \
		static const uint8_t emitted_[] = {__VA_ARGS__};                                                       \
		emit_bytes(to, emitted_, sizeof(emitted_));                                                            \
	} while (0)

static inline void
emit_8(struct emitter *to, unsigned value)
{
	to->bytes[to->at++] = (uint8_t)value;
}

static inline void
emit_32(struct emitter *to, uint32_t value)
{
	emit_bytes(to, &value, sizeof(value));
}

static inline void
emit_64(struct emitter *to, uint64_t value)
{
	emit_bytes(to, &value, sizeof(value));
}

/* A short jump whose distance is set by land, at the place that it leads to. */
static inline uint32_t
emit_short(struct emitter *to, unsigned opcode)
{
	emit_8(to, opcode);
	emit_8(to, 0);
	return to->at;
}

static inline void
land(struct emitter *to, uint32_t jump)
{
	to->bytes[jump - 1] = (uint8_t)(to->at - jump);
}

/* mov gs:[offset], reg or (opcode 8b) mov reg, gs:[offset] */
static inline void
emit_gs(struct emitter *to, unsigned opcode, unsigned reg, uint32_t offset)
{
	emit_8(to, 0x65);
	emit_8(to, reg < 8 ? 0x48 : 0x4c);
	emit_8(to, opcode);
	emit_8(to, 0x04 | (reg & 7) << 3);
	emit_8(to, 0x25);
	emit_32(to, offset);
}

static inline void
emit_save(struct emitter *to, unsigned reg, uint32_t offset)
{
	emit_gs(to, 0x89, reg, offset);
}

static inline void
emit_load(struct emitter *to, unsigned reg, uint32_t offset)
{
	emit_gs(to, 0x8b, reg, offset);
}

/* mov qword gs:[offset], value */
static inline void
emit_set(struct emitter *to, uint32_t offset, uint32_t value)
{
	EMIT(to, 0x65, 0x48, 0xc7, 0x04, 0x25);
	emit_32(to, offset);
	emit_32(to, value);
}

/* mov reg, value */
static inline void
emit_constant(struct emitter *to, unsigned reg, uint64_t value)
{
	emit_8(to, 0x48);
	if ((int64_t)value == (int32_t)value) {
		emit_8(to, 0xc7);
		emit_8(to, 0xc0 | reg);
		emit_32(to, (uint32_t)value);
		return;
	}
	emit_8(to, 0xb8 | reg);
	emit_64(to, value);
}

static inline uint32_t
counter_offset(uint32_t counter)
{
	return AREA_COUNTERS + counter * 8;
}

/* inc qword gs:[counter]: all flags but the carry change. */
static inline void
emit_count_flags(struct emitter *to, uint32_t counter)
{
	EMIT(to, 0x65, 0x48, 0xff, 0x04, 0x25);
	emit_32(to, counter_offset(counter));
}

/* By way of a register whose value is not needed. */
static inline void
emit_count_register(struct emitter *to, unsigned reg, uint32_t counter)
{
	emit_load(to, reg, counter_offset(counter));
	/* lea reg, [reg + 1] */
	emit_8(to, reg < 8 ? 0x48 : 0x4d);
	emit_8(to, 0x8d);
	emit_8(to, 0x40 | (reg & 7) << 3 | (reg & 7));
	if ((reg & 7) == 4)
		emit_8(to, 0x24);
	emit_8(to, 1);
	emit_save(to, reg, counter_offset(counter));
}

static inline void
emit_count_saving(struct emitter *to, uint32_t counter)
{
	emit_save(to, RAX, AREA_RAX);
	emit_count_register(to, RAX, counter);
	emit_load(to, RAX, AREA_RAX);
}

/* Adds rax, which changes; rdx too. */
static inline void
emit_add_rax(struct emitter *to, uint32_t counter)
{
	emit_load(to, RDX, counter_offset(counter));
	EMIT(to, 0x48, 0x8d, 0x04, 0x10); /* lea rax, [rax + rdx] */
	emit_save(to, RAX, counter_offset(counter));
}

/* Moves a mask to rax: of k, or the signs of a vector's elements. */
static inline void
emit_mask(struct emitter *to, const struct work *what)
{
	const unsigned reg = what->mask_register;

	if (what->mask == WORK_MASK_REGISTER && what->nr_lanes <= 16) {
		EMIT(to, 0xc5, 0xf8, 0x93); /* kmovw eax, k */
		emit_8(to, 0xc0 | reg);
	} else if (what->mask == WORK_MASK_REGISTER) {
		EMIT(to, 0xc4, 0xe1, 0xfb, 0x93); /* kmovq rax, k */
		emit_8(to, 0xc0 | reg);
	} else {
		/* vmovmskps or vmovmskpd eax, xmm or ymm */
		const unsigned is_256 = what->nr_lanes * what->mask_bytes > 16, is_double = what->mask_bytes == 8;

		emit_8(to, 0xc4);
		emit_8(to, 0xc1 | (reg < 8 ? 0x20 : 0));
		emit_8(to, 0x78 | is_256 << 2 | is_double);
		emit_8(to, 0x50);
		emit_8(to, 0xc0 | (reg & 7));
	}
}

/* With the original target in rcx: goes to its entry. rcx and rdx are saved. */
static inline void
emit_look_up(struct emitter *to, uint64_t low_address)
{
	EMIT(to, 0x0f, 0xb7, 0xd1, 0xff, 0x24, 0xd5); /* movzx edx, cx; jmp [rdx * 8 + table] */
	emit_32(to, (uint32_t)low_address + LOW_TABLE);
}

/* jmp anywhere */
static inline void
emit_far_jump(struct emitter *to, uint64_t target)
{
	EMIT(to, 0xff, 0x25, 0, 0, 0, 0);
	emit_64(to, target);
}
