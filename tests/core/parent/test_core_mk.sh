#!/bin/sh
# SPDX-License-Identifier: MIT
# core.mk: what is built again, what is not, and that the result depends on nothing but what was described.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL

folder=$(mktemp -d "${TMPDIR:-/tmp}/rot-test-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cc=${CC:-$(sed -n 's/^CC = //p' "$top_builddir/Makefile")}

fail() {
	echo "FAIL: $*"
	exit 1
}

# ---- a fixed part that returns what the kernels know, and two kernels ----

mkdir -p built/core built/shared-entities/generated data/kernels data/shared-entities data/core
mkdir -p 'my kernels/Three' Two/Two
cp "$top_srcdir/core/core.mk" data/core/
: >built/core/core-flags.mk
echo '#define FROM_KERNEL_H 1' >data/kernels/kernel.h
cat >main.c <<'END'
int two(void), two_helper(void), three(void), kernels(void), kernel_entities(void);
int main(void) { return two() + two_helper() + three() + kernels() + kernel_entities(); }
END
$cc -c main.c -o main.o
ar cr built/core/librot-child.a main.o
ar cr built/shared-entities/libentities.a
ar cr built/shared-entities/libshared-entities.a

cat >Two/Two.c <<'END'
#include <stdio.h>
#include "kernel.h"
#include "macros/FACTOR.h"
#if defined _FORTIFY_SOURCE && _FORTIFY_SOURCE > 0
#error fortified
#endif
int two(void) { return 2 * FACTOR * FROM_KERNEL_H; }
const char *two_file(void) { return __FILE__; }
END
echo 'int two_helper(void) { return HELPER; }' >Two/Two/Two.c
cat >'my kernels/Three/Three.c' <<'END'
#include <assert.h>
#include "kernel.h"
int three(void) { assert(FROM_KERNEL_H); return 3; }
END
ln -s "$folder/my kernels/Three" three

describe() { # FOLDER FLAGS-OF-TWO
	mkdir -p "$1/generated/macros"
	cat >"$1/settings.mk" <<-END
		CC = $cc
		CCACHE =
		DATA = $folder/data
		BUILT = $folder/built
		KERNELS = Two Three
		SOURCES_Two = $folder/Two/Two.c $folder/Two/Two/Two.c
		FLAGS_Two = -DHELPER=1 -DWORDS='"a \$\$b"' $2
		LIBS_Two =
		SOURCES_Three = $folder/three/Three.c
		FLAGS_Three = -O3
		LIBS_Three = -lm
	END
	echo '#define FACTOR 4' >"$1/generated/macros/FACTOR.h"
	printf '#include "kernel_entities.c"\nint kernels(void) { return 16; }\n' >"$1/generated/kernels.c"
	echo 'int kernel_entities(void) { return 32; }' >"$1/generated/kernel_entities.c"
}

core() { # FOLDER [TARGET]
	build=$1
	shift
	make --no-print-directory -f "$folder/data/core/core.mk" -C "$build" -j2 "$@"
}

runs() { # FOLDER EXPECTED-STATUS
	status=0
	"$1/child" || status=$?
	test $status -eq "$2" || fail "$1/child returned $status instead of $2"
}

# Everything so far is older than what a later step makes. By one time, as the clock of a virtual machine may be set meanwhile.
now=$(date +%s)
settle() {
	find "$1" -exec touch -d @$((now - 3600)) {} +
	touch -d @$((now - 3540)) "$1"/objects/*/*.o "$1"/objects/*/*/*.o
	touch -d @$((now - 3480)) "$1/child"
	touch mark -d @$((now - 1800))
	cp "$1/child.link" link.before
}

expect_made() { # FOLDER "FILES"
	made=$(cd "$1" && find . -newer ../mark \( -name '*.o' -o -name child \) | sort | tr '\n' ' ')
	test "$made" = "$2" || {
		ls -l --time-style=full-iso mark "$1" built/*/*
		diff link.before "$1/child.link"
		fail "made '$made' instead of '$2'"
	}
}

# ---- built, quiet, and nothing again ----

