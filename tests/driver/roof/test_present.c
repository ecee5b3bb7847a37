/* SPDX-License-Identifier: MIT */
/* A roof by hand as tables, comma separated values and JSON, against golden files; ridge points; heat maps. */
#include <jansson.h>

#include "json_schema.h"
#include "machine/machine.h"
#include "peaks_by_hand.h"
#include "quantities/architecture.h"
#include "roof/peak.h"
#include "roof/present.h"
#include "rot.h"
#include "testing.h"

static struct peak_list list;

/* With the limits of the processor that the values are of. */
static void
set_up(void)
{
	struct architecture *architecture = architecture_read(source_path("driver/architectures/zen5.xml"),
							      source_path("driver/schemas/architecture.rng"), &why);

	ck_assert_msg(architecture != NULL, "%s", why.text);
	list = peaks_by_hand();
	for (size_t i = 0; i < list.nr; i++)
		peak_set_limit(&list.pool, &list.peaks[i], architecture, 2);
	architecture_delete(architecture);
	at_end(peak_list_clear, &list);
}

static char *
printed(void (*print)(const struct peak_list *, FILE *))
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	print(&list, out);
	fclose(out);
	return text;
}

static void
print_all(const struct peak_list *peaks, FILE *out)
{
	peaks_print(peaks, true, out);
}

static void
print_short(const struct peak_list *peaks, FILE *out)
{
	peaks_print(peaks, false, out);
}

TEST(summary_is_golden)
{
	autofree char *text = printed(print_short);

	expect_golden("tests/driver/roof/golden/summary.txt", text);
}

/* With two threads another variant may be the best. */
TEST(summary_names_each_variant)
{
	autofree char *text = NULL;

	list.peaks[7].name = "AVX2 FMA";
	text = printed(print_short);
	ck_assert_has(text, "double: AVX-512 FMA+ADD  191.94 ±0.08  AVX2 FMA: 383.84 ±0.24");
}

TEST(tables_are_golden)
{
	autofree char *text = printed(print_all);

	expect_golden("tests/driver/roof/golden/peaks.txt", text);
}

TEST(comma_separated_values_are_golden)
{
	autofree char *text = NULL;

	list.peaks[1].remark = "a \"quoted\" remark, with a comma";
	text = printed(peaks_print_csv);
	expect_golden("tests/driver/roof/golden/peaks.csv", text);
}

/* One of each kind, and a bandwidth that is known on two numbers of threads. */
TEST(json_is_golden)
{
	autofree char *folder = source_path("tests/machines/zen5-turin-kvm"), *text = NULL;
	struct rot rot = {.machine = machine_read(folder, &why)};
	struct peak some[] = {list.peaks[0], *peak_by_hand(&list, "DRAM load", 1), *peak_by_hand(&list, "DRAM load", 2),
			      *peak_by_hand(&list, "L1 random access", 1)};
	const struct peak_list shown = {.peaks = some, .nr = NR_ELEMENTS(some)};
	json_auto_t *json = NULL;

	some[0].landscape.nr_points = 2;
	json = peaks_json(&rot, &shown);
	expect_schema("driver/schemas/peaks-1.json", json);
	text = json_dumps(json, JSON_INDENT(1));
	expect_golden("tests/driver/roof/golden/peaks.json", text);
	rot_graph_delete(rot.machine);
}

/* 40 flop per cycle are no "4e+01". */
TEST(limits_have_no_exponent)
{
	autofree char *text = NULL;

	list.peaks[0].limit_per_cycle = 40;
	text = printed(print_all);
	ck_assert_has(text, "            40  ");
	ck_assert_lacks(text, "e+");
}

/* Without a clock of the core the values are told per cycle of the time stamp counter. */
TEST(without_a_clock_cycles_are_those_of_the_counter)
{
	autofree char *text = NULL;

	list.peaks[1].per_cycle = (struct peak_estimate){NAN, NAN, NAN};
	list.peaks[1].clock_hz = NAN;
	text = printed(print_all);
	ck_assert_has(text, "(t) operations per cycle of the time stamp counter");
	ck_assert_has(text, "49.215 ±0.015 (t)");
}

TEST_OF(nothing_is_printed_of_nothing, 2)
{
	autofree char *text = NULL;
	size_t nr = list.nr;

	list.nr = 0;
	text = printed(_i ? print_all : print_short);
	ck_assert_str_eq(text, "");
	list.nr = nr;
}

TEST(ridges_are_of_equal_threads_and_floating_point)
{
	const struct peak *bandwidth = peak_by_hand(&list, "L1 load", 1);
	struct peak_estimate intensity;

	ck_assert(peak_ridge(&list.peaks[0], bandwidth, &intensity));
	ck_assert_double_eq(intensity.value, 47.985 / 127.9);
	ck_assert_double_eq(intensity.low, (47.985 - 0.02) / (127.9 + 0.1));
	ck_assert_double_eq(intensity.high, (47.985 + 0.02) / (127.9 - 0.1));
	ck_assert(!peak_ridge(bandwidth, &list.peaks[0], &intensity));
	ck_assert(!peak_ridge(peak_by_hand(&list, "AVX-512 FMA+ADD", 2), bandwidth, &intensity));
	list.peaks[5].operation = "integerOperation";
	ck_assert(!peak_ridge(&list.peaks[5], bandwidth, &intensity));
	list.peaks[0].per_cycle.value = NAN; /* then per second */
	ck_assert(peak_ridge(&list.peaks[0], bandwidth, &intensity));
	ck_assert_double_eq_tol(intensity.value, 47.985 / 127.9, 1e-12);
}

/* A picture without gnuplot is an error; script and data are looked at where it is there. */
TEST(landscapes_are_drawn)
{
	char *folder = temporary_folder_new(), *name = rot_format("%s/heat", folder), *script, *path;

	ck_assert_int_eq(peak_draw_landscape(&list.peaks[1], "", name, &why), -1);
	ck_assert_has(why.text, "nothing was searched for the peak 'AVX-512 FMA'");
	if (system("gnuplot --version >/dev/null 2>&1") == 0) {
		ck_assert_ok(peak_draw_landscape(&list.peaks[0], "by hand", name, &why));
		path = rot_format("%s.gnuplot", name);
		script = file_text(path);
		ck_assert_has(script, "set xlabel \"unroll\"");
		ck_assert_has(script, "set ylabel \"dlp\"");
		ck_assert_has(script, "set object rectangle from 2.5,4.5 to 3.5,5.5");
		ck_assert_has(script, "47.98 flop/cycle with dlp 12, unroll 4");
		free(path);
	}
	free(name);
}

UNIT_TESTS(.set_up = set_up);
