/* SPDX-License-Identifier: MIT */
#include "roof/levels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/progress.h"
#include "base/text_table.h"
#include "engine/measuring.h"
#include "engine/origin.h"
#include "machine/machine.h"
#include "memory.h"
#include "quantities/quantity.h"
#include "quantities/samples.h"
#include "roof/visits.h"
#include "rot.h"
#include "statistics/curve.h"

/* ---- knees ---- */

/* Over an octave a plateau rises by less than this: address translation makes it rise a little. */
#define PLATEAU_RISE 1.25

/* Levels differ by at least this; less is one level that address translation has split. */
#define LEVEL_STEP 1.7

#define SIZE_SHARE 0.5
#define FITTING_SHARE 0.1

/* From point i on, a whole octave rises little. */
static bool
is_flat(const struct knee_point *points, const double *envelope, size_t nr, size_t i)
{
	size_t j = i;

	while (j < nr && points[j].bytes < 2 * points[i].bytes)
		j++;
	return j < nr && envelope[j] < PLATEAU_RISE * envelope[i];
}

/* Plateaus in order, each with the latency in its middle: at its ends it is mixed with those beside it. */
static size_t
find_plateaus(const struct knee_point *points, const double *envelope, size_t nr, struct knee_level levels[KNEES_MAX])
{
	size_t nr_levels = 0, end;

	for (size_t i = 0; i < nr && nr_levels < KNEES_MAX; i = end + 1) {
		double latency;

		for (end = i; end < nr && is_flat(points, envelope, nr, end);)
			end++;
		latency = envelope[i + (end - i) / 2];
		if (end > i && (nr_levels == 0 || latency > LEVEL_STEP * levels[nr_levels - 1].latency))
			levels[nr_levels++] = (struct knee_level){.latency = latency};
	}
	return nr_levels;
}

/* The largest footprint below this share of misses. */
static int64_t
largest_below(const struct knee_point *points, const double *envelope, size_t nr, const struct knee_level *level,
	      double share)
{
	double limit = level->latency + share * (level[1].latency - level->latency);
	int64_t bytes = 0;

	for (size_t i = 0; i < nr && envelope[i] <= limit; i++)
		bytes = points[i].bytes;
	return bytes;
}

size_t
knees_find(const struct knee_point *points, size_t nr, struct knee_level levels[KNEES_MAX])
{
	autofree double *envelope = rot_calloc(nr + 1, sizeof(*envelope));
	size_t nr_levels;

	for (size_t i = 0; i < nr; i++)
		envelope[i] = points[i].latency;
	curve_envelope(envelope, nr, envelope);
	nr_levels = find_plateaus(points, envelope, nr, levels);
	for (size_t i = 0; i + 1 < nr_levels; i++) {
		levels[i].bytes = largest_below(points, envelope, nr, &levels[i], SIZE_SHARE);
		levels[i].fitting_bytes = largest_below(points, envelope, nr, &levels[i], FITTING_SHARE);
	}
	/* A plateau up to the end is memory: caches hold least of the largest footprint. */
	if (nr_levels && envelope[nr - 1] < PLATEAU_RISE * levels[nr_levels - 1].latency)
		levels[nr_levels - 1].latency = envelope[nr - 1];
	return nr_levels;
}

/* Neighbours on the grid of footprints differ by at most this; and latencies of the same level by at most that. */
#define GRID_STEP 1.26
#define LATENCY_STEP 1.15

/*
 * From where misses begin to the size of a cache: by more, another level may hide there, which is no plateau, as when
 * others have most of it.
 */
#define BEGIN_SHARE 0.05
#define WIDEST_STEP 2.5

/* All runs of more footprints than this share were slow. */
#define MOST_SLOW 0.25

static bool
is_near(double a, double b, double step)
{
	return fmax(a, b) <= step * fmin(a, b);
}

