/* SPDX-License-Identifier: MIT */
#include "engine/order.h"

#include <stdint.h>
#include <stdlib.h>

#include "memory.h"

/* Fisher and Yates. */
void
order_shuffle(size_t *order, size_t nr, unsigned round)
{
	unsigned short seed[3] = {(unsigned short)round, 0x5eed, 0x1};

	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	for (size_t i = nr; i > 1; i--) {
		size_t k = (size_t)(erand48(seed) * (double)i), other = order[k];

		order[k] = order[i - 1];
		order[i - 1] = other;
	}
}

int
order_blocks(size_t nr, int nr_blocks, order_visit *visit, void *context, struct rot_error *err)
{
	autofree size_t *order = rot_calloc(nr + 1, sizeof(*order));
	int rc = 0;

	for (int block = 1; rc == 0 && block <= nr_blocks; block++) {
		order_shuffle(order, nr, (unsigned)block);
		for (size_t i = 0; rc == 0 && i < nr; i++)
			rc = visit(context, order[i], block, err);
	}
	return rc;
}

int
order_runs_after(int nr_runs, int block, int nr_blocks)
{
	return (int)((int64_t)nr_runs * block / nr_blocks);
}
