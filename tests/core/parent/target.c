/* SPDX-License-Identifier: MIT */
/*
 * A program to be measured: target ACT [NUMBER]. Each of its threads is named by the number of fresh pages that it
 * touches, and has no other page faults: its stack, its code and its data are there before it starts. Threads and
 * processes with other names promise nothing.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#define POOL_BYTES ((size_t)1 << 30)
#define STACK_BYTES ((size_t)64 << 10)
#define NR_STACKS 64
#define NR_ROUNDS 50

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #condition, errno);                       \
			exit(9);                                                                                       \
		}                                                                                                      \
	} while (0)

static char *pool, *stacks, *self;
static atomic_size_t nr_taken;
static atomic_int nr_done, nr_stacks_taken;
static atomic_bool is_storm_over;
static pthread_barrier_t barrier;

/* No function of libc, so that a thread without its own libc state may call it. */
static long
system_call(long number, long first, long second)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(0L)
			 : "rcx", "r11", "memory");
	return result;
}

static void
name_self(int nr_pages)
{
	char name[16] = "0", digits[16];
	int nr = 0, at = 0;

	for (; nr_pages > 0; nr_pages /= 10)
		digits[nr++] = (char)('0' + nr_pages % 10);
	while (nr > 0)
		name[at++] = digits[--nr];
	if (at > 0)
		name[at] = '\0';
	system_call(SYS_prctl, PR_SET_NAME, (long)name);
}

static void
touch(int nr_pages)
{
	volatile char *pages = pool + PAGE_BYTES * atomic_fetch_add(&nr_taken, (size_t)nr_pages);

	for (int i = 0; i < nr_pages; i++)
		pages[(size_t)i * PAGE_BYTES] = 1;
}

static void *
work(void *nr_pages)
{
	name_self((int)(long)nr_pages);
	touch((int)(long)nr_pages);
	atomic_fetch_add(&nr_done, 1);
	return NULL;
}

/* Everything that other threads execute, under a name that promises nothing. */
static void *
warm_up(void *unused)
{
	(void)unused;
	work(NULL);
	prctl(PR_SET_NAME, "warm");
	return NULL;
}

static pthread_t
begin(int stack, bool is_detached, void *(*function)(void *), long argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setstack(&attributes, stacks + (size_t)stack * STACK_BYTES, STACK_BYTES) == 0);
	if (is_detached)
		CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
	CHECK(pthread_create(&thread, &attributes, function, (void *)argument) == 0);
	return thread;
}

/* ---- acts ---- */

static void
nothing(int number)
{
	(void)number;
}

static void
exit_with(int number)
{
	exit(number);
}

static void
kill_self(int number)
{
	kill(getpid(), number);
}

static void
touch_pages(int number)
{
	touch(number);
}

/* Thread i touches i modulo nr_amounts pages. */
static void
run_threads(int number, int nr_amounts)
{
	pthread_t running[NR_STACKS];

	for (int i = 0; i < number + NR_STACKS; i++) {
		if (i >= NR_STACKS && i - NR_STACKS < number)
			CHECK(pthread_join(running[i % NR_STACKS], NULL) == 0);
		if (i < number)
			running[i % NR_STACKS] = begin(i % NR_STACKS, false, work, i % nr_amounts);
	}
}

static void
threads(int number)
{
	run_threads(number, 50);
}

static void
on_storm(int number)
{
	(void)number;
}

static void *
send_signals(void *unused)
{
	prctl(PR_SET_NAME, "sender");
	while (!atomic_load(&is_storm_over)) {
		kill(getpid(), SIGUSR1);
		usleep(100);
	}
	return unused;
}

/* Threads while signals fly: whichever of them gets each. */
static void
storm(int number)
{
	struct sigaction action = {.sa_handler = on_storm, .sa_flags = SA_RESTART};
	pthread_t sender;

	CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0);
	CHECK(pthread_create(&sender, NULL, send_signals, NULL) == 0);
	run_threads(number, 4);
	atomic_store(&is_storm_over, true);
	CHECK(pthread_join(sender, NULL) == 0);
}

static void *
sleep_for_ever(void *unused)
{
	atomic_fetch_add(&nr_done, 1);
	while (true)
		pause();
	return unused;
}

