#!/bin/sh
# SPDX-License-Identifier: MIT
# The frontend on a small tree of its own with programs of our own on PATH: nothing is built or installed for real.
set -u
unset CC CFLAGS CPPFLAGS LDFLAGS
work=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
driver=$(cd "$top_builddir" && pwd -P)/driver/rot
bin=$work/bin tree=$work/tree calls=$work/calls
XDG_CONFIG_HOME=$work/config XDG_CACHE_HOME=$work/cache HOME=$work
export XDG_CONFIG_HOME XDG_CACHE_HOME HOME calls bin
nr_failed=0

# expect WHAT GOT WANTED
expect()
{
	if [ "$2" = "$3" ]; then
		echo "ok: $1"
	else
		nr_failed=$((nr_failed + 1))
		printf 'FAILED: %s\n  got:    %s\n  wanted: %s\n' "$1" "$2" "$3"
	fi
}

# holds WHAT TEXT PART
holds()
{
	case $2 in
	*"$3"*) echo "ok: $1" ;;
	*)
		nr_failed=$((nr_failed + 1))
		printf 'FAILED: %s\n  got:    %s\n  wanted: ...%s...\n' "$1" "$2" "$3"
		;;
	esac
}

# program NAME: puts the script on standard input on our PATH.
program()
{
	rm -f "$bin/$1"
	{
		echo '#!/bin/sh'
		cat
	} >"$bin/$1"
	chmod +x "$bin/$1"
}

# How often a program was called so far.
count()
{
	grep -c "^$1" "$calls"
}

mkdir -p "$bin" "$tree/tools" "$work/elsewhere"
: >"$calls"
for name in sh cat date find readlink cksum tr sed grep rm mkdir mv cp chmod head tail tee flock getconf env ls ln touch; do
	ln -s "$(command -v "$name")" "$bin/$name"
done
for name in gcc objdump autoconf automake pkg-config gnuplot ccache strace; do
	echo 'exit 0' | program "$name"
done
echo 'echo 1000' | program id
cp "$top_srcdir/rot" "$tree/rot"
cp "$top_srcdir/tools/set-up.sh" "$tree/tools/"
chmod -R u+w "$tree"
for folder in shared-entities codegen kernels core driver tests doc; do
	mkdir "$tree/$folder"
	: >"$tree/$folder/source.c"
done
: >"$tree/configure.ac"
: >"$tree/Makefile.am"

program autoreconf <<'END'
echo "autoreconf $*" >>"$calls"
printf '#!/bin/sh\necho configure >>"$calls"\n: >Makefile\n' >configure
chmod +x configure
: >Makefile.in
mkdir -p tools/build-aux
: >tools/build-aux/missing
END
# make -C FOLDER ...: writes a driver that tells its arguments, its folder, and ends with the status it is told.
program make <<'END'
echo "make $*" >>"$calls"
case $* in
*" list-tests") printf 'tests/a\ntests/b\ntests/c.sh\n' && exit ;;
esac
cd "$2" || exit
case " $* " in
*" check "*)
	mkdir -p tests
	printf 'PASS: tests/a\nFAIL: tests/b\nSKIP: tests/c.sh\n# TOTAL: 3\n'
	echo 'what b said' >tests/b.log
	printf 'no counters here\nSKIP tests/c.sh (exit status: 77)\n' >tests/c.sh.log
	exit 1
	;;
esac
mkdir -p driver
printf '#!/bin/sh\necho "in $PWD"\nfor a; do echo "<$a>"; done\nexit ${wanted_status:-0}\n' >driver/rot
chmod +x driver/rot
END
PATH=$bin
export PATH
cd "$work/elsewhere" || exit 99

# ---- building ----
expect "-nb without a driver is an error" "$("$tree/rot" -nb help 2>&1 | head -n 1)" \
	"rot: the driver is not built: '$tree/build/driver/rot' is missing"
expect "complete without a driver says nothing" "$("$tree/rot" complete 'rot ' 2>&1; echo $?)" 0
out=$(wanted_status=3 "$tree/rot" measure 'two words' -optimization='-O2 -g' '' 2>/dev/null; echo "status $?")
expect "the first start builds and passes on arguments, folder and status" "$out" "in $work/elsewhere
<measure>
<two words>
<-optimization=-O2 -g>
<>
status 3"
expect "it bootstraps, configures and makes" "$(sed 's/ .*//' "$calls" | tr '\n' ' ')" "autoreconf configure make "

