/* SPDX-License-Identifier: MIT */
/* The code that kernel CoreBuffer makes has what its buffers are filled with, and runs. */
#include "fixture.h"
#include "loaded.h"
#include "testing.h"

#define ENTRIES 37

static const struct {
	const char *buffer, *instruction;
	size_t count;
} codes[] = {
	{"WINDOW", "\tnop\n", 2 * ENTRIES},
	{"INTEGER", "\tlea    0x1(%r", 2 * ENTRIES},
	{"VECTOR", "\tpaddd  %xmm", 2 * ENTRIES},
	{"LOAD", "\tmovaps ", 2 * ENTRIES},
	{"STORE", "\tmov    %r8d,", 2 * ENTRIES},
	{"MISS", "\tor     (%rax),%r8", ENTRIES},
	{"RETURN", "\tcall ", ENTRIES},
	{"RETURN", "\tret", ENTRIES + 1},
	{"TARGET", "\tret", ENTRIES + 1},
	{"TARGET", "\tcall   *(%rax)", 1},
	{"OPERATION", "\tnopl   0x0(%rax,%rax,1)", ENTRIES},
};

/* Member i behind the fields: the code, and its end. */
static char *
pointer_at(const struct loaded *kernel, size_t i)
{
	char *pointer;

	memcpy(&pointer, (char *)kernel->kernel + kernel->entity->entity.class->size + i * sizeof(pointer),
	       sizeof(pointer));
	return pointer;
}

static char *
disassembled(const struct loaded *kernel)
{
	autofree char *path = rot_format("%s/code-%ld", kernels_folder, (long)getpid());
	autofree char *command = rot_format("objdump -D -b binary -m i386:x86-64 %s", path);
	const char *code = pointer_at(kernel, 0), *end = pointer_at(kernel, 1);
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(code, 1, (size_t)(end - code), file), (size_t)(end - code));
	ck_assert_int_eq(fclose(file), 0);
	return output_of(command);
}

static size_t
count_of(const char *text, const char *part)
{
	size_t nr = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		nr++;
	}
	return nr;
}

TEST_OF(code_has_its_entries, NR_ELEMENTS(codes))
{
	autofree char *fields = rot_format("buffer=%s entries=%d turns=3", codes[_i].buffer, ENTRIES);
	cleared_by(unload) struct loaded kernel = load("CoreBuffer", fields);
	autofree char *text = disassembled(&kernel);

	ck_assert_uint_eq(count_of(text, codes[_i].instruction), codes[_i].count);
	kernel.type->warm_code(kernel.kernel);
	run(&kernel);
}

/* A wrong length of code, jump or list would be a signal. */
TEST_OF(small_and_large_ones_run, NR_ELEMENTS(codes))
{
	static const int entries[] = {1, 2, 1000, 5000};

	for (size_t i = 0; i < NR_ELEMENTS(entries); i++) {
		autofree char *fields = rot_format("buffer=%s entries=%d turns=4", codes[_i].buffer, entries[i]);
		cleared_by(unload) struct loaded kernel = load("CoreBuffer", fields);

		run(&kernel);
		kernel.type->warm_code(kernel.kernel);
	}
}

UNIT_TESTS(.needs = {fixture_open, has_objdump}, .close = fixture_close);
