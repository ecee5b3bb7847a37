/* SPDX-License-Identifier: MIT */
/* See command.h: what can be seen to be wrong with a measurement before it runs. */
#include "child/command.h"
#include "child/kernels.h"
#include "child/measurer.h"
#include "child/rules.h"

static int
check_workload(const struct measurement *measurement, size_t i, struct rot_error *err)
{
	const struct workload *workload = measurement_workloads_at(measurement, i);
	const struct kernel_type *type;

	if (!workload)
		return rot_error_set(err, 0, "the workload at place %zu is missing", i);
	if (!workload->kernel)
		return rot_error_set(err, 0, "workload %d has no kernel", workload->id);
	type = kernel_type_of(workload->kernel);
	if (!type) {
		rot_error_set(err, 0, "workload %d wants kernel %s, which this core was built without", workload->id,
			      workload->kernel->entity.class->name);
		return rot_error_hint(err, "the name in the KERNEL line of its C file must be \"%s\"",
				      workload->kernel->entity.class->name);
	}
	if (!type->run) {
		rot_error_set(err, 0, "kernel %s of workload %d has no function run", type->class_name, workload->id);
		return rot_error_hint(err, "name it in the KERNEL line of its C file: .run = run");
	}
	if (workload->cpu < -1) {
		rot_error_set(err, 0, "workload %d cannot be pinned to CPU %d", workload->id, workload->cpu);
		return rot_error_hint(err, "CPUs count from 0; -1 means any");
	}
	for (size_t j = 0; j < i; j++) {
		const struct workload *earlier = measurement_workloads_at(measurement, j);

		if (earlier == workload || earlier->kernel == workload->kernel)
			return rot_error_set(
				err, 0, "the workloads at places %zu and %zu share a kernel; each needs its own", j, i);
	}
	return 0;
}

int
measurement_check(const struct measurement *measurement, enum failure_kind *kind, struct rot_error *err)
{
	*kind = FAILURE_ERROR;
	for (size_t i = 0; i < measurement_nr_workloads(measurement); i++) {
		if (check_workload(measurement, i, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < measurement_nr_rules(measurement); i++) {
		const struct rule *rule = measurement_rules_at(measurement, i);

		if (!rule)
			return rot_error_set(err, 0, "the rule at place %zu is missing", i);
		if (rule_check(rule, measurement, kind, err) < 0)
			return rot_error_prefix(err, "rule at place %zu", i);
	}
	return 0;
}