cp "$bin/make" "$work/make"
echo 'echo "make must not run" >&2; exit 1' | program make
expect "nothing changed: no make, nothing said" "$("$tree/rot" list 2>&1)" "in $work/elsewhere
<list>"
ln -s "$tree/rot" "$work/link"
ln -s link "$work/rot"
expect "called through links" "$("$work/rot" list 2>&1)" "in $work/elsewhere
<list>"
expect "called by its name on PATH" "$(PATH=$work:$bin; rot list 2>&1)" "in $work/elsewhere
<list>"
expect "-nb is taken out" "$("$tree/rot" -nb list -quiet 2>&1)" "in $work/elsewhere
<list>
<-quiet>"
expect "own flags end at --" "$("$tree/rot" list -- -nb 2>&1)" "in $work/elsewhere
<list>
<-->
<-nb>"
touch "$tree/build/kept"
expect "flags behind the command are those of a program" "$("$tree/rot" run sh -c -nb -b 2>&1)" "in $work/elsewhere
<run>
<sh>
<-c>
<-nb>
<-b>"
expect "and the build folder stays" "$(ls "$tree/build/kept")" "$tree/build/kept"
expect "complete never builds" "$(touch "$tree/driver/new.c"; "$tree/rot" complete 'rot -nb' 2>&1)" "in $work/elsewhere
<complete>
<rot -nb>"
expect "-nb does not build after a change" "$("$tree/rot" -b -nb list 2>&1)" "in $work/elsewhere
<list>"
"$tree/rot" list >/dev/null 2>&1
expect "a failing build is a failure" "$?" 1
mv "$work/make" "$bin/make"

: >"$calls"
"$tree/rot" -nb -b list >/dev/null 2>&1
expect "a new file: make, the last of -nb and -b counts" "$(count make)" 1
rm "$tree/driver/new.c"
"$tree/rot" list >/dev/null 2>&1
expect "a deleted file: make" "$(count make)" 2
touch "$tree/build/marker"
"$tree/rot" -c list >/dev/null 2>&1
expect "-c removes the build folder first" "$(ls "$tree/build/marker" 2>/dev/null) $(count configure)" " 1"
CC=mycc "$tree/rot" list >/dev/null 2>&1
CC=mycc "$tree/rot" list >/dev/null 2>&1
expect "another compiler configures again, once" "$(count configure)" 2
"$tree/rot" list >/dev/null 2>&1
expect "no compiler named: the build folder stays as it is" "$(count configure)" 2
mv "$tree" "$tree-moved"
"$tree-moved/rot" list >/dev/null 2>&1
"$tree-moved/rot" -c list >/dev/null 2>&1
mv "$tree-moved" "$tree"
touch "$tree/core/source.c"
"$tree/rot" list >/dev/null 2>&1
expect "a moved tree is configured again" "$(tail -n 1 "$tree/build/rot-settings")" "$tree"

cp "$bin/make" "$work/make"
echo 'echo "  CC x.o"; echo "x.c:7: error: boom"; exit 2' | program make
touch "$tree/core/source.c"
out=$("$tree/rot" list 2>&1; echo "status $?")
holds "a compile error is shown" "$out" "x.c:7: error: boom"
holds "the failed step is named" "$out" "rot: this failed: make -C $tree/build"
holds "the driver does not run after it" "$out" "status 1"
mv "$work/make" "$bin/make"
"$tree/rot" list >/dev/null 2>&1
expect "and the next start builds" "$?" 0

# What makefiles cannot bear.
for name in 'a blank' "a'quote" 'a"quote' 'a#b' 'a$b' 'a&b' 'a\b'; do
	mv "$tree" "$work/$name"
	rm -rf "$work/$name/build"
	holds "no build in '$name'" "$("$work/$name/rot" list 2>&1; echo "status $?")" "rot: cannot build in '$work/$name/build': "
	mv "$work/$name" "$tree"
done
"$tree/rot" list >/dev/null 2>&1

