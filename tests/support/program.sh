# SPDX-License-Identifier: MIT
# For tests of rot through the program itself: . "$top_srcdir/tests/support/program.sh". Makes a folder of its own, which is
# current then, and removes it at the end.
set -u
top_builddir=$(cd "$top_builddir" && pwd -P)
top_srcdir=$(cd "$top_srcdir" && pwd -P)
rot=$top_builddir/driver/rot
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data
COLUMNS=1000 # so that tests find whole sentences in what is printed
export XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME COLUMNS
cd "$work" || exit 99
mkdir -p "$XDG_CACHE_HOME/rot" && "$top_builddir/tests/known_caches" "$XDG_CACHE_HOME/rot" || exit 99
# On a busy machine runs are disturbed, and would be repeated: then nobody knows how many there are.
mkdir -p "$XDG_CONFIG_HOME/rot" && echo timeBudget=0 >"$XDG_CONFIG_HOME/rot/config" || exit 99
nr_failed=0

# Under its own name in transcripts.
rot()
{
	"$rot" "$@"
}

# call ARGUMENT...: standard output, error and status of rot go to $out, $err and $status.
call()
{
	"$rot" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

# Into a program with sanitizers nothing can be preloaded, and they report crashes themselves.
is_sanitized()
{
	"$rot" version 2>/dev/null | grep -q '^sanitizers '
}

# Can a program have a terminal of its own? Some containers have no /dev/pts.
has_terminals()
{
	"$top_builddir/tests/at_terminal" true >/dev/null 2>&1 || { echo "skipped: there are no terminals here" && false; }
}

# check WHAT: the command before it must have succeeded, or $result be 0 where that is set.
check()
{
	result=${result-$?}
	if [ "$result" = 0 ]; then
		echo "ok: $1"
	else
		nr_failed=$((nr_failed + 1))
		printf 'FAILED: %s\n  status %s\n  output: %s\n  error: %s\n' "$1" "${status-}" "${out-}" "${err-}"
	fi
	unset result
}

# transcript FILE: each of its lines that begins with "$ " is executed, and must print what stands below it: standard output, standard
# error behind "2> ", the exit status in brackets unless it is 0. "rot check --accept" writes the file anew.
transcript()
{
	while IFS= read -r line; do
		case $line in
		'# '*) printf '\n%s\n' "$line" ;;
		'$ '*)
			printf '%s\n' "$line"
			status=0
			eval "${line#??}" >"$work/out" 2>"$work/err" </dev/null || status=$?
			cat "$work/out"
			sed 's/^/2> /' "$work/err"
			[ "$status" = 0 ] || echo "[$status]"
			;;
		esac
	done <"$top_srcdir/$1" | sed "s|$work|WORK|g; s|$top_srcdir|SOURCE|g" >"$work/transcript"
	[ "${GOLDEN-}" != write ] || cp "$work/transcript" "$top_srcdir/$1"
	diff -u "$top_srcdir/$1" "$work/transcript" >&2
	check "$1"
}

# holds WHAT FILE TEXT, lacks WHAT FILE TEXT
holds()
{
	grep -Fq -e "$3" "$2"
	result=$?
	check "$1"
}

lacks()
{
	result=1
	grep -Fq -e "$3" "$2" || result=0
	check "$1"
}

# has WHAT FILE PATTERN...: each extended regular expression is a whole line of the JSON file (json_lines.c).
has()
{
	what=$1
	file=$2
	shift 2
	result=0
	"$top_builddir/tests/json_lines" "$file" >"$work/lines" || result=1
	for pattern; do
		grep -q -x -E -e "$pattern" "$work/lines" || {
			echo "$file has no line '$pattern'"
			result=1
		}
	done
	check "$what"
}

# value_of FILE KEY: of the JSON file
value_of()
{
	"$top_builddir/tests/json_lines" "$1" | awk -v key="$2 = " 'index($0, key) == 1 {print substr($0, length(key) + 1)}'
}

# quantities FILE: SERIES LABEL NAME:OF KEY VALUE of each point, separated by tabs
quantities()
{
	"$top_builddir/tests/json_lines" "$1" | awk '
		{value = $0; sub(/^[^ ]* = /, "", value); key = $1}
		key ~ /^points\[[0-9]+\]\.series$/ {series = value}
		key ~ /^points\[[0-9]+\]\.label$/ {label = value}
		sub(/^points\[[0-9]+\]\.quantities\[[0-9]+\]\./, "", key) {
			if (key == "name") name = value
			if (key == "of") of = value
			print series "\t" label "\t" name ":" of "\t" key "\t" value
		}'
}

# of_functions FILE KEY VALUE NAME...: sums over the functions that have this value under the key, one for each name
of_functions()
{
	file=$1 key=$2 value=$3
	shift 3
	"$top_builddir/tests/json_lines" "$file" | awk -v key="$key" -v value="$value" -v names="$*" '
		match($0, /^functions\.(functions|others)\[[0-9]*\]\./) {
			function_ = substr($0, 1, RLENGTH)
			line = substr($0, RLENGTH + 1)
			at = index(line, " = ")
			values[function_ substr(line, 1, at - 1)] = substr(line, at + 3)
			functions[function_]
		}
		END {
			nr = split(names, wanted)
			for (i = 1; i <= nr; i++) {
				sum = 0
				for (function_ in functions)
					if (values[function_ key] == value)
						sum += values[function_ wanted[i]]
				printf "%s%.0f", (i == 1 ? "" : " "), sum
			}
			print ""
		}'
}

# needs_tracing: the test ends, and is skipped, where nothing may be traced.
needs_tracing()
{
	call run -t true
	case $err in *"not told apart"*)
		echo "SKIP: nothing may be traced here" >&2
		exit 77
		;;
	esac
}

# needs_blocks: likewise, where nothing is counted by translated code.
needs_blocks()
{
	call run --counts-only -j - true
	case $err in *'counted by a tracer'*)
		echo "SKIP: blocks: $err" >&2
		exit 77
		;;
	esac
}

# is WHAT STATUS OUTPUT ERROR
is()
{
	[ "$status" = "$2" ] && [ "$out" = "$3" ] && [ "$err" = "$4" ]
	result=$?
	check "$1"
}
