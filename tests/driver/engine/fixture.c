/* SPDX-License-Identifier: MIT */
/* A driver in a temporary folder. */
#include "fixture.h"

#include "base/configuration.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/process.h"
#include "definition.h"
#include "engine/measuring.h"
#include "engine/monitor.h"
#include "machine/machine.h"
#include "rot.h"
#include "testing.h"

struct rot rot;
char *fixture_folder;

static const char tiny_xml[] =
	"<derivedClass name='Tiny' baseType='KernelBase' cSuffix='Data' comment='adds'>\n"
	"<field name='size' type='long' default='100' comment='numbers'/>\n"
	"<field name='step' type='int' default='1' macro='TEST_STEP' comment='stride'/>\n"
	"<field name='mode' type='string' default='up' values='up down' macro='TEST_MODE' comment='order'/>\n"
	"<flags if=\"$mode = 'down'\" add='-DTEST_DOWN'/>\n"
	"<check that='$size &gt; 0' message='size must be at least 1'/>\n"
	"<requires cpuFlag='avx9000' if='$size = 9000'/>\n"
	"<dataSize bytes='8 * $size'/>\n"
	"<operations of='doublePrecisionFlop' count='$size'/>\n"
	"<operations of='singlePrecisionFlop' count='$size div ($step - 5)'/>\n"
	"<bytes border='llcRam' direction='read' count='8 * $size'/>\n"
	"<bytes border='l2l3' direction='read' if='8 * $size &gt; $l2Bytes' count='8 * $size'/>\n"
	"<bytes border='cpuL1 l2l3' direction='write' count='$cacheBytes'/>\n"
	"</derivedClass>\n";

static const char tiny_c[] = "#include \"kernel.h\"\n#include \"TinyData.h\"\n#include "
			     "\"macros/TEST_STEP.h\"\n#include \"macros/TEST_MODE.h\"\n"
			     "struct tiny { struct tiny_data data; volatile double sum; };\n"
			     "static void run(void *kernel) {\n"
			     "\tstruct tiny *t = kernel;\n"
			     "#ifdef TEST_MODE__up\n\tfor (long i = 0; i < t->data.size; i += TEST_STEP) t->sum += 1;\n"
			     "#else\n\tfor (long i = t->data.size; i > 0; i -= TEST_STEP) t->sum += 2;\n#endif\n}\n"
			     "KERNEL(tiny, \"Tiny\", .run = run);\n";

static const char other_xml[] =
	"<derivedClass name='Other' baseType='KernelBase' cSuffix='Data' comment='does nothing'>\n"
	"<field name='step' type='int' default='1' macro='TEST_STEP' comment='stride'/>\n"
	"</derivedClass>\n";

static const char other_c[] = "#include \"kernel.h\"\n#include \"OtherData.h\"\n#include \"macros/TEST_STEP.h\"\n"
			      "struct other { struct other_data data; };\n"
			      "static void run(void *kernel) { (void)kernel; }\n"
			      "KERNEL(other, \"Other\", .run = run);\n";

static const char broken_xml[] =
	"<derivedClass name='Broken' baseType='KernelBase' cSuffix='Data' comment='no C'></derivedClass>\n";
static const char missing_xml[] =
	"<derivedClass name='Missing' baseType='KernelBase' cSuffix='Data' comment='no file'></derivedClass>\n";

char *
fixture_path(const char *path)
{
	return rot_format("%s/%s", fixture_folder, path);
}

void
fixture_write(const char *path, const char *text, bool executable)
{
	autofree char *full = fixture_path(path), *folder = rot_strndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_msg(folder_make(folder, &why) == 0 && file_write(full, text, strlen(text), false, &why) == 0, "%s",
		      why.text);
	if (executable)
		ck_assert_int_eq(chmod(full, 0755), 0);
}

static void
link_real(const char *path)
{
	autofree char *from = built_path("%s", path), *to = rot_format("%s/built/%s", fixture_folder, path);

	ck_assert_int_eq(symlink(from, to), 0);
}

static void
open_rot(void)
{
	rot = (struct rot){.configuration = configuration_new(), .paths = rot_calloc(1, sizeof(struct paths))};
	rot.paths->data = rot_strdup(getenv("top_srcdir"));
	rot.paths->built = fixture_path("built");
	rot.paths->cache = fixture_path("cache");
	rot.paths->user = fixture_path("user");
	rot.monitor = monitor_new();
	rot.registry = rot_registry_new();
	rot.kernels = definitions_new();
	rot.machine = machine_read(source_path("tests/machines/zen5-turin-kvm"), &why);
	ck_assert_msg(rot.machine != NULL, "%s", why.text);
	ck_assert_msg(rot_registry_add_all(rot.registry, entities, &why) == 0 && kernels_load(&rot, &why) == 0, "%s",
		      why.text);
	rot.measuring = measuring_new(&rot);
}

