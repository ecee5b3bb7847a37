/* SPDX-License-Identifier: MIT */
/* rot new kernel|controller NAME: files to begin with in the user's data folder, made from those in driver/skeletons.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "commands/command.h"
#include "commands/print.h"
#include "definition.h"
#include "entity.h"
#include "experiments/find.h"
#include "memory.h"

/* A file of the user's data folder, and the skeleton that it is made from. */
struct new_file {
	char *path;
	const char *skeleton, *about;
};

enum { MAX_FILES = 3 };

/* Words of the skeletons, and what the user's files have in their place. */
struct replacement {
	const char *word, *by;
};

static char *
replaced(const char *text, const struct replacement *replacements, size_t nr)
{
	char *result = NULL;
	size_t size, i;
	FILE *out = open_memstream(&result, &size);

	while (out && *text) {
		for (i = 0; i < nr && strncmp(text, replacements[i].word, strlen(replacements[i].word)) != 0; i++)
			;
		fputs(i < nr ? replacements[i].by : (char[]){*text, '\0'}, out);
		text += i < nr ? strlen(replacements[i].word) : 1;
	}
	if (out)
		fclose(out);
	return result;
}

static int
write_one(const struct paths *paths, const struct new_file *file, const struct replacement *replacements, size_t nr,
	  struct rot_error *err)
{
	autofree char *from = rot_format("%s/driver/skeletons/%s", paths->data, file->skeleton);
	autofree char *folder = rot_strndup(file->path, (size_t)(strrchr(file->path, '/') - file->path));
	autofree char *skeleton = file_read(from, NULL, err);
	autofree char *text = skeleton ? replaced(skeleton, replacements, nr) : NULL;
	int rc = text ? folder_make(folder, err) : -1;

	if (rc == 0)
		rc = file_write(file->path, text, strlen(text), false, err);
	return rc;
}

/* A controller's name is a file's name, and a word of command lines. */
static int
check_controller(const struct paths *paths, const char *name, struct rot_error *err)
{
	autopool pool = {0};
	struct controller_info *infos;
	size_t nr;
	int rc = 0;

	if (!isalnum((unsigned char)*name) || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
								"0123456789_-")])
		return rot_error_set(err, 0, "'%s' is no name for a controller: a letter or digit, then these, - and _",
				     name);
	controllers_list(&pool, paths, &infos, &nr);
	for (size_t i = 0; i < nr && rc == 0; i++)
		if (strcmp(infos[i].name, name) == 0)
			rc = rot_error_set(err, 0, "there is a controller '%s' already (%s%s%s)", name, infos[i].place,
					   *infos[i].path ? ": " : "", infos[i].path);
	return rc;
}

/* A kernel's name is that of a class, and with small letters that of a struct, and of a variable kernel_NAME. */
static int
check_kernel(const struct rot *rot, const char *name, const char *c_name, struct rot_error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const struct definition *kernel = definitions_find(rot->kernels, name);
	autofree char *path = NULL, *contract = NULL, *function = NULL;

	if (!isupper((unsigned char)*name) || name[strspn(name, letters)]) {
		rot_error_set(err, 0, "'%s' is no name for a kernel: a capital letter, then letters and digits", name);
		if (isalpha((unsigned char)*name) && !name[strspn(name, letters)])
			rot_error_hint(err, "rot new kernel %c%s", toupper((unsigned char)*name), name + 1);
		return -1;
	}
	if (kernel)
		return rot_error_set(err, 0, "there is a kernel '%s' already: %s", name, kernel->path);
	path = rot_format("%s/kernels/kernel.h", rot->paths->data);
	contract = file_read(path, NULL, err);
	function = rot_format("kernel_%s(", c_name);
	int rc = !contract ? -1 : 0;

	if (contract &&
	    (rot_registry_find(rot->registry, name) || codegen_is_reserved(c_name) || strstr(contract, function)))
		rc = rot_error_set(err, 0, "'%s' is a name that C or rot uses itself: choose another one", name);
	return rc;
}

