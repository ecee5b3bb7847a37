/* SPDX-License-Identifier: MIT */
#include "roof/peak.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/json.h"
#include "base/paths.h"
#include "entities.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"

/* ---- as JSON and back ---- */

/* Members that are alike: names in JSON, and places in the struct. */
struct member {
	const char *key;
	size_t offset;
};

static const struct member texts[] = {
	{"name", offsetof(struct peak, name)},
	{"operation", offsetof(struct peak, operation)},
	{"border", offsetof(struct peak, border)},
	{"access", offsetof(struct peak, access)},
	{"instructionSet", offsetof(struct peak, instruction_set)},
	{"mode", offsetof(struct peak, mode)},
	{"clockSource", offsetof(struct peak, clock_source)},
	{"search", offsetof(struct peak, search)},
	{"limitSource", offsetof(struct peak, limit_source)},
	{"remark", offsetof(struct peak, remark)},
};

static const struct member estimates[] = {
	{"perCycle", offsetof(struct peak, per_cycle)},
	{"perSecond", offsetof(struct peak, per_second)},
	{"perTscCycle", offsetof(struct peak, per_tsc_cycle)},
};

static const struct member numbers[] = {
	{"usualPerCycle", offsetof(struct peak, usual_per_cycle)},
	{"clockHz", offsetof(struct peak, clock_hz)},
	{"limitPerCycle", offsetof(struct peak, limit_per_cycle)},
};

static const struct member counts[] = {
	{"bufferBytes", offsetof(struct peak, buffer_bytes)},
	{"samples", offsetof(struct peak, nr_samples)},
	{"tainted", offsetof(struct peak, nr_tainted)},
};

#define NR(array) (sizeof(array) / sizeof(*(array)))

static const void *
member_of(const struct peak *peak, const struct member *member)
{
	return (const char *)peak + member->offset;
}

static void *
member_in(struct peak *peak, const struct member *member)
{
	return (char *)peak + member->offset;
}

/* ---- writing ---- */

/* {"axes": ["dlp", "unroll"], "points": [[1, 1, 0.5], ...]}: coordinates, then what was reached. */
static json_t *
landscape_json(const struct peak_landscape *landscape)
{
	json_t *axes = json_array(), *points = json_array();

	for (size_t i = 0; i < landscape->nr_axes; i++)
		json_array_append_new(axes, json_text(landscape->axes[i]));
	for (size_t i = 0; i < landscape->nr_points; i++) {
		json_t *point = json_array();

		for (size_t k = 0; k < landscape->nr_axes; k++)
			json_array_append_new(point, json_integer(landscape->points[i].coordinates[k]));
		json_array_append_new(point, json_number(landscape->points[i].per_cycle));
		json_array_append_new(points, point);
	}
	return json_pack("{s:o, s:o}", "axes", axes, "points", points);
}

json_t *
peak_json(const struct peak *peak)
{
	json_t *json = json_object(), *variant = json_object();

	json_object_set_new(json, "kind", json_text(peak_kind_name(peak->kind)));
	for (size_t i = 0; i < NR(texts); i++)
		json_object_set_new(json, texts[i].key, json_text(*(char *const *)member_of(peak, &texts[i])));
	json_object_set_new(json, "threads", json_integer(peak->nr_threads));
	for (size_t i = 0; i < peak->nr_coordinates; i++)
		json_object_set_new(variant, peak->variant[i].name, json_integer(peak->variant[i].value));
	json_object_set_new(json, "variant", variant);
	for (size_t i = 0; i < NR(counts); i++)
		json_object_set_new(json, counts[i].key,
				    json_integer((json_int_t) * (const size_t *)member_of(peak, &counts[i])));
	json_object_set_new(json, "hugePages", json_boolean(peak->has_huge_pages));
	for (size_t i = 0; i < NR(estimates); i++) {
		const struct peak_estimate *e = member_of(peak, &estimates[i]);

		json_object_set_new(json, estimates[i].key,
				    json_pack("{s:o, s:o, s:o}", "value", json_number(e->value), "low",
					      json_number(e->low), "high", json_number(e->high)));
	}
	for (size_t i = 0; i < NR(numbers); i++)
		json_object_set_new(json, numbers[i].key, json_number(*(const double *)member_of(peak, &numbers[i])));
	json_object_set_new(json, "foundAt", json_integer(peak->found_at));
	if (peak->landscape.nr_axes)
		json_object_set_new(json, "landscape", landscape_json(&peak->landscape));
	return json;
}

