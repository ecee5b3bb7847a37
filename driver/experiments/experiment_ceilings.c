/* SPDX-License-Identifier: MIT */
/* Ceilings of an experiment: measured, the best kept, and chosen for a roofline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/progress.h"
#include "experiments/experiment_internal.h"
#include "memory.h"
#include "number.h"
#include "quantities/architecture.h"
#include "quantities/vocabulary.h"
#include "roof/roof.h"
#include "rot.h"

/* Is a ceiling of that operation one of a roofline that shows that other one? Either may be NULL or "". */
static bool
is_ceiling_of(const char *operation, const char *shown)
{
	operation = operation ? operation : "";
	shown = shown ? shown : "";
	return strcmp(operation, shown) == 0 ||
	       (strcmp(shown, "flop") == 0 && strcmp(operation, "doublePrecisionFlop") == 0);
}

/*
 * Does a ceiling bound such an access? Loads alone are below the bandwidth of loads, and that of both directions is no
 * bound for them; likewise stores. The border is that of the bytes, "llcRam.read".
 */
static bool
is_of_direction(const char *access, const char *ceiling_border, const char *border)
{
	const char *direction = border ? strchr(border, '.') : NULL;

	if (!direction)
		return true;
	if (strcmp(direction, ".read") == 0)
		return strcmp(access, "load") == 0 || strcmp(access, "random") == 0;
	/* below L1 the bytes of stores are of both directions */
	return strcmp(access, "ntStore") == 0 || (strcmp(access, "store") == 0 && strcmp(ceiling_border, "cpuL1") == 0);
}

static bool
is_bandwidth(const struct ceiling *ceiling)
{
	return ceiling->operation[0] == '\0';
}

/* ---- the roof: peaks that a search found ---- */

void
experiment_use_cpus(struct experiment *experiment, double nr_cpus)
{
	experiment->nr_cpus = fmax(experiment->nr_cpus, nr_cpus);
	for (size_t i = 0; i < experiment->nr_used_cpus; i++)
		if (experiment->used_cpus[i] == nr_cpus)
			return;
	pool_add(&experiment->pool, experiment->used_cpus, experiment->nr_used_cpus) = nr_cpus;
}

void
experiment_set_cpus(struct experiment *experiment, double nr_cpus)
{
	experiment->points[experiment->nr_points - 1].nr_cpus = nr_cpus;
}

/* ---- the unit of time ---- */

/* The clock in which the first roofline shows performance. Never "auto". */
static const char *
clock_shown(const struct experiment *experiment)
{
	const struct experiment_own_plot *plot = experiment_first_roofline(experiment);
	const char *clock = plot ? plot->y.clock : NULL;

	for (size_t i = 0; plot && i < experiment->nr_points; i++) {
		const struct quantity_value *y = experiment_point_value(&experiment->points[i], &plot->y);

		clock = y && y->request.clock ? y->request.clock : clock;
	}
	clock = clock ? clock : configuration_string(experiment->rot->configuration, "clock");
	if (strcmp(clock, "auto") == 0)
		clock = architecture_formula(experiment->rot->architecture, "time", "coreCycles") ? "coreCycles"
												  : "microSeconds";
	return clock;
}

/* A rate is that of one thread where cycles are summed, of peaks as of points. */
static struct peak_estimate
estimate_of(const struct peak *peak, const char *clock)
{
	const struct peak_estimate e = strcmp(clock, "microSeconds") == 0 ? peak->per_second
				       : strcmp(clock, "coreCycles") == 0 ? peak->per_cycle
									  : peak->per_tsc_cycle;
	const double factor = strcmp(clock, "tsc") == 0 ? peak->nr_threads : 1;

	return (struct peak_estimate){e.value * factor, e.low * factor, e.high * factor};
}

/* ---- ceilings of peaks ---- */

#define WITH_FILLS " with fills"

