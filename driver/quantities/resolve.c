/* SPDX-License-Identifier: MIT */
/* From a request to how its parts are obtained. */
#include "quantities/resolve.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "memory.h"
#include "quantities/expected.h"
#include "quantities/pass.h"
#include "quantities/remarks.h"
#include "quantities/vocabulary.h"

/* ---- why steps do not count ---- */

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

/* NULL for STEPS_CAN. */
static const struct remark *
remark_of(enum step_obstacle obstacle)
{
	static const char *const codes[NR_STEP_OBSTACLES] = {
		[STEPS_CAN] = "",
		[STEPS_OF_OTHERS] = "severalWorkloads",
		[STEPS_TOO_MANY] = "stepLimit",
		[STEPS_LATE] = "timeLimit",
		[STEPS_REFUSED] = "refused",
		[STEPS_CUT_MEMORY] = "memory",
		[STEPS_FROM_FULL] = "fullCaches",
		[STEPS_WITHOUT_CACHES] = "unknownCaches",
	};

	return remark_find(REMARK_OBSTACLE, codes[obstacle]);
}

const char *
step_obstacle_text(enum step_obstacle obstacle)
{
	const struct remark *remark = remark_of(obstacle);

	return remark ? remark->text : "";
}

const char *
step_obstacle_hint(enum step_obstacle obstacle)
{
	const struct remark *remark = remark_of(obstacle);

	return remark ? remark->advice : "";
}

/* ---- of all that a measurement does ---- */

int
step_obstacle_of_work(struct rot *rot, const struct architecture *architecture, const struct measurement *measurement,
		      enum step_obstacle *obstacle, double *steps, struct rot_error *err)
{
	*obstacle = STEPS_CAN;
	*steps = 0;
	if (!architecture->counts_by_steps)
		return 0;
	if (measurement_has_own_threads(measurement) && measurement_nr_workloads(measurement) > 1)
		*obstacle = STEPS_OF_OTHERS;
	else if (!measured_action(measurement) && expected_steps_of(rot, measurement, steps, err) < 0)
		return -1;
	else if (architecture->cannot_step)
		*obstacle = STEPS_REFUSED;
	else if (*steps > (double)architecture->stepping.limit)
		*obstacle = STEPS_TOO_MANY;
	return 0;
}

/* ---- of one quantity of it ---- */

/* The sizes of all caches that are nearer to the core than the border. */
static bool
knows_caches(const struct machine *machine, const char *border)
{
	static const char *const borders[] = {"l1l2", "l2l3", "llcRam"};
	const bool is_known[] = {machine && machine->l1_data_bytes > 0, machine && machine->l2_bytes > 0,
				 machine && machine->llc_bytes > 0};

	for (size_t i = 0; i < NR_ELEMENTS(borders) && is_known[i]; i++)
		if (strncmp(borders[i], border, strlen(borders[i])) == 0)
			return true;
	return false;
}

static const char *const kinds[] = {"measured", "modelled", "expected", "given"};

const char *
quantity_weaker_kind(const char *a, const char *b)
{
	for (size_t i = NR_ELEMENTS(kinds); i-- > 0;)
		if (strcmp(a, kinds[i]) == 0 || strcmp(b, kinds[i]) == 0)
			return kinds[i];
	return kinds[0];
}

/* ---- parts ---- */

/* Although the architecture has a formula. */
static int
cannot_step(const char *quantity, const char *of, enum step_obstacle obstacle, struct rot_error *err)
{
	rot_error_set(err, 0, "%s%s%s cannot be counted here: %s; and nothing says what to expect", quantity,
		      *of ? " of " : "", of, step_obstacle_text(obstacle));
	return rot_error_hint(err, "%s; or state it: in the kernel's XML, or as operations or bytes of <quantity>",
			      step_obstacle_hint(obstacle));
}

