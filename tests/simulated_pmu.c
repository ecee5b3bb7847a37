/* SPDX-License-Identifier: MIT */
/*
 * A processor that is not there. Preloaded into rot and all it starts (LD_PRELOAD), it answers perf_event_open of raw
 * events as an AMD Zen 5 in a KVM guest does, with the traps that driver/architectures/zen5.xml names, and shows the
 * recorded machine of ROT_SIMULATED_MACHINE in place of /proc/cpuinfo, /sys/devices/system/cpu and
 * /sys/devices/cpu_core. Nothing else runs on
 * it: no thread is switched out, no time is stolen, whatever the real one does meanwhile.
 *
 * Behind each event is one of the real kernel, the task clock with the same attributes: what the kernel refuses is
 * refused, and times are its own. On other threads, and on those that are to be made, that is all: every event counts
 * the ns of the thread.
 *
 * On its own threads it does not see what is executed either. Each time a group counts, every event counts what the
 * table below says for n, the bufferSize in the command of the measuring core; if that command has a kernel of known
 * work (Arithmetic, Memory), what a sound processor counts of it. So it shows that groups, scrub, modulo, formulas and
 * taints work together; that the real events count what they are said to, only the real processor can show.
 *
 *	more than 6 events in a group		refused
 *	the 6th event				reads 0
 *	event 0x003 in a group that is not
 *	one of {P}, {P,P}, {P + 1 or 2 others}	the counts of the group are 32 times too large
 *	a group with 0x003 has counted on a
 *	CPU the thread may use, or nobody knows	the counts of every other group are 32 times too large, until 5 equal
 *						events that are measured nowhere have counted on that CPU; a group that
 *						grows while it counts is another group
 *	every 7th read				2^47 is added to the first value
 *	every 11th read				2^46 is added to the last value
 *
 * What counts in the kernel, or also in guests, is refused.
 *
 * On a recorded machine named intel-… it answers as a Skylake with its counters to itself: four, and one more for each
 *of the generic cycles, instructions and reference cycles; none of the traps.
 *
 * Events of the whole machine are those of the PMUs that ROT_SIMULATED_UNCORE shows in sys/bus/event_source/devices:
 * their units share what the kernels of all workloads, taken for alike, bring from memory and to it in 1 ms, as long as
 *each run takes, and each counts ROT_SIMULATED_OTHERS lines a ms more, also while the thread sleeps.
 *ROT_SIMULATED_PARANOID: they are refused.
 *
 * ROT_SIMULATED_LOG: a file that gets a line for each group read, each CPU that is cleared, and each trap.
 *ROT_SIMULATED_SCRUB=0: nothing clears the counters. ROT_SIMULATED_SWITCHES=1: every thread is switched out again and
 *again. ROT_SIMULATED_COUNTERS: there are fewer.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAX_FDS 1024
#define MAX_CPUS 1024
#define NOMINAL_COUNTERS 6
#define USABLE_COUNTERS 5
#define MAX_MEMBERS 32
#define INTEL_COUNTERS 4
#define MAX_LARGE 3
#define LARGE_EVENT 0x003
#define WRONG_FACTOR 32
#define REFERENCE_CYCLES 0x100000120 /* those of the processor the test runs on */

/* Counts per element of the kernel's buffers; a fifth of the operations is scalar. */
static const struct {
	uint64_t config;
	double per_element;
} truth[] = {
	{0x8f03, 0.4},
	{0xaf03, 1.6},
	{0x4f03, 0},
	{0x6f03, 0},
	{0x0f03, 2},
	{0x0076, 1},
	{0x00c0, 3},
	{0x10000de65, 24.0 / 64},
	{0x100004865, 20.0 / 64},
	{0x0465, 8.0 / 64},
	{0x2063, 0.02},
	{0x4063, 0.01},
	{0x0702, 0},
	{0xff44, 24.0 / 64},
	{0x0231, 8.0 / 64},
	{REFERENCE_CYCLES, 0},
	/* Intel */
	{0x01c7, 0.4},
	{0x02c7, 0},
	{0x03c7, 0.4},
	{0x04c7, 0.8},
	{0x08c7, 0},
	{0x10c7, 0},
	{0x18c7, 0},
	{0x20c7, 0},
	{0x40c7, 0},
	{0x60c7, 0},
	{0x80c7, 0},
	{0x0151, 24.0 / 64},
	{0x1ff1, 24.0 / 64},
	{0x02f2, 8.0 / 64},
	{0x412e, 20.0 / 64},
};

