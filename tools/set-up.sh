#!/bin/sh
# SPDX-License-Identifier: MIT
# Sets rot up: packages, bootstrap, configure, make; then for "check" all tests. Called by the frontend.
#
# set-up.sh build|check SOURCE BUILD DO-BUILD DO-CLEAN SHOW-OUTPUT [--slow] [--accept] [NAME... | --hosts [HOST...]]
#                                                                      DO-... and SHOW-OUTPUT are true or false
# set-up.sh missing build|check                                        prints the packages that are missing
#
# When BUILD is not SOURCE/build, the source tree belongs to somebody else: a copy beside BUILD is bootstrapped instead.
set -u
unset CDPATH

say()
{
	printf 'rot: %s\n' "$*" >&2
}

# What has to work, the package of Debian and Ubuntu that brings it, and how to see that it works: a command, a module of
# pkg-config, a header, a library that is loaded, or "link" (a program can be linked). 'build' is needed to measure, 'check' for the
# tests alone; 'extra' makes rot faster, or is measured by its experiments, and is installed along, but never asked for alone.
needs()
{
	cat <<-'END'
	build gcc command gcc
	build libc6-dev link -
	build binutils command objdump
	build make command make
	build autoconf command autoconf
	build automake command automake
	build pkg-config command pkg-config
	build libxml2-dev module libxml-2.0
	build libjansson-dev module jansson
	build libssl-dev module libcrypto
	build libpfm4-dev header perfmon/pfmlib_perf_event.h
	build libdw-dev module libdw
	build libzydis-dev header Zydis/Zydis.h
	build gnuplot-nox command gnuplot
	extra ccache command ccache
	extra libopenblas0-pthread library libopenblas.so.0
	extra libfftw3-double3 library libfftw3.so.3
	check check module check
	check strace command strace
	END
}

# works HOW WHAT
works()
{
	case $1 in
	command) command -v "$2" ;;
	module) pkg-config --exists "$2" ;;
	library) PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep -q -F "	$2 " ;;
	header) printf '#include <%s>\n' "$2" | gcc -E -x c -o /dev/null - ;;
	link) printf 'int main(void) { return 0; }\n' | gcc -x c -o /dev/null - ;;
	esac >/dev/null 2>&1
}

# missing build|check|extra: packages for the kind, blank separated ("check" includes "build").
missing()
{
	needs | while read -r kind package how what; do
		case $1,$kind in
		build,build | check,build | check,check | extra,extra) works "$how" "$what" || printf '%s ' "$package" ;;
		esac
	done
}

# What matters in a log: no progress of make, and from the first error on, because make's own lines follow it.
show_errors()
{
	pattern='(error:|fatal|cannot |undefined reference|not found|[Uu]nable to|No rule|E: |\*\*\*)'
	grep -v -E "^  [A-Z]+ " "$1" >"$1.part"
	if grep -q -E "$pattern" "$1.part"; then
		sed -n -E "/$pattern/,\$p" "$1.part" | head -n 60
	else
		tail -n 40 "$1.part"
	fi
	rm -f "$1.part"
}

# run COMMAND...: output goes to the log, which is shown when the command fails (or always, if asked for).
run()
{
	if [ "$show_output" = true ]; then
		"$@" </dev/null >&2
		return
	fi
	printf '$ %s\n' "$*" >"$log.last"
	"$@" </dev/null >>"$log.last" 2>&1
	set -- $? "$@"
	cat "$log.last" >>"$log"
	[ "$1" = 0 ] || {
		show_errors "$log.last" >&2
		status=$1
		shift
		say "this failed: $*"
		say "all it said: $log"
		return "$status"
	}
}

# seconds: since some time, for how long things took.
seconds()
{
	date +%s
}

# How this user may install packages, as words before apt-get; fails if it may not.
privilege()
{
	if [ "$(id -u)" = 0 ]; then
		echo env
	elif command -v sudo >/dev/null 2>&1 && sudo -n true >/dev/null 2>&1; then
		echo sudo -n env
	else
		return 1
	fi
}

apt_get()
{
	# shellcheck disable=SC2046 # words on purpose
	run $(privilege) DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 "$@"
}

