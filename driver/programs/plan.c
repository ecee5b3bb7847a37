/* SPDX-License-Identifier: MIT */
/* Quantities are added as long as their events fit into the passes. */
#include "programs/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/value_text.h"
#include "quantities/vocabulary.h"
#include "rot.h"

const struct architecture *
program_architecture(const struct rot *rot, bool has_regions)
{
	return rot->architecture->of_programs && !has_regions ? rot->architecture->of_programs : rot->architecture;
}

/*
 * Quantities, most useful first. A row is not needed where another one is counted that says more. Parts of another row
 * have no ratios.
 */
static const struct wanted {
	const char *quantity, *of, *instead;
	bool is_part;
} wanted[] = {
	{"operationCount", "flop", NULL, false},
	{"transferredBytes", "llcRam", NULL, false},
	{"transferredBytes", "llcRam.read", "llcRam", false},
	{"time", "coreCycles", NULL, false},
	{"instructions", "", NULL, false},
	{"transferredBytes", "l2l3", NULL, false},
	{"transferredBytes", "l2l3.read", "l2l3", false},
	{"operationCount", "doublePrecisionFlop", NULL, false},
	{"operationCount", "singlePrecisionFlop", NULL, false},
	{"operationCount", "integerOperation", NULL, true},
	{"maskedOperations", "", NULL, true},
	{"transferredBytes", "l1l2", NULL, false},
	{"transferredBytes", "l1l2.read", "l1l2", false},
	{"transferredBytes", "cpuL1", NULL, false},
	{"transferredBytes", "cpuL1.read", NULL, true},
	{"transferredBytes", "cpuL1.write", NULL, true},
	{"tlbMisses", "", NULL, false},
};
enum { NR_WANTED = sizeof(wanted) / sizeof(wanted[0]) };

static const char wall[] = "microSeconds";

/* One call of program_plan_make. */
struct choice {
	const struct architecture *architecture;
	bool is_timed;
	bool is_counted[NR_WANTED];
	const struct architecture_formula *formulas[NR_WANTED];
	size_t nr;
};

static bool
counts(const struct choice *choice, const char *quantity, const char *of)
{
	for (size_t i = 0; of && i < NR_WANTED; i++)
		if (choice->is_counted[i] && strcmp(wanted[i].quantity, quantity) == 0 && strcmp(wanted[i].of, of) == 0)
			return true;
	return false;
}

/*
 * Counters cost a program nothing, so that it is timed beside them; a program that is translated
 * is not to be timed.
 */
static bool
needs_clock(const struct architecture *architecture, size_t nr_formulas)
{
	return nr_formulas == 0 || architecture->counts_by_steps;
}

/* Nothing is expected of a program. */
static const struct quantity_expectation nothing = {.operations = NAN, .bytes = NAN, .is_of_program = true};

/* A formula is not enough: caches of unknown sizes cannot be modelled, and a TLB is if it is named. */
static bool
can_be_counted(const struct architecture *architecture, size_t i)
{
	const struct quantity_request request = quantity_request_of(wanted[i].quantity, wanted[i].of);
	struct quantity_resolution resolution;

	if (strcmp(request.name, "tlbMisses") == 0 && !architecture->stepping.counts_tlb)
		return false;
	return quantity_resolve(&resolution, architecture, &request, wall, &nothing, NULL) == 0;
}

/* Counts row i if it fits; without a limit everything does. */
static int
try(struct choice *choice, size_t i, size_t max_passes, struct rot_error *err)
{
	const struct architecture_formula *formula =
		architecture_formula_of_threads(choice->architecture, wanted[i].quantity, wanted[i].of);
	const bool needs = choice->is_timed && needs_clock(choice->architecture, choice->nr + 1);
	const size_t nr_clock = needs; /* what cannot be spared is not counted */
	struct pass_plan passes;
	int rc;

	if (!formula || counts(choice, wanted[i].quantity, wanted[i].instead) ||
	    !can_be_counted(choice->architecture, i))
		return 0;
	choice->formulas[choice->nr] = formula;
	rc = pass_plan_make(&passes, choice->architecture, choice->formulas, choice->nr + 1, needs, err);
	if (rc == 0 && passes.nr_passes - nr_clock <= max_passes) {
		choice->is_counted[i] = true;
		choice->nr++;
	}
	pass_plan_clear(&passes);
	return rc;
}

static int
choose_passes(struct choice *choice, const struct architecture *architecture, size_t max_passes, bool is_timed,
	      struct pass_plan *passes, struct rot_error *err)
{
	*choice = (struct choice){.architecture = architecture, .is_timed = is_timed};
	for (size_t i = 0; i < NR_WANTED; i++)
		if (try(choice, i, max_passes, err) < 0)
			return -1;
	return pass_plan_make(passes, architecture, choice->formulas, choice->nr,
			      is_timed && needs_clock(architecture, choice->nr), err);
}

