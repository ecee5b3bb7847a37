/* SPDX-License-Identifier: MIT */
/* A team of OpenMP, as the compiler makes it, whose page faults are known. */
#define _GNU_SOURCE
#include <omp.h>
#include <sys/mman.h>

#include "OpenMpFaultsData.h"
#include "kernel.h"

#define PAGE_BYTES ((size_t)4096)

struct open_mp_faults {
	struct open_mp_faults_data data;
	char *memory;
	size_t bytes;
};

static int
initialize(void *kernel)
{
	struct open_mp_faults *self = kernel;
	size_t nr = (size_t)self->data.threads;

	self->bytes = nr * (nr + 1) / 2 * (size_t)self->data.pages * PAGE_BYTES;
	self->memory = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (self->memory == MAP_FAILED)
		return kernel_fail("cannot map %zu bytes", self->bytes);
	madvise(self->memory, self->bytes, MADV_NOHUGEPAGE);
	return 0;
}

static void
run(void *kernel)
{
	struct open_mp_faults *self = kernel;

	madvise(self->memory, self->bytes, MADV_DONTNEED);
#pragma omp parallel num_threads(self->data.threads)
	{
		size_t number = (size_t)omp_get_thread_num(), nr = (size_t)self->data.pages * (number + 1);
		volatile char *pages = self->memory + number * (number + 1) / 2 * (size_t)self->data.pages * PAGE_BYTES;

		for (size_t i = 0; i < nr; i++)
			pages[i * PAGE_BYTES] = 1;
	}
}

static void
dispose(void *kernel)
{
	struct open_mp_faults *self = kernel;

	if (self->memory != MAP_FAILED)
		munmap(self->memory, self->bytes);
}

KERNEL(open_mp_faults, "OpenMpFaults", .initialize = initialize, .run = run, .dispose = dispose);