/* A peak in the clock that rooflines show. */
static struct ceiling
line_of(struct pool *pool, const struct peak *peak, const char *clock)
{
	const struct peak_estimate e = estimate_of(peak, clock);
	const double factor = peak_crossing_bytes(peak);
	const bool is_performance = peak->kind == PEAK_PERFORMANCE;
	const struct quantity_word *word = is_performance ? quantity_word_find(WORD_OPERATION, peak->operation) : NULL;
	const char *of = peak->kind == PEAK_BANDWIDTH ? "byte" : word ? word->unit : "operation";

	return (struct ceiling){
		.name = pool_format(pool, "%s%s%s%s", peak->name, factor > 1 ? WITH_FILLS : "",
				    peak->mode[0] ? ", " : "", peak->mode),
		.operation = is_performance ? peak->operation : "",
		.border = is_performance ? "" : peak->border,
		.access = peak->access,
		.instruction_set = peak->instruction_set,
		.unit = pool_format(pool, "%s/%s", of, strcmp(clock, "microSeconds") == 0 ? "s" : "cycle"),
		.value = factor * e.value,
		.low = factor * e.low,
		.high = factor * e.high,
		.n = peak->nr_samples,
		.is_peak = true,
		.nr_threads = peak->nr_threads,
		.peak = peak,
	};
}

/* The first operation that a roofline shows and that there may be peaks of; NULL: none. */
static const char *
operation_shown(const struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->nr_plots; i++) {
		const char *operation = experiment->plots[i].y.operation;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE || !operation)
			continue;
		if (strcmp(operation, "flop") == 0 || strcmp(operation, "doublePrecisionFlop") == 0)
			return "doublePrecisionFlop";
		if (strcmp(operation, "singlePrecisionFlop") == 0)
			return operation;
	}
	return NULL;
}

double
experiment_peak_value(const struct experiment *experiment, const struct peak_wish *wish, const char *clock)
{
	double best = NAN;

	for (size_t i = 0; i < experiment->roof.nr; i++) {
		const struct peak *peak = &experiment->roof.peaks[i];

		if (peak->nr_threads == experiment->nr_roof_threads &&
		    peak_wish_is(wish, peak->operation, peak->border, peak->access, peak->instruction_set))
			best = fmax(best, estimate_of(peak, clock[0] ? clock : "coreCycles").value);
	}
	return best;
}

/* The line of the peaks of so many threads; fresh memory. */
static char *
text_of_roof(const struct experiment *experiment, int nr_threads)
{
	const char *clock = clock_shown(experiment);

	/* Such cycles are summed over threads; those of the time stamp counter go by once for all, as wall time does.
	 */
	return roof_note(&experiment->roof, nr_threads,
			 strcmp(clock, "coreCycles") == 0 || strcmp(clock, "referenceCycles") == 0);
}

/* Are some points bounded by the roof of so many threads? */
static bool
bounds_some(const struct experiment *experiment, int nr_threads)
{
	for (size_t i = 0; i < experiment->nr_used_cpus; i++)
		if (experiment_roof_threads(experiment, experiment->used_cpus[i]) == nr_threads)
			return true;
	return nr_threads == experiment->nr_roof_threads;
}

/* Replaces the roof of the experiment by that of the machine now, with the peaks that derived values name. */
static int
find_roof(struct experiment *experiment, struct rot_error *err)
{
	struct peak_list *roof = &experiment->roof;
	autopool wished = {0};
	struct peak_wish *wishes;
	size_t nr = 0;
	int rc;

	for (size_t i = 0; i < experiment->nr_ceilings; i++) /* those of peaks borrow from the roof */
		if (!experiment->ceilings[i].is_peak)
			experiment->ceilings[nr++] = experiment->ceilings[i];
	experiment->nr_ceilings = nr;
	experiment->nr_lines = 0;
	peak_list_clear(roof);
	progress_enter("roof");
	rc = roof_get(experiment->rot, operation_shown(experiment), roof, err);
	nr = rc < 0 ? 0 : experiment_wishes(&wished, experiment, &wishes);
	if (nr > 0)
		rc = roof_complete(experiment->rot, wishes, nr, roof, err);
	progress_leave();
	return rc;
}

/* The bandwidth that the user tells of the memory modules bounds all bandwidths of memory, in proportion. */
static void
keep_ceiling_of_modules(struct experiment *experiment, const struct peak *peak, const char *clock)
{
	const double modules = 1e9 * configuration_double(experiment->rot->configuration, "memoryBandwidth");
	struct ceiling line;

	if (!(modules > 0) || !peak_is_of_memory(peak))
		return;
	line = line_of(&experiment->pool, peak, clock);
	line.name = "memory modules, as told";
	line.access = CEILING_OF_MODULES;
	line.value = line.low = line.high = estimate_of(peak, clock).value / peak->per_second.value * modules;
	line.n = 0;
	experiment_keep_ceiling(experiment, &line);
}

