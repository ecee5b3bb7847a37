/* SPDX-License-Identifier: MIT */
/* See step_queue.h. */
#include "parent/stepping/step_queue.h"

/* False: it is not there. */
static bool
take_from(struct stepped **queue, struct stepped *stepped)
{
	while (*queue && *queue != stepped)
		queue = &(*queue)->next;
	if (!*queue)
		return false;
	*queue = stepped->next;
	stepped->next = NULL;
	return true;
}

static void
append(struct stepped **queue, struct stepped *stepped)
{
	while (*queue)
		queue = &(*queue)->next;
	stepped->next = NULL;
	*queue = stepped;
}

static bool
is_in_turn(const struct step_queue *self, const struct stepped *stepped)
{
	return self->nr_active == 0 || stepped->thread->pid == self->pid;
}

static void
activate(struct step_queue *self, struct stepped *stepped)
{
	self->nr_active += !stepped->is_active;
	stepped->is_active = true;
	self->pid = stepped->thread->pid;
}

void
step_queue_add(struct step_queue *self, struct stepped *stepped)
{
	if (is_in_turn(self, stepped)) {
		activate(self, stepped);
		append(&self->first, stepped);
	} else {
		append(&self->later, stepped);
	}
}

void
step_queue_rotate(struct step_queue *self)
{
	struct stepped *stepped = self->first;

	take_from(&self->first, stepped);
	append(&self->first, stepped);
}

void
step_queue_send_away(struct step_queue *self, struct stepped *stepped)
{
	take_from(&self->first, stepped);
	activate(self, stepped);
}

void
step_queue_take_out(struct step_queue *self, struct stepped *stepped)
{
	struct stepped *waiting = self->later, *next;

	if (!take_from(&self->first, stepped) && take_from(&self->later, stepped))
		return;
	self->nr_active -= stepped->is_active;
	stepped->is_active = false;
	if (self->nr_active > 0)
		return;
	for (self->later = NULL; waiting; waiting = next) {
		next = waiting->next;
		waiting->next = NULL;
		step_queue_add(self, waiting);
	}
}
