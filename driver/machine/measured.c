/* SPDX-License-Identifier: MIT */
#include "machine/measured.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "base/json.h"
#include "machine/conditions.h"
#include "memory.h"

static const char schema[] = "rot.levels/1";

char *
machine_file_name(const struct machine *machine)
{
	char *name = rot_format("%s-%d-%d-%d%s%s", machine->cpu_vendor[0] ? machine->cpu_vendor : "unknown",
				(int)machine->cpu_family, (int)machine->cpu_model, (int)machine->cpu_stepping,
				machine->hypervisor[0] ? "-" : "", machine->hypervisor);

	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-')
			*c = '_';
	return name;
}

static char *
path_of(const char *cache_folder, const struct machine *machine)
{
	autofree char *name = machine_file_name(machine);

	return rot_format("%s/levels-%s.json", cache_folder, name);
}

struct measured_when
measured_on(const struct machine *machine, const char *date)
{
	json_auto_t *conditions = conditions_json(machine);
	autofree char *text = json_dumps(conditions, JSON_COMPACT);
	struct measured_when when;

	snprintf(when.created, sizeof(when.created), "%s", date);
	snprintf(when.found_on, sizeof(when.found_on), "%s", text);
	return when;
}

struct measured_when
measured_when_read(const json_t *json)
{
	struct measured_when when;

	snprintf(when.created, sizeof(when.created), "%s", json_text_at(json, "created"));
	snprintf(when.found_on, sizeof(when.found_on), "%s", json_text_at(json, "foundOn"));
	return when;
}

char *
measured_changes(const struct measured_when *when, const struct machine *machine)
{
	json_auto_t *now = conditions_json(machine), *then = json_loads(when->found_on, 0, NULL);
	struct tm created = {0};
	char *text = rot_strdup("");

	for (size_t i = 0; then && i < CONDITIONS_NR; i++)
		conditions_append_change(&text, i, then, now);
	if (strptime(when->created, "%Y-%m-%dT%H:%M:%SZ", &created))
		conditions_append_age(&text, "", timegm(&created));
	return text;
}

const struct measured_operation *
measured_operation_of(const struct measured_levels *levels, const char *operation, const char *precision,
		      const char *instruction_set)
{
	for (size_t i = 0; i < levels->nr_operations; i++) {
		const struct measured_operation *found = &levels->operations[i];

		if (strcmp(found->operation, operation) == 0 && strcmp(found->precision, precision) == 0 &&
		    strcmp(found->instruction_set, instruction_set) == 0)
			return found;
	}
	return NULL;
}

bool
measured_levels_are_sure(const struct measured_levels *levels)
{
	return levels->is_steady && !levels->last_level.doubt[0];
}

void
measured_runs_update(struct measured_levels *levels, const struct measured_run *run, const struct machine *machine)
{
	struct measured_run *runs = levels->last_level.runs;
	size_t nr = 0;

	for (size_t i = 0; i < levels->last_level.nr_runs; i++) {
		autofree char *changes = measured_changes(&runs[i].when, machine);

		if (!changes[0] && strcmp(runs[i].when.created, run->when.created) != 0)
			runs[nr++] = runs[i];
	}
	if (run->bytes && nr == MEASURED_RUNS_MAX)
		memmove(runs, runs + 1, --nr * sizeof(*runs));
	if (run->bytes)
		runs[nr++] = *run;
	levels->last_level.nr_runs = nr;
}

/* ---- the file ---- */

static json_t *
operations_json(const struct measured_levels *levels)
{
	json_t *list = json_array();

	for (size_t i = 0; i < levels->nr_operations; i++) {
		const struct measured_operation *found = &levels->operations[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:o}", "operation", found->operation,
						      "instructionSet", found->instruction_set, "precision",
						      found->precision, "latencyCycles", json_number(found->latency),
						      "perCycle", json_number(found->per_cycle)));
	}
	return list;
}

static json_t *
last_level_json(const struct measured_levels *levels)
{
	json_t *list = json_array();

	for (size_t i = 0; i < levels->last_level.nr_runs; i++) {
		const struct measured_run *run = &levels->last_level.runs[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I}", "created", run->when.created, "foundOn",
						      run->when.found_on, "bytes", (json_int_t)run->bytes,
						      "fittingBytes", (json_int_t)run->fitting_bytes));
	}
	return json_pack("{s:I, s:I, s:o, s:s, s:s, s:o}", "lowBytes", (json_int_t)levels->last_level.low_bytes,
			 "highBytes", (json_int_t)levels->last_level.high_bytes, "seconds",
			 json_number(levels->last_level.seconds), "doubt", levels->last_level.doubt, "runDoubt",
			 levels->last_level.run_doubt, "runs", list);
}