/* Steps are as sharp, and latencies rise as steadily, as those of caches do. */
static bool
is_clear(const struct knee_point *points, size_t nr, const struct knee_level *levels, size_t nr_levels)
{
	autofree double *envelope = rot_calloc(nr + 1, sizeof(*envelope));
	double nr_slow = 0;

	for (size_t i = 0; i < nr; i++)
		envelope[i] = points[i].latency;
	curve_envelope(envelope, nr, envelope);
	for (size_t i = 0; i < nr; i++)
		nr_slow += points[i].latency > LATENCY_STEP * envelope[i];
	for (size_t i = 0; i + 1 < nr_levels; i++)
		if ((double)levels[i].bytes >
		    WIDEST_STEP * (double)largest_below(points, envelope, nr, &levels[i], BEGIN_SHARE))
			return false;
	return nr_levels > 1 && nr_slow <= MOST_SLOW * (double)nr;
}

size_t
knees_find_of_two(const struct knee_point *first, const struct knee_point *second, size_t nr,
		  struct knee_level levels[KNEES_MAX], bool *is_sure)
{
	autofree struct knee_point *shorter = rot_calloc(nr + 1, sizeof(*shorter));
	struct knee_level own[2][KNEES_MAX];
	size_t nr_levels, nr_own;

	for (size_t i = 0; i < nr; i++)
		shorter[i] = first[i].latency < second[i].latency ? first[i] : second[i];
	nr_levels = knees_find(shorter, nr, levels);
	/* Others may have some of the last cache behind two others: visits.h looks at its size. */
	nr_own = nr_levels >= 4 ? nr_levels - 2 : nr_levels - (nr_levels > 0);
	*is_sure = is_clear(shorter, nr, levels, nr_levels) && knees_find(first, nr, own[0]) == nr_levels &&
		   knees_find(second, nr, own[1]) == nr_levels;
	for (size_t i = 0; *is_sure && i < nr_levels; i++)
		*is_sure = is_near(own[0][i].latency, own[1][i].latency, LATENCY_STEP) &&
			   (i >= nr_own || is_near((double)own[0][i].bytes, (double)own[1][i].bytes, GRID_STEP));
	return nr_levels;
}

#define MIB 1048576.0
#define SMALLEST_BYTES (INT64_C(8) << 10)
#define DENSE_BYTES (INT64_C(32) << 20)    /* four footprints an octave up to here, then two */
#define LARGEST_BYTES (INT64_C(128) << 20) /* of the first look */
#define LIMIT_BYTES (INT64_C(1) << 30)     /* for a last level that is larger */
#define MAX_FOOTPRINTS CURVE_MAX_POINTS

/*
 * Accesses that are timed, and before that at least as many to warm up: 65536 tell a share of misses to a quarter of a
 * per cent. Of large footprints 8192, to half a per cent: 1 to 2 ms, which others seldom interrupt.
 */
#define ACCESSES 65536
#define FEW_ACCESSES 8192
#define LARGE_BYTES (INT64_C(2) << 20)

/* Runs of each footprint: two halves must tell the same sizes; the last level is slow in one run of three. */
#define ROUNDS 4
#define MAX_ROUNDS 12
#define MAX_S 12 /* no further rounds after that: a busy machine takes minutes for what a quiet one does in seconds */

struct sweep {
	struct rot *rot;
	int64_t bytes[MAX_FOOTPRINTS];
	struct knee_point halves[2][MAX_FOOTPRINTS]; /* latency in ns */
	double cycles[2][MAX_FOOTPRINTS];            /* of the same run */
	struct measurement *passes[MAX_FOOTPRINTS];
	struct measurement_result *results[MAX_FOOTPRINTS];
	struct pass_samples samples[MAX_FOOTPRINTS];
	size_t nr;
	int nr_runs;
	struct visits visits;
};

/* ---- what is measured ---- */

static const struct pass clock_pass = {.probes_clock = true};

static int
set_number(struct kernel_base *kernel, const char *field, int64_t number, struct rot_error *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return rot_entity_set(kernel, field, text, err);
}

