/* SPDX-License-Identifier: MIT */
/* rot's own kernels for tests. */
#include "fixture.h"
#include "base/files.h"
#include "definition.h"
#include "engine/core_description.h"
#include "engine/kernel_work.h"
#include "testing.h"

struct rot kernels_rot;
char *kernels_folder;
const char *kernels_compilers[4];

static void
must(int rc, const struct rot_error *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void
open_definitions(void)
{
	autofree char *generated = rot_format("%s/generated", kernels_folder);

	kernels_rot.registry = rot_registry_new();
	kernels_rot.kernels = definitions_new();
	must(rot_registry_add_all(kernels_rot.registry, entities, &why), &why);
	must(definitions_load_folder(kernels_rot.kernels, source_path("kernels"), &why), &why);
	must(definitions_resolve(kernels_rot.kernels, kernels_rot.registry, &why), &why);
	must(folder_make(generated, &why), &why);
	must(definitions_write_c(kernels_rot.kernels, generated, "kernel_entities", &why), &why);
}

static void
open_machine(void)
{
	static const char *const flags[] = {"avx",      "avx2", "avx512_vpopcntdq", "avx512dq", "avx512f",
					    "avx512vl", "fma",  "popcnt",           "sse4_1",   "sse4_2"}; /* sorted */

	kernels_rot.machine = machine_new();
	kernels_rot.machine->l1_data_bytes = 32 << 10;
	kernels_rot.machine->l2_bytes = 1 << 20;
	kernels_rot.machine->llc_bytes = 32 << 20;
	kernels_rot.machine->memory_bytes = 4L << 30;
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		machine_cpu_flags_add(kernels_rot.machine, flags[i]);
}

static void
find_compilers(void)
{
	static const char *const names[] = {"gcc", "clang", "cc"};
	size_t nr = 0;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if ((nr == 0 || strcmp(names[i], "cc") != 0) && has_program(names[i]))
			kernels_compilers[nr++] = names[i];
}

bool
kernels_tries(int number)
{
	return all_are_tested() || number % 2 == 0;
}

const char *
kernels_compiler_of(int number, size_t i)
{
	return i == 0 || number % 6 == 0 || all_are_tested() ? kernels_compilers[i] : NULL;
}

bool
fixture_open(void)
{
	kernels_folder = temporary_folder_new();
	open_definitions();
	open_machine();
	find_compilers();
	if (!kernels_compilers[0])
		fprintf(stderr, "SKIP: there is no compiler\n");
	return kernels_compilers[0] != NULL;
}

void
fixture_close(void)
{
	machine_delete(kernels_rot.machine);
	definitions_delete(kernels_rot.kernels);
	rot_registry_delete(kernels_rot.registry);
}

struct kernel_base *
kernel_of(const char *class_name, const char *fields)
{
	struct kernel_base *kernel = rot_entity_new(definitions_find(kernels_rot.kernels, class_name)->class);
	char *copy = rot_strdup(fields), *rest = NULL;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		ck_assert_ptr_nonnull(value);
		*value++ = '\0';
		ck_assert_ok(rot_entity_set(kernel, word, value, &why));
	}
	free(copy);
	return at_end(rot_entity_delete, kernel);
}

/* The output of the command on both channels, and its wait status. */
static char *
run_command(const char *command, int *status)
{
	char *both = rot_format("{ %s; } 2>&1", command), *output = NULL;
	FILE *pipe = popen(both, "re");
	size_t size = 0;

	if (!pipe || getdelim(&output, &size, '\0', pipe) < 0) {
		free(output);
		output = rot_strdup("");
	}
	*status = pipe ? pclose(pipe) : -1;
	free(both);
	return output;
}

char *
output_of(const char *command)
{
	int status;
	char *output = run_command(command, &status);

	ck_assert_msg(status == 0, "%s\n%s", command, output);
	return output;
}

bool
has_program(const char *name)
{
	autofree char *command = rot_format("command -v %s", name);
	int status;

	free(run_command(command, &status));
	return status == 0;
}

bool
has_objdump(void)
{
	const bool has = has_program("objdump");

	if (!has)
		fprintf(stderr,
			"SKIP: the instructions are not looked at: there is no objdump (apt-get install binutils)\n");
	return has;
}

static void
write_macro(const struct kernel_base *kernel, const struct rot_field *field, const char *folder)
{
	struct core_macro macro = {.name = (char *)field->macro, .field = field};
	autofree char *path = NULL, *text = NULL;

	if (!field->macro)
		return;
	macro.value = rot_entity_get(kernel, field->name);
	path = rot_format("%s/%s.h", folder, field->macro);
	text = core_macro_text(&macro);
	ck_assert_ok(file_write_if_changed(path, text, &why));
	free((char *)macro.value);
}

/* FOLDER/macros/MACRO.h for each field of the kernel that is one. */
static void
write_macros(const struct kernel_base *kernel, const char *folder)
{
	autofree char *macros = rot_format("%s/macros", folder);
	const struct rot_class *class = kernel->entity.class;

	ck_assert_ok(folder_make(macros, &why));
	for (size_t i = 0; i < rot_class_nr_fields(class); i++)
		write_macro(kernel, rot_class_field_at(class, i), macros);
}

static int
append_flags(const struct definition_row *row, const struct expression_scope *scope, void *context,
	     struct rot_error *err)
{
	char **flags = context, *longer = rot_format("%s %s", *flags, row->text);

	(void)scope, (void)err;
	free(*flags);
	*flags = longer;
	return 0;
}

char *
kernel_compile(const struct kernel_base *kernel, const char *compiler, const char *more_flags, const char *name)
{
	const char *class_name = kernel->entity.class->name;
	char *path = rot_format("%s/%s", kernels_folder, name);
	char *macros = rot_format("%s.include", path), *flags = rot_strdup(""), *command, *output;
	char *api = source_path("kernels"), *shared = source_path("shared-entities");

	ck_assert_ok(kernel_check(&kernels_rot, kernel, &why));
	ck_assert_int_eq(kernel_each_row(&kernels_rot, kernel, DEFINITION_FLAGS, append_flags, &flags, &why), 0);
	write_macros(kernel, macros);
	command = rot_format("%s -std=gnu11 -Wall -Wextra -Werror -I'%s' -I'%s/generated' -I'%s' -I'%s' -I'%s' %s "
			     "%s %s -o '%s' '%s'",
			     compiler, macros, kernels_folder, api, shared, built_path("shared-entities/generated"),
			     flags, kernel->optimization, more_flags, path,
			     source_path("kernels/%s/%s.c", class_name, class_name));
	output = output_of(command);
	ck_assert_msg(output[0] == '\0', "%s\n%s", command, output);
	free(output);
	free(command);
	free(flags);
	free(macros);
	return path;
}
