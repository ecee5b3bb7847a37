/* SPDX-License-Identifier: MIT */
/* A kernel compiled as a shared object and loaded into the test. */
#include "loaded.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "definition.h"
#include "fixture.h"
#include "memory.h"

/* The shared objects ask this program for these. */
void *const offered_to_kernels[] = {(void *)kernel_allocate,   (void *)kernel_free,       (void *)kernel_fail,
				    (void *)kernel_fill,       (void *)kernel_fill_float, (void *)kernel_library,
				    (void *)kernel_symbol,     (void *)kernel_tell,       (void *)kernel_folder,
				    (void *)kernel_kept_folder};

struct loaded
load_with(const char *class_name, const char *fields, const char *compiler)
{
	struct loaded loaded = {.entity = kernel_of(class_name, fields)};
	autofree char *name = rot_format("%s-%ld.so", class_name, (long)getpid());
	autofree char *path = kernel_compile(loaded.entity, compiler, "-shared -fPIC", name);
	autofree char *snake = codegen_snake_case(class_name), *symbol = rot_format("kernel_%s", snake);

	loaded.object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(loaded.object != NULL, "%s", dlerror());
	loaded.type = dlsym(loaded.object, symbol);
	ck_assert_msg(loaded.type != NULL, "%s", dlerror());
	ck_assert_str_eq(loaded.type->class_name, class_name);
	loaded.kernel = rot_calloc(1, loaded.type->size);
	memcpy(loaded.kernel, loaded.entity, loaded.entity->entity.class->size);
	if (loaded.type->initialize)
		ck_assert_int_eq(loaded.type->initialize(loaded.kernel), 0);
	if (loaded.type->buffers)
		loaded.nr_buffers = loaded.type->buffers(loaded.kernel, loaded.buffers);
	return loaded;
}

struct loaded
load(const char *class_name, const char *fields)
{
	return load_with(class_name, fields, kernels_compilers[0]);
}

void
run(struct loaded *loaded)
{
	loaded->type->run(loaded->kernel);
}

void
unload(struct loaded *loaded)
{
	if (!loaded->type) /* nothing was loaded */
		return;
	if (loaded->type->dispose) {
		loaded->type->dispose(loaded->kernel);
		loaded->type->dispose(loaded->kernel);
	}
	free(loaded->kernel);
	dlclose(loaded->object);
}

bool
cpu_has(const char *fields)
{
	if (strstr(fields, "registers=32") && !__builtin_cpu_supports("avx512vl"))
		return false;
	if ((strstr(fields, "FMA") || strstr(fields, "FUSED")) && !__builtin_cpu_supports("fma"))
		return false;
	if (strstr(fields, "AVX512"))
		return __builtin_cpu_supports("avx512f");
	return !strstr(fields, "AVX2") || __builtin_cpu_supports("avx2");
}