#define NR_TRUTHS (sizeof(truth) / sizeof(truth[0]))

struct event {
	uint64_t config;
	int leader;      /* descriptor; 0: not one of ours */
	bool is_foreign; /* left to the kernel */
	bool is_alone;   /* the kernel lets nobody count */
	bool has_own_counter;
	bool is_on;
	uint64_t count;
};

/* One counter of the machine. */
struct machine_counter {
	bool is_open;
	uint64_t config;
};

static struct machine_counter machine_counters[MAX_FDS];

/* Counts of it that a thread has seen: read before and after what it does. */
static _Thread_local struct {
	uint64_t nr_reads, lines, ns;
} machine_counts[MAX_FDS];
static _Thread_local uint64_t slept_ns; /* since counters of the machine were read */
static struct event events[MAX_FDS];
static int members[MAX_FDS][MAX_MEMBERS]; /* by leader, which is the first */
static int nr_members[MAX_FDS];
static uint64_t group_ids[MAX_FDS];   /* by leader */
static bool is_wrong[MAX_FDS];        /* by leader: since it was switched on */
static uint64_t start_ticks[MAX_FDS]; /* by leader: when it was switched on */
static uint64_t owners[MAX_CPUS];     /* 0: the counters are clean; UINT64_MAX: nobody knows */
static uint64_t nr_groups, nr_reads;
static _Thread_local long nr_switches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int (*real_ioctl)(int fd, unsigned long request, ...);
static ssize_t (*real_read)(int fd, void *bytes, size_t size);
static int (*real_close)(int fd);
static long (*real_syscall)(long number, ...);
static FILE *(*real_fopen)(const char *path, const char *mode);
static int (*real_open)(const char *path, int flags, ...);
static int (*real_getrusage)(int who, struct rusage *usage);
static DIR *(*real_opendir)(const char *path);
static int (*real_nanosleep)(const struct timespec *asked, struct timespec *left);

static void *
next_function(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Before main of the program; also before constructors that call what is replaced here. */
__attribute__((constructor)) static void
find_functions(void)
{
	if (real_fopen)
		return;
	*(void **)&real_ioctl = next_function("ioctl");
	*(void **)&real_read = next_function("read");
	*(void **)&real_close = next_function("close");
	*(void **)&real_syscall = next_function("syscall");
	*(void **)&real_open = next_function("open");
	*(void **)&real_getrusage = next_function("getrusage");
	*(void **)&real_opendir = next_function("opendir");
	*(void **)&real_nanosleep = next_function("nanosleep");
	*(void **)&real_fopen = next_function("fopen");
	memset(owners, 0xff, sizeof(owners));
}

__attribute__((format(printf, 1, 2))) static void
say(const char *format, ...)
{
	const char *path = getenv("ROT_SIMULATED_LOG");
	FILE *log = path ? real_fopen(path, "ae") : NULL;
	va_list arguments;

	if (!log)
		return;
	va_start(arguments, format);
	vfprintf(log, format, arguments);
	va_end(arguments);
	fclose(log);
}

/* ---- the machine ---- */

#define PMU_FOLDER "sys/bus/event_source/"

static bool
is_of_pmus(const char *path)
{
	return strncmp(path + strspn(path, "/"), PMU_FOLDER, strlen(PMU_FOLDER)) == 0;
}

/* Where the recorded machine shows its PMUs. */
static const char *
pmu_root(void)
{
	return getenv("ROT_SIMULATED_UNCORE") ? getenv("ROT_SIMULATED_UNCORE") : getenv("ROT_SIMULATED_MACHINE");
}

DIR *
opendir(const char *path)
{
	char recorded[4096];

	find_functions();
	if (!pmu_root() || !is_of_pmus(path))
		return real_opendir(path);
	snprintf(recorded, sizeof(recorded), "%s/%s", pmu_root(), path + strspn(path, "/"));
	return real_opendir(recorded);
}

int
nanosleep(const struct timespec *asked, struct timespec *left)
{
	find_functions();
	slept_ns += (uint64_t)asked->tv_sec * 1000000000 + (uint64_t)asked->tv_nsec;
	return real_nanosleep(asked, left);
}

FILE *
fopen(const char *path, const char *mode)
{
	const char *machine = getenv("ROT_SIMULATED_MACHINE"), *name = path + strspn(path, "/");
	char recorded[4096];

	find_functions();
	if (pmu_root() && is_of_pmus(path)) {
		snprintf(recorded, sizeof(recorded), "%s/%s", pmu_root(), name);
		return real_fopen(recorded, mode);
	}
	if (!machine || (strcmp(name, "proc/cpuinfo") != 0 && strncmp(name, "sys/devices/system/cpu/", 23) != 0 &&
			 strncmp(name, "sys/devices/cpu_", 16) != 0))
		return real_fopen(path, mode);
	snprintf(recorded, sizeof(recorded), "%s/%s", machine, name);
	return real_fopen(recorded, mode);
}

/* Stolen time is in /proc/stat, which this machine does not have. */
int
open(const char *path, int flags, ...)
{
	va_list list;
	unsigned mode = 0;

	find_functions();
	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(list, flags);
		mode = va_arg(list, unsigned);
		va_end(list);
	}
	if (getenv("ROT_SIMULATED_MACHINE") && strcmp(path, "/proc/stat") == 0) {
		errno = ENOENT;
		return -1;
	}
	return real_open(path, flags, mode);
}

