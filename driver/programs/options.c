/* SPDX-License-Identifier: MIT */
/* The options of "rot run": one row each. */
#include "programs/options.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "entities.h"
#include "memory.h"
#include "number.h"

/* ---- regions as they are written ---- */

const char region_spec_usage[] =
	"a region is [NAME=]PLACE[..PLACE][#FIRST[-[LAST]]]; a place is FUNCTION, 0xADDRESS, FILE:LINE, a marker's "
	"name,\nssc:NUMBER or itt:TASK, with LIBRARY: before it if need be; for example: solve, "
	"inner=mesh.c:40..mesh.c:52, "
	"libz.so.1:deflate#2-10";

static size_t
name_length(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	size_t length = strspn(text, letters);

	return text[length] == '=' && strncmp(text, "operator", length) != 0 ? length : 0;
}

/* Numbers with so many digits fit into any long. */
#define MAX_DIGITS 18

/* Takes "#FIRST", "#FIRST-" or "#FIRST-LAST" off the end of the text. */
static int
take_hits(char *text, struct region *region, struct rot_error *err)
{
	static const char digits[] = "0123456789";
	char *hash = strrchr(text, '#'), *dash;
	size_t nr_first, nr_last;

	if (!hash || strchr(hash, '}'))
		return 0;
	nr_first = strspn(hash + 1, digits);
	dash = hash + 1 + nr_first;
	nr_last = *dash == '-' ? strspn(dash + 1, digits) : 0;
	if (nr_first == 0 || nr_first > MAX_DIGITS || nr_last > MAX_DIGITS ||
	    (*dash && (*dash != '-' || dash[1 + nr_last])))
		return rot_error_set(err, 0, "'%s' is no range of hits", hash);
	region->first_hit = strtoll(hash + 1, NULL, 10);
	region->last_hit = nr_last ? strtoll(dash + 1, NULL, 10) : *dash ? 0 : region->first_hit;
	if (region->first_hit < 1 || (nr_last && region->last_hit < region->first_hit))
		return rot_error_set(err, 0, "'%s': hits count from 1, and the last is not before the first", hash);
	*hash = '\0';
	return 0;
}

/* The ".." between two places, or NULL. */
static char *
find_separator(char *text)
{
	for (char *at = strstr(text, ".."); at; at = strstr(at + 1, ".."))
		if (at[2] != '/' && (at == text || at[-1] != '/'))
			return at;
	return NULL;
}

static int
check_place(const char *place, const char *which, struct rot_error *err)
{
	if (!*place)
		return rot_error_set(err, 0, "the place where it %s is missing", which);
	if (place[0] == ':' || place[strlen(place) - 1] == ':')
		return rot_error_set(err, 0, "'%s': something is missing beside the ':'", place);
	return 0;
}

static int
parse(const char *text, struct region *region, struct rot_error *err)
{
	size_t length = name_length(text);
	autofree char *name = rot_strndup(text, length), *begin = rot_strdup(text + length + (length > 0));
	autofree char *printable = NULL;
	char *end;

	if (text[0] == '=')
		return rot_error_set(err, 0, "the name before '=' is missing");
	if (take_hits(begin, region, err) < 0)
		return -1;
	printable = utf8_printable(length ? name : begin);
	rot_string_set(&region->name, printable);
	end = find_separator(begin);
	if (end) {
		*end = '\0';
		end += 2;
	}
	if (check_place(begin, "begins", err) < 0 || (end && check_place(end, "ends", err) < 0))
		return -1;
	rot_string_set(&region->begin, begin);
	rot_string_set(&region->end, end ? end : "");
	return 0;
}

struct region *
region_spec_parse(const char *text, struct rot_error *err)
{
	struct region *region = region_new();

	if (parse(text, region, err) == 0)
		return region;
	rot_error_prefix(err, "region '%s'", text);
	rot_error_hint(err, "%s", region_spec_usage);
	region_delete(region);
	return NULL;
}

static const char *const backends[] = {"auto", "uprobe", "breakpoint", "int3", NULL};

static const char *const parts[] = {
	[PLACES_FUNCTIONS] = "function", [PLACES_LOOPS] = "loop", [PLACES_LINES] = "line", "object", "thread", NULL};