/* Adds the line of a peak, and the ceiling if a roofline of the experiment shows it. */
static void
add_peak(struct experiment *experiment, const struct peak *peak, const char *clock)
{
	struct pool *pool = &experiment->pool;
	struct peak *random = pool_calloc(pool, 1, sizeof(*random));
	const double line_bytes = (double)rot_facts(experiment->rot)->line_bytes;
	const bool is_latency = peak->kind == PEAK_LATENCY,
		   is_random_access = peak_random_bandwidth(peak, line_bytes, random);
	struct ceiling line = line_of(pool, is_random_access ? random : peak, clock);

	if ((is_latency && !is_random_access) || !isfinite(line.value))
		return;
	if (!is_latency) /* other accesses can be faster, so it bounds nothing */
		experiment->lines[experiment->nr_lines++] = line;
	if (!bounds_some(experiment, line.nr_threads) ||
	    !experiment_wants_ceiling(experiment, line.operation[0] ? line.operation : NULL))
		return;
	if (line.nr_threads != experiment->nr_roof_threads)
		line.name = pool_format(pool, "%s, %d thread%s", line.name, line.nr_threads,
					rot_plural((double)line.nr_threads));
	experiment_keep_ceiling(experiment, &line);
	if (line.nr_threads == experiment->nr_roof_threads)
		keep_ceiling_of_modules(experiment, peak, clock);
}

int
experiment_add_default_peaks(struct experiment *experiment, struct rot_error *err)
{
	struct peak_list *roof = &experiment->roof;
	struct pool *pool = &experiment->pool;
	const char *clock;

	if (find_roof(experiment, err) < 0)
		return -1;
	clock = clock_shown(experiment);
	experiment->nr_roof_threads = roof_nr_threads(roof, experiment->nr_cpus);
	experiment->lines = pool_calloc(pool, roof->nr, sizeof(*experiment->lines));
	for (size_t i = 0; i < roof->nr; i++)
		add_peak(experiment, &roof->peaks[i], clock);
	experiment->roof_note =
		roof->nr ? pool_own(pool, text_of_roof(experiment, experiment->nr_roof_threads), free) : NULL;
	return 0;
}

int
experiment_roof_threads(const struct experiment *experiment, double nr_cpus)
{
	return roof_nr_threads(&experiment->roof, nr_cpus);
}

const struct ceiling *
experiment_bounding_peak(const struct experiment *experiment, const char *operation, const char *border, int nr_threads)
{
	autofree const struct ceiling **lines = rot_calloc(experiment->nr_lines + 1, sizeof(*lines));
	const size_t length = border ? strcspn(border, ".") : 0;
	size_t nr = 0;

	for (size_t i = 0; i < experiment->nr_lines; i++) {
		const struct ceiling *line = &experiment->lines[i];
		const bool is_of = operation ? !is_bandwidth(line) && is_ceiling_of(line->operation, operation)
					     : is_bandwidth(line) && strlen(line->border) == length &&
						       strncmp(line->border, border, length) == 0 &&
						       is_of_direction(line->access, line->border, border);

		if (line->nr_threads == nr_threads && is_of)
			lines[nr++] = line;
	}
	return nr ? lines[experiment_bounding_line(lines, nr)] : NULL;
}

struct summary
experiment_roof_value(const struct experiment *experiment, const char *operation, const char *border, int nr_threads)
{
	const struct ceiling *line = experiment_bounding_peak(experiment, operation, border, nr_threads);
	const struct peak_estimate *e = line ? &line->peak->per_second : NULL;
	const double factor = line ? peak_crossing_bytes(line->peak) : NAN;
	struct summary summary = summary_single(line ? factor * e->value : NAN, "quantile");

	summary.low = line ? factor * e->low : NAN;
	summary.high = line ? factor * e->high : NAN;
	return summary;
}

/* ---- all ceilings, and which of them a roofline shows ---- */