json_t *
measured_levels_json(const struct measured_levels *levels, const struct machine *machine)
{
	json_t *list = json_array();

	for (size_t i = 0; i < levels->nr; i++) {
		const struct measured_level *level = &levels->levels[i];

		json_array_append_new(list, json_pack("{s:I, s:I, s:o, s:o}", "bytes", (json_int_t)level->bytes,
						      "fittingBytes", (json_int_t)level->fitting_bytes, "ns",
						      json_number(level->ns), "cycles", json_number(level->cycles)));
	}
	return json_pack("{s:s, s:o, s:o, s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:{s:s, s:s, s:o}}", "schema", schema,
			 "cpuName", json_text(machine->cpu_name), "created", json_text(levels->when.created), "foundOn",
			 levels->when.found_on, "steady", levels->is_steady, "lastLevel", last_level_json(levels),
			 "levels", list, "lineBytes", (json_int_t)levels->line_bytes, "l1Ways",
			 (json_int_t)levels->l1_ways, "tlbEntries", (json_int_t)levels->tlb_entries, "operations",
			 "created", levels->operations_when.created, "foundOn", levels->operations_when.found_on,
			 "list", operations_json(levels));
}

int
measured_levels_store(const struct measured_levels *levels, const char *cache_folder, const struct machine *machine,
		      struct rot_error *err)
{
	json_auto_t *json = measured_levels_json(levels, machine);
	autofree char *path = path_of(cache_folder, machine), *text = json_dumps(json, JSON_INDENT(1));

	return file_write(path, text, strlen(text), false, err);
}

static bool
read_level(const json_t *json, struct measured_level *level)
{
	*level = (struct measured_level){
		.bytes = json_integer_value(json_object_get(json, "bytes")),
		.fitting_bytes = json_integer_value(json_object_get(json, "fittingBytes")),
		.ns = json_number_at(json, "ns"),
		.cycles = json_number_at(json, "cycles"),
	};
	return level->bytes >= 0 && level->fitting_bytes >= 0 && level->ns > 0;
}

static void
read_operations(struct measured_levels *levels, const json_t *json)
{
	const json_t *list = json_object_get(json, "list");
	size_t i;
	json_t *from;

	levels->operations_when = measured_when_read(json);
	json_array_foreach(list, i, from) {
		struct measured_operation *to = &levels->operations[levels->nr_operations];

		if (levels->nr_operations == MEASURED_OPERATIONS_MAX)
			break;
		snprintf(to->operation, sizeof(to->operation), "%s", json_text_at(from, "operation"));
		snprintf(to->instruction_set, sizeof(to->instruction_set), "%s", json_text_at(from, "instructionSet"));
		snprintf(to->precision, sizeof(to->precision), "%s", json_text_at(from, "precision"));
		to->latency = json_number_at(from, "latencyCycles");
		to->per_cycle = json_number_at(from, "perCycle");
		levels->nr_operations += to->latency > 0 && to->per_cycle > 0;
	}
}

static void
read_last_level(struct measured_levels *levels, const json_t *json)
{
	const json_t *list = json_object_get(json, "runs");
	size_t i;
	json_t *from;

	levels->last_level.low_bytes = json_integer_value(json_object_get(json, "lowBytes"));
	levels->last_level.high_bytes = json_integer_value(json_object_get(json, "highBytes"));
	levels->last_level.seconds = json_number_at(json, "seconds");
	snprintf(levels->last_level.doubt, sizeof(levels->last_level.doubt), "%s", json_text_at(json, "doubt"));
	snprintf(levels->last_level.run_doubt, sizeof(levels->last_level.run_doubt), "%s",
		 json_text_at(json, "runDoubt"));
	json_array_foreach(list, i, from) {
		if (i == MEASURED_RUNS_MAX)
			break;
		levels->last_level.runs[levels->last_level.nr_runs++] = (struct measured_run){
			.when = measured_when_read(from),
			.bytes = json_integer_value(json_object_get(from, "bytes")),
			.fitting_bytes = json_integer_value(json_object_get(from, "fittingBytes")),
		};
	}
}

