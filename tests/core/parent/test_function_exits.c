/* SPDX-License-Identifier: MIT */
/* Where functions begin and where they are left: of functions of this program, which is linked to fixed addresses. */
#include "parent/symbols/function_exits.h"
#include "parent/symbols/symbol_file.h"
#include "testing.h"

#define MOST_PARTS 32
#define FUNCTION(name, code)                                                                                           \
	"	.globl " name "\n	.type " name ", @function\n" name ":\n" code "	.size " name ", . - " name "\n"
#define FRAMED(code)                                                                                                   \
	"	.cfi_startproc\n	push %rbx\n	.cfi_def_cfa_offset 16\n" code "	pop %rbx\n"                   \
	"	.cfi_def_cfa_offset 8\n	ret\n	.cfi_endproc\n"
#define NUMBERS                                                                                                        \
	"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,"  \
	"39"
#define TOO_LONG(name) "	.size " name ", 0x10000000\n"

/* clang-format off */
__asm__(".text\n"
	FUNCTION("returns", "	ret\n")
	FUNCTION("jumps_behind", "	nop\n	jmp behind\n")
	FUNCTION("behind", "	ret\n")
	FUNCTION("calls_tail_caller", "	jmp tail_caller\n")
	FUNCTION("tail_caller", "	nop\n	jmp returns\n")
	FUNCTION("even", "	dec %edi\n	js odd\n	ret\n")
	FUNCTION("odd", "	nop\n	jmp even\n")
	FUNCTION("indirect", "	nop\n	jmp *%rdi\n")
	FUNCTION("indirect_in_frame", FRAMED("	jmp *%rdi\n"))
	/* Parts. */
	FUNCTION("loops", "	test %edi, %edi\n	js back\n1:	nop\n	ret\n")
	FUNCTION("back", "	dec %edi\n	js returns\n	jne 1b\n	jmp returns\n")
	FUNCTION("colds", "	js colds.col\n	js cools.cold\n	js colds.cold.0\n	js colds.cold.0\n	ret\n")
	FUNCTION("colds.col", "	nop\n	ret\n")
	FUNCTION("cools.cold", "	nop\n	ret\n")
	FUNCTION("colds.cold.0", "	nop\n	ret\n")
	FUNCTION("jumps_in_frame", FRAMED("	js shared_tail\n"))
	FUNCTION("shared_tail", "	pop %rbx\n	ret\n")
	FUNCTION("jumps_into_gap", "	nop\n	jmp 1f\n")
	"1:	nop\n	ret\n"
	FUNCTION("jumps_into_gap_in_frame", FRAMED("	js 1b\n"))
	FUNCTION("jumps_to_nameless", "	nop\n	jmp 1f\n")
	"1:	.cfi_startproc\n	nop\n	jmp returns\n	.cfi_endproc\n"
	FUNCTION("behind_nameless", "	ret\n")
	/* Functions that are run on into. */
	FUNCTION("runs_on", "	nop\n")
	FUNCTION("ran_into", "	ret\n")
	FUNCTION("runs_on_into_part", "	js runs_on_into_part.cold\n	nop\n")
	FUNCTION("runs_on_into_part.cold", "	nop\n	ret\n")
	FUNCTION("runs_on_into_gap", "	nop\n")
	"	nop\n	ret\n"
	/* Begins. */
	FUNCTION("with_endbr", "	endbr64\n	nop\n	ret\n")
	FUNCTION("with_endbr_and_return", "	endbr64\n	ret\n")
	FUNCTION("with_endbr_alone", "	endbr64\n")
	FUNCTION("behind_endbr_alone", "	ret\n")
	FUNCTION("with_endbr32", "	endbr32\n	ret\n")
	FUNCTION("loops_behind_endbr", "	endbr64\n1:	dec %edi\n	jne 1b\n	ret\n")
	FUNCTION("loops_to_endbr", "	endbr64\n	dec %edi\n	jne loops_to_endbr\n	ret\n")
	FUNCTION("spins", "	dec %edi\n	jne spins\n	ret\n")
	FUNCTION("spins_through_part", "	dec %edi\n	jne spins_through_part.cold\n	ret\n")
	FUNCTION("spins_through_part.cold", "	jmp spins_through_part\n")
	/* Tables. */
	FUNCTION("own_table", "	jmp *1f(,%rdi,8)\n2:	nop\n	ret\n")
	FUNCTION("table_of_functions", "	jmp *3f(,%rdi,8)\n")
	FUNCTION("table_in_frame", FRAMED("	jmp *3f(,%rdi,8)\n"))
	FUNCTION("table_elsewhere", "	jmp *0x10(,%rdi,8)\n")
	"	.section .rodata\n	.balign 8\n1:	.quad 2b, 2b\n3:	.quad returns, returns\n	.text\n"
	/* Code that the file does not have. */
	FUNCTION("jumps_to_too_long", "	nop\n	jmp too_long\n")
	FUNCTION("too_long", "	endbr64\n	ret\n") TOO_LONG("too_long")
	FUNCTION("half_there", "	js half_there.cold\n	ret\n")
	FUNCTION("half_there.cold", "	ret\n") TOO_LONG("half_there.cold")
	FUNCTION("behind_half_there", "	ret\n")
	/* More parts than are looked at. */
	"	.type many_colds, @function\nmany_colds:\n	.irp i, " NUMBERS "\n	js many_colds.cold.\\i\n	.endr\n"
	"	ret\n	.size many_colds, . - many_colds\n"
	"	.irp i, " NUMBERS "\n	.type many_colds.cold.\\i, @function\nmany_colds.cold.\\i:	ret\n"
	"	.size many_colds.cold.\\i, 1\n	.endr\n"
	"	.irp i, " NUMBERS "\n	.type chain.\\i, @function\nchain.\\i:	js returns\n"
	"	.size chain.\\i, . - chain.\\i\n	.endr\n"
	/* Chosen from. */
	FUNCTION("chooses", "	lea chooses(%rip), %rax\n	lea 1 + odd(%rip), %rax\n	lea odd(%rip), %rax\n"
		"	mov $returns, %eax\n	mov $0x10, %eax\n	ret\n")
	FUNCTION("end_of_functions", "	ret\n")
);
/* clang-format on */

