/* SPDX-License-Identifier: MIT */
#include "parent/supervisor/child_places.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "common/watch.h"
#include "memory.h"
#include "parent/breakpoints/place_watch.h"
#include "parent/symbols/objects.h"

/* Entries of a table; more are no table. */
#define MAX_ENTRIES 4096

/* How often a thread hit each entry in this run. */
struct hits {
	uint64_t run;
	int64_t nr[];
};

struct child_places {
	struct child_places_setup setup;
	struct images images;
	struct symbol_files *symbols;
	struct watch_table table;
	struct watch_entry *entries; /* copies */
	bool *were_found;            /* as entries, like watches */
	struct place_watch *watches;
	uint64_t run;
	bool is_asked; /* the main thread is to stop, so that breakpoints can be set in it */

	/* of the stop that is being answered */
	struct injection *pending;
	size_t nr_pending;
};

/* ---- hits ---- */

static int64_t
count_hit(const struct child_places *self, struct thread *thread, size_t entry)
{
	struct hits *hits = thread->measured;
	size_t bytes = self->table.nr * sizeof(hits->nr[0]);

	if (!hits)
		thread->measured = hits = rot_calloc(1, sizeof(*hits) + bytes);
	if (hits->run != self->run)
		memset(hits->nr, 0, bytes);
	hits->run = self->run;
	return ++hits->nr[entry];
}

/* The child's own functions cause no events in its handler. */
static void
on_place_hit(struct place_watch *watch, const struct breakpoint_hit *hit)
{
	struct child_places *self = watch->context;
	size_t i = (size_t)(watch - self->watches);
	const struct watch_entry *entry = &self->entries[i];
	int64_t nr;

	if (hit->thread->is_bystander || injector_runs(self->setup.injector, hit->thread))
		return;
	nr = count_hit(self, hit->thread, i);
	if (nr < entry->first_hit || (entry->last_hit != 0 && nr > entry->last_hit))
		return;
	rot_add(self->pending, self->nr_pending) = (struct injection){
		.trampoline = self->table.trampoline, .function = self->table.handler, .arguments = {i, (uint64_t)nr}};
}

/* ---- setting them ---- */

static void
tell_place(struct child_places *self, size_t i)
{
	struct thread *main_thread = threads_find(&self->setup.tracer->threads, self->setup.tracer->program);
	uint64_t address = self->table.entries + i * sizeof(*self->entries) + offsetof(struct watch_entry, error);

	if (main_thread && main_thread->image)
		image_write(main_thread->image, NULL, address, self->entries[i].error, sizeof(self->entries[i].error));
}

static void
refuse_place(struct child_places *self, size_t i, const struct rot_error *err)
{
	struct watch_entry *entry = &self->entries[i];

	snprintf(entry->error, sizeof(entry->error), "%.600s%s%.400s", err->text, *err->hint ? "; " : "", err->hint);
	tell_place(self, i);
}

static void
on_place_refused(struct place_watch *watch, uint64_t address, const struct rot_error *err)
{
	struct child_places *self = watch->context;

	(void)address;
	refuse_place(self, (size_t)(watch - self->watches), err);
}

/* A place that was found once may be gone, with a library that was unloaded. */
static void
resolve_places(void *context, struct thread *thread)
{
	struct child_places *self = context;
	struct objects objects = {0};
	struct rot_error err = {0};
	bool is_known = objects_read(thread->pid, &objects, &err) == 0;

	for (size_t i = 0; i < self->table.nr; i++) {
		if (is_known && place_watch_set(&self->watches[i], self->symbols, &objects, thread, &err) == 0) {
			self->were_found[i] = true;
			if (!*self->entries[i].error)
				continue;
			*self->entries[i].error = '\0';
			tell_place(self, i);
		} else if (!self->were_found[i]) {
			refuse_place(self, i, &err);
		}
	}
	objects_clear(&objects);
}

