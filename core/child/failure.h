/* SPDX-License-Identifier: MIT */
/* Why a start of the core gives nothing back: the first failure of any of its threads. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "error.h"

/* refused: the machine, or this version of the core, does not permit what was described; else error. */
enum failure_kind {
	FAILURE_ERROR,
	FAILURE_REFUSED,
};

/* kind and error are valid once happened is set, and do not change afterwards. */
struct failure {
	pthread_mutex_t lock;
	atomic_bool happened;
	enum failure_kind kind;
	struct rot_error error;
};

#define FAILURE_NONE                                                                                                   \
	{                                                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER                                                                      \
	}

/* Remembers error if it is the first; returns -1. From any thread. */
int failure_record(struct failure *failure, enum failure_kind kind, const struct rot_error *error);

/* The kind's name in a CoreFailure. */
const char *failure_kind_name(enum failure_kind kind);
