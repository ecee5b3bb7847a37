/* SPDX-License-Identifier: MIT */
/* XML controllers: what they measure, and how they are found. */
#include "base/configuration.h"
#include "base/paths.h"
#include "definition.h"
#include "engine/measuring.h"
#include "experiments/experiment_internal.h"
#include "experiments/find.h"
#include "experiments/xml_run.h"
#include "fake_rot.h"
#include "machine/measured.h"
#include "planning/controller_file.h"
#include "planning/xml_plan.h"
#include "quantities/samples.h"
#include "testing.h"
#include "xml_fixture.h"

/* ---- what is measured ---- */

TEST(built_in_controllers_are_valid)
{
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr, nr_built_in = 0;

	controllers_list(&pool, rot.paths, &infos, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct xml_controller *controller;
		struct experiment *experiment;

		if (!infos[i].path[0]) /* linked with rot */
			continue;
		controller = open_file(infos[i].path);
		/* Its libraries may be missing. */
		if (!controller && strstr(why.text, "nothing of this controller can be measured here"))
			continue;
		ck_assert_msg(controller != NULL, "%s: %s %s", infos[i].name, why.text, why.hint);
		ck_assert_msg(infos[i].description[0] != '\0', "%s has no comment", infos[i].name);
		experiment = experiment_open("c", "c", 0);
		ck_assert_msg(xml_show(controller, experiment, &why) == 0, "%s: %s %s", infos[i].name, why.text,
			      why.hint);
		nr_built_in += strcmp(infos[i].place, "built in") == 0;
	}
	ck_assert_uint_ge(nr_built_in, 6);
}

TEST(built_in_controllers_work_without_avx)
{
	static const char *const names[] = {"arithmetic", "default-peaks", "optiflop", "streams"};

	for (size_t i = 0; i < rot.machine->cpu_flags.nr; i++)
		rot_string_set(&((char **)rot.machine->cpu_flags.items)[i], "none");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		autofree char *path = rot_format("%s/driver/controllers/%s.xml", rot.paths->data, names[i]);
		struct xml_controller *controller = open_file(path);

		ck_assert_msg(controller != NULL, "%s: %s", why.text, why.hint);
		ck_assert_uint_gt(controller->nr_planned + controller->nr_ceilings, 0);
	}
}

/* Checks the least buffers of the third level, and those for memory. */
static void
check_buffers(const char *path, double third_bytes, double memory_bytes)
{
	struct xml_controller *controller = opened_file(path);
	double least[2] = {INFINITY, INFINITY};

	for (size_t i = 0; i < controller->nr_ceilings; i++) {
		const struct planned_ceiling *ceiling = &controller->ceilings[i];
		const bool is_memory = ceiling->border && strcmp(ceiling->border, "llcRam") == 0;
		double bytes;

		if (!is_memory && (!ceiling->border || strcmp(ceiling->border, "l2l3") != 0))
			continue;
		if (rot_entity_number(measurement_workloads_at(ceiling->measurement, 0)->kernel, "bufferSize", &bytes))
			least[is_memory] = fmin(least[is_memory], bytes);
	}
	ck_assert_double_eq_tol(least[0], third_bytes, 1024);
	ck_assert_double_eq_tol(least[1], memory_bytes, 1024);
}

/* Told are 64 MiB; measured 40 MiB, long ago and today, and more. */
TEST(buffers_follow_the_measured_last_level)
{
	static const char *const created[] = {"2020-01-01T00:00:00Z", ""};
	autofree char *path = rot_format("%s/driver/controllers/default-peaks.xml", rot.paths->data);
	struct measured_levels levels = {.levels = {{32 << 10, 32 << 10, 1, 4}, {1 << 20, 1 << 20, 4, 14}, {0}, {0}},
					 .nr = 4},
			       *before = rot.measured;
	const double mib = 1 << 20;

	rot.machine->llc_bytes = 64 << 20;
	rot.measured = NULL;
	check_buffers(path, 8 * mib, 256 * mib);
	rot.measured = &levels;
	for (int i = 0; i < 2; i++) {
		levels.levels[2].bytes = 40 << 20;
		strcpy(levels.when.created, created[i]);
		check_buffers(path, i == 0 ? 8 * mib : 5 * mib, 256 * mib);
	}
	levels.levels[2].bytes = 80 << 20;
	check_buffers(path, 8 * mib, 256 * mib);
	rot.measured = before;
}

