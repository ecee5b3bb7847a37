/* SPDX-License-Identifier: MIT */
/* See kernel_words.h. */
#include "quantities/kernel_words.h"

#include <stdlib.h>
#include <string.h>

#include "definition.h"
#include "memory.h"
#include "nearest.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* Operations may also be of a clock: what the work takes of it. */
static bool
is_known_word(const char *word, enum word_role role)
{
	return quantity_word_find(role, word) || (role == WORD_OPERATION && quantity_word_find(WORD_CLOCK, word));
}

static void
check_word(const struct definition *definition, const struct definition_row *row, enum word_role role, const char *word)
{
	const char *names[64], *nearest;
	size_t nr = 0;

	if (is_known_word(word, role))
		return;
	for (size_t w = 0; w < nr_quantity_words && nr < sizeof names / sizeof *names; w++)
		if (quantity_words[w].role == role)
			names[nr++] = quantity_words[w].name;
	nearest = rot_nearest(word, names, nr);
	rot_warning("%s:%d: there is no %s '%s'%s%s%s: the row is not used", definition->path, row->line,
		    role == WORD_OPERATION ? "operation" : "border", word, nearest ? ", did you mean '" : "",
		    nearest ? nearest : "", nearest ? "'?" : "");
}

/* A row of bytes may be of several borders. */
static void
check_row(const struct definition *definition, const struct definition_row *row)
{
	const enum word_role role = row->kind == DEFINITION_OPERATIONS ? WORD_OPERATION : WORD_BORDER;
	char *words = rot_strdup(row->of), *rest = NULL;

	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		check_word(definition, row, role, word);
	free(words);
}

static void
check_definition(const struct definition *definition)
{
	for (size_t i = 0; i < definition->nr_rows; i++) {
		const struct definition_row *row = &definition->rows[i];

		if (row->kind == DEFINITION_OPERATIONS || row->kind == DEFINITION_BYTES)
			check_row(definition, row);
	}
}

void
kernel_words_check(const struct definitions *kernels)
{
	for (size_t i = 0; i < definitions_size(kernels); i++)
		check_definition(definitions_at(kernels, i));
}
