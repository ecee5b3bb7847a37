/* SPDX-License-Identifier: MIT */
/* See configurator.h. */
#include "child/configurator.h"

#include <errno.h>
#include <time.h>

#include "child/command_line.h"
#include "child/journal.h"

enum hook {
	BEFORE_MEASUREMENT,
	AFTER_MEASUREMENT,
	BEFORE_RUN,
	AFTER_RUN,
};

static const char *const hook_names[] = {
	[BEFORE_MEASUREMENT] = "configurator beforeMeasurement",
	[AFTER_MEASUREMENT] = "configurator afterMeasurement",
	[BEFORE_RUN] = "configurator beforeRun",
	[AFTER_RUN] = "configurator afterRun",
};

static int
call_run_command(const void *configurator, enum hook hook, struct rot_error *err)
{
	const struct run_command_configurator *own = configurator;
	const struct rot_list *const lists[] = {
		[BEFORE_MEASUREMENT] = &own->before_measurement,
		[AFTER_MEASUREMENT] = &own->after_measurement,
		[BEFORE_RUN] = &own->before_run,
		[AFTER_RUN] = &own->after_run,
	};
	struct run_command *const *commands = lists[hook]->items;

	for (size_t i = 0; i < lists[hook]->nr; i++) {
		if (command_line_run(commands[i], err) < 0)
			return -1;
	}
	return 0;
}

static int
call_sleep(const void *configurator, enum hook hook, struct rot_error *err)
{
	const struct sleep_configurator *own = configurator;
	const int32_t ms[] = {
		[BEFORE_MEASUREMENT] = own->before_measurement,
		[AFTER_MEASUREMENT] = own->after_measurement,
		[BEFORE_RUN] = own->before_run,
		[AFTER_RUN] = own->after_run,
	};
	struct timespec left = {.tv_sec = ms[hook] / 1000, .tv_nsec = ms[hook] % 1000 * 1000000L};

	if (ms[hook] < 0)
		return rot_error_set(err, 0, "cannot sleep for %d ms", ms[hook]);
	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
	return 0;
}

static const struct {
	const struct rot_class *class;
	int (*call)(const void *configurator, enum hook hook, struct rot_error *err);
} types[] = {
	{&run_command_configurator_class, call_run_command},
	{&sleep_configurator_class, call_sleep},
};

static int
call(const struct configurator_base *configurator, enum hook hook, struct rot_error *err)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!rot_is_a(configurator, types[i].class))
			continue;
		journal_add(hook_names[hook], -1);
		return types[i].call(configurator, hook, err);
	}
	return rot_error_set(err, 0, "cannot use a configurator of class %s: the core has none",
			     configurator ? configurator->entity.class->name : "<null>");
}

int
configurators_enter(const struct measurement *measurement, enum configurator_scope scope, size_t *nr_entered,
		    struct rot_error *err)
{
	size_t nr = measurement_nr_configurators(measurement);

	for (*nr_entered = 0; *nr_entered < nr; ++*nr_entered) {
		if (call(measurement_configurators_at(measurement, *nr_entered),
			 scope == CONFIGURATOR_RUN ? BEFORE_RUN : BEFORE_MEASUREMENT, err) < 0)
			return -1;
	}
	return 0;
}

int
configurators_leave(const struct measurement *measurement, enum configurator_scope scope, size_t nr_entered,
		    struct rot_error *err)
{
	struct rot_error later;
	int rc = 0;

	for (size_t i = nr_entered; i-- > 0;) {
		if (call(measurement_configurators_at(measurement, i),
			 scope == CONFIGURATOR_RUN ? AFTER_RUN : AFTER_MEASUREMENT, rc < 0 ? &later : err) < 0)
			rc = -1;
	}
	return rc;
}
