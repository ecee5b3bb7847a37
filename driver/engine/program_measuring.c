/* SPDX-License-Identifier: MIT */
/* Programs as kernels: identified, looked up, run for what is missing, stored. */
#include "engine/program_measuring.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "engine/core_launch.h"
#include "engine/measuring.h"
#include "engine/measuring_internal.h"
#include "engine/origin.h"
#include "engine/performance.h"
#include "engine/sha256.h"
#include "memory.h"
#include "rot.h"

/* ---- what decides a result ---- */

/* Variables that change what programs do or how fast they are; a name that ends in "_" stands for all that begin so. */
static const char *const environment_that_matters[] = {
	"BLIS_",   "GLIBC_TUNABLES", "GOMAXPROCS", "GOMP_", "JULIA_",    "KMP_",           "LANG", "LC_",     "LD_",
	"MALLOC_", "MKL_",           "NUMEXPR_",   "OMP_",  "OPENBLAS_", "PYTHONHASHSEED", "TBB_", "VECLIB_",
};

/* Does the program get this variable of ours, and may it change a result? */
static bool
matters(const struct program *program, const char *variable)
{
	const size_t own_length = strcspn(variable, "=") + 1;

	for (size_t i = 0; i < program_nr_environment(program); i++)
		if (strncmp(program_environment_at(program, i), variable, own_length) == 0)
			return false;
	for (size_t i = 0; i < sizeof(environment_that_matters) / sizeof(*environment_that_matters); i++) {
		const char *name = environment_that_matters[i];
		size_t length = strlen(name);

		if (strncmp(variable, name, length) == 0 && (name[length - 1] == '_' || variable[length] == '='))
			return true;
	}
	return false;
}

static void
add_file(struct rot *rot, struct program_workload *workload, const char *path)
{
	struct program_file *file = program_file_new();

	rot_string_set(&file->file, path);
	rot_string_set(&file->sha256, file_hashes_get(rot->measuring->files, path));
	program_workload_files_add(workload, file);
}

/* The files of the program; the loader is asked again when another one, or a changed one, is meant. */
static const struct file_list *
list_files(struct measuring *measuring, const struct program *program)
{
	struct file_list *list = &measuring->listed;
	const char *hash = list->nr > 0 ? file_hashes_get(measuring->files, list->paths[0]) : "";
	autofree char *key = rot_format("%s\n%s", program->folder, program->executable);
	autofree char *key_now = NULL;

	for (size_t i = 0; i < program_nr_environment(program); i++)
		rot_append(&key, "\n%s", program_environment_at(program, i));
	key_now = rot_format("%s\n%s", key, hash);
	if (list->nr > 0 && strcmp(measuring->listed_for, key_now) == 0)
		return list;
	file_list_clear(list);
	program_files_find(program, list);
	hash = list->nr > 0 ? file_hashes_get(measuring->files, list->paths[0]) : "";
	measuring->listed_for = pool_format(&list->pool, "%s\n%s", key, hash);
	return list;
}

static int
find_files(struct rot *rot, struct program_workload *workload, struct rot_error *err)
{
	const struct program *program = workload->program;
	const struct file_list *files = list_files(rot->measuring, program);
	const struct program_file *file;
	int reason;

	for (size_t i = 0; i < files->nr; i++)
		add_file(rot, workload, files->paths[i]);
	if (program->standard_input[0])
		add_file(rot, workload, program->standard_input);
	if (files->nr == 0) {
		rot_error_set(err, 0, "cannot run '%s': no such program in PATH", program->executable);
		return rot_error_hint(err, "a program that is not in PATH needs its folder in front: ./NAME");
	}
	/* Its content decides what results count, so it must be read and not only run. */
	file = program_workload_files_at(workload, 0);
	reason = access(file->file, R_OK) < 0 || access(file->file, X_OK) < 0 ? errno : EISDIR;
	if (file->sha256[0] && access(file->file, X_OK) == 0)
		return 0;
	rot_error_set(err, reason, "cannot run '%s'", file->file);
	return rot_error_hint(err, "it must be a file that may be read and executed");
}