static struct symbol_files *files;
static struct symbol_file *file;

static void
open_file(void)
{
	files = symbol_files_new();
	file = symbol_file_open(files, "/proc/self/exe", &why);
	ck_assert_msg(file, "%s", why.text);
}

static void
close_file(void)
{
	symbol_files_delete(files);
}

static struct symbol_range
function(const char *name)
{
	struct symbol_ranges found = {0};
	struct symbol_range range;

	symbols_find_function(file, name, &found);
	ck_assert_msg(found.nr_ranges == 1, "%s: %zu found", name, found.nr_ranges);
	range = found.ranges[0];
	symbol_ranges_clear(&found);
	return range;
}

/* The opcode of the short form of a jump; that of its long form is the assembler's choice. */
static uint8_t
short_opcode(const uint8_t *bytes)
{
	if (bytes[0] == 0xe9)
		return 0xeb;
	return bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80 ? (uint8_t)(0x70 | (bytes[1] & 15)) : bytes[0];
}

#define JS 0x78
#define JMP 0xeb
#define JMP_INDIRECT 0xff
#define RET 0xc3

/* Exits: the functions that they lie in, and what instructions they are. */
static const struct shape_case {
	const char *name;
	uint64_t begin; /* from the address of the function on */
	bool is_reentered;
	struct {
		const char *in;
		uint8_t opcode;
	} exits[5];
} shapes[] = {
	{"returns", 0, false, {{"returns", RET}}},
	{"jumps_behind", 0, false, {{"jumps_behind", JMP}}},
	{"calls_tail_caller", 0, false, {{"calls_tail_caller", JMP}}},
	{"even", 0, false, {{"even", JS}, {"even", RET}}},
	{"odd", 0, false, {{"odd", JMP}}},
	{"indirect", 0, false, {{"indirect", JMP_INDIRECT}}},
	{"indirect_in_frame", 0, false, {{"indirect_in_frame", RET}}},
	{"loops", 0, false, {{"loops", RET}, {"back", JS}, {"back", JMP}}},
	{"colds", 0, false, {{"colds", JS}, {"colds", JS}, {"colds", RET}, {"colds.cold.0", RET}}},
	{"jumps_in_frame", 0, false, {{"jumps_in_frame", RET}, {"shared_tail", RET}}},
	{"jumps_into_gap", 0, false, {{"jumps_into_gap", JMP}}},
	{"jumps_into_gap_in_frame", 0, false, {{"jumps_into_gap_in_frame", RET}}},
	{"jumps_to_nameless", 0, false, {{"jumps_to_nameless", JMP}}},
	{"runs_on", 0, false, {{"ran_into", RET}}},
	{"runs_on_into_part", 0, false, {{"runs_on_into_part.cold", RET}}},
	{"runs_on_into_gap", 0, false, {{NULL, 0}}},
	{"with_endbr", 4, false, {{"with_endbr", RET}}},
	{"with_endbr_and_return", 4, false, {{"with_endbr_and_return", RET}}},
	{"with_endbr_alone", 0, false, {{"behind_endbr_alone", RET}}},
	{"with_endbr32", 0, false, {{"with_endbr32", RET}}},
	{"loops_behind_endbr", 0, false, {{"loops_behind_endbr", RET}}},
	{"loops_to_endbr", 4, true, {{"loops_to_endbr", RET}}},
	{"spins", 0, true, {{"spins", RET}}},
	{"spins_through_part", 0, true, {{"spins_through_part", RET}}},
	{"own_table", 0, false, {{"own_table", RET}}},
	{"table_of_functions", 0, false, {{"table_of_functions", JMP_INDIRECT}}},
	{"table_in_frame", 0, false, {{"table_in_frame", RET}}},
	{"table_elsewhere", 0, false, {{"table_elsewhere", JMP_INDIRECT}}},
	{"jumps_to_too_long", 0, false, {{"jumps_to_too_long", JMP}}},
};

