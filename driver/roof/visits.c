/* SPDX-License-Identifier: MIT */
#include "roof/visits.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/progress.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "rot.h"

/* ---- loads ---- */

/* A linear congruential generator (Knuth's MMIX). Each line of the buffer holds the increment. */
#define FACTOR UINT64_C(6364136223846793005)
#define INCREMENT UINT64_C(1442695040888963407)

/* Each load waits for one of its own chain: fewer chains than the misses that processors have under way at once. */
#define NR_CHAINS 8

/* Lines are fetched without waiting, then loads are timed: in a time slot what others took must come back. */
#define NR_FETCHED 160000
#define NR_LOADS 12000

struct field {
	char *buffer;
	uint64_t nr_pages;     /* a power of two */
	uint64_t page, number; /* of the line that was fetched last */
	uint64_t states[NR_CHAINS];
};

static inline char *
place_of(const struct field *field, uint64_t number, uint64_t page)
{
	return field->buffer + visits_place(number, page);
}

/* Goes on through a line of each page, then through the next ones. An odd step comes to all pages. */
static void
fetch(struct field *field, unsigned part)
{
	field->number %= part;
	for (int i = 0; i < NR_FETCHED; i++) {
		field->page = (field->page + 40503) & (field->nr_pages - 1);
		if (field->page == 0)
			field->number = (field->number + 1) % part;
		__builtin_prefetch(place_of(field, field->number, field->page));
	}
}

/* The next place of a chain needs what the last load gave. */
static uint64_t
next(const struct field *field, uint64_t state, unsigned part)
{
	const uint64_t number = (state >> 20 & 0xfff) * part >> 12, page = state >> 32 & (field->nr_pages - 1);

	return state * FACTOR + *(volatile const uint64_t *)(const void *)place_of(field, number, page);
}

static void
load(struct field *field, unsigned part)
{
	uint64_t states[NR_CHAINS];

	memcpy(states, field->states, sizeof(states));
	for (int i = 0; i < NR_LOADS / NR_CHAINS; i++)
		for (int chain = 0; chain < NR_CHAINS; chain++)
			states[chain] = next(field, states[chain], part);
	memcpy(field->states, states, sizeof(states));
}

/* ---- visits ---- */

#define VISIT_S 0.010    /* of the CPU: what is not in the caches yet comes in, and some loads find all */
#define MAX_S 12.0       /* a busy machine makes fewer visits, */
#define MAX_LEAST_S 25.0 /* for those that are needed */

static double
cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long
nr_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

/* The shortest time of a load, of those that no other program interrupted. */
static double
visit(struct field *field, unsigned part, double until_s)
{
	const double end_s = cpu_s() + VISIT_S;
	double least_s = INFINITY;

	while ((cpu_s() < end_s || isinf(least_s)) && clock_now_s() < until_s) {
		long switches;
		double begin_s;

		fetch(field, part);
		switches = nr_switches();
		begin_s = clock_now_s();
		load(field, part);
		if (nr_switches() == switches)
			least_s = fmin(least_s, clock_now_s() - begin_s);
	}
	return 1e9 * least_s / NR_LOADS;
}

/* On a busy machine fewer than nr, for which there is a share of the time. */
static int
visit_all(struct field *field, size_t nr, struct residence_times *times, struct rot_error *err)
{
	const double begin_s = clock_now_s(), share = (double)(nr - times->nr_visits) / RESIDENCE_MAX_VISITS;
	bool is_complete = true;

	times->begun_s = times->nr_visits ? times->begun_s : begin_s;
	while (times->nr_visits < nr && is_complete) {
		const bool is_enough = times->nr_visits * RESIDENCE_MAX_VISITS >= nr * RESIDENCE_LEAST_VISITS;

		for (size_t i = 0; i < RESIDENCE_NR_PARTS && is_complete; i++) {
			double *ns = &times->ns[times->nr_visits][i];

			if (rot_interrupted())
				return rot_error_set(err, 0, "interrupted");
			*ns = visit(field, residence_parts[i], begin_s + share * (is_enough ? MAX_S : MAX_LEAST_S));
			is_complete = isfinite(*ns);
		}
		times->nr_visits += is_complete;
		times->seconds = clock_now_s() - times->begun_s;
	}
	return 0;
}

