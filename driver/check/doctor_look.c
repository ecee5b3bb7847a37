/* SPDX-License-Identifier: MIT */
/* What is read from files: the machine, its clocks, and what surrounds rot. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "check/doctor.h"
#include "entities.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "number.h"
#include "roof/levels.h"

/* ---- machine ---- */

static void
advise_on_caches(struct finding *finding, const struct machine *machine)
{
	autofree char *most = machine_size_text(machine->package_llc_bytes);

	if (machine->package_llc_bytes)
		finding_advise(
			finding,
			"the processor tells only what all CPUs have together (%s): rot measure levels finds what "
			"one can use",
			most);
	else
		finding_advise(finding, "neither /sys/devices/system/cpu/cpu0/cache nor CPUID tells: is /sys mounted? "
					"rot measure levels measures them");
}

static void
look_at_caches(struct findings *findings, const struct machine *machine)
{
	autofree char *caches = machine_caches_text(machine);
	autofree char *memory = machine_size_text(machine->memory_bytes);
	autofree char *usable = machine_size_text(machine->memory_limit_bytes);
	bool is_known = machine->l1_data_bytes && machine->l2_bytes && machine->llc_bytes;
	struct finding *finding = findings_add(findings, "caches", is_known ? FINDING_GOOD : FINDING_LIMITED,
					       "%s for one CPU, lines of %d bytes", caches, (int)machine->line_bytes);

	if (!is_known)
		advise_on_caches(finding, machine);
	if (machine->memory_limit_bytes)
		findings_add(findings, "memory", FINDING_LIMITED, "%s, of which the control group may have %s", memory,
			     usable);
	else
		findings_add(findings, "memory", FINDING_GOOD, "%s", memory);
}

/* "cpu, msr, software"; "" if there are none. Fresh memory. */
static char *
pmu_names(const char *root, bool *has_cpu)
{
	autofree char *folder = rot_format("%s/sys/bus/event_source/devices", root);
	char *names = rot_strdup("");
	struct dirent **entries;
	int nr = scandir(folder, &entries, NULL, alphasort);

	*has_cpu = false;
	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;

		if (name[0] != '.') {
			rot_append(&names, "%s%s", *names ? ", " : "", name);
			/* hybrid processors have cpu_core and cpu_atom */
			*has_cpu |= strcmp(name, "cpu") == 0 || strncmp(name, "cpu_", 4) == 0;
		}
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return names;
}

static void
look_at_pmus(struct findings *findings, const char *root)
{
	bool has_cpu;
	autofree char *names = pmu_names(root, &has_cpu);

	if (has_cpu)
		findings_add(findings, "PMUs", FINDING_GOOD, "%s", names);
	else
		findings_add(findings, "PMUs", FINDING_LIMITED, "%s%s",
			     *names ? "none of the processor; " : "none are shown", names);
}

void
doctor_look_at_machine(struct findings *findings, const struct machine *machine, const char *root)
{
	autofree char *caption = machine_caption(machine);
	size_t nr_cpus = machine_nr_online_cpus(machine);
	autofree char *smt = file_first_line(root, "sys/devices/system/cpu/smt/active");

	findings_section(findings, "Machine");
	findings_add(findings, "processor", FINDING_GOOD, "%s%s%s", caption,
		     machine->microcode[0] ? ", microcode " : "", machine->microcode);
	findings_add(findings, "CPUs", FINDING_GOOD, "%zu%s", nr_cpus,
		     smt && smt[0] == '1' ? ", two or more threads to a core: they share its units" : "");
	look_at_caches(findings, machine);
	look_at_pmus(findings, root);
	findings_add(findings, "kernel", FINDING_GOOD, "Linux %s",
		     machine->kernel_release[0] ? machine->kernel_release : "of unknown release");
}