static void
check_exits(const struct shape_case *tested, const struct function_shape *shape)
{
	for (size_t i = 0; i < shape->exits.nr_exits; i++) {
		const uint64_t address = shape->exits.exits[i].address;
		const uint8_t opcode = short_opcode(symbols_bytes(file, address, 2));
		struct symbol_range in;

		ck_assert(symbols_function_at(file, address, &in));
		ck_assert_msg(tested->exits[i].in && strcmp(in.name, tested->exits[i].in) == 0 &&
				      opcode == tested->exits[i].opcode,
			      "%s: exit %zu is %02x in %s", tested->name, i, opcode, in.name);
	}
	ck_assert_msg(!tested->exits[shape->exits.nr_exits].in, "%s: %zu exits", tested->name, shape->exits.nr_exits);
}

TEST_OF(functions_have_shapes, NR_ELEMENTS(shapes))
{
	const struct shape_case *tested = &shapes[_i];
	const struct symbol_range range = function(tested->name);
	struct function_shape shape;

	ck_assert_ok(function_look_at(file, &range, &shape, &why));
	ck_assert_msg(shape.begin == range.address + tested->begin, "%s: begins at %#llx", tested->name,
		      (unsigned long long)(shape.begin - range.address));
	ck_assert_msg(shape.is_reentered == tested->is_reentered, "%s: %d", tested->name, shape.is_reentered);
	check_exits(tested, &shape);
	function_shape_clear(&shape);
	ck_assert_ptr_null(shape.exits.exits);
}

/* Code that only a frame tells of, looked at without its name, and in a file without any. */
TEST_OF(nameless_functions_have_shapes, 2)
{
	const struct symbol_range before = function("jumps_to_nameless"), last = function("returns");
	struct symbol_file stripped;
	cleared_by(function_shape_clear) struct function_shape shape = {0};
	struct symbol_range range;

	symbol_file_frames(file);
	stripped = *file;
	if (_i == 1)
		stripped.functions = (struct symbol_ranges){0};
	ck_assert(symbols_function_at(&stripped, before.address + before.size, &range));
	ck_assert_ptr_null(range.name);
	ck_assert_ok(function_look_at(&stripped, &range, &shape, &why));
	ck_assert_uint_eq(shape.begin, range.address);
	ck_assert_uint_eq(shape.exits.nr_exits, 1);
	ck_assert_uint_eq(shape.exits.exits[0].target, last.address);
}

TEST_OF(parts_are_limited, 2)
{
	static const char *const names[] = {"many_colds", "chain.0"};
	const struct symbol_range range = function(names[_i]);
	cleared_by(function_shape_clear) struct function_shape shape = {0};

	ck_assert_ok(function_look_at(file, &range, &shape, &why));
	ck_assert_uint_eq(shape.exits.nr_exits, MOST_PARTS);
}

TEST_OF(code_that_is_not_there_is_an_error, 2)
{
	static const char *const names[] = {"too_long", "half_there"};
	const struct symbol_range range = function(names[_i]);
	struct symbol_ranges choices = {0};
	struct function_shape shape;

	ck_assert_int_eq(function_look_at(file, &range, &shape, &why), -1);
	ck_assert_msg(strstr(why.text, "the code at 0x") && strstr(why.text, "is not in the file"), "%s", why.text);
	ck_assert_ptr_null(shape.exits.exits);
	function_choices(file, &range, &choices);
	ck_assert_uint_eq(choices.nr_ranges, 0);
}

/* Not the resolver itself, nor what lies within a function, nor any other number. */
TEST(resolvers_choose)
{
	const struct symbol_range range = function("chooses");
	cleared_by(symbol_ranges_clear) struct symbol_ranges choices = {0};

	function_choices(file, &range, &choices);
	ck_assert_uint_eq(choices.nr_ranges, 2);
	ck_assert_str_eq(choices.ranges[0].name, "odd");
	ck_assert_str_eq(choices.ranges[1].name, "returns");
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_file, .tear_down = close_file);
