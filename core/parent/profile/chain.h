/* SPDX-License-Identifier: MIT */
/*
 * Chains of a loop: instructions of which each needs the result of the one before, from turn to turn, so that no
 * processor executes a turn in less time than these take. They are read from the code: registers and flags that
 * instructions read and write, and memory where a load certainly has the address of a store before. So a chain may be
 * longer than the one found.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "parent/symbols/flow.h"

/*
 * Links of a chain, and words for one and several of them. CHAIN_LOAD: from an address to what is there;
 * CHAIN_PASS: from a store to a load of it, CHAIN_PASS_FIXED: at an address that stays the same; CHAIN_OTHER:
 * other operations, of a cycle at least; CHAIN_FREE: copies of registers and the like, which may take no time.
 */
#define CHAIN_LINKS(X)                                                                                                 \
	X(ADD, "addition", "additions")                                                                                \
	X(MULTIPLY, "multiplication", "multiplications")                                                               \
	X(FUSED, "fused multiply-add", "fused multiply-adds")                                                          \
	X(DIVIDE, "division", "divisions")                                                                             \
	X(ROOT, "square root", "square roots")                                                                         \
	X(EXTREME, "minimum or maximum", "minima or maxima")                                                           \
	X(CONVERT, "conversion", "conversions")                                                                        \
	X(INTEGER_MULTIPLY, "integer multiplication", "integer multiplications")                                       \
	X(INTEGER_DIVIDE, "integer division", "integer divisions")                                                     \
	X(LOAD, "load", "loads")                                                                                       \
	X(PASS, "pass through memory", "passes through memory")                                                        \
	X(PASS_FIXED, "pass through a variable in memory", "passes through variables in memory")                       \
	X(OTHER, "simple operation", "simple operations")                                                              \
	X(FREE, "copy", "copies")

#define CHAIN_LINK_NUMBER(name, one, several) CHAIN_##name,
enum chain_link { CHAIN_LINKS(CHAIN_LINK_NUMBER) CHAIN_NR_LINKS };
#undef CHAIN_LINK_NUMBER

/* The time of each link until its result can be used. */
struct chain_latencies {
	double ns[CHAIN_NR_LINKS];
};

/* Measures the latencies of this processor at this moment, in some ms. It changes few lines of its caches. */
struct chain_latencies chain_latencies_measure(void);

/*
 * The longest chain of a loop: how long it takes in each turn, and of how many links it is then, in the mean.
 * leaf: the address of the function that each turn calls, whose instructions are among those of the turn; 0: none
 */
struct chain {
	double ns, links[CHAIN_NR_LINKS];
	uint64_t leaf;
};

/*
 * The code of a function.
 * bytes: where it begins, at address; as many as nr_bytes
 * function_at: the code of another function, by the address where it begins; false: that is not known
 */
struct chain_code {
	const uint8_t *bytes;
	uint64_t address, nr_bytes;
	bool (*function_at)(void *context, uint64_t address, struct chain_code *code);
	void *context;
};

/*
 * The chain of an innermost loop of a function, by how often the blocks of the flow were executed (as of
 * code_flow_enter). False: it is not known, since turns take several ways, or the loop calls more than one function or
 * one that jumps or calls, uses the x87 or has locked instructions; or it does no more than to count turns.
 */
bool chain_find(const struct code_flow *flow, uint32_t loop, const int64_t *executions, const struct chain_code *code,
		const struct chain_latencies *latencies, struct chain *chain);

/* "2 additions and 1 load"; fresh memory. */
char *chain_text(const struct chain *chain);
