/* SPDX-License-Identifier: MIT */
/*
 * Regions of known work that are hard to step through: recursion, a jump out of it, a child process, code shared with
 * another thread, threads that come to one again and again while others wait, or wait for each other in it, memory that
 * is moved by repeated instructions, signals. Prints what it computed.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 1000

static volatile sig_atomic_t nr_signals;
static jmp_buf out;

/* One addition each, 2^(n+1) - 1, and another in all but the leaves. */
__attribute__((noinline)) static double
tree(int n)
{
	volatile double sum = 1;

	if (n > 0)
		sum = tree(n - 1) + tree(n - 1);
	return sum + 1;
}

__attribute__((noinline)) static double
sum_up(int n)
{
	volatile double sum = 0;

	for (int i = 0; i < n; i++)
		sum += 1;
	return sum;
}

/* N additions in this process, and as many in its child, which is no thread of the region. */
__attribute__((noinline)) static double
parent(void)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0)
		_exit(sum_up(N) == N ? 7 : 1);
	waitpid(child, &status, 0);
	return sum_up(N) + WEXITSTATUS(status);
}

__attribute__((noinline)) static void
jump(int n)
{
	if (n > 0)
		jump(n - 1);
	if (n == 0)
		longjmp(out, 1);
}

__attribute__((noinline)) static int
jumper(void)
{
	if (setjmp(out) == 0)
		jump(5);
	return (int)sum_up(N);
}

static void *
also(void *result)
{
	*(double *)result = 0;
	for (int i = 0; i < 200; i++)
		*(double *)result += sum_up(N);
	return NULL;
}

/* N additions, and 200 N by a thread that is not in the region. */
__attribute__((noinline)) static double
shared(void)
{
	double other = 0, own = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, also, &other) != 0)
		return -1;
	own = sum_up(N);
	pthread_join(thread, NULL);
	return own + other;
}

/* N + 1 additions. */
__attribute__((noinline)) static double
queued(void)
{
	return sum_up(N) + 1;
}

#define NR_QUEUED 3
#define NR_TURNS 20

static void *
come_again(void *result)
{
	for (int i = 0; i < NR_TURNS; i++)
		*(double *)result += queued();
	return NULL;
}

/* NR_TURNS (N + 1) additions in each of NR_QUEUED threads, which wait for each other where they are stepped. */
static double
queue(void)
{
	double results[NR_QUEUED] = {0}, sum = 0;
	pthread_t threads[NR_QUEUED];

	for (int i = 0; i < NR_QUEUED; i++) {
		if (pthread_create(&threads[i], NULL, come_again, &results[i]) != 0)
			return -1;
	}
	for (int i = 0; i < NR_QUEUED; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i];
	}
	return sum;
}

#define NR_MEETINGS 10

static pthread_barrier_t meeting;
static int nr_arrived;

/* N additions, and then a meeting: first in the system, then by looking whether the other is there. */
__attribute__((noinline)) static double
met(int number)
{
	double sum = sum_up(N);

	pthread_barrier_wait(&meeting);
	__atomic_add_fetch(&nr_arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&nr_arrived, __ATOMIC_SEQ_CST) < 2 * number)
		;
	return sum;
}

static void *
meet(void *result)
{
	for (int i = 1; i <= NR_MEETINGS; i++)
		*(double *)result += met(i);
	return NULL;
}

/* NR_MEETINGS N additions in each of two threads. */
static double
meet_other(void)
{
	double other = 0, own = 0;
	pthread_t thread;

	pthread_barrier_init(&meeting, NULL, 2);
	if (pthread_create(&thread, NULL, meet, &other) != 0)
		return -1;
	meet(&own);
	pthread_join(thread, NULL);
	return own + other;
}

__attribute__((noinline)) static int
moved(char *to, const char *from, size_t n)
{
	void *t = to;
	const void *f = from;
	size_t nr = n;

	__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(nr) : : "memory");
	return memcmp(to, from, n);
}

/* Bytes that a mask in a register of MMX selects are not followed. */
__attribute__((noinline)) static int
odd(char *to)
{
	for (int i = 0; i < 3; i++)
		__asm__ volatile("pxor %%mm0, %%mm0\n maskmovq %%mm0, %%mm0\n emms" : : "D"(to) : "memory", "mm0");
	return to[0];
}

/* Not for ever, so that slow steps among many signals do not make many additions. */
static void
on_signal(int number)
{
	(void)number;
	if (nr_signals++ < 1000)
		sum_up(3);
}

/* 20 N additions between signals, whose handler executes the same code. */
__attribute__((noinline)) static double
interrupted(void)
{
	double sum = 0;

	for (int i = 0; i < 20; i++)
		sum += sum_up(N);
	return sum;
}

int
main(void)
{
	static char from[5000], to[5000];
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)i;
	printf("%g %g %d %g %g %g %d ", tree(6), parent(), jumper(), shared(), queue(), meet_other(),
	       moved(to, from, sizeof(from)) + odd(to));
	fflush(stdout);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	printf("%g\n", interrupted());
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
