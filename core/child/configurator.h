/* SPDX-License-Identifier: MIT */
/* Configurators: hooks before and after the measurement and each of its runs. */
#pragma once

#include <stddef.h>

#include "entities.h"

enum configurator_scope {
	CONFIGURATOR_MEASUREMENT,
	CONFIGURATOR_RUN,
};

/*
 * The "before" hooks in list order. *nr_entered becomes the number of configurators whose hook succeeded: they are the
 * ones to leave, also after a failure.
 */
int configurators_enter(const struct measurement *measurement, enum configurator_scope scope, size_t *nr_entered,
			struct rot_error *err);

/* The "after" hooks of the first nr_entered configurators, in reverse; goes on after a failure and reports the first.
 */
int configurators_leave(const struct measurement *measurement, enum configurator_scope scope, size_t nr_entered,
			struct rot_error *err);
