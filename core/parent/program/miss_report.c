/* SPDX-License-Identifier: MIT */
#include "parent/program/miss_report.h"

#include <stdlib.h>
#include <string.h>

#include "FalseSharing.h"
#include "MissConflict.h"
#include "MissShare.h"
#include "ProgramPart.h"
#include "memory.h"
#include "parent/profile/parts.h"
#include "parent/stepping/reuse.h"
#include "parent/symbols/plain_name.h"
#include "parent/translate/misses.h"
#include "parent/translate/sharing.h"
#include "parent/translate/uses.h"
#include "parent/translate/what_ifs.h"

#define NR_KINDS_WRITTEN (CACHE_NR_KINDS + 1)
#define NR_LINES (STEP_NR_LEVELS * NR_KINDS_WRITTEN)

/* The code of one function. address: of its first instruction in the file, 0: not known. parts: NULL: it has none. */
struct place {
	const struct code_object *object;
	uint64_t address;
	char *name;
	struct symbol_file *file;
	struct parts *parts;
};

/* A loop of a place without the loops in it, or what of the place is in none: header 0. */
struct place_loop {
	uint32_t place;
	uint64_t header;
};

/* of_sites: the index of each site's loop, + 1; 0: not looked for yet. of_records: the index of each record's place */
struct places {
	const struct miss_report *report;
	struct place *items;
	struct place_loop *loops;
	size_t nr, nr_loops;
	uint32_t *of_sites, *of_records;
};

/* ---- functions and loops ---- */

/* address: of the site in the file; 0: not known. */
static uint32_t
find_place(struct places *places, uint32_t site, uint64_t *address)
{
	const struct miss_report *report = places->report;
	struct counted_at at = {0};
	const bool is_known = translator_code_of(report->translator, site, &at);
	struct place place = {.object = counted_code_described(report->counted, is_known ? at.object : 0)};
	struct symbol_range range = {0};

	*address = 0;
	if (place.object->origin == CODE_FILE)
		place.file = symbol_file_open_same(report->files, place.object->path, place.object->inode);
	if (place.file && symbols_address(place.file, at.offset, address) &&
	    symbols_function_at(place.file, *address, &range))
		place.address = range.address;
	for (size_t i = 0; i < places->nr; i++)
		if (places->items[i].object == place.object && places->items[i].address == place.address)
			return (uint32_t)i;
	place.name = range.name ? plain_name_or_symbol(range.name) : NULL;
	if (place.address) {
		struct program_place code = {.address = range.address, .size = range.size};

		place.parts = parts_new(place.file, &code, false);
	}
	places->items = rot_grow(places->items, places->nr, sizeof(*places->items));
	places->items[places->nr] = place;
	return (uint32_t)places->nr++;
}

static uint32_t
find_loop(struct places *places, uint32_t site)
{
	uint64_t address;
	struct place_loop loop = {.place = find_place(places, site, &address)};
	const struct place *place = &places->items[loop.place];

	if (place->parts)
		loop.header = parts_header_at(place->parts, address);
	for (size_t i = 0; i < places->nr_loops; i++)
		if (places->loops[i].place == loop.place && places->loops[i].header == loop.header)
			return (uint32_t)i;
	places->loops = rot_grow(places->loops, places->nr_loops, sizeof(*places->loops));
	places->loops[places->nr_loops] = loop;
	return (uint32_t)places->nr_loops++;
}

static const char *
path_of(const struct place *place)
{
	return place->object->origin == CODE_FILE ? place->object->path : "";
}

/* "solver+0x1139" where the name is not known. Fresh memory. */
static char *
name_of(const struct place *place)
{
	const char *object = basename(path_of(place));

	return place->name      ? rot_strdup(place->name)
	       : place->address ? rot_format("%s+0x%llx", object, (unsigned long long)place->address)
	       : *object        ? rot_format("%s, in no function", object)
				: rot_strdup("");
}

/* ---- shares ---- */

/* Lines of each function, object or thread, by its number. by_capacity: as of records, summed */
struct sum {
	uint64_t lines[NR_LINES], by_capacity[REUSE_NR + 1];
};
struct sums {
	struct sum *items;
	size_t nr;
};

