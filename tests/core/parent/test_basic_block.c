/* SPDX-License-Identifier: MIT */
/* Basic blocks of machine code in this process: how they end, and where they count themselves. */
#include "parent/translate/basic_block.h"
#include "testing.h"

static struct code_cache cache = {.fd = -1}; /* of pages that were read alone */
static struct code_range range;
static struct basic_block block;
static uint8_t code[4096] __attribute__((aligned(4096)));

static bool
decode(const char *bytes, size_t nr, bool may_change)
{
	const struct translation translation = {.cache = &cache, .tid = getpid(), .ranges = &range, .nr_ranges = 1};

	memset(code, 0x90, sizeof(code));
	memcpy(code, bytes, nr);
	range = (struct code_range){
		.start = (uintptr_t)code, .end = (uintptr_t)code + sizeof(code), .may_change = may_change};
	code_cache_forget(&cache, 0, UINT64_MAX);
	return basic_block_decode(&translation, (uintptr_t)code, &block);
}

static struct count_place
place(void)
{
	const struct translation translation = {.cache = &cache, .tid = getpid(), .ranges = &range, .nr_ranges = 1};

	return basic_block_count_place(&translation, &block);
}

/* target: from the beginning of the block; 0: none */
static const struct {
	const char *bytes;
	size_t nr;
	enum basic_block_end end;
	size_t nr_items;
	int target;
} ends[] = {
	{"\xc3", 1, BLOCK_RETURNS, 1, 0},                              /* ret */
	{"\xf3\xc3", 2, BLOCK_RETURNS, 1, 0},                          /* repz ret */
	{"\xc2\x08\x00", 3, BLOCK_RETURNS, 1, 0},                      /* ret 8 */
	{"\x66\xc3", 2, BLOCK_NATIVE, 0, 0},                           /* ret of 16 bits */
	{"\xcb", 1, BLOCK_NATIVE, 0, 0},                               /* far ret */
	{"\x90\xeb\x10", 3, BLOCK_JUMPS, 2, 0x13},                     /* nop; jmp +16 */
	{"\xe9\x00\x01\x00\x00", 5, BLOCK_JUMPS, 1, 0x105},            /* jmp +256 */
	{"\x75\xfe", 2, BLOCK_BRANCHES, 1, 0},                         /* jne to itself */
	{"\x0f\x84\x00\x01\x00\x00", 6, BLOCK_BRANCHES, 1, 0x106},     /* je +256 */
	{"\xe2\x02", 2, BLOCK_LOOPS, 1, 4},                            /* loop +2 */
	{"\xe3\x02", 2, BLOCK_LOOPS, 1, 4},                            /* jrcxz +2 */
	{"\xe8\x00\x00\x00\x00", 5, BLOCK_CALLS, 1, 5},                /* call +0 */
	{"\x66\x66\x48\xe8\x00\x00\x00\x00", 8, BLOCK_CALLS, 1, 8},    /* as __tls_get_addr is called */
	{"\x66\xe8\x00\x00\x00\x00", 6, BLOCK_NATIVE, 0, 0},           /* call of 16 bits */
	{"\xff\xd0", 2, BLOCK_CALLS_INDIRECTLY, 1, 0},                 /* call rax */
	{"\xff\x25\x00\x00\x00\x00", 6, BLOCK_JUMPS_INDIRECTLY, 1, 0}, /* jmp [rip] */
	{"\xff\x18", 2, BLOCK_NATIVE, 0, 0},                           /* far call [rax] */
	{"\x0f\x05", 2, BLOCK_SYSTEM_CALL, 1, 0},                      /* syscall */
	{"\xcd\x80", 2, BLOCK_NATIVE, 0, 0},                           /* int 80 */
	{"\xcc", 1, BLOCK_TRAPS, 1, 0},                                /* int3 */
	{"\x0f\x0b", 2, BLOCK_TRAPS, 1, 0},                            /* ud2 */
	{"\x65\x48\x8b\x00", 4, BLOCK_NATIVE, 0, 0},                   /* mov rax, gs:[rax] */
	{"\x90\x67\xf3\xa4", 4, BLOCK_NATIVE, 1, 0},                   /* nop; rep movs by ecx */
	{"\x06", 1, BLOCK_NATIVE, 0, 0},                               /* no instruction */
};

