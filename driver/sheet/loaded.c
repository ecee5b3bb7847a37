/* SPDX-License-Identifier: MIT */
#include "sheet/loaded.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/configuration.h"
#include "base/pool.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"
#include "sheet/on_cpu.h"
#include "statistics/summary.h"

/* ---- what windows say ---- */

/* Where others wanted the CPUs, the load has read less, or the access was longer: those windows are left out. */
#define LEAST_LOAD 0.75
#define LEAST_WINDOWS 4 /* of a half */
#define QUARTILE 25

#define DMI "/sys/firmware/dmi/tables/DMI"
#define NO_DMI                                                                                                         \
	"what the memory modules allow is not known, as this system has no table of them (DMI); the key "              \
	"memoryBandwidth says it: -memoryBandwidth=GB/s"
#define ROOT_KNOWS                                                                                                     \
	"what the memory modules allow is told to root alone (dmidecode -t memory); the key memoryBandwidth says it: " \
	"-memoryBandwidth=GB/s"
#define MORE_THAN_ALLOWED "more than the key memoryBandwidth allows: it is wrong, or caches held some"
#define ONE_CPU "cannot be told: rot may use one CPU alone, so no other one reads"
#define BUSY "cannot be told: others had the CPUs that were to read, or that was to wait"
#define TOO_SMALL "cannot be told: an eighth of the memory that rot may use is no more than caches hold"
#define NO_KNEE "at least: no more could be read"

/* The lower quartile of times and the median of loads of every other window. */
static void
read_half(const struct loaded_level *level, size_t half, double *ns, double *gb_per_s)
{
	double times[LOADED_NR_WINDOWS], loads[LOADED_NR_WINDOWS], most = 0;
	size_t nr = 0;

	for (size_t i = 0; i < level->nr; i++)
		most = fmax(most, level->windows[i].gb_per_s);
	for (size_t i = half; i < level->nr; i += 2) {
		if (level->windows[i].gb_per_s < LEAST_LOAD * most)
			continue;
		times[nr] = level->windows[i].ns;
		loads[nr++] = level->windows[i].gb_per_s;
	}
	*ns = nr < LEAST_WINDOWS ? NAN : statistics_percentile(times, nr, QUARTILE);
	*gb_per_s = nr < LEAST_WINDOWS ? NAN : statistics_percentile(loads, nr, 50);
}

/* Levels in the order of what was read, those that gave enough windows in both halves. */
static void
add_level(struct measured_curve *curve, const struct loaded_level *level)
{
	double ns[2], gb_per_s[2], load;
	size_t at = curve->nr;

	for (size_t half = 0; half < 2; half++)
		read_half(level, half, &ns[half], &gb_per_s[half]);
	load = (gb_per_s[0] + gb_per_s[1]) / 2;
	if (!isfinite(load))
		return;
	for (; at > 0 && curve->at[at - 1] > load; at--) {
		curve->at[at] = curve->at[at - 1];
		curve->cycles[0][at] = curve->cycles[0][at - 1];
		curve->cycles[1][at] = curve->cycles[1][at - 1];
	}
	curve->at[at] = load;
	curve->cycles[0][at] = ns[0];
	curve->cycles[1][at] = ns[1];
	curve->nr++;
}

static void
find_half_more(struct sheet_answer *answer, const struct measured_curve *curve, double alone)
{
	size_t i = 0;

	while (i < curve->nr && fmin(curve->cycles[0][i], curve->cycles[1][i]) < 1.5 * alone)
		i++;
	if (i == 0)
		return;
	answer->confidence = 1;
	if (i < curve->nr) {
		answer->number = (struct sheet_number){curve->at[i], curve->at[i - 1], curve->at[i]};
		return;
	}
	answer->number = (struct sheet_number){curve->at[i - 1], curve->at[i - 1], INFINITY};
	answer->remark = NO_KNEE;
}

void
loaded_conclude(const struct loaded_level levels[LOADED_NR_LEVELS], double allowed, const char *unknown,
		struct loaded *loaded)
{
	struct measured_curve *curve = &loaded->curve;
	struct sheet_answer *answers = loaded->answers;
	size_t last;

