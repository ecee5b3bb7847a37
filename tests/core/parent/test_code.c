/* SPDX-License-Identifier: MIT */
/* Instructions that run elsewhere do what they do in place, at every step; lengths; where a range of code is left. */
#include "parent/breakpoints/slots.h"
#include "parent/symbols/code.h"
#include "parent/symbols/instruction.h"
#include "testing.h"

/* ---- running a piece of code with registers of ours ---- */

#define NR_REGISTERS 15 /* rax rbx rcx rdx rsi rdi rbp r8 ... r15 */
#define RCX 2
#define FLAGS 15
#define CODE_BYTES 4096
#define STACK_BYTES 1024
#define ORIGINAL 0x100 /* where in the page the instruction stands */
#define TAKEN 0x800    /* where it jumps to */
#define SHORT_WAY 0x40 /* how far with one byte */
#define AWAY 0x100     /* where in the page of the slot the way out of its middle stands */
#define PATTERN UINT64_C(0x0102030405060708)

enum { LANDED_NEXT = 1, LANDED_TAKEN, LANDED_MIDDLE };

/* Registers before and after, flags last; where the code came out. The names are those that the assembler uses. */
uint64_t run_in[NR_REGISTERS + 1], run_out[NR_REGISTERS + 1], run_in_rsp, run_out_rsp, run_entry, run_own_rsp;
uint32_t run_landed;
void run_code(void);
void run_land_next(void);
void run_land_taken(void);
void run_land_middle(void);

__asm__(".text\n"
	"run_code:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	pcmpeqd %xmm0, %xmm0\n"
	"	mov %rsp, run_own_rsp(%rip)\n"
	"	lea run_in(%rip), %rsp\n"
	"	pop %rax\n	pop %rbx\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n	pop "
	"%rbp\n"
	"	pop %r8\n	pop %r9\n	pop %r10\n	pop %r11\n	pop %r12\n	pop %r13\n	pop "
	"%r14\n"
	"	pop %r15\n	popfq\n"
	"	mov run_in_rsp(%rip), %rsp\n"
	"	jmp *run_entry(%rip)\n"
	"run_land_next:\n	movl $1, run_landed(%rip)\n	jmp 1f\n"
	"run_land_taken:\n	movl $2, run_landed(%rip)\n	jmp 1f\n"
	"run_land_middle:\n	movl $3, run_landed(%rip)\n"
	"1:	mov %rsp, run_out_rsp(%rip)\n"
	"	lea 128+run_out(%rip), %rsp\n"
	"	pushfq\n	push %r15\n	push %r14\n	push %r13\n	push %r12\n	push %r11\n	push "
	"%r10\n"
	"	push %r9\n	push %r8\n	push %rbp\n	push %rdi\n	push %rsi\n	push %rdx\n	push "
	"%rcx\n"
	"	push %rbx\n	push %rax\n"
	"	mov run_own_rsp(%rip), %rsp\n"
	"	cld\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n");

/* code: the instruction in its place, and where it leads. data: what its operands are. slot: elsewhere. */
static uint8_t *code, *data, *slot_page;
static uint64_t stack[STACK_BYTES / 8];
static uint8_t *const stack_top = (uint8_t *)&stack[STACK_BYTES / 16];

struct state {
	uint64_t registers[NR_REGISTERS + 1], rsp;
	uint32_t landed;
	uint8_t stack[STACK_BYTES], data[256];
};

static void
make_writable(uint8_t *page, bool is_writable)
{
	ck_assert_int_eq(mprotect(page, CODE_BYTES, PROT_READ | (is_writable ? PROT_WRITE : PROT_EXEC)), 0);
}

