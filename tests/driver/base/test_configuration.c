/* SPDX-License-Identifier: MIT */
/* Settings: which source counts, what is refused and how, push and pop. */
#include "base/configuration.h"
#include "testing.h"

static struct configuration *configuration;
static char *folder, *path;

static void
set_up(void)
{
	folder = temporary_folder_new();
	path = folder_write(folder, "config", "");
	configuration = configuration_new();
	memset(&why, 0, sizeof(why));
}

static void
tear_down(void)
{
	configuration_delete(configuration);
}

static int
load(const char *content, size_t length, enum configuration_source source)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(content, 1, length, out), length);
	fclose(out);
	return configuration_load(configuration, source, path, true, &why);
}

static int
take(const char *word)
{
	return configuration_take_word(configuration, word, &why);
}

TEST_OF(every_key_is_sound, configuration_nr_keys)
{
	const struct configuration_key *key = &configuration_keys[_i];

	ck_assert(_i == 0 || strcmp(configuration_keys[_i - 1].name, key->name) < 0);
	ck_assert(*key->description);
	ck_assert_int_eq(key->type == CONFIGURATION_CHOICE || key->type == CONFIGURATION_SET, key->choices != NULL);
	/* Its default is a value it takes. */
	ck_assert_msg(configuration_set(configuration, CONFIGURATION_USER_FILE, key->name, key->default_text, &why) ==
			      0,
		      "%s", why.text);
	ck_assert_str_eq(configuration_text(configuration, key->name), key->default_text);
}

TEST(the_higher_source_counts)
{
	ck_assert_int_eq(configuration_count(configuration, "runs"), 0);
	ck_assert_int_eq(configuration_origin(configuration, "runs"), CONFIGURATION_DEFAULT);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "runs", "3", NULL);
	configuration_set(configuration, CONFIGURATION_DEFAULT_FILE, "runs", "1", NULL);
	configuration_set(configuration, CONFIGURATION_USER_FILE, "runs", "2", NULL);
	ck_assert_int_eq(configuration_count(configuration, "runs"), 3);
	ck_assert_int_eq(configuration_origin(configuration, "runs"), CONFIGURATION_COMMAND_LINE);
	configuration_set(configuration, CONFIGURATION_DEFAULT_FILE, "timeLimit", "1.5", NULL);
	ck_assert_double_eq(configuration_double(configuration, "timeLimit"), 1.5);
	configuration_set(configuration, CONFIGURATION_USER_FILE, "timeLimit", "2.5", NULL);
	ck_assert_double_eq(configuration_double(configuration, "timeLimit"), 2.5);
	ck_assert_int_eq(configuration_origin(configuration, "timeLimit"), CONFIGURATION_USER_FILE);
}

/* An empty text is a value, not "nothing said". */
TEST(a_higher_source_can_empty_a_text)
{
	configuration_set(configuration, CONFIGURATION_USER_FILE, "optimization", "-O2", NULL);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "optimization", "", NULL);
	ck_assert_str_eq(configuration_string(configuration, "optimization"), "");
}

TEST(pop_undoes_what_came_after_push)
{
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "runs", "3", NULL);
	configuration_push(configuration);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "runs", "4", NULL);
	configuration_push(configuration);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "quiet", "true", NULL);
	ck_assert_int_eq(configuration_count(configuration, "runs"), 4);
	configuration_pop(configuration);
	ck_assert(!configuration_bool(configuration, "quiet"));
	ck_assert_int_eq(configuration_count(configuration, "runs"), 4);
	configuration_pop(configuration);
	ck_assert_int_eq(configuration_count(configuration, "runs"), 3);
}

