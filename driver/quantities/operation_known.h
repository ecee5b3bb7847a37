/* SPDX-License-Identifier: MIT */
/* Latency and throughput of an instruction, for those who tell why code is slow or how to write it. */
#pragma once

struct rot;

struct operation_known {
	double latency;   /* core cycles; 0: not known */
	double per_cycle; /* of independent ones; 0: not known */
	char source[64];  /* "measured 2026-11-27", "documents of the processor"; "": not known */
};

/* As rot machine measured it, else as the processor's documents say. Fields of the kernel Operation. */
struct operation_known
operation_known(const struct rot *rot, const char *operation, const char *precision, const char *instruction_set);
