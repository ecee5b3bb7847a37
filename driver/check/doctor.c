/* SPDX-License-Identifier: MIT */
/* All that the doctor looks at, in its order. */
#include "check/doctor.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <openssl/crypto.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/configuration.h"
#include "base/entry.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/process.h"
#include "config.h"
#include "machine/measured.h"
#include "memory.h"
#include "quantities/architecture.h"
#include "quantities/quantity.h"
#include "quantities/vocabulary.h"

/* ---- findings ---- */

#define TEXT_COLUMN 24
#define LINE_WIDTH 118

static const struct {
	const char *name, *mark;
} states[] = {
	[FINDING_GOOD] = {"good", " "},
	[FINDING_LIMITED] = {"limited", "!"},
	[FINDING_BROKEN] = {"broken", "X"},
};

void
findings_section(struct findings *findings, const char *section)
{
	findings->section = section;
}

struct finding *
findings_add(struct findings *findings, const char *name, enum finding_state state, const char *format, ...)
{
	struct finding *finding;
	va_list arguments;

	finding = &rot_add(findings->items, findings->nr);
	va_start(arguments, format);
	*finding = (struct finding){.section = findings->section,
				    .name = name,
				    .state = state,
				    .text = rot_vformat(format, arguments),
				    .advice = rot_strdup("")};
	va_end(arguments);
	return finding;
}

void
finding_advise(struct finding *finding, const char *format, ...)
{
	va_list arguments;

	free(finding->advice);
	va_start(arguments, format);
	finding->advice = rot_vformat(format, arguments);
	va_end(arguments);
}

enum finding_state
findings_worst(const struct findings *findings)
{
	enum finding_state worst = FINDING_GOOD;

	for (size_t i = 0; i < findings->nr; i++)
		if (findings->items[i].state > worst)
			worst = findings->items[i].state;
	return worst;
}

void
findings_clear(struct findings *findings)
{
	for (size_t i = 0; i < findings->nr; i++) {
		free(findings->items[i].text);
		free(findings->items[i].advice);
	}
	free(findings->items);
	*findings = (struct findings){0};
}

/* ---- for people ---- */

/* Behind what is on the line already, going on below at the same column. */
static void
print_wrapped(const char *prefix, const char *text, FILE *out)
{
	const int columns = (int)terminal_width(out), width = columns < LINE_WIDTH ? columns : LINE_WIDTH;
	int column = TEXT_COLUMN + (int)strlen(prefix);

	fputs(prefix, out);
	for (const char *word = text; *word;) {
		int length = (int)strcspn(word, " \n");

		if (word != text && column + 1 + length > width) {
			fprintf(out, "\n%*s", TEXT_COLUMN + (int)strlen(prefix), "");
			column = TEXT_COLUMN + (int)strlen(prefix);
		} else if (word != text) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", length, word);
		column += length;
		word += length;
		word += strspn(word, " \n");
	}
	fputc('\n', out);
}

static void
print_finding(const struct finding *finding, FILE *out)
{
	fprintf(out, "%s %-*s", states[finding->state].mark, TEXT_COLUMN - 2, finding->name);
	print_wrapped("", finding->text, out);
	if (*finding->advice) {
		fprintf(out, "%*s", TEXT_COLUMN, "");
		print_wrapped("-> ", finding->advice, out);
	}
}

/* Has the machine's section, or those of rot itself, this finding? */
static bool
is_of(const struct finding *finding, const char *section)
{
	return strcmp(finding->section, section) == 0;
}

/* It is about a quantity of which not all is counted. */
static bool
is_not_counted(const struct finding *finding)
{
	return finding->state == FINDING_LIMITED && is_of(finding, DOCTOR_QUANTITIES) &&
	       !strstr(finding->text, "grade F");
}

/* Has one of that name stood before, or is a good one named instead? */
static bool
is_named(const struct findings *findings, size_t i)
{
	const struct finding *finding = &findings->items[i];

	for (size_t k = 0; k < findings->nr; k++) {
		const struct finding *other = &findings->items[k];

		if (strcmp(other->name, finding->name) == 0 &&
		    (other->state == finding->state ? k < i : other->state == FINDING_GOOD))
			return true;
	}
	return false;
}

/* Names of findings in one paragraph, each once: of those that are good, or of quantities that are not counted. */
static void
print_names(const struct findings *findings, const char *title, enum finding_state state, FILE *out)
{
	autofree char *names = rot_strdup("");

	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];
		const struct quantity_kind *kind = quantity_kind_find(finding->name);

		if (finding->state != state || (state == FINDING_LIMITED && !is_not_counted(finding)) ||
		    is_of(finding, "Machine") || is_of(finding, "Versions") || is_named(findings, i))
			continue;
		rot_append(&names, "%s%s", *names ? ", " : "", kind ? kind->short_name : finding->name);
	}
	if (*names)
		print_finding(&(struct finding){.name = title, .state = state, .text = names, .advice = (char *)""},
			      out);
}

