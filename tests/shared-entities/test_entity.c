/* SPDX-License-Identifier: MIT */
/* Single entities: defaults, setting and getting fields, numbers in text, lists, classes and registry. */
#include <locale.h>

#include "entities.h"
#include "testing.h"
#include "value.h"

/* A class with a field of each type, as the generated code would have it. */
struct sample {
	struct rot_entity entity;
	double a_double;
	int32_t an_int;
	int64_t a_long;
	uint64_t a_ulong;
	bool a_bool;
	char *a_string;
	char *a_choice;
	struct sample *a_reference;
	struct rot_list a_list;
};

static const struct rot_class sample_class;

#define FIELD(xml, t, member)                                                                                          \
	.name = xml, .type = t, .offset = offsetof(struct sample, member), .unit = "", .comment = ""

static const struct rot_field sample_fields[] = {
	{FIELD("aDouble", ROT_DOUBLE, a_double), .default_text = "0.5"},
	{FIELD("anInt", ROT_INT, an_int), .default_text = "-7"},
	{FIELD("aLong", ROT_LONG, a_long)},
	{FIELD("aUlong", ROT_ULONG, a_ulong), .default_text = "18446744073709551615"},
	{FIELD("aBool", ROT_BOOL, a_bool), .default_text = "true"},
	{FIELD("aString", ROT_STRING, a_string), .default_text = "a b"},
	{FIELD("aChoice", ROT_STRING, a_choice), .default_text = "READ", .values = "READ WRITE"},
	{FIELD("aReference", ROT_REFERENCE, a_reference), .target = &sample_class},
	{FIELD("aList", ROT_STRING, a_list), .is_list = true},
};

static const struct rot_class sample_class = {
	.name = "Sample",
	.fields = sample_fields,
	.nr_fields = sizeof(sample_fields) / sizeof(sample_fields[0]),
	.size = sizeof(struct sample),
	.comment = "",
};

TEST(test_defaults)
{
	struct sample *sample = rot_entity_new(&sample_class);

	ck_assert(sample->a_double == 0.5);
	ck_assert_int_eq(sample->an_int, -7);
	ck_assert_int_eq(sample->a_long, 0);
	ck_assert(sample->a_ulong == UINT64_MAX);
	ck_assert(sample->a_bool);
	ck_assert_str_eq(sample->a_string, "a b");
	ck_assert_str_eq(sample->a_choice, "READ");
	ck_assert_ptr_null(sample->a_reference);
	ck_assert_uint_eq(sample->a_list.nr, 0);
	rot_entity_delete(sample);
	rot_entity_delete(NULL);
}

TEST(test_hand_written_part_is_zeroed)
{
	static const size_t instance_size = sizeof(struct sample) + 64;
	struct rot_class class = sample_class;
	char *bytes;

	class.instance_size = &instance_size;
	bytes = rot_entity_new(&class);
	for (size_t i = sizeof(struct sample); i < instance_size; i++)
		ck_assert_int_eq(bytes[i], 0);
	rot_entity_delete(bytes);
}

static const struct {
	int line;
	const char *field, *text, *expected; /* what get gives; NULL: the same text */
} good_values[] = {
	{__LINE__, "aDouble", "0.1", NULL},
	{__LINE__, "aDouble", "-0", NULL},
	{__LINE__, "aDouble", "1e3", "1e+03"},
	{__LINE__, "aDouble", "0x1p-1074", "5e-324"},
	{__LINE__, "aDouble", "+.5", "0.5"},
	{__LINE__, "aDouble", "0.30000000000000004", NULL},
	{__LINE__, "aDouble", "1.7976931348623157e+308", NULL},
	{__LINE__, "aDouble", "2.2250738585072011e-308", "2.225073858507201e-308"},
	{__LINE__, "aDouble", "inf", NULL},
	{__LINE__, "aDouble", "+inf", "inf"},
	{__LINE__, "aDouble", "-inf", NULL},
	{__LINE__, "aDouble", "nan", NULL},
	{__LINE__, "aDouble", "nan(0x7ff8000000000000)", "nan"},
	{__LINE__, "aDouble", "nan(0xfff4000000000001)", NULL},
	{__LINE__, "anInt", "-2147483648", NULL},
	{__LINE__, "anInt", "2147483647", NULL},
	{__LINE__, "anInt", "007", "7"},
	{__LINE__, "aLong", "-9223372036854775808", NULL},
	{__LINE__, "aLong", "9223372036854775807", NULL},
	{__LINE__, "aUlong", "18446744073709551615", NULL},
	{__LINE__, "aUlong", "0", NULL},
	{__LINE__, "aBool", "false", NULL},
	{__LINE__, "aString", "", NULL},
	{__LINE__, "aString", "\xff\n\x01 <", NULL},
	{__LINE__, "aChoice", "WRITE", NULL},
};

