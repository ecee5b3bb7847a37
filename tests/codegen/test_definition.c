/* SPDX-License-Identifier: MIT */
/* Definitions: what is read from good ones, and what is said of bad ones. */
#include "definition.h"
#include "entities.h"
#include "testing.h"

static char *folder;
static struct definitions *definitions;
static struct rot_registry *known;

static void
open_all(void)
{
	folder = temporary_folder_new();
	definitions = definitions_new();
	known = rot_registry_new();
	ck_assert_int_eq(rot_registry_add_all(known, entities, NULL), 0);
}

static void
close_all(void)
{
	definitions_delete(definitions);
	rot_registry_delete(known);
}

static int
load(const char *name, const char *content, struct rot_error *err)
{
	autofree char *path = folder_write(folder, name, content);
	int rc = definitions_load_file(definitions, path, err);

	return rc;
}

static void
load_good(const char *name, const char *content)
{
	ck_assert_ok(load(name, content, &why));
}

/* The message without the folder's name, which differs each time. */
static const char *
without_folder(const struct rot_error *err)
{
	const char *found = strstr(err->text, folder);

	return found == err->text ? err->text + strlen(folder) + 1 : err->text;
}

static const struct {
	const char *content, *message, *hint;
} bad_files[] = {
	{"", "A.xml:1: Document is empty", ""},
	{"<class name=\"A\">", "A.xml:1: Premature end of data in tag class line 1", ""},
	{"<!DOCTYPE class [<!ENTITY a \"a\">]>\n<class name=\"A\"/>",
	 "A.xml:1: a document type declaration is not allowed", ""},
	{"<klass name=\"A\"/>", "A.xml:1: the root element is <klass>",
	 "did you mean 'class'? Expected: class, derivedClass"},
	{"<class/>", "A.xml:1: <class> lacks the attribute 'name'",
	 "expected: a capital letter, then letters and digits"},
	{"<derivedClass name=\"A\"/>", "A.xml:1: <derivedClass> lacks the attribute 'baseType'",
	 "expected: a capital letter, then letters and digits"},
	{"<class name=\"a\"/>", "A.xml:1: <class name=\"a\">: not a possible value",
	 "expected: a capital letter, then letters and digits"},
	{"<class name=\"A\" isAbstract=\"yes\"/>", "A.xml:1: <class isAbstract=\"yes\">: not a possible value",
	 "expected: true, false"},
	{"<class name=\"A\" isAbstrakt=\"true\"/>", "A.xml:1: <class> has no attribute 'isAbstrakt'",
	 "did you mean 'isAbstract'? Possible: name, isAbstract, cSuffix, comment"},
	{"<class name=\"A\">\n<field name=\"x\" type=\"float\"/>\n</class>",
	 "A.xml:2: <field type=\"float\">: not a possible value",
	 "expected: double, int, long, ulong, bool, string or the name of a class"},
	{"<class name=\"A\">\n<field name=\"x_y\" type=\"int\"/>\n</class>",
	 "A.xml:2: <field name=\"x_y\">: not a possible value", "expected: a small letter, then letters and digits"},
	{"<class name=\"A\">\n<field name=\"x\" type=\"int\" macro=\"m\"/>\n</class>",
	 "A.xml:2: <field macro=\"m\">: not a possible value", "expected: capital letters, digits and underscores"},
	{"<class name=\"A\">\n<field name=\"x\" type=\"string\" values=\" a\"/>\n</class>",
	 "A.xml:2: <field values=\" a\">: not a possible value", "expected: words with blanks between them"},
	{"<class name=\"A\">\n<feild name=\"x\" type=\"int\"/>\n</class>",
	 "A.xml:2: <feild> is not expected in <class>",
	 "did you mean 'field'? Expected there: field, list, operations, bytes, dataSize, requires, check, flags, "
	 "library, let, needs"},
	{"<class name=\"A\">\n<bytes border=\"b\" direction=\"up\" count=\"1\"/>\n</class>",
	 "A.xml:2: <bytes direction=\"up\">: not a possible value", "expected: read, write"},
	{"<class name=\"A\">\n<field name=\"x\" type=\"int\">5</field>\n</class>",
	 "A.xml:2: <field> holds text, which means nothing there", ""},
	{"<class name=\"A\">text</class>", "A.xml:1: <class> holds text, which means nothing there", ""},
	{"<class name=\"A\">\n<flags add=\"\"/>\n</class>", "A.xml:2: <flags add=\"\">: not a possible value",
	 "expected: some text"},
	{"<class name=\"A\">\n<field name=\"x\" type=\"int\" default=\"1.5\"/>\n</class>",
	 "A.xml:2: class A, field x: default '1.5': is not a whole number", ""},
	{"<class name=\"A\">\n<field name=\"x\" type=\"B\" default=\"1\"/>\n</class>",
	 "A.xml:2: class A, field x: default '1': a reference cannot have a 'default'", ""},
	{"<class name=\"A\">\n<field name=\"x\" type=\"int\" values=\"1 2\"/>\n</class>",
	 "A.xml:2: class A, field x: only a string can have 'values'", ""},
	{"<class name=\"A\">\n<field name=\"x\" type=\"string\" values=\"1 2\"/>\n</class>",
	 "A.xml:2: class A, field x: a field with 'values' needs a 'default' among them", ""},
	{"<class name=\"A\">\n<field name=\"x\" type=\"string\" values=\"1 2\" default=\"3\"/>\n</class>",
	 "A.xml:2: class A, field x: default '3': is not one of the allowed values", ""},
	{"<class name=\"A\">\n<field name=\"x\" type=\"B\" macro=\"M\"/>\n</class>",
	 "A.xml:2: class A, field x: a reference cannot be a macro", ""},
	{"<class name=\"A\">\n<field name=\"x\" type=\"int\"/>\n<list name=\"x\" type=\"int\"/>\n</class>",
	 "A.xml:3: class A has two fields 'x' (in C)", ""},
	{"<class name=\"A\">\n<field name=\"aBC\" type=\"int\"/>\n<field name=\"aBc\" type=\"int\"/>\n</class>",
	 "A.xml:3: class A has two fields 'a_bc' (in C)", ""},
	{"<class name=\"A\">\n<field name=\"register\" type=\"int\"/>\n</class>",
	 "A.xml:2: class A, field register: 'register' is a reserved word in C", ""},
};

