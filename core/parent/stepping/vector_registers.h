/* SPDX-License-Identifier: MIT */
/* The vector and mask registers of a thread that stands, as it will use them when it goes on. */
#ifndef CORE_PARENT_STEPPING_VECTOR_REGISTERS_H
#define CORE_PARENT_STEPPING_VECTOR_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VECTOR_NR_REGISTERS 32
#define VECTOR_REGISTER_BYTES 64
#define VECTOR_NR_MASKS 8

/*
 * vectors: zmm0 to zmm31, the lowest byte first; masks: k0 to k7. What the processor does not have is 0.
 * enabled, in_use: bits of the components of its state, as of XCR0 and of those that are not as at the start.
 */
struct vector_registers {
	uint8_t vectors[VECTOR_NR_REGISTERS][VECTOR_REGISTER_BYTES];
	uint64_t masks[VECTOR_NR_MASKS];
	uint64_t enabled, in_use;
};

/*
 * Of a thread that this one traces and that is stopped. False: the kernel refuses (no such thread, or one that runs).
 * Source: ptrace(2), PTRACE_GETREGSET; Intel SDM 1, 13.4: the standard format of the XSAVE area.
 */
bool vector_registers_read(pid_t tid, struct vector_registers *registers);

#endif
