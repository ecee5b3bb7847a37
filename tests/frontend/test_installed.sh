#!/bin/sh
# SPDX-License-Identifier: MIT
# "make install" into a folder of its own: rot works with what was installed alone.
. "$top_srcdir/tests/support/program.sh"
command -v gcc >/dev/null || { echo "SKIP: there is no gcc" >&2; exit 77; }
unset MAKEFLAGS MFLAGS MAKELEVEL
stage=$work/stage
make -s -C "$top_builddir" install DESTDIR="$stage" >"$work/make" 2>&1 || {
	cat "$work/make"
	exit 1
}
rot=$(find "$stage" -path '*/bin/rot')
data=$(find "$stage" -type d -path '*/share/rot')

# measures WHAT CONTROLLER: without the roof, and no more runs than it takes to see that it works.
measures()
{
	call measure "$2" -quiet -runs=1 -starts=1 -findPeaks=false
	[ "$status" = 0 ] && [ -s "$2.json" ]
	check "$1"
}

# What a configure with another --prefix would do; the makefile itself must stay as it is.
make -C "$top_builddir" -n -o Makefile -W config.status driver/base/librot_driver_a-paths.o >"$work/make" 2>&1
grep -q 'ROT_DATA_FOLDER.*paths\.c' "$work/make"
status=$? out=$(tail -n 5 "$work/make") err='' result=$status
check "configured for another place, the folders in it are compiled again"

call version
[ "$status" = 0 ] && [ -n "$rot" ] && [ -n "$data" ]
check "it starts"

# installed FOLDER PATTERN: the files that match are there.
installed()
{
	(cd "$top_srcdir" && find "$1" -type f -name "$2" ! -name Makemodule.am) >"$work/wanted"
	result=0
	while read -r file; do
		[ -f "$data/$file" ] || { echo "$file is not installed"; result=1; }
	done <"$work/wanted"
	[ -s "$work/wanted" ] || result=1
	check "all of $1 is there"
}
installed kernels '*'
installed driver/architectures '*.xml'
installed driver/controllers '*.xml'
installed driver/schemas '*'
installed driver/skeletons '*'
installed shared-entities/definitions '*'

# What messages and help name can be read here: "rot help NAME.md", and a document that another one links to.
docs=$(find "$stage" -type d -path '*/share/doc/rot')
grep -r -h -o -E 'rot help [A-Z-]+\.md' "$top_srcdir/driver" "$top_srcdir/kernels" | sort -u >"$work/named"
result=0
[ -s "$work/named" ] || result=1
while read -r line; do
	call help "${line##* }"
	file=$(find "$docs" -name "${line##* }")
	[ -n "$file" ] && [ "$(head -n 1 out)" = "$(sed -n '1s/# //p' "$file")" ] || { echo "$line"; result=1; }
done <"$work/named"
for file in "$docs"/*.md "$docs"/doc/*.md; do
	for link in $(grep -o -E '\]\([^):#]+\.(md|svg|png)' "$file" | sed 's/](//'); do
		[ -e "${file%/*}/$link" ] || { echo "$file names $link"; result=1; }
	done
done
check "what is named can be read"
! grep -r -E "doc/[A-Z-]+\.md" "$top_srcdir/driver" --include='*.c' --include='*.def' | grep -v -E '^[^:]*:(/| )\*'
check "messages name no file of the source tree"
[ -n "$(find "$stage" -path '*/man/man1/rot.1')" ] && [ -n "$(find "$stage" -path '*/bash-completion/completions/rot')" ] &&
	[ ! -e "$top_builddir/confdefs.h" ]
check "so are the manual and the completion, and configure has cleaned up"

cat >own.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<controller name="own" comment="">
	<axis name="kernel"><list values="Triad Memory Arithmetic Chase Vector"/></axis>
	<point label="{$kernel}"><workload><kernel type="{$kernel}"/></workload></point>
	<quantity is="time"/>
</controller>
END
measures "it builds and measures kernels" own

# As "make install prefix=..." leaves it
cp -R "${data%/share/rot}" moved
call list kernels
cp out listed
rot=$work/moved/bin/rot
mv "$stage" "$stage.away"
call list kernels
mv "$stage.away" "$stage"
[ "$status" = 0 ] && sed "s|$work/moved|${data%/share/rot}|" out | cmp - listed
check "it finds its kernels below another prefix as well"
rot=$(find "$stage" -path '*/bin/rot')

cp "$data/driver/skeletons/controller.c" chains.c
measures "it loads the controller in C that is there to copy" chains

# Lines that name the trees: what is left of them without the folder of this test, which may lie below them.
call list kernels
grep -r -I -F -e "$top_srcdir/" -e "$top_builddir/" "$work/cache" "$work/out" own.json chains.json | sed "s|$work/||g" |
	grep -F -e "$top_srcdir/" -e "$top_builddir/" >"$work/elsewhere"
[ ! -s "$work/elsewhere" ] || { cat "$work/elsewhere"; false; }
check "nothing of it is in the source tree or the build folder"

# Folders of ours are gone, others are not.
make -s -C "$top_builddir" uninstall DESTDIR="$stage" >"$work/make" 2>&1 || cat "$work/make"
[ -z "$(find "$stage" ! -type d)" ] && [ -z "$(find "$stage" -depth -name 'rot*')" ] && [ -n "$(find "$stage" -name bin)" ]
result=$?
out=$(find "$stage") err=
check "nothing of it is left after make uninstall"

[ "$nr_failed" = 0 ]
