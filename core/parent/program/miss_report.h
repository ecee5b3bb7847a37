/* SPDX-License-Identifier: MIT */
/* Adds misses of a program that has ended to its output: by function, object and thread; conflicts; false sharing. */
#pragma once

#include "ProgramRunOutput.h"
#include "common/step_counts.h"
#include "parent/profile/counted_code.h"
#include "parent/profile/data.h"
#include "parent/translate/translator.h"

struct miss_report {
	const struct translator *translator;
	const struct counted_code *counted;
	struct data *data;
	struct symbol_files *files;
	const struct step_caches *caches;
};
void miss_report_add(struct program_run_output *output, const struct miss_report *report);