describe one -O2
output=$(core one 2>&1)
test -z "$output" || fail "printed: $output"
runs one $((2 * 4 + 1 + 3 + 16 + 32))
settle one
touch -d @$((now - 7200)) Two/Two.c Two/Two/Two.c 'my kernels/Three/Three.c' data/kernels/kernel.h built/*/*.a
output=$(core one 2>&1)
test -z "$output" || fail "with nothing to do it printed: $output"
expect_made one ''
# Whatever make has in its memory before it reads a line.
for words in 100 300 1000 3000; do
	ENVIRONMENT=$(printf '%*s' $words '' | sed 's/ /a-word /g')
	export ENVIRONMENT
	core one
done
unset ENVIRONMENT
expect_made one ''

# ---- only what changed ----

echo '#define FACTOR 5' >one/generated/macros/FACTOR.h
core one
expect_made one './child ./objects/Two/Two.o '
runs one $((2 * 5 + 1 + 3 + 16 + 32))

settle one
sed -i 's/^FLAGS_Three.*/FLAGS_Three = -O1/' one/settings.mk
core one
expect_made one './child ./objects/Three/Three.o '
grep -q -e '-O1' one/objects/Three/Three.compile || fail 'the compile line is not the last one'

settle one
touch data/kernels/kernel.h
core one
expect_made one './child ./objects/Three/Three.o ./objects/Two/Two.o '
touch -d @$((now - 7200)) data/kernels/kernel.h

settle one
touch built/core/librot-child.a
core one
expect_made one './child '
touch -d @$((now - 7200)) built/core/librot-child.a

settle one
echo 'CORE_LDFLAGS = -Wl,--build-id=none' >built/core/core-flags.mk
core one
expect_made one './child '
: >built/core/core-flags.mk

# A header that is gone stops nobody who no longer includes it.
settle one
touch -d @$((now - 7200)) Two/Two.c
rm one/generated/macros/FACTOR.h
sed -i 's/.*FACTOR.h.*/#define FACTOR 1/' Two/Two.c
core one
expect_made one './child ./objects/Two/Two.o '
runs one $((2 + 1 + 3 + 16 + 32))

# ---- the compile line can be repeated as it is ----

line=$(cat one/objects/Two/Two.compile)
(cd one && sh -c "$line -o again.o")
cmp one/again.o one/objects/Two/Two.o || fail 'the compile line does not give the object'

# ---- the same bytes in any folder, whatever its name ----

describe "it's another \$folder" -O2
core "it's another \$folder"
describe plain -O2
core plain
cmp plain/child "it's another \$folder/child" || fail 'the binary depends on the folder'
if command -v ccache >/dev/null; then
	CCACHE_DIR=$folder/ccache
	export CCACHE_DIR
	for build in cached-1 cached-2; do
		describe $build -O2
		sed -i 's/^CCACHE.*/CCACHE = ccache/' $build/settings.mk
		core $build
		cmp plain/child $build/child || fail 'the binary depends on ccache'
	done
	ccache --print-stats | grep -q 'preprocessed_cache_hit.*[1-9]\|direct_cache_hit.*[1-9]' ||
		fail 'ccache does not know the same compilation in another folder'
fi

# ---- listing ----

core plain listing
grep -q 'return 2 \* FACTOR' plain/objects/Two/Two.listing || fail 'no source lines in the listing'
grep -q '<two>:' plain/objects/Two/Two.listing || fail 'no code in the listing'

# ---- errors ----

echo 'int two(void) { return no_such_thing; }' >Two/Two.c
output=$(core one 2>&1) && fail 'a kernel with an error was built'
echo "$output" | grep -q "$folder/Two/Two.c:1:.*no_such_thing" || fail "the compiler's message is not there: $output"
output=$(core one 2>&1) && fail 'a kernel with an error was built at the second try'
sed -i 's/^CC = .*/CC = no-such-compiler/' one/settings.mk
output=$(core one 2>&1) && fail 'built without a compiler'
echo "$output" | grep -q 'no-such-compiler' || fail "the missing compiler is not named: $output"
sed -i "s|^SOURCES_Two.*|SOURCES_Two = $folder/Two/Two.c $folder/main.c|" plain/settings.mk
output=$(core plain 2>&1) && fail 'a source outside of the folder of its kernel was built'
echo "$output" | grep -q 'main.c is not a C file in the folder of its kernel' || fail "not explained: $output"
