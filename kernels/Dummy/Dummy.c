/* SPDX-License-Identifier: MIT */
/* The kernel that does nothing. */
#include "DummyData.h"
#include "kernel.h"

struct dummy {
	struct dummy_data data;
};

static void
run(void *kernel)
{
	(void)kernel;
}

KERNEL(dummy, "Dummy", .run = run);
