/* SPDX-License-Identifier: MIT */
/* XML controllers: what they measure, and what is said about those that are wrong. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "controllers/experiment_internal.h"
#include "controllers/find.h"
#include "controllers/xml_controller.h"
#include "controllers/xml_plan.h"
#include "definition.h"
#include "fake_rot.h"
#include "measuring/measuring.h"
#include "memory.h"
#include "support/files.h"
#include "testing.h"

static struct rot rot;

static void
setup(void)
{
	fake_rot_open(&rot);
}

static void
teardown(void)
{
	fake_rot_close(&rot);
}

#define HEAD "<controller name='c' comment='a test' runs='7'>\n"
#define POINT "<point series='s' label='{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>\n"
#define AXIS "<axis name='n'><list values='1 2'/></axis>\n"
#define TAIL "</controller>\n"

/* A ceiling on line 2. */
#define CEILING(children)                                                                                              \
	"<ceiling name='c' performance='flop' work='1'><workload><kernel type='Dummy'/></workload>\n" children         \
	"</ceiling>\n"

/* A rule in a program, on lines of its own: the predicate is on line 5, the action on line 6. */
#define RULE(predicate, action)                                                                                        \
	HEAD AXIS PROGRAM("executable='sh'", "<argument value='-c'/>\n<rule>\n" predicate "\n" action "</rule>") TAIL
#define RUN_START "<predicate type='MeasurementRunEventPredicate'/>"
#define CREATE(set) "<action type='CreateMeasurerOnThreadAction'>\n" set "</action>"

#define PROGRAM(attributes, children)                                                                                  \
	"<point series='s' label='{$n}'><program " attributes ">" children "</program></point>\n"

static struct xml_controller *
open_text(const char *text, struct rot_error *err)
{
	*err = (struct rot_error){0};
	file_fill("c.xml", text);
	return xml_controller_open(&rot, "c.xml", err);
}

/* ---- what is measured ---- */

START_TEST(built_in_controllers_are_valid)
{
	struct controller_info *infos;
	struct rot_error err = {0};
	size_t nr, nr_built_in = 0;

	controllers_list(rot.paths, &infos, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct xml_controller *controller;
		struct experiment *experiment;

		if (!infos[i].path[0]) /* linked with rot */
			continue;
		controller = xml_controller_open(&rot, infos[i].path, &err);
		/* Its libraries may be missing. */
		if (!controller && strstr(err.text, "nothing of this controller can be measured here"))
			continue;
		ck_assert_msg(controller != NULL, "%s: %s %s", infos[i].name, err.text, err.hint);
		ck_assert_msg(infos[i].description[0] != '\0', "%s has no comment", infos[i].name);
		experiment = experiment_new(&rot, "c", "c", 0, &err);
		ck_assert_msg(xml_plan_show(controller, experiment, &err) == 0, "%s: %s %s", infos[i].name, err.text,
			      err.hint);
		experiment_delete(experiment);
		xml_controller_close(controller);
		nr_built_in += strcmp(infos[i].place, "built in") == 0;
	}
	ck_assert_uint_ge(nr_built_in, 6);
	controllers_list_delete(infos, nr);
}
END_TEST

START_TEST(built_in_controllers_work_without_avx)
{
	static const char *const names[] = {"arithmetic", "default-peaks", "optiflop", "streams"};

	for (size_t i = 0; i < rot.machine->cpu_flags.nr; i++)
		rot_string_set(&((char **)rot.machine->cpu_flags.items)[i], "none");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = rot_format("%s/driver/controllers/%s.xml", rot.paths->data, names[i]);
		struct rot_error err = {0};
		struct xml_controller *controller = xml_controller_open(&rot, path, &err);

		ck_assert_msg(controller != NULL, "%s: %s", err.text, err.hint);
		ck_assert_uint_gt(xml_controller_nr_points(controller) + xml_controller_nr_ceilings(controller), 0);
		xml_controller_close(controller);
		free(path);
	}
}
END_TEST

/* Every loop in both precisions, the quick way at fewer lengths; the lengths fill shares of the first-level cache. */
START_TEST(optiflop_has_its_loops)
{
	char *path = rot_format("%s/driver/controllers/optiflop.xml", rot.paths->data);
	size_t nr_loops[2] = {0}, nr_in_registers[2] = {0};

	for (int is_quick = 0; is_quick < 2; is_quick++) {
		struct rot_error err = {0};
		struct xml_controller *controller;

		configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "sizes", is_quick ? "small" : "all",
				  NULL);
		controller = xml_controller_open(&rot, path, &err);
		ck_assert_msg(controller != NULL, "%s %s", err.text, err.hint);
		for (size_t i = 0; i < controller->nr_planned; i++) {
			const struct planned_point *planned = &controller->planned[i];
			const struct kernel_base *kernel = measurement_workloads_at(planned->measurement, 0)->kernel;
			double length = 0;

			if (strcmp(kernel->entity.class->name, "Vector") != 0) {
				nr_in_registers[is_quick]++;
				continue;
			}
			nr_loops[is_quick]++;
			ck_assert(rot_entity_number(kernel, "length", &length));
			ck_assert_double_ge(length, 64);
			ck_assert_double_le(length * 4, 1.5 * 32768);
		}
		ck_assert_uint_eq(controller->nr_ceilings, 0); /* its roof is that of the profile */
		ck_assert(controller->has_default_peaks);
		xml_controller_close(controller);
	}
	ck_assert_uint_eq(nr_loops[1], 18 * 2 * 2);
	ck_assert_uint_eq(nr_loops[0], 18 * 2 * (11 + 2 * 2));
	ck_assert_uint_eq(nr_in_registers[0], 4);
	ck_assert_uint_eq(nr_in_registers[1], 4);
	free(path);
}
END_TEST

