/* SPDX-License-Identifier: MIT */
/* Loops of functions that are written here, and how often they are entered, by the executions of blocks. */
#include "parent/symbols/flow.h"
#include "testing.h"

#define MAX_BLOCKS 12
#define MAX_LOOPS 6
#define NO FLOW_NO_LOOP
#define UNKNOWN FLOW_NOT_KNOWN

extern const uint8_t flow_simple[], flow_nested[], flow_middle[], flow_two_entries[], flow_table[], flow_filled[],
	flow_continue[], flow_first[], flow_call[], flow_ambiguous[], flow_end[];

/* Blocks are numbered in a comment behind the first instruction of each. */
__asm__(".text\n"
	"flow_simple:\n"
	"	mov $9, %eax\n"           /* 0 */
	"1:	dec %eax\n	jnz 1b\n" /* 1 */
	"	ret\n"                    /* 2 */
	"flow_nested:\n"
	"	mov $9, %eax\n"           /* 0 */
	"1:	mov $9, %ecx\n"           /* 1 */
	"2:	dec %ecx\n	jnz 2b\n" /* 2 */
	"	dec %eax\n	jnz 1b\n" /* 3 */
	"	ret\n"                    /* 4 */
	"flow_middle:\n"
	"	jmp 2f\n"                 /* 0 */
	"1:	nop\n	nop\n"            /* 1 */
	"2:	dec %eax\n	jnz 1b\n" /* 2 */
	"	ret\n"                    /* 3 */
	"flow_two_entries:\n"
	"	test %eax, %eax\n	jz 2f\n" /* 0 */
	"1:	inc %ecx\n"                      /* 1 */
	"2:	dec %eax\n	jnz 1b\n"        /* 2 */
	"	ret\n"                           /* 3 */
	"flow_table:\n"
	"1:	notrack jmp *%rax\n"      /* 0 */
	"	inc %ecx\n	jmp 1b\n" /* 1 */
	"	inc %edx\n	jmp 1b\n" /* 2 */
	"	ret\n"                    /* 3 */
	"flow_filled:\n"
	"	jmp 2f\n"                          /* 0 */
	"	.byte 0x66, 0x90, 0x0f, 0x1f, 0\n" /* 1 */
	"1:	inc %ecx\n"                        /* 2 */
	"2:	dec %eax\n	jnz 1b\n"          /* 3 */
	"	ret\n"                             /* 4 */
	"flow_continue:\n"
	"	mov $9, %eax\n"           /* 0 */
	"1:	dec %eax\n	jz 2f\n"  /* 1 */
	"	test $1, %eax\n	jz 1b\n"  /* 2 */
	"	inc %ecx\n	jmp 1b\n" /* 3 */
	"2:	ret\n"                    /* 4 */
	"flow_first:\n"
	"	dec %eax\n	jnz flow_first\n" /* 0 */
	"	ret\n"                            /* 1 */
	"flow_call:\n"
	"	mov $9, %ebx\n"           /* 0 */
	"1:	call flow_end\n"          /* 1 */
	"	dec %ebx\n	jnz 1b\n" /* 2 */
	"	ret\n"                    /* 3 */
	"flow_ambiguous:\n"
	"	jz 1f\n" /* 0 */
	"	jc 1f\n" /* 1 */
	"	jo 2f\n" /* 2 */
	"1:	js 1b\n" /* 3 */
	"	jz 1b\n" /* 4 */
	"2:	ret\n"   /* 5 */
	"flow_end:\n	ret\n");

struct loop {
	uint32_t header, parent;
	uint64_t entries, turns;
	bool has_side_entries;
};

/* clang-format off */
static const struct function {
	const char *name;
	const uint8_t *begin, *end;
	uint32_t nr_blocks, nr_loops;
	uint32_t loop_of[MAX_BLOCKS];
	int64_t executions[MAX_BLOCKS];
	struct loop loops[MAX_LOOPS];
} functions[] = {
	{"one that is fallen into", flow_simple, flow_nested, 3, 1, {NO, 0, NO}, {2, 20, 2}, {{1, NO, 2, 20, false}}},
	{"two", flow_nested, flow_middle, 5, 2, {NO, 0, 1, 0, NO}, {2, 8, 40, 8, 2},
	 {{1, NO, 2, 8, false}, {2, 0, 8, 40, false}}},
	{"one that is entered at its test", flow_middle, flow_two_entries, 4, 1, {NO, 0, 0, NO}, {3, 27, 30, 3},
	 {{2, NO, 3, 30, false}}},
	{"one with two entries", flow_two_entries, flow_table, 4, 1, {NO, 0, 0, NO}, {3, 25, 27, 3},
	 {{2, NO, UNKNOWN, 27, true}}},
	{"of what a table leads to", flow_table, flow_filled, 4, 1, {0, 0, 0, NO}, {11, 7, 3, 1},
	 {{0, NO, 1, 11, false}}},
	{"behind what is never executed", flow_filled, flow_continue, 5, 1, {NO, NO, 0, 0, NO}, {1, 0, 9, 10, 1},
	 {{3, NO, 1, 10, false}}},
	{"with two ways back", flow_continue, flow_first, 5, 1, {NO, 0, 0, 0, NO}, {5, 45, 40, 22, 5},
	 {{1, NO, 5, 45, false}}},
	{"at the beginning of the function", flow_first, flow_call, 2, 1, {0, NO}, {12, 4}, {{0, NO, 4, 12, false}}},
	{"with a call that returned once more", flow_call, flow_ambiguous, 4, 1, {NO, 0, 0, NO}, {1, 10, 11, 2},
	 {{1, NO, 1, 10, false}}},
	{"where ways in and back are not known", flow_ambiguous, flow_end, 6, 1, {NO, NO, NO, 0, 0, NO},
	 {9, 7, 5, 30, 20, 9}, {{3, NO, UNKNOWN, 30, false}}},
	{"of a thread that ended in it", flow_simple, flow_nested, 3, 1, {NO, 0, NO}, {2, 20, 3},
	 {{1, NO, UNKNOWN, 20, false}}},
};
/* clang-format on */

