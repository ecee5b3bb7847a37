/* SPDX-License-Identifier: MIT */
/*
 * Programs for storms: they do what is hard for somebody who looks on, and check themselves and their children.
 *
 * storm-victims KIND [ROUNDS]    so many rounds; without, until SIGUSR1. Tells when it is ready, and at the end what
 *                                went wrong; ends with 1 if something did
 * storm-victims reap COMMAND...  runs a command, waits for all processes that it leaves, and says to standard error how
 *                                many of them went wrong
 *
 * The region is storm_region, which every process and thread of them executes.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NR_THREADS 8
#define CALLS 20

extern char **environ;

static const char *self;
static volatile sig_atomic_t is_over;
static unsigned long nr_rounds, nr_children, nr_harmed, nr_wrong;
static long rounds_left = -1;

__attribute__((always_inline)) static inline uint64_t
mix(uint64_t x)
{
	for (int i = 0; i < 8; i++)
		x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u + (uint64_t)i;
	return x;
}

uint64_t storm_region(uint64_t x);

__attribute__((noinline)) uint64_t
storm_region(uint64_t x)
{
	return mix(x) ^ 1;
}

/* True if all calls gave what they must. */
static bool
visit(uint64_t seed)
{
	bool is_right = true;

	for (uint64_t i = 0; i < CALLS; i++)
		is_right &= storm_region(seed + i) == (mix(seed + i) ^ 1);
	return is_right;
}

static void
check(uint64_t seed)
{
	if (!visit(seed))
		__atomic_fetch_add(&nr_wrong, 1, __ATOMIC_RELAXED);
}

static void
count_child(pid_t pid, int status)
{
	__atomic_fetch_add(&nr_children, 1, __ATOMIC_RELAXED);
	if (status == 0)
		return;
	__atomic_fetch_add(&nr_harmed, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "storm-victims: process %d: %s %d\n", (int)pid, WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void
await(pid_t pid)
{
	int status;

	if (pid > 0 && waitpid(pid, &status, 0) == pid)
		count_child(pid, status);
}

/* ---- what a round is ---- */

static void
round_threads(void)
{
	check(nr_rounds);
}

static void
round_forks(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(visit((uint64_t)getpid()) ? 0 : 3);
	check(nr_rounds);
	await(pid);
}

/* The child has the memory of its parent; only functions that change none of it are called. */
static void
round_vforks(void)
{
	const pid_t pid = vfork();

	if (pid == 0)
		_exit(visit(7) ? 0 : 3);
	check(nr_rounds);
	await(pid);
}

/* A child that executes this program, which executes itself once more. */
static void
round_execs(void)
{
	char *const command[] = {(char *)self, (char *)"leaf", (char *)"1", NULL};
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, command, environ) == 0)
		await(pid);
	check(nr_rounds);
}

static void
leave_daemon(unsigned pause_us)
{
	const pid_t pid = fork();

	if (pid == 0) {
		if (fork() == 0) {
			setsid();
			for (unsigned i = 0; i < 8; i++) {
				usleep(pause_us);
				if (!visit(i))
					_exit(3);
			}
		}
		_exit(0);
	}
	await(pid);
}

/* Those that ended are this process', which adopts them. */
static void
round_daemons(void)
{
	pid_t pid;
	int status;

	leave_daemon((unsigned)(nr_rounds % 8) * 100);
	check(nr_rounds);
	while ((pid = waitpid(-1, &status, is_over ? 0 : WNOHANG)) > 0)
		count_child(pid, status);
}

/* They end some time after this process. */
static void
round_outlive(void)
{
	for (unsigned i = 0; i < 4; i++)
		leave_daemon(i * 500);
	check(1);
	is_over = 1;
}

/* Comes to the region once, at the end. */
static void
round_quiet(void)
{
	while (!is_over)
		usleep(1000);
	check(5);
}

static void
round_signals(void)
{
	for (unsigned i = 0; i < 8; i++)
		check(i);
}

__attribute__((noinline)) static void
return_at_once(void)
{
	__asm__ volatile("");
}

/* Where code is translated, most of its time goes to branches whose targets are looked up. */
static void
call_indirectly(void)
{
	void (*volatile function)(void) = return_at_once;

	for (unsigned i = 0; i < CALLS; i++)
		function();
}

/* Handlers run in the middle of regions, also when this comes just before a trap that somebody has put there. */
static void
round_traps(void)
{
	static pid_t tids[NR_THREADS];
	static unsigned nr_tids;
	static _Thread_local bool is_known;

	if (!is_known)
		tids[__atomic_fetch_add(&nr_tids, 1, __ATOMIC_RELAXED)] = gettid();
	is_known = true;
	for (unsigned i = 0; i < NR_THREADS; i++) {
		if (tids[i] != 0 && tids[i] != gettid())
			tgkill(getpid(), tids[i], SIGTRAP);
		call_indirectly();
	}
	check(nr_rounds);
}

/* A handler gets the address of the instruction, and goes on behind it. */
__attribute__((noinline)) static void
round_faults(void)
{
	__asm__ volatile("undefined_instruction: ud2");
	check(nr_rounds);
}