static int
cannot_measure(const struct architecture *architecture, const char *quantity, const char *of, struct rot_error *err)
{
	const bool is_clock = strcmp(quantity, "time") == 0;
	const struct rot_error *refusal = architecture_refusal(architecture, quantity, of);
	const struct rot_error *reason = refusal ? refusal : &architecture->why_not;

	rot_error_set(err, 0, "%s%s%s cannot be measured here", quantity, *of ? " of " : "", of);
	if (reason->text[0])
		rot_error_append(err, ": %s", reason->text);
	else
		rot_error_append(err, ": no event of %s gives it", architecture->title);
	if (!is_clock)
		rot_error_append(err, "; and nothing says what to expect");
	if (reason->hint[0])
		return rot_error_hint(err, "%s", reason->hint);
	if (is_clock)
		return rot_error_hint(err, "use the clock tsc or microSeconds");
	return rot_error_hint(
		err, "\"rot list quantities\" shows what can be measured here; or state it: in the kernel's XML, or as "
		     "operations or bytes of <quantity>");
}

/* False: there is no formula, or *obstacle says why it is not used. */
static bool
part_count(struct quantity_part *part, const struct architecture *architecture, const char *quantity, const char *of,
	   const struct quantity_expectation *expectation, enum step_obstacle *obstacle)
{
	const struct architecture_formula *formula =
		expectation->is_of_program ? architecture_formula_of_threads(architecture, quantity, of)
					   : architecture_formula(architecture, quantity, of);

	*obstacle = formula ? expectation->obstacle : STEPS_CAN;
	if (!formula)
		return false;
	/* Modelled are lines that cross a border, and translations, whose model has no sizes. */
	if (architecture->counts_by_steps && *obstacle == STEPS_CAN && strcmp(formula->kind, "modelled") == 0) {
		if (expectation->is_of_action) /* caches hold something when it begins */
			*obstacle = STEPS_FROM_FULL;
		else if (*formula->of && !knows_caches(architecture->stepping.caches.machine, formula->of))
			*obstacle = STEPS_WITHOUT_CACHES;
	}
	if (*obstacle != STEPS_CAN)
		return false;
	*part = (struct quantity_part){.source = PART_COUNTED,
				       .formula = formula,
				       .kind = formula->kind,
				       .text = formula->source,
				       .grade = formula->grade};
	return true;
}

/* given: 0 if it is not. expected: NaN if nothing is. */
struct known_work {
	double given, expected;
	const char *text; /* where expected comes from */
};

static int
part_work(struct quantity_part *part, const struct architecture *architecture, const char *quantity, const char *of,
	  struct known_work known, const struct quantity_expectation *expectation, struct rot_error *err)
{
	enum step_obstacle obstacle;

	if (known.given > 0) {
		*part = (struct quantity_part){
			.source = PART_KNOWN, .known = known.given, .kind = "given", .text = "given"};
		return 0;
	}
	if (part_count(part, architecture, quantity, of, expectation, &obstacle))
		return 0;
	if (isnan(known.expected))
		return obstacle == STEPS_CAN ? cannot_measure(architecture, quantity, of, err)
					     : cannot_step(quantity, of, obstacle, err);
	*part = (struct quantity_part){.source = PART_KNOWN,
				       .known = known.expected,
				       .kind = "expected",
				       .text = known.text,
				       .obstacle = obstacle,
				       .refusal = architecture_refusal(architecture, quantity, of)};
	return 0;
}

static int
part_operations(struct quantity_part *part, const struct architecture *architecture,
		const struct quantity_request *request, const struct quantity_expectation *expectation,
		struct rot_error *err)
{
	const struct known_work known = {request->given_operations, expectation->operations, "kernel definition"};

	return part_work(part, architecture, "operationCount", request->operation, known, expectation, err);
}

static int
part_bytes(struct quantity_part *part, const struct architecture *architecture, const struct quantity_request *request,
	   const struct quantity_expectation *expectation, struct rot_error *err)
{
	/* No kernel says what others move. */
	const bool is_bus = strncmp(request->border, "memoryBus", strlen("memoryBus")) == 0;
	const struct known_work known = {request->given_bytes, is_bus ? NAN : expectation->bytes,
					 expectation->is_cold_only ? "kernel definition, for cold data"
								   : "kernel definition"};

	return part_work(part, architecture, "transferredBytes", request->border, known, expectation, err);
}