/*
 * A cache is warm after two cycles. What is clearly larger holds nothing of the begin of the cycle when it begins
 * again, and begins with what was linked longest ago.
 */
static int64_t
warm_accesses(const struct machine *machine, int64_t bytes)
{
	int64_t twice = 2 * bytes / 64, largest = machine->llc_bytes > DENSE_BYTES ? machine->llc_bytes : DENSE_BYTES;

	return bytes > largest || twice < ACCESSES ? ACCESSES : twice;
}

static int64_t
accesses_of(int64_t bytes)
{
	return bytes > LARGE_BYTES ? FEW_ACCESSES : ACCESSES;
}

static struct measurement *
describe(const struct rot *rot, int64_t bytes, struct rot_error *err)
{
	const struct rot_class *class = rot_registry_find(rot->registry, "Chase");
	autograph struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();

	measurement_workloads_add(measurement, workload);
	workload->cpu = machine_first_cpu();
	workload->kernel = class ? rot_entity_new(class) : NULL;
	if (!class)
		rot_error_set(err, 0, "there is no kernel 'Chase' to measure the levels of the memory with");
	if (!class || set_number(workload->kernel, "bufferSize", bytes, err) < 0 ||
	    set_number(workload->kernel, "accesses", accesses_of(bytes), err) < 0 ||
	    set_number(workload->kernel, "warmAccesses", warm_accesses(rot->machine, bytes), err) < 0)
		return NULL;
	workload->kernel->warm_code = workload->kernel->warm_data = true;
	return pass_measurement(measurement, rot->architecture, &clock_pass);
}

/* 1, 1.25, 1.5 and 1.75 of each power of two: sizes that caches have. */
static int
add_footprints(struct sweep *sweep, int64_t from, int64_t to, struct rot_error *err)
{
	for (int64_t octave = SMALLEST_BYTES; octave <= to; octave *= 2)
		for (int64_t quarter = 4; quarter < 8; quarter += octave < DENSE_BYTES ? 1 : 2) {
			int64_t bytes = octave / 4 * quarter;

			if (bytes < from || bytes > to || sweep->nr == MAX_FOOTPRINTS)
				continue;
			sweep->bytes[sweep->nr] = bytes;
			sweep->passes[sweep->nr] = describe(sweep->rot, bytes, err);
			if (!sweep->passes[sweep->nr])
				return -1;
			sweep->nr++;
		}
	return 0;
}

static void
clear_results(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->nr; i++) {
		pass_samples_clear(&sweep->samples[i]);
		rot_graph_delete(sweep->results[i]);
		sweep->results[i] = NULL;
	}
}

/* All footprints together, run by run, so that what changes with time changes all of them. */
static int
perform(struct sweep *sweep, int nr_runs, struct rot_error *err)
{
	clear_results(sweep);
	sweep->nr_runs = nr_runs;
	if (measuring_perform(sweep->rot, sweep->passes, sweep->nr, nr_runs, 1, sweep->results, err) < 0)
		return -1;
	for (size_t i = 0; i < sweep->nr; i++)
		if (pass_samples_read(&sweep->samples[i], sweep->rot->architecture, &clock_pass, sweep->passes[i],
				      sweep->results[i], err) < 0)
			return -1;
	return 0;
}

/* ---- what it says ---- */

/* Another clock does not change how long a run took. */
#define DISTURBED (TAINTS_OF_SYSTEM & ~TAINT_CLOCK)

