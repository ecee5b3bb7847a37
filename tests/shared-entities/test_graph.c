/* SPDX-License-Identifier: MIT */
/* Graphs: collecting, cloning, comparing, hashing, printing; text form and canonical XML of known graphs. */
#include "entities.h"
#include "graphs.h"
#include "testing.h"

static struct rot_registry *registry;

static void
open_registry(void)
{
	registry = rot_registry_new();
	ck_assert_int_eq(rot_registry_add_all(registry, entities, NULL), 0);
}

static void
close_registry(void)
{
	rot_registry_delete(registry);
}

/* Two rules of one workload: the workload is shared; nothing is cyclic. */
static struct measurement *
small_measurement(void)
{
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	workload->id = 3;
	workload->measurer_set = measurer_set_new();
	workload->measurer_set->main_measurer = (struct measurer_base *)tsc_measurer_new();
	measurement_workloads_add(measurement, workload);
	measurement_workloads_add(measurement, NULL);
	for (int i = 0; i < 2; i++) {
		struct rule *rule = rule_new();
		struct workload_event_predicate *predicate = workload_event_predicate_new();

		predicate->workload = workload;
		rule->predicate = (struct event_predicate_base *)predicate;
		measurement_rules_add(measurement, rule);
	}
	return measurement;
}

static const char small_text[] =
	"Measurement\n"
	"workloads\n2\n=> 1\n<null>\n"
	"configurators\n0\n"
	"rules\n2\n=> 2\n=> 3\n"
	"overallMeasurerSet\n<null>\n"
	"Workload\nid\n3\nkernel\n<null>\nmeasurerSet\n=> 4\ncpu\n-1\n"
	"Rule\npredicate\n=> 5\naction\n<null>\n"
	"Rule\npredicate\n=> 6\naction\n<null>\n"
	"MeasurerSet\nid\n0\nmainMeasurer\n=> 7\nadditionalMeasurers\n0\nvalidationMeasurers\n0\n"
	"WorkloadEventPredicate\nworkload\n=> 1\nevent\nstart\n"
	"WorkloadEventPredicate\nworkload\n=> 1\nevent\nstart\n"
	"TscMeasurer\nid\n0\n"
	"<end>\n";

static const char small_xml[] = "<Measurement>\n"
				"<workloads>\n"
				"<Workload id=\"3\" cpu=\"-1\" xml:id=\"e1\">\n"
				"<kernel/>\n"
				"<measurerSet>\n"
				"<MeasurerSet id=\"0\">\n"
				"<mainMeasurer>\n"
				"<TscMeasurer id=\"0\"/>\n"
				"</mainMeasurer>\n"
				"<additionalMeasurers/>\n"
				"<validationMeasurers/>\n"
				"</MeasurerSet>\n"
				"</measurerSet>\n"
				"</Workload>\n"
				"<item/>\n"
				"</workloads>\n"
				"<configurators/>\n"
				"<rules>\n"
				"<Rule>\n"
				"<predicate>\n"
				"<WorkloadEventPredicate event=\"start\">\n"
				"<workload ref=\"e1\"/>\n"
				"</WorkloadEventPredicate>\n"
				"</predicate>\n"
				"<action/>\n"
				"</Rule>\n"
				"<Rule>\n"
				"<predicate>\n"
				"<WorkloadEventPredicate event=\"start\">\n"
				"<workload ref=\"e1\"/>\n"
				"</WorkloadEventPredicate>\n"
				"</predicate>\n"
				"<action/>\n"
				"</Rule>\n"
				"</rules>\n"
				"<overallMeasurerSet/>\n"
				"</Measurement>\n";

static char *
written(const void *root)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(rot_text_write(root, out, NULL), 0);
	fclose(out);
	return text;
}

TEST(test_golden_forms)
{
	autograph struct measurement *measurement = small_measurement();
	autofree char *text = written(measurement), *xml = rot_xml_write(measurement);

	ck_assert_str_eq(text, small_text);
	ck_assert_str_eq(xml, small_xml);
}

