#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs do the same translated as natively: all hard cases, and random blocks, of which the number of instructions is known as well.
#
# ROT_TEST_BLOCKS: random blocks (5000); ROT_TEST_ROUNDS: times that each hard case is translated, slow ones
# among them (1 without them)
set -u
. "$top_srcdir/tools/describe-program.sh"
core=$top_builddir/core/rot-core
programs=$top_builddir/tests/core/parent/translated
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
nr_failed=0

# Values of a field in the text form of entities, in which names and values take turns by lines.
values_of()
{
	awk -v name="$1" 'is_next {print} {is_next = $0 == name}' "$work/output"
}

# What functions did, and code that is in none, is what the threads did.
parts_are_whole()
{
	awk '
		left > 0 {parts += $0; left--; next}
		before == "rawCount" {whole += $0}
		/^ProgramP(lace|art)$/ {class = $0}
		before == "counts" && /^[0-9]+$/ && class != "ProgramPart" {left = $0}
		{before = $0}
		END {if (whole == 0 || parts != whole) {printf "%d of %d were counted by function\n", parts, whole; exit 1}}' "$work/output"
}

# translated PROGRAM ARGUMENT...: $status is that of the program, 128 and more for a signal, 98 where rot-core fails, 97 where functions
# are not what is counted
counts_functions=true
translated()
{
	describe_counting "$work/command" "$@"
	timeout --foreground 300 "$core" --command "$work/command" --output "$work/output" >"$work/out" 2>"$work/err" </dev/null || {
		status=98
		return
	}
	status=$(values_of signal)
	[ "$status" -gt 0 ] && status=$((128 + status)) || status=$(values_of exitStatus)
	parts_are_whole >>"$work/err" || status=97
}

fail()
{
	nr_failed=$((nr_failed + 1))
	printf 'FAILED: %s\n' "$1"
	cat "$work/out" "$work/err" "$work/output" | head -n 40 | sed 's/^/  /'
}

# What translated programs do not do as natively, and why: some of it never ends.
declare -A known=(
	[blocked-signals]='SIGTRAP is never blocked in a translated thread: one that waits is not told by sigpending'
	[changes-what-follows]='a block is compared with its original before it is executed, not while'
	[faults-of-instructions]='flags that are dead may be others in the frame of a signal that an instruction raises'
	[rights-taken-away]='code whose rights were taken away faults one instruction too early or late'
	[steps-by-trap-flag]='the trap flag steps through translated code'
	[x87-address]='the address of the last x87 instruction is that of its translation'
)
# Seconds each, and many where others compute as well.
slow=" crowd ten-thousand-threads long-chain spawned big-blocks begin-under-fire chain-of-programs vforks code-churn alarm-clock
patched-by-another-thread patched-loop storm-of-signals ends-among-threads execve-from-a-thread forks-of-threads interrupted-waits "

translated "$programs/hard_cases"
if [ "$status" != 0 ] || [ -z "$(values_of rawCount)" ]; then
	echo 'programs cannot be traced or translated here:'
	cat "$work/err"; sed -n "/^attempted$/,/^hint$/p" "$work/output"
	[ "$(values_of kind)" = refused ] && exit 77
	exit 1
fi

# Caches are modelled for every second one, and in the next round for the others; lines are ready to be sampled.
is_odd=false
for ((round = 0; round < ${ROT_TEST_ROUNDS:-1}; round++)); do
	for name in $("$programs/hard_cases"); do
		[[ -n ${ROT_TEST_ROUNDS:-} || ! $slow =~ [[:space:]]"$name"[[:space:]] ]] || continue
		if [ -n "${known[$name]:-}" ]; then
			echo "left out: $name: ${known[$name]}"
			continue
		fi
		$is_odd && is_odd=false || is_odd=true
		has_caches=$is_odd sampling=8 translated "$programs/hard_cases" "$name"
		case $status in
		0) echo "ok: $name" ;;
		77) echo "$name: $(cat "$work/out")" ;;
		*)
			if timeout --foreground 300 "$programs/hard_cases" "$name" >/dev/null 2>&1; then
				fail "$name: status $status"
			else
				echo "$name: does not work natively either"
			fi
			;;
		esac
	done
done

# ---- random blocks ----

nr_blocks=${ROT_TEST_BLOCKS:-5000}
seed=63861351
[ -z "${ROT_SLOW_TESTS:-}" ] || seed=$((RANDOM * 32768 + RANDOM))
# Some at a time, which take less than a minute; lines of caches are sampled for every second part.
most=$(((nr_blocks + 1) / 2 < 20000 ? (nr_blocks + 1) / 2 : 20000))
for ((left = nr_blocks, part = 0; left > 0; left -= most, part++, seed++)); do
	nr=$((left < most ? left : most))
	"$programs/random_blocks" -s $seed -n $nr >"$work/native" || { cat "$work/native"; break; }
	has_caches=true sampling=$((part % 2 * 7 + 1)) translated "$programs/random_blocks" -s $seed -n $nr
	if [ "$status" = 0 ] && cmp -s "$work/native" "$work/out"; then
		echo "ok: $nr random blocks of seed $seed"
	else
		fail "$nr random blocks of seed $seed: status $status; natively $(cat "$work/native")"
	fi
done

# A turn of a loop executes a known number of instructions: the difference of two runs. What begins a program may differ by some.
count_turns()
{
	local turns
	for turns in 100000 600000; do
		translated "$programs/random_blocks" -s "$1" -c $turns
		[ "$status" = 0 ] || return 1
		values_of rawCount | awk '{sum += $1} END {printf "%d\n", sum}'
	done
}

for ((i = 0; i < 3; i++)); do
	mapfile -t counts < <(count_turns $((seed + i)))
	"$programs/random_blocks" -s $((seed + i)) -c 1 >"$work/native" || continue
	read -r wanted _ <"$work/native"
	counted=$(awk -v a="${counts[0]:-0}" -v b="${counts[1]:-0}" 'BEGIN {printf "%.3f\n", (b - a) / 500000}')
	if awk -v a="$counted" -v b="$wanted" 'BEGIN {exit !(a > b - 0.1 && a < b + 0.1)}'; then
		echo "ok: $wanted instructions a turn"
	else
		fail "seed $((seed + i)): $counted instructions a turn instead of $wanted"
	fi
done
[ $nr_failed = 0 ]