START_TEST(triad_is_as_in_the_thesis)
{
	struct rot_error err = {0};
	char *path = controller_find_file(rot.paths, "triad");
	struct xml_controller *controller = xml_controller_open(&rot, path, &err);

	ck_assert_uint_eq(xml_controller_nr_points(controller), 9);
	for (size_t i = 0; i < 9; i++) {
		const struct planned_point *p = &controller->planned[i];
		double size;

		ck_assert_str_eq(p->series, "Triad");
		ck_assert(rot_entity_number(measurement_workloads_at(p->measurement, 0)->kernel, "bufferSize", &size));
		ck_assert_double_eq(size, 10000.0 * (double)(i + 1));
		ck_assert_double_eq(strtod(p->label, NULL), size);
		ck_assert_int_eq(p->nr_runs, 10);
	}
	xml_controller_close(controller);
	free(path);
}
END_TEST

/* Only what goes into the measurement is hashed. */
START_TEST(titles_change_no_hash)
{
	struct rot_error err;
	struct xml_controller *a = open_text(HEAD AXIS POINT TAIL, &err);
	struct xml_controller *b =
		open_text("<controller name='other' comment='x'>\n<axis name='k'><value is='2'/></axis>"
			  "<quantity is='time'/><point series='t' label='z'><workload>"
			  "<kernel type='Triad' bufferSize='{$k}'/></workload></point>"
			  "<plot type='series' title='T' x='k' y='time'/>" TAIL,
			  &err);
	char *first = measuring_description_hash(&rot, a->planned[0].measurement);
	char *second = measuring_description_hash(&rot, a->planned[1].measurement);
	char *other = measuring_description_hash(&rot, b->planned[0].measurement);

	ck_assert_str_eq(second, other);
	ck_assert_str_ne(first, second);
	free(first);
	free(second);
	free(other);
	xml_controller_close(a);
	xml_controller_close(b);
}
END_TEST

/* Ceilings of a space of their own inside the controller's, with variants, of which the first good seed is planned. */
START_TEST(ceilings_with_variants)
{
	struct rot_error err;
	struct xml_controller *c = open_text(
		HEAD AXIS
		"<ceilings><axis name='m'><list values='5 6'/></axis><skip if='$n = 2 and $m = 6'/>"
		"<ceiling name='{$n} {$m}' performance='doublePrecisionFlop' access='x{$m}' instructionSet='SSE'>"
		"<axis name='dlp'><range from='1' to='19' step='1'/></axis><axis name='unroll'><list values='1 "
		"{$m}'/></axis>"
		"<seed dlp='17' unroll='5'/><seed dlp='12' unroll='{$m}'/><seed if='$m = 5' dlp='1' unroll='1'/>"
		"<workload><kernel type='Arithmetic' iterations='10' dlp='{$dlp}' "
		"unroll='{$unroll}'/></workload></ceiling>"
		"</ceilings>" TAIL,
		&err);
	static const char *const names[] = {"1 5", "1 6", "2 5"};
	static const size_t nr_seeds[] = {3, 2, 3};
	const struct planned_ceiling *ceiling;
	struct measurement *variant;
	double work, dlp;

	ck_assert_msg(c != NULL, "%s %s", err.text, err.hint);
	ck_assert_uint_eq(xml_controller_nr_ceilings(c), 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_str_eq(c->ceilings[i].name, names[i]);
		ck_assert_uint_eq(c->ceilings[i].nr_seeds, nr_seeds[i]);
	}
	ceiling = &c->ceilings[1];
	ck_assert_str_eq(ceiling->access, "x6");
	ck_assert_str_eq(ceiling->instruction_set, "SSE");
	ck_assert_uint_eq(ceiling->nr_axes, 2);
	ck_assert_str_eq(ceiling->axes[0].name, "dlp");
	ck_assert_uint_eq(ceiling->axes[0].nr_values, 19);
	ck_assert_int_eq(ceiling->axes[1].values[1], 6);
	/* 17 chains do not fit into 16 registers. */
	ck_assert(rot_entity_number(measurement_workloads_at(ceiling->measurement, 0)->kernel, "dlp", &dlp));
	ck_assert_double_eq(dlp, 12);
	ck_assert_double_eq(ceiling->work, 10 * 12 * 6 * 2);
	ck_assert_int_lt(xml_plan_ceiling_variant(c, ceiling, (const int[]){17, 6}, &variant, &work, &err), 0);
	ck_assert_ptr_null(variant);
	ck_assert_int_eq(xml_plan_ceiling_variant(c, ceiling, (const int[]){3, 1}, &variant, &work, &err), 0);
	ck_assert_double_eq(work, 10 * 3 * 1 * 2);
	rot_graph_delete(variant);
	xml_controller_close(c);
}
END_TEST

