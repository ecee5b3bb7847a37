/* SPDX-License-Identifier: MIT */
/* rot machine: the data sheet of the machine. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/entry.h"
#include "base/output.h"
#include "commands/command.h"
#include "machine/machine.h"
#include "memory.h"
#include "plots/page.h"
#include "plots/places.h"
#include "roof/levels.h"
#include "rot.h"
#include "sheet/buffers.h"
#include "sheet/clocks.h"
#include "sheet/contexts.h"
#include "sheet/cores.h"
#include "sheet/handover.h"
#include "sheet/hazards.h"
#include "sheet/loaded.h"
#include "sheet/nodes.h"
#include "sheet/operations.h"
#include "sheet/pictures.h"
#include "sheet/places.h"
#include "sheet/prefetch.h"
#include "sheet/ranges.h"
#include "sheet/scheduling.h"
#include "sheet/sharing.h"
#include "sheet/writes.h"

struct machine_request {
	bool is_json;
	bool is_full;
	unsigned only; /* bits of parts; 0: all, or the quick ones */
	const char *output_name;
};

/* ---- parts ---- */

/* Each part is given in all forms at once. */
struct output {
	struct rot *rot;
	json_t *json;
	bool shows_text;
	char *text; /* of the part */
	size_t length;
	struct sheet_pictures pictures;
	struct places *places; /* of two parts; NULL: not measured */
};

static FILE *
text_begin(struct output *out)
{
	return open_memstream(&out->text, &out->length);
}

/* Before the pictures of the same part. */
static void
text_end(struct output *out, FILE *stream, const char *heading)
{
	fclose(stream);
	if (out->pictures.page)
		page_add_text(out->pictures.page, heading, out->text);
	if (out->shows_text) {
		puts(out->text);
		fflush(stdout);
	}
	free(out->text);
}

/* The answers first to last - 1. */
static void
show_answers(struct output *out, const struct sheet_answer *answers, int first, int last, const char *name,
	     const char *heading)
{
	FILE *stream = text_begin(out);

	sheet_print(answers + first, (size_t)(last - first), stream);
	text_end(out, stream, heading);
	json_object_set_new(out->json, name, sheet_json(answers + first, (size_t)(last - first)));
}

static int
measure_places(struct output *out, struct rot_error *err)
{
	autofree struct places *places = out->places ? NULL : rot_calloc(1, sizeof(*places));

	if (places && places_measure(out->rot, places, err) < 0)
		return -1;
	if (places)
		out->places = rot_keep(&places);
	return 0;
}

static int
show_caches(struct output *out, struct rot_error *err)
{
	autofree struct measured_curve *curves = rot_calloc(2, sizeof(*curves)); /* of latencies, of what stays */
	struct sheet_answer stores[WRITES_NR_ANSWERS];
	struct measured_levels levels;
	json_t *json;
	FILE *stream;

	if (levels_measure(out->rot, &levels, &curves[0], &curves[1], err) < 0 || measure_places(out, err) < 0 ||
	    writes_measure(out->rot, stores, err) < 0)
		return -1;
	stream = text_begin(out);
	levels_print(&levels, out->rot->machine, stream);
	text_end(out, stream, "Caches and memory");
	json = measured_levels_json(&levels, out->rot->machine);
	json_object_set_new(json, "curve", sheet_curve_json(&curves[0]));
	json_object_set_new(json, "staying", sheet_curve_json(&curves[1]));
	json_object_set_new(out->json, "levels", json);
	show_answers(out, out->places->answers, 0, PLACES_PAGE_BYTES, "caches", "Lines and ways");
	show_answers(out, stores, 0, WRITES_NR_ANSWERS, "stores", "Stores");
	sheet_pictures_draw_levels(&out->pictures, &levels, &curves[0]);
	sheet_pictures_draw_last_level(&out->pictures, &levels, &curves[1]);
	places_draw(out->places, 0, PLACES_PAGE_BYTES, &out->pictures);
	return 0;
}

