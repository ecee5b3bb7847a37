#!/bin/sh
# SPDX-License-Identifier: MIT
# The driver's commands, help, suggestions, completion and exit status, through the program itself.
. "$top_srcdir/tests/support/program.sh"
keys=$top_srcdir/driver/base/keys.def

# has WHAT STATUS PART-OF-OUTPUT PART-OF-ERROR
has()
{
	result=1
	case $status:$out in "$2:"*"$3"*) case $err in *"$4"*) result=0 ;; esac ;; esac
	check "$1"
}

# ---- width: where nobody says how wide a line may be, it has 80 characters, and only of --all there are many lines ----
for words in list 'list controllers' 'list keys' 'list quantities' 'list remarks' 'doctor --all' \
	"diff $top_srcdir/tests/driver/experiments/result.json $top_srcdir/tests/driver/experiments/result.json"; do
	# shellcheck disable=SC2086
	(unset COLUMNS && "$rot" $words) >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(grep -v "$top_srcdir" "$work/out" | grep '.\{81\}')
	err=$(cat "$work/err")
	is "lines of rot $words fit" 0 "" "$err"
done

# ---- help ----
call help
help=$out
has "help" 0 "Usage: rot COMMAND" ""
for flag in -h --help -help; do
	call "$flag"
	is "$flag is help" 0 "$help" ""
done
call list keys
missing=
for word in $(sed -n 's/^KEY("\([A-Za-z]*\)".*/\1/p' "$keys"); do
	case $out in *"  -$word="*) ;; *) missing="$missing $word" ;; esac
done
for name in $(sed -n 's/^	\.name = "\([a-z]*\)",$/\1/p' "$top_srcdir"/driver/commands/*.c); do
	case $help in *"
  $name"*) ;; *) missing="$missing $name" ;; esac
done
out=$missing
[ -z "$missing" ]
check "every key is listed, and help has every command"
[ "$(printf '%s\n' "$help" | wc -l)" -le 32 ]
check "help fits on a screen"
call list controllers
has_controllers=1
for name in triad intro memory arithmetic; do
	case $out in *" $name"[\ ,]*) ;; *) has_controllers=0 ;; esac
done
[ "$has_controllers" = 1 ]
check "the controllers are listed"
# Lines of a narrow terminal: paths of this machine alone may be longer.
{
	printf '%s\n' "$help"
	for topic in $("$rot" complete 'rot help ') $(sed -n 's/^KEY("\([A-Za-z]*\)".*/\1/p' "$keys"); do
		"$rot" help "$topic"
	done
	for topic in quantities keys kernels; do
		"$rot" list $topic
	done
} | grep -E '^.{81}' | grep -v -F "$top_srcdir" >"$work/out"
status=0 err=
out=$(cat "$work/out")
[ -z "$out" ]
check "help and lists keep within 80 columns"
missing=
for name in $("$rot" complete 'rot '); do
	"$rot" help "$name" | sed -n '4,7p' | tr '\n' '|' | grep -q '|Examples|  rot [a-z]' || missing="$missing $name"
done
out=$missing
[ -z "$missing" ]
check "help of a command begins with examples"
# ---- help of one thing, settings, completion, lists ----
for name in RUN.md doc/RUN.md run.md RUN; do
	call help "$name"
	has "a document is $name" 0 "$(sed -n '1s/# //p' "$top_srcdir/doc/RUN.md")" ""
done
call help readme
has "and one that is no command needs no ending" 0 "$(sed -n '1s/# //p' "$top_srcdir/README.md")" ""
mkdir folder.xml
transcript tests/driver/commands/golden/commands.txt
rmdir folder.xml
# What completion, which is all rows of the tables, proposes is told by help and the manual.
tr -d '\\' <"$top_builddir/doc/rot.1" >"$work/manual"
missing=
for name in $("$rot" complete 'rot '); do
	"$rot" help "$name" >"$work/help"
	grep -Eq "^\.It Cm $name( |\$)" "$work/manual" || missing="$missing manual:$name"
	for word in $("$rot" complete "rot $name -" | grep '^--'); do
		word=${word%%=*}
		grep -Eq "Fl Fl ${word#--}( |\$)" "$work/manual" || missing="$missing manual:$name:$word"
		grep -Eq -- "^  (-., |    )$word( |\$)" "$work/help" || missing="$missing help:$name:$word"
	done
done
for word in $("$rot" complete 'rot -' | tr -d -- '-='); do
	"$rot" help "$word" >/dev/null || missing="$missing help:$word"
	grep -Eq "^\.It Fl $word( |\$)" "$work/manual" || missing="$missing manual:$word"
done
for name in $({ "$rot" list remarks --all; "$rot" list findings; } | sed -n 's/^  \([^ ]*\) .*/\1/p'); do
	grep -Fqx ".It Cm $name" "$work/manual" || missing="$missing manual:$name"