/* The shortest undisturbed run of each half. False: somewhere there is none, and a disturbed one was taken. */
static bool
take_shortest(struct sweep *sweep)
{
	bool is_undisturbed = true;

	for (size_t i = 0; i < sweep->nr; i++)
		for (int half = 0; half < 2; half++) {
			const struct pass_run *best = NULL;

			for (int run = half; run < sweep->nr_runs; run += 2) {
				const struct pass_run *own = &sweep->samples[i].runs[run];
				const bool is_disturbed = own->taints & DISTURBED,
					   was_disturbed = best && best->taints & DISTURBED;

				if (!best || is_disturbed < was_disturbed ||
				    (is_disturbed == was_disturbed && own->wall_ns < best->wall_ns))
					best = own;
			}
			is_undisturbed = is_undisturbed && !(best->taints & DISTURBED);
			sweep->halves[half][i] = (struct knee_point){
				sweep->bytes[i], best->wall_ns / (double)accesses_of(sweep->bytes[i])};
			sweep->cycles[half][i] =
				best->core_cycles > 0 ? best->core_cycles / (double)accesses_of(sweep->bytes[i]) : NAN;
		}
	return is_undisturbed;
}

/* Core cycles of the footprint whose latency is that of the plateau, or nearest to it. */
static double
cycles_at(const struct sweep *sweep, double latency)
{
	double least = INFINITY, cycles = NAN;

	for (size_t i = 0; i < sweep->nr; i++)
		for (int half = 0; half < 2; half++) {
			const double distance = fabs(sweep->halves[half][i].latency - latency);

			if (distance >= least)
				continue;
			least = distance;
			cycles = sweep->cycles[half][i];
		}
	return cycles;
}

static void
conclude(struct sweep *sweep, struct measured_levels *levels)
{
	struct knee_level knees[KNEES_MAX];
	json_auto_t *origin = origin_new();
	bool is_undisturbed;

	*levels = (struct measured_levels){.nr = 0};
	is_undisturbed = take_shortest(sweep);
	levels->nr = knees_find_of_two(sweep->halves[0], sweep->halves[1], sweep->nr, knees, &levels->is_steady);
	levels->is_steady = levels->is_steady && is_undisturbed;
	for (size_t i = 0; i < levels->nr; i++)
		levels->levels[i] = (struct measured_level){
			.bytes = knees[i].bytes,
			.fitting_bytes = knees[i].fitting_bytes,
			.ns = knees[i].latency,
			.cycles = cycles_at(sweep, knees[i].latency),
		};
	for (size_t i = 0; i < sweep->nr; i++)
		origin_add(origin, sweep->results[i]);
	levels->when = measured_on(sweep->rot->machine, json_text_at(origin, "first"));
}

/* ---- the whole ---- */

/* Levels that must be there: those that were told, or bounded, and memory. */
static size_t
nr_levels_expected(const struct machine *machine)
{
	bool has_third = machine->package_llc_bytes > 0 || machine->llc_bytes > machine->l2_bytes;

	return has_third || !machine->l2_bytes ? 4 : 3;
}

/* Until the halves agree. */
static int
repeat(struct sweep *sweep, struct measured_levels *levels, struct rot_error *err)
{
	const double start_s = clock_now_s();

	levels->is_steady = false;
	for (int nr_runs = ROUNDS; nr_runs <= MAX_ROUNDS && !levels->is_steady && clock_now_s() < start_s + MAX_S;
	     nr_runs += ROUNDS) {
		if (perform(sweep, nr_runs, err) < 0)
			return -1;
		conclude(sweep, levels);
	}
	return 0;
}

/* The size that the machine tells; 0: nobody does. */
static int64_t
told_last_level(const struct machine *machine)
{
	return strcmp(machine->llc_source, "measured") == 0 ? 0 : machine->llc_bytes;
}

/* Some visits come before the chases, as others use a shared level from time to time. */
static int
look_early(struct sweep *sweep, struct rot_error *err)
{
	const struct machine *machine = sweep->rot->machine;
	const int64_t told = told_last_level(machine);

	if (told <= machine->l2_bytes ||
	    visits_make(sweep->rot, told, RESIDENCE_MAX_VISITS / 3, &sweep->visits, err) == 0)
		return 0;
	return rot_interrupted() ? -1 : 0;
}

