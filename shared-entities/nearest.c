/* SPDX-License-Identifier: MIT */
/* The word that somebody probably meant: optimal string alignment distance. */
#include "nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "memory.h"

/* Costs are doubled, so that a difference in case alone is half a change. */
enum { CHANGE = 2, CASE_CHANGE = 1, LONGEST_WORD = 255 };

static size_t
letter_cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE_CHANGE : CHANGE;
}

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The last rows of the distance table, row i at rows + i % NR_ROWS * (LONGEST_WORD + 1). */
enum { NR_ROWS = 4 };

/* Are the letters before a and b the same but for two that are exchanged: neighbours, or those beside the middle one?
 */
static bool
are_exchanged(const char *a, const char *b, size_t distance)
{
	return a[-1] == b[-1 - (ptrdiff_t)distance] && a[-1 - (ptrdiff_t)distance] == b[-1] &&
	       (distance == 1 || a[-2] == b[-2]);
}

static size_t
distance(const char *a, size_t len_a, const char *b, size_t len_b, size_t *rows)
{
	for (size_t i = 0; i <= len_a; i++) {
		size_t *row = rows + i % NR_ROWS * (LONGEST_WORD + 1);
		const size_t *above = rows + (i + NR_ROWS - 1) % NR_ROWS * (LONGEST_WORD + 1);

		row[0] = i * CHANGE;
		for (size_t j = 1; j <= len_b; j++) {
			if (i == 0) {
				row[j] = j * CHANGE;
				continue;
			}
			row[j] = smaller(above[j - 1] + letter_cost(a[i - 1], b[j - 1]),
					 smaller(above[j], row[j - 1]) + CHANGE);
			for (size_t k = 1; k <= 2 && i > k && j > k; k++) {
				const size_t *before = rows + (i - k - 1) % NR_ROWS * (LONGEST_WORD + 1);

				if (are_exchanged(a + i, b + j, k))
					row[j] = smaller(row[j], before[j - k - 1] + CHANGE);
			}
		}
	}
	return rows[len_a % NR_ROWS * (LONGEST_WORD + 1) + len_b];
}

const char *
rot_nearest(const char *word, const char *const *candidates, size_t nr)
{
	size_t len = strlen(word);
	size_t best_distance = (len < 6 ? 1 : len / 3) * CHANGE + 1;
	const char *best = NULL;
	size_t *rows;

	if (len > LONGEST_WORD)
		return NULL;
	rows = rot_calloc(NR_ROWS * (LONGEST_WORD + 1), sizeof(*rows));
	for (size_t i = 0; i < nr; i++) {
		size_t len_i = candidates[i] ? strlen(candidates[i]) : LONGEST_WORD + 1;
		size_t d = len_i > LONGEST_WORD ? best_distance : distance(word, len, candidates[i], len_i, rows);

		if (candidates[i] && strcasecmp(word, candidates[i]) == 0)
			d = 0;
		if (d < best_distance) {
			best_distance = d;
			best = candidates[i];
		}
	}
	free(rows);
	return best;
}

int
rot_nearest_hint(struct rot_error *err, const char *word, const char *const *candidates, size_t nr, const char *more)
{
	const char *nearest = rot_nearest(word, candidates, nr);

	if (!nearest)
		return rot_error_hint(err, "%s", more);
	if (!*more)
		return rot_error_hint(err, "did you mean '%s'?", nearest);
	return rot_error_hint(err, "did you mean '%s'? %c%s", nearest, toupper((unsigned char)more[0]), more + 1);
}

int
rot_nearest_hint_all(struct rot_error *err, const char *word, const char *const *candidates, size_t nr,
		     const char *what)
{
	char *all = rot_format("%s:%s", what, nr ? "" : " nothing");

	for (size_t i = 0; i < nr; i++) {
		char *longer = rot_format("%s%s %s", all, i ? "," : "", candidates[i] ? candidates[i] : "anything");

		free(all);
		all = longer;
	}
	rot_nearest_hint(err, word, candidates, nr, all);
	free(all);
	return -1;
}