/* ---- reading ---- */

static int
read_variant(struct pool *pool, const json_t *json, struct peak *peak)
{
	const char *name;
	json_t *value;

	if (!json_is_object(json))
		return -1;
	peak->variant = pool_calloc(pool, json_object_size(json), sizeof(*peak->variant));
	json_object_foreach((json_t *)json, name, value) {
		struct peak_coordinate *coordinate = &peak->variant[peak->nr_coordinates++];

		coordinate->name = pool_strdup(pool, name);
		coordinate->value = (int)json_integer_value(value);
		if (!json_is_integer(value))
			return -1;
	}
	return 0;
}

/* One point: as many coordinates as there are axes, and a value or null. */
static int
read_point(struct pool *pool, const json_t *json, size_t nr_axes, struct peak_point *point)
{
	const json_t *value = json_array_get(json, nr_axes);

	point->coordinates = pool_calloc(pool, nr_axes, sizeof(*point->coordinates));
	point->per_cycle = json_is_number(value) ? json_number_value(value) : NAN;
	for (size_t i = 0; i < nr_axes; i++) {
		const json_t *coordinate = json_array_get(json, i);

		if (!json_is_integer(coordinate))
			return -1;
		point->coordinates[i] = (int)json_integer_value(coordinate);
	}
	return json_array_size(json) == nr_axes + 1 && (json_is_number(value) || json_is_null(value)) ? 0 : -1;
}

static int
read_landscape(struct pool *pool, const json_t *json, struct peak_landscape *landscape)
{
	const json_t *axes = json_object_get(json, "axes"), *points = json_object_get(json, "points");
	size_t i;
	json_t *item;

	if (!json_array_size(axes) || !json_is_array(points))
		return -1;
	landscape->axes = pool_calloc(pool, json_array_size(axes), sizeof(*landscape->axes));
	landscape->points = pool_calloc(pool, json_array_size(points), sizeof(*landscape->points));
	json_array_foreach(axes, i, item) {
		if (!json_is_string(item))
			return -1;
		landscape->axes[landscape->nr_axes++] = pool_strdup(pool, json_string_value(item));
	}
	json_array_foreach(points, i, item) {
		if (read_point(pool, item, landscape->nr_axes, &landscape->points[landscape->nr_points++]) < 0)
			return -1;
	}
	return 0;
}

/* Texts are set first, so that every peak has them all. */
static int
read_members(struct pool *pool, const json_t *json, struct peak *peak)
{
	const json_t *count;

	for (size_t i = 0; i < NR(texts); i++)
		*(char **)member_in(peak, &texts[i]) = pool_strdup(pool, json_text_at(json, texts[i].key));
	for (size_t i = 0; i < NR(numbers); i++)
		*(double *)member_in(peak, &numbers[i]) = json_number_at(json, numbers[i].key);
	for (size_t i = 0; i < NR(estimates); i++) {
		const json_t *from = json_object_get(json, estimates[i].key);

		if (!json_is_object(from))
			return -1;
		*(struct peak_estimate *)member_in(peak, &estimates[i]) =
			(struct peak_estimate){.value = json_number_at(from, "value"),
					       .low = json_number_at(from, "low"),
					       .high = json_number_at(from, "high")};
	}
	for (size_t i = 0; i < NR(counts); i++) {
		count = json_object_get(json, counts[i].key);
		if (!json_is_integer(count) || json_integer_value(count) < 0)
			return -1;
		*(size_t *)member_in(peak, &counts[i]) = (size_t)json_integer_value(count);
	}
	return 0;
}

