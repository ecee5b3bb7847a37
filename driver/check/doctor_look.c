/* SPDX-License-Identifier: MIT */
/* Findings from files: the machine, its clocks, and what surrounds rot. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/configuration.h"
#include "base/files.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/process.h"
#include "check/doctor.h"
#include "entities.h"
#include "machine/machine.h"
#include "machine/measured.h"
#include "memory.h"
#include "number.h"
#include "quantities/architecture.h"
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

void
doctor_look_at_machine(struct findings *findings, const struct machine *machine, const char *root)
{
	autofree char *caption = machine_caption(machine);
	size_t nr_cpus = machine_nr_online_cpus(machine);
	autofree char *smt = file_first_line(root, "sys/devices/system/cpu/smt/active");
	bool has_cpu;
	autofree char *names = NULL;

	findings_section(findings, "Machine");
	findings_add(findings, "processor", FINDING_GOOD, "%s%s%s", caption,
		     machine->microcode[0] ? ", microcode " : "", machine->microcode);
	findings_add(findings, "CPUs", FINDING_GOOD, "%zu%s", nr_cpus,
		     smt && smt[0] == '1' ? ", two or more threads to a core: they share its units" : "");
	look_at_caches(findings, machine);
	names = pmu_names(root, &has_cpu);
	if (has_cpu)
		findings_add(findings, "PMUs", FINDING_GOOD, "%s", names);
	else
		findings_add(findings, "PMUs", FINDING_LIMITED, "%s%s",
			     *names ? "none of the processor; " : "none are shown", names);
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

	return rot_format("%s %s: %s", names[cache], size, levels_verdict(is_told ? told[cache].bytes : 0, found));
}

void
doctor_look_at_levels(struct findings *findings, const struct machine *machine, const char *cache_folder)
{
	struct measured_levels levels;
	struct finding *finding;
	char *texts[3];
	bool is_sure;

	measured_levels_load(&levels, cache_folder, machine);
	if (levels.nr == 0)
		return;
	is_sure = measured_levels_are_sure(&levels);
	for (int i = 0; i < 3; i++)
		texts[i] = measured_text(&levels, machine, i);
	finding = findings_add(findings, "caches measured", is_sure ? FINDING_GOOD : FINDING_LIMITED,
			       "%s; %s; %s; memory %.3g ns; on %s%s%s", texts[0], texts[1], texts[2],
			       levels.levels[levels.nr - 1].ns, levels.when.created,
			       levels.is_steady ? "" : ", while others used them",
			       levels.last_level.doubt[0] ? ", the last level not sure" : "");
	if (!is_sure)
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

/* The governor and turbo, and how the processor is told to run at one speed. */
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

/* ---- rights, by trying them ---- */

/* The value of "NAME:" in /proc/self/status, or NULL. */
static char *
own_status(const char *name)
{
	autofree char *text = file_read("/proc/self/status", NULL, NULL);
	char *value = NULL;

	for (char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
			char *at = line + strlen(name) + 1;

			at += strspn(at, " \t");
			value = rot_strndup(at, strcspn(at, "\n"));
		}
	return value;
}

/* Numbers of capabilities: linux/capability.h, which older systems do not have all of. */
static char *
capability_names(void)
{
	static const struct {
		int number;
		const char *name;
	} known[] = {{19, "CAP_SYS_PTRACE"}, {21, "CAP_SYS_ADMIN"}, {38, "CAP_PERFMON"}};
	autofree char *mask = own_status("CapEff");
	char *names = rot_strdup("");
	unsigned long long bits = mask ? strtoull(mask, NULL, 16) : 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (bits >> known[i].number & 1)
			rot_append(&names, "%s%s", *names ? ", " : "", known[i].name);
	return names;
}

static void
look_at_process(struct findings *findings)
{
	autofree char *paranoid = file_first_line("/", "proc/sys/kernel/perf_event_paranoid");
	autofree char *names = capability_names(), *seccomp = own_status("Seccomp");

	findings_add(findings, "this process", FINDING_GOOD, "user %d, %s; kernel.perf_event_paranoid %s",
		     (int)geteuid(), *names ? names : "no capabilities that matter here",
		     paranoid ? paranoid : "is not there");
	if (!seccomp)
		findings_add(findings, "system calls", FINDING_LIMITED,
			     "/proc/self/status is not there, so nobody can say whether they are filtered (seccomp)");
	else if (strcmp(seccomp, "0") != 0)
		findings_add(findings, "system calls", FINDING_LIMITED,
			     "filtered (seccomp): what is refused, or said not to be there, may be so only in here");
	else
		findings_add(findings, "system calls", FINDING_GOOD, "not filtered (no seccomp)");
}

