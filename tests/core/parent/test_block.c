/* SPDX-License-Identifier: MIT */
/* Where straight pieces of code end, and how often loops were executed. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "parent/stepping/block.h"
#include "testing.h"

#define ADDRESS 0x400000

/* Pieces of code, each with a name. */
#define CODE(name, text)                                                                                               \
	extern const uint8_t code_##name[], end_##name[];                                                              \
	__asm__(".pushsection .rodata\n"                                                                               \
		"code_" #name ":\n" text "\nend_" #name ":\n.popsection\n");

CODE(branch, "add $1, %rax\n mov %rax, %rcx\n jz 1f\n 1:")
CODE(jump, "nop\n jmp *%rax")
CODE(call, "push %rbp\n mov %rsp, %rbp\n call .")
CODE(return, "ret")
CODE(cut, "mov (%rax), %rcx\n add $3, %rdx\n mov (%rcx), %rdx\n ret")
CODE(masked, "nop\n vmovups (%rax), %zmm0{%k1}\n ret")
CODE(masked_first, "vmovups (%rax), %zmm0{%k1}\n nop\n ret")
CODE(gather, "nop\n vpcmpeqd %ymm2, %ymm2, %ymm2\n vgatherdpd %ymm2, (%rax,%xmm1,8), %ymm0\n ret")
CODE(system, "syscall\n cmp $-4095, %rax\n jae .")
CODE(system_later, "mov $39, %eax\n syscall\n ret")
CODE(system_result, "syscall\n mov (%rax), %rcx\n ret")
CODE(system_again, "1: syscall\n test %rax, %rax\n jnz 1b")
CODE(repeated, "rep movsb\n nop\n ret")
CODE(repeated_later, "nop\n rep movsb\n ret")
CODE(trap, "int3")
CODE(trap_later, "nop\n int3")
CODE(undefined, "ud2")
CODE(undefined_later, "nop\n ud2")
CODE(transaction, "xbegin .")
CODE(stack, "push %rax\n push %rcx\n sub $32, %rsp\n pop %rdx\n ret")
CODE(stack_lost, "and $-16, %rsp\n ret")

CODE(loop, "1: add (%rdi,%rax,8), %rcx\n inc %rax\n cmp %rdx, %rax\n jne 1b")
CODE(loop_down, "1: addsd -8(%rdi,%rax,8), %xmm0\n sub $3, %rax\n jnz 1b")
CODE(loop_narrow, "1: add $2, %ecx\n cmp %edx, %ecx\n jne 1b")
CODE(loop_narrow_down, "1: dec %ecx\n jnz 1b")
CODE(loop_two, "1: inc %ecx\n add $16, %rsi\n movaps (%rsi), %xmm0\n cmp $5, %ecx\n jne 1b")
CODE(loop_split, "1: add $8, %rdi\n mov (%rdi), %rax\n add $8, %rdi\n cmp %rdx, %rdi\n jb 1b")
CODE(loop_pushing, "1: push %rax\n inc %rcx\n cmp $5, %rcx\n jne 1b")
CODE(chase, "1: mov (%rax), %rax\n inc %rcx\n test %rax, %rax\n jnz 1b")
CODE(no_counter, "1: pause\n cmp (%rdi), %eax\n jne 1b")
CODE(doubling, "1: add %rax, %rax\n jnc 1b")
CODE(set_counter, "1: mov $5, %eax\n inc %eax\n cmp %edx, %ebx\n jne 1b")
CODE(lost_counter, "1: inc %rax\n mov (%rdi), %rax\n test %rax, %rax\n jne 1b")
CODE(masked_loop, "1: inc %rax\n vmovups (%rdi), %zmm0{%k1}\n cmp $5, %rax\n jne 1b")
CODE(masked_first_loop, "1: vmovups (%rdi), %zmm0{%k1}\n inc %rax\n cmp $5, %rax\n jne 1b")
CODE(to_the_middle, "inc %rax\n 1: inc %rcx\n cmp $5, %rcx\n jne 1b")
CODE(loop_instruction, "1: add (%rsi), %rax\n loop 1b")
CODE(loop_instruction_two, "1: add (%rsi), %rax\n add $8, %rsi\n loop 1b")

#define ROW(its_name, its_kind, its_end, items, ...)                                                                   \
	{                                                                                                              \
		.name = #its_name, .code = code_##its_name, .code_end = end_##its_name, .kind = its_kind,              \
		.end = its_end, .nr_items = items, ##__VA_ARGS__                                                       \
	}

/* end: of the block, from its begin; of a branch, where that is. */
static const struct {
	const char *name;
	const uint8_t *code, *code_end;
	enum block_kind kind;
	uint64_t end;
	size_t nr_items;
	bool calls_system, is_stack_lost;
	uint64_t stack_change;
} rows[] = {
	ROW(branch, BLOCK_BRANCH, 7, 2),
	ROW(jump, BLOCK_BRANCH, 1, 1),
	ROW(call, BLOCK_BRANCH, 4, 2, .stack_change = (uint64_t)-8),
	ROW(return, BLOCK_BRANCH, 0, 0),
	ROW(cut, BLOCK_CUT, 7, 2),
	ROW(masked, BLOCK_CUT, 1, 1),
	ROW(masked_first, BLOCK_BRANCH, 7, 2),
	ROW(gather, BLOCK_CUT, 5, 2),
	ROW(system, BLOCK_BRANCH, 8, 2, .calls_system = true),
	ROW(system_later, BLOCK_CUT, 5, 1),
	ROW(system_result, BLOCK_CUT, 2, 1, .calls_system = true),
	ROW(system_again, BLOCK_BRANCH, 5, 2, .calls_system = true),
	ROW(repeated, BLOCK_REPEATED, 2, 1),
	ROW(repeated_later, BLOCK_CUT, 1, 1),
	ROW(trap, BLOCK_TRAP, 0, 0),
	ROW(trap_later, BLOCK_CUT, 1, 1),
	ROW(undefined, BLOCK_UNKNOWN, 0, 0),
	ROW(undefined_later, BLOCK_CUT, 1, 1),
	ROW(transaction, BLOCK_UNKNOWN, 0, 0),
	ROW(stack, BLOCK_BRANCH, 7, 4, .stack_change = (uint64_t)-40),
	ROW(stack_lost, BLOCK_BRANCH, 4, 1, .is_stack_lost = true),
	ROW(loop, BLOCK_LOOP, 12, 4),
	ROW(loop_down, BLOCK_LOOP, 12, 3),
	ROW(loop_narrow, BLOCK_LOOP, 7, 3),
	ROW(loop_narrow_down, BLOCK_LOOP, 4, 2),
	ROW(loop_two, BLOCK_LOOP, 14, 5),
	ROW(loop_split, BLOCK_LOOP, 16, 5),
	ROW(loop_pushing, BLOCK_LOOP, 10, 4, .is_stack_lost = true),
	ROW(chase, BLOCK_BRANCH, 9, 3),
	ROW(no_counter, BLOCK_BRANCH, 4, 2),
	ROW(doubling, BLOCK_BRANCH, 3, 1),
	ROW(set_counter, BLOCK_BRANCH, 9, 3),
	ROW(lost_counter, BLOCK_BRANCH, 9, 3),
	ROW(masked_loop, BLOCK_CUT, 3, 1),
	ROW(masked_first_loop, BLOCK_BRANCH, 13, 3),
	ROW(to_the_middle, BLOCK_BRANCH, 10, 3),
	ROW(loop_instruction, BLOCK_BRANCH, 3, 1),
	ROW(loop_instruction_two, BLOCK_LOOP, 9, 3),
};

struct piece {
	const uint8_t *code, *end;
};

static size_t
read_piece(void *context, uint64_t address, uint8_t *bytes)
{
	const struct piece *piece = context;
	const size_t offset = (size_t)(address - ADDRESS), length = (size_t)(piece->end - piece->code);
	const size_t nr = offset >= length ? 0 : length - offset;

	if (nr > 0)
		memcpy(bytes, piece->code + offset, nr < INSTRUCTION_MAX_BYTES ? nr : INSTRUCTION_MAX_BYTES);
	return nr < INSTRUCTION_MAX_BYTES ? nr : INSTRUCTION_MAX_BYTES;
}

START_TEST(blocks_end_where_they_have_to)
{
	struct piece piece = {rows[_i].code, rows[_i].code_end};
	struct block block;

	block_decode(&block, ADDRESS, read_piece, &piece);
	ck_assert_msg(block.kind == rows[_i].kind, "%s: kind %d", rows[_i].name, block.kind);
	ck_assert_msg(block.end == ADDRESS + rows[_i].end, "%s: ends at %llu", rows[_i].name,
		      (unsigned long long)(block.end - ADDRESS));
	ck_assert_msg(block.nr_items == rows[_i].nr_items, "%s: %zu items", rows[_i].name, block.nr_items);
	ck_assert_msg(block.calls_system == rows[_i].calls_system, "%s", rows[_i].name);
	ck_assert_msg(block.is_stack_known == !rows[_i].is_stack_lost, "%s: stack", rows[_i].name);
	if (block.is_stack_known)
		ck_assert_msg(block.stack_change == rows[_i].stack_change, "%s: stack", rows[_i].name);
	block_clear(&block);
}
END_TEST

/* ---- turns ---- */

#define WORD(name) (offsetof(struct user_regs_struct, name) / sizeof(unsigned long long))

#define TURNS(name, word, before, after, turns)                                                                        \
	{                                                                                                              \
#name, code_##name, end_##name, WORD(word), before, after, turns                                       \
	}

static const struct {
	const char *name;
	const uint8_t *code, *code_end;
	size_t word;
	uint64_t before, after, turns;
} counted[] = {
	TURNS(loop, rax, 0, 1, 1),
	TURNS(loop, rax, 5, 1000005, 1000000),
	TURNS(loop, rax, UINT64_MAX, 3, 4),
	TURNS(loop_down, rax, 30, 0, 10),
	TURNS(loop_down, rax, 31, 0, 0),
	TURNS(loop_narrow, rcx, 0, 10, 5),
	TURNS(loop_narrow, rcx, 0xfffffffe, 4, 3),
	TURNS(loop_narrow, rcx, UINT64_C(0xdead00000000), 8, 4),
	TURNS(loop_narrow, rcx, 0, 0x80000000, 0x40000000),
	TURNS(loop_narrow, rcx, 0, 9, 0),
	TURNS(loop_narrow_down, rcx, 7, 0, 7),
	TURNS(loop_narrow_down, rcx, 0xffffffff, 0, 0xffffffff),
	TURNS(loop_narrow_down, rcx, UINT64_C(0x100000003), 1, 2),
	TURNS(loop_two, rsi, 0x1000, 0x1050, 5), /* not by the narrow one */
	TURNS(loop_split, rdi, 0x1000, 0x1040, 4),
	TURNS(loop_pushing, rcx, 0, 5, 5),
	TURNS(loop_instruction_two, rsi, 16, 80, 8),
};

START_TEST(turns_follow_from_the_counter)
{
	struct piece piece = {counted[_i].code, counted[_i].code_end};
	struct user_regs_struct before = {.rip = ADDRESS}, after = before;
	struct block block;
	uint64_t turns;

	((unsigned long long *)&before)[counted[_i].word] = counted[_i].before;
	((unsigned long long *)&after)[counted[_i].word] = counted[_i].after;
	block_decode(&block, ADDRESS, read_piece, &piece);
	ck_assert_int_eq(block.kind, BLOCK_LOOP);
	ck_assert_msg(block.counter.word == counted[_i].word, "%s: counted by %d", counted[_i].name,
		      block.counter.word);
	turns = block_turns(&block, &before, &after);
	ck_assert_msg(turns == counted[_i].turns, "%s: %llu turns", counted[_i].name, (unsigned long long)turns);
	block_clear(&block);
}
END_TEST

START_TEST(code_that_is_not_there_is_unknown)
{
	static const uint8_t cut_off[] = {0x90, 0x48, 0x8b};
	struct piece none = {NULL, NULL}, rest = {cut_off, cut_off + sizeof(cut_off)};
	struct block block;

	block_decode(&block, ADDRESS, read_piece, &none);
	ck_assert_int_eq(block.kind, BLOCK_UNKNOWN);
	block_clear(&block);
	block_decode(&block, ADDRESS, read_piece, &rest);
	ck_assert_int_eq(block.kind, BLOCK_CUT);
	ck_assert_uint_eq(block.end, ADDRESS + 1);
	block_clear(&block);
}
END_TEST

/* So long a piece is cut at an instruction that is known. */
START_TEST(long_pieces_are_cut)
{
	static uint8_t nops[4096];
	struct piece piece = {nops, nops + sizeof(nops)};
	struct block block;

	memset(nops, 0x90, sizeof(nops));
	block_decode(&block, ADDRESS, read_piece, &piece);
	ck_assert_int_eq(block.kind, BLOCK_CUT);
	ck_assert_uint_gt(block.nr_items, 0);
	ck_assert_uint_lt(block.nr_items, sizeof(nops));
	ck_assert_uint_eq(block.end, ADDRESS + block.nr_items);
	block_clear(&block);
}
END_TEST

static const struct listed_test tests[] = {
	{&blocks_end_where_they_have_to, NR_ELEMENTS(rows)},
	{&turns_follow_from_the_counter, NR_ELEMENTS(counted)},
	{&code_that_is_not_there_is_unknown, 1},
	{&long_pieces_are_cut, 1},
};

const struct suite test_suite = SUITE("blocks of code", tests);
