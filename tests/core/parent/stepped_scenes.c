/* SPDX-License-Identifier: MIT */
/* See stepped_functions.h. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stepped_functions.h"

extern char **environ;

/* ---- what all of them execute, at the same time ---- */

__attribute__((noinline)) static uint64_t
ackermann(uint64_t m, uint64_t n)
{
	if (m == 0)
		return n + 1;
	return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static uint64_t
sum_up(const int *numbers, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum = sum * 31 + (uint64_t)numbers[i];
	return sum;
}

__attribute__((noinline)) static uint64_t
compute(int seed)
{
	int numbers[40];
	char line[100], copy[100];

	for (int i = 0; i < 40; i++)
		numbers[i] = (i * 7919 + seed) % 1000;
	qsort(numbers, 40, sizeof(numbers[0]), compare);
	snprintf(line, sizeof(line), "%d %g %s", numbers[3], numbers[4] / 3.0, "text");
	memcpy(copy, line, sizeof(copy));
	return sum_up(numbers, 40) + ackermann(1, 6) + strlen(copy);
}

/* ---- signals ---- */

static volatile uint64_t handled;

static void
handle(int signal)
{
	(void)signal;
	handled += compute(5) > 0;
}

/* The process's own time lets a busy machine leave it as much between two; the clock is for one that sleeps. */
static const struct clock_kind {
	int which;
	int signal;
} own_time = {ITIMER_PROF, SIGPROF}, wall_time = {ITIMER_REAL, SIGALRM};

static void
begin_signals(struct clock_kind kind, void (*handler)(int), int flags)
{
	const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	const struct itimerval each = {{0, 10000}, {0, 10000}};

	sigaction(kind.signal, &action, NULL);
	setitimer(kind.which, &each, NULL);
}

static void
end_signals(struct clock_kind kind)
{
	const struct itimerval none = {{0, 0}, {0, 0}};

	setitimer(kind.which, &none, NULL);
	signal(kind.signal, SIG_IGN);
}

static void
get_signals(uint64_t *results)
{
	begin_signals(own_time, handle, SA_RESTART);
	for (int i = 0; i < 20; i++)
		results[i] = compute(i);
	end_signals(own_time);
}

static void
get_signals_elsewhere(uint64_t *results)
{
	static char room[65536];
	const stack_t other = {.ss_sp = room, .ss_size = sizeof(room)};

	sigaltstack(&other, NULL);
	begin_signals(own_time, handle, SA_RESTART | SA_ONSTACK);
	for (int i = 0; i < 20; i++)
		results[i] = compute(i);
	end_signals(own_time);
}

/* The time is up early, so that the call fails, or is made again. */
static void
sleep_through_signals(uint64_t *results)
{
	const struct timespec nap = {0, 30000000};

	begin_signals(wall_time, handle, 0);
	while (handled < 5)
		results[0] |= nanosleep(&nap, NULL) < 0 && errno != EINTR;
	end_signals(wall_time);
	handled = 0;
	results[1] = compute(1);
}

static sigjmp_buf out;

static void
leap(int signal)
{
	siglongjmp(out, signal);
}

static void
leave_handlers(uint64_t *results)
{
	for (volatile int i = 0; i < 4; i++) {
		if (sigsetjmp(out, 1) == 0) {
			begin_signals(own_time, leap, 0);
			for (;;)
				handled += compute(1);
		}
		end_signals(own_time);
		results[1] += compute(i);
	}
}

static volatile int *volatile nowhere;

static void
fault(uint64_t *results)
{
	static char room[65536];
	const stack_t other = {.ss_sp = room, .ss_size = sizeof(room)};
	const struct sigaction action = {.sa_handler = leap, .sa_flags = SA_ONSTACK};

	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (sigsetjmp(out, 1) == 0)
			*nowhere = 1;
		results[0] += compute(i);
	}
	signal(SIGSEGV, SIG_DFL);
}

static void
ignore_signals(uint64_t *results)
{
	signal(SIGUSR1, SIG_IGN);
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
		raise(SIGWINCH);
		results[i] = compute(i);
	}
}

