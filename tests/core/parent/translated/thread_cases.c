/* SPDX-License-Identifier: MIT */
/* Threads: made in every way, many, cancelled, ending in any order. */
#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "acts.h"
#include "hard_cases.h"

static atomic_int nr_done;

static void *
add_one(void *unused)
{
	nr_done++;
	return unused;
}

static void
small_stacks(pthread_attr_t *attributes)
{
	pthread_attr_init(attributes);
	pthread_attr_setstacksize(attributes, 16384);
}

/* One after the other, a hundred at once. */
static void
ten_thousand_threads(void)
{
	pthread_t threads[100];
	pthread_attr_t small;

	small_stacks(&small);
	nr_done = 0;
	for (int i = 0; i < 10100; i++) {
		if (i >= 100)
			CHECK(pthread_join(threads[i % 100], NULL) == 0);
		if (i < 10000)
			CHECK(pthread_create(&threads[i % 100], &small, add_one, NULL) == 0);
	}
	CHECK_SAME(nr_done, 10000);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool is_open;

static void *
wait_for_gate(void *unused)
{
	pthread_mutex_lock(&gate);
	while (!is_open)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
	nr_done++;
	return unused;
}

int
crowd_of(int most)
{
	pthread_t *threads = calloc((size_t)most, sizeof(*threads));
	pthread_attr_t small;
	int nr = 0;

	small_stacks(&small);
	nr_done = 0;
	is_open = false;
	while (nr < most && pthread_create(&threads[nr], &small, wait_for_gate, NULL) == 0)
		nr++;
	pthread_mutex_lock(&gate);
	is_open = true;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < nr; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK_SAME(nr_done, nr);
	free(threads);
	return nr;
}

static void
crowd(void)
{
	if (crowd_of(5000) < 5000)
		skip("so many threads are not permitted");
}

/* Memory for counters of 256 threads, and for code. */
static void
execute_crowd(void)
{
	const struct rlimit limit = {UINT64_C(24) << 30, UINT64_C(24) << 30};
	static char name[] = "=crowd", number[] = "300";
	char *const arguments[] = {name, name, number, NULL};

	setrlimit(RLIMIT_AS, &limit);
	execv(own_path, arguments);
}

/* Some cannot be counted, and yet run. */
static void
crowd_without_room(void)
{
	const int status = status_of(execute_crowd);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("so many threads are not permitted");
	CHECK_SAME(status, 0);
}

/* ---- threads without the C library ---- */

/* With its own stack and thread-local storage; its code knows nothing of the C library, as programs of Go do not. */
static struct bare_thread {
	uint64_t self, value, other_value;
	uint32_t tid;
	uint32_t pad;
	unsigned char *stack;
} bare_threads[8];

long clone_bare(uint64_t flags, void *stack, void *parent_tid, void *child_tid, void *tls);
/* The child adds up what it finds through fs, into its own structure, and ends. */
__asm__(".text\nclone_bare: mov %rcx, %r10\n mov $56, %eax\n syscall\n test %rax, %rax\n jz 1f\n ret\n"
	"1: xor %ebp, %ebp\n mov $100000, %ecx\n 2: mov %fs:8, %rax\n add $3, %rax\n mov %rax, %fs:8\n call 4f\n dec "
	"%ecx\n jnz 2b\n"
	"mov %fs:0, %rax\n mov %rsp, 16(%rax)\n mov $39, %eax\n syscall\n mov $24, %eax\n syscall\n xor %edi, %edi\n "
	"mov $60, %eax\n"
	"syscall\n ud2\n 4: lea 3f(%rip), %rdx\n jmp *%rdx\n 3: ret\n");

static void
threads_without_library(void)
{
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			       CLONE_SETTLS | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;

	memset(bare_threads, 0, sizeof(bare_threads));
	for (int i = 0; i < NR_ELEMENTS(bare_threads); i++) {
		struct bare_thread *thread = &bare_threads[i];

		thread->self = (uint64_t)thread;
		thread->stack = pages_new(1, PROT_READ | PROT_WRITE);
		thread->tid = 1;
		CHECK(clone_bare(flags, thread->stack + PAGE, &thread->tid, &thread->tid, thread) > 0);
	}
	for (int i = 0; i < NR_ELEMENTS(bare_threads); i++) {
		struct bare_thread *thread = &bare_threads[i];
		uint32_t tid;

		while ((tid = *(volatile uint32_t *)&thread->tid) != 0)
			syscall(SYS_futex, &thread->tid, FUTEX_WAIT, tid, NULL, NULL, 0);
		CHECK_SAME(thread->value, 300000);
		CHECK_SAME(thread->other_value, thread->stack + PAGE);
		munmap(thread->stack, PAGE);
	}
}

static int
run_in_clone(void *number)
{
	*(int *)number += 5;
	return 9;
}

/* Processes that share memory, files, or nothing; and clone3. */
static void
clones_of_all_kinds(void)
{
	static const int flags[] = {SIGCHLD, SIGCHLD | CLONE_VM, SIGCHLD | CLONE_VM | CLONE_FILES | CLONE_FS,
				    SIGCHLD | CLONE_VM | CLONE_VFORK};
	unsigned char *stack = pages_new(16, PROT_READ | PROT_WRITE);

	for (int i = 0; i < 40; i++) {
		int number = 1, status;
		pid_t pid = clone(run_in_clone, stack + 16 * PAGE, flags[i % 4], &number);

		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
		CHECK_SAME(number, i % 4 == 0 ? 1 : 6);
	}
	for (int i = 0; i < 10; i++) {
		struct clone_args arguments = {.exit_signal = SIGCHLD};
		int status;
		long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));

		if (pid == 0)
			_exit(4);
		CHECK(pid > 0 && waitpid((pid_t)pid, &status, 0) == pid && WEXITSTATUS(status) == 4);
	}
	munmap(stack, 16 * PAGE);
}

