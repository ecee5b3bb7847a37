/* SPDX-License-Identifier: MIT */
/* Architectures: every file is valid and makes sense, machines get theirs, broken files are refused with file and line.
 */
#include "../../../core/common/step_counts.h"
#include "architecture_files.h"
#include "engine/expression.h"
#include "programs/findings.h"
#include "quantities/plan.h"
#include "testing.h"

static struct machine *
machine_of(const char *vendor, int family, int model)
{
	struct machine *machine = machine_new();

	rot_string_set(&machine->cpu_vendor, vendor);
	machine->cpu_family = family;
	machine->cpu_model = model;
	return machine;
}

static const struct {
	const char *vendor;
	int family, model;
	const char *architecture;
} machines[] = {
	{"AuthenticAMD", 26, 2, "zen5"},
	{"AuthenticAMD", 26, 68, "zen5"},
	{"AuthenticAMD", 26, 112, "zen5"},
	{"AuthenticAMD", 25, 17, "zen4"},
	{"AuthenticAMD", 25, 97, "zen4"},
	{"AuthenticAMD", 25, 160, "zen4"},
	{"AuthenticAMD", 25, 1, "zen3"},
	{"AuthenticAMD", 25, 33, "zen3"},
	{"AuthenticAMD", 25, 80, "zen3"},
	{"AuthenticAMD", 23, 49, "zen2"},
	{"AuthenticAMD", 23, 113, "zen2"},
	{"AuthenticAMD", 23, 1, "generic"},
	{"GenuineIntel", 6, 60, "haswell"},
	{"GenuineIntel", 6, 63, "haswell"},
	{"GenuineIntel", 6, 79, "broadwell"},
	{"GenuineIntel", 6, 94, "skylake"},
	{"GenuineIntel", 6, 158, "skylake"},
	{"GenuineIntel", 6, 85, "skylake-server"},
	{"GenuineIntel", 6, 126, "icelake"},
	{"GenuineIntel", 6, 106, "icelake-server"},
	{"GenuineIntel", 6, 143, "sapphirerapids"},
	{"GenuineIntel", 6, 207, "sapphirerapids"},
	{"GenuineIntel", 6, 173, "sapphirerapids"},
	{"GenuineIntel", 6, 174, "sapphirerapids"},
	{"GenuineIntel", 6, 172, "generic"},
	{"GenuineIntel", 6, 151, "generic"},
	{"AuthenticAMD", 26, 80, "generic"},
	{"GenuineIntel", 6, 42, "generic"},
	{"AuthenticAMD", 6, 60, "generic"},
	{"Unknown", 0, 0, "generic"},
};

TEST_OF(test_machine_gets_its_architecture, NR_ELEMENTS(machines))
{
	struct machine *machine =
		at_end(rot_entity_delete, machine_of(machines[_i].vendor, machines[_i].family, machines[_i].model));
	struct architecture *architecture =
		at_end(architecture_delete, architecture_load(architecture_folder(), machine, NULL, &why));

	ck_assert_msg(architecture != NULL, "%s", why.text);
	ck_assert_str_eq(architecture->name, machines[_i].architecture);
	ck_assert_str_eq(architecture->why_not.text, "");
}

TEST(test_without_counting_it_is_none)
{
	struct machine *machine = at_end(rot_entity_delete, machine_of("AuthenticAMD", 26, 2));
	struct rot_error why_not = {.text = "cannot count", .hint = "lower it"};
	struct architecture *architecture =
		at_end(architecture_delete, architecture_load(architecture_folder(), machine, &why_not, &why));

	ck_assert_msg(architecture != NULL, "%s", why.text);
	ck_assert_str_eq(architecture->name, "none");
	ck_assert_uint_eq(architecture->nr_formulas, 0);
	ck_assert_str_eq(architecture->why_not.text, "cannot count");
	ck_assert_str_eq(architecture->why_not.hint, "lower it");
}

