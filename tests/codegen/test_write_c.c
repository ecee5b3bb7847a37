/* SPDX-License-Identifier: MIT */
/* Generated C, compiled, against the classes made at run time from the same definitions. */
#include "definition.h"
#include "entities.h"
#include "test_entities.h"
#include "testing.h"

/* The struct that the suffix of Handmade is for. */
struct handmade {
	struct handmade_data data;
	double state[8];
};

extern const size_t handmade_size;
const size_t handmade_size = sizeof(struct handmade);

/* Both NULL, or the same text. */
static void
check_text(const struct rot_field *field, const char *a, const char *b)
{
	ck_assert_msg((!a && !b) || (a && b && strcmp(a, b) == 0), "field %s: '%s' and '%s'", field->name,
		      a ? a : "NULL", b ? b : "NULL");
}

static void
check_field(const struct rot_class *class, const struct rot_field *a, const struct rot_field *b)
{
	check_text(a, a->name, b->name);
	ck_assert_msg(a->offset == b->offset, "class %s, field %s: offsets %zu and %zu", class->name, a->name,
		      a->offset, b->offset);
	ck_assert_int_eq(a->type, b->type);
	ck_assert_int_eq(a->is_list, b->is_list);
	check_text(a, a->target ? a->target->name : NULL, b->target ? b->target->name : NULL);
	check_text(a, a->default_text, b->default_text);
	check_text(a, a->values, b->values);
	check_text(a, a->unit, b->unit);
	check_text(a, a->macro, b->macro);
	check_text(a, a->comment, b->comment);
}

static void
check_class(const struct rot_class *compiled, const struct rot_class *at_run_time)
{
	ck_assert_str_eq(compiled->name, at_run_time->name);
	ck_assert_str_eq(compiled->comment, at_run_time->comment);
	ck_assert_int_eq(compiled->is_abstract, at_run_time->is_abstract);
	ck_assert_int_eq(!compiled->base, !at_run_time->base);
	ck_assert_msg(compiled->size == at_run_time->size, "class %s: sizes %zu and %zu", compiled->name,
		      compiled->size, at_run_time->size);
	ck_assert_uint_eq(compiled->nr_fields, at_run_time->nr_fields);
	for (size_t i = 0; i < compiled->nr_fields; i++)
		check_field(compiled, &compiled->fields[i], &at_run_time->fields[i]);
}

static void
check_set(const struct rot_class *const *set, const char *folder, const struct rot_registry *known)
{
	struct definitions *definitions = at_end(definitions_delete, definitions_new());
	size_t nr = 0;

	ck_assert_ok(definitions_load_folder(definitions, source_path("%s", folder), &why));
	ck_assert_ok(definitions_resolve(definitions, known, &why));
	for (; set[nr]; nr++) {
		const struct definition *definition = definitions_find(definitions, set[nr]->name);

		ck_assert_msg(definition != NULL, "%s", set[nr]->name);
		check_class(set[nr], definition->class);
	}
	ck_assert_uint_eq(nr, definitions_size(definitions));
}

TEST(test_layout_of_the_entities_of_rot)
{
	check_set(entities, "shared-entities/definitions", NULL);
}

TEST(test_layout_of_all_types)
{
	struct rot_registry *known = at_end(rot_registry_delete, rot_registry_new());

	rot_registry_add_all(known, entities, NULL);
	check_set(test_entities, "tests/codegen/definitions", known);
}