/* So many of the performances that are found are shown, each at most this share of the one above. */
#define MAX_PERFORMANCES 5
#define CLEARLY_LESS 0.7

bool
ceiling_is_told(const struct ceiling *ceiling)
{
	return strcmp(ceiling->access, CEILING_OF_MODULES) == 0;
}

bool
ceiling_is_least(const struct ceiling *ceiling)
{
	return ceiling->is_peak && !isfinite(ceiling->low);
}

bool
experiment_wants_ceiling(const struct experiment *experiment, const char *operation)
{
	bool has_roofline = false;

	for (size_t i = 0; i < experiment->nr_plots; i++) {
		const char *shown = experiment->plots[i].y.operation;

		if (experiment->plots[i].plot.kind != EXPERIMENT_ROOFLINE)
			continue;
		has_roofline = true;
		/* A page has a view of each precision. */
		if (operation && (is_ceiling_of(operation, shown) ||
				  (experiment->plots[i].plot.has_views && shown && strcmp(shown, "flop") == 0 &&
				   strcmp(operation, "singlePrecisionFlop") == 0)))
			return true;
	}
	return !has_roofline || !operation;
}

void
experiment_keep_ceiling(struct experiment *experiment, const struct ceiling *ceiling)
{
	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		struct ceiling *known = &experiment->ceilings[i];

		if (strcmp(known->name, ceiling->name) != 0 || strcmp(known->operation, ceiling->operation) != 0)
			continue;
		if (ceiling->value > known->value)
			*known = *ceiling;
		return;
	}
	pool_add(&experiment->pool, experiment->ceilings, experiment->nr_ceilings) = *ceiling;
}

int
experiment_add_ceiling(struct experiment *experiment, const char *name, const char *operation, const char *border,
		       double work, const struct measurement *measurement, int nr_runs, struct rot_error *err)
{
	const struct experiment_own_plot *roofline = experiment_first_roofline(experiment);
	const struct quantity_request request = {
		.name = operation ? "performance" : "throughput",
		.operation = operation,
		.border = border,
		.clock = roofline ? roofline->y.clock : NULL,
		.given_operations = operation ? work : 0,
		.given_bytes = operation ? 0 : work,
	};
	struct configuration *configuration = experiment->rot->configuration;
	struct pool *pool = &experiment->pool;
	struct quantity_value value;
	double best;
	int rc;

	if (!(work > 0) || isinf(work))
		return rot_error_set(err, 0, "ceiling '%s': work of %g per run", name, work);
	progress_point();
	/* Compiler flags are tried on what is measured, not on what it is compared with. */
	configuration_push(configuration);
	configuration_set(configuration, CONFIGURATION_COMMAND_LINE, "optimization", "", NULL);
	rc = quantities_measure(experiment->rot, measurement, &request, 1, nr_runs, &value, experiment->origin, err);
	configuration_pop(configuration);
	if (rc < 0)
		return rot_interrupted() ? -1 : rot_error_prefix(err, "ceiling '%s'", name);
	best = quantity_best_run(&value);
	if (isfinite(best))
		experiment_keep_ceiling(experiment, &(struct ceiling){
							    .name = pool_strdup(pool, name),
							    .operation = pool_strdup(pool, operation),
							    .border = pool_strdup(pool, border),
							    .access = "",
							    .instruction_set = "",
							    .unit = pool_strdup(pool, value.unit),
							    .value = best,
							    .low = NAN,
							    .high = NAN,
							    .median = value.summary.value,
							    .n = value.summary.n,
						    });
	else
		rot_warning("the ceiling '%s' is left out: no time was counted in any of its runs", name);
	quantity_value_clear(&value);
	return 0;
}

static int
higher_first(const void *a, const void *b)
{
	const struct ceiling *const *x = a, *const *y = b;

	return ((*x)->value < (*y)->value) - ((*x)->value > (*y)->value);
}

static bool
belongs_to(const struct ceiling *ceiling, const struct experiment_own_plot *plot)
{
	return is_bandwidth(ceiling)
		       ? !ceiling->is_peak || is_of_direction(ceiling->access, ceiling->border, plot->x.border)
		       : is_ceiling_of(ceiling->operation, plot->y.operation);
}