/* Programs are not stepped: nothing of them is counted, and why is said. */
TEST(test_steps_need_no_processor)
{
	struct machine *machine = at_end(rot_entity_delete, machine_of("Unknown", 0, 0));
	const struct architecture_stepping stepping = {.caches.machine = machine, .limit = 7};
	struct rot_error why_no_program = {.text = "not programs", .hint = "events"};
	struct architecture *architecture =
		architecture_load_steps(architecture_folder(), &stepping, &why_no_program, &why);
	char *advice;

	ck_assert_msg(architecture != NULL, "%s", why.text);
	ck_assert_str_eq(architecture->name, "steps");
	ck_assert(architecture->counts_by_steps);
	ck_assert_uint_eq(architecture->stepping.limit, 7);
	ck_assert_str_eq(architecture->why_not.text, "");
	ck_assert_str_eq(architecture->of_programs->name, "none");
	ck_assert_str_eq(architecture->of_programs->why_not.text, "not programs");
	advice = architecture_advice(architecture, true);
	ck_assert_str_eq(advice, "");
	free(advice);
	advice = architecture_advice(architecture->of_programs, true);
	ck_assert_str_eq(advice, "events; or: " STEPS_ADVICE);
	free(advice);
	architecture_delete(architecture);
	ck_assert_ptr_null(architecture_load_steps("/nonexistent", &stepping, &why_no_program, &why));
}

/* In one group, in which whatever is asked for brings all. */
TEST(test_steps_are_all_that_is_counted)
{
	static const char *const names[] = {
#define STEP_COUNT_NAME(name, text) text,
		STEP_COUNTS(STEP_COUNT_NAME)
#undef STEP_COUNT_NAME
	};
	struct architecture *architecture = architecture_kept("steps");
	const struct architecture_formula *formula = architecture_formula(architecture, "instructions", "");
	cleared_by(pass_plan_clear) struct pass_plan plan = {0};

	ck_assert_uint_eq(architecture->nr_events, STEP_NR_COUNTS);
	for (size_t i = 0; i < STEP_NR_COUNTS; i++) {
		autofree char *definition = rot_format("step::%s", names[i]);

		ck_assert_str_eq(architecture->events[i].name, names[i]);
		ck_assert_str_eq(architecture->events[i].definition, definition);
	}
	ck_assert_int_eq(pass_plan_make(&plan, architecture, &formula, 1, true, NULL), 0);
	ck_assert_uint_eq(plan.nr_passes, 2);
	ck_assert_uint_eq(plan.passes[1].nr_events, STEP_NR_COUNTS);
}

/* ---- every file ---- */

static struct architecture *
file_read(int i)
{
	struct architecture *architecture = architecture_read(architecture_file(i), architecture_schema(), &why);

	if (!architecture)
		ck_abort_msg("%s", why.text);
	return architecture;
}

TEST_OF(test_file_is_named_like_its_architecture, architecture_nr_files())
{
	struct architecture *architecture = at_end(architecture_delete, file_read(_i));
	autofree char *name = rot_format("/%s.xml", architecture->name);
	const char *end = architecture_file(_i) + strlen(architecture_file(_i)) - strlen(name);

	ck_assert_str_eq(end, name);
}

/* With all counts 1 every formula is a positive number. */
TEST_OF(test_formulas_evaluate, architecture_nr_files())
{
	struct architecture *architecture = file_read(_i);
	struct expression_scope *scope = expression_scope_new(NULL);

	for (size_t i = 0; i < architecture->nr_events; i++)
		expression_scope_set_number(scope, architecture->events[i].name, 1);
	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];
		double value;

		ck_assert_msg(expression_number(scope, formula->expression, &value, &why) == 0, "%s:%d: %s",
			      architecture_file(_i), formula->line, why.text);
		ck_assert_msg(value > 0, "%s:%d: %g", architecture_file(_i), formula->line, value);
	}
	expression_scope_delete(scope);
	architecture_delete(architecture);
}