/* The first of the worst findings that says what to do; counters change most. NULL: there is none. */
static const struct finding *
next_step(const struct findings *findings)
{
	const enum finding_state worst = findings_worst(findings);
	const struct finding *next = NULL;

	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];

		if (finding->state == worst && *finding->advice &&
		    (!next || (worst == FINDING_LIMITED && strcmp(finding->name, "hardware counters") == 0)))
			next = finding;
	}
	return next;
}

/* The clauses that fit into one line; a long one is cut between words, outside of parentheses. Fresh memory. */
static char *
first_line(const char *text, FILE *out)
{
	const size_t columns = terminal_width(out), width = columns < LINE_WIDTH ? columns : LINE_WIDTH,
		     room = width > 2 * TEXT_COLUMN ? width - TEXT_COLUMN : TEXT_COLUMN;
	size_t clauses = 0, words = 0;
	int depth = 0;

	if (strlen(text) <= room)
		return rot_strdup(text);
	for (size_t i = 1; i <= room; i++) {
		depth += (text[i - 1] == '(') - (text[i - 1] == ')');
		if (text[i] == ' ' && depth == 0) {
			words = i;
			clauses = strchr(":;,", text[i - 1]) ? i - 1 : clauses;
		}
	}
	return rot_strndup(text, clauses ? clauses : words ? words : room);
}

/* One screen: the rest is told by --all. */
static void
print_summary(const struct findings *findings, FILE *out)
{
	const struct finding *next = next_step(findings);

	for (size_t i = 0; i < findings->nr; i++)
		if (is_of(&findings->items[i], "Machine") && findings->items[i].state == FINDING_GOOD)
			print_finding(&findings->items[i], out);
	print_names(findings, "good", FINDING_GOOD, out);
	fputc('\n', out);
	for (size_t i = 0; i < findings->nr; i++) {
		struct finding short_finding = findings->items[i];

		if (short_finding.state == FINDING_GOOD || is_not_counted(&short_finding))
			continue;
		short_finding.advice = (char *)"";
		short_finding.text = short_finding.state == FINDING_BROKEN ? rot_strdup(short_finding.text)
									   : first_line(short_finding.text, out);
		print_finding(&short_finding, out);
		free(short_finding.text);
	}
	print_names(findings, "not counted", FINDING_LIMITED, out);
	if (next) {
		autofree char *before = rot_format("next, for %s:", next->name);

		fputc('\n', out);
		text_print_behind(before, next->advice, out);
	}
	text_print("\nrot doctor --all: what was found, and what would change it; --json: all of it", 0, 0, out);
}

void
findings_print(const struct findings *findings, bool is_all, FILE *out)
{
	static const char *const verdicts[] = {
		[FINDING_GOOD] = "All is well: rot measure triad",
		[FINDING_LIMITED] =
			"rot measure triad works; what is marked ! limits what can be known, or how exactly",
		[FINDING_BROKEN] = "rot measure triad does not work here: see what is marked X",
	};

	text_print(verdicts[findings_worst(findings)], 0, 0, out);
	if (is_all) {
		const char *section = "";

		for (size_t i = 0; i < findings->nr; i++) {
			const struct finding *finding = &findings->items[i];

			if (strcmp(section, finding->section) != 0)
				fprintf(out, "\n%s\n", section = finding->section);
			print_finding(finding, out);
		}
	} else {
		fputc('\n', out);
		print_summary(findings, out);
	}
}

/* ---- for programs ---- */

static json_t *
quantities_json(struct rot *rot)
{
	autofree struct quantity_offer *offers = NULL;
	size_t nr = quantity_offers(rot, &offers);
	json_t *array = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(array, quantity_offer_json(&offers[i]));
	return array;
}

json_t *
findings_json(const struct findings *findings, struct rot *rot)
{
	struct measured_levels levels;
	json_t *array = json_array();

	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s}", "section", finding->section, "name",
						       finding->name, "state", states[finding->state].name, "text",
						       finding->text, "advice", finding->advice));
	}
	measured_levels_load(&levels, rot->paths->cache, rot->machine);
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "schema", "rot.doctor/1", "works",
			 findings_worst(findings) != FINDING_BROKEN, "machine", json_entity(rot->machine), "levels",
			 measured_levels_json(&levels, rot->machine), "findings", array, "quantities",
			 quantities_json(rot));
}