static void
find(const struct function *function, const uint64_t *splits, size_t nr_splits, struct code_flow *flow)
{
	code_flow_find(function->begin, (size_t)(function->end - function->begin), (uintptr_t)function->begin, splits,
		       nr_splits, flow);
}

TEST_OF(loops_of_functions, NR_ELEMENTS(functions))
{
	const struct function *function = &functions[_i];
	uint64_t entries[MAX_LOOPS], turns[MAX_LOOPS];
	cleared_by(code_flow_clear) struct code_flow flow = {0};

	find(function, NULL, 0, &flow);
	ck_assert_msg(flow.nr_blocks == function->nr_blocks && flow.nr_loops == function->nr_loops,
		      "%s: %u blocks, %u loops", function->name, flow.nr_blocks, flow.nr_loops);
	for (uint32_t i = 0; i < flow.nr_blocks; i++)
		ck_assert_msg(flow.blocks[i].loop == function->loop_of[i], "%s: block %u is in loop %d", function->name,
			      i, (int)flow.blocks[i].loop);
	code_flow_enter(&flow, function->executions, entries, turns);
	for (uint32_t i = 0; i < flow.nr_loops; i++) {
		const struct loop *loop = &function->loops[i];

		ck_assert_msg(flow.loops[i].header == loop->header && flow.loops[i].parent == loop->parent &&
				      flow.loops[i].has_side_entries == loop->has_side_entries,
			      "%s: header %u, parent %d, side entries: %d", function->name, flow.loops[i].header,
			      (int)flow.loops[i].parent, flow.loops[i].has_side_entries);
		ck_assert_msg(entries[i] == loop->entries && turns[i] == loop->turns, "%s: %lld entries, %lld turns",
			      function->name, (long long)entries[i], (long long)turns[i]);
	}
}

/* The outer loop reaches around the inner one; a split makes one block more, in the same loop. */
TEST(where_blocks_and_loops_are)
{
	const struct function *function = &functions[1];
	const uint64_t begin = (uintptr_t)function->begin, splits[] = {begin + 12, begin + 12, begin + 9999};
	struct code_flow flow;

	find(function, NULL, 0, &flow);
	ck_assert_uint_eq(flow.blocks[0].address, begin);
	ck_assert_uint_eq(flow.loops[0].begin, begin + 5);
	ck_assert_uint_eq(flow.loops[0].end, begin + 18);
	ck_assert_uint_eq(flow.loops[1].begin, begin + 10);
	ck_assert_uint_eq(flow.loops[1].end, begin + 14);
	ck_assert_uint_eq(code_flow_block_at(&flow, begin + 9), 1);
	ck_assert_uint_eq(code_flow_block_at(&flow, begin + 10), 2);
	ck_assert_uint_eq(code_flow_block_at(&flow, begin + 18), 4);
	code_flow_clear(&flow);
	find(function, splits, NR_ELEMENTS(splits), &flow);
	ck_assert_uint_eq(flow.nr_blocks, 6);
	ck_assert_uint_eq(flow.blocks[3].address, begin + 12);
	ck_assert_uint_eq(flow.blocks[3].loop, 1);
	code_flow_clear(&flow);
}

/* Bytes that are no instructions belong to the block before; of no code there is none. */
TEST(what_is_no_code)
{
	const uint8_t data[] = {0x06, 0x06, 0x06}, mixed[] = {0x90, 0x06, 0xeb, 0xfe};
	struct code_flow flow;

	code_flow_find(data, sizeof(data), 0x1000, NULL, 0, &flow);
	ck_assert_uint_eq(flow.nr_blocks + flow.nr_loops, 0);
	code_flow_clear(&flow);
	code_flow_find(mixed, sizeof(mixed), 0x1000, NULL, 0, &flow);
	ck_assert_uint_eq(flow.nr_blocks, 2);
	ck_assert_uint_eq(code_flow_block_at(&flow, 0x1001), 0);
	ck_assert_uint_eq(flow.loops[0].header, 1);
	code_flow_clear(&flow);
}
