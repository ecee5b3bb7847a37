/* SPDX-License-Identifier: MIT */
#include "parent/regions/regions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "Region.h"
#include "common/clock.h"
#include "common/proc.h"
#include "entity.h"
#include "memory.h"
#include "parent/regions/region_report.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"
#include "parent/tracer/launch.h"

const struct region_backend *const region_backends[REGION_NR_BACKENDS] = {&region_uprobe, &region_breakpoint,
									  &region_int3, &region_blocks};

struct backend_state {
	void *self; /* NULL: not open */
	bool is_refused;
	struct rot_error refusal;
	uint64_t cost_ns; /* of a hit; 0: not known */
};

/* A region is observed, is to be given up, or was. short_at_ns: the hit that showed that its hits are too short. */
struct attention {
	enum { OBSERVED, TOO_SHORT, GIVEN_UP } state;
	uint64_t short_at_ns;
};

struct regions {
	struct regions_setup setup;
	size_t nr;                   /* regions of the command */
	struct attention *attention; /* to each of them */
	struct backend_state states[REGION_NR_BACKENDS];
	struct region_point **points;
	size_t nr_points;
	struct region_image *images;
	struct region_report *report;
	int epoll_fd;
};

struct regions *
regions_new(const struct regions_setup *setup)
{
	struct regions *regions;

	if (program_command_nr_regions(setup->command) == 0)
		return NULL;
	regions = rot_calloc(1, sizeof(*regions));
	regions->setup = *setup;
	regions->nr = program_command_nr_regions(setup->command);
	regions->attention = rot_calloc(regions->nr, sizeof(*regions->attention));
	regions->report = region_report_new(setup->command, setup->counting);
	regions->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return regions;
}

static const struct region *
region_at(const struct regions *regions, size_t i)
{
	return program_command_regions_at(regions->setup.command, i);
}

/* ---- the places that a command names ---- */

/* An end where the region begins is one point with both. */
static void
add_place(struct region_points *points, const struct place *place, enum frames_kind kind, bool begins)
{
	struct region_point *point = points->points, *end = point + points->nr;

	while (point != end && point->address != place->address)
		point++;
	if (point == end) {
		point = &rot_add(points->points, points->nr);
		*point = (struct region_point){.kind = kind,
					       .address = place->address,
					       .file = place->object->file ? rot_strdup(place->object->file) : NULL,
					       .device = place->object->device,
					       .inode = place->object->inode,
					       .file_offset = place->file_offset,
					       .text = rot_strdup(place->text)};
	}
	point->begins |= begins;
	point->ends |= !begins;
	point->is_team = place->is_team;
	point->is_instant = point->begins && point->ends && kind != FRAMES_SPAN;
	if (!begins)
		point->condition = place->condition;
}

/* A team executes it in no hit of its threads, so where hits are chosen by their number it is left out. */
static void
add_places(struct region_points *points, const struct place *places, size_t nr, enum frames_kind kind, bool begins,
	   bool chooses_hits)
{
	for (size_t i = 0; i < nr; i++) {
		points->leaves_out_team |= chooses_hits && places[i].is_team;
		if (!chooses_hits || !places[i].is_team)
			add_place(points, &places[i], kind, begins);
	}
}

int
regions_find_places(void *symbol_files, pid_t tid, const struct region *region, struct region_points *points,
		    struct rot_error *err)
{
	struct objects objects = {0};
	struct region_places places = {0};
	int rc = -1;

	*points = (struct region_points){0};
	if (objects_read(tid, &objects, err) == 0 &&
	    places_resolve(symbol_files, &objects, region->begin, region->end, &places, err) == 0) {
		enum frames_kind kind = !places.is_function   ? FRAMES_SPAN
					: places.is_reentered ? FRAMES_LOOP
							      : FRAMES_FUNCTION;
		const bool chooses_hits = region->first_hit > 1 || region->last_hit > 0;

		add_places(points, places.begins, places.nr_begins, kind, true, chooses_hits);
		add_places(points, places.ends, places.nr_ends, kind, false, chooses_hits);
		points->team_below = places.team_below;
		rc = 0;
	}
	region_places_clear(&places);
	objects_clear(&objects);
	return rc;
}

/* ---- what backends ask ---- */

struct region_point *
regions_point(const struct regions *regions, uint64_t id)
{
	return id < regions->nr_points ? regions->points[id] : NULL;
}