# ---- settings ----
mkdir -p "$XDG_CONFIG_HOME/rot"
echo 'doBuild=false' >"$XDG_CONFIG_HOME/rot/frontendconfig"
touch "$tree/core/source.c"
: >"$calls"
"$tree/rot" list >/dev/null 2>&1
expect "doBuild=false in the settings" "$(count make)" 0
"$tree/rot" -b list >/dev/null 2>&1
expect "-b counts more than the settings" "$(count make)" 1
printf '# mine\n\ndoBuilt=false\n' >"$XDG_CONFIG_HOME/rot/frontendconfig"
expect "an unknown setting is an error with its line" "$("$tree/rot" list 2>&1 | head -n 1)" \
	"rot: $XDG_CONFIG_HOME/rot/frontendconfig:3: 'doBuilt=false' is no setting of the frontend"
rm "$XDG_CONFIG_HOME/rot/frontendconfig"

# ---- help ----
out=$("$tree/rot" -h 2>&1)
holds "-h tells the own flags" "$out" "-b, -nb       build when"
holds "-h goes on to the driver" "$out" "<-h>"
holds "help tells them as well" "$("$tree/rot" help 2>&1)" "
  -b, -nb       build when something changed (as without any flag), or never
"
expect "which fits on a terminal" "$({ "$tree/rot" -h; "$tree/rot" help check; } 2>&1 | grep -E '^.{81}')" ""
lines=$({ "$tree/rot" help | grep -v '^<help>$'; "$driver" help; } | grep -c "")
expect "both texts of help are one screen: $lines lines" "$([ "$lines" -le 40 ] && echo fits)" fits
holds "help builds before that, and goes on to the driver" "$(rm -r "$tree/build"; "$tree/rot" help 2>&1)" "
<help>"
expect "help of something is the driver's alone" "$("$tree/rot" help list 2>&1)" "in $work/elsewhere
<help>
<list>"
for line in 'help check' 'check -h' 'check --help' '-h check' '--help check'; do
	# shellcheck disable=SC2086 # words on purpose
	holds "$line: of the command of the frontend" "$("$tree/rot" $line 2>&1)" "Usage: rot [-b|-nb] [-c] check [--slow] [--accept] [NAME...]
"
done
expect "-h after a command is the driver's" "$("$tree/rot" measure -h 2>&1)" "in $work/elsewhere
<measure>
<-h>"

# ---- packages ----
rm "$bin/gnuplot"
echo 'case "$*" in *jansson*) exit 1;; esac' | program pkg-config
touch "$tree/core/source.c"
out=$("$tree/rot" list 2>&1; echo "status $?")
holds "no apt-get: what is missing is named" "$out" "libjansson-dev (module jansson) gnuplot-nox (command gnuplot)"
holds "no apt-get: the status" "$out" "status 1"
echo 'echo "apt-get $*" >>"$calls"' | program apt-get
: >"$calls"
expect "no rights: the exact line" "$("$tree/rot" list 2>&1; echo "status $?")" \
	"rot: needed and not found: libjansson-dev gnuplot-nox
rot: install them, then call rot again:
rot:     sudo apt-get install -y --no-install-recommends libjansson-dev gnuplot-nox
status 1"
expect "no rights: nothing is installed" "$(count apt-get)" 0
echo 'exit 1' | program sudo
holds "sudo that wants a password is no right" "$("$tree/rot" list 2>&1)" "rot:     sudo apt-get install"
program sudo <<'END'
[ "$1" = -n ] || exit 1
shift
exec "$@"
END
echo ': >/dev/null' | program true
program apt-get <<'END'
echo "apt-get $* $DEBIAN_FRONTEND" >>"$calls"
case $* in
*" install "*)
	[ -f "$bin/updated" ] || { echo 'E: Unable to locate package gnuplot-nox'; exit 100; }
	printf '#!/bin/sh\n' >"$bin/gnuplot"
	printf '#!/bin/sh\n' >"$bin/pkg-config"
	chmod +x "$bin/gnuplot" ;;
*" update") : >"$bin/updated" ;;
esac
END
: >"$calls"
for how in "$tree/rot --no-install list" "env ROT_NO_INSTALL=1 $tree/rot list"; do
	holds "it installs nothing if asked so ($how)" "$($how 2>&1; echo "status $?")" \
		"rot:     sudo apt-get install -y --no-install-recommends libjansson-dev gnuplot-nox
