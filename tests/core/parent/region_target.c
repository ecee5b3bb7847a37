/* SPDX-License-Identifier: MIT */
/*
 * A program with regions of known work: region_target ACT [NUMBER [NUMBER]]. What is touched is always fresh: each page
 * of it is one page fault. Nothing else in a region faults.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)4096)
#define NR_PAGES 512

/* No copies of it for some of its callers. */
#if __has_attribute(noipa)
#define FUNCTION static __attribute__((noipa, used))
#else
#define FUNCTION static __attribute__((noinline, used))
#endif

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #condition, errno);                       \
			exit(9);                                                                                       \
		}                                                                                                      \
	} while (0)

/* Each thread has its own. */
static __thread volatile char *pages;
static __thread size_t nr_used;
static __thread jmp_buf back;

static volatile int sink;
static int first_number, second_number;
static char *self;

/* Makes what was touched fresh again, outside of regions. */
static void
prepare(size_t nr)
{
	if (!pages) {
		void *area = mmap(NULL, NR_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		CHECK(area != MAP_FAILED);
		madvise(area, NR_PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
		pages = area;
	} else if (nr_used + nr > NR_PAGES) {
		CHECK(madvise((void *)pages, NR_PAGES * PAGE_BYTES, MADV_DONTNEED) == 0);
		nr_used = 0;
	}
}

static void
touch(size_t nr)
{
	for (; nr > 0; nr--)
		pages[PAGE_BYTES * nr_used++] = 1;
}

/* ---- regions ---- */

FUNCTION void
region_empty(void)
{
}

FUNCTION void
region_one(void)
{
	touch(1);
}

FUNCTION void
region_three(void)
{
	touch(3);
}

FUNCTION void
region_outer(void)
{
	touch(1);
	region_three();
	touch(1);
}

FUNCTION int
region_recursive(int depth)
{
	int below = depth > 1 ? region_recursive(depth - 1) : 0;

	touch(1);
	return below + 1;
}

FUNCTION void
region_jumping(bool jumps)
{
	touch(1);
	if (jumps)
		longjmp(back, 1);
	sink = 1;
}

/* The last thing that it does is a jump to another function. */
FUNCTION void
region_tail(void)
{
	touch(2);
	region_one();
}

/* A compiler cuts a function with OpenMP in two like this: the first one has the address of the second. */
FUNCTION void part_of_team(void) __asm__("region_team._omp_fn.0");

FUNCTION void
part_of_team(void)
{
	touch(1);
}

FUNCTION void
region_team(void)
{
	void (*part)(void) = part_of_team;

	__asm__("" : "+r"(part));
	touch(1);
	part();
	touch(1);
}

FUNCTION void
phase_begin(void)
{
	sink = 2;
}

FUNCTION void
phase_end(void)
{
	sink = 3;
}

/* ---- acts ---- */

static void
call_often(int nr)
{
	prepare(1);
	touch(1); /* the stack and the code of it */
	sink = 0;
	for (int i = 0; i < nr; i++) {
		prepare(1);
		region_one();
	}
}

static void *
run_thread(void *nothing)
{
	call_often(second_number);
	return nothing;
}

/* NUMBER threads call it NUMBER times each. */
static void
act_threads(void)
{
	pthread_t *threads = calloc((size_t)first_number, sizeof(*threads));

	CHECK(threads);
	for (int i = 0; i < first_number; i++)
		CHECK(pthread_create(&threads[i], NULL, run_thread, NULL) == 0);
	for (int i = 0; i < first_number; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void
act_main(void)
{
	call_often(first_number);
	region_empty();
}

static void
act_nested(void)
{
	for (int i = 0; i < first_number; i++) {
		prepare(5);
		region_outer();
	}
}

static void
act_recursive(void)
{
	for (int i = 0; i < first_number; i++) {
		prepare((size_t)second_number);
		CHECK(region_recursive(second_number) == second_number);
	}
}

/* Every third time it is left by longjmp. */
static void
act_jumping(void)
{
	for (volatile int i = 0; i < first_number; i++) {
		prepare(1);
		if (setjmp(back) == 0)
			region_jumping(i % 3 == 0);
	}
}

static void
act_tail(void)
{
	for (int i = 0; i < first_number; i++) {
		prepare(3);
		region_tail();
	}
}

static void
act_team(void)
{
	for (int i = 0; i < first_number; i++) {
		prepare(3);
		region_team();
	}
}

static void
act_phases(void)
{
	for (int i = 0; i < first_number; i++) {
		prepare(4);
		phase_begin();
		touch(4);
		phase_end();
		prepare(1);
		touch(1);
	}
}

static void
act_forks(void)
{
	for (int i = 0; i < first_number; i++) {
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0) {
			pages = NULL;
			nr_used = 0;
			call_often(second_number);
			_exit(0);
		}
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	call_often(second_number);
}

static void
become_orphan(int told)
{
	const pid_t pid = fork(), self_pid = getpid();

	CHECK(pid >= 0);
	if (pid == 0) {
		pages = NULL;
		nr_used = 0;
		CHECK(write(told, &self_pid, sizeof(self_pid)) == sizeof(self_pid));
		call_often(second_number);
	}
	_exit(0);
}

/* Until it has ended; afterwards whoever traces this process has heard of that before it hears more of this one. */
static void
wait_for_orphan(pid_t pid)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	if (end.fd >= 0) {
		CHECK(poll(&end, 1, -1) == 1);
		close(end.fd);
	}
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		_exit(0);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* Processes whose parent ends as soon as it has made them, as those of a daemon. */
static void
act_orphans(void)
{
	for (int i = 0; i < first_number; i++) {
		pid_t pid, orphan;
		int ends[2];

		CHECK(pipe(ends) == 0);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0)
			become_orphan(ends[1]);
		close(ends[1]);
		CHECK(waitpid(pid, NULL, 0) == pid);
		CHECK(read(ends[0], &orphan, sizeof(orphan)) == sizeof(orphan));
		close(ends[0]);
		wait_for_orphan(orphan);
	}
}

/* Its child goes on after it has ended, nearly always in a region, and says so. */
static void
act_leave_child(void)
{
	const pid_t self_pid = getpid(), pid = fork();

	CHECK(pid >= 0);
	if (pid > 0) {
		usleep(50000);
		return;
	}
	pages = NULL;
	nr_used = 0;
	for (int nr_left = 10; nr_left > 0; nr_left -= getppid() != self_pid) {
		prepare(100);
		region_recursive(100);
	}
	puts("went on");
	fflush(stdout);
}

/* Calls it, and then executes itself once more, where it is called as often again. */
static void
act_execute(void)
{
	char number[16];

	call_often(first_number);
	snprintf(number, sizeof(number), "%d", first_number);
	execl(self, self, "main", number, (char *)NULL);
	CHECK(false);
}

#ifdef HAS_LIBRARIES

static void (*library_region)(void (*)(void));

static void *
load(const char *name)
{
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%s_%s.so", self, name);
	library = dlopen(path, RTLD_NOW);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(library);
	return library;
}

static void *
load_library(void)
{
	void *library = load("library");

	*(void **)&library_region = dlsym(library, "library_region");
	CHECK(library_region);
	return library;
}

/* The library's function calls back for its work. */
static void
call_library(int nr)
{
	for (int i = 0; i < nr; i++) {
		prepare(1);
		library_region(region_one);
	}
}

static void
act_load(void)
{
	load_library();
	call_library(first_number);
}

/* Afterwards another one is loaded, with a function of the same name of which the places are not known. */
static void
act_load_odd(void)
{
	act_load();
	load("odd");
	call_library(first_number);
}

static void *
load_alone(void *unused)
{
	char line[512] = "";

	while (!strstr(line, ") Z ")) {
		FILE *stat = fopen("/proc/self/stat", "r");

		CHECK(stat && fgets(line, sizeof(line), stat));
		fclose(stat);
	}
	(void)unused;
	act_load();
	exit(0);
}

/* The first thread has ended when the library is loaded. */
static void
act_load_alone(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, load_alone, NULL) == 0);
	pthread_exit(NULL);
}

/* Where the library was, once it is unloaded: the next time it goes elsewhere. */
static void
occupy(void *place)
{
	void *page = (void *)((uintptr_t)place & ~(PAGE_BYTES - 1));

	CHECK(mmap(page, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == page);
}

/* The library is loaded and unloaded NUMBER times, twice at each address, and called NUMBER times in between. */
static void
act_reload(void)
{
	for (int i = 0; i < first_number; i++) {
		void *library = load_library();

		call_library(second_number);
		CHECK(dlclose(library) == 0);
		if (i % 2 == 1)
			occupy(*(void **)&library_region);
	}
}

#endif

static void
act_for_ever(void)
{
	prepare(1);
	puts("ready");
	fflush(stdout);
	while (true) {
		prepare(1);
		region_one();
	}
}

/*
 * A restartable sequence that does nothing, for a while. rdi: struct rseq of the thread; rsi: turns.
 */
void stay_in_sequence(void *thread_area, long turns);
__asm__(".text\n.globl stay_in_sequence\nstay_in_sequence:\n"
	"0: lea sequence(%rip), %rax; mov %rax, 8(%rdi)\n"
	"1: mov %rsi, %rdx\n"
	"2: dec %rdx; jnz 2b\n"
	"3: movq $0, 8(%rdi); ret\n"
	".long 0x53053053\n"
	"4: jmp 0b\n"
	".data\n.balign 32\nsequence: .long 0, 0; .quad 1b, 3b - 1b, 4b\n.text\n");

/* The libc has them since 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#define LONG_SEQUENCE 50000

static void
act_sequences(void)
{
	CHECK(&__rseq_size && __rseq_size > 0);
	prepare(1);
	puts("ready");
	fflush(stdout);
	while (true) {
		stay_in_sequence((char *)__builtin_thread_pointer() + __rseq_offset, LONG_SEQUENCE);
		prepare(1);
		region_one();
	}
}

static const struct {
	const char *name;
	void (*perform)(void);
} acts[] = {
	{"threads", act_threads},   {"main", act_main},
	{"nested", act_nested},     {"recursive", act_recursive},
	{"jumping", act_jumping},   {"tail", act_tail},
	{"phases", act_phases},     {"forks", act_forks},
	{"execute", act_execute},   {"leave_child", act_leave_child},
	{"for_ever", act_for_ever}, {"sequences", act_sequences},
	{"orphans", act_orphans},   {"team", act_team},
#ifdef HAS_LIBRARIES
	{"load", act_load},         {"reload", act_reload},
	{"load_odd", act_load_odd}, {"load_alone", act_load_alone},
#endif
};

int
main(int argc, char *argv[])
{
	CHECK(argc > 1);
	self = argv[0];
	first_number = argc > 2 ? atoi(argv[2]) : 1;
	second_number = argc > 3 ? atoi(argv[3]) : 1;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, argv[1]) == 0) {
			acts[i].perform();
			return 0;
		}
	}
	return 2;
}