	answers[LOADED_ALONE] = sheet_no_answer("memory, alone", "ns", 0);
	answers[LOADED_FULL] = sheet_no_answer("memory, while others read most", "ns", 0);
	answers[LOADED_MOST] = sheet_no_answer("what others read then", "GB/s", 0);
	answers[LOADED_HALF_MORE] = sheet_no_answer("what they read at half more", "GB/s", 0);
	*curve = (struct measured_curve){.parameter = "what others read, GB/s", .unit = "ns"};
	for (size_t i = 0; i < LOADED_NR_LEVELS; i++)
		add_level(curve, &levels[i]);
	for (int i = 0; i < LOADED_NR_ANSWERS; i++)
		answers[i].curve = curve;
	if (curve->nr > 1 && curve->at[0] == 0) {
		last = curve->nr - 1;
		sheet_read_halves(&answers[LOADED_ALONE], curve->cycles[0][0], curve->cycles[1][0]);
		sheet_read_halves(&answers[LOADED_FULL], curve->cycles[0][last], curve->cycles[1][last]);
		answers[LOADED_MOST].number = (struct sheet_number){curve->at[last], curve->at[last], curve->at[last]};
		answers[LOADED_MOST].confidence = answers[LOADED_FULL].confidence;
		find_half_more(&answers[LOADED_HALF_MORE], curve, answers[LOADED_ALONE].number.value);
	}
	for (int i = 0; i < LOADED_NR_ANSWERS; i++) {
		if (!isfinite(answers[i].number.value))
			answers[i].remark = BUSY;
		sheet_judge(&answers[i]);
	}
	/* Few CPUs read less than modules allow. */
	answers[LOADED_MOST].told = allowed;
	if (!answers[LOADED_MOST].remark && !(allowed > 0))
		answers[LOADED_MOST].remark = unknown;
	else if (!answers[LOADED_MOST].remark && answers[LOADED_MOST].number.value > allowed)
		answers[LOADED_MOST].remark = MORE_THAN_ALLOWED;
}

/* ---- measuring ---- */

#define CHUNK 16384   /* that is read between pauses, bytes */
#define ACCESSES 4096 /* of a window: some 0.5 ms */
#define LEAST_BYTES (INT64_C(128) << 20)
#define MOST_BYTES (INT64_C(1) << 30)
#define LEAST_OF_READER (LEAST_BYTES / 4)
#define MOST_READERS 32
#define LEVEL_S 2.0  /* the most for a level: others may have the CPUs of the readers */
#define READY_S 20.0 /* the most until all read: the system may have ended one */

/* Pauses after each chunk; NO_READING: none is read. */
#define NO_READING UINT32_MAX
static const uint32_t pauses[LOADED_NR_LEVELS] = {NO_READING, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 0};

/* Memory that all processes see. */
struct shared {
	atomic_uint pauses;
	atomic_uint nr_ready;
	atomic_bool lacks_memory; /* one of them got none */
	struct loaded_sizes sizes;
	struct loaded_level levels[LOADED_NR_LEVELS];
	struct {
		_Alignas(128) _Atomic uint64_t bytes;
	} read[MOST_READERS];
};

struct reader {
	struct shared *shared;
	unsigned number;
};

static char *
map(struct shared *shared, size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		atomic_store(&shared->lacks_memory, true);
		return NULL;
	}
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

#define READ_CHUNK(load, register, step)                                                                               \
	__asm__ volatile("1:\n" load " (%0), " register "0\n" load " " step                                            \
							"(%0), " register "1\n"                                        \
									  "addq $2*" step                              \
									  ", %0\ncmpq %1, %0\njne 1b\n"                \
			 : "+r"(from)                                                                                  \
			 : "r"(end)                                                                                    \
			 : "xmm0", "xmm1", "cc", "memory")

/* Narrower loads do not reach what memory gives. */
static void
read_chunk(const char *from, bool has_avx)
{
	const char *const end = from + CHUNK;

	if (has_avx)
		READ_CHUNK("vmovdqa", "%%ymm", "32");
	else
		READ_CHUNK("movdqa", "%%xmm", "16");
}

