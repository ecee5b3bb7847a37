#!/bin/sh
# SPDX-License-Identifier: MIT
# What the experiments about traffic show: bytes that are counted are those of the models where these hold, and far from them where rows share sets of a cache.
# The points are such that this holds for all usual first-level caches.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

# measured NAME KEY...: the experiment, with few points.
measured()
{
	call measure "$@" -quick -counting=steps -findPeaks=false
	case $err in
	*ptrace*) echo "SKIP: $err" >&2; exit 77 ;;
	esac
	result=$status
	check "$* is counted"
	name=${1##*/}
	"$top_builddir/tests/json_lines" "${name%.xml}.json" >"$work/lines"
}

# derived SERIES LABEL NAME: the derived value at that point of what was measured last.
derived()
{
	awk -v series="$1" -v label="$2" -v name="$3" '
		match($1, /^points\[[0-9]+\]/) {
			point = substr($1, 1, RLENGTH)
			rest = substr($1, RLENGTH + 1)
			text = substr($0, index($0, " = ") + 3)
			if (rest ~ /^\.(series|label)$/) is[point, rest] = text
			if (rest ~ /^\.derived\[[0-9]+\]\.name$/) names[point, substr(rest, 1, length(rest) - 5)] = text
			if (rest ~ /^\.derived\[[0-9]+\]\.value$/) values[point, substr(rest, 1, length(rest) - 6)] = text
		}
		END {
			for (at in names) {
				split(at, parts, SUBSEP)
				if (names[at] == name && is[parts[1], ".series"] == series && is[parts[1], ".label"] == label) print values[at]
			}
		}' "$work/lines"
}

# within LEAST MOST SERIES LABEL NAME: the derived value is there, and between both.
within()
{
	value=$(derived "$3" "$4" "$5")
	awk -v value="$value" -v least="$1" -v most="$2" 'BEGIN {exit !(value != "" && value + 0 >= least && value + 0 <= most)}'
	result=$?
	check "$5 of $3 $4 is ${value:-missing}: $1 to $2"
}

measured traffic-matmul
within -5 5 counted 200 L1Residual
within -5 5 counted 56 L2Residual

# A line of C touches as much as one element; what is counted is at most the sum, and nearly so where each line of B is used once in an interval.
measured working-set
for interval in all rows line element; do
	within -5 5 $interval 200 residual
done
within 80 100 all 200 share
within 90 105 all 24 share

measured block-size
within -5 5 counted 16 residual
within -5 5 counted 120 residual

measured recursive
within -35 2 counted 128 residual
within -35 2 counted 256 residual

# Rows of 1,024 bytes: columns fall into few sets, and each product loads a line.
measured spikes
within -5 5 plain 129 residual
within -5 5 padded 128 residual
within 400 900 plain 128 residual

measured stencil
within -5 5 'plane, rows' 1000 residual
within -5 5 'plane, rows' 6008 residual
within -5 5 'plane, blocks' 6008 residual
within -5 5 'space, rows' 296 residual

# Beyond a column that fits, each element loads a line; blocks and recursion do not.
measured transpose
within -5 5 loops 440 residual
within -5 5 loops 1000 residual
within 71 73 loops 1000 counted
within -5 5 blocks 1000 residual
within 0 15 recursion 1000 residual

# The flags decide how many instructions the compiler needs for an element; the fixed ones are some whole vectors at once.
measured optiflop-c
within 0.3 2.3 assembly AXPY elementInstructions
within 4 9 'C -O1' AXPY elementInstructions
within 0.3 4 'C -O3 -march=native' AXPY elementInstructions
within 16 17 'C -O1' AXPY elementBytes
within 0.000001 1000000 'C -O3' AXPY timesAssembly

# Modelled caches replace the least recently used line: all of a set with one line more than ways miss, and none where they fit.
measured replacement
for level in L1 L2; do
	within 99 101 "$level" 1 counted
	within 0 1 "$level" 0 counted
done
measured replacement -caches=48K:12:random,1M:16:random,32M:16
within 2 60 L2 1 counted
case $out in
*'modelled caches: 48K:12:random,1M:16:random,32M:16 (key caches)'*) result=0 ;;
*) result=1 ;;
esac
check "the caches are those of the key"

# Those that were measured are modelled, whatever is told of them.
measured replacement -caches=measured
within 0 1 L2 0 counted
case $out in
*'modelled caches: L1 data 48 KiB (measured), L2 1 MiB (measured), last level 32'*) result=0 ;;
*) result=1 ;;
esac
check "the caches are those that were measured"

