/* SPDX-License-Identifier: MIT */
/* From a function to its callers: in this program, and on stacks that are made. */
#include <link.h>
#include <ucontext.h>

#include "parent/symbols/unwind.h"
#include "testing.h"

static struct symbol_files *files;
static struct symbol_file *file;
static uint64_t bias;

static int
take_bias(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	bias = info->dlpi_addr;
	return 1; /* the program is the first one */
}

static void
set_up(void)
{
	files = symbol_files_new();
	file = symbol_file_open(files, "/proc/self/exe", &why);
	ck_assert_msg(file, "%s", why.text);
	dl_iterate_phdr(take_bias, NULL);
}

static void
tear_down(void)
{
	symbol_files_delete(files);
}

/* ---- this program ---- */

static uint8_t copy[8192];
static struct unwind_state state;

/* Reads the whole stack. */
static __attribute__((noinline, no_sanitize("address"))) void
innermost(void)
{
	static const int of_unwind[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
					REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	ucontext_t context;

	getcontext(&context);
	state = (struct unwind_state){.stack = copy, .nr_bytes = sizeof(copy)};
	for (int i = 0; i < UNWIND_NR_REGISTERS; i++)
		state.registers[i] = (uint64_t)context.uc_mcontext.gregs[of_unwind[i]];
	state.stack_address = state.registers[UNWIND_RSP];
	for (size_t i = 0; i < sizeof(copy); i++)
		copy[i] = ((const volatile uint8_t *)state.stack_address)[i];
}

static __attribute__((noinline)) void
middle(void)
{
	innermost();
	__asm__ volatile("");
}

static __attribute__((noinline)) void
outermost(void)
{
	middle();
	__asm__ volatile("");
}

static enum unwind_result
step(void)
{
	return unwind(file, unwind_code_address(&state) - bias, &state);
}

TEST(callers_are_found)
{
	static const char *const names[] = {"innermost", "middle", "outermost", "callers_are_found_test"};
	volatile uint8_t room[sizeof(copy)] __attribute__((unused)); /* the stack goes on as far as the copy */
	struct symbol_range range;

	room[0] = 0;
	outermost();
	for (int i = 0; i < NR_ELEMENTS(names); i++) {
		ck_assert(i == 0 || step() == UNWIND_CALLER);
		ck_assert(symbols_function_at(file, unwind_code_address(&state) - bias, &range));
		ck_assert_str_eq(range.name, names[i]);
	}
}

TEST(a_stack_ends_where_its_copy_does)
{
	volatile uint8_t room[sizeof(copy)] __attribute__((unused));

	room[0] = 0;
	outermost();
	state.nr_bytes = 8;
	ck_assert_int_eq(step(), UNWIND_LOST);
}

/* ---- made stacks ---- */

void restoring(void);
extern const char restoring_returns[], restoring_goes_on[];

/* Compilers write a return in the middle of a function so. */
__asm__(".text\n	.type restoring, @function\nrestoring:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	nop\n"
	"	.cfi_remember_state\n"
	"	add $8, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"restoring_returns:\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"restoring_goes_on:\n"
	"	nop\n"
	"	jmp restoring\n"
	"	.cfi_endproc\n"
	"	.size restoring, .-restoring\n");

static const uint64_t words[] = {0x1111, 0x2222, 0, 0x3333};
#define STACK_ADDRESS UINT64_C(0x7000)

static void
stand_at(const char *code)
{
	state = (struct unwind_state){
		.stack_address = STACK_ADDRESS, .stack = (const uint8_t *)words, .nr_bytes = sizeof(words)};
	state.registers[UNWIND_RSP] = STACK_ADDRESS;
	state.registers[UNWIND_RIP] = (uint64_t)code;
}

/* Whatever was looked up before. */
TEST(each_instruction_has_its_own_frame)
{
	stand_at(restoring_goes_on);
	ck_assert_int_eq(step(), UNWIND_CALLER);
	ck_assert_uint_eq(state.registers[UNWIND_RIP], words[1]);
	ck_assert_uint_eq(state.registers[UNWIND_RSP], STACK_ADDRESS + 16);
	ck_assert(state.is_return);
	stand_at(restoring_returns);
	ck_assert_int_eq(step(), UNWIND_CALLER);
	ck_assert_uint_eq(state.registers[UNWIND_RIP], words[0]);
}

TEST(frame_pointers_are_followed)
{
	stand_at(NULL);
	state.registers[UNWIND_RBP] = STACK_ADDRESS + 16;
	ck_assert_int_eq(unwind_by_frame_pointer(&state), UNWIND_CALLER);
	ck_assert_uint_eq(state.registers[UNWIND_RIP], words[3]);
	ck_assert_uint_eq(state.registers[UNWIND_RSP], STACK_ADDRESS + 32);
	ck_assert_int_eq(unwind_by_frame_pointer(&state), UNWIND_OUTERMOST);
	stand_at(NULL);
	state.registers[UNWIND_RBP] = STACK_ADDRESS - 16;
	ck_assert_int_eq(unwind_by_frame_pointer(&state), UNWIND_LOST);
	state.registers[UNWIND_RBP] = STACK_ADDRESS + 24;
	ck_assert_int_eq(unwind_by_frame_pointer(&state), UNWIND_LOST);
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