/* True if both are of the same machine, and of as many threads. */
static bool
are_of_one_roof(const struct ceiling *a, const struct ceiling *b)
{
	return a->machine == b->machine && a->nr_threads == b->nr_threads;
}

/* Do both bound the same, border or operation? */
static bool
are_alike(const struct ceiling *a, const struct ceiling *b)
{
	return are_of_one_roof(a, b) && ceiling_is_told(a) == ceiling_is_told(b) &&
	       is_bandwidth(a) == is_bandwidth(b) && strcmp(a->border, b->border) == 0;
}

/* Ceilings kept so far for a plot; the highest come first. */
struct kept_ceilings {
	const struct ceiling **items;
	size_t nr;
};

/* Is there one of the same direction and machine, and of the border (NULL: any), not above value? */
static bool
has_kept(const struct kept_ceilings *kept, const struct ceiling *of, const char *border, double value)
{
	for (size_t i = 0; i < kept->nr; i++) {
		const struct ceiling *other = kept->items[i];

		if (is_bandwidth(other) == is_bandwidth(of) && are_of_one_roof(other, of) && other->value < value &&
		    !ceiling_is_told(other) && (!border || strcmp(other->border, border) == 0))
			return true;
	}
	return false;
}

static size_t
nr_kept_performances(const struct kept_ceilings *kept, const struct ceiling *of)
{
	size_t nr = 0;

	for (size_t i = 0; i < kept->nr; i++)
		nr += !is_bandwidth(kept->items[i]) && are_of_one_roof(kept->items[i], of);
	return nr;
}

static bool
is_access(const struct ceiling *peak, const char *access)
{
	return peak->is_peak && strcmp(peak->access, access) == 0;
}

static bool
has_load(const struct ceiling *const *all, size_t nr, const struct ceiling *of)
{
	for (size_t i = 0; i < nr; i++)
		if (is_access(all[i], "load") && are_of_one_roof(all[i], of) && strcmp(all[i]->border, of->border) == 0)
			return true;
	return false;
}

/* The lower, the more readers know it. */
static int
rank(const char *access)
{
	static const char *const known[] = {"load",    "copy",    "store", "ntStore", "FMA",
					    "FMA_ADD", "MUL_ADD", "ADD",   "MUL"};
	int i = 0;

	while (i < (int)(sizeof(known) / sizeof(*known)) && strcmp(known[i], access) != 0)
		i++;
	return i;
}

/* Is it the best known performance of its instruction set? */
static bool
is_best_known(const struct ceiling *peak, const struct ceiling *const *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i]->is_peak && !is_bandwidth(all[i]) && are_of_one_roof(all[i], peak) &&
		    strcmp(all[i]->instruction_set, peak->instruction_set) == 0 &&
		    rank(all[i]->access) < rank(peak->access))
			return false;
	return true;
}

static bool
is_of_own_border(const struct experiment_own_plot *plot, const struct ceiling *ceiling)
{
	const char *border = plot->x.border ? plot->x.border : "";

	return ceiling->border[0] && strncmp(border, ceiling->border, strlen(ceiling->border)) == 0;
}

/*
 * Few of many peaks matter. Performances: the highest, and the best known one of each instruction set, as long as they
 * are clearly apart. Bandwidths: at the border that the plot counts, the highest and that of random access; at each
 * border that of loads, as most programs load.
 */
static bool
does_matter(const struct ceiling *peak, const struct kept_ceilings *kept, const struct ceiling *const *all, size_t nr,
	    const struct experiment_own_plot *plot)
{
	if (!is_bandwidth(peak))
		return nr_kept_performances(kept, peak) == 0 ||
		       (nr_kept_performances(kept, peak) < MAX_PERFORMANCES && is_best_known(peak, all, nr) &&
			!has_kept(kept, peak, NULL, peak->value / CLEARLY_LESS));
	if (is_access(peak, "random") || ceiling_is_told(peak))
		return is_of_own_border(plot, peak);
	return is_access(peak, "load") || (!has_kept(kept, peak, peak->border, INFINITY) &&
					   (is_of_own_border(plot, peak) || !has_load(all, nr, peak)));
}

/* ---- the line that is named ---- */

static double
width_of(const struct ceiling *line)
{
	const double width = (line->high - line->low) / line->value;

	return isfinite(width) ? width : INFINITY;
}

