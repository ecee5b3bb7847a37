/* SPDX-License-Identifier: MIT */
/* What every test program needs: to run its suite, to find files of the two trees, folders and files of its own. */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <check.h>

/* How many elements an array has, as check's loop tests count them. */
#define NR_ELEMENTS(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The exit status of a test that this machine cannot run. */
#define TEST_SKIPPED 77

/* Runs and deletes the suite: 0 when all passed, otherwise 1. */
int suite_run(Suite *suite);

/* The path of a file of the source tree and of the build tree (free). */
char *source_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *built_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A fresh folder; temporary_folder_delete removes it with all in it and frees the name (NULL: nothing). */
char *temporary_folder_new(void);
void temporary_folder_delete(char *folder);

/* The content of the file (free). The program ends if it cannot be read. */
char *file_text(const char *path);

/* Makes the file hold just this text. The program ends if it cannot be written. */
void file_fill(const char *path, const char *text);

/* The test fails unless the text is that of the file of the source tree; with GOLDEN=write the file is made so. */
void expect_golden(const char *path, const char *text);

/* Writes folder/name, with the folders that name needs, and returns its path (free). */
char *folder_write(const char *folder, const char *name, const char *text);

#endif
