/* SPDX-License-Identifier: MIT */
/* C controllers: compiled, loaded and run; not compiled again; what is said when one is wrong. */
#include "base/configuration.h"
#include "base/process.h"
#include "experiments/c_controller.h"
#include "experiments/experiment.h"
#include "experiments/find.h"
#include "fake_rot.h"
#include "testing.h"

static struct rot rot;

/* Functions that the loaded controller calls must be in this program. */
void *const used_by_controllers[] = {
	(void *)experiment_new,  (void *)experiment_delete, (void *)experiment_add_point, (void *)experiment_write,
	(void *)measurement_new, (void *)workload_new,      (void *)rot_registry_find,    (void *)rot_entity_set,
};

static const char source[] =
	"#include \"experiments/experiment.h\"\n"
	"#include \"rot.h\"\n"
	"#include \"answer.h\"\n"
	"static int\n"
	"measure(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)\n"
	"{\n"
	"	struct experiment *experiment = experiment_new(rot, self->name, output_name, 1, err);\n"
	"	struct experiment_position position = { \"s\", \"l\", { NULL, 0 } };\n"
	"	struct quantity_request time = { .name = \"time\" };\n"
	"	struct measurement *measurement = measurement_new();\n"
	"	struct workload *workload = workload_new();\n"
	"	int rc = -1;\n"
	"\n"
	"	workload->kernel = rot_entity_new(rot_registry_find(rot->registry, \"Triad\"));\n"
	"	measurement_workloads_add(measurement, workload);\n"
	"	if (experiment && rot_entity_set(workload->kernel, \"bufferSize\", ANSWER, err) == 0 &&\n"
	"	    experiment_add_point(experiment, &position, measurement, &time, 1, 5, err) == 0)\n"
	"		rc = experiment_write(experiment, true, err);\n"
	"	experiment_delete(experiment);\n"
	"	rot_graph_delete(measurement);\n"
	"	return rc;\n"
	"}\n"
	"const struct rot_controller controller = { .name = \"mine\", .description = \"a test\", .measure = measure "
	"};\n";

static void
setup(void)
{
	fake_rot_open(&rot);
	configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, "compiler", "cc", NULL);
	file_fill("mine.c", source);
	file_fill("answer.h", "#define ANSWER \"42\"\n");
}

TEST(compiled_and_run)
{
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	ck_assert_msg(controller_run(&rot, "./mine.c", NULL, &why) == 0, "%s %s", why.text, why.hint);
	ck_assert_uint_eq(fake_nr_calls, 1);
	ck_assert_int_eq(fake_nr_runs, 5);
	ck_assert_int_eq(access("mine.json", R_OK), 0);
	ck_assert_ok(controller_run(&rot, "mine", "again", &why));
	ck_assert_int_eq(access("again.json", R_OK), 0);
}

TEST(compiled_only_when_changed)
{
	const struct rot_controller *controller = c_controller_load(rot.paths, rot.configuration, "mine.c", &why);

	ck_assert_msg(controller != NULL, "%s", why.text);
	ck_assert_str_eq(controller->name, "mine");
	/* A header that is broken, but older than the object, is not looked at; a newer one is. */
	file_fill("answer.h", "#error broken\n");
	ck_assert_ptr_null(c_controller_load(rot.paths, rot.configuration, "mine.c", &why));
	ck_assert_has(why.text, "broken");
	file_fill("answer.h", "#define ANSWER \"43\"\n");
	ck_assert_ptr_nonnull(c_controller_load(rot.paths, rot.configuration, "mine.c", &why));
	/* Unchanged, it needs no compiler program; the name is part of the key, so a folder on PATH decides. */
	setenv("PATH", "/nonexistent", 1);
	ck_assert_ptr_nonnull(c_controller_load(rot.paths, rot.configuration, "mine.c", &why));
	file_fill("mine.c", "int x;\n");
	ck_assert_ptr_null(c_controller_load(rot.paths, rot.configuration, "mine.c", &why));
	ck_assert_has(why.hint, "apt-get install");
}

static const struct {
	const char *source, *text, *hint;
} refusals[] = {
	{"int main(", "cannot compile", "compiler's messages"},
	{"int x;\n", "does not define a controller", "const struct rot_controller controller"},
	{"void nowhere(void); void *const controller[5] = { (void *)nowhere };\n", "cannot load", ""},
};

TEST_OF(refused, NR_ELEMENTS(refusals))
{
	file_fill("mine.c", refusals[_i].source);
	ck_assert_int_eq(controller_run(&rot, "mine.c", NULL, &why), -1);
	ck_assert_has(why.text, refusals[_i].text);
	ck_assert_has(why.hint, refusals[_i].hint);
}

TEST(missing_file)
{
	ck_assert_int_eq(controller_run(&rot, "./none.c", NULL, &why), -1);
	ck_assert_has(why.text, "none.c");
}

static bool
has_compiler(void)
{
	autofree char *compiler = process_find("cc");
	const bool has = compiler != NULL;

	if (!has)
		fprintf(stderr, "SKIP: there is no compiler cc\n");
	return has;
}

UNIT_TESTS(.needs = {has_compiler}, .set_up = setup);