/* ---- SIGTRAP, which steps use as well ---- */

static volatile uint64_t nr_trapped;

static void
count_trap(int signal)
{
	(void)signal;
	nr_trapped++;
}

static void
begin_traps(void)
{
	const struct sigaction action = {.sa_handler = count_trap, .sa_flags = SA_RESTART};

	nr_trapped = 0;
	sigaction(SIGTRAP, &action, NULL);
}

/*
 * In the instruction of call_system, behind its first byte, is one that add_constant begins with: so the place before
 * that where a system call returns to is known as the beginning of a block. The return of add_one is right before
 * add_two.
 */
long call_system(long pid, long tid, long signal, long number) __asm__("scene_call_system");
long add_constant(long pid, long tid, long signal, long number) __asm__("scene_add_constant");
uint64_t add_one(uint64_t n) __asm__("scene_add_one");
uint64_t add_two(uint64_t n) __asm__("scene_add_two");
__asm__(".text\n"
	".type scene_call_system, @function\n"
	".type scene_add_constant, @function\n"
	".type scene_add_one, @function\n"
	".type scene_add_two, @function\n"
	"scene_call_system:\n"
	"mov %rcx, %rax\n"
	".byte 0x0f\n"
	"scene_add_constant:\n"
	".byte 0x05, 0x90, 0x90, 0x90, 0x90\n"
	"ret\n"
	".balign 16\n"
	"scene_add_one:\n"
	"lea 1(%rdi), %rax\n"
	"ret\n"
	"scene_add_two:\n"
	"lea 2(%rdi), %rax\n"
	"ret\n");

static void
trap_themselves(uint64_t *results)
{
	begin_traps();
	for (int i = 0; i < 10; i++) {
		add_constant(0, 0, 0, 0);
		results[0] |= (uint64_t)call_system(getpid(), gettid(), SIGTRAP, SYS_tgkill);
		results[1] += compute(i);
	}
	results[2] = nr_trapped;
	signal(SIGTRAP, SIG_DFL);
}

/* Wherever it is, most of all between two blocks. */
static void
be_trapped(uint64_t *results)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTRAP};
	const struct itimerspec each = {{0, 4000000}, {0, 4000000}};
	timer_t timer;

	begin_traps();
	results[0] = (uint64_t)timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
	timer_settime(timer, 0, &each, NULL);
	for (uint64_t i = 0; nr_trapped < 20; i++)
		results[1] |= (add_one(i) ^ (i + 1)) | (add_two(i) ^ (i + 2));
	timer_delete(timer);
	signal(SIGTRAP, SIG_IGN);
}

/* ---- threads ---- */

static void *
compute_in_thread(void *argument)
{
	uint64_t *result = argument;

	for (int i = 0; i < 5; i++)
		*result = *result * 3 + compute(i);
	return argument;
}

static void
join_threads(uint64_t *results)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, compute_in_thread, &results[i]);
	compute_in_thread(&results[2]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void *
count_cpus(void *argument)
{
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	*(uint64_t *)argument = (uint64_t)CPU_COUNT(&cpus);
	return argument;
}

static void
start_where_it_may_be(uint64_t *results)
{
	pthread_t thread;

	pthread_create(&thread, NULL, count_cpus, results);
	pthread_join(thread, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int whose;

/* Both wait in the same system call for each other. */
static void
take_turns(int me)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		while (whose != me)
			pthread_cond_wait(&changed, &mutex);
		whose = !me;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
}

static void *
take_turns_in_thread(void *argument)
{
	take_turns(1);
	return argument;
}

static void
wait_for_each_other(uint64_t *results)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take_turns_in_thread, NULL);
	take_turns(0);
	pthread_join(thread, NULL);
	results[0] = (uint64_t)whose;
}

static int pipes[2][2];

static void *
answer(void *argument)
{
	char byte;

	while (read(pipes[0][0], &byte, 1) == 1 && byte) {
		struct timespec nap = {0, 1000000};

		nanosleep(&nap, NULL);
		byte++;
		if (write(pipes[1][1], &byte, 1) != 1)
			break;
	}
	return argument;
}