TEST_OF(test_set_and_get, NR_ELEMENTS(good_values))
{
	struct sample *sample = at_end(rot_entity_delete, rot_entity_new(&sample_class));
	const char *expected = good_values[_i].expected ? good_values[_i].expected : good_values[_i].text;
	autofree char *text = NULL;

	ck_assert_msg(rot_entity_set(sample, good_values[_i].field, good_values[_i].text, &why) == 0, "line %d: %s",
		      good_values[_i].line, why.text);
	text = rot_entity_get(sample, good_values[_i].field);
	ck_assert_msg(strcmp(text, expected) == 0, "line %d: got '%s'", good_values[_i].line, text);
}

static const struct {
	const char *field, *text, *message, *hint;
} bad_values[] = {
	{"aDouble", "", "class Sample, field aDouble: '' is not a number", ""},
	{"aDouble", " 1", "class Sample, field aDouble: ' 1' is not a number", ""},
	{"aDouble", "1 ", "class Sample, field aDouble: '1 ' is not a number", ""},
	{"aDouble", "1,5", "class Sample, field aDouble: '1,5' is not a number", ""},
	{"aDouble", "--1", "class Sample, field aDouble: '--1' is not a number", ""},
	{"aDouble", "infinity", "class Sample, field aDouble: 'infinity' is not a number", ""},
	{"aDouble", "nan(1)", "class Sample, field aDouble: 'nan(1)' is not a number", ""},
	{"aDouble", "nan(0x1)", "class Sample, field aDouble: 'nan(0x1)' is not a number", ""},
	{"aDouble", "1e999", "class Sample, field aDouble: '1e999' is out of range (about 1.8e308 at most)", ""},
	{"anInt", "2147483648", "class Sample, field anInt: '2147483648' is out of range (-2147483648 to 2147483647)",
	 ""},
	{"anInt", "-2147483649", "class Sample, field anInt: '-2147483649' is out of range (-2147483648 to 2147483647)",
	 ""},
	{"anInt", "1e+23", "class Sample, field anInt: '1e+23' is out of range (-2147483648 to 2147483647)", ""},
	{"aLong", "1.2e+18",
	 "class Sample, field aLong: '1.2e+18' is above 9007199254740992, beyond which calculated numbers are not "
	 "exact",
	 ""},
	{"anInt", "1.5", "class Sample, field anInt: '1.5' is not a whole number", ""},
	{"anInt", "+1", "class Sample, field anInt: '+1' is not a whole number", ""},
	{"anInt", "0x10", "class Sample, field anInt: '0x10' is not a whole number", ""},
	{"anInt", "", "class Sample, field anInt: '' is not a whole number", ""},
	{"anInt", "-", "class Sample, field anInt: '-' is not a whole number", ""},
	{"aLong", "9223372036854775808",
	 "class Sample, field aLong: '9223372036854775808' is out of range "
	 "(-9223372036854775808 to 9223372036854775807)",
	 ""},
	{"aUlong", "-1", "class Sample, field aUlong: '-1' is negative", ""},
	{"aUlong", "18446744073709551616",
	 "class Sample, field aUlong: '18446744073709551616' is out of range (0 to 18446744073709551615)", ""},
	{"aBool", "yes", "class Sample, field aBool: 'yes' is neither true nor false", ""},
	{"aChoice", "REA", "class Sample, field aChoice: 'REA' is not one of the allowed values",
	 "allowed: READ WRITE"},
	{"aChoice", "", "class Sample, field aChoice: '' is not one of the allowed values", "allowed: READ WRITE"},
	{"aChoice", "READ WRITE", "class Sample, field aChoice: 'READ WRITE' is not one of the allowed values",
	 "allowed: READ WRITE"},
	{"aReference", "x", "class Sample, field aReference: a reference cannot be set from text", ""},
	{"aList", "x", "class Sample, field aList: a list cannot be set from text", ""},
	{"aStrin", "x", "class Sample has no field 'aStrin'", "did you mean 'aString'?"},
	{"nothingLikeIt", "x", "class Sample has no field 'nothingLikeIt'", ""},
};

TEST_OF(test_set_refuses, NR_ELEMENTS(bad_values))
{
	struct sample *sample = at_end(rot_entity_delete, rot_entity_new(&sample_class));

	ck_assert_int_eq(rot_entity_set(sample, bad_values[_i].field, bad_values[_i].text, &why), -1);
	ck_assert_str_eq(why.text, bad_values[_i].message);
	ck_assert_str_eq(why.hint, bad_values[_i].hint);
}

TEST(test_a_refused_value_changes_nothing)
{
	struct sample *sample = at_end(rot_entity_delete, rot_entity_new(&sample_class));

	ck_assert_int_eq(rot_entity_set(sample, "anInt", "12x", NULL), -1);
	ck_assert_int_eq(rot_entity_set(sample, "aDouble", "1x", NULL), -1);
	ck_assert_int_eq(rot_entity_set(sample, "aLong", "9223372036854775808", NULL), -1);
	ck_assert_int_eq(sample->an_int, -7);
	ck_assert(sample->a_double == 0.5);
	ck_assert_int_eq(sample->a_long, 0);
}

