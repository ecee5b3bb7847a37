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
# rot asks the processor (CPUID); what it said is the part after the processor in "rot version".
if command -v systemd-detect-virt >/dev/null 2>&1 && virt=$(systemd-detect-virt --vm); then
	case $virt in
	kvm) echo KVM ;;
	microsoft) echo Hyper-V ;;
	vmware) echo VMware ;;
	xen) echo Xen ;;
	*) echo "$virt" ;;
	esac >"$folder/hypervisor"
fi