/* Every loop in both precisions, the quick way at fewer lengths; the lengths fill shares of the first-level cache. */
TEST(optiflop_has_its_loops)
{
	autofree char *path = rot_format("%s/driver/controllers/optiflop.xml", rot.paths->data);
	size_t nr_loops[2] = {0}, nr_in_registers[2] = {0};

	for (int is_quick = 0; is_quick < 2; is_quick++) {
		struct xml_controller *controller;

		configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "sizes", is_quick ? "small" : "all",
				  NULL);
		controller = opened_file(path);
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
	}
	ck_assert_uint_eq(nr_loops[1], 18 * 2 * 2);
	ck_assert_uint_eq(nr_loops[0], 18 * 2 * (11 + 2 * 2));
	ck_assert_uint_eq(nr_in_registers[0], 4);
	ck_assert_uint_eq(nr_in_registers[1], 4);
}

/* A machine of that many CPUs. */
static void
set_cpus(int nr)
{
	rot.machine->online_cpus.nr = 0;
	for (int i = 0; i < nr; i++)
		machine_online_cpus_add(rot.machine, i);
}

static bool
has_series(const struct xml_controller *controller, const char *series)
{
	for (size_t i = 0; i < controller->nr_planned; i++)
		if (strcmp(controller->planned[i].series, series) == 0)
			return true;
	return false;
}

/* One workload of each point is measured; what needs another CPU is there where there is one. */
TEST(exptime1_loads_what_there_is)
{
	static const char *const series[] = {"Idle", "AddSame", "DiskSame", "AddOther", "DiskOther"};
	autofree char *path = rot_format("%s/driver/controllers/exptime1.xml", rot.paths->data);

	for (int nr_cpus = 1; nr_cpus <= 2; nr_cpus++) {
		struct xml_controller *controller;

		set_cpus(nr_cpus);
		controller = opened_file(path);
		for (size_t i = 0; i < sizeof series / sizeof *series; i++)
			ck_assert_int_eq(has_series(controller, series[i]), i < 3 || nr_cpus > 1);
		for (size_t i = 0; i < controller->nr_planned; i++) {
			const struct planned_point *p = &controller->planned[i];
			const bool is_idle = strcmp(p->series, "Idle") == 0;

			ck_assert_uint_eq(measurement_nr_workloads(p->measurement), is_idle ? 1 : 2);
			ck_assert(!workload_is_load(measurement_workloads_at(p->measurement, 0)));
			if (!is_idle)
				ck_assert(workload_is_load(measurement_workloads_at(p->measurement, 1)));
		}
	}
}

/* To the next CPU, half way through, and the last one; nothing twice. */
TEST(cpu_migration_goes_near_and_far)
{
	static const struct {
		int nr_cpus;
		const char *targets;
	} machines[] = {{1, ""}, {2, " 1"}, {3, " 1 2"}, {4, " 1 2 3"}, {64, " 1 32 63"}};
	autofree char *path = rot_format("%s/driver/controllers/cpuMigration.xml", rot.paths->data);

	for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
		struct xml_controller *controller;
		char targets[64] = "";

		set_cpus(machines[m].nr_cpus);
		controller = opened_file(path);
		for (size_t i = 0; i < controller->nr_planned; i++) {
			const struct coordinate *target = point_coordinate(controller->planned[i].at, "target"),
						*size = point_coordinate(controller->planned[i].at, "size");

			if (size->number == 0 && target->number > 0)
				snprintf(targets + strlen(targets), sizeof(targets) - strlen(targets), " %g",
					 target->number);
		}
		ck_assert_str_eq(targets, machines[m].targets);
	}
}

