/* SPDX-License-Identifier: MIT */
/* Acts of the victim with signals, stops and other processes. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

static volatile sig_atomic_t nr_signals, sum_of_values;
static sigjmp_buf after_fault;

static void
on_value(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	nr_signals++;
	sum_of_values += info->si_value.sival_int;
}

static void
on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	CHECK(info->si_code > 0);
	siglongjmp(after_fault, number);
}

static void
catch_signal(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	CHECK(sigaction(number, &action, NULL) == 0);
}

static void
expect_fault(int number, void (*fault)(void))
{
	int got;

	catch_signal(number, on_fault);
	got = sigsetjmp(after_fault, 1);
	if (got == 0)
		fault();
	CHECK(got == number);
}

static void
breakpoint(void)
{
	__asm__ volatile("int3");
}

static void
bad_address(void)
{
	int *volatile address = (int *)16;

	*address = 1;
}

static void
bad_instruction(void)
{
	__asm__ volatile("ud2");
}

/* Signals reach the program as if nobody watched: all of them, in order, with what they carry. */
static void
signals(void)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	int expected = 0;

	catch_signal(SIGRTMIN, on_value);
	for (int i = 0; i < 100; i++) {
		expected += i;
		CHECK(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) == 0);
	}
	CHECK(nr_signals == 100 && sum_of_values == expected);
	expect_fault(SIGTRAP, breakpoint);
	expect_fault(SIGSEGV, bad_address);
	expect_fault(SIGILL, bad_instruction);
	nr_signals = 0;
	catch_signal(SIGALRM, on_value);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	while (nr_signals < 50)
		pause();
	write_output("result\n");
	_exit(0);
}

/* Shared with the process that watches. */
static struct {
	atomic_long progress; /* of a thread that counts            */
	atomic_int nr_stops;  /* that were seen from outside        */
} * shared;

static void *
count(void *unused)
{
	(void)unused;
	while (true) {
		shared->progress++;
		usleep(100);
	}
	return NULL;
}

static bool
is_stopped(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
	fclose(file);
	return state == 'T' || state == 't';
}

/* In a process of its own: lets the parent go on whenever it has seen all of it stand still. */
static void
watch(pid_t parent)
{
	while (true) {
		long before = shared->progress;
		bool was_stopped = is_stopped(parent);

		usleep(10000);
		if (was_stopped && is_stopped(parent) && shared->progress == before) {
			shared->nr_stops++;
			kill(parent, SIGCONT);
		}
	}
}

static void
stop_and_continue(void)
{
	pid_t self = getpid();
	pthread_t thread;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(shared != MAP_FAILED && pthread_create(&thread, NULL, count, NULL) == 0);
	if (fork() == 0)
		watch(self);
	while (shared->nr_stops < 5) {
		raise(SIGSTOP);
		usleep(30000); /* runs much longer than a stop for the tracer alone takes */
	}
	write_output("result\n");
	_exit(0);
}

static void
leave_process(void)
{
	if (fork() == 0) {
		while (true)
			pause();
	}
	write_output("result\n");
	_exit(0);
}

static int
do_nothing(void *unused)
{
	(void)unused;
	return 5;
}

/* The clone system call that makes threads makes processes as well. */
static void
clone_process(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status;
	pid_t pid = clone(do_nothing, stack + sizeof(stack), 0, NULL);

	CHECK(pid > 0 && waitpid(pid, &status, __WCLONE) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
	write_output("result\n");
}

/* Fresh signals, empty standard input, no file descriptor but the wire. */
static void
surroundings(void)
{
	struct sigaction action;
	sigset_t blocked;
	char byte;

	CHECK(read(STDIN_FILENO, &byte, 1) == 0);
	for (int fd = 3; fd < 1024; fd++)
		CHECK(fd == victim_wire || fcntl(fd, F_GETFD) < 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
	for (int number = 1; number < 32; number++) {
		CHECK(!sigismember(&blocked, number));
		CHECK(sigaction(number, NULL, &action) < 0 || action.sa_handler == SIG_DFL);
	}
	CHECK(getpgid(0) == getpid());
	result();
}

const struct act signal_acts[] = {
	{"clone_process", clone_process},         {"leave_process", leave_process}, {"signals", signals},
	{"stop_and_continue", stop_and_continue}, {"surroundings", surroundings},   {NULL, NULL},
};