int
getrusage(__rusage_who_t who, struct rusage *usage)
{
	int rc;

	find_functions();
	rc = real_getrusage((int)who, usage);
	if (rc == 0 && getenv("ROT_SIMULATED_MACHINE"))
		usage->ru_nivcsw = usage->ru_majflt = 0;
	if (rc == 0 && getenv("ROT_SIMULATED_SWITCHES"))
		usage->ru_nivcsw = ++nr_switches;
	return rc;
}

/* ---- kernels of known work ---- */

struct field {
	char name[64], value[64];
};

/* The kernel in the command of this process: its class and the fields that follow. */
struct kernel {
	bool is_read;
	char class[64];
	struct field fields[64];
	size_t nr_fields;
};

static FILE *
open_command(void)
{
	char arguments[4096] = "";
	FILE *file = real_fopen("/proc/self/cmdline", "re");
	size_t bytes = file ? fread(arguments, 1, sizeof(arguments) - 1, file) : 0;
	const char *at = arguments;

	if (file)
		fclose(file);
	while (at < arguments + bytes && strcmp(at, "--command") != 0)
		at += strlen(at) + 1;
	return at < arguments + bytes ? real_fopen(at + strlen(at) + 1, "re") : NULL;
}

static const struct kernel *
known_kernel(void)
{
	static struct kernel kernel;
	char line[4096], value[4096];
	FILE *file;

	if (kernel.is_read)
		return &kernel;
	kernel.is_read = true;
	file = open_command();
	while (file && kernel.nr_fields < 64 && fgets(line, sizeof(line), file)) {
		struct field *field = &kernel.fields[kernel.nr_fields];

		line[strcspn(line, "\n")] = '\0';
		if (!kernel.class[0]) {
			if (strcmp(line, "Arithmetic") == 0 || strcmp(line, "Memory") == 0)
				strcpy(kernel.class, line);
			continue;
		}
		if (!fgets(value, sizeof(value), file))
			break;
		value[strcspn(value, "\n")] = '\0';
		snprintf(field->name, sizeof(field->name), "%.63s", line);
		snprintf(field->value, sizeof(field->value), "%.63s", value);
		kernel.nr_fields++;
	}
	if (file)
		fclose(file);
	return &kernel;
}

static const char *
text_field(const char *name)
{
	const struct kernel *kernel = known_kernel();

	for (size_t i = 0; i < kernel->nr_fields; i++)
		if (strcmp(kernel->fields[i].name, name) == 0)
			return kernel->fields[i].value;
	return "";
}

static double
number_field(const char *name)
{
	return strtod(text_field(name), NULL);
}

static bool
has_field(const char *name, const char *value)
{
	return strcmp(text_field(name), value) == 0;
}

/* Instructions of the widths and precisions that the mask names; one that fuses counts twice. */
static double
intel_arithmetic(unsigned mask, double steps)
{
	static const char *const sets[] = {"SCALAR", "SSE", "AVX2", "AVX512"};

	for (unsigned i = 0; i < 8; i++) {
		if (mask >> i & 1 && has_field("instructionSet", sets[i / 2]) &&
		    has_field("precision", i % 2 ? "FLOAT" : "DOUBLE"))
			return steps * (has_field("operation", "FMA") ? 2 : 1);
	}
	return 0;
}

