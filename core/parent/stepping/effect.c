/* SPDX-License-Identifier: MIT */
#include "parent/stepping/effect.h"

#define WORD(member) (offsetof(struct user_regs_struct, member) / sizeof(unsigned long long))

/* By the numbers that instructions have for them. */
static const uint8_t words[16] = {WORD(rax), WORD(rcx), WORD(rdx), WORD(rbx), WORD(rsp), WORD(rbp),
				  WORD(rsi), WORD(rdi), WORD(r8),  WORD(r9),  WORD(r10), WORD(r11),
				  WORD(r12), WORD(r13), WORD(r14), WORD(r15)};

uint8_t
effect_word(uint8_t number)
{
	return words[number];
}

uint8_t
effect_number(uint8_t word)
{
	/* plus 1; 0: it is none */
	static const uint8_t numbers[] = {[WORD(rax)] = 1,  [WORD(rcx)] = 2,  [WORD(rdx)] = 3,  [WORD(rbx)] = 4,
					  [WORD(rsp)] = 5,  [WORD(rbp)] = 6,  [WORD(rsi)] = 7,  [WORD(rdi)] = 8,
					  [WORD(r8)] = 9,   [WORD(r9)] = 10,  [WORD(r10)] = 11, [WORD(r11)] = 12,
					  [WORD(r12)] = 13, [WORD(r13)] = 14, [WORD(r14)] = 15, [WORD(r15)] = 16};

	return word < sizeof(numbers) ? (uint8_t)(numbers[word] - 1) : EFFECT_NO_REGISTER;
}

/* EFFECT_NO_REGISTER: it is no general register, or no part of one. */
static uint8_t
word_of(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return EFFECT_NO_REGISTER;
	return words[ZydisRegisterGetId(whole) & 15];
}

static bool
is_register(const ZydisDecodedOperand *operand, unsigned bits)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size == bits &&
	       word_of(operand->reg.value) != EFFECT_NO_REGISTER;
}

static bool
is_immediate(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* ---- forms that are known: each fills in all but target, is_narrow and clobbered ---- */

static bool
add(const ZydisDecodedOperand *operands, struct effect *effect)
{
	effect->base = word_of(operands[0].reg.value);
	if (is_immediate(&operands[1]))
		effect->constant = operands[1].imm.value.u;
	else if (is_register(&operands[1], operands[0].size))
		effect->index = word_of(operands[1].reg.value);
	else
		return false;
	return true;
}

static bool
subtract(const ZydisDecodedOperand *operands, struct effect *effect)
{
	effect->base = word_of(operands[0].reg.value);
	effect->constant = -operands[1].imm.value.u;
	return is_immediate(&operands[1]);
}

static bool
increase(const ZydisDecodedOperand *operands, struct effect *effect)
{
	effect->base = word_of(operands[0].reg.value);
	effect->constant = 1;
	return true;
}

static bool
decrease(const ZydisDecodedOperand *operands, struct effect *effect)
{
	effect->base = word_of(operands[0].reg.value);
	effect->constant = UINT64_MAX;
	return true;
}

static bool
move(const ZydisDecodedOperand *operands, struct effect *effect)
{
	if (is_immediate(&operands[1]))
		effect->constant = operands[1].imm.value.u;
	else if (is_register(&operands[1], operands[0].size))
		effect->base = word_of(operands[1].reg.value);
	else
		return false;
	return true;
}

/* Zero, by a register and itself. */
static bool
clear(const ZydisDecodedOperand *operands, struct effect *effect)
{
	(void)effect;
	return is_register(&operands[1], operands[0].size) && operands[0].reg.value == operands[1].reg.value;
}

/* Addresses of 64 bits, of general registers alone: rip is that of the instruction, and not known here. */
static bool
load_address(const ZydisDecodedOperand *operands, struct effect *effect)
{
	const ZydisRegister names[] = {operands[1].mem.base, operands[1].mem.index};
	uint8_t *const terms[] = {&effect->base, &effect->index};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i] == ZYDIS_REGISTER_NONE)
			continue;
		if (ZydisRegisterGetClass(names[i]) != ZYDIS_REGCLASS_GPR64)
			return false;
		*terms[i] = word_of(names[i]);
	}
	if (effect->index != EFFECT_NO_REGISTER)
		effect->scale = (uint8_t)__builtin_ctz(operands[1].mem.scale);
	effect->constant = (uint64_t)operands[1].mem.disp.value;
	return true;
}

