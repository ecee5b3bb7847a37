/* SPDX-License-Identifier: MIT */
/* Regions of translated code count what the processor's own single steps do, and change no result. */
#include "config.h"

#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <ucontext.h>

#include "parent/tracer/restart.h"
#include "parent/tracer/tracer.h"
#include "parent/translate/translator.h"
#include "permits.h"
#include "stepped_functions.h"
#include "stepping.h"
#include "testing.h"

#define COUNT_NAME(name, text) text,
static const char *const names[] = {STEP_COUNTS(COUNT_NAME)};

/* The sanitizer's memory lies elsewhere in each process: there lines are not the same. */
#ifdef ROT_SANITIZED
#define NR_SAME_COUNTS STEP_L1_FILLS
#else
#define NR_SAME_COUNTS STEP_NR_COUNTS
#endif

static void
expect_same(const char *name, const struct stepping *got, const struct stepping *wanted)
{
	for (size_t i = 0; i < NR_SAME_COUNTS; i++)
		ck_assert_msg(got->region.counts[i] == wanted->region.counts[i], "%s: %llu %s instead of %llu", name,
			      (unsigned long long)got->region.counts[i], names[i],
			      (unsigned long long)wanted->region.counts[i]);
	ck_assert_uint_eq(got->region.nr_unknown, wanted->region.nr_unknown);
	ck_assert_uint_eq(got->region.unknown_at, wanted->region.unknown_at);
	ck_assert_str_eq(got->region.unknown_name, wanted->region.unknown_name);
	ck_assert_mem_eq(got->results, wanted->results, sizeof(got->results));
}

static void
expect_whole(const char *name, const struct stepping *stepping)
{
	ck_assert_msg(stepping->region.cut == STEP_WHOLE, "%s: cut", name);
	ck_assert_msg(stepping->status == 0, "%s: status %d after %llu instructions", name, stepping->status,
		      (unsigned long long)stepping->region.counts[0]);
	ck_assert_msg(stepping->region.counts[STEP_INSTRUCTIONS] > 0, "%s", name);
}

TEST_OF(counts_are_those_of_single_steps, NR_STEPPED_CASES)
{
	const struct stepped_case *this = &stepped_cases[_i];
	struct stepping by_blocks, by_processor, native;
	struct stepping *results[] = {&native, &by_blocks, &by_processor};

	if (this->is_there && !this->is_there()) {
		fprintf(stderr, "this processor cannot %s\n", this->name);
		return;
	}
	stepping_run(this->function, results);
	expect_whole(this->name, &by_blocks);
	expect_whole(this->name, &by_processor);
	expect_same(this->name, &by_blocks, &by_processor);
	ck_assert_mem_eq(by_blocks.results, native.results, sizeof(native.results));
}

/* Signals, threads and processes meanwhile. */
TEST_OF(results_are_the_same, NR_STEPPED_SCENES)
{
	const struct stepped_case *this = &stepped_scenes[_i];
	struct stepping by_blocks, native;
	struct stepping *results[STEPPING_NR_WAYS] = {&native, &by_blocks};

	stepping_run(this->function, results);
	ck_assert_int_eq(native.status, 0);
	expect_whole(this->name, &by_blocks);
	ck_assert_mem_eq(by_blocks.results, native.results, sizeof(native.results));
}

/* ---- regions that are not followed to their end ---- */

static bool was_here;

static uint64_t
work_on(uint64_t sum)
{
	char line[64];

	for (int i = 0; i < 20; i++)
		sum = sum * 31 + (uint64_t)snprintf(line, sizeof(line), "%d %g", i, i / 3.0);
	return sum;
}

static void
work_long(uint64_t *results)
{
	results[0] = work_on(1);
}

