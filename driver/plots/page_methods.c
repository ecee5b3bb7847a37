/* SPDX-License-Identifier: MIT */
/* "How do we know": in words, what a result's values are of. Only what the result itself says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/titles.h"
#include "memory.h"
#include "number.h"
#include "plots/page_internal.h"
#include "quantities/quantity.h"
#include "quantities/remarks.h"
#include "quantities/value_text.h"

/* ---- where a result is from ---- */

static void
write_pair(xmlTextWriterPtr out, const char *name, const char *text)
{
	if (!*text)
		return;
	html_element(out, "dt", NULL, name);
	html_element(out, "dd", NULL, text);
}

/* A text, a number, or true and false; "" of others. Fresh memory. */
static char *
plain_text(const json_t *value)
{
	if (json_is_string(value))
		return rot_strdup(json_string_value(value));
	if (json_is_integer(value))
		return rot_format("%lld", (long long)json_integer_value(value));
	return json_is_number(value) ? rot_format("%.6g", json_number_value(value)) : rot_strdup("");
}

/* Each member under its name in words; 0 and "" are not known. */
static void
write_members(xmlTextWriterPtr out, const json_t *object)
{
	for (void *at = json_object_iter((json_t *)object); at; at = json_object_iter_next((json_t *)object, at)) {
		autofree char *name = camel_case_words(json_object_iter_key(at));
		autofree char *text = plain_text(json_object_iter_value(at));

		if (strcmp(text, "0") != 0)
			write_pair(out, name, text);
	}
}

/* Texts of an array, each an entry; code: as it is typed. */
static void
write_texts(xmlTextWriterPtr out, const char *name, const json_t *texts, bool is_code)
{
	if (json_array_size(texts) == 0)
		return;
	html_element(out, "dt", NULL, name);
	html_begin(out, "dd", NULL);
	for (size_t i = 0; i < json_array_size(texts); i++) {
		const char *text = json_string_value(json_array_get(texts, i));

		html_element(out, "div", is_code ? "code" : NULL, text ? text : "");
	}
	html_end(out);
}

static void
write_program(xmlTextWriterPtr out, const json_t *program)
{
	const json_t *hashes = json_object_get(program, "sha256");

	if (!program)
		return;
	html_element(out, "h4", NULL, "Program");
	html_begin(out, "dl", NULL);
	write_pair(out, "executable", json_text_at(program, "executable"));
	write_texts(out, "arguments", json_object_get(program, "arguments"), true);
	write_pair(out, "runs in", json_text_at(program, "runsIn"));
	if (json_is_string(hashes))
		write_pair(out, "SHA-256", json_string_value(hashes));
	if (json_is_object(hashes)) {
		html_element(out, "dt", NULL, "SHA-256");
		html_begin(out, "dd", NULL);
		/* Files with their hashes. */
		for (void *at = json_object_iter((json_t *)hashes); at;
		     at = json_object_iter_next((json_t *)hashes, at)) {
			const char *sha256 = json_string_value(json_object_iter_value(at));
			autofree char *text = rot_format("%s  %s", sha256 ? sha256 : "", json_object_iter_key(at));

			html_element(out, "div", "code", text);
		}
		html_end(out);
	}
	html_end(out);
}