TEST(triad_is_as_in_the_thesis)
{
	autofree char *path = controller_find_file(rot.paths, "triad");
	struct xml_controller *controller = open_file(path);

	ck_assert_uint_eq(controller->nr_planned, 9);
	for (size_t i = 0; i < 9; i++) {
		const struct planned_point *p = &controller->planned[i];
		double size;

		ck_assert_str_eq(p->series, "Triad");
		ck_assert(rot_entity_number(measurement_workloads_at(p->measurement, 0)->kernel, "bufferSize", &size));
		ck_assert_double_eq(size, 10000.0 * (double)(i + 1));
		ck_assert_double_eq(strtod(p->label, NULL), size);
		ck_assert_int_eq(p->nr_runs, 10);
	}
}

/* Only what goes into the measurement is hashed. */
TEST(titles_change_no_hash)
{
	struct xml_controller *a = open_text(HEAD AXIS POINT TAIL);
	struct xml_controller *b =
		open_text("<controller name='other' comment='x'>\n<axis name='k'><value is='2'/></axis>"
			  "<quantity is='time'/><point series='t' label='z'><workload>"
			  "<kernel type='Triad' bufferSize='{$k}'/></workload></point>"
			  "<plot type='series' title='T' x='k' y='time'/>" TAIL);
	autofree char *first = measuring_description_hash(&rot, a->planned[0].measurement);
	autofree char *second = measuring_description_hash(&rot, a->planned[1].measurement);
	autofree char *other = measuring_description_hash(&rot, b->planned[0].measurement);

	ck_assert_str_eq(second, other);
	ck_assert_str_ne(first, second);
}

/* Ceilings of a space of their own inside the controller's, with variants, of which the first good seed is planned. */
TEST(ceilings_with_variants)
{
	struct xml_controller *c = opened_text(
		HEAD AXIS
		"<ceilings><axis name='m'><list values='5 6'/></axis><skip if='$n = 2 and $m = 6'/>"
		"<ceiling name='{$n} {$m}' performance='doublePrecisionFlop' access='x{$m}' instructionSet='SSE'>"
		"<axis name='dlp'><range from='1' to='19' step='1'/></axis><axis name='unroll'><list values='1 "
		"{$m}'/></axis>"
		"<seed dlp='17' unroll='5'/><seed dlp='12' unroll='{$m}'/><seed if='$m = 5' dlp='1' unroll='1'/>"
		"<workload><kernel type='Arithmetic' iterations='10' dlp='{$dlp}' "
		"unroll='{$unroll}'/></workload></ceiling>"
		"</ceilings>" TAIL);
	static const char *const names[] = {"1 5", "1 6", "2 5"};
	static const size_t nr_seeds[] = {3, 2, 3};
	const struct planned_ceiling *ceiling;
	autograph struct measurement *variant = NULL;
	double work, dlp;

	ck_assert_uint_eq(c->nr_ceilings, 3);
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
	ck_assert_int_lt(xml_plan_ceiling_variant(c, ceiling, (const int[]){17, 6}, &variant, &work, &why), 0);
	ck_assert_ptr_null(variant);
	ck_assert_int_eq(xml_plan_ceiling_variant(c, ceiling, (const int[]){3, 1}, &variant, &work, &why), 0);
	ck_assert_double_eq(work, 10 * 3 * 1 * 2);
}

TEST(entities_of_all_kinds)
{
	struct xml_controller *c = opened_text(
		HEAD
		"<point runs='3'>\n"
		"<workload id='w' cpu='0'><kernel id='k' type='Dummy'/></workload>\n"
		"<workload><kernel ref='k'/></workload>\n"
		"<configurator type='RunCommandConfigurator'><beforeRun executable='true'><argument value='{1+1}'/>"
		"<argument value='b c'/></beforeRun></configurator>\n"
		"<rule><predicate type='WorkloadEventPredicate' event='kernelStop'><workload ref='w'/></predicate>"
		"<action type='FlushKernelBuffersAction'><kernel ref='k'/></action></rule>\n"
		"</point>" TAIL);
	const struct measurement *m;
	const struct rule *rule;
	const struct run_command *command;

	/* Running the check on a kernel needs it to be there: a reference counts. */
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
}

