/* SPDX-License-Identifier: MIT */
/* rot plot: draw what was measured before. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/command.h"
#include "controllers/stored_plot.h"
#include "memory.h"
#include "programs/run.h"

/* One or two dashes before either name; a value follows as a word of its own or after "=". */
static const struct option_row {
	const char *letter, *name;
	bool is_flag;
	size_t offset;
} rows[] = {
	{"o", "output", false, offsetof(struct stored_plot_options, output_name)},
	{"t", "title", false, offsetof(struct stored_plot_options, title)},
	{"x", "x", false, offsetof(struct stored_plot_options, x)},
	{"y", "y", false, offsetof(struct stored_plot_options, y)},
	{"x-range", "x-range", false, offsetof(struct stored_plot_options, x_range)},
	{"y-range", "y-range", false, offsetof(struct stored_plot_options, y_range)},
	{"l", "labels", false, offsetof(struct stored_plot_options, labels)},
	{"no-ceilings", "no-ceilings", true, offsetof(struct stored_plot_options, has_no_ceilings)},
};

/* value: what follows "=", or NULL. */
static const struct option_row *
find(const char *word, const char **value)
{
	const char *text = word + strspn(word, "-");
	size_t length = strcspn(text, "=");

	*value = text[length] ? text + length + 1 : NULL;
	for (size_t i = 0; word[0] == '-' && i < sizeof(rows) / sizeof(*rows); i++) {
		const char *const names[2] = {rows[i].letter, rows[i].name};

		for (size_t k = 0; k < 2; k++)
			if (strlen(names[k]) == length && strncmp(names[k], text, length) == 0)
				return &rows[i];
	}
	return NULL;
}

/* Files and options may stand in any order, so nothing begins another program. */
static int
plot_option_length(int argc, char *const *argv)
{
	const char *value;
	const struct option_row *row = find(argv[0], &value);

	if (argv[0][0] != '-' || !argv[0][1])
		return 1;
	if (!row)
		return 0;
	return row->is_flag || value || argc < 2 ? 1 : 2;
}

/* Files stay in argv, at its beginning. */
static int
parse(struct stored_plot_options *options, int argc, char **argv, int *nr_files, struct rot_error *err)
{
	*nr_files = 0;
	for (int i = 0; i < argc; i++) {
		const char *value;
		const struct option_row *row = find(argv[i], &value);

		if (!row) {
			argv[(*nr_files)++] = argv[i];
		} else if (row->is_flag) {
			*(bool *)((char *)options + row->offset) = true;
		} else {
			if (!value && i + 1 < argc)
				value = argv[++i];
			if (!value || !*value) {
				rot_error_set(err, 0, "'-%s' needs a value", row->name);
				return rot_error_hint(err, "more: rot help plot");
			}
			*(const char **)((char *)options + row->offset) = value;
		}
	}
	return 0;
}

/* What "rot run" left in the cache folder. */
static int
plot_last_run(struct rot *rot, const struct stored_plot_options *options, struct rot_error *err)
{
	char *path = rot_format("%s/" PROGRAM_LAST_RUN, rot->paths->cache);
	int rc = -1;

	if (access(path, F_OK) < 0) {
		rot_error_set(err, 0, "there is no last run to draw");
		rot_error_hint(err, "rot run PROGRAM leaves one; or name files: rot plot FILE.json...");
	} else {
		rc = stored_plot_write(rot, (const char *const *)&path, 1, options, err);
	}
	free(path);
	return rc;
}

static int
plot_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct stored_plot_options options = {.output_name = "plot"};
	struct rot *rot;
	int nr_files;

	if (parse(&options, argc, argv, &nr_files, err) < 0)
		return COMMAND_USAGE;
	rot = command_rot(context, err);
	if (!rot)
		return -1;
	if (nr_files == 0)
		return plot_last_run(rot, &options, err);
	return stored_plot_write(rot, (const char *const *)argv, (size_t)nr_files, &options, err);
}

const struct command plot_command = {
	.name = "plot",
	.arguments = "[OPTION...] [FILE.json...]",
	.summary = "draw stored results in one roofline, also those of other machines; without a file the last rot run",
	.description =
		"FILE.json is what rot measure wrote, or rot run with -o or -j. Nothing is measured: points and "
		"ceilings\n"
		"are those of the files. Ceilings of different machines are labelled by their files, and dashed.\n"
		"\n"
		"  -o, --output NAME        write NAME.pdf, .svg, .data and .gnuplot (default: plot)\n"
		"  -t, --title TEXT         title (default: what is drawn)\n"
		"  -x, -y QUANTITY          what to draw, as in 'rot list quantities': an operationalIntensity over x, "
		"a\n"
		"                           performance over y (default: the first that all files have)\n"
		"      --x-range LOW:HIGH   and --y-range: what to show, in the units of the plot\n"
		"  -l, --labels WHICH       points of a series that carry their label: none, ends (default) or all\n"
		"      --no-ceilings        points alone",
	.nr_arguments_min = 0,
	.nr_arguments_max = 1 << 30,
	.option_length = plot_option_length,
	.options = "--labels= --no-ceilings --output= --title= --x-range= --y-range= -x= -y=",
	.run = plot_run,
};
