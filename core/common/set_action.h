/* SPDX-License-Identifier: MIT */
/* The layout that the five actions on measurer sets have in common. */
#pragma once

#include <stddef.h>

#include "entities.h"

struct set_action {
	struct action_base base;
	struct measurer_set *measurer_set;
};

#define SAME_LAYOUT(type)                                                                                              \
	_Static_assert(sizeof(struct type) == sizeof(struct set_action) &&                                             \
			       offsetof(struct type, measurer_set) == offsetof(struct set_action, measurer_set),       \
		       #type)

SAME_LAYOUT(initialize_measurer_set_action);
SAME_LAYOUT(start_measurer_set_action);
SAME_LAYOUT(stop_measurer_set_action);
SAME_LAYOUT(read_measurer_set_action);
SAME_LAYOUT(dispose_measurer_set_action);

#undef SAME_LAYOUT