TEST_OF(blocks_end, NR_ELEMENTS(ends))
{
	ck_assert(decode(ends[_i].bytes, ends[_i].nr, false));
	ck_assert_int_eq(block.end, ends[_i].end);
	ck_assert_uint_eq(block.nr, ends[_i].nr_items);
	if (ends[_i].target)
		ck_assert_uint_eq(block.target, (uintptr_t)code + (uintptr_t)ends[_i].target);
}

static const struct {
	const char *bytes;
	size_t nr;
	struct count_place place;
} places[] = {
	{"\x48\x89\xd8\x48\x01\xd8\xc3", 7, {1, COUNT_CHANGING_FLAGS, 0}}, /* mov; add; ret */
	{"\x11\xc0\xc3", 3, {0, COUNT_CHANGING_FLAGS, 0}},                 /* adc reads the carry alone, which stays */
	{"\x5b\x5d\xc3", 3, {0, COUNT_BY_REGISTER, 3}},                    /* pop rbx; pop rbp; ret */
	{"\x5c\x41\x5c\xc3", 4, {1, COUNT_BY_REGISTER, 12}},               /* pop rsp; pop r12; ret */
	{"\x48\x8b\x00\xc3", 4, {SIZE_MAX, COUNT_LOOKING_UP, 0}},          /* mov rax, [rax]; ret */
	{"\x4c\x8b\x18\xc3", 4, {SIZE_MAX, COUNT_LOOKING_UP, 0}},          /* mov r11, [rax]; ret */
	{"\x4c\x8b\x1c\x24\xc3", 5, {0, COUNT_BY_REGISTER, 11}},           /* mov r11, [rsp]; ret */
	{"\x4c\x8d\x18\xc3", 4, {0, COUNT_BY_REGISTER, 11}},               /* lea r11, [rax]; ret */
	{"\x88\xd8\xc3", 3, {SIZE_MAX, COUNT_LOOKING_UP, 0}},              /* mov al, bl; ret */
	{"\xd3\xe0\xc3", 3, {SIZE_MAX, COUNT_LOOKING_UP, 0}},              /* shl by cl may leave flags */
	{"\x75\x10", 2, {0, COUNT_SAVING, 0}},                             /* jne */
	{"\xeb\x00\x31\xc0", 4, {0, COUNT_CHANGING_FLAGS, 0}},             /* jmp to xor */
	{"\xeb\x00\x74\x00", 4, {0, COUNT_SAVING, 0}},                     /* jmp to je */
	{"\xe8\x01\x00\x00\x00\x90\x85\xc0", 8, {0, COUNT_CHANGING_FLAGS, 0}}, /* call of test */
};

TEST_OF(blocks_count_where_nothing_is_lost, NR_ELEMENTS(places))
{
	struct count_place found;

	ck_assert(decode(places[_i].bytes, places[_i].nr, false));
	found = place();
	ck_assert_uint_eq(found.before, places[_i].place.before);
	ck_assert_int_eq(found.way, places[_i].place.way);
	ck_assert_uint_eq(found.reg, places[_i].place.reg);
}

TEST(long_blocks_are_cut)
{
	ck_assert(decode("", 0, false));
	ck_assert_int_eq(block.end, BLOCK_GOES_ON);
	ck_assert_uint_eq(block.nr, BLOCK_MAX_ITEMS);
	ck_assert(decode("", 0, true));
	ck_assert(block.may_change && block.nr < BLOCK_MAX_ITEMS);
}

TEST(nothing_is_read_outside_of_code)
{
	const struct translation translation = {.cache = &cache, .tid = getpid(), .ranges = &range, .nr_ranges = 1};

	decode("\xc3", 1, false);
	ck_assert(!basic_block_decode(&translation, (uintptr_t)code - 1, &block));
	ck_assert(!basic_block_decode(&translation, (uintptr_t)code + sizeof(code), &block));
	/* The last byte of a range begins an instruction that is longer. */
	code[sizeof(code) - 1] = 0xe8;
	code_cache_forget(&cache, 0, UINT64_MAX);
	ck_assert(basic_block_decode(&translation, (uintptr_t)code + sizeof(code) - 1, &block));
	ck_assert_int_eq(block.end, BLOCK_NATIVE);
}

static void
forget_pages(void)
{
	code_cache_forget(&cache, 0, UINT64_MAX);
}

UNIT_TESTS(.is_in_one_process = true, .tear_down = forget_pages);
