/* SPDX-License-Identifier: MIT */
/* The controllers ceiling, memory and peaks on a machine whose profile is written by hand: their files; nothing is
 * measured. */
#include "base/configuration.h"
#include "base/messages.h"
#include "experiments/c_controller.h"
#include "fake_rot.h"
#include "peaks_by_hand.h"
#include "roof/profile.h"
#include "testing.h"

static struct rot rot;

static void
set_up(void)
{
	fake_rot_open(&rot);
}

static const struct rot_controller *
controller(const char *name)
{
	size_t i = 0;

	while (c_controllers[i] && strcmp(c_controllers[i]->name, name) != 0)
		i++;
	ck_assert_ptr_nonnull(c_controllers[i]);
	return c_controllers[i];
}

static void
store(void)
{
	cleared_by(peak_list_clear) struct peak_list list = peaks_by_hand();

	ck_assert_ok(profile_store(&rot, &list, &why));
}

/* Texts that a file holds, and does not. Pictures are only looked for. */
static const struct {
	const char *controller, *file, *has, *has_not;
} files[] = {
	{"ceiling", "out.json", "\"AVX2 FMA+ADD\"", "\"L2 load\""},
	{"ceiling", "out.csv", "AVX2 FMA+ADD", "L2 load"},
	{"ceiling", "out-AVX-512-FMA-ADD-doublePrecisionFlop.svg", NULL, NULL},
	{"memory", "out.json", "\"L2 load\"", "\"AVX2 FMA+ADD\""},
	{"memory", "out.csv", "DRAM random access", "AVX2 FMA+ADD"},
	/* The shorter one of two times of random access; and both modes of two threads. */
	{"memory", "out-DRAM-random-access--12-chains.gnuplot", "set xlabel \"chains\"", "840"},
	{"memory", "out-threads.gnuplot", "DRAM load, far", "L1 load"},
	{"peaks", "out.json", "\"L2 load\"", "nan"},
	{"peaks", "out.csv", "AVX2 FMA+ADD", "nan"},
	{"peaks", "out.gnuplot", "L3 load (126 GB/s)", "DRAM load, far"},
	{"peaks", "out.gnuplot", "found ", "single"},
	{"peaks", "out.gnuplot", "\"AVX-512 FMA+ADD (", "AVX2 FMA+ADD"}, /* mixtures only as the highest line */
	{"peaks", "out-single.gnuplot", "single precision flop, 1 thread", "AVX2"},
	{"peaks", "out-2-threads.gnuplot", "DRAM load, far (79.2 GB/s)", "L3 load"},
};

TEST_OF(controllers_write_what_is_known, NR_ELEMENTS(files))
{
	const char *file = files[_i].file;
	char *text;

	if (system("gnuplot --version >/dev/null 2>&1") != 0)
		return;
	store();
	ck_assert_msg(controller(files[_i].controller)->measure(&rot, controller(files[_i].controller), "out", &why) ==
			      0,
		      "%s", why.text);
	ck_assert_msg(access(file, R_OK) == 0, "%s", file);
	ck_assert_uint_eq(fake_nr_calls, 0);
	if (!files[_i].has)
		return;
	text = file_text(file);
	ck_assert_msg(strstr(text, files[_i].has) != NULL, "%s", files[_i].has);
	ck_assert_msg(strstr(text, files[_i].has_not) == NULL, "%s", files[_i].has_not);
}

/* A user who asks for a page is told that there is none, and needs no gnuplot. */
TEST_OF(there_is_no_page_of_peaks, 3)
{
	static const char *const names[] = {"ceiling", "memory", "peaks"};
	char *told = NULL;

	store();
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "plots", "html", NULL);
	ck_assert_ptr_nonnull(freopen("told", "w", stderr));
	ck_assert_int_eq(controller(names[_i])->measure(&rot, controller(names[_i]), "out", &why), 0);
	fflush(stderr);
	told = file_text("told");
	ck_assert_has(told, "there is no page of these plots: gnuplot draws them (-plots=gnuplot)");
	ck_assert_int_eq(access("out.json", R_OK), 0);
	ck_assert_int_ne(system("ls *.gnuplot >/dev/null 2>&1"), 0);
	ck_assert_int_ne(system("ls *.html >/dev/null 2>&1"), 0);
}

/* On a terminal rooflines are drawn as text, and of other plots it is said that they are not. */
TEST_OF(on_a_terminal_rooflines_are_text, 3)
{
	static const struct {
		const char *name, *told, *shown;
	} rows[] = {
		{"ceiling", "rot: 2 plots are not drawn: of rooflines alone there is a text", "Performance [Gflop/s]"},
		{"memory", "rot: 2 plots are not drawn: of rooflines alone there is a text", "Bandwidth [GB/s]"},
		{"peaks", "", "The roof of this machine: double precision flop, 2 threads\n"},
	};
	char *text;

	store();
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "plots", "terminal", NULL);
	messages_set_quiet(false);
	ck_assert_ptr_nonnull(freopen("told", "w", stderr));
	ck_assert_ptr_nonnull(freopen("shown", "w", stdout));
	ck_assert_int_eq(controller(rows[_i].name)->measure(&rot, controller(rows[_i].name), "out", &why), 0);
	fflush(NULL);
	text = file_text("told");
	ck_assert_msg(strncmp(text, rows[_i].told, strlen(rows[_i].told)) == 0 && !text[0] == !rows[_i].told[0], "%s",
		      text);
	text = file_text("shown");
	ck_assert_has(text, rows[_i].shown);
	ck_assert_int_ne(system("ls *.gnuplot >/dev/null 2>&1"), 0);
}

TEST(nothing_known_is_an_error)
{
	static const char *const names[] = {"ceiling", "memory", "peaks"};

	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(controller(names[i])->measure(&rot, controller(names[i]), "out", &why), -1);
		ck_assert_str_eq(why.text, "the peaks of this machine are not known");
		ck_assert_str_eq(why.hint, "'rot peaks' finds them");
		ck_assert_int_eq(access("out.json", F_OK), -1);
	}
}

TEST(output_that_cannot_be_written_is_an_error)
{
	store();
	ck_assert_int_eq(controller("peaks")->measure(&rot, controller("peaks"), "nowhere/out", &why), -1);
	ck_assert_has(why.text, "nowhere");
}

UNIT_TESTS(.set_up = set_up);
