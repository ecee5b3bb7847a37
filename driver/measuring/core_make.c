/* SPDX-License-Identifier: MIT */
/* Starting make in a build folder, and saying what the compiler said. */
#include "measuring/core_make.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "configuration/configuration.h"
#include "configuration/paths.h"
#include "memory.h"
#include "rot.h"

char *
core_make_ccache(const struct rot *rot, struct rot_error *err)
{
	const char *choice = configuration_string(rot->configuration, "ccache");
	char *path = strcmp(choice, "no") == 0 ? rot_strdup("") : process_find("ccache");

	if (path || strcmp(choice, "auto") == 0)
		return path ? path : rot_strdup("");
	rot_error_set(err, 0, "cannot find 'ccache' in PATH");
	rot_error_hint(err, "sudo apt-get install ccache    or -ccache=auto");
	rot_error_scope(err, ROT_ERROR_OF_TOOLS);
	return NULL;
}

/* make passes its own settings on in the environment; a rot below a make is not part of it. */
void
core_make_environment(const struct rot *rot)
{
	static const char *const of_make[] = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GNUMAKEFLAGS", "MAKEFILES"};
	char *folder = rot_format("%s/ccache", rot->paths->cache);

	for (size_t i = 0; i < sizeof of_make / sizeof *of_make; i++)
		unsetenv(of_make[i]);
	/* ccache replaces variables in the value, and cannot be told not to. */
	if (!strchr(folder, '$'))
		setenv("CCACHE_DIR", folder, 0);
	setenv("CCACHE_MAXSIZE", "500M", 0);
	setenv("CCACHE_NOHASHDIR", "1", 0);
	/* The compiler names the files it read (-MD): what is new need not be preprocessed twice. */
	setenv("CCACHE_DEPEND", "1", 0);
	free(folder);
}

/* What the compiler said, without make's own lines, which say nothing to somebody who never started make. */
static char *
compiler_messages(const char *output)
{
	char *text = rot_calloc(strlen(output) + 1, 1);
	size_t nr = 0;

	while (*output) {
		size_t length = strcspn(output, "\n") + (strchr(output, '\n') ? 1 : 0);

		if (strncmp(output, "make: ", 6) != 0) {
			memcpy(text + nr, output, length);
			nr += length;
		}
		output += length;
	}
	while (nr > 0 && text[nr - 1] == '\n')
		text[--nr] = '\0';
	return text;
}

/* Text with every FROM as TO; takes text over. Fresh memory. */
static char *
replace(char *text, const char *from, const char *to)
{
	char *place = strstr(text, from), *begin = rot_strdup(""), *rest = text;

	for (; place; place = strstr(rest, from)) {
		char *longer = rot_format("%s%.*s%s", begin, (int)(place - rest), rest, to);

		free(begin);
		begin = longer;
		rest = place + strlen(from);
	}
	place = rot_format("%s%s", begin, rest);
	free(begin);
	free(text);
	return place;
}

/* Paths that make cannot take are reached through links (core_folder.c); nobody knows those. */
static char *
name_real_folders(char *messages, const struct core_description *description)
{
	for (size_t i = 0; i < description->nr_kernels; i++) {
		const struct definition *definition = description->kernels[i].definition;
		char *from = rot_format("links/%s/", definition->class->name),
		     *to = rot_format("%s/", definition->folder);

		messages = replace(messages, from, to);
		free(from);
		free(to);
	}
	return messages;
}

int
core_make_report(const struct core_description *description, const struct process_result *result, struct rot_error *err)
{
	char *messages = name_real_folders(compiler_messages(result->output), description), *names = rot_strdup("");

	for (size_t i = 0; i < description->nr_kernels; i++) {
		char *longer =
			rot_format("%s%s%s", names, i ? ", " : "", description->kernels[i].definition->class->name);

		free(names);
		names = longer;
	}
	rot_error_set(err, 0, "cannot compile the measuring core with kernel %s:\n%.*s", names,
		      messages[0] ? INT_MAX : (int)process_output_length(result),
		      messages[0] ? messages : result->output);
	rot_error_scope(err, ROT_ERROR_OF_WORK);
	if (result->signal)
		rot_error_hint(err, "make was ended by signal %d", result->signal);
	else
		rot_error_hint(
			err, "a kernel that works: rot help ADD-A-KERNEL.md; flags are the field or key optimization");
	free(names);
	free(messages);
	return -1;
}

void
core_make_init(struct core_make *make, const struct rot *rot, const char *folder, size_t nr_jobs)
{
	*make = (struct core_make){.makefile = rot_format("%s/core/core.mk", rot->paths->data),
				   .jobs = rot_format("-j%zu", nr_jobs)};
	const char *const argv[] = {
		"make", "--no-print-directory", "-f", make->makefile, "-C", folder, make->jobs, "child", NULL};

	static_assert(sizeof(argv) == sizeof(make->argv), "as many words as there is room for");
	memcpy(make->argv, argv, sizeof(argv));
}

void
core_make_clear(struct core_make *make)
{
	free(make->makefile);
	free(make->jobs);
	*make = (struct core_make){.jobs = NULL};
}

char *
core_make_compiler_version(const struct rot *rot)
{
	char *words = rot_strdup(configuration_string(rot->configuration, "compiler")), *rest = NULL, *version = NULL;
	const char *argv[16] = {0};
	struct process_result result = {0};
	size_t nr = 0;

	for (char *word = strtok_r(words, " ", &rest); word && nr < 14; word = strtok_r(NULL, " ", &rest))
		argv[nr++] = word;
	argv[nr] = "--version";
	if (process_run(argv, NULL, &result, NULL, NULL) == 0 && result.status == 0 && result.output[0])
		version = rot_strndup(result.output, strcspn(result.output, "\n"));
	process_result_clear(&result);
	free(words);
	return version ? version : rot_strdup("unknown");
}
