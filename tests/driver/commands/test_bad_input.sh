#!/bin/sh
# SPDX-License-Identifier: MIT
# Mistakes of users, through the program itself: message, exit status, and nothing left behind.
. "$top_srcdir/tests/support/program.sh"
kernels=$work/data/rot/kernels
mkdir -p "$work/here" "$kernels" && cd "$work/here" || exit 99

# controller NAME KERNEL [ATTRIBUTES]: a controller with one point.
controller()
{
	cat >"$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<controller name="$1" comment="" runs="2">
	<point label="x"><workload><kernel type="$2" ${3-}/></workload></point>
	<quantity is="time"/>
	<plot type="distribution" x="time" y="time"/>
</controller>
END
}

# kernel NAME BODY-OF-RUN KERNEL-LINE [FOLDER [ROW]]
kernel()
{
	folder=$kernels/${4-$1}
	mkdir -p "$folder"
	cat >"$folder/$1.xml" <<END
<?xml version="1.0" encoding="UTF-8"?>
<derivedClass name="$1" baseType="KernelBase" cSuffix="Data" comment="">${5-}</derivedClass>
END
	lower=$(echo "$1" | tr A-Z a-z)
	cat >"$folder/$1.c" <<END
#include <stdio.h>
#include <stdlib.h>
#include "kernel.h"
#include "$1Data.h"

struct $lower {
	struct ${lower}_data data;
};

static void
run(void *kernel)
{
	(void)kernel;
	$2
}

$3
END
	controller "$1" "$1"
}

# refused WHAT STATUS PART-OF-ERROR ARGUMENT...: an error that begins with "rot: ", and no file more than before.
refused()
{
	what=$1 wanted=$2 part=$3
	shift 3
	before=$(ls -A)
	"$rot" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	result=1
	case $status:$(cat "$work/err") in
	"$wanted:"*"the core printed"* | "$wanted:"*"The core printed"*) ;;
	"$wanted:rot: "*"$part"*) [ "$(ls -A)" = "$before" ] && [ -z "$(ls -A "$work/cache/rot/work" 2>/dev/null)" ] && result=0 ;;
	esac
	check "$what"
}

controller good Dummy
"$rot" measure good -quiet >"$work/out" 2>"$work/err"
status=$?
if command -v gnuplot >/dev/null; then [ "$status" = 0 ]; else [ -s good.json ]; fi
check "what the others spoil"
rm -f good.json good.pdf good.svg good.data good.gnuplot

# ---- names ----
refused "a folder that is not there" 1 "No such file or directory
     make room there or go where you may write, or name such a place: /tmp/out" measure good nowhere/out
"$rot" list kernels -dataFolder=/nowhere >"$work/out" 2>"$work/err"
status=$?
case $status:$(cat "$work/err") in "0:rot: warning: the data folder '/nowhere' "*) result=0 ;; *) result=1 ;; esac
check "a data folder that is not there"

# ---- streams ----
"$rot" measure good -quiet >/dev/full 2>"$work/err"
status=$?
case $status:$(cat "$work/err") in "1:rot: cannot write to standard output"*) [ -s good.json ] ;; *) false ;; esac
check "a table that cannot be written, but results"
rm -f good.*[!l]
for closed in '>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	rm -f good.json
	eval "\"\$rot\" remeasure good $closed"
	status=$?
	[ "$status" = 1 ] && [ "$(head -c 1 good.json)" = "{" ] && ! grep -q microSeconds.*median good.json && [ -z "$(ls -A "$work/cache/rot/work")" ]
	check "closed streams: $closed"
done
rm -f good.json good.pdf good.svg good.data good.gnuplot
{ "$rot" measure good -timeReport=false; echo $? >"$work/status"; } 2>"$work/err" | true
status=$(cat "$work/status")
[ -s good.json ] && ! grep -q 'rot: cannot' "$work/err"
check "a reader who leaves keeps no result from being written"
rm -f good.json good.pdf good.svg good.data good.gnuplot
if command -v gnuplot >/dev/null; then
	"$rot" measure good -quiet -- -out >"$work/out" 2>"$work/err"
	status=$?
	[ "$status" = 0 ] && [ -s ./-out.pdf ] && [ -s ./-out.svg ]
	check "results whose names begin with a dash"
	rm -f ./-out.*
fi

(
	ulimit -f 1
	"$rot" measure good -quiet >"$work/out" 2>"$work/err"
	echo $? >"$work/status"
)
status=$(cat "$work/status")
case $status:$(ls -A) in "1:"*good.*.*) false ;; "1:"*) ;; *) false ;; esac
check "a limit of the size of files"
rm -f good.json
for seconds in 0 1e300; do
	refused "a time limit of $seconds" 1 "cannot measure with a timeLimit of" remeasure good -timeLimit=$seconds
done
mkdir folder && cp good.xml folder/deep.xml
"$rot" measure folder/deep out -quiet >"$work/out" 2>"$work/err"
status=$?
[ -s out.json ]
check "a path without the ending"
rm -rf folder out.*

# ---- what is missing ----
if command -v gnuplot >/dev/null; then
	"$rot" measure good out -quiet -counting=expected -cacheFolder=/proc/nowhere >"$work/out" 2>"$work/err"
	status=$?
	case $status:$(cat "$work/err") in
	"0:rot: warning: cannot write to the cache folder '/proc/nowhere' ("*"-cacheFolder=FOLDER"*) [ -s out.json ] && [ -s out.pdf ] ;;
	*) false ;;
	esac
	check "a cache that cannot be written: measured all the same"
	rm -f out.*