TEST_OF(test_bad_files, NR_ELEMENTS(bad_files))
{
	ck_assert_int_eq(load("A.xml", bad_files[_i].content, &why), -1);
	ck_assert_str_eq(without_folder(&why), bad_files[_i].message);
	ck_assert_str_eq(why.hint, bad_files[_i].hint);
	ck_assert_uint_eq(definitions_size(definitions), 0);
}

TEST(test_missing_files)
{
	ck_assert_int_eq(definitions_load_file(definitions, "/nowhere/A.xml", &why), -1);
	ck_assert_str_eq(why.text, "cannot read '/nowhere/A.xml': No such file or directory");
	ck_assert_int_eq(definitions_load_folder(definitions, "/nowhere", &why), -1);
	ck_assert_str_eq(why.text, "cannot read folder '/nowhere': No such file or directory");
}

TEST(test_a_class_is_defined_once)
{
	autofree char *expected = rot_format("B.xml:1: class A is already defined in %s/A.xml:2", folder);

	load_good("A.xml", "\n<class name=\"A\"/>");
	ck_assert_int_eq(load("B.xml", "<class name=\"A\"/>", &why), -1);
	ck_assert_str_eq(without_folder(&why), expected);
}

/* Each is resolved together with a good class "Good". */
static const struct {
	const char *content, *message, *hint;
} unresolvable[] = {
	{"<derivedClass name=\"A\" baseType=\"KernalBase\"/>", "A.xml:1: class A: there is no class 'KernalBase'",
	 "did you mean 'KernelBase'?"},
	{"<class name=\"A\">\n<field name=\"x\" type=\"Goood\"/>\n</class>",
	 "A.xml:2: class A: there is no class 'Goood'", "did you mean 'Good'?"},
	{"<derivedClass name=\"A\" baseType=\"A\"/>", "A.xml:1: class A derives from itself", ""},
	{"<class name=\"Rule\"/>", "A.xml:1: class Rule exists already; choose another name", ""},
	{"<derivedClass name=\"A\" baseType=\"KernelBase\">\n<field name=\"id\" type=\"int\"/>\n</derivedClass>",
	 "A.xml:2: class A, field id: the base has a field id already", ""},
	{"<derivedClass name=\"A\" baseType=\"Good\">\n<field name=\"goodField\" type=\"int\"/>\n</derivedClass>",
	 "A.xml:2: class A, field goodField: the base has a field goodField already", ""},
	{"<derivedClass name=\"A\" baseType=\"Suffixed\"/>",
	 "A.xml:1: class A cannot derive from Suffixed, which has a cSuffix", ""},
};

