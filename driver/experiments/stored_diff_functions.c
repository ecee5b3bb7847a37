/* SPDX-License-Identifier: MIT */
/* Which functions of a program take more or less time than before, or do more or less. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/files.h"
#include "base/json.h"
#include "base/titles.h"
#include "experiments/stored_diff.h"
#include "memory.h"
#include "number.h"
#include "quantities/value_text.h"

/* A row is shown whose difference of time would come by chance in one of 20 such comparisons. */
#define LEAST_CONFIDENT 0.05

/* Where only counts differ: the function has that share of the instructions, in one of the results. */
#define LEAST_SHARE 0.01
#define MOST_SHOWN 10

enum { BEFORE, AFTER, NR_SIDES };

/*
 * cpu_s: CPU time of one run; NaN: not known. spread: of its time from run to run, a share; NaN: too few runs tell.
 * What is compared is a share of the time times scale: seconds if both spreads are known, else percent.
 */
struct side {
	const json_t *functions;
	const char *executable;
	double cpu_s, spread, scale, instructions;
};

/* The same function in both; NULL: it is not there. */
struct pair {
	const json_t *places[NR_SIDES];
	struct summary times[NR_SIDES]; /* as scale of its side says */
	struct summary change;
	double seconds[NR_SIDES]; /* CPU time of one run; NaN */
	bool takes_as_long;       /* what differs is its share alone, if that does */
	double p;
	bool is_counted; /* where it is there */
};

/* ---- what the results have ---- */

static double
count_of(const json_t *place, const char *event)
{
	const double count = json_number_at(json_object_get(place, "counts"), event);

	return isnan(count) ? 0 : count;
}

/* Half the interval of the program's time, of that time. */
static double
spread_of(const struct stored_result *result)
{
	const json_t *program = json_array_get(stored_result_points(result), 0), *quantity;
	size_t i;

	json_array_foreach(json_object_get(program, "quantities"), i, quantity) {
		if (strcmp(json_text_at(quantity, "name"), "time") == 0)
			return (json_number_at(quantity, "high") - json_number_at(quantity, "low")) / 2 /
			       json_number_at(quantity, "value");
	}
	return NAN;
}

static struct side
side_of(const struct stored_result *result)
{
	const json_t *all = json_object_get(result->json, "functions"), *place;
	struct side side = {
		.functions = json_object_get(all, "functions"),
		.executable = json_text_at(json_object_get(result->json, "program"), "executable"),
		.cpu_s = json_number_at(all, "cpuTime") / json_number_at(all, "sampledRuns"),
		.spread = spread_of(result),
	};
	size_t i;

	json_array_foreach(side.functions, i, place)
		side.instructions += count_of(place, "instructions");
	return side;
}

/* ---- pairs ---- */

/* A function of one result. file: "": of the program itself, whose file may have another name in the other result. */
struct named {
	const json_t *place;
	const char *file, *symbol;
	double address;
};

static int
compare_keys(const struct named *left, const struct named *right)
{
	int order = strcmp(left->file, right->file);

	if (order == 0)
		order = strcmp(left->symbol, right->symbol);
	/* Without a name its position is all there is. */
	if (order == 0 && !*left->symbol)
		order = (left->address > right->address) - (left->address < right->address);
	return order;
}

static int
compare_named(const void *a, const void *b)
{
	const struct named *left = a, *right = b;
	const int order = compare_keys(left, right);

	return order ? order : (left->address > right->address) - (left->address < right->address);
}

static struct named *
names_of(const struct side *side, size_t *nr)
{
	const char *own = path_name(side->executable);
	struct named *all = rot_calloc(json_array_size(side->functions) + 1, sizeof(*all));
	const json_t *place;
	size_t i;

	*nr = json_array_size(side->functions);
	json_array_foreach(side->functions, i, place) {
		const char *file = function_file(place);

		all[i] = (struct named){place, strcmp(file, own) == 0 ? "" : file, json_text_at(place, "symbol"),
					json_number_at(place, "address")};
	}
	if (*nr > 0)
		qsort(all, *nr, sizeof(*all), compare_named);
	return all;
}

/* Several functions of a name, as static ones, are paired in their order. */
static struct pair *
pairs_of(const struct side sides[NR_SIDES], size_t *nr)
{
	size_t nr_before = 0, nr_after = 0, i = 0, k = 0;
	autofree struct named *before = names_of(&sides[BEFORE], &nr_before);
	autofree struct named *after = names_of(&sides[AFTER], &nr_after);
	struct pair *pairs = rot_calloc(nr_before + nr_after + 1, sizeof(*pairs));

	for (*nr = 0; i < nr_before || k < nr_after; ++*nr) {
		const int order = i == nr_before ? 1 : k == nr_after ? -1 : compare_keys(&before[i], &after[k]);

		if (order <= 0)
			pairs[*nr].places[BEFORE] = before[i++].place;
		if (order >= 0)
			pairs[*nr].places[AFTER] = after[k++].place;
	}
	return pairs;
}

/* ---- changes ---- */

