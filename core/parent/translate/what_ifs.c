/* SPDX-License-Identifier: MIT */
#include "parent/translate/what_ifs.h"

#include <stdlib.h>

#include "memory.h"
#include "parent/stepping/cache_model.h"

struct what_ifs *
what_ifs_new(const struct step_caches *caches, size_t nr, uint64_t line_bytes, bool has_pages)
{
	struct what_ifs *what_ifs = rot_calloc(1, sizeof(*what_ifs));

	for (size_t i = 0; i < nr; i++)
		if (caches[i].line_bytes[0] < line_bytes)
			line_bytes = caches[i].line_bytes[0];
	what_ifs->nr = nr;
	what_ifs->line_bytes = line_bytes;
	what_ifs->models = rot_calloc(nr + 1, sizeof(*what_ifs->models));
	what_ifs->sums = rot_calloc(nr + 1, sizeof(*what_ifs->sums));
	for (size_t i = 0; i < nr; i++) {
		what_ifs->models[i] = cache_model_new_of(&caches[i], line_bytes);
		cache_model_front(what_ifs->models[i])->has_pages = has_pages;
	}
	return what_ifs;
}

void
what_ifs_delete(struct what_ifs *what_ifs)
{
	for (size_t i = 0; i < what_ifs->nr; i++)
		cache_model_delete(what_ifs->models[i]);
	free(what_ifs->models);
	free(what_ifs->sums);
	free(what_ifs);
}

uint64_t
what_ifs_least_ways(const struct what_ifs *what_ifs, uint64_t most)
{
	for (size_t i = 0; i < what_ifs->nr; i++) {
		const uint64_t nr_ways = cache_model_least_ways(what_ifs->models[i]);

		most = nr_ways < most ? nr_ways : most;
	}
	return most;
}

struct cache_model **
what_ifs_begin(const struct what_ifs *what_ifs)
{
	struct cache_model **models = rot_calloc(what_ifs->nr + 1, sizeof(*models));

	for (size_t i = 0; i < what_ifs->nr; i++)
		models[i] = cache_model_new_sharing(what_ifs->models[i]);
	return models;
}

void
what_ifs_end(struct what_ifs *what_ifs, struct cache_model **models, const struct cache_model *first)
{
	cache_model_add_counts(first, what_ifs->sums[0]);
	for (size_t i = 0; i < what_ifs->nr; i++) {
		cache_model_add_counts(models[i], what_ifs->sums[i + 1]);
		cache_model_delete(models[i]);
	}
	free(models);
}
