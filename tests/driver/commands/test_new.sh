#!/bin/sh
# SPDX-License-Identifier: MIT
# rot new: what it writes can be measured at once, nothing is overwritten, and names that cannot work are refused.
. "$top_srcdir/tests/support/program.sh"
command -v gcc >/dev/null || { echo "SKIP: there is no gcc" >&2; exit 77; }
data=$XDG_DATA_HOME/rot

# measured NAME: its points are all measured, with no run more than it takes to see that.
measured()
{
	call measure "$1" -quiet -runs=1 -starts=1 -findPeaks=false
	[ "$status" = 0 ] && [ -s "$1.json" ]
	check "$1 can be measured"
}

call new kernel Stencil2D
[ "$status" = 0 ] && [ -z "$err" ]
result=$?
for file in controllers/Stencil2D.xml kernels/Stencil2D/Stencil2D.xml kernels/Stencil2D/Stencil2D.c; do
	case $out in *"  $data/$file
"*) [ -s "$data/$file" ] || result=1 ;; *) result=1 ;; esac
done
case $out in *"
Next
  rot list kernels Stencil2D
"*"
  rot measure Stencil2D
"*) ;; *) result=1 ;; esac
check "the files and the next commands are told"
! grep -r -i -e skeleton -e '@' "$data"
check "no word of the skeletons is left"
measured Stencil2D

transcript tests/driver/commands/golden/new.txt
call new controller my-first_1
[ "$status" = 0 ] && [ -z "$err" ] && [ -s "$data/controllers/my-first_1.xml" ]
check "a controller alone"
measured my-first_1

[ "$nr_failed" = 0 ]