TEST(test_numbers)
{
	struct sample *sample = at_end(rot_entity_delete, rot_entity_new(&sample_class));
	double value = 0;

	ck_assert(rot_entity_number(sample, "aDouble", &value) && value == 0.5);
	ck_assert(rot_entity_number(sample, "anInt", &value) && value == -7);
	ck_assert(rot_entity_number(sample, "aLong", &value) && value == 0);
	ck_assert(rot_entity_number(sample, "aUlong", &value) && value == 18446744073709551615.0);
	ck_assert(rot_entity_number(sample, "aBool", &value) && value == 1);
	ck_assert(!rot_entity_number(sample, "aString", &value));
	ck_assert(!rot_entity_number(sample, "aList", &value));
	ck_assert(!rot_entity_number(sample, "nothing", &value));
	ck_assert_ptr_null(rot_entity_get(sample, "aReference"));
	ck_assert_ptr_null(rot_entity_get(sample, "nothing"));
}

/* Any locale with a decimal comma will do; without one the test still checks the C locale. */
TEST(test_numbers_do_not_depend_on_the_locale)
{
	static const char *const locales[] = {"de_DE.UTF-8", "de_CH.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8",
					      "pt_BR.UTF-8"};
	struct sample *sample = at_end(rot_entity_delete, rot_entity_new(&sample_class));
	autofree char *text = NULL;

	for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++)
		if (setlocale(LC_ALL, locales[i]))
			break;
	ck_assert_int_eq(rot_entity_set(sample, "aDouble", "1234.5", NULL), 0);
	ck_assert(sample->a_double == 1234.5);
	text = rot_entity_get(sample, "aDouble");
	ck_assert_str_eq(text, "1234.5");
}

TEST(test_lists)
{
	struct run_command *command = at_end(run_command_delete, run_command_new());
	char buffer[] = "x0";

	for (int i = 0; i < 10; i++) {
		buffer[1] = (char)('0' + i);
		run_command_arguments_add(command, buffer);
	}
	/* An item of the list itself may be added: growing moves it. */
	for (int i = 0; i < 100; i++)
		run_command_arguments_add(command, run_command_arguments_at(command, 3));
	run_command_arguments_add(command, NULL);
	ck_assert_uint_eq(run_command_nr_arguments(command), 111);
	ck_assert_str_eq(run_command_arguments_at(command, 0), "x0");
	ck_assert_str_eq(run_command_arguments_at(command, 9), "x9");
	ck_assert_str_eq(run_command_arguments_at(command, 109), "x3");
	ck_assert_str_eq(run_command_arguments_at(command, 110), "");
}

TEST(test_classes)
{
	struct perf_event_measurer *measurer = perf_event_measurer_new();

	ck_assert(rot_class_is_a(&perf_event_measurer_class, &measurer_base_class));
	ck_assert(!rot_class_is_a(&measurer_base_class, &perf_event_measurer_class));
	ck_assert(!rot_class_is_a(NULL, &measurer_base_class));
	ck_assert_ptr_eq(rot_cast(measurer, &measurer_base_class), measurer);
	ck_assert_ptr_null(rot_cast(measurer, &tsc_measurer_class));
	ck_assert_ptr_null(rot_cast(NULL, &tsc_measurer_class));
	ck_assert_ptr_eq(rot_field_of(measurer, rot_class_field(&perf_event_measurer_class, "id")), &measurer->base.id);
	ck_assert_ptr_null(rot_class_field(&perf_event_measurer_class, "idd"));
	ck_assert_str_eq(rot_class_field_at(&perf_event_measurer_class, 0)->name, "id");
	ck_assert_str_eq(rot_class_field_at(&perf_event_measurer_class, 1)->name, "events");
	ck_assert_ptr_null(rot_class_field_at(NULL, 0));
	ck_assert_uint_eq(rot_class_nr_fields(&perf_event_measurer_class),
			  perf_event_measurer_class.nr_fields + measurer_base_class.nr_fields);
	perf_event_measurer_delete(measurer);
}

TEST(test_registry)
{
	struct rot_registry *registry = rot_registry_new();

	ck_assert_int_eq(rot_registry_add_all(registry, entities, &why), 0);
	ck_assert_ptr_eq(rot_registry_find(registry, "Rule"), &rule_class);
	ck_assert_ptr_null(rot_registry_find(registry, "rule"));
	ck_assert_ptr_eq(rot_registry_at(registry, 0), entities[0]);
	ck_assert_int_eq(rot_registry_add(registry, &rule_class, &why), -1);
	ck_assert_str_eq(why.text, "there are two classes 'Rule'");
	rot_registry_delete(registry);
	rot_registry_delete(NULL);
}

UNIT_TESTS(.is_in_one_process = true);
