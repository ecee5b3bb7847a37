/* SPDX-License-Identifier: MIT */
/*
 * Kernel of tests: threads whose page faults are known. Stacks are the kernel's own and touched ahead, so that a thread
 * meets no fresh page but those of its work.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "CrewData.h"
#include "kernel.h"
#include "memory.h"

#define PAGE_BYTES ((size_t)4096)
#define STACK_BYTES ((size_t)1 << 18)

/* Order of the matrices of OpenBLAS, beyond which it uses its threads. */
#define ORDER 256

struct crew;

struct member {
	struct crew *crew;
	size_t nr_pages; /* in each round */
	char *pages;     /* of all rounds, one after the other */
	pthread_t pthread;
};

typedef void parallel_function(void (*)(void *), void *, unsigned, unsigned);
typedef int number_function(void);
typedef void set_number_function(int);
typedef void
dgemm_function(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);

struct crew {
	struct crew_data data;
	size_t nr;
	struct member *members;
	char *pages, *stacks;
	size_t page_bytes, nr_stacks, next_stack;
	void *library;
	parallel_function *parallel;
	number_function *number;
	dgemm_function *dgemm;
	double *matrices;
	/* the pool: everybody works once whenever round has changed */
	pthread_mutex_t lock;
	pthread_cond_t changed, done;
	int round;
	size_t nr_busy;
	bool is_over;
	atomic_size_t nr_left;
};

extern const size_t crew_size;
extern const struct kernel_type kernel_crew;

static void
work(struct member *member, int round)
{
	volatile char *pages = member->pages + (size_t)round * member->nr_pages * PAGE_BYTES;

	for (size_t i = 0; i < member->nr_pages; i++)
		pages[i * PAGE_BYTES] = 1;
}

static void *
work_all_rounds(void *argument)
{
	struct member *member = argument;

	for (int round = 0; round < member->crew->data.rounds; round++)
		work(member, round);
	atomic_fetch_sub(&member->crew->nr_left, 1);
	return NULL;
}

static int
create(struct member *member, void *(*function)(void *), bool is_detached)
{
	struct crew *crew = member->crew;
	pthread_attr_t attributes;
	int status;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, crew->stacks + crew->next_stack * STACK_BYTES, STACK_BYTES);
	crew->next_stack = (crew->next_stack + 1) % crew->nr_stacks;
	if (is_detached)
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	status = pthread_create(&member->pthread, &attributes, function, member);
	pthread_attr_destroy(&attributes);
	return status;
}

/* A thread that is nobody's any more, until a file tells it to end. */
static void *
work_and_linger(void *argument)
{
	work_all_rounds(argument);
	while (access(getenv("CREW_END"), F_OK) != 0)
		usleep(1000);
	return NULL;
}

/* ---- created by a run ---- */

static void
run_joined(struct crew *crew)
{
	for (size_t i = 0; i < crew->nr; i++)
		create(&crew->members[i], work_all_rounds, false);
	for (size_t i = 0; i < crew->nr; i++)
		pthread_join(crew->members[i].pthread, NULL);
}

static void
run_short(struct crew *crew)
{
	for (size_t i = 0; i < crew->nr; i++) {
		create(&crew->members[i], work_all_rounds, false);
		pthread_join(crew->members[i].pthread, NULL);
	}
}

static void
run_without_join(struct crew *crew, void *(*function)(void *))
{
	for (size_t i = 0; i < crew->nr; i++)
		create(&crew->members[i], function, true);
	while (crew->nr_left > 0)
		usleep(100);
}

static void
run_detached(struct crew *crew)
{
	run_without_join(crew, work_all_rounds);
}

static void
run_lingering(struct crew *crew)
{
	run_without_join(crew, work_and_linger);
}

/* ---- that end the process while others are created ---- */

static void *
exit_now(void *unused)
{
	(void)unused;
	_exit(3);
}

static void *
die_now(void *unused)
{
	(void)unused;
	raise(SIGKILL);
	return NULL;
}

static void
run_until(struct crew *crew, void *(*last)(void *))
{
	for (size_t i = 0; true; i = (i + 1) % crew->nr) {
		create(&crew->members[i], i + 1 == crew->nr ? last : work_all_rounds, false);
		if (i % 2 == 1)
			pthread_join(crew->members[i].pthread, NULL);
	}
}

static void
run_exits(struct crew *crew)
{
	run_until(crew, exit_now);
}

static void
run_dies(struct crew *crew)
{
	run_until(crew, die_now);
}

/* ---- a pool ---- */

