/* SPDX-License-Identifier: MIT */
/* Two threads (the first one included) that add N times each: N flops of double precision a thread, nothing else. */
#include <pthread.h>
#include <stdlib.h>

static long nr_additions;

static void *
work(void *argument)
{
	volatile double sum = 0;

	for (long i = 0; i < nr_additions; i++)
		sum += 1;
	(void)sum;
	return argument;
}

int
main(int argc, char **argv)
{
	pthread_t other;

	nr_additions = argc > 1 ? atol(argv[1]) : 0;
	if (pthread_create(&other, NULL, work, NULL) != 0)
		return 1;
	work(NULL);
	return pthread_join(other, NULL) != 0;
}
