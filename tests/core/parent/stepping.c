/* SPDX-License-Identifier: MIT */
/* See stepping.h. */
#include "stepping.h"

#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "memory.h"
#include "parent/stepping/cache_model.h"
#include "parent/stepping/work.h"
#include "parent/supervisor/child_steps.h"
#include "parent/symbols/instruction.h"
#include "parent/tracer/remote.h"
#include "parent/tracer/tracer.h"

/* The same as in child/measurer_step.c. */
extern const char stepping_begin[], stepping_end[];
void stepping_begin_region(struct step_region *region) __asm__("stepping_begin");
void stepping_end_region(struct step_region *region) __asm__("stepping_end");
__asm__(".text\n"
	".balign 16\n"
	".globl stepping_begin, stepping_end\n"
	".type stepping_begin, @function\n"
	".type stepping_end, @function\n"
	"stepping_begin:\n"
	"int3\n"
	"ret\n"
	"stepping_end:\n"
	"int3\n"
	"ret\n");

/* Small, so that lines cross all borders. */
static const struct step_region plain = {
	.caches = {.levels = {{4096, 4}, {32768, 8}, {262144, 16}},
		   .line_bytes = {64, 64, 64},
		   .are_shared = {0, 0, 1}},
	.has_lines = true,
	.has_pages = true,
};

/* Shared with the process. code: the sum of its code before. Of several that lie in a row, all are in the same sets of
 * the modelled caches. */
#define STAGE_BYTES 65536
struct stage {
	struct step_region region;
	uint64_t results[STEPPING_RESULTS];
	uint64_t code;
	char rest[STAGE_BYTES - sizeof(struct step_region) - (STEPPING_RESULTS + 1) * sizeof(uint64_t)];
};

static struct stage *stage; /* of this process, or the one that is looked at */

/* ---- the process ---- */

/* The code that is mapped from files, of which translated code is none. */
static uint64_t __attribute__((no_sanitize("address"))) sum_of_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512], rights[5];
	uint64_t sum = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3 || rights[2] != 'x' || rights[0] != 'r' ||
		    !strchr(line, '/') || strstr(line, "/memfd:"))
			continue;
		for (unsigned long at = start; at < end; at += 8)
			sum = (sum << 1 | sum >> 63) ^ *(const uint64_t *)at;
	}
	if (maps)
		fclose(maps);
	return sum;
}

static void
execute(stepped_function function, int go, bool has_region)
{
	cpu_set_t before, after;
	char byte;
	int status = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	function(stage->results);
	memset(stage->results, 0, sizeof(stage->results));
	sum_of_code();
	stage->code = sum_of_code();
	sched_getaffinity(0, sizeof(before), &before);
	if (has_region)
		stepping_begin_region(&stage->region);
	function(stage->results);
	if (has_region)
		stepping_end_region(&stage->region);
	sched_getaffinity(0, sizeof(after), &after);
	if (!CPU_EQUAL(&before, &after))
		status = STEPPING_CPUS_CHANGED;
	if (sum_of_code() != stage->code)
		status = STEPPING_CODE_CHANGED;
	_exit(status);
}

struct process {
	pid_t pid;
	int go;
	struct stage *stage;
};

/* Waits until it is let go by a byte. */
static void
start(struct process *process, stepped_function function, bool has_region)
{
	int pipes[2];

	stage = process->stage;
	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	process->pid = fork();
	ck_assert_int_ge(process->pid, 0);
	if (process->pid == 0) {
		close(pipes[1]);
		execute(function, pipes[0], has_region);
	}
	close(pipes[0]);
	process->go = pipes[1];
}

static void
let_go(int go)
{
	ck_assert_int_eq(write(go, "", 1), 1);
	close(go);
}

