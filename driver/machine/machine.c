/* SPDX-License-Identifier: MIT */
/* This machine, by /proc/cpuinfo, sysfs and CPUID. */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files.h"
#include "machine/caches.h"
#include "machine/cpuid.h"
#include "machine/machine.h"
#include "memory.h"

/* ---- CPUs ---- */

/* Reads "0-3" or "8" at the beginning of a list. Where the next one begins; NULL: there is none here. */
static const char *
read_range(const char *list, long *first, long *last)
{
	char *end;

	*first = *last = strtol(list, &end, 10);
	if (end == list)
		return NULL;
	if (*end == '-')
		*last = strtol(end + 1, &end, 10);
	return end + (*end == ',');
}

bool
cpu_list_holds(const char *list, int cpu)
{
	long first, last;

	while ((list = read_range(list, &first, &last)))
		if (first <= cpu && cpu <= last)
			return true;
	return false;
}

/* A core is known by the first of its CPUs; where nothing is told, each CPU is its own. */
static int
core_of(int cpu)
{
	char path[96];
	FILE *file;
	int first = cpu;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	file = fopen(path, "re");
	if (!file)
		return cpu;
	if (fscanf(file, "%d", &first) != 1)
		first = cpu;
	fclose(file);
	return first;
}

size_t
cpus_spread(int *cpus, const int *cores, size_t nr)
{
	autofree size_t *ranks = rot_calloc(nr + 1, sizeof(*ranks)); /* how many before it are of the same core */
	autofree int *old = rot_calloc(nr + 1, sizeof(*old));
	size_t nr_cores = 0, nr_placed = 0;

	for (size_t i = 0; i < nr; i++) {
		old[i] = cpus[i];
		for (size_t k = 0; k < i; k++)
			ranks[i] += cores[k] == cores[i];
		nr_cores += ranks[i] == 0;
	}
	for (size_t rank = 0; nr_placed < nr; rank++)
		for (size_t i = 0; i < nr; i++)
			if (ranks[i] == rank)
				cpus[nr_placed++] = old[i];
	return nr_cores;
}

size_t
allowed_cpus(int **cpus, size_t *nr_cores)
{
	autofree int *cores = rot_calloc(CPU_SETSIZE, sizeof(*cores));
	cpu_set_t set;
	size_t nr = 0, nr_of_them;

	*cpus = rot_calloc(CPU_SETSIZE, sizeof(**cpus));
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set)) {
			cores[nr] = core_of(cpu);
			(*cpus)[nr++] = cpu;
		}
	if (nr == 0)
		nr = 1; /* CPU 0 */
	nr_of_them = cpus_spread(*cpus, cores, nr);
	if (nr_cores)
		*nr_cores = nr_of_them;
	return nr;
}

/* ---- memory limit ---- */

/* Where the groups of a version are mounted, and the file with the limit. */
struct hierarchy {
	const char *folder, *file;
};
static const struct hierarchy version_1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes"};
static const struct hierarchy version_2[] = {
	{"sys/fs/cgroup", "memory.max"}, {"sys/fs/cgroup/unified", "memory.max"}, /* beside version 1 */
};

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* "max" of version 2 is no number; the largest of version 1 is no limit. */
static int64_t
limit_of(const char *root, const struct hierarchy *in, const char *group)
{
	autofree char *name = rot_format("%s%s/%s", in->folder, group, in->file), *line = file_first_line(root, name);

	return line && isdigit((unsigned char)line[0]) ? strtoll(line, NULL, 10) : INT64_MAX;
}

/* path: "/a/b". */
static int64_t
limit_with_parents(const char *root, const struct hierarchy *in, const char *path)
{
	autofree char *group = rot_strdup(path);
	int64_t limit = limit_of(root, in, "");

	for (char *slash; (slash = strrchr(group, '/')); *slash = '\0')
		if (slash[1])
			limit = least(limit, limit_of(root, in, group));
	return limit;
}

