/* SPDX-License-Identifier: MIT */
/* See output.h. */
#include "common/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "entity.h"
#include "memory.h"

static int
write_and_sync(const void *entity, FILE *file, const char *path, struct rot_error *err)
{
	if (rot_text_write(entity, file, err) < 0)
		return rot_error_prefix(err, "'%s'", path);
	if (fflush(file) != 0 || fsync(fileno(file)) < 0)
		return rot_error_set(err, errno, "cannot write '%s'", path);
	return 0;
}

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
	rc = write_and_sync(entity, file, temporary, err);
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
