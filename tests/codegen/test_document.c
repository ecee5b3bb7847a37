/* SPDX-License-Identifier: MIT */
/* Entities in XML: what people write, and what is said of mistakes. */
#include "document.h"
#include "entities.h"
#include "testing.h"

static struct rot_registry *registry;

static void
open_registry(void)
{
	registry = rot_registry_new();
	ck_assert_int_eq(rot_registry_add_all(registry, entities, NULL), 0);
	at_end(rot_registry_delete, registry);
}

static void *
read_xml(const char *xml, struct rot_error *err)
{
	return document_read(registry, xml, strlen(xml), "in", err);
}

TEST(test_written_by_hand)
{
	static const char xml[] =
		"<?xml version='1.0' encoding='ISO-8859-1'?>\n"
		"<!-- a comment -->\n"
		"<Measurement>\n"
		"  <rules> <!-- refers forward -->\n"
		"    <Rule><predicate><WorkloadEventPredicate><workload ref='main'/></WorkloadEventPredicate>\n"
		"    </predicate></Rule>\n"
		"  </rules>\n"
		"  <workloads><Workload xml:id='main' id='7'/><item/><item ref='main'/></workloads>\n"
		"  <configurators><RunCommandConfigurator><beforeRun><RunCommand executable='\xe4&#10;\\\\'>\n"
		"    <arguments><item value='1'/><item value=''/></arguments>\n"
		"  </RunCommand></beforeRun></RunCommandConfigurator></configurators>\n"
		"</Measurement>\n";
	autograph struct measurement *measurement = read_xml(xml, &why);
	struct run_command_configurator *configurator;
	struct run_command *command;
	struct workload *workload;

	ck_assert_msg(measurement != NULL, "%s", why.text);
	workload = measurement_workloads_at(measurement, 0);
	ck_assert_int_eq(workload->id, 7);
	ck_assert_int_eq(workload->cpu, -1);
	ck_assert_uint_eq(measurement_nr_workloads(measurement), 3);
	ck_assert_ptr_null(measurement_workloads_at(measurement, 1));
	ck_assert_ptr_eq(measurement_workloads_at(measurement, 2), workload);
	ck_assert_ptr_eq(((struct workload_event_predicate *)measurement_rules_at(measurement, 0)->predicate)->workload,
			 workload);
	configurator = (struct run_command_configurator *)measurement_configurators_at(measurement, 0);
	command = run_command_configurator_before_run_at(configurator, 0);
	ck_assert_str_eq(command->executable, "\xc3\xa4\n\\");
	ck_assert_str_eq(run_command_arguments_at(command, 0), "1");
	ck_assert_str_eq(run_command_arguments_at(command, 1), "");
}

static const struct {
	const char *xml, *message, *hint;
} bad_documents[] = {
	{"", "in:1: Document is empty", ""},
	{"<Rule>", "in:1: Premature end of data in tag Rule line 1", ""},
	{"<!DOCTYPE Rule><Rule/>", "in:1: a document type declaration is not allowed", ""},
	{"<graph/>", "in: there is no entity", ""},
	{"<Rul/>", "in:1: there is no class 'Rul'", "did you mean 'Rule'?"},
	{"<MeasurerBase/>", "in:1: class MeasurerBase is abstract: only classes derived from it have entities", ""},
	{"<Workload\n cpu='x'/>", "in:2: class Workload, field cpu: 'x' is not a whole number", ""},
	{"<Workload cpuu='x'/>", "in:1: class Workload has no field 'cpuu'", "did you mean 'cpu'?"},
	{"<Workload kernel='x'/>", "in:1: class Workload, field kernel: a reference cannot be set from text", ""},
	{"<Workload xml:base='x'/>", "in:1: unexpected attribute 'xml:base'", ""},
	{"<Workload><id/></Workload>", "in:1: class Workload, field id: is an attribute, not an element", ""},
	{"<Workload>\n<kernal/></Workload>", "in:2: class Workload has no field 'kernal'", "did you mean 'kernel'?"},
	{"<Workload>\n<kernel/>\n<kernel/></Workload>", "in:3: class Workload, field kernel: given twice", ""},
	{"<Workload>text</Workload>", "in:1: there is text between the elements", ""},
	{"<Workload>\n<measurerSet><MeasurerSet/>\n<MeasurerSet/></measurerSet></Workload>",
	 "in:3: class Workload, field measurerSet: a reference holds one entity, not also <MeasurerSet>", ""},
	{"<Workload xml:id='a'>\n<measurerSet ref='b'/></Workload>",
	 "in:2: class Workload, field measurerSet: no entity has the xml:id 'b'", ""},
	{"<Workload xml:id='a'>\n<measurerSet ref='a'/></Workload>",
	 "in:2: class Workload, field measurerSet: refers to a Workload, but holds a MeasurerSet", ""},
	{"<graph><Rule/>\n<Rule/></graph>", "in:2: class Rule: nothing refers to this entity", ""},
	{"<Workload xml:id='1'/>", "in:1: xml:id '1' is not a name or exists already", ""},
	{"<Rule xml:id='a'><predicate>\n<ThreadEventPredicate xml:id='a'/></predicate></Rule>",
	 "in:2: xml:id 'a' is not a name or exists already", ""},
	{"<ThreadEventPredicate event='never'/>",
	 "in:1: class ThreadEventPredicate, field event: 'never' is not one of the allowed values",
	 "allowed: started exiting"},
	{"<RunCommand executable='a\\b'/>",
	 "in:1: class RunCommand, field executable: 'a\\b' has an unknown escape ('\\' is written '\\\\')", ""},
	{"<RunCommand executable='\\x00'/>",
	 "in:1: class RunCommand, field executable: '\\x00' has an unknown escape ('\\' is written '\\\\')", ""},
	{"<RunCommand><arguments><item/></arguments></RunCommand>",
	 "in:1: class RunCommand, field arguments: expected <item value=\"...\"/>, found <item>", ""},
	{"<RunCommand><arguments><Rule value=''/></arguments></RunCommand>",
	 "in:1: class RunCommand, field arguments: expected <item value=\"...\"/>, found <Rule>", ""},
	{"<Machine><onlineCpus>\n<item value='a'/></onlineCpus></Machine>",
	 "in:2: class Machine, field onlineCpus: 'a' is not a whole number", ""},
};

TEST_OF(test_errors, NR_ELEMENTS(bad_documents))
{
	ck_assert_ptr_null(read_xml(bad_documents[_i].xml, &why));
	ck_assert_str_eq(why.text, bad_documents[_i].message);
	ck_assert_str_eq(why.hint, bad_documents[_i].hint);
}

/* Hostile depth ends in an error before the stack does. */
TEST(test_deep_nesting)
{
	const size_t depth = 20000;
	size_t len = 0;
	autofree char *xml = rot_calloc(depth, 40);

	for (size_t i = 0; i < depth; i++)
		len += (size_t)sprintf(xml + len, "<Rule><predicate>");
	ck_assert_ptr_null(document_read(registry, xml, len, "in", &why));
	for (size_t i = 0; i < depth; i++)
		len += (size_t)sprintf(xml + len, "</predicate></Rule>");
	ck_assert_ptr_null(document_read(registry, xml, len, "in", &why));
	ck_assert_msg(strstr(why.text, "nested too deeply") || strstr(why.text, "depth"), "%s", why.text);
}

UNIT_TESTS(.set_up = open_registry);