TEST(test_defaults_and_accessors)
{
	autograph struct everything *everything = everything_new();
	struct handmade *handmade = (struct handmade *)handmade_data_new();

	ck_assert(everything->a_bool && everything->a_double == -1e-3 && everything->an_int == -12);
	ck_assert(everything->a_long == INT64_MIN && everything->a_ulong == UINT64_MAX && !everything->base.base_bool);
	ck_assert_str_eq(everything->a_string, "quoted \"text\" \\ and\na new line \xc3\xa4");
	ck_assert_str_eq(everything->a_choice, "B");
	everything_doubles_add(everything, 0.5);
	everything_ints_add(everything, -1);
	everything_longs_add(everything, INT64_MIN);
	everything_ulongs_add(everything, UINT64_MAX);
	everything_bools_add(everything, true);
	everything_strings_add(everything, "text");
	everything_references_add(everything, everything);
	ck_assert_uint_eq(everything_nr_doubles(everything), 1);
	ck_assert(everything_doubles_at(everything, 0) == 0.5);
	ck_assert(everything_ints_at(everything, 0) == -1);
	ck_assert(everything_longs_at(everything, 0) == INT64_MIN);
	ck_assert(everything_ulongs_at(everything, 0) == UINT64_MAX);
	ck_assert(everything_bools_at(everything, 0));
	ck_assert_str_eq(everything_strings_at(everything, 0), "text");
	ck_assert_ptr_eq(everything_references_at(everything, 0), everything);
	ck_assert_int_eq(handmade->data.size, 5);
	ck_assert(handmade->state[7] == 0);
	handmade_data_others_add(&handmade->data, handmade);
	ck_assert_ptr_eq(handmade_data_others_at(&handmade->data, 0), handmade);
	everything->a_handmade = handmade;
	everything_delete(NULL);
}

TEST(test_files_that_do_not_change_are_left_alone)
{
	struct definitions *definitions = at_end(definitions_delete, definitions_new());
	char *folder = temporary_folder_new(), *file = folder_write(folder, "in/A.xml", "<class name=\"A\"/>");
	autofree char *header = rot_format("%s/A.h", folder), *set = rot_format("%s/set.c", folder);
	struct stat before[2], after[2];

	ck_assert_int_eq(definitions_load_file(definitions, file, NULL), 0);
	ck_assert_int_eq(definitions_resolve(definitions, NULL, NULL), 0);
	ck_assert_int_eq(definitions_write_c(definitions, folder, "set", &why), 0);
	ck_assert_int_eq(stat(header, &before[0]), 0);
	folder_write(folder, "set.c", "something else\n");
	ck_assert_int_eq(stat(set, &before[1]), 0);
	ck_assert_int_eq(definitions_write_c(definitions, folder, "set", &why), 0);
	ck_assert_int_eq(stat(header, &after[0]), 0);
	ck_assert_int_eq(stat(set, &after[1]), 0);
	ck_assert_uint_eq(before[0].st_ino, after[0].st_ino);
	ck_assert_uint_ne(before[1].st_ino, after[1].st_ino);
	ck_assert_int_eq(definitions_write_c(definitions, "/nowhere", "set", &why), -1);
	ck_assert_str_eq(why.text, "cannot write '/nowhere/A.h': No such file or directory");
}

static int
run_codegen(const char *arguments, const char *folder)
{
	autofree char *command =
		rot_format("cd '%s' && '%s' %s 2>errors", folder, built_path("codegen/rot-codegen"), arguments);
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(test_the_program)
{
	char *folder = temporary_folder_new(), *path;

	folder_write(folder, "good/A.xml", "<class name=\"A\"/>");
	folder_write(folder, "bad/B.xml", "<derivedClass name=\"B\" baseType=\"A\"/>");
	ck_assert_int_eq(run_codegen("--output . --set good good", folder), 0);
	ck_assert_int_eq(run_codegen("--output . --set bad bad", folder), 1);
	ck_assert_int_eq(run_codegen("--output . --set bad --known good bad", folder), 0);
	ck_assert_int_eq(run_codegen("--output . --set bad", folder), 2);
	ck_assert_int_eq(run_codegen("--outputs . --set bad bad", folder), 2);
	path = rot_format("%s/B.h", folder);
	ck_assert_int_eq(access(path, R_OK), 0);
	free(path);
}
