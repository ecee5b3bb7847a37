/* SPDX-License-Identifier: MIT */
/*
 * Which chains. An addition whose operands are registers has a latency of one core cycle on every x86-64 processor
 * (measured tables: uops.info, ADD (R64, R64); Agner Fog, "Instruction tables"), so a chain of them is a count of core
 * cycles. Both operands are registers, since additions of small constants are done ahead, in no time, by some (Intel
 * Golden Cove and later).
 *
 * Alone that is not enough where the core is shared with another hardware thread. The next addition of a chain has one
 * cycle in which it must be issued; whenever the other thread has its port in that cycle, one is lost. Experiment on a
 * Zen 5 with busy neighbours: chains of ADD, XOR, LEA and ROL ran 2.3 % below the clock that loops of known throughput
 * showed (ADDSD on two pipes: 1.760 cycles a tick; ADD 1.719), chains of IMUL, ADDSD and MULSD 0.05 %. What took the
 * clock for lower than it was made performances that were above the limits of the processor. A multiplication has three
 * cycles for each, on a port that few instructions want, so its chain is read as well, and the one that lost less
 * counts: nothing makes a chain faster.
 *
 * The latency of IMUL (R32, R32) is 3 cycles on AMD Zen and on Intel since Nehalem (uops.info), but it is not taken for
 * granted: the two chains tell it.
 *
 * What starting and stopping the counter adds is removed by a short chain. An interruption only makes a chain longer,
 * so the fastest of some counts, as soon as another one agrees with it. (Two alone are not enough: a busy hypervisor
 * may take the same 24 us from both.)
 */
#include "child/clock_chains.h"

#include "common/clock.h"

#define PER_TURN 256                 /* unrolled: 768 bytes of code */
#define LONG_CYCLES (256 * PER_TURN) /* some 15 to 25 us; the counter may count in steps of 10 ns */
#define NR_SHORT 3
#define MAX_LONG 12

/* Short enough that most are not interrupted. */
#define LATENCY_TURNS 16
#define NR_LATENCY 16

typedef uint64_t (*chain_function)(uint64_t turns);

/* Ticks that turns * PER_TURN dependent instructions take, and what timing them takes. */
#define DEFINE_CHAIN(name, instruction)                                                                                \
	__attribute__((noinline)) static uint64_t name(uint64_t turns)                                                 \
	{                                                                                                              \
		uint64_t value = 1, operand = 3, start = tsc_start();                                                  \
                                                                                                                       \
		__asm__ volatile("1:\n\t"                                                                              \
				 ".rept %c[times]\n\t" instruction " %k[operand], %k[value]\n\t"                       \
				 ".endr\n\t"                                                                           \
				 "dec %[turns]\n\t"                                                                    \
				 "jnz 1b"                                                                              \
				 : [value] "+r"(value), [turns] "+r"(turns)                                            \
				 : [operand] "r"(operand), [times] "i"(PER_TURN)                                       \
				 : "cc");                                                                              \
		return tsc_stop() - start;                                                                             \
	}

DEFINE_CHAIN(add, "add")
DEFINE_CHAIN(multiply, "imul")

static uint64_t
fastest(chain_function chain, uint64_t turns, int nr)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < nr; i++) {
		uint64_t ticks = chain(turns);

		best = ticks < best ? ticks : best;
	}
	return best;
}

unsigned
clock_chain_latency(uint64_t addition_ticks, uint64_t multiplication_ticks)
{
	double ratio = (double)multiplication_ticks / (double)addition_ticks;

	if (!(ratio >= 2.5 && ratio < 6.5))
		return 0;
	return ratio < 3 ? 3 : (unsigned)(ratio + 0.5);
}

/* Ticks of the turns alone. */
static uint64_t
net_ticks(uint64_t ticks, uint64_t overhead)
{
	return ticks > overhead ? ticks - overhead : 0;
}

unsigned
clock_chain_find_latency(void)
{
	uint64_t of_adding = fastest(add, LATENCY_TURNS, NR_LATENCY),
		 of_multiplying = fastest(multiply, LATENCY_TURNS, NR_LATENCY);

	return clock_chain_latency(net_ticks(of_adding, fastest(add, 1, NR_SHORT)),
				   net_ticks(of_multiplying, fastest(multiply, 1, NR_SHORT)));
}

/* At least that many chains; more until two agree. */
static struct clock_reading
read_chain(chain_function chain, unsigned latency, int least, int most)
{
	const uint64_t turns = LONG_CYCLES / PER_TURN / latency, overhead = fastest(chain, 1, NR_SHORT);
	uint64_t best = chain(turns), second = UINT64_MAX;

	for (int i = 1; i < most && (i < least || second - best > best >> 10); i++) {
		uint64_t ticks = chain(turns), slower = ticks < best ? best : ticks;

		best = ticks < best ? ticks : best;
		second = slower < second ? slower : second;
	}
	return (struct clock_reading){.cycles = (turns - 1) * PER_TURN * latency, .ticks = net_ticks(best, overhead)};
}

struct clock_reading
clock_chain_read(unsigned latency)
{
	struct clock_reading of_adding, of_multiplying;

	if (latency == 0)
		return read_chain(add, 1, 4, MAX_LONG);
	of_multiplying = read_chain(multiply, latency, 4, MAX_LONG);
	of_adding = read_chain(add, 1, 2, 2);
	return of_adding.cycles * of_multiplying.ticks > of_multiplying.cycles * of_adding.ticks ? of_adding
												 : of_multiplying;
}
