/* SPDX-License-Identifier: MIT */
/*
 * The clock probe: how many core cycles pass per tick of the time stamp counter, found without hardware events.
 *
 * An addition whose operands are registers has a latency of one core cycle on every x86-64 processor (measured tables:
 * uops.info, ADD (R64, R64); Agner Fog, "Instruction tables"). So a chain of them is a count of core cycles. Both
 * operands are registers, since additions of small constants are done ahead, in no time, by some (Intel Golden Cove and
 * later).
 *
 * What starting and stopping the counter adds is removed by a short chain: the difference of both is additions alone.
 * An interruption only makes a chain longer, so the fastest of some counts, as soon as another one agrees with it. (Two
 * alone are not enough: a busy hypervisor may take the same 24 us from both.)
 *
 * Between the preparation of the caches and the kernel nothing is touched but the code and one line of state.
 */
#include "child/measurer.h"
#include "common/clock.h"

#define ADDITIONS_PER_TURN 256 /* unrolled: 768 bytes of code */
#define SHORT_TURNS 1
#define LONG_TURNS 256 /* 65 536 additions, some 15 to 25 us; the counter may count in steps of 10 ns */
#define NR_SHORT 3
#define MIN_LONG 4
#define MAX_LONG 12

struct reading {
	uint64_t additions, ticks;
};

struct state {
	struct reading start, stop;
};

/* Ticks that turns * ADDITIONS_PER_TURN dependent additions take, and what timing them takes. */
__attribute__((noinline)) static uint64_t
time_chain(uint64_t turns)
{
	uint64_t sum = 1, addend = 3, start = tsc_start();

	__asm__ volatile("1:\n\t"
			 ".rept %c[additions]\n\t"
			 "add %[addend], %[sum]\n\t"
			 ".endr\n\t"
			 "dec %[turns]\n\t"
			 "jnz 1b"
			 : [sum] "+r"(sum), [turns] "+r"(turns)
			 : [addend] "r"(addend), [additions] "i"(ADDITIONS_PER_TURN)
			 : "cc");
	return tsc_stop() - start;
}

static uint64_t
fastest_short(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < NR_SHORT; i++) {
		uint64_t ticks = time_chain(SHORT_TURNS);

		best = ticks < best ? ticks : best;
	}
	return best;
}

static struct reading
probe(void)
{
	uint64_t overhead = fastest_short(), best = time_chain(LONG_TURNS), second = UINT64_MAX;

	for (int i = 1; i < MAX_LONG && (i < MIN_LONG || second - best > best >> 10); i++) {
		uint64_t ticks = time_chain(LONG_TURNS), slower = ticks < best ? best : ticks;

		best = ticks < best ? ticks : best;
		second = slower < second ? slower : second;
	}
	return (struct reading){.additions = (uint64_t)(LONG_TURNS - SHORT_TURNS) * ADDITIONS_PER_TURN,
				.ticks = best > overhead ? best - overhead : 0};
}

static void
start(void *state)
{
	struct state *own = state;

	own->start = probe();
}

static void
stop(void *state)
{
	struct state *own = state;

	own->stop = probe();
}

static void *
output(void *state, const void *description, struct rot_error *err)
{
	const struct state *own = state;
	struct clock_probe_measurer_output *result;

	(void)description;
	if (own->start.ticks == 0 || own->stop.ticks == 0) {
		rot_error_set(err, 0, "the clock probe saw no time pass: the time stamp counter stands still");
		return NULL;
	}
	result = clock_probe_measurer_output_new();
	result->start_additions = own->start.additions;
	result->start_ticks = own->start.ticks;
	result->stop_additions = own->stop.additions;
	result->stop_ticks = own->stop.ticks;
	return result;
}

const struct measurer_type clock_probe_measurer_type = {
	.class = &clock_probe_measurer_class,
	.is_ahead = true,
	.is_signal_safe = true,
	.state_size = sizeof(struct state),
	.not_foreign = "it times additions of the thread that starts it",
	.start = start,
	.stop = stop,
	.output = output,
};