/* Characters that no shell reads otherwise. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=./,:+@%"

/* A word as a shell takes it. */
static void
print_word(FILE *out, const char *word)
{
	if (*word && word[strspn(word, PLAIN)] == '\0') {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

static void
write_command_line(xmlTextWriterPtr out, const json_t *words)
{
	autofree char *line = NULL;
	size_t length;
	FILE *text = json_array_size(words) > 0 ? open_memstream(&line, &length) : NULL;

	if (!text)
		return;
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		fputs(i ? " " : "", text);
		print_word(text, word ? word : "");
	}
	fclose(text);
	html_element(out, "dt", NULL, "command line");
	html_begin(out, "dd", NULL);
	html_element(out, "div", "code", line);
	html_end(out);
}

void
page_write_origin(xmlTextWriterPtr out, const json_t *result)
{
	const json_t *software = json_object_get(result, "software"), *measured = json_object_get(result, "measured");
	const json_t *program = json_object_get(result, "program");

	html_element(out, "h4", NULL, "Machine");
	html_begin(out, "dl", NULL);
	write_members(out, json_object_get(result, "machine"));
	html_end(out);
	html_element(out, "h4", NULL, "Software");
	html_begin(out, "dl", NULL);
	write_pair(out, "rot", json_text_at(software, "rot"));
	write_pair(out, "controller", json_text_at(result, "controller"));
	write_command_line(out, json_object_get(result, "commandLine"));
	write_pair(out, "kernel of the system", json_text_at(software, "kernel"));
	write_texts(out, "compiler", json_object_get(software, "compilers"), false);
	write_texts(out, "compile lines", json_object_get(software, "compileLines"), true);
	write_texts(out, "libraries and other facts", json_object_get(software, "facts"), false);
	write_pair(out, "first measured (UTC)", json_text_at(measured, "first"));
	write_pair(out, "last measured (UTC)", json_text_at(measured, "last"));
	html_end(out);
	html_element(out, "p", "small",
		     "Paths below the home folder of who made this page begin with ~ in it, also in its data.");
	if (!program)
		program = json_object_get(json_array_get(json_object_get(result, "points"), 0), "program");
	write_program(out, program);
	if (json_array_size(json_object_get(result, "descriptionHashes")) == 0)
		return;
	html_element(out, "h4", NULL, "Measurements");
	html_begin(out, "dl", NULL);
	write_texts(out, "SHA-256 of each, as the result cache names it", json_object_get(result, "descriptionHashes"),
		    true);
	html_end(out);
}

const char *
page_kind_of(const json_t *quantity)
{
	const char *kind = json_text_at(quantity, "kind");

	return strcmp(kind, "measured") == 0 && strstr(json_text_at(quantity, "source"), "blocks") ? "counted by blocks"
												   : kind;
}

/* ---- what is known of one quantity over all points ---- */

struct knowledge {
	const char *words; /* of the quantity */
	struct texts kinds, sources, estimators, grades;
	size_t n_least, n_most, nr_disturbed;
};

struct knowledges {
	struct pool *pool;
	struct knowledge *items;
	size_t nr;
	json_t *causes; /* of disturbed samples: how many, by name */
	struct texts cache_states;
	size_t nr_samples, nr_disturbed, nr_starts_most; /* samples: of the quantity of each point that has most */
	double own_cost_most;                            /* share; NaN: not known */
};

static size_t
count_at(const json_t *object, const char *key)
{
	const double value = json_number_at(object, key);

	return value > 0 ? (size_t)value : 0;
}

static char *
quantity_words(struct pool *pool, const json_t *quantity)
{
	struct quantity_value value;
	autofree char *name = NULL, *of = NULL;

	if (stored_value(quantity, &value) < 0)
		return pool_own(pool, stored_value_words(quantity), free);
	name = camel_case_words(value.name);
	of = value_of_words(&value);
	return pool_format(pool, "%s%s%s%s", name, *of ? " (" : "", of, *of ? ")" : "");
}

static struct knowledge *
knowledge_of(struct knowledges *all, const char *words)
{
	for (size_t i = 0; i < all->nr; i++)
		if (strcmp(all->items[i].words, words) == 0)
			return &all->items[i];
	pool_add(all->pool, all->items, all->nr) = (struct knowledge){.words = words, .n_least = SIZE_MAX};
	return &all->items[all->nr - 1];
}

static void
add_quantity(struct knowledges *all, const json_t *quantity)
{
	struct knowledge *own = knowledge_of(all, quantity_words(all->pool, quantity));
	autofree char *estimator = camel_case_words(json_text_at(quantity, "estimator"));
	const size_t n = count_at(quantity, "n");

	texts_add(all->pool, &own->kinds, page_kind_of(quantity));
	texts_add(all->pool, &own->sources, json_text_at(quantity, "source"));
	texts_add(all->pool, &own->estimators, estimator);
	texts_add(all->pool, &own->grades, json_text_at(quantity, "grade"));
	own->n_least = n < own->n_least ? n : own->n_least;
	own->n_most = n > own->n_most ? n : own->n_most;
	own->nr_disturbed += count_at(quantity, "tainted");
}

static size_t
nr_starts_of(const json_t *quantity)
{
	const json_t *starts = json_object_get(quantity, "starts");
	json_int_t most = -1;

	for (size_t i = 0; i < json_array_size(starts); i++)
		most = json_integer_value(json_array_get(starts, i)) > most
			       ? json_integer_value(json_array_get(starts, i))
			       : most;
	return (size_t)(most + 1);
}

/* Values of a point share its runs: those of the one that most of them were disturbed for stand for all. */
static void
add_runs(struct knowledges *all, const json_t *quantities)
{
	const json_t *most = NULL;
	size_t nr_samples = 0, nr_disturbed = 0;

	for (size_t i = 0; i < json_array_size(quantities); i++) {
		const json_t *quantity = json_array_get(quantities, i);
		const size_t nr = json_array_size(json_object_get(quantity, "taintedSamples")),
			     nr_own = json_array_size(json_object_get(quantity, "samples")),
			     nr_starts = nr_starts_of(quantity);
		const double share = json_number_at(json_object_get(quantity, "emptyRegion"), "share");

		if (nr > nr_disturbed)
			most = quantity;
		nr_disturbed = nr > nr_disturbed ? nr : nr_disturbed;
		nr_samples = nr_own > nr_samples ? nr_own : nr_samples;
		all->nr_starts_most = nr_starts > all->nr_starts_most ? nr_starts : all->nr_starts_most;
		if (strcmp(json_text_at(quantity, "name"), "time") == 0)
			all->own_cost_most = fmax(all->own_cost_most, share);
	}
	all->nr_samples += nr_samples;
	all->nr_disturbed += nr_disturbed;
	if (most) {
		json_t *taints = json_object_get(most, "taints");

		for (void *at = json_object_iter(taints); at; at = json_object_iter_next(taints, at)) {
			const char *cause = json_object_iter_key(at);

			json_object_set_new(all->causes, cause,
					    json_integer(json_integer_value(json_object_get(all->causes, cause)) +
							 json_integer_value(json_object_iter_value(at))));
		}
	}
}

static struct knowledges
knowledges_of(struct pool *pool, const json_t *points)
{
	struct knowledges all = {.pool = pool, .causes = json_in_pool(pool, json_object()), .own_cost_most = NAN};
	const json_t *point, *quantity;
	size_t i, k;

	json_array_foreach(points, i, point) {
		const json_t *quantities = json_object_get(point, "quantities");

		texts_add(pool, &all.cache_states, json_text_at(point, "cacheState"));
		add_runs(&all, quantities);
		json_array_foreach(quantities, k, quantity)
			add_quantity(&all, quantity);
	}
	return all;
}

/* "a, b and c"; fresh memory. */
static char *
joined(const struct texts *texts)
{
	char *text = rot_strdup("");

	for (size_t i = 0; i < texts->nr; i++)
		rot_append(&text, "%s%s", i == 0 ? "" : i + 1 == texts->nr ? " and " : ", ", texts->items[i]);
	return text;
}

/* ---- the paragraph ---- */

/* "context switch (8), steal time (4)": fresh memory. */
static char *
causes_text(json_t *causes)
{
	char *text = rot_strdup("");

	for (void *at = json_object_iter(causes); at; at = json_object_iter_next(causes, at)) {
		autofree char *name = camel_case_words(json_object_iter_key(at));

		rot_append(&text, "%s%s (%lld)", *text ? ", " : "", name,
			   (long long)json_integer_value(json_object_iter_value(at)));
	}
	return text;
}

static void
write_disturbed(xmlTextWriterPtr out, const json_t *result, const struct knowledges *all)
{
	const json_t *findings = json_object_get(result, "findings");
	const char *waiting = ""; /* the finding of a busy host, which marks no sample */
	autofree char *causes = causes_text(all->causes), *text = NULL;

	for (size_t i = 0; i < json_array_size(findings) && !*waiting; i++)
		if (strcmp(json_text_at(json_array_get(findings, i), "code"), "busyHost") == 0)
			waiting = json_text_at(json_array_get(findings, i), "measured");
	if (all->nr_disturbed > 0)
		text = rot_format(" Of %zu sample%s, %zu %s disturbed by what the system or the measurement recorded, "
				  "and left out of the estimates unless all of a point were: %s.",
				  all->nr_samples, rot_plural((double)all->nr_samples), all->nr_disturbed,
				  all->nr_disturbed == 1 ? "was" : "were", causes);
	else if (!*waiting)
		text = rot_strdup(" No sample was disturbed.");
	html_text(out, text ? text : "");
	if (*waiting) {
		autofree char *busy = rot_format(" The runs were disturbed (%s).", waiting);

		html_text(out, busy);
	}
	html_text(out, " All samples are in the data of this page, in the order in which they were measured.");
}

static void
write_estimates(xmlTextWriterPtr out, const struct knowledges *all)
{
	html_text(out, " Estimators are named below; intervals have a confidence of at least 95 %: of medians from the "
		       "order of the samples, of ratios by a bootstrap. Values of fewer than 6 undisturbed runs have "
		       "none. Where a value is expected or given, nothing was counted.");
	if (all->nr_starts_most > 1) {
		autofree char *text =
			rot_format(" The runs of a point are of up to %zu starts of what was measured, and "
				   "intervals are those of starts.",
				   all->nr_starts_most);

		html_text(out, text);
	}
	if (all->own_cost_most > 0) {
		autofree char *text =
			rot_format(" Starting and stopping the clocks is within each time: at most %.2g %% of it.",
				   100 * all->own_cost_most);

		html_text(out, text);
	}
}

static void
write_paragraph(xmlTextWriterPtr out, const json_t *result, const struct knowledges *all)
{
	const size_t nr = json_array_size(json_object_get(result, "points"));
	autofree char *states = joined(&all->cache_states);
	autofree char *text =
		rot_format("%zu point%s%s%s.", nr, rot_plural((double)nr), *states ? ", measured with " : "", states);

	html_begin(out, "p", NULL);
	html_text(out, text);
	if (json_is_false(json_object_get(result, "complete")))
		html_text(out, " The result is not complete: it was interrupted, or points could not be measured.");
	if (all->nr_samples > 0)
		write_disturbed(out, result, all);
	write_estimates(out, all);
	html_end(out);
}

/* ---- tables and lists ---- */

static void
write_cell(xmlTextWriterPtr out, const struct texts *texts)
{
	autofree char *text = joined(texts);

	html_element(out, "td", NULL, text);
}

static void
begin_table(xmlTextWriterPtr out, const char *name, const char *const *headings, size_t nr)
{
	page_begin_wide(out, name);
	html_begin(out, "table", NULL);
	html_begin(out, "thead", NULL);
	html_begin(out, "tr", NULL);
	for (size_t i = 0; i < nr; i++)
		html_element(out, "th", NULL, headings[i]);
	html_end(out);
	html_end(out);
	html_begin(out, "tbody", NULL);
}

static void
write_sources(xmlTextWriterPtr out, const struct knowledges *all)
{
	static const char *const headings[] = {"quantity",           "is", "from", "estimator", "n", "disturbed",
					       "grade on known work"};
	size_t nr_graded = 0;

	for (size_t i = 0; i < all->nr; i++)
		nr_graded += all->items[i].grades.nr > 0;
	begin_table(out, "sources", headings, sizeof(headings) / sizeof(*headings) - (nr_graded == 0));
	for (size_t i = 0; i < all->nr; i++) {
		const struct knowledge *own = &all->items[i];
		autofree char *n = own->n_least == own->n_most ? rot_format("%zu", own->n_most)
							       : rot_format("%zu to %zu", own->n_least, own->n_most);
		autofree char *disturbed = rot_format("%zu", own->nr_disturbed);

		html_begin(out, "tr", NULL);
		html_element(out, "td", NULL, own->words);
		write_cell(out, &own->kinds);
		write_cell(out, &own->sources);
		write_cell(out, &own->estimators);
		html_element(out, "td", NULL, n);
		html_element(out, "td", NULL, disturbed);
		if (nr_graded > 0)
			write_cell(out, &own->grades);
		html_end(out);
	}
	page_end_table(out);
}

static void
write_list(xmlTextWriterPtr out, const char *heading, const struct texts *texts)
{
	if (texts->nr == 0)
		return;
	html_element(out, "h4", NULL, heading);
	html_begin(out, "ul", NULL);
	for (size_t i = 0; i < texts->nr; i++)
		html_element(out, "li", NULL, texts->items[i]);
	html_end(out);
}

static struct texts
failures_of(struct pool *pool, const json_t *failures)
{
	struct texts texts = {.nr = 0};
	const json_t *failure;
	size_t i;

	json_array_foreach(failures, i, failure) {
		autofree char *title =
			point_title(json_text_at(failure, "series"), " ", json_text_at(failure, "label"));

		texts_add(pool, &texts, pool_format(pool, "%s: %s", title, json_text_at(failure, "error")));
	}
	return texts;
}

static void
write_number(xmlTextWriterPtr out, const json_t *ceiling, const char *key, struct shown_unit unit)
{
	const double value = json_number_at(ceiling, key) * unit.factor;
	autofree char *text = isnan(value) ? rot_strdup("-") : rot_format("%.4g", value);

	html_element(out, "td", "number", text);
}

static void
write_ceilings(xmlTextWriterPtr out, const json_t *ceilings)
{
	static const char *const headings[] = {"ceiling", "of", "value", "low", "high", "unit", "n", "estimator"};

	if (json_array_size(ceilings) == 0)
		return;
	html_element(out, "h4", NULL, "The roof");
	begin_table(out, "the roof", headings, sizeof(headings) / sizeof(*headings));
	for (size_t i = 0; i < json_array_size(ceilings); i++) {
		const json_t *ceiling = json_array_get(ceilings, i);
		const struct shown_unit unit = shown_unit(json_text_at(ceiling, "unit"));

		html_begin(out, "tr", NULL);
		html_element(out, "td", NULL, json_text_at(ceiling, "name"));
		html_element(out, "td", NULL, json_text_at(ceiling, "of"));
		write_number(out, ceiling, "value", unit);
		write_number(out, ceiling, "low", unit);
		write_number(out, ceiling, "high", unit);
		html_element(out, "td", NULL, unit.shown);
		write_number(out, ceiling, "n", (struct shown_unit){"", 1});
		html_element(out, "td", NULL, json_text_at(ceiling, "estimator"));
		html_end(out);
	}
	page_end_table(out);
}

void
page_write_methods(xmlTextWriterPtr out, const json_t *result)
{
	autopool pool = {0};
	const json_t *points = json_object_get(result, "points"), *own_notes = json_object_get(result, "notes");
	const struct knowledges all = knowledges_of(&pool, points);
	/* Remarks are as rot says them below its table. */
	const struct texts remarks = remarks_of_points(&pool, points),
			   failures = failures_of(&pool, json_object_get(result, "failures"));
	struct texts observations = {.nr = 0}, notes = {.nr = 0};

	write_paragraph(out, result, &all);
	page_add_observations(&pool, &observations, result);
	write_list(out, "How it was observed", &observations);
	write_sources(out, &all);
	write_list(out, "Doubts and remarks", &remarks);
	for (size_t i = 0; i < json_array_size(own_notes); i++)
		texts_add(&pool, &notes, json_string_value(json_array_get(own_notes, i)));
	write_list(out, "Notes", &notes);
	write_list(out, "Points that could not be measured", &failures);
	write_ceilings(out, json_object_get(result, "ceilings"));
}