/* Cycles of a chain of integers, else of nothing in particular. */
static double
arithmetic_cycles(double steps)
{
	if (number_field("dlp") == 1 && strncmp(text_field("precision"), "INT", 3) == 0)
		return steps * (has_field("operation", "MUL") ? 3 : 1);
	return steps * 1.1;
}

/* Instructions, and flops in the order: scalar double, packed double, scalar single, packed single, x87. */
static double
arithmetic_count(uint64_t config)
{
	static const struct {
		const char *name;
		int bits;
	} sets[] = {{"SCALAR", 0}, {"SSE", 128}, {"AVX2", 256}, {"AVX512", 512}};
	const double steps = number_field("iterations") * number_field("unroll") * number_field("dlp");
	const bool is_float = has_field("precision", "FLOAT"), is_double = has_field("precision", "DOUBLE");
	const bool is_x87 = has_field("instructionSet", "X87");
	double flops = steps * (has_field("operation", "FMA") ? 2 : 1);
	bool is_packed = false;

	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		if (has_field("instructionSet", sets[i].name) && sets[i].bits) {
			is_packed = true;
			flops *= sets[i].bits / (is_float ? 32 : 64);
		}
	}
	if ((config & 0xff) == 0xc7)
		return intel_arithmetic((unsigned)(config >> 8), steps);
	switch (config) {
	case 0x0702:
		return is_x87 ? flops : 0;
	case 0x0f03:
		return is_x87 || !(is_float || is_double) ? 0 : flops;
	case 0x8f03:
		return !is_x87 && !is_packed && is_double ? flops : 0;
	case 0xaf03:
		return is_packed && is_double ? flops : 0;
	case 0x4f03:
		return !is_x87 && !is_packed && is_float ? flops : 0;
	case 0x6f03:
		return is_packed && is_float ? flops : 0;
	case 0x00c0:
		return steps + 2 * number_field("iterations");
	case 0x0076:
		return arithmetic_cycles(steps);
	default:
		return 0;
	}
}

#define L1_BYTES 49152.0
#define L2_BYTES 1048576.0
#define L3_BYTES 33554432.0

static bool
begins(const char *name, const char *with)
{
	return strncmp(text_field(name), with, strlen(with)) == 0;
}

/* Bytes that come into the cache from below: what fits comes once, or never if it is warm. */
static double
bytes_into(double cache)
{
	const double bytes = number_field("bufferSize"), passes = number_field("iterations");
	const bool is_warm = has_field("warmData", "true");

	if (has_field("operation", "WRITE_NT"))
		return 0;
	if (begins("operation", "RANDOM")) /* and a prefetcher brings some more */
		return bytes > cache ? 1.04 * passes * (bytes - cache) : is_warm ? 0 : bytes;
	return bytes * (bytes > cache ? passes : !is_warm);
}

/* The share of the buffer that is written to. */
static double
stored_share(void)
{
	static const struct {
		const char *operation;
		double share;
	} stored[] = {{"WRITE", 1}, {"WRITE_NT", 1}, {"UPDATE", 1}, {"COPY", 1 / 2.0}, {"TRIAD", 1 / 3.0}};

	for (size_t i = 0; i < sizeof(stored) / sizeof(*stored); i++)
		if (has_field("operation", stored[i].operation))
			return stored[i].share;
	return 0;
}

/* Dirty ones that leave it; as much as fits stays in it at the end. */
static double
bytes_out_of(double cache)
{
	const double bytes = number_field("bufferSize"), passes = number_field("iterations");

	if (has_field("operation", "WRITE_NT") || bytes <= cache)
		return 0;
	return (bytes * passes - cache) * stored_share();
}

static double
memory_count(uint64_t config)
{
	const double walked = number_field("bufferSize") * number_field("iterations");
	const bool is_past_caches = has_field("operation", "WRITE_NT");

	switch (config) {
	case 0x10000de65:
	case 0x1ff1:
		return bytes_into(L2_BYTES) / 64;
	case 0x100004865:
	case 0x412e:
		return bytes_into(L3_BYTES) / 64;
	case 0x0465:
	case 0x02f2:
		return bytes_out_of(L2_BYTES) / 64;
	case 0x2063:
		return is_past_caches ? walked / 64 : 0;
	case 0xff44:
	case 0x0151:
		return bytes_into(L1_BYTES) / 64;
	case 0x0231:
		return is_past_caches ? 0 : walked * stored_share() / 64;
	case 0xaf03:
	case 0x0f03:
		return has_field("operation", "TRIAD") ? walked / 12 : 0;
	case 0x04c7:
		return has_field("operation", "TRIAD") ? walked / 24 : 0;
	case 0x00c0:
	case 0x0076:
		return walked / 16;
	default:
		return 0;
	}
}