static void
add(struct sums *sums, size_t i, const struct miss_record *record)
{
	if (i >= sums->nr) {
		sums->items = rot_realloc(sums->items, i + 1, sizeof(*sums->items));
		memset(sums->items + sums->nr, 0, (i + 1 - sums->nr) * sizeof(*sums->items));
		sums->nr = i + 1;
	}
	for (int k = 0; record->by_capacity && k <= REUSE_NR; k++)
		sums->items[i].by_capacity[k] += record->by_capacity[k];
	for (int level = 0; level < STEP_NR_LEVELS; level++) {
		uint64_t *lines = &sums->items[i].lines[level * NR_KINDS_WRITTEN];

		for (int kind = 0; kind < CACHE_NR_KINDS; kind++)
			lines[kind] += record->lines[level][kind];
		lines[CACHE_NR_KINDS] += record->written[level];
	}
}

/* The members of a MissShare that say what it is of. */
struct described {
	const char *name, *file, *source;
	int line, number;
};

static void
put_share(struct program_run_output *output, const char *by, const struct sums *sums, size_t i,
	  const struct described *described)
{
	const struct sum *sum = &sums->items[i];
	struct miss_share *share;
	uint64_t all = 0, misses[REUSE_NR];
	bool has_curve;

	for (int k = 0; k < NR_LINES; k++)
		all += sum->lines[k];
	reuse_add_up(sum->by_capacity, misses);
	has_curve = misses[0] > 0;
	if (all == 0 && !has_curve)
		return;
	share = miss_share_new();
	rot_string_set(&share->by, by);
	rot_string_set(&share->name, described->name);
	rot_string_set(&share->file, described->file);
	rot_string_set(&share->source, described->source);
	share->line = described->line;
	share->number = described->number;
	for (int k = 0; k < NR_LINES; k++)
		miss_share_lines_add(share, sum->lines[k]);
	for (int k = 0; has_curve && k < REUSE_NR; k++)
		miss_share_curve_add(share, misses[k]);
	program_run_output_miss_shares_add(output, share);
}

static void
put_functions(struct program_run_output *output, const struct places *places, const struct sums *sums)
{
	for (size_t i = 0; i < sums->nr; i++) {
		const struct place *place = &places->items[i];
		autofree char *name = name_of(place);
		int line = 0;
		const char *source = place->address ? symbols_line_at(place->file, place->address, &line) : NULL;

		put_share(output, "function", sums, i,
			  &(struct described){name, path_of(place), source ? source : "", line, 0});
	}
}

/* "sweep:17-20", "axpy in sweep:17", "sweep+0x12..0x48" or "sweep, no loop", as in the table of loops. Fresh memory. */
static char *
loop_name(const struct place *place, const struct program_part *part)
{
	autofree char *function = name_of(place);
	const uint64_t from = part->address - place->address;
	char *name = rot_strdup("");

	if (*part->inlined)
		rot_append(&name, "%.*s in ", (int)strcspn(part->inlined, "<"), part->inlined);
	rot_append(&name, "%s", function);
	if (part->header == 0)
		rot_append(&name, "%s", place->parts ? ", no loop" : "");
	else if (part->line == 0)
		rot_append(&name, "+0x%llx..0x%llx", (unsigned long long)from, (unsigned long long)(from + part->size));
	else
		rot_append(&name, part->last_line > part->line ? ":%d-%d" : ":%d", part->line, part->last_line);
	return name;
}

static void
put_loops(struct program_run_output *output, const struct places *places, const struct sums *sums)
{
	for (size_t i = 0; i < sums->nr; i++) {
		const struct place_loop *loop = &places->loops[i];
		const struct place *place = &places->items[loop->place];
		struct program_part *part =
			loop->header ? parts_describe(place->parts, loop->header) : program_part_new();
		autofree char *name = loop_name(place, part);

		put_share(output, "loop", sums, i,
			  &(struct described){name, path_of(place), part->source, part->line, 0});
		program_part_delete(part);
	}
}

/* ---- conflicts ---- */

/* A function is told of a level if it has so many conflict misses there, and so many of 100 misses are such. */
#define LEAST_CONFLICTS 1000
#define LEAST_PERCENT 10
/* A stride is told if so many of 100 steps, or more, have it. */
#define LEAST_STRIDES 60

