/* SPDX-License-Identifier: MIT */
/*
 * known_caches FOLDER: keeps sizes of caches in that cache folder as if rot had measured them. Where nobody tells them,
 * as on this machine perhaps, tests would search for them in each folder of their own, and say what they found.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "machine/machine.h"
#include "machine/measured.h"

#define KIB INT64_C(1024)

static const struct measured_levels levels = {
	.levels = {{48 * KIB, 40 * KIB, 1.0, 4.0},
		   {1024 * KIB, 640 * KIB, 3.8, 14.0},
		   {32768 * KIB, 24576 * KIB, 12.3, 50.5},
		   {0, 0, 170, NAN}},
	.nr = 4,
	.is_steady = true,
};

int
main(int argc, char **argv)
{
	struct rot_error err = {0};
	struct machine *machine = machine_read("/", &err);
	struct measured_levels kept = levels;

	clock_date(kept.when.created); /* a test may show rot another kernel than this one */
	if (argc != 2 || !machine || measured_levels_store(&kept, argv[1], machine, &err) < 0) {
		fprintf(stderr, "known_caches FOLDER: %s\n", err.text);
		return 1;
	}
	machine_delete(machine);
	return 0;
}
