/* SPDX-License-Identifier: MIT */
/* Prints "yes" or "no" and the reason: whether this machine has counters that may be used. */
#include <stdio.h>

#include "machine/machine.h"

int
main(void)
{
	struct rot_error why = {0};

	printf("%s\n", machine_can_count(&why) ? "yes" : "no");
	printf("%s\n%s\n", why.text, why.hint);
	return 0;
}