static int
part_time(struct quantity_part *part, const struct architecture *architecture, const struct quantity_request *request,
	  const struct quantity_expectation *expectation, struct rot_error *err)
{
	if (strcmp(request->clock, "tsc") == 0)
		*part = (struct quantity_part){.source = PART_TSC, .kind = "measured", .text = "time stamp counter"};
	else if (strcmp(request->clock, "microSeconds") == 0)
		*part = (struct quantity_part){.source = PART_WALL, .kind = "measured", .text = "CLOCK_MONOTONIC_RAW"};
	else if (part_count(part, architecture, "time", request->clock, expectation, &(enum step_obstacle){STEPS_CAN}))
		return 0;
	else if (expectation->can_probe_clock && strcmp(request->clock, "coreCycles") == 0)
		*part = (struct quantity_part){.source = PART_PROBED,
					       .kind = "modelled",
					       .text = "time stamp counter * clock probe",
					       .grade = architecture->probed_grade};
	else
		return cannot_measure(architecture, "time", request->clock, err);
	return 0;
}

static int
part_plain(struct quantity_part *part, const struct architecture *architecture, const struct quantity_request *request,
	   const struct quantity_expectation *expectation, struct rot_error *err)
{
	static const struct {
		const char *name;
		struct quantity_part part;
	} told[] = {
		{"contextSwitches",
		 {.source = PART_SWITCHES, .kind = "measured", .text = "getrusage: voluntary and involuntary"}},
		{"migrations", {.source = PART_MOVES, .kind = "measured", .text = "sched_getcpu: before and after"}},
	};

	for (size_t i = 0; i < NR_ELEMENTS(told); i++) {
		if (strcmp(request->name, told[i].name) == 0) {
			*part = told[i].part;
			return 0;
		}
	}
	return part_work(part, architecture, request->name, "", (struct known_work){.expected = NAN, .text = ""},
			 expectation, err);
}

typedef int part_resolver(struct quantity_part *part, const struct architecture *architecture,
			  const struct quantity_request *request, const struct quantity_expectation *expectation,
			  struct rot_error *err);

/* The parts of each quantity; plain counts are not listed. */
static const struct {
	const char *name;
	part_resolver *numerator, *denominator;
} recipes[] = {
	{"time", part_time, NULL},
	{"operationCount", part_operations, NULL},
	{"transferredBytes", part_bytes, NULL},
	{"performance", part_operations, part_time},
	{"throughput", part_bytes, part_time},
	{"operationalIntensity", part_operations, part_bytes},
};

/* ---- the whole ---- */

static double
expected_value(const struct quantity_request *request, const struct quantity_expectation *expectation)
{
	if (strcmp(request->name, "operationCount") == 0)
		return expectation->operations;
	if (expectation->is_cold_only)
		return NAN;
	if (strcmp(request->name, "transferredBytes") == 0)
		return expectation->bytes;
	if (strcmp(request->name, "operationalIntensity") == 0)
		return expectation->operations / expectation->bytes;
	return NAN;
}

static double
compulsory_value(const struct quantity_request *request, const struct quantity_expectation *expectation)
{
	if (expectation->is_cold_only || !(expectation->compulsory > 0))
		return 0;
	if (strcmp(request->name, "transferredBytes") == 0)
		return expectation->compulsory;
	if (strcmp(request->name, "operationalIntensity") == 0 && expectation->operations > 0)
		return expectation->operations / expectation->compulsory;
	return 0;
}

/* Leaving out the runs that have what is counted would always count nothing. */
static unsigned
counted_disturbances(const char *name)
{
	if (strcmp(name, "contextSwitches") == 0 || strcmp(name, "migrations") == 0)
		return TAINT_CONTEXT_SWITCH | TAINT_MIGRATION;
	return strcmp(name, "interrupts") == 0 ? TAINT_CONTEXT_SWITCH : 0;
}

