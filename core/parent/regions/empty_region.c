/* SPDX-License-Identifier: MIT */
/*
 * See empty_region.h. A region has at least one instruction, so there are two, of 1 and of 17 no-operations: what an
 * instruction counts is taken off what the first one counts.
 */
#include "parent/regions/empty_region.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ProgramCommand.h"
#include "ProgramCommandOutput.h"
#include "ProgramRunOutput.h"
#include "Region.h"
#include "RegionService.h"
#include "common/clock.h"
#include "entity.h"
#include "memory.h"
#include "parent/breakpoints/image.h"
#include "parent/regions/regions.h"
#include "parent/tracer/launch.h"
#include "parent/tracer/tracer.h"

#define NR_ROUNDS 50
#define HITS_A_ROUND 20
#define NR_HITS (NR_ROUNDS * HITS_A_ROUND)
#define NR_REGIONS 2

/* Instructions that the second region has more than the first. */
#define MORE_INSTRUCTIONS 16

#define REGION(name, instructions)                                                                                     \
	__asm__(".pushsection .text\n"                                                                                 \
		".p2align 6\n"                                                                                         \
		".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n" instructions               \
		".globl " name "_end\n.hidden " name "_end\n" name "_end:\nret\n"                                      \
		".size " name ", . - " name "\n"                                                                       \
		".popsection")

REGION("empty_region_short", "nop\n");
REGION("empty_region_long", "nop\n.rept 16\nnop\n.endr\n");
REGION("empty_region_unobserved", "nop\n");

void empty_region_short(void);
void empty_region_long(void);
void empty_region_unobserved(void);
extern const char empty_region_short_end[], empty_region_long_end[];

/* Shared with the process: how long each round took. */
struct rounds {
	uint64_t observed_ns[NR_ROUNDS], unobserved_ns[NR_ROUNDS];
};

/* One hit. */
struct measured {
	uint64_t time_ns;
	struct perf_counts counts;
};

struct listened {
	struct measured *hits;
	size_t nr;
};

struct trial {
	const struct counting *counting;
	struct tracer tracer;
	struct images images;
	struct regions *regions;
	struct counts counts;
	struct listened listened[NR_REGIONS];
	bool is_ready;
	char *refusal; /* why it was not observed, or NULL */
	struct rot_error *err;
};

/* ---- the process ---- */

static uint64_t
time_calls(void (*region)(void))
{
	uint64_t begin_ns = clock_raw_ns();

	for (int i = 0; i < HITS_A_ROUND; i++)
		region();
	return clock_raw_ns() - begin_ns;
}

static struct launch_failure
become(void *context)
{
	struct rounds *rounds = context;

	for (int i = 0; i < NR_ROUNDS; i++) {
		rounds->observed_ns[i] = time_calls(empty_region_short);
		rounds->unobserved_ns[i] = time_calls(empty_region_unobserved);
	}
	for (int i = 0; i < NR_HITS; i++)
		empty_region_long();
	_exit(0);
}

/* ---- where its regions are ---- */

static uint64_t
file_offset_of(uint64_t address)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[8192];
	unsigned long start, end, offset, found = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && address >= start && address < end)
			found = address - start + offset;
	if (file)
		fclose(file);
	return found;
}

static struct region_point
point_at(uint64_t address, bool begins)
{
	return (struct region_point){.kind = FRAMES_FUNCTION,
				     .address = address,
				     .file = rot_strdup("/proc/self/exe"),
				     .file_offset = file_offset_of(address),
				     .text = rot_strdup("empty region"),
				     .begins = begins,
				     .ends = !begins,
				     .condition = CODE_ALWAYS};
}

static int
find_trial_region(void *context, pid_t pid, const struct region *region, struct region_points *points,
		  struct rot_error *err)
{
	bool is_short = strcmp(region->name, "short") == 0;
	uint64_t begin = (uint64_t)(is_short ? empty_region_short : empty_region_long);
	uint64_t end = (uint64_t)(is_short ? empty_region_short_end : empty_region_long_end);

	(void)context;
	(void)pid;
	(void)err;
	points->nr = 2;
	points->points = rot_calloc(points->nr, sizeof(*points->points));
	points->points[0] = point_at(begin, true);
	points->points[1] = point_at(end, false);
	return 0;
}