static int
show_tlb(struct output *out, struct rot_error *err)
{
	if (measure_places(out, err) < 0)
		return -1;
	show_answers(out, out->places->answers, PLACES_PAGE_BYTES, PLACES_NR_ANSWERS, "tlb", "Translation");
	places_draw(out->places, PLACES_PAGE_BYTES, PLACES_NR_ANSWERS, &out->pictures);
	return 0;
}

static int
show_cores(struct output *out, struct rot_error *err)
{
	autofree struct cores *cores = rot_calloc(1, sizeof(*cores));
	FILE *stream;

	if (cores_measure(out->rot, cores, err) < 0)
		return -1;
	stream = text_begin(out);
	cores_print(cores, stream);
	text_end(out, stream, "Cores");
	json_object_set_new(out->json, "cores", cores_json(cores));
	cores_draw(cores, &out->pictures);
	return 0;
}

static int
show_clocks(struct output *out, struct rot_error *err)
{
	struct clocks clocks;
	FILE *stream;

	if (clocks_measure(out->rot, &clocks, err) < 0)
		return -1;
	stream = text_begin(out);
	clocks_print(&clocks, stream);
	text_end(out, stream, "Clocks");
	json_object_set_new(out->json, "clocks", clocks_json(&clocks));
	clocks_draw(&clocks, &out->pictures);
	return 0;
}

static int
show_operations(struct output *out, struct rot_error *err)
{
	struct operation_sheet sheet;
	int rc = operations_measure(out->rot, &sheet, err);

	if (rc == 0) {
		FILE *stream = text_begin(out);

		operations_print(&sheet, stream);
		text_end(out, stream, "Instructions");
		json_object_set_new(out->json, "operations", operations_json(&sheet));
		operations_draw(&sheet, &out->pictures);
	}
	operations_clear(&sheet);
	return rc;
}

/* In the order of their names. The first ones are quick; the others are shown with --full, or by name. */
#define NR_QUICK 7

static const char *const names[] = {
	"caches",   "tlb",    "cores",  "clocks",   "scheduling", "hazards", "operations", "buffers",
	"contexts", "ranges", "loaded", "prefetch", "handover",   "nodes",   "sharing",    NULL,
};

static const struct {
	int (*show)(struct output *out, struct rot_error *err);
	const struct sheet_part *list; /* instead */
} parts[] = {
	{.show = show_caches},      {.show = show_tlb},      {.show = show_cores},      {.show = show_clocks},
	{.list = &scheduling_part}, {.list = &hazards_part}, {.show = show_operations}, {.list = &buffers_part},
	{.list = &contexts_part},   {.list = &ranges_part},  {.list = &loaded_part},    {.list = &prefetch_part},
	{.list = &handover_part},   {.list = &nodes_part},   {.list = &sharing_part},
};

static int
show_list(struct output *out, const struct sheet_part *part, const char *name, struct rot_error *err)
{
	autofree void *measured = rot_calloc(1, part->bytes);

	if (part->measure(out->rot, measured, err) < 0)
		return -1;
	show_answers(out, measured, 0, (int)part->nr_answers, name, part->heading);
	part->draw(measured, &out->pictures);
	return 0;
}

/* ---- the command ---- */

static const struct option_row rows[] = {
	{.letter = "j",
	 .name = "json",
	 .about = "JSON instead of text, with the curves that answers are read from",
	 .offset = offsetof(struct machine_request, is_json)},
	{.letter = "o",
	 .name = "output",
	 .value = "NAME",
	 .about = "also write NAME.json, and draw the curves where the key plots says",
	 .type = OPTION_TEXT,
	 .offset = offsetof(struct machine_request, output_name)},
	{.name = "full",
	 .about = "also the parts that take longer",
	 .offset = offsetof(struct machine_request, is_full)},
	{.name = "only",
	 .value = "PART,...",
	 .about = "these parts, which rot help MACHINE.md lists, with commas between",
	 .type = OPTION_SET,
	 .offset = offsetof(struct machine_request, only),
	 .choices = names},
};

