/* SPDX-License-Identifier: MIT */
/*
 * The processor's own description (instruction CPUID), or that of one when a machine was recorded. Sources: Intel SDM
 * vol. 2A, CPUID; AMD64 APM vol. 3, appendix E.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpuid_registers {
	uint32_t eax, ebx, ecx, edx;
};

/*
 * The registers of a leaf. root: "/" asks the CPU that this runs on; the folder of a recorded machine has them in its
 * file "cpuid", one leaf a line: "8000001d 2: eax ebx ecx edx", all hexadecimal. False, and zeros: the processor has no
 * such leaf, or it was not recorded.
 */
bool cpuid_read(const char *root, uint32_t leaf, uint32_t subleaf, struct cpuid_registers *registers);