/* Texts of all kinds with expressions; the region adds a coordinate. */
TEST(programs)
{
	struct xml_controller *c = opened_text(
		HEAD AXIS "<point series='s' label='{$n}'>\n"
			  "<program executable='sh' folder='{concat(\"/\", \"tmp\")}' standardInput='/dev/null' "
			  "exitStatus='0 {$n}'"
			  " followForks='{$n = 1}' passes='{$n}' regionBackend='int3'>"
			  "<argument value='-c'/><argument value='exit {$n}; {{ }}'/><environment value='A={$n}'/>"
			  "<environment value='B='/><input file='/dev/../bin/sh'/>"
			  "<region name='r' begin='main' lastHit='{$n}'/></program></point>\n"
			  "<plot type='roofline' x='operationalIntensity:flop:llcRam' y='performance:flop' if='$region "
			  "= \"r\"'/>" TAIL);
	const struct program_workload *workload;

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
}

TEST(conditions_choose_points)
{
	struct xml_controller *c = opened_text(
		HEAD "<axis name='n'><range from='1' to='4' step='1'/></axis><skip if='$n = 2'/>"
		     "<point if='$n != 3' label='a{$n}'><workload><kernel type='Triad' "
		     "bufferSize='{$n}'/></workload></point>"
		     "<point label='b{$n}'><workload><kernel type='Triad' bufferSize='{$n}'/></workload></point>" TAIL);
	char labels[64] = "";

	for (size_t i = 0; i < c->nr_planned; i++)
		strcat(labels, c->planned[i].label);
	ck_assert_str_eq(labels, "a1b1b3a4b4");
}

/* Wht needs none: its point stays. */
TEST(points_without_their_library_are_left_out)
{
	struct xml_controller *c = opened_text(
		HEAD
		"<axis name='kernel'><list values='Wht Daxpy'/></axis>\n"
		"<point series='{$kernel}' label=''><workload><kernel type='{$kernel}'/></workload></point>\n" TAIL);
	const struct definition *daxpy = definitions_find(rot.kernels, "Daxpy");
	struct definition_row *rows = (struct definition_row *)daxpy->rows;

	for (size_t i = 0; i < daxpy->nr_rows; i++)
		if (rows[i].kind == DEFINITION_NEEDS)
			rows[i].of = "libthereisnosuch.so.1";
	c = opened_text(
		HEAD
		"<axis name='kernel'><list values='Wht Daxpy'/></axis>\n"
		"<point series='{$kernel}' label=''><workload><kernel type='{$kernel}'/></workload></point>\n" TAIL);
	ck_assert_uint_eq(c->nr_planned, 1);
	ck_assert_str_eq(c->planned[0].series, "Wht");
	ck_assert_uint_eq(c->missing.nr, 1);
	ck_assert_str_eq(c->missing.items[0],
			 "kernel 'Daxpy' needs the library libthereisnosuch.so.1: install libopenblas0-pthread");
	c = open_text(HEAD "<point series='s' label=''><workload><kernel type='Daxpy'/></workload></point>\n" TAIL);
	ck_assert_ptr_null(c);
	ck_assert_str_eq(why.text, "c.xml:1: nothing of this controller can be measured here: kernel 'Daxpy' needs the "
				   "library libthereisnosuch.so.1: install libopenblas0-pthread");
	c = opened_text(HEAD "<choice name='c' best='performance:flop' otherwise='none'><axis name='k'><list values='1 "
			     "2'/></axis><workload><kernel type='Daxpy'/></workload></choice>\n"
			     "<point series='{$c}' label=''><workload><kernel type='Wht'/></workload></point>\n" TAIL);
	ck_assert_str_eq(c->planned[0].series, "none");
	ck_assert_uint_eq(c->missing.nr, 1);
}

