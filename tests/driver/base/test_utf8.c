/* SPDX-License-Identifier: MIT */
/* Texts that may be no UTF-8. */
#include "base/json.h"
#include "base/utf8.h"
#include "testing.h"

#define NONE "\xef\xbf\xbd"

static const struct {
	const char *text, *clean;
} rows[] = {
	{"", ""},
	{"plain", "plain"},
	{"Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80", "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80"},
	{"caf\xe9 au lait", "caf" NONE " au lait"},              /* Latin-1 */
	{"cut \xe2\x82", "cut " NONE NONE},                      /* in the middle of a character */
	{"\x80\xbf", NONE NONE},                                 /* no first byte */
	{"\xc0\xaf \xe0\x80\xaf", NONE NONE " " NONE NONE NONE}, /* longer than need be */
	{"\xed\xa0\x80", NONE NONE NONE},                        /* half of a pair of UTF-16 */
	{"\xf4\x90\x80\x80 \xf5", NONE NONE NONE NONE " " NONE}, /* beyond Unicode */
	{"\xf4\x8f\xbf\xbf\xee\x80\x80", "\xf4\x8f\xbf\xbf\xee\x80\x80"},
};

TEST_OF(what_is_no_utf8_is_replaced, NR_ELEMENTS(rows))
{
	autofree char *clean = utf8_text(rows[_i].text), *xml = xml_text(rows[_i].text);
	json_auto_t *json = json_text(rows[_i].text);

	ck_assert_str_eq(clean, rows[_i].clean);
	ck_assert_str_eq(xml, rows[_i].clean);
	ck_assert_pstr_eq(json_string_value(json), rows[_i].clean);
}

TEST(control_characters_are_written_out)
{
	autofree char *printable = utf8_printable("\033[31mr\xc3\xbc\xc2\x9bJ\t\x7f\xff");

	ck_assert_str_eq(printable, "\\x1b[31mr\xc3\xbc\\x9bJ\\x09\\x7f" NONE);
}

TEST(texts_end_between_characters)
{
	const char *text = "a\xe2\x82\xac\xc3\xbc";
	static const size_t fitting[] = {0, 1, 1, 1, 4, 4, 6, 6};

	for (size_t most = 0; most < NR_ELEMENTS(fitting); most++)
		ck_assert_uint_eq(utf8_fitting(text, most), fitting[most]);
}
