/* SPDX-License-Identifier: MIT */
/* The state of the caches that a kernel finds: its code and its data, each cold or warm. */
#pragma once

#include <stdbool.h>

#include "child/measurer_set.h"
#include "kernel.h"

/*
 * Puts the caches of the calling thread's CPU into the state that warm_code and warm_data describe. The code of the
 * measurers is warm in every state.
 *
 *	code	data	steps
 *	cold	cold	warm measurers; clear caches; flush buffers; flush code; warm measurers
 *	cold	warm	warm measurers; clear caches; read buffers; warm_data; flush code; warm measurers
 *	warm	cold	warm measurers; clear caches; warm code; flush buffers; warm measurers
 *	warm	warm	read buffers; warm_data; warm code; warm measurers
 *
 * "warm code" is the kernel's warm_code or, if it has none, run: a kernel that changes its data in run does so here as
 * well. In the last state run comes last, so that the data are where a run leaves them. "read buffers" reads every line
 * of all buffers, in order, several times: a last level that takes victims (Zen) holds a line only after some passes.
 * With several workloads, one that clears takes away from the others what they have warmed in a shared cache.
 * Between clearing and flushing code the set is told that caches are warmed (set_start_warming). If it follows them,
 *one pass of reading is enough.
 *
 * caches_open must have succeeded unless both are warm.
 */
void cache_state_prepare(bool warm_code, bool warm_data, const struct kernel_type *type, void *kernel,
			 struct set_state *set);