/* Inputs count from where the program runs, as the arguments that name them. */
static int
hash_inputs(struct rot *rot, struct program_workload *workload, struct rot_error *err)
{
	for (size_t i = 0; i < program_workload_nr_inputs(workload); i++) {
		struct program_file *input = program_workload_inputs_at(workload, i);
		autofree char *path = input->file[0] == '/' ? rot_strdup(input->file)
							    : rot_format("%s/%s", workload->runs_in, input->file);

		errno = 0;
		rot_string_set(&input->sha256, file_hashes_get(rot->measuring->files, path));
		if (!input->sha256[0]) {
			rot_error_set(err, access(path, R_OK) < 0 ? errno : EINVAL, "cannot read the input '%s'", path);
			rot_error_hint(err, "an input is a file; its path counts from the folder the program runs in");
		}
		if (!input->sha256[0])
			return -1;
	}
	return 0;
}

int
program_workload_identify(struct rot *rot, struct program_workload *workload, struct rot_error *err)
{
	const char *folder = workload->program->folder[0] ? workload->program->folder : ".";
	struct perf_event_measurer *pass = workload->pass;
	char path[PATH_MAX];
	char **variables = workload->inherited_environment.items;
	struct rot_list *list;

	/* forget what was found before */
	for (size_t i = 0; i < program_workload_nr_files(workload); i++)
		rot_graph_delete(program_workload_files_at(workload, i));
	for (size_t i = 0; i < workload->inherited_environment.nr; i++)
		free(variables[i]);
	workload->files.nr = workload->inherited_environment.nr = 0;
	if (!realpath(folder, path))
		return rot_error_set(err, errno, "cannot run in folder '%s'", folder);
	rot_string_set(&workload->runs_in, path);
	if (find_files(rot, workload, err) < 0)
		return -1;
	list = &workload->inherited_environment;
	for (char *const *variable = environ; variable && *variable; variable++)
		if (matters(workload->program, *variable))
			program_workload_inherited_environment_add(workload, *variable);
	if (list->nr)
		qsort(list->items, list->nr, sizeof(char *), names_compare);
	/* The pass has its own number. */
	workload->pass = NULL;
	measuring_complete(rot, workload);
	workload->pass = pass;
	return hash_inputs(rot, workload, err);
}

/* ---- runs ---- */

static struct rot_list *
program_runs(const struct measurement_result *result)
{
	return result->program ? &result->program->outputs : NULL;
}

static enum performance_outcome
prepare(struct performance *performance, bool may_build, struct rot_error *err)
{
	const char *hash = measuring_parent_hash(performance->rot, err);

	(void)may_build;
	if (!hash)
		return PERFORMANCE_FAILED;
	strcpy(performance->core_hash, hash);
	return PERFORMANCE_DONE;
}

static void
sign(const struct performance *performance, struct measurement_result *result)
{
	(void)performance;
	result->program = program_command_output_new();
}

static struct program_command *
make_command(const struct program_workload *first, struct performance_pass *const *passes, size_t nr, int nr_runs)
{
	struct program_command *command = program_command_new();

	command->program = first->program;
	command->run_count = nr_runs;
	command->follow_forks = first->follow_forks;
	command->per_thread = program_workload_nr_regions(first) > 0 || program_workload_nr_rules(first) > 0;
	rot_string_set(&command->region_backend, first->region_backend);
	for (size_t i = 0; i < program_workload_nr_regions(first); i++)
		program_command_regions_add(command, program_workload_regions_at(first, i));
	for (size_t i = 0; i < program_workload_nr_rules(first); i++)
		program_command_rules_add(command, program_workload_rules_at(first, i));
	for (size_t i = 0; i < nr; i++)
		program_command_passes_add(command, ((struct program_workload *)passes[i]->description)->pass);
	return command;
}

static bool
is_allowed(const struct program_run_output *run, const char *allowed)
{
	char status[16];
	size_t length;

	if (strcmp(allowed, "any") == 0)
		return true;
	snprintf(status, sizeof(status), "%d", (int)run->exit_status);
	for (; *allowed; allowed += strspn(allowed, " ")) {
		length = strcspn(allowed, " ");
		if (length == strlen(status) && strncmp(allowed, status, length) == 0)
			return true;
		allowed += length;
	}
	return false;
}

/* The lines that fit into a message. */
static const char *
end_of(const char *text)
{
	size_t length = strlen(text);
	const char *line = length > 2000 ? strchr(text + length - 2000, '\n') : NULL;

	return line ? line + 1 : length > 2000 ? text + length - 2000 : text;
}

