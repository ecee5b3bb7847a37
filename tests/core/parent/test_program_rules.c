/* SPDX-License-Identifier: MIT */
/* Rules of programs without a program: which events are raised, what they match, and whom their actions concern. */
#include <stdarg.h>

#include "entities.h"
#include "parent/program/program_rules_internal.h"
#include "testing.h"

/* ---- what measures, and is only written down here ---- */

struct set_plan {
	const struct measurer_set *set;
};

struct thread_set {
	const struct set_plan *plan;
	pid_t tid;
	bool is_started, has_sum;
};

static char said[4096], warned[4096];
static pid_t unopened; /* on this thread nothing can be opened */

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	size_t nr = strlen(said);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said + nr, sizeof(said) - nr, format, arguments);
	va_end(arguments);
}

struct set_plan *
set_plan_new(const struct measurer_set *set, struct rot_error *err)
{
	struct set_plan *plan = rot_calloc(1, sizeof(*plan));

	(void)err;
	plan->set = set;
	return plan;
}

void
set_plan_delete(struct set_plan *plan)
{
	free(plan);
}

const struct measurer_set *
set_plan_set(const struct set_plan *plan)
{
	return plan->set;
}

struct thread_set *
thread_set_new(const struct set_plan *plan, pid_t tid, struct rot_error *err)
{
	struct thread_set *set = rot_calloc(1, sizeof(*set));

	if (tid == unopened) {
		free(set);
		rot_error_set(err, 0, "refused");
		errno = EACCES;
		return NULL;
	}
	set->plan = plan;
	set->tid = tid;
	return set;
}

void
thread_set_delete(struct thread_set *set)
{
	free(set);
}

int
thread_set_reopen(struct thread_set *set, pid_t tid, struct rot_error *err)
{
	(void)err;
	say("reopen%d@%d ", set->plan->set->id, (int)tid);
	return 0;
}

void
thread_set_end(struct thread_set *set)
{
	(void)set;
}

void
thread_set_start(struct thread_set *set)
{
	if (!set->is_started)
		say("start%d@%d ", set->plan->set->id, (int)set->tid);
	set->is_started = true;
}

void
thread_set_stop(struct thread_set *set)
{
	if (!set->is_started)
		return;
	say("stop%d@%d ", set->plan->set->id, (int)set->tid);
	set->is_started = false;
	set->has_sum = true;
}

int
thread_set_read(struct thread_set *set, struct measurer_set_output **output, struct rot_error *err)
{
	(void)err;
	*output = NULL;
	if (!set->has_sum)
		return 0;
	say("read%d@%d ", set->plan->set->id, (int)set->tid);
	set->has_sum = false;
	*output = measurer_set_output_new();
	return 0;
}

int
place_watch_set(struct place_watch *watch, struct symbol_files *symbols, const struct objects *objects,
		struct thread *thread, struct rot_error *err)
{
	(void)watch, (void)symbols, (void)objects, (void)thread;
	return rot_error_set(err, 0, "nobody looks for places");
}

void
place_watch_clear(struct place_watch *watch)
{
	(void)watch;
}

void
thread_read_name(pid_t tid, char name[THREAD_NAME_BYTES])
{
	snprintf(name, THREAD_NAME_BYTES, "name-%d", (int)tid);
}

/* ---- a program ---- */

static struct program_command *command;
static struct program_run_output *output;
static struct program_rules *rules;
static struct thread threads[8];

static void
warn(void *context, const char *text)
{
	(void)context;
	snprintf(warned, sizeof(warned), "%s", text);
}

static void
set_up(void)
{
	said[0] = warned[0] = '\0';
	unopened = 0;
	command = program_command_new();
	command->program = program_new();
	output = program_run_output_new();
	rules = NULL;
	memset(threads, 0, sizeof(threads));
	at_end(rot_graph_delete, command);
	at_end(rot_graph_delete, output);
}

static void
open_rules(void)
{
	const struct program_rules_setup setup = {.command = command, .output = output, .warn = warn};

	ck_assert_ok(program_rules_check(command, &why));
	ck_assert_ok(program_rules_new(&rules, &setup, &why));
	at_end(program_rules_delete, rules);
}

/* The program's processes are 10 and 20, their threads 10, 11, ... and 20, 21, ...: numbers that no process has. */
#define BASE 400000000

static struct thread *
thread_of(int number)
{
	struct thread *thread = &threads[number / 10 * 4 - 4 + number % 10];

	thread->tid = BASE + number;
	thread->pid = BASE + number / 10 * 10;
	return thread;
}

static void
begin(int number)
{
	if (number == 10)
		program_rules_executed(rules, thread_of(number));
	else
		program_rules_started(rules, thread_of(number));
}

static void
end(int number)
{
	program_rules_exited(rules, thread_of(number), number == 11 ? "worker" : "other");
}

static void
hit(size_t watch, int number)
{
	struct place_watch *at = &rules->watches[watch].at;

	at->hit(at, &(struct breakpoint_hit){.thread = thread_of(number)});
}