/* line: "0::/a/b" (version 2) or "4:memory:/a/b"; others have nothing to do with memory. */
static int64_t
limit_of_line(const char *root, const char *line)
{
	const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	int64_t limit = INT64_MAX;

	if (!path)
		return limit;
	if (strncmp(controllers, ":memory:", 8) == 0)
		limit = limit_with_parents(root, &version_1, path + 1);
	for (size_t i = 0; path == controllers + 1 && i < sizeof(version_2) / sizeof(*version_2); i++)
		limit = least(limit, limit_with_parents(root, &version_2[i], path + 1));
	return limit;
}

/*
 * The least limit of the group and of those around it, of both versions, in bytes; INT64_MAX: there is none, or none
 * that can be read. Within a container the path of the group may be one of outside, and the limit is then that of the
 * topmost folder. root: "/" or the folder of a recorded machine.
 */
static int64_t
memory_limit_read(const char *root)
{
	autofree char *path = rot_format("%s/proc/self/cgroup", root), *text = file_read(path, NULL, NULL);
	char *rest = text;
	int64_t limit = INT64_MAX;

	for (char *line; (line = strsep(&rest, "\n"));)
		limit = least(limit, limit_of_line(root, line));
	return limit;
}

static void
set_from_file(char **member, const char *root, const char *name)
{
	autofree char *line = file_first_line(root, name);

	if (line)
		rot_string_set(member, line);
}

/* ---- /proc/cpuinfo ---- */

/* One "name : value" of the first processor. */
static void
read_fact(struct machine *machine, const char *name, char *value)
{
	const struct {
		const char *name;
		int32_t *number;
		char **text;
	} facts[] = {
		{"vendor_id", NULL, &machine->cpu_vendor},    {"cpu family", &machine->cpu_family, NULL},
		{"model", &machine->cpu_model, NULL},         {"stepping", &machine->cpu_stepping, NULL},
		{"model name", NULL, &machine->cpu_name},     {"microcode", NULL, &machine->microcode},
		{"clflush size", &machine->line_bytes, NULL},
	};

	if (strcmp(name, "flags") == 0) {
		char *rest = NULL;

		for (char *flag = strtok_r(value, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest))
			machine_cpu_flags_add(machine, flag);
		if (machine->cpu_flags.nr)
			qsort(machine->cpu_flags.items, machine->cpu_flags.nr, sizeof(char *), names_compare);
	}
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		if (strcmp(name, facts[i].name) != 0)
			continue;
		if (facts[i].text)
			rot_string_set(facts[i].text, value);
		else if (atoi(value) > 0 || facts[i].number != &machine->line_bytes)
			*facts[i].number = atoi(value);
	}
}

/* Splits "name\t: value\n" in place. False if it is no such line. */
static bool
split_fact(char *line, char **value)
{
	char *colon = strchr(line, ':'), *end = colon;

	if (!colon)
		return false;
	while (end > line && (end[-1] == '\t' || end[-1] == ' '))
		end--;
	*end = '\0';
	*value = colon + 1 + strspn(colon + 1, " \t");
	(*value)[strcspn(*value, "\n")] = '\0';
	return true;
}

static int
read_cpuinfo(struct machine *machine, const char *root, struct rot_error *err)
{
	autofree char *path = rot_format("%s%sproc/cpuinfo", root, strcmp(root, "/") == 0 ? "" : "/"), *line = NULL;
	char *value;
	FILE *file = fopen(path, "re");
	size_t size = 0;

	if (!file) {
		rot_error_set(err, errno, "cannot read the processor's description '%s'", path);
		return rot_error_hint(err, "rot needs /proc, also in a chroot or container: mount -t proc proc /proc");
	}
	while (getline(&line, &size, file) > 0 && line[0] != '\n')
		if (split_fact(line, &value))
			read_fact(machine, line, value);
	fclose(file);
	return 0;
}

/* ---- sysfs ---- */

#define CPU_FOLDER "sys/devices/system/cpu"
#define MAX_CPUS 65536