/* Counts the objects that a function has conflict misses in. */
static uint64_t
nr_colliding(const struct places *places, size_t place, int level)
{
	const struct misses *misses = translator_misses(places->report->translator);
	const struct miss_record *record;
	bool *are_seen = NULL;
	size_t nr_seen = 0;
	uint64_t nr = 0;

	for (uint32_t i = 0; (record = misses_at(misses, i)); i++) {
		if (places->of_records[i] != place || record->lines[level][CACHE_CONFLICT] == 0)
			continue;
		if (record->object >= nr_seen) {
			are_seen = rot_realloc(are_seen, record->object + 1, sizeof(*are_seen));
			memset(are_seen + nr_seen, 0, (record->object + 1 - nr_seen) * sizeof(*are_seen));
			nr_seen = record->object + 1;
		}
		nr += !are_seen[record->object];
		are_seen[record->object] = true;
	}
	free(are_seen);
	return nr;
}

static void
describe_steps(struct miss_conflict *conflict, const struct miss_report *report, const struct miss_record *most,
	       uint64_t nr_objects)
{
	const int level = conflict->level - 1;
	const struct step_level *cache = &report->caches->levels[level];
	const struct miss_steps *steps = &most->steps[level];
	const uint64_t line_bytes = report->caches->line_bytes[level], nr_lines = cache->bytes / line_bytes;
	const struct miss_sets all = miss_sets_of(cache, line_bytes, line_bytes);
	uint64_t stride = (uint64_t)(steps->stride < 0 ? -steps->stride : steps->stride) *
			  translator_what_ifs(report->translator)->line_bytes;
	const uint64_t nr = steps->nr_strides + steps->nr_others;
	uint64_t rows = steps->longest + 1;
	struct miss_sets sets;

	if (100 * steps->nr_strides < LEAST_STRIDES * nr)
		stride = 0;
	/* Lines at the same place in more objects than there are ways meet in one set, like rows of that length. */
	if (stride <= line_bytes && nr_objects > all.lines / all.nr) {
		stride = all.nr * line_bytes;
		rows = nr_objects;
	}
	if (stride <= line_bytes)
		return;
	sets = miss_sets_of(cache, line_bytes, stride);
	/* Conflicts show that there are more rows than their sets have room for, unless these are all sets. */
	if (sets.nr < sets.all && rows <= sets.lines)
		rows = sets.lines + 1;
	if (rows > nr_lines)
		rows = nr_lines;
	conflict->stride = stride;
	conflict->rows = rows;
	conflict->sets = rows < sets.nr ? rows : sets.nr;
	conflict->all_sets = sets.all;
	if (rows <= sets.lines)
		return;
	conflict->padded = miss_padding_find(cache, line_bytes, stride, rows);
	if (conflict->padded > 0) {
		sets = miss_sets_of(cache, line_bytes, conflict->padded);
		conflict->padded_sets = rows < sets.nr ? rows : sets.nr;
	}
}

static void
put_conflict(struct program_run_output *output, const struct places *places, size_t i, int level, const uint64_t *lines)
{
	const struct miss_report *report = places->report;
	const struct misses *misses = translator_misses(report->translator);
	const struct miss_record *most = NULL, *record;
	const struct place *place = &places->items[i];
	struct miss_conflict *conflict = miss_conflict_new();
	autofree char *name = name_of(place);
	struct counted_at at;
	uint64_t address;
	int line = 0;
	const char *source = NULL;

	for (uint32_t k = 0; (record = misses_at(misses, k)); k++)
		if (places->of_records[k] == i &&
		    (!most || record->lines[level][CACHE_CONFLICT] > most->lines[level][CACHE_CONFLICT]))
			most = record;
	if (place->file && translator_code_of(report->translator, most->site, &at) &&
	    symbols_address(place->file, at.offset, &address))
		source = symbols_line_at(place->file, address, &line);
	rot_string_set(&conflict->function, name);
	rot_string_set(&conflict->file, path_of(place));
	rot_string_set(&conflict->source, source ? source : "");
	conflict->line = line;
	conflict->level = level + 1;
	conflict->misses = lines[CACHE_COMPULSORY] + lines[CACHE_CAPACITY] + lines[CACHE_CONFLICT];
	conflict->conflicts = lines[CACHE_CONFLICT];
	rot_string_set(&conflict->data, data_describe(report->data, most->object).name);
	rot_string_set(&conflict->other, data_describe(report->data, most->steps[level].other).name);
	describe_steps(conflict, report, most, nr_colliding(places, i, level));
	program_run_output_miss_conflicts_add(output, conflict);
}

