/* SPDX-License-Identifier: MIT */
/* See kernel_words.h. */
#include "quantities/kernel_words.h"

#include "definition.h"
#include "nearest.h"
#include "quantities/vocabulary.h"
#include "rot.h"

/* Operations may also be of a clock: what the work takes of it. */
static bool
is_known_word(const struct definition_row *row, enum word_role role)
{
	return quantity_word_find(role, row->of) || (role == WORD_OPERATION && quantity_word_find(WORD_CLOCK, row->of));
}

static void
check_definition(const struct definition *definition)
{
	for (size_t i = 0; i < definition->nr_rows; i++) {
		const struct definition_row *row = &definition->rows[i];
		enum word_role role = row->kind == DEFINITION_OPERATIONS ? WORD_OPERATION : WORD_BORDER;
		const char *names[64], *nearest;
		size_t nr = 0;

		if ((row->kind != DEFINITION_OPERATIONS && row->kind != DEFINITION_BYTES) || is_known_word(row, role))
			continue;
		for (size_t w = 0; w < nr_quantity_words && nr < sizeof names / sizeof *names; w++)
			if (quantity_words[w].role == role)
				names[nr++] = quantity_words[w].name;
		nearest = rot_nearest(row->of, names, nr);
		rot_warning("%s:%d: there is no %s '%s'%s%s%s: the row is not used", definition->path, row->line,
			    role == WORD_OPERATION ? "operation" : "border", row->of, nearest ? ", did you mean '" : "",
			    nearest ? nearest : "", nearest ? "'?" : "");
	}
}

void
kernel_words_check(const struct definitions *kernels)
{
	for (size_t i = 0; i < definitions_size(kernels); i++)
		check_definition(definitions_at(kernels, i));
}
