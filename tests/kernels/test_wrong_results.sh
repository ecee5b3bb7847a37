#!/bin/sh
# SPDX-License-Identifier: MIT
# Every kernel that computes something checkable notices, when it is initialized, that it computes something else: each is
# broken once, in one place of its source. Without the check it is measured.
. "$top_srcdir/tests/support/program.sh"

for program in gcc make; do
	command -v $program >/dev/null || { echo "SKIP: there is no $program" >&2; exit 77; }
done

# broken KERNEL ATTRIBUTES FROM TO: with FROM replaced by TO in its source
broken()
{
	rm -rf "$work/data/rot/kernels"
	mkdir -p "$work/data/rot/kernels"
	cp -r "$top_srcdir/kernels/$1" "$work/data/rot/kernels"
	chmod -R u+w "$work/data"
	source=$work/data/rot/kernels/$1/$1.c
	awk -v from="$3" -v to="$4" '{
		at = index($0, from)
		if (at) {$0 = substr($0, 1, at - 1) to substr($0, at + length(from)); nr++}
		print
	} END {exit nr != 1}' "$source" >"$work/broken.c" || { echo "FAILED: '$3' is not once in $1.c"; nr_failed=$((nr_failed + 1)); return; }
	cp "$work/broken.c" "$source"
	for check in false true; do
		cat >"$work/wrong.xml" <<-END
			<?xml version="1.0" encoding="UTF-8"?>
			<controller name="wrong" comment="a kernel that computes something else" runs="1">
				<point series="$1" label=""><workload><kernel type="$1" $2 noCheck="$check"/></workload></point>
				<quantity is="time"/>
			</controller>
		END
		call measure ./wrong.xml
		case $err in
		*'nothing of this controller can be measured here'*)
			echo "skipped: $1 $2: $err"
			return
			;;
		*perf_event_paranoid* | *ptrace_scope*)
			echo "SKIP: $err" >&2
			exit 77
			;;
		esac
		case $check:$status:$err in
		false:1:*' is wrong: '* | true:0:*) result=0 ;;
		*) result=1 ;;
		esac
		check "$1 $2: $3 is $4, noCheck is $check"
	done
}

broken Daxpy 'vectorSize="1000"' 'BLAS_ALPHA, daxpy->x, 1' '1.000001 * BLAS_ALPHA, daxpy->x, 1'
broken Dgemv 'matrixSize="100"' 'BLAS_ALPHA, dgemv->a, n' '1.000001 * BLAS_ALPHA, dgemv->a, n'
broken Dgemm 'matrixSize="100"' 'BLAS_BETA, m->c, n' '1.000001 * BLAS_BETA, m->c, n'
broken Mmm 'matrixSize="100"' 'for (long k = 0; k < n; k++)' 'for (long k = 1; k < n; k++)'
broken Mmm 'matrixSize="100" algorithm="BLOCKED"' 'k < ROT_MMM_KU' 'k < ROT_MMM_KU - 1'
broken Mmm 'matrixSize="100" algorithm="BLOCKED_RESTRICT"' 'j < ROT_MMM_NB' 'j < ROT_MMM_NB - ROT_MMM_NU'
broken Tuned 'matrixSize="100" kc="30"' 'packed[k * MR + i] = row[k]' 'packed[k * MR + i] = row[0]'
broken Tuned 'matrixSize="101"' 'tile[i * NR + j];' 'tile[i * NR];'
broken Product 'matrixSize="30" rows="20" algorithm="RECURSIVE" nb="7"' 'begin.of[longest] += first' 'begin.of[longest] = first'
broken Product 'matrixSize="30" rows="20" columns="7"' 'step_b[NR_SIDES] = {0, 1' 'step_b[NR_SIDES] = {0, 2'
broken Stencil 'length="30" rows="20" block="7"' 'left + width, length - 1' 'left + width, length - 2'
broken Stencil 'dimensions="3" length="30" rows="20" planes="5" block="7"' 'old[i + plane]);' 'old[i]);'
broken Transpose 'matrixSize="30" algorithm="BLOCKED" nb="7"' 'least(nb, n - i), least' 'least(nb - 1, n - i), least'
broken Transpose 'matrixSize="30" algorithm="RECURSIVE" nb="7"' 'part.column += first.columns' 'part.column += first.columns + 1'
broken MergeSort 'nrElements="100" ways="3"' '? i : least' '? least : i'
broken MergeSort 'nrElements="100" ways="3"' 'at[nr_parts];' 'at[0];'
broken Fft 'bufferSize="1024"' 'b[1] = a[1] - im' 'b[1] = a[1] + im'
broken Fft 'bufferSize="1024" implementation="FFTW" planning="ESTIMATE"' 'FFTW_FORWARD = -1' 'FFTW_FORWARD = 1'
broken Wht 'bufferSizeExp="12"' 'high[i] = a - b' 'high[i] = b - a'
broken Wht 'bufferSizeExp="12" algorithm="ITERATIVE"' 'half < n; half *= 2' 'half < n / 2; half *= 2'
[ $nr_failed -eq 0 ]