static int
add_region(void *values, const char *value, struct rot_error *err)
{
	struct run_options *options = values;
	struct region *region = region_spec_parse(value, err);

	if (!region)
		return -1;
	for (size_t i = 0; i < options->nr_regions; i++)
		if (strcmp(options->regions[i]->name, region->name) == 0) {
			rot_error_set(err, 0, "region '%s': a second one with the name '%s'", value, region->name);
			rot_error_hint(err, "give each a name of its own: --region=NAME=%s", value);
			region_delete(region);
			return -1;
		}
	rot_add(options->regions, options->nr_regions) = region;
	return 0;
}

static int
set_functions(void *values, const char *value, struct rot_error *err)
{
	struct run_options *options = values;
	double number;

	if (!rot_number_parse(value, &number) || number < 0 || number > INT_MAX || number != floor(number))
		return rot_error_set(err, 0, "'--functions' takes a whole number, 0 for none; '%s' is none", value);
	options->nr_functions = (long)number;
	return 0;
}

static int
add_what_if(void *values, const char *value, struct rot_error *err)
{
	struct run_options *options = values;

	(void)err;
	rot_add(options->what_ifs, options->nr_what_ifs) = value;
	return 0;
}

enum place_kind
run_options_by(const struct run_options *options)
{
	enum place_kind kind = PLACES_FUNCTIONS;

	while (kind <= PLACES_LINES && strcmp(options->by, parts[kind]) != 0)
		kind++;
	return kind <= PLACES_LINES ? kind : PLACES_FUNCTIONS;
}

static void
clear(void *values)
{
	struct run_options *options = values;

	for (size_t i = 0; i < options->nr_regions; i++)
		region_delete(options->regions[i]);
	free(options->regions);
	free(options->what_ifs);
}

#define MEMBER(name) .offset = offsetof(struct run_options, name)

static const struct option_row rows[] = {
	{.letter = "o",
	 .name = "output",
	 .value = "NAME",
	 .about = "write the roofline and all values to NAME.pdf, .svg, .data, .gnuplot and .json; measures this "
		  "machine's ceilings first, if they are not known yet",
	 .type = OPTION_TEXT,
	 MEMBER(output_name)},
	{.letter = "j",
	 .name = "json",
	 .value = "FILE",
	 .about = "write the values to FILE; -: to standard output, after what the program writes there",
	 .type = OPTION_TEXT,
	 MEMBER(json_path)},
	{.letter = "t",
	 .name = "per-thread",
	 .about = "a row for each thread, which is traced for it",
	 MEMBER(per_thread)},
	{.letter = "R",
	 .name = "region",
	 .value = "SPEC",
	 .about = "measure a part of the program by itself, each time a thread goes through it; as often as there are "
		  "parts. SPEC is [NAME=]PLACE[..PLACE][#FIRST[-[LAST]]], a place is FUNCTION, 0xADDRESS, FILE:LINE, "
		  "a marker's name, ssc:NUMBER or itt:TASK, with LIBRARY: before it if need be: solve, "
		  "inner=mesh.c:40..mesh.c:52, "
		  "libz.so.1:deflate#2-10",
	 .type = OPTION_TAKEN,
	 .take = add_region},
	{.letter = "f",
	 .name = "functions",
	 .value = "N",
	 .about =
		 "show up to N functions by their share of the CPU time; 0: none, and nothing is sampled (default: 10, "
		 "without those below 1 %)",
	 .type = OPTION_TAKEN,
	 .take = set_functions},
	{.name = "by",
	 .about = "show time and counts by function (default), by loop of these, with how many turns it made, or by "
		  "source line; or lines of modelled caches by object (variable, allocation, stack) or thread, as "
		  "--miss-kinds does by function or loop",
	 .type = OPTION_CHOICE,
	 .choices = parts,
	 MEMBER(by)},
	{.name = "region-backend",
	 .about = "how regions are observed; auto: the first of the others that can (default)",
	 .type = OPTION_CHOICE,
	 .choices = backends,
	 MEMBER(region_backend)},
	{.name = "no-children", .about = "leave out the processes that the program starts", MEMBER(has_no_children)},
	{.name = "passes",
	 .value = "N",
	 .about = "run the program up to N times to count what one run cannot (default: 1)",
	 .type = OPTION_COUNT,
	 .number = 1000,
	 MEMBER(max_passes)},
	{.letter = "r",
	 .name = "runs",
	 .value = "N",
	 .about = "repeat that N times (default: 1)",
	 .type = OPTION_COUNT,
	 .number = 1000000,
	 MEMBER(nr_runs)},
	{.name = "counts-only",
	 .about = "run the program once, count its blocks (with --region: those of regions, too), and show nothing but "
		  "counts: the same each time for a program that does the same (rot diff --limit=0.1%)",
	 MEMBER(is_counts_only)},
	{.name = "miss-curve", .about = "show what caches of each size would move", MEMBER(has_miss_curve)},
	{.name = "miss-kinds", .about = "tell why lines of modelled caches are missing", MEMBER(has_miss_kinds)},
	{.name = "what-if",
	 .value = "CACHES",
	 .about = "show beside the modelled caches what others would move; as often as there are others. CACHES is as "
		  "of the key caches, or what differs: l1=64K:16, l3=16M, tlb=64:full:2M, l2=2M:16,l3=64M:16",
	 .type = OPTION_TAKEN,
	 .take = add_what_if},
	{.letter = "p",
	 .name = "pid",
	 .value = "PID",
	 .about = "measure a running process instead, until it ends or Ctrl-C",
	 .type = OPTION_COUNT,
	 .number = INT_MAX,
	 MEMBER(process_id)},
	{.letter = "d",
	 .name = "duration",
	 .value = "SECONDS",
	 .about = "no longer than that (with -p)",
	 .type = OPTION_SECONDS,
	 MEMBER(duration_s)},
	{.name = "q", .about = "no table and no notes", MEMBER(is_quiet)},
};

