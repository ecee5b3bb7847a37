/* SPDX-License-Identifier: MIT */
/* rot list: what is asked for and where it goes; and rot list events. */
#ifndef COMMANDS_LIST_EVENTS_H
#define COMMANDS_LIST_EVENTS_H

#include <jansson.h>

#include "commands/command.h"

struct listing {
	const char *part; /* of names, in any case of letters; "": all */
	json_t *items;    /* what is listed, as objects; NULL: it is printed for people */
	size_t nr;        /* of what is listed */
};

/* Prints the units of this machine with those events, or adds the events to the items. */
int list_events(struct command_context *context, struct listing *listing, struct rot_error *err);

#endif