/* ---- requests ---- */

static int
add_with_clock(struct program_plan *plan, const struct architecture *architecture,
	       const struct quantity_request *request, const char *clock, struct rot_error *err)
{
	plan->requests = rot_realloc(plan->requests, plan->nr + 1, sizeof(*plan->requests));
	plan->resolutions = rot_realloc(plan->resolutions, plan->nr + 1, sizeof(*plan->resolutions));
	plan->requests[plan->nr] = *request;
	return quantity_resolve(&plan->resolutions[plan->nr++], architecture, request, clock, &nothing, err);
}

static int
add_request(struct program_plan *plan, const struct architecture *architecture, const struct quantity_request *request,
	    struct rot_error *err)
{
	return add_with_clock(plan, architecture, request, wall, err);
}

/* Quantities shown first, in this order; the others follow as wanted has them. */
static const char *const first_shown[] = {"time", "instructions", "operationCount", "maskedOperations"};
enum { NR_FIRST_SHOWN = sizeof(first_shown) / sizeof(*first_shown) };

static size_t
place_of(const char *quantity)
{
	size_t place = 0;

	while (place < NR_FIRST_SHOWN && strcmp(first_shown[place], quantity) != 0)
		place++;
	return place;
}

static int
add_counts(struct program_plan *plan, const struct choice *choice, struct rot_error *err)
{
	int rc = 0;

	for (size_t place = 0; place <= NR_FIRST_SHOWN; place++)
		for (size_t i = 0; rc == 0 && i < NR_WANTED; i++) {
			const struct quantity_request request = quantity_request_of(wanted[i].quantity, wanted[i].of);

			if (choice->is_counted[i] && place_of(wanted[i].quantity) == place)
				rc = add_request(plan, choice->architecture, &request, err);
		}
	return rc;
}

static bool
has_ratios(const struct choice *choice, size_t i)
{
	return choice->is_counted[i] && !wanted[i].is_part && strcmp(wanted[i].quantity, "transferredBytes") == 0;
}

/* Rates, where time is measured, and intensities of every border counted. */
static int
add_ratios(struct program_plan *plan, const struct choice *choice, struct rot_error *err)
{
	const struct quantity_request performance = {
		.name = "performance", .operation = plan->operation, .clock = wall};
	int rc = plan->operation && choice->is_timed ? add_request(plan, choice->architecture, &performance, err) : 0;

	for (size_t i = 0; rc == 0 && choice->is_timed && i < NR_WANTED; i++) {
		const struct quantity_request throughput = {
			.name = "throughput", .border = wanted[i].of, .clock = wall};

		if (has_ratios(choice, i))
			rc = add_request(plan, choice->architecture, &throughput, err);
	}
	for (size_t i = 0; rc == 0 && plan->operation && i < NR_WANTED; i++) {
		const struct quantity_request intensity = {
			.name = "operationalIntensity", .operation = plan->operation, .border = wanted[i].of};

		if (has_ratios(choice, i))
			rc = add_request(plan, choice->architecture, &intensity, err);
	}
	return rc;
}

/* The first row counted of that quantity, or NULL. */
static const char *
first_counted(const struct choice *choice, const char *quantity)
{
	for (size_t i = 0; i < NR_WANTED; i++)
		if (choice->is_counted[i] && strcmp(wanted[i].quantity, quantity) == 0)
			return wanted[i].of;
	return NULL;
}

/* "bytes (LLC-RAM), ...": what more passes would count. */
static char *
name_left_out(const struct choice *choice, const struct choice *all)
{
	char *names = rot_strdup("");

	for (size_t i = 0; i < NR_WANTED; i++) {
		const struct quantity_value value = {.name = wanted[i].quantity, .of = wanted[i].of};
		autofree char *label = NULL;

		if (choice->is_counted[i] || !all->is_counted[i])
			continue;
		label = value_label(&value);
		rot_append(&names, "%s%s", *names ? ", " : "", label);
	}
	return names;
}

int
program_plan_make(struct program_plan *plan, const struct architecture *architecture, size_t max_passes, bool is_timed,
		  struct rot_error *err)
{
	const struct quantity_request time = {.name = "time", .clock = wall};
	struct choice choice, all;
	struct pass_plan passes_of_all = {.nr_passes = 0};
	int rc = -1;