static struct program_command *
command_of(const char *backend)
{
	static const char *const names[NR_REGIONS] = {"short", "long"};
	struct program_command *command = program_command_new();

	rot_string_set(&command->region_backend, backend);
	for (size_t i = 0; i < NR_REGIONS; i++) {
		struct region *region = region_new();

		rot_string_set(&region->name, names[i]);
		program_command_regions_add(command, region);
	}
	return command;
}

/* ---- following it ---- */

static void
listen(void *context, uint64_t time_ns, const struct perf_counts *counts)
{
	struct listened *listened = context;
	struct measured *hit;

	if (listened->nr == NR_HITS)
		return;
	hit = &listened->hits[listened->nr++];
	hit->time_ns = time_ns;
	if (counts)
		hit->counts = *counts;
}

static void
on_started(void *context, struct thread *thread)
{
	struct trial *trial = context;

	images_started(&trial->images, thread);
	counts_begin(&trial->counts, trial->counting, PERF_HEIRS_NONE, PERF_BEGIN_NOW, thread->tid, trial->err);
	regions_thread_started(trial->regions, thread, &trial->counts);
}

static void
on_exited(void *context, struct thread *thread)
{
	struct trial *trial = context;
	struct rot_error err;

	regions_thread_leaves(trial->regions, thread);
	counts_end(&trial->counts, &err);
	images_exited(&trial->images, thread);
}

static enum tracer_answer
on_stop(void *context, const struct tracer_stop *stop)
{
	struct trial *trial = context;
	enum tracer_answer answer = images_stopped(&trial->images, stop);

	if (answer == TRACER_DELIVER && !trial->is_ready && stop->signal == 0) {
		trial->is_ready = true;
		regions_resolve(trial->regions, stop->thread);
	}
	return answer == TRACER_DELIVER ? regions_stopped(trial->regions, stop) : answer;
}

/* Until it has ended, or is ready. */
static void
follow(struct trial *trial, pid_t pid, bool is_ready)
{
	struct report report = {.tid = pid};

	while (trial->is_ready == is_ready && waitpid(pid, &report.status, __WALL) == pid) {
		report.time_ns = clock_raw_ns();
		if (tracer_handle(&trial->tracer, &report))
			return;
	}
}

static void
prepare_trial(struct trial *trial, const struct program_command *command, const struct frames_listener *listeners)
{
	const struct regions_setup setup = {.command = command,
					    .counting = trial->counting,
					    .tracer = &trial->tracer,
					    .find = find_trial_region,
					    .listeners = listeners};

	trial->tracer.started = on_started;
	trial->tracer.exited = on_exited;
	trial->tracer.stopped = on_stop;
	trial->tracer.context = trial;
	trial->images = (struct images){.tracer = &trial->tracer};
	trial->regions = regions_new(&setup);
}

/* Takes why a backend could not serve. Empties the regions. */
static char *
take_refusal(struct regions *regions)
{
	struct program_run_output *run = program_run_output_new();
	struct program_command_output *output = program_command_output_new();
	const struct region_service *service;
	char *refusal = NULL;

	regions_output(regions, run, output);
	service = program_command_output_region_services_at(output, 0);
	if (service->refusals.nr > 0)
		refusal = rot_strdup(region_service_refusals_at(service, 0));
	rot_graph_delete(run);
	rot_graph_delete(output);
	return refusal;
}

