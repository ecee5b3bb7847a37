/* SPDX-License-Identifier: MIT */
#include "child/journal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

struct journal_entry {
	const char *what;
	int id;
	int workload_id;
};

static struct journal_entry *entries;
static atomic_size_t nr_entries;
static _Thread_local int own_workload_id = -1;

void
journal_open(void)
{
	entries = rot_calloc(JOURNAL_MAX_ENTRIES, sizeof(*entries));
	/* no page fault later: they are counted */
	memset(entries, 0xff, JOURNAL_MAX_ENTRIES * sizeof(*entries));
}

void
journal_close(void)
{
	free(entries);
	entries = NULL;
	nr_entries = 0;
}

void
journal_thread(int workload_id)
{
	own_workload_id = workload_id;
}

void
journal_add(const char *what, int id)
{
	size_t i;

	if (!entries)
		return;
	i = atomic_fetch_add(&nr_entries, 1);
	if (i < JOURNAL_MAX_ENTRIES)
		entries[i] = (struct journal_entry){.what = what, .id = id, .workload_id = own_workload_id};
}

int
journal_write(const char *path, struct rot_error *err)
{
	FILE *out = fopen(path, "we");
	size_t nr = nr_entries;

	if (!out)
		return rot_error_set(err, errno, "cannot write the journal '%s'", path);
	for (size_t i = 0; i < nr && i < JOURNAL_MAX_ENTRIES; i++) {
		const struct journal_entry *entry = &entries[i];

		if (entry->workload_id < 0)
			fprintf(out, "%s: %s", entry->workload_id == JOURNAL_SERVICE ? "service" : "main", entry->what);
		else
			fprintf(out, "workload %d: %s", entry->workload_id, entry->what);
		if (entry->id >= 0)
			fprintf(out, " %d", entry->id);
		fputc('\n', out);
	}
	if (nr > JOURNAL_MAX_ENTRIES)
		fprintf(out, "(%zu more)\n", nr - JOURNAL_MAX_ENTRIES);
	if (fclose(out) != 0)
		return rot_error_set(err, errno, "cannot write the journal '%s'", path);
	return 0;
}
