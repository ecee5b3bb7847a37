/* SPDX-License-Identifier: MIT */
/*
 * Code that fills a buffer of the core, made when the kernel starts. Most buffers are filled between two loads that
 * miss all caches: both are waited for at once as long as the second one enters the core before the first one ends (H.
 * Wong, "Measuring Reorder Buffer Capacity", 2013). What follows the first load waits for it in the buffer.
 *
 * The code is a function of (rdi, rsi: where two chains of pointers begin; rdx: turns; rcx: memory that it uses). It
 * changes only registers that a function may change.
 */
#include <emmintrin.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "CoreBufferData.h"
#include "kernel.h"

#define PAGE 4096
#define ENTRY_BYTES 32     /* no more code for an entry */
#define LINE_DISTANCE 1088 /* 17 lines, so that lines are in all sets, and none beside another */
#define FIRST_FUNCTION 64  /* where it is in the code */
#define FUNCTION_BYTES 16
#define LIST_ROOM 8 /* 64 bytes that are loaded and stored */

struct core_buffer {
	struct core_buffer_data data;
	char *code, *end; /* of what was made so far */
	size_t mapped;
	char *lines;
	char **list; /* of lines, or of functions, in random order; afterwards memory for loads and stores */
	char *chains[2];
	uint64_t nr_lines;
};

/* ---- making code ---- */

static void
emit_bytes(struct core_buffer *buffer, const char *bytes, size_t nr)
{
	memcpy(buffer->end, bytes, nr);
	buffer->end += nr;
}

#define EMIT(buffer, text) emit_bytes(buffer, text, sizeof(text) - 1)

static void
emit_byte(struct core_buffer *buffer, unsigned byte)
{
	*buffer->end++ = (char)byte;
}

static void
emit_number(struct core_buffer *buffer, int64_t number)
{
	const int32_t bits = (int32_t)number;

	memcpy(buffer->end, &bits, sizeof(bits));
	buffer->end += sizeof(bits);
}

/* The last part of a jump or call. */
static void
emit_place(struct core_buffer *buffer, const char *place)
{
	emit_number(buffer, place - (buffer->end + sizeof(int32_t)));
}

static void
emit_loop_end(struct core_buffer *buffer, const char *begin)
{
	EMIT(buffer, "\x48\xff\xca"); /* dec %rdx */
	EMIT(buffer, "\x0f\x85");     /* jnz */
	emit_place(buffer, begin);
	EMIT(buffer, "\xc3"); /* ret */
}

static void
fill_window(struct core_buffer *buffer, unsigned i)
{
	(void)i;
	EMIT(buffer, "\x90"); /* nop */
}

/* lea 1(%r8),%r8, or r9, r10, r11: no flags are written. */
static void
fill_integer(struct core_buffer *buffer, unsigned i)
{
	EMIT(buffer, "\x4d\x8d");
	emit_byte(buffer, 0x40 | i % 4 * 9);
	EMIT(buffer, "\x01");
}

/* paddd %xmm0,%xmm0, or one of xmm1 to xmm7. */
static void
fill_vector(struct core_buffer *buffer, unsigned i)
{
	EMIT(buffer, "\x66\x0f\xfe");
	emit_byte(buffer, 0xc0 | i % 8 * 9);
}

/* movaps 0(%rcx),%xmm0, and the like: as a processor has more vector registers than integer ones. */
static void
fill_load(struct core_buffer *buffer, unsigned i)
{
	EMIT(buffer, "\x0f\x28");
	emit_byte(buffer, 0x41 | i % 8 << 3);
	emit_byte(buffer, i % 4 * 16);
}

/* mov %r8d,0(%rcx), and the like. */
static void
fill_store(struct core_buffer *buffer, unsigned i)
{
	EMIT(buffer, "\x44\x89\x41");
	emit_byte(buffer, i % 4 * 16);
}

