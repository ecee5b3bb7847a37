/* SPDX-License-Identifier: MIT */
/* Tables of options: what is read, what is left, and how options are shown. */
#include <stddef.h>

#include "base/options.h"
#include "testing.h"

#define MAX_WORDS 8

struct values {
	bool is_loud;
	int speed;
	const char *name, *shape;
	long number;
	double time_s;
	unsigned shapes;
};

static const char *const shapes[] = {"round", "flat", "square", NULL};

#define MEMBER(name) .offset = offsetof(struct values, name)

static const struct option_row rows[] = {
	{.letter = "l", .name = "loud", .about = "", MEMBER(is_loud)},
	{.name = "slow", .about = "", .type = OPTION_SETTING, .number = 1, MEMBER(speed)},
	{.name = "fast", .about = "", .type = OPTION_SETTING, .number = 2, MEMBER(speed)},
	{.letter = "n", .name = "name", .value = "TEXT", .about = "", .type = OPTION_TEXT, MEMBER(name)},
	{.name = "x", .value = "N", .about = "", .type = OPTION_COUNT, .number = 12, MEMBER(number)},
	{.name = "time", .value = "S", .about = "", .type = OPTION_SECONDS, MEMBER(time_s)},
	{.letter = "s", .name = "shape", .about = "", .type = OPTION_CHOICE, .choices = shapes, MEMBER(shape)},
	{.name = "of", .about = "", .type = OPTION_SET, .choices = shapes, MEMBER(shapes)},
};

static const struct option_table table = {OPTION_ROWS(rows, struct values),
					  .defaults = &(const struct values){.speed = 3}};

static const struct {
	const char *words[MAX_WORDS], *left[MAX_WORDS];
	struct values values;
	const char *strangers; /* each with a blank behind it */
} right[] = {
	{{"a", "b"}, {"a", "b"}, {.speed = 3}, ""},
	{{"a", "--loud", "b"}, {"a", "b"}, {.is_loud = true, .speed = 3}, ""},
	{{"-fast", "-l", "--slow"}, {NULL}, {.is_loud = true, .speed = 1}, ""},
	{{"a", "-n", "--loud", "b"}, {"a", "b"}, {.name = "--loud", .speed = 3}, ""},
	{{"--name=x y", "-", "-x=12"}, {"-"}, {.name = "x y", .number = 12, .speed = 3}, ""},
	{{"a", "--", "--loud", "b"}, {"a", "--loud", "b"}, {.speed = 3}, ""},
	{{"--", "--", "a"}, {"--", "a"}, {.speed = 3}, ""},
	{{"--time", ".5", "--shape=flat"}, {NULL}, {.time_s = 0.5, .shape = "flat", .speed = 3}, ""},
	{{"--of=square,round", "--of=flat"}, {NULL}, {.shapes = 7, .speed = 3}, ""},
	{{"--of", "square,round"}, {NULL}, {.shapes = 5, .speed = 3}, ""},
	{{"-quiet", "a", "--clock=tsc", "--", "-quiet"}, {"a", "-quiet"}, {.speed = 3}, "-quiet --clock=tsc "},
};

static int
count(const char *const *words)
{
	int nr = 0;

	while (words[nr])
		nr++;
	return nr;
}

static char strangers[64];

static void
take_stranger(void *context, char *word)
{
	strcat(strcat(context, word), " ");
}

TEST_OF(options_are_taken_out, NR_ELEMENTS(right))
{
	struct values *values = option_values_new(&table);
	int argc = count(right[_i].words);
	char *argv[MAX_WORDS];

	strangers[0] = '\0';

	memcpy(argv, right[_i].words, sizeof(argv));
	ck_assert_ok(options_take(&table, values, &argc, argv, take_stranger, strangers, &why));
	ck_assert_int_eq(argc, count(right[_i].left));
	for (int i = 0; i < argc; i++)
		ck_assert_str_eq(argv[i], right[_i].left[i]);
	ck_assert_int_eq(values->is_loud, right[_i].values.is_loud);
	ck_assert_int_eq(values->speed, right[_i].values.speed);
	ck_assert_pstr_eq(values->name, right[_i].values.name);
	ck_assert_pstr_eq(values->shape, right[_i].values.shape);
	ck_assert_int_eq(values->number, right[_i].values.number);
	ck_assert(values->time_s == right[_i].values.time_s);
	ck_assert_uint_eq(values->shapes, right[_i].values.shapes);
	ck_assert_str_eq(strangers, right[_i].strangers);
	option_values_delete(&table, values);
}

static const struct {
	const char *words[MAX_WORDS], *text;
	const char *strangers; /* which may ask for help */
} wrong[] = {
	{{"-x=0", "--loud=1", "--help", "--", "-h"}, "'0' is no whole number from 1 to 12, as 'x' needs it", "--help "},
	{{"a", "--loud=1"}, "'--loud=1': this option takes no value", ""},
	{{"a", "--name"}, "'--name' needs a value", ""},
	{{"-n="}, "'-n=' needs a value", ""},
	{{"-x=0"}, "'0' is no whole number from 1 to 12, as 'x' needs it", ""},
	{{"-x=13"}, "'13' is no whole number from 1 to 12, as 'x' needs it", ""},
	{{"-x", "1.5"}, "'1.5' is no whole number from 1 to 12, as 'x' needs it", ""},
	{{"--time", "-1"}, "'-1' is no number of seconds above 0, as 'time' needs it", ""},
	{{"--shape=fla"}, "'fla' is no value of 'shape', which takes round, flat or square", ""},
	{{"--of=flat,roun"}, "'roun' is no value of 'of', which takes round, flat or square", ""},
	{{"--of=flat,"}, "'' is no value of 'of', which takes round, flat or square", ""},
};

TEST_OF(wrong_options_are_told, NR_ELEMENTS(wrong))
{
	struct values values = {0};
	int argc = count(wrong[_i].words);
	char *argv[MAX_WORDS];

	strangers[0] = '\0';
	memcpy(argv, wrong[_i].words, sizeof(argv));
	ck_assert_int_eq(options_take(&table, &values, &argc, argv, take_stranger, strangers, &why), -1);
	ck_assert_str_eq(why.text, wrong[_i].text);
	ck_assert_str_eq(strangers, wrong[_i].strangers);
}

TEST(names_of_options)
{
	static const char *const names[] = {"-l, --loud",
					    "    --slow",
					    "    --fast",
					    "-n, --name TEXT",
					    "-x N",
					    "    --time S",
					    "-s, --shape round|flat|square",
					    "    --of round|flat|square"};

	for (int i = 0; i < NR_ELEMENTS(names); i++) {
		autofree char *text = option_names(&rows[i]);

		ck_assert_str_eq(text, names[i]);
	}
}

static void
add_word(const char *word, void *to)
{
	strcat(strcat(to, word), " ");
}

TEST(words_of_options)
{
	char text[256] = "";

	options_each_word(&table, add_word, text);
	ck_assert_str_eq(text, "--loud --slow --fast --name= -x= --time= --shape=round --shape=flat --shape=square "
			       "--of=round --of=flat --of=square ");
}
