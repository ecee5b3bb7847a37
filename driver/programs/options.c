/* SPDX-License-Identifier: MIT */
/* The options of "rot run": one row each. */
#include "programs/options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "entities.h"
#include "memory.h"
#include "programs/region_spec.h"

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_COUNT, OPTION_SECONDS, OPTION_BACKEND, OPTION_REGION };

/* One or two dashes before either name; a value follows as a word of its own or after "=". */
static const struct option_row {
	const char *letter, *name;
	enum option_type type;
	size_t offset;
	long highest;
} rows[] = {
	{"d", "duration", OPTION_SECONDS, offsetof(struct run_options, duration_s), 0},
	{"j", "json", OPTION_TEXT, offsetof(struct run_options, json_path), 0},
	{"o", "output", OPTION_TEXT, offsetof(struct run_options, output_name), 0},
	{"p", "pid", OPTION_COUNT, offsetof(struct run_options, process_id), INT_MAX},
	{"q", "q", OPTION_FLAG, offsetof(struct run_options, is_quiet), 0},
	{"r", "runs", OPTION_COUNT, offsetof(struct run_options, nr_runs), 1000000},
	{"passes", "passes", OPTION_COUNT, offsetof(struct run_options, max_passes), 1000},
	{"R", "region", OPTION_REGION, 0, 0},
	{"region-backend", "region-backend", OPTION_BACKEND, offsetof(struct run_options, region_backend), 0},
	{"t", "per-thread", OPTION_FLAG, offsetof(struct run_options, per_thread), 0},
};

static bool
is_named(const char *text, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(text, name, length) == 0;
}

static bool
begins_program(const char *word)
{
	return word[0] != '-' || !word[1] || strcmp(word, "--") == 0;
}

/* value: what follows "=", or NULL. */
static const struct option_row *
find(const char *word, const char **value)
{
	const char *text = word + (word[1] == '-' ? 2 : 1);
	size_t length = strcspn(text, "=");

	*value = text[length] ? text + length + 1 : NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (is_named(text, length, rows[i].letter) || is_named(text, length, rows[i].name))
			return &rows[i];
	return NULL;
}

int
run_option_length(int argc, char *const *argv)
{
	const struct option_row *row;
	const char *value;

	if (argc < 1 || begins_program(argv[0]))
		return -1;
	row = find(argv[0], &value);
	if (!row)
		return 0;
	return row->type == OPTION_FLAG || value || argc < 2 ? 1 : 2;
}

static int
set_count(const struct option_row *row, const char *value, long *count)
{
	char *end;

	errno = 0;
	*count = strtol(value, &end, 10);
	return *value && !*end && errno == 0 && *count >= 1 && *count <= row->highest ? 0 : -1;
}

static int
set_seconds(const char *value, double *seconds)
{
	char *end;

	*seconds = strtod(value, &end);
	return *value && !*end && *seconds > 0 && *seconds < INT_MAX ? 0 : -1;
}

static const char *const backends[] = {"auto", "uprobe", "breakpoint", "int3"};

static int
set_backend(const char *value, const char **backend)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++)
		if (strcmp(value, backends[i]) == 0) {
			*backend = backends[i];
			return 0;
		}
	return -1;
}

static int
add_region(struct run_options *options, const char *value, struct rot_error *err)
{
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
	options->regions = rot_realloc(options->regions, options->nr_regions + 1, sizeof(*options->regions));
	options->regions[options->nr_regions++] = region;
	return 0;
}

void
run_options_clear(struct run_options *options)
{
	for (size_t i = 0; i < options->nr_regions; i++)
		region_delete(options->regions[i]);
	free(options->regions);
	options->regions = NULL;
	options->nr_regions = 0;
}

static int
report_value(const struct option_row *row, const char *value, struct rot_error *err)
{
	if (row->type == OPTION_COUNT)
		rot_error_set(err, 0, "'%s' is no whole number from 1 to %ld, as '%s' needs it", value, row->highest,
			      row->name);
	else if (row->type == OPTION_BACKEND)
		rot_error_set(err, 0, "'%s' is no backend of regions: auto, uprobe, breakpoint or int3", value);
	else
		rot_error_set(err, 0, "'%s' is no number of seconds above 0, as '%s' needs it", value, row->name);
	return rot_error_hint(err, "more: rot help run");
}

static int
set(struct run_options *options, const struct option_row *row, const char *word, const char *value,
    struct rot_error *err)
{
	void *member = (char *)options + row->offset;
	int rc = 0;

	if (row->type == OPTION_FLAG ? value != NULL : !value || !*value) {
		rot_error_set(err, 0,
			      row->type == OPTION_FLAG ? "'%s': this option takes no value" : "'%s' needs a value",
			      word);
		return rot_error_hint(err, "%s", row->type == OPTION_REGION ? region_spec_usage : "more: rot help run");
	}
	if (row->type == OPTION_REGION)
		return add_region(options, value, err);
	if (row->type == OPTION_FLAG)
		*(bool *)member = true;
	else if (row->type == OPTION_TEXT)
		*(const char **)member = value;
	else if (row->type == OPTION_COUNT)
		rc = set_count(row, value, member);
	else if (row->type == OPTION_BACKEND)
		rc = set_backend(value, member);
	else
		rc = set_seconds(value, member);
	return rc < 0 ? report_value(row, value, err) : 0;
}

static int
check(const struct run_options *options, bool has_program, struct rot_error *err)
{
	if (options->process_id && has_program)
		rot_error_set(err, 0, "a program and -p PID: it is either to be run or running already");
	else if (!options->process_id && !has_program)
		rot_error_set(err, 0, "no program given");
	else if (!options->process_id && options->duration_s > 0)
		rot_error_set(err, 0, "a duration without -p PID");
	else if (options->nr_regions == 0 && options->region_backend != backends[0])
		rot_error_set(err, 0, "a backend of regions without --region");
	else if (options->process_id && (options->max_passes > 1 || options->nr_runs > 1))
		rot_error_set(err, 0, "a running process cannot be run again: no passes or runs with -p PID");
	else
		return 0;
	return rot_error_hint(err, "usage: rot run [OPTION...] [--] PROGRAM [ARGUMENT...], or rot run -p PID; more: "
				   "rot help run");
}

int
run_options_parse(struct run_options *options, int argc, char *const *argv, struct rot_error *err)
{
	int i = 0;

	*options = (struct run_options){.max_passes = 1, .nr_runs = 1, .region_backend = backends[0]};
	while (i < argc && !begins_program(argv[i])) {
		int length = run_option_length(argc - i, argv + i);
		const char *value;
		const struct option_row *row = find(argv[i], &value);

		if (!row) {
			rot_error_set(err, 0, "unknown option '%s'", argv[i]);
			return rot_error_hint(err,
					      "rot help run lists the options; those of the program stand behind it");
		}
		if (length == 2)
			value = argv[i + 1];
		if (set(options, row, argv[i], value, err) < 0)
			return -1;
		i += length;
	}
	if (i < argc && strcmp(argv[i], "--") == 0)
		i++;
	options->nr_words = i;
	return check(options, i < argc, err);
}
