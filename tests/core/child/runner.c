/* SPDX-License-Identifier: MIT */
/* See runner.h. */
#include "runner.h"

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

#include "testing.h"

static void
write_command(const struct measurement_command *command, const char *path)
{
	FILE *out = fopen(path, "w");
	struct rot_error error;

	ck_assert_ptr_nonnull(out);
	ck_assert_msg(rot_text_write(command, out, &error) == 0, "%s", error.text);
	ck_assert_int_eq(fclose(out), 0);
}

static void *
read_output(const char *path)
{
	struct rot_registry *registry = rot_registry_new();
	FILE *in = fopen(path, "r");
	struct rot_error error;
	void *output = NULL;

	ck_assert_int_eq(rot_registry_add_all(registry, entities, &error), 0);
	if (in) {
		output = rot_text_read(registry, in, path, &error);
		ck_assert_msg(output != NULL, "%s", error.text);
		fclose(in);
	}
	rot_registry_delete(registry);
	return output;
}

static bool is_traced;

void
runner_trace(void)
{
	is_traced = true;
}

bool
runner_has_library(const char *name)
{
	return !name || dlopen(name, RTLD_NOW) != NULL;
}

static int forbidden_syscall = -1, forbidden_errno;

void
runner_forbid(int syscall_number, int errnum)
{
	forbidden_syscall = syscall_number;
	forbidden_errno = errnum;
}

static void
apply_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden_syscall, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)forbidden_errno),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (forbidden_syscall >= 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0))
		_exit(125);
}

/* Executes the child, or its tracer with the child. */
static void
execute(const char *command, const char *output, const char *journal)
{
	char *child = built_path("tests/core/child/child");
	const char *arguments[16] = {is_traced ? built_path("core/rot-core") : child};
	size_t nr = 1;
	const struct {
		const char *name, *value;
	} options[] = {
		{"--child", is_traced ? child : NULL},
		{"--command", command},
		{"--output", output},
		{"--journal", is_traced ? NULL : journal},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!options[i].value)
			continue;
		arguments[nr++] = options[i].name;
		arguments[nr++] = options[i].value;
	}
	apply_filter();
	execv(arguments[0], (char **)arguments);
	_exit(126);
}

int
runner_start(const char *command, const char *output, const char *journal)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		execute(command, output, journal);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct outcome outcome;

void
runner_run(struct measurement_command *command)
{
	char *folder = temporary_folder_new(), *names[3];

	names[0] = rot_format("%s/command", folder);
	names[1] = rot_format("%s/output", folder);
	names[2] = rot_format("%s/journal", folder);
	write_command(command, names[0]);
	rot_graph_delete(command);
	outcome.status = runner_start(names[0], names[1], names[2]);
	outcome.output = at_end(rot_graph_delete, read_output(names[1]));
	outcome.journal = access(names[2], F_OK) == 0 ? file_text(names[2]) : (char *)"";
	for (size_t i = 0; i < 3; i++)
		free(names[i]);
}

struct measurement_run_output *
outcome_run(size_t measurement, size_t run)
{
	struct core_failure *failure = rot_cast(outcome.output, &core_failure_class);
	struct measurement_command_output *output = rot_cast(outcome.output, &measurement_command_output_class);

	ck_assert_msg(!failure, "%s", failure ? failure->attempted : "");
	ck_assert_int_eq(outcome.status, 0);
	ck_assert_ptr_nonnull(output);
	return measurement_run_output_collection_outputs_at(
		measurement_command_output_collections_at(output, measurement), run);
}

struct measurer_set_output *
run_set(const struct measurement_run_output *run, int set_id)
{
	for (size_t i = 0; i < measurement_run_output_nr_measurer_set_outputs(run); i++) {
		struct measurer_set_output *set = measurement_run_output_measurer_set_outputs_at(run, i);

		if (set->set_id == set_id)
			return set;
	}
	return NULL;
}

void
outcome_expect_failure(const char *kind, const char *text, const char *hint)
{
	struct core_failure *failure = rot_cast(outcome.output, &core_failure_class);

	ck_assert_int_eq(outcome.status, 1);
	ck_assert_ptr_nonnull(failure);
	ck_assert_str_eq(failure->kind, kind);
	ck_assert_msg(strstr(failure->attempted, text) != NULL, "'%s' not in '%s'", text, failure->attempted);
	ck_assert_msg(!hint || strstr(failure->hint, hint) != NULL, "'%s' not in '%s'", hint, failure->hint);
}

char *
journal_of(const char *thread)
{
	char *result = rot_calloc(1, strlen(outcome.journal) + 1), *at = result;
	size_t prefix = strlen(thread);

	for (const char *line = outcome.journal; *line;) {
		const char *end = strchr(line, '\n') + 1;

		if (strncmp(line, thread, prefix) == 0 && line[prefix] == ':') {
			memcpy(at, line + prefix + 2, (size_t)(end - line) - prefix - 2);
			at += (size_t)(end - line) - prefix - 2;
		}
		line = end;
	}
	*at = '\0';
	return result;
}

/* ---- descriptions ---- */

struct measurement_command *
make_command(int runs)
{
	struct measurement_command *command = measurement_command_new();

	command->run_count = runs;
	measurement_command_measurements_add(command, measurement_new());
	return command;
}

struct measurement *
command_measurement(struct measurement_command *command)
{
	return measurement_command_measurements_at(command, 0);
}

struct workload *
add_workload(struct measurement *measurement, int id)
{
	struct workload *workload = workload_new();
	struct probe_data *probe = rot_entity_new(&probe_data_class);

	workload->id = id;
	workload->kernel = &probe->base;
	probe->base.id = id;
	probe->base.warm_code = true;
	probe->base.warm_data = true;
	measurement_workloads_add(measurement, workload);
	return workload;
}

struct probe_data *
workload_probe(struct workload *workload)
{
	return rot_cast(workload->kernel, &probe_data_class);
}

struct measurer_set *
make_set(int id, const struct rot_class *main)
{
	struct measurer_set *set = measurer_set_new();

	set->id = id;
	if (main) {
		set->main_measurer = rot_entity_new(main);
		set->main_measurer->id = 10 * id;
	}
	return set;
}

void
add_rule(struct measurement *measurement, void *predicate, void *action)
{
	struct rule *rule = rule_new();

	rule->predicate = predicate;
	rule->action = action;
	measurement_rules_add(measurement, rule);
}

struct workload_event_predicate *
on_workload(struct workload *workload, const char *event)
{
	struct workload_event_predicate *predicate = workload_event_predicate_new();

	predicate->workload = workload;
	rot_string_set(&predicate->event, event);
	return predicate;
}

struct measurement_run_event_predicate *
on_run(const char *event)
{
	struct measurement_run_event_predicate *predicate = measurement_run_event_predicate_new();

	rot_string_set(&predicate->event, event);
	return predicate;
}

struct stop_kernel_action *
stop_of(struct workload *workload)
{
	struct stop_kernel_action *stop = stop_kernel_action_new();

	stop->kernel = workload->kernel;
	return stop;
}

struct run_command *
shell(const char *script)
{
	struct run_command *command = run_command_new();

	rot_string_set(&command->executable, "sh");
	run_command_arguments_add(command, "-c");
	run_command_arguments_add(command, script);
	return command;
}

struct action_base *
on_set(const struct rot_class *class, struct measurer_set *set)
{
	void *action = rot_entity_new(class);

	*(struct rot_entity **)rot_field_of(action, rot_class_field(class, "measurerSet")) = ROT_ENTITY(set);
	return action;
}
