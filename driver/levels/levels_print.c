/* SPDX-License-Identifier: MIT */
/* The levels as a table, and as a controller: rot measure levels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "levels/levels.h"
#include "machine/machine.h"
#include "memory.h"
#include "rot.h"
#include "support/text_table.h"

/* A measured size within this factor of what was told is that size: footprints lie a quarter of an octave apart, and
 * one step is left for those who share the cache. */
#define AGREEMENT 1.6

const char *
levels_verdict(int64_t told, const struct measured_level *found)
{
	double ratio = found && told ? (double)found->bytes / (double)told : NAN;

	if (!found)
		return told ? "not seen: it is hidden by others who use it, or not there" : "not found";
	if (!told)
		return "only measured";
	if (ratio * AGREEMENT < 1)
		return "smaller than told: others use it, or a guest gets a part";
	return ratio > AGREEMENT ? "larger than told" : "agrees";
}

static char *
told_text(int64_t bytes, const char *source, const struct machine *machine, bool is_last)
{
	char *size = machine_size_text(strcmp(source, "measured") == 0 ? 0 : bytes), *text;
	char *most = machine_size_text(machine->package_llc_bytes);

	if (bytes && strcmp(source, "measured") != 0)
		text = rot_format("%s (%s)", size, source);
	else if (is_last && machine->package_llc_bytes)
		text = rot_format("at most %s (the package)", most);
	else
		text = rot_strdup(size);
	free(size);
	free(most);
	return text;
}

static const struct text_table_column columns[] = {
	{"level", true}, {"told", true},    {"measured", false}, {"fits", false},
	{"ns", false},   {"cycles", false}, {"", true},
};

/* Takes told over. */
static void
add_row(struct text_table *table, const char *name, char *told, const struct measured_level *found, const char *verdict)
{
	char *const cells[] = {
		rot_strdup(name),
		told,
		found && found->bytes ? machine_size_text(found->bytes) : rot_strdup("-"),
		found && found->fitting_bytes ? machine_size_text(found->fitting_bytes) : rot_strdup("-"),
		found ? rot_format("%.3g", found->ns) : rot_strdup("-"),
		found && isfinite(found->cycles) ? rot_format("%.3g", found->cycles) : rot_strdup("-"),
		rot_strdup(verdict),
	};

	text_table_add(table, cells);
}

void
levels_print(const struct measured_levels *levels, const struct machine *machine, FILE *out)
{
	const struct {
		const char *name;
		int64_t bytes;
		const char *source;
	} caches[] = {{"L1 data", machine->l1_data_bytes, machine->l1_data_source},
		      {"L2", machine->l2_bytes, machine->l2_source},
		      {"last level", machine->llc_bytes, machine->llc_source}};
	struct text_table table = {.columns = columns,
				   .nr_columns = sizeof(columns) / sizeof(columns[0]),
				   .nr_keys = 1,
				   .is_all_shown = true};

	for (int i = 0; i < 3; i++) {
		const struct measured_level *found = measured_level_of(levels, machine, i);
		bool is_told = strcmp(caches[i].source, "measured") != 0;

		add_row(&table, caches[i].name, told_text(caches[i].bytes, caches[i].source, machine, i == 2), found,
			levels_verdict(is_told ? caches[i].bytes : 0, found));
	}
	if (levels->nr)
		add_row(&table, "memory", rot_strdup("-"), &levels->levels[levels->nr - 1], "");
	text_table_print(&table, out);
	text_table_clear(&table);
	fputs("\nmeasured: footprint of which half the accesses miss; fits: of which at most a tenth do; ns, cycles: "
	      "an access that "
	      "waits for the one before\n",
	      out);
	if (!levels->is_steady)
		fputs("The runs do not agree: others used the machine. Measure again when nothing else runs: rot "
		      "remeasure levels\n",
		      out);
}

static int
measure_levels(struct rot *rot, const struct rot_controller *self, const char *output_name, struct rot_error *err)
{
	struct measured_levels levels;

	(void)self;
	(void)output_name;
	if (levels_measure(rot, &levels, err) < 0)
		return -1;
	machine_take_measured(rot->machine, &levels);
	levels_print(&levels, rot->machine, stdout);
	return 0;
}

const struct rot_controller levels_controller = {
	.name = "levels",
	.description = "the sizes and latencies of caches and memory, measured, beside what the machine tells",
	.measure = measure_levels,
};
