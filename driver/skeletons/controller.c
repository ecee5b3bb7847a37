/* SPDX-License-Identifier: MIT */
/* A controller in C, to copy: searches how many independent chains an addition needs. rot measure ./controller.c */
#include <math.h>
#include <stdio.h>

#include "experiments/experiment.h"
#include "rot.h"

/* One Arithmetic kernel in one workload. */
static struct measurement *
addition(struct rot *rot, int chains, struct rot_error *err)
{
	struct measurement *measurement = measurement_new();
	struct workload *workload = workload_new();
	char text[16];

	workload->kernel = rot_entity_new(rot_registry_find(rot->registry, "Arithmetic"));
	measurement_workloads_add(measurement, workload);
	snprintf(text, sizeof(text), "%d", chains);
	if (rot_entity_set(workload->kernel, "operation", "ADD", err) == 0 &&
	    rot_entity_set(workload->kernel, "dlp", text, err) == 0)
		return measurement;
	rot_graph_delete(measurement);
	return NULL;
}

static int
measure(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	struct experiment *experiment = experiment_new(rot, self->name, output_name, 0, err);
	struct experiment_plot plot = experiment_plot_default(EXPERIMENT_SERIES);
	int rc = experiment ? 0 : -1;

	plot.title = "Additions need this many chains";
	plot.x = "chains";
	plot.y = "performance:doublePrecisionFlop";
	if (rc == 0)
		rc = experiment_add_plot(experiment, &plot, err);
	for (int chains = 1; rc == 0 && chains <= 12; chains++) {
		struct coordinate at = {.axis = "chains", .number = chains};
		struct experiment_position position = {"ADD", "", {&at, 1}};
		struct measurement *measurement = addition(rot, chains, err);

		rc = measurement ? experiment_add_point(experiment, &position, measurement, NULL, 0, 10, err) : -1;
		rot_graph_delete(measurement);
	}
	if (rc == 0)
		rc = experiment_write(experiment, true, err);
	experiment_delete(experiment);
	return rc;
}

const struct rot_controller controller = {
	.name = "chains",
	.description = "performance of additions over the number of independent chains",
	.measure = measure,
};
