/* SPDX-License-Identifier: MIT */
/* The words of a quantity request: name[:operation][:border][:clock]. */
#include "quantities/vocabulary.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition.h"
#include "memory.h"
#include "nearest.h"
#include "rot.h"

#define NR_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

const struct quantity_word quantity_words[] = {
	{WORD_OPERATION, "doublePrecisionFlop", "dp", "flop",
	 "double-precision floating point operations; multiply-add counts 2"},
	{WORD_OPERATION, "singlePrecisionFlop", "sp", "flop",
	 "single-precision floating point operations; multiply-add counts 2"},
	{WORD_OPERATION, "flop", "flop", "flop", "floating point operations of both precisions"},
	{WORD_OPERATION, "compInstr", "x87", "operation", "x87 floating point operations"},
	{WORD_OPERATION, "integerOperation", "int", "operation",
	 "additions, subtractions, multiplications and divisions of integers"},
	{WORD_OPERATION, "instructions", "instructions", "instruction", "instructions"},
	{WORD_BORDER, "cpuL1", "cpu_l1", "byte",
	 "between registers and first level cache: what instructions load and store"},
	{WORD_BORDER, "cpuL1.read", "cpu_l1_read", "byte", "loaded by instructions"},
	{WORD_BORDER, "cpuL1.write", "cpu_l1_write", "byte", "stored by instructions"},
	{WORD_BORDER, "l1l2", "l1_l2", "byte", "between first and second level cache"},
	{WORD_BORDER, "l1l2.read", "l1_l2_read", "byte", "from second to first level cache"},
	{WORD_BORDER, "l1l2.write", "l1_l2_write", "byte", "from first to second level cache"},
	{WORD_BORDER, "l2l3", "l2_l3", "byte", "between second and third level cache"},
	{WORD_BORDER, "l2l3.read", "l2_l3_read", "byte", "into second level cache"},
	{WORD_BORDER, "l2l3.write", "l2_l3_write", "byte", "from second to third level cache"},
	{WORD_BORDER, "llcRam", "ram", "byte", "between last level cache and memory"},
	{WORD_BORDER, "llcRam.read", "ram_read", "byte", "from memory"},
	{WORD_BORDER, "llcRam.write", "ram_write", "byte", "to memory"},
	{WORD_BORDER, "memoryBus", "bus", "byte", "between memory controllers and memory, of the whole machine"},
	{WORD_BORDER, "memoryBus.read", "bus_read", "byte", "from memory, of the whole machine"},
	{WORD_BORDER, "memoryBus.write", "bus_write", "byte", "to memory, of the whole machine"},
	{WORD_BORDER, "disk", "disk", "byte", "between memory and a disk; only expected"},
	{WORD_BORDER, "disk.read", "disk_read", "byte", "from a disk; only expected"},
	{WORD_BORDER, "disk.write", "disk_write", "byte", "to a disk; only expected"},
	{WORD_CLOCK, "coreCycles", "", "cycle", "cycles of the core, which change with its frequency"},
	{WORD_CLOCK, "referenceCycles", "", "reference cycle",
	 "cycles at the nominal frequency while the core is not halted"},
	{WORD_CLOCK, "tsc", "", "TSC tick", "ticks of the time stamp counter"},
	{WORD_CLOCK, "microSeconds", "", "us", "wall time"},
	{WORD_CLOCK, "auto", "", "", "core cycles where they can be counted, else wall time"},
};
const size_t nr_quantity_words = NR_ELEMENTS(quantity_words);

/* Takes an operation, a border, a clock. */
/* clang-format off */
const struct quantity_kind quantity_kinds[] = {
	{"time", "time", {false, false, true}, OF_EVENTS, "",
	 "time of the kernel's run"},
	{"operationCount", "operations", {true, false, false}, OF_STEPS, "",
	 "operations of the kernel's run"},
	{"transferredBytes", "bytes", {false, true, false}, OF_STEPS, "",
	 "bytes across a border of the memory hierarchy"},
	{"performance", "performance", {true, false, true}, NOT_COUNTED, "",
	 "operations per unit of time"},
	{"throughput", "throughput", {false, true, true}, NOT_COUNTED, "",
	 "bytes per unit of time"},
	{"operationalIntensity", "intensity", {true, true, false}, NOT_COUNTED, "",
	 "operations per byte"},
	{"instructions", "instructions", {false, false, false}, OF_STEPS, "instruction",
	 "instructions retired"},
	{"maskedOperations", "masked operations", {false, false, false}, OF_STEPS, "flop",
	 "floating point operations that masked lanes of vectors did not do"},
	{"tlbMisses", "TLB misses", {false, false, false}, OF_EVENTS, "miss",
	 "address translations no TLB knew"},
	{"interrupts", "interrupts", {false, false, false}, OF_EVENTS, "interrupt",
	 "hardware interrupts taken by the CPU"},
	{"contextSwitches", "context switches", {false, false, false}, NOT_COUNTED, "switch",
	 "context switches of the measured threads"},
	{"migrations", "migrations", {false, false, false}, NOT_COUNTED, "migration",
	 "measured threads that ended on another CPU than they began on"},
};
/* clang-format on */
const size_t nr_quantity_kinds = NR_ELEMENTS(quantity_kinds);

