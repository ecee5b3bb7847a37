/* SPDX-License-Identifier: MIT */
/* Texts that people write for a place, and what they are taken for. */
#include "parent/symbols/places.h"
#include "testing.h"

#define WORD (PLACE_FUNCTION | PLACE_MARKER)

static const struct {
	const char *text;
	unsigned kinds;
	const char *object, *name;
	int line;
	uint64_t address;
} places[] = {
	{"solve", WORD, NULL, "solve", 0, 0},
	{"libm:sin", WORD, "libm", "sin", 0, 0},
	{"a:b:c", WORD, "a", "b:c", 0, 0},
	/* Two colons and more belong to the name. */
	{"ns::solve", WORD, NULL, "ns::solve", 0, 0},
	{"::solve", WORD, NULL, "::solve", 0, 0},
	{"solve::", WORD, NULL, "solve::", 0, 0},
	{":::", WORD, NULL, ":::", 0, 0},
	{"libm:ns::solve", WORD, "libm", "ns::solve", 0, 0},
	{"ns::solve:x", WORD, "ns::solve", "x", 0, 0},
	{"ns::12", WORD, NULL, "ns::12", 0, 0},
	{"::12", WORD, NULL, "::12", 0, 0},
	{"libm:ns::12", WORD, "libm", "ns::12", 0, 0},
	/* Lines. */
	{"lines.c:12", PLACE_LINE, NULL, "lines.c", 12, 0},
	{"12:12", PLACE_LINE, NULL, "12", 12, 0},
	{"libm:lines.c:12", PLACE_LINE, "libm", "lines.c", 12, 0},
	{"a::b:12", PLACE_LINE, NULL, "a::b", 12, 0},
	{"lines.c:1", PLACE_LINE, NULL, "lines.c", 1, 0},
	{"lines.c:0123456789", PLACE_LINE, NULL, "lines.c", 123456789, 0},
	{"lines.c:2147483647", PLACE_LINE, NULL, "lines.c", INT32_MAX, 0},
	{"0x12:34", PLACE_LINE, NULL, "0x12", 34, 0},
	{"lines.c:12x", WORD, "lines.c", "12x", 0, 0},
	{"lines.c:-1", WORD, "lines.c", "-1", 0, 0},
	/* Addresses. */
	{"0x1f", PLACE_ADDRESS, NULL, NULL, 0, 0x1f},
	{"0X1F", PLACE_ADDRESS, NULL, NULL, 0, 0x1f},
	{"0x0", PLACE_ADDRESS, NULL, NULL, 0, 0},
	{"libm:0x1f", PLACE_ADDRESS, "libm", NULL, 0, 0x1f},
	{"0xffffffffffffffff", PLACE_ADDRESS, NULL, NULL, 0, UINT64_MAX},
	{"0", WORD, NULL, "0", 0, 0},
	{"0y1", WORD, NULL, "0y1", 0, 0},
	{"1x1", WORD, NULL, "1x1", 0, 0},
	{"libm:x1", WORD, "libm", "x1", 0, 0},
	/* Marks. */
	{"ssc", WORD | PLACE_SSC, NULL, "ssc", 0, 0},
	{"libm:ssc", WORD | PLACE_SSC, "libm", "ssc", 0, 0},
	{"ssc:0xFACE", PLACE_SSC, NULL, NULL, 0, 0xface},
	{"ssc:012", PLACE_SSC, NULL, NULL, 0, 12},
	{"libm:ssc:4294967295", PLACE_SSC, "libm", NULL, 0, UINT32_MAX},
	{"ssc:solve", WORD, "ssc", "solve", 0, 0},
	{"ssc.c:12", PLACE_LINE, NULL, "ssc.c", 12, 0},
	{"xssc:12", PLACE_LINE, NULL, "xssc", 12, 0},
	{"ssc::12", WORD, NULL, "ssc::12", 0, 0},
};

static void
check_text(const char *got, const char *wanted, const char *of)
{
	ck_assert_msg(!got == !wanted && (!got || strcmp(got, wanted) == 0), "'%s': %s", of, got ? got : "nothing");
}

TEST_OF(places_are_read, NR_ELEMENTS(places))
{
	const char *text = places[_i].text;
	struct place_name name;

	memset(&name, 0xff, sizeof(name));
	ck_assert_ok(place_name_read(text, &name, &why));
	ck_assert_msg(name.kinds == places[_i].kinds, "'%s': kinds %u", text, name.kinds);
	check_text(name.object, places[_i].object, text);
	check_text(name.name, places[_i].name, text);
	ck_assert_msg(name.line == places[_i].line, "'%s': line %d", text, name.line);
	ck_assert_msg(name.address == places[_i].address, "'%s': address %#llx", text,
		      (unsigned long long)name.address);
	place_name_clear(&name);
	ck_assert(name.kinds == 0 && !name.object && !name.name && name.line == 0 && name.address == 0);
}

static const struct {
	const char *text, *message, *hint;
} refusals[] = {
	{"", "'' names no place", "FUNCTION"},
	{":", "':' names no place", "FUNCTION"},
	{":solve", "':solve' names no place", "FUNCTION"},
	{"libm:", "'libm:' names no place", "FUNCTION"},
	{":12", "':12' names no place", "FUNCTION"},
	{":lines.c:12", "':lines.c:12' names no place", "FUNCTION"},
	{"lines.c:0", "'lines.c:0' names no line", ""},
	{"lines.c:2147483648", "'lines.c:2147483648' names no line", ""},
	{"lines.c:18446744073709551617", "'lines.c:18446744073709551617' names no line", ""},
	{"ssc:4294967296", "'ssc:4294967296' names no mark: they have numbers of 32 bits", ""},
	{"ssc:0xg", "'ssc:0xg' names no mark: they have numbers of 32 bits", ""},
	{"libm:ssc:1f", "'libm:ssc:1f' names no mark: they have numbers of 32 bits", ""},
	{"0x", "'0x' names no address", ""},
	{"0x1g", "'0x1g' names no address", ""},
	{"0x-1", "'0x-1' names no address", ""},
	{"libm:0x", "'libm:0x' names no address", ""},
	{"0x10000000000000000", "'0x10000000000000000' names no address", ""},
};

TEST_OF(other_texts_are_refused, NR_ELEMENTS(refusals))
{
	cleared_by(place_name_clear) struct place_name name = {0};

	memset(&name, 0xff, sizeof(name));
	ck_assert_int_eq(place_name_read(refusals[_i].text, &name, &why), -1);
	ck_assert_str_eq(why.text, refusals[_i].message);
	ck_assert_msg(refusals[_i].hint[0] ? strstr(why.hint, refusals[_i].hint) != NULL : why.hint[0] == '\0', "%s",
		      why.hint);
}

UNIT_TESTS(.is_in_one_process = true);
