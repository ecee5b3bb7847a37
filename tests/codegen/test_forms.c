/* SPDX-License-Identifier: MIT */
/*
 * Text form and canonical XML on random graphs: what is written reads back the same; what is damaged gives an error or
 * another graph, and never harm. Over the entities of rot, and over random classes made at run time.
 */
#include "definition.h"
#include "document.h"
#include "entities.h"
#include "graphs.h"
#include "testing.h"

/* ---- the two forms ---- */

static char *
write_text(const void *root)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(rot_text_write(root, out, NULL), 0);
	fclose(out);
	return text;
}

static void *
read_text(const struct rot_registry *registry, const char *text, size_t len, struct rot_error *err)
{
	FILE *in = len ? fmemopen((void *)text, len, "r") : fopen("/dev/null", "r");
	void *root = rot_text_read(registry, in, "in", err);

	fclose(in);
	return root;
}

static void *
read_xml(const struct rot_registry *registry, const char *text, size_t len, struct rot_error *err)
{
	return document_read(registry, text, len, "in", err);
}

static const struct form {
	const char *name;
	char *(*write)(const void *root);
	void *(*read)(const struct rot_registry *registry, const char *text, size_t len, struct rot_error *err);
} forms[] = {{"text", write_text, read_text}, {"XML", rot_xml_write, read_xml}};

#define NR_FORMS (int)(sizeof(forms) / sizeof(forms[0]))

/* ---- random classes ---- */

static char *folder;
static struct definitions *definitions;
static struct rot_registry *registry; /* the entities of rot, or random classes */

static void
write_random_class(struct dice *dice, size_t i, size_t nr)
{
	static const char *const types[] = {"double", "int", "long", "ulong", "bool", "string"};
	bool is_derived = i > 0 && !dice_one_in(dice, 3);
	size_t nr_fields = dice_below(dice, 9);
	autofree char *content = NULL, *name = NULL;
	size_t len;
	FILE *out = open_memstream(&content, &len);

	if (is_derived)
		fprintf(out, "<derivedClass baseType='C%zu'", dice_below(dice, i));
	else
		fputs("<class", out);
	fprintf(out, " name='C%zu' isAbstract='%s'>", i, i > 1 && dice_one_in(dice, 4) ? "true" : "false");
	for (size_t j = 0; j < nr_fields; j++) {
		fprintf(out, "<%s name='c%zuField%zu' ", dice_one_in(dice, 3) ? "list" : "field", i, j);
		if (dice_one_in(dice, 2))
			fprintf(out, "type='%s'/>\n", types[dice_below(dice, 6)]);
		else
			fprintf(out, "type='C%zu'/>\n", dice_below(dice, nr));
	}
	fputs(is_derived ? "</derivedClass>" : "</class>", out);
	fclose(out);
	name = rot_format("C%zu.xml", i);
	folder_write(folder, name, content);
}

static void
open_random_classes(int seed)
{
	struct dice dice = {.state = (uint64_t)seed};
	size_t nr = 1 + dice_below(&dice, 8);

	for (size_t i = 0; i < nr; i++)
		write_random_class(&dice, i, nr);
	ck_assert_msg(definitions_load_folder(definitions, folder, &why) == 0, "seed %d: %s", seed, why.text);
	ck_assert_msg(definitions_resolve(definitions, NULL, &why) == 0, "seed %d: %s", seed, why.text);
	for (size_t i = 0; i < definitions_size(definitions); i++)
		ck_assert_int_eq(rot_registry_add(registry, definitions_at(definitions, i)->class, NULL), 0);
}

static void
open_all(void)
{
	folder = temporary_folder_new();
	definitions = definitions_new();
	registry = rot_registry_new();
}

static void
close_all(void)
{
	rot_registry_delete(registry);
	definitions_delete(definitions);
}

/* ---- properties; seeds are the numbers of the tests, which libcheck prints on a failure ---- */

static void
check_round_trip(const struct form *form, const void *graph)
{
	char *text = form->write(graph), *again;
	void *copy = form->read(registry, text, strlen(text), &why), *clone = rot_graph_clone(graph, NULL);

	ck_assert_msg(copy != NULL, "%s: %s\n%s", form->name, why.text, text);
	ck_assert_msg(rot_graph_equal(graph, copy), "%s: another graph was read from\n%s", form->name, text);
	again = form->write(copy);
	ck_assert_msg(strcmp(text, again) == 0, "%s: written again:\n%s\nbefore:\n%s", form->name, again, text);
	free(again);
	again = form->write(clone);
	ck_assert_msg(strcmp(text, again) == 0, "%s: the clone:\n%s\nbefore:\n%s", form->name, again, text);
	free(again);
	free(text);
	rot_graph_delete(copy);
	rot_graph_delete(clone);
}

static void
check_difference(const struct form *form, void *graph, struct dice *dice)
{
	char *before = form->write(graph), *after;

	if (change_graph(graph, dice)) {
		after = form->write(graph);
		ck_assert_msg(strcmp(before, after) != 0, "%s: no difference to see in\n%s", form->name, after);
		free(after);
	}
	free(before);
}