static void
print_written(const struct new_file *files, size_t nr, bool is_kernel, const char *name)
{
	printf("Wrote\n");
	for (size_t i = 0; i < nr; i++)
		print_entry(files[i].path, "", files[i].about);
	printf("Next\n");
	if (is_kernel) {
		print_entry("rot list kernels", name, "shows its parameters");
		print_entry("rot measure", name, "builds it, measures it and draws its roofline");
	} else {
		print_entry("rot measure --dry-run", name, "shows the points, and about how long they take");
		print_entry("rot measure", name, "measures them and draws their roofline");
	}
}

static int
new_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	const bool is_kernel = strcmp(argv[0], "kernel") == 0;
	const char *name = argv[1];
	const struct paths *paths;
	struct rot *rot;
	int rc;

	(void)options;
	(void)argc;
	if (!is_kernel && strcmp(argv[0], "controller") != 0) {
		rot_error_set(err, 0, "there is no new '%s': it is a kernel or a controller", argv[0]);
		rot_error_hint(err, "rot new kernel NAME, or rot new controller NAME");
		return COMMAND_USAGE;
	}
	paths = command_paths(context, err);
	/* A data folder that is named and not there would be warned about. */
	if (!paths || folder_make(paths->user, err) < 0 || !(rot = command_rot(context, err)))
		return -1;
	autofree char *c_name = codegen_snake_case(name);
	const struct replacement replacements[] = {
		{"Skeleton", name}, {"skeleton", c_name}, {"@kernel@", is_kernel ? name : "Triad"}, {"@name@", name}};
	const char *user = rot->paths->user;
	const struct new_file files[MAX_FILES] = {
		{rot_format("%s/controllers/%s.xml", user, name), "controller.xml",
		 "the experiment: which points are measured, and what is shown of them"},
		{rot_format("%s/kernels/%s/%s.xml", user, name, name), "Skeleton.xml",
		 "the kernel's parameters, and the work that is expected of it"},
		{rot_format("%s/kernels/%s/%s.c", user, name, name), "Skeleton.c", "its code"},
	};
	const size_t nr_files = is_kernel ? MAX_FILES : 1;

	rc = is_kernel ? check_kernel(rot, name, c_name, err) : 0;
	if (rc == 0)
		rc = check_controller(rot->paths, name, err);
	for (size_t i = 0; i < nr_files && rc == 0; i++)
		if (access(files[i].path, F_OK) == 0)
			rc = rot_error_set(err, 0, "there is a file '%s' already: it is left as it is", files[i].path);
	for (size_t i = 0; i < nr_files && rc == 0; i++)
		rc = write_one(rot->paths, &files[i], replacements, sizeof(replacements) / sizeof(*replacements), err);
	if (rc == 0)
		print_written(files, nr_files, is_kernel, name);
	for (size_t i = 0; i < MAX_FILES; i++)
		free(files[i].path);
	return rc;
}

static void
new_complete(struct command_context *context, int i, void (*propose)(const char *word, void *to), void *to)
{
	(void)context;
	if (i == 0) {
		propose("kernel", to);
		propose("controller", to);
	}
}

const struct command new_command = {
	.name = "new",
	.arguments = "kernel|controller NAME",
	.summary = "write a kernel or a controller to begin with",
	.examples =
		(const struct command_example[]){
			{"rot new kernel Stencil", "Stencil.xml, Stencil.c, and its experiment"},
			{"rot measure Stencil", "measures it"},
			{"rot new controller mine", "an experiment with the kernel Triad"},
			{0},
		},
	.description =
		"The files are commented, lie in your data folder (-dataFolder), and can be measured at once: rot "
		"measure "
		"NAME. A kernel comes with a controller of the same name; a new controller measures the kernel Triad. "
		"Existing files are never overwritten. More: rot help ADD-A-KERNEL.md, rot help CONTROLLERS.md.",
	.nr_arguments_min = 2,
	.nr_arguments_max = 2,
	.run = new_run,
	.complete = new_complete,
};
