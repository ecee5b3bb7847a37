/* SPDX-License-Identifier: MIT */
/* Chains of loops that are written here, with made-up latencies. */
#include "parent/profile/chain.h"
#include "testing.h"

/* A loop of one or several blocks. */
#define LOOP(name, code)                                                                                               \
	extern const uint8_t chain_##name[], chain_##name##_end[];                                                     \
	__asm__(".text\nchain_" #name ":\n1:	" code "\n	dec %rdi\n	jnz 1b\n	ret\nchain_" #name     \
		"_end:\n")

#define LEAF(name, code)                                                                                               \
	extern const uint8_t leaf_##name[], leaf_##name##_end[];                                                       \
	__asm__(".text\nleaf_" #name ":\n	" code "\n	ret\nleaf_" #name "_end:\n")

LOOP(sum, "addsd (%rsi,%rdi,8), %xmm0");
LOOP(sums, "addsd (%rsi), %xmm0\n	addsd 8(%rsi), %xmm1\n	add $16, %rsi");
LOOP(horner, "mulsd %xmm1, %xmm0\n	addsd (%rsi,%rdi,8), %xmm0");
LOOP(triad, "movsd (%rsi,%rdi,8), %xmm0\n	mulsd %xmm1, %xmm0\n	addsd (%rdx,%rdi,8), %xmm0\n	movsd %xmm0, "
	    "(%rcx,%rdi,8)");
/* Two registers need each other: a multiplication in every second turn. */
LOOP(turning, "movapd %xmm0, %xmm2\n	mulsd %xmm3, %xmm2\n	movapd %xmm1, %xmm0\n	movapd %xmm2, %xmm1");
LOOP(cleared, "xorps %xmm0, %xmm0\n	addsd %xmm1, %xmm0\n	mulsd %xmm0, %xmm0");
LOOP(chase, "mov (%rsi), %rsi");
LOOP(walk, "mov (%rsi), %rax\n	add $8, %rsi");
LOOP(table, "movzbl %al, %ecx\n	shr $8, %eax\n	xor (%rsi,%rcx,4), %eax");
/* The carry is added in again, and rdx counts: a cycle each. */
LOOP(flags, "adc %rax, %rbx\n	mov %rbx, %rax\n	lea 1(%rdx), %rdx");
LOOP(chosen, "imul %rax, %rbx\n	test %rcx, %rcx\n	cmovz %rbx, %rax");
/* The next turn, or the one behind it, loads what a turn stores; or what it has loaded; or a part of that. */
LOOP(prefix, "movsd -8(%rsi), %xmm0\n	addsd %xmm1, %xmm0\n	movsd %xmm0, (%rsi)\n	lea 8(%rsi), %rsi");
LOOP(second, "movsd -16(%rsi), %xmm0\n	addsd %xmm1, %xmm0\n	movsd %xmm0, (%rsi)\n	add $8, %rsi");
LOOP(ahead, "movsd 8(%rsi), %xmm0\n	addsd %xmm1, %xmm0\n	movsd %xmm0, (%rsi)\n	add $8, %rsi");
LOOP(narrow, "movss -4(%rsi), %xmm0\n	addsd %xmm1, %xmm0\n	movsd %xmm0, (%rsi)\n	add $8, %rsi");
LOOP(variable, "movsd -8(%rsp), %xmm0\n	addsd %xmm1, %xmm0\n	movsd %xmm0, -8(%rsp)");
LOOP(counter, "incl -8(%rsp)");
LOOP(called, "addsd %xmm1, %xmm0\n	call chain_called");
/* The work of a function is part of the turn, if it is one function that neither jumps nor calls. */
LEAF(adds, "addsd %xmm1, %xmm0");
LEAF(stores, "movsd -8(%rsp), %xmm0\n	addsd %xmm1, %xmm0\n	movsd %xmm0, -8(%rsp)");
LEAF(jumps, "test %rax, %rax\n	jz 2f\n	addsd %xmm1, %xmm0\n2:");
LOOP(through, "mulsd %xmm1, %xmm0\n	call leaf_adds");
LOOP(twice, "call leaf_adds\n	mulsd %xmm1, %xmm0\n	call leaf_adds");
LOOP(stored, "call leaf_stores");
LOOP(apart, "mov $1, %eax\n	call leaf_adds\n	movsd -16(%rsp), %xmm0");
LOOP(jumping, "addsd %xmm1, %xmm0\n	call leaf_jumps");
LOOP(both, "call leaf_adds\n	call leaf_stores");
LOOP(indirect, "addsd %xmm1, %xmm0\n	call *%rax");
LOOP(stack, "fadd %st(1), %st");
LOOP(locked, "addsd %xmm1, %xmm0\n	lock incl (%rsi)");
LOOP(branches, "test $1, %dil\n	jz 2f\n	addsd %xmm1, %xmm0\n2:\n	addsd %xmm2, %xmm0");

static const struct chain_latencies made_up = {{
	[CHAIN_ADD] = 2,
	[CHAIN_MULTIPLY] = 3,
	[CHAIN_INTEGER_MULTIPLY] = 3.5,
	[CHAIN_LOAD] = 4,
	[CHAIN_PASS] = 7,
	[CHAIN_PASS_FIXED] = 5,
	[CHAIN_OTHER] = 1,
}};

#define LOOP_OF(name) chain_##name, chain_##name##_end

/* text NULL: none is known. share: how often the second of four blocks is executed, in a turn */
static const struct {
	const uint8_t *begin, *end;
	const char *text;
	double ns, share;
	const uint8_t *leaf;
} loops[] = {
	{LOOP_OF(sum), "1 addition", 2, 1, NULL},
	{LOOP_OF(sums), "1 addition", 2, 1, NULL},
	{LOOP_OF(horner), "1 addition and 1 multiplication", 5, 1, NULL},
	{LOOP_OF(triad), NULL, 0, 1, NULL},
	{LOOP_OF(turning), "0.5 multiplications", 1.5, 1, NULL},
	{LOOP_OF(cleared), NULL, 0, 1, NULL},
	{LOOP_OF(chase), "1 load", 4, 1, NULL},
	{LOOP_OF(walk), NULL, 0, 1, NULL},
	{LOOP_OF(table), "1 load and 1 simple operation", 5, 1, NULL},
	{LOOP_OF(flags), NULL, 0, 1, NULL},
	{LOOP_OF(chosen), "1 integer multiplication and 1 simple operation", 4.5, 1, NULL},
	{LOOP_OF(prefix), "1 addition and 1 pass through memory", 9, 1, NULL},
	{LOOP_OF(second), "0.5 additions and 0.5 passes through memory", 4.5, 1, NULL},
	{LOOP_OF(ahead), NULL, 0, 1, NULL},
	{LOOP_OF(narrow), NULL, 0, 1, NULL},
	{LOOP_OF(variable), "1 addition and 1 pass through a variable in memory", 7, 1, NULL},
	{LOOP_OF(counter), NULL, 0, 1, NULL},
	{LOOP_OF(called), NULL, 0, 1, NULL},
	{LOOP_OF(through), "1 addition and 1 multiplication", 5, 1, leaf_adds},
	{LOOP_OF(twice), "2 additions and 1 multiplication", 7, 1, leaf_adds},
	{LOOP_OF(stored), "1 addition and 1 pass through a variable in memory", 7, 1, leaf_stores},
	{LOOP_OF(apart), NULL, 0, 1, NULL},
	{LOOP_OF(jumping), NULL, 0, 1, NULL},
	{LOOP_OF(both), NULL, 0, 1, NULL},
	{LOOP_OF(indirect), NULL, 0, 1, NULL},
	{LOOP_OF(stack), NULL, 0, 1, NULL},
	{LOOP_OF(locked), NULL, 0, 1, NULL},
	{LOOP_OF(branches), "2 additions", 4, 1, NULL},
	{LOOP_OF(branches), "1 addition", 2, 0.05, NULL},
	{LOOP_OF(branches), NULL, 0, 0.5, NULL},
};

static const struct {
	const uint8_t *begin, *end;
} leaves[] = {{leaf_adds, leaf_adds_end}, {leaf_stores, leaf_stores_end}, {leaf_jumps, leaf_jumps_end}};

static bool
leaf_at(void *context, uint64_t address, struct chain_code *code)
{
	(void)context;
	for (size_t i = 0; i < NR_ELEMENTS(leaves); i++) {
		if ((uintptr_t)leaves[i].begin != address)
			continue;
		*code = (struct chain_code){.bytes = leaves[i].begin,
					    .address = address,
					    .nr_bytes = (size_t)(leaves[i].end - leaves[i].begin)};
		return true;
	}
	return false;
}

TEST_OF(chains_of_loops, NR_ELEMENTS(loops))
{
	int64_t executions[] = {1000, (int64_t)(1000 * loops[_i].share), 1000, 1000};
	const struct chain_code code = {loops[_i].begin, (uintptr_t)loops[_i].begin,
					(size_t)(loops[_i].end - loops[_i].begin), leaf_at, NULL};
	cleared_by(code_flow_clear) struct code_flow flow = {0};
	autofree char *text = NULL;
	struct chain chain;
	bool is_known;

	code_flow_find(code.bytes, code.nr_bytes, code.address, NULL, 0, &flow);
	ck_assert_uint_eq(flow.nr_loops, 1);
	is_known = chain_find(&flow, 0, executions, &code, &made_up, &chain);
	text = chain_text(&chain);
	ck_assert_msg(is_known == (loops[_i].text != NULL), "loop %d: %s, %g ns", _i, text, chain.ns);
	if (!is_known)
		return;
	ck_assert_str_eq(text, loops[_i].text);
	ck_assert_double_eq_tol(chain.ns, loops[_i].ns, 1e-9);
	ck_assert_uint_eq(chain.leaf, (uintptr_t)loops[_i].leaf);
}

/* Nothing is faster than half a cycle of 10 GHz; how long it takes on a busy host is not asked. */
TEST(latencies_are_plausible)
{
	const struct chain_latencies latencies = chain_latencies_measure();

	for (size_t i = 0; i < CHAIN_FREE; i++)
		ck_assert_msg(latencies.ns[i] > 0.05 || (i == CHAIN_FUSED && latencies.ns[i] == 0), "%zu: %g ns", i,
			      latencies.ns[i]);
	ck_assert_double_eq(latencies.ns[CHAIN_FREE], 0);
}