TEST_OF(test_zero_counts_evaluate, architecture_nr_files())
{
	struct architecture *architecture = at_end(architecture_delete, file_read(_i));
	struct expression_scope *scope = at_end(expression_scope_delete, expression_scope_new(NULL));

	for (size_t i = 0; i < architecture->nr_events; i++)
		expression_scope_set_number(scope, architecture->events[i].name, 0);
	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		double value = NAN;

		ck_assert_msg(expression_number(scope, architecture->formulas[i].expression, &value, &why) == 0,
			      "%s:%d: %s", architecture_file(_i), architecture->formulas[i].line, why.text);
		ck_assert_double_eq(value, 0);
	}
}

/* Counts of code by blocks may be for findings alone, which need no formula. */
TEST_OF(test_every_event_is_used_and_fits, architecture_nr_files())
{
	struct architecture *architecture = at_end(architecture_delete, file_read(_i));

	for (size_t event = 0; event < architecture->nr_events; event++) {
		bool is_used = false;

		for (size_t i = 0; i < architecture->nr_formulas; i++) {
			for (size_t k = 0; k < architecture->formulas[i].nr_events; k++)
				is_used |= architecture->formulas[i].events[k] == event;
		}
		for (size_t i = 0; architecture->counts_by_steps && finding_count_name(i); i++)
			is_used |= strcmp(architecture->events[event].name, finding_count_name(i)) == 0;
		ck_assert_msg(is_used, "%s: event '%s' is used by nobody", architecture_file(_i),
			      architecture->events[event].name);
		ck_assert_msg(pass_is_legal(architecture, &event, 1), "%s: event '%s' fits no group",
			      architecture_file(_i), architecture->events[event].name);
	}
}

TEST(test_quirks_of_zen5)
{
	struct architecture *architecture = architecture_kept("zen5");

	ck_assert_int_eq(architecture->usable_counters, 5);
	ck_assert_int_eq(architecture->counter_bits, 47);
	ck_assert_str_eq(architecture->scrub_event, "perf_raw::r5ac8");
	ck_assert_int_eq(architecture->scrub_count, 5);
	for (size_t i = 0; i < architecture->nr_events; i++)
		ck_assert_str_ne(architecture->events[i].definition, architecture->scrub_event);
}

/* Only formulas of bytes say so, and never of reads: what is stored need not be in a cache. */
TEST_OF(test_stores_go_round_caches, architecture_nr_files())
{
	struct architecture *architecture = file_read(_i);

	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];

		ck_assert_msg(!formula->goes_round || (strcmp(formula->quantity, "transferredBytes") == 0 &&
						       !strstr(formula->of, ".read")),
			      "%s:%d", architecture_file(_i), formula->line);
	}
	architecture_delete(architecture);
}

static const struct {
	const char *architecture, *of;
	bool goes_round;
} stored_bytes[] = {
	{"zen5", "llcRam.write", true}, {"zen5", "llcRam", true},        {"zen5", "l2l3.write", true},
	{"zen5", "l2l3", true},         {"zen5", "l1l2.write", false},   {"zen5", "llcRam.read", false},
	{"steps", "llcRam", true},      {"steps", "llcRam.write", true}, {"steps", "l2l3.write", false},
};

TEST_OF(test_formulas_with_such_stores, NR_ELEMENTS(stored_bytes))
{
	struct architecture *architecture = architecture_kept(stored_bytes[_i].architecture);

	ck_assert(architecture_formula(architecture, "transferredBytes", stored_bytes[_i].of)->goes_round ==
		  stored_bytes[_i].goes_round);
}

/* Grades of two formulas of the same, and which of them is used; 0: not validated. */
static const struct {
	char first, second;
	int chosen;
} graded[] = {
	{0, 0, 0},   {'A', 'A', 0}, {'B', 'A', 1}, {'A', 'B', 0}, {'C', 'B', 1}, {0, 'C', 1},
	{'C', 0, 0}, {0, 'F', 0},   {'F', 0, 1},   {'F', 'F', 0}, {'F', 'C', 1},
};