# bytes: those of all points and borders, as modelled.
bytes()
{
	awk '$1 ~ /\.name$/ {name = $3} name == "transferredBytes" && $1 ~ /quantities\[[0-9]+\]\.value$/ {print $3}' "$work/lines"
}

# shown MACHINE NAME KEY...: the experiment on what this folder shows of a machine.
shown()
{
	export LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$PWD/$1"
	shift
	measured "$@" -cacheFolder="$ROT_SIMULATED_MACHINE/cache"
	unset LD_PRELOAD ROT_SIMULATED_MACHINE
}

# Whoever tells sizes, bytes are the same: sysfs, or nobody but what was measured. Leaves about caches are of a vendor: this processor
# has none of the other one's. The sizes are none that it could have told itself. What data of cold caches bring does not depend on them, so
# the same is done with warm ones: 0.2 to 2 MB.
for machine in told hidden; do
	mkdir -p $machine/proc $machine/sys/devices/system/cpu
	sed 's/GenuineIntel/none/; s/AuthenticAMD/GenuineIntel/; s/: none/: AuthenticAMD/' /proc/cpuinfo >$machine/proc/cpuinfo
	echo 0 >$machine/sys/devices/system/cpu/online
done
nr=0
for cache in '1 Data 24K 8' '2 Unified 512K 8' '3 Unified 4M 16'; do
	set -- $cache
	index=told/sys/devices/system/cpu/cpu0/cache/index$nr nr=$((nr + 1))
	mkdir -p $index && echo "$1" >$index/level && echo "$2" >$index/type && echo "$3" >$index/size && echo "$4" >$index/ways_of_associativity
	echo 64 >$index/coherency_line_size && echo 0 >$index/shared_cpu_list
done
mkdir -p hidden/cache
sed -e 's/name="triad"/name="warm"/' -e 's/optimization=/warmData="true" &/' "$top_srcdir/driver/controllers/triad.xml" >warm.xml
! is_sanitized && # else nothing is preloaded
for name in triad ./warm.xml; do
	LD_PRELOAD="$top_builddir/tests/simulated_pmu.so" ROT_SIMULATED_MACHINE="$PWD/hidden" "$top_builddir/tests/known_caches" hidden/cache
	sed -i 's/49152/24576/; s/1048576/524288/; s/33554432/4194304/' hidden/cache/levels-*.json
	shown told $name -runs=1
	bytes >bytes.told
	case $(echo $out) in *'L1 data 24 KiB, L2 512 KiB, last level 4 MiB'*) result=0 ;; *) result=1 ;; esac
	check "sysfs tells the caches"
	shown hidden $name -runs=1
	case $(echo $out) in
	*'L1 data 24 KiB (measured), L2 512 KiB (measured), last level 4 MiB (measured)'*)
		bytes | paste bytes.told - | awk '
			$2 > 1.02 * $1 + 4096 || $2 < 0.98 * $1 - 4096 {print "# " $1 " bytes, of measured caches " $2; differ++}
			END {exit NR == 0 || differ}'
		result=$?
		check "measured caches give the bytes of told ones"
		;;
	*'(cpuid 80000006)'*) echo "# both vendors have this leaf" ;;
	*) result=1; check "nobody tells the caches" ;;
	esac
done

# Sizes of controllers are measured ones, too.
mkdir -p small
sed s/49152/24576/ "$XDG_CACHE_HOME"/rot/levels-*.json >small/"$(cd "$XDG_CACHE_HOME"/rot && echo levels-*.json)"
call measure --dry-run tuned -cacheFolder=small -caches=measured
case $(echo $out) in *'half of L1 (24 KiB)'*) result=0 ;; *) result=1 ;; esac
check "blocks follow from the measured L1"

# A last level that was measured as 4 GiB is modelled where none is told, else named beside what is told.
mkdir -p other
sed s/33554432/4294967296/ "$XDG_CACHE_HOME"/rot/levels-*.json >other/"$(cd "$XDG_CACHE_HOME"/rot && echo levels-*.json)"
measured triad -cacheFolder=other -runs=1
case $(echo $out) in
*'last level 4 GiB ('*) result=0 ;;
*) result=1 ;;
esac
check "a measured size that differs is told"

