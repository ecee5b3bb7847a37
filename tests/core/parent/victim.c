/* SPDX-License-Identifier: MIT */
/*
 * A child of rot-core that does what the first word of its command file says: well behaved, and not at all. It is built
 * without sanitizers, so that it dies by the signals it earns.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/wire.h"

static const char *command_path, *output_path;
static int wire = -1;

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #condition, errno);                       \
			exit(9);                                                                                       \
		}                                                                                                      \
	} while (0)

/* ---- the ordinary life of a child ---- */

static void
say(enum wire_kind kind, int64_t argument)
{
	struct wire_message message = {.kind = kind, .argument = argument};

	CHECK(send(wire, &message, sizeof(message), MSG_NOSIGNAL) == (ssize_t)sizeof(message));
}

static void
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void
write_output(const char *text)
{
	write_file(output_path, text);
}

static void
result(void)
{
	say(WIRE_STARTUP, 3);
	for (int run = 1; run <= 3; run++) {
		say(WIRE_RUN_STARTED, run);
		say(WIRE_RUN_FINISHED, run);
	}
	write_output("result\n");
}

static void
reports_an_error(void)
{
	write_output("reported\n");
	exit(1);
}

/* ---- ends ---- */

static void
no_result(void)
{
}

static void
exit_3(void)
{
	write_output("not a result\n");
	exit(3);
}

/* While it writes its result, too. */
static void
crash(void)
{
	char half_written[PATH_MAX];

	snprintf(half_written, sizeof(half_written), "%s.new", output_path);
	if (access(half_written, F_OK) < 0 && errno == ENOENT)
		close(open(half_written, O_WRONLY | O_CREAT, 0600));
	say(WIRE_STARTUP, 10);
	say(WIRE_RUN_STARTED, 1);
	say(WIRE_RUN_FINISHED, 1);
	say(WIRE_RUN_STARTED, 2);
	say(WIRE_RUN_FINISHED, 2);
	say(WIRE_RUN_STARTED, 3);
	raise(SIGSEGV);
}

static void
exit_in_run(void)
{
	say(WIRE_STARTUP, 2);
	say(WIRE_RUN_STARTED, 1);
	exit(0);
}

static void
crash_after_result(void)
{
	result();
	abort();
}

static void
hang(void)
{
	say(WIRE_STARTUP, 2);
	say(WIRE_RUN_STARTED, 1);
	while (true)
		pause();
}

static void
stop(void)
{
	raise(SIGSTOP);
	write_output("somebody continued it\n");
}

static void
print_much(void)
{
	char line[64];

	for (int i = 0; i < 16384; i++) {
		memset(line, 'x', sizeof(line));
		snprintf(line, sizeof(line), "%s %d", i % 2 ? "error" : "output", i);
		line[strlen(line)] = ' ';
		line[sizeof(line) - 1] = '\n';
		CHECK(write(i % 2 ? STDERR_FILENO : STDOUT_FILENO, line, sizeof(line)) == (ssize_t)sizeof(line));
	}
	CHECK(write(STDERR_FILENO, "nul \0 here\n", 11) == 11);
	abort();
}

/* ---- threads ---- */

static atomic_int nr_alive, nr_done;

static void *
short_thread(void *unused)
{
	(void)unused;
	nr_done++;
	return NULL;
}

static void
start_and_join(int nr)
{
	pthread_t threads[50];

	for (int done = 0; done < nr; done += 50) {
		for (int i = 0; i < 50; i++)
			CHECK(pthread_create(&threads[i], NULL, short_thread, NULL) == 0);
		for (int i = 0; i < 50; i++)
			pthread_join(threads[i], NULL);
	}
	CHECK(nr_done == nr);
}

