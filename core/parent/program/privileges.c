/* SPDX-License-Identifier: MIT */
/* See privileges.h. */
#include "parent/program/privileges.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

bool
privileges_are_gained(const char *path)
{
	struct stat status;
	struct statvfs system;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) || statvfs(path, &system) < 0 ||
	    (system.f_flag & ST_NOSUID) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	       ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid()) ||
	       (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

bool
privileges_allow_tracing(void)
{
	return geteuid() == 0;
}
