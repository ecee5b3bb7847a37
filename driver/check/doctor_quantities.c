/* SPDX-License-Identifier: MIT */
/* One line for each quantity and way of knowing it. */
#include <string.h>

#include "check/doctor.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "quantities/quantity.h"
#include "quantities/vocabulary.h"

static void
append(char **list, const char *item)
{
	rot_append(list, "%s%s", **list ? ", " : "", item);
}

static bool
is_offer_of(const struct quantity_offer *offer, const char *name, const char *kind)
{
	return strcmp(offer->name, name) == 0 && strcmp(offer->kind, kind) == 0;
}

/* What of this quantity is known in this way: "measured: a, b"; NULL if nothing is. */
static char *
words_of_kind(const struct quantity_offer *offers, size_t nr, const char *name, const char *kind)
{
	autofree char *words = rot_strdup("");
	char *text = NULL;
	size_t nr_of_kind = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!is_offer_of(&offers[i], name, kind))
			continue;
		nr_of_kind++;
		if (*offers[i].of)
			append(&words, offers[i].of);
	}
	if (nr_of_kind > 0)
		text = rot_format("%s%s%s", kind, *words ? ": " : "", words);
	return text;
}

/* The first of this kind, for its reason; there is one. */
static const struct quantity_offer *
first_of_kind(const struct quantity_offer *offers, const char *name, const char *kind)
{
	while (!is_offer_of(offers, name, kind))
		offers++;
	return offers;
}

/* Why no event counts any: said once, of all counters (try.c). */
static void
add_others(struct findings *findings, const struct quantity_kind *kind, const struct quantity_offer *offers, size_t nr,
	   const struct architecture *architecture)
{
	static const char *const kinds[] = {"expected", "unavailable"};
	const char *steps = architecture_steps_advice(architecture);

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		autofree char *words = words_of_kind(offers, nr, kind->name, kinds[k]);
		const struct quantity_offer *first = words ? first_of_kind(offers, kind->name, kinds[k]) : NULL;
		struct finding *finding;

		if (words) {
			finding = findings_add(findings, kind->name, FINDING_LIMITED, "%s; %s", words,
					       architecture->why_not.text[0] ? "no hardware counters: see Rights"
									     : first->reason);
			if (steps && strstr(first->advice, steps))
				finding_advise(finding, "%s", steps);
			else if (architecture->nr_refused && *first->advice)
				finding_advise(finding, "%s", first->advice);
		}
	}
}

/* What was tried while so much else ran that nothing was shown. */
static void
add_not_shown(struct findings *findings, const struct architecture *architecture)
{
	autofree char *words = rot_strdup("");

	for (size_t i = 0; i < architecture->nr_formulas; i++) {
		const struct architecture_formula *formula = &architecture->formulas[i];
		autofree char *name = rot_format("%s%s%s", formula->quantity, *formula->of ? ":" : "", formula->of);

		if (formula->is_not_shown)
			append(&words, name);
	}
	if (architecture->is_probe_not_shown && !architecture_formula(architecture, "time", "coreCycles"))
		append(&words, "time:coreCycles by the clock probe");
	if (*words)
		finding_advise(findings_add(findings, "validation", FINDING_LIMITED,
					    "not shown, since all runs were disturbed: %s", words),
			       "rot validate, when nothing else runs");
}

void
doctor_look_at_quantities(struct findings *findings, struct rot *rot)
{
	autofree struct quantity_offer *offers = NULL;
	size_t nr = quantity_offers(rot, &offers);

	findings_section(findings, DOCTOR_QUANTITIES);
	for (size_t i = 0; i < nr_quantity_kinds; i++) {
		const struct quantity_kind *kind = &quantity_kinds[i];

		if (kind->takes[WORD_OPERATION] + kind->takes[WORD_BORDER] + kind->takes[WORD_CLOCK] > 1)
			continue;
		for (size_t k = 0; k < nr; k++)
			if (is_offer_of(&offers[k], kind->name, "measured") ||
			    is_offer_of(&offers[k], kind->name, "modelled")) {
				/* With the events, which is what people ask for. */
				const bool has_failed = strcmp(offers[k].grade, "F") == 0;
				struct finding *finding =
					findings_add(findings, kind->name, has_failed ? FINDING_LIMITED : FINDING_GOOD,
						     "%s%s%s%s%s: %s", offers[k].of, *offers[k].of ? " " : "",
						     offers[k].kind, *offers[k].grade ? ", grade " : "",
						     offers[k].grade, *offers[k].source ? offers[k].source : "-");

				if (has_failed)
					finding_advise(finding, "it does not count what it should: rot validate");
			}
		add_others(findings, kind, offers, nr, rot->architecture);
	}
	add_not_shown(findings, rot->architecture);
}
