/* SPDX-License-Identifier: MIT */
/* The order in which work is measured. */
#ifndef VALIDATION_ORDER_H
#define VALIDATION_ORDER_H

#include <stddef.h>

/* 0 to nr - 1 in an order that is random, but the same for the same round, so that a failure can be seen again. */
void order_shuffle(size_t *order, size_t nr, unsigned round);

#endif