static int
measure(size_t nr, struct residence_times *times, struct rot_error *err)
{
	const int64_t bytes = (int64_t)times->buffer_bytes;
	struct field field = {.nr_pages = (uint64_t)bytes / VISITS_PAGE_BYTES};
	cpu_set_t before, own;
	bool is_moved;
	int rc;

	field.buffer = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (field.buffer == MAP_FAILED)
		return rot_error_set(err, errno, "cannot map %lld bytes", (long long)bytes);
	madvise(field.buffer, (size_t)bytes, MADV_HUGEPAGE);
	for (int64_t i = 0; i < bytes; i += VISITS_LINE_BYTES)
		*(uint64_t *)(void *)(field.buffer + i) = INCREMENT;
	for (uint64_t chain = 0; chain < NR_CHAINS; chain++)
		field.states[chain] = (chain + 1) * UINT64_C(0x9e3779b97f4a7c15);
	CPU_ZERO(&own);
	CPU_SET(machine_first_cpu(), &own);
	is_moved = sched_getaffinity(0, sizeof(before), &before) == 0 && sched_setaffinity(0, sizeof(own), &own) == 0;
	rc = visit_all(&field, nr, times, err);
	if (is_moved)
		sched_setaffinity(0, sizeof(before), &before);
	munmap(field.buffer, (size_t)bytes);
	return rc;
}

/* ---- kept ones ---- */

static const char schema[] = "rot.visits/1";

char *
visits_text(const struct residence_times *times, const struct measured_when *when)
{
	json_auto_t *json =
		json_pack("{s:s, s:s, s:s, s:f, s:f, s:[]}", "schema", schema, "created", when->created, "foundOn",
			  when->found_on, "bufferBytes", times->buffer_bytes, "seconds", times->seconds, "ns");

	for (size_t visit = 0; visit < times->nr_visits; visit++) {
		json_t *own = json_array();

		for (size_t i = 0; i < RESIDENCE_NR_PARTS; i++)
			json_array_append_new(own, json_number(times->ns[visit][i]));
		json_array_append_new(json_object_get(json, "ns"), own);
	}
	return json_dumps(json, JSON_INDENT(1));
}

int
visits_parse(const char *text, struct residence_times *times, struct measured_when *when)
{
	json_auto_t *json = json_loads(text, 0, NULL);
	const json_t *visits = json_object_get(json, "ns");

	*times = (struct residence_times){.buffer_bytes = json_number_at(json, "bufferBytes"),
					  .seconds = json_number_at(json, "seconds"),
					  .nr_visits = json_array_size(visits)};
	*when = measured_when_read(json);
	if (strcmp(json_text_at(json, "schema"), schema) != 0 || times->nr_visits > RESIDENCE_MAX_VISITS)
		return -1;
	for (size_t visit = 0; visit < times->nr_visits; visit++)
		for (size_t i = 0; i < RESIDENCE_NR_PARTS; i++) {
			double *ns = &times->ns[visit][i];

			*ns = json_number_value(json_array_get(json_array_get(visits, visit), i));
			if (!(*ns > 0))
				return -1;
		}
	return 0;
}

/* A power of two. */
static int64_t
buffer_bytes(const struct machine *machine, int64_t last_level_bytes)
{
	const int64_t most = machine_usable_bytes(machine) / 4;
	int64_t bytes = INT64_C(16) << 20;

	while (2 * bytes <= most && (bytes < 8 * last_level_bytes || bytes < 64 * machine->l2_bytes))
		bytes *= 2;
	return bytes;
}

static bool
load_kept(const struct rot *rot, const char *path, int64_t bytes, struct visits *visits)
{
	autofree char *text = file_read(path, NULL, NULL), *changes = NULL;
	struct visits kept = *visits;

	if (!text || visits_parse(text, &kept.times, &kept.when) < 0 || kept.times.buffer_bytes < (double)bytes ||
	    kept.times.nr_visits < RESIDENCE_LEAST_VISITS)
		return false;
	changes = measured_changes(&kept.when, rot->machine);
	if (!changes[0])
		*visits = kept;
	return !changes[0];
}

int
visits_make(const struct rot *rot, int64_t last_level_bytes, size_t nr, struct visits *visits, struct rot_error *err)
{
	const int64_t bytes = buffer_bytes(rot->machine, last_level_bytes);
	autofree char *name = machine_file_name(rot->machine),
		      *path = rot_format("%s/visits-%s.json", rot->paths->cache, name), *text = NULL;
	char today[CLOCK_DATE_SIZE];

	if (visits->times.nr_visits == 0)
		visits->are_kept = visits->takes_kept && load_kept(rot, path, bytes, visits);
	if (visits->are_kept)
		return 0;
	if (visits->times.buffer_bytes != (double)bytes)
		visits->times = (struct residence_times){.buffer_bytes = (double)bytes};
	progress_task("looking what stays in the last level of caches");
	if (measure(nr, &visits->times, err) < 0)
		return -1;
	if (nr < RESIDENCE_MAX_VISITS)
		return 0;
	clock_date(today);
	visits->when = measured_on(rot->machine, today);
	text = visits_text(&visits->times, &visits->when);
	return file_write(path, text, strlen(text), false, err);
}
