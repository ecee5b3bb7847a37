/* SPDX-License-Identifier: MIT */
/* What a result is found by: the hash of what was measured and of the machine. */
#include <stdlib.h>

#include "configuration/configuration.h"
#include "measuring/measuring.h"
#include "measuring/measuring_internal.h"
#include "measuring/sha256.h"
#include "memory.h"
#include "rot.h"

static void
set_ids(struct rot_entity *const *parts, size_t nr)
{
	int nr_workloads = 0, nr_kernels = 0, nr_sets = 0, nr_measurers = 0;

	for (size_t i = 0; i < nr; i++) {
		if (rot_is_a(parts[i], &workload_class))
			((struct workload *)parts[i])->id = ++nr_workloads;
		else if (rot_is_a(parts[i], &kernel_base_class))
			((struct kernel_base *)parts[i])->id = ++nr_kernels;
		else if (rot_is_a(parts[i], &measurer_set_class))
			((struct measurer_set *)parts[i])->id = ++nr_sets;
		else if (rot_is_a(parts[i], &measurer_base_class))
			((struct measurer_base *)parts[i])->id = ++nr_measurers;
	}
}

void
measuring_set_ids(const void *description)
{
	size_t nr;
	struct rot_entity **parts = rot_graph_collect(description, &nr);

	set_ids(parts, nr);
	free(parts);
}

void
measuring_set_optimization(const struct rot *rot, struct rot_entity *const *parts, size_t nr)
{
	const char *flags = configuration_string(rot->configuration, "optimization");

	for (size_t i = 0; flags[0] && i < nr; i++) {
		struct kernel_base *kernel = rot_cast(parts[i], &kernel_base_class);

		if (kernel)
			rot_string_set(&kernel->optimization, flags);
	}
}

/* Everything of the machine that may change a result; not the flags, sizes and CPUs, which follow from these or do not
 * matter. */
static void
hash_machine(struct sha256 *hash, const struct machine *machine)
{
	const char *const texts[] = {machine->cpu_vendor, machine->cpu_name, machine->microcode,
				     machine->kernel_release, machine->hypervisor};
	char *numbers =
		rot_format("%d %d %d", (int)machine->cpu_family, (int)machine->cpu_model, (int)machine->cpu_stepping);

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		sha256_add_text(hash, texts[i]);
	sha256_add_text(hash, numbers);
	free(numbers);
}

char *
measuring_machine_hash(const struct machine *machine, const char *text)
{
	struct sha256 *hash = sha256_new();
	char hex[SHA256_HEX_SIZE];

	sha256_add_text(hash, text);
	hash_machine(hash, machine);
	sha256_finish(hash, hex);
	return rot_strdup(hex);
}

char *
measuring_hash(struct rot *rot, const void *description)
{
	char *xml = rot_xml_write(description), *hash = measuring_machine_hash(rot->machine, xml);

	free(xml);
	return hash;
}

char *
measuring_description_hash(struct rot *rot, struct measurement *measurement)
{
	size_t nr;
	struct rot_entity **parts = rot_graph_collect(measurement, &nr);

	set_ids(parts, nr);
	measuring_set_optimization(rot, parts, nr);
	free(parts);
	return measuring_hash(rot, measurement);
}