static bool
shift(const ZydisDecodedOperand *operands, struct effect *effect)
{
	effect->index = word_of(operands[0].reg.value);
	if (!is_immediate(&operands[1]))
		return false;
	effect->scale = (uint8_t)(operands[1].imm.value.u & (operands[0].size - 1));
	return true;
}

static const struct {
	ZydisMnemonic mnemonic;
	bool (*decode)(const ZydisDecodedOperand *operands, struct effect *effect);
} forms[] = {
	{ZYDIS_MNEMONIC_ADD, add},      {ZYDIS_MNEMONIC_SUB, subtract},     {ZYDIS_MNEMONIC_INC, increase},
	{ZYDIS_MNEMONIC_DEC, decrease}, {ZYDIS_MNEMONIC_MOV, move},         {ZYDIS_MNEMONIC_XOR, clear},
	{ZYDIS_MNEMONIC_SUB, clear},    {ZYDIS_MNEMONIC_LEA, load_address}, {ZYDIS_MNEMONIC_SHL, shift},
};

/* ---- the whole ---- */

static const struct effect nothing = {EFFECT_NO_REGISTER, EFFECT_NO_REGISTER, EFFECT_NO_REGISTER, 0, false, 0, 0};

/* push and pop of 64 bits, whatever their operand but the stack pointer itself. */
static bool
decode_stack(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands, struct effect *effect)
{
	const bool is_push = decoded->mnemonic == ZYDIS_MNEMONIC_PUSH, is_pop = decoded->mnemonic == ZYDIS_MNEMONIC_POP;

	if ((!is_push && !is_pop) || decoded->operand_width != 64 ||
	    (is_register(&operands[0], 64) && word_of(operands[0].reg.value) == WORD(rsp)))
		return false;
	effect->target = effect->base = WORD(rsp);
	effect->constant = is_push ? (uint64_t)-8 : 8;
	return true;
}

static bool
decode_arithmetic(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands, struct effect *effect)
{
	if (decoded->operand_count == 0 || decoded->address_width != 64 ||
	    !(is_register(&operands[0], 64) || is_register(&operands[0], 32)))
		return false;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct effect found = nothing;

		if (forms[i].mnemonic != decoded->mnemonic || !forms[i].decode(operands, &found))
			continue;
		found.target = word_of(operands[0].reg.value);
		found.is_narrow = operands[0].size == 32;
		*effect = found;
		return true;
	}
	return false;
}

/* Zydis does not name these in all operands: string instructions move pointers, system calls have a result. */
static uint32_t
written_besides(const ZydisDecodedInstruction *decoded)
{
	switch (decoded->meta.category) {
	case ZYDIS_CATEGORY_STRINGOP:
		return EFFECT_BIT(WORD(rsi)) | EFFECT_BIT(WORD(rdi));
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
		return EFFECT_BIT(WORD(rax));
	default:
		return 0;
	}
}

static uint32_t
written(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands)
{
	uint32_t bits = written_besides(decoded);

	for (size_t i = 0; i < decoded->operand_count; i++) {
		uint8_t word = operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? word_of(operands[i].reg.value)
									       : EFFECT_NO_REGISTER;

		if (word != EFFECT_NO_REGISTER && (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			bits |= EFFECT_BIT(word);
	}
	return bits;
}

void
effect_of(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands, struct effect *effect)
{
	*effect = nothing;
	if (decode_stack(decoded, operands, effect) || decode_arithmetic(decoded, operands, effect))
		effect->clobbered = written(decoded, operands) & ~EFFECT_BIT(effect->target);
	else
		effect->clobbered = written(decoded, operands);
}
