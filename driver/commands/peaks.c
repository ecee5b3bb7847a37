/* SPDX-License-Identifier: MIT */
/* rot peaks: find the roof of this machine, and keep it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "commands/command.h"
#include "configuration/paths.h"
#include "memory.h"
#include "peaks/find.h"
#include "levels/levels.h"
#include "peaks/limits.h"
#include "peaks/present.h"
#include "peaks/profile.h"
#include "support/messages.h"

#define FULL_S 440 /* of a full search: finalists, and rounds of peaks that have modes, take a minute or two more */

enum format { FORMAT_TABLES, FORMAT_JSON, FORMAT_CSV };
enum threads { THREADS_ALL, THREADS_ONE, THREADS_SWEEP };

struct request {
	enum search_strategy strategy;
	enum threads threads;
	enum format format;
};

/* One or two dashes; values after "=". */
static const struct option_row {
	const char *text;
	int value;
	size_t offset; /* of an enumeration */
} rows[] = {
	{"quick", SEARCH_QUICK, offsetof(struct request, strategy)},
	{"full", SEARCH_FAST, offsetof(struct request, strategy)},
	{"grid", SEARCH_GRID, offsetof(struct request, strategy)},
	{"threads=1", THREADS_ONE, offsetof(struct request, threads)},
	{"threads=all", THREADS_ALL, offsetof(struct request, threads)},
	{"threads=sweep", THREADS_SWEEP, offsetof(struct request, threads)},
	{"json", FORMAT_JSON, offsetof(struct request, format)},
	{"csv", FORMAT_CSV, offsetof(struct request, format)},
};

static const struct option_row *
find_option(const char *word)
{
	const char *text = word + strspn(word, "-");

	for (size_t i = 0; word[0] == '-' && i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].text, text) == 0)
			return &rows[i];
	return NULL;
}

/* "--threads" without a value is told below, not as an unknown configuration key. */
static int
peaks_option_length(int argc, char *const *argv)
{
	(void)argc;
	return argv[0][0] != '-' || find_option(argv[0]) || strstr(argv[0], "-threads") ? 1 : 0;
}

/* Words stay in argv, at its beginning. */
static int
parse(struct request *request, int argc, char **argv, size_t *nr_words, struct rot_error *err)
{
	*nr_words = 0;
	for (int i = 0; i < argc; i++) {
		const struct option_row *row = find_option(argv[i]);

		if (!row && argv[i][0] == '-') {
			rot_error_set(err, 0, "'%s' is no number of threads", argv[i]);
			return rot_error_hint(err, "--threads=1, --threads=all or --threads=sweep");
		}
		if (!row)
			argv[(*nr_words)++] = argv[i];
		else
			memcpy((char *)request + row->offset, &row->value, sizeof(int));
	}
	return 0;
}

/* Of a sweep: all numbers up to 16, then four an octave. */
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
numbers_of_threads(enum threads threads, size_t *nr)
{
	const int max = peaks_max_threads();
	int *numbers = rot_calloc((size_t)max + 1, sizeof(*numbers));

	*nr = 0;
	for (int i = 1; i <= max; i++)
		if (i == 1 || (threads == THREADS_SWEEP && is_swept(i)) || (threads != THREADS_ONE && i == max))
			numbers[(*nr)++] = i;
	return numbers;
}

static void
print_json(const struct rot *rot, const struct peak_list *list)
{
	json_t *peaks = peaks_json(rot, list);

	json_dumpf(peaks, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
	json_decref(peaks);
	puts("");
}

/* What is known of the levels by measuring, beside what the machine tells. */
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
find(struct rot *rot, const struct request *request, char **words, size_t nr_words, struct rot_error *err)
{
	struct peaks_options options = {
		.strategy = request->strategy,
		.time_limit_s = request->strategy == SEARCH_FAST ? FULL_S : 0,
		.words = (const char *const *)words,
		.nr_words = nr_words,
	};
	int *threads = numbers_of_threads(request->threads, &options.nr_threads);
	struct peak_list list = {0};
	struct rot_error later = {0};
	int rc;

	options.threads = threads;
	rc = peaks_find(rot, &options, &list, err);
	if (rc == 0)
		rc = peaks_set_limits(rot, &list, err);
	if (list.nr > 0 && request->format == FORMAT_JSON)
		print_json(rot, &list);
	else if (list.nr > 0 && request->format == FORMAT_CSV)
		peaks_print_csv(&list, stdout);
	else if (list.nr > 0)
		peaks_print(&list, stdout);
	if (request->format == FORMAT_TABLES && list.nr > 0)
		print_levels(rot);
	if (list.nr > 0 && profile_store(rot, &list, &later) < 0 && rc == 0) {
		*err = later;
		rc = -1;
	}
	peak_list_clear(&list);
	free(threads);
	return rc;
}

static int
peaks_run(struct command_context *context, int argc, char **argv, struct rot_error *err)
{
	struct request request = {.strategy = SEARCH_FAST};
	struct rot *rot;
	size_t nr_words;

	if (parse(&request, argc, argv, &nr_words, err) < 0)
		return COMMAND_USAGE;
	rot = command_rot(context, err);
	return rot ? find(rot, &request, argv, nr_words, err) : -1;
}

const struct command peaks_command = {
	.name = "peaks",
	.arguments = "[OPTION...] [WORD...]",
	.summary = "find the roof of this machine: the highest performances and bandwidths that any variant reaches",
	.description =
		"Builds and measures variants of the kernels Arithmetic and Memory, as the controller default-peaks\n"
		"describes them, prints the best of each and keeps them in the profile of this machine, which "
		"rooflines\n"
		"use from then on. Only peaks with all WORDs in their name, operation, border, access or instruction "
		"set\n"
		"are looked for: rot peaks avx512 double, rot peaks l1,l2 load.\n"
		"\n"
		"  --quick             recommended variants only; a minute\n"
		"  --full              climb to the best from them and from others (default); ten minutes\n"
		"  --grid              all variants; hours\n"
		"  --threads=WHICH     1: one thread; all: also all CPUs together (default); sweep: numbers between, "
		"too\n"
		"  --json, --csv       print JSON or comma separated values instead of tables\n"
		"\n"
		"What was measured before is taken from the cache; -useCachedResults=false measures anew. Ctrl-C "
		"keeps\n"
		"what is found.",
	.nr_arguments_min = 0,
	.nr_arguments_max = 1 << 30,
	.has_time_report = true,
	.option_length = peaks_option_length,
	.options = "--quick --full --grid --threads=1 --threads=all --threads=sweep --json --csv",
	.run = peaks_run,
};