/* ---- ends ---- */

static void *
exit_later(void *unused)
{
	volatile uint64_t sum = 1;

	for (int i = 0; i < 3000000; i++)
		sum = sum * 5 + 1;
	usleep(2000);
	_exit(sum != 0 ? 8 : 1);
	return unused;
}

static void
leave_first(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, exit_later, NULL) == 0);
	syscall(SYS_exit, 3);
}

/* The first thread ends; the process lives on as long as the others do. */
static void
first_thread_ends(void)
{
	for (int i = 0; i < 10; i++) {
		int status = status_of(leave_first);

		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
	}
}

static void *
compute(void *unused)
{
	volatile uint64_t sum = 1;

	for (;;)
		sum = sum * 5 + 1;
	return unused;
}

static void *
exit_all(void *unused)
{
	usleep(1000);
	_exit(11);
	return unused;
}

static void *
kill_all(void *unused)
{
	usleep(1000);
	kill(getpid(), SIGKILL);
	return unused;
}

static void
begin_many(void *(*last)(void *))
{
	pthread_t thread;

	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&thread, NULL, compute, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, last, NULL) == 0);
	compute(NULL);
}

static void
exit_among_threads(void)
{
	begin_many(exit_all);
}

static void
kill_among_threads(void)
{
	begin_many(kill_all);
}

/* The whole process ends while its threads compute. */
static void
ends_among_threads(void)
{
	for (int i = 0; i < 10; i++) {
		int status = status_of(exit_among_threads);

		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 11);
		status = status_of(kill_among_threads);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* ---- cancelled ---- */

static void
clean_up(void *number)
{
	++*(int *)number;
}

static void *
sleep_cancellable(void *number)
{
	pthread_cleanup_push(clean_up, number);
	for (;;)
		sleep(1000);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *
compute_cancellable(void *number)
{
	int old;
	volatile uint64_t sum = 1;

	pthread_cleanup_push(clean_up, number);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	for (;;)
		sum = sum * 5 + 1;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *
leave_by_exit(void *number)
{
	pthread_cleanup_push(clean_up, number);
	pthread_exit(number);
	pthread_cleanup_pop(0);
	return NULL;
}

/* Ends by unwinding, from wherever the thread is. */
static void
cancelled_threads(void)
{
	static void *(*const ways[])(void *) = {sleep_cancellable, compute_cancellable, leave_by_exit};

	for (int i = 0; i < 60; i++) {
		pthread_t thread;
		int number = 0;
		void *result;

		CHECK(pthread_create(&thread, NULL, ways[i % 3], &number) == 0);
		if (i % 2)
			usleep(500);
		if (i % 3 != 2)
			CHECK(pthread_cancel(thread) == 0);
		CHECK(pthread_join(thread, &result) == 0);
		CHECK(result == (i % 3 == 2 ? (void *)&number : PTHREAD_CANCELED));
		CHECK(number == 1 || (number == 0 && i % 3 != 2)); /* 0: before it has pushed */
	}
}

/* ---- what belongs to a thread ---- */

static __thread uint64_t own_number = 1234;
static pthread_barrier_t together;

static void *
use_own_storage(void *number)
{
	char name[16], got[16];
	sigset_t mask;

	CHECK_SAME(own_number, 1234);
	own_number = (uint64_t)(uintptr_t)number;
	snprintf(name, sizeof(name), "thread-%d", (int)(uintptr_t)number);
	CHECK(pthread_setname_np(pthread_self(), name) == 0);
	pthread_barrier_wait(&together);
	for (int i = 0; i < 200; i++) {
		sched_yield();
		CHECK_SAME(own_number, (uintptr_t)number);
	}
	CHECK(pthread_getname_np(pthread_self(), got, sizeof(got)) == 0 && strcmp(name, got) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, SIGTRAP) &&
	      sigismember(&mask, SIGUSR2));
	CHECK(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGSEGV));
	pthread_barrier_wait(&together);
	return NULL;
}

static void
storage_and_masks(void)
{
	pthread_t threads[20];
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR2);
	CHECK(pthread_sigmask(SIG_SETMASK, &set, &old) == 0);
	pthread_barrier_init(&together, NULL, 20);
	for (uintptr_t i = 0; i < 20; i++)
		CHECK(pthread_create(&threads[i], NULL, use_own_storage, (void *)i) == 0);
	for (int i = 0; i < 20; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	pthread_barrier_destroy(&together);
	CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
}

static pthread_mutex_t robust;

static void *
die_with_lock(void *unused)
{
	CHECK(pthread_mutex_lock(&robust) == 0);
	return unused;
}

/* The kernel itself releases what a dead thread held. */
static void
locks_of_dead_threads(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, die_with_lock, NULL) == 0 && pthread_join(thread, NULL) == 0);
		CHECK_SAME(pthread_mutex_lock(&robust), EOWNERDEAD);
		CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
	}
	pthread_mutex_destroy(&robust);
}

