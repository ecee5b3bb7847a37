/* SPDX-License-Identifier: MIT */
/* Schemas: what is said of documents that are not valid, and of schemas that are none. */
#include <libxml/tree.h>

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

TEST_OF(test_documents, NR_ELEMENTS(cases))
{
	char *folder = temporary_folder_new(), *path = folder_write(folder, "m.xml", cases[_i].document);
	struct schema *schema = at_end(schema_delete, schema_from_text("menu", menu, &why));
	xmlDoc *document = xml_file_read(path, &why);
	const char *dots = strstr(cases[_i].message, "...");
	size_t len = dots ? (size_t)(dots - cases[_i].message) : sizeof(why.text);
	int rc;

	ck_assert_msg(schema && document, "%s", why.text);
	rc = schema_validate(schema, document, &why);
	ck_assert_int_eq(rc, cases[_i].message[0] ? -1 : 0);
	ck_assert_msg(strncmp(rc < 0 ? why.text + strlen(folder) + 1 : "", cases[_i].message, len) == 0, "line %d: %s",
		      cases[_i].line, why.text);
	ck_assert_msg(strcmp(why.hint, cases[_i].hint) == 0, "line %d: %s", cases[_i].line, why.hint);
	ck_assert(!dots || strlen(why.text) > strlen(folder) + 1 + len);
	xmlFreeDoc(document);
}

static const struct {
	const char *text, *message;
} no_schemas[] = {
	{"<grammar", "menu:1: "},
	{"<menu/>", "menu:"},
	{"<grammar xmlns='http://relaxng.org/ns/structure/1.0'>\n<start><ref name='x'/></start></grammar>", "menu:"},
};

TEST_OF(test_no_schemas, NR_ELEMENTS(no_schemas))
{
	ck_assert_ptr_null(schema_from_text("menu", no_schemas[_i].text, &why));
	ck_assert_ok(strncmp(why.text, no_schemas[_i].message, strlen(no_schemas[_i].message)));
	ck_assert_has(why.hint, "install rot again");
}

TEST(test_files)
{
	char *folder = temporary_folder_new(), *schema = folder_write(folder, "menu.rng", menu);
	char *path = folder_write(folder, "m.xml", "<menu day='monday'><soup/></menu>");
	xmlDoc *document = xml_file_read(path, &why);

	ck_assert_int_eq(schema_file_validate(schema, document, &why), 0);
	ck_assert_int_eq(schema_file_validate("/nowhere/menu.rng", document, &why), -1);
	ck_assert_str_eq(why.text, "cannot read '/nowhere/menu.rng': No such file or directory");
	xmlFreeDoc(document);
	schema_delete(NULL);
}
