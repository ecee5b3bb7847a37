/* SPDX-License-Identifier: MIT */
/* See region_places.h. */
#include "parent/regions/region_places.h"

#include "Region.h"
#include "memory.h"
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"

static enum frames_kind
kind_of(const struct region_places *places)
{
	if (!places->is_function)
		return FRAMES_SPAN;
	return places->is_reentered ? FRAMES_LOOP : FRAMES_FUNCTION;
}

static struct region_point *
find_point(const struct region_points *points, uint64_t address)
{
	for (size_t i = 0; i < points->nr; i++) {
		if (points->points[i].address == address)
			return &points->points[i];
	}
	return NULL;
}

/* An end where the region begins is one point with both. */
static void
add(struct region_points *points, const struct place *place, enum frames_kind kind, bool begins)
{
	struct region_point *point = find_point(points, place->address);

	if (!point) {
		points->points = rot_realloc(points->points, points->nr + 1, sizeof(*points->points));
		point = &points->points[points->nr++];
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
	point->is_instant = point->begins && point->ends && kind != FRAMES_SPAN;
	if (!begins)
		point->condition = place->condition;
}

int
region_places_find(void *symbol_files, pid_t tid, const struct region *region, struct region_points *points,
		   struct rot_error *err)
{
	struct objects objects = {0};
	struct region_places places = {0};
	int rc = -1;

	*points = (struct region_points){0};
	if (objects_read(tid, &objects, err) == 0 &&
	    places_resolve(symbol_files, &objects, region->begin, region->end, &places, err) == 0) {
		enum frames_kind kind = kind_of(&places);

		for (size_t i = 0; i < places.nr_begins; i++)
			add(points, &places.begins[i], kind, true);
		for (size_t i = 0; i < places.nr_ends; i++)
			add(points, &places.ends[i], kind, false);
		points->team_part = places.team_part;
		rc = 0;
	}
	region_places_clear(&places);
	objects_clear(&objects);
	return rc;
}