/* "0-3,8" as a list. Without the file: CPU 0 alone. */
static void
read_online_cpus(struct machine *machine, const char *root)
{
	autofree char *line = file_first_line(root, CPU_FOLDER "/online");
	const char *rest = line;
	long first, last;

	while (rest && (rest = read_range(rest, &first, &last)))
		for (long cpu = first; cpu >= 0 && cpu <= last && cpu < MAX_CPUS; cpu++)
			machine_online_cpus_add(machine, (int32_t)cpu);
	if (machine->online_cpus.nr == 0)
		machine_online_cpus_add(machine, 0);
}

/* ---- hypervisor ---- */

/*
 * CPUID leaf 0x40000000 names it; empty on bare metal. A recorded machine may have a file that names it instead.
 * Sources: the hypervisors' own documents.
 */
static void
read_hypervisor(struct machine *machine, const char *root)
{
	static const struct {
		const char *signature, *name;
	} hypervisors[] = {
		{"KVMKVMKVM", "KVM"},    {"Microsoft Hv", "Hyper-V"},  {"VMwareVMware", "VMware"},
		{"XenVMMXenVMM", "Xen"}, {"TCGTCGTCGTCG", "QEMU TCG"}, {"bhyve bhyve ", "bhyve"},
	};
	struct cpuid_registers registers;
	uint32_t signature[4] = {0};

	if (!machine_has_flag(machine, "hypervisor"))
		return;
	cpuid_read(root, 0x40000000, 0, &registers);
	memcpy(signature, &registers.ebx, 3 * sizeof *signature);
	rot_string_set(&machine->hypervisor, signature[0] ? (const char *)signature : "unknown");
	for (size_t i = 0; i < sizeof hypervisors / sizeof *hypervisors; i++)
		if (strcmp(machine->hypervisor, hypervisors[i].signature) == 0)
			rot_string_set(&machine->hypervisor, hypervisors[i].name);
}

struct machine *
machine_read(const char *root, struct rot_error *err)
{
	struct machine *machine = machine_new();
	autofree char *line = NULL;
	int64_t limit;

	if (read_cpuinfo(machine, root, err) < 0) {
		machine_delete(machine);
		return NULL;
	}
	read_online_cpus(machine, root);
	machine_read_caches(machine, root);
	line = file_first_line(root, "proc/meminfo");
	if (line && strncmp(line, "MemTotal:", 9) == 0)
		machine->memory_bytes = strtoll(line + 9, NULL, 10) * 1024;
	limit = memory_limit_read(root);
	if (limit < machine->memory_bytes)
		machine->memory_limit_bytes = limit;
	set_from_file(&machine->kernel_release, root, "proc/sys/kernel/osrelease");
	set_from_file(&machine->governor, root, CPU_FOLDER "/cpu0/cpufreq/scaling_governor");
	read_hypervisor(machine, root);
	if (strcmp(root, "/") != 0)
		set_from_file(&machine->hypervisor, root, "hypervisor");
	return machine;
}

int64_t
machine_usable_bytes(const struct machine *machine)
{
	return machine->memory_limit_bytes ? machine->memory_limit_bytes : machine->memory_bytes;
}

char *
machine_size_text(int64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes;
	size_t i = 0;

	if (bytes == 0)
		return rot_strdup("unknown");
	for (; size >= 1024 && i + 1 < sizeof(units) / sizeof(*units); i++)
		size /= 1024;
	return rot_format("%.4g %s", size, units[i]);
}

char *
machine_caches_text(const struct machine *machine)
{
	const struct {
		const char *name, *source;
		int64_t bytes;
	} caches[] = {{"L1 data", machine->l1_data_source, machine->l1_data_bytes},
		      {"L2", machine->l2_source, machine->l2_bytes},
		      {"last level", machine->llc_source, machine->llc_bytes}};
	char *text = rot_strdup("");

	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		const char *source = strcmp(caches[i].source, "sysfs") == 0 ? "" : caches[i].source;
		autofree char *size = machine_size_text(caches[i].bytes);

		rot_append(&text, *source ? "%s%s %s (%s)" : "%s%s %s", *text ? ", " : "", caches[i].name, size,
			   source);
	}
	return text;
}