/* Every thread was announced, with its id, and after that its end. Ids may be used again. */
static void
expect_notifications(int nr)
{
	static bool is_alive[1 << 22];
	struct wire_message message;
	int started = 0, exited = 0;

	while (exited < nr) {
		CHECK(recv(wire, &message, sizeof(message), 0) == (ssize_t)sizeof(message));
		CHECK(message.tid > 0 && message.tid < 1 << 22 && message.tid != getpid());
		if (message.kind == WIRE_THREAD_STARTED) {
			CHECK(!is_alive[message.tid]);
			is_alive[message.tid] = true;
			started++;
		} else {
			CHECK(message.kind == WIRE_THREAD_EXITED && is_alive[message.tid]);
			is_alive[message.tid] = false;
			exited++;
		}
	}
	CHECK(started == nr);
	CHECK(recv(wire, &message, sizeof(message), MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void
threads(void)
{
	start_and_join(200);
	expect_notifications(200);
	write_output("result\n");
}

/* More notifications than the wire holds. */
static void
many_threads(void)
{
	start_and_join(2000);
	expect_notifications(2000);
	write_output("result\n");
}

static void *
announced_thread(void *unused)
{
	struct wire_message message;

	(void)unused;
	CHECK(recv(wire, &message, sizeof(message), MSG_DONTWAIT) == (ssize_t)sizeof(message));
	CHECK(message.kind == WIRE_THREAD_STARTED && message.tid == (int)syscall(SYS_gettid));
	return NULL;
}

/* The notification is there before the thread can do anything. */
static void
announced(void)
{
	struct wire_message message;
	pthread_t thread;

	for (int i = 0; i < 100; i++) {
		CHECK(pthread_create(&thread, NULL, announced_thread, NULL) == 0);
		pthread_join(thread, NULL);
		CHECK(recv(wire, &message, sizeof(message), 0) == (ssize_t)sizeof(message));
		CHECK(message.kind == WIRE_THREAD_EXITED);
	}
	write_output("result\n");
}

/* ---- threads that are held ---- */

static struct wire_message
hear(enum wire_kind kind)
{
	struct wire_message message;

	CHECK(recv(wire, &message, sizeof(message), 0) == (ssize_t)sizeof(message) && message.kind == kind);
	return message;
}

static pthread_t
start_held(void)
{
	pthread_t thread;

	say(WIRE_HOLD_THREADS, 1);
	CHECK(hear(WIRE_HOLDING).argument == 1);
	CHECK(pthread_create(&thread, NULL, short_thread, NULL) == 0);
	return thread;
}

/* Each waits until it is let go, however long; one that does not wait may be let go as well. */
static void
held(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t thread = start_held();
		int tid = hear(WIRE_THREAD_STARTED).tid;

		usleep(i == 0 ? 100000 : 0);
		CHECK(nr_done == i);
		say(WIRE_THREAD_READY, tid);
		say(WIRE_THREAD_READY, tid);
		pthread_join(thread, NULL);
		CHECK(nr_done == i + 1 && hear(WIRE_THREAD_EXITED).tid == tid);
	}
	say(WIRE_HOLD_THREADS, 0);
	CHECK(hear(WIRE_HOLDING).argument == 0);
	nr_done = 0;
	start_and_join(50);
	write_output("result\n");
}

static void
held_without_wire(void)
{
	pthread_t thread = start_held();

	close(wire);
	pthread_join(thread, NULL);
	write_output("result\n");
}

static void
held_over_exit(void)
{
	start_held();
	write_output("result\n");
}

static void
held_over_exec(void)
{
	start_held();
	execl("/proc/self/exe", "victim", "after exec", output_path, NULL);
	CHECK(false);
}

static void
held_for_ever(void)
{
	pthread_join(start_held(), NULL);
}

static void *
breeding_thread(void *unused)
{
	pthread_t thread;

	(void)unused;
	while (true) {
		if (nr_alive < 64) {
			nr_alive++;
			if (pthread_create(&thread, NULL, breeding_thread, NULL) == 0)
				pthread_detach(thread);
		} else {
			nr_alive--;
			return NULL;
		}
	}
}

static void
breed(void)
{
	pthread_t thread;

	nr_alive = 1;
	CHECK(pthread_create(&thread, NULL, breeding_thread, NULL) == 0);
}

static void
wait_a_little(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	usleep((useconds_t)(now.tv_nsec / 1000 % 5000));
}

static void
storm(void)
{
	breed();
	wait_a_little();
	write_output("result\n");
	_exit(0);
}

static void
suicide(void)
{
	breed();
	wait_a_little();
	kill(getpid(), SIGKILL);
	pause();
}

static void
linger(void)
{
	breed();
	write_output("it lingers\n");
	hang();
}

static void *
end_of_process(void *unused)
{
	(void)unused;
	usleep(2000);
	result();
	exit(0);
}

static void
main_thread_ends_first(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, end_of_process, NULL) == 0);
	pthread_exit(NULL);
}

/* ---- exec ---- */

static void *
exec_thread(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "victim", "after exec", output_path, NULL);
	CHECK(!"exec");
	return NULL;
}

static void
exec_main(void)
{
	breed();
	exec_thread(NULL);
}

static void
exec_other(void)
{
	pthread_t thread;

	breed();
	CHECK(pthread_create(&thread, NULL, exec_thread, NULL) == 0);
	while (true)
		pause();
}

/* ---- signals ---- */

static volatile sig_atomic_t nr_signals, sum_of_values;
static sigjmp_buf after_fault;

static void
on_value(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
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

/* ---- other processes ---- */

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
		CHECK(fd == wire || fcntl(fd, F_GETFD) < 0);
	CHECK(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
	for (int number = 1; number < 32; number++) {
		CHECK(!sigismember(&blocked, number));
		CHECK(sigaction(number, NULL, &action) < 0 || action.sa_handler == SIG_DFL);
	}
	CHECK(getpgid(0) == getpid());
	result();
}

static const struct {
	const char *name;
	void (*act)(void);
} acts[] = {
	{"announced", announced},
	{"clone_process", clone_process},
	{"crash", crash},
	{"crash_after_result", crash_after_result},
	{"exec_main", exec_main},
	{"exec_other", exec_other},
	{"exit_3", exit_3},
	{"exit_in_run", exit_in_run},
	{"hang", hang},
	{"held", held},
	{"held_for_ever", held_for_ever},
	{"held_over_exec", held_over_exec},
	{"held_over_exit", held_over_exit},
	{"held_without_wire", held_without_wire},
	{"leave_process", leave_process},
	{"linger", linger},
	{"main_thread_ends_first", main_thread_ends_first},
	{"many_threads", many_threads},
	{"no_result", no_result},
	{"print_much", print_much},
	{"reports_an_error", reports_an_error},
	{"result", result},
	{"signals", signals},
	{"stop", stop},
	{"stop_and_continue", stop_and_continue},
	{"storm", storm},
	{"suicide", suicide},
	{"surroundings", surroundings},
	{"threads", threads},
};

int
main(int argc, char **argv)
{
	char name[64] = "";
	FILE *file;

	if (argc == 3 && strcmp(argv[1], "after exec") == 0) {
		output_path = argv[2];
		write_output("result\n");
		return 0;
	}
	CHECK(argc == 7 && !strcmp(argv[1], "--command") && !strcmp(argv[3], "--output") && !strcmp(argv[5], "--wire"));
	command_path = argv[2];
	output_path = argv[4];
	wire = atoi(argv[6]);
	file = fopen(command_path, "re");
	CHECK(file && fscanf(file, "%63s", name) == 1);
	fclose(file);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, name) == 0) {
			acts[i].act();
			return 0;
		}
	}
	fprintf(stderr, "no act '%s'\n", name);
	return 8;
}