static const struct option_table table = {OPTION_ROWS(rows, struct machine_request)};

/* A part that fails is no reason to lose the others. -1: there is none, or Ctrl-C ended them. */
static int
show_parts(struct output *out, const struct machine_request *request, struct rot_error *err)
{
	int rc = -1;

	for (size_t i = 0; names[i] && !rot_interrupted(); i++) {
		if (!(request->only ? request->only & 1u << i : request->is_full || i < NR_QUICK))
			continue;
		if ((parts[i].show ? parts[i].show(out, err) : show_list(out, parts[i].list, names[i], err)) == 0)
			rc = 0;
		else if (!rot_interrupted()) {
			FILE *stream = text_begin(out);
			autofree char *line =
				rot_format("%s: cannot be told here: %s\n", names[i], rot_error_line(err));

			text_print_fitting(line, stream);
			text_end(out, stream, names[i]);
			json_object_set_new(out->json, names[i], json_pack("{s:s}", "failure", err->text));
		}
	}
	return rot_interrupted() ? -1 : rc;
}

/* JSON and page are complete, or not written. */
static int
write_files(const struct output *out, struct rot_error *err)
{
	const char *name = out->pictures.output_name;

	if (!name)
		return 0;
	if (output_take_json(json_incref(out->json), name, err) < 0)
		return -1;
	return out->pictures.page ? page_write(out->pictures.page, NULL, 0, out->rot, name, err) : 0;
}

static int
machine_run(struct command_context *context, void *options, int argc, char **argv, struct rot_error *err)
{
	const struct machine_request *request = options;
	struct rot *rot = command_rot(context, err);
	json_auto_t *json = json_pack("{s:s}", "schema", "rot.machine/1");
	struct output out = {.rot = rot, .json = json, .shows_text = !request->is_json};
	struct rot_error failure = {0};
	int rc;

	(void)argc;
	(void)argv;
	if (!rot || (request->output_name && output_check(request->output_name, err) < 0))
		return -1;
	out.pictures = (struct sheet_pictures){.rot = rot, .output_name = request->output_name, .failure = &failure};
	if (request->output_name && plots_go_to(rot->configuration, PLOTS_ON_PAGE)) {
		autofree char *machine = machine_caption(rot->machine),
			      *title = rot_format("%s: its data sheet", machine);

		out.pictures.page = page_new(title);
	}
	if (!request->output_name && plots_go_to(rot->configuration, PLOTS_ON_PAGE))
		rot_note("no page is written, as it has no name: rot machine -o NAME -plots=html");
	rc = show_parts(&out, request, err);
	if (rc == 0 && request->is_json) {
		json_dumpf(json, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	if (rc == 0)
		rc = write_files(&out, err);
	if (rc == 0 && failure.text[0]) {
		*err = failure;
		rc = -1;
	}
	if (!request->is_json)
		output_print_told();
	page_delete(out.pictures.page);
	free(out.places);
	return rc;
}

const struct command machine_command = {
	.name = "machine",
	.arguments = "",
	.summary = "the data sheet of this machine: caches, TLBs, cores and instructions, measured",
	.examples =
		(const struct command_example[]){
			{"rot machine", "what is told of the machine within a minute"},
			{"rot machine --full", "all parts, in a minute or two"},
			{"rot machine --only=caches,tlb --json", "two parts, with curves"},
			{"rot machine -o sheet -plots=html", "one page with the curves: sheet.html"},
			{0},
		},
	.description =
		"Measures by time alone, without privileges, beside what the processor's documents allow. Answers "
		"that cannot be told here have a reason instead. Results are kept: -useCachedResults=false "
		"measures again. rot help MACHINE.md explains each answer.",
	.options = &table,
	.has_time_report = true,
	.run = machine_run,
};