/* ---- counting ---- */

/* The elements of the kernel's buffers, from the command in the arguments of this process; 0 if there is none. */
static uint64_t
nr_elements(void)
{
	char line[4096];
	uint64_t nr = 0;
	FILE *file = open_command();

	while (file && nr == 0 && fgets(line, sizeof(line), file)) {
		if (strcmp(line, "bufferSize\n") == 0 && fgets(line, sizeof(line), file))
			nr = strtoull(line, NULL, 10);
	}
	if (file)
		fclose(file);
	return nr;
}

static bool
is_large(uint64_t config)
{
	return (config & 0xff) == LARGE_EVENT && config >> 32 == 0;
}

static const double *
truth_of(uint64_t config)
{
	for (size_t i = 0; i < NR_TRUTHS; i++) {
		if (truth[i].config == config)
			return &truth[i].per_element;
	}
	return NULL;
}

/* The count of the event for the kernel's work; false for junk. */
static bool
count_of_work(uint64_t config, double *count)
{
	const char *class = known_kernel()->class;
	const double *per_element = truth_of(config);

	if (!class[0])
		*count = per_element ? *per_element * (double)nr_elements() : 0;
	else
		*count = strcmp(class, "Memory") == 0 ? memory_count(config) : arithmetic_count(config);
	return per_element != NULL;
}

/* The events of the group that count now, and how many of them are large. */
static int
count_on(int leader, int *nr_large)
{
	int nr = 0;

	*nr_large = 0;
	for (int i = 0; i < nr_members[leader]; i++) {
		const struct event *event = &events[members[leader][i]];

		nr += event->is_on;
		*nr_large += event->is_on && is_large(event->config);
	}
	return nr;
}

/* Five or more equal events that are not in the table. */
static bool
is_scrub(int leader)
{
	const uint64_t config = events[leader].config;

	for (int i = 0; i < nr_members[leader]; i++) {
		if (events[members[leader][i]].config != config)
			return false;
	}
	return nr_members[leader] >= USABLE_COUNTERS && !truth_of(config);
}

static bool
is_poisoned(uint64_t owner)
{
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && cpu < MAX_CPUS; cpu++) {
		if (CPU_ISSET(cpu, &allowed) && owners[cpu] != 0 && owners[cpu] != owner)
			return true;
	}
	return false;
}

static bool
is_intel(void)
{
	const char *machine = getenv("ROT_SIMULATED_MACHINE");

	return machine && strstr(machine, "/intel-");
}

static int
nr_counters(void)
{
	const char *counters = getenv("ROT_SIMULATED_COUNTERS");

	return counters ? atoi(counters) : is_intel() ? INTEL_COUNTERS : NOMINAL_COUNTERS;
}

/* Another set of events of the group begins to count on this CPU. */
static void
schedule(int leader)
{
	int nr_large, nr = count_on(leader, &nr_large), cpu = sched_getcpu();
	const uint64_t owner = group_ids[leader] << 8 | (uint64_t)nr;
	const char *scrub = getenv("ROT_SIMULATED_SCRUB");

	if (is_intel())
		return;
	if (is_scrub(leader)) {
		say("scrub: CPU %d\n", cpu);
		if (nr >= USABLE_COUNTERS && !(scrub && strcmp(scrub, "0") == 0))
			owners[cpu] = 0;
		return;
	}
	if (nr_large && !(nr_large == 2 && nr == 2) && !(nr_large == 1 && nr <= 3)) {
		is_wrong[leader] = true;
		say("trap: %d large of %d events\n", nr_large, nr);
	}
	if (is_poisoned(owner)) {
		is_wrong[leader] = true;
		say("trap: poisoned counters for a group of %d events\n", nr);
	}
	if (nr_large)
		owners[cpu] = owner;
}