static int
check_ends(const struct program_workload *workload, const struct program_command_output *output, const char *printed,
	   struct rot_error *err)
{
	for (size_t i = 0; i < program_command_output_nr_outputs(output); i++) {
		const struct program_run_output *run = program_command_output_outputs_at(output, i);

		if (is_allowed(run, workload->exit_status))
			continue;
		if (run->signal)
			rot_error_set(err, 0, "the program '%s' was ended by signal %d (%s)",
				      workload->program->executable, (int)run->signal, strsignal(run->signal));
		else
			rot_error_set(err, 0, "the program '%s' ended with exit status %d",
				      workload->program->executable, (int)run->exit_status);
		if (*printed)
			rot_error_append(err, "\nThe program printed:\n%s", end_of(printed));
		rot_error_scope(err, ROT_ERROR_OF_WORK);
		return rot_error_hint(err, "exitStatus=\"0 1\" on <program> allows these, exitStatus=\"any\" any end");
	}
	return 0;
}

/* Takes over the words on all runs: each warning once, and what the first runs tell of regions. */
static void
take_words(struct program_command_output *to, const struct program_command_output *from)
{
	for (size_t i = 0; i < program_command_output_nr_warnings(from); i++) {
		const char *warning = program_command_output_warnings_at(from, i);
		bool is_known = false;

		for (size_t k = 0; k < program_command_output_nr_warnings(to); k++)
			is_known |= strcmp(program_command_output_warnings_at(to, k), warning) == 0;
		if (!is_known)
			program_command_output_warnings_add(to, warning);
	}
	if (program_command_output_nr_outputs(to) > 0)
		return;
	rot_string_set(&to->backend, from->backend);
	for (size_t i = 0; i < program_command_output_nr_region_services(from); i++)
		program_command_output_region_services_add(
			to, rot_graph_clone(program_command_output_region_services_at(from, i), NULL));
}

static int
measure_program(struct performance *performance, struct performance_pass *const *passes, size_t nr, int nr_runs,
		struct rot_error *err)
{
	const struct program_workload *first = passes[0]->description;
	struct program_command *command = make_command(first, passes, nr, nr_runs);
	autograph struct program_command_output *output = NULL;
	autofree char *printed = NULL;
	int rc = core_launch_program(performance->rot, command, &output, &printed, err);

	if (rc == 0)
		rc = check_ends(first, output, printed, err);
	for (size_t i = 0; rc == 0 && i < nr; i++)
		take_words(passes[i]->result->program, output);
	for (size_t i = 0; rc == 0 && i < program_command_output_nr_outputs(output); i++) {
		struct program_run_output *run = program_command_output_outputs_at(output, i);
		size_t pass = (size_t)run->pass;

		run->pass = 0;
		program_command_output_outputs_add(passes[pass]->result->program, run);
	}
	if (rc == 0)
		output->outputs.nr = 0;
	program_command_delete(command);
	return rc;
}

static const struct performance_kind programs = {
	.runs = program_runs,
	.prepare = prepare,
	.sign = sign,
	.measure = measure_program,
};

/* ---- all passes ---- */

int
program_measuring_perform(struct rot *rot, struct program_workload *const *passes, size_t nr_passes, int nr_runs,
			  struct program_command_output **output, json_t *origin, struct rot_error *err)
{
	struct performance performance = {.rot = rot, .kind = &programs, .nr = nr_passes, .nr_runs = nr_runs};
	autofree struct measurement_result **results = rot_calloc(nr_passes, sizeof(struct measurement_result *));

	if (performance_run(&performance, (void *const *)passes, results, err) < 0)
		return -1;
	*output = program_command_output_new();
	for (size_t i = 0; i < nr_passes; i++) {
		struct program_command_output *from = results[i]->program;

		origin_add(origin, results[i]);
		take_words(*output, from);
		for (size_t k = 0; k < program_command_output_nr_outputs(from); k++) {
			struct program_run_output *run = program_command_output_outputs_at(from, k);

			run->pass = (int32_t)i;
			program_command_output_outputs_add(*output, run);
		}
		from->outputs.nr = 0; /* *output has them now */
		rot_graph_delete(results[i]);
	}
	return 0;
}
