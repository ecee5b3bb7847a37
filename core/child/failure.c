/* SPDX-License-Identifier: MIT */
#include "child/failure.h"

int
failure_record(struct failure *failure, enum failure_kind kind, const struct rot_error *error)
{
	pthread_mutex_lock(&failure->lock);
	if (!failure->happened) {
		failure->kind = kind;
		failure->error = *error;
		failure->happened = true;
	}
	pthread_mutex_unlock(&failure->lock);
	return -1;
}

const char *
failure_kind_name(enum failure_kind kind)
{
	return kind == FAILURE_REFUSED ? "refused" : "error";
}