static void
switch_on(int fd)
{
	const int leader = events[fd].leader;

	if (events[fd].is_on)
		return;
	events[fd].is_on = true;
	if (fd == leader) {
		is_wrong[leader] = false;
		start_ticks[leader] = __rdtsc();
	}
	if (events[leader].is_on)
		schedule(leader);
}

/* Gives each event that counted its part of the work. */
static void
switch_off(int fd)
{
	const int leader = events[fd].leader;

	if (!events[fd].is_on)
		return;
	for (int i = 0; fd == leader && i < nr_members[leader]; i++) {
		struct event *event = &events[members[leader][i]];
		double count;

		if (i >= USABLE_COUNTERS && !is_intel())
			say("trap: event %d of a group\n", i + 1);
		else if (event->is_on && event->config == REFERENCE_CYCLES)
			event->count += __rdtsc() - start_ticks[leader];
		else if (event->is_on && count_of_work(event->config, &count))
			event->count += (uint64_t)(count + 0.5) * (is_wrong[leader] ? WRONG_FACTOR : 1);
	}
	events[fd].is_on = false;
}

static void
reset(int fd)
{
	events[fd].count = 0;
}

/* ---- system calls ---- */

static int
refuse(int reason)
{
	errno = reason;
	return -1;
}

/* ---- the whole machine ---- */

static bool
writes_to_memory(uint64_t config)
{
	static const uint64_t writes[] = {0x0c04, 0x02, 0x30ff, 0x020a}; /* uncore_imc, ..., amd_umc */

	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++)
		if (writes[i] == config)
			return true;
	return false;
}

/* The kernels of all workloads of a measurement; those of a command are alike. */
static int
nr_kernels(void)
{
	const char *class = known_kernel()->class;
	static int nr, nr_measurements;
	char line[4096];
	FILE *file = nr ? NULL : open_command();

	while (file && *class && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		nr += strcmp(line, class) == 0;
		nr_measurements += strcmp(line, "Measurement") == 0;
	}
	if (file)
		fclose(file);
	return nr_measurements && nr > nr_measurements ? nr / nr_measurements : 1;
}

/* Both directions of one of eight channels (amd_df), or one direction. */
static double
lines_of_machine(uint64_t config)
{
	const bool is_memory = strcmp(known_kernel()->class, "Memory") == 0;
	double reads = 0, writes = 0;

	count_of_work(0x412e, &reads);
	count_of_work(0x02f2, &writes);
	if (is_memory)
		writes = (bytes_out_of(L3_BYTES) + (has_field("operation", "WRITE_NT")
							    ? number_field("bufferSize") * number_field("iterations")
							    : 0)) /
			 64;
	if ((config & 0xff3f) == 0x3807)
		return nr_kernels() * (reads + writes) / 8;
	return nr_kernels() * (writes_to_memory(config) ? writes : reads);
}

static int
open_machine_counter(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	const struct perf_event_attr plain = {
		.type = attr->type, .size = attr->size, .config = attr->config, .read_format = attr->read_format};
	int fd;

	if (tid != -1 || memcmp(&plain, attr, sizeof(plain)) != 0)
		return refuse(EINVAL);
	if (getenv("ROT_SIMULATED_PARANOID"))
		return refuse(EACCES);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0 || fd >= MAX_FDS)
		return refuse(EMFILE);
	machine_counters[fd] = (struct machine_counter){.is_open = true, .config = attr->config};
	say("machine: type %u config 0x%llx CPU %d\n", attr->type, (unsigned long long)attr->config, cpu);
	return fd;
}

/* The second of two reads ends what was counted. */
static ssize_t
read_machine_counter(int fd, uint64_t *data, size_t size)
{
	const uint64_t config = machine_counters[fd].config;
	const char *others = getenv("ROT_SIMULATED_OTHERS");
	const uint64_t ns = slept_ns ? slept_ns : 1000000;
	uint64_t nr_units = 0;

	if (size != 3 * sizeof(*data))
		return refuse(ENOSPC);
	for (int i = 0; i < MAX_FDS; i++)
		nr_units += machine_counters[i].is_open && machine_counters[i].config == config;
	if (machine_counts[fd].nr_reads++ % 2 == 0) {
		slept_ns = 0;
	} else {
		machine_counts[fd].ns += ns;
		machine_counts[fd].lines += (others ? strtoull(others, NULL, 10) : 0) * ns / 1000000;
		if (!slept_ns)
			machine_counts[fd].lines += (uint64_t)(lines_of_machine(config) / (double)nr_units + 0.5);
	}
	data[0] = machine_counts[fd].lines;
	data[1] = data[2] = machine_counts[fd].ns;
	return (ssize_t)size;
}