/* Samples that the CPU time is worth: those of a function are such a share of it. */
static double
worth_of(const struct side *side)
{
	const json_t *place;
	size_t i;

	json_array_foreach(side->functions, i, place) {
		if (json_number_at(place, "samples") > 0)
			return round(json_number_at(place, "samples") / json_number_at(place, "share"));
	}
	return 0;
}

/*
 * Both intervals squared and added. Source: Newcombe, "Interval estimation for the difference between independent
 * proportions", Statistics in Medicine 17 (1998), method 10.
 */
static struct summary
change_of(const struct summary *before, const struct summary *after, double *p)
{
	struct summary change = summary_single(after->value - before->value, "share");
	const double below = hypot(after->value - after->low, before->high - before->value);
	const double above = hypot(after->high - after->value, before->value - before->low);

	change.low = change.value - below;
	change.high = change.value + above;
	*p = erfc(1.96 * fabs(change.value) / (change.value > 0 ? below : above) / sqrt(2));
	return change;
}

/*
 * Where one function takes less time, the shares of all others are larger, and on a slower machine all take more
 * seconds. So where the scatter of runs is not known both have to differ.
 */
static void
set_change(struct pair *pair, const struct side sides[NR_SIDES], bool has_noise)
{
	struct summary seconds[NR_SIDES], change;
	double p;

	pair->change = change_of(&pair->times[BEFORE], &pair->times[AFTER], &pair->p);
	for (size_t i = 0; i < NR_SIDES; i++) {
		seconds[i] = summary_scaled(pair->times[i], sides[i].cpu_s / sides[i].scale);
		pair->seconds[i] = seconds[i].value;
	}
	change = change_of(&seconds[BEFORE], &seconds[AFTER], &p);
	pair->takes_as_long = !has_noise && change.low <= 0 && change.high >= 0;
	if (!has_noise && p > pair->p)
		pair->p = p;
}

static bool
has_samples(const struct pair *pair)
{
	return pair->times[BEFORE].value + pair->times[AFTER].value > 0;
}

/* A function that was not executed in a run that was counted has no counts there, as one that is not there. */
static bool
is_counted(const struct pair *pair, const struct side sides[NR_SIDES])
{
	const bool is_any = json_is_object(json_object_get(pair->places[BEFORE], "counts")) ||
			    json_is_object(json_object_get(pair->places[AFTER], "counts"));

	return is_any && sides[BEFORE].instructions > 0 && sides[AFTER].instructions > 0;
}

static void
set_changes(struct pair *pairs, size_t nr, const struct side sides[NR_SIDES], bool has_noise)
{
	const double worth[] = {worth_of(&sides[BEFORE]), worth_of(&sides[AFTER])};
	autofree double *p = rot_calloc(nr + 1, sizeof(*p));

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < NR_SIDES; k++) {
			/*
			 * With the interval of the samples, and of the time from run to run where that is compared. A
			 * function that was not found took less than a few samples stand for.
			 */
			const double samples = pairs[i].places[k] ? json_number_at(pairs[i].places[k], "samples") : 0;
			struct summary time = summary_large_share((size_t)samples, (size_t)worth[k]);
			const double noise = has_noise ? sides[k].spread * time.value : 0;

			time.low = time.value - hypot(time.value - time.low, noise);
			time.high = time.value + hypot(time.high - time.value, noise);
			pairs[i].times[k] = summary_scaled(time, sides[k].scale);
		}
		set_change(&pairs[i], sides, has_noise);
		pairs[i].is_counted = is_counted(&pairs[i], sides);
		p[i] = has_samples(&pairs[i]) ? pairs[i].p : NAN;
	}
	statistics_holm(p, nr);
	for (size_t i = 0; i < nr; i++)
		pairs[i].p = p[i];
}

/* Operations on floating-point numbers. */
static double
operations_of(const json_t *place)
{
	static const char *const events[] = {"scalarDouble", "packedDouble", "scalarSingle", "packedSingle"};
	double sum = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		sum += count_of(place, events[i]);
	return sum;
}

static double
change_of_instructions(const struct pair *pair)
{
	return pair->is_counted
		       ? count_of(pair->places[AFTER], "instructions") - count_of(pair->places[BEFORE], "instructions")
		       : 0;
}

static bool
is_changed(const struct pair *pair, const struct side sides[NR_SIDES])
{
	bool is_large = false;

	for (size_t i = 0; i < NR_SIDES; i++)
		is_large |= count_of(pair->places[i], "instructions") >= LEAST_SHARE * sides[i].instructions &&
			    sides[i].instructions > 0;
	return pair->p <= LEAST_CONFIDENT ||
	       (is_large && pair->is_counted &&
		(change_of_instructions(pair) != 0 ||
		 operations_of(pair->places[BEFORE]) != operations_of(pair->places[AFTER])));
}

/* In seconds, where they are known. */
static double
size_of_change(const struct pair *pair)
{
	const double seconds = pair->seconds[AFTER] - pair->seconds[BEFORE];

	return fabs(isnan(seconds) ? pair->change.value : seconds);
}

