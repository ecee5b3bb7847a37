/* SPDX-License-Identifier: MIT */
/* rot run: measure somebody else's program. */
#include "programs/run.h"
#include "commands/command.h"
#include "programs/options.h"
#include "validation/validation.h"

static int
run_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct run_options options;
	struct rot *rot;
	int rc = COMMAND_USAGE;

	if (run_options_parse(&options, argc, argv, err) < 0)
		goto out;
	rc = -1;
	rot = command_rot(context, err);
	if (!rot)
		goto out;
	validation_ensure(rot);
	context->has_status = true;
	rc = program_run(rot, &options, argv + options.nr_words, &context->status, err);
out:
	run_options_clear(&options);
	return rc;
}

const struct command run_command = {
	.name = "run",
	.arguments = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
	.summary = "run a program and say what it did: time, operations, bytes, and where it stands under the roof",
	.description =
		"The program runs as without rot: its input, output and exit status are its own. The table goes to\n"
		"standard error. Options and keys stand before PROGRAM; all behind it is the program's.\n"
		"\n"
		"  -o, --output NAME    write the roofline and all values to NAME.pdf, .svg, .data, .gnuplot and "
		".json;\n"
		"                       measures this machine's ceilings first, if they are not known yet\n"
		"  -j, --json FILE      write the values to FILE\n"
		"  -t, --per-thread     a row for each thread, which is traced for it\n"
		"  -R, --region SPEC    measure a part of the program by itself, each time a thread goes through it; "
		"as "
		"often as\n"
		"                       there are parts. SPEC is [NAME=]PLACE[..PLACE][#FIRST[-[LAST]]], a place is "
		"FUNCTION,\n"
		"                       0xADDRESS, FILE:LINE or a marker's name, with LIBRARY: before it if need be:\n"
		"                       solve, inner=mesh.c:40..mesh.c:52, libz.so.1:deflate#2-10\n"
		"      --region-backend uprobe, breakpoint, int3 or auto: the first of these that can (default)\n"
		"      --passes N       run the program up to N times to count what one run cannot (default: 1)\n"
		"  -r, --runs N         repeat that N times (default: 1)\n"
		"  -p, --pid PID        measure a running process instead, until it ends or Ctrl-C\n"
		"  -d, --duration S     with -p: for S seconds\n"
		"  -q                   no table and no notes\n"
		"\n"
		"Exit status: that of the program, 128+n if signal n ended it, 127 if it is not found, 126 if it "
		"cannot\n"
		"be run; 1 if rot could not measure it, 2 for a wrong command line. More: doc/RUN.md.",
	.nr_arguments_min = 0,
	.nr_arguments_max = 1 << 30,
	.option_length = run_option_length,
	.options = "--duration= --json= --output= --passes= --per-thread --pid= --region= "
		   "--region-backend=auto --region-backend=breakpoint --region-backend=int3 --region-backend=uprobe "
		   "--runs=",
	.run = run_run,
};
