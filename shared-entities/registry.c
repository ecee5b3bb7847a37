/* SPDX-License-Identifier: MIT */
/* Classes by name. */
#include <stdlib.h>
#include <string.h>

#include "entity.h"
#include "memory.h"

struct rot_registry {
	const struct rot_class **classes;
	size_t nr;
};

struct rot_registry *
rot_registry_new(void)
{
	return rot_calloc(1, sizeof(struct rot_registry));
}

void
rot_registry_delete(struct rot_registry *registry)
{
	if (registry)
		free(registry->classes);
	free(registry);
}

int
rot_registry_add(struct rot_registry *registry, const struct rot_class *class, struct rot_error *err)
{
	if (rot_registry_find(registry, class->name))
		return rot_error_set(err, 0, "there are two classes '%s'", class->name);
	rot_add(registry->classes, registry->nr) = class;
	return 0;
}

int
rot_registry_add_all(struct rot_registry *registry, const struct rot_class *const *classes, struct rot_error *err)
{
	for (; *classes; classes++)
		if (rot_registry_add(registry, *classes, err) < 0)
			return -1;
	return 0;
}

const struct rot_class *
rot_registry_find(const struct rot_registry *registry, const char *name)
{
	for (size_t i = 0; i < registry->nr; i++)
		if (strcmp(registry->classes[i]->name, name) == 0)
			return registry->classes[i];
	return NULL;
}

size_t
rot_registry_size(const struct rot_registry *registry)
{
	return registry->nr;
}

const struct rot_class *
rot_registry_at(const struct rot_registry *registry, size_t i)
{
	return registry->classes[i];
}
