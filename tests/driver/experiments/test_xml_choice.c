/* SPDX-License-Identifier: MIT */
/* Choices of XML controllers: what measures best, before the points are made. */
#include "base/files.h"
#include "experiment_fixture.h"
#include "json_schema.h"
#include "quantities/architecture.h"
#include "testing.h"

/* The candidate that measures best becomes a variable; where none was measured before, the first one is the guess. */
static const char choosing[] =
	"<controller name='choosing' comment='' runs='5'>\n"
	"<choice name='best' best='performance:doublePrecisionFlop' otherwise='none'><axis name='n'><list values='100 "
	"200 "
	"300'/></axis><workload><kernel type='Triad' bufferSize='{$n}'/></workload></choice>\n"
	"<choice name='other' best='performance:doublePrecisionFlop' otherwise='{$best}' if='$best = 0'><axis "
	"name='n'><list values='1'/></axis><workload><kernel type='Triad'/></workload></choice>\n"
	"<axis name='size'><value is='{$best}'/></axis>\n"
	"<point series='{$other}' label='{$size}'><workload><kernel type='Triad' "
	"bufferSize='{$size}'/></workload></point>\n"
	"<quantity is='performance:doublePrecisionFlop'/>\n"
	"<each><axis name='i'><list values='1 2'/></axis><derived name='d{$i}' is='{$i}'/></each>\n"
	"</controller>\n";

/* The value was chosen, was told so, and is in the JSON, whose number of candidates with values is given. */
static void
assert_chosen(const char *value, const char *told, size_t nr_candidates)
{
	autofree char *table = NULL;
	json_t *json, *choice, *point;

	ck_assert_msg(run_into("table", "choosing", NULL, &why) == 0, "%s %s", why.text, why.hint);
	table = file_read("table", NULL, &why);
	ck_assert_has(table, told);
	json = json_file("choosing.json");
	choice = json_array_get(json_object_get(json, "choices"), 0);
	point = json_array_get(json_object_get(json, "points"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "choices")), 1);
	ck_assert_str_eq(json_string_value(json_object_get(choice, "name")), "best");
	ck_assert_str_eq(json_string_value(json_object_get(choice, "value")), value);
	ck_assert_uint_eq(json_array_size(json_object_get(choice, "candidates")), nr_candidates);
	ck_assert_str_eq(json_string_value(json_object_get(point, "label")), value);
	ck_assert_str_eq(json_string_value(json_object_get(point, "series")), value);
	ck_assert_uint_eq(json_array_size(json_object_get(point, "derived")), 2);
}

TEST(the_best_candidate_is_chosen)
{
	file_fill("choosing.xml", choosing);
	fake_is_cache_empty = true;
	fake_failing_call = 2;
	assert_chosen("300", "best 300: 100 10.9 flop/cycle, 200 impossible, 300 30.9 flop/cycle\n", 2);
	ck_assert_uint_eq(fake_nr_calls, 3 + 1);
	fake_is_cache_empty = false; /* now it is known before anything is measured */
	fake_nr_calls = fake_failing_call = 0;
	assert_chosen("300", "best 300: 100 10.9 flop/cycle, 200 20.9 flop/cycle, 300 30.9 flop/cycle\n", 3);
	ck_assert_uint_eq(fake_nr_calls, 3 + 1);
	fake_measure = measure_doubtful; /* all the same */
	assert_chosen("100", "best 100: 100 28 ", 3);
}

/* Their work is as it is expected, in whatever way the points are counted. */
TEST(candidates_are_not_stepped)
{
	static const bool ways[] = {false, true};

	file_fill("choosing.xml", choosing);
	for (size_t i = 0; i < 2; i++) {
		json_t *json, *choice, *candidate;
		const char *kind;

		rot.architecture->counts_by_steps = ways[i];
		ck_assert_msg(run_into("table", "choosing", NULL, &why) == 0, "%s %s", why.text, why.hint);
		json = json_file("choosing.json");
		choice = json_array_get(json_object_get(json, "choices"), 0);
		candidate = json_array_get(json_object_get(choice, "candidates"), 0);
		kind = json_string_value(json_object_get(json_object_get(candidate, "quantity"), "kind"));
		ck_assert_str_eq(kind, ways[i] ? "given" : "measured");
	}
}

/* Computed from what is known, one from the other; only reasons are told. */
TEST(computed_choices_have_reasons)
{
	autofree char *table = NULL;
	json_t *point;

	file_fill("computed.xml", "<controller name='computed' comment='' runs='5'>\n"
				  "<choice name='rows' is='{2 * 4}' because='{$rows} rows, half of 16'/>\n"
				  "<choice name='hidden' is='{$rows + 1}'/>\n"
				  "<axis name='size'><value is='{$hidden * 10}'/></axis>\n"
				  "<point series='s' label='{$size}'><workload><kernel type='Triad' "
				  "bufferSize='{$size}'/></workload></point>\n"
				  "<quantity is='time'/>\n"
				  "</controller>\n");
	ck_assert_msg(run_into("table", "computed", NULL, &why) == 0, "%s %s", why.text, why.hint);
	table = file_read("table", NULL, &why);
	ck_assert_has(table, "rows 8: 8 rows, half of 16\n");
	ck_assert_lacks(table, "hidden");
	point = json_array_get(json_object_get(json_file("computed.json"), "points"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(point, "label")), "90");
}

UNIT_TESTS(.set_up = setup);
