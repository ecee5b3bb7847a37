/* SPDX-License-Identifier: MIT */
/* The journal: what the child did, in order, for tests and for those who look for a fault ("--journal FILE"). */
#pragma once

#include "error.h"

/* Entries kept; later ones are counted only. */
#define JOURNAL_MAX_ENTRIES 65536

/* Allocates the entries. Until then journal_add does nothing. */
void journal_open(void);

#define JOURNAL_SERVICE (-2)

/* Names the calling thread in its entries: "main", "service", or "workload ID" for id >= 0. */
void journal_thread(int workload_id);

/*
 * Adds "THREAD: WHAT" or, for id >= 0, "THREAD: WHAT ID". what must outlive the journal. Allocates nothing, takes no
 * lock; still, never called between start and stop of a main measurer.
 */
void journal_add(const char *what, int id);

/* Writes the entries to the file at path, one a line. */
int journal_write(const char *path, struct rot_error *err);

void journal_close(void);
