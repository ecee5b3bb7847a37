/* SPDX-License-Identifier: MIT */
/*
 * The plateau of many rates: the highest that a notable share of them agree on. Pure.
 *
 * What others do to a machine only slows, for moments or for minutes, so what it can do shows as a flat top. Of 20 000
 * pieces of 0.13 ms of loads from the L1 of an EPYC 9005, in a virtual machine, a tenth got less than 119 bytes a
 * cycle, half between 127.5 and 128.0; while another guest was on the core, three quarters got less than 119, and a
 * tenth 127.9 to 128.2. A hundredth got 137 to 222: rates above the plateau are left by a misread clock.
 */
#ifndef PEAKS_PLATEAU_H
#define PEAKS_PLATEAU_H

#include <stddef.h>

/* Rates of a plateau differ by less than this share of its highest. */
#define PLATEAU_AGREEING 0.02

/* It has at least so many of them, and at least this share of all; fewer are luck. */
#define PLATEAU_LEAST 6
#define PLATEAU_SHARE 0.1

struct plateau {
	double low, high; /* its rates lie between these, both included; NaN: there is none */
	double median;    /* of these */
	size_t nr;        /* how many these are, 0: there is none */
};

/* Of nr finite rates, higher is better; they are not changed. */
struct plateau plateau_find(const double *rates, size_t nr);

#endif
