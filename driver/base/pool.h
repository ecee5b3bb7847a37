/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed all at once, so that parts of a structure need no owner of their own:
 *
 *	struct pool pool = {0};
 *	char *title = pool_format(&pool, "%s, %d threads", name, nr_threads);
 *	...
 *	pool_clear(&pool);
 *
 * A function that gets a pool gives back memory of it: the caller chooses how long that lives.
 * Without memory the process ends with a message (memory.h).
 */
#pragma once

#include <stddef.h>

/* Zeroed: empty. */
struct pool {
	struct pool_item *last;
};

/* Zeroed memory for nr elements of size bytes. */
void *pool_calloc(struct pool *pool, size_t nr, size_t size);

/* Copies; pool_strdup(pool, NULL) is "". */
void *pool_copy(struct pool *pool, const void *elements, size_t nr, size_t size);
char *pool_strdup(struct pool *pool, const char *text);
char *pool_strndup(struct pool *pool, const char *text, size_t most);
char *pool_format(struct pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* array with room for one more than its nr elements, all added through this, the first to NULL. New ones are zeroed. */
void *pool_grow(struct pool *pool, void *array, size_t nr, size_t size);

/* rot_add (memory.h), by pool_grow. */
#define pool_add(pool, array, nr) (*((array) = pool_grow(pool, array, nr, sizeof(*(array))), &(array)[(nr)++]))

/* Gives the pool something to release when it is cleared, as free, rot_graph_delete; gives it back. */
void *pool_own(struct pool *pool, void *thing, void (*release)(void *thing));

/* Frees everything, the newest first. The pool is empty then, and can be used again. */
void pool_clear(struct pool *pool);

/* Texts, each once, in the order of adding. Zeroed: none. They are of the pool. */
struct texts {
	const char **items;
	size_t nr;
};

/* Adds a copy, unless the text is there, or "", or NULL. */
void texts_add(struct pool *pool, struct texts *texts, const char *text);

/* A local pool that is cleared when its block ends: autopool pool = {0}; */
#define autopool __attribute__((cleanup(pool_clear))) struct pool
