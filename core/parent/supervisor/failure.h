/* SPDX-License-Identifier: MIT */
/* Tells the driver why the child did not do its work. */
#pragma once

#include "CoreFailure.h"
#include "parent/supervisor/supervisor.h"

enum verdict {
	VERDICT_DONE,        /* the output file holds a result                  */
	VERDICT_REPORTED,    /* the child wrote a CoreFailure of its own        */
	VERDICT_FAILED,      /* nobody else will say what happened              */
	VERDICT_INTERRUPTED, /* this process was asked to stop                  */
};

/* Judges a child that ended, also by whether there is a file at the output of the request. */
enum verdict failure_judge(const struct request *request, const struct outcome *outcome);

/* The failure behind VERDICT_FAILED. Free with core_failure_delete. */
struct core_failure *failure_new(const struct request *request, const struct outcome *outcome);
