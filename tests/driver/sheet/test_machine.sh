#!/bin/sh
# SPDX-License-Identifier: MIT
# "rot machine": whatever the host says, an answer has a number, or says why not; and a second time nothing is measured.
. "$top_srcdir/tests/support/program.sh"

for part in buffers,9 tlb,9; do
	call machine --only=${part%,*} --json
	nr_answers=$(echo "$out" | grep -c '"name": ') nr_missing=$(echo "$out" | grep -c '"value": null')
	nr_remarks=$(echo "$out" | grep -c '"remark": "')
	[ "$status" = 0 ] && [ "$nr_answers" = "${part#*,}" ] && [ "$nr_missing" -le "$nr_remarks" ]
	check "each answer about ${part%,*} has a number, or says why not"
done
first=$out
call machine --only=tlb --json
[ "$out" = "$first" ]
check "a second start takes what was measured"

call machine --only=cores
case $out in *"a cache line from CPU to CPU, ns"* | *"There is one CPU that rot may use"*) result=0 ;; *) result=1 ;; esac
check "the table of CPUs, or why there is none"
first=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *//; s/[,-].*//')
if [ "$first" ]; then
	out=$(taskset -c "$first" "$rot" machine --only=cores)
	case $out in *"There is one CPU that rot may use"*) result=0 ;; *) result=1 ;; esac
	check "CPUs that it may not use are left alone"
fi

# days: when what is kept was measured; but runs that looked at the last level, which go on until it is sure
days()
{
	"$rot" machine --only=operations >/dev/null
	"$rot" machine --only=caches --json | grep '^ \{1,6\}"created"'
}

first=$(days) now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
while [ "$now" = "$(date -u +%Y-%m-%dT%H:%M:%SZ)" ]; do sleep 0.1; done
[ "$first" ] && [ "$(days)" = "$first" ]
check "what is taken from the cache keeps its day"

COLUMNS=80
call machine --only=caches
[ "$status" = 0 ] && ! echo "$out" | grep -v '  ' | grep -E '.{81}'
check "no sentence is wider than 80 columns"

call machine --only=tlb,clocks -o "$PWD/sheet" -plots=html
page=$(cat sheet.html) nr_marks=0
names=$(tr -d '\n' < sheet.json | grep -o '"name": "[^"]*", *"unit": "[^"]*", *"number": { *"value": [0-9]' | sed 's/"name": "//; s/".*//')
for name in $(echo "$names" | tr ' ' '_'); do
	mark=$(echo "$name" | tr _ ' ')
	case $page in *">$mark: "* | *">plus $mark: "*) nr_marks=$((nr_marks + 1)) ;; *) echo "# no mark of $name" ;; esac
done
[ "$status" = 0 ] && [ "$nr_marks" = "$(echo "$names" | grep -c .)" ]
check "each answer that there is has a mark in the curve on the page"
case $page in *"Clock of the slowest core"*) result=0 ;; *) result=1 ;; esac
check "and the other part is there too"

call machine --only=hazards,cores -o "$PWD/costs"
if command -v gnuplot >/dev/null; then [ "$status" = 0 ] && [ -s costs-hazards.svg ]; else [ -s costs.json ]; fi
check "hazards are drawn as bars"
nr_answers=$(grep -o '"unit":' costs.json | wc -l) nr_missing=$(grep -c '"value": null' costs.json) nr_remarks=$(grep -c '"remark": "' costs.json)
[ "$nr_answers" = 18 ] && [ "$nr_missing" -le "$nr_remarks" ]
check "each hazard has a cost, or says why not"

parts=ranges,nodes nr_parts=8
[ -z "${ROT_SLOW_TESTS-}" ] || parts=contexts,ranges,loaded,prefetch,handover,nodes nr_parts=20
call machine --only=$parts --json
nr_answers=$(echo "$out" | grep -c '"name": ') nr_missing=$(echo "$out" | grep -c '"value": null') nr_remarks=$(echo "$out" | grep -c '"remark": "')
[ "$status" = 0 ] && [ "$nr_answers" = $nr_parts ] && [ "$nr_missing" -le "$nr_remarks" ]
check "each answer about $parts has a number, or says why not"

if has_terminals && ! is_sanitized; then # preloaded: Ctrl-C comes before the first process
	for part in scheduling loaded; do
		LD_PRELOAD=$top_builddir/tests/early_interrupt.so EARLY_INTERRUPT=rot \
			"$top_builddir/tests/at_terminal" "$rot" machine --only=$part >interrupted 2>&1
		status=$? out=$(cat interrupted) err=
		case $status:$out in 130:*interrupted*) result=0 ;; 0:*"one CPU alone"*) result=0 ;; *) result=1 ;; esac
		check "Ctrl-C ends $part, and is told as that"
	done
fi

call machine --only=scheduling -plots=html
[ "$status" = 0 ] && case $err in *"-o NAME"*) true ;; *) false ;; esac
check "a page needs a name"

call machine --only=clocks,scheduling -compiler=no-such-compiler --json
[ "$status" = 0 ] && case $out in *"cannot find the compiler"*'"least step of the clock"'*) true ;; *) false ;; esac
check "a part that fails leaves its reason, and the others"

# Only where the buffer is larger than what may be mapped; it measures all caches once more.
if [ "${ROT_SLOW_TESTS-}" ] && ! is_sanitized; then
	out=$(ulimit -v 250000; "$rot" machine --only=caches -useCachedResults=false)
	status=$?
	case $status:$(echo $out) in
	0:*"L1 data "*" KiB "*": cannot map "*) result=0 ;;
	0:*" stayed, from moment to moment"*) echo "# it could be mapped"; result=0 ;;
	*) result=1 ;;
	esac
	check "without memory to look at the last level, there are the others"
fi

if ! is_sanitized; then # which takes more memory than that
	out=$(ulimit -v 100000; "$rot" machine --only=loaded,scheduling)
	case $(echo $out) in
	*"got too little"*"least step"* | *"least step"*"got too little"* | *"one CPU alone"* | *"than caches hold"*) result=0 ;;
	*) result=1 ;;
	esac
	check "memory that is refused is told as that"
fi

call machine --only=clocks -compiler=no-such-compiler
[ "$status" = 1 ] && case $err in *"cannot find the compiler"*) true ;; *) false ;; esac
check "if all fail, the command does"

call machine --only=tbl
[ "$status" = 2 ] && case $err in *caches*) true ;; *) false ;; esac
check "groups are named"
exit $((nr_failed != 0))