static atomic_int has_ended;

static void *
wait_for_end(void *unused)
{
	while (!has_ended)
		usleep(200);
	return unused;
}

/* The C library signals every thread to change who it is. */
static void
identity_of_all_threads(void)
{
	pthread_t threads[10];

	has_ended = 0;
	for (int i = 0; i < 10; i++)
		CHECK(pthread_create(&threads[i], NULL, wait_for_end, NULL) == 0);
	for (int i = 0; i < 20; i++)
		CHECK(setegid(getegid()) == 0 && seteuid(geteuid()) == 0);
	has_ended = 1;
	for (int i = 0; i < 10; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static pid_t target_of_traps;
static volatile int nr_traps, nesting;

static void
on_sent_trap(int number)
{
	CHECK_SAME(number, SIGTRAP);
	CHECK(++nesting == 1);
	nr_traps++;
	nesting--;
}

/* Not faster than somebody who looks on can follow, or the thread would do nothing else. */
static void *
send_traps(void *unused)
{
	for (unsigned wait = 1; !has_ended; wait = wait * 1664525 + 1013904223) {
		syscall(SYS_tgkill, getpid(), target_of_traps, SIGTRAP);
		for (volatile unsigned left = wait >> 13; left > 0; left--)
			;
	}
	return unused;
}

/* rsi after the call, which leaves it alone. */
static const sigset_t *
change_mask(long how, const sigset_t *set)
{
	register long size __asm__("r10") = 8;
	const sigset_t *after;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result), "=S"(after)
			 : "a"(SYS_rt_sigprocmask), "D"(how), "S"(set), "d"(NULL), "r"(size)
			 : "rcx", "r11", "memory");
	CHECK_SAME(result, 0);
	return after;
}

/* They come in the middle of everything, steps and traps of whoever looks on among them. */
static void
traps_without_end(void)
{
	struct sigaction old_action, action = {.sa_handler = on_sent_trap, .sa_flags = SA_RESTART};
	pthread_t senders[2];
	sigset_t trap, old;

	has_ended = nr_traps = 0;
	target_of_traps = gettid();
	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	CHECK(sigaction(SIGTRAP, &action, &old_action) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&senders[i], NULL, send_traps, NULL) == 0);
	for (int i = 0; i < 1000; i++) {
		CHECK(pthread_sigmask(i % 2 == 0 ? SIG_BLOCK : SIG_UNBLOCK, &trap, &old) == 0);
		CHECK(sigismember(&old, SIGTRAP) == i % 2);
		CHECK(change_mask(i % 2 == 0 ? SIG_BLOCK : SIG_UNBLOCK, &trap) == &trap);
	}
	has_ended = 1;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(senders[i], NULL) == 0);
	nr_traps = 0;
	raise(SIGTRAP);
	CHECK_SAME(nr_traps, 1);
	CHECK(sigaction(SIGTRAP, &old_action, NULL) == 0);
}

const struct hard_case thread_cases[] = {
	{"ten-thousand-threads", ten_thousand_threads},
	{"crowd", crowd},
	{"crowd-without-room", crowd_without_room},
	{"threads-without-library", threads_without_library},
	{"clones-of-all-kinds", clones_of_all_kinds},
	{"first-thread-ends", first_thread_ends},
	{"ends-among-threads", ends_among_threads},
	{"cancelled-threads", cancelled_threads},
	{"storage-and-masks", storage_and_masks},
	{"locks-of-dead-threads", locks_of_dead_threads},
	{"identity-of-all-threads", identity_of_all_threads},
	{"traps-without-end", traps_without_end},
	{NULL, NULL},
};