# install_missing build|check
install_missing()
{
	packages=$(missing "$1")
	[ -n "$packages" ] || return 0
	packages="$packages$(missing extra)"
	packages=${packages% }
	line="apt-get install -y --no-install-recommends $packages"
	if ! command -v apt-get >/dev/null 2>&1; then
		say "needed and not found: $(needs | while read -r kind package how what; do
			case " $packages " in *" $package "*) [ "$kind" = extra ] || printf '%s (%s %s) ' "$package" "$how" "$what" ;; esac
		done)"
		say "there is no apt-get here: install them the way of this system; on Debian and Ubuntu it would be"
		say "    $line"
		return 1
	fi
	if [ -n "${ROT_NO_INSTALL:-}" ] || ! privilege >/dev/null; then
		[ "$(id -u)" = 0 ] || line="sudo $line"
		say "needed and not found: $packages"
		say "install them, then call rot again:"
		say "    $line"
		return 1
	fi
	begin=$(seconds)
	say "packages are missing and will be installed now (half a minute or more, by the network):"
	say "    $line"
	say "Ctrl-C ends it; 'rot --no-install' only prints this line"
	# The lists may be older than what the mirror has, or not there at all.
	# shellcheck disable=SC2086 # words on purpose
	apt_get install --no-install-recommends $packages 2>/dev/null ||
		{ apt_get update && apt_get install --no-install-recommends $packages; } || {
		say "could not install what is needed; by hand it is: $line"
		return 1
	}
	packages=$(missing "$1")
	[ -z "$packages" ] || {
		say "still not found after installing: $packages"
		return 1
	}
	say "installed in $(($(seconds) - begin)) s"
}

# Everything rot is made from, without the build folder and version control.
copy_sources()
{
	chmod -R u+w "$tree.new" 2>/dev/null
	rm -rf "$tree.new"
	mkdir -p "$tree.new" || return
	for name in "$source"/* "$source"/.ci "$source"/.clang-format "$source"/.clang-tidy "$source"/.editorconfig; do
		case ${name##*/} in
		build | build-* | autom4te.cache | configure | Makefile.in | aclocal.m4 | config.h.in) continue ;;
		esac
		[ ! -e "$name" ] || cp -Rp "$name" "$tree.new/" || return
	done
	# A bootstrap in the copy is kept; files keep their times, so make does no more than it must.
	for name in configure Makefile.in aclocal.m4 config.h.in tools/build-aux; do
		[ ! -e "$tree/$name" ] || cp -Rp "$tree/$name" "$tree.new/${name%build-aux}" || return
	done
	chmod -R u+w "$tree.new" && rm -rf "$tree" && mv "$tree.new" "$tree"
}

# Brings the build folder up to date. $1: build or check, for the packages.
build()
{
	settings="CC=${CC:-} CFLAGS=${CFLAGS:-} CPPFLAGS=${CPPFLAGS:-} LDFLAGS=${LDFLAGS:-}"
	if [ -f "$build/rot-settings" ]; then
		{
			read -r old_settings
			read -r old_tree
		} <"$build/rot-settings"
		# Autotools' makefiles know where they are: a moved tree starts over. So does another compiler.
		[ "$old_tree" = "$tree" ] || do_clean=true
		[ "$settings" = "CC= CFLAGS= CPPFLAGS= LDFLAGS=" ] || [ "$settings" = "$old_settings" ] || do_clean=true
	fi
	[ "$do_clean" = false ] || rm -rf "$build"
	mkdir -p "$build" || return
	log=$build/rot-build.log
	: >"$log" || return
	install_missing "$1" || return
	# Taken before the sources are read: a change while make runs is newer.
	: >"$build/rot-stamp.new"
	[ "$tree" = "$source" ] || copy_sources || return
	begin=$(seconds)
	if [ -f "$build/Makefile" ]; then
		say "building what changed in $build"
	else
		say "building in $build (about $((160 / jobs)) s with $jobs free CPUs, once)"
	fi
	if [ ! -f "$tree/configure" ] || [ ! -f "$tree/Makefile.in" ] ||
		[ -n "$(find "$tree" -path "$build" -prune -o \( -name '*.am' -o -name configure.ac \) \
			-newer "$tree/Makefile.in" -print -quit)" ]; then
		(cd "$tree" && run autoreconf -i) || return
		# It has written into folders of sources.
		: >"$build/rot-stamp.new"
	fi
	# Configured when the library of the tests was not there yet: the makefile has no tests.
	[ "$1" = build ] || ! grep -q '^have_check = no' "$build/Makefile" 2>/dev/null || rm -f "$build/Makefile"
	if [ ! -f "$build/Makefile" ]; then
		(cd "$build" && run "$tree/configure") || return
		printf '%s\n%s\n' "$settings" "$tree" >"$build/rot-settings"
	fi
	run make -C "$build" -j "$jobs" || return
	mv "$build/rot-stamp.new" "$build/rot-stamp"
	nr_warnings=$(grep -c 'warning: ' "$log")
	say "built in $(($(seconds) - begin)) s$([ "$nr_warnings" = 0 ] || echo ", with $nr_warnings warnings: $log")"
}

# What a test printed, with automake's line about its result at the end.
test_log()
{
	cat "$build/$1.log" 2>/dev/null || cat "$build/${1%.*}.log"
}

