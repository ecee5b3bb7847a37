/* SPDX-License-Identifier: MIT */
#include "validation/order.h"

#include <stdlib.h>

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