fi
refused "another compiler, which is not there" 1 "cannot find the compiler 'no-such-compiler' in PATH" measure good -compiler=no-such-compiler
mkdir "$work/bare" && { ! command -v gnuplot >"$work/out" || ln -s "$(command -v gnuplot)" "$work/bare/"; }
# unbuilt WHAT PART-OF-WARNING: as cached, with what is in $work/bare alone.
unbuilt()
{
	PATH=$work/bare "$rot" measure good out -quiet >"$work/out" 2>"$work/err"
	status=$?
	result=1
	case $(cat "$work/err") in
	"rot: warning: $2"*": results from the cache are taken as they are, though kernels or compiler may have changed since"*)
		cmp -s "$work/out" "$work/built" && [ -s out.json ] && [ "$(grep -c 'taken as they are' "$work/err")" = 1 ] && result=0 ;;
	esac
	check "$1"
	rm -f out.*
}
"$rot" measure good out -quiet >"$work/built" 2>"$work/err"
unbuilt "results from the cache need no compiler" "cannot find the compiler 'gcc' in PATH (sudo apt-get install gcc "
before=$(ls -A)
PATH=$work/bare "$rot" measure good -runs=99 >"$work/out" 2>"$work/err"
status=$?
case $status:$(cat "$work/err"):$(ls -A) in "1:rot: "*"cannot find the compiler 'gcc' in PATH"*":$before") result=0 ;; *) result=1 ;; esac
check "what is not there needs one"
ln -s "$(command -v gcc)" "$work/bare/"
rm -rf "$work/cache/rot/cores"
unbuilt "nor make" "cannot find the program 'make' in PATH (sudo apt-get install make)"
"$rot" measure good out -quiet >"$work/built" 2>"$work/err" # builds the core anew
rm -f out.*
mkdir "$work/bin" && ln -s "$(command -v gcc)" "$(command -v make)" "$work/bin/"
PATH=$work/bin "$rot" measure good out -quiet >"$work/out" 2>"$work/err"
status=$?
case $status:$(cat "$work/err") in
"1:rot: warning: gnuplot is missing"*"apt-get install gnuplot-nox"*"cannot draw 'out'"*) [ -s out.json ] && [ -s "$work/out" ] && [ -s out.gnuplot ] && [ ! -e out.pdf ] ;;
*) false ;;
esac
check "no gnuplot: the table and JSON all the same"
rm -f out.*

# ---- flags ----
transcript tests/driver/commands/golden/bad_input.txt
controller flags Dummy "optimization=\"-DTEXT='a b;(c) &lt;&#36;d&gt;' -DMORE=&quot;'&quot;\""
"$rot" measure flags out -quiet >"$work/out" 2>"$work/err"
status=$?
[ -s out.json ]
check "flags in quotes"
rm -f out.json out.pdf out.svg out.data out.gnuplot

# ---- kernels ----
kernel Norun "" 'static void (*const unused)(void *kernel) __attribute__((unused)) = run;
KERNEL(norun, "Norun");'
refused "a kernel without run" 1 ".run = run" measure Norun
kernel Misnamed "" 'KERNEL(misnamed, "Other", .run = run);'
refused "a kernel of another name" 1 'must be "Misnamed"' measure Misnamed
kernel Crashing "*(volatile int *)16 = 1;" 'KERNEL(crashing, "Crashing", .run = run);'
case $("$rot" version) in
*sanitizers*) crash="SEGV" ;;
*) crash="was killed by signal 11 (Segmentation fault) in run 1 of " ;;
esac
refused "a kernel that crashes" 1 "$crash" measure Crashing
kernel Exiting 'fprintf(stderr, "moons\\n"); exit(3);' 'KERNEL(exiting, "Exiting", .run = run);'
refused "a kernel that exits" 1 "moons" measure Exiting
kernel Hanging 'for (;;) __asm__ volatile("");' 'KERNEL(hanging, "Hanging", .run = run);'
refused "a kernel that hangs" 1 "time limit of 0.5 s" measure Hanging -timeLimit=0.5
kernel Typo "return nothing;" 'KERNEL(typo, "Typo", .run = run);' "in a folder's"
refused "a compiler's message with the user's own file" 1 "$kernels/in a folder's/Typo.c:14:" measure Typo
# misspelt WHAT ROW PART-OF-WARNING: a kernel with that row is listed all the same.
misspelt()
{
	kernel Words "" 'KERNEL(words, "Words", .run = run);' Words "$2"
	"$rot" list kernels Words >"$work/out" 2>"$work/err"
	status=$?
	case $status:$(cat "$work/err") in "0:rot: warning: $kernels/Words/Words.xml:2: $3"*) result=0 ;; *) result=1 ;; esac
	check "$1"
}
misspelt "operations that nobody asks for" '<operations of="doublePrecisionFlops" count="1"/>' \
	"there is no operation 'doublePrecisionFlops', did you mean 'doublePrecisionFlop'?"
misspelt "a border that is not there, among others" '<bytes border="l2l3 llcRma" direction="read" count="1"/>' \
	"there is no border 'llcRma', did you mean 'llcRam'?"

kernel Twice "" 'KERNEL(twice, "Twice", .run = run);' first
kernel Twice "" 'KERNEL(twice, "Twice", .run = run);' second
"$rot" list kernels Twice >"$work/out" 2>"$work/err"
status=$?
grep -q "a kernel is left out: $kernels/second/Twice.xml: 'Twice' is already defined in $kernels/first/Twice.xml" "$work/err"
check "two kernels of one name"

[ "$nr_failed" = 0 ]
