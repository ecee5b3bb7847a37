/* SPDX-License-Identifier: MIT */
/* See Documentation/ABI/testing/sysfs-bus-event_source-devices-{format,events} of Linux. */
#include "machine/uncore.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files.h"
#include "machine/machine.h"
#include "memory.h"
#include "number.h"

/* Linux has no more (NR_CPUS of x86-64). */
#define MAX_CPUS 8192
#define DEVICES "sys/bus/event_source/devices"

/* Lowest bits of value first, into the bits of "config:0-7,32-35". False: it is no such text. */
static bool
put_bits(uint64_t *config, const char *format, uint64_t value)
{
	static const char whole[] = "config:";

	if (strncmp(format, whole, sizeof(whole) - 1) != 0)
		return false;
	for (format += sizeof(whole) - 1; *format; format += *format == ',') {
		char *end;
		unsigned long first = strtoul(format, &end, 10),
			      last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		if (end == format || last > 63)
			return false;
		for (; first <= last; first++, value >>= 1)
			*config |= (value & 1) << first;
		format = end;
	}
	return true;
}

/* A term of "event=0x04,umask=0x03"; without a value it is 1. */
static bool
read_terms(uint64_t *config, const char *root, const char *device, const char *terms)
{
	autofree char *copy = rot_strdup(terms);
	char *rest = copy;

	*config = 0;
	for (char *term; (term = strsep(&rest, ","));) {
		char *value = strchr(term, '=');
		autofree char *format = NULL, *file = NULL;

		if (value)
			*value++ = '\0';
		file = rot_format(DEVICES "/%s/format/%s", device, term);
		format = file_first_line(root, file);
		if (!format || !put_bits(config, format, value ? strtoull(value, NULL, 0) : 1))
			return false;
	}
	return true;
}

/* The line of the file of a device, in fresh memory; NULL: there is none. */
static char *
device_line(const char *root, const char *device, const char *file, const char *suffix)
{
	autofree char *name = rot_format(DEVICES "/%s/%s%s", device, file, suffix);

	return file_first_line(root, name);
}

/* Adds a unit for each CPU of the device's cpumask. */
static void
add_device(struct uncore_event *event, struct pool *pool, const char *root, const char *device, const char *terms)
{
	autofree char *file = rot_format("events/%s", terms), *named = device_line(root, device, file, "");
	autofree char *type = device_line(root, device, "type", ""), *cpus = device_line(root, device, "cpumask", "");
	autofree char *scale = device_line(root, device, file, ".scale"),
		      *unit = device_line(root, device, file, ".unit");
	uint64_t config;

	if (!type || !cpus || !read_terms(&config, root, device, named ? named : terms))
		return;
	event->scale = 1;
	if (scale && unit && strcmp(unit, "MiB") == 0 && rot_number_parse(scale, &event->scale))
		event->scale *= 1 << 20;
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		if (cpu_list_holds(cpus, cpu))
			pool_add(pool, event->units, event->nr_units) =
				(struct uncore_unit){.name = pool_format(pool, "%s/%s/", device, terms),
						     .type = strtoull(type, NULL, 10),
						     .config = config,
						     .cpu = cpu};
}

/* Is it the name, or the name and the number of a unit? */
static bool
is_unit_of(const char *device, const char *name)
{
	const size_t length = strlen(name);

	if (strncmp(device, name, length) != 0)
		return false;
	device += length;
	return !*device || (*device == '_' && device[1] && device[1 + strspn(device + 1, "0123456789")] == '\0');
}

bool
uncore_event_find(struct uncore_event *event, struct pool *pool, const char *root, const char *definition)
{
	autofree char *folder = rot_format("%s/" DEVICES, root), *copy = rot_strdup(definition);
	autofree char **devices = folder_list(folder);
	char *rest = NULL;

	*event = (struct uncore_event){.scale = 1};
	for (char *one = strtok_r(copy, " ", &rest); one && event->nr_units == 0; one = strtok_r(NULL, " ", &rest)) {
		char *terms = strchr(one, '/');

		if (!terms)
			continue;
		*terms++ = '\0';
		terms[strcspn(terms, "/")] = '\0';
		for (size_t i = 0; devices[i]; i++)
			if (is_unit_of(devices[i], one))
				add_device(event, pool, root, devices[i], terms);
	}
	return event->nr_units > 0;
}

bool
uncore_event_can_count(const struct uncore_event *event, struct rot_error *why)
{
	const struct uncore_unit *unit = &event->units[0];
	struct perf_event_attr attr = {.type = (uint32_t)unit->type, .size = sizeof(attr), .config = unit->config};
	long fd = syscall(SYS_perf_event_open, &attr, -1, unit->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	const int reason = errno;

	if (fd >= 0) {
		close((int)fd);
		return true;
	}
	rot_error_set(why, reason, "cannot count '%s' of the whole machine", unit->name);
	if (reason == EACCES || reason == EPERM)
		machine_hint_permission(why, 0); /* perf_event_open(2): what is not of one's own processes */
	return false;
}