/* A line without an interval is where its value is. */
static bool
overlap(const struct ceiling *a, const struct ceiling *b)
{
	return fmin(a->low, a->value) <= fmax(b->high, b->value) && fmin(b->low, b->value) <= fmax(a->high, a->value);
}

size_t
experiment_bounding_line(const struct ceiling *const *lines, size_t nr)
{
	double highest = -INFINITY;
	size_t top = SIZE_MAX, best;

	for (size_t i = 0; i < nr; i++)
		highest = fmax(highest, lines[i]->value);
	for (size_t i = 0; i < nr; i++) {
		const int order = top == SIZE_MAX ? -1 : rank(lines[i]->access) - rank(lines[top]->access);

		if (lines[i]->value >= ROOF_NEARLY_THE_SAME * highest &&
		    (order < 0 || (order == 0 && lines[i]->value > lines[top]->value)))
			top = i;
	}
	best = top;
	for (size_t i = 0; i < nr; i++)
		if (lines[i]->value >= ROOF_NEARLY_THE_SAME * highest &&
		    rank(lines[i]->access) == rank(lines[top]->access) && overlap(lines[i], lines[top]) &&
		    width_of(lines[i]) < width_of(lines[best]))
			best = i;
	return best;
}

/* The ceiling that is named for those like it, among that one and those behind it, which are not higher. */
static size_t
named_for(const struct ceiling *const *all, size_t nr, size_t from)
{
	autofree const struct ceiling **lines = rot_calloc(nr, sizeof(*lines));
	size_t nr_lines = 0, i = 0;

	for (size_t k = from; k < nr; k++)
		if (are_alike(all[k], all[from]))
			lines[nr_lines++] = all[k];
	nr_lines = experiment_bounding_line(lines, nr_lines);
	while (all[i] != lines[nr_lines])
		i++;
	return i;
}

bool
experiment_is_main_ceiling(const struct experiment_own_plot *plot, const struct ceiling *const *ceilings, size_t nr,
			   size_t i)
{
	size_t first = 0;

	if (ceiling_is_told(ceilings[i]))
		return false;
	while (!are_alike(ceilings[first], ceilings[i]))
		first++;
	if (is_bandwidth(ceilings[i]) && (!is_of_own_border(plot, ceilings[i]) || !ceilings[i]->is_peak))
		return is_of_own_border(plot, ceilings[i]);
	return named_for(ceilings, nr, first) == i;
}

/* ---- roofs of several numbers of threads ---- */

/* The plot's points that are of this roof; all, where that is not known. */
static bool
bounds_shown_points(const struct experiment *experiment, const struct experiment_own_plot *plot, int nr_threads)
{
	bool shows = true;

	for (size_t i = 0; i < experiment->nr_points; i++) {
		const struct experiment_point *point = &experiment->points[i];

		if (experiment->roof.nr == 0 || !(point->nr_cpus > 0))
			return true;
		if (experiment_shows(plot->plot.condition, point->json, &shows, NULL) == 0 && shows &&
		    experiment_roof_threads(experiment, point->nr_cpus) == nr_threads)
			return true;
	}
	/* Rooflines show functions of programs beside the points. */
	for (size_t i = 0; i < experiment->nr_functions; i++) {
		const struct experiment_point *function = &experiment->functions[i];

		if (experiment_is_loop(function->result) == plot->plot.shows_loops &&
		    experiment_point_value(function, &plot->x) &&
		    experiment_roof_threads(experiment, function->nr_cpus) == nr_threads)
			return true;
	}
	return experiment->nr_points == 0;
}

/* The most threads of a roof of that machine. */
static int
most_threads(const struct ceiling *const *all, size_t nr, size_t machine)
{
	int most = 0;

	for (size_t i = 0; i < nr; i++)
		if (all[i]->machine == machine && all[i]->nr_threads > most)
			most = all[i]->nr_threads;
	return most;
}

