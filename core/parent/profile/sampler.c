/* SPDX-License-Identifier: MIT */
#include "parent/profile/sampler.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/perf_ring.h"
#include "memory.h"

/* A quarter of what an ordinary user may lock in memory for each CPU, unless that was changed. */
#define RING_BYTES ((size_t)128 << 10)

/* A user who may lock little gets smaller rings. */
#define RING_LEAST_BYTES ((size_t)32 << 10)

/* With stacks: half of what he may lock; room for eight samples is the least. */
#define STACK_RING_BYTES ((size_t)256 << 10)
#define STACK_RING_LEAST_BYTES ((size_t)64 << 10)

/*
 * So much of a thread's stack is copied, from where it stands. Most of a stack that is deeper is of functions that are
 * seen often.
 */
#define STACK_BYTES 8192

/* Records are kept so far until somebody works on them: mostly until the program has ended. */
#define KEPT_MOST_BYTES ((size_t)16 << 20)

struct cpu_ring {
	int fd;
	struct perf_ring ring;
};

/* A copy of a record that waits for its turn. number: in the order of reading. */
struct waiting {
	uint64_t time_ns, number;
	struct perf_event_header *record;
};

struct sampler {
	struct perf_event_attr attr;
	struct cpu_ring *cpus;
	size_t nr_cpus;
	int epoll_fd;
	uint64_t drained_ns; /* when the last call that emptied the rings began */
	struct waiting *waiting;
	size_t nr_waiting, nr_waiting_bytes;
	uint64_t nr_read;
	struct waits *waits;
};

/* ---- opening ---- */

/* The kernel's numbers of registers, in the order in which it writes them; and which register of unwind.h each is. */
static const struct {
	unsigned number, of_unwind;
} registers[] = {
	{PERF_REG_X86_AX, 0},   {PERF_REG_X86_BX, 3},   {PERF_REG_X86_CX, 2},   {PERF_REG_X86_DX, 1},
	{PERF_REG_X86_SI, 4},   {PERF_REG_X86_DI, 5},   {PERF_REG_X86_BP, 6},   {PERF_REG_X86_SP, 7},
	{PERF_REG_X86_IP, 16},  {PERF_REG_X86_R8, 8},   {PERF_REG_X86_R9, 9},   {PERF_REG_X86_R10, 10},
	{PERF_REG_X86_R11, 11}, {PERF_REG_X86_R12, 12}, {PERF_REG_X86_R13, 13}, {PERF_REG_X86_R14, 14},
	{PERF_REG_X86_R15, 15},
};
enum { NR_REGISTERS = sizeof(registers) / sizeof(registers[0]) };

/* A sample with a stack, where the thread has one. */
struct stack_record {
	struct sample_record sample;
	uint64_t abi, registers[NR_REGISTERS];
	uint64_t nr_bytes; /* of room; behind them stands how many were written */
	uint8_t bytes[];
};

static void
fill_attributes(struct perf_event_attr *attr, uint64_t period_ns, bool has_children)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.inherit_thread = !has_children,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_hv = 1,
		.watermark = 1, /* of no size: the half of a ring */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
	};
}

static int
open_event(const struct sampler *sampler, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, &sampler->attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int
map_ring(struct cpu_ring *cpu, bool has_stacks)
{
	const size_t least = has_stacks ? STACK_RING_LEAST_BYTES : RING_LEAST_BYTES;

	for (size_t bytes = has_stacks ? STACK_RING_BYTES : RING_BYTES; bytes >= least; bytes /= 2) {
		if (perf_ring_map(&cpu->ring, cpu->fd, bytes) == 0)
			return 0;
		if (errno != EPERM && errno != ENOMEM)
			return -1;
	}
	return -1;
}

/* CPUs that are not there, or are switched off, have none. 0, or -1 with errno. */
static int
open_cpu(struct sampler *sampler, pid_t pid, int number)
{
	struct cpu_ring cpu = {.fd = open_event(sampler, pid, number)};
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	if (cpu.fd < 0 && (errno == EACCES || errno == EPERM) && !sampler->attr.exclude_kernel) {
		sampler->attr.exclude_kernel = 1;
		cpu.fd = open_event(sampler, pid, number);
	}
	if (cpu.fd < 0)
		return errno == ENODEV || (errno == EINVAL && sampler->nr_cpus > 0) ? 0 : -1;
	if (map_ring(&cpu, sampler_has_stacks(sampler)) < 0 ||
	    epoll_ctl(sampler->epoll_fd, EPOLL_CTL_ADD, cpu.fd, &event) < 0) {
		const int reason = errno;

		perf_ring_unmap(&cpu.ring);
		close(cpu.fd);
		errno = reason;
		return -1;
	}
	sampler->cpus = rot_grow(sampler->cpus, sampler->nr_cpus, sizeof(*sampler->cpus));
	sampler->cpus[sampler->nr_cpus++] = cpu;
	return 0;
}

static struct sampler *
open_all(pid_t pid, uint64_t period_ns, bool has_children, bool has_stacks, struct rot_error *err)
{
	struct sampler *sampler = rot_calloc(1, sizeof(*sampler));
	const int nr = (int)sysconf(_SC_NPROCESSORS_CONF);

	fill_attributes(&sampler->attr, period_ns, has_children);
	if (has_stacks) {
		sampler->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		sampler->attr.sample_stack_user = STACK_BYTES;
		for (size_t i = 0; i < NR_REGISTERS; i++)
			sampler->attr.sample_regs_user |= UINT64_C(1) << registers[i].number;
	}
	sampler->waits = waits_new();
	sampler->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (int cpu = 0; cpu < nr; cpu++) {
		if (open_cpu(sampler, pid, cpu) == 0)
			continue;
		rot_error_set(err, errno, "cannot sample the CPU time");
		sampler_close(sampler);
		return NULL;
	}
	return sampler;
}

/* Whatever the system has against stacks, it may have nothing against samples. */
struct sampler *
sampler_open(pid_t pid, uint64_t period_ns, bool has_children, bool has_stacks, struct rot_error *err)
{
	struct sampler *sampler = has_stacks ? open_all(pid, period_ns, has_children, true, err) : NULL;

	return sampler ? sampler : open_all(pid, period_ns, has_children, false, err);
}

void
sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->nr_cpus; i++) {
		perf_ring_unmap(&sampler->cpus[i].ring);
		close(sampler->cpus[i].fd);
	}
	for (size_t i = 0; i < sampler->nr_waiting; i++)
		free(sampler->waiting[i].record);
	if (sampler->epoll_fd >= 0)
		close(sampler->epoll_fd);
	waits_delete(sampler->waits);
	free(sampler->waiting);
	free(sampler->cpus);
	free(sampler);
}