static int
by_conflicts(const void *a, const void *b)
{
	const struct miss_conflict *one = *(struct miss_conflict *const *)a, *other = *(struct miss_conflict *const *)b;

	return (one->conflicts < other->conflicts) - (one->conflicts > other->conflicts);
}

static void
put_conflicts(struct program_run_output *output, const struct places *places, const struct sums *functions)
{
	struct rot_list *list = &output->miss_conflicts;

	for (size_t i = 0; i < functions->nr; i++) {
		for (int level = 0; level < STEP_NR_LEVELS; level++) {
			const uint64_t *lines = &functions->items[i].lines[level * NR_KINDS_WRITTEN];
			const uint64_t all = lines[CACHE_COMPULSORY] + lines[CACHE_CAPACITY] + lines[CACHE_CONFLICT];

			if (lines[CACHE_CONFLICT] >= LEAST_CONFLICTS &&
			    100 * lines[CACHE_CONFLICT] >= LEAST_PERCENT * all)
				put_conflict(output, places, i, level, lines);
		}
	}
	if (list->nr > 0)
		qsort(list->items, list->nr, sizeof(struct miss_conflict *), by_conflicts);
}

/* ---- sharing ---- */

#define MOST_SHARED 100

static void
put_shared(struct program_run_output *output, const struct miss_report *report)
{
	size_t nr;
	autofree struct shared_line *lines = sharing_find(translator_sharing(report->translator), &nr);
	const uint64_t used_bytes = translator_what_ifs(report->translator)->line_bytes;
	const uint64_t line_bytes = used_bytes < 64 ? used_bytes : 64;

	for (size_t i = 0; i < nr && i < MOST_SHARED; i++) {
		struct false_sharing *sharing = false_sharing_new();
		const uint64_t line = lines[i].line * line_bytes;
		const uint64_t at[] = {line + (uint64_t)__builtin_ctzll(lines[i].bytes[0]),
				       line + (uint64_t)__builtin_ctzll(lines[i].bytes[1])};
		uint64_t start;

		rot_string_set(&sharing->data, data_describe(report->data, data_at(report->data, at[0], &start)).name);
		sharing->offset = at[0] - start;
		sharing->other_offset = at[1] > start ? at[1] - start : 0;
		sharing->thread = (int32_t)lines[i].threads[0];
		sharing->other_thread = (int32_t)lines[i].threads[1];
		sharing->accesses = lines[i].nr;
		sharing->share = lines[i].nr_all > 0 ? (double)lines[i].nr / (double)lines[i].nr_all : 0;
		program_run_output_false_sharing_add(output, sharing);
	}
}

void
miss_report_add(struct program_run_output *output, const struct miss_report *report)
{
	const struct misses *misses = translator_misses(report->translator);
	struct places places = {.report = report, .of_sites = rot_calloc(CAUSES_OTHER + 1, sizeof(uint32_t))};
	struct sums functions = {0}, loops = {0}, objects = {0}, threads = {0};
	const struct miss_record *record;

	for (uint32_t i = 0; misses && (record = misses_at(misses, i)); i++) {
		uint32_t *of_site = &places.of_sites[record->site];

		if (!*of_site)
			*of_site = find_loop(&places, record->site) + 1;
		places.of_records = rot_grow(places.of_records, i, sizeof(*places.of_records));
		places.of_records[i] = places.loops[*of_site - 1].place;
		add(&loops, *of_site - 1, record);
		add(&functions, places.of_records[i], record);
		add(&objects, record->object, record);
		add(&threads, record->thread, record);
	}
	if (misses) {
		put_functions(output, &places, &functions);
		put_loops(output, &places, &loops);
		for (size_t i = 0; i < objects.nr; i++) {
			const struct data_object object = data_describe(report->data, (uint32_t)i);

			put_share(output, "object", &objects, i,
				  &(struct described){object.name, object.file, "", 0, 0});
		}
		for (size_t i = 0; i < threads.nr; i++)
			put_share(output, "thread", &threads, i, &(struct described){"", "", "", 0, (int)i});
		put_conflicts(output, &places, &functions);
		put_shared(output, report);
	}
	for (size_t i = 0; i < places.nr; i++) {
		free(places.items[i].name);
		parts_delete(places.items[i].parts);
	}
	free(places.items);
	free(places.loops);
	free(places.of_sites);
	free(places.of_records);
	free(functions.items);
	free(loops.items);
	free(objects.items);
	free(threads.items);
}