/* Is it of a lesser roof, whose lines that bound are no others than those of the highest one? */
static bool
says_nothing_new(const struct ceiling *const *kept, size_t nr, size_t i)
{
	const int most = most_threads(kept, nr, kept[i]->machine);
	size_t nr_own = 0, nr_near = 0;

	for (size_t a = 0; a < nr; a++) {
		bool is_near = false;

		if (!are_of_one_roof(kept[a], kept[i]))
			continue;
		for (size_t b = 0; b < nr; b++)
			is_near = is_near || (kept[b]->machine == kept[a]->machine && kept[b]->nr_threads == most &&
					      strcmp(kept[b]->border, kept[a]->border) == 0 &&
					      kept[a]->value > ROOF_NEARLY_THE_SAME * kept[b]->value &&
					      kept[b]->value > ROOF_NEARLY_THE_SAME * kept[a]->value);
		nr_own++;
		nr_near += is_near;
	}
	return kept[i]->nr_threads > 0 && kept[i]->nr_threads < most && nr_own == nr_near;
}

char *
experiment_roof_text(const struct experiment *experiment, const struct experiment_own_plot *plot)
{
	autofree const struct ceiling **shown = NULL;
	const size_t nr = experiment_ceilings_of(experiment, plot, &shown);
	const int most = experiment->nr_stored_machines > 1 ? 0 : most_threads(shown, nr, 0);
	char *text = most == 0 ? rot_strdup("") : text_of_roof(experiment, most);
	bool has_fills = false; /* above loads */

	for (int t = most - 1; t > 0; t--) {
		bool is_there = false;

		for (size_t i = 0; i < nr; i++)
			is_there = is_there || shown[i]->nr_threads == t;
		if (!is_there)
			continue;
		rot_append(&text, "; dashed: of %d thread%s", t, rot_plural((double)t));
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; strstr(shown[i]->name, WITH_FILLS) && k < nr; k++)
			has_fills |= strcmp(shown[k]->access, "load") == 0 &&
				     strcmp(shown[k]->border, shown[i]->border) == 0 &&
				     shown[k]->nr_threads == shown[i]->nr_threads && shown[k]->value < shown[i]->value;
	if (has_fills)
		rot_append(
			&text,
			"%swith fills: each stored line is loaded first and both ways count, so it can be above loads",
			*text ? "\n" : "");
	return text;
}

size_t
experiment_ceilings_of(const struct experiment *experiment, const struct experiment_own_plot *plot,
		       const struct ceiling ***ceilings)
{
	const struct ceiling **all = rot_calloc(experiment->nr_ceilings + 1, sizeof(*all));
	autofree const struct ceiling **items = rot_calloc(experiment->nr_ceilings + 1, sizeof(*items));
	struct kept_ceilings kept = {items, 0};
	size_t nr = 0, nr_new = 0;

	for (size_t i = 0; i < experiment->nr_ceilings; i++) {
		const struct ceiling *ceiling = &experiment->ceilings[i];

		if (belongs_to(ceiling, plot) &&
		    (ceiling->nr_threads == 0 || bounds_shown_points(experiment, plot, ceiling->nr_threads)))
			all[nr++] = ceiling;
	}
	qsort(all, nr, sizeof(*all), higher_first);
	for (size_t i = 0; i < nr; i++) {
		const struct ceiling *ceiling = all[i];

		if (ceiling->nr_threads > 0 && ceiling->nr_threads < most_threads(all, nr, ceiling->machine)) {
			/* The line that bounds, the highest of its kind. Each machine has a roof of its own. */
			if (experiment->nr_stored_machines <= 1 &&
			    !has_kept(&kept, ceiling, ceiling->border, INFINITY) &&
			    (!is_bandwidth(ceiling) || is_of_own_border(plot, ceiling)))
				kept.items[kept.nr++] = all[named_for(all, nr, i)];
		} else if (plot->plot.has_all_peaks) {
			kept.items[kept.nr++] = ceiling;
		} else if (!has_kept(&kept, ceiling, NULL, ceiling->value / ROOF_NEARLY_THE_SAME) &&
			   (!ceiling->is_peak || does_matter(ceiling, &kept, all, nr, plot))) {
			kept.items[kept.nr++] = ceiling->is_peak && !is_access(ceiling, "random")
							? all[named_for(all, nr, i)]
							: ceiling;
		}
	}
	for (size_t i = 0; i < kept.nr; i++)
		if (!says_nothing_new(kept.items, kept.nr, i))
			all[nr_new++] = kept.items[i];
	*ceilings = all;
	return nr_new;
}
