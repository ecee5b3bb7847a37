/* SPDX-License-Identifier: MIT */
/* rot peaks: find the roof of this machine, and keep it. */
#include <jansson.h>
#include <stddef.h>
#include <string.h>

#include "base/paths.h"
#include "commands/command.h"
#include "memory.h"
#include "roof/find.h"
#include "roof/levels.h"
#include "roof/peak.h"
#include "roof/present.h"
#include "roof/profile.h"

#define FULL_S 400 /* of a full search: rounds of peaks that have modes take the rest of ten minutes */

enum format { FORMAT_TABLES, FORMAT_JSON, FORMAT_CSV };
static const char *const threads_choices[] = {"1", "all", "sweep", NULL};

struct peaks_request {
	int strategy; /* enum search_strategy */
	int format;
	const char *threads;
};

#define SETTING(member, setting)                                                                                       \
	.type = OPTION_SETTING, .offset = offsetof(struct peaks_request, member), .number = (setting)

static const struct option_row rows[] = {
	{.name = "quick", .about = "recommended variants only; a minute", SETTING(strategy, SEARCH_QUICK)},
	{.name = "full",
	 .about = "climb to the best from them and from others (default); ten minutes",
	 SETTING(strategy, SEARCH_FAST)},
	{.name = "grid", .about = "all variants; hours", SETTING(strategy, SEARCH_GRID)},
	{.name = "threads",
	 .about = "1: one thread; all: also all CPUs together (default); sweep: numbers between, too",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct peaks_request, threads),
	 .choices = threads_choices},
	{.name = "json", .about = "JSON instead of tables", SETTING(format, FORMAT_JSON)},
	{.name = "csv", .about = "comma separated values instead of tables", SETTING(format, FORMAT_CSV)},
};

static const struct option_table table = {
	OPTION_ROWS(rows, struct peaks_request),
	.defaults = &(const struct peaks_request){.strategy = SEARCH_FAST, .threads = "all"}};

/* A sweep has all numbers up to 16, then four an octave. */
static bool
is_swept(int number)
{
	int octave = 1;

	while (2 * octave <= number)
		octave *= 2;
	return number <= 16 || number % (octave / 4) == 0;
}

/* Fresh memory. */
static int *
numbers_of_threads(const char *threads, size_t *nr)
{
	const bool all = strcmp(threads, "1") != 0, sweep = strcmp(threads, "sweep") == 0;
	const int max = peaks_max_threads();
	int *numbers = rot_calloc((size_t)max + 1, sizeof(*numbers));

	*nr = 0;
	for (int i = 1; i <= max; i++)
		if (i == 1 || (sweep && is_swept(i)) || (all && i == max))
			numbers[(*nr)++] = i;
	return numbers;
}

/* The measured levels, beside what the machine tells. */
static void
print_levels(const struct rot *rot)
{
	struct measured_levels levels;

	measured_levels_load(&levels, rot->paths->cache, rot->machine);
	if (levels.nr == 0)
		return;
	puts("");
	levels_print(&levels, rot->machine, stdout);
}

/* Also what was found before an interruption is kept and shown. */
static int
find_peaks(struct rot *rot, const struct peaks_request *request, char **words, size_t nr_words, struct rot_error *err)
{
	struct peaks_options wanted = {
		.strategy = (enum search_strategy)request->strategy,
		.time_limit_s = request->strategy == SEARCH_FAST ? FULL_S : 0,
		.words = (const char *const *)words,
		.nr_words = nr_words,
	};
	autofree int *threads = numbers_of_threads(request->threads, &wanted.nr_threads);
	struct peak_list list = {0};
	struct rot_error later = {0};
	int rc;

	wanted.threads = threads;
	rc = peaks_find(rot, &wanted, &list, err);
	if (rc == 0)
		rc = peaks_set_limits(rot, &list, err);
	if (list.nr > 0 && request->format == FORMAT_JSON) {
		json_auto_t *peaks = peaks_json(rot, &list);

		json_dumpf(peaks, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
		puts("");
	} else if (list.nr > 0 && request->format == FORMAT_CSV)
		peaks_print_csv(&list, stdout);
	else if (list.nr > 0)
		peaks_print(&list, configuration_bool(rot->configuration, "showAll"), stdout);
	if (request->format == FORMAT_TABLES && list.nr > 0 && configuration_bool(rot->configuration, "showAll"))
		print_levels(rot);
	if (list.nr > 0 && profile_store(rot, &list, &later) < 0 && rc == 0) {
		*err = later;
		rc = -1;
	}
	peak_list_clear(&list);
	return rc;
}

static int
peaks_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	struct rot *rot = command_rot(context, err);

	return rot ? find_peaks(rot, options, argv, (size_t)argc, err) : -1;
}

const struct command peaks_command = {
	.name = "peaks",
	.arguments = "[WORD...]",
	.summary = "find the roof of this machine: the highest performances and bandwidths that any variant reaches",
	.examples =
		(const struct command_example[]){
			{"rot peaks --quick", "the roof in a minute"},
			{"rot peaks avx512 double", "one part of it"},
			{"rot peaks --threads=1", "one thread alone"},
			{0},
		},
	.description =
		"Builds and measures variants of the kernels Arithmetic and Memory, as the controller "
		"default-peaks describes them, prints the best of each and keeps them in the profile of this "
		"machine, which rooflines use from then on. Only peaks with all WORDs in their name, operation, "
		"border, access or instruction set are looked for: rot peaks avx512 double, rot peaks l1,l2 load.\n\n"
		"What was measured before is taken from the cache; -useCachedResults=false measures anew. Ctrl-C "
		"keeps what is found.",
	.nr_arguments_min = 0,
	.nr_arguments_max = 1 << 30,
	.has_time_report = true,
	.options = &table,
	.run = peaks_run,
};
