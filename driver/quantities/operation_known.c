/* SPDX-License-Identifier: MIT */
#include "quantities/operation_known.h"

#include <stdio.h>

#include "base/paths.h"
#include "entities.h"
#include "machine/measured.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "rot.h"

static struct operation_known
told(const struct rot *rot, const char *operation, const char *precision, const char *instruction_set)
{
	autofree char *folder = rot_format("%s/driver/architectures", rot->paths->data);
	struct architecture *documents = architecture_load(folder, rot->machine, NULL, NULL);
	const struct architecture_latency *latency = NULL;
	const struct architecture_limit *limit = NULL;
	struct operation_known known = {.source = ""};

	if (documents) {
		latency = architecture_latency(documents, operation, precision, instruction_set);
		limit = architecture_limit(documents, (int)rot->machine->cpu_model, "", operation, instruction_set);
	}
	if (latency && limit)
		known = (struct operation_known){latency->cycles, limit->per_cycle, "the processor's documents"};
	architecture_delete(documents);
	return known;
}

struct operation_known
operation_known(const struct rot *rot, const char *operation, const char *precision, const char *instruction_set)
{
	const struct measured_operation *found =
		measured_operation_of(rot->measured, operation, precision, instruction_set);
	struct operation_known known;
	autofree char *changes = NULL;

	if (!found)
		return told(rot, operation, precision, instruction_set);
	known = (struct operation_known){found->latency, found->per_cycle, ""};
	changes = measured_changes(&rot->measured->operations_when, rot->machine);
	snprintf(known.source, sizeof(known.source), "measured %.10s%s", rot->measured->operations_when.created,
		 changes[0] ? ", under other conditions" : "");
	return known;
}