static bool
read_levels(struct measured_levels *levels, const json_t *json, const struct machine *machine)
{
	const json_t *list = json_object_get(json, "levels");

	if (strcmp(json_text_at(json, "schema"), schema) != 0 ||
	    strcmp(json_text_at(json, "cpuName"), machine->cpu_name) != 0 ||
	    json_array_size(list) > MEASURED_LEVELS_MAX)
		return false;
	for (; levels->nr < json_array_size(list); levels->nr++)
		if (!read_level(json_array_get(list, levels->nr), &levels->levels[levels->nr]))
			return false;
	levels->is_steady = json_is_true(json_object_get(json, "steady"));
	read_last_level(levels, json_object_get(json, "lastLevel"));
	levels->line_bytes = json_integer_value(json_object_get(json, "lineBytes"));
	levels->l1_ways = json_integer_value(json_object_get(json, "l1Ways"));
	levels->tlb_entries = json_integer_value(json_object_get(json, "tlbEntries"));
	levels->when = measured_when_read(json);
	read_operations(levels, json_object_get(json, "operations"));
	return true;
}

void
measured_levels_load(struct measured_levels *levels, const char *cache_folder, const struct machine *machine)
{
	autofree char *path = path_of(cache_folder, machine);
	size_t length;
	autofree char *bytes = file_read(path, &length, NULL);
	json_auto_t *json = bytes ? json_loadb(bytes, length, 0, NULL) : NULL;

	*levels = (struct measured_levels){.nr = 0};
	if (!json || !read_levels(levels, json, machine))
		*levels = (struct measured_levels){.nr = 0};
}

/* ---- which is which ---- */

const struct measured_level *
measured_level_of(const struct measured_levels *levels, const struct machine *machine, int cache)
{
	int64_t told = cache == 0 ? machine->l1_data_bytes : machine->l2_bytes;

	if (cache == 2) {
		/* The last cache may be much smaller than told, but it is one behind the others. */
		const struct measured_level *last = levels->nr >= 2 ? &levels->levels[levels->nr - 2] : NULL;
		bool has_third = machine->package_llc_bytes > 0 || machine->llc_bytes > machine->l2_bytes;

		if (last && has_third && machine->l2_bytes && last->bytes <= machine->l2_bytes + machine->l2_bytes / 2)
			return NULL;
		return last;
	}
	if (told) {
		/* By size: within a factor of two of what was told. */
		const struct measured_level *found = NULL;
		double least = log(2);

		for (size_t i = 0; i + 1 < levels->nr; i++) {
			double distance = fabs(log((double)levels->levels[i].bytes / (double)told));

			if (distance <= least) {
				least = distance;
				found = &levels->levels[i];
			}
		}
		return found;
	}
	return (size_t)cache + 1 < levels->nr ? &levels->levels[cache] : NULL;
}

void
machine_take_measured(struct machine *machine, const struct measured_levels *levels)
{
	const struct measured_level *found[3];
	const struct {
		int64_t *bytes;
		char **source;
	} members[] = {{&machine->l1_data_bytes, &machine->l1_data_source},
		       {&machine->l2_bytes, &machine->l2_source},
		       {&machine->llc_bytes, &machine->llc_source}};

	for (int i = 0; i < 3; i++)
		found[i] = measured_level_of(levels, machine, i);
	for (int i = 0; i < 3; i++) {
		if (*members[i].bytes || !found[i])
			continue;
		*members[i].bytes = found[i]->bytes;
		rot_string_set(members[i].source, "measured");
	}
	if (!machine->line_bytes)
		machine->line_bytes = (int32_t)levels->line_bytes;
}

void
machine_replace_sizes(struct machine *machine, const struct measured_levels *levels)
{
	int64_t *const sizes[] = {&machine->l1_data_bytes, &machine->l2_bytes, &machine->llc_bytes};

	for (int i = 0; i < 3; i++)
		*sizes[i] = 0;
	machine->package_llc_bytes = 0;
	for (int i = 0; i < 3; i++) {
		const struct measured_level *level = measured_level_of(levels, machine, i);

		*sizes[i] = level ? level->bytes : 0;
	}
	if (levels->line_bytes)
		machine->line_bytes = (int32_t)levels->line_bytes;
}

int
measured_tlb_parse(const char *text, const struct measured_levels *levels, struct tlb_shape *tlb, struct rot_error *err)
{
	if (strcmp(text, "measured") != 0)
		return tlb_parse(text, tlb, err);
	*tlb = (struct tlb_shape){.entries = levels ? levels->tlb_entries : 0, .page_bytes = 4096};
	if (tlb->entries > 0)
		return 0;
	rot_error_set(err, 0, "tlb=measured: the TLB of this machine was not measured yet");
	return rot_error_hint(err, "'rot machine --only=tlb -tlb=64' measures it, in some seconds, on a quiet machine");
}