/* Fifty threads that work beside many that sleep. */
static void
crowd(int number)
{
	pthread_attr_t small;
	pthread_t sleeper;

	CHECK(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 16384) == 0);
	for (int i = 0; i < number; i++)
		CHECK(pthread_create(&sleeper, &small, sleep_for_ever, NULL) == 0);
	while (atomic_load(&nr_done) < number)
		sched_yield();
	threads(50);
	exit(0);
}

static void *
nest(void *depth)
{
	pthread_t children[2];

	if (!depth)
		return work((void *)5);
	prctl(PR_SET_NAME, "creator");
	for (int i = 0; i < 2; i++)
		children[i] = begin(atomic_fetch_add(&nr_stacks_taken, 1), false, nest, (long)depth - 1);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(children[i], NULL) == 0);
	return NULL;
}

static void
nested(int number)
{
	nest((void *)(long)number);
}

static void
detached(int number)
{
	for (int i = 0; i < number; i++)
		begin(i, true, work, i);
	while (atomic_load(&nr_done) < number)
		sched_yield();
}

static void *
take_rounds(void *unused)
{
	(void)unused;
	name_self(NR_ROUNDS);
	for (int i = 0; i < NR_ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		touch(1);
	}
	return NULL;
}

static void
rounds(int number)
{
	pthread_t running[NR_STACKS];

	pthread_barrier_init(&barrier, NULL, 1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_init(&barrier, NULL, (unsigned)number);
	for (int i = 0; i < number; i++)
		running[i] = begin(i, false, take_rounds, 0);
	for (int i = 0; i < number; i++)
		CHECK(pthread_join(running[i], NULL) == 0);
}

static int
work_raw(void *nr_pages)
{
	work(nr_pages);
	system_call(SYS_exit, 0, 0);
	return 0;
}

/* Threads that no library knows, as Go makes them. */
static void
raw(int number)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	for (int i = 0; i < number; i++)
		CHECK(clone(work_raw, stacks + (size_t)(i + 1) * STACK_BYTES, flags, (void *)(long)i) > 0);
	while (atomic_load(&nr_done) < number)
		sched_yield();
}

static void *
work_and_wait(void *nr_pages)
{
	work(nr_pages);
	while (true)
		system_call(SYS_pause, 0, 0);
	return NULL;
}

static void
exit_with_threads(int number)
{
	for (int i = 0; i < number; i++)
		begin(i, false, work_and_wait, i);
	while (atomic_load(&nr_done) < number)
		sched_yield();
	exit(5);
}

/* Says when all is there. */
static void
linger(int number)
{
	for (int i = 0; i < number; i++)
		begin(i, false, work_and_wait, i);
	while (atomic_load(&nr_done) < number)
		sched_yield();
	CHECK(write(STDOUT_FILENO, "ready\n", 6) == 6);
	while (true)
		pause();
}

static void
stop_lingering(int number)
{
	(void)number;
	_exit(42);
}

static void
linger_for_signals(int number)
{
	signal(SIGTERM, stop_lingering);
	signal(SIGINT, stop_lingering);
	linger(number);
}

static void *
touch_for_ever(void *unused)
{
	(void)unused;
	while (true) {
		char *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*page = 1;
		munmap(page, PAGE_BYTES);
		usleep(100);
	}
	return NULL;
}

static void
run_for_ever(int number)
{
	for (int i = 1; i < number; i++)
		begin(i, false, touch_for_ever, 0);
	CHECK(write(STDOUT_FILENO, "ready\n", 6) == 6);
	touch_for_ever(NULL);
}

/* They end if the call fails, as when it is interrupted. */
static void *
wait_for_event(void *unused)
{
	struct epoll_event event;

	CHECK(epoll_wait(epoll_create1(0), &event, 1, -1) == 1);
	return unused;
}

static void *
wait_for_signal(void *unused)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	CHECK(sigwaitinfo(&signals, NULL) == SIGUSR2);
	return unused;
}

static void
wait_for_ever(int number)
{
	(void)number;
	begin(1, false, wait_for_event, 0);
	begin(2, false, wait_for_signal, 0);
	CHECK(write(STDOUT_FILENO, "ready\n", 6) == 6);
	wait_for_event(NULL);
}