static int
run_rounds(struct trial *trial, struct rounds *rounds, const char *backend, struct rot_error *err)
{
	const struct frames_listener listeners[NR_REGIONS] = {{listen, &trial->listened[0]},
							      {listen, &trial->listened[1]}};
	struct program_command *command = command_of(backend);
	struct launch launch = LAUNCH_NONE;
	int rc = launch_fork(&launch, become, rounds, err);

	trial->err = err;
	prepare_trial(trial, command, listeners);
	trial->tracer.program = launch.pid;
	if (rc == 0)
		rc = tracer_attach(&trial->tracer, err);
	if (rc == 0) {
		ptrace(PTRACE_INTERRUPT, launch.pid, NULL, NULL);
		follow(trial, launch.pid, false);
		launch_go(&launch);
		follow(trial, launch.pid, true);
	}
	if (launch.pid > 0 && (trial->tracer.threads.nr > 0 || rc < 0)) {
		kill(launch.pid, SIGKILL);
		while (waitpid(launch.pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	trial->refusal = take_refusal(trial->regions);
	regions_delete(trial->regions);
	images_clear(&trial->images);
	tracer_clear(&trial->tracer);
	launch_clear(&launch);
	rot_graph_delete(command);
	return rc;
}

/* ---- results ---- */

static int
compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts values. */
static uint64_t
median(uint64_t *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_times);
	return values[nr / 2];
}

/* The median of the field at offset bytes of struct measured. */
static uint64_t
median_of(const struct listened *listened, size_t offset)
{
	uint64_t values[NR_HITS];

	for (size_t i = 0; i < listened->nr; i++)
		memcpy(&values[i], (const char *)&listened->hits[i] + offset, sizeof(values[i]));
	return median(values, listened->nr);
}

/* The count of an event in a region without any instruction. */
static uint64_t
extrapolate(const struct listened listened[NR_REGIONS], size_t event)
{
	size_t offset = offsetof(struct measured, counts.values) + event * sizeof(uint64_t);
	uint64_t of_short = median_of(&listened[0], offset), of_long = median_of(&listened[1], offset);
	uint64_t of_one = of_long > of_short ? (of_long - of_short + MORE_INSTRUCTIONS / 2) / MORE_INSTRUCTIONS : 0;

	return of_short > of_one ? of_short - of_one : 0;
}

static struct empty_region_output *
output_of(const struct trial *trial, struct rounds *rounds, const char *backend)
{
	struct empty_region_output *output = empty_region_output_new();
	struct counts counts = {0};
	uint64_t observed_ns = median(rounds->observed_ns, NR_ROUNDS);
	uint64_t unobserved_ns = median(rounds->unobserved_ns, NR_ROUNDS);

	rot_string_set(&output->backend, backend);
	output->hits = (int64_t)trial->listened[0].nr;
	output->time = median_of(&trial->listened[0], offsetof(struct measured, time_ns));
	output->cost = observed_ns > unobserved_ns ? (observed_ns - unobserved_ns) / HITS_A_ROUND : 0;
	counts.sum.enabled_ns = counts.sum.running_ns = output->time;
	for (size_t i = 0; i < PERF_MAX_EVENTS; i++)
		counts.sum.values[i] = extrapolate(trial->listened, i);
	output->counts = counts_output(&counts, trial->counting);
	return output;
}

struct empty_region_output *
empty_region_measure(const struct counting *counting, const char *backend, struct rot_error *err)
{
	autofree struct trial *trial = rot_calloc(1, sizeof(*trial));
	struct rounds *rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct empty_region_output *output = NULL;

	*trial = (struct trial){.counting = counting};
	for (size_t i = 0; i < NR_REGIONS; i++)
		trial->listened[i].hits = rot_calloc(NR_HITS, sizeof(*trial->listened[i].hits));
	if (rounds == MAP_FAILED)
		rot_error_set(err, errno, "cannot share memory with a process");
	else if (run_rounds(trial, rounds, backend, err) == 0) {
		if (trial->listened[0].nr > 0 && trial->listened[1].nr > 0)
			output = output_of(trial, rounds, backend);
		else
			rot_error_set(err, 0, "%s", trial->refusal ? trial->refusal : "it was not observed");
	}
	if (rounds != MAP_FAILED)
		munmap(rounds, sizeof(*rounds));
	for (size_t i = 0; i < NR_REGIONS; i++)
		free(trial->listened[i].hits);
	free(trial->refusal);
	return output;
}

void
empty_region_print(FILE *out)
{
	const struct counting nothing = {0};

	for (size_t i = 0; i < REGION_NR_BACKENDS && region_backends[i] != &region_blocks; i++) {
		const char *name = region_backends[i]->name;
		const size_t length = strlen(name);
		struct rot_error err = {0};
		struct empty_region_output *output = empty_region_measure(&nothing, name, &err);
		const char *why = err.text;

		/* A refusal may begin with who refuses. */
		if (strncmp(why, name, length) == 0 && strncmp(why + length, ": ", 2) == 0)
			why += length + 2;
		if (output)
			fprintf(out, "%s\t%" PRIu64 "\n", name, (uint64_t)output->cost);
		else
			fprintf(out, "%s\t\t%s\n", name, why);
		rot_graph_delete(output);
	}
}