static void
take(struct stepping *stepping, const struct process *process, int status)
{
	stepping->region = process->stage->region;
	memcpy(stepping->results, process->stage->results, sizeof(stepping->results));
	stepping->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void
run_natively(const struct process *process, struct stepping *stepping)
{
	int status = 0;

	let_go(process->go);
	ck_assert_int_eq(waitpid(process->pid, &status, 0), process->pid);
	take(stepping, process, status);
}

/* ---- as the core does it ---- */

struct core {
	struct tracer tracer;
	struct child_steps steps;
};

static void
started(void *context, struct thread *thread)
{
	struct core *core = context;

	child_steps_started(&core->steps, thread);
}

static void
exited(void *context, struct thread *thread)
{
	struct core *core = context;

	child_steps_exited(&core->steps, thread);
}

static void
executed(void *context, struct thread *thread, pid_t old_tid)
{
	(void)old_tid;
	exited(context, thread);
}

static void
created(void *context, struct thread *thread, pid_t child)
{
	struct core *core = context;

	child_steps_created(&core->steps, thread, child);
}

static bool
may_go(void *context, struct thread *thread)
{
	struct core *core = context;

	return child_steps_may_go(&core->steps, thread);
}

static enum tracer_answer
stopped(void *context, const struct tracer_stop *stop)
{
	struct core *core = context;

	return child_steps_stopped(&core->steps, stop);
}

#define FILES 256

bool stepping_without_files;

/* Returns what there were before. */
static struct rlimit
limit_files(rlim_t most)
{
	struct rlimit before, limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){most, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void
run_by_blocks(const struct process *process, struct stepping *stepping)
{
	struct core core = {.steps.begin = (uint64_t)(uintptr_t)stepping_begin};
	struct report report = {0};
	struct rlimit files;
	struct rot_error err;
	int status = -1;

	core.tracer = (struct tracer){.program = process->pid,
				      .started = started,
				      .executed = executed,
				      .exited = exited,
				      .stopped = stopped,
				      .created = created,
				      .may_go = may_go,
				      .context = &core};
	core.steps.tracer = &core.tracer;
	process->stage->region = plain;
	ck_assert_msg(tracer_seize(&core.tracer, &err) == 0, "%s", err.text);
	let_go(process->go);
	files = limit_files(stepping_without_files ? 0 : FILES);
	while (status == -1 && (report.tid = waitpid(-1, &report.status, __WALL)) > 0) {
		report.time_ns = clock_raw_ns();
		if (tracer_handle(&core.tracer, &report))
			status = report.status;
	}
	limit_files(files.rlim_cur);
	child_steps_clear(&core.steps);
	tracer_clear(&core.tracer);
	take(stepping, process, status);
}

/* ---- as plainly as can be ---- */

struct known {
	uint64_t address;
	struct work work;
};

#define NR_KNOWN 65536

static struct known known[NR_KNOWN];

static const struct work *
work_at(pid_t pid, uint64_t address)
{
	struct known *found = &known[address % NR_KNOWN];
	uint8_t bytes[INSTRUCTION_MAX_BYTES];
	size_t nr = sizeof(bytes);

	if (found->address == address)
		return &found->work;
	while (nr > 0 && remote_read(pid, address, bytes, nr, NULL) < 0)
		nr--;
	ck_assert_msg(work_decode(bytes, nr, &found->work), "no instruction at %lx", (unsigned long)address);
	found->address = address;
	return &found->work;
}

static const struct vector_registers *
read_vectors(void *context)
{
	static struct vector_registers vectors;

	return vector_registers_read(*(pid_t *)context, &vectors) ? &vectors : NULL;
}

static bool
read_memory(void *context, uint64_t address, void *bytes, size_t nr_bytes)
{
	return remote_read(*(pid_t *)context, address, bytes, nr_bytes, NULL) == 0;
}

static void
get_registers(pid_t pid, struct user_regs_struct *registers)
{
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, registers), 0);
}

/* The one that single steps are made with: pushf has pushed it, and popf taken it for the thread's own. */
#define TRAP_FLAG 0x100