static void
forks(int number)
{
	for (int i = 0; i < number; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			touch(1000);
			_exit(0);
		}
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

static pid_t
execute_in_child(bool is_fork)
{
	pid_t pid = is_fork ? fork() : vfork();

	if (pid == 0) {
		execl(self, self, "threads", "3", NULL);
		_exit(9);
	}
	return pid;
}

static void
fork_and_execute(int number)
{
	for (int i = 0; i < number; i++) {
		pid_t pid = execute_in_child(i % 2);

		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

/* Children, and grandchildren whose parents have ended. */
static void
family(int number)
{
	for (int i = 0; i < number; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i % 2 == 0 || fork() == 0) {
				while (true)
					pause();
			}
			_exit(0);
		}
		if (i % 2)
			CHECK(waitpid(pid, NULL, 0) == pid);
	}
	linger(0);
}

/* Lives on when its parent has ended; ends when somebody closes standard input. */
static void
leave_child(int number)
{
	char byte;

	(void)number;
	if (fork() == 0) {
		CHECK(write(STDOUT_FILENO, "ready\n", 6) == 6);
		_exit(read(STDIN_FILENO, &byte, 1) != 0);
	}
}

/* They die with their parent, while it ends. */
static void
leave_dying(int number)
{
	int ready[2];
	char byte = 0;

	CHECK(pipe(ready) == 0);
	for (int i = 0; i < number; i++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			CHECK(write(ready[1], &byte, 1) == 1);
			while (true)
				pause();
		}
		CHECK(read(ready[0], &byte, 1) == 1);
	}
}

static void *
execute_self(void *act)
{
	execl(self, self, (char *)act, "7", NULL);
	exit(9);
}

static void
execute_from_thread(int number)
{
	begin(0, false, work_and_wait, number);
	while (atomic_load(&nr_done) < 1)
		sched_yield();
	begin(1, false, execute_self, (long)"threads");
	while (true)
		pause();
}

static void *
be_killed(void *unused)
{
	(void)unused;
	while (true) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)3) == 0)
			pthread_join(thread, NULL);
	}
	return NULL;
}

static void
kill_storm(int delay_us)
{
	pthread_t thread;

	signal(SIGALRM, SIG_DFL);
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&thread, NULL, be_killed, NULL) == 0);
	usleep((useconds_t)delay_us);
	kill(getpid(), SIGKILL);
}

static void
print_environment(int number)
{
	char folder[4096], line[64];

	(void)number;
	CHECK(getcwd(folder, sizeof(folder)) && fgets(line, sizeof(line), stdin));
	printf("%s %s %s", folder, getenv("ROT_TEST"), line);
}

static const struct {
	const char *name;
	void (*act)(int number);
} acts[] = {
	{"nothing", nothing},
	{"exit", exit_with},
	{"kill", kill_self},
	{"touch", touch_pages},
	{"threads", threads},
	{"storm", storm},
	{"crowd", crowd},
	{"family", family},
	{"nested", nested},
	{"detached", detached},
	{"rounds", rounds},
	{"raw", raw},
	{"exit_with_threads", exit_with_threads},
	{"linger", linger},
	{"linger_for_signals", linger_for_signals},
	{"run_for_ever", run_for_ever},
	{"wait_for_ever", wait_for_ever},
	{"forks", forks},
	{"fork_and_execute", fork_and_execute},
	{"leave_child", leave_child},
	{"leave_dying", leave_dying},
	{"execute_from_thread", execute_from_thread},
	{"kill_storm", kill_storm},
	{"print_environment", print_environment},
};

/* Memory that the threads need is touched before there are any. */
static void
prepare(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	stacks = mmap(NULL, NR_STACKS * STACK_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	CHECK(pool != MAP_FAILED && stacks != MAP_FAILED);
	CHECK(madvise(pool, POOL_BYTES, MADV_NOHUGEPAGE) == 0);
	memset(stacks, 1, NR_STACKS * STACK_BYTES);
	CHECK(pthread_join(begin(0, false, warm_up, 0), NULL) == 0);
	atomic_store(&nr_done, 0);
}

int
main(int argc, char **argv)
{
	CHECK(argc >= 2);
	self = argv[0];
	prctl(PR_SET_NAME, "warm");
	prepare();
	prctl(PR_SET_NAME, "main");
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, argv[1]) == 0) {
			acts[i].act(argc > 2 ? atoi(argv[2]) : 0);
			return 0;
		}
	}
	fprintf(stderr, "no act '%s'\n", argv[1]);
	return 8;
}
