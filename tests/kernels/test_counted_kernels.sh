#!/bin/sh
# SPDX-License-Identifier: MIT
# What the kernels' definitions expect, beside what single steps count: operations are the same, and so are the bytes that are loaded and stored, and the
# instructions, but for those of the call.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

# What starting, calling and stopping a kernel may add: it saves the registers that it uses.
more_bytes=768
more_instructions=128

# Each quantity that is expected: where the point is, its name, and "value expected kind".
counts()
{
	quantities "$1" | awk -F '\t' '
		$4 == "of" {of[++nr] = $5; label[nr] = $2}
		{values[nr, $4] = $5}
		END {
			for (i = 1; i <= nr; i++)
				if (values[i, "expected"] != "null")
					print of[i], values[i, "value"], values[i, "expected"], values[i, "kind"], label[i]
		}'
}

# agree FILE NR_POINTS MORE LESS: all points have all of it. Of floating-point operations there may be MORE and LESS, in parts of those expected.
agree()
{
	counts "$1" | awk -v points="$2" -v more="$3" -v less="$4" -v more_bytes=$more_bytes -v more_instructions=$more_instructions '
		function wrong(why) {
			print why ": " $0
			is_wrong = 1
		}
		$4 != "measured" {wrong("not counted")}
		$1 ~ /^cpuL1/ && ($2 < $3 || $2 > $3 + more_bytes) {wrong("bytes")}
		$1 == "instructions" && ($2 < $3 || $2 > $3 + more_instructions) {wrong("instructions")}
		$1 ~ /Flop$|^compInstr$/ {
			nr++
			nr_counted += $2
			if ($2 > $3 * (1 + more) || $2 < $3 * (1 - less)) wrong("operations")
		}
		END {
			if (nr != 3 * points) {
				print nr + 0 " quantities of " points " points"
				is_wrong = 1
			}
			exit is_wrong
		}'
}

# kernel NAME NR_POINTS MORE LESS QUANTITIES AXES ATTRIBUTES: points of the kernel over all axes, whose label tells the values.
kernel()
{
	cat >"$work/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="counted and expected" runs="1">
	$6
	<point series="$1" label="$(printf '%s' "$6" | grep -o 'axis name="[a-z]*"' | sed 's/.*"\(.*\)"/{$\1}/' | tr '\n' ' ')">
		<workload><kernel $7/></workload>
	</point>
	<quantity is="operationCount:doublePrecisionFlop"/>
	<quantity is="operationCount:singlePrecisionFlop"/>
	<quantity is="operationCount:compInstr"/>
	$5
</controller>
END
	call measure "./$1.xml" -counting=steps
	case $err in
	*ptrace*) echo "SKIP: $err" >&2; exit 77 ;;
	*'needs the library'*) echo "left out: $err"; return ;;
	esac
	result=$status
	check "$1 is counted"
	out=$(agree "$1.json" "$2" "$3" "$4")
	check "$1: what is counted is what is expected"
}

bytes='<quantity is="transferredBytes:cpuL1.read"/><quantity is="transferredBytes:cpuL1.write"/>'
instructions='<quantity is="operationCount:instructions"/>'
flag() { grep -q -w "$1" /proc/cpuinfo; }
sets='SCALAR SSE'
nr_sets=2
flag avx2 && sets="$sets AVX2" && nr_sets=$((nr_sets + 1))
flag avx512f && sets="$sets AVX512" && nr_sets=$((nr_sets + 1))
# Each variant is a core to build: some of each axis, or all with ROT_SLOW_TESTS.
some() { [ -n "${ROT_SLOW_TESTS-}" ] && echo "$2" || echo "$1"; }
list() { printf '<axis name="%s"><list values="%s"/></axis>\n' "$1" "$2"; }

# Instructions that are fixed.
kernel X87 4 0 0 "$bytes$instructions" "$(list operation 'MIX DIV'; list size '3 100')" \
	'type="Arithmetic" operation="{$operation}" instructionSet="X87" iterations="{$size}" dlp="4"'
kernel Arithmetic $(($(some 2 4) * nr_sets)) 0 0 "$bytes$instructions" \
	"$(list set "$sets"; list precision "$(some FLOAT 'FLOAT DOUBLE')"; list size '3 100')" \
	'type="Arithmetic" operation="MIX" instructionSet="{$set}" precision="{$precision}" iterations="{$size}" dlp="4"'
