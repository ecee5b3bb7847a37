/* SPDX-License-Identifier: MIT */
/* What points are called below tables and in legends. */
#ifndef SUPPORT_POINT_TITLE_H
#define SUPPORT_POINT_TITLE_H

/* "SERIES LABEL", with those between; one of them where the other is empty or the same. Fresh memory. */
char *point_title(const char *series, const char *between, const char *label);

#endif