static const struct kind {
	const char *name;
	void (*round)(void);
	unsigned nr_threads; /* besides the first */
	bool is_leaderless;  /* the first thread ends */
	bool has_timer, adopts, catches_traps;
} kinds[] = {
	{"threads", round_threads, NR_THREADS - 1, .has_timer = false},
	{"leaderless", round_threads, NR_THREADS - 1, .is_leaderless = true},
	{"forks", round_forks, 0, .has_timer = false},
	{"thread-forks", round_forks, NR_THREADS - 1, .has_timer = false},
	{"vforks", round_vforks, 0, .has_timer = false},
	{"thread-vforks", round_vforks, 2, .has_timer = false},
	{"execs", round_execs, 0, .has_timer = false},
	{"daemons", round_daemons, 0, .adopts = true},
	{"outlive", round_outlive, 0, .has_timer = false},
	{"quiet", round_quiet, 0, .has_timer = false},
	{"signals", round_signals, 1, .has_timer = true},
	{"traps", round_traps, 3, .catches_traps = true},
	{"faults", round_faults, 3, .has_timer = false},
};

/* ---- rounds ---- */

static const struct kind *kind;

static void
stop(int number)
{
	(void)number;
	is_over = 1;
}

/*
 * In the middle of whatever the thread does. The next one comes some time after this, or else a program whose regions
 * take longer than usual would do nothing but handle signals.
 */
static void
on_timer(int number)
{
	const struct itimerval soon = {{0, 0}, {0, 300}};

	(void)number;
	check(nr_rounds);
	if (!is_over)
		setitimer(ITIMER_REAL, &soon, NULL);
}

/* Those that are sent are all there are. */
static void
on_trap(int number, siginfo_t *info, void *unused)
{
	(void)number;
	(void)unused;
	if (info->si_code > 0)
		__atomic_fetch_add(&nr_wrong, 1, __ATOMIC_RELAXED);
}

extern const char undefined_instruction[];
#define UNDEFINED_BYTES 2

static void
on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	if (info->si_addr != undefined_instruction || *rip != (greg_t)undefined_instruction)
		__atomic_fetch_add(&nr_wrong, 1, __ATOMIC_RELAXED);
	*rip += UNDEFINED_BYTES;
}

static void
install(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(number, &action, NULL);
}

static void *
run_rounds(void *unused)
{
	while (!is_over && __atomic_fetch_sub(&rounds_left, 1, __ATOMIC_RELAXED) != 0) {
		kind->round();
		__atomic_fetch_add(&nr_rounds, 1, __ATOMIC_RELAXED);
	}
	is_over = 1;
	return unused;
}

static void
tell(void)
{
	printf("%s: rounds %lu children %lu harmed %lu wrong %lu\n", kind->name, nr_rounds, nr_children, nr_harmed,
	       nr_wrong);
	fflush(stdout);
}

static pthread_t threads[NR_THREADS];

/* Of a process whose first thread has ended. */
static void *
run_to_end(void *unused)
{
	run_rounds(unused);
	for (unsigned i = 1; i < kind->nr_threads; i++)
		pthread_join(threads[i], NULL);
	tell();
	exit(nr_harmed + nr_wrong > 0);
}

static int
run_kind(void)
{
	const struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
	const struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	const struct itimerval never = {{0, 0}, {0, 0}};

	sigaction(SIGILL, &fault, NULL);
	install(SIGUSR1, stop);
	install(SIGALRM, on_timer);
	if (kind->catches_traps)
		sigaction(SIGTRAP, &trap, NULL);
	if (kind->adopts)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	puts("ready");
	fflush(stdout);
	for (unsigned i = 0; i < kind->nr_threads; i++)
		pthread_create(&threads[i], NULL, kind->is_leaderless && i == 0 ? run_to_end : run_rounds, NULL);
	if (kind->is_leaderless)
		pthread_exit(NULL);
	if (kind->has_timer)
		on_timer(SIGALRM);
	run_rounds(NULL);
	for (unsigned i = 0; i < kind->nr_threads; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	tell();
	return nr_harmed + nr_wrong > 0;
}

/* ---- other tasks ---- */

/* Executes itself so many times more. */
static int
run_leaf(char *left)
{
	char *const command[] = {(char *)self, (char *)"leaf", (char *)"0", NULL};

	if (!visit(11))
		return 3;
	if (atoi(left) > 0)
		execv(self, command);
	return 0;
}

static int
reap(char **command)
{
	unsigned long nr = 0, nr_bad = 0;
	int status, own = 1;
	pid_t pid, first;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	first = fork();
	if (first == 0) {
		execvp(*command, command);
		_exit(127);
	}
	while ((pid = wait(&status)) > 0) {
		if (pid == first)
			own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		nr += pid != first;
		nr_bad += pid != first && status != 0;
	}
	fprintf(stderr, "reaped %lu harmed %lu\n", nr, nr_bad);
	return own ? own : nr_bad > 0;
}

int
main(int argc, char **argv)
{
	self = "/proc/self/exe";
	if (argc > 2 && strcmp(argv[1], "reap") == 0)
		return reap(argv + 2);
	if (argc > 2 && strcmp(argv[1], "leaf") == 0)
		return run_leaf(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name) == 0)
			kind = &kinds[i];
	}
	if (!kind) {
		fputs("usage: storm-victims KIND [ROUNDS] | reap COMMAND...\nkinds:", stderr);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			fprintf(stderr, " %s", kinds[i].name);
		fputc('\n', stderr);
		return 2;
	}
	if (argc > 2)
		rounds_left = atol(argv[2]);
	return run_kind();
}