/* Theory beside points, over the same axis; alone where the quantity is not known. */
TEST(curves_are_drawn)
{
	struct xml_controller *c = opened_text(
		HEAD AXIS POINT "<plot type='series' title='T' x='n' y='time'>\n"
				"<curve name='twice' from='1' to='100' y='{2 * $n}'/>"
				"<marker at='{$lineBytes * 2}' label='two lines'/></plot>\n"
				"<plot type='series' name='p' title='T' x='n' y='tlbMisses' optional='true'>\n"
				"<curve name='half' from='1' to='100' y='{$n div 2}'/></plot>\n" TAIL);
	struct experiment *experiment = experiment_open("c", "c", 0);
	const struct experiment_own_plot *plot;

	ck_assert_msg(xml_show(c, experiment, &why) == 0, "%s %s", why.text, why.hint);
	ck_assert_uint_eq(experiment->nr_plots, 2);
	plot = &experiment->plots[0];
	ck_assert_uint_eq(plot->nr_curves, 1);
	ck_assert_str_eq(plot->curves[0].name, "twice");
	ck_assert_uint_eq(plot->nr_markers, 1);
	ck_assert_double_eq(plot->markers[0].x, 128);
	ck_assert_str_eq(plot->markers[0].label, "two lines");
	ck_assert_double_eq(plot->curves[0].points[0].y.value, 2);
	ck_assert_double_eq_tol(plot->curves[0].points[plot->curves[0].nr - 1].y.value, 200, 1e-9);

	c = open_text(HEAD AXIS POINT "<plot type='series' title='T' x='n' y='time'>\n"
				      "<curve name='no' from='0' to='1' y='{$n}'/></plot>\n" TAIL);
	experiment = experiment_open("c", "c", 0);
	ck_assert_int_eq(xml_show(c, experiment, &why), -1);
	ck_assert_str_eq(why.text, "c.xml:5: <curve> from 0 to 1: expected 0 < from < to");
}

/* Where the data are as large as a cache: no line for a level that nobody tells, none twice where the last one is the
 * second. */
TEST(caches_are_marked)
{
	static const struct {
		int64_t l1, l2, llc;
		size_t nr;
		const char *last;
		double at;
	} cases[] = {
		{32768, 1 << 20, 32 << 20, 3, "last-level cache", 2097153},
		{32768, 1 << 20, 1 << 20, 2, "L2", 65537},
		{32768, 0, 1 << 20, 2, "last-level cache", 65537},
		{0, 0, 0, 0, "", 0},
	};
	const int64_t l1 = rot.machine->l1_data_bytes, l2 = rot.machine->l2_bytes, llc = rot.machine->llc_bytes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct xml_controller *c =
			opened_text(HEAD AXIS POINT "<plot type='series' title='T' x='n' y='time'>\n"
						    "<cacheMarkers at='{$bytes div 16 + 1}'/></plot>\n" TAIL);
		struct experiment *experiment = experiment_open("c", "c", 0);
		const struct experiment_own_plot *plot;

		rot.machine->l1_data_bytes = cases[i].l1;
		rot.machine->l2_bytes = cases[i].l2;
		rot.machine->llc_bytes = cases[i].llc;
		ck_assert_msg(xml_show(c, experiment, &why) == 0, "%s %s", why.text, why.hint);
		plot = &experiment->plots[0];
		ck_assert_uint_eq(plot->nr_markers, cases[i].nr);
		if (cases[i].nr) {
			ck_assert_str_eq(plot->markers[cases[i].nr - 1].label, cases[i].last);
			ck_assert_double_eq(plot->markers[cases[i].nr - 1].x, cases[i].at);
		}
	}
	rot.machine->l1_data_bytes = l1;
	rot.machine->l2_bytes = l2;
	rot.machine->llc_bytes = llc;
}

