/* SPDX-License-Identifier: MIT */
/* Regions as they are written on the command line. */
#include "programs/region_spec.h"
#include "testing.h"

static const struct {
	const char *text;
	const char *name, *begin, *end;
	long long first_hit, last_hit;
} right[] = {
	{"solve", "solve", "solve", "", 1, 0},
	{"step=solve", "step", "solve", "", 1, 0},
	{"step=a..b", "step", "a", "b", 1, 0},
	{"a..b", "a..b", "a", "b", 1, 0},
	{"solve#3", "solve", "solve", "", 3, 3},
	{"solve#3-", "solve", "solve", "", 3, 0},
	{"solve#3-10", "solve", "solve", "", 3, 10},
	{"x=a..b#2-2", "x", "a", "b", 2, 2},
	{"0x401130", "0x401130", "0x401130", "", 1, 0},
	{"liblzma.so.5:lzma_code", "liblzma.so.5:lzma_code", "liblzma.so.5:lzma_code", "", 1, 0},
	{"lib/x.so:0x10..lib/x.so:0x20", "lib/x.so:0x10..lib/x.so:0x20", "lib/x.so:0x10", "lib/x.so:0x20", 1, 0},
	{"loop=../src/x.c:40..../src/x.c:52", "loop", "../src/x.c:40", "../src/x.c:52", 1, 0},
	{"a/../x.c:40", "a/../x.c:40", "a/../x.c:40", "", 1, 0},
	{"ns::f(int, char)", "ns::f(int, char)", "ns::f(int, char)", "", 1, 0},
	{"ns::operator==", "ns::operator==", "ns::operator==", "", 1, 0},
	{"operator==", "operator==", "operator==", "", 1, 0},
	{"eq=operator==", "eq", "operator==", "", 1, 0},
	{"main::{lambda(int)#1}::operator()", "main::{lambda(int)#1}::operator()", "main::{lambda(int)#1}::operator()",
	 "", 1, 0},
	{"main::{lambda(int)#1}::operator()#7", "main::{lambda(int)#1}::operator()",
	 "main::{lambda(int)#1}::operator()", "", 7, 7},
};

static const struct {
	const char *text, *error;
} wrong[] = {
	{"", "region '': the place where it begins is missing"},
	{"x=", "region 'x=': the place where it begins is missing"},
	{"=solve", "the name before '=' is missing"},
	{"..b", "the place where it begins is missing"},
	{"a..", "the place where it ends is missing"},
	{"#3", "the place where it begins is missing"},
	{"solve#", "'#' is no range of hits"},
	{"solve#x", "'#x' is no range of hits"},
	{"solve#3-x", "'#3-x' is no range of hits"},
	{"solve#-3", "'#-3' is no range of hits"},
	{"solve#1-2-3", "'#1-2-3' is no range of hits"},
	{"solve#1234567890123456789", "is no range of hits"},
	{"solve#0", "'#0': hits count from 1"},
	{"solve#3-2", "'#3-2': hits count from 1, and the last is not before the first"},
	{"solve#3-0", "the last is not before the first"},
	{"libz.so:", "'libz.so:': something is missing beside the ':'"},
	{":deflate", "':deflate': something is missing beside the ':'"},
	{"a..:b", "':b': something is missing"},
};

TEST_OF(right_ones, NR_ELEMENTS(right))
{
	struct region *region = region_spec_parse(right[_i].text, &why);

	ck_assert_msg(region != NULL, "%s", why.text);
	ck_assert_str_eq(region->name, right[_i].name);
	ck_assert_str_eq(region->begin, right[_i].begin);
	ck_assert_str_eq(region->end, right[_i].end);
	ck_assert_int_eq(region->first_hit, right[_i].first_hit);
	ck_assert_int_eq(region->last_hit, right[_i].last_hit);
	region_delete(region);
}

TEST_OF(wrong_ones, NR_ELEMENTS(wrong))
{
	autofree char *quoted = rot_format("region '%s': ", wrong[_i].text);

	ck_assert_ptr_null(region_spec_parse(wrong[_i].text, &why));
	ck_assert_ok(strncmp(why.text, quoted, strlen(quoted)));
	ck_assert_has(why.text, wrong[_i].error);
	ck_assert_str_eq(why.hint, region_spec_usage);
}

UNIT_TESTS(.is_in_one_process = true);