START_TEST(entities_of_all_kinds)
{
	struct rot_error err;
	struct xml_controller *c = open_text(
		HEAD
		"<point runs='3'>\n"
		"<workload id='w' cpu='0'><kernel id='k' type='Dummy'/></workload>\n"
		"<workload><kernel ref='k'/></workload>\n"
		"<configurator type='RunCommandConfigurator'><beforeRun executable='true'><argument value='{1+1}'/>"
		"<argument value='b c'/></beforeRun></configurator>\n"
		"<rule><predicate type='WorkloadEventPredicate' event='kernelStop'><workload ref='w'/></predicate>"
		"<action type='FlushKernelBuffersAction'><kernel ref='k'/></action></rule>\n"
		"</point>" TAIL,
		&err);
	const struct measurement *m;
	const struct rule *rule;
	const struct run_command *command;

	/* Running the check on a kernel needs it to be there: a reference counts. */
	ck_assert_msg(c != NULL, "%s %s", err.text, err.hint);
	m = c->planned[0].measurement;
	ck_assert_int_eq(c->planned[0].nr_runs, 3);
	ck_assert_uint_eq(measurement_nr_workloads(m), 2);
	ck_assert_int_eq(measurement_workloads_at(m, 0)->cpu, 0);
	ck_assert_ptr_eq(measurement_workloads_at(m, 0)->kernel, measurement_workloads_at(m, 1)->kernel);
	rule = measurement_rules_at(m, 0);
	ck_assert_ptr_eq(((struct workload_event_predicate *)rule->predicate)->workload,
			 measurement_workloads_at(m, 0));
	ck_assert_ptr_eq(((struct flush_kernel_buffers_action *)rule->action)->kernel,
			 measurement_workloads_at(m, 0)->kernel);
	command = run_command_configurator_before_run_at(
		(struct run_command_configurator *)measurement_configurators_at(m, 0), 0);
	ck_assert_str_eq(run_command_arguments_at(command, 0), "2");
	ck_assert_str_eq(run_command_arguments_at(command, 1), "b c");
	xml_controller_close(c);
}
END_TEST

/* Texts of all kinds with expressions; the region adds a coordinate. */
START_TEST(programs)
{
	struct rot_error err;
	struct xml_controller *c = open_text(
		HEAD AXIS "<point series='s' label='{$n}'>\n"
			  "<program executable='sh' folder='{concat(\"/\", \"tmp\")}' standardInput='/dev/null' "
			  "exitStatus='0 {$n}'"
			  " followForks='{$n = 1}' passes='{$n}' regionBackend='int3'>"
			  "<argument value='-c'/><argument value='exit {$n}; {{ }}'/><environment value='A={$n}'/>"
			  "<environment value='B='/><input file='/dev/../bin/sh'/>"
			  "<region name='r' begin='main' lastHit='{$n}'/></program></point>\n"
			  "<plot type='roofline' x='operationalIntensity:flop:llcRam' y='performance:flop' if='$region "
			  "= \"r\"'/>" TAIL,
		&err);
	const struct program_workload *workload;

	ck_assert_msg(c != NULL, "%s %s", err.text, err.hint);
	ck_assert_uint_eq(c->nr_planned, 2);
	ck_assert_uint_eq(c->planned[1].max_passes, 2);
	ck_assert_ptr_null(c->planned[1].measurement);
	ck_assert_str_eq(point_coordinate(c->planned[1].at, "region")->text, "program");
	workload = c->planned[1].program;
	ck_assert_str_eq(workload->program->executable, "sh");
	ck_assert_str_eq(workload->program->folder, "/tmp");
	ck_assert_str_eq(workload->exit_status, "0 2");
	ck_assert_str_eq(workload->region_backend, "int3");
	ck_assert(!workload->follow_forks && c->planned[0].program->follow_forks);
	ck_assert_uint_eq(program_nr_arguments(workload->program), 2);
	ck_assert_str_eq(program_arguments_at(workload->program, 1), "exit 2; { }");
	ck_assert_str_eq(program_environment_at(workload->program, 0), "A=2");
	ck_assert_str_eq(program_environment_at(workload->program, 1), "B=");
	ck_assert_uint_eq(strlen(program_workload_inputs_at(workload, 0)->sha256), 64);
	ck_assert_int_eq(program_workload_regions_at(workload, 0)->last_hit, 2);
	xml_controller_close(c);
}
END_TEST

START_TEST(conditions_choose_points)
{
	struct rot_error err;
	struct xml_controller *c = open_text(
		HEAD "<axis name='n'><range from='1' to='4' step='1'/></axis><skip if='$n = 2'/>"
		     "<point if='$n != 3' label='a{$n}'><workload><kernel type='Triad' "
		     "bufferSize='{$n}'/></workload></point>"
		     "<point label='b{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>" TAIL,
		&err);
	char labels[64] = "";

	ck_assert_msg(c != NULL, "%s", err.text);
	for (size_t i = 0; i < c->nr_planned; i++)
		strcat(labels, c->planned[i].label);
	ck_assert_str_eq(labels, "a1b1b3a4b4");
	xml_controller_close(c);
}
END_TEST

/* Wht needs none: its point stays. */
START_TEST(points_without_their_library_are_left_out)
{
	struct rot_error err;
	struct xml_controller *c = open_text(
		HEAD
		"<axis name='kernel'><list values='Wht Daxpy'/></axis>\n"
		"<point series='{$kernel}' label=''><workload><kernel type='{$kernel}'/></workload></point>\n" TAIL,
		&err);
	const struct definition *daxpy = definitions_find(rot.kernels, "Daxpy");
	struct definition_row *rows = (struct definition_row *)daxpy->rows;

	ck_assert_msg(c != NULL, "%s", err.text);
	xml_controller_close(c);
	for (size_t i = 0; i < daxpy->nr_rows; i++)
		if (rows[i].kind == DEFINITION_NEEDS)
			rows[i].of = "libthereisnosuch.so.1";
	c = open_text(
		HEAD
		"<axis name='kernel'><list values='Wht Daxpy'/></axis>\n"
		"<point series='{$kernel}' label=''><workload><kernel type='{$kernel}'/></workload></point>\n" TAIL,
		&err);
	ck_assert_msg(c != NULL, "%s", err.text);
	ck_assert_uint_eq(c->nr_planned, 1);
	ck_assert_str_eq(c->planned[0].series, "Wht");
	ck_assert_uint_eq(c->nr_missing, 1);
	ck_assert_str_eq(c->missing[0],
			 "kernel 'Daxpy' needs the library libthereisnosuch.so.1: install libopenblas0-pthread");
	xml_controller_close(c);
	c = open_text(HEAD "<point series='s' label=''><workload><kernel type='Daxpy'/></workload></point>\n" TAIL,
		      &err);
	ck_assert_ptr_null(c);
	ck_assert_str_eq(err.text, "c.xml:1: nothing of this controller can be measured here: kernel 'Daxpy' needs the "
				   "library libthereisnosuch.so.1: install libopenblas0-pthread");
}
END_TEST