static void
read_always(void *argument)
{
	const struct reader *reader = argument;
	struct shared *shared = reader->shared;
	const bool has_avx = __builtin_cpu_supports("avx");
	const size_t bytes = shared->sizes.reader_bytes;
	char *memory = map(shared, bytes);

	for (size_t i = 0; memory && i < bytes; i += 4096)
		memory[i] = 1;
	atomic_fetch_add(&shared->nr_ready, 1);
	if (!memory)
		return;
	for (size_t at = 0;; at = at + CHUNK < bytes ? at + CHUNK : 0) {
		uint32_t left;

		while ((left = atomic_load_explicit(&shared->pauses, memory_order_relaxed)) == NO_READING)
			__builtin_ia32_pause();
		read_chunk(memory + at, has_avx);
		atomic_fetch_add_explicit(&shared->read[reader->number].bytes, CHUNK, memory_order_relaxed);
		for (; left > 0; left--)
			__builtin_ia32_pause();
	}
}

static uint64_t
bytes_read(const struct shared *shared)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < shared->sizes.nr_readers; i++)
		sum += atomic_load_explicit(&shared->read[i].bytes, memory_order_relaxed);
	return sum;
}

/* Pointers through all lines in one random cycle (Sattolo 1986). */
static void **
link_lines(char *memory, size_t nr)
{
	autofree uint32_t *order = rot_calloc(nr, sizeof(*order));
	uint64_t state = 1;

	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (size_t i = nr - 1; i > 0; i--) {
		uint32_t line = order[i];
		size_t j;

		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		j = (state >> 32) * i >> 32;
		order[i] = order[j];
		order[j] = line;
	}
	for (size_t i = 0; i < nr; i++)
		*(void **)(void *)(memory + 64 * (size_t)order[i]) = memory + 64 * (size_t)order[(i + 1) % nr];
	return (void **)(void *)memory;
}

static void **
follow(void **place)
{
	for (int i = 0; i < ACCESSES; i++)
		__asm__ volatile("movq (%0), %0" : "+r"(place) : : "memory");
	return place;
}

static void
chase(void *argument)
{
	struct shared *shared = argument;
	char *memory = map(shared, 64 * shared->sizes.nr_lines);
	void **place = memory ? link_lines(memory, shared->sizes.nr_lines) : NULL;
	const double begin = clock_now_s();

	while (place && atomic_load(&shared->nr_ready) < shared->sizes.nr_readers && clock_now_s() - begin < READY_S)
		__builtin_ia32_pause();
	for (size_t i = 0; place && i < LOADED_NR_LEVELS; i++) {
		struct loaded_level *level = &shared->levels[i];
		const double start = clock_now_s();

		atomic_store(&shared->pauses, pauses[i]);
		place = follow(place); /* what was read before has ended */
		while (level->nr < LOADED_NR_WINDOWS && clock_now_s() - start < LEVEL_S) {
			const uint64_t bytes = bytes_read(shared);
			const double began = clock_now_s();
			double ns;

			place = follow(place);
			ns = 1e9 * (clock_now_s() - began);
			level->windows[level->nr++] =
				(struct loaded_window){ns / ACCESSES, (double)(bytes_read(shared) - bytes) / ns};
		}
	}
}

/* high, where both cannot be. */
static int64_t
within(int64_t value, int64_t low, int64_t high)
{
	const int64_t raised = value < low ? low : value;

	return raised > high ? high : raised;
}

bool
loaded_choose_sizes(struct loaded_sizes *sizes, const struct machine *machine, size_t nr_cpus)
{
	const int64_t usable = machine_usable_bytes(machine), most = usable > 0 ? usable / 16 : LEAST_BYTES;
	const int64_t bytes = within(within(4 * machine->llc_bytes, LEAST_BYTES, MOST_BYTES), CHUNK, most);
	const int64_t nr_readers = within(most / LEAST_OF_READER, 1, within((int64_t)nr_cpus - 1, 1, MOST_READERS));

	sizes->nr_readers = (unsigned)nr_readers;
	sizes->nr_lines = (size_t)bytes / 64;
	sizes->reader_bytes = (size_t)within(bytes / nr_readers, LEAST_OF_READER, most / nr_readers) / CHUNK * CHUNK;
	return bytes >= 2 * machine->llc_bytes;
}