static bool
is_validated(const struct architecture *architecture)
{
	for (size_t i = 0; i < architecture->nr_formulas; i++)
		if (architecture->formulas[i].grade)
			return true;
	return false;
}

static void
try_counters(struct findings *findings, const struct architecture *architecture)
{
	const bool is_known = !architecture_is_generic(architecture);
	struct finding *finding;

	if (architecture->counts_by_steps) {
		findings_add(findings, "hardware counters", FINDING_GOOD, "not looked at, with counting=%s",
			     architecture->by_blocks ? "blocks" : "steps");
		return;
	}
	if (architecture->why_not.text[0]) {
		finding = findings_add(findings, "hardware counters", FINDING_LIMITED,
				       "%s: time is measured, operations and bytes are %s", architecture->why_not.text,
				       architecture->by_steps ? "counted by blocks of whole programs and kernels"
							      : "those that kernels are expected to make");
		finding_advise(finding, "%s", architecture->why_not.hint);
		return;
	}
	finding = findings_add(
		findings, "hardware counters", is_known ? FINDING_GOOD : FINDING_LIMITED,
		"%s: groups of up to %d events%s%s%s", architecture->title, architecture->usable_counters,
		architecture->scrub_event[0] ? "; scrubbed before each run with " : "", architecture->scrub_event,
		is_validated(architecture) ? "" : "; not validated on this machine");
	if (!is_known)
		finding_advise(finding, "describe its events in a file of driver/architectures (README.md there); "
					"or: " STEPS_ADVICE_BESIDE_EVENTS);
	else if (!is_validated(architecture))
		finding_advise(finding, "rot validate");
}

/* 0, or why a process of our own cannot be traced. */
static int
try_to_trace(void)
{
	pid_t pid = fork();
	int reason = 0;

	if (pid < 0)
		return errno;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		reason = errno;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return reason;
}

/* scope: of Yama, "" if it is not there. */
static const char *
ptrace_advice(const char *scope)
{
	if (strcmp(scope, "3") == 0)
		return "kernel.yama.ptrace_scope is 3, which stays so until the next start of the machine";
	if (strcmp(scope, "2") == 0)
		return "sudo sysctl kernel.yama.ptrace_scope=1    (it is 2), or run with CAP_SYS_PTRACE";
	return "docker run --cap-add=SYS_PTRACE --security-opt seccomp=unconfined ...; no debugger around rot";
}

/* True if ptrace works. */
static bool
try_ptrace(struct findings *findings)
{
	autofree char *scope = file_first_line("/", "proc/sys/kernel/yama/ptrace_scope");
	int reason = try_to_trace();

	if (reason == 0)
		findings_add(findings, "ptrace", FINDING_GOOD, "own children can be traced%s%s",
			     scope ? "; Yama's ptrace_scope " : "", scope ? scope : "");
	else
		finding_advise(findings_add(findings, "ptrace", FINDING_LIMITED,
					    "%s: no threads of libraries, no rot run -t, no regions", strerror(reason)),
			       "%s", ptrace_advice(scope ? scope : ""));
	return reason == 0;
}

/* line: of "rot-core --try-backends". */
static void
add_backend(struct findings *findings, char *line)
{
	static const struct {
		const char *backend, *name, *advice;
	} known[] = {{"uprobe", "regions by uprobe", "root; in a container also --cap-add=SYS_ADMIN,PERFMON"},
		     {"breakpoint", "regions by breakpoint", ""},
		     {"int3", "regions by int3", ""}};
	char *cost = strchr(line, '\t'), *why;

	if (!cost)
		return;
	*cost++ = '\0';
	why = strchr(cost, '\t');
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(known[i].backend, line) != 0)
			continue;
		if (why)
			finding_advise(findings_add(findings, known[i].name, FINDING_LIMITED, "%s", why + 1), "%s",
				       geteuid() == 0 ? "" : known[i].advice);
		else
			findings_add(findings, known[i].name, FINDING_GOOD, "works; a hit costs the program %.1f us",
				     strtod(cost, NULL) / 1e3);
	}
}