TEST_OF(test_round_trip_of_entities, 60)
{
	struct dice dice = {.state = (uint64_t)_i};
	autograph void *graph = NULL;

	rot_registry_add_all(registry, entities, NULL);
	graph = random_graph(registry, &dice, 1 + (size_t)_i);
	for (int i = 0; i < NR_FORMS; i++) {
		check_round_trip(&forms[i], graph);
		check_difference(&forms[i], graph, &dice);
	}
}

TEST_OF(test_round_trip_of_random_classes, 60)
{
	struct dice dice = {.state = (uint64_t)_i + 1000};
	void *graph;

	open_random_classes(_i);
	for (int i = 0; i < NR_FORMS; i++) {
		graph = random_graph(registry, &dice, 1 + (size_t)_i % 50);
		check_round_trip(&forms[i], graph);
		check_difference(&forms[i], graph, &dice);
		rot_graph_delete(graph);
	}
}

/* An error with a message, or a graph as good as any: what it is written as reads back the same. */
static void
check_damaged(const struct form *form, const char *text, size_t len)
{
	autograph void *root = form->read(registry, text, len, &why), *again = NULL;
	autofree char *written = NULL;

	ck_assert_msg(root || why.text[0], "%s: refused without a message", form->name);
	if (!root)
		return;
	written = form->write(root);
	again = form->read(registry, written, strlen(written), &why);
	ck_assert_msg(rot_graph_equal(root, again), "%s: read from\n%s\nwritten as\n%s\n%s", form->name, text, written,
		      why.text);
}

static void
check_truncations(const struct form *form, const void *graph)
{
	autofree char *text = form->write(graph);
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		autograph void *root = form->read(registry, text, i, &why);

		/* Only the last newline of XML means nothing. */
		ck_assert_msg(!root || (i == len - 1 && rot_graph_equal(root, graph)), "%s: cut at %zu of %zu:\n%.*s",
			      form->name, i, len, (int)i, text);
		ck_assert(root || why.text[0]);
	}
}

/* Every stride-th of all changes of one byte. */
static void
check_byte_changes(const struct form *form, const void *graph, size_t stride)
{
	autofree char *text = form->write(graph);
	size_t len = strlen(text);

	for (size_t change = stride / 2; change < len * 255; change += stride) {
		char *byte = &text[change / 255], old = *byte;

		*byte = (char)(old + 1 + (int)(change % 255));
		check_damaged(form, text, len);
		*byte = old;
	}
}

/* A graph of a few entities whose text is short enough to try everything, but not trivial. */
static void *
small_graph(uint64_t seed, size_t max_bytes)
{
	for (;; seed += 1000) {
		struct dice dice = {.state = seed};
		void *graph = random_graph(registry, &dice, 3);
		char *text = write_text(graph);
		size_t len = strlen(text);

		free(text);
		if (len > max_bytes / 2 && len < max_bytes)
			return graph;
		rot_graph_delete(graph);
	}
}

TEST_OF(test_every_change_of_a_small_graph, NR_FORMS)
{
	autograph void *graph = NULL;

	rot_registry_add_all(registry, entities, NULL);
	graph = small_graph((uint64_t)(_i / NR_FORMS), 120);
	check_truncations(&forms[_i % NR_FORMS], graph);
	check_byte_changes(&forms[_i % NR_FORMS], graph, 1);
}

TEST_OF(test_changes_of_larger_graphs, 8)
{
	struct dice dice = {.state = (uint64_t)_i};
	autograph void *graph = NULL;

	if (_i % 2)
		open_random_classes(_i);
	else
		rot_registry_add_all(registry, entities, NULL);
	graph = random_graph(registry, &dice, 12);
	for (int i = 0; i < NR_FORMS; i++) {
		check_truncations(&forms[i], graph);
		check_byte_changes(&forms[i], graph, 211);
	}
}

/* A linked list through the base class of each node: far deeper than any stack or XML parser allows. */
TEST_OF(test_a_long_linked_list, 2 * NR_FORMS)
{
	struct rot_entity *root, *last;
	const struct rot_field *next;

	folder_write(folder, "Node.xml",
		     "<class name='Node'><field name='id' type='int'/><field name='next' type='Node'/></class>");
	ck_assert_int_eq(definitions_load_folder(definitions, folder, NULL), 0);
	ck_assert_int_eq(definitions_resolve(definitions, NULL, NULL), 0);
	rot_registry_add(registry, definitions_at(definitions, 0)->class, NULL);
	next = rot_class_field(definitions_at(definitions, 0)->class, "next");
	root = last = rot_entity_new(definitions_at(definitions, 0)->class);
	for (int i = 1; i < 100000; i++) {
		struct rot_entity *node = rot_entity_new(root->class);

		*(struct rot_entity **)rot_field_of(last, next) = node;
		last = node;
	}
	*(struct rot_entity **)rot_field_of(last, next) = _i / NR_FORMS ? root : NULL;
	check_round_trip(&forms[_i % NR_FORMS], root);
	rot_graph_delete(root);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_all, .tear_down = close_all);
