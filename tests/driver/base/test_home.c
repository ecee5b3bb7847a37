/* SPDX-License-Identifier: MIT */
/* The home folder in texts for others. */
#include "base/paths.h"
#include "testing.h"

#define HOME "/home/me"

static const struct {
	const char *text, *hidden;
} rows[] = {
	{"", ""},
	{HOME, "~"},
	{HOME "/a.c", "~/a.c"},
	{"gcc -I" HOME "/x -ffile-prefix-map='" HOME "/y'=. -o " HOME "/z",
	 "gcc -I~/x -ffile-prefix-map='~/y'=. -o ~/z"},
	{"--file=" HOME " A=/usr:" HOME "/bin -Wl,-rpath," HOME "/lib", "--file=~ A=/usr:~/bin -Wl,-rpath,~/lib"},
	{"{\"" HOME "/a\": \"line\\n" HOME "/b\"}", "{\"~/a\": \"line\\n~/b\"}"},
	{"<td>" HOME "</td>", "<td>~</td>"},
	{HOME "adow " HOME "-2 " HOME ".old", HOME "adow " HOME "-2 " HOME ".old"},
	{"/mnt" HOME "/a backup" HOME " ." HOME, "/mnt" HOME "/a backup" HOME " ." HOME},
	{"-I.." HOME " http://host" HOME, "-I.." HOME " http://host" HOME},
	{"<" HOME ">", "<" HOME ">"},
};

TEST_OF(paths_below_it_begin_with_a_tilde, NR_ELEMENTS(rows))
{
	autofree char *hidden = home_hide(rows[_i].text, HOME), *same = home_hide(rows[_i].text, "");

	ck_assert_str_eq(hidden, rows[_i].hidden);
	ck_assert_str_eq(same, rows[_i].text);
}

TEST_OF(it_is_absolute_and_without_slash_at_the_end, 3)
{
	static const char *const homes[][2] = {{HOME, HOME}, {HOME "//", HOME}, {"/", ""}};
	autofree char *home = NULL;

	setenv("HOME", homes[_i][0], 1);
	home = home_folder();
	ck_assert_str_eq(home, homes[_i][1]);
}