void
fixture_setup(void)
{
	fixture_folder = temporary_folder_new();
	fixture_write("cache/CACHEDIR.TAG", "", false);
	fixture_write("log/started", "", false);
	fixture_write("built/core/rot-core.sha256", "as it is\n", false);
	link_real("core/librot-child.a");
	link_real("core/core-flags.mk");
	link_real("core/rot-core");
	link_real("shared-entities");
	fixture_write("user/kernels/Tiny/Tiny.xml", tiny_xml, false);
	fixture_write("user/kernels/Tiny/Tiny.c", tiny_c, false);
	fixture_write("user/kernels/Other/Other.xml", other_xml, false);
	fixture_write("user/kernels/Other/Other.c", other_c, false);
	fixture_write("user/kernels/Broken/Broken.xml", broken_xml, false);
	fixture_write("user/kernels/Broken/Broken.c", "int this is no C;\n", false);
	fixture_write("user/kernels/Missing/Missing.xml", missing_xml, false);
	open_rot();
	fixture_configure("ccache", "no");
}

static void
close_rot(void)
{
	measuring_delete(rot.measuring);
	rot_entity_delete(rot.machine);
	definitions_delete(rot.kernels);
	rot_registry_delete(rot.registry);
	monitor_delete(rot.monitor);
	paths_delete(rot.paths);
	configuration_delete(rot.configuration);
	rot = (struct rot){0};
}

void
fixture_restart(void)
{
	close_rot();
	open_rot();
	fixture_configure("ccache", "no");
}

void
fixture_teardown(void)
{
	close_rot();
}

void
fixture_configure(const char *key, const char *value)
{
	ck_assert_ok(configuration_set(rot.configuration, CONFIGURATION_COMMAND_LINE, key, value, &why));
}

void
fixture_log_program(const char *program)
{
	const char *path = getenv("PATH");
	autofree char *real = process_find(program);
	autofree char *text =
		rot_format("#!/bin/sh\necho \"$@\" >>%s/log/%s\nexec %s \"$@\"\n", fixture_folder, program, real);
	autofree char *name = rot_format("bin/%s", program), *bin = fixture_path("bin"),
		      *longer = rot_format("%s:%s", bin, path);

	fixture_write(name, text, true);
	if (strncmp(path, bin, strlen(bin)) != 0)
		setenv("PATH", longer, 1);
}

void
fixture_replace_core(const char *script)
{
	autofree char *real = built_path("core/rot-core"), *core = fixture_path("built/core/rot-core"), *text = NULL;
	const char *place = strstr(script, "REAL");

	text = place ? rot_format("#!/bin/sh\n%.*s%s%s\n", (int)(place - script), script, real, place + 4)
		     : rot_format("#!/bin/sh\n%s\n", script);
	unlink(core);
	fixture_write("built/core/rot-core", text, true);
}

int
fixture_count(const char *name)
{
	autofree char *path = rot_format("%s/log/%s", fixture_folder, name), *text = file_read(path, NULL, NULL);
	int nr = 0;

	for (const char *s = text; s && *s; s++)
		nr += *s == '\n';
	return nr;
}

int
fixture_count_compiles(void)
{
	autofree char *path = fixture_path("log/gcc"), *text = file_read(path, NULL, NULL);
	int nr = 0;

	for (const char *s = text; s && (s = strstr(s, " -c ")); s++)
		nr++;
	return nr;
}

struct measurement *
fixture_measurement(const char *kernel, const char *const *fields)
{
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();
	struct measurer_set *set = measurer_set_new();
	const struct rot_class *class = rot_registry_find(rot.registry, kernel);

	ck_assert_msg(class != NULL, "no kernel %s", kernel);
	workload->kernel = rot_entity_new(class);
	workload->measurer_set = set;
	set->main_measurer = (struct measurer_base *)execution_time_measurer_new();
	for (; fields && *fields; fields++) {
		autofree char *name = rot_strndup(*fields, strcspn(*fields, "="));

		ck_assert_ok(rot_entity_set(workload->kernel, name, strchr(*fields, '=') + 1, &why));
	}
	measurement_workloads_add(measurement, workload);
	return measurement;
}

struct kernel_base *
fixture_kernel(const struct measurement *measurement)
{
	return measurement_workloads_at(measurement, 0)->kernel;
}