/* Libraries that are loaded later will not be seen. */
static void
on_objects_refused(void *context, struct thread *thread, const struct rot_error *err)
{
	struct child_places *self = context;

	(void)thread;
	for (size_t i = 0; i < self->table.nr; i++)
		if (*self->entries[i].error)
			refuse_place(self, i, err);
}

/* A child tells the truth unless it was killed; then nobody waits for an answer. */
static bool
read_table(struct child_places *self, struct image *image, uint64_t address)
{
	if (image_read(image, address, &self->table, sizeof(self->table)) < 0 || self->table.nr > MAX_ENTRIES) {
		self->table.nr = 0;
		return false;
	}
	self->entries = rot_calloc(self->table.nr, sizeof(*self->entries));
	self->were_found = rot_calloc(self->table.nr, sizeof(*self->were_found));
	if (image_read(image, self->table.entries, self->entries, self->table.nr * sizeof(*self->entries)) < 0) {
		self->table.nr = 0;
		return false;
	}
	self->watches = rot_calloc(self->table.nr, sizeof(*self->watches));
	for (size_t i = 0; i < self->table.nr; i++)
		self->watches[i] = (struct place_watch){.place = self->entries[i].place,
							.event = self->entries[i].event,
							.hit = on_place_hit,
							.refused = on_place_refused,
							.context = self};
	return true;
}

bool
child_places_watch(struct child_places *self, uint64_t table)
{
	struct thread *main_thread = threads_find(&self->setup.tracer->threads, self->setup.tracer->program);

	if (!main_thread || !main_thread->image || self->entries || !read_table(self, main_thread->image, table))
		return false;
	self->is_asked = true;
	ptrace(PTRACE_INTERRUPT, main_thread->tid, NULL, NULL);
	return true;
}

/* ---- what the tracer tells ---- */

void
child_places_started(struct child_places *self, struct thread *thread)
{
	images_started(&self->images, thread);
}

void
child_places_executed(struct child_places *self, struct thread *thread)
{
	images_executed(&self->images, thread);
}

void
child_places_exited(struct child_places *self, struct thread *thread)
{
	images_exited(&self->images, thread);
	free(thread->measured);
	thread->measured = NULL;
}

bool
child_places_may_go(struct child_places *self, struct thread *thread)
{
	return images_may_go(&self->images, thread);
}

enum tracer_answer
child_places_stopped(struct child_places *self, const struct tracer_stop *stop)
{
	enum tracer_answer answer;

	self->nr_pending = 0;
	answer = images_stopped(&self->images, stop);
	if (self->nr_pending > 0)
		return injector_run_here(self->setup.injector, stop->thread, self->pending, self->nr_pending);
	if (answer == TRACER_DELIVER && self->is_asked && stop->thread->tid == self->setup.tracer->program &&
	    image_bring_to_rest(stop->thread)) {
		struct rot_error err;

		self->is_asked = false;
		resolve_places(self, stop->thread);
		self->images.objects_changed = resolve_places;
		if (image_watch_objects(stop->thread, &err) < 0)
			on_objects_refused(self, stop->thread, &err);
		self->setup.set(self->setup.context);
	}
	return answer;
}

bool
child_places_are_watched(const struct child_places *self)
{
	return self->table.nr > 0;
}

void
child_places_begin_run(struct child_places *self)
{
	self->run++;
}

struct child_places *
child_places_new(const struct child_places_setup *setup)
{
	struct child_places *self = rot_calloc(1, sizeof(*self));

	*self = (struct child_places){.setup = *setup, .symbols = symbol_files_new()};
	self->images = (struct images){.refused = on_objects_refused, .context = self, .tracer = setup->tracer};
	return self;
}

void
child_places_delete(struct child_places *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->table.nr; i++)
		place_watch_clear(&self->watches[i]);
	images_clear(&self->images);
	symbol_files_delete(self->symbols);
	free(self->entries);
	free(self->were_found);
	free(self->watches);
	free(self->pending);
	free(self);
}
