/* SPDX-License-Identifier: MIT */
#include "parent/profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entity.h"
#include "memory.h"
#include "parent/profile/sampler.h"
#include "parent/profile/spaces.h"
#include "parent/profile/stacks.h"

struct profile {
	struct sampler *sampler;
	struct program_profile *output; /* NULL: not begun */
	struct parts_wanted wanted;
	int fd;
	struct symbol_files *files;
	struct spaces *spaces;
	struct stacks *stacks;
};

struct profile *
profile_new(struct symbol_files *files, struct parts_wanted wanted)
{
	struct profile *profile = rot_calloc(1, sizeof(*profile));

	profile->fd = -1;
	profile->wanted = wanted;
	profile->files = files;
	profile->spaces = spaces_new();
	profile->stacks = stacks_new(profile->spaces, files);
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
	stacks_delete(profile->stacks);
	free(profile);
}

void
profile_begin(struct profile *profile, pid_t pid, const char *path, uint64_t period_ns, bool has_children,
	      bool has_stacks)
{
	struct rot_error err;

	if (!profile)
		return;
	profile->output = program_profile_new();
	profile->output->period = period_ns;
	/* The kernel takes away all events from a process that executes what it may not read. */
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0 && errno == EACCES)
		rot_error_set(&err, 0, "the system does not sample a program that may be executed, but not read");
	else
		profile->sampler = sampler_open(pid, period_ns, has_children, has_stacks, &err);
	if (!profile->sampler) {
		rot_string_set(&profile->output->refusal, err.text);
		return;
	}
	profile->output->has_kernel = sampler_has_kernel(profile->sampler);
	profile->output->has_stacks = sampler_has_stacks(profile->sampler);
	profile->fd = sampler_fd(profile->sampler);
}

int *
profile_fd(struct profile *profile)
{
	static int none = -1;

	return profile ? &profile->fd : &none;
}

/* ---- samples ---- */

static void
handle_record(void *context, const struct perf_event_header *record)
{
	struct profile *profile = context;
	uint64_t lost[2]; /* of which event, and how many */

	if (record->type == PERF_RECORD_SAMPLE) {
		stacks_add(profile->stacks, (const struct sample_record *)record);
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

bool
profile_has_stacks(const struct profile *profile)
{
	return profile && profile->sampler && sampler_has_stacks(profile->sampler);
}

uint32_t
profile_begin_epoch(struct profile *profile, uint64_t time_ns)
{
	return stacks_begin(profile->stacks, time_ns);
}

/* ---- the end ---- */

struct program_profile *
profile_end(struct profile *profile, const struct watched *watched, size_t nr)
{
	struct program_profile *output = profile ? profile->output : NULL;
	struct functions *functions;
	struct waits_times waits;

	if (output && profile->sampler) {
		sampler_drain(profile->sampler, true, handle_record, profile);
		waits = sampler_waits(profile->sampler);
		output->run_time = waits.run_ns;
		output->wait_time = waits.wait_ns;
		functions = functions_new(profile->files, NULL, NULL, profile->wanted);
		functions_add_stacks(functions, profile->stacks, profile->spaces);
		for (size_t i = 0; i < nr; i++)
			program_profile_regions_add(
				output, functions_watch(functions, profile->stacks, profile->spaces, &watched[i]));
		functions_take(functions, output);
		functions_delete(functions);
		if (output->has_stacks)
			output->incomplete_stacks = stacks_nr_incomplete(profile->stacks);
	}
	if (profile)
		profile->output = NULL;
	return output;
}