int
peak_of_json(struct pool *pool, const json_t *json, struct peak *peak)
{
	const char *kind = json_text_at(json, "kind");
	const json_t *threads = json_object_get(json, "threads"), *landscape = json_object_get(json, "landscape");
	size_t i = 0;

	*peak = (struct peak){.kind = PEAK_PERFORMANCE};
	while (i < NR_PEAK_KINDS && strcmp(peak_kind_name((enum peak_kind)i), kind) != 0)
		i++;
	if (read_members(pool, json, peak) < 0 || i == NR_PEAK_KINDS || !peak->name[0])
		return -1;
	peak->kind = (enum peak_kind)i;
	if (!json_is_integer(threads) || json_integer_value(threads) < 1 || json_integer_value(threads) > 1 << 20)
		return -1;
	peak->nr_threads = (int)json_integer_value(threads);
	peak->has_huge_pages = json_is_true(json_object_get(json, "hugePages"));
	peak->found_at = (int64_t)json_integer_value(json_object_get(json, "foundAt"));
	if (read_variant(pool, json_object_get(json, "variant"), peak) < 0)
		return -1;
	return landscape ? read_landscape(pool, landscape, &peak->landscape) : 0;
}

const char *
peak_kind_name(enum peak_kind kind)
{
	static const char *const names[NR_PEAK_KINDS] = {"performance", "bandwidth", "latency"};

	return names[kind];
}

bool
peak_is_better(enum peak_kind kind, double a, double b)
{
	return !isnan(a) && (isnan(b) || (kind == PEAK_LATENCY ? a < b : a > b));
}

/* ---- wishes ---- */

static bool
is_word(const char *wanted, const char *word)
{
	return !wanted || wanted[0] == '\0' || strcmp(wanted, word ? word : "") == 0;
}

bool
peak_wish_is(const struct peak_wish *wish, const char *operation, const char *border, const char *access,
	     const char *instruction_set)
{
	return is_word(wish->operation, operation) && is_word(wish->border, border) && is_word(wish->access, access) &&
	       is_word(wish->instruction_set, instruction_set);
}

void
peak_add_remark(struct pool *pool, struct peak *peak, const char *text)
{
	if (!strstr(peak->remark, text))
		peak->remark = pool_format(pool, "%s%s%s", peak->remark, peak->remark[0] ? "; " : "", text);
}

static bool
is_same_but_for_variant(const struct peak *a, const struct peak *b)
{
	const char *const of_a[] = {a->name, a->operation, a->border, a->access, a->instruction_set, a->mode},
			  *const of_b[] = {b->name, b->operation, b->border, b->access, b->instruction_set, b->mode};

	for (size_t i = 0; i < NR(of_a); i++)
		if (strcmp(of_a[i], of_b[i]) != 0)
			return false;
	return a->kind == b->kind && a->nr_threads == b->nr_threads;
}

void
peak_list_keep_best(struct peak_list *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const struct peak peak = list->peaks[i];
		size_t k = 0;

		while (k < nr && !is_same_but_for_variant(&list->peaks[k], &peak))
			k++;
		if (k == nr)
			list->peaks[nr++] = peak;
		else if (peak_is_better(peak.kind, peak.per_cycle.value, list->peaks[k].per_cycle.value))
			list->peaks[k] = peak;
	}
	list->nr = nr;
}

void
peak_list_clear(struct peak_list *list)
{
	pool_clear(&list->pool);
	*list = (struct peak_list){.nr = 0};
}

/* ---- borders and ridge points ---- */