TEST_OF(test_best_formula_is_used, NR_ELEMENTS(graded))
{
	char *folder = temporary_folder_new(), *schema = architecture_schema();
	char *path = folder_write(folder, "x.xml",
				  "<architecture name='x' title='x'><event name='a' definition='b'/>"
				  "<formula quantity='interrupts' kind='measured' value='$a' source=''/>"
				  "<formula quantity='instructions' kind='measured' value='$a' source=''/>"
				  "<formula quantity='instructions' kind='measured' value='2 * $a' source=''/>"
				  "</architecture>");
	struct architecture *architecture = architecture_read(path, schema, &why);

	ck_assert_msg(architecture != NULL, "%s", why.text);
	architecture->formulas[1].grade = graded[_i].first;
	architecture->formulas[2].grade = graded[_i].second;
	ck_assert_ptr_eq(architecture_formula(architecture, "instructions", ""),
			 &architecture->formulas[1 + graded[_i].chosen]);
	ck_assert_ptr_null(architecture_formula(architecture, "instructions", "flop"));
	architecture_delete(architecture);
}

/* ---- broken files ---- */

static const struct {
	const char *name, *xml;
	int line;
	const char *complaint;
} broken[] = {
	{"not closed", "<architecture name='x' title='x'>\n<counters", 2, ""},
	{"unknown element", "<architecture name='x' title='x'>\n<colour/>\n</architecture>", 2, "colour"},
	{"bad number", "<architecture name='x' title='x'>\n\n<group plain='many'/>\n</architecture>", 3, ""},
	{"event twice",
	 "<architecture name='x' title='x'>\n<event name='a' definition='b'/>\n<event name='a' "
	 "definition='c'/>\n</architecture>",
	 3, "event 'a' is defined twice"},
	{"unknown event",
	 "<architecture name='x' title='x'>\n<event name='a' definition='b'/>\n"
	 "<formula quantity='instructions' kind='measured' value='$b' source=''/>\n</architecture>",
	 3, "no event 'b'"},
	{"formula without event",
	 "<architecture name='x' title='x'>\n<formula quantity='instructions' kind='measured' value='1' source=''/>\n"
	 "</architecture>",
	 2, "no event in"},
#define FORMULA_OF(quantity)                                                                                           \
	"<architecture name='x' title='x'>\n<event name='a' definition='b'/>\n<formula quantity='" quantity            \
	"' kind='measured' value='$a' source=''/>\n</architecture>"
	{"unknown quantity", FORMULA_OF("timee"), 3, "unknown quantity 'timee'"},
	{"unknown word", FORMULA_OF("transferredBytes' of='l1l3"), 3, "unknown word 'l1l3'"},
	{"word of another quantity", FORMULA_OF("operationCount' of='llcRam"), 3, "unknown word 'llcRam'"},
	{"without its word", FORMULA_OF("operationCount"), 3, "needs an operation"},
	{"of no event", FORMULA_OF("performance' of='flop:"), 3, "'performance' is not counted by events"},
	{"told by the system", FORMULA_OF("migrations"), 3, "'migrations' is not counted by events"},
	{"unknown rider", "<architecture name='x' title='x'>\n<ride events='a'/>\n</architecture>", 2, "no event 'a'"},
};

TEST_OF(test_broken_file_is_refused, NR_ELEMENTS(broken))
{
	char *folder = temporary_folder_new(), *path = folder_write(folder, "x.xml", broken[_i].xml);
	char *schema = architecture_schema(), *place;

	ck_assert_msg(architecture_read(path, schema, &why) == NULL, "%s was accepted", broken[_i].name);
	place = rot_format("%s:%d: ", path, broken[_i].line);
	ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0, "%s: %s", broken[_i].name, why.text);
	ck_assert_msg(strstr(why.text, broken[_i].complaint) != NULL, "%s: %s", broken[_i].name, why.text);
	free(place);
}

TEST(test_missing_folder)
{
	struct machine *machine = at_end(rot_entity_delete, machine_of("AuthenticAMD", 26, 2));

	ck_assert_ptr_null(architecture_load("/nonexistent", machine, NULL, &why));
	ck_assert_has(why.text, "/nonexistent");
}

UNIT_TESTS(.is_in_one_process = true);
