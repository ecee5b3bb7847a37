/* SPDX-License-Identifier: MIT */
/* Messages to the child that wait for room on the wire, so that the parent never does. */
#ifndef CORE_PARENT_SUPERVISOR_OUTBOX_H
#define CORE_PARENT_SUPERVISOR_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "common/wire.h"

/* Zeroed: empty. */
struct outbox {
	struct wire_message *messages;
	size_t first, end, room; /* waiting are [first, end) */
};

void outbox_add(struct outbox *outbox, const struct wire_message *message);

/* Sends what the wire takes, in order. A child that is gone reads nothing: everything is dropped then. */
void outbox_flush(struct outbox *outbox, int wire);

bool outbox_is_empty(const struct outbox *outbox);

void outbox_clear(struct outbox *outbox);

#endif
