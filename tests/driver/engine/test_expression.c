/* SPDX-License-Identifier: MIT */
/* Expressions: values, functions, texts with braces, and what is said about wrong ones. */
#include "base/files.h"
#include "engine/expression.h"
#include "entity.h"
#include "memory.h"
#include "testing.h"

static struct expression_scope *system_scope, *scope;

static void
setup(void)
{
	system_scope = expression_scope_new(NULL);
	expression_scope_set_number(system_scope, "lineBytes", 64);
	expression_scope_set_number(system_scope, "size", -1);
	scope = expression_scope_new(system_scope);
	expression_scope_set_number(scope, "size", 10000);
	expression_scope_set_number(scope, "half", 0.5);
	expression_scope_set_string(scope, "operation", "read");
	expression_scope_set_string(scope, "nr", "12");
}

static void
teardown(void)
{
	expression_scope_delete(scope);
	expression_scope_delete(system_scope);
}

/* Each evaluation of what is compiled once has its own variables and errors. */
TEST(expression_is_evaluated_anew)
{
	double value = 0;

	for (int i = 0; i < 3; i++) {
		expression_scope_set_number(scope, "size", i);
		ck_assert_ok(expression_number(scope, "$size * $half", &value, &why));
		ck_assert_double_eq(value, i * 0.5);
		ck_assert_int_eq(expression_number(system_scope, "$size * $half", &value, &why), -1);
		ck_assert_has(why.text, "no variable '$half'");
		ck_assert_int_eq(expression_number(scope, "$size * ", &value, &why), -1);
		ck_assert_has(why.text, "at its end");
	}
}

static const struct {
	const char *expression;
	double value;
} numbers[] = {
	{"2 * $size", 20000},
	{"3 * 8 * $size div $lineBytes", 3750},
	{"$size mod 7", 4},
	{"-$half", -0.5},
	{"1e6", 1e6},
	{"min(3, $half, 7)", 0.5},
	{"max(3, $half, 7)", 7},
	{"max($size)", 10000},
	{"log2(1024)", 10},
	{"pow(2, 10)", 1024},
	{"sqrt(2) * sqrt(2)", 2.0000000000000004},
	{"floor(2.7) + ceiling(2.2) + round(2.5)", 8},
	{"$nr + 1", 13},
	{"string-length($operation)", 4},
	{"number($operation = 'read') * 5", 5},
	{"boolean(0) + 1", 1},
	{"if($size > 5, 2, 3)", 2},
	{"if($size, 2, 3) + if(0, 10, 20)", 22},
	{"if($operation = 'write', 2, if($half, 3, 4))", 3},
};

TEST_OF(number_has_its_value, NR_ELEMENTS(numbers))
{
	double value = 0;

	ck_assert_ok(expression_number(scope, numbers[_i].expression, &value, &why));
	ck_assert_double_eq(value, numbers[_i].value);
}

static const struct {
	const char *expression;
	bool value;
} conditions[] = {
	{"$size > 0", true},
	{"$size > 1e5", false},
	{"$operation = 'read' or $operation = 'write'", true},
	{"$operation != 'read'", false},
	{"not($half)", false},
	{"$size", true},
	{"0", false},
	{"1 div 0 > 5", true},
};

TEST_OF(condition_has_its_value, NR_ELEMENTS(conditions))
{
	bool value = !conditions[_i].value;

	ck_assert_ok(expression_bool(scope, conditions[_i].expression, &value, &why));
	ck_assert(value == conditions[_i].value);
}

static const struct {
	const char *expression, *text, *hint;
} wrong[] = {
	{"$szie * 2", "no variable '$szie'", "'$size'"},
	{"$zzzzzzzz", "no variable '$zzzzzzzz'", ""},
	{"log10(5)", "no function 'log10'", "log2"},
	{"2 *", "expression '2 *': not understood, at its end", ""},
	{"$size * ) 3", "expression '$size * ) 3': not understood, at ') 3'", ""},
	{"$size * 2 3", "expression '$size * 2 3': not understood, at '3'", ""},
	{"2 * $", "expression '2 * $': no name of a variable, at its end", ""},
	{"concat('a, 1)", "expression 'concat('a, 1)': a quote is not closed, at its end", ""},
	{"", "an expression is empty", ""},
	{"(1", "expression '(1': not understood, at its end", ""},
	{"1 div 0", "infinite", ""},
	{"-1 div 0", "infinite", ""},
	{"0 div 0", "not a number", ""},
	{"$operation * 2", "not a number", ""},
	{"min()", "expression 'min()': too many or too few arguments of 'min'", ""},
	{"1 + pow(2)", "expression '1 + pow(2)': too many or too few arguments of 'pow'", ""},
	{"if($size, 2)", "expression 'if($size, 2)': too many or too few arguments of 'if'", ""},
	{"round(1, 2)", "expression 'round(1, 2)': too many or too few arguments of 'round'", ""},
	{"sqrt(-1)", "not a number", ""},
	{"log2(0)", "infinite", ""},
	{"pow(10, 400)", "infinite", ""},
};