static const char *const role_names[NR_WORD_ROLES] = {"operation", "border", "clock"};

const struct quantity_word *
quantity_word_find(enum word_role role, const char *name)
{
	for (size_t i = 0; i < nr_quantity_words; i++)
		if (quantity_words[i].role == role && strcmp(quantity_words[i].name, name) == 0)
			return &quantity_words[i];
	return NULL;
}

const struct quantity_kind *
quantity_kind_find(const char *name)
{
	for (size_t i = 0; i < nr_quantity_kinds; i++)
		if (strcmp(quantity_kinds[i].name, name) == 0)
			return &quantity_kinds[i];
	return NULL;
}

bool
quantity_same_word(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

const char **
quantity_request_word(struct quantity_request *request, enum word_role role)
{
	const char **words[NR_WORD_ROLES] = {&request->operation, &request->border, &request->clock};

	return words[role];
}

struct quantity_request
quantity_request_of(const char *quantity, const char *of)
{
	const struct quantity_kind *kind = quantity_kind_find(quantity);
	struct quantity_request request = {.name = quantity};

	for (enum word_role role = 0; role < NR_WORD_ROLES; role++)
		if (kind->takes[role] && *of)
			*quantity_request_word(&request, role) = of;
	return request;
}

/* ---- complaints ---- */

static int
unknown_name(const char *name, struct rot_error *err)
{
	const char *names[NR_ELEMENTS(quantity_kinds)];

	for (size_t i = 0; i < nr_quantity_kinds; i++)
		names[i] = quantity_kinds[i].name;
	rot_error_set(err, 0, "unknown quantity '%s'", name);
	return rot_nearest_hint_all(err, name, names, nr_quantity_kinds, "quantities are");
}

/* Words of the given roles, for hints. */
static size_t
words_of(const bool roles[NR_WORD_ROLES], const char *names[])
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_quantity_words; i++)
		if (roles[quantity_words[i].role])
			names[nr++] = quantity_words[i].name;
	return nr;
}

static int
unknown_word(const struct quantity_kind *kind, const char *word, struct rot_error *err)
{
	const char *names[NR_ELEMENTS(quantity_words)];
	size_t nr = words_of(kind->takes, names);

	rot_error_set(err, 0, "quantity '%s': unknown word '%s'", kind->name, word);
	if (nr == 0)
		return rot_error_hint(err, "'%s' takes no further words", kind->name);
	return rot_nearest_hint_all(err, word, names, nr, "it takes");
}

/* ---- requests ---- */

int
quantity_request_check(struct quantity_request *request, struct rot_error *err)
{
	const struct quantity_kind *kind = quantity_kind_find(request->name ? request->name : "");

	if (!kind)
		return unknown_name(request->name ? request->name : "", err);
	request->name = kind->name;
	for (enum word_role role = 0; role < NR_WORD_ROLES; role++) {
		const char **name = quantity_request_word(request, role);
		const struct quantity_word *word = *name ? quantity_word_find(role, *name) : NULL;

		if (*name && (!word || !kind->takes[role]))
			return unknown_word(kind, *name, err);
		if (!word && kind->takes[role] && role != WORD_CLOCK) {
			const char *names[NR_ELEMENTS(quantity_words)];
			bool roles[NR_WORD_ROLES] = {false};

			roles[role] = true;
			rot_error_set(err, 0, "quantity '%s' needs %s %s", kind->name,
				      role == WORD_OPERATION ? "an" : "a", role_names[role]);
			return rot_nearest_hint_all(err, "", names, words_of(roles, names), "one of");
		}
		if (word)
			*name = word->name;
	}
	if (request->given_operations < 0 || request->given_bytes < 0)
		return rot_error_set(err, 0, "quantity '%s': given operations and bytes must not be negative",
				     kind->name);
	return 0;
}