status 1"
done
echo 'echo 0' | program id
holds "for root it prints the line without sudo" "$("$tree/rot" --no-install list 2>&1)" "rot:     apt-get install"
echo 'echo 1000' | program id
expect "and calls nothing for it" "$(count apt-get)" 0
: >"$calls"
out=$("$tree/rot" list 2>"$work/says"; echo "status $?")
holds "it says before what it installs" "$(cat "$work/says")" \
	"rot: packages are missing and will be installed now (half a minute or more, by the network):
rot:     apt-get install -y --no-install-recommends libjansson-dev gnuplot-nox
rot: Ctrl-C"
holds "with sudo: installs and goes on" "$out" "<list>
status 0"
expect "the lists are updated when a package is not found" "$(count 'apt-get.* update noninteractive') $(count 'apt-get.* install ')" \
	"1 2"

# ---- tests ----
out=$("$tree/rot" check 2>/dev/null; echo "status $?")
for names in 'tests/a c' 'a c.sh' '[ac]*'; do
	: >"$calls"
	# shellcheck disable=SC2086 # words on purpose
	(set -f && "$tree/rot" check $names >"$work/out" 2>&1)
	holds "check runs tests by name ($names)" "$(grep check "$calls")" "TESTS=tests/a tests/c.sh"
done
exec 8>>"$tree/build/rot-check.lock" && flock 8
holds "one check at a time" "$("$tree/rot" check a 2>&1; echo "status $?")" "run these in another copy of the source tree
status 1"
exec 8>&-
holds "check of no test" "$("$tree/rot" check nothing 2>&1; echo "status $?")" "rot: no test has 'nothing' in its name"
holds "check of no test: the status" "$("$tree/rot" check a nothing 2>&1; echo "status $?")" "status 2"
holds "check shows tests as they end" "$out" "PASS: tests/a
FAIL: tests/b
SKIP: tests/c.sh"
holds "check shows what failing tests said" "$out" "---- tests/b ----
what b said
alone: $tree/rot check tests/b"
holds "check shows why tests were skipped" "$out" "skipped tests/c.sh: no counters here"
holds "check ends with the counts and fails" "$out" "
1 passed, 1 failed, 1 skipped
status 1"
mkdir "$tree/tests/hosts"
echo 'echo "hosts: $*"' >"$tree/tests/hosts/run.sh"
expect "check --hosts runs tests as on other hosts" "$("$tree/rot" -nb check --hosts tr_TR C 2>&1)" "hosts: $tree $tree/build tr_TR C"
echo 'echo "slow: $ROT_SLOW_TESTS ${GOLDEN-} $*"' >"$tree/tests/hosts/run.sh"
expect "check --slow asks for all variants" "$("$tree/rot" -nb check --slow --hosts C 2>&1)" "slow: 1  $tree $tree/build C"
expect "check --accept rewrites what is compared" "$("$tree/rot" -nb check --accept --slow --hosts C 2>&1)" \
	"slow: 1 write $tree $tree/build C"
: >"$calls"
"$tree/rot" -nb check --slow c.sh >"$work/out" 2>&1
holds "and takes names" "$(grep check "$calls")" "TESTS=tests/c.sh"
rm "$bin/strace"
echo 'exit 1' | program sudo
holds "check needs more packages" "$("$tree/rot" check 2>&1)" "apt-get install -y --no-install-recommends strace"

# ---- somebody else's source tree ----
if [ ! -w /proc/self/mem ] || ! (chmod a-w "$tree" && [ -w "$tree" ]); then
	chmod -R a-w "$tree"
	: >"$calls"
	"$tree/rot" list >/dev/null 2>&1
	expect "a current build folder of somebody else serves" "$? $(count make)" "0 0"
	chmod u+w "$tree/core/source.c" && touch "$tree/core/source.c" && chmod a-w "$tree/core/source.c"
	expect "a changed one is built from a copy" "$("$tree/rot" list 2>/dev/null) $(count make)" "in $work/elsewhere
<list> 1"
	expect "and found there again" "$("$tree/rot" list 2>/dev/null) $(count make)" "in $work/elsewhere
<list> 1"
fi

[ "$nr_failed" = 0 ]