/* "L2 896 KiB agrees"; what was measured beside what was told. Fresh memory. */
static char *
measured_text(const struct measured_levels *levels, const struct machine *machine, int cache)
{
	static const char *const names[] = {"L1 data", "L2", "last level"};
	const struct {
		int64_t bytes;
		const char *source;
	} told[] = {{machine->l1_data_bytes, machine->l1_data_source},
		    {machine->l2_bytes, machine->l2_source},
		    {machine->llc_bytes, machine->llc_source}};
	const struct measured_level *found = measured_level_of(levels, machine, cache);
	bool is_told = strcmp(told[cache].source, "measured") != 0;
	autofree char *size = machine_size_text(found ? found->bytes : 0);
	char *text =
		rot_format("%s %s: %s", names[cache], size, levels_verdict(is_told ? told[cache].bytes : 0, found));

	return text;
}

void
doctor_look_at_levels(struct findings *findings, const struct machine *machine, const char *cache_folder)
{
	struct measured_levels levels;
	struct finding *finding;
	char *texts[3];

	measured_levels_load(&levels, cache_folder, machine);
	if (levels.nr == 0)
		return;
	for (int i = 0; i < 3; i++)
		texts[i] = measured_text(&levels, machine, i);
	finding = findings_add(findings, "caches measured", levels.is_steady ? FINDING_GOOD : FINDING_LIMITED,
			       "%s; %s; %s; memory %.3g ns; on %s%s", texts[0], texts[1], texts[2],
			       levels.levels[levels.nr - 1].ns, levels.when.created,
			       levels.is_steady ? "" : ", while others used them");
	if (!levels.is_steady)
		finding_advise(finding, "rot remeasure levels, when nothing else runs");
	for (int i = 0; i < 3; i++)
		free(texts[i]);
}

/* ---- clocks ---- */

static void
look_at_tsc(struct findings *findings, const struct machine *machine, const char *root)
{
	bool is_steady = machine_has_flag(machine, "constant_tsc") && machine_has_flag(machine, "nonstop_tsc");
	autofree char *source =
		file_first_line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource");

	if (is_steady)
		findings_add(findings, "time stamp counter", FINDING_GOOD, "constant rate%s%s",
			     source ? "; clock source of the kernel: " : "", source ? source : "");
	else
		finding_advise(findings_add(findings, "time stamp counter", FINDING_LIMITED,
					    "changes its rate, or stops with the processor"),
			       "choose the wall clock: -clock=microSeconds");
}

/* Who decides how fast the processor runs, and how it is told to run at one speed. */
static void
look_at_frequency(struct findings *findings, const char *root)
{
	static const struct {
		const char *file, *on, *advice;
	} turbos[] = {
		{"sys/devices/system/cpu/cpufreq/boost", "1",
		 "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"},
		{"sys/devices/system/cpu/intel_pstate/no_turbo", "0",
		 "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"},
	};
	autofree char *governor = file_first_line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	bool is_steady = governor && strcmp(governor, "performance") == 0, is_told = false;

	if (!governor)
		finding_advise(findings_add(findings, "frequency", FINDING_LIMITED,
					    "not under control of this system, and may change at any time"),
			       "compare per core cycle, or interleaved in one run");
	else if (is_steady)
		findings_add(findings, "frequency", FINDING_GOOD, "governor %s", governor);
	else
		finding_advise(findings_add(findings, "frequency", FINDING_LIMITED,
					    "governor %s: the clock follows the load", governor),
			       "sudo cpupower frequency-set -g performance");
	for (size_t i = 0; i < sizeof(turbos) / sizeof(*turbos); i++) {
		autofree char *state = file_first_line(root, turbos[i].file);

		if (state && strcmp(state, turbos[i].on) == 0)
			finding_advise(findings_add(findings, "turbo", FINDING_LIMITED,
						    "on: the clock depends on temperature and on what other CPUs do"),
				       "%s", turbos[i].advice);
		else if (state)
			findings_add(findings, "turbo", FINDING_GOOD, "off");
		is_told |= state != NULL;
	}
	if (!is_told)
		findings_add(findings, "turbo", FINDING_GOOD, "not under control of this system");
}

