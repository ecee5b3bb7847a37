/* SPDX-License-Identifier: MIT */
/*
 * known_functions HOW [LIBRARY]: calls functions whose instructions are known, whatever compiler made the rest, N turns
 * in each call. Each begins with an instruction that does nothing, and ends with a return, which loads 8 bytes.
 *
 *	triad       7 instructions a turn, 1 multiplication, 1 addition, 16 bytes loaded and 8 stored
 *	poly        4: a multiplication, an addition
 *	vectors     4: 2 additions, 2 multiplications, packed
 *	chase       3: 8 bytes loaded
 *	count_down  2
 *
 * HOW:
 *	once       each of them once
 *	threads    3 more threads do the same
 *	child      a forked process does the same, and one that executes this program
 *	signals    chase and poly, interrupted by a timer again and again until 100 signals have come
 *	reused     count_down from code that was made, then vectors from code that replaces it at the same address
 *	unloaded   LIBRARY's function, then code that was made where it was
 *	dgemm      the product of two matrices of 64 x 64 by LIBRARY, if there is such a one
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 100000 };

void triad(double *to, const double *b, const double *c, unsigned long turns);
void poly(unsigned long turns);
void vectors(unsigned long turns);
void chase(void **from, unsigned long turns);
void count_down(unsigned long turns);
extern const unsigned char end_of_vectors[], end_of_count_down[];

/* With a frame, by which a function is known without its name. */
#define FUNCTION(name, code)                                                                                           \
	__asm__(".text\n	.globl " #name "\n	.type " #name ", @function\n	.p2align 6\n" #name ":\n"      \
		"	.cfi_startproc\n	nop\n" code "	ret\n	.cfi_endproc\n	.globl end_of_" #name          \
		"\nend_of_" #name ":\n"                                                                                \
		"	.size " #name ", .-" #name "\n")

FUNCTION(triad, "1:	movsd (%rdx), %xmm0\n"
		"	mulsd %xmm0, %xmm0\n"
		"	addsd (%rsi), %xmm0\n"
		"	movsd %xmm0, (%rdi)\n"
		"	lea 8(%rdi), %rdi\n"
		"	dec %rcx\n"
		"	jnz 1b\n");
FUNCTION(poly, "1:	mulsd %xmm1, %xmm0\n"
	       "	addsd %xmm1, %xmm0\n"
	       "	dec %rdi\n"
	       "	jnz 1b\n");
FUNCTION(vectors, "1:	mulpd %xmm1, %xmm0\n"
		  "	addpd %xmm1, %xmm0\n"
		  "	dec %rdi\n"
		  "	jnz 1b\n");
FUNCTION(chase, "1:	mov (%rdi), %rdi\n"
		"	dec %rsi\n"
		"	jnz 1b\n");
FUNCTION(count_down, "1:	dec %rdi\n"
		     "	jnz 1b\n");

/* Whole lines of caches. */
static _Alignas(64) double data[3][N];

static void *
call_all(void *unused)
{
	void *cell = &cell;

	triad(data[0], data[1], data[2], N);
	poly(N);
	vectors(N);
	chase(&cell, N);
	count_down(N);
	return unused;
}

static int
in_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, call_all, NULL) != 0)
			return 1;
	call_all(NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int
in_children(const char *program)
{
	int status, failed = 0;

	call_all(NULL);
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			if (i == 0)
				call_all(NULL);
			else
				execl(program, program, "once", (char *)NULL);
			_exit(i);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed;
}

static volatile sig_atomic_t nr_signals;

static void
on_signal(int number)
{
	(void)number;
	nr_signals++;
	count_down(1);
}

static int
between_signals(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	void *cell = &cell;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 20 || nr_signals < 100; i++) {
		poly(N);
		chase(&cell, N);
	}
	return setitimer(ITIMER_REAL, &never, NULL);
}

typedef void (*of_turns)(unsigned long turns);

/* At that address, what was there before is gone. NULL: wherever there is room. */
static void *
made(void *address, of_turns function, const unsigned char *end)
{
	const void *code = *(void **)&function;
	const size_t bytes = (size_t)(end - (const unsigned char *)code);
	void *page = mmap(address, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0), -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, code, bytes);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		exit(1);
	return page;
}

static void
call(void *code)
{
	of_turns function;

	*(void **)&function = code;
	function(N);
}

static int
in_one_place(void)
{
	void *page = made(NULL, count_down, end_of_count_down);

	call(page);
	call(made(page, vectors, end_of_vectors));
	return 0;
}

static int
where_a_library_was(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *single = library ? dlsym(library, "library_single") : NULL, *page;

	if (!single)
		return 1;
	((void (*)(void))(unsigned long)single)();
	page = (char *)single - (unsigned long)single % 4096;
	dlclose(library);
	call(made(page, count_down, end_of_count_down));
	return 0;
}

static int
by_blas(const char *path)
{
	enum { ROW_MAJOR = 101, AS_IT_IS = 111, SIZE = 64 };
	void *library = dlopen(path, RTLD_NOW), *found = library ? dlsym(library, "cblas_dgemm") : NULL;
	void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
		      int);

	*(void **)&dgemm = found;
	if (found)
		dgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, SIZE, SIZE, SIZE, 1, data[0], SIZE, data[1], SIZE, 0, data[2],
		      SIZE);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "once";

	if (strcmp(how, "threads") == 0)
		return in_threads();
	if (strcmp(how, "child") == 0)
		return in_children(argv[0]);
	if (strcmp(how, "signals") == 0)
		return between_signals();
	if (strcmp(how, "reused") == 0)
		return in_one_place();
	if (strcmp(how, "unloaded") == 0 && argc > 2)
		return where_a_library_was(argv[2]);
	if (strcmp(how, "dgemm") == 0 && argc > 2)
		return by_blas(argv[2]);
	call_all(NULL);
	return 0;
}
