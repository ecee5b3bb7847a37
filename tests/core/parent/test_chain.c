/* SPDX-License-Identifier: MIT */
/* Chains of loops that are written here, with made-up latencies. */
#include "parent/profile/chain.h"
#include "testing.h"

/* Each is a loop of one or several blocks, up to the next one. The chain is in a comment if it is not obvious. */
#define LOOP(name, code) "chain_" name ":\n1:" code "	dec %rdi\n	jnz 1b\n	ret\n"
__asm__(".text\n" LOOP("sum", "	addsd (%rsi,%rdi,8), %xmm0\n")
		LOOP("sums", "	addsd (%rsi), %xmm0\n	addsd 8(%rsi), %xmm1\n	add $16, %rsi\n") LOOP(
			"horner", "	mulsd %xmm1, %xmm0\n	addsd (%rsi,%rdi,8), %xmm0\n")
			LOOP("triad",
			     "	movsd (%rsi,%rdi,8), %xmm0\n	mulsd %xmm1, %xmm0\n	addsd (%rdx,%rdi,8), %xmm0\n"
			     "	movsd %xmm0, (%rcx,%rdi,8)\n")
	/* Both registers need each other: a multiplication in every second turn. */
	LOOP("turning",
	     "	movapd %xmm0, %xmm2\n	mulsd %xmm3, %xmm2\n	movapd %xmm1, %xmm0\n	movapd %xmm2, %xmm1\n")
		LOOP("cleared", "	xorps %xmm0, %xmm0\n	addsd %xmm1, %xmm0\n	mulsd %xmm0, %xmm0\n") LOOP(
			"chase", "	mov (%rsi), %rsi\n") LOOP("walk", "	mov (%rsi), %rax\n	add $8, %rsi\n")
			LOOP("table", "	movzbl %al, %ecx\n	shr $8, %eax\n	xor (%rsi,%rcx,4), %eax\n")
				LOOP("flags", "	adc %rax, %rbx\n	mov %rbx, %rax\n	lea 1(%rdx), %rdx\n")
					LOOP("chosen",
					     "	imul %rax, %rbx\n	test %rcx, %rcx\n	cmovz %rbx, %rax\n")
	/* What a turn stores is what the next one loads, and the one behind it. */
	LOOP("prefix", "	movsd -8(%rsi), %xmm0\n	addsd (%rdx,%rdi,8), %xmm0\n	movsd %xmm0, (%rsi)\n	lea "
		       "8(%rsi), %rsi\n") LOOP("second", "	movsd -16(%rsi), %xmm0\n	addsd (%rdx,%rdi,8), "
							 "%xmm0\n	movsd %xmm0, (%rsi)\n	add $8, %rsi\n") LOOP(
		"ahead",
		"	movsd 8(%rsi), %xmm0\n	addsd (%rdx,%rdi,8), %xmm0\n	movsd %xmm0, (%rsi)\n	add $8, %rsi\n")
		LOOP("narrow",
		     "	movss -4(%rsi), %xmm0\n	addsd (%rdx,%rdi,8), %xmm0\n	movsd %xmm0, (%rsi)\n	add $8, %rsi\n")
			LOOP("variable",
			     "	movsd -8(%rsp), %xmm0\n	addsd (%rdx,%rdi,8), %xmm0\n	movsd %xmm0, -8(%rsp)\n")
				LOOP("called", "	addsd %xmm1, %xmm0\n	call chain_end\n")
					LOOP("stack", "	fadd %st(1), %st\n")
						LOOP("locked", "	addsd %xmm1, %xmm0\n	lock incl (%rsi)\n")
							LOOP("branches",
							     "	test $1, %dil\n	jz 2f\n	addsd %xmm1, %xmm0\n2:	addsd "
							     "%xmm2, %xmm0\n") "chain_end:\n	ret\n");

#define EXTERN(name) extern const uint8_t chain_##name[];
#define LOOPS(X)                                                                                                       \
	X(sum)                                                                                                         \
	X(sums) X(horner) X(triad) X(turning) X(cleared) X(chase) X(walk) X(table) X(flags) X(chosen) X(prefix)        \
		X(second) X(ahead) X(narrow) X(variable) X(called) X(stack) X(locked) X(branches) X(end)
LOOPS(EXTERN)

static const struct chain_latencies made_up = {{
	[CHAIN_ADD] = 2,
	[CHAIN_MULTIPLY] = 3,
	[CHAIN_INTEGER_MULTIPLY] = 3.5,
	[CHAIN_LOAD] = 4,
	[CHAIN_PASS] = 7,
	[CHAIN_PASS_FIXED] = 5,
	[CHAIN_OTHER] = 1,
}};

/* text NULL: none is known. share: how often the second of four blocks is executed, in a turn */
static const struct {
	const uint8_t *begin, *end;
	const char *text;
	double ns, share;
} loops[] = {
	{chain_sum, chain_sums, "1 addition", 2, 1},
	{chain_sums, chain_horner, "1 addition", 2, 1},
	{chain_horner, chain_triad, "1 addition and 1 multiplication", 5, 1},
	{chain_triad, chain_turning, NULL, 0, 1},
	{chain_turning, chain_cleared, "0.5 multiplications", 1.5, 1},
	{chain_cleared, chain_chase, NULL, 0, 1},
	{chain_chase, chain_walk, "1 load", 4, 1},
	{chain_walk, chain_table, NULL, 0, 1},
	{chain_table, chain_flags, "1 load and 1 simple operation", 5, 1},
	{chain_flags, chain_chosen, NULL, 0, 1},
	{chain_chosen, chain_prefix, "1 integer multiplication and 1 simple operation", 4.5, 1},
	{chain_prefix, chain_second, "1 addition and 1 pass through memory", 9, 1},
	{chain_second, chain_ahead, "0.5 additions and 0.5 passes through memory", 4.5, 1},
	{chain_ahead, chain_narrow, NULL, 0, 1},
	{chain_narrow, chain_variable, NULL, 0, 1},
	{chain_variable, chain_called, "1 addition and 1 pass through a variable in memory", 7, 1},
	{chain_called, chain_stack, NULL, 0, 1},
	{chain_stack, chain_locked, NULL, 0, 1},
	{chain_locked, chain_branches, NULL, 0, 1},
	{chain_branches, chain_end, "2 additions", 4, 1},
	{chain_branches, chain_end, "1 addition", 2, 0.05},
	{chain_branches, chain_end, NULL, 0, 0.5},
};

TEST_OF(chains_of_loops, NR_ELEMENTS(loops))
{
	int64_t executions[] = {1000, (int64_t)(1000 * loops[_i].share), 1000, 1000};
	cleared_by(code_flow_clear) struct code_flow flow = {0};
	autofree char *text = NULL;
	struct chain chain;
	bool is_known;

	code_flow_find(loops[_i].begin, (size_t)(loops[_i].end - loops[_i].begin), (uintptr_t)loops[_i].begin, NULL, 0,
		       &flow);
	ck_assert_uint_eq(flow.nr_loops, 1);
	is_known = chain_find(&flow, 0, executions, loops[_i].begin, &made_up, &chain);
	text = chain_text(&chain);
	ck_assert_msg(is_known == (loops[_i].text != NULL), "loop %d: %s, %g ns", _i, text, chain.ns);
	if (!is_known)
		return;
	ck_assert_str_eq(text, loops[_i].text);
	ck_assert_double_eq_tol(chain.ns, loops[_i].ns, 1e-9);
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