# What was measured long ago is used, and told.
mkdir -p old
sed 's/"created": "[0-9]*-/"created": "2020-/' "$XDG_CACHE_HOME"/rot/levels-*.json >old/"$(cd other && echo levels-*.json)"
call measure --dry-run triad -cacheFolder=old -caches=measured
case $(echo $err) in
*'measured under other conditions: '*' days old; '*'rot remeasure levels'*) result=0 ;;
*) result=1 ;;
esac
check "old facts are told"
call measure --dry-run triad -caches=measured
case $err in
*'other conditions'*) result=1 ;;
*) result=0 ;;
esac
check "new ones are not"

# By hand, of 8 ways: there and back LRU misses twice in 16 accesses, FIFO in half of them and one; a cycle of 10 visits one line twice.
sed -e 's/name="replacement"/name="eight"/' -e 's/[$]l1Ways/8/g' -e 's/[$]l1DataBytes/32768/g' "$top_srcdir/driver/controllers/replacement.xml" >eight.xml
for policy in 'lru 12 13 79 81' 'fifo 56 57 89 91' 'plru 12 13 19 21'; do
	set -- $policy
	measured ./eight.xml "-caches=32K:8:$1,1M:16,32M:16"
	within 99 101 L1 1 counted
	within "$2" "$3" L1 1 zigzagCounted
	within "$4" "$5" L1 1 hotCounted
done

# Times are there for lists in registers and in memory, and arrays; how long they are is not asserted.
measured prefetch
for series in 'list, random' 'list, ascending' 'array, random' 'array, ascending'; do
	within 0.001 1000000 "$series" 1 each
	within 0.001 1000000 "$series" 24 each
done

measured merge-sort
within -5 5 '2 ways' 80000 residual
within -5 5 '16 ways' 80000 residual

# The line of the model goes through its values, and counted points are at theirs.
value=$(derived '16 ways' 80000 model)
awk -v value="$value" '/^#/ && !/^# x/ {is_model = $0 == "# 16 ways: model"} is_model && $1 == 80000 && $2 / value > 0.9999 && $2 / value < 1.0001 {found = 1} END {exit !found}' merge-sort.data
result=$?
check "the line of the model is at $value"
value=$(derived '16 ways' 80000 counted)
awk -v value="$value" '/^#/ && !/^# x/ {is_here = $0 == "# 16 ways"} is_here && $1 == 80000 && $2 / value > 0.9999 && $2 / value < 1.0001 {found = 1} END {exit !found}' merge-sort.data
result=$?
check "the point is at $value"
grep -q 'of modelled caches' merge-sort.svg
result=$?
check "the picture says where the values are from"

# A plot of misses is optional: points are drawn where all are counted, as was asked for, and curves alone where one has too much work.
cat >plotted.xml <<'END'
<controller name="plotted" comment="a product" runs="1">
	<axis name="size"><list values="20 40"/></axis>
	<point series="loops" label="{$size}"><workload><kernel type="Mmm" matrixSize="{$size}"/></workload></point>
	<quantity is="time"/>
	<plot type="series" title="Misses" optional="true" x="size" y="tlbMisses"><curve name="line" from="1" to="50" y="{$size}"/></plot>
</controller>
END
measured ./plotted.xml
grep -q '^# loops' plotted.data && grep -q '^# line' plotted.data
result=$?
check "misses are drawn"
rm -f plotted.data
call measure ./plotted.xml -quick -findPeaks=false -tlb=128
grep -q '^# loops' plotted.data
result=$?
check "misses of a TLB that is named are drawn, whatever else is counted"
measured ./plotted.xml -stepLimit=100000
! grep -q '^# loops' plotted.data && grep -q '^# line' plotted.data
result=$?
check "the curve alone is drawn"

# A cycle through 100 pages, four times: of 64 translations all are missed each time, of 128 once, but for those of the warm code.
cat >pages.xml <<'END'
<controller name="pages" comment="a cycle through pages" runs="1">
	<point series="pages" label="100">
		<workload><kernel type="Chase" bufferSize="409600" distance="4096" accesses="400" warmCode="true"/></workload>
	</point>
	<quantity is="tlbMisses" name="misses"/>
	<derived name="counted" is="$misses"/>
</controller>
END
measured ./pages.xml
within 400 405 pages 100 counted
measured ./pages.xml -tlb=128
within 90 105 pages 100 counted
measured ./pages.xml -tlb=64:full:2M
within 0 6 pages 100 counted

# What is only expected is drawn as such.
call measure merge-sort -quick -counting=expected -findPeaks=false
awk '/^#/ && !/^# x/ {is_here = $0 == "# 16 ways"} is_here && $1 == 80000 && $13 == 1 {found = 1} END {exit !found}' merge-sort.data
result=$?
check "a derived value of an expected one is expected"
[ $nr_failed -eq 0 ]