static const struct {
	const char *border, *level;
} levels[] = {{"cpuL1", "L1"}, {"l1l2", "L2"}, {"l2l3", "L3"}, {"llcRam", "memory"}};

int
border_order(const char *border)
{
	int i = 0;

	while (i < (int)NR(levels) && strcmp(levels[i].border, border) != 0)
		i++;
	return i;
}

const char *
border_level(const char *border)
{
	size_t i = (size_t)border_order(border);

	return i < NR(levels) ? levels[i].level : border;
}

bool
peak_ridge(const struct peak *performance, const struct peak *bandwidth, struct peak_estimate *intensity)
{
	const bool is_per_cycle = isfinite(performance->per_cycle.value) && isfinite(bandwidth->per_cycle.value);
	const struct peak_estimate p = is_per_cycle ? performance->per_cycle : performance->per_second;
	const struct peak_estimate b = is_per_cycle ? bandwidth->per_cycle : bandwidth->per_second;

	*intensity = (struct peak_estimate){p.value / b.value, p.low / b.high, p.high / b.low};
	return performance->kind == PEAK_PERFORMANCE && bandwidth->kind == PEAK_BANDWIDTH &&
	       strstr(performance->operation, "Flop") && performance->nr_threads == bandwidth->nr_threads;
}

bool
peak_random_bandwidth(const struct peak *latency, double line_bytes, struct peak *bandwidth)
{
	struct peak_estimate *const estimates_of[] = {&bandwidth->per_cycle, &bandwidth->per_second,
						      &bandwidth->per_tsc_cycle};

	*bandwidth = *latency;
	bandwidth->kind = PEAK_BANDWIDTH;
	bandwidth->usual_per_cycle = line_bytes / latency->usual_per_cycle;
	for (size_t i = 0; i < sizeof(estimates_of) / sizeof(*estimates_of); i++) {
		const struct peak_estimate e = *estimates_of[i];

		*estimates_of[i] =
			(struct peak_estimate){line_bytes / e.value, line_bytes / e.high, line_bytes / e.low};
	}
	return latency->kind == PEAK_LATENCY && strcmp(latency->access, "random") == 0;
}

/*
 * Peaks count the bytes of the program's loads and stores, intensities those that cross a border. What is not here has
 * no other bytes, as loads, non-temporal stores and updates, which wanted the line anyway. Evidence (EPYC 9005): stores
 * to L2 and L3 with this factor are as fast as updates (127 and 59 byte/cycle).
 */
static const struct {
	const char *access;
	double bytes;
} filling[] = {{"store", 2}, {"copy", 3.0 / 2}, {"triad", 4.0 / 3}, {"load2Store", 4.0 / 3}};

double
peak_crossing_bytes(const struct peak *peak)
{
	for (size_t i = 0; i < sizeof(filling) / sizeof(*filling); i++)
		if (strcmp(filling[i].access, peak->access) == 0 && peak->kind == PEAK_BANDWIDTH &&
		    strcmp(peak->border, "cpuL1") != 0)
			return filling[i].bytes;
	return 1;
}

bool
peak_is_of_memory(const struct peak *peak)
{
	return peak->kind == PEAK_BANDWIDTH && strcmp(peak->border, "llcRam") == 0;
}

/* ---- growth with threads ---- */

static bool
is_same_rate(const struct peak *a, const struct peak *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 && strcmp(a->operation, b->operation) == 0 &&
	       strcmp(a->border, b->border) == 0 && strcmp(a->access, b->access) == 0 &&
	       strcmp(a->instruction_set, b->instruction_set) == 0;
}

/* Is it the one whose growth is told: the first of its rate and mode on several threads? */
static bool
begins(const struct peak_list *list, enum peak_kind kind, size_t at)
{
	const struct peak *peak = &list->peaks[at];

	for (size_t i = 0; i < at; i++)
		if (is_same_rate(&list->peaks[i], peak) && list->peaks[i].nr_threads > 1 &&
		    strcmp(list->peaks[i].mode, peak->mode) == 0)
			return false;
	return peak->kind == kind && peak->nr_threads > 1;
}