/* The words since the last time are the text, with "@400000010" as "@10". */
static void
expect(const char *text)
{
	char found[sizeof(said)] = "", *to = found;

	for (const char *from = said; *from; from++) {
		*to++ = *from;
		if (*from == '@')
			to += sprintf(to, "%d", (int)strtol(from + 1, (char **)&from, 10) - BASE), from--;
	}
	*to = '\0';
	ck_assert_str_eq(found, text);
	said[0] = '\0';
}

/* ---- rules ---- */

static struct measurer_set *
set_of(int id)
{
	struct measurer_set *set = measurer_set_new();

	set->id = id;
	return set;
}

static struct rule *
add_rule(void *predicate, void *action)
{
	struct rule *rule = rule_new();

	rule->predicate = predicate;
	rule->action = action;
	program_command_rules_add(command, rule);
	return rule;
}

static void *
predicate_of(const struct rot_class *class, const char *event)
{
	void *predicate = rot_entity_new(class);

	ck_assert_int_eq(rot_entity_set(predicate, "event", event, NULL), 0);
	return predicate;
}

static void *
on_run(const char *event)
{
	return predicate_of(&measurement_run_event_predicate_class, event);
}

static void *
on_thread(const char *event)
{
	return predicate_of(&thread_event_predicate_class, event);
}

static void *
on_program(const char *event)
{
	return predicate_of(&program_event_predicate_class, event);
}

static void *
on_place(const char *place, const char *event)
{
	struct breakpoint_event_predicate *predicate = predicate_of(&breakpoint_event_predicate_class, event);

	rot_string_set(&predicate->place, place);
	return predicate;
}

static void *
action_on(const struct rot_class *class, struct measurer_set *set)
{
	void *action = rot_entity_new(class);

	*(struct measurer_set **)rot_field_of(action, rot_class_field(class, "measurerSet")) = set;
	return action;
}

static struct create_measurer_on_thread_action *
create(void *start, void *stop)
{
	struct create_measurer_on_thread_action *action = action_on(&create_measurer_on_thread_action_class, set_of(1));

	action->start_predicate = start;
	action->stop_predicate = stop;
	add_rule(on_run("start"), action);
	return action;
}

/* ---- tests ---- */

TEST(no_rules_are_no_rules)
{
	open_rules();
	ck_assert_ptr_null(rules);
	begin(10);
	begin(11);
	end(11);
	program_rules_stop(rules);
	ck_assert(!program_rules_have_places(rules));
}

/* Events of the run concern all threads, those of a process its own, those of a thread it alone. */
TEST_OF(actions_concern_whom_the_event_does, 3)
{
	struct measurer_set *set = set_of(2);

	add_rule(on_thread("started"), action_on(&initialize_measurer_set_action_class, set));
	add_rule(_i == 0   ? on_run("stop")
		 : _i == 1 ? on_program("executed")
			   : on_place("f", "reached"),
		 action_on(&start_measurer_set_action_class, set));
	open_rules();
	for (int i = 0; i < 2; i++) {
		begin(10 + i);
		begin(20 + i);
	}
	warned[0] = said[0] = '\0';
	if (_i == 0) {
		program_rules_stop(rules);
		expect("start2@21 start2@11 start2@20 start2@10 ");
	} else if (_i == 1) {
		program_rules_executed(rules, thread_of(20));
		expect("reopen2@20 start2@21 start2@20 ");
	} else {
		hit(0, 11);
		expect("start2@11 ");
	}
	ck_assert_str_eq(warned, "");
}

/* Each level hands its state down to what is new below it. */
TEST(what_is_new_counts_as_what_is_there)
{
	create(on_program("executed"), on_run("stop"));
	open_rules();
	begin(10);
	expect("start1@10 ");
	begin(11);
	expect("start1@11 ");
	begin(20);
	expect("");
	program_rules_executed(rules, thread_of(20));
	expect("reopen1@20 start1@20 ");
	begin(21);
	expect("start1@21 ");
	end(11);
	expect("stop1@11 read1@11 ");
	program_rules_stop(rules);
	expect("stop1@21 stop1@20 stop1@10 read1@21 read1@20 read1@10 ");
	ck_assert_uint_eq(program_run_output_nr_measurer_set_outputs(output), 4);
}

TEST(passages_within_passages_are_one)
{
	create(on_place("f", "entered"), on_place("f", "left"));
	open_rules();
	begin(10);
	ck_assert_uint_eq(rules->nr_watches, 2);
	for (int i = 0; i < 3; i++)
		hit(0, 10);
	expect("start1@10 ");
	hit(1, 10);
	hit(1, 10);
	expect("");
	hit(1, 10);
	hit(1, 10);
	expect("stop1@10 ");
	hit(0, 10);
	expect("start1@10 ");
	end(10);
	expect("stop1@10 read1@10 ");
}