static void
open_pages(void)
{
	code = mmap(NULL, (size_t)4 * CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	data = code + CODE_BYTES;
	slot_page = code + (size_t)3 * CODE_BYTES;
}

static void
close_pages(void)
{
	munmap(code, (size_t)4 * CODE_BYTES);
}

/* jmp [rip]; address */
static void
put_jump(uint8_t *at, void (*target)(void))
{
	static const uint8_t jump[6] = {0xff, 0x25};

	memcpy(at, jump, sizeof(jump));
	memcpy(at + sizeof(jump), &target, sizeof(target));
}

/* Fills what popf and what pop, ret and calls through the stack find there. */
static void
prepare_memory(void)
{
	uint64_t taken = (uint64_t)(uintptr_t)(code + TAKEN), flags = 0x8d5;
	bool is_popf = code[ORIGINAL] == 0x9d;

	for (size_t i = 0; i < STACK_BYTES / 8; i++)
		stack[i] = PATTERN * (i + 1);
	for (int i = 0; i < 64; i++)
		memcpy(data + (ptrdiff_t)8 * i, &taken, 8);
	memcpy(stack_top, is_popf ? &flags : &taken, 8);
	memcpy(stack_top + 8, &taken, 8);
	memcpy(stack_top + 16, &taken, 8);
	memcpy(stack_top + 120, &taken, 8);
	memcpy(stack_top + 128, &taken, 8);
	memcpy(stack_top - 136, &taken, 8);
}

static void
prepare_registers(uint64_t flags, uint64_t rcx)
{
	uint64_t taken = (uint64_t)(uintptr_t)(code + TAKEN), operand = (uint64_t)(uintptr_t)data;

	for (int i = 0; i < NR_REGISTERS; i++)
		run_in[i] = PATTERN * (uint64_t)(i + 3);
	run_in[0] = taken;   /* rax: to be called    */
	run_in[1] = operand; /* rbx: an operand      */
	run_in[RCX] = rcx;   /* rcx: a counter       */
	run_in[4] = operand; /* rsi, rdi: strings    */
	run_in[5] = operand + 128;
	run_in[6] = (uint64_t)(uintptr_t)stack_top + 64; /* rbp: a frame         */
	run_in[11] = taken;                              /* r12                  */
	run_in[12] = operand;                            /* r13                  */
	run_in[13] = 2;                                  /* r14: an index        */
	run_in[FLAGS] = flags;
	run_in_rsp = (uint64_t)(uintptr_t)stack_top;
}

static void
run(uint64_t entry, struct state *state)
{
	run_entry = entry;
	run_code();
	memcpy(state->registers, run_out, sizeof(run_out));
	state->rsp = run_out_rsp;
	state->landed = run_landed;
	memcpy(state->stack, stack, STACK_BYTES);
	memcpy(state->data, data, sizeof(state->data));
}

/* ---- the instructions ---- */

#define NOWHERE 0xff
#define BYTES(text) sizeof(text) - 1, text

/*
 * relative_at: offset of 4 bytes that are made to point to the data; target_at: of 4 (or, is_short, 1) that are made to
 * point to TAKEN
 */
/* clang-format off */
static const struct instruction_case {
	const char *name;
	uint8_t nr_bytes;
	uint8_t bytes[15];
	uint8_t relative_at, target_at;
	bool is_short;
	const char *feature;
} cases[] = {
	{"nop", BYTES("\x90"), NOWHERE, NOWHERE, false, NULL},
	{"endbr64", BYTES("\xf3\x0f\x1e\xfa"), NOWHERE, NOWHERE, false, NULL},
	{"push rbp", BYTES("\x55"), NOWHERE, NOWHERE, false, NULL},
	{"push rsp", BYTES("\x54"), NOWHERE, NOWHERE, false, NULL},
	{"pop r9", BYTES("\x41\x59"), NOWHERE, NOWHERE, false, NULL},
	{"push imm", BYTES("\x68\x01\x02\x03\x84"), NOWHERE, NOWHERE, false, NULL},
	{"pushf", BYTES("\x9c"), NOWHERE, NOWHERE, false, NULL},
	{"popf", BYTES("\x9d"), NOWHERE, NOWHERE, false, NULL},
	{"leave", BYTES("\xc9"), NOWHERE, NOWHERE, false, NULL},
	{"sub rsp, 32", BYTES("\x48\x83\xec\x20"), NOWHERE, NOWHERE, false, NULL},
	{"adc rdx, r8", BYTES("\x4c\x11\xc2"), NOWHERE, NOWHERE, false, NULL},
	{"rep movsb", BYTES("\xf3\xa4"), NOWHERE, NOWHERE, false, NULL},
	{"rep stosb", BYTES("\xf3\xaa"), NOWHERE, NOWHERE, false, NULL},
	{"mov rdx, [rip]", BYTES("\x48\x8b\x15\x00\x00\x00\x00"), 3, NOWHERE, false, NULL},
	{"mov qword [rip], imm", BYTES("\x48\xc7\x05\x00\x00\x00\x00\x09\x08\x07\x06"), 3, NOWHERE, false, NULL},
	{"cmp byte [rip], imm", BYTES("\x80\x3d\x00\x00\x00\x00\x09"), 2, NOWHERE, false, NULL},
	{"lock cmpxchg [rip], rdx", BYTES("\xf0\x48\x0f\xb1\x15\x00\x00\x00\x00"), 5, NOWHERE, false, NULL},
	{"lea r10, [rip]", BYTES("\x4c\x8d\x15\x00\x00\x00\x00"), 3, NOWHERE, false, NULL},
	{"push [rip]", BYTES("\xff\x35\x00\x00\x00\x00"), 2, NOWHERE, false, NULL},
	{"pop [rip]", BYTES("\x8f\x05\x00\x00\x00\x00"), 2, NOWHERE, false, NULL},
	{"movups [rip], xmm0", BYTES("\x0f\x11\x05\x00\x00\x00\x00"), 3, NOWHERE, false, NULL},
	{"pinsrw xmm0, [rip], 1; by its length", BYTES("\x66\x0f\xc4\x05\x00\x00\x00\x00\x01"), 4, NOWHERE, false,
	 NULL},
	{"vmovups [rip], ymm0", BYTES("\xc5\xfc\x11\x05\x00\x00\x00\x00"), 4, NOWHERE, false, "avx"},
	{"vmovdqu64 [rip], zmm0", BYTES("\x62\xf1\xfe\x48\x7f\x05\x00\x00\x00\x00"), 6, NOWHERE, false, "avx512f"},
	{"vpternlogd zmm0, zmm1, [rip], 5", BYTES("\x62\xf3\x75\x48\x25\x05\x00\x00\x00\x00\x05"), 6, NOWHERE, false,
	 "avx512f"},
	{"jmp rel8", BYTES("\xeb\x00"), NOWHERE, 1, true, NULL},
	{"jmp rel32", BYTES("\xe9\x00\x00\x00\x00"), NOWHERE, 1, false, NULL},
	{"bnd jmp rel32", BYTES("\xf2\xe9\x00\x00\x00\x00"), NOWHERE, 2, false, NULL},
	{"jmp rax", BYTES("\xff\xe0"), NOWHERE, NOWHERE, false, NULL},
	{"notrack jmp rax", BYTES("\x3e\xff\xe0"), NOWHERE, NOWHERE, false, NULL},
	{"jmp r12", BYTES("\x41\xff\xe4"), NOWHERE, NOWHERE, false, NULL},
	{"jmp [rip]", BYTES("\xff\x25\x00\x00\x00\x00"), 2, NOWHERE, false, NULL},
	{"jmp [rsp+8]", BYTES("\xff\x64\x24\x08"), NOWHERE, NOWHERE, false, NULL},
	{"call rel32", BYTES("\xe8\x00\x00\x00\x00"), NOWHERE, 1, false, NULL},
	{"data16 rex.w call rel32", BYTES("\x66\x48\xe8\x00\x00\x00\x00"), NOWHERE, 3, false, NULL},
	{"call rax", BYTES("\xff\xd0"), NOWHERE, NOWHERE, false, NULL},
	{"call r12", BYTES("\x41\xff\xd4"), NOWHERE, NOWHERE, false, NULL},
	{"call [rip]", BYTES("\xff\x15\x00\x00\x00\x00"), 2, NOWHERE, false, NULL},
	{"call [rbx]", BYTES("\xff\x13"), NOWHERE, NOWHERE, false, NULL},
	{"call [rbx+8]", BYTES("\xff\x53\x08"), NOWHERE, NOWHERE, false, NULL},
	{"call [r13+0]", BYTES("\x41\xff\x55\x00"), NOWHERE, NOWHERE, false, NULL},
	{"call [rbx+8*r14]", BYTES("\x42\xff\x14\xf3"), NOWHERE, NOWHERE, false, NULL},
	{"call [rsp+8]", BYTES("\xff\x54\x24\x08"), NOWHERE, NOWHERE, false, NULL},
	{"call [rsp+120]", BYTES("\xff\x54\x24\x78"), NOWHERE, NOWHERE, false, NULL},
	{"call [rsp+128]", BYTES("\xff\x94\x24\x80\x00\x00\x00"), NOWHERE, NOWHERE, false, NULL},
	{"call [rsp-136]", BYTES("\xff\x94\x24\x78\xff\xff\xff"), NOWHERE, NOWHERE, false, NULL},
	{"call [rsp+8*r14]", BYTES("\x42\xff\x14\xf4"), NOWHERE, NOWHERE, false, NULL},
	{"ret", BYTES("\xc3"), NOWHERE, NOWHERE, false, NULL},
	{"rep ret", BYTES("\xf3\xc3"), NOWHERE, NOWHERE, false, NULL},
	{"ret 16", BYTES("\xc2\x10\x00"), NOWHERE, NOWHERE, false, NULL},
};
/* clang-format on */

static bool
has_feature(const char *feature)
{
	if (!feature)
		return true;
	return strcmp(feature, "avx") == 0 ? __builtin_cpu_supports("avx") : __builtin_cpu_supports("avx512f");
}

/* Puts the instruction in its place, and what it leads to. */
static void
place(const struct instruction_case *tested)
{
	uint8_t *at = code + ORIGINAL;
	int32_t to_data = (int32_t)(data - (at + tested->nr_bytes)), behind = ORIGINAL + tested->nr_bytes;
	int32_t to_target = tested->is_short ? SHORT_WAY : TAKEN - behind;

	make_writable(code, true);
	memset(code, 0xcc, CODE_BYTES);
	memcpy(at, tested->bytes, tested->nr_bytes);
	if (tested->relative_at != NOWHERE)
		memcpy(at + tested->relative_at, &to_data, 4);
	if (tested->target_at != NOWHERE)
		memcpy(at + tested->target_at, &to_target, tested->is_short ? 1 : 4);
	put_jump(at + tested->nr_bytes, run_land_next);
	put_jump(code + TAKEN, run_land_taken);
	if (tested->is_short)
		put_jump(code + behind + to_target, run_land_taken);
	make_writable(code, false);
}

static void
write_slot(const struct code_slot *slot)
{
	make_writable(slot_page, true);
	memcpy(slot_page, slot->bytes, slot->nr_bytes);
	make_writable(slot_page, false);
}

static void
check_same(const struct state *got, const struct state *wanted, const char *name, int point)
{
	ck_assert_msg(got->landed == wanted->landed, "%s at point %d: came out at %u, not %u", name, point, got->landed,
		      wanted->landed);
	ck_assert_msg(got->rsp == wanted->rsp, "%s at point %d: another stack pointer", name, point);
	for (int i = 0; i <= FLAGS; i++)
		ck_assert_msg(got->registers[i] == wanted->registers[i],
			      "%s at point %d: register %d is %#llx, not %#llx", name, point, i,
			      (unsigned long long)got->registers[i], (unsigned long long)wanted->registers[i]);
	ck_assert_msg(memcmp(got->stack, wanted->stack, STACK_BYTES) == 0, "%s at point %d: another stack", name,
		      point);
	ck_assert_msg(memcmp(got->data, wanted->data, sizeof(got->data)) == 0, "%s at point %d: other data", name,
		      point);
}

/* A thread that is taken out of the slot at this point, and goes on in the original code, ends up the same. */
static void
check_point(const struct code_slot *slot, int index, const struct state *wanted, const char *name)
{
	const struct code_point *point = &slot->points[index];
	const int32_t way = AWAY - (point->offset + 5);
	struct state middle, end;

	ck_assert_ptr_eq(code_slot_point(slot, point->offset), point);
	make_writable(slot_page, true);
	memcpy(slot_page, slot->bytes, slot->nr_bytes);
	slot_page[point->offset] = 0xe9; /* jmp rel32: shorter than what it replaces */
	memcpy(slot_page + point->offset + 1, &way, sizeof(way));
	put_jump(slot_page + AWAY, run_land_middle);
	make_writable(slot_page, false);
	run((uint64_t)(uintptr_t)slot_page, &middle);
	if (middle.landed != LANDED_MIDDLE) {
		check_same(&middle, wanted, name, index);
		return;
	}
	memcpy(run_in, middle.registers, sizeof(run_in));
	run_in_rsp = middle.rsp + point->pushed_bytes;
	ck_assert_int_eq(point->is_before, point->address == (uint64_t)(uintptr_t)(code + ORIGINAL));
	run(point->address, &end);
	check_same(&end, wanted, name, index);
}

static size_t
length_of(const uint8_t *bytes, size_t nr_bytes)
{
	struct instruction instruction;

	return instruction_decode(bytes, nr_bytes, &instruction) ? instruction.length : 0;
}

/* In place, in the slot, and out of each point of the slot. Returns where it came out. */
static uint32_t
check_relocation(const char *name, size_t nr_bytes, uint64_t flags, uint64_t rcx)
{
	uint8_t *at = code + ORIGINAL;
	struct state wanted, got;
	struct code_slot slot;

	ck_assert_msg(length_of(at, 15) == nr_bytes, "%s: length %zu", name, length_of(at, 15));
	ck_assert_msg(code_relocate(at, 15, (uint64_t)(uintptr_t)at, (uint64_t)(uintptr_t)slot_page, &slot, &why) == 0,
		      "%s: %s", name, why.text);
	ck_assert_int_le(slot.nr_bytes, CODE_SLOT_BYTES);
	prepare_memory();
	prepare_registers(flags, rcx);
	run((uint64_t)(uintptr_t)at, &wanted);
	write_slot(&slot);
	prepare_memory();
	prepare_registers(flags, rcx);
	run((uint64_t)(uintptr_t)slot_page, &got);
	check_same(&got, &wanted, name, -1);
	for (int i = 0; i < slot.nr_points; i++) {
		prepare_memory();
		prepare_registers(flags, rcx);
		check_point(&slot, i, &wanted, name);
	}
	return wanted.landed;
}

TEST_OF(instructions_run_elsewhere, NR_ELEMENTS(cases))
{
	const struct instruction_case *tested = &cases[_i];

	if (!has_feature(tested->feature))
		return;
	place(tested);
	check_relocation(tested->name, tested->nr_bytes, 0x202, 16);
	check_relocation(tested->name, tested->nr_bytes, 0xed7, 16);
}

/* jcc with both lengths, loop and jrcxz with both counters: each with all flags that conditions look at. */
TEST_OF(branches_run_elsewhere, 40)
{
	static const uint64_t bits[] = {1 << 0, 1 << 2, 1 << 6, 1 << 7, 1 << 11};
	static const uint64_t counters[] = {0, 1, 2, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1};
	uint8_t condition = (uint8_t)_i;
	struct instruction_case tested = {.name = "branch", .relative_at = NOWHERE};
	int nr_taken = 0, nr_others = 0;

	if (condition < 16) {
		tested = (struct instruction_case){"jcc rel32", 6, {0x0f, 0x80 | condition}, NOWHERE, 2, false, NULL};
	} else if (condition < 24) {
		tested = (struct instruction_case){"loop", 2, {0xe0 | (condition & 3)}, NOWHERE, 1, true, NULL};
		if (condition >= 20)
			tested = (struct instruction_case){
				"loop with ecx", 3, {0x67, 0xe0 | (condition & 3)}, NOWHERE, 2, true, NULL};
	} else {
		condition = (uint8_t)(_i - 24);
		tested = (struct instruction_case){"jcc rel8", 2, {0x70 | condition}, NOWHERE, 1, true, NULL};
	}
	place(&tested);
	for (int flags = 0; flags < 32; flags++)
		for (int i = 0; i < NR_ELEMENTS(counters); i++) {
			uint64_t eflags = 0x202;
			bool is_taken;

			for (int bit = 0; bit < 5; bit++)
				eflags |= flags & 1 << bit ? bits[bit] : 0;
			is_taken = check_relocation(tested.name, tested.nr_bytes, eflags, counters[i]) == LANDED_TAKEN;
			ck_assert_int_eq(code_is_taken(condition, eflags, counters[i]), is_taken);
			nr_taken += is_taken;
			nr_others += !is_taken;
		}
	ck_assert_int_gt(nr_taken, 0);
	ck_assert_int_gt(nr_others, 0);
	ck_assert(code_is_taken(CODE_ALWAYS, 0, 0));
}

/* clang-format off */
static const struct refusal {
	uint8_t nr_bytes;
	uint8_t bytes[15];
	const char *why;
} refusals[] = {
	{BYTES("\xff\xd4"), "calls the stack"}, /* call rsp           */
	{BYTES("\xff\x54\x24\xf8"), "overwrites"}, /* call [rsp-8]       */
	{BYTES("\xff\x54\x24\xff"), "overwrites"}, /* call [rsp-1]       */
	{BYTES("\x67\xff\x14\x24"), "overwrites"}, /* call [esp]         */
	{BYTES("\x48\xcf"), "such a jump"}, /* iretq              */
	{BYTES("\xcb"), "such a jump"}, /* retf               */
	{BYTES("\xff\x1c\x24"), "such a jump"}, /* call far [rsp]     */
	{BYTES("\xff\x2c\x24"), "such a jump"}, /* jmp far [rsp]      */
	{BYTES("\xc7\xf8\x00\x00\x00\x00"), "such a jump"}, /* xbegin             */
	{BYTES("\x66\xc3"), "such a jump"}, /* data16 ret         */
	{BYTES("\x66\xff\xd0"), "such a jump"}, /* call ax            */
	{BYTES("\x67\x48\x8b\x05\x00\x00\x00\x00"), "32-bit"}, /* mov rax, [eip]     */
	{BYTES("\x06"), "no instruction"}, /* push es: not now   */
	{BYTES("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66"), "no instruction"},
};
/* clang-format on */

TEST_OF(what_cannot_run_elsewhere_is_refused, NR_ELEMENTS(refusals))
{
	const struct refusal *refusal = &refusals[_i];
	struct code_slot slot;

	ck_assert_int_eq(code_relocate(refusal->bytes, refusal->nr_bytes, 0x1000, 0x2000, &slot, &why), -1);
	ck_assert_msg(strstr(why.text, refusal->why) && strstr(why.text, "0x1000"), "%s", why.text);
}

/* An operand relative to the instruction may be 2 GiB away, and not a byte further. */
TEST(distance_is_limited)
{
	static const uint8_t mov[] = {0x48, 0x8b, 0x05, 0, 0, 0, 0};
	const uint64_t from = UINT64_C(1) << 40, most = INT32_MAX;
	struct code_slot slot;

	ck_assert_int_eq(code_relocate(mov, sizeof(mov), from, from - most, &slot, &why), 0);
	ck_assert_int_eq(code_relocate(mov, sizeof(mov), from, from - most - 1, &slot, &why), -1);
	ck_assert_has(why.text, "2 GiB");
	ck_assert_int_eq(code_relocate(mov, sizeof(mov), from, from + most + 1, &slot, &why), 0);
	ck_assert_int_eq(code_relocate(mov, sizeof(mov), from, from + most + 2, &slot, &why), -1);
	ck_assert_ptr_null(code_slot_point(&slot, 3));
}

/* An instruction that is cut off is none. */
TEST_OF(length_needs_all_bytes, NR_ELEMENTS(cases))
{
	const struct instruction_case *tested = &cases[_i];

	for (size_t nr = 0; nr < tested->nr_bytes; nr++)
		ck_assert_msg(length_of(tested->bytes, nr) < tested->nr_bytes, "%s", tested->name);
	ck_assert_int_eq(length_of(tested->bytes, tested->nr_bytes), tested->nr_bytes);
}

/* ---- where a range is left ---- */

#define BASE 0x401000
#define MAX_EXITS 4

/* clang-format off */
static const struct exit_case {
	const char *name;
	uint8_t nr_bytes;
	uint8_t bytes[40];
	int nr_exits;
	struct code_exit exits[MAX_EXITS];
} exit_cases[] = {
	{"returns", BYTES("\xc3\xf3\xc3\xc2\x08\x00"), 3,
	 {{CODE_RETURN, BASE, 0, 0, CODE_ALWAYS}, {CODE_RETURN, BASE + 1, 0, 0, CODE_ALWAYS},
	  {CODE_RETURN, BASE + 3, 0, 0, CODE_ALWAYS}}},
	{"jumps within, to the first byte and to the last", BYTES("\xeb\xfe\xeb\x00\x90"), 0, {{0}}},
	{"jump out behind", BYTES("\xeb\x01\x90"), 1, {{CODE_JUMP, BASE, BASE + 3, 0, CODE_ALWAYS}}},
	{"jump out before", BYTES("\xeb\xfd"), 1, {{CODE_JUMP, BASE, BASE - 1, 0, CODE_ALWAYS}}},
	{"branch out", BYTES("\x74\x00\x0f\x8f\x00\x01\x00\x00"), 1, {{CODE_JUMP, BASE + 2, BASE + 8 + 0x100, 0, 15}}},
	{"calls stay", BYTES("\xe8\x00\x01\x00\x00\xff\xd0"), 0, {{0}}},
	{"tail call through a pointer", BYTES("\x48\x8b\x07\xff\xe0"), 1,
	 {{CODE_INDIRECT, BASE + 3, 0, 0, CODE_ALWAYS}}},
	{"tail call through the table of imports", BYTES("\xff\x25\x00\x10\x00\x00"), 1,
	 {{CODE_INDIRECT, BASE, 0, 0, CODE_ALWAYS}}},
	{"tail call of a method", BYTES("\xff\x60\x10"), 1, {{CODE_INDIRECT, BASE, 0, 0, CODE_ALWAYS}}},
	/* lea table(%rip), %rdx; movslq (%rdx,%rax,4), %rax; add %rdx, %rax; jmp *%rax */
	{"switch of position-independent code",
	 BYTES("\x48\x8d\x15\x00\x00\x00\x00\x48\x63\x04\x82\x48\x01\xd0\xff\xe0"), 0, {{0}}},
	{"switch with notrack", BYTES("\x3e\xff\x24\xc5\x00\x20\x40\x00"), 0, {{0}}},
	{"switch, or a table of functions", BYTES("\xff\x24\xc5\x00\x20\x40\x00"), 1,
	 {{CODE_INDEXED, BASE, 0, 0x402000, CODE_ALWAYS}}},
	/* mov (%rdx,%rax,8), %rcx; jmp *%rcx */
	{"computed goto, or a table of functions", BYTES("\x48\x8b\x0c\xc2\xff\xe1"), 1,
	 {{CODE_INDEXED, BASE + 4, 0, 0, CODE_ALWAYS}}},
	{"data in between", BYTES("\x06\x90\xc3"), 1, {{CODE_RETURN, BASE + 2, 0, 0, CODE_ALWAYS}}},
	{"a jump that is cut off", BYTES("\x90\xe9\x00\x00\x00"), 0, {{0}}},
	{"returns of interrupts and far jumps", BYTES("\x48\xcf\xff\x2c\x24"), 0, {{0}}},
	{"nothing", 0, {0}, 0, {{0}}},
};
/* clang-format on */

/* The code before an indirect jump, and what that makes of the jump. */
/* clang-format off */
static const struct {
	const char *name;
	bool is_exit;
	enum code_exit_kind kind;
	uint64_t table;
	uint8_t nr_bytes;
	uint8_t bytes[20];
} indirect_cases[] = {
	/* How the target was made: the last instruction that made it counts. */
	{"add %rdx,%rax; jmp *%rax", false, 0, 0, BYTES("\x48\x01\xd0\xff\xe0")},
	{"add (%rdx,%rax,4),%rcx; jmp *%rcx", false, 0, 0, BYTES("\x48\x03\x0c\x82\xff\xe1")},
	{"movslq (%rdx,%rax,4),%rcx; jmp *%rcx", false, 0, 0, BYTES("\x48\x63\x0c\x82\xff\xe1")},
	{"mov (%rdx,%rax,8),%rcx; jmp *%rcx", true, CODE_INDEXED, 0, BYTES("\x48\x8b\x0c\xc2\xff\xe1")},
	{"mov (%rdx,%r12,8),%rcx; jmp *%rcx", true, CODE_INDEXED, 0, BYTES("\x4a\x8b\x0c\xe2\xff\xe1")},
	{"mov (%rdx,%rax,4),%rcx; jmp *%rcx", true, CODE_INDIRECT, 0, BYTES("\x48\x8b\x0c\x82\xff\xe1")},
	{"mov (%rdx,none,8),%rcx; jmp *%rcx", true, CODE_INDIRECT, 0, BYTES("\x48\x8b\x0c\xe2\xff\xe1")},
	{"add; mov %rdx,%rax; jmp *%rax", true, CODE_INDIRECT, 0, BYTES("\x48\x01\xd0\x48\x89\xd0\xff\xe0")},
	{"add; mov (%rdi),%rax; jmp *%rax", true, CODE_INDIRECT, 0, BYTES("\x48\x01\xd0\x48\x8b\x07\xff\xe0")},
	{"add; lea 8(%rdx),%rax; jmp *%rax", true, CODE_INDIRECT, 0, BYTES("\x48\x01\xd0\x48\x8d\x42\x08\xff\xe0")},
	/* Other registers, and memory, do not count; nor do other instructions with the same opcode. */
	{"indexed; add %rsi,%rdi; jmp *%rcx", true, CODE_INDEXED, 0, BYTES("\x48\x8b\x0c\xc2\x48\x01\xf7\xff\xe1")},
	{"indexed; add (%rdx,%rax,4),%rdi; jmp *%rcx", true, CODE_INDEXED, 0,
	 BYTES("\x48\x8b\x0c\xc2\x48\x03\x3c\x82\xff\xe1")},
	{"indexed; mov %rcx,%rdi; mov 8(%rsi),%rdi; lea 8(%rsi),%rdi; jmp *%rcx", true, CODE_INDEXED, 0,
	 BYTES("\x48\x8b\x0c\xc2\x48\x89\xcf\x48\x8b\x7e\x08\x48\x8d\x7e\x08\xff\xe1")},
	{"add %rdx,(%rax); jmp *%rax", true, CODE_INDIRECT, 0, BYTES("\x48\x01\x10\xff\xe0")},
	{"add %rdx,%r8; jmp *%r8", false, 0, 0, BYTES("\x49\x01\xd0\x41\xff\xe0")},
	{"add %rdx,%r8; jmp *%rax", true, CODE_INDIRECT, 0, BYTES("\x49\x01\xd0\xff\xe0")},
	{"movslq (%rdx,%rax,4),%r9; jmp *%r9", false, 0, 0, BYTES("\x4c\x63\x0c\x82\x41\xff\xe1")},
	{"movslq (%rdx,%rax,4),%r9; jmp *%rcx", true, CODE_INDIRECT, 0, BYTES("\x4c\x63\x0c\x82\xff\xe1")},
	{"packsswb %mm2,%mm0; jmp *%rax", true, CODE_INDIRECT, 0, BYTES("\x0f\x63\xc2\xff\xe0")},
	{"add %rdx,%rax; jmp *(%rax)", true, CODE_INDIRECT, 0, BYTES("\x48\x01\xd0\xff\x20")},
	/* Eight instructions are looked back at. */
	{"add; seven nops; jmp *%rax", false, 0, 0, BYTES("\x48\x01\xd0\x90\x90\x90\x90\x90\x90\x90\xff\xe0")},
	{"add; eight nops; jmp *%rax", true, CODE_INDIRECT, 0,
	 BYTES("\x48\x01\xd0\x90\x90\x90\x90\x90\x90\x90\x90\xff\xe0")},
	{"nine nops; add; jmp *%rax", false, 0, 0, BYTES("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x48\x01\xd0\xff\xe0")},
	/* Where the jump itself reads its target. */
	{"jmp *(%rdx,%rax,8)", true, CODE_INDEXED, 0, BYTES("\xff\x24\xc2")},
	{"jmp *8(%rbp,%rax,8)", true, CODE_INDEXED, 0, BYTES("\xff\x64\xc5\x08")},
	{"jmp *0x402000(,%rax,4)", true, CODE_INDIRECT, 0, BYTES("\xff\x24\x85\x00\x20\x40\x00")},
	{"jmp *0x402000(,%r12,8)", true, CODE_INDEXED, 0x402000, BYTES("\x42\xff\x24\xe5\x00\x20\x40\x00")},
	{"jmp *0x402000", true, CODE_INDIRECT, 0, BYTES("\xff\x24\x25\x00\x20\x40\x00")},
	{"jmp *0x402000, scaled nothing", true, CODE_INDIRECT, 0, BYTES("\xff\x24\xe5\x00\x20\x40\x00")},
};
/* clang-format on */

TEST_OF(indirect_jumps_are_told_apart, NR_ELEMENTS(indirect_cases))
{
	const char *name = indirect_cases[_i].name;
	cleared_by(code_exits_clear) struct code_exits exits = {0};

	code_find_exits(indirect_cases[_i].bytes, indirect_cases[_i].nr_bytes, BASE, &exits);
	ck_assert_msg(exits.nr_exits == indirect_cases[_i].is_exit, "%s: %zu exits", name, exits.nr_exits);
	if (exits.nr_exits)
		ck_assert_msg(exits.exits[0].kind == indirect_cases[_i].kind &&
				      exits.exits[0].table == indirect_cases[_i].table,
			      "%s: kind %d, table %#llx", name, exits.exits[0].kind,
			      (unsigned long long)exits.exits[0].table);
}

/* All are found, in their order. */
TEST(many_exits_are_found)
{
	enum { NR_RETURNS = 1000 };
	uint8_t returns[NR_RETURNS];
	struct code_exits exits;

	memset(returns, 0xc3, sizeof(returns));
	code_find_exits(returns, sizeof(returns), BASE, &exits);
	ck_assert_uint_eq(exits.nr_exits, NR_RETURNS);
	for (size_t i = 0; i < NR_RETURNS; i++)
		ck_assert_uint_eq(exits.exits[i].address, BASE + i);
	code_exits_clear(&exits);
	ck_assert_uint_eq(exits.nr_exits, 0);
}

TEST_OF(exits_are_found, NR_ELEMENTS(exit_cases))
{
	const struct exit_case *tested = &exit_cases[_i];
	struct code_exits exits;

	code_find_exits(tested->bytes, tested->nr_bytes, BASE, &exits);
	ck_assert_msg(exits.nr_exits == (size_t)tested->nr_exits, "%s: %zu exits", tested->name, exits.nr_exits);
	for (int i = 0; i < tested->nr_exits; i++) {
		const struct code_exit *got = &exits.exits[i], *wanted = &tested->exits[i];

		ck_assert_msg(got->kind == wanted->kind && got->address == wanted->address &&
				      got->target == wanted->target && got->table == wanted->table &&
				      got->condition == wanted->condition,
			      "%s: exit %d is of kind %d at %#llx to %#llx by %#llx, condition %d", tested->name, i,
			      got->kind, (unsigned long long)got->address, (unsigned long long)got->target,
			      (unsigned long long)got->table, got->condition);
	}
	code_exits_clear(&exits);
	ck_assert_ptr_null(exits.exits);
}

/* nop; 1: dec %ecx; jnz 1b; jmp to the call; call to the ret; ret */
static const uint8_t loop[] = {0x90, 0xff, 0xc9, 0x75, 0xfc, 0xeb, 0x00, 0xe8, 0, 0, 0, 0, 0xc3};

TEST(jumps_within_are_found)
{
	static const uint64_t targets[] = {1, 7};

	for (uint64_t i = 0; i < sizeof(loop); i++)
		ck_assert_msg(code_jumps_to(loop, sizeof(loop), BASE, BASE + i) == (i == targets[0] || i == targets[1]),
			      "%d", (int)i);
	ck_assert(!code_jumps_to(loop, 4, BASE, BASE + 1)); /* the jump is cut off */
}

TEST(instructions_are_found)
{
	static const uint64_t begins[] = {0, 1, 1, 3, 3, 5, 5, 7, 7, 7, 7, 7, 12};
	static const uint8_t data_between[] = {0x06, 0x07, 0xff, 0xc9};

	for (uint64_t i = 0; i < sizeof(loop); i++)
		ck_assert_uint_eq(code_instruction_at(loop, sizeof(loop), BASE, BASE + i), BASE + begins[i]);
	ck_assert_uint_eq(code_instruction_at(loop, sizeof(loop), BASE, BASE - 1), BASE - 1);
	ck_assert_uint_eq(code_instruction_at(loop, sizeof(loop), BASE, BASE + 20), BASE + 20);
	ck_assert_uint_eq(code_instruction_at(data_between, sizeof(data_between), BASE, BASE + 1), BASE + 1);
	ck_assert_uint_eq(code_instruction_at(data_between, sizeof(data_between), BASE, BASE + 3), BASE + 2);
}

static const struct {
	const char *name;
	uint8_t bytes[6];
	bool runs_on;
} last_instructions[] = {
	{"nop", {0x90, 0x90, 0x90, 0x90, 0x90, 0x90}, true},
	{"jne", {0x90, 0x90, 0x90, 0x90, 0x75, 0x02}, true},
	{"ret", {0x90, 0x90, 0x90, 0x90, 0x90, 0xc3}, false},
	{"ret, and data behind it", {0x90, 0x90, 0x90, 0x90, 0xc3, 0x06}, false},
	{"call", {0x90, 0xe8, 0, 0, 0, 0}, false},
	{"jmp", {0x90, 0xe9, 0, 0, 0, 0}, false},
	{"jmp *%rax", {0x90, 0x90, 0x90, 0x90, 0xff, 0xe0}, false},
	{"call *%rax", {0x90, 0x90, 0x90, 0x90, 0xff, 0xd0}, false},
	{"iretq", {0x90, 0x90, 0x90, 0x90, 0x48, 0xcf}, false},
	{"int3", {0x90, 0x90, 0x90, 0x90, 0x90, 0xcc}, false},
	{"hlt", {0x90, 0x90, 0x90, 0x90, 0x90, 0xf4}, false},
	{"ud2", {0x90, 0x90, 0x90, 0x90, 0x0f, 0x0b}, false},
	/* Others with the same opcode. */
	{"bswap %esp", {0x90, 0x90, 0x90, 0x90, 0x0f, 0xcc}, true},
	{"pmuludq %mm0,%mm0", {0x90, 0x90, 0x90, 0x0f, 0xf4, 0xc0}, true},
	{"vpmuludq %xmm0,%xmm0,%xmm0", {0x90, 0x90, 0xc5, 0xf9, 0xf4, 0xc0}, true},
	{"or %eax,%eax", {0x90, 0x90, 0x90, 0x90, 0x0b, 0xc0}, true},
	{"nop behind int3", {0x90, 0x90, 0x90, 0x90, 0xcc, 0x90}, true},
};

TEST_OF(code_runs_on_or_not, NR_ELEMENTS(last_instructions))
{
	ck_assert_msg(code_runs_on(last_instructions[_i].bytes, 6) == last_instructions[_i].runs_on, "%s",
		      last_instructions[_i].name);
	ck_assert(!code_runs_on(last_instructions[_i].bytes, 0));
}

#define MAX_CONSTANTS 2

struct constants {
	size_t nr;
	uint64_t values[MAX_CONSTANTS];
};

static void
keep(void *context, uint64_t constant)
{
	struct constants *constants = context;

	ck_assert_uint_lt(constants->nr, MAX_CONSTANTS);
	constants->values[constants->nr++] = constant;
}

static const struct {
	const char *name;
	uint8_t nr_bytes;
	uint8_t bytes[20];
	struct constants constants;
} constant_cases[] = {
	{"nop; lea 0x10(%rip),%rax", 8, {0x90, 0x48, 0x8d, 0x05, 0x10, 0, 0, 0}, {1, {BASE + 8 + 0x10}}},
	{"lea -7(%rip),%rax", 7, {0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff}, {1, {BASE}}},
	{"mov $0x400000,%eax; mov $0x400001,%edi",
	 10,
	 {0xb8, 0, 0, 0x40, 0, 0xbf, 1, 0, 0x40, 0},
	 {2, {0x400000, 0x400001}}},
	{"mov $1,%rcx, sign-extended", 7, {0x48, 0xc7, 0xc1, 1, 0, 0, 0}, {1, {1}}},
	{"movabs $0x123456789a,%rax",
	 10,
	 {0x48, 0xb8, 0x9a, 0x78, 0x56, 0x34, 0x12, 0, 0, 0},
	 {1, {UINT64_C(0x123456789a)}}},
	{"lea 8(%rax),%rbx", 4, {0x48, 0x8d, 0x58, 8}, {0, {0}}},
	{"mov 0x10(%rip),%rax", 7, {0x48, 0x8b, 0x05, 0x10, 0, 0, 0}, {0, {0}}},
	{"mov $5,%al", 2, {0xb0, 5}, {0, {0}}},
	/* Others with the same opcode. */
	{"bt $5,%eax", 4, {0x0f, 0xba, 0xe0, 5}, {0, {0}}},
	{"cmpxchg8b (%rdi)", 3, {0x0f, 0xc7, 0x0f}, {0, {0}}},
	{"vpermb 0x10(%rip),%zmm1,%zmm0", 10, {0x62, 0xf2, 0x75, 0x48, 0x8d, 0x05, 0x10, 0, 0, 0}, {0, {0}}},
	{"nothing", 0, {0}, {0, {0}}},
};

TEST_OF(constants_are_found, NR_ELEMENTS(constant_cases))
{
	const struct constants *wanted = &constant_cases[_i].constants;
	struct constants found = {0};

	code_find_constants(constant_cases[_i].bytes, constant_cases[_i].nr_bytes, BASE, keep, &found);
	ck_assert_msg(found.nr == wanted->nr, "%s: %zu constants", constant_cases[_i].name, found.nr);
	for (size_t i = 0; i < wanted->nr; i++)
		ck_assert_msg(found.values[i] == wanted->values[i], "%s: %#llx", constant_cases[_i].name,
			      (unsigned long long)found.values[i]);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_pages, .tear_down = close_pages);
