/* SPDX-License-Identifier: MIT */
#include "common/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "entity.h"
#include "memory.h"

int
output_write(const void *entity, const char *path, struct rot_error *err)
{
	char *temporary = rot_format("%s.new", path);
	FILE *file = fopen(temporary, "we");
	int rc = -1;

	if (!file) {
		rot_error_set(err, errno, "cannot write '%s'", temporary);
		goto out;
	}
	rc = rot_text_write(entity, file, err);
	if (rc < 0)
		rot_error_prefix(err, "'%s'", temporary);
	if (fclose(file) != 0 && rc == 0)
		rc = rot_error_set(err, errno, "cannot write '%s'", temporary);
	if (rc == 0 && rename(temporary, path) < 0)
		rc = rot_error_set(err, errno, "cannot rename '%s' to '%s'", temporary, path);
	if (rc < 0)
		unlink(temporary);
out:
	free(temporary);
	return rc;
}