const struct option_table run_options_table = {
	OPTION_ROWS(rows, struct run_options),
	.defaults = &(
		const struct run_options){.nr_runs = 1, .nr_functions = -1, .by = "function", .region_backend = "auto"},
	.ends_at_word = true,
	.clear = clear,
};

/* An option asks for times, which --counts-only does not measure. */
static bool
is_of_times(const struct run_options *options)
{
	return options->output_name || options->per_thread || options->nr_runs > 1 || options->max_passes > 1 ||
	       options->nr_functions > 0;
}

int
run_options_check(const struct run_options *options, bool has_program, struct rot_error *err)
{
	if (options->process_id && has_program)
		rot_error_set(err, 0, "a program and -p PID: it is either to be run or running already");
	else if (!options->process_id && !has_program)
		rot_error_set(err, 0, "no program given");
	else if (!options->process_id && options->duration_s > 0)
		rot_error_set(err, 0, "a duration without -p PID");
	else if (options->nr_regions == 0 && strcmp(options->region_backend, "auto") != 0)
		rot_error_set(err, 0, "a backend of regions without --region");
	else if (options->process_id && (options->max_passes > 1 || options->nr_runs > 1))
		rot_error_set(err, 0, "a running process cannot be run again: no passes or runs with -p PID");
	else if (run_options_by(options) != PLACES_FUNCTIONS &&
		 !(options->has_miss_kinds && run_options_by(options) == PLACES_LOOPS) &&
		 (options->process_id || options->is_counts_only || options->nr_functions == 0))
		rot_error_set(err, 0, "--by without samples: the time of programs is sampled that rot starts");
	else if (options->process_id && options->nr_functions > 0)
		rot_error_set(err, 0, "--functions with -p PID: the time of programs is sampled that rot starts");
	else if (options->is_counts_only && is_of_times(options))
		rot_error_set(err, 0,
			      "--counts-only counts a program in one run that is not timed: no -o, -t, "
			      "--runs, --passes or --functions with it");
	else
		return 0;
	return rot_error_hint(err, "usage: rot run [OPTION...] [--] PROGRAM [ARGUMENT...], or rot run -p PID; more: "
				   "rot help run");
}
