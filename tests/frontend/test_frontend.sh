#!/bin/sh
# SPDX-License-Identifier: MIT
# The frontend on a small tree of its own with programs of our own on PATH: nothing is built or installed for real.
. "$top_srcdir/tests/support/program.sh"
unset CC CFLAGS CPPFLAGS LDFLAGS COLUMNS
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
driver=$rot bin=$work/bin tree=$work/tree calls=$work/calls
HOME=$work
export HOME calls bin tree

# Under its own name in the transcript.
rot()
{
	"$tree/rot" "$@"
}

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

# How often a program was called so far, or since the file of calls was emptied.
count()
{
	grep -c "^$1" "$calls"
}

# Until "restored NAME" the program is the script on standard input.
replaced()
{
	cp "$bin/$1" "$work/$1.kept"
	program "$1"
}

restored()
{
	mv "$work/$1.kept" "$bin/$1"
}

mkdir -p "$bin" "$tree/tools" "$work/elsewhere"
: >"$calls"
for name in sh cat date find readlink cksum tr sed grep rm mkdir mv cp chmod head tail tee flock getconf env ls ln touch diff; do
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

# An apt-get that does not find a package before it has updated its lists.
cat >"$work/apt-get" <<'END'
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
transcript tests/frontend/golden/frontend.txt
lines=$({ "$tree/rot" help | grep -v '^<help>$'; "$driver" help; } | grep -c "")
expect "both texts of help are one screen: $lines lines" "$([ "$lines" -le 40 ] && echo fits)" fits

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