/* "-quick" and "-sizes=small" are one setting: the last one counts. */
TEST(short_words_stand_for_a_choice)
{
	ck_assert_str_eq(configuration_string(configuration, "sizes"), "all");
	ck_assert_int_eq(load("quick=true\n", 11, CONFIGURATION_USER_FILE), 0);
	ck_assert_str_eq(configuration_string(configuration, "sizes"), "small");
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "sizes", "all", NULL);
	ck_assert_str_eq(configuration_string(configuration, "sizes"), "all");
	ck_assert_int_eq(take("-quick"), 0);
	ck_assert_str_eq(configuration_string(configuration, "sizes"), "small");
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "quick", "false", NULL);
	ck_assert_str_eq(configuration_string(configuration, "sizes"), "all");
	ck_assert_str_eq(configuration_key_find("quick")->name, "sizes");
}

static const struct {
	const char *key, *text, *message, *hint;
} refused[] = {
	{"rnus", "1", "unknown configuration key 'rnus'", "did you mean 'runs'? All keys: rot list keys"},
	{"", "1", "unknown configuration key ''", "all keys: rot list keys"},
	{"runs", "", "'' is no value of runs", "runs takes a whole number from 0 to 1000000"},
	{"runs", "-1", "'-1' is no value of runs", "runs takes a whole number from 0 to 1000000"},
	{"runs", "1.5", "'1.5' is no value of runs", "runs takes a whole number from 0 to 1000000"},
	{"runs", " 1", "' 1' is no value of runs", "runs takes a whole number from 0 to 1000000"},
	{"runs", "99999999999999999999", "'99999999999999999999' is no value of runs",
	 "runs takes a whole number from 0 to 1000000"},
	{"runs", "1000001", "'1000001' is no value of runs", "runs takes a whole number from 0 to 1000000"},
	{"starts", "99999999999", "'99999999999' is no value of starts",
	 "starts takes a whole number from 0 to 1000000"},
	{"stepLimit", "1e9", "'1e9' is no value of stepLimit",
	 "stepLimit takes a whole number from 0 to 9223372036854775807"},
	{"timeLimit", "1e999", "'1e999' is no value of timeLimit", "timeLimit takes a number from 0 to 1e308"},
	{"timeLimit", "nan", "'nan' is no value of timeLimit", "timeLimit takes a number from 0 to 1e308"},
	{"timeLimit", "1s", "'1s' is no value of timeLimit", "timeLimit takes a number from 0 to 1e308"},
	{"quiet", "yes", "'yes' is no value of quiet", "quiet takes true or false"},
	{"quiet", "", "'' is no value of quiet", "quiet takes true or false"},
	{"estimator", "mean", "'mean' is no value of estimator", "estimator takes one of: median min"},
	{"estimator", "median min", "'median min' is no value of estimator", "estimator takes one of: median min"},
	{"estimator", "med", "'med' is no value of estimator", "estimator takes one of: median min"},
	{"plots", "html,,gnuplot", "'' is no value of plots",
	 "plots takes one or several, with commas between: gnuplot png terminal html files both (rot help plots)"},
	{"plots", "html,paper", "'paper' is no value of plots",
	 "plots takes one or several, with commas between: gnuplot png terminal html files both (rot help plots)"},
	{"quick", "small", "'small' is no value of quick", "quick is short for sizes=small, and takes true or false"},
};

TEST_OF(refuses_with_a_next_step, NR_ELEMENTS(refused))
{
	ck_assert_int_eq(
		configuration_set(configuration, CONFIGURATION_USER_FILE, refused[_i].key, refused[_i].text, &why), -1);
	ck_assert_str_eq(why.text, refused[_i].message);
	ck_assert_str_eq(why.hint, refused[_i].hint);
}

TEST(reads_a_file)
{
	static const char content[] =
		"# mine\n\n  runs = 7 \r\noptimization=-O2 -march=native\n\tquiet=true\n#x\ntimeLimit=2";

	ck_assert_ok(load(content, sizeof(content) - 1, CONFIGURATION_USER_FILE));
	ck_assert_int_eq(configuration_count(configuration, "runs"), 7);
	ck_assert_str_eq(configuration_string(configuration, "optimization"), "-O2 -march=native");
	ck_assert(configuration_bool(configuration, "quiet"));
	ck_assert_double_eq(configuration_double(configuration, "timeLimit"), 2);
}

