/* SPDX-License-Identifier: MIT */
/* Values that are derived from others, and the tables of the best points. */
#include "base/files.h"
#include "experiment_fixture.h"
#include "json_schema.h"
#include "testing.h"

/* Ceilings, limits, numbers and texts that follow from what was measured; of each series the best point. */
static const char deriving[] =
	"<controller name='deriving' comment='' runs='5'>\n"
	"<axis name='size'><list values='100 200 300'/></axis><axis name='kind'><list values='a b'/></axis>\n"
	"<point series='{$kind}' label='{$size}'><workload><kernel type='Triad' bufferSize='{$size}'/></workload>\n"
	"<quantity is='performance:doublePrecisionFlop' name='rate'/></point>\n"
	"<ceilings once='true'><axis name='m'><list values='5 6'/></axis>\n"
	"<ceiling name='peak {$m}' performance='doublePrecisionFlop' runs='4'><workload><kernel type='Triad' "
	"bufferSize='{$m}'/></workload></ceiling></ceilings>\n"
	"<table title='The best of each' best='performance:doublePrecisionFlop'>\n"
	"<column of='kind'/><column of='size'/><column of='share'/><column of='word' heading='how'/></table>\n"
	"<table title='b and a'><column of='kind'/><column of='size'/><column of='ratio'/></table>\n"
	"<table title='Large ones' if=\"$size > 200 and $kind = 'a'\">\n"
	"<column of='label'/><column of='peak'/><column of='width'/><column of='known'/><column "
	"of='unknown'/></table>\n"
	"<derived name='peak' ceiling='peak {$size}' unit='flop/s' otherwise='3000000000'/>\n"
	"<derived name='best' ceiling='peak 6' unit='flop/cycle'/>\n"
	"<derived name='share' is='100 * $best.rate div $best' unit='%'/>\n"
	"<derived name='word' text=\"{substring('low high', 1 + 4 * ($share > 50), 4)}\" if=\"$kind = 'b'\"/>\n"
	"<derived name='width' limit='FMA' instructionSet='AVX512'/>\n"
	"<derived name='known' limit='FAM' instructionSet='AVX512' otherwise='{$llcBytes}'/>\n"
	"<derived name='unknown' limit='FAM' instructionSet='AVX512'/>\n"
	"<derived name='ratio' is='$rate div $base.rate' base=\"{substring('a', 1, $kind = 'b')}\"/>\n"
	"</controller>\n";

TEST(derived_values_are_golden)
{
	autofree char *table = NULL;
	json_t *root, *json;

	file_fill("deriving.xml", deriving);
	ck_assert_msg(run_into("table", "deriving", NULL, &why) == 0, "%s %s", why.text, why.hint);
	ck_assert_uint_eq(fake_nr_calls, 6 + 2);
	table = file_read("table", NULL, &why);
	expect_golden("tests/driver/experiments/golden/derived.txt", table);
	root = json_file("deriving.json");
	json = json_object_get(json_array_get(json_object_get(root, "points"), 5), "derived");
	ck_assert_uint_eq(json_array_size(json), 7);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json, 3), "name")), "word");
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(json, 3), "value")), "high");
	ck_assert_double_eq(json_number_value(json_object_get(json_array_get(json, 4), "value")), 2);
}

/* In the order in which they were added. */
static double
derived_peak(struct experiment *experiment, size_t i)
{
	ck_assert_uint_eq(experiment->nr_points, 1);
	return json_number_value(json_object_get(json_array_get(experiment->points[0].derived, i), "value"));
}

static const struct {
	const char *access, *operation, *border, *instruction_set, *clock;
	double value; /* of peaks_by_hand(); its clock is 4 GHz, that of the time stamp counter 2.6 */
} named_peaks[] = {
	{"FMA", "doublePrecisionFlop", "", "AVX512", "", 31.99},
	{"FMA", "{$word}PrecisionFlop", "", "AVX512", "coreCycles", 63.98},
	{"FMA", "doublePrecisionFlop", "", "AVX512", "microSeconds", 31.99 * 4e9},
	{"FMA", "doublePrecisionFlop", "", "AVX512", "tsc", 31.99 * 4 / 2.6},
	{"FMA_ADD", "doublePrecisionFlop", "", "", "", 47.985}, /* the highest of all instruction sets */
	{"load", "", "cpuL1", "AVX512", "", 127.9},
	{"store", "", "cpuL1", "AVX512", "", 63.9},
	{"store", "", "l2l3", "AVX512", "", 7}, /* there is none: otherwise */
};

/* By access, operation or border, and instruction set, per core cycle, second or tick; without a search for it here. */
TEST(derived_values_are_peaks)
{
	struct experiment *experiment = experiment_open("c", NULL, 0);
	struct coordinate at = {.axis = "word", .text = "single", .number = NAN};
	autograph struct measurement *measurement = measurement_of("Dummy");
	struct peak_wish *wishes;
	FILE *nowhere = fopen("/dev/null", "w");

	for (size_t i = 0; i < NR_ELEMENTS(named_peaks); i++)
		experiment_add_derived(experiment, &(struct experiment_derived){
							   .kind = EXPERIMENT_DERIVED_PEAK,
							   .name = "peak",
							   .unit = "",
							   .condition = "",
							   .base = "",
							   .text = named_peaks[i].access,
							   .operation = named_peaks[i].operation,
							   .border = named_peaks[i].border,
							   .instruction_set = named_peaks[i].instruction_set,
							   .clock = named_peaks[i].clock,
							   .otherwise = 7,
						   });
	store_peaks();
	ck_assert_ok(experiment_add_point(experiment, &(struct experiment_position){"s", "1", {&at, 1}}, measurement,
					  NULL, 0, 5, &why));
	ck_assert_uint_eq(experiment_wishes(&experiment->pool, experiment, &wishes), 6); /* the same ones once */
	ck_assert_str_eq(wishes[1].operation, "singlePrecisionFlop");
	ck_assert_ok(experiment_add_default_peaks(experiment, &why));
	experiment_print_table(experiment, NULL, nowhere);
	experiment_derive(experiment);
	for (size_t i = 0; i < NR_ELEMENTS(named_peaks); i++)
		ck_assert_msg(fabs(derived_peak(experiment, i) / named_peaks[i].value - 1) < 1e-12, "%zu: %g", i,
			      derived_peak(experiment, i));
	fclose(nowhere);
}

UNIT_TESTS(.set_up = setup);
