/* SPDX-License-Identifier: MIT */
/* Of the test programs that need nothing else: runs their suite. */
#include "testing.h"

int
main(void)
{
	return suite_run(&test_suite);
}