TEST_OF(test_unresolvable, NR_ELEMENTS(unresolvable))
{
	load_good("Good.xml", "<class name=\"Good\"><field name=\"goodField\" type=\"int\"/></class>");
	load_good("Suffixed.xml", "<class name=\"Suffixed\" cSuffix=\"Data\"/>");
	load_good("A.xml", unresolvable[_i].content);
	ck_assert_int_eq(definitions_resolve(definitions, known, &why), -1);
	ck_assert_str_eq(without_folder(&why), unresolvable[_i].message);
	ck_assert_str_eq(why.hint, unresolvable[_i].hint);
	/* The others are not harmed. */
	ck_assert_int_eq(definitions_resolve(definitions, known, &why), 0);
	ck_assert_uint_eq(definitions_size(definitions), 2);
	ck_assert_ptr_nonnull(definitions_find(definitions, "Good")->class);
}

TEST(test_circular_bases)
{
	load_good("A.xml", "<derivedClass name=\"A\" baseType=\"B\"/>");
	load_good("B.xml", "<derivedClass name=\"B\" baseType=\"C\"/>");
	load_good("C.xml", "<derivedClass name=\"C\" baseType=\"A\"/>");
	ck_assert_int_eq(definitions_resolve(definitions, NULL, &why), -1);
	ck_assert_str_eq(without_folder(&why), "A.xml:1: class A derives from itself");
	ck_assert_int_eq(definitions_resolve(definitions, NULL, &why), -1);
	ck_assert_str_eq(without_folder(&why), "C.xml:1: class C: there is no class 'A'");
	ck_assert_int_eq(definitions_resolve(definitions, NULL, &why), -1);
	ck_assert_str_eq(without_folder(&why), "B.xml:1: class B: there is no class 'C'");
	ck_assert_int_eq(definitions_resolve(definitions, NULL, &why), 0);
	ck_assert_uint_eq(definitions_size(definitions), 0);
}

TEST(test_resolving_in_steps)
{
	const struct rot_class *first;

	load_good("A.xml", "<class name=\"A\"><field name=\"self\" type=\"A\"/></class>");
	ck_assert_ptr_null(definitions_find(definitions, "A")->class);
	ck_assert_int_eq(definitions_resolve(definitions, NULL, NULL), 0);
	first = definitions_find(definitions, "A")->class;
	load_good("B.xml", "<derivedClass name=\"B\" baseType=\"A\"><field name=\"a\" type=\"A\"/></derivedClass>");
	ck_assert_int_eq(definitions_resolve(definitions, NULL, NULL), 0);
	ck_assert_ptr_eq(definitions_find(definitions, "A")->class, first);
	ck_assert_ptr_eq(definitions_find(definitions, "B")->class->base, first);
	ck_assert_ptr_eq(definitions_find(definitions, "B")->class->fields[0].target, first);
	ck_assert_ptr_eq(first->fields[0].target, first);
	ck_assert_ptr_null(definitions_find(definitions, "C"));
}

