/* SPDX-License-Identifier: MIT */
/* Temporary folders with files, for tests. */
#ifndef TESTS_FOLDERS_H
#define TESTS_FOLDERS_H

/* A fresh folder; delete it with folder_delete, which also frees the name. */
char *folder_new(void);
void folder_delete(char *folder);

/* Writes folder/name (name may have one folder in it) and returns its path (free). */
char *folder_write(const char *folder, const char *name, const char *content);

/* "$top_srcdir/RELATIVE" (free). */
char *source_path(const char *relative);

#endif