static int
by_threads(const void *a, const void *b)
{
	const struct peak *const *x = a, *const *y = b;

	return ((*x)->nr_threads > (*y)->nr_threads) - ((*x)->nr_threads < (*y)->nr_threads);
}

static void
judge(struct growth *growth)
{
	double highest = NAN;
	size_t i = 0;

	for (size_t k = 0; k < growth->nr; k++)
		highest = fmax(highest, growth->peaks[k]->per_second.value); /* of a number and NaN, the number */
	growth->factor = highest / growth->peaks[0]->per_second.value;
	while (i < growth->nr && !(growth->peaks[i]->per_second.value >= SATURATION_SHARE * highest))
		i++;
	if (growth->factor < SATURATION_LEAST)
		i = 0;
	growth->saturated_from = i + 1 < growth->nr ? growth->peaks[i]->nr_threads : 0;
}

static struct growth
growth_of(struct pool *pool, const struct peak_list *list, const struct peak *peak)
{
	struct growth growth = {.peaks = pool_calloc(pool, list->nr, sizeof(struct peak *)), .mode = peak->mode};

	for (size_t i = 0; i < list->nr; i++)
		if (is_same_rate(&list->peaks[i], peak) &&
		    (list->peaks[i].nr_threads == 1 || strcmp(list->peaks[i].mode, peak->mode) == 0))
			growth.peaks[growth.nr++] = &list->peaks[i];
	qsort(growth.peaks, growth.nr, sizeof(struct peak *), by_threads);
	judge(&growth);
	return growth;
}

size_t
peaks_growths(struct pool *pool, const struct peak_list *list, enum peak_kind kind, struct growth **growths)
{
	size_t nr = 0;

	*growths = pool_calloc(pool, list->nr, sizeof(**growths));
	for (size_t i = 0; i < list->nr; i++) {
		if (!begins(list, kind, i))
			continue;
		(*growths)[nr] = growth_of(pool, list, &list->peaks[i]);
		nr += (*growths)[nr].nr > 1;
	}
	return nr;
}

size_t
growths_threads(struct pool *pool, const struct growth *growths, size_t nr, int **threads)
{
	size_t nr_threads = 0;

	*threads = NULL;
	for (int next = 0, last = 0;; last = next) {
		next = 0;
		for (size_t i = 0; i < nr; i++)
			for (size_t k = 0; k < growths[i].nr; k++) {
				int here = growths[i].peaks[k]->nr_threads;

				if (here > last && (next == 0 || here < next))
					next = here;
			}
		if (next == 0)
			return nr_threads;
		*threads = pool_grow(pool, *threads, nr_threads, sizeof(**threads));
		(*threads)[nr_threads++] = next;
	}
}

/* ---- limits ---- */

/* Bytes of a register; 0: the instruction set has none for vectors, an instruction is one operation. */
static const struct {
	const char *instruction_set;
	int bytes;
} registers[] = {{"SSE", 16}, {"AVX2", 32}, {"AVX512", 64}};

/* Operations of an instruction on one number, averaged over the mix; 1 for those that are not here. */
static const struct {
	const char *access;
	double operations;
} mixes[] = {{"FMA", 2}, {"FMA_ADD", 3.0 / 2}, {"FMA_FMA_ADD", 5.0 / 3}};

/* Numbers in a register. 0: these are no floating point operations, so nothing is known. */
static int
numbers_of(const struct peak *peak)
{
	bool is_double = strcmp(peak->operation, "doublePrecisionFlop") == 0;

	if (strcmp(peak->instruction_set, "X87") == 0)
		return 1;
	if (!is_double && strcmp(peak->operation, "singlePrecisionFlop") != 0)
		return 0;
	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		if (strcmp(registers[i].instruction_set, peak->instruction_set) == 0)
			return registers[i].bytes / (is_double ? 8 : 4);
	return 1;
}