TEST(test_escapes)
{
	struct file_content *content = file_content_new();
	char *text, *xml;

	rot_string_set(&content->file_name, "a\\b\n\r\t\x01\x7f");
	rot_string_set(&content->start_content, "<&>\"' \xc3\xa4 \xf0\x9f\x98\x80");
	rot_string_set(&content->stop_content, "\xff \xc3 \xed\xa0\x80 \xc0\x80 \xef\xbf\xbf \xf4\x90\x80\x80");
	text = written(content);
	xml = rot_xml_write(content);
	ck_assert_str_eq(
		text, "FileContent\nfileName\na\\\\b\\n\\r\t\x01\x7f\nstartContent\n<&>\"' \xc3\xa4 \xf0\x9f\x98\x80\n"
		      "stopContent\n\xff \xc3 \xed\xa0\x80 \xc0\x80 \xef\xbf\xbf \xf4\x90\x80\x80\n<end>\n");
	ck_assert_str_eq(
		xml, "<FileContent fileName=\"a\\\\b\\n\\r\\t\\x01\\x7f\" "
		     "startContent=\"&lt;&amp;&gt;&quot;' \xc3\xa4 \xf0\x9f\x98\x80\" "
		     "stopContent=\"\\xff \\xc3 \\xed\\xa0\\x80 \\xc0\\x80 \\xef\\xbf\\xbf \\xf4\\x90\\x80\\x80\"/>\n");
	free(text);
	free(xml);
	rot_entity_delete(content);
}

/* Lines of text form: from the first to the broken one. */
static const struct {
	const char *text, *message, *hint;
} bad_texts[] = {
	{"", "in:1: the input ends where a class or '<end>' is expected", ""},
	{"<end>\n", "in: there is no entity", ""},
	{"<end>", "in:1: the input ends where a class or '<end>' is expected", ""},
	{"Rul\n", "in:1: there is no class 'Rul'", "did you mean 'Rule'?"},
	{"MeasurerBase\n", "in:1: class MeasurerBase is abstract: only classes derived from it have entities", ""},
	{"TscMeasurer\n", "in:2: class TscMeasurer, field id: the input ends where the name of the field is expected",
	 ""},
	{"TscMeasurer\nidd\n", "in:2: class TscMeasurer, field id: found 'idd' where the name of the field is expected",
	 ""},
	{"TscMeasurer\nid\n", "in:3: class TscMeasurer, field id: the input ends where a value is expected", ""},
	{"TscMeasurer\nid\n1x\n", "in:3: class TscMeasurer, field id: '1x' is not a whole number", ""},
	{"TscMeasurer\nid\n1", "in:3: class TscMeasurer, field id: the input ends where a value is expected", ""},
	{"Rule\npredicate\n5\n", "in:3: class Rule, field predicate: '5' is not a reference ('=> N' or '<null>')", ""},
	{"Rule\npredicate\n=> 0\naction\n<null>\n<end>\n",
	 "in:3: class Rule, field predicate: refers to a Rule, but holds a EventPredicateBase", ""},
	{"Rule\npredicate\n=> 1\naction\n<null>\n<end>\n",
	 "in:3: class Rule, field predicate: there is no entity 1 (there are 1)", ""},
	{"TscMeasurer\nid\n1\nTscMeasurer\nid\n1\n<end>\n", "in:4: class TscMeasurer: nothing refers to this entity",
	 ""},
	{"RunCommand\nexecutable\na\\qb\n", "in:3: class RunCommand, field executable: 'a\\qb' has an unknown escape",
	 ""},
	{"RunCommand\nexecutable\na\narguments\n-1\n",
	 "in:5: class RunCommand, field arguments: '-1' is not the length of a list", ""},
	{"RunCommand\nexecutable\na\narguments\n18446744073709551615\nx\n",
	 "in:7: class RunCommand, field arguments: the input ends where a value is expected", ""},
	{"ThreadEventPredicate\nevent\nnever\n",
	 "in:3: class ThreadEventPredicate, field event: 'never' is not one of the allowed values", ""},
};

static void *
read_text(const char *text, size_t len, struct rot_error *err)
{
	FILE *in = fmemopen((void *)text, len ? len : 1, "r");
	void *root;

	if (len == 0)
		getc(in);
	root = rot_text_read(registry, in, "in", err);
	fclose(in);
	return root;
}