/* Theory beside points, over the same axis; alone where the quantity is not known. */
START_TEST(curves_are_drawn)
{
	struct rot_error err;
	struct xml_controller *c = open_text(
		HEAD AXIS POINT "<plot type='series' title='T' x='n' y='time'>\n"
				"<curve name='twice' from='1' to='100' y='{2 * $n}'/></plot>\n"
				"<plot type='series' name='p' title='T' x='n' y='tlbMisses' optional='true'>\n"
				"<curve name='half' from='1' to='100' y='{$n div 2}'/></plot>\n" TAIL,
		&err);
	struct experiment *experiment = experiment_new(&rot, "c", "c", 0, &err);
	const struct experiment_own_plot *plot;

	ck_assert_msg(c != NULL, "%s %s", err.text, err.hint);
	ck_assert_msg(xml_plan_show(c, experiment, &err) == 0, "%s %s", err.text, err.hint);
	ck_assert_uint_eq(experiment->nr_plots, 2);
	plot = &experiment->plots[0];
	ck_assert_uint_eq(plot->nr_curves, 1);
	ck_assert_str_eq(plot->curves[0].name, "twice");
	ck_assert_double_eq(plot->curves[0].points[0].y.value, 2);
	ck_assert_double_eq_tol(plot->curves[0].points[plot->curves[0].nr - 1].y.value, 200, 1e-9);
	experiment_delete(experiment);
	xml_controller_close(c);

	c = open_text(HEAD AXIS POINT "<plot type='series' title='T' x='n' y='time'>\n"
				      "<curve name='no' from='0' to='1' y='{$n}'/></plot>\n" TAIL,
		      &err);
	experiment = experiment_new(&rot, "c", "c", 0, &err);
	ck_assert_int_eq(xml_plan_show(c, experiment, &err), -1);
	ck_assert_str_eq(err.text, "c.xml:5: <curve> from 0 to 1: expected 0 < from < to");
	experiment_delete(experiment);
	xml_controller_close(c);
}
END_TEST

START_TEST(shared_parts_are_included)
{
	struct rot_error err;
	struct xml_controller *c;

	file_fill("part.xml",
		  "<shared>\n<axis name='n'><list values='5 6'/></axis>\n<quantity is='time'/>\n</shared>\n");
	c = open_text("<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
		      "<xi:include href='part.xml'/>\n" POINT TAIL,
		      &err);
	ck_assert_msg(c != NULL, "%s %s", err.text, err.hint);
	ck_assert_uint_eq(c->nr_planned, 2);
	ck_assert_uint_eq(c->planned[0].nr_requests, 1);
	xml_controller_close(c);

	file_fill("part.xml", "<shared>\n\n<axis name='n'><list value='5 6'/></axis>\n</shared>\n");
	c = open_text("<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
		      "<xi:include href='part.xml'/>\n" POINT TAIL,
		      &err);
	ck_assert_ptr_null(c);
	ck_assert_str_eq(err.text, "part.xml:3: <list> has no attribute 'value'");
	c = open_text("<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
		      "<xi:include href='missing.xml'/>\n" POINT TAIL,
		      &err);
	ck_assert_ptr_null(c);
	ck_assert_msg(strstr(err.text, "missing.xml") != NULL, "%s", err.text);
}
END_TEST

/* ---- what is refused ---- */