static int
measure_sizes(struct sweep *sweep, struct measured_levels *levels, struct rot_error *err)
{
	const struct machine *machine = sweep->rot->machine;
	int64_t told = machine->llc_bytes, largest = told > LARGEST_BYTES / 4 ? 4 * told : LARGEST_BYTES;
	int64_t limit = machine_usable_bytes(machine) / 4;

	largest = largest < limit ? largest : limit;
	if (add_footprints(sweep, SMALLEST_BYTES, largest, err) < 0 || repeat(sweep, levels, err) < 0)
		return -1;
	limit = limit < LIMIT_BYTES ? limit : LIMIT_BYTES;
	if (levels->nr >= nr_levels_expected(machine) || limit <= largest)
		return 0;
	progress_point();
	if (add_footprints(sweep, largest + 1, limit, err) < 0)
		return -1;
	return repeat(sweep, levels, err);
}

/* ---- the last level ---- */

/* Footprints of L2 and of what lies behind it differ by more than this. */
#define LEAST_BEHIND 1.5

/*
 * One that is so small that it has no plateau is behind the others nevertheless. It has the latency of the footprint
 * nearest to its half.
 */
static void
insert_last_level(const struct sweep *sweep, struct measured_levels *levels, double bytes)
{
	size_t nearest = 0;
	double ns;

	for (size_t i = 0; i < sweep->nr; i++)
		if (fabs((double)sweep->bytes[i] - bytes / 2) < fabs((double)sweep->bytes[nearest] - bytes / 2))
			nearest = i;
	ns = fmin(sweep->halves[0][nearest].latency, sweep->halves[1][nearest].latency);
	levels->levels[levels->nr] = levels->levels[levels->nr - 1];
	levels->levels[levels->nr - 1] = (struct measured_level){.ns = ns, .cycles = cycles_at(sweep, ns)};
	levels->nr++;
}

/* NULL: "". */
static void
doubt_set(char doubt[MEASURED_DOUBT_SIZE], const char *text)
{
	snprintf(doubt, MEASURED_DOUBT_SIZE, "%s", text ? text : "");
}

/* To a 1024th of the buffer: more digits would tell nothing. */
static int64_t
rounded(const struct residence_times *times, double bytes)
{
	return (int64_t)(round(bytes * 1024 / times->buffer_bytes) * times->buffer_bytes / 1024);
}

static struct residence_size
size_of_runs(const struct measured_levels *levels, const struct machine *machine)
{
	double bytes[MEASURED_RUNS_MAX];

	for (size_t i = 0; i < levels->last_level.nr_runs; i++)
		bytes[i] = (double)levels->last_level.runs[i].bytes;
	return residence_of_runs(bytes, levels->last_level.nr_runs, (double)told_last_level(machine));
}

/* doubt: of the last run; NULL: none. */
static void
take_runs(const struct sweep *sweep, const char *doubt, struct measured_levels *levels)
{
	const struct measured_run *runs = levels->last_level.runs;
	const struct residence_size size = size_of_runs(levels, sweep->rot->machine);

	if (levels->nr == 3)
		insert_last_level(sweep, levels, (double)runs[size.most].bytes);
	levels->levels[levels->nr - 2].bytes = runs[size.most].bytes;
	levels->levels[levels->nr - 2].fitting_bytes = runs[size.most].fitting_bytes;
	doubt_set(levels->last_level.doubt, size.doubt && doubt ? doubt : size.doubt);
}