static const struct definition_row expected_rows[] = {
	{DEFINITION_OPERATIONS, "doublePrecisionFlop", "", "2 * $n", "$n > 1", "", 2},
	{DEFINITION_BYTES, "llcRam", "read", "8 * $n", "", "", 3},
	{DEFINITION_DATA_SIZE, "", "", "16 * $n", "", "", 4},
	{DEFINITION_REQUIRES, "avx2", "", "", "true()", "", 5},
	{DEFINITION_CHECK, "", "", "$n > 0", "", "n must be at least 1", 6},
	{DEFINITION_FLAGS, "", "", "", "$n = 2", "-mavx2", 7},
	{DEFINITION_LIBRARY, "", "", "", "", "-lm", 8},
	{DEFINITION_LET, "twice", "", "2 * $n", "$n = 3", "", 9},
	{DEFINITION_NEEDS, "libx.so.1", "", "", "$n = 3", "libx1", 10},
};

TEST(test_rows)
{
	const struct definition *definition;

	load_good("A.xml", "<class name=\"A\" cSuffix=\"Data\"><field name=\"n\" type=\"long\"/>\n"
			   "<operations of=\"doublePrecisionFlop\" count=\"2 * $n\" if=\"$n &gt; 1\"/>\n"
			   "<bytes border=\"llcRam\" direction=\"read\" count=\"8 * $n\"/>\n"
			   "<dataSize bytes=\"16 * $n\"/>\n"
			   "<requires cpuFlag=\"avx2\" if=\"true()\"/>\n"
			   "<check that=\"$n &gt; 0\" message=\"n must be at least 1\"/>\n"
			   "<flags if=\"$n = 2\" add=\"-mavx2\"/>\n"
			   "<library add=\"-lm\"/>\n"
			   "<let name=\"twice\" is=\"2 * $n\" if=\"$n = 3\"/>\n"
			   "<needs library=\"libx.so.1\" package=\"libx1\" if=\"$n = 3\"/>\n"
			   "</class>\n");
	definition = definitions_at(definitions, 0);
	ck_assert_str_eq(definition->folder, folder);
	ck_assert_str_eq(definition->c_suffix, "Data");
	ck_assert_uint_eq(definition->nr_rows, 9);
	for (size_t i = 0; i < definition->nr_rows; i++) {
		const struct definition_row *row = &definition->rows[i], *expected = &expected_rows[i];

		ck_assert_int_eq(row->kind, expected->kind);
		ck_assert_str_eq(row->of, expected->of);
		ck_assert_str_eq(row->direction, expected->direction);
		ck_assert_str_eq(row->expression, expected->expression);
		ck_assert_str_eq(row->condition, expected->condition);
		ck_assert_str_eq(row->text, expected->text);
		ck_assert_int_eq(row->line, expected->line);
	}
}

TEST(test_folders_are_read_in_order)
{
	static const char *const names[] = {"b.xml", "a/z.xml", "c.txt", ".hidden.xml", "B.xml"};
	static const char *const contents[] = {"<class name=\"LowerB\"/>", "<class name=\"Z\"/>", "not XML", "nor this",
					       "<class name=\"UpperB\"/>"};
	autofree char *loop = rot_format("%s/loop", folder);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		folder_write(folder, names[i], contents[i]);
	ck_assert_int_eq(symlink(folder, loop), 0);
	ck_assert_ok(definitions_load_folder(definitions, folder, &why));
	ck_assert_int_eq(definitions_resolve(definitions, NULL, &why), 0);
	ck_assert_uint_eq(definitions_size(definitions), 3);
	ck_assert_str_eq(definitions_at(definitions, 0)->class->name, "UpperB");
	ck_assert_str_eq(definitions_at(definitions, 1)->class->name, "Z");
	ck_assert_str_eq(definitions_at(definitions, 2)->class->name, "LowerB");
}

static const char *const snakes[][2] = {
	{"PerfEventMeasurer", "perf_event_measurer"},
	{"bufferSize", "buffer_size"},
	{"L1L2", "l1_l2"},
	{"x", "x"},
	{"useTSC", "use_tsc"},
	{"TSCMeasurer", "tsc_measurer"},
	{"numX87Flops", "num_x87_flops"},
	{"", ""},
};

TEST_OF(test_snake_case, NR_ELEMENTS(snakes))
{
	autofree char *snake = codegen_snake_case(snakes[_i][0]);

	ck_assert_str_eq(snake, snakes[_i][1]);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_all, .tear_down = close_all);
