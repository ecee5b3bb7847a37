/* SPDX-License-Identifier: MIT */
/* rot plot: draw what was measured before. */
#include <stddef.h>
#include <unistd.h>

#include "commands/command.h"
#include "commands/program_run.h"
#include "experiments/stored_plot.h"
#include "memory.h"

static const char *const labels[] = {"none", "ends", "all", NULL};

#define TEXT(member) .type = OPTION_TEXT, .offset = offsetof(struct stored_plot_options, member)

static const struct option_row rows[] = {
	{.letter = "o",
	 .name = "output",
	 .value = "NAME",
	 .about = "write NAME.pdf, .svg, .data and .gnuplot, or what the key plots says (default: plot)",
	 TEXT(output_name)},
	{.letter = "t", .name = "title", .value = "TEXT", .about = "title (default: what is drawn)", TEXT(title)},
	{.name = "x",
	 .value = "QUANTITY",
	 .about = "what to draw over x, as in 'rot list quantities': an operationalIntensity (default: the first that "
		  "all files have)",
	 TEXT(x)},
	{.name = "y", .value = "QUANTITY", .about = "over y: a performance (default: likewise)", TEXT(y)},
	{.name = "x-range", .value = "LOW:HIGH", .about = "what to show, in the units of the plot", TEXT(x_range)},
	{.name = "y-range", .value = "LOW:HIGH", .about = "likewise", TEXT(y_range)},
	{.letter = "l",
	 .name = "labels",
	 .about = "points of a series that carry their label (default: ends)",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct stored_plot_options, labels),
	 .choices = labels},
	{.name = "no-ceilings",
	 .about = "points alone",
	 .offset = offsetof(struct stored_plot_options, has_no_ceilings)},
};

static const struct option_table table = {OPTION_ROWS(rows, struct stored_plot_options),
					  .defaults = &(const struct stored_plot_options){.output_name = "plot"}};

static int
plot_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);

	if (!rot)
		return -1;
	if (argc == 0) {
		/* The last "rot run" left its results in the cache folder. */
		autofree char *path = rot_format("%s/" PROGRAM_LAST_RUN, rot->paths->cache);
		int rc = -1;

		if (access(path, F_OK) < 0) {
			rot_error_set(err, 0, "there is no last run to draw");
			rot_error_hint(err, "rot run PROGRAM leaves one; or name files: rot plot FILE.json...");
		} else {
			rc = stored_plot_write(rot, (const char *const *)&path, 1, options, err);
		}
		return rc;
	}
	return stored_plot_write(rot, (const char *const *)argv, (size_t)argc, options, err);
}

const struct command plot_command = {
	.name = "plot",
	.arguments = "[FILE.json...]",
	.summary = "draw stored results in one roofline, also those of other machines; without a file the last rot run",
	.examples =
		(const struct command_example[]){
			{"rot plot", "the last rot run"},
			{"rot plot old.json new.json", "both in one roofline: plot.pdf, plot.svg"},
			{"rot plot -plots=html triad.json", "one page with all values: plot.html"},
			{"rot plot -plots=terminal *.json", "here, as text"},
			{0},
		},
	.description =
		"FILE.json is what rot measure wrote, or rot run with -o or -j. Nothing is measured: points and "
		"ceilings are those of the files. Ceilings of different machines are labelled by their files, and "
		"dashed. With -plots=terminal it is drawn here, as text, and no file is written. With -plots=html it "
		"is one "
		"page to pass on, with all values, and without gnuplot; FILE may be such a page.",
	.nr_arguments_min = 0,
	.nr_arguments_max = 1 << 30,
	.options = &table,
	.run = plot_run,
};
