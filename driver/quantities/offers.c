/* SPDX-License-Identifier: MIT */
/* Quantities that can be asked for, and how this machine answers. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "quantities/quantity.h"
#include "quantities/resolve.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* Strings of an offer, in the order in which they are packed. */
#define NR_STRINGS 8

struct offer_text {
	char *strings[NR_STRINGS]; /* name, of, unit, description, kind, source, reason, advice */
	const char *grade;         /* static */
	bool may_be_stepped;
};

/*
 * architecture: of the machine. counting: what counts kernels, which may be steps instead. beside: what counts what
 * that does not; NULL: nothing.
 */
struct offer_list {
	const struct architecture *architecture, *counting, *beside;
	struct offer_text *texts;
	size_t nr;
};

/* The word that says most about the request: the only one, or none. */
static const struct quantity_word *
only_word(struct quantity_request *request)
{
	const struct quantity_word *only = NULL;

	for (enum word_role role = 0; role < NR_WORD_ROLES; role++) {
		const char *name = *quantity_request_word(request, role);

		if (name && only)
			return NULL;
		if (name)
			only = quantity_word_find(role, name);
	}
	return only;
}

static char *
reason_of(const struct architecture *architecture)
{
	if (architecture->why_not.text[0])
		return rot_strdup(architecture->why_not.text);
	return rot_format("no event of %s counts it", architecture->title);
}

/* Operations, what crosses a border that is not that of a disk, and what is made of these. */
static bool
can_be_stepped(const struct quantity_request *request)
{
	if (request->border)
		return strncmp(request->border, "disk", strlen("disk")) != 0;
	return request->operation || quantity_kind_find(request->name)->counter == OF_STEPS;
}

/* By steps that nobody asked for. */
static bool
may_be_stepped(const struct architecture *counting, const struct quantity_resolution *resolution)
{
	return counting->stepping.is_unasked && (resolution->numerator.formula || resolution->denominator.formula);
}

static bool
is_expected(const struct quantity_resolution *resolution)
{
	return strcmp(quantity_resolution_kind(resolution), "expected") == 0;
}

static void
add_offer(struct offer_list *list, struct quantity_request request)
{
	const struct quantity_kind *kind = quantity_kind_find(request.name);
	const struct quantity_word *word = only_word(&request);
	const bool is_rate = kind->takes[WORD_CLOCK] && (kind->takes[WORD_OPERATION] || kind->takes[WORD_BORDER]);
	const struct quantity_expectation known = {.operations = 1, .bytes = 1, .can_probe_clock = true};
	struct quantity_resolution resolution;
	const struct rot_error *refusal;
	struct offer_text *text;
	const struct architecture *counting = list->counting;
	bool is_possible = quantity_resolve(&resolution, counting, &request, "auto", &known, NULL) == 0;
	bool is_found;

	if (list->beside && !request.clock && !is_rate && (!is_possible || is_expected(&resolution))) {
		struct quantity_resolution by_blocks;

		if (quantity_resolve(&by_blocks, list->beside, &request, "auto", &known, NULL) == 0 &&
		    !is_expected(&by_blocks)) {
			resolution = by_blocks;
			counting = list->beside;
			is_possible = true;
		}
	}
	text = &rot_add(list->texts, list->nr);
	text->strings[0] = rot_strdup(request.name);
	text->strings[1] = quantity_resolution_of(&resolution);
	text->strings[2] = quantity_resolution_unit(&resolution);
	text->strings[3] = rot_strdup(word && !is_rate ? word->description : kind->description);
	text->strings[4] = rot_strdup(is_possible ? quantity_resolution_kind(&resolution) : "unavailable");
	text->grade = is_possible ? quantity_resolution_grade(&resolution) : "";
	text->may_be_stepped = is_possible && may_be_stepped(counting, &resolution);
	text->strings[5] = is_possible ? quantity_resolution_source(&resolution) : rot_strdup("");
	refusal = request.border ? architecture_refusal(list->architecture, "transferredBytes", request.border) : NULL;
	is_found = strcmp(text->strings[4], "measured") == 0 || strcmp(text->strings[4], "modelled") == 0;
	text->strings[6] = is_found  ? rot_strdup("")
			   : refusal ? rot_strdup(refusal->text)
				     : reason_of(list->architecture);
	text->strings[7] = is_found  ? rot_strdup("")
			   : refusal ? rot_strdup(refusal->hint)
				     : architecture_advice(list->architecture, can_be_stepped(&request));
}

/* One offer for each word of the roles from this one on that the quantity takes; a rate has the clock of the
 * configuration. */
static void
add_words(struct offer_list *list, const struct quantity_kind *kind, struct quantity_request request,
	  enum word_role role)
{
	const bool has_work = kind->takes[WORD_OPERATION] || kind->takes[WORD_BORDER];

	while (role < NR_WORD_ROLES && (!kind->takes[role] || (role == WORD_CLOCK && has_work)))
		role++;
	if (role == NR_WORD_ROLES) {
		add_offer(list, request);
		return;
	}
	for (size_t i = 0; i < nr_quantity_words; i++) {
		if (quantity_words[i].role != role || strcmp(quantity_words[i].name, "auto") == 0)
			continue;
		*quantity_request_word(&request, role) = quantity_words[i].name;
		add_words(list, kind, request, role + 1);
	}
}

/* The array and its strings in one piece of memory. */
static struct quantity_offer *
pack_offers(struct offer_list *list)
{
	struct quantity_offer *offers;
	size_t nr_bytes = list->nr * sizeof(*offers);
	char *at;

	for (size_t i = 0; i < list->nr; i++)
		for (size_t k = 0; k < NR_STRINGS; k++)
			nr_bytes += strlen(list->texts[i].strings[k]) + 1;
	offers = rot_calloc(nr_bytes, 1);
	at = (char *)(offers + list->nr);
	for (size_t i = 0; i < list->nr; i++) {
		struct quantity_offer *offer = &offers[i];
		const char **places[NR_STRINGS] = {&offer->name, &offer->of,     &offer->unit,   &offer->description,
						   &offer->kind, &offer->source, &offer->reason, &offer->advice};

		offer->grade = list->texts[i].grade;
		offer->may_be_stepped = list->texts[i].may_be_stepped;
		for (size_t k = 0; k < NR_STRINGS; k++) {
			*places[k] = at;
			at = stpcpy(at, list->texts[i].strings[k]) + 1;
			free(list->texts[i].strings[k]);
		}
	}
	free(list->texts);
	return offers;
}

size_t
quantity_offers(struct rot *rot, struct quantity_offer **offers)
{
	const struct architecture *by_steps = rot->architecture->by_steps;
	struct offer_list list = {.architecture = rot->architecture,
				  .counting = by_steps ? by_steps : rot->architecture,
				  .beside = rot->architecture->beside};

	for (size_t i = 0; i < nr_quantity_kinds; i++)
		add_words(&list, &quantity_kinds[i], (struct quantity_request){.name = quantity_kinds[i].name},
			  WORD_OPERATION);
	*offers = pack_offers(&list);
	return list.nr;
}

json_t *
quantity_offer_json(const struct quantity_offer *offer)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name", offer->name, "of", offer->of, "unit",
			 offer->unit, "kind", offer->kind, "source", offer->source, "grade", offer->grade, "reason",
			 offer->reason, "advice", offer->advice, "description", offer->description);
}