int
regions_watch(const struct region_thread *thread, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = (void *)thread};

	return epoll_ctl(thread->image->regions->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

void
regions_unwatch(const struct region_thread *thread, int fd)
{
	struct epoll_event unused = {0};

	epoll_ctl(thread->image->regions->epoll_fd, EPOLL_CTL_DEL, fd, &unused);
}

void
regions_warn(struct regions *regions, const char *format, ...)
{
	char text[sizeof(struct rot_error)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	region_report_warn(regions->report, text);
}

void
regions_add_curve(struct regions *regions, size_t region, const uint64_t by_capacity[REUSE_NR + 1])
{
	region_report_curve(regions->report, region, by_capacity);
}

/* A hit that is shorter than so many times the cost of observing it has a time that cannot be trusted. */
#define SHORT_TIMES 10

/* So many hits tell whether most are short: the rest may have waited for a CPU. */
#define ENOUGH_HITS 1000
#define MOST_HITS 0.75

/* In any thread. */
static bool
are_too_short(const struct regions *regions, const struct region_point *point, const struct frames *frames)
{
	const struct region *region = region_at(regions, point->region);
	const bool is_whole = point->kind != FRAMES_SPAN && region->first_hit <= 1 && region->last_hit == 0;

	return is_whole && point->inode != 0 && frames->hits >= ENOUGH_HITS &&
	       (double)frames->short_hits >= MOST_HITS * (double)frames->hits;
}

/* A hit that was begun before ends first, unless the one that begins here ends at once. */
void
regions_hit(struct region_thread *thread, const struct region_point *point, const struct region_hit *hit)
{
	struct regions *regions = thread->image->regions;
	const uint64_t cost_ns = point->backend ? regions->states[point->backend->number].cost_ns : 0;
	struct frames *frames = &thread->frames[point->region];
	const struct frames_moment moment = {.stack_pointer = hit->stack_pointer,
					     .time_ns = hit->time_ns,
					     .counts = hit->counts,
					     .is_team = point->is_team,
					     .short_ns = SHORT_TIMES * cost_ns};
	bool ends = point->ends && code_is_taken(point->condition, hit->flags, hit->rcx);
	struct attention *attention = &regions->attention[point->region];

	if (attention->state != OBSERVED)
		return;
	if (point->begins && point->is_instant)
		frames_enter(frames, &moment);
	if (ends)
		frames_leave(frames, &moment);
	if (point->begins && !point->is_instant)
		frames_enter(frames, &moment);
	if (are_too_short(regions, point, frames))
		*attention = (struct attention){TOO_SHORT, hit->time_ns};
}

void
regions_hit_address(struct region_thread *thread, const struct region_backend *backend, uint64_t address,
		    const struct region_hit *hit)
{
	const struct region_image *image = thread->image;

	for (size_t i = 0; i < image->nr_points; i++)
		if (image->points[i]->address == address && image->points[i]->backend == backend)
			regions_hit(thread, image->points[i], hit);
}

void
regions_lose(struct region_thread *thread, size_t region, uint64_t nr)
{
	if (thread->image->regions->attention[region].state == OBSERVED)
		frames_lose(&thread->frames[region], nr);
}

const struct regions_setup *
regions_setup(const struct regions *regions)
{
	return &regions->setup;
}

/* ---- images ---- */

static struct region_image *
image_of(const struct regions *regions, pid_t pid)
{
	struct region_image *image = regions->images;

	while (image && image->pid != pid)
		image = image->next;
	return image;
}

static void
image_add_point(struct region_image *image, struct region_point *point)
{
	rot_add(image->points, image->nr_points) = point;
}

static struct region_image *
image_new(struct regions *regions, pid_t pid, const struct region_image *parent)
{
	struct region_image *image = rot_calloc(1, sizeof(*image));

	image->regions = regions;
	image->pid = pid;
	for (size_t i = 0; parent && i < parent->nr_points; i++)
		image_add_point(image, parent->points[i]);
	image->next = regions->images;
	regions->images = image;
	return image;
}

static void
image_delete(struct region_image *image)
{
	struct region_image **link = &image->regions->images;

	while (*link != image)
		link = &(*link)->next;
	*link = image->next;
	free(image->points);
	free(image);
}

/* ---- threads ---- */

static bool
serves(const struct region_image *image, const struct region_backend *backend)
{
	for (size_t i = 0; i < image->nr_points; i++)
		if (image->points[i]->backend == backend)
			return true;
	return false;
}

/* A first thread that has ended is told of when all others have. */
static void
join_backends(struct region_thread *thread)
{
	struct regions *regions = thread->image->regions;
	const struct region_image *image = thread->image;
	struct rot_error err = {0};

	for (size_t i = 0; i < image->nr_points; i++)
		thread->frames[image->points[i]->region].rule.kind = image->points[i]->kind;
	for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
		if (serves(image, region_backends[i]) && region_backends[i]->join &&
		    region_backends[i]->join(regions->states[i].self, thread, &err) < 0 &&
		    !proc_is_ending(thread->thread->tid))
			region_report_unseen(regions->report, &err);
}

static void
enter_image(struct region_thread *thread, struct region_image *image)
{
	thread->image = image;
	thread->next = image->threads;
	image->threads = thread;
}

static struct region_thread *
thread_new(struct regions *regions, struct thread *thread, struct counts *counts)
{
	struct region_thread *self = rot_calloc(1, sizeof(*self));

	self->thread = thread;
	self->tid = thread->tid;
	self->counts = counts;
	self->frames = rot_calloc(regions->nr, sizeof(*self->frames));
	for (size_t i = 0; i < regions->nr; i++) {
		const struct region *region = region_at(regions, i);

		self->frames[i].rule.first_hit = region->first_hit;
		self->frames[i].rule.last_hit = region->last_hit;
		if (regions->setup.listeners)
			self->frames[i].listener = &regions->setup.listeners[i];
	}
	thread->in_regions = self;
	return self;
}

/* One that has no threads is of a process that was killed before it was seen. */
void
regions_thread_forked(struct regions *regions, const struct thread *thread, pid_t child)
{
	const struct region_thread *self = regions ? thread->in_regions : NULL;
	struct region_image *known = self ? image_of(regions, child) : NULL;

	if (!self || !self->image || (known && known->threads))
		return;
	if (known)
		image_delete(known);
	image_new(regions, child, self->image);
}

void
regions_thread_started(struct regions *regions, struct thread *thread, struct counts *counts)
{
	struct region_image *image;
	struct region_thread *self;
	uint64_t parent = 0;

	if (!regions)
		return;
	image = image_of(regions, thread->pid);
	if (!image) {
		proc_status(thread->pid, "PPid", 10, &parent);
		image = image_new(regions, thread->pid, image_of(regions, (pid_t)parent));
	}
	self = thread_new(regions, thread, counts);
	enter_image(self, image);
	join_backends(self);
}

void
regions_thread_executed(struct regions *regions, struct thread *thread, struct counts *counts)
{
	struct region_thread *self;

	if (!regions)
		return;
	self = thread->in_regions;
	if (!self)
		self = thread_new(regions, thread, counts);
	self->counts = counts;
	enter_image(self, image_new(regions, thread->pid, NULL));
}

/* The sums of a thread that executes a program go on. */
static void
put_away(struct region_thread *self)
{
	struct region_image *image = self->image;
	struct regions *regions = image->regions;
	struct region_thread **link = &image->threads;

	for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
		if (regions->states[i].self && region_backends[i]->leave)
			region_backends[i]->leave(regions->states[i].self, self);
	for (size_t i = 0; i < regions->nr; i++)
		frames_end(&self->frames[i]);
	while (*link != self)
		link = &(*link)->next;
	*link = self->next;
	if (!image->threads)
		image_delete(image);
	self->image = NULL;
}

void
regions_thread_executes(struct regions *regions, struct thread *thread)
{
	struct region_thread *self = regions ? thread->in_regions : NULL;

	if (self)
		put_away(self);
}

void
regions_thread_leaves(struct regions *regions, struct thread *thread)
{
	struct region_thread *self = regions ? thread->in_regions : NULL;

	if (!self)
		return;
	if (self->image)
		put_away(self);
	for (size_t i = 0; i < regions->nr; i++) {
		region_report_thread(regions->report, i, thread->pid, self->tid, &self->frames[i]);
		frames_clear(&self->frames[i]);
	}
	free(self->frames);
	free(self);
	thread->in_regions = NULL;
}

enum tracer_answer
regions_stopped(struct regions *regions, const struct tracer_stop *stop)
{
	struct region_thread *self = regions ? stop->thread->in_regions : NULL;
	enum tracer_answer answer = TRACER_DELIVER;

	for (size_t i = 0; self && self->image && answer == TRACER_DELIVER && i < REGION_NR_BACKENDS; i++)
		if (regions->states[i].self && region_backends[i]->stopped)
			answer = region_backends[i]->stopped(regions->states[i].self, self, stop);
	return answer;
}

/* ---- who observes which region ---- */

static bool
is_wanted(const struct regions *regions, const struct region_backend *backend)
{
	const char *wanted = regions->setup.command->region_backend;

	if (regions->setup.translator || backend == &region_blocks)
		return regions->setup.translator && backend == &region_blocks;
	return strcmp(wanted, "auto") == 0 || strcmp(wanted, backend->name) == 0;
}

static void
point_clear(struct region_point *point)
{
	free(point->file);
	free(point->text);
}

/* The points, as they are kept. */
static struct region_point **
keep_points(struct regions *regions, size_t region, struct region_points *found)
{
	struct region_point **kept = rot_calloc(found->nr, sizeof(*kept));

	regions->points = rot_realloc(regions->points, regions->nr_points + found->nr, sizeof(*regions->points));
	for (size_t i = 0; i < found->nr; i++) {
		kept[i] = rot_calloc(1, sizeof(**kept));
		*kept[i] = found->points[i];
		kept[i]->id = regions->nr_points;
		kept[i]->region = region;
		regions->points[regions->nr_points++] = kept[i];
	}
	return kept;
}

static const struct region_backend *
choose_backend(struct region_thread *witness, size_t region, struct region_point *const *points, size_t nr)
{
	struct region_image *image = witness->image;
	struct regions *regions = image->regions;
	struct rot_error err = {0};

	for (size_t i = 0; i < REGION_NR_BACKENDS; i++) {
		struct backend_state *state = &regions->states[i];

		if (!is_wanted(regions, region_backends[i]))
			continue;
		/* It is opened when it is tried first. */
		if (!state->self && !state->is_refused) {
			state->self = region_backends[i]->open(regions, &state->refusal);
			state->is_refused = state->self == NULL;
		}
		if (!state->self)
			err = state->refusal;
		else if (region_backends[i]->install(state->self, image, witness, points, nr, &err) == 0)
			return region_backends[i];
		region_report_refusal(regions->report, region, region_backends[i]->name, &err);
	}
	return NULL;
}

static void
observe_points(struct region_thread *witness, size_t region, struct region_points *found)
{
	struct region_image *image = witness->image;
	struct regions *regions = image->regions;
	autofree struct region_point **points = keep_points(regions, region, found);
	const struct region_backend *backend = regions->attention[region].state == OBSERVED
						       ? choose_backend(witness, region, points, found->nr)
						       : NULL;

	for (size_t i = 0; backend && i < found->nr; i++) {
		points[i]->backend = backend;
		image_add_point(image, points[i]);
		if (points[i]->is_instant && points[i]->condition == CODE_ALWAYS)
			regions_warn(regions,
				     "region %s: %s is left by its first instruction: if that is a jump to another "
				     "function, name that one",
				     region_at(regions, region)->name, points[i]->text);
	}
	if (backend)
		region_report_service(regions->report, region, backend->name, points, found->nr);
	if (backend && found->leaves_out_team)
		regions_warn(regions,
			     "region %s: other threads of its OpenMP team are not in it, since hits are counted by "
			     "thread: without # it has what all of them do",
			     region_at(regions, region)->name);
	if (backend && found->team_below)
		regions_warn(
			regions,
			"region %s: where %s opens a team of OpenMP for it, other threads are not in it: --region=%s "
			"has what all of them do",
			region_at(regions, region)->name, found->team_below, found->team_below);
}

/* ---- libraries come and go ---- */

/* A thread that comes to one point is seen at the other. */
static bool
is_seen_at(const struct region_point *found, const struct region_point *known)
{
	return found->device == known->device && found->inode == known->inode &&
	       found->file_offset == known->file_offset &&
	       (known->backend->is_in_files || found->address == known->address);
}

static bool
is_found(const struct region_points *found, const struct region_point *known)
{
	for (size_t i = 0; i < found->nr; i++)
		if (is_seen_at(&found->points[i], known))
			return true;
	return false;
}

/* Points of regions that were given up are in no image. */
static bool
is_given_up(const struct regions *regions, size_t region, const struct region_point *found)
{
	for (size_t i = 0; regions->attention[region].state == GIVEN_UP && i < regions->nr_points; i++) {
		const struct region_point *known = regions->points[i];

		if (known->region == region && known->device == found->device && known->inode == found->inode &&
		    known->file_offset == found->file_offset)
			return true;
	}
	return false;
}

static bool
is_known(const struct region_image *image, size_t region, const struct region_point *found)
{
	if (is_given_up(image->regions, region, found))
		return true;
	for (size_t i = 0; i < image->nr_points; i++)
		if (image->points[i]->region == region && is_seen_at(found, image->points[i]))
			return true;
	return false;
}

/* The library of point was not unloaded. mapped NULL: that is not known. */
static bool
is_mapped(const struct objects *mapped, const struct region_point *point)
{
	for (size_t i = 0; mapped && i < mapped->nr_objects; i++) {
		const struct object *object = &mapped->objects[i];

		if (object->device == point->device && object->inode == point->inode &&
		    point->address >= object->start && point->address < object->end)
			return true;
	}
	return false;
}

/* Returns how many: those of libraries that were unloaded. mapped: points in it stay, also where they are not found. */
static size_t
lift_missing(struct region_thread *witness, size_t region, const struct region_points *found,
	     const struct objects *mapped)
{
	struct region_image *image = witness->image;
	size_t nr_before = image->nr_points, nr = 0;

	for (size_t i = 0; i < nr_before; i++) {
		struct region_point *point = image->points[i];
		const struct region_backend *backend = point->backend;

		if (point->region == region && !backend->is_in_files && !is_found(found, point) &&
		    !is_mapped(mapped, point))
			backend->lift(image->regions->states[backend->number].self, witness, point);
		else
			image->points[nr++] = point;
	}
	image->nr_points = nr;
	return nr_before - nr;
}

static bool
has_mapped(const struct region_image *image, size_t region, const struct objects *mapped)
{
	for (size_t i = 0; i < image->nr_points; i++)
		if (image->points[i]->region == region && is_mapped(mapped, image->points[i]))
			return true;
	return false;
}

/*
 * Nothing is found: where the library of its points was not unloaded, another one was loaded in which there is
 * something, but of no use. Returns how many points were lifted.
 */
static size_t
keep_mapped(struct region_thread *witness, size_t region, struct rot_error *why)
{
	struct region_image *image = witness->image;
	struct regions *regions = image->regions;
	const struct region_points none = {0};
	struct objects mapped = {0};
	size_t nr_lifted;
	struct rot_error err;

	region_report_not_found(regions->report, region, image->pid == regions->setup.tracer->program, why);
	if (objects_read(witness->thread->tid, &mapped, &err) < 0)
		return 0;
	if (has_mapped(image, region, &mapped))
		regions_warn(regions,
			     "region %s is observed in the libraries that were there before, and no others: %s",
			     region_at(regions, region)->name, rot_error_line(why));
	nr_lifted = lift_missing(witness, region, &none, &mapped);
	objects_clear(&mapped);
	return nr_lifted;
}

/* Returns whether the image has other points now. */
static bool
resolve_region(struct region_thread *witness, size_t region)
{
	struct region_image *image = witness->image;
	struct regions *regions = image->regions;
	const struct region *wanted = region_at(regions, region);
	struct region_points found = {0};
	struct rot_error err = {0};
	size_t nr_lifted, nr = 0;

	if (regions->setup.find(regions->setup.context, witness->thread->tid, wanted, &found, &err) < 0)
		nr_lifted = keep_mapped(witness, region, &err);
	else
		nr_lifted = lift_missing(witness, region, &found, NULL);
	for (size_t i = 0; i < found.nr; i++)
		if (is_known(image, region, &found.points[i]))
			point_clear(&found.points[i]);
		else
			found.points[nr++] = found.points[i];
	found.nr = nr;
	if (found.nr > 0)
		observe_points(witness, region, &found);
	free(found.points);
	return nr_lifted > 0 || found.nr > 0;
}

void
regions_resolve(struct regions *regions, struct thread *thread)
{
	struct region_thread *self = regions ? thread->in_regions : NULL;
	struct region_image *image = self ? self->image : NULL;
	bool has_changed = false;

	if (!image)
		return;
	for (size_t i = 0; i < regions->nr; i++)
		has_changed |= resolve_region(self, i);
	if (!has_changed)
		return;
	for (struct region_thread *other = image->threads; other; other = other->next)
		join_backends(other);
}

/* ---- regions that are given up ---- */

void
regions_set_cost(struct regions *regions, const char *backend, uint64_t cost_ns)
{
	for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
		if (strcmp(region_backends[i]->name, backend) == 0)
			regions->states[i].cost_ns = cost_ns;
}

static void
give_up_in(struct region_image *image, size_t region)
{
	struct regions *regions = image->regions;
	size_t nr = 0;

	for (size_t i = 0; i < image->nr_points; i++) {
		const struct region_point *point = image->points[i];
		const struct region_backend *backend = point->backend;

		if (point->region != region)
			image->points[nr++] = image->points[i];
		else if (!backend->prune && image->threads)
			backend->lift(regions->states[backend->number].self, image->threads, point);
	}
	image->nr_points = nr;
	for (struct region_thread *thread = image->threads; thread; thread = thread->next) {
		for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
			if (regions->states[i].self && region_backends[i]->prune)
				region_backends[i]->prune(regions->states[i].self, thread);
		frames_forget(&thread->frames[region], regions->attention[region].short_at_ns);
	}
}

bool
regions_give_up(struct regions *regions, size_t *region, uint64_t *time_ns)
{
	for (*region = 0; regions && *region < regions->nr; ++*region) {
		if (regions->attention[*region].state != TOO_SHORT)
			continue;
		regions->attention[*region].state = GIVEN_UP;
		*time_ns = clock_raw_ns();
		for (struct region_image *image = regions->images; image; image = image->next)
			give_up_in(image, *region);
		for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
			if (regions->states[i].self && region_backends[i]->forget)
				region_backends[i]->forget(regions->states[i].self, *region);
		return true;
	}
	return false;
}

void
regions_tell_missing(const struct regions *regions)
{
	if (regions)
		region_report_tell_missing(regions->report, stderr);
}

const char *
regions_not_found(const struct regions *regions, size_t region)
{
	return region_report_why_missing(regions->report, region);
}

void
regions_refuse(struct regions *regions, const struct rot_error *err)
{
	for (size_t i = 0; regions && i < regions->nr; i++)
		region_report_not_found(regions->report, i, false, err);
}

/* ---- the loop, the end ---- */

int *
regions_fd(struct regions *regions)
{
	return regions ? &regions->epoll_fd : NULL;
}

static void
drain_thread(const struct regions *regions, struct region_thread *thread)
{
	for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
		if (regions->states[i].self && region_backends[i]->drain)
			region_backends[i]->drain(regions->states[i].self, thread);
}

/*
 * A perf event says once that its ring fills up, and the loop has heard it when it looked at our descriptor: then it is
 * not known which it was. Ends of threads are told again.
 */
void
regions_drain(struct regions *regions)
{
	struct epoll_event events[64];
	const int room = sizeof(events) / sizeof(events[0]);
	int nr = epoll_wait(regions->epoll_fd, events, room, 0);

	for (int i = 0; i < nr; i++)
		drain_thread(regions, events[i].data.ptr);
	for (struct region_image *image = nr <= 0 ? regions->images : NULL; image; image = image->next)
		for (struct region_thread *thread = image->threads; thread; thread = thread->next)
			drain_thread(regions, thread);
}

void
regions_output(struct regions *regions, struct program_run_output *run, struct program_command_output *output)
{
	region_report_output(regions->report, run, output);
}

bool
regions_use(const struct regions *regions, const char *backend)
{
	return region_report_serves(regions->report, backend);
}

void
regions_delete(struct regions *regions)
{
	if (!regions)
		return;
	for (size_t i = 0; i < REGION_NR_BACKENDS; i++)
		if (regions->states[i].self)
			region_backends[i]->close(regions->states[i].self);
	while (regions->images)
		image_delete(regions->images);
	for (size_t i = 0; i < regions->nr_points; i++) {
		point_clear(regions->points[i]);
		free(regions->points[i]);
	}
	free(regions->points);
	free(regions->attention);
	launch_close(&regions->epoll_fd);
	region_report_delete(regions->report);
	free(regions);
}