/* The size is the most of all runs; without any, what this one saw, with its doubt. */
static void
take_residence(const struct sweep *sweep, const struct residence *residence, struct measured_levels *levels)
{
	const struct residence_times *times = &sweep->visits.times;
	const bool is_behind =
		levels->nr >= 4 || residence->bytes > LEAST_BEHIND * (double)levels->levels[levels->nr - 2].bytes;
	struct measured_run run = {.when = sweep->visits.when,
				   .bytes = rounded(times, residence->bytes),
				   .fitting_bytes = rounded(times, residence->fitting)};

	levels->last_level.low_bytes = rounded(times, residence->low);
	levels->last_level.high_bytes = rounded(times, residence->high);
	levels->last_level.seconds = times->seconds;
	doubt_set(levels->last_level.run_doubt, residence->is_lower_bound ? NULL : residence->doubt);
	if (levels->nr >= 4 && run.bytes) {
		levels->levels[levels->nr - 2].bytes = run.bytes;
		levels->levels[levels->nr - 2].fitting_bytes = run.fitting_bytes;
	}
	run.bytes = residence->is_lower_bound && is_behind ? run.bytes : 0;
	measured_runs_update(levels, &run, sweep->rot->machine);
	if (levels->last_level.nr_runs)
		take_runs(sweep, residence->doubt, levels);
	else
		doubt_set(levels->last_level.doubt, residence->doubt);
}

static void
fill_staying(const struct residence_times *times, const struct residence *residence, struct measured_curve *curve)
{
	*curve = (struct measured_curve){.parameter = "size of the buffer, MiB", .unit = "MiB"};
	for (size_t i = 0; i < RESIDENCE_NR_PARTS && times->nr_visits > 0; i++, curve->nr++) {
		curve->at[i] = times->buffer_bytes * residence_parts[i] / 64 / MIB;
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] = residence->staying[half][i] / MIB;
	}
}

/* Where there is a third level, or is told to be. A failure leaves what the chase found, with its reason. */
static int
look_at_last_level(struct sweep *sweep, struct measured_levels *levels, struct measured_curve *staying,
		   struct rot_error *err)
{
	const int64_t told = told_last_level(sweep->rot->machine);
	const int64_t found = levels->nr >= 4 ? levels->levels[levels->nr - 2].bytes : 0;
	struct residence residence = {.doubt = err->text};

	if (levels->nr < 3 || (levels->nr == 3 && nr_levels_expected(sweep->rot->machine) == 3))
		return 0;
	if (visits_make(sweep->rot, told > found ? told : found, RESIDENCE_MAX_VISITS, &sweep->visits, err) == 0) {
		residence_conclude(&sweep->visits.times, &residence);
		if (staying)
			fill_staying(&sweep->visits.times, &residence, staying);
	} else if (rot_interrupted()) {
		return -1;
	}
	take_residence(sweep, &residence, levels);
	return 0;
}

static void
fill_curve(const struct sweep *sweep, struct measured_curve *curve)
{
	*curve = (struct measured_curve){.parameter = "bytes of the footprint", .nr = sweep->nr};
	for (size_t i = 0; i < sweep->nr; i++) {
		curve->at[i] = (double)sweep->bytes[i];
		for (int half = 0; half < 2; half++)
			curve->cycles[half][i] = sweep->cycles[half][i];
	}
}

int
levels_measure(struct rot *rot, struct measured_levels *levels, struct measured_curve *curve,
	       struct measured_curve *staying, struct rot_error *err)
{
	autofree struct sweep *sweep = rot_calloc(1, sizeof(*sweep));
	struct measured_levels kept;
	int rc;

	measured_levels_load(&kept, rot->paths->cache, rot->machine);
	sweep->rot = rot;
	sweep->visits.takes_kept =
		configuration_bool(rot->configuration, "useCachedResults") && !kept.last_level.doubt[0];
	progress_begin(1, configuration_bool(rot->configuration, "quiet"));
	progress_point();
	rc = look_early(sweep, err);
	if (rc == 0)
		rc = measure_sizes(sweep, levels, err);
	memcpy(levels->last_level.runs, kept.last_level.runs, sizeof(kept.last_level.runs));
	levels->last_level.nr_runs = kept.last_level.nr_runs;
	if (rc == 0)
		rc = look_at_last_level(sweep, levels, staying, err);
	progress_end();
	if (rc == 0 && curve)
		fill_curve(sweep, curve);
	clear_results(sweep);
	for (size_t i = 0; i < sweep->nr; i++)
		rot_graph_delete(sweep->passes[i]);
	if (rc < 0)
		return rot_error_prefix(err, "the levels of the memory");
	memcpy(kept.levels, levels->levels, sizeof(kept.levels));
	kept.nr = levels->nr;
	kept.is_steady = levels->is_steady;
	kept.last_level = levels->last_level;
	kept.when = levels->when;
	*levels = kept;
	return measured_levels_store(levels, rot->paths->cache, rot->machine, err);
}