static void
go_over(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

/* ud2 */
static void
do_what_is_unknown(uint64_t *results)
{
	const struct sigaction action = {.sa_sigaction = go_over, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &action, NULL);
	results[0] = work_on(1);
	__asm__ volatile("ud2");
	results[1] = work_on(2);
}

/* Through a pointer that is nowhere: jmp *(%rax). */
static void
jump_nowhere(uint64_t *results)
{
	const struct sigaction action = {.sa_sigaction = go_over, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, NULL);
	results[0] = work_on(1);
	__asm__ volatile("jmp *(%0)" : : "a"(UINT64_C(8)));
	results[1] = work_on(2);
}

static void
die(uint64_t *results)
{
	results[0] = work_on(1);
	if (was_here)
		raise(SIGKILL);
	was_here = true;
}

static void
end_at_once(uint64_t *results)
{
	results[0] = work_on(1);
	if (was_here)
		_exit(0);
	was_here = true;
}

static const struct {
	stepped_function function;
	enum step_cut cut;
	int status;
	bool is_without_files;
} ends[] = {
	{work_long, STEP_CUT_MEMORY, 0, true},      {jump_nowhere, STEP_WHOLE, 0, false},
	{do_what_is_unknown, STEP_WHOLE, 0, false}, {die, STEP_WHOLE, -SIGKILL, false},
	{end_at_once, STEP_WHOLE, 0, false},
};

/* A refused region goes on by itself. */
TEST_OF(regions_end_in_other_ways, NR_ELEMENTS(ends))
{
	struct stepping by_blocks, native;
	struct stepping *results[STEPPING_NR_WAYS] = {&native, &by_blocks};

	stepping_without_files = ends[_i].is_without_files;
	stepping_run(ends[_i].function, results);
	stepping_without_files = false;
	ck_assert_uint_eq(by_blocks.region.cut, ends[_i].cut);
	ck_assert_int_eq(by_blocks.status, ends[_i].status);
	ck_assert_int_eq(native.status, ends[_i].status);
	ck_assert_mem_eq(by_blocks.results, native.results, sizeof(native.results));
}

/* ---- what another thread does to the process ---- */

static void *
kill_soon(void *unused)
{
	usleep(2000);
	raise(SIGKILL);
	return unused;
}

static void *
end_soon(void *unused)
{
	usleep(2000);
	_exit(0);
	return unused;
}

static void *
execute_soon(void *unused)
{
	usleep(2000);
	execl("/bin/true", "true", (char *)NULL);
	return unused;
}

/* The main thread would compute for ever. */
static void
work_until(void *(*end)(void *), uint64_t *results)
{
	pthread_t thread;

	results[0] = work_on(1);
	if (was_here && pthread_create(&thread, NULL, end, NULL) == 0) {
		for (uint64_t i = 0;; i++)
			work_on(i);
	}
	was_here = true;
}

static void
be_killed(uint64_t *results)
{
	work_until(kill_soon, results);
}

static void
be_ended(uint64_t *results)
{
	work_until(end_soon, results);
}

static void
be_replaced(uint64_t *results)
{
	work_until(execute_soon, results);
}

static const struct {
	stepped_function function;
	int status;
} ends_by_others[] = {{be_killed, -SIGKILL}, {be_ended, 0}, {be_replaced, 0}};

/* How often each is tried: a fifth of that, or all with ROT_SLOW_TESTS. */
#define NR_ENDS 20

/* The end of a main thread is told when those of all others were taken. */
TEST_OF(another_thread_ends_the_process, NR_ENDS *NR_ELEMENTS(ends_by_others))
{
	const size_t i = (size_t)_i % NR_ELEMENTS(ends_by_others);
	struct stepping by_blocks;

	if (_i >= NR_ENDS / 5 * NR_ELEMENTS(ends_by_others) && !all_are_tested())
		return;
	stepping_by_blocks(ends_by_others[i].function, &by_blocks);
	ck_assert_int_eq(by_blocks.status, ends_by_others[i].status);
}

/* ---- threads that join ---- */

static struct translator *translator;

static void
thread_started(void *context, struct thread *thread)
{
	(void)context;
	translator_started(translator, thread);
}

static void
thread_exited(void *context, struct thread *thread)
{
	(void)context;
	translator_exited(translator, thread);
}

/* It joins at its next pause. */
static enum tracer_answer
thread_stopped(void *context, const struct tracer_stop *stop)
{
	(void)context;
	if (stop->signal != 0 || translator_has(stop->thread))
		return translator_stopped(translator, stop);
	stop->thread->is_to_pause = false;
	return translator_enter(translator, stop->thread, &why);
}

static void
do_nothing(int signal)
{
	(void)signal;
}

/* A call that is not made again fails: 0. One that is made lasts for ever, and is ended in a while. */
static void
wait_for_signal(int go)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	int epoll = epoll_create1(0);
	struct epoll_event event;
	char byte;

	sigaction(SIGUSR1, &action, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm(100);
	_exit(read(go, &byte, 1) == 1 && epoll_wait(epoll, &event, 1, -1) < 0 && errno == EINTR ? 0 : 1);
}

/* On one CPU, where one that has nothing else to do comes last: so the thread wakes when both wait for it. */
static void
signal_and_join(struct thread *thread)
{
	while (restart_find(thread->tid) != RESTART_HARMED)
		usleep(1000);
	ck_assert_int_eq(sched_setscheduler(thread->tid, SCHED_IDLE, &(struct sched_param){0}), 0);
	kill(thread->tid, SIGUSR1);
	thread->is_to_pause = true;
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	/* Not everybody may; it ends without, too. */
	sched_setscheduler(thread->tid, SCHED_OTHER, &(struct sched_param){0});
}

static void
stay_on_this_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

TEST_OF(a_signal_ends_the_call_of_one_that_joins, 5)
{
	cleared_by(tracer_clear) struct tracer tracer = {
		.started = thread_started, .exited = thread_exited, .stopped = thread_stopped};
	struct report report = {0};
	int go[2];

	stay_on_this_cpu();
	ck_assert_int_eq(pipe(go), 0);
	tracer.program = fork();
	if (tracer.program == 0)
		wait_for_signal(go[0]);
	translator = translator_new_of_regions(&tracer, &(struct step_region){.has_lines = false});
	ck_assert_ok(tracer_seize(&tracer, &why));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	signal_and_join(threads_find(&tracer.threads, tracer.program));
	while ((report.tid = waitpid(-1, &report.status, __WALL)) > 0 && !tracer_handle(&tracer, &report))
		;
	ck_assert_int_eq(report.status, 0);
	translator_delete(translator);
}

UNIT_TESTS(.needs = {permits_tracing}, .timeout_s = 600);