/* Most seconds of change first, then most instructions. */
static int
compare_changes(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;
	const double of_left = size_of_change(left), of_right = size_of_change(right);
	const double more = fabs(change_of_instructions(left)), other = fabs(change_of_instructions(right));
	int order = (of_left < of_right) - (of_left > of_right);

	if (order == 0)
		order = (more < other) - (more > other);
	return order ? order
		     : (left->times[BEFORE].value < right->times[BEFORE].value) -
			       (left->times[BEFORE].value > right->times[BEFORE].value);
}

/* ---- rows ---- */

/* ", instructions 100 -> 120, +20 %"; nothing if there are none. */
static void
add_counts(char **text, const char *name, double before, double after)
{
	autofree char *of_before = rot_number_in_full(before), *of_after = rot_number_in_full(after);

	if (before == after && before > 0)
		rot_append(text, "; %s: the same", name);
	else if (before > 0 || after > 0)
		rot_append(text, "; %s: %s -> %s", name, of_before, of_after);
	if (before != after && before > 0 && after > 0)
		rot_append(text, ", %+.3g %%", 100 * (after / before - 1));
}

/* "2 -> 4 s: +2.00 ±0.13 s"; in percent "2 -> 4 s, 20 -> 33.3 % of all: +13.3 ±1.1 %". Fresh memory. */
static char *
times_text(const struct pair *pair, bool has_noise)
{
	const struct summary *times = pair->times, *change = &pair->change;
	autofree char *by = summary_text(change), *text = rot_strdup("");

	if (!isnan(pair->seconds[BEFORE] + pair->seconds[AFTER]))
		rot_append(&text, "%.3g -> %.3g s", pair->seconds[BEFORE], pair->seconds[AFTER]);
	if (!has_noise)
		rot_append(&text, "%s%.3g -> %.3g %% of all", *text ? ", " : "", times[BEFORE].value,
			   times[AFTER].value);
	return rot_format("%s: %s%s %s%s", text, change->value > 0 ? "+" : "", by, has_noise ? "s" : "%",
			  change->low <= 0 && change->high >= 0 ? ", no difference shown"
			  : pair->takes_as_long                 ? ", but as many seconds"
			  : !(pair->p <= LEAST_CONFIDENT)       ? ", or chance"
								: "");
}

static void
print_pair(FILE *out, const struct pair *pair, bool has_noise)
{
	const json_t *before = pair->places[BEFORE], *after = pair->places[AFTER], *place = before ? before : after;
	const char *only = !before ? " (only in the second)" : !after ? " (only in the first)" : "";
	autofree char *name = function_title(place, 0);
	autofree char *title = rot_format("  %s, %s%s\n", name, function_file(place), only);
	autofree char *text = has_samples(pair) ? times_text(pair, has_noise) : rot_strdup("");

	if (pair->is_counted) {
		add_counts(&text, "instructions", count_of(before, "instructions"), count_of(after, "instructions"));
		add_counts(&text, "flop", operations_of(before), operations_of(after));
	}
	text_print_fitting(title, out);
	if (*text)
		text_print_behind("     ", text + strspn(text, "; "), out);
}

void
stored_diff_print_functions(FILE *out, const struct stored_result *first, const struct stored_result *second,
			    bool everything)
{
	struct side sides[] = {side_of(first), side_of(second)};
	const bool has_noise =
		!isnan(sides[BEFORE].spread + sides[AFTER].spread + sides[BEFORE].cpu_s + sides[AFTER].cpu_s);
	size_t nr = 0, nr_changed = 0, nr_shown = 0;
	autofree struct pair *pairs = NULL;
	autofree char *text = NULL;

	if (json_array_size(sides[BEFORE].functions) == 0 || json_array_size(sides[AFTER].functions) == 0)
		return;
	pairs = pairs_of(sides, &nr);
	for (size_t i = 0; i < NR_SIDES; i++)
		sides[i].scale = has_noise ? sides[i].cpu_s : 100;
	set_changes(pairs, nr, sides, has_noise);
	if (nr > 0)
		qsort(pairs, nr, sizeof(*pairs), compare_changes);
	text = rot_strdup("functions");
	if (!isnan(sides[BEFORE].cpu_s + sides[AFTER].cpu_s))
		rot_append(&text, ", CPU time of a run (%.3g -> %.3g s in all)", sides[BEFORE].cpu_s,
			   sides[AFTER].cpu_s);
	rot_append(&text, "%s:\n", has_noise ? "" : "; too few runs for intervals of seconds (6 undisturbed ones)");
	fputc('\n', out);
	text_print_fitting(text, out);
	for (size_t i = 0; i < nr; i++) {
		const bool is_shown = everything || is_changed(&pairs[i], sides);

		nr_changed += is_shown;
		if (!is_shown || (nr_shown == MOST_SHOWN && !everything))
			continue;
		print_pair(out, &pairs[i], has_noise);
		nr_shown++;
	}
	if (nr_changed == 0)
		fputs("  no difference shown\n", out);
	else if (nr_changed > nr_shown)
		fprintf(out, "  %zu more: --all\n", nr_changed - nr_shown);
}
