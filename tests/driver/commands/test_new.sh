#!/bin/sh
# SPDX-License-Identifier: MIT
# rot new: what it writes can be measured at once, nothing is overwritten, and names that cannot work are refused.
. "$top_srcdir/tests/support/program.sh"
command -v gcc >/dev/null || { echo "SKIP: there is no gcc" >&2; exit 77; }
data=$XDG_DATA_HOME/rot

# refused WHAT STATUS PART-OF-ERROR: nothing is printed, and no file is written beside those of Stencil2D.
refused()
{
	[ "$status" = "$2" ] && [ -z "$out" ] && case $err in *"$3"*) true ;; *) false ;; esac &&
		[ -z "$(find "$data" -type f ! -name 'Stencil2D.*')" ]
	check "$1"
}

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

echo mine >>"$data/kernels/Stencil2D/Stencil2D.c"
call new kernel Stencil2D
refused "a kernel that is there stays" 1 "there is a kernel 'Stencil2D' already: $data/kernels/Stencil2D/Stencil2D.xml"
rm "$data/kernels/Stencil2D/Stencil2D.xml" "$data/controllers/Stencil2D.xml"
call new kernel Stencil2D
refused "so does a file alone" 1 "there is a file '$data/kernels/Stencil2D/Stencil2D.c' already"
grep -q '^mine$' "$data/kernels/Stencil2D/Stencil2D.c"
check "as it was"

call new kernel triad
refused "a kernel has a capital letter" 1 "rot new kernel Triad"
call new kernel ../Up
refused "and letters" 1 "'../Up' is no name for a kernel"
call new kernel Triad
refused "rot's own kernels are not hidden" 1 "there is a kernel 'Triad' already"
for name in Double Workload Fill; do
	call new kernel $name
	refused "$name is taken" 1 "'$name' is a name that C or rot uses itself"
done
call new controller triad
refused "rot's own controllers are not hidden" 1 "there is a controller 'triad' already (built in"
call new controller a/b
refused "a controller is a file's name" 1 "'a/b' is no name for a controller"
call new triad mine
refused "there are two kinds" 2 "rot new kernel NAME, or rot new controller NAME"

call new controller my-first_1
[ "$status" = 0 ] && [ -z "$err" ] && [ -s "$data/controllers/my-first_1.xml" ]
check "a controller alone"
measured my-first_1

[ "$nr_failed" = 0 ]
