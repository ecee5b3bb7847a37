/* SPDX-License-Identifier: MIT */
#include "sheet/clocks.h"

#include <math.h>

#include "base/text_table.h"
#include "memory.h"
#include "sheet/survey.h"

static const char *const widths[CLOCKS_NR_WIDTHS] = {"SCALAR", "SSE", "AVX2", "AVX512"};

/* Some 1 ms: seldom interrupted, and a clock follows the work within some hundred microseconds. */
#define TURNS 100000

static int
add_points(struct survey *survey, struct clocks *clocks, int points[][CLOCKS_NR_WIDTHS], struct rot_error *err)
{
	const size_t all = survey_nr_cpus(survey);

	for (size_t nr_cpus = 1; nr_cpus <= all && clocks->nr < CLOCKS_MAX_COUNTS;
	     nr_cpus = nr_cpus < all && 2 * nr_cpus > all ? all : 2 * nr_cpus) {
		for (int width = 0; width < CLOCKS_NR_WIDTHS; width++) {
			int point = survey_add(survey, nr_cpus, "Operation", 1, err,
					       "operation=ADD precision=DOUBLE instructionSet=%s chains=8 turns=%d "
					       "warmCode=true warmData=true",
					       widths[width], TURNS);

			if (point == -1)
				return -1;
			points[clocks->nr][width] = point;
		}
		clocks->cpus[clocks->nr++] = nr_cpus;
	}
	return 0;
}

static int
read_points(struct survey *survey, struct clocks *clocks, int points[][CLOCKS_NR_WIDTHS], struct rot_error *err)
{
	for (size_t i = 0; i < clocks->nr; i++)
		for (int width = 0; width < CLOCKS_NR_WIDTHS; width++) {
			struct survey_times times = {.ghz = {NAN, NAN}};
			struct sheet_number *ghz = &clocks->ghz[i][width];

			if (points[i][width] != SURVEY_HAS_NONE &&
			    survey_read(survey, points[i][width], &times, err) < 0)
				return -1;
			*ghz = (struct sheet_number){
				.value = fmax(times.ghz[0], times.ghz[1]),
				.low = fmin(times.ghz[0], times.ghz[1]),
				.high = fmax(times.ghz[0], times.ghz[1]),
			};
		}
	return 0;
}

int
clocks_measure(struct rot *rot, struct clocks *clocks, struct rot_error *err)
{
	struct survey *survey = survey_new(rot);
	int points[CLOCKS_MAX_COUNTS][CLOCKS_NR_WIDTHS];
	int rc;

	*clocks = (struct clocks){0};
	rc = add_points(survey, clocks, points, err);
	if (rc == 0)
		rc = survey_measure(survey, err);
	if (rc == 0)
		rc = read_points(survey, clocks, points, err);
	survey_delete(survey);
	return rc < 0 ? rot_error_prefix(err, "the clock of the cores") : 0;
}

/* ---- what is shown ---- */

static const struct text_table_column columns[] = {
	{"CPUs that add", false}, {"SCALAR", false}, {"SSE", false}, {"AVX2", false}, {"AVX512", false},
};

void
clocks_print(const struct clocks *clocks, FILE *out)
{
	struct text_table table = {.columns = columns, .nr_columns = 1 + CLOCKS_NR_WIDTHS, .nr_keys = 1};

	fputs("clock of the slowest core, GHz\n", out);
	for (size_t i = 0; i < clocks->nr; i++) {
		char *cells[1 + CLOCKS_NR_WIDTHS] = {rot_format("%zu", clocks->cpus[i])};

		for (int width = 0; width < CLOCKS_NR_WIDTHS; width++)
			cells[1 + width] = isfinite(clocks->ghz[i][width].value)
						   ? rot_format("%.2f", clocks->ghz[i][width].value)
						   : rot_strdup("-");
		text_table_add(&table, cells);
	}
	text_table_print(&table, out);
	text_table_clear(&table);
}

void
clocks_draw(const struct clocks *clocks, const struct sheet_pictures *pictures)
{
	struct plot_point points[CLOCKS_NR_WIDTHS][CLOCKS_MAX_COUNTS];
	struct plot_series series[CLOCKS_NR_WIDTHS];
	struct series_plot plot = {.frame = {.title = "Clock of the slowest core",
					     .caption = "",
					     .x = {"CPUs that add", "", true, NAN, NAN},
					     .y = {"clock", "GHz", false, 0, NAN}},
				   .series = series};

	for (int width = 0; width < CLOCKS_NR_WIDTHS; width++) {
		size_t nr = 0;

		for (size_t i = 0; i < clocks->nr; i++)
			if (isfinite(clocks->ghz[i][width].value))
				points[width][nr++] = sheet_point((double)clocks->cpus[i], clocks->ghz[i][width].value,
								  clocks->ghz[i][width].low);
		if (nr > 0)
			series[plot.nr_series++] =
				(struct plot_series){.name = widths[width], .points = points[width], .nr_points = nr};
	}
	sheet_pictures_draw(pictures, "clocks", &plot);
}

json_t *
clocks_json(const struct clocks *clocks)
{
	json_t *array = json_array();

	for (size_t i = 0; i < clocks->nr; i++) {
		json_t *row = json_pack("{s:i}", "cpus", (int)clocks->cpus[i]);

		for (int width = 0; width < CLOCKS_NR_WIDTHS; width++)
			json_object_set_new(row, widths[width], sheet_number_json(&clocks->ghz[i][width]));
		json_array_append_new(array, row);
	}
	return array;
}