static void *
pool_main(void *argument)
{
	struct member *member = argument;
	struct crew *crew = member->crew;

	pthread_mutex_lock(&crew->lock);
	for (int seen = 0; !crew->is_over;) {
		int round = crew->round;

		if (round == seen) {
			pthread_cond_wait(&crew->changed, &crew->lock);
			continue;
		}
		seen = round;
		pthread_mutex_unlock(&crew->lock);
		work(member, (round - 1) % crew->data.rounds);
		pthread_mutex_lock(&crew->lock);
		if (--crew->nr_busy == 0)
			pthread_cond_signal(&crew->done);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void
run_pool(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	for (int round = 0; round < crew->data.rounds; round++) {
		crew->round++;
		crew->nr_busy = crew->nr;
		pthread_cond_broadcast(&crew->changed);
		while (crew->nr_busy > 0)
			pthread_cond_wait(&crew->done, &crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
}

static void
end_pool(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->is_over = true;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	for (size_t i = 0; i < crew->nr; i++)
		pthread_join(crew->members[i].pthread, NULL);
}

/* ---- those of libraries ---- */

static void
work_of_open_mp(void *argument)
{
	struct crew *crew = argument;

	work_all_rounds(&crew->members[crew->number()]);
}

static void
run_open_mp(struct crew *crew)
{
	crew->parallel(work_of_open_mp, crew, (unsigned)crew->nr, 0);
}

static void
run_blas(struct crew *crew)
{
	const double *a = crew->matrices, *b = a + ORDER * ORDER;

	/* row major, neither transposed */
	crew->dgemm(101, 111, 111, ORDER, ORDER, ORDER, 1, a, ORDER, b, ORDER, 0, crew->matrices + 2 * ORDER * ORDER,
		    ORDER);
}

static void *
symbol(struct crew *crew, const char *name)
{
	return crew->library ? dlsym(crew->library, name) : NULL;
}

static int
load(struct crew *crew)
{
	bool is_blas = strcmp(crew->data.mode, "blas") == 0;
	const char *name = is_blas ? "libopenblas.so.0" : "libgomp.so.1";

	crew->library = dlopen(name, RTLD_NOW | RTLD_NODELETE);
	*(void **)&crew->parallel = symbol(crew, "GOMP_parallel");
	*(void **)&crew->number = symbol(crew, "omp_get_thread_num");
	*(void **)&crew->dgemm = symbol(crew, "cblas_dgemm");
	if (is_blas ? !crew->dgemm : !crew->parallel || !crew->number)
		return kernel_fail("cannot use %s: %s", name, dlerror());
	if (is_blas) {
		set_number_function *set_number;

		*(void **)&set_number = symbol(crew, "openblas_set_num_threads");
		set_number((int)crew->nr);
		crew->matrices = rot_calloc(3 * ORDER * ORDER, sizeof(double));
	}
	return 0;
}

/* ---- the kernel ---- */

static const struct {
	const char *mode;
	void (*run)(struct crew *crew);
	bool needs_library;
} modes[] = {
	{"joined", run_joined, false},     {"pool", run_pool, false},     {"short", run_short, false},
	{"detached", run_detached, false}, {"openMp", run_open_mp, true}, {"blas", run_blas, true},
	{"exits", run_exits, false},       {"dies", run_dies, false},     {"lingering", run_lingering, false},
};

static char *
map(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		kernel_fail("cannot map %zu bytes", bytes);
		return NULL;
	}
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

static bool
is_short(const struct crew *crew)
{
	return strcmp(crew->data.mode, "short") == 0;
}

static bool
is_detached(const struct crew *crew)
{
	return strcmp(crew->data.mode, "detached") == 0 || strcmp(crew->data.mode, "lingering") == 0;
}

/* Short threads all do the same; the others have work of different size. */
static int
allocate(struct crew *crew)
{
	char *pages;

	crew->members = rot_calloc(crew->nr, sizeof(*crew->members));
	for (size_t i = 0; i < crew->nr; i++) {
		crew->members[i].crew = crew;
		crew->members[i].nr_pages = (size_t)crew->data.pages * (is_short(crew) ? 1 : i + 1);
		crew->page_bytes += crew->members[i].nr_pages * (size_t)crew->data.rounds * PAGE_BYTES;
	}
	/* a detached thread may still be on its stack in the next run */
	crew->nr_stacks = is_short(crew) ? 1 : 4 * crew->nr;
	crew->pages = pages = map(crew->page_bytes);
	crew->stacks = map(crew->nr_stacks * STACK_BYTES);
	if (!crew->pages || !crew->stacks)
		return -1;
	memset(crew->stacks, 1, crew->nr_stacks * STACK_BYTES);
	for (size_t i = 0; i < crew->nr; i++) {
		crew->members[i].pages = pages;
		pages += crew->members[i].nr_pages * (size_t)crew->data.rounds * PAGE_BYTES;
	}
	return 0;
}

static int
initialize(void *kernel)
{
	struct crew *crew = kernel;

	crew->nr = (size_t)crew->data.base.num_threads;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->changed, NULL);
	pthread_cond_init(&crew->done, NULL);
	if (allocate(crew) < 0)
		return -1;
	for (size_t i = 0; i < crew->nr && strcmp(crew->data.mode, "pool") == 0; i++)
		create(&crew->members[i], pool_main, false);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (modes[i].needs_library && strcmp(modes[i].mode, crew->data.mode) == 0)
			return load(crew);
	}
	return 0;
}

static void
run(void *kernel)
{
	struct crew *crew = kernel;

	madvise(crew->pages, crew->page_bytes, MADV_DONTNEED);
	crew->nr_left = crew->nr;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].mode, crew->data.mode) == 0)
			modes[i].run(crew);
	}
}

/* The stacks of detached threads stay: nobody knows when they are left. */
static void
dispose(void *kernel)
{
	struct crew *crew = kernel;

	if (crew->stacks && strcmp(crew->data.mode, "pool") == 0)
		end_pool(crew);
	if (crew->stacks && !is_detached(crew))
		munmap(crew->stacks, crew->nr_stacks * STACK_BYTES);
	if (crew->pages)
		munmap(crew->pages, crew->page_bytes);
	free(crew->members);
	free(crew->matrices);
}

KERNEL(crew, "Crew", .initialize = initialize, .run = run, .dispose = dispose);
