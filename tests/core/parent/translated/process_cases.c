/* SPDX-License-Identifier: MIT */
/* Processes: fork, vfork, posix_spawn, execve, and who inherits what. */
#include "acts.h"

#include <dirent.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "hard_cases.h"

extern char **environ;

/* ---- what this program does when it is started again ---- */

static int
count_down(int nr_left)
{
	char number[16], name[] = "=count-down";
	char *arguments[] = {name, name, number, NULL};

	if (nr_left == 0)
		return 17;
	snprintf(number, sizeof(number), "%d", nr_left - 1);
	execv(own_path, arguments);
	return 1;
}

/* Expects SIGTRAP and SIGUSR1 blocked, SIGUSR2 ignored, and nothing else. */
static int
look_at_masks(void)
{
	sigset_t mask;
	struct sigaction action;

	CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0);
	for (int i = 1; i < NSIG; i++)
		CHECK(sigismember(&mask, i) == -1 || sigismember(&mask, i) == (i == SIGTRAP || i == SIGUSR1));
	CHECK(sigaction(SIGUSR2, NULL, &action) == 0 && action.sa_handler == SIG_IGN);
	CHECK(sigaction(SIGTRAP, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	CHECK(sigaction(SIGWINCH, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	return 18;
}

int
act(int nr_arguments, char **arguments)
{
	if (strcmp(*arguments, "=status") == 0 && nr_arguments > 1)
		return atoi(arguments[1]);
	if (strcmp(*arguments, "=count-down") == 0 && nr_arguments > 1)
		return count_down(atoi(arguments[1]));
	if (strcmp(*arguments, "=crowd") == 0 && nr_arguments > 1)
		return crowd_of(atoi(arguments[1])) == atoi(arguments[1]) ? 0 : 77;
	if (strcmp(*arguments, "=masks") == 0)
		return look_at_masks();
	if (strcmp(*arguments, "=lock") == 0)
		return lock_memory();
	return 2;
}

/* ---- fork and vfork ---- */

static void
forks(void)
{
	int shared = 1;
	volatile int *const common =
		(volatile int *)mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 50; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			shared++;
			++*common;
			if (i % 10 == 0) { /* two generations */
				pid = fork();
				if (pid == 0)
					_exit(shared);
				CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 2);
			}
			_exit(i);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == i);
		CHECK(shared == 1 && *common == i + 1);
	}
	munmap((void *)(uintptr_t)common, PAGE);
}

/* Code that no other is near, and from which other code can just be reached. */
#define FAR UINT64_C(0x110000000000)
#define JUST_REACHED (UINT64_C(0x80000000) - 2 * PAGE)

static unsigned char *
pages_at(uint64_t address)
{
	void *pages = mmap((void *)address, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK(pages == (void *)address);
	return pages;
}

static int
call_code(const unsigned char *code)
{
	return ((number_function *)(uintptr_t)code)();
}

/* Parent and child come to code that is new to both, each as the first in turn. */
static void
forks_to_new_code(void)
{
	for (int i = 0; i < 20; i++) {
		unsigned char *near = pages_at(FAR + ((uint64_t)i << 36)),
			      *far = pages_at((uint64_t)near + JUST_REACHED);
		const int32_t distance = (int32_t)(far - (near + 64 + 5));
		int ends[2], status;
		bool waits;
		char byte;
		pid_t pid;

		put_number(near, i);
		near[64] = 0xe9; /* jmp */
		memcpy(near + 65, &distance, sizeof(distance));
		put_number(far, i + 1);
		CHECK_SAME(i % 4 < 2 ? call_code(near) : i, i);
		CHECK(pipe(ends) == 0);
		pid = fork();
		CHECK(pid >= 0);
		waits = (pid == 0) == (i % 2 == 0);
		close(ends[waits]);
		CHECK(!waits || read(ends[0], &byte, 1) == 1);
		CHECK_SAME(call_code(near + 64), i + 1);
		CHECK(waits || write(ends[1], "", 1) == 1);
		if (pid == 0)
			_exit(i);
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == i);
		close(ends[!waits]);
	}
}

/* The process that runs on first after a fork is not known. */
static void
forks_and_new_code_at_once(void)
{
	for (int i = 0; i < 40; i++) {
		const unsigned char *code = put_number(pages_at(FAR + ((uint64_t)i << 34)), i) - 6;
		int status;
		pid_t pid = fork();

		CHECK_SAME(call_code(code), i);
		if (pid == 0)
			_exit(i);
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == i);
	}
}

#define NR_NEW 40
static const unsigned char *new_code[NR_NEW];
static volatile int nr_called;

static void
call_all_new_code(void)
{
	for (int i = 0; i < NR_NEW; i++)
		CHECK_SAME(call_code(new_code[i]), i);
}

static void *
call_new_code(void *unused)
{
	for (; nr_called < NR_NEW; nr_called++) {
		usleep(300);
		CHECK_SAME(call_code(new_code[nr_called]), nr_called);
	}
	return unused;
}