TEST_OF(test_text_errors, NR_ELEMENTS(bad_texts))
{
	ck_assert_ptr_null(read_text(bad_texts[_i].text, strlen(bad_texts[_i].text), &why));
	ck_assert_str_eq(why.text, bad_texts[_i].message);
	ck_assert_str_eq(why.hint, bad_texts[_i].hint);
}

TEST(test_zero_bytes_are_an_error)
{
	ck_assert_ptr_null(read_text("Tsc\0Measurer\n", 13, &why));
	ck_assert_str_eq(why.text, "in:1: there is a zero byte where a class or '<end>' is expected");
}

TEST(test_what_follows_the_end_is_left_unread)
{
	FILE *in = fmemopen((void *)"TscMeasurer\nid\n1\n<end>\nTscMeasurer\nid\n2\n<end>\nrest", 50, "r");
	struct tsc_measurer *first = rot_text_read(registry, in, "in", NULL),
			    *second = rot_text_read(registry, in, "in", NULL);

	ck_assert_int_eq(first->base.id, 1);
	ck_assert_int_eq(second->base.id, 2);
	ck_assert_int_eq(getc(in), 'r');
	fclose(in);
	tsc_measurer_delete(first);
	tsc_measurer_delete(second);
}

TEST(test_a_full_device_is_an_error)
{
	autograph struct measurement *measurement = small_measurement();
	FILE *out = fopen("/dev/full", "w");

	if (out) {
		ck_assert_int_eq(rot_text_write(measurement, out, &why), -1);
		ck_assert_str_eq(why.text, "cannot write an entity of class Measurement: No space left on device");
		fclose(out);
	}
}

TEST(test_shape_matters_for_equality)
{
	autograph struct measurement *shared = small_measurement(), *unshared = small_measurement();
	struct workload *workload = measurement_workloads_at(unshared, 0), *copy;
	struct rule *rule = measurement_rules_at(unshared, 1);

	ck_assert(rot_graph_equal(shared, unshared));
	copy = rot_graph_clone(workload, NULL);
	((struct workload_event_predicate *)rule->predicate)->workload = copy;
	ck_assert(rot_graph_equal(workload, copy));
	ck_assert(!rot_graph_equal(shared, unshared));
	ck_assert(!rot_graph_equal(shared, NULL));
	ck_assert(!rot_graph_equal(NULL, shared));
	ck_assert(rot_graph_equal(NULL, NULL));
	rot_graph_delete(NULL);
}

TEST(test_clone_map)
{
	autograph struct measurement *old = small_measurement(), *new = NULL;
	struct rot_clone_map *map;
	size_t nr;
	struct rot_entity **entities_of_old = rot_graph_collect(old, &nr);

	new = rot_graph_clone(old, &map);
	ck_assert_uint_eq(nr, 8);
	ck_assert_ptr_eq(entities_of_old[0], (void *)old);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_ptr_nonnull(rot_clone_map_get(map, entities_of_old[i]));
		ck_assert_ptr_ne(rot_clone_map_get(map, entities_of_old[i]), entities_of_old[i]);
	}
	ck_assert_ptr_eq(rot_clone_map_get(map, measurement_workloads_at(old, 0)), measurement_workloads_at(new, 0));
	ck_assert_ptr_null(rot_clone_map_get(map, new));
	ck_assert_ptr_null(rot_clone_map_get(map, NULL));
	rot_clone_map_delete(map);
	rot_clone_map_delete(NULL);
	free(entities_of_old);
}

/* The seed is the number of the test, which libcheck prints on a failure. */
TEST_OF(test_random_graphs, 100)
{
	struct dice dice = {.state = (uint64_t)_i};
	autograph void *graph = random_graph(registry, &dice, 1 + (size_t)_i % 60),
		       *clone = rot_graph_clone(graph, NULL);

	ck_assert(rot_graph_equal(graph, clone));
	if (change_graph(clone, &dice))
		ck_assert(!rot_graph_equal(graph, clone));
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_registry, .tear_down = close_registry);
