#!/bin/sh
# SPDX-License-Identifier: MIT
# Bytes at the memory by the memory controllers of a simulated machine (tests/simulated_pmu.c), whose PMUs are those of a small tree of
# sysfs: what is opened, what others move is subtracted or refuses the value, and what is said where nobody may count.
. "$top_srcdir/tests/support/program.sh"
is_sanitized && {
	echo "SKIP: nothing can be preloaded into a program with sanitizers" >&2
	exit 77
}
mebibyte=1048576

cat >bus.xml <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="bus" comment="bytes at the memory" runs="3">
	<axis name="operation"><list values="READ WRITE_NT"/></axis>
	<point series="{\$operation}" label="1">
		<workload><kernel type="Memory" operation="{\$operation}" instructionSet="SSE" bufferSize="$((48 * mebibyte))"/></workload>
	</point>
	<quantity is="transferredBytes:llcRam"/>
	<quantity is="transferredBytes:llcRam.write"/>
</controller>
END
sed 's/"transferredBytes:llcRam"/"transferredBytes:memoryBus"/; /llcRam\.write/d' bus.xml >others.xml

# simulated MACHINE TREE ARGUMENT...
simulated()
{
	machine=$1 tree=$2
	shift 2
	rm -f "$PWD/log"
	export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$machine" ROT_SIMULATED_UNCORE="$top_srcdir/tests/machines/uncore/$tree" ROT_SIMULATED_LOG="$PWD/log"
	call measure "$@" -validate=never -starts=1 -useCachedResults=false
	unset LD_PRELOAD
}

# bytes FILE QUANTITY: of each point
bytes()
{
	quantities "$1" | awk -F '\t' -v of="transferredBytes:$2" '$3 == of && $4 == "value" { printf "%s ", $5 == "null" ? $5 : sprintf("%d", $5) }'
}

# is WHAT BYTES...: of read data, and of stores past the caches
is()
{
	what=$1 found=$2 wanted=$3
	[ "$found" = "$wanted" ]
	result=$? out="found $found, not $wanted"
	check "$what"
}

intel=$top_srcdir/tests/machines/intel-skylake-server all=$((48 * mebibyte))
simulated "$intel" intel-server ./bus.xml quiet
is 'both directions' "$(bytes quiet.json llcRam)" "$all $all "
is 'stores past the caches are written' "$(bytes quiet.json llcRam.write)" "0 $all "
sort -u log | grep '^machine' >opened
result=0 out=$(cat opened)
for unit in 'type 14 config 0x304 CPU 0' 'type 14 config 0x304 CPU 18' 'type 15 config 0xc04 CPU 0' 'type 15 config 0xc04 CPU 18'; do
	grep -qx "machine: $unit" opened || result=1
done
[ "$(wc -l <opened)" -eq 8 ] || result=1
check 'each unit is opened on each package'

export ROT_SIMULATED_OTHERS=1000
simulated "$intel" intel-server ./bus.xml lively
is 'what others move is subtracted' "$(bytes lively.json llcRam)" "$all $all "
simulated "$intel" intel-server ./others.xml others
case $out in *'counted for the whole machine'*) result=0 ;; *) result=1 ;; esac
check 'the table says whose it is'
is 'or is what is asked for' "$(bytes others.json memoryBus)" "$((all + 8 * 1000 * 64)) $((all + 8 * 1000 * 64)) "
has 'and the value' others.json 'points\[0\]\.quantities\[0\]\.ofMachine = true' 'points\[0\]\.quantities\[0\]\.kind = measured'

export ROT_SIMULATED_OTHERS=100000
simulated "$intel" intel-server ./bus.xml busy
is 'no value among others' "$(bytes busy.json llcRam)" 'null null '
has 'and why' busy.json 'points\[0\]\.quantities\[0\]\.taints\.background = 3'
unset ROT_SIMULATED_OTHERS

simulated "$intel" intel-client ./bus.xml client
is 'controllers of a client' "$(bytes client.json llcRam)" "$all $all "

# Each of two workloads sees what both do.
sed '/<workload>/p; s/READ WRITE_NT/READ/' bus.xml >two.xml
simulated "$intel" intel-server ./two.xml two
is 'two workloads' "$(bytes two.json llcRam)" "$((2 * all)) "
two_seen=$(quantities two.json | awk -F '\t' '$3 == "transferredBytes:llcRam" && $4 ~ /^threadSamples/ { printf "%d ", $5 }')
is 'each sees both' "$two_seen" "$((2 * all)) $((2 * all)) $((2 * all)) $((2 * all)) $((2 * all)) $((2 * all)) "

# processor FAMILY MODEL: a recorded machine of AMD
processor()
{
	cp -R "$top_srcdir/tests/machines/zen5-turin-kvm" "amd-$1-$2"
	chmod -R u+w "amd-$1-$2"
	sed "s/^cpu family.*/cpu family	: $1/; s/^model	.*/model		: $2/" "$top_srcdir/tests/machines/zen5-turin-kvm/proc/cpuinfo" >"amd-$1-$2/proc/cpuinfo"
}
processor 25 17
simulated "$PWD/amd-25-17" amd-umc ./bus.xml zen4
is 'Zen 4' "$(bytes zen4.json llcRam) $(bytes zen4.json llcRam.write)" "$all $all  0 $all "
processor 23 49
sed '/llcRam\.write/d' bus.xml >both.xml
simulated "$PWD/amd-23-49" amd-df ./both.xml zen2
is 'Zen 2' "$(bytes zen2.json llcRam)" "$all $all "
sort -u log | grep '^machine' >opened
[ "$(wc -l <opened)" -eq 16 ]
result=$? out=$(cat opened)
check 'eight channels of two packages'

export ROT_SIMULATED_PARANOID=1
simulated "$intel" intel-server ./others.xml refused
case $status$err in 1*"uncore_imc_0/cas_count_write/' of the whole machine: Permission denied"*) result=0 ;; *) result=1 ;; esac
check 'nobody may count'
case $err in *'sudo sysctl kernel.perf_event_paranoid=0'* | *'although kernel.perf_event_paranoid is'*) result=0 ;; *) result=1 ;; esac
check 'and the line to type'
simulated "$intel" intel-server ./bus.xml blocks
has 'what is modelled instead' blocks.json 'points\[0\]\.quantities\[0\]\.kind = modelled' 'points\[0\]\.quantities\[0\]\.source = blocks, .*'
[ "$(bytes blocks.json llcRam.write | awk -v all="$all" '{ print ($1 < 65536 && $2 >= all && $2 < all + 65536) }')" = 1 ]
result=$? out=$(bytes blocks.json llcRam.write)
check 'which knows both directions'
simulated "$intel" intel-server ./bus.xml known -counting=events
has 'or expected' known.json 'points\[0\]\.quantities\[0\]\.kind = expected'
case $err in *'labelled "expected"'*'perf_event_paranoid'*) result=0 ;; *) result=1 ;; esac
check 'with the line to type'
unset ROT_SIMULATED_PARANOID
[ $nr_failed -eq 0 ]
