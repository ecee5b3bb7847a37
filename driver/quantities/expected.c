/* SPDX-License-Identifier: MIT */
#include "quantities/expected.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "engine/kernel_work.h"
#include "machine/caches.h"
#include "memory.h"
#include "quantities/pass.h"
#include "quantities/resolve.h"
#include "rot.h"

typedef bool
expected_count(struct rot *rot, const struct kernel_base *kernel, const char *of, double *count, struct rot_error *err);

typedef bool bytes_of_kernel(struct rot *rot, const struct kernel_base *kernel, const char *border,
			     const char *direction, double *bytes, struct rot_error *err);

/* of: "llcRam.read", or "llcRam" for both directions. What crosses the memory bus crosses the border to memory. */
static bool
bytes_of(bytes_of_kernel *known, struct rot *rot, const struct kernel_base *kernel, const char *of, double *bytes,
	 struct rot_error *err)
{
	const char *dot = strchr(of, '.');
	autofree char *border = rot_strndup(of, dot ? (size_t)(dot - of) : strlen(of));
	const bool is_bus = strcmp(border, "memoryBus") == 0;

	return known(rot, kernel, is_bus ? "llcRam" : border, dot ? dot + 1 : "both", bytes, err);
}

static bool
expected_bytes(struct rot *rot, const struct kernel_base *kernel, const char *of, double *bytes, struct rot_error *err)
{
	return bytes_of(kernel_expected_bytes, rot, kernel, of, bytes, err);
}

static bool
compulsory_bytes(struct rot *rot, const struct kernel_base *kernel, const char *of, double *bytes,
		 struct rot_error *err)
{
	return bytes_of(kernel_compulsory_bytes, rot, kernel, of, bytes, err);
}

/* ---- what workloads that run at once have of the caches ---- */

/* Each CPU is read in sysfs once: it stays so as long as rot runs, and is asked for with each expectation. */
static struct cache_owners
known_owners(int cpu)
{
	static struct known {
		bool is_read;
		struct cache_owners owners;
	} * known;
	static int nr_known;

	if (cpu >= nr_known) {
		known = rot_realloc(known, (size_t)cpu + 1, sizeof(*known));
		memset(&known[nr_known], 0, (size_t)(cpu + 1 - nr_known) * sizeof(*known));
		nr_known = cpu + 1;
	}
	if (!known[cpu].is_read)
		known[cpu] = (struct known){true, cache_owners_of(cpu, "/")};
	return known[cpu].owners;
}

/* The owners of each workload; NULL where they share none: there is one, or one is not pinned. Fresh memory. */
static struct cache_owners *
owners_of(const struct measurement *measurement)
{
	const size_t nr = measurement_nr_workloads(measurement);
	struct cache_owners *owners;

	for (size_t i = 0; i < nr; i++)
		if (nr == 1 || measurement_workloads_at(measurement, i)->cpu < 0)
			return NULL;
	owners = rot_calloc(nr, sizeof(*owners));
	for (size_t i = 0; i < nr; i++)
		owners[i] = known_owners(measurement_workloads_at(measurement, i)->cpu);
	return owners;
}

/* The machine as workload i finds it: each cache divided by the workloads that use it. Borrows all else. */
static struct machine
machine_of(const struct machine *machine, const struct cache_owners *owners, size_t nr, size_t i)
{
	struct machine own = *machine;
	int nr_l1_data = 0, nr_l2 = 0, nr_llc = 0;

	for (size_t k = 0; owners && k < nr; k++) {
		nr_l1_data += owners[k].l1_data == owners[i].l1_data;
		nr_l2 += owners[k].l2 == owners[i].l2;
		nr_llc += owners[k].llc == owners[i].llc;
	}
	if (owners) {
		own.l1_data_bytes /= nr_l1_data;
		own.l2_bytes /= nr_l2;
		own.llc_bytes /= nr_llc;
	}
	return own;
}

struct machine
machine_of_workload(const struct machine *machine, const struct measurement *measurement, size_t i)
{
	autofree struct cache_owners *owners = owners_of(measurement);
	const size_t nr = measurement_nr_workloads(measurement);
	struct machine own = machine_of(machine, owners, nr, i);

	/* The last level is that of all workloads that are no loads. */
	if (owners)
		own.llc_bytes = 0;
	for (size_t k = 0; owners && k < nr; k++)
		if (!workload_is_load(measurement_workloads_at(measurement, k)))
			own.llc_bytes += machine_of(machine, owners, nr, k).llc_bytes;
	if (machine->llc_bytes == machine->l2_bytes)
		own.l2_bytes = own.llc_bytes;
	return own;
}

/* ---- sums ---- */

/* Adds what one kernel does; NaN if it does not know. -1 if an expression failed. */
static int
add_expected(struct rot *rot, const struct kernel_base *kernel, const char *of, expected_count *expected, double *sum,
	     struct rot_error *err)
{
	struct rot_error local = {0};
	double part;

	if (expected(rot, kernel, of, &part, &local)) {
		*sum += part;
		return 0;
	}
	*sum = NAN;
	if (!local.text[0])
		return 0;
	if (err)
		*err = local;
	return -1;
}