	*plan = (struct program_plan){.is_timed = is_timed};
	if (choose_passes(&choice, architecture, max_passes, is_timed, &plan->passes, err) < 0 ||
	    choose_passes(&all, architecture, SIZE_MAX, is_timed, &passes_of_all, err) < 0)
		goto out;
	plan->operation = first_counted(&choice, "operationCount");
	plan->border = first_counted(&choice, "transferredBytes");
	plan->left_out = name_left_out(&choice, &all);
	plan->nr_passes_of_all = passes_of_all.nr_passes;
	if ((is_timed && add_request(plan, architecture, &time, err) < 0) || add_counts(plan, &choice, err) < 0)
		goto out;
	rc = add_ratios(plan, &choice, err);
out:
	pass_plan_clear(&passes_of_all);
	return rc;
}

/* ---- what is asked for ---- */

static int
check_clock(const struct quantity_part *part, struct rot_error *err)
{
	if (part->source != PART_TSC)
		return 0;
	rot_error_set(err, 0, "the time stamp counter is not read for a program");
	return rot_error_hint(err, "use the clock microSeconds or coreCycles");
}

static size_t
collect_formulas(const struct program_plan *plan, const struct architecture_formula **formulas)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct quantity_resolution *resolution = &plan->resolutions[i];

		if (resolution->numerator.source == PART_COUNTED)
			formulas[nr++] = resolution->numerator.formula;
		if (resolution->has_denominator && resolution->denominator.source == PART_COUNTED)
			formulas[nr++] = resolution->denominator.formula;
	}
	return nr;
}

int
program_plan_of(struct program_plan *plan, const struct architecture *architecture,
		const struct quantity_request *requests, size_t nr_requests, const char *default_clock,
		struct rot_error *err)
{
	autofree const struct architecture_formula **formulas = rot_calloc(2 * nr_requests + 1, sizeof(*formulas));
	const char *clock = strcmp(default_clock, "auto") == 0 ? wall : default_clock;
	size_t nr;
	int rc = 0;

	*plan = (struct program_plan){.left_out = rot_strdup("")};
	for (size_t i = 0; rc == 0 && i < nr_requests; i++) {
		struct quantity_request request = requests[i];

		if (request.clock && strcmp(request.clock, "auto") == 0)
			request.clock = NULL;
		rc = add_with_clock(plan, architecture, &request, clock, err);
		if (rc == 0)
			rc = check_clock(&plan->resolutions[i].numerator, err);
		if (rc == 0)
			rc = check_clock(&plan->resolutions[i].denominator, err);
	}
	nr = rc == 0 ? collect_formulas(plan, formulas) : 0;
	if (rc == 0)
		rc = pass_plan_make(&plan->passes, architecture, formulas, nr, needs_clock(architecture, nr), err);
	plan->nr_passes_of_all = plan->passes.nr_passes;
	return rc;
}

static bool
is_modelled(const struct architecture_formula *formula)
{
	return formula && strcmp(formula->kind, "modelled") == 0;
}

bool
program_plan_has_caches(const struct program_plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (is_modelled(plan->resolutions[i].numerator.formula) ||
		    is_modelled(plan->resolutions[i].denominator.formula))
			return true;
	return false;
}

struct program_slowdown
program_slowdown(bool has_caches)
{
	return has_caches ? (struct program_slowdown){4, 27} : (struct program_slowdown){1.1, 4};
}

bool
program_plan_steps(const struct program_plan *plan)
{
	bool steps = false;

	for (size_t i = 0; i < plan->passes.nr_passes; i++)
		steps |= plan->passes.passes[i].is_stepped;
	return steps;
}

static bool
can_be_had(const struct program_plan *plan, const struct quantity_part *part)
{
	for (size_t i = 0; part->source == PART_COUNTED && i < part->formula->nr_events; i++)
		if (pass_plan_find(&plan->passes, part->formula->events[i]) == plan->passes.nr_passes)
			return false;
	return true;
}

void
program_plan_cut(struct program_plan *plan, size_t nr_passes)
{
	size_t nr = 0;

	plan->passes.nr_passes = nr_passes;
	for (size_t i = 0; i < plan->nr; i++) {
		const struct quantity_resolution *resolution = &plan->resolutions[i];

		if (!can_be_had(plan, &resolution->numerator) ||
		    (resolution->has_denominator && !can_be_had(plan, &resolution->denominator)))
			continue;
		plan->requests[nr] = plan->requests[i];
		plan->resolutions[nr++] = *resolution;
	}
	plan->nr = nr;
}

void
program_plan_clear(struct program_plan *plan)
{
	free(plan->requests);
	free(plan->resolutions);
	free(plan->left_out);
	pass_plan_clear(&plan->passes);
	*plan = (struct program_plan){.nr = 0};
}