static int
take_word(struct quantity_request *request, const struct quantity_kind *kind, const char *name, struct rot_error *err)
{
	for (enum word_role role = 0; role < NR_WORD_ROLES; role++) {
		const struct quantity_word *word = kind->takes[role] ? quantity_word_find(role, name) : NULL;
		const char **place = quantity_request_word(request, role);

		if (!word)
			continue;
		if (*place)
			return rot_error_set(err, 0, "quantity '%s': '%s' and '%s' are both a %s", kind->name, *place,
					     name, role_names[role]);
		*place = word->name;
		return 0;
	}
	return unknown_word(kind, name, err);
}

int
quantity_parse(struct quantity_request *request, const char *text, struct rot_error *err)
{
	autofree char *copy = rot_strdup(text);
	char *rest = copy, *word = strsep(&rest, ":");
	const struct quantity_kind *kind = quantity_kind_find(word);
	int rc = kind ? 0 : unknown_name(word, err);

	*request = (struct quantity_request){.name = kind ? kind->name : NULL};
	while (rc == 0 && (word = strsep(&rest, ":")))
		if (*word)
			rc = take_word(request, kind, word, err);
	return rc < 0 ? rc : quantity_request_check(request, err);
}

int
quantity_check_formula(const char *quantity, const char *of, struct rot_error *err)
{
	autofree char *text = rot_format("%s:%s", quantity, of);
	struct quantity_request request;

	if (quantity_parse(&request, text, err) < 0)
		return -1;
	if (quantity_kind_find(quantity)->counter != NOT_COUNTED)
		return 0;
	rot_error_set(err, 0, "quantity '%s' is not counted by events", quantity);
	return rot_error_hint(err, "rot makes it of other quantities, or the system tells it");
}

char *
quantity_request_text(const struct quantity_request *request)
{
	const char *const words[] = {request->operation, request->border, request->clock};
	char *text = rot_strdup(request->name);

	for (size_t i = 0; i < NR_ELEMENTS(words); i++)
		if (words[i])
			rot_append(&text, ":%s", words[i]);
	return text;
}

char *
quantity_column_name(const struct quantity_request *request, const char *unit)
{
	const struct quantity_kind *kind = quantity_kind_find(request->name);
	const struct quantity_word *words[] = {
		request->operation ? quantity_word_find(WORD_OPERATION, request->operation) : NULL,
		request->border ? quantity_word_find(WORD_BORDER, request->border) : NULL,
	};
	char *name = rot_strdup(kind ? kind->short_name : request->name);
	const char *per = strchr(unit, '/');

	for (size_t i = 0; i < NR_ELEMENTS(words); i++)
		if (words[i])
			rot_append(&name, "_%s", words[i]->short_name);
	if (kind && kind->takes[WORD_CLOCK])
		rot_append(&name, "_%s%s", per ? "per_" : "", per ? per + 1 : unit);
	for (char *c = name; *c; c++)
		*c = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
	return name;
}

/* ---- words of kernels' definitions ---- */

static void
check_word(const struct definition *definition, const struct definition_row *row, enum word_role role, const char *word)
{
	const char *names[64], *nearest;
	size_t nr = 0;

	/* Operations may also be of a clock: what the work takes of it. */
	if (quantity_word_find(role, word) || (role == WORD_OPERATION && quantity_word_find(WORD_CLOCK, word)))
		return;
	for (size_t w = 0; w < nr_quantity_words && nr < sizeof names / sizeof *names; w++)
		if (quantity_words[w].role == role)
			names[nr++] = quantity_words[w].name;
	nearest = rot_nearest(word, names, nr);
	rot_warning("%s:%d: there is no %s '%s'%s%s%s: the row is not used", definition->path, row->line,
		    role == WORD_OPERATION ? "operation" : "border", word, nearest ? ", did you mean '" : "",
		    nearest ? nearest : "", nearest ? "'?" : "");
}

static void
check_definition(const struct definition *definition)
{
	for (size_t i = 0; i < definition->nr_rows; i++) {
		const struct definition_row *row = &definition->rows[i];

		if (row->kind == DEFINITION_OPERATIONS || row->kind == DEFINITION_BYTES) {
			/* A row of bytes may be of several borders. */
			const enum word_role role = row->kind == DEFINITION_OPERATIONS ? WORD_OPERATION : WORD_BORDER;
			autofree char *words = rot_strdup(row->of);
			char *rest = NULL;

			for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
				check_word(definition, row, role, word);
		}
	}
}

void
kernel_words_check(const struct definitions *kernels)
{
	for (size_t i = 0; i < definitions_size(kernels); i++)
		check_definition(definitions_at(kernels, i));
}
