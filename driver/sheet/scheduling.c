/* SPDX-License-Identifier: MIT */
#include "sheet/scheduling.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "statistics/summary.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#define OBSERVED_NS UINT64_C(500000000)

/* Gaps beside another that are shorter are interrupts. */
#define LEAST_SLOT_NS 200000.0

/* Fewer slots say nothing of their length. */
#define LEAST_SLOTS 5

/* ---- what gaps say ---- */

static struct sheet_answer
answer_of(const char *name, const char *unit, double value, double low, double high)
{
	return (struct sheet_answer){
		.name = name, .unit = unit, .number = {value, low, high}, .told = NAN, .confidence = NAN};
}

static struct sheet_answer
slot_of(const struct scheduling_gaps *beside)
{
	autofree double *slots = rot_calloc(beside->nr + 1, sizeof(*slots));
	struct sheet_answer answer = answer_of("time slot of another", "ms", NAN, NAN, NAN);
	size_t nr = 0;

	for (size_t i = 0; i < beside->nr; i++)
		if ((double)beside->ns[i] >= LEAST_SLOT_NS)
			slots[nr++] = (double)beside->ns[i] / 1e6;
	if (nr < LEAST_SLOTS) {
		answer.remark = "cannot be told: the system gave the two processes different CPUs, or others had them";
		return answer;
	}
	answer.number = (struct sheet_number){
		.value = statistics_percentile(slots, nr, 50),
		.low = statistics_percentile(slots, nr, 25),
		.high = statistics_percentile(slots, nr, 75),
	};
	return answer;
}

void
scheduling_conclude(const struct scheduling_gaps *alone, const struct scheduling_gaps *beside,
		    struct sheet_answer answers[SCHEDULING_NR_ANSWERS])
{
	const double step = (double)alone->least_step_ns, rate = (double)alone->nr * 1e9 / (double)alone->observed_ns;
	double longest = 0;

	for (size_t i = 0; i < alone->nr; i++)
		longest = fmax(longest, (double)alone->ns[i] / 1e3);
	answers[SCHEDULING_RESOLUTION] = answer_of("least step of the clock", "ns", step, step, step);
	answers[SCHEDULING_INTERRUPTIONS] = answer_of("interruptions", "per second", rate, rate, rate);
	answers[SCHEDULING_LONGEST] = answer_of("longest of them", "us", longest, longest, longest);
	answers[SCHEDULING_SLOT] = slot_of(beside);
}

/* ---- measuring ---- */

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
look(struct scheduling_gaps *gaps)
{
	const uint64_t start = now_ns();
	uint64_t last = start;

	gaps->least_step_ns = UINT64_MAX;
	while (last - start < OBSERVED_NS && gaps->nr < NR(gaps->ns)) {
		const uint64_t now = now_ns(), gap = now - last;

		if (gap > 0 && gap < gaps->least_step_ns)
			gaps->least_step_ns = gap;
		if (gap > SCHEDULING_GAP_NS)
			gaps->ns[gaps->nr++] = gap;
		last = now;
	}
	gaps->observed_ns = last - start;
}

/* On the CPU alone, whatever the driver may use. It ends with the driver. */
static void
settle(int cpu, pid_t parent)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static pid_t
start(int cpu, struct scheduling_gaps *gaps)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	settle(cpu, parent);
	if (gaps)
		look(gaps);
	while (!gaps)
		now_ns();
	_exit(0);
}

static int
observe(int cpu, struct scheduling_gaps *gaps, bool is_beside, struct rot_error *err)
{
	const pid_t other = is_beside ? start(cpu, NULL) : 0, looking = other < 0 ? -1 : start(cpu, gaps);
	const int code = errno;
	int status = 0;

	if (looking > 0)
		while (waitpid(looking, &status, 0) < 0 && errno == EINTR)
			;
	if (other > 0) {
		kill(other, SIGKILL);
		while (waitpid(other, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (looking < 0)
		return rot_error_set(err, code, "cannot start a process that looks at the clock");
	if (status != 0)
		return rot_error_set(err, 0, "the process that looks at the clock was ended before it had looked");
	return 0;
}

int
scheduling_measure(int cpu, struct sheet_answer answers[SCHEDULING_NR_ANSWERS], struct rot_error *err)
{
	struct scheduling_gaps *gaps =
		mmap(NULL, 2 * sizeof(*gaps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (gaps == MAP_FAILED)
		return rot_error_set(err, errno, "cannot map memory for gaps of the clock");
	rc = observe(cpu, &gaps[0], false, err);
	if (rc == 0)
		rc = observe(cpu, &gaps[1], true, err);
	if (rc == 0)
		scheduling_conclude(&gaps[0], &gaps[1], answers);
	munmap(gaps, 2 * sizeof(*gaps));
	return rc;
}