#define CONTENT(text) text, sizeof(text) - 1
static const struct {
	const char *content;
	size_t length;
	int line;
	const char *message;
} bad_files[] = {
	{CONTENT("runs=1\n\nrnus=2\n"), 3, "unknown configuration key 'rnus'"},
	{CONTENT("runs\n"), 1, "'runs' is no setting"},
	{CONTENT("=1\n"), 1, "unknown configuration key ''"},
	{CONTENT("quiet=1"), 1, "'1' is no value of quiet"},
	{CONTENT("runs=1\nruns=\0002\n"), 2, "the line holds a zero byte"},
	{CONTENT("runs=many\nrnus=2\n"), 1, "'many' is no value of runs"},
};

TEST_OF(a_bad_file_is_an_error_with_its_line, NR_ELEMENTS(bad_files))
{
	char wanted[256];

	ck_assert_int_eq(load(bad_files[_i].content, bad_files[_i].length, CONFIGURATION_USER_FILE), -1);
	snprintf(wanted, sizeof(wanted), "%s:%d: %s", path, bad_files[_i].line, bad_files[_i].message);
	ck_assert_str_eq(why.text, wanted);
}

TEST(a_missing_file)
{
	ck_assert_int_eq(configuration_load(configuration, CONFIGURATION_USER_FILE, "/nowhere/config", false, &why), 0);
	ck_assert_int_eq(configuration_load(configuration, CONFIGURATION_USER_FILE, "/nowhere/config", true, &why), -1);
	ck_assert_str_eq(why.text, "cannot open the configuration file '/nowhere/config': No such file or directory");
	ck_assert_int_eq(configuration_load(configuration, CONFIGURATION_USER_FILE, "/", false, &why), -1);
}

TEST(takes_words_of_the_command_line)
{
	ck_assert_int_eq(take("-runs=5"), 0);
	ck_assert_int_eq(take("--clock=tsc"), 0);
	ck_assert_int_eq(take("-optimization=-O2 -march=native"), 0);
	ck_assert_int_eq(configuration_count(configuration, "runs"), 5);
	ck_assert_str_eq(configuration_string(configuration, "clock"), "tsc");
	ck_assert_str_eq(configuration_string(configuration, "optimization"), "-O2 -march=native");
}

TEST(a_bare_key_turns_over_what_it_was)
{
	configuration_set(configuration, CONFIGURATION_USER_FILE, "quiet", "true", NULL);
	ck_assert_int_eq(take("-quiet"), 0);
	ck_assert(!configuration_bool(configuration, "quiet"));
	ck_assert_int_eq(take("-quiet"), 0);
	ck_assert(configuration_bool(configuration, "quiet"));
	ck_assert_int_eq(take("--showMinMax"), 0);
	ck_assert(!configuration_bool(configuration, "showMinMax"));
}

static const struct {
	const char *argument;
	const char *message, *hint;
} bad_arguments[] = {
	{"-runs", "-runs has no value", "write -runs=VALUE; only true-or-false keys can stand alone"},
	{"-quite", "unknown configuration key 'quite'", "did you mean '-quiet'? All keys: rot list keys"},
	{"--=3", "unknown configuration key ''", "all keys: rot list keys"},
	{"---", "unknown configuration key '-'", "all keys: rot list keys"},
	{"-5", "unknown configuration key '5'", "all keys: rot list keys"},
};

TEST_OF(a_bad_argument_is_an_error, NR_ELEMENTS(bad_arguments))
{
	ck_assert_int_eq(take(bad_arguments[_i].argument), -1);
	ck_assert_str_eq(why.text, bad_arguments[_i].message);
	ck_assert_str_eq(why.hint, bad_arguments[_i].hint);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = set_up, .tear_down = tear_down);
