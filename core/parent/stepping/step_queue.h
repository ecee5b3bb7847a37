/* SPDX-License-Identifier: MIT */
/* Whose turn it is to be stepped. Threads of one process take turns; those of another wait until there are none. */
#ifndef CORE_PARENT_STEPPING_STEP_QUEUE_H
#define CORE_PARENT_STEPPING_STEP_QUEUE_H

#include "parent/stepping/stepped.h"

/*
 * Zeroed: empty. first: has its turn; those behind it wait, stopped. later: of other processes. nr_active: in the
 * queue, or away, all of process pid.
 */
struct step_queue {
	struct stepped *first, *later;
	pid_t pid;
	size_t nr_active;
};

/* Behind all others. One that was away, or is new. */
void step_queue_add(struct step_queue *queue, struct stepped *stepped);

/* The first, which is behind all others then. */
void step_queue_rotate(struct step_queue *queue);

/* It is away: it takes no turn, but its process has not ended its own. One that is new, or was in the queue. */
void step_queue_send_away(struct step_queue *queue, struct stepped *stepped);

/* It is stepped no longer. Where it was the last of its process, the next process has its turn. */
void step_queue_take_out(struct step_queue *queue, struct stepped *stepped);

#endif
