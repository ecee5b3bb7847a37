/* SPDX-License-Identifier: MIT */
/* What the driver is told when the child did not do its work. */
#pragma once

#include "CoreFailure.h"
#include "parent/supervisor/supervisor.h"

enum verdict {
	VERDICT_DONE,        /* the output file holds a result                  */
	VERDICT_REPORTED,    /* the child wrote a CoreFailure of its own        */
	VERDICT_FAILED,      /* nobody else will say what happened              */
	VERDICT_INTERRUPTED, /* this process was asked to stop                  */
};

/* What has come of a child that ended; is there a file at the output of the request? */
enum verdict failure_judge(const struct request *request, const struct outcome *outcome);

/* The failure behind VERDICT_FAILED. Free with core_failure_delete. */
struct core_failure *failure_new(const struct request *request, const struct outcome *outcome);