/* Sum over the kernels of workloads that are no loads; NaN if one of them does not know. -1 if an expression failed. */
static int
expected_sum(struct rot *rot, const struct measurement *measurement, const char *of, expected_count *expected,
	     double *sum, struct rot_error *err)
{
	const size_t nr = measurement_nr_workloads(measurement);
	autofree struct cache_owners *owners = of ? owners_of(measurement) : NULL;
	int rc = 0;

	*sum = of ? 0 : NAN;
	for (size_t i = 0; rc == 0 && of && i < nr; i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);
		struct machine machine = machine_of(rot_facts(rot), owners, nr, i);
		struct rot own = *rot;

		own.machine = &machine;
		own.modelled = NULL;
		if (!workload_is_load(workload))
			rc = add_expected(&own, workload->kernel, of, expected, sum, err);
	}
	return rc;
}

int
expected_operations_of(struct rot *rot, const struct measurement *measurement, const char *of, double *operations,
		       struct rot_error *err)
{
	return expected_sum(rot, measurement, of, kernel_expected_operations, operations, err);
}

int
expected_bytes_of(struct rot *rot, const struct measurement *measurement, const char *of, double *bytes,
		  struct rot_error *err)
{
	return expected_sum(rot, measurement, of, expected_bytes, bytes, err);
}

/*
 * Flushing the buffers after one run brings over the border what was stored and has not crossed it, as far as it is not
 * past all caches already (non-temporal stores). The thesis checks its model of writing back so. Nothing is read. NaN
 * if a kernel does not know what it stores ("cpuL1.write") or what crosses the borders.
 */
static int
held_back_of(struct rot *rot, const struct measurement *measurement, const char *of, double *bytes,
	     struct rot_error *err)
{
	const char *dot = of ? strchr(of, '.') : NULL;
	double stored, crossed, written;
	autofree char *crossing = NULL;
	int rc;

	*bytes = dot && strcmp(dot, ".read") == 0 ? 0 : NAN;
	if (!of || *bytes == 0)
		return 0;
	crossing = rot_format("%.*s.write", (int)(dot ? dot - of : (ptrdiff_t)strlen(of)), of);
	rc = expected_bytes_of(rot, measurement, "cpuL1.write", &stored, err);
	if (rc == 0)
		rc = expected_bytes_of(rot, measurement, crossing, &crossed, err);
	if (rc == 0)
		rc = expected_bytes_of(rot, measurement, "llcRam.write", &written, err);
	if (rc == 0 && !isnan(stored) && !isnan(crossed) && !isnan(written))
		*bytes = fmax(0, stored - fmax(crossed, written));
	return rc;
}

/* ---- all that a request may need ---- */

int
expectation_of(struct rot *rot, const struct measurement *measurement, const struct quantity_request *request,
	       struct quantity_expectation *expectation, struct rot_error *err)
{
	const struct action_base *action = measured_action(measurement);

	*expectation = (struct quantity_expectation){.can_probe_clock = true};
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);

		if (workload_is_load(workload))
			continue;
		expectation->is_cold_only |= workload->kernel->warm_data;
		expectation->can_probe_clock &= workload->kernel->num_threads <= 1;
	}
	if (action) {
		expectation->is_of_action = true;
		expectation->operations = expectation->bytes = NAN;
		if (!rot_is_a(action, &flush_kernel_buffers_action_class))
			return 0;
		return held_back_of(rot, measurement, request->border, &expectation->bytes, err);
	}
	if (expected_operations_of(rot, measurement, request->operation, &expectation->operations, err) < 0)
		return -1;
	if (expected_bytes_of(rot, measurement, request->border, &expectation->bytes, err) < 0)
		return -1;
	return expected_sum(rot, measurement, request->border, compulsory_bytes, &expectation->compulsory, err);
}

/* ---- instructions ---- */

/*
 * Counted were 3.5 to an operation of triad (-O2), 4 of the triple loop, 5 when it is blocked, 6.7 of wht; of vectors 2
 * (triad, SSE) down to 0.1 (dgemm of OpenBLAS).
 */
#define STEPS_OF_OPERATION 1
#define STEPS_OF_BYTE (1. / 8)

/* The count, or 0 where it is not known. -1 if an expression failed. */
static int
known_or_none(struct rot *rot, const struct kernel_base *kernel, const char *of, expected_count *expected,
	      double *count, struct rot_error *err)
{
	*count = 0;
	if (add_expected(rot, kernel, of, expected, count, err) < 0)
		return -1;
	if (isnan(*count))
		*count = 0;
	return 0;
}

static int
steps_of(struct rot *rot, const struct kernel_base *kernel, double *steps, struct rot_error *err)
{
	double flop, x87, bytes;

	if (known_or_none(rot, kernel, "instructions", kernel_expected_operations, steps, err) < 0 ||
	    known_or_none(rot, kernel, "flop", kernel_expected_operations, &flop, err) < 0 ||
	    known_or_none(rot, kernel, "compInstr", kernel_expected_operations, &x87, err) < 0 ||
	    known_or_none(rot, kernel, "cpuL1", expected_bytes, &bytes, err) < 0)
		return -1;
	if (*steps == 0)
		*steps = fmax(STEPS_OF_OPERATION * (flop + x87), STEPS_OF_BYTE * bytes);
	return 0;
}

int
expected_steps_of(struct rot *rot, const struct measurement *measurement, double *steps, struct rot_error *err)
{
	*steps = 0;
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		const struct workload *workload = measurement_workloads_at(measurement, i);
		double own = 0;

		if (!workload_is_load(workload) && steps_of(rot, workload->kernel, &own, err) < 0)
			return -1;
		*steps = fmax(*steps, workload->kernel && workload->kernel->warm_code ? 2 * own : own);
	}
	return 0;
}
