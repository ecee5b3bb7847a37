/* SPDX-License-Identifier: MIT */
/* Libraries that kernels measure, what they tell of them, and where their files go: see kernels/kernel.h. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/kernels.h"
#include "kernel.h"
#include "memory.h"

struct library {
	char *file, *variables;
	void *handle;
	struct library *next;
};

/* Both live as long as the process: a library keeps threads, and what it is does not change. */
static struct library *libraries;
static char **facts;
static size_t nr_facts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *folder, *kept_folder;

void
kernel_folder_set(const char *file)
{
	const char *slash = strrchr(file, '/');

	free(folder);
	folder = slash ? rot_strndup(file, (size_t)(slash - file)) : rot_strdup(".");
}

const char *
kernel_folder(void)
{
	return folder ? folder : ".";
}

void
kernel_kept_folder_set(const char *path)
{
	rot_string_set(&kept_folder, path);
}

const char *
kernel_kept_folder(void)
{
	return kept_folder && kept_folder[0] ? kept_folder : NULL;
}

/* ---- what is told ---- */

/* Called with the lock held. Takes the text. */
static void
add_fact(char *text)
{
	for (size_t i = 0; i < nr_facts; i++) {
		if (strcmp(facts[i], text) == 0) {
			free(text);
			return;
		}
	}
	facts = rot_realloc(facts, nr_facts + 1, sizeof(*facts));
	facts[nr_facts++] = text;
}

void
kernel_tell(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	pthread_mutex_lock(&lock);
	add_fact(text);
	pthread_mutex_unlock(&lock);
}

void
kernel_facts(struct measurement_run_output *output)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nr_facts; i++)
		measurement_run_output_facts_add(output, facts[i]);
	pthread_mutex_unlock(&lock);
}

/* ---- variables ---- */

/* Removes NAME, or all that begin with it. */
static void
unset(const char *name, bool is_prefix)
{
	size_t length = strlen(name);

	for (char **variable = environ; *variable;) {
		size_t of_name = strcspn(*variable, "=");
		char *found;

		if (strncmp(*variable, name, length) != 0 || (!is_prefix && of_name != length)) {
			variable++;
			continue;
		}
		found = rot_strndup(*variable, of_name);
		unsetenv(found);
		free(found);
		variable = environ;
	}
}

static void
apply(const char *variables)
{
	char *copy = rot_strdup(variables), *rest = NULL;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '='), *star = strchr(word, '*');

		if (value) {
			*value++ = '\0';
			setenv(word, value, 1);
			continue;
		}
		if (star)
			*star = '\0';
		unset(word, star != NULL);
	}
	free(copy);
}

/* ---- libraries ---- */

/* FILE of a folder lies in that folder beside the C library; a mere name is the loader's business. */
static char *
path_of(const char *file)
{
	Dl_info c_library;
	const char *slash;

	if (file[0] == '/' || !strchr(file, '/') || !dladdr((void *)getenv, &c_library) || !c_library.dli_fname)
		return rot_strdup(file);
	slash = strrchr(c_library.dli_fname, '/');
	return rot_format("%.*s/%s", slash ? (int)(slash - c_library.dli_fname) : 0, c_library.dli_fname, file);
}

static void
tell_path(const char *file, void *handle)
{
	struct link_map *map = NULL;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name) {
		char *real = realpath(map->l_name, NULL);

		add_fact(rot_format("%s: %s", file, real ? real : map->l_name));
		free(real);
	}
}

static void *
load(const char *file, const char *variables)
{
	char *path = path_of(file);
	struct library *library;
	void *handle;

	apply(variables);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	free(path);
	if (!handle) {
		kernel_fail("%s", dlerror());
		return NULL;
	}
	library = rot_calloc(1, sizeof(*library));
	*library = (struct library){rot_strdup(file), rot_strdup(variables), handle, libraries};
	libraries = library;
	tell_path(file, handle);
	return handle;
}

void *
kernel_library(const char *file, const char *variables)
{
	void *handle = NULL;
	bool is_known = false;

	pthread_mutex_lock(&lock);
	for (const struct library *library = libraries; library && !is_known; library = library->next) {
		is_known = strcmp(library->file, file) == 0;
		if (is_known && strcmp(library->variables, variables) == 0)
			handle = library->handle;
		else if (is_known)
			kernel_fail("%s is loaded already, with '%s' instead of '%s': a process can load it once", file,
				    library->variables, variables);
	}
	if (!is_known)
		handle = load(file, variables);
	pthread_mutex_unlock(&lock);
	return handle;
}

void *
kernel_symbol(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		kernel_fail("%s", dlerror());
	return symbol;
}