static void
fork_beside_new_code(void)
{
	pthread_t thread;

	for (int i = 0; i < NR_NEW; i++)
		new_code[i] = put_number(pages_at(FAR + ((uint64_t)i << 34)), i) - 6;
	CHECK(pthread_create(&thread, NULL, call_new_code, NULL) == 0);
	while (nr_called < NR_NEW)
		CHECK_SAME(status_of(call_all_new_code), 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

/* One thread comes to it while another one forks. */
static void
forks_beside_new_code(void)
{
	for (int i = 0; i < 5; i++)
		CHECK_SAME(status_of(fork_beside_new_code), 0);
}

static void *
fork_some(void *number)
{
	for (int i = 0; i < 10; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			_exit((int)(uintptr_t)number + i);
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == (int)(uintptr_t)number + i);
	}
	return NULL;
}

static void
forks_of_threads(void)
{
	pthread_t threads[8];

	for (uintptr_t i = 0; i < 8; i++)
		CHECK(pthread_create(&threads[i], NULL, fork_some, (void *)i) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void
make_code(int number)
{
	unsigned char *code = pages_new(1, PROT_READ | PROT_WRITE);

	put_number(code, number);
	CHECK(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
	CHECK_SAME(((number_function *)(uintptr_t)code)(), number);
	munmap(code, PAGE);
}

static void
compute_and_make(void)
{
	char text[32];

	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "%g", 1.5 * i);
		CHECK(strtod(text, NULL) == 1.5 * i);
		make_code(i);
	}
}

static atomic_int nr_forking;

static void *
fork_and_compute(void *unused)
{
	for (int i = 0; i < 100; i++)
		CHECK_SAME(status_of(compute_and_make), 0);
	nr_forking--;
	return unused;
}

/* One thread makes code, which its process no longer shares with those that others are forking. */
static void
forks_while_code_is_made(void)
{
	pthread_t threads[2];

	nr_forking = 2;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, fork_and_compute, NULL) == 0);
	for (int i = 0; nr_forking > 0; i++)
		make_code(i);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

/* The descriptors that the tracer of this process has open; 0: nobody traces it, or it is not known. */
static int
nr_descriptors_of_tracer(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0, nr = 0;
	DIR *folder;

	while (file && fgets(line, sizeof(line), file) && sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	if (file)
		fclose(file);
	snprintf(line, sizeof(line), "/proc/%d/fd", tracer);
	folder = opendir(line);
	while (folder && readdir(folder))
		nr++;
	if (folder)
		closedir(folder);
	return nr;
}

/* Children of the main thread, as soon as there are any. */
static void *
kill_children(void *unused)
{
	char path[64], line[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	while (nr_forking > 0) {
		const int file = open(path, O_RDONLY | O_CLOEXEC);
		const ssize_t n = file < 0 ? -1 : read(file, line, sizeof(line) - 1);

		line[n > 0 ? n : 0] = '\0';
		if (atoi(line) > 1)
			kill(atoi(line), SIGKILL);
		if (file >= 0)
			close(file);
	}
	return unused;
}

/* Some of them before a tracer has seen them. What it keeps for a process, it gives up. */
static void
killed_as_they_begin(void)
{
	int nr_descriptors = 0;
	pthread_t thread;

	nr_forking = 1;
	CHECK(pthread_create(&thread, NULL, kill_children, NULL) == 0);
	for (int i = 0; i < 150; i++) {
		const pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
		make_code(i);
		if (i == 20)
			nr_descriptors = nr_descriptors_of_tracer();
	}
	CHECK(nr_descriptors_of_tracer() < nr_descriptors + 10);
	nr_forking = 0;
	CHECK(pthread_join(thread, NULL) == 0);
}

/* The child uses its parent's memory and stack until it ends or executes another program. */
static void __attribute__((noinline)) vfork_and_change(volatile int *number)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		*number += 3;
		_exit(21);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 21);
}

static void
vforks(void)
{
	static char name[] = "=status", number[] = "33";
	char *const arguments[] = {name, name, number, NULL};
	volatile int changed = 0;

	for (volatile int i = 0; i < 30; i++) {
		int status;
		pid_t pid;

		vfork_and_change(&changed);
		CHECK_SAME(changed, 3 * (i + 1));
		pid = vfork();
		if (pid == 0) {
			execv(i % 3 ? own_path : "/no/such/program", arguments);
			_exit(44);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (i % 3 ? 33 : 44));
	}
}

static void *
vfork_some(void *unused)
{
	volatile int changed = 0;

	for (int i = 0; i < 10; i++) {
		vfork_and_change(&changed);
		CHECK_SAME(changed, 3 * (i + 1));
	}
	return unused;
}

static void
vforks_of_threads(void)
{
	pthread_t threads[6];

	for (int i = 0; i < 6; i++)
		CHECK(pthread_create(&threads[i], NULL, vfork_some, NULL) == 0);
	for (int i = 0; i < 6; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void
spawned(void)
{
	static char name[] = "=status", number[] = "55";
	char *const arguments[] = {name, name, number, NULL};

	for (int i = 0; i < 20; i++) {
		int status;
		pid_t pid;
		FILE *pipe;
		char line[32] = "";

		CHECK(posix_spawn(&pid, own_path, NULL, NULL, arguments, environ) == 0);
		CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 55);
		CHECK(posix_spawn(&pid, "/no/such/program", NULL, NULL, arguments, environ) == ENOENT);
		status = system("exit 5");
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
		pipe = popen("echo out of a pipe", "re");
		CHECK(pipe && fgets(line, sizeof(line), pipe) && strcmp(line, "out of a pipe\n") == 0 &&
		      pclose(pipe) == 0);
	}
}

/* ---- execve ---- */

static void
execute_often(void)
{
	_exit(count_down(15));
}

static void
chain_of_programs(void)
{
	int status = status_of(execute_often);

	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
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
execute_in_thread(void *unused)
{
	static char name[] = "=status", number[] = "66";
	char *const arguments[] = {name, name, number, NULL};

	usleep(500);
	CHECK(execv("/no/such/program", arguments) == -1 && errno == ENOENT);
	execv(own_path, arguments);
	return unused;
}

static void
execute_among_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++)
		CHECK(pthread_create(&thread, NULL, compute, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, execute_in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	compute(NULL);
}

/* All other threads vanish, and the one that calls becomes the first. */
static void
execve_from_a_thread(void)
{
	for (int i = 0; i < 10; i++) {
		int status = status_of(execute_among_threads);

		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 66);
	}
}

static void
execute_with_masks(void)
{
	static char name[] = "=masks";
	char *const arguments[] = {name, name, NULL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaddset(&set, SIGUSR1);
	for (int i = 1; i < SIGRTMIN; i++)
		signal(i, SIG_DFL);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGWINCH, (void (*)(int))(uintptr_t)abort);
	execv(own_path, arguments);
	_exit(1);
}

static void
masks_over_execve(void)
{
	for (int i = 0; i < 5; i++) {
		int status = status_of(execute_with_masks);

		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 18);
	}
}

static void
execute_descriptor(void)
{
	static char name[] = "=status", number[] = "70";
	char *const arguments[] = {name, name, number, NULL};

	fexecve(open(own_path, O_RDONLY), arguments, environ);
	_exit(1);
}

/* A script: the kernel executes another program than was asked for. */
static void
execute_script(void)
{
	char path[] = "/tmp/rot-hard-case-XXXXXX";
	char *const arguments[] = {path, NULL};
	int file = mkstemp(path), status;
	pid_t pid;

	if (file < 0 || write(file, "#!/bin/sh\nexit 71\n", 18) != 18 || fchmod(file, 0700) < 0)
		_exit(1);
	close(file);
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (pid == 0) {
			execv(path, arguments);
			_exit(errno == ETXTBSY ? 72
					       : 1); /* another process that is just being made holds the file open */
		}
		waitpid(pid, &status, 0);
		if (WEXITSTATUS(status) != 72)
			break;
	}
	unlink(path);
	_exit(WEXITSTATUS(status));
}

