/* SPDX-License-Identifier: MIT */
/* From a script and its data to pictures in place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/output.h"
#include "base/process.h"
#include "memory.h"
#include "plots/gnuplot.h"
#include "plots/script.h"

/* The files that we write, then those that gnuplot makes of them. */
static const char *const suffixes[] = {"data", "gnuplot", "pdf", "svg", "png"};
enum { NR_WRITTEN = 2, NR_SUFFIXES = sizeof suffixes / sizeof *suffixes };

static char *
private_path(const struct gnuplot *gnuplot, const char *suffix)
{
	return rot_format("%s/%s.%s", gnuplot->folder, gnuplot->base, suffix);
}

static FILE *
open_file(const struct gnuplot *gnuplot, const char *suffix, struct rot_error *err)
{
	autofree char *path = private_path(gnuplot, suffix);
	FILE *file = fopen(path, "we");

	if (!file)
		rot_error_set(err, errno, "cannot write '%s'", path);
	return file;
}

/* Removes what was not moved in place; rc. */
static int
end(struct gnuplot *gnuplot, int rc)
{
	if (gnuplot->data)
		fclose(gnuplot->data);
	if (gnuplot->script)
		fclose(gnuplot->script);
	for (int i = 0; gnuplot->folder && i < NR_SUFFIXES; i++) {
		autofree char *path = private_path(gnuplot, suffixes[i]);

		unlink(path);
	}
	if (gnuplot->folder)
		rmdir(gnuplot->folder);
	pool_clear(&gnuplot->pool);
	return rc;
}

int
gnuplot_open(struct gnuplot *gnuplot, const char *output_name, struct rot_error *err)
{
	const char *base = path_name(output_name);

	*gnuplot = (struct gnuplot){.output_name = output_name, .base = base};
	gnuplot->folder = mkdtemp(
		pool_format(&gnuplot->pool, "%.*s.%s" FILE_TEMPORARY, (int)(base - output_name), output_name, base));
	if (!gnuplot->folder) {
		rot_error_set(err, errno, "cannot write plots '%s.*'", output_name);
		rot_error_hint(err, "change to a folder you may write to; results go to the current one");
		return end(gnuplot, -1);
	}
	gnuplot->data = open_file(gnuplot, "data", err);
	gnuplot->script = gnuplot->data ? open_file(gnuplot, "gnuplot", err) : NULL;
	if (!gnuplot->script)
		return end(gnuplot, -1);
	fputs("# Draws NAME.pdf and NAME.svg: gnuplot NAME.gnuplot, in the folder of this file.\nname = ",
	      gnuplot->script);
	script_write_string(gnuplot->script, base);
	fputs("\ndata = name.\".data\"\n", gnuplot->script);
	return 0;
}

static int
close_file(FILE **file, const char *what, const struct gnuplot *gnuplot, struct rot_error *err)
{
	int failed = ferror(*file);

	if (fclose(*file) != 0)
		failed = 1;
	*file = NULL;
	if (failed)
		return rot_error_set(err, errno, "cannot write '%s.%s'", gnuplot->output_name, what);
	return 0;
}

static int
run_gnuplot(const struct gnuplot *gnuplot, struct rot_error *err)
{
	autofree char *script = rot_format("./%s.gnuplot", gnuplot->base); /* "-x" must not look like an option */
	const char *argv[] = {"gnuplot", script, NULL};
	struct process_result result;
	bool not_found;
	int rc = process_run(argv, gnuplot->folder, &result, &not_found, err);

	if (rc < 0) {
		rot_error_prefix(err, "cannot draw '%s'", gnuplot->output_name);
		if (not_found)
			rot_error_hint(err, "apt-get install gnuplot-nox, or where it is: gnuplot %s.gnuplot",
				       gnuplot->output_name);
	} else if (result.signal) {
		rc = rot_error_set(err, 0, "gnuplot was ended by signal %d (%s) while it drew '%s'", result.signal,
				   strsignal(result.signal), gnuplot->output_name);
	} else if (result.status != 0) {
		rc = rot_error_set(err, 0, "gnuplot failed to draw '%s': %.*s", gnuplot->output_name,
				   (int)process_output_length(&result), result.output);
	}
	process_result_clear(&result);
	return rc;
}

static int
move_in_place(const struct gnuplot *gnuplot, int nr_suffixes, struct rot_error *err)
{
	for (int i = 0; i < nr_suffixes; i++) {
		autofree char *from = private_path(gnuplot, suffixes[i]);
		autofree char *to = rot_format("%s.%s", gnuplot->output_name, suffixes[i]);
		int rc = rename(from, to);

		if (rc < 0)
			rot_error_set(err, errno, "cannot write '%s'", to);
		else if (i >= NR_WRITTEN)
			output_tell(to);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int
gnuplot_finish(struct gnuplot *gnuplot, struct rot_error *err)
{
	if (close_file(&gnuplot->data, "data", gnuplot, err) < 0 ||
	    close_file(&gnuplot->script, "gnuplot", gnuplot, err) < 0)
		return end(gnuplot, -1);
	if (run_gnuplot(gnuplot, err) == 0)
		return end(gnuplot, move_in_place(gnuplot, script_has_png ? NR_SUFFIXES : NR_SUFFIXES - 1, err));
	/* script and data can be drawn elsewhere */
	move_in_place(gnuplot, NR_WRITTEN, NULL);
	return end(gnuplot, -1);
}
