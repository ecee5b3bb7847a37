#!/bin/sh
# SPDX-License-Identifier: MIT
# Records what rot reads of a machine into a folder, for tests/machines: tools/record-machine.sh FOLDER
set -eu

folder=${1:?usage: record-machine.sh FOLDER}
cpus=/sys/devices/system/cpu

# keep FILE: copies it below the folder, if it can be read.
keep()
{
	[ -r "$1" ] || return 0
	mkdir -p "$folder/$(dirname "$1")"
	cat "$1" >"$folder/$1" 2>/dev/null || rm -f "$folder/$1"
}

mkdir -p "$folder/proc"
# The first processor says it all; serial numbers and addresses are not in there.
sed '/^$/q' /proc/cpuinfo >"$folder/proc/cpuinfo"
head -n 1 /proc/meminfo >"$folder/proc/meminfo"
keep /proc/sys/kernel/osrelease
keep $cpus/online
keep $cpus/cpu0/cpufreq/scaling_governor
first=$(sed 's/[^0-9].*//' $cpus/online)
for cache in $cpus/cpu"$first"/cache/index*; do
	for fact in type level size coherency_line_size shared_cpu_list; do
		keep "$cache/$fact"
	done
done
# What rot asks the processor: the leaves of the caches and the hypervisor's name. Needs a compiler.
program=$(mktemp)
${CC:-cc} -x c -o "$program" - <<'EOF'
#include <cpuid.h>
#include <stdio.h>

static void
print(unsigned leaf, unsigned subleaf)
{
	unsigned a, b, c, d;

	__cpuid_count(leaf, subleaf, a, b, c, d);
	printf("%08x %x: %08x %08x %08x %08x\n", leaf, subleaf, a, b, c, d);
}

int
main(void)
{
	static const unsigned leaves[] = {4, 0x8000001d, 0x80000005, 0x80000006, 0x40000000};

	for (unsigned i = 0; i < 5; i++)
		for (unsigned subleaf = 0; subleaf < (i < 2 ? 5 : 1); subleaf++)
			if (i == 4 || __get_cpuid_max(leaves[i] & 0x80000000, 0) >= leaves[i])
				print(leaves[i], subleaf);
}
EOF
"$program" >"$folder/cpuid"
rm -f "$program"
