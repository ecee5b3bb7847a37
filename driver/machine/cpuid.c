/* SPDX-License-Identifier: MIT */
#include "machine/cpuid.h"

#include <cpuid.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

#define FIRST_HYPERVISOR_LEAF 0x40000000

static bool
look_up(const char *root, uint32_t leaf, uint32_t subleaf, struct cpuid_registers *registers)
{
	autofree char *path = rot_format("%s/cpuid", root), *line = NULL;
	FILE *file = fopen(path, "re");
	bool is_found = false;
	size_t size = 0;

	while (file && !is_found && getline(&line, &size, file) > 0) {
		struct cpuid_registers read;
		uint32_t l, s;

		is_found = sscanf(line, "%" SCNx32 " %" SCNx32 ": %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32, &l, &s,
				  &read.eax, &read.ebx, &read.ecx, &read.edx) == 6 &&
			   l == leaf && s == subleaf;
		if (is_found)
			*registers = read;
	}
	if (file)
		fclose(file);
	return is_found;
}

bool
cpuid_read(const char *root, uint32_t leaf, uint32_t subleaf, struct cpuid_registers *registers)
{
	*registers = (struct cpuid_registers){0};
	if (strcmp(root, "/") != 0)
		return look_up(root, leaf, subleaf, registers);
	/* Leaves of the hypervisor have a range of their own, of which __get_cpuid_max knows nothing. */
	if (leaf != FIRST_HYPERVISOR_LEAF && (uint32_t)__get_cpuid_max(leaf & 0x80000000, NULL) < leaf)
		return false;
	__cpuid_count(leaf, subleaf, registers->eax, registers->ebx, registers->ecx, registers->edx);
	return true;
}