static int
run(struct shared *shared, const int *cpus, struct rot_error *err)
{
	struct reader readers[MOST_READERS];
	pid_t pids[MOST_READERS] = {0}, chasing = 0;
	unsigned nr = 0;
	int rc = 0;

	atomic_store(&shared->pauses, NO_READING);
	for (; nr < shared->sizes.nr_readers && rc == 0; nr++) {
		readers[nr] = (struct reader){shared, nr};
		pids[nr] = on_cpu_start(cpus[1 + nr], read_always, &readers[nr]);
		rc = pids[nr] < 0 ? -1 : 0;
	}
	if (rc == 0)
		chasing = on_cpu_start(cpus[0], chase, shared);
	rc = rc < 0 || chasing < 0 ? rot_error_set(err, errno, "cannot start a process that reads memory")
				   : on_cpu_await(chasing, "waits for memory", err);
	while (nr-- > 0)
		on_cpu_end(pids[nr]);
	if (rc == 0 && atomic_load(&shared->lacks_memory))
		rc = rot_error_set(err, ENOMEM, "a process that reads memory got too little of it");
	return rc;
}

static int
measure(struct rot *rot, void *measured, struct rot_error *err)
{
	struct loaded *loaded = measured;
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	autofree int *cpus = NULL;
	const size_t nr_cpus = allowed_cpus(&cpus, NULL);
	const char *reason = nr_cpus == 1 ? ONE_CPU : NULL;
	int rc = 0;

	if (shared == MAP_FAILED)
		return rot_error_set(err, errno, "cannot map memory for the latency under load");
	if (!loaded_choose_sizes(&shared->sizes, rot->machine, nr_cpus) && !reason)
		reason = TOO_SMALL;
	if (!reason)
		rc = run(shared, cpus, err);
	loaded_conclude(shared->levels, configuration_double(rot->configuration, "memoryBandwidth"),
			access(DMI, F_OK) == 0 ? ROOT_KNOWS : NO_DMI, loaded);
	for (int i = 0; i < LOADED_NR_ANSWERS && reason; i++)
		loaded->answers[i].remark = reason;
	munmap(shared, sizeof(*shared));
	return rc < 0 ? rot_error_prefix(err, "memory while others read") : 0;
}

/* ---- what is drawn ---- */

static void
draw(const void *measured, const struct sheet_pictures *pictures)
{
	const struct loaded *loaded = measured;
	const struct measured_curve *curve = &loaded->curve;
	const struct sheet_answer *alone = &loaded->answers[LOADED_ALONE], *more = &loaded->answers[LOADED_HALF_MORE];
	autopool pool = {0};
	struct plot_series series[2] = {sheet_curve_series(&pool, curve)};
	struct plot_marker marks[1];
	struct series_plot plot = {.frame = {.title = "Memory while other CPUs read from it",
					     .caption = alone->remark ? alone->remark : "",
					     .x = {curve->parameter, "", false, NAN, NAN},
					     .y = {"time of an access", curve->unit, false, 0, NAN},
					     .markers = marks},
				   .series = series,
				   .nr_series = 1};

	if (isfinite(alone->number.value))
		series[plot.nr_series++] = sheet_cost_line(&pool, 0, curve->at[curve->nr - 1], alone->number.value,
							   pool_format(&pool, "alone: %.3g ns", alone->number.value));
	if (isfinite(more->number.value))
		marks[plot.frame.nr_markers++] = (struct plot_marker){
			more->number.value,
			pool_format(&pool, "%s: %.3g GB/s", more->remark ? "the most" : "half more than alone",
				    more->number.value)};
	sheet_pictures_draw(pictures, "loaded", &plot);
}

const struct sheet_part loaded_part = {
	.heading = "Memory under load",
	.nr_answers = LOADED_NR_ANSWERS,
	.bytes = sizeof(struct loaded),
	.measure = measure,
	.draw = draw,
};
