/* SPDX-License-Identifier: MIT */
/* The two clocks of the core, the time stamp counter and CLOCK_MONOTONIC_RAW, and the time of day. */
#pragma once

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

/* CLOCK_MONOTONIC_RAW in nanoseconds: not slewed by NTP, so its rate is that of the hardware. */
static inline uint64_t
clock_raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Seconds since 1970 (UTC), and so many microseconds more: when a run began, beside those of other processes. */
static inline void
clock_now(int64_t *seconds, int32_t *microseconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*seconds = now.tv_sec;
	*microseconds = (int32_t)(now.tv_nsec / 1000);
}

/*
 * The time stamp counter at the start of a region: everything before is complete, also its stores (mfence), and nothing
 * of the region has begun (the second lfence).
 *
 * lfence instead of cpuid, which Optiflop uses: lfence waits for all earlier instructions and keeps later ones from
 * starting on Intel, and on AMD since Linux sets its serialising mode (MSR C001_1029 bit 1). cpuid always leaves a
 * virtual machine, which takes microseconds and evicts the first-level caches just before the kernel runs. Sources:
 * Intel SDM vol. 2B, LFENCE and RDTSC; AMD64 APM vol. 3, LFENCE.
 */
static inline uint64_t
tsc_start(void)
{
	uint64_t ticks;

	_mm_mfence();
	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}

/*
 * The time stamp counter at the end: all instructions of the region have executed (rdtscp waits for them; stores may
 * still wait in the store buffer, as they do at the end of any piece of code), and nothing later has begun.
 */
static inline uint64_t
tsc_stop(void)
{
	unsigned cpu;
	uint64_t ticks = __rdtscp(&cpu);

	_mm_lfence();
	return ticks;
}
