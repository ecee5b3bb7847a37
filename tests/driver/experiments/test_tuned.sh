#!/bin/sh
# SPDX-License-Identifier: MIT
# The blocks that the controller tuned chooses fit into registers and caches, whatever machine this is, and their reasons name what they were chosen by.
. "$top_srcdir/tests/support/program.sh"

call measure --dry-run tuned
result=$status
check "rot measure --dry-run tuned"
joined=$(echo "$out" | awk '/^[A-Za-z]+ [A-Z0-9]+: / { print line; line = $0; next } { line = line " " $0 } END { print line }')
value()
{
	echo "$joined" | sed -n "s/^$1 \([0-9]*\): .*/\1/p"
}
# kib NAME: the number of KiB in parentheses of its reason, the size of the cache
kib()
{
	echo "$joined" | sed -n "s/^$1 [0-9]*: .*(\([0-9.]*\) KiB).*/\1/p"
}
echo "$(value lanes) $(value registers) $(value mr) $(value nr) $(value kc) $(value nc) $(value mc) $(kib kc) $(kib nc) $(value sums) $(value paperNb)" | awk '
	NF != 11 { print "not all is told: " $0; exit 1 }
	{
		lanes = $1; registers = $2; mr = $3; nr = $4; kc = $5; nc = $6; mc = $7; l1 = 1024 * $8; l2 = 1024 * $9
		vectors = nr / lanes
		if (l1 < 16384) l1 = 16384
		if (l2 < 262144) l2 = 262144
		if (vectors != int(vectors) || mr * vectors + vectors + 1 > registers || $10 != mr * vectors) print wrong = "registers"
		if (mr * kc * 8 > l1 / 2 || mr * (kc + 8) * 8 <= l1 / 2) print wrong = "L1"
		if (kc * nc * 8 > l2 / 2 || kc * (nc + nr) * 8 <= l2 / 2) print wrong = "L2"
		if (nc % nr || mc % mr || kc % 8) print wrong = "multiples"
		if ($11 * $11 + 2 * $11 > l1 / 8 || $11 % 8) print wrong = "rule"
		exit wrong != ""
	}'
result=$?
check "blocks fit: $(echo "$joined" | grep -E '^(mr|nr|kc|nc|mc|sums) ' | tr '\n' ';')"

[ $nr_failed -eq 0 ]