TEST_OF(wrong_expression_is_explained, NR_ELEMENTS(wrong))
{
	double value;

	ck_assert_int_eq(expression_number(scope, wrong[_i].expression, &value, &why), -1);
	ck_assert_has(why.text, wrong[_i].text);
	ck_assert_has(why.hint, wrong[_i].hint);
}

static const struct {
	const char *text, *result; /* result NULL: an error */
} texts[] = {
	{"plain", "plain"},
	{"", ""},
	{"{$size * 8}", "80000"},
	{"n={$size}, half={$half}", "n=10000, half=0.5"},
	{"{1 div 3}", "0.3333333333333333"},
	{"{0.1}{-0}", "0.10"},
	{"{pow(2, 53)} {pow(2, 40)}", "9007199254740992 1099511627776"},
	{"{1e300}", "1e+300"},
	{"{$operation}-{$size > 5}", "read-true"},
	{"{$operation}{if($size > 5, '-large', '')}", "read-large"},
	{"{$operation}{if($size < 5, '-small', '')}.", "read."},
	{"{{$size}}", "{$size}"},
	{"{concat('}', \"{\")}", "}{"},
	{"{$size", NULL},
	{"$size}", NULL},
	{"{$unknown}", NULL},
	{"{1 div 0}", NULL},
	{"{}", NULL},
};

TEST_OF(text_has_its_expressions_replaced, NR_ELEMENTS(texts))
{
	autofree char *result = expression_text(scope, texts[_i].text, &why);

	if (texts[_i].result) {
		ck_assert_msg(result != NULL, "%s", why.text);
		ck_assert_str_eq(result, texts[_i].result);
	} else {
		ck_assert_ptr_null(result);
		ck_assert_str_ne(why.text, "");
	}
}

/* The words of the controller intro: equal bytes are not "1 times as many". */
TEST_OF(equal_bytes_are_as_many, 2)
{
	static const char *const wanted[] = {"moves as many bytes from", "moves 2.5 times as many bytes from"};
	static const char before[] = "text=\"";
	autofree char *path = rot_format("%s/driver/controllers/intro.xml", getenv("top_srcdir"));
	autofree char *file = file_read(path, NULL, &why), *text = NULL;
	char *from = file ? strstr(strstr(file, "name=\"memory\""), before) : NULL;

	ck_assert_ptr_nonnull(from);
	from += strlen(before);
	*strchr(from, '"') = '\0';
	expression_scope_set_string(scope, "order", "column order");
	expression_scope_set_number(scope, "first.memoryBytes", 400);
	expression_scope_set_number(scope, "memoryBytes", _i ? 1010 : 404);
	text = expression_text(scope, from, &why);
	ck_assert_msg(text != NULL, "%s", why.text);
	ck_assert_has(text, wanted[_i]);
}

TEST(setting_again_replaces)
{
	double value;

	expression_scope_set_string(scope, "size", "7");
	ck_assert_int_eq(expression_number(scope, "$size", &value, &why), 0);
	ck_assert_double_eq(value, 7);
	expression_scope_set_number(scope, "size", 8);
	ck_assert_int_eq(expression_number(scope, "$size", &value, &why), 0);
	ck_assert_double_eq(value, 8);
}

/* libxml2 prints some of its complaints by itself: they must end in the error only. */
TEST(nothing_is_printed)
{
	FILE *capture = tmpfile(), *old = stderr;
	double value;

	stderr = capture;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		expression_number(scope, wrong[i].expression, &value, &why);
	stderr = old;
	ck_assert_int_eq(ftell(capture), 0);
	fclose(capture);
}

struct sample {
	struct rot_entity entity;
	int32_t nr_streams;
	bool warm;
	char *mode;
	struct rot_list sizes;
};

TEST(entity_gives_its_primitive_fields)
{
	static const struct rot_field fields[] = {
		{.name = "streams",
		 .type = ROT_INT,
		 .offset = offsetof(struct sample, nr_streams),
		 .default_text = "4"},
		{.name = "warm", .type = ROT_BOOL, .offset = offsetof(struct sample, warm), .default_text = "true"},
		{.name = "mode", .type = ROT_STRING, .offset = offsetof(struct sample, mode), .default_text = "write"},
		{.name = "sizes", .type = ROT_INT, .is_list = true, .offset = offsetof(struct sample, sizes)},
	};
	static const struct rot_class class = {
		.name = "Sample", .fields = fields, .nr_fields = 4, .size = sizeof(struct sample)};
	void *entity = at_end(rot_entity_delete, rot_entity_new(&class));
	bool value = false;
	double number;

	expression_scope_set_entity(scope, entity);
	ck_assert_int_eq(expression_bool(scope, "$streams * 2 = 8 and $warm = 1 and $mode = 'write'", &value, &why), 0);
	ck_assert(value);
	ck_assert_int_eq(expression_number(scope, "$sizes", &number, &why), -1);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = setup, .tear_down = teardown);
