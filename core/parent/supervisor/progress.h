/* SPDX-License-Identifier: MIT */
/* How far the measurement is, for the driver. */
#pragma once

#include <stdint.h>

/*
 * Writes "run I of N" to fd (-1: to nobody). Never waits: a driver that does not read, or is gone, misses progress and
 * nothing else.
 */
void progress_report(int fd, int64_t run, int64_t nr_runs);
