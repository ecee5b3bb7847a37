/* SPDX-License-Identifier: MIT */
/*
 * Allocations of a program whose code is translated: calls of functions like malloc are recorded, and what these
 * return, which is an object (profile/data.h) that is named after who called them. A thread stops only at the first
 * call from each place, and at each call that returns its result by a pointer.
 */
#pragma once

#include "parent/profile/data.h"
#include "parent/tracer/thread.h"
#include "parent/translate/translator.h"

struct allocations;

/* All are borrowed. */
struct allocations *allocations_new(struct data *data, struct symbol_files *files, struct translator *translator);
void allocations_delete(struct allocations *allocations);

/* Looks for such functions in the objects that are mapped. The thread is stopped with registers of its own. */
void allocations_find(struct allocations *allocations, struct thread *thread);

/* Forgets the callers in a process whose program has ended, or is replaced by another one. */
void allocations_forget(struct allocations *allocations, pid_t pid);

/* There were more callers than are followed. */
bool allocations_are_missed(const struct allocations *allocations);