/* One iteration of a repeated instruction, or another one. */
static void
step(pid_t pid, struct step_region *region, struct cache_model *caches, struct user_regs_struct *registers)
{
	const struct work *work = work_at(pid, registers->rip);
	const struct work_thread thread = {registers, read_vectors, &pid, read_memory};
	uint64_t place = registers->rip;
	struct work_done done;
	int status;

	work_do(work, &thread, &done);
	for (size_t i = 0; i < STEP_NR_COUNTS; i++)
		region->counts[i] += done.counts[i];
	for (size_t i = 0; i < done.nr_accesses; i++) {
		const struct work_access *access = &done.accesses[i];

		if (access->flush)
			cache_model_flush(caches, access->address, access->flush == WORK_CLEAN);
		else
			cache_model_access(caches, access->address, access->bytes, access->is_store,
					   access->is_streaming);
		region->counts[STEP_SPLIT_ACCESSES] +=
			!work->is_repeated && !access->flush && access->bytes <= STEP_LINE_BYTES &&
			access->address % STEP_LINE_BYTES + access->bytes > STEP_LINE_BYTES;
	}
	if (done.is_unknown && region->nr_unknown++ == 0) {
		region->unknown_at = place;
		snprintf(region->unknown_name, sizeof(region->unknown_name), "%s", work->name);
	}
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "status %x", status);
	get_registers(pid, registers);
	if (registers->eflags & TRAP_FLAG) {
		registers->eflags &= ~(uint64_t)TRAP_FLAG;
		ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, registers), 0);
	}
	if (registers->rip == place && work->is_repeated)
		region->counts[STEP_INSTRUCTIONS]--;
}

static void
step_region(pid_t pid, struct step_region *region)
{
	struct cache_model *caches = cache_model_new_of(&plain.caches, STEP_LINE_BYTES);
	struct user_regs_struct registers;

	get_registers(pid, &registers);
	ck_assert_uint_eq(registers.rip, (uint64_t)(uintptr_t)stepping_begin + 1);
	while (registers.rip != (uint64_t)(uintptr_t)stepping_end)
		step(pid, region, caches, &registers);
	registers.rip++;
	ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, &registers), 0);
	cache_model_add_counts(caches, region->counts);
	cache_model_delete(caches);
}

static void
run_by_processor(const struct process *process, struct stepping *stepping)
{
	const pid_t pid = process->pid;
	int status = 0;

	memset(known, 0, sizeof(known));
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_EXITKILL), 0);
	let_go(process->go);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "status %x", status);
	process->stage->region = plain;
	step_region(pid, &process->stage->region);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	take(stepping, process, status);
}

/* ---- all ---- */

static void (*const ways[])(const struct process *, struct stepping *) = {
	[STEPPING_NATIVELY] = run_natively,
	[STEPPING_BY_BLOCKS] = run_by_blocks,
	[STEPPING_BY_PROCESSOR] = run_by_processor,
};

void
stepping_run(stepped_function function, struct stepping *results[STEPPING_NR_WAYS])
{
	struct process processes[STEPPING_NR_WAYS];
	struct stage *stages = mmap(NULL, STEPPING_NR_WAYS * sizeof(*stages), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(stages, MAP_FAILED);
	for (int i = 0; i < STEPPING_NR_WAYS; i++) {
		processes[i] = (struct process){.stage = &stages[i]};
		if (results[i])
			start(&processes[i], function, i != STEPPING_NATIVELY);
	}
	for (int i = 0; i < STEPPING_NR_WAYS; i++) {
		if (results[i])
			ways[i](&processes[i], results[i]);
	}
	munmap(stages, STEPPING_NR_WAYS * sizeof(*stages));
}

void
stepping_by_blocks(stepped_function function, struct stepping *stepping)
{
	struct stepping *results[STEPPING_NR_WAYS] = {[STEPPING_BY_BLOCKS] = stepping};

	stepping_run(function, results);
}
