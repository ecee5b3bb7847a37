/* SPDX-License-Identifier: MIT */
/* Threads that cannot go on without each other, whose operations are known. */
#include <pthread.h>
#include <stdlib.h>

#include "MeetingData.h"
#include "kernel.h"

struct meeting {
	struct meeting_data data;
	pthread_t *threads; /* all but the one that runs the kernel */
	pthread_barrier_t begin, meeting;
	int nr_arrived;
	bool is_over; /* nobody computes any more */
};

__attribute__((noinline)) static double
add(int nr)
{
	volatile double sum = 0;

	for (int i = 0; i < nr; i++)
		sum += 1;
	return sum;
}

static void
take_part(struct meeting *self)
{
	for (int round = 1; round <= self->data.rounds; round++) {
		add(self->data.additions);
		pthread_barrier_wait(&self->meeting);
		__atomic_add_fetch(&self->nr_arrived, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&self->nr_arrived, __ATOMIC_SEQ_CST) < round * self->data.base.num_threads)
			;
	}
}

static void *
begin(void *kernel)
{
	take_part(kernel);
	return NULL;
}

static void *
wait_and_begin(void *kernel)
{
	struct meeting *self = kernel;

	while (pthread_barrier_wait(&self->begin), !self->is_over)
		take_part(self);
	return NULL;
}

static int
create_threads(struct meeting *self, void *(*start)(void *))
{
	for (int i = 0; i + 1 < self->data.base.num_threads; i++) {
		if (pthread_create(&self->threads[i], NULL, start, self) != 0)
			return kernel_fail("cannot create a thread");
	}
	return 0;
}

static void
join_threads(struct meeting *self)
{
	for (int i = 0; i + 1 < self->data.base.num_threads; i++)
		pthread_join(self->threads[i], NULL);
}

static int
initialize(void *kernel)
{
	struct meeting *self = kernel;

	self->threads = calloc((size_t)self->data.base.num_threads, sizeof(*self->threads));
	pthread_barrier_init(&self->begin, NULL, (unsigned)self->data.base.num_threads);
	pthread_barrier_init(&self->meeting, NULL, (unsigned)self->data.base.num_threads);
	return self->data.pool ? create_threads(self, wait_and_begin) : 0;
}

static void
run(void *kernel)
{
	struct meeting *self = kernel;

	self->nr_arrived = 0;
	if (self->data.pool)
		pthread_barrier_wait(&self->begin);
	else if (create_threads(self, begin) < 0)
		abort();
	take_part(self);
	if (!self->data.pool)
		join_threads(self);
}

static void
dispose(void *kernel)
{
	struct meeting *self = kernel;

	if (self->data.pool) {
		self->is_over = true;
		pthread_barrier_wait(&self->begin);
		join_threads(self);
	}
	free(self->threads);
}

KERNEL(meeting, "Meeting", .initialize = initialize, .run = run, .dispose = dispose);