/* ---- all ---- */

void
doctor_look(struct findings *findings, struct rot *rot)
{
	doctor_look_at_machine(findings, rot->machine, "/");
	doctor_look_at_levels(findings, rot->machine, rot->paths->cache);
	doctor_look_at_surroundings(findings, rot->machine, "/");
	doctor_look_at_clocks(findings, rot->machine, "/");
	doctor_try_rights(findings, rot);
	doctor_try_tools(findings, rot);
	doctor_look_at_quantities(findings, rot);
	doctor_look_at_versions(findings, rot->paths);
}

/* ---- versions ---- */

static const char *
jansson_version(void)
{
#if JANSSON_VERSION_HEX >= 0x020d00
	return jansson_version_str();
#else
	return JANSSON_VERSION;
#endif
}

/* Libraries of rot-core: for each a line with its name, a tab and its version. */
static void
look_at_core_libraries(struct findings *findings, const struct paths *paths)
{
	static const char *const known[] = {"libpfm4", "libdw", "Zydis"};
	autofree char *core = rot_format("%s/core/rot-core", paths ? paths->built : "");
	const char *const argv[] = {core, "--versions", NULL};
	struct process_result result = {0};
	struct rot_error ignored;
	char *rest, *line;

	if (process_run(argv, NULL, &result, NULL, &ignored) < 0 || result.status != 0)
		findings_add(findings, "rot-core", FINDING_BROKEN, "%s: cannot be run", core);
	else
		for (rest = result.output; (line = strsep(&rest, "\n")) && *line;) {
			const char *name = strsep(&line, "\t");

			for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
				if (strcmp(known[i], name) == 0)
					findings_add(findings, known[i], FINDING_GOOD, "%s", line ? line : "");
		}
	process_result_clear(&result);
}

void
doctor_look_at_versions(struct findings *findings, const struct paths *paths)
{
	const long libxml2 = strtol(xmlParserVersion, NULL, 10); /* "20914" is 2.9.14; its packager's text follows */

	findings_section(findings, "Versions");
	findings_add(findings, "rot", FINDING_GOOD, "%s", PACKAGE_VERSION);
#ifdef __clang__
	findings_add(findings, "built with", FINDING_GOOD, "%s", __VERSION__);
#else
	findings_add(findings, "built with", FINDING_GOOD, "gcc %s", __VERSION__);
#endif
#ifdef ROT_SANITIZED
	findings_add(findings, "sanitizers", FINDING_LIMITED, "on: times are not for publication");
#endif
	findings_add(findings, "libxml2", FINDING_GOOD, "%ld.%ld.%ld", libxml2 / 10000, libxml2 / 100 % 100,
		     libxml2 % 100);
	findings_add(findings, "jansson", FINDING_GOOD, "%s", jansson_version());
	findings_add(findings, "libcrypto", FINDING_GOOD, "%s", OpenSSL_version(OPENSSL_VERSION));
	findings_add(findings, "libc", FINDING_GOOD, "%s", gnu_get_libc_version());
	look_at_core_libraries(findings, paths);
}

/* package: what it is in on Debian. */
static void
try_program(struct findings *findings, const char *name, const char *program, enum finding_state without,
	    const char *loss, const char *package)
{
	const char *const argv[] = {program, "--version", NULL};
	struct process_result result = {0};
	struct rot_error err;

	if (process_run(argv, NULL, &result, NULL, &err) == 0 && result.status == 0)
		findings_add(findings, name, FINDING_GOOD, "%.*s", (int)strcspn(result.output, "\n"), result.output);
	else
		finding_advise(findings_add(findings, name, without, "'%s' cannot be run: %s", program, loss),
			       "apt-get install %s", package);
	process_result_clear(&result);
}

void
doctor_try_programs(struct findings *findings, const struct configuration *configuration)
{
	findings_section(findings, "Programs and folders");
	try_program(findings, "compiler", configuration_string(configuration, "compiler"), FINDING_BROKEN,
		    "kernels cannot be built", "gcc");
	try_program(findings, "make", "make", FINDING_BROKEN, "kernels cannot be built", "make");
	try_program(findings, "ccache", "ccache", FINDING_LIMITED, "what was built once is built again", "ccache");
	try_program(findings, "gnuplot", "gnuplot", FINDING_LIMITED, "plots are not drawn, their scripts are written",
		    "gnuplot-nox");
}

/* ---- quantities ---- */

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

/* Parts of this quantity that are known in this way: "measured: a, b"; NULL if nothing is. */
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

/* Formulas that were tried while so much else ran that nothing was shown. */
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