bool
levels_are_known(const struct machine *machine)
{
	return machine->l1_data_bytes && machine->l2_bytes && machine->llc_bytes;
}

int
levels_ensure(struct rot *rot, struct rot_error *err)
{
	struct machine *machine = rot->machine;
	struct measured_levels levels;

	if (levels_are_known(machine) || rot->is_cached_only)
		return 0;
	measured_levels_load(&levels, rot->paths->cache, machine);
	if (levels.nr == 0) {
		rot_note("this machine does not tell the sizes of all its caches: measuring them, once");
		if (levels_measure(rot, &levels, NULL, NULL, err) < 0)
			return -1;
	}
	machine_take_measured(machine, &levels);
	if (!machine->llc_bytes)
		rot_warning("no last-level cache was found behind the second level: the machine is too busy, or there "
			    "is none. "
			    "'rot remeasure levels' looks again");
	else if (!measured_levels_are_sure(&levels))
		rot_warning("the sizes of the caches were measured while others used them; 'rot remeasure levels' "
			    "looks again");
	return 0;
}

/* ---- the controller ---- */

/* A measured size within this factor of what was told is that size: footprints lie a quarter of an octave apart, and
 * one step is left for those who share the cache. */
#define AGREEMENT 1.6

const char *
levels_verdict(int64_t told, const struct measured_level *found)
{
	double ratio = found && told ? (double)found->bytes / (double)told : NAN;

	if (!found)
		return told ? "not seen" : "not found";
	if (!told)
		return "only measured";
	if (ratio * AGREEMENT < 1)
		return "smaller than told";
	return ratio > AGREEMENT ? "larger than told" : "agrees";
}

static char *
told_text(int64_t bytes, const char *source, const struct machine *machine, bool is_last)
{
	autofree char *size = machine_size_text(strcmp(source, "measured") == 0 ? 0 : bytes);
	char *text;
	autofree char *most = machine_size_text(machine->package_llc_bytes);

	if (bytes && strcmp(source, "measured") != 0)
		text = rot_format("%s (%s)", size, source);
	else if (is_last && machine->package_llc_bytes)
		text = rot_format("at most %s (the package)", most);
	else
		text = rot_strdup(size);
	return text;
}

static const struct text_table_column columns[] = {
	{"level", true}, {"told", true},    {"measured", false}, {"fits", false},
	{"ns", false},   {"cycles", false}, {"", true},
};

/* Takes told over. */
static void
add_level(struct text_table *table, const char *name, char *told, const struct measured_level *found,
	  const char *verdict)
{
	char *const cells[] = {
		rot_strdup(name),
		told,
		found && found->bytes ? machine_size_text(found->bytes) : rot_strdup("-"),
		found && found->fitting_bytes ? machine_size_text(found->fitting_bytes) : rot_strdup("-"),
		found ? rot_format("%.3g", found->ns) : rot_strdup("-"),
		found && isfinite(found->cycles) ? rot_format("%.3g", found->cycles) : rot_strdup("-"),
		rot_strdup(verdict),
	};

	text_table_add(table, cells);
}

/* Where there were several. */
static void
print_runs(const struct measured_levels *levels, const struct machine *machine, FILE *out)
{
	const size_t nr = levels->last_level.nr_runs;
	const struct residence_size size = size_of_runs(levels, machine);
	const struct measured_run *first = levels->last_level.runs, *last = first + nr - 1;
	autofree char *most = machine_size_text(first[size.most].bytes), *own = machine_size_text(last->bytes);
	autofree char *line = rot_format("%s is the most of %zu runs since %.16s; %zu saw as much, within 15 %%.\n",
					 most, nr, first->when.created, size.nr_agreeing);
	autofree char *less =
		rot_format("Others used it in the last run, of %.16s: it saw %s.\n", last->when.created, own);

	text_print_fitting(line, out);
	if (!levels->last_level.run_doubt[0] &&
	    (double)last->bytes < (1 - RESIDENCE_AGREEMENT) * (double)first[size.most].bytes)
		text_print_fitting(less, out);
}