bool
sampler_has_kernel(const struct sampler *sampler)
{
	return !sampler->attr.exclude_kernel;
}

bool
sampler_has_stacks(const struct sampler *sampler)
{
	return sampler->attr.sample_type & PERF_SAMPLE_STACK_USER;
}

int
sampler_fd(const struct sampler *sampler)
{
	return sampler->epoll_fd;
}

struct waits_times
sampler_waits(const struct sampler *sampler)
{
	return waits_sum(sampler->waits);
}

/* ---- records ---- */

/* Most of the room for a stack may be unused. */
static size_t
used_bytes(const struct sampler *sampler, const struct perf_event_header *record)
{
	const struct stack_record *stack = (const struct stack_record *)record;
	uint64_t nr_used;

	if (record->type != PERF_RECORD_SAMPLE || !sampler_has_stacks(sampler))
		return record->size;
	if (stack->abi != PERF_SAMPLE_REGS_ABI_64 || stack->nr_bytes == 0)
		return sizeof(stack->sample);
	memcpy(&nr_used, stack->bytes + stack->nr_bytes, sizeof(nr_used));
	return sizeof(*stack) + nr_used;
}

static uint64_t
time_of(const struct perf_event_header *record)
{
	uint64_t time_ns = 0;

	if (record->type == PERF_RECORD_SAMPLE)
		return ((const struct sample_record *)record)->time_ns;
	if (record->size >= sizeof(*record) + sizeof(time_ns))
		memcpy(&time_ns, (const char *)record + record->size - sizeof(time_ns), sizeof(time_ns));
	return time_ns;
}

static void
keep_record(void *context, const struct perf_event_header *record)
{
	struct sampler *sampler = context;
	const size_t nr_bytes = used_bytes(sampler, record);
	struct waiting waiting = {
		.time_ns = time_of(record), .number = sampler->nr_read++, .record = rot_calloc(1, nr_bytes)};

	memcpy(waiting.record, record, nr_bytes);
	waiting.record->size = (uint16_t)nr_bytes;
	sampler->nr_waiting_bytes += nr_bytes;
	sampler->waiting = rot_grow(sampler->waiting, sampler->nr_waiting, sizeof(*sampler->waiting));
	sampler->waiting[sampler->nr_waiting++] = waiting;
	if (record->type == PERF_RECORD_SAMPLE)
		waits_add(sampler->waits, ((const struct sample_record *)record)->tid);
}

bool
sample_stack(const struct sample_record *sample, struct unwind_state *state)
{
	const struct stack_record *stack = (const struct stack_record *)sample;

	if (sample->header.size < sizeof(*stack))
		return false;
	*state = (struct unwind_state){.stack = stack->bytes, .nr_bytes = sample->header.size - sizeof(*stack)};
	for (size_t i = 0; i < NR_REGISTERS; i++)
		state->registers[registers[i].of_unwind] = stack->registers[i];
	state->stack_address = state->registers[UNWIND_RSP];
	return true;
}

static int
compare_waiting(const void *a, const void *b)
{
	const struct waiting *left = a, *right = b;
	const int order = (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);

	return order ? order : (left->number > right->number) - (left->number < right->number);
}

static void
hand_on(struct sampler *sampler, uint64_t before_ns,
	void (*handle)(void *context, const struct perf_event_header *record), void *context)
{
	size_t nr = 0;

	if (sampler->nr_waiting == 0)
		return;
	qsort(sampler->waiting, sampler->nr_waiting, sizeof(*sampler->waiting), compare_waiting);
	for (; nr < sampler->nr_waiting && sampler->waiting[nr].time_ns < before_ns; nr++) {
		handle(context, sampler->waiting[nr].record);
		sampler->nr_waiting_bytes -= sampler->waiting[nr].record->size;
		free(sampler->waiting[nr].record);
	}
	sampler->nr_waiting -= nr;
	memmove(sampler->waiting, sampler->waiting + nr, sampler->nr_waiting * sizeof(*sampler->waiting));
}

void
sampler_drain(struct sampler *sampler, bool is_end,
	      void (*handle)(void *context, const struct perf_event_header *record), void *context)
{
	const uint64_t last_ns = sampler->drained_ns;
	struct epoll_event events[16];

	sampler->drained_ns = clock_raw_ns();
	while (epoll_wait(sampler->epoll_fd, events, sizeof(events) / sizeof(events[0]), 0) > 0)
		;
	for (size_t i = 0; i < sampler->nr_cpus; i++)
		perf_ring_read(&sampler->cpus[i].ring, keep_record, sampler);
	waits_look(sampler->waits, sampler->drained_ns);
	if (is_end || sampler->nr_waiting_bytes > KEPT_MOST_BYTES)
		hand_on(sampler, is_end ? UINT64_MAX : last_ns, handle, context);
}