TEST(hits_are_counted_for_each_thread)
{
	struct breakpoint_event_predicate *some = on_place("f", "reached");
	struct measurer_set *set = set_of(3);

	some->first_hit = 2;
	some->last_hit = 3;
	add_rule(on_thread("started"), action_on(&initialize_measurer_set_action_class, set));
	add_rule(some, action_on(&start_measurer_set_action_class, set));
	add_rule(on_place("f", "reached"), action_on(&stop_measurer_set_action_class, set));
	open_rules();
	ck_assert_uint_eq(rules->nr_watches, 1);
	begin(10);
	begin(11);
	hit(0, 10);
	expect("");
	hit(0, 10);
	expect("start3@10 stop3@10 ");
	hit(0, 11);
	expect("");
	hit(0, 10);
	expect("start3@10 stop3@10 ");
	hit(0, 10);
	expect("");
}

static const struct {
	const char *name;
	int index;
	const char *said;
} picks[] = {
	{"", -1, "start4@10 start4@11 start4@12 "},
	{"name-400000011", -1, "start4@11 "},
	{"name-*2", -1, "start4@12 "},
	{"name", -1, ""},
	{"", 1, "start4@11 "},
	{"name-*0", 2, ""},
};

TEST_OF(threads_are_picked, NR_ELEMENTS(picks))
{
	struct thread_event_predicate *predicate = on_thread("started");
	struct measurer_set *set = set_of(4);

	rot_string_set(&predicate->name, picks[_i].name);
	predicate->index = picks[_i].index;
	add_rule(predicate, action_on(&initialize_measurer_set_action_class, set));
	add_rule(predicate, action_on(&start_measurer_set_action_class, set));
	open_rules();
	for (int i = 10; i < 13; i++)
		begin(i);
	expect(picks[_i].said);
}

static const struct {
	const char *executable;
	bool matches;
} executables[] = {
	{"", true}, {"b", true}, {"a/b", true}, {"/a/b", true}, {"ab", false}, {"/b", true}, {"x/a/b", false},
};

TEST_OF(executables_are_named_by_their_end, NR_ELEMENTS(executables))
{
	autograph struct program_event_predicate *predicate = on_program("exited");
	const struct event event = {.kind = EVENT_PROGRAM, .name = "exited", .executable = "/a/b"};

	rot_string_set(&predicate->executable, executables[_i].executable);
	ck_assert_int_eq(predicate_matches(&predicate->base, &event), executables[_i].matches);
}

/* The first thread makes way for the one that executes: the process lives on under its number. */
TEST(a_process_ends_with_its_last_thread)
{
	struct measurer_set *set = set_of(5);

	add_rule(on_run("start"), action_on(&initialize_measurer_set_action_class, set));
	add_rule(on_run("start"), action_on(&start_measurer_set_action_class, set));
	add_rule(on_program("exited"), action_on(&stop_measurer_set_action_class, set));
	add_rule(on_program("exited"), action_on(&read_measurer_set_action_class, set));
	open_rules();
	begin(10);
	begin(11);
	expect("start5@10 ");
	end(10);
	expect("");
	thread_of(11)->tid = BASE + 10;
	program_rules_executed(rules, &threads[1]);
	expect("");
	program_rules_exited(rules, &threads[1], "");
	expect("stop5@10 read5@10 ");
	ck_assert_str_eq(warned, "");
}

TEST(an_added_rule_answers_from_the_next_event_on)
{
	struct measurer_set *set = set_of(6);
	struct add_rule_action *add = add_rule_action_new();

	add->rule = rule_new();
	add->rule->predicate = on_thread("started");
	add->rule->action = action_on(&start_measurer_set_action_class, set);
	add_rule(on_thread("started"), action_on(&initialize_measurer_set_action_class, set));
	add_rule(on_thread("started"), add);
	open_rules();
	begin(10);
	expect("");
	begin(11);
	begin(12);
	expect("start6@11 start6@12 ");
	ck_assert_uint_eq(rules->nr, 3);
}

TEST(nothing_is_answered_after_the_run)
{
	struct measurer_set *set = set_of(7);

	add_rule(on_thread("started"), action_on(&initialize_measurer_set_action_class, set));
	add_rule(on_thread("started"), action_on(&start_measurer_set_action_class, set));
	open_rules();
	begin(10);
	expect("start7@10 ");
	program_rules_stop(rules);
	begin(11);
	end(11);
	end(10);
	expect("");
}

TEST(what_cannot_be_done_is_told)
{
	struct measurer_set *set = set_of(8);

	add_rule(on_thread("started"), action_on(&initialize_measurer_set_action_class, set));
	add_rule(on_place("f", "reached"), action_on(&start_measurer_set_action_class, set));
	open_rules();
	begin(10);
	unopened = BASE + 11;
	begin(11);
	ck_assert_str_eq(warned, "measurer set 8 of a rule is missing on some threads: refused");
	hit(0, 11);
	ck_assert_has(warned, "measurer set 8 is not initialized on the threads of an event reached");
	rules->watches[0].is_found = false;
	rot_error_set(&rules->watches[0].error, 0, "no function f");
	program_rules_stop(rules);
	ck_assert_str_eq(warned, "no thread was seen to come to 'f' (reached): no function f");
}

UNIT_TESTS(.set_up = set_up);