static void
print_last_level(const struct measured_levels *levels, const struct machine *machine, FILE *out)
{
	autofree char *low = levels->last_level.low_bytes ? machine_size_text(levels->last_level.low_bytes)
							  : rot_strdup("nothing"),
		      *high = machine_size_text(levels->last_level.high_bytes);
	autofree char *between = rot_format("In the last level between %s and %s stayed, from moment to moment in "
					    "%.2g s.\n",
					    low, high, levels->last_level.seconds),
		      *doubt = rot_format("Its size is not sure: %s. The next run looks again.\n",
					  levels->last_level.doubt),
		      *run_doubt =
			      rot_format("The last run could not see its size: %s.\n", levels->last_level.run_doubt);

	if (levels->last_level.high_bytes || levels->last_level.doubt[0] || levels->last_level.run_doubt[0])
		fputc('\n', out);
	if (levels->last_level.high_bytes)
		text_print_fitting(between, out);
	if (levels->last_level.nr_runs > 1)
		print_runs(levels, machine, out);
	if (levels->last_level.doubt[0])
		text_print_fitting(doubt, out);
	else if (levels->last_level.run_doubt[0])
		text_print_fitting(run_doubt, out);
}

void
levels_print(const struct measured_levels *levels, const struct machine *machine, FILE *out)
{
	const struct {
		const char *name;
		int64_t bytes;
		const char *source;
	} caches[] = {{"L1 data", machine->l1_data_bytes, machine->l1_data_source},
		      {"L2", machine->l2_bytes, machine->l2_source},
		      {"last level", machine->llc_bytes, machine->llc_source}};
	struct text_table table = {.columns = columns,
				   .nr_columns = sizeof(columns) / sizeof(columns[0]),
				   .nr_keys = 1,
				   .is_all_shown = true};

	for (int i = 0; i < 3; i++) {
		const struct measured_level *found = measured_level_of(levels, machine, i);
		bool is_told = strcmp(caches[i].source, "measured") != 0;

		add_level(&table, caches[i].name, told_text(caches[i].bytes, caches[i].source, machine, i == 2), found,
			  levels_verdict(is_told ? caches[i].bytes : 0, found));
	}
	if (levels->nr)
		add_level(&table, "memory", rot_strdup("-"), &levels->levels[levels->nr - 1], "");
	text_table_print(&table, out);
	text_table_clear(&table);
	print_last_level(levels, machine, out);
	text_print_fitting(
		"\nmeasured: footprint of which half the accesses miss; of a last level behind L2, the most "
		"of a larger buffer that stayed in any run\n"
		"fits: footprint of which at most a tenth miss\n"
		"ns, cycles: an access that waits for the one before; in memory with its address translation\n"
		"A cache is smaller than told, or not seen, where others use it or a guest gets a part.\n",
		out);
	if (!levels->is_steady)
		text_print_fitting("The chases do not agree, or others disturbed them. Measure again when nothing else "
				   "runs: rot remeasure levels\n",
				   out);
}

static int
measure_levels(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	struct measured_levels levels;

	(void)self;
	(void)output_name;
	if (levels_measure(rot, &levels, NULL, NULL, err) < 0)
		return -1;
	machine_take_measured(rot->machine, &levels);
	levels_print(&levels, rot->machine, stdout);
	return 0;
}

const struct rot_controller levels_controller = {
	.name = "levels",
	.description = "the sizes and latencies of caches and memory, measured, beside what the machine tells",
	.measure = measure_levels,
};