/* The bracketed word of "always [madvise] never". */
static void
look_at_huge_pages(struct findings *findings, const char *root)
{
	autofree char *line = file_first_line(root, "sys/kernel/mm/transparent_hugepage/enabled");
	char *chosen = line ? strchr(line, '[') : NULL;

	if (!chosen) {
		findings_add(findings, "huge pages", FINDING_LIMITED, "not offered: large buffers cost page walks");
	} else {
		chosen[strcspn(chosen, "]")] = '\0';
		findings_add(findings, "huge pages", FINDING_GOOD, "transparent: %s", chosen + 1);
	}
}

/* Share of the time, since the machine started, that other guests of its host took; NaN-free: -1 if not known. */
static double
stolen_share(const char *root)
{
	autofree char *line = file_first_line(root, "proc/stat");
	char *at = line;
	double sum = 0, stolen = -1;

	if (line && strncmp(line, "cpu ", 4) == 0) {
		at += 4;
		for (int i = 0; i < 8; i++) {
			double ticks = (double)strtoull(at, &at, 10);

			sum += ticks;
			if (i == 7 && sum > 0)
				stolen = ticks / sum;
		}
	}
	return stolen;
}

static void
look_at_load(struct findings *findings, const struct machine *machine, const char *root)
{
	autofree char *line = file_first_line(root, "proc/loadavg");
	double stolen = stolen_share(root), load = line ? strtod(line, NULL) : -1;
	double nr_cpus = (double)machine_nr_online_cpus(machine);

	if (load > 0.5 * nr_cpus)
		finding_advise(findings_add(findings, "load", FINDING_LIMITED,
					    "%.2f processes ran at once in the last minute on %g CPU%s", load, nr_cpus,
					    rot_plural(nr_cpus)),
			       "measure when nothing else runs: ps -eo pcpu,pid,args --sort=-pcpu | head");
	else if (load >= 0)
		findings_add(findings, "load", FINDING_GOOD, "%.2f in the last minute on %g CPU%s", load, nr_cpus,
			     rot_plural(nr_cpus));
	if (stolen > 0.01)
		findings_add(findings, "stolen time", FINDING_LIMITED,
			     "%.1f %% of the time since start went to other guests of the host", stolen * 100);
}

void
doctor_look_at_clocks(struct findings *findings, const struct machine *machine, const char *root)
{
	findings_section(findings, "Steadiness");
	look_at_tsc(findings, machine, root);
	look_at_frequency(findings, root);
	look_at_huge_pages(findings, root);
	look_at_load(findings, machine, root);
}

/* ---- surroundings ---- */

static bool
has_file(const char *root, const char *name)
{
	autofree char *path = rot_format("%s/%s", root, name);
	size_t length;
	autofree char *content = file_read(path, &length, NULL);

	return content != NULL;
}

/* The name of what keeps this process apart from the machine, or NULL. */
static const char *
container_name(const char *root)
{
	static const struct {
		const char *file, *part, *name;
	} signs[] = {
		{".dockerenv", NULL, "docker"},
		{"run/.containerenv", NULL, "podman"},
		{"run/systemd/container", NULL, "a container of systemd"},
		{"proc/1/cgroup", "kubepods", "kubernetes"},
		{"proc/1/cgroup", "docker", "docker"},
		{"proc/1/cgroup", "lxc", "lxc"},
		{"proc/sys/kernel/osrelease", "icrosoft", "WSL"},
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		autofree char *line = signs[i].part ? file_first_line(root, signs[i].file) : NULL;
		bool is_found = signs[i].part ? line && strstr(line, signs[i].part) : has_file(root, signs[i].file);

		if (is_found)
			return signs[i].name;
	}
	return NULL;
}

void
doctor_look_at_surroundings(struct findings *findings, const struct machine *machine, const char *root)
{
	const char *container = container_name(root);

	findings_section(findings, "Surroundings");
	if (machine->hypervisor[0])
		findings_add(findings, "hypervisor", FINDING_LIMITED,
			     "%s: the host decides about clock, caches and counters", machine->hypervisor);
	else
		findings_add(findings, "hypervisor", FINDING_GOOD, "none");
	if (container)
		findings_add(findings, "container", FINDING_LIMITED,
			     "%s: system calls may be filtered; what is refused is named below", container);
	else
		findings_add(findings, "container", FINDING_GOOD, "none recognised");
}