kernel Roots 2 0 0 "$bytes$instructions" "$(list size '3 100')" 'type="Arithmetic" operation="SQRT" iterations="{$size}" dlp="4"'
flag fma && kernel Fused $((2 * nr_sets)) 0 0 "$bytes$instructions" "$(list set "$sets"; list size '3 100')" \
	'type="Arithmetic" operation="FMA_ADD" instructionSet="{$set}" iterations="{$size}" dlp="4"'
kernel Memory "$(some 6 12)" 0 0 "$bytes" \
	"$(list operation "$(some 'WRITE_NT UPDATE RANDOM_READ' 'READ WRITE_NT COPY UPDATE TRIAD RANDOM_READ')"; list size '1 5')" \
	'type="Memory" operation="{$operation}" bufferSize="{$size * 6144}" hugePages="false"'
kernel Vector "$(some 4 8)" 0 0 "$bytes$instructions" \
	"$(list operation 'MEAN8 AXPBYPCZ'; list precision "$(some FLOAT 'FLOAT DOUBLE')"; list size '64 320')" \
	'type="Vector" operation="{$operation}" precision="{$precision}" length="{$size}" iterations="3"'

# Loops that the compiler translates.
kernel Triad 2 0 0 '' "$(list size '10 1003')" 'type="Triad" bufferSize="{$size}" optimization="-O3"'
kernel IntroductionExample 4 0 0 '' "$(list variant '0 1'; list size '10 1003')" \
	'type="IntroductionExample" m="{$size}" n="4" variant="{$variant}" optimization="-O3"'
kernel Mmm 6 0 0 '' "$(list algorithm 'TRIPLE_LOOP BLOCKED BLOCKED_RESTRICT'; list size '8 24')" \
	'type="Mmm" algorithm="{$algorithm}" matrixSize="{$size}" nb="8"'
# Each sum is added once more a block.
kernel Tuned 2 0.04 0 '' "$(list size '48 96')" 'type="Tuned" matrixSize="{$size}" kc="32"'
kernel Product 12 0 0 '' "$(list algorithm 'LOOPS BLOCKED RECURSIVE'; list size '8 25'; list columns '0 3')" \
	'type="Product" algorithm="{$algorithm}" matrixSize="{$size}" columns="{$columns}" nb="7" order="KJI"'
kernel Stencil 8 0 0 '' "$(list dimensions '2 3'; list block '0 5'; list size '9 40')" \
	'type="Stencil" dimensions="{$dimensions}" block="{$block}" length="{$size}" rows="12" planes="{1 + 4 * ($dimensions = 3)}"'
kernel Transpose 6 0 0 '' "$(list algorithm 'LOOPS BLOCKED RECURSIVE'; list size '9 40')" \
	'type="Transpose" algorithm="{$algorithm}" matrixSize="{$size}" rowLength="{$size + 3}" nb="8"'
kernel MergeSort 4 0 0 '' "$(list ways '2 5'; list size '9 200')" 'type="MergeSort" nrElements="{$size}" ways="{$ways}"'
kernel Wht 4 0 0 '' "$(list algorithm 'ITERATIVE RECURSIVE'; list size '4 9')" 'type="Wht" algorithm="{$algorithm}" bufferSizeExp="{$size}"'
kernel Chase 2 0 0 '' "$(list size '64 1024')" 'type="Chase" bufferSize="{128 * $size}" accesses="{$size}"'
# What is expected leaves out two calls of the sine a stage.
kernel Fft 2 0.05 0 '' "$(list size '256 2048')" 'type="Fft" bufferSize="{$size}"'

# Libraries. Vectors that do not fill registers, and sums of what registers hold, are some more; FFTW needs less than 5 n log2 n.
kernel Daxpy 2 0 0 '' "$(list size '10 1003')" 'type="Daxpy" vectorSize="{$size}"'
kernel Dgemv 2 0.1 0 '' "$(list size '64 200')" 'type="Dgemv" matrixSize="{$size}"'
kernel Dgemm 2 0.1 0.02 '' "$(list size '64 128')" 'type="Dgemm" matrixSize="{$size}"'
kernel Fftw 2 0 0.5 '' "$(list size '64 1024')" 'type="Fft" implementation="FFTW" planning="ESTIMATE" bufferSize="{$size}"'
[ $nr_failed -eq 0 ]
