/* SPDX-License-Identifier: MIT */
/* See outbox.h. */
#include "parent/supervisor/outbox.h"

#include <errno.h>
#include <stdlib.h>

#include "memory.h"

void
outbox_add(struct outbox *outbox, const struct wire_message *message)
{
	if (outbox->end == outbox->room) {
		outbox->room = outbox->room ? 2 * outbox->room : 64;
		outbox->messages = rot_realloc(outbox->messages, outbox->room, sizeof(*outbox->messages));
	}
	outbox->messages[outbox->end++] = *message;
}

void
outbox_flush(struct outbox *outbox, int wire)
{
	while (!outbox_is_empty(outbox) && wire_send(wire, &outbox->messages[outbox->first], false) == 0)
		outbox->first++;
	if (outbox_is_empty(outbox) || errno != EAGAIN)
		outbox->first = outbox->end = 0;
}

bool
outbox_is_empty(const struct outbox *outbox)
{
	return outbox->first == outbox->end;
}

void
outbox_clear(struct outbox *outbox)
{
	free(outbox->messages);
	*outbox = (struct outbox){0};
}
