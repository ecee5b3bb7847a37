/* SPDX-License-Identifier: MIT */
/*
 * The measurer of nearness: how long a cache line takes from one CPU to another. In a virtual machine the host moves
 * CPUs between complexes of cores with a cache of their own, and what two threads get from memory moves with them;
 * nothing but this time shows it (on an EPYC 9005 22 to 27 ns within a complex, 120 to 125 ns across, with half the
 * bandwidth of memory within). It may put two CPUs on one core as well: then what is bound by the units of the
 * core takes twice as long while both do it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "child/measurer.h"
#include "child/own_threads.h"
#include "child/thread.h"
#include "common/clock.h"

#define NR_BALLS 16
#define ROUND_TRIPS 64   /* a batch of one ball: 3 to 30 us */
#define MIN_BATCHES 4    /* of each ball; where others want the CPUs, a batch takes time slices: then it takes longer */
#define MAX_BATCHES 2048 /* of each: more than 200 ms have */
#define PATIENCE 10      /* times the time given: the most it takes */

#define NR_BOUTS 16      /* of work, together and alone */
#define BOUT_TURNS 2000u /* of nine multiplications each: 2 to 5 us */

/*
 * Player i may take a ball when it is i. A ball has two lines, since some processors fetch pairs. They are played by
 * turns, as each line has a place of its own in the last level, nearer to one CPU or the other (20 to 29 ns here).
 */
struct court {
	struct {
		_Alignas(128) atomic_uint owner;
	} balls[NR_BALLS];
	_Alignas(128) atomic_bool is_over;
	_Alignas(128) atomic_uint nr_meetings; /* of both, counted by each */
	atomic_bool is_alone;                  /* the second player has left */
	atomic_bool is_given_up;
	uint64_t limit_ns;
	unsigned nr_batches; /* of all balls */
	uint64_t batches_ns[NR_BALLS][MAX_BATCHES];
	uint64_t together_ns[NR_BOUTS], alone_ns[NR_BOUTS];
	bool has_compared;
};

struct player {
	struct court *court;
	unsigned side;
	int cpu;
	pthread_t pthread;
	pid_t tid;
	struct rot_error err; /* "": pinned */
};

struct ping_pong_state {
	const struct ping_pong_measurer *measurer;
	struct court *court;
	struct ping_pong_times {
		double ns, slowdown;
	} before, after;
	struct rot_error err; /* "": both times */
};

/*
 * A batch: waits for the ball and hands it to the other player. One locked instruction looks and writes, so the line
 * comes over once. Plain loads would fetch it back before the other player has written it, and take 1.5 to 2.5 times as
 * long, from moment to moment. False: the game is over.
 */
static bool
play_batch(struct court *court, unsigned number, unsigned side)
{
	atomic_uint *ball = &court->balls[number % NR_BALLS].owner;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		unsigned own = side;

		while (!atomic_compare_exchange_weak_explicit(ball, &own, !side, memory_order_acq_rel,
							      memory_order_relaxed)) {
			if (atomic_load_explicit(&court->is_over, memory_order_relaxed))
				return false;
			own = side;
		}
	}
	return true;
}

/* The first player keeps the time. */
static void
keep_time(struct court *court)
{
	uint64_t start = clock_raw_ns(), last = start;

	while (court->nr_batches < NR_BALLS * MAX_BATCHES &&
	       (last - start < court->limit_ns || court->nr_batches < NR_BALLS * MIN_BATCHES)) {
		uint64_t now;

		if (!play_batch(court, court->nr_batches, 0))
			return;
		now = clock_raw_ns();
		court->batches_ns[court->nr_batches % NR_BALLS][court->nr_batches / NR_BALLS] = now - last;
		court->nr_batches++;
		last = now;
	}
	atomic_store(&court->is_over, true);
}

/* ---- together and alone ---- */

