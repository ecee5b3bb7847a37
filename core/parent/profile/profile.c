/* SPDX-License-Identifier: MIT */
/* See profile.h. */
#include "parent/profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entity.h"
#include "memory.h"
#include "parent/profile/functions.h"
#include "parent/profile/sampler.h"
#include "parent/profile/spaces.h"

/* Samples at one address. */
struct spot {
	struct code_position at;
	uint64_t nr;
};

struct profile {
	struct sampler *sampler;
	struct program_profile *output; /* NULL: not begun */
	struct parts_wanted wanted;
	int fd;
	struct spaces *spaces;
	struct spot *spots;
	size_t nr_spots, room;
};

struct profile *
profile_new(struct parts_wanted wanted)
{
	struct profile *profile = rot_calloc(1, sizeof(*profile));

	profile->fd = -1;
	profile->wanted = wanted;
	profile->spaces = spaces_new();
	return profile;
}

void
profile_delete(struct profile *profile)
{
	if (!profile)
		return;
	sampler_close(profile->sampler);
	spaces_delete(profile->spaces);
	rot_graph_delete(profile->output);
	free(profile->spots);
	free(profile);
}

/* The kernel takes away all events from a process that executes what it may not read. */
static bool
may_be_read(const char *path, struct rot_error *err)
{
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES)
		return true;
	rot_error_set(err, 0, "the system does not sample a program that may be executed, but not read");
	return false;
}

void
profile_begin(struct profile *profile, pid_t pid, const char *path, uint64_t period_ns, bool has_children)
{
	struct rot_error err;

	if (!profile)
		return;
	profile->output = program_profile_new();
	profile->output->period = period_ns;
	if (may_be_read(path, &err))
		profile->sampler = sampler_open(pid, period_ns, has_children, &err);
	if (!profile->sampler) {
		rot_string_set(&profile->output->refusal, err.text);
		return;
	}
	profile->output->has_kernel = sampler_has_kernel(profile->sampler);
	profile->fd = sampler_fd(profile->sampler);
}

int *
profile_fd(struct profile *profile)
{
	static int none = -1;

	return profile ? &profile->fd : &none;
}

/* ---- samples ---- */

static int
compare_spots(const void *a, const void *b)
{
	const struct code_position *left = &((const struct spot *)a)->at, *right = &((const struct spot *)b)->at;
	const int order = (left->object > right->object) - (left->object < right->object);

	return order ? order : (left->offset > right->offset) - (left->offset < right->offset);
}

/* Samples at the same address become one spot. */
static void
merge_spots(struct profile *profile)
{
	size_t nr = 0;

	if (profile->nr_spots > 0)
		qsort(profile->spots, profile->nr_spots, sizeof(*profile->spots), compare_spots);
	for (size_t i = 0; i < profile->nr_spots; i++) {
		if (nr > 0 && compare_spots(&profile->spots[nr - 1], &profile->spots[i]) == 0)
			profile->spots[nr - 1].nr += profile->spots[i].nr;
		else
			profile->spots[nr++] = profile->spots[i];
	}
	profile->nr_spots = nr;
}

#define LEAST_ROOM 4096

static void
add_sample(struct profile *profile, const struct sample_record *sample)
{
	if (profile->nr_spots == profile->room) {
		merge_spots(profile);
		if (profile->nr_spots >= profile->room / 2)
			profile->room = profile->room ? 2 * profile->room : LEAST_ROOM;
		profile->spots = rot_realloc(profile->spots, profile->room, sizeof(*profile->spots));
	}
	profile->spots[profile->nr_spots++] = (struct spot){spaces_find(profile->spaces, sample), 1};
}

static void
handle_record(void *context, const struct perf_event_header *record)
{
	struct profile *profile = context;
	uint64_t lost[2]; /* of which event, and how many */

	if (record->type == PERF_RECORD_SAMPLE) {
		add_sample(profile, (const struct sample_record *)record);
	} else if (record->type == PERF_RECORD_LOST) {
		memcpy(lost, record + 1, sizeof(lost));
		profile->output->lost_records += lost[1];
	} else {
		spaces_handle(profile->spaces, record);
	}
}

void
profile_drain(struct profile *profile)
{
	if (profile && profile->sampler)
		sampler_drain(profile->sampler, false, handle_record, profile);
}

/* ---- the end ---- */

struct program_profile *
profile_end(struct profile *profile, struct symbol_files *files)
{
	struct program_profile *output = profile ? profile->output : NULL;
	struct functions *functions;

	if (output && profile->sampler) {
		sampler_drain(profile->sampler, true, handle_record, profile);
		merge_spots(profile);
		functions = functions_new(files, NULL, NULL, profile->wanted);
		for (size_t i = 0; i < profile->nr_spots; i++) {
			const struct spot *spot = &profile->spots[i];
			const struct code_object *object = spaces_object(profile->spaces, spot->at.object);

			functions_add(functions, object, spot->at.offset, &(struct found){.samples = spot->nr});
		}
		functions_take(functions, output);
		functions_delete(functions);
	}
	if (profile)
		profile->output = NULL;
	return output;
}