static void
talk_through_pipes(uint64_t *results)
{
	pthread_t thread;
	char byte;

	if (pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0)
		return;
	pthread_create(&thread, NULL, answer, NULL);
	for (int i = 0; i < 10; i++) {
		byte = (char)(10 + i);
		results[1] += (uint64_t)write(pipes[0][1], &byte, 1);
		results[1] += (uint64_t)read(pipes[1][0], &byte, 1);
		results[0] = results[0] * 7 + (uint64_t)byte;
	}
	byte = 0;
	results[1] += (uint64_t)write(pipes[0][1], &byte, 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
}

/* ---- processes ---- */

static void
fork_and_wait(uint64_t *results)
{
	for (int i = 0; i < 3; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			_exit(compute(i) == compute(i) ? 7 : 8);
		results[2 * i] = (uint64_t)(waitpid(pid, &status, 0) == pid);
		results[2 * i + 1] = (uint64_t)status;
		results[10] += compute(i);
	}
}

static void
spawn_and_wait(uint64_t *results)
{
	static char shell[] = "sh", option[] = "-c", script[] = "exit $((6 * 7))";
	static char *const arguments[] = {shell, option, script, NULL};
	int status = -1;
	pid_t pid;

	results[0] = (uint64_t)posix_spawnp(&pid, shell, NULL, NULL, arguments, environ);
	results[1] = (uint64_t)(waitpid(pid, &status, 0) == pid);
	results[2] = (uint64_t)status;
	results[3] = (uint64_t)system("exit 3");
	results[4] = compute(1);
}

/* ---- others ---- */

static void
read_clocks(uint64_t *results)
{
	struct timespec first, last;

	clock_gettime(CLOCK_MONOTONIC, &first);
	for (int i = 0; i < 20; i++) {
		clock_gettime(CLOCK_MONOTONIC, &last);
		results[0] |=
			last.tv_sec < first.tv_sec || (last.tv_sec == first.tv_sec && last.tv_nsec < first.tv_nsec);
		first = last;
	}
	results[1] = time(NULL) > 1000;
}

static void
spin(uint64_t *results)
{
	uint64_t n = 30000000;

	__asm__ volatile("1: dec %0\n jnz 1b\n" : "+r"(n) : : "cc");
	results[0] = n;
}

/* Other code where there was code before. */
static void
map_code(uint64_t *results)
{
	for (int i = 0; i < 3; i++) {
		const uint8_t code[] = {0xb8, (uint8_t)i, 0, 0, 0, 0x85, 0xff, 0x74, 0x01, 0x90, 0xc3};
		uint8_t *page =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t (*function)(int);

		memcpy(page, code, sizeof(code));
		memcpy(&function, &page, sizeof(function));
		results[i] = function(0) + function(1);
		munmap(page, 4096);
	}
}

const struct stepped_case stepped_scenes[] = {
	{"get signals", get_signals, NULL},
	{"get signals elsewhere", get_signals_elsewhere, NULL},
	{"sleep through signals", sleep_through_signals, NULL},
	{"leave handlers", leave_handlers, NULL},
	{"fault", fault, NULL},
	{"ignore signals", ignore_signals, NULL},
	{"trap themselves", trap_themselves, NULL},
	{"be trapped", be_trapped, NULL},
	{"join threads", join_threads, NULL},
	{"start where it may be", start_where_it_may_be, NULL},
	{"wait for each other", wait_for_each_other, NULL},
	{"talk through pipes", talk_through_pipes, NULL},
	{"fork and wait", fork_and_wait, NULL},
	{"spawn and wait", spawn_and_wait, NULL},
	{"read clocks", read_clocks, NULL},
	{"spin", spin, NULL},
	{"map code", map_code, NULL},
};

_Static_assert(sizeof(stepped_scenes) / sizeof(stepped_scenes[0]) == NR_STEPPED_SCENES, "as many as the header says");