void
doctor_try_rights(struct findings *findings, const struct rot *rot)
{
	struct rlimit files;

	findings_section(findings, "Rights");
	look_at_process(findings);
	try_counters(findings, rot->architecture);
	if (try_ptrace(findings)) {
		autofree char *core = rot_format("%s/core/rot-core", rot->paths->built);
		const char *const argv[] = {core, "--try-backends", NULL};
		struct process_result result = {0};
		struct rot_error err;

		if (process_run(argv, NULL, &result, NULL, &err) == 0 && result.status == 0) {
			char *rest = result.output;

			for (char *line; (line = strsep(&rest, "\n"));)
				add_backend(findings, line);
		}
		process_result_clear(&result);
	}
	/* A group of events has as many descriptors as events, on every thread. */
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max >= 4096)
		return;
	finding_advise(findings_add(findings, "open files", FINDING_LIMITED,
				    "at most %llu: programs of many threads cannot be counted thread by thread",
				    (unsigned long long)files.rlim_max),
		       "ulimit -Hn 65536, as root");
}

/* ---- programs ---- */

static void
try_core(struct findings *findings, const struct rot *rot)
{
	static const char *const parts[] = {"core/rot-core", "core/rot-core.sha256", "core/librot-child.a"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		autofree char *path = rot_format("%s/%s", rot->paths->built, parts[i]);

		if (access(path, i == 0 ? X_OK : R_OK) < 0)
			finding_advise(findings_add(findings, "measuring core", FINDING_BROKEN, "'%s': %s", path,
						    strerror(errno)),
				       "make, or make install, again");
	}
}

/* ---- folders ---- */

#define CACHE_BYTES_WANTED (100.0 * 1024 * 1024)
#define CACHE_BYTES_NEEDED (4.0 * 1024 * 1024) /* a core is some of them while it is built */
#define RESULT_BYTES_NEEDED (1.0 * 1024 * 1024)

/* Infinite where that is not told. */
static double
free_bytes_in(const char *folder)
{
	struct statvfs space;

	if (statvfs(folder, &space) < 0 || space.f_blocks == 0)
		return INFINITY;
	return (double)space.f_bavail * (double)space.f_frsize;
}

static void
try_cache(struct findings *findings, const struct rot *rot)
{
	const double free_bytes = free_bytes_in(rot->paths->cache);

	if (free_bytes < CACHE_BYTES_WANTED)
		finding_advise(findings_add(findings, "cache",
					    free_bytes < CACHE_BYTES_NEEDED ? FINDING_BROKEN : FINDING_LIMITED,
					    "%s: only %.0f MiB are free%s", rot->paths->cache,
					    free_bytes / (1024 * 1024),
					    free_bytes < CACHE_BYTES_NEEDED ? ", and kernels cannot be built" : ""),
			       "make room, or -cacheFolder=FOLDER");
	else if (rot->paths->cache_is_temporary)
		finding_advise(findings_add(findings, "cache", FINDING_LIMITED,
					    "not writable: results are forgotten at the end of each rot"),
			       "-cacheFolder=FOLDER, or XDG_CACHE_HOME=FOLDER");
	else
		findings_add(findings, "cache", FINDING_GOOD, "%s: %.1f GiB are free", rot->paths->cache,
			     free_bytes / (1024.0 * 1024 * 1024));
}

void
doctor_try_tools(struct findings *findings, const struct rot *rot)
{
	struct rot_error err;

	doctor_try_programs(findings, rot->configuration);
	try_core(findings, rot);
	try_cache(findings, rot);

	/* the current folder */
	if (output_check("rot-doctor", &err) < 0)
		finding_advise(findings_add(findings, "results", FINDING_BROKEN, "%s", err.text), "%s", err.hint);
	else if (free_bytes_in(".") < RESULT_BYTES_NEEDED)
		finding_advise(findings_add(findings, "results", FINDING_BROKEN,
					    "only %.0f KiB are free where this folder is", free_bytes_in(".") / 1024),
			       "make room, or go to another folder");
}
