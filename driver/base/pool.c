/* SPDX-License-Identifier: MIT */
/* See pool.h. Each piece of memory is an allocation of its own, so that the sanitizers know its borders. */
#include "base/pool.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

struct pool_item {
	struct pool_item *before;
	void (*release)(void *thing); /* NULL: the memory behind the item */
	void *thing;
	max_align_t memory[];
};

static struct pool_item *
add_item(struct pool *pool, size_t nr, size_t size)
{
	size_t bytes;
	struct pool_item *item;

	/* More than there can be ends the process in rot_calloc. */
	if (__builtin_mul_overflow(nr, size, &bytes) || bytes > SIZE_MAX - sizeof(*item))
		bytes = SIZE_MAX - sizeof(*item);
	item = rot_calloc(1, sizeof(*item) + bytes);
	item->before = pool->last;
	pool->last = item;
	return item;
}

void *
pool_calloc(struct pool *pool, size_t nr, size_t size)
{
	return add_item(pool, nr, size)->memory;
}

void *
pool_copy(struct pool *pool, const void *elements, size_t nr, size_t size)
{
	void *copy = pool_calloc(pool, nr, size);

	return nr ? memcpy(copy, elements, nr * size) : copy;
}

char *
pool_strndup(struct pool *pool, const char *text, size_t most)
{
	size_t length = strnlen(text, most);

	return memcpy(pool_calloc(pool, length + 1, 1), text, length);
}

char *
pool_strdup(struct pool *pool, const char *text)
{
	return pool_strndup(pool, text ? text : "", SIZE_MAX);
}

char *
pool_format(struct pool *pool, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rot_vformat(format, arguments);
	va_end(arguments);
	return pool_own(pool, text, free);
}

void *
pool_own(struct pool *pool, void *thing, void (*release)(void *thing))
{
	struct pool_item *item = add_item(pool, 0, 0);

	item->release = release;
	item->thing = thing;
	return thing;
}

/* An array that grows moves, and its item stays. */
struct growing {
	struct pool_item *item;
	max_align_t elements[];
};

void *
pool_grow(struct pool *pool, void *array, size_t nr, size_t size)
{
	struct growing *growing = nr ? (struct growing *)((char *)array - sizeof(*growing)) : NULL;
	struct pool_item *item = nr ? growing->item : NULL;
	const size_t room = nr ? 2 * nr : 1;

	/* The room is always a power of two. */
	if (nr & (nr - 1))
		return array;
	if (room > (SIZE_MAX - sizeof(*growing)) / size)
		rot_calloc(room, size); /* ends the process */
	growing = rot_realloc(growing, 1, sizeof(*growing) + room * size);
	memset((char *)growing->elements + nr * size, 0, (room - nr) * size);
	if (!item) {
		pool_own(pool, growing, free);
		item = pool->last;
	}
	growing->item = item;
	item->thing = growing;
	return growing->elements;
}

void
pool_clear(struct pool *pool)
{
	while (pool->last) {
		autofree struct pool_item *item = pool->last;

		pool->last = item->before;
		if (item->release)
			item->release(item->thing);
	}
}

void
texts_add(struct pool *pool, struct texts *texts, const char *text)
{
	if (!text || !*text)
		return;
	for (size_t i = 0; i < texts->nr; i++)
		if (strcmp(texts->items[i], text) == 0)
			return;
	pool_add(pool, texts->items, texts->nr) = pool_strdup(pool, text);
}