static const struct {
	int line;
	const char *xml, *message, *hint; /* message: all of it, or its beginning with "..." at the end; hint: a part */
} refusals[] = {
	{__LINE__, "", "c.xml:1: ...", ""},
	{__LINE__, HEAD "<axis", "c.xml:2: ...", ""},
	{__LINE__, HEAD AXIS POINT "</control>", "c.xml:4: ...", ""},
	{__LINE__, "<experiment/>", "c.xml:1: the root element is <experiment>", "expected: controller"},
	{__LINE__, "<controller comment=''>" POINT TAIL, "c.xml:1: <controller> lacks the attribute 'name'", ""},
	{__LINE__, HEAD "<axes name='n'/>" TAIL, "c.xml:2: <axes> is not expected in <controller>",
	 "did you mean 'axis'?"},
	{__LINE__, HEAD "<axis nam='n'/>" TAIL, "c.xml:2: <axis> has no attribute 'nam'", "did you mean 'name'?"},
	{__LINE__, HEAD "<axis name='n'/>" POINT TAIL, "c.xml:2: <axis> has no values", "range"},
	{__LINE__, HEAD "<axis name='n'>1 2</axis>" TAIL, "c.xml:2: <axis> holds text, which means nothing there", ""},
	{__LINE__, HEAD "<axis name='a b'><list values='1'/></axis>" POINT TAIL,
	 "c.xml:2: an axis cannot be called 'a b'", "letters"},
	{__LINE__, HEAD "<axis name='llcBytes'><list values='1'/></axis>" POINT TAIL,
	 "c.xml:2: an axis cannot be called 'llcBytes'", ""},
	{__LINE__, HEAD AXIS AXIS POINT TAIL, "c.xml:3: axis 'n' is there twice", ""},
	{__LINE__, HEAD "<axis name='n'><range from='1' to='5' step='0'/></axis>" POINT TAIL,
	 "c.xml:2: axis 'n': step is 0...", ""},
	{__LINE__, HEAD "<axis name='n'>\n<list values='{$m}'/></axis>" POINT TAIL, "c.xml:3: axis 'n': ...", ""},
	{__LINE__, HEAD AXIS "<skip if='$nn = 1'/>" POINT TAIL, "c.xml:3: skip: ...", "$n"},
	{__LINE__, HEAD AXIS "<skip if='$n > 0'/>" POINT TAIL, "c.xml:1: no point to measure is left", "conditions"},
	{__LINE__, HEAD AXIS TAIL, "c.xml:1: <controller> has nothing to measure", "doc/CONTROLLERS.md"},
	{__LINE__, HEAD AXIS "<point/>" TAIL, "c.xml:3: <point> lacks a <workload> or a <program> (at n=1)", ""},
	{__LINE__, HEAD AXIS "<point><workload/></point>" TAIL, "c.xml:3: <workload> has no <kernel> (at n=1)", ""},
	{__LINE__, HEAD "<point>\n<workload>\n<kernel type='Traid'/></workload></point>" TAIL,
	 "c.xml:4: <kernel type=\"Traid\">: no such class", "did you mean 'Triad'?"},
	{__LINE__, HEAD "<point><workload><kernel/></workload></point>" TAIL,
	 "c.xml:2: <kernel> must say its type, as there are several", "Triad"},
	{__LINE__, HEAD "<point><workload><kernel type='Machine'/></workload></point>" TAIL,
	 "c.xml:2: <kernel type=\"Machine\">: not a possible KernelBase", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' buffersize='1'/></workload></point>" TAIL,
	 "c.xml:3: ...", "bufferSize"},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='many'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='{$n}'/></workload></point>" TAIL,
	 "c.xml:3: <kernel bufferSize>: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='{1 div 0}'/></workload></point>" TAIL,
	 "c.xml:3: <kernel bufferSize>: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='0'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='-5'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='1e30'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Triad' bufferSize='1000000000000'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Memory' operation='SWAP'/></workload></point>" TAIL,
	 "c.xml:3: ...", ""},
	{__LINE__, HEAD "<point><workload cpus='1'><kernel type='Dummy'/></workload></point>" TAIL, "c.xml:2: ...",
	 "cpu"},
	{__LINE__, HEAD "<point><workload><kernel type='Dummy'/><kernels/></workload></point>" TAIL,
	 "c.xml:2: Workload has no field for <kernels>", "did you mean 'kernel'?"},
	{__LINE__, HEAD "<point><workload><cpu/><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:2: 'cpu' of Workload is a plain value", "cpu="},
	{__LINE__,
	 HEAD
	 "<point><workload id='a'><kernel type='Dummy'/></workload><rule><predicate type='WorkloadEventPredicate'>\n"
	 "<workload ref='b'/></predicate></rule></point>" TAIL,
	 "c.xml:3: <workload ref=\"b\">: no entity has this id", "a"},
	{__LINE__,
	 HEAD
	 "<point><workload><kernel id='a' type='Dummy'/></workload><rule><predicate type='WorkloadEventPredicate'>\n"
	 "<workload ref='a'/></predicate></rule></point>" TAIL,
	 "c.xml:3: <workload ref=\"a\">: that is a Dummy, not a Workload", ""},
	{__LINE__, HEAD AXIS "<point runs='0'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: runs is 0: ...", ""},
	{__LINE__, HEAD AXIS "<point runs='1.5'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: runs is 1.5: ...", ""},
	{__LINE__, HEAD AXIS "<point runs='x'><workload><kernel type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <point runs>: 'x' is no number (at n=1)", ""},
	{__LINE__, HEAD AXIS POINT "<quantity is='performence:flop'/>" TAIL, "c.xml:4: ...", "performance"},
	{__LINE__, HEAD AXIS POINT "<quantity is='performance:flops'/>" TAIL, "c.xml:4: ...", "flop"},
	{__LINE__, HEAD AXIS POINT "<quantity is='throughput:llcRam' bytes='-1'/>" TAIL,
	 "c.xml:4: <quantity>: given ...", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='rofline' x='n' y='time'/>" TAIL,
	 "c.xml:4: <plot type=\"rofline\">: not a possible value", "did you mean 'roofline'?"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='m' y='time'/>" TAIL,
	 "c.xml:4: <plot x=\"m\">: neither an axis nor a quantity", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='tim'/>" TAIL, "c.xml:4: plot: y: ...", "time"},
	{__LINE__, HEAD AXIS POINT "<plot type='roofline' x='time' y='performance:flop'/>" TAIL,
	 "c.xml:4: a roofline of 'performance' over 'time'", "operationalIntensity"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'/>\n<plot type='series' x='n' y='time'/>" TAIL,
	 "c.xml:5: two plots with the name ''", "OUTPUT-NAME"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' pointLabel='{$nn}'/>" TAIL,
	 "c.xml:4: <plot>: pointLabel: ...", "$n"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time'>\n<scale axis='x' from='5' to='2'/></plot>" TAIL,
	 "c.xml:5: <scale> from 5 to 2: from must be below to", ""},
	{__LINE__,
	 HEAD "<axis name='n'><list values='1 2'/></axis><axis name='t'><list values='x y'/></axis>\n" POINT
	      "<plot type='series' x='t' y='time'/>" TAIL,
	 "c.xml:4: <plot x=\"t\">: the axis has values that are no numbers", ""},
	{__LINE__, HEAD AXIS POINT "<table><column of='m'/></table>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<table best='tim'><column of='n'/></table>" TAIL, "c.xml:4: table: best: ...",
	 "time"},
	{__LINE__, HEAD AXIS POINT "<table if='$m > 1'><column of='n'/></table>" TAIL, "c.xml:4: <table if>: ...",
	 "$n"},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' best='tim'/>" TAIL, "c.xml:4: plot: best: ...",
	 "time"},
	{__LINE__, HEAD AXIS POINT "<derived name='a'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1' text='b'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' peak='load'/>" TAIL, "c.xml:4: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' peak='load' border='cpuL1' clock='hour'/>" TAIL, "c.xml:4: ...",
	 ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' peak='FMA' operation='{$m}'/>" TAIL,
	 "c.xml:4: <derived>: operation: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='$b + 1'/>\n<derived name='b' is='1'/>" TAIL, "c.xml:4: ...",
	 "$b"},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1'/>\n<derived name='b' text='{$c}' if='$a > 0'/>" TAIL,
	 "c.xml:5: <derived>: text: ...", ""},
	{__LINE__, HEAD AXIS POINT "<derived name='a' is='1' if='$m'/>" TAIL, "c.xml:4: ...", "$n"},
	{__LINE__, HEAD AXIS "<ceiling name='c'><workload><kernel type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:3: <ceiling> needs either a performance or a throughput or a latency (at n=1)", "performance="},
	{__LINE__,
	 HEAD AXIS "<ceiling name='c' throughput='l1l2' latency='l1l2'><workload><kernel "
		   "type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:3: <ceiling> needs either a performance or a throughput or a latency (at n=1)", "performance="},
	{__LINE__,
	 HEAD "<ceiling name='c' performance='flop' rare='maybe' work='1'><workload><kernel "
	      "type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:2: <ceiling rare=\"maybe\">: expected true or false", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1 2.5'/></axis>") TAIL,
	 "c.xml:3: the axis 'a' of a <ceiling> needs whole numbers", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1 b'/></axis>") TAIL,
	 "c.xml:3: the axis 'a' of a <ceiling> needs whole numbers", ""},
	{__LINE__,
	 HEAD CEILING("<axis name='a'><list values='1'/></axis>\n<axis name='a'><list values='1'/></axis>") TAIL,
	 "c.xml:4: two axes are called 'a'", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1'/></axis>\n<seed/>") TAIL,
	 "c.xml:4: <seed> of 'c' lacks a whole number for the axis 'a'", ""},
	{__LINE__, HEAD CEILING("<axis name='a'><list values='1'/></axis>\n<seed a='1' b='2'/>") TAIL,
	 "c.xml:4: <seed> of 'c': there is no axis 'b'", ""},
	{__LINE__,
	 HEAD "<ceilings><axis name='m'><list values='1 2'/></axis>\n"
	      "<ceiling name='c' performance='flop' work='{$m - 1}'><workload><kernel "
	      "type='Dummy'/></workload></ceiling></ceilings>" TAIL,
	 "c.xml:3: the work of 'c' is 0 per run: ...", ""},
	{__LINE__,
	 HEAD AXIS
	 "<ceiling name='c' performance='flop' work='0'><workload><kernel type='Dummy'/></workload></ceiling>" TAIL,
	 "c.xml:3: the work of 'c' is 0 per run: ...", ""},
	{__LINE__, HEAD "<point><workload>\n<kernel type='Dummy'/>\n<kernel type='Triad'/></workload></point>" TAIL,
	 "c.xml:4: <kernel> is there twice in <workload>", ""},
	{__LINE__, HEAD "<point><workload id='a'>\n<kernel id='a' type='Dummy'/></workload></point>" TAIL,
	 "c.xml:3: <kernel id=\"a\">: another entity has this id", ""},
	{__LINE__, HEAD AXIS POINT "<quantity is='throughput:llcRam' bytes='0'/>" TAIL,
	 "c.xml:4: <quantity>: given operations and bytes must be above 0 (at n=1)", ""},
	{__LINE__, HEAD AXIS POINT "<plot type='series' x='n' y='time' keyPosition='middle'/>" TAIL,
	 "c.xml:4: a plot's keyPosition cannot be 'middle'", "topLeft"},
	{__LINE__,
	 HEAD AXIS POINT
	 "<plot type='series' x='n' y='time'>\n<scale axis='x' from='0' logarithmic='true'/></plot>" TAIL,
	 "c.xml:5: <scale>: from and to of a logarithmic axis must be above 0", ""},
	{__LINE__,
	 HEAD "<axis name='n'><list values='1'/></axis><axis name='t'><list values='x'/></axis>\n"
	      "<point><workload><kernel type='Triad' bufferSize='{$t}'/></workload></point>" TAIL,
	 "c.xml:3: class Triad, field bufferSize: 'x' is not a whole number (at n=1, t=x)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "") "<point><program/></point>" TAIL,
	 "c.xml:4: <program> lacks the attribute 'executable'", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' cpu='1'", "") TAIL, "c.xml:3: <program> has no attribute 'cpu'",
	 ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<pass/>") TAIL, "c.xml:3: <pass> is not expected in <program>",
	 "argument"},
	{__LINE__, RULE(RUN_START, "<action type='StopKernelAction'/>"),
	 "c.xml:6: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='FlushKernelBuffersAction'/>"),
	 "c.xml:6: FlushKernelBuffersAction: a program has no kernel, and its buffers are not known (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='WaitForWorkloadAction'/>"),
	 "c.xml:6: WaitForWorkloadAction: a program has no workloads to wait for (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='WaitForPressureBarrierAction'/>"),
	 "c.xml:6: WaitForPressureBarrierAction: a thread of a program that waited there could hold a lock that the "
	 "others need, and the program would hang (at n=1)",
	 ""},
	{__LINE__, RULE(RUN_START, "<action type='StartMeasurerSetAction'/>"),
	 "c.xml:6: StartMeasurerSetAction: no measurer set is named (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='StartMeasurerSetAction' tid='7'><measurerSet/></action>"),
	 "c.xml:6: StartMeasurerSetAction: the ids of a program's threads are not known before it runs (at n=1)",
	 "ThreadEventPredicate"},
	{__LINE__, RULE(RUN_START, "<action type='DisposeMeasurerSetAction'><measurerSet/><workload/></action>"),
	 "c.xml:6: DisposeMeasurerSetAction: it names a workload, and a program has none (at n=1)", ""},
	{__LINE__, RULE(RUN_START, CREATE("<measurerSet>\n<mainMeasurer type='ResourceUsageMeasurer'/></measurerSet>")),
	 "c.xml:8: ResourceUsageMeasurer: what a thread used cannot be read from outside (at n=1)",
	 "PerfEventMeasurer"},
	{__LINE__, RULE(RUN_START, CREATE("<measurerSet>\n<additionalMeasurer type='FileMeasurer'/></measurerSet>")),
	 "c.xml:8: FileMeasurer: a file is none of a thread's (at n=1)", ""},
	{__LINE__, RULE(RUN_START, CREATE("<measurerSet/>\n<stopPredicate type='WorkloadEventPredicate'/>")),
	 "c.xml:8: WorkloadEventPredicate: workloads run kernels, a program has none (at n=1)",
	 "ProgramEventPredicate"},
	{__LINE__, RULE("<predicate type='WorkloadEventPredicate'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: WorkloadEventPredicate: workloads run kernels, a program has none (at n=1)",
	 "ProgramEventPredicate"},
	{__LINE__, RULE("<predicate type='BreakpointEventPredicate'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: no place is named (at n=1)", "FUNCTION"},
	{__LINE__,
	 RULE("<predicate type='BreakpointEventPredicate' place='main' firstHit='3' lastHit='2'/>",
	      CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: hits 3 to 2 are none: the first is 1, lastHit 0 means all (at n=1)", ""},
	{__LINE__,
	 RULE("<predicate type='BreakpointEventPredicate' place='main' firstHit='0'/>", CREATE("<measurerSet/>")),
	 "c.xml:5: BreakpointEventPredicate: hits 0 to 0 are none: the first is 1, lastHit 0 means all (at n=1)", ""},
	{__LINE__, RULE(RUN_START, ""), "c.xml:4: a rule has no action (at n=1)", ""},
	{__LINE__, RULE("", CREATE("<measurerSet/>")), "c.xml:4: a rule has no predicate (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='MeasureActionExecution'><measurerSet/></action>"),
	 "c.xml:6: MeasureActionExecution: no action to be measured is named (at n=1)", ""},
	{__LINE__,
	 RULE(RUN_START,
	      "<action type='MeasureActionExecution'><measurerSet/>\n<action type='StopKernelAction'/></action>"),
	 "c.xml:7: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{__LINE__, RULE(RUN_START, "<action type='AddRuleAction'/>"),
	 "c.xml:6: AddRuleAction: no rule is named (at n=1)", ""},
	{__LINE__,
	 RULE(RUN_START,
	      "<action type='AddRuleAction'><rule>" RUN_START "\n<action type='StopKernelAction'/></rule></action>"),
	 "c.xml:7: StopKernelAction: a program has no kernel that could be asked to stop (at n=1)", ""},
	{__LINE__,
	 RULE(RUN_START, "<action type='AddRuleAction'><rule id='r'>" RUN_START
			 "<action type='AddRuleAction'><rule ref='r'/></action></rule></action>"),
	 "c.xml:6: actions are nested more than 16 deep (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='no-such-program'", "") TAIL,
	 "c.xml:3: cannot run 'no-such-program': no such program in PATH (at n=1)", "./NAME"},
	{__LINE__, HEAD AXIS PROGRAM("executable='./no-such-program'", "") TAIL,
	 "c.xml:3: cannot run './no-such-program': No such file or directory (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='/'", "") TAIL, "c.xml:3: cannot run '/': Is a directory (at n=1)",
	 ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' folder='/no/{$n}'", "") TAIL,
	 "c.xml:3: cannot run in folder '/no/1': No such file or directory (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<input file='no-such-file'/>") TAIL,
	 "c.xml:3: cannot read the input '...", "a file"},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' passes='{$n - 1}'", "") TAIL,
	 "c.xml:3: passes is 0: expected a whole number from 1 to 1000 (at n=1)", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh' followForks='maybe'", "") TAIL, "c.xml:3: ...", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<environment value='A'/>") TAIL,
	 "c.xml:3: <environment value=\"A\">: not NAME=value (at n=1)", ""},
	{__LINE__,
	 HEAD AXIS PROGRAM("executable='sh'", "<region name='a' begin='f'/><region name='a' begin='g'/>") TAIL,
	 "c.xml:3: <region name=\"a\">: each region needs a name of its own...", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "<region name='a'/>") TAIL,
	 "c.xml:3: <region> lacks the attribute 'begin'", ""},
	{__LINE__, HEAD "<axis name='region'><list values='1'/></axis>" POINT TAIL,
	 "c.xml:2: an axis cannot be called 'region'", ""},
	{__LINE__, HEAD AXIS PROGRAM("executable='sh'", "") "<quantity is='time:tsc'/>" TAIL,
	 "c.xml:3: the time stamp counter is not read for a program (at n=1)", "microSeconds"},
	{__LINE__,
	 HEAD AXIS
	 "<point><program executable='sh'/><workload><kernel type='Triad' bufferSize='8'/></workload></point>" TAIL,
	 "c.xml:3: <workload> beside <program>: a program is measured alone (at n=1)", ""},
};