static void
set_remark(struct pool *pool, struct peak *peak, const struct architecture_limit *limit)
{
	/* A reader must not take for the machine's what is the search's. */
	const char *cause =
		strcmp(peak->search, "quick") == 0
			? "below what the documents allow: a quick search tries few variants, 'rot peaks' tries more"
			: "below what the documents allow, for a reason that is not known";
	int nr_chains = 0;

	for (size_t i = 0; i < peak->nr_coordinates; i++)
		if (strcmp(peak->variant[i].name, "dlp") == 0)
			nr_chains = peak->variant[i].value;
	if (limit->cause[0] && (limit->cause_below_chains == 0 || nr_chains < limit->cause_below_chains))
		cause = limit->cause;
	if (peak->per_cycle.value > (1 + LIMIT_EXCEEDED) * peak->limit_per_cycle)
		peak->remark = "above what the documents allow: the clock was misread, or they are; not to be believed";
	else if (!(peak->remark && peak->remark[0]) &&
		 peak->per_cycle.value < (1 - LIMIT_NOTABLE) * peak->limit_per_cycle)
		peak->remark = pool_strdup(pool, cause);
}

/* NULL: none. *factor: operations or bytes of what the limit counts. */
static const struct architecture_limit *
find_limit(const struct peak *peak, const struct architecture *architecture, int model, double *factor)
{
	double operations = 1;

	for (size_t i = 0; i < NR(mixes); i++)
		if (strcmp(mixes[i].access, peak->access) == 0)
			operations = mixes[i].operations;
	*factor = peak->kind == PEAK_PERFORMANCE ? numbers_of(peak) * operations : peak->kind == PEAK_BANDWIDTH ? 1 : 0;
	return *factor > 0 ? architecture_limit(architecture, model, peak->kind == PEAK_PERFORMANCE ? "" : peak->border,
						peak->access, peak->instruction_set)
			   : NULL;
}

double
peak_limit(const struct peak *peak, const struct architecture *architecture, int model)
{
	double factor;
	const struct architecture_limit *limit = find_limit(peak, architecture, model, &factor);

	return limit ? limit->per_cycle * factor : NAN;
}

void
peak_set_limit(struct pool *pool, struct peak *peak, const struct architecture *architecture, int model)
{
	double factor;
	const struct architecture_limit *limit = find_limit(peak, architecture, model, &factor);

	peak->limit_source = pool_strdup(pool, limit ? limit->source : "");
	peak->limit_per_cycle = limit ? limit->per_cycle * factor : NAN;
	if (limit)
		set_remark(pool, peak, limit);
}

void
peak_set_memory_limit(struct peak *peak, double bytes_per_second)
{
	if (!(bytes_per_second > 0) || !peak_is_of_memory(peak))
		return;
	peak->limit_per_cycle =
		bytes_per_second / peak_crossing_bytes(peak) / peak->clock_hz / (double)peak->nr_threads;
	peak->limit_source = LIMIT_OF_MEMORY;
}

struct architecture *
limits_load(struct rot *rot, struct rot_error *err)
{
	autofree char *folder = rot_format("%s/driver/architectures", rot->paths->data);

	return architecture_load(folder, rot->machine, NULL, err);
}

int
peaks_set_limits(struct rot *rot, struct peak_list *list, struct rot_error *err)
{
	const double memory = 1e9 * configuration_double(rot->configuration, "memoryBandwidth");
	struct architecture *architecture = limits_load(rot, err);

	for (size_t i = 0; architecture && i < list->nr; i++) {
		peak_set_limit(&list->pool, &list->peaks[i], architecture, (int)rot->machine->cpu_model);
		peak_set_memory_limit(&list->peaks[i], memory);
	}
	if (!architecture)
		return -1;
	architecture_delete(architecture);
	return 0;
}