static void
make_filled(struct core_buffer *buffer, void (*fill)(struct core_buffer *buffer, unsigned i))
{
	const char *begin = buffer->end;

	EMIT(buffer, "\x48\x8b\x3f"); /* mov (%rdi),%rdi */
	for (unsigned i = 0; i < buffer->data.entries; i++)
		fill(buffer, i);
	EMIT(buffer, "\x48\x8b\x36"); /* mov (%rsi),%rsi */
	for (unsigned i = 0; i < buffer->data.entries; i++)
		fill(buffer, i);
	emit_loop_end(buffer, begin);
}

/* The place of the next turn's addresses in the list depends on all loads of this one. */
static void
make_miss(struct core_buffer *buffer)
{
	const char *begin;

	EMIT(buffer, "\x45\x31\xc0"); /* xor %r8d,%r8d */
	begin = buffer->end;
	for (int64_t i = 0; i < buffer->data.entries; i++) {
		EMIT(buffer, "\x48\x8b\x81"); /* mov 8*i(%rcx),%rax */
		emit_number(buffer, 8 * i);
		EMIT(buffer, "\x4c\x0b\x00"); /* or (%rax),%r8 */
	}
	EMIT(buffer, "\x49\x83\xe0\x00"); /* and $0,%r8 */
	EMIT(buffer, "\x4a\x8d\x8c\x01"); /* lea 8*entries(%rcx,%r8,1),%rcx */
	emit_number(buffer, 8 * buffer->data.entries);
	emit_loop_end(buffer, begin);
}

/* Each function calls the one behind it and returns. */
static void
make_return(struct core_buffer *buffer)
{
	const char *begin = buffer->end;

	EMIT(buffer, "\xe8"); /* call */
	emit_place(buffer, begin + FIRST_FUNCTION);
	emit_loop_end(buffer, begin);
	buffer->end = buffer->code + FIRST_FUNCTION;
	for (int64_t i = 1; i < buffer->data.entries; i++) {
		const char *next = buffer->end + FUNCTION_BYTES;

		EMIT(buffer, "\xe8"); /* call */
		emit_place(buffer, next);
		EMIT(buffer, "\xc3"); /* ret */
		buffer->end = buffer->code + FIRST_FUNCTION + FUNCTION_BYTES * i;
	}
	EMIT(buffer, "\xc3"); /* ret */
}

/* One call goes to each function of the list in turn. They return at once. */
static void
make_target(struct core_buffer *buffer)
{
	const char *turn, *call;

	EMIT(buffer, "\x48\x8d\xb1"); /* lea 8*entries(%rcx),%rsi */
	emit_number(buffer, 8 * buffer->data.entries);
	turn = buffer->end;
	EMIT(buffer, "\x48\x89\xc8"); /* mov %rcx,%rax */
	call = buffer->end;
	EMIT(buffer, "\xff\x10");         /* call *(%rax) */
	EMIT(buffer, "\x48\x83\xc0\x08"); /* add $8,%rax */
	EMIT(buffer, "\x48\x39\xf0");     /* cmp %rsi,%rax */
	EMIT(buffer, "\x0f\x85");         /* jne */
	emit_place(buffer, call);
	emit_loop_end(buffer, turn);
	for (int64_t i = 0; i < buffer->data.entries; i++) {
		buffer->end = buffer->list[i];
		EMIT(buffer, "\xc3"); /* ret */
	}
	buffer->end = buffer->code + FIRST_FUNCTION + FUNCTION_BYTES * buffer->data.entries;
}

/* nopl 0(%rax,%rax,1): few of them are decoded in a cycle. */
static void
make_operation(struct core_buffer *buffer)
{
	const char *begin = buffer->end;

	for (int64_t i = 0; i < buffer->data.entries; i++)
		EMIT(buffer, "\x0f\x1f\x84\x00\x00\x00\x00\x00");
	emit_loop_end(buffer, begin);
}

static const struct kind {
	const char *name;
	void (*make)(struct core_buffer *buffer);
	void (*fill)(struct core_buffer *buffer, unsigned i); /* instead of make */
} kinds[] = {
	{"WINDOW", NULL, fill_window}, {"INTEGER", NULL, fill_integer}, {"VECTOR", NULL, fill_vector},
	{"LOAD", NULL, fill_load},     {"STORE", NULL, fill_store},     {"MISS", make_miss, NULL},
	{"RETURN", make_return, NULL}, {"TARGET", make_target, NULL},   {"OPERATION", make_operation, NULL},
};