START_TEST(refused)
{
	struct rot_error err;
	struct xml_controller *controller = open_text(refusals[_i].xml, &err);
	const char *message = refusals[_i].message;
	size_t length = strlen(message);
	bool is_beginning = length > 3 && strcmp(message + length - 3, "...") == 0;

	if (controller) { /* what is shown is checked when it runs */
		ck_assert_msg(xml_controller_run(controller, "out", &err) < 0, "row of line %d is accepted",
			      refusals[_i].line);
		ck_assert_uint_eq(fake_nr_calls, 0);
		ck_assert_int_ne(access("out.json", F_OK), 0);
	}
	ck_assert_msg(strncmp(err.text, message, is_beginning ? length - 3 : length + 1) == 0,
		      "row of line %d: '%s' instead of '%s'", refusals[_i].line, err.text, message);
	ck_assert_msg(strstr(err.hint, refusals[_i].hint) || strstr(err.text, refusals[_i].hint),
		      "row of line %d: hint '%s'", refusals[_i].line, err.hint);
	xml_controller_close(controller);
}
END_TEST

/* A file cut anywhere or with a byte changed is refused or means something else; it never crashes. */
START_TEST(damaged_files)
{
	char *path = controller_find_file(rot.paths, "intro"), *text = file_read(path, NULL, NULL);
	size_t length = strlen(text);
	static const char bytes[] = "<>\"'{}$&0/ \xff";

	for (size_t i = 0; i < length; i += 29) {
		struct rot_error err = {0};
		char *damaged = rot_strndup(text, i);
		struct xml_controller *controller = open_text(damaged, &err);

		ck_assert_msg(!controller && err.text[0], "cut at %zu", i);
		free(damaged);
	}
	for (size_t i = 0; i < length; i += 7) {
		struct rot_error err = {0};
		char *damaged = rot_strdup(text);
		struct xml_controller *controller;

		damaged[i] = bytes[i / 7 % (sizeof(bytes) - 1)];
		controller = open_text(damaged, &err);
		ck_assert_msg(controller || err.text[0], "changed at %zu", i);
		xml_controller_close(controller);
		free(damaged);
	}
	free(text);
	free(path);
}
END_TEST