# choose NAME...: the tests of these names; fails if there is none of one.
choose()
{
	for name; do
		for how in exact part; do
			found=$(make -s -C "$build" list-tests | while read -r test; do
				# shellcheck disable=SC2254 # a pattern on purpose
				case $how,$test in
				exact,$name | exact,*/$name | exact,*/$name.[cs]* | part,*"$name"*) echo "$test" ;;
				esac
			done)
			[ -z "$found" ] || break
		done
		[ -n "$found" ] || {
			say "no test has '$name' in its name"
			say "all names: make -s -C $build list-tests"
			return 1
		}
		echo "$found"
	done
}

# show_results NUMBER: a line for each test that ends, from what make prints. On a terminal the last line says how many of NUMBER
# tests are left.
show_results()
{
	left=$1 nr=0
	while IFS= read -r line; do
		case $line in
		'PASS: '* | 'XFAIL: '* | 'SKIP: '* | 'FAIL: '* | 'XPASS: '* | 'ERROR: '*) ;;
		*) continue ;;
		esac
		left=$((left - 1)) nr=$((nr + 1))
		if [ -t 2 ]; then
			now=$(date +%s)
			: "${begin:=$now}"
			printf '\r\033[K%s\n%s tests left, about %s s' "$line" $left $(((now - begin) * left / nr)) >&2
			[ $left -gt 0 ] || printf '\r\033[K' >&2
		else
			printf '%s\n' "$line"
		fi
	done
}

# check NAME...: runs the tests of these names, or all: the slow ones first, so that all CPUs are busy to the end. Some wait more than
# they compute, so there is one more at a time than there are CPUs.
check()
{
	results=$build/rot-check.log
	if [ $# -gt 0 ]; then
		tests=$(choose "$@") || return 2
	else
		tests=$(make -s -C "$build" list-tests) || return
	fi
	{
		make -C "$build" -k -j $((jobs + 1)) check TESTS="$(printf '%s' "$tests" | tr '\n' ' ')" </dev/null 2>&1 9>&-
		echo "rot-status: $?"
	} | tee "$results" | show_results "$(echo "$tests" | grep -c .)"
	status=$(sed -n 's/^rot-status: //p' "$results")
	passed=$(grep -c -E '^(PASS|XFAIL): ' "$results")
	skipped=$(grep -c '^SKIP: ' "$results")
	failed=$(grep -c -E '^(FAIL|XPASS|ERROR): ' "$results")
	sed -n -E 's/^(FAIL|XPASS|ERROR): //p' "$results" | while read -r name; do
		printf '\n---- %s ----\n' "$name"
		test_log "$name" | grep -v '^ok: ' | head -n 60
		printf 'alone: %s/rot check %s\n' "$source" "$name"
	done
	sed -n 's/^SKIP: //p' "$results" | while read -r name; do
		printf 'skipped %s: %s\n' "$name" "$(test_log "$name" | tail -n 2 | head -n 1)"
	done
	if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
		show_errors "$results"
		echo "the tests could not be built or run; everything make said: $results"
		failed=1
	fi
	grep 'warning: ' "$results"
	printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

if [ "$1" = missing ]; then
	missing "$2"
	exit 0
fi
task=$1 source=$2 build=$3 do_build=$4 do_clean=$5 show_output=$6
shift 6
while :; do
	case ${1-} in
	--slow) export ROT_SLOW_TESTS=1 ;;
	--accept) export GOLDEN=write ;;
	*) break ;;
	esac
	shift
done
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Called from a makefile: its job server is not ours.
unset MAKEFLAGS MFLAGS MAKELEVEL

if [ "$build" = "$source/build" ]; then
	tree=$source
else
	tree=${build%/*}/source
fi
# configure refuses these; it says so in other words, and late.
tab=$(printf '\t')
case $tree$build in
*[\ \"\#\$\&\'\`\\"$tab"]*)
	say "cannot build in '$build': a folder's name on the way holds a blank, a quote or one of # \$ & \\"
	say "move or rename it: '$source'"
	exit 1
	;;
esac
mkdir -p "${build%/*}" || exit 1

# Two starts do not build at once: the folder of the build folder is the lock; the loser finds everything done.
exec 9<"${build%/*}" || exit 1
flock -n 9 || {
	say "waiting: somebody else is building in ${build%/*}"
	flock 9
}
if [ "$do_build" = true ]; then
	build "$task" 9<&- || exit 1
fi
exec 9<&-
case $task,${1-} in
build,*) ;;
check,--hosts)
	shift
	[ "$do_build" = false ] || run make -C "$build" -j "$jobs" check TESTS= || exit
	exec sh "$tree/tests/hosts/run.sh" "$tree" "$build" "$@"
	;;
*)
	# They would write each other's logs.
	exec 9>>"$build/rot-check.lock" && flock -n 9 || {
		say "other tests run in '$build': wait for them, or run these in another copy of the source tree"
		exit 1
	}
	check "$@"
	;;
esac
