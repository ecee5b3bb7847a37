/* SPDX-License-Identifier: MIT */
/* The words that kernels' definitions count with. */
#ifndef QUANTITIES_KERNEL_WORDS_H
#define QUANTITIES_KERNEL_WORDS_H

struct definitions;

/* Warns of expected operations and bytes whose operation or border nobody knows: such a row would count for nothing.
 * The kernel can still be timed. */
void kernel_words_check(const struct definitions *kernels);

#endif