int
quantity_resolve(struct quantity_resolution *resolution, const struct architecture *architecture,
		 const struct quantity_request *request, const char *default_clock,
		 const struct quantity_expectation *expectation, struct rot_error *err)
{
	part_resolver *numerator = part_plain, *denominator = NULL;

	*resolution = (struct quantity_resolution){.request = *request};
	if (quantity_request_check(&resolution->request, err) < 0)
		return -1;
	for (size_t i = 0; i < NR_ELEMENTS(recipes); i++) {
		if (strcmp(recipes[i].name, resolution->request.name) == 0) {
			numerator = recipes[i].numerator;
			denominator = recipes[i].denominator;
		}
	}
	if (quantity_kind_find(resolution->request.name)->takes[WORD_CLOCK]) {
		const char *clock = resolution->request.clock ? resolution->request.clock : default_clock;
		const struct architecture_formula *cycles = architecture_formula(architecture, "time", "coreCycles");

		if (strcmp(clock, "auto") == 0)
			clock = cycles && cycles->grade != 'F' ? "coreCycles" : "microSeconds";
		resolution->request.clock = quantity_word_find(WORD_CLOCK, clock)->name;
	}
	resolution->has_denominator = denominator != NULL;
	resolution->is_time_numerator = numerator == part_time;
	resolution->is_time_denominator = denominator == part_time;
	if (numerator(&resolution->numerator, architecture, &resolution->request, expectation, err) < 0 ||
	    (denominator &&
	     denominator(&resolution->denominator, architecture, &resolution->request, expectation, err) < 0))
		return -1;
	/* Wall time is read in ns: us for a time, s in a rate. */
	resolution->scale = resolution->numerator.source == PART_WALL                    ? 1e-3
			    : denominator && resolution->denominator.source == PART_WALL ? 1e9
											 : 1;
	resolution->ignored_taints = counted_disturbances(resolution->request.name);
	resolution->expected = expected_value(&resolution->request, expectation);
	resolution->compulsory = compulsory_value(&resolution->request, expectation);
	return 0;
}

/* ---- names ---- */

char *
quantity_resolution_of(const struct quantity_resolution *resolution)
{
	const struct quantity_request *request = &resolution->request;

	if (request->operation && request->border)
		return rot_format("%s/%s", request->operation, request->border);
	if (request->operation || request->border)
		return rot_strdup(request->operation ? request->operation : request->border);
	return rot_strdup(request->clock);
}

static const char *
word_unit(enum word_role role, const char *name)
{
	const struct quantity_word *word = name ? quantity_word_find(role, name) : NULL;

	return word ? word->unit : NULL;
}

char *
quantity_resolution_unit(const struct quantity_resolution *resolution)
{
	const struct quantity_request *request = &resolution->request;
	const char *operation = word_unit(WORD_OPERATION, request->operation),
		   *byte = word_unit(WORD_BORDER, request->border);
	const char *clock = word_unit(WORD_CLOCK, request->clock);
	const char *work = operation ? operation : byte;

	if (operation && byte)
		return rot_format("%s/%s", operation, byte);
	if (work && clock)
		return rot_format("%s/%s", work, resolution->denominator.source == PART_WALL ? "s" : clock);
	if (work || clock)
		return rot_strdup(work ? work : clock);
	return rot_strdup(quantity_kind_find(request->name)->unit);
}

const char *
quantity_resolution_kind(const struct quantity_resolution *resolution)
{
	if (!resolution->has_denominator)
		return quantity_weaker_kind(resolution->numerator.kind, resolution->numerator.kind);
	return quantity_weaker_kind(resolution->numerator.kind, resolution->denominator.kind);
}

char *
quantity_resolution_source(const struct quantity_resolution *resolution)
{
	if (!resolution->has_denominator)
		return rot_strdup(resolution->numerator.text);
	return rot_format("%s per %s", resolution->numerator.text, resolution->denominator.text);
}

const char *
quantity_resolution_grade(const struct quantity_resolution *resolution)
{
	static const char *const texts[] = {"", "A", "B", "C", "F"};
	const struct quantity_part *const parts[] = {&resolution->numerator, &resolution->denominator};
	size_t weakest = 0;

	for (size_t i = 0; i < (resolution->has_denominator ? 2 : 1); i++) {
		size_t k = 0;

		if (parts[i]->source != PART_COUNTED && parts[i]->source != PART_PROBED)
			continue;
		while (k < sizeof(texts) / sizeof(*texts) && texts[k][0] != parts[i]->grade)
			k++;
		if (k == 0 || k == sizeof(texts) / sizeof(*texts))
			return "";
		weakest = k > weakest ? k : weakest;
	}
	return texts[weakest];
}