/* Independent chains: three multiplications a cycle if the processor can, else one; never bound by their latency. */
static void
occupy_units(void)
{
	unsigned turns = BOUT_TURNS;

	__asm__ volatile("1:\n"
			 "imull $3, %%eax, %%eax\nimull $3, %%ecx, %%ecx\nimull $3, %%edx, %%edx\n"
			 "imull $3, %%esi, %%esi\nimull $3, %%edi, %%edi\nimull $3, %%r8d, %%r8d\n"
			 "imull $3, %%r9d, %%r9d\nimull $3, %%r10d, %%r10d\nimull $3, %%r11d, %%r11d\n"
			 "decl %0\njnz 1b\n"
			 : "+r"(turns)
			 :
			 : "eax", "ecx", "edx", "esi", "edi", "r8", "r9", "r10", "r11", "cc");
}

/* Waits for the other. False: it will not come. */
static bool
meet(struct court *court, unsigned number)
{
	atomic_fetch_add(&court->nr_meetings, 1);
	while (atomic_load_explicit(&court->nr_meetings, memory_order_acquire) < 2 * number)
		if (atomic_load_explicit(&court->is_given_up, memory_order_relaxed))
			return false;
	return true;
}

static uint64_t
time_bout(void)
{
	uint64_t start = clock_raw_ns();

	occupy_units();
	return clock_raw_ns() - start;
}

/* Both work at the same time, then the first one alone; the other one is leaving during its first bouts. */
static void
compare_cpus(struct court *court, unsigned side)
{
	for (unsigned i = 0; i < NR_BOUTS; i++) {
		uint64_t ns;

		if (!meet(court, i + 1))
			return;
		ns = time_bout();
		if (side == 0)
			court->together_ns[i] = ns;
	}
	if (side == 1) {
		atomic_store(&court->is_alone, true);
		return;
	}
	while (!atomic_load(&court->is_alone))
		if (atomic_load(&court->is_given_up))
			return;
	for (unsigned i = 0; i < NR_BOUTS; i++)
		court->alone_ns[i] = time_bout();
	court->has_compared = true;
}

/* ---- a game ---- */

static void *
play(void *argument)
{
	struct player *player = argument;

	player->tid = gettid();
	own_thread_runs();
	if (child_thread_pin(player->cpu, &player->err) < 0) {
		atomic_store(&player->court->is_given_up, true);
		atomic_store(&player->court->is_over, true);
		return NULL;
	}
	if (player->side == 0)
		keep_time(player->court);
	else
		for (unsigned number = 0; play_batch(player->court, number, 1); number++)
			;
	compare_cpus(player->court, player->side);
	return NULL;
}

static int
start_player(struct player *player, struct rot_error *err)
{
	int status;

	own_threads_begin();
	status = pthread_create(&player->pthread, NULL, play, player);
	own_threads_end();
	return status == 0 ? 0 : rot_error_set(err, status, "cannot create a thread on CPU %d", player->cpu);
}