done
out=$missing
[ -z "$missing" ] && grep -q "^\.It Cm drift$" "$work/manual" && grep -q "^\.It Cm narrowVectors$" "$work/manual"
check "help and the manual have every command, option and key, and the manual every remark and finding"
grep -hoE '`(\./)?rot [a-z]+ [^`]*`' "$top_srcdir/README.md" "$top_srcdir"/doc/*.md |
	sed 's/^`\(\.\/\)\{0,1\}rot //; s/`$//' | grep -v '^check ' | sort -u >"$work/lines"
unknown=
while read -r name words; do
	"$rot" complete "rot $name -" | tr -s -- - | sed 's/=.*//' >"$work/known"
	for word in $(printf '%s\n' "$words" | grep -oE -- '--[a-z][a-z-]*|-[a-z][A-Za-z]+=' | tr -s -- - | tr -d =); do
		grep -qx -- "$word" "$work/known" || unknown="$unknown $name:$word"
	done
done <"$work/lines"
out=$unknown
[ -z "$unknown" ] && [ -s "$work/lines" ]
check "documents name options and keys that there are"
if command -v bash >/dev/null; then
	for line in 'rot mea' 'rot measure -clock=t' 'rot list key'; do
		LC_ALL=C bash --norc -c '. "$1"; COMP_LINE=$3 COMP_POINT=${#3}; _rot "$2"; printf "%s\n" "${COMPREPLY[@]}"' bash \
			"$top_srcdir/driver/commands/completion/rot" "$rot" "$line"
	done >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	is "the script for bash" 0 "measure
tsc
keys" ""
fi
if command -v zsh >/dev/null; then
	for line in mea 'measure -clock=t' 'measure -esti'; do
		zsh -f -c 'compadd() { print -r -- "$@" }; complete() { words=(${=2}) CURRENT=$#words; words[1]=$1; . "$3" }
			complete "$@"' zsh "$rot" "rot $line" "$top_srcdir/driver/commands/completion/_rot"
	done >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	is "the script for zsh" 0 "-S  --
-- measure
-S  --
-- -clock=tsc
-S  -- -estimator=
--" ""
fi
if command -v fish >/dev/null; then
	ln -s "$rot" "$work/rot"
	PATH=$work:$PATH fish --no-config -c '. $argv[1]; complete -C "rot mea"; complete -C "rot list key"' \
		"$top_srcdir/driver/commands/completion/rot.fish" >"$work/out" 2>"$work/err"
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	is "the script for fish" 0 "measure
keys" ""
fi

# ---- the rest ----
for flag in --version -V -v; do
	call $flag
	has "$flag" 0 "rot $(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"$/\1/p' "$top_builddir/config.h")
" ""
done
call version
for library in libxml2 jansson libcrypto libc libpfm4 libdw Zydis; do
	printf '%s\n' "$out" | grep -q -E "^$library +.*[0-9]\.[0-9]"
	check "the version of $library"
done
call list events page-faults
has "events, from the core" 0 "  perf::PAGE-FAULTS" ""
call measure "$top_srcdir/tests/frontend/storm.xml" first
has "measure writes what it is told, and says so" 0 "Triad" "rot: wrote first.json"
call measure "$top_srcdir/tests/frontend/storm.xml" again -timeReport
result=1
case $status:$err in 0:*"  measure "*) ;; 0:*) [ -s first.json ] && [ -s again.json ] && result=0 ;; esac
check "measuring again measures nothing"
call remeasure "$top_srcdir/tests/frontend/storm.xml" again -timeReport
has "remeasure measures" 0 "Triad" "  measure "
call measure "$top_srcdir/tests/frontend/storm.xml" again -quiet
result=1
case $status:$err in 0:*startup*) ;; 0:*) result=0 ;; esac
check "no time report"
{
	while [ ! -e closed ]; do sleep 0.01; done
	"$rot" help 2>err
	echo $? >status
} | {
	exec <&-
	: >closed
	while [ ! -e status ]; do sleep 0.01; done
}
# Where whoever started the tests has them ignore SIGPIPE, nobody ends by it.
wanted=141
case $(sed -n 's/^SigIgn:.*\(.\)...$/\1/p' /proc/self/status) in [13579bdf]) wanted=1 ;; esac
status=$(cat status) out='' err=$(cat err)
is "that nobody reads on is no error: the end is that of other programs" $wanted "" ""
# 285: fallocate, as it fails on a full disk
"$top_builddir/tests/without_syscall" 285 28 "$rot" run -q echo out >out 2>err
status=$? out=$(cat out) err=$(cat err)
has "a cache on a full disk is left alone" 0 out "cannot write to the cache folder '$work/cache/rot' (No space left on device)"
"$rot" help >/dev/full 2>"$work/err"
status=$? out='' err=$(cat "$work/err")
is "output that cannot be written" 1 "" "rot: cannot write to standard output: No space left on device
     it is closed, or on a full disk"

[ "$nr_failed" = 0 ]