bool
machine_has_flag(const struct machine *machine, const char *cpu_flag)
{
	return machine->cpu_flags.nr && bsearch(&cpu_flag, machine->cpu_flags.items, machine->cpu_flags.nr,
						sizeof(char *), names_compare) != NULL;
}

int
machine_vector_bytes(const struct machine *machine)
{
	return machine_has_flag(machine, "avx512f") ? 64 : machine_has_flag(machine, "avx") ? 32 : 16;
}

char *
machine_caption(const struct machine *machine)
{
	const char *name = machine->cpu_name[0] ? machine->cpu_name : "unknown processor";
	size_t length = strcspn(name, "@"); /* "Intel(R) Xeon(R) CPU @ 2.10GHz" without its nominal clock */

	while (length > 0 && name[length - 1] == ' ')
		length--;
	return rot_format("%.*s, family %d model %d%s%s", (int)length, name, (int)machine->cpu_family,
			  (int)machine->cpu_model, machine->hypervisor[0] ? ", " : "", machine->hypervisor);
}

/* ---- hardware events ---- */

/*
 * Events without a unit are those of "cpu_core", where a processor has cores of two kinds (hybrid CPUs in the documents
 * of perf). On other cores they stand still.
 */
static bool
count_on_all_cpus(const char *root, struct rot_error *why)
{
	autofree char *counting = file_first_line(root, "sys/devices/cpu_core/cpus");
	autofree int *cpus = NULL;
	size_t nr = allowed_cpus(&cpus, NULL);
	bool are_all = true;

	for (size_t i = 0; counting && are_all && i < nr; i++) {
		are_all = cpu_list_holds(counting, cpus[i]);
		if (are_all)
			continue;
		rot_error_set(why, 0,
			      "cannot count hardware events on CPU %d: this processor has cores of several kinds, and "
			      "only those of the CPUs %s (cpu_core) are counted",
			      cpus[i], counting);
		rot_error_hint(why, "keep to the CPUs that count: taskset -c %s rot ...", counting);
	}
	return are_all;
}

void
machine_hint_permission(struct rot_error *why, int level)
{
	autofree char *line = file_first_line("/", "proc/sys/kernel/perf_event_paranoid");

	if (line && atoi(line) > level)
		rot_error_hint(why, "sudo sysctl kernel.perf_event_paranoid=%d    (it is %s), or run with CAP_PERFMON",
			       level, line);
	else
		rot_error_hint(why,
			       "the system call is refused although kernel.perf_event_paranoid is %s: a container's "
			       "seccomp filter? "
			       "For docker: --cap-add PERFMON --security-opt seccomp=unconfined",
			       line ? line : "unknown");
}

static void
explain(int reason, struct rot_error *why)
{
	rot_error_set(why, reason, "cannot count hardware events (perf_event_open of cycles)");
	if (reason == EACCES || reason == EPERM)
		machine_hint_permission(why, 2);
	else if (reason == ENOSYS)
		rot_error_hint(
			why,
			"this Linux kernel has no perf events (CONFIG_PERF_EVENTS), or a seccomp filter hides them");
	else
		rot_error_hint(
			why,
			"no hardware counters are visible here; in a virtual machine, ask its owner for a virtual PMU "
			"(KVM: -cpu host,pmu=on)");
}

/*
 * With the attributes that libpfm4 gives all events of user mode. Guests in particular: a host whose guests have the
 * counters to themselves refuses to count in them (perf_event_open: EOPNOTSUPP).
 */
static bool
can_open_cycles(struct rot_error *why)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		explain(errno, why);
		return false;
	}
	close((int)fd);
	return true;
}

bool
machine_can_count(struct rot_error *why)
{
	return can_open_cycles(why) && count_on_all_cpus("/", why);
}

int
machine_first_cpu(void)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &allowed))
				return cpu;
	return -1;
}