static void
other_programs(void)
{
	CHECK_SAME(WEXITSTATUS(status_of(execute_descriptor)), 70);
	CHECK_SAME(WEXITSTATUS(status_of(execute_script)), 71);
}

/* ---- processes that outlive their parents ---- */

static int ends[2];

static void
leave_orphan(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		usleep(3000);
		CHECK(write(ends[1], "orphan", 6) == 6);
		_exit(0);
	}
	CHECK(pid > 0);
}

static void
orphans(void)
{
	char text[8];

	CHECK(pipe(ends) == 0);
	for (int i = 0; i < 10; i++) {
		CHECK_SAME(status_of(leave_orphan), 0);
		CHECK(read(ends[0], text, sizeof(text)) == 6 && memcmp(text, "orphan", 6) == 0);
	}
	close(ends[0]);
	close(ends[1]);
}

const struct hard_case process_cases[] = {
	{"forks", forks},
	{"forks-to-new-code", forks_to_new_code},
	{"forks-and-new-code-at-once", forks_and_new_code_at_once},
	{"forks-beside-new-code", forks_beside_new_code},
	{"forks-of-threads", forks_of_threads},
	{"forks-while-code-is-made", forks_while_code_is_made},
	{"killed-as-they-begin", killed_as_they_begin},
	{"vforks", vforks},
	{"vforks-of-threads", vforks_of_threads},
	{"spawned", spawned},
	{"chain-of-programs", chain_of_programs},
	{"execve-from-a-thread", execve_from_a_thread},
	{"masks-over-execve", masks_over_execve},
	{"other-programs", other_programs},
	{"orphans", orphans},
	{NULL, NULL},
};