TEST(shared_parts_are_included)
{
	struct xml_controller *c;

	file_fill("part.xml",
		  "<shared>\n<axis name='n'><list values='5 6'/></axis>\n<quantity is='time'/>\n</shared>\n");
	c = opened_text("<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
			"<xi:include href='part.xml'/>\n" POINT TAIL);
	ck_assert_uint_eq(c->nr_planned, 2);
	ck_assert_uint_eq(c->planned[0].nr_requests, 1);

	file_fill("part.xml", "<shared>\n\n<axis name='n'><list value='5 6'/></axis>\n</shared>\n");
	c = open_text("<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
		      "<xi:include href='part.xml'/>\n" POINT TAIL);
	ck_assert_ptr_null(c);
	ck_assert_str_eq(why.text, "part.xml:3: <list> has no attribute 'value'");
	c = open_text("<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
		      "<xi:include href='missing.xml'/>\n" POINT TAIL);
	ck_assert_ptr_null(c);
	ck_assert_has(why.text, "missing.xml");
}

/* A copied controller has the parts of rot's own folder, unless they are copied, too. */
TEST(copies_find_the_parts_of_rot)
{
	static const char text[] = "<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n" AXIS
				   "<xi:include href='parts/threads.xml'/>\n" POINT TAIL;

	opened_text(text);
	ck_assert_int_eq(mkdir("parts", 0700), 0);
	file_fill("parts/threads.xml", "<shared>\n\n<axis name='n'><list value='5 6'/></axis>\n</shared>\n");
	ck_assert_ptr_null(open_text(text));
	ck_assert_str_eq(why.text, "parts/threads.xml:3: <list> has no attribute 'value'");
	ck_assert_int_eq(unlink("parts/threads.xml") | rmdir("parts"), 0);
}

static void
part_including(const char *name, const char *namespace, const char *included)
{
	autofree char *text =
		rot_format("<shared xmlns:xi='%s'>\n<xi:include href='%s'/>\n</shared>\n", namespace, included);

	file_fill(name, text);
}

TEST(a_circle_of_parts_is_told)
{
	static const char text[] = "<controller name='c' comment='' xmlns:xi='http://www.w3.org/2001/XInclude'>\n"
				   "<xi:include href='first.xml'/>\n" POINT TAIL;

	part_including("first.xml", "http://www.w3.org/2003/XInclude", "second.xml");
	part_including("second.xml", "http://www.w3.org/2001/XInclude", "first.xml");
	ck_assert_ptr_null(open_text(text));
	ck_assert_str_eq(why.text, "second.xml:2: files include each other in a circle: first.xml, second.xml, "
				   "first.xml");
	part_including("first.xml", "http://www.w3.org/2001/XInclude", "c.xml");
	ck_assert_ptr_null(open_text(text));
	ck_assert_str_eq(why.text, "first.xml:2: files include each other in a circle: c.xml, first.xml, c.xml");
	part_including("first.xml", "http://www.w3.org/2001/XInclude", "first.xml");
	ck_assert_ptr_null(open_text(text));
	ck_assert_str_eq(why.text, "first.xml:2: files include each other in a circle: first.xml, first.xml");
}

/* ---- finding ---- */

TEST(missing_and_unknown)
{
	ck_assert_int_eq(controller_run(&rot, "./none.xml", NULL, &why), -1);
	ck_assert_has(why.text, "none.xml");
	ck_assert_int_eq(controller_run(&rot, "traid", NULL, &why), -1);
	ck_assert_str_eq(why.text, "there is no controller 'traid'");
	ck_assert_has(why.hint, "did you mean 'triad'?");
}

TEST(current_folder_comes_first)
{
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr, found = 0;

	file_fill("triad.xml", HEAD AXIS POINT TAIL);
	file_fill("notes.xml", "<notes/>");
	file_fill("broken.xml", "<contr");
	controllers_list(&pool, rot.paths, &infos, &nr);
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
}

UNIT_TESTS(.set_up = setup);
