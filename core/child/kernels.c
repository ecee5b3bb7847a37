/* SPDX-License-Identifier: MIT */
#include "child/kernels.h"

#include <string.h>

const struct kernel_type *
kernel_type_of(const struct kernel_base *kernel)
{
	const char *name = kernel->entity.class->name;

	for (size_t i = 0; rot_kernels[i]; i++)
		if (strcmp(rot_kernels[i]->class_name, name) == 0)
			return rot_kernels[i];
	return NULL;
}

size_t
kernel_buffers(const struct kernel_type *type, void *kernel, struct kernel_buffer buffers[KERNEL_MAX_BUFFERS])
{
	return type->buffers ? type->buffers(kernel, buffers) : 0;
}