START_TEST(missing_and_unknown)
{
	struct rot_error err = {0};

	ck_assert_int_eq(controller_run(&rot, "./none.xml", NULL, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "none.xml"));
	ck_assert_int_eq(controller_run(&rot, "traid", NULL, &err), -1);
	ck_assert_str_eq(err.text, "there is no controller 'traid'");
	ck_assert_ptr_nonnull(strstr(err.hint, "did you mean 'triad'?"));
}
END_TEST

/* ---- finding ---- */

START_TEST(current_folder_comes_first)
{
	struct controller_info *infos;
	size_t nr, found = 0;

	file_fill("triad.xml", HEAD AXIS POINT TAIL);
	file_fill("notes.xml", "<notes/>");
	file_fill("broken.xml", "<contr");
	controllers_list(rot.paths, &infos, &nr);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_str_ne(infos[i].name, "notes");
		ck_assert_str_ne(infos[i].name, "broken");
		if (strcmp(infos[i].name, "triad") != 0)
			continue;
		found++;
		ck_assert_str_eq(infos[i].description, "a test");
		ck_assert_str_eq(infos[i].place, "current folder");
	}
	ck_assert_uint_eq(found, 1);
	controllers_list_delete(infos, nr);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("xml_controller");
	TCase *tcase = tcase_create("xml_controller");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, built_in_controllers_are_valid);
	tcase_add_test(tcase, built_in_controllers_work_without_avx);
	tcase_add_test(tcase, optiflop_has_its_loops);
	tcase_add_test(tcase, triad_is_as_in_the_thesis);
	tcase_add_test(tcase, titles_change_no_hash);
	tcase_add_test(tcase, ceilings_with_variants);
	tcase_add_test(tcase, entities_of_all_kinds);
	tcase_add_test(tcase, programs);
	tcase_add_test(tcase, conditions_choose_points);
	tcase_add_test(tcase, shared_parts_are_included);
	tcase_add_test(tcase, points_without_their_library_are_left_out);
	tcase_add_test(tcase, curves_are_drawn);
	tcase_add_loop_test(tcase, refused, 0, NR_ELEMENTS(refusals));
	tcase_add_test(tcase, damaged_files);
	tcase_add_test(tcase, missing_and_unknown);
	tcase_add_test(tcase, current_folder_comes_first);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
