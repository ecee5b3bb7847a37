/* SPDX-License-Identifier: MIT */
/* The same work on several CPUs at once: the attribute threads of a point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpus.h"
#include "measuring/on_cpus.h"
#include "number.h"
#include "planning/xml_plan.h"

/* "all", or how many; 0 where it is neither, or more than there are. */
static size_t
nr_threads(const char *text, size_t nr_cpus)
{
	double number;

	if (strcmp(text, "all") == 0)
		return nr_cpus;
	if (!rot_number_parse(text, &number) || number < 1 || number > (double)nr_cpus || number != floor(number))
		return 0;
	return (size_t)number;
}

static int
refused(const struct planned_point *planned, const char *text, size_t nr_cpus, struct rot_error *err)
{
	rot_error_set(err, 0, "<point threads=\"%s\">: expected 'all' or a number from 1 to %zu", text, nr_cpus);
	rot_error_hint(err, "each thread needs a CPU of its own, of those that rot may run on");
	return xml_error_at(planned->element, err);
}

int
xml_plan_threads(struct planned_point *planned, const struct expression_scope *scope, struct rot_error *err)
{
	char *text = xml_evaluated(planned->element, "threads", "", scope, err);
	struct measurement *spread;
	size_t nr_cpus, nr;
	int *cpus, rc = -1;

	if (!text || !text[0]) {
		free(text);
		return text ? 0 : -1;
	}
	nr_cpus = allowed_cpus(&cpus, NULL);
	nr = nr_threads(text, nr_cpus);
	if (nr == 0) {
		refused(planned, text, nr_cpus, err);
	} else if (measurement_nr_workloads(planned->measurement) != 1) {
		rot_error_set(err, 0, "<point threads>: there are %zu workloads, and it is about the only one",
			      measurement_nr_workloads(planned->measurement));
		xml_error_at(planned->element, err);
	} else {
		spread = measurement_on_cpus(planned->measurement, cpus, nr);
		rot_graph_delete(planned->measurement);
		planned->measurement = spread;
		rc = 0;
	}
	free(cpus);
	free(text);
	return rc;
}
