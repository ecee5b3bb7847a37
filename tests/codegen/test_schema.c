/* SPDX-License-Identifier: MIT */
/* Schemas: what is said of documents that are not valid, and of schemas that are none. */
#include <check.h>
#include <libxml/tree.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "schema.h"
#include "testing.h"
#include "xml_file.h"

static const char menu[] =
	"<grammar xmlns='http://relaxng.org/ns/structure/1.0' "
	"xmlns:a='http://relaxng.org/ns/compatibility/annotations/1.0'"
	" datatypeLibrary='http://www.w3.org/2001/XMLSchema-datatypes'>\n"
	"<start><element name='menu'>\n"
	"	<attribute name='day'><choice><value>monday</value><value>friday</value></choice></attribute>\n"
	"	<optional><attribute name='cook'><ref name='name'/></attribute></optional>\n"
	"	<optional><attribute name='guests'><data type='positiveInteger'/></attribute></optional>\n"
	"	<element name='soup'><empty/></element>\n"
	"	<zeroOrMore><element name='dish'>\n"
	"		<attribute name='of'><data type='string'><param name='minLength'>2</param></data></attribute>\n"
	"		<attribute name='note'/>\n"
	"		<text/>\n"
	"	</element></zeroOrMore>\n"
	"	<optional><element name='rest'>\n"
	"		<zeroOrMore><attribute><anyName/></attribute></zeroOrMore>\n"
	"	</element></optional>\n"
	"</element></start>\n"
	"<define name='name'><a:documentation>a name with a capital letter</a:documentation>\n"
	"	<data type='string'><param name='pattern'>[A-Z][a-z]*</param></data></define>\n"
	"</grammar>\n";

static const struct {
	int line;
	const char *document, *message, *hint; /* message: "...": libxml2's words follow */
} cases[] = {
	{__LINE__, "<menu day='friday' cook='Ada'><soup/><dish of='of' note=''>hot</dish><rest a='1' b='2'/></menu>",
	 "", ""},
	{__LINE__, "<manu/>", "m.xml:1: the root element is <manu>", "did you mean 'menu'? Expected: menu"},
	{__LINE__, "<menu><soup/></menu>", "m.xml:1: <menu> lacks the attribute 'day'", "expected: monday, friday"},
	{__LINE__, "<menu day='mondey'><soup/></menu>", "m.xml:1: <menu day=\"mondey\">: not a possible value",
	 "did you mean 'monday'? Expected: monday, friday"},
	{__LINE__, "<menu day='monday' cook='ada'><soup/></menu>", "m.xml:1: <menu cook=\"ada\">: not a possible value",
	 "expected: a name with a capital letter"},
	{__LINE__, "<menu day='monday' coock='Ada'><soup/></menu>", "m.xml:1: <menu> has no attribute 'coock'",
	 "did you mean 'cook'? Possible: day, cook, guests"},
	{__LINE__, "<menu day='monday'>\n</menu>", "m.xml:1: <menu> lacks a <soup>", ""},
	{__LINE__, "<menu day='monday'><soup/>\n<desert/></menu>", "m.xml:2: <desert> is not expected in <menu>",
	 "expected there: soup, dish, rest"},
	{__LINE__, "<menu day='monday'><soup>\n<dish/></soup></menu>", "m.xml:2: <dish> is not expected in <soup>",
	 "expected there: nothing"},
	{__LINE__, "<menu day='monday'><soup>hot</soup></menu>",
	 "m.xml:1: <soup> holds text, which means nothing there", ""},
	{__LINE__, "<menu day='monday'><soup/>\n<dish of='x' note=''/></menu>",
	 "m.xml:2: <dish of=\"x\">: not a possible value", ""},
	{__LINE__, "<menu day='monday'><soup/>\n<dish of='of'/></menu>", "m.xml:2: <dish> lacks the attribute 'note'",
	 ""},
	{__LINE__, "<menu day='monday' guests='0'><soup/></menu>", "m.xml:1: ...", ""},
	{__LINE__, "<menu day='monday'>\n<soup/><soup/></menu>", "m.xml:...", ""},
};

START_TEST(test_documents)
{
	char *folder = temporary_folder_new(), *path = folder_write(folder, "m.xml", cases[_i].document);
	struct rot_error err = {0};
	struct schema *schema = schema_from_text("menu", menu, &err);
	xmlDoc *document = xml_file_read(path, &err);
	const char *dots = strstr(cases[_i].message, "...");
	size_t len = dots ? (size_t)(dots - cases[_i].message) : sizeof(err.text);
	int rc;

	ck_assert_msg(schema && document, "%s", err.text);
	rc = schema_validate(schema, document, &err);
	ck_assert_int_eq(rc, cases[_i].message[0] ? -1 : 0);
	ck_assert_msg(strncmp(rc < 0 ? err.text + strlen(folder) + 1 : "", cases[_i].message, len) == 0, "line %d: %s",
		      cases[_i].line, err.text);
	ck_assert_msg(strcmp(err.hint, cases[_i].hint) == 0, "line %d: %s", cases[_i].line, err.hint);
	ck_assert(!dots || strlen(err.text) > strlen(folder) + 1 + len);
	xmlFreeDoc(document);
	schema_delete(schema);
	free(path);
	temporary_folder_delete(folder);
}
END_TEST

static const struct {
	const char *text, *message;
} no_schemas[] = {
	{"<grammar", "menu:1: "},
	{"<menu/>", "menu:"},
	{"<grammar xmlns='http://relaxng.org/ns/structure/1.0'>\n<start><ref name='x'/></start></grammar>", "menu:"},
};

START_TEST(test_no_schemas)
{
	struct rot_error err = {0};

	ck_assert_ptr_null(schema_from_text("menu", no_schemas[_i].text, &err));
	ck_assert_msg(strncmp(err.text, no_schemas[_i].message, strlen(no_schemas[_i].message)) == 0, "%s", err.text);
	ck_assert_ptr_nonnull(strstr(err.hint, "install rot again"));
}
END_TEST

START_TEST(test_files)
{
	char *folder = temporary_folder_new(), *schema = folder_write(folder, "menu.rng", menu);
	char *path = folder_write(folder, "m.xml", "<menu day='monday'><soup/></menu>");
	struct rot_error err = {0};
	xmlDoc *document = xml_file_read(path, &err);

	ck_assert_int_eq(schema_file_validate(schema, document, &err), 0);
	ck_assert_int_eq(schema_file_validate("/nowhere/menu.rng", document, &err), -1);
	ck_assert_str_eq(err.text, "cannot read '/nowhere/menu.rng': No such file or directory");
	xmlFreeDoc(document);
	schema_delete(NULL);
	free(schema);
	free(path);
	temporary_folder_delete(folder);
}
END_TEST

static const struct listed_test tests[] = {
	{&test_documents, NR_ELEMENTS(cases)},
	{&test_no_schemas, NR_ELEMENTS(no_schemas)},
	{&test_files, 1},
};

UNIT_TESTS("schema", tests);
