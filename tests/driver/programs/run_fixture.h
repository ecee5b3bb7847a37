/* SPDX-License-Identifier: MIT */
/* Fixture of tests of "rot run" behind its options: runs with a core that answers as FAKE_CORE says (fake_core.c). */
#pragma once

#include <stdbool.h>

#define MAX_WORDS 12

/* Exit status and texts of the last run. */
extern int status;
extern char *out, *err;

/* How the next runs are: false at first. has_page: with a page beside the other plots; has_peaks: below a roof that is
 * known. */
extern bool is_strict, has_csv, is_all, is_narrow, has_page, has_peaks;

/* Fixtures around each test: a fresh folder. */
void run_setup(void);
void run_teardown(void);

/* "blocks", "none", "zen5", "blocks beside events": what counts. words: options and program, behind them NULL. */
void run(const char *architecture, const char *const *words);

#define RUN(architecture, ...) run(architecture, (const char *const[]){__VA_ARGS__, NULL})