/* Generic events as those of the table; 0: the processor has no such event. */
static uint64_t
config_of(const struct perf_event_attr *attr)
{
	static const uint64_t generic[] = {[PERF_COUNT_HW_CPU_CYCLES] = 0x0076,
					   [PERF_COUNT_HW_INSTRUCTIONS] = 0x00c0,
					   [PERF_COUNT_HW_CACHE_REFERENCES] = 0xff60,
					   [PERF_COUNT_HW_CACHE_MISSES] = 0x0964,
					   [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x00c2,
					   [PERF_COUNT_HW_BRANCH_MISSES] = 0x00c3,
					   [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x00a9,
					   [PERF_COUNT_HW_REF_CPU_CYCLES] = REFERENCE_CYCLES};

	if (attr->type == PERF_TYPE_RAW)
		return attr->config;
	return attr->config < sizeof(generic) / sizeof(*generic) ? generic[attr->config] : 0;
}

/* Has it one that no other event of the group has? */
static bool
has_own_counter(const struct perf_event_attr *attr, uint64_t config, int leader)
{
	for (int i = 0; leader >= 0 && i < nr_members[leader]; i++) {
		const struct event *event = &events[members[leader][i]];

		if (event->has_own_counter && event->config == config)
			return false;
	}
	return is_intel() && attr->type == PERF_TYPE_HARDWARE;
}

/* So many of the counters that any event may have are taken by the group. */
static int
nr_taken(int leader)
{
	int nr = 0;

	for (int i = 0; leader >= 0 && i < nr_members[leader]; i++)
		nr += !events[members[leader][i]].has_own_counter;
	return nr;
}

/* The event of the kernel that stands behind it. */
static int
open_behind(const struct perf_event_attr *attr, pid_t tid, int cpu, int leader, unsigned long flags)
{
	struct perf_event_attr behind = *attr;

	behind.type = PERF_TYPE_SOFTWARE;
	behind.config = PERF_COUNT_SW_TASK_CLOCK;
	return (int)real_syscall(SYS_perf_event_open, &behind, tid, cpu, leader, flags);
}

static bool
is_forbidden(int error)
{
	return error == EACCES || error == EPERM || error == ENOSYS;
}

static int
open_event(const struct perf_event_attr *attr, pid_t tid, int cpu, int leader, unsigned long flags)
{
	const uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	const bool is_foreign = tid != 0 || attr->inherit;
	const uint64_t config = config_of(attr);
	const bool is_fixed = has_own_counter(attr, config, leader);
	int nr_large = is_large(config), fd;
	bool is_alone = false;

	if (config == 0)
		return refuse(ENOENT);
	if (!attr->exclude_kernel)
		return refuse(EACCES);
	if (!attr->exclude_guest || cpu != -1 || attr->pinned || attr->exclude_user || attr->precise_ip ||
	    attr->sample_period)
		return refuse(EOPNOTSUPP);
	if (!is_foreign && attr->type == PERF_TYPE_RAW && attr->read_format != format)
		return refuse(EINVAL);
	for (int i = 0; leader >= 0 && i < nr_members[leader]; i++)
		nr_large += is_large(events[members[leader][i]].config);
	if (nr_large > MAX_LARGE || nr_taken(leader) + !is_fixed > nr_counters() ||
	    (leader >= 0 && nr_members[leader] == MAX_MEMBERS))
		return refuse(EINVAL);
	fd = open_behind(attr, tid, cpu, leader, flags);
	if (fd < 0 && !is_foreign && is_forbidden(errno)) {
		is_alone = true;
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		return -1;
	if (fd >= MAX_FDS) {
		real_close(fd);
		return refuse(EMFILE);
	}
	if (leader < 0) {
		leader = fd;
		nr_members[fd] = 0;
		group_ids[fd] = ++nr_groups;
	}
	events[fd] = (struct event){.config = config,
				    .leader = leader,
				    .is_foreign = is_foreign,
				    .is_alone = is_alone,
				    .has_own_counter = is_fixed,
				    .is_on = !attr->disabled};
	members[leader][nr_members[leader]++] = fd;
	return fd;
}

long
syscall(long number, ...)
{
	long arguments[6];
	va_list list;
	const struct perf_event_attr *attr;
	long result;

	find_functions();
	va_start(list, number);
	for (size_t i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	attr = (const struct perf_event_attr *)arguments[0];
	if (number == SYS_perf_event_open && getenv("ROT_SIMULATED_UNCORE") && attr->type >= PERF_TYPE_MAX) {
		pthread_mutex_lock(&lock);
		result = open_machine_counter(attr, (pid_t)arguments[1], (int)arguments[2]);
		pthread_mutex_unlock(&lock);
		return result;
	}
	if (number != SYS_perf_event_open || (attr->type != PERF_TYPE_RAW && attr->type != PERF_TYPE_HARDWARE))
		return real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
				    arguments[5]);
	pthread_mutex_lock(&lock);
	result = open_event(attr, (pid_t)arguments[1], (int)arguments[2], (int)arguments[3],
			    (unsigned long)arguments[4]);
	pthread_mutex_unlock(&lock);
	return result;
}

static bool
is_ours(int fd)
{
	return fd > 0 && fd < MAX_FDS && events[fd].leader > 0 && !events[fd].is_foreign;
}

static bool
is_alone(int fd)
{
	return is_ours(fd) && events[fd].is_alone;
}

int
ioctl(int fd, unsigned long request, ...)
{
	void (*change)(int fd) = NULL;
	va_list list;
	long argument;
	int rc;

	va_start(list, request);
	argument = va_arg(list, long);
	va_end(list);
	find_functions();
	rc = is_alone(fd) ? 0 : real_ioctl(fd, request, argument);
	if (rc < 0 || !is_ours(fd))
		return rc;
	if (request == PERF_EVENT_IOC_ENABLE)
		change = switch_on;
	else if (request == PERF_EVENT_IOC_DISABLE)
		change = switch_off;
	else if (request == PERF_EVENT_IOC_RESET)
		change = reset;
	if (!change)
		return refuse(ENOTTY);
	pthread_mutex_lock(&lock);
	if (!(argument & PERF_IOC_FLAG_GROUP))
		change(fd);
	for (int i = 0, leader = events[fd].leader; argument & PERF_IOC_FLAG_GROUP && i < nr_members[leader]; i++)
		change(members[leader][i]);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* The kernel would read this: the number of events, and for how long they counted. */
static ssize_t
read_alone(int fd, uint64_t *data, size_t size)
{
	const size_t nr_bytes = (3 + (size_t)nr_members[fd]) * sizeof(*data);

	if (size < nr_bytes)
		return refuse(ENOSPC);
	data[0] = (uint64_t)nr_members[fd];
	data[1] = data[2] = 1000;
	return (ssize_t)nr_bytes;
}

/* The kernel reads, and our counts replace its own. */
ssize_t
read(int fd, void *bytes, size_t size)
{
	uint64_t *data = bytes;
	ssize_t nr_bytes;
	size_t nr;

	find_functions();
	if (fd > 0 && fd < MAX_FDS && machine_counters[fd].is_open) {
		pthread_mutex_lock(&lock);
		nr_bytes = read_machine_counter(fd, data, size);
		pthread_mutex_unlock(&lock);
		return nr_bytes;
	}
	nr_bytes = is_alone(fd) ? read_alone(fd, data, size) : real_read(fd, bytes, size);
	if (!is_ours(fd) || nr_bytes < 0)
		return nr_bytes;
	pthread_mutex_lock(&lock);
	nr = (size_t)nr_members[fd];
	say("read:");
	for (size_t i = 0; i < nr; i++) {
		data[3 + i] = events[members[fd][i]].count;
		say(" %llx", (unsigned long long)events[members[fd][i]].config);
	}
	say("\n");
	nr_reads++;
	if (nr_reads % 7 == 0 && !is_intel())
		data[3] += UINT64_C(1) << 47;
	if (nr_reads % 11 == 0 && !is_intel())
		data[3 + nr - 1] += UINT64_C(1) << 46;
	pthread_mutex_unlock(&lock);
	return nr_bytes;
}

int
close(int fd)
{
	if (fd > 0 && fd < MAX_FDS) {
		events[fd] = (struct event){.leader = 0};
		machine_counters[fd] = (struct machine_counter){.is_open = false};
	}
	find_functions();
	return real_close(fd);
}
