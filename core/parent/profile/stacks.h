/* SPDX-License-Identifier: MIT */
/* Samples by the calls that led there: a tree with the code of each call, and in it the code that was called. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "parent/profile/sampler.h"
#include "parent/profile/spaces.h"
#include "parent/symbols/symbols.h"

#define STACK_NO_CALL UINT32_MAX

/*
 * around: the index of the call around it, if one is known. epoch: of stacks_begin. nr: samples in this very code, all
 * of them of the thread tid; a call without any has tid 0.
 */
struct stack_call {
	struct code_position at;
	uint32_t around, epoch, tid;
	uint64_t nr;
};

struct stacks;

/* Borrows both; files are opened as stacks come upon them. */
struct stacks *stacks_new(struct spaces *spaces, struct symbol_files *files);
void stacks_delete(struct stacks *stacks);

/* Samples from that time on (clock_raw_ns) are kept apart from those before. Returns the number of their epoch; the
 * first is 0. */
uint32_t stacks_begin(struct stacks *stacks, uint64_t time_ns);

/* In the order of their time, while the spaces are as they were then. A sample without a stack is a call without one
 * around it. */
void stacks_add(struct stacks *stacks, const struct sample_record *sample);

/* A call stands behind the one around it. */
const struct stack_call *stacks_calls(const struct stacks *stacks, size_t *nr);

/* Samples of which not all calls are known. */
uint64_t stacks_nr_incomplete(const struct stacks *stacks);