/* ---- memory ---- */

/* xorshift64 (Marsaglia, 2003), and an order as any other (Fisher and Yates, 1938). */
static void
fill_list(char **list, uint64_t nr, char *first, uint64_t distance)
{
	uint64_t state = UINT64_C(88172645463325252);

	for (uint64_t i = 0; i < nr; i++)
		list[i] = first + distance * i;
	for (uint64_t i = nr; i > 1; i--) {
		char **other, *place = list[i - 1];

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		other = &list[state % i];
		list[i - 1] = *other;
		*other = place;
	}
}

static int
allocate(struct core_buffer *buffer, uint64_t nr_list)
{
	const size_t mapped = 2 * PAGE + ENTRY_BYTES * (size_t)buffer->data.entries;
	void *code = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return kernel_fail("no memory for code: %s", strerror(errno));
	buffer->code = buffer->end = code;
	buffer->mapped = mapped;
	memset(code, 0xcc, mapped); /* int3 */
	buffer->list = kernel_allocate(nr_list, sizeof(*buffer->list));
	buffer->lines = kernel_allocate(buffer->nr_lines + 1, LINE_DISTANCE);
	return buffer->list && buffer->lines ? 0 : -1;
}

static int
initialize(void *kernel)
{
	struct core_buffer *buffer = kernel;
	const struct kind *kind = kinds;
	const uint64_t entries = (uint64_t)buffer->data.entries, turns = (uint64_t)buffer->data.turns;

	while (strcmp(kind->name, buffer->data.buffer) != 0)
		kind++;
	buffer->nr_lines = kind->fill ? 2 * turns : kind->make == make_miss ? turns * entries : 0;
	if (allocate(buffer, buffer->nr_lines + entries + LIST_ROOM) < 0)
		return -1;
	fill_list(buffer->list, buffer->nr_lines, buffer->lines, LINE_DISTANCE);
	/* Two chains, each through half of the lines. */
	for (uint64_t i = 0; i < buffer->nr_lines; i++)
		*(char **)(void *)buffer->list[i] = buffer->list[(i + 1) % buffer->nr_lines];
	buffer->chains[0] = buffer->list[0];
	buffer->chains[1] = buffer->list[buffer->nr_lines / 2];
	if (kind->make == make_target)
		fill_list(buffer->list, entries, buffer->code + FIRST_FUNCTION, FUNCTION_BYTES);
	if (kind->fill)
		make_filled(buffer, kind->fill);
	else
		kind->make(buffer);
	if (mprotect(buffer->code, buffer->mapped, PROT_READ | PROT_EXEC) < 0)
		return kernel_fail("the system lets no code run that was just made: %s", strerror(errno));
	return 0;
}

static void
run(void *kernel)
{
	struct core_buffer *buffer = kernel;
	void (*code)(char *first, char *second, uint64_t turns, char **list);

	memcpy(&code, &buffer->code, sizeof(code));
	code(buffer->chains[0], buffer->chains[1], (uint64_t)buffer->data.turns, buffer->list);
}

/* Afterwards all lines are cold, as they are to miss. */
static void
warm_code(void *kernel)
{
	struct core_buffer *buffer = kernel;

	run(kernel);
	for (uint64_t i = 0; i < buffer->nr_lines; i++)
		_mm_clflush(buffer->lines + LINE_DISTANCE * i);
	_mm_mfence();
}

static void
dispose(void *kernel)
{
	struct core_buffer *buffer = kernel;

	if (buffer->code)
		munmap(buffer->code, buffer->mapped);
	kernel_free(buffer->list);
	kernel_free(buffer->lines);
	buffer->code = NULL;
	buffer->list = NULL;
	buffer->lines = NULL;
}

KERNEL(core_buffer, "CoreBuffer", .initialize = initialize, .run = run, .warm_code = warm_code, .dispose = dispose);