/* Waits for the end, or ends it when the time is over: a player may not have got its CPU. */
static void
end_game(struct player *player, uint64_t limit_ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	limit_ns = limit_ns * PATIENCE + (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(limit_ns / 1000000000);
	until.tv_nsec = (long)(limit_ns % 1000000000);
	if (pthread_timedjoin_np(player->pthread, NULL, &until) != 0) {
		atomic_store(&player->court->is_given_up, true);
		atomic_store(&player->court->is_over, true);
		pthread_join(player->pthread, NULL);
	}
	own_threads_tell(player->tid);
}

static int
compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Lower quartile: up to three of four may have been disturbed. 0: there are none. */
static double
lower_quartile(uint64_t *times_ns, unsigned nr)
{
	if (nr == 0)
		return 0;
	qsort(times_ns, nr, sizeof(*times_ns), compare_times);
	return (double)times_ns[nr / 4];
}

static struct ping_pong_times
times_of(struct court *court)
{
	const unsigned nr = court->nr_batches / NR_BALLS; /* of each ball */
	struct ping_pong_times times = {0};

	for (unsigned ball = 0; ball < NR_BALLS; ball++)
		times.ns += lower_quartile(court->batches_ns[ball], nr) / (2 * ROUND_TRIPS) / NR_BALLS;
	if (court->has_compared)
		times.slowdown =
			lower_quartile(court->together_ns, NR_BOUTS) / lower_quartile(court->alone_ns, NR_BOUTS);
	return times;
}

static int
play_game(struct ping_pong_state *state, struct ping_pong_times *times)
{
	const struct ping_pong_measurer *measurer = state->measurer;
	struct court *court = state->court;
	struct player players[] = {{.court = court, .side = 0, .cpu = measurer->first_cpu},
				   {.court = court, .side = 1, .cpu = measurer->second_cpu}};

	for (unsigned ball = 0; ball < NR_BALLS; ball++)
		atomic_store(&court->balls[ball].owner, 0);
	atomic_store(&court->is_over, false);
	atomic_store(&court->nr_meetings, 0);
	atomic_store(&court->is_alone, false);
	atomic_store(&court->is_given_up, false);
	court->nr_batches = 0;
	court->has_compared = false;
	court->limit_ns = (uint64_t)measurer->milli_seconds * 1000000;
	if (start_player(&players[0], &state->err) < 0)
		return -1;
	if (start_player(&players[1], &state->err) < 0) {
		end_game(&players[0], 0);
		return -1;
	}
	end_game(&players[0], court->limit_ns);
	end_game(&players[1], court->limit_ns);
	for (size_t i = 0; i < 2; i++) {
		if (players[i].err.text[0]) {
			state->err = players[i].err;
			return -1;
		}
	}
	*times = times_of(court);
	return 0;
}

/* ---- the measurer ---- */

static int
ping_pong_initialize(void *memory, const void *description, struct rot_error *err)
{
	struct ping_pong_state *state = memory;

	state->measurer = description;
	if (state->measurer->first_cpu == state->measurer->second_cpu || state->measurer->first_cpu < 0 ||
	    state->measurer->second_cpu < 0 || state->measurer->milli_seconds <= 0)
		return rot_error_set(err, 0,
				     "a PingPongMeasurer needs two different CPUs and some milliseconds, not CPU %d, "
				     "CPU %d and %d ms",
				     (int)state->measurer->first_cpu, (int)state->measurer->second_cpu,
				     (int)state->measurer->milli_seconds);
	state->court = aligned_alloc(_Alignof(struct court), sizeof(struct court));
	return state->court ? 0 : rot_error_set(err, 0, "no memory for a PingPongMeasurer");
}

static void
ping_pong_start(void *memory)
{
	struct ping_pong_state *state = memory;

	play_game(state, &state->before);
}

static void
ping_pong_stop(void *memory)
{
	struct ping_pong_state *state = memory;

	if (!state->err.text[0])
		play_game(state, &state->after);
}

static void *
ping_pong_output(void *memory, const void *description, struct rot_error *err)
{
	const struct ping_pong_state *state = memory;
	struct ping_pong_measurer_output *result;

	(void)description;
	if (state->err.text[0]) {
		*err = state->err;
		return NULL;
	}
	result = ping_pong_measurer_output_new();
	result->before = state->before.ns;
	result->after = state->after.ns;
	result->slowdown_before = state->before.slowdown;
	result->slowdown_after = state->after.slowdown;
	return result;
}

static void
ping_pong_dispose(void *memory)
{
	struct ping_pong_state *state = memory;

	free(state->court);
}

const struct measurer_type ping_pong_measurer_type = {
	.class = &ping_pong_measurer_class,
	.state_size = sizeof(struct ping_pong_state),
	.initialize = ping_pong_initialize,
	.start = ping_pong_start,
	.stop = ping_pong_stop,
	.output = ping_pong_output,
	.dispose = ping_pong_dispose,
};
