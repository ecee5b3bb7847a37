/* SPDX-License-Identifier: MIT */
/*
 * On a machine whose events can be counted: the architecture's events, in the groups of the planner, count a loop of
 * known work right. Everywhere else: skipped, with the reason.
 */
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <sys/ioctl.h>

#include "architecture_files.h"
#include "engine/expression.h"
#include "machine/machine.h"
#include "quantities/plan.h"
#include "testing.h"

#define NR_ADDITIONS 1000000

static struct machine *machine;
static struct architecture *architecture;

/* Scalar double-precision additions: one flop each, and at least one instruction. */
static void
add_many(void)
{
	double sum = 0, one = 1;

	for (int i = 0; i < NR_ADDITIONS; i++)
		__asm__ volatile("addsd %1, %0" : "+x"(sum) : "x"(one));
}

static void
add_few(void)
{
	double sum = 0, one = 1;

	for (int i = 0; i < 100; i++)
		__asm__ volatile("addsd %1, %0" : "+x"(sum) : "x"(one));
}

/* A counter of the own thread in user mode; leader -1: a new group, disabled. */
static int
counter_open(const char *event, int leader)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t argument = {.attr = &attr, .size = sizeof(argument)};
	int rc, fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	rc = pfm_get_os_event_encoding(event, PFM_PLM3, PFM_OS_PERF_EVENT, &argument);
	ck_assert_msg(rc == PFM_SUCCESS, "%s: %s", event, pfm_strerror(rc));
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.disabled = leader < 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: perf_event_open: %m", event);
	return fd;
}

static void
group_close(const int *fds, size_t nr)
{
	for (size_t i = nr; i-- > 0;)
		close(fds[i]);
}

static void
scrub(void)
{
	int fds[PASS_MAX_EVENTS];
	size_t nr = (size_t)architecture->scrub_count;

	if (!*architecture->scrub_event)
		return;
	for (size_t i = 0; i < nr; i++)
		fds[i] = counter_open(architecture->scrub_event, i ? fds[0] : -1);
	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	add_few();
	ioctl(fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	group_close(fds, nr);
}

/* Counts the loop with the events of the pass; the counts become variables. */
static void
count_pass(const struct pass *pass, struct expression_scope *scope)
{
	int fds[PASS_MAX_EVENTS];

	scrub();
	for (size_t i = 0; i < pass->nr_events; i++)
		fds[i] = counter_open(architecture->events[pass->events[i]].definition, i ? fds[0] : -1);
	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	add_many();
	ioctl(fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	for (size_t i = 0; i < pass->nr_events; i++) {
		const char *name = architecture->events[pass->events[i]].name;
		uint64_t value[3];

		ck_assert_int_eq(read(fds[i], value, sizeof(value)), (int)sizeof(value));
		ck_assert_msg(value[1] == value[2] && value[2] > 0, "'%s' was multiplexed", name);
		if (architecture->counter_bits)
			value[0] &= (UINT64_C(1) << architecture->counter_bits) - 1;
		expression_scope_set_number(scope, name, (double)value[0]);
	}
	group_close(fds, pass->nr_events);
}

static double
count(const struct architecture_formula *formula)
{
	struct expression_scope *scope = expression_scope_new(NULL);
	struct pass_plan plan;
	double value;

	ck_assert_ok(pass_plan_make(&plan, architecture, &formula, 1, false, &why));
	for (size_t i = 0; i < plan.nr_passes; i++)
		count_pass(&plan.passes[i], scope);
	ck_assert_ok(expression_number(scope, formula->expression, &value, &why));
	pass_plan_clear(&plan);
	expression_scope_delete(scope);
	return value;
}

/* Programs that count on the same CPU meanwhile can disturb a count: it has to be right once. */
static void
check_count(const char *operation, double expected)
{
	const struct architecture_formula *formula = architecture_formula(architecture, "operationCount", operation);
	double counted = expected;

	for (int attempt = 0; formula && attempt < 5; attempt++) {
		counted = count(formula);
		if (counted == expected)
			return;
	}
	ck_assert_double_eq(counted, expected);
}

static const char *const flops[] = {"doublePrecisionFlop", "flop"};

TEST_OF(test_flops_of_known_loop, NR_ELEMENTS(flops))
{
	check_count(flops[_i], NR_ADDITIONS);
}

TEST(test_other_precision_counts_nothing)
{
	check_count("singlePrecisionFlop", 0);
}

TEST(test_instructions_of_known_loop)
{
	const struct architecture_formula *formula = architecture_formula(architecture, "instructions", "");
	double instructions;

	ck_assert_ptr_nonnull(formula);
	instructions = count(formula);
	ck_assert_double_ge(instructions, NR_ADDITIONS);
	ck_assert_double_le(instructions, 20.0 * NR_ADDITIONS);
}

/* The counters of a CPU are scrubbed where the loop runs. */
static void
stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static bool
can_count(void)
{
	if (machine_can_count(&why) && pfm_initialize() == PFM_SUCCESS)
		return true;
	fprintf(stderr, "SKIP: %s%s%s\n", why.text, why.hint[0] ? "; " : "", why.hint);
	return false;
}

static void
set_up(void)
{
	machine = machine_read("/", &why);
	ck_assert_msg(machine != NULL, "%s", why.text);
	architecture = architecture_load(architecture_folder(), machine, NULL, &why);
	ck_assert_msg(architecture != NULL, "%s", why.text);
	printf("architecture: %s\n", architecture->name);
	stay_on_this_cpu();
	at_end(rot_entity_delete, machine);
	at_end(architecture_delete, architecture);
}

UNIT_TESTS(.needs = {can_count}, .set_up = set_up);
