/* SPDX-License-Identifier: MIT */
/*
 * The effect of an instruction on the general registers, as far as it is plain arithmetic: so that addresses which
 * follow instructions use are known before these are executed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "parent/symbols/zydis_decode.h"

/* Registers are numbers of words of struct user_regs_struct, as in work.h. */
#define EFFECT_NO_REGISTER 0xff
#define EFFECT_BIT(word) (UINT32_C(1) << (word))

/*
 * target = base + (index << scale) + constant, of 64 bits or (is_narrow) of 32, extended by zeros; EFFECT_NO_REGISTER:
 * no such term, or no target.
 * clobbered: bits of the registers that it changes in any other way.
 */
struct effect {
	uint8_t target, base, index, scale;
	bool is_narrow;
	uint64_t constant;
	uint32_t clobbered;
};

/* The word of rip. */
#define EFFECT_WORD_RIP (offsetof(struct user_regs_struct, rip) / sizeof(unsigned long long))

/* The number that instructions have for a general register, 0 to 15, of a word; EFFECT_NO_REGISTER: it is none. */
uint8_t effect_number(uint8_t word);
uint8_t effect_word(uint8_t number);

/* The effect of an instruction that is decoded, with its operands. */
void effect_of(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands, struct effect *effect);
