/* SPDX-License-Identifier: MIT */
/* The kernel Memory: its loops have the instructions that their names say, and what they write is right. */
#include "fixture.h"
#include "kernel.h"
#include "listing.h"
#include "loaded.h"
#include "testing.h"

/* ---- instructions ---- */

struct memory_set {
	const char *name, *register_name;
	size_t width;
	bool is_vex;
};

static const struct memory_set sets[] = {
	{"SCALAR", "%rax", 8, false},
	{"SSE", "%xmm", 16, false},
	{"AVX2", "%ymm", 32, true},
	{"AVX512", "%zmm", 64, true},
};

/* A step: which parts are loaded and stored (a bit each), and the instructions beside. */
struct memory_operation {
	const char *name;
	unsigned loads, stores;
	bool is_nt;
	bool changes;                        /* what is stored, once a turn */
	size_t nr, nr_vex;                   /* instructions in all; from AVX on */
	const char *computes, *computes_vex; /* AT&T name of what computes */
};

static const struct memory_operation operations[] = {
	{"READ", 1, 0, false, false, 1, 1, NULL, NULL},
	{"WRITE", 0, 1, false, true, 1, 1, NULL, NULL},
	{"WRITE_NT", 0, 1, true, true, 1, 1, NULL, NULL},
	{"UPDATE", 1, 1, false, false, 3, 2, "paddq", "vpaddq"},
	{"COPY", 2, 1, false, false, 2, 2, NULL, NULL},
	{"COPY_NT", 2, 1, true, false, 2, 2, NULL, NULL},
	{"LOAD2_STORE", 6, 1, false, true, 3, 3, NULL, NULL},
	{"TRIAD", 6, 1, false, true, 4, 3, "mulpd", "vfmadd213pd"},
	{"TRIAD_NT", 6, 1, true, true, 4, 3, "addpd", "vfmadd213pd"},
};

struct memory_case {
	const struct memory_set *set;
	const struct memory_operation *operation;
	size_t streams, unroll;
	const char *prefetch; /* NULL: none */
};

static size_t
bits_of(unsigned parts)
{
	return (size_t)__builtin_popcount(parts);
}

/* "0x40(%r9,%rdx,2)": where step u of a stream finds a part. */
static void
address_of(char text[64], const struct memory_case *c, size_t stream, size_t u, int part)
{
	char offset[24] = "", index[24] = "";

	/* r13 cannot be encoded without an offset. */
	if (u > 0 || stream == 5)
		snprintf(offset, sizeof offset, "0x%zx", u * c->set->width);
	if (part > 0)
		snprintf(index, sizeof index, ",%%rdx,%d", part);
	snprintf(text, 64, "%s(%%r%zu%s)", offset, 8 + stream, index);
}

/* Accesses at exactly this address, that store or load. */
static size_t
count_accesses(const struct listing *loop, const char *address, bool is_store, bool is_nt, const char *register_name)
{
	size_t nr = 0;

	for (size_t i = 0; i < loop->nr; i++) {
		const struct instruction *instruction = &loop->instructions[i];
		const char *at = strstr(instruction->operands, address);
		bool ends = at && at[strlen(address)] == '\0';

		if (!at || (at > instruction->operands && at[-1] != ',') ||
		    strncmp(instruction->mnemonic, "prefetch", 8) == 0)
			continue;
		nr += ends == is_store && (strstr(instruction->mnemonic, "movnt") != NULL) == (is_nt && is_store) &&
		      strstr(instruction->operands, register_name);
	}
	return nr;
}

/* Every access is at an address of its own, and each stream advances past its block. */
static void
look_at_addresses(const struct memory_case *c, const struct listing *loop)
{
	const struct memory_operation *o = c->operation;
	bool is_number = c->set->width == 8 && strcmp(o->name, "TRIAD") == 0;
	const char *loaded_to = is_number ? "%xmm" : c->set->register_name;
	const char *stored = is_number ? "%xmm" : c->set->width == 8 ? "%r" : c->set->register_name;
	char text[64];

	for (size_t stream = 0; stream < c->streams; stream++) {
		for (size_t u = 0; u < c->unroll; u++)
			for (int part = 0; part < 3; part++) {
				address_of(text, c, stream, u, part);
				ck_assert_msg(count_accesses(loop, text, false, o->is_nt, loaded_to) ==
						      (o->loads >> part & 1),
					      "loads of %s", text);
				ck_assert_msg(count_accesses(loop, text, true, o->is_nt, stored) ==
						      (o->stores >> part & 1),
					      "stores to %s", text);
			}
		snprintf(text, sizeof text, "$0x%zx,%%r%zu", c->unroll * c->set->width, 8 + stream);
		ck_assert_uint_eq(listing_count(loop, "add", text), 1);
	}
}

/* Accesses, what computes, a counter, a step for each stream, and prefetches: one for each line that is loaded. */
static void
look_at_memory(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	const struct memory_case *c = context;
	const struct memory_operation *o = c->operation;
	size_t steps = c->streams * c->unroll, per_step = c->set->is_vex ? o->nr_vex : o->nr;
	size_t lines = c->streams * ((c->unroll * c->set->width + 63) / 64);
	size_t nr_prefetches = c->prefetch ? lines * bits_of(o->loads ? o->loads : o->stores) : 0;
	const char *computes = c->set->is_vex ? o->computes_vex : o->computes;

	(void)kernel;
	look_at_addresses(c, loop);
	if (c->prefetch)
		ck_assert_uint_eq(listing_count(loop, c->prefetch, "("), nr_prefetches);
	if (computes && c->set->width > 8)
		ck_assert_uint_eq(listing_count(loop, computes, ""), steps);
	ck_assert_uint_eq(listing_count(loop, NULL, "("),
			  steps * bits_of(o->loads) + steps * bits_of(o->stores) + nr_prefetches);
	ck_assert_uint_eq(loop->nr, steps * per_step + nr_prefetches + o->changes + c->streams + 2);
}

/* Each class of variants: operation and width, without and with prefetches of each kind. */
TEST_OF(memory_has_its_instructions, has_objdump() * NR_ELEMENTS(operations))
{
	static const char *const hints[][2] = {
		{"T0", "prefetcht0"}, {"T1", "prefetcht1"}, {"T2", "prefetcht2"}, {"NTA", "prefetchnta"}};
	const struct memory_operation *o = &operations[_i];

	for (size_t i = 0; i < NR_ELEMENTS(sets) * 2; i++) {
		const struct memory_set *set = &sets[i / 2];
		const char *const *hint = hints[((size_t)_i + i) % 4];
		struct memory_case c = {set, o, 1 + ((size_t)_i + i) % 8, 1 + ((size_t)_i + 3 * i) % 11,
					i % 2 ? hint[1] : NULL};
		char *fields;

		if (!kernels_tries(_i + (int)i + (int)i / 2) || (set->width == 8 && strcmp(o->name, "TRIAD_NT") == 0))
			continue;
		fields = rot_format("bufferSize=12288 operation=%s instructionSet=%s streams=%zu unroll=%zu "
				    "prefetchDistance=%d prefetchHint=%s",
				    o->name, set->name, c.streams, c.unroll, i % 2 ? 512 : 0, hint[0]);
		examine_everywhere("Memory", fields, _i + (int)i, "run_loop", look_at_memory, &c);
		free(fields);
	}
}

/* Four passes in a turn, and nothing but their accesses, what changes, and a counter. */
static void
look_at_small(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	const struct memory_case *c = context;
	const struct memory_operation *o = c->operation;
	size_t steps = 4 * c->streams * c->unroll, per_step = c->set->is_vex ? o->nr_vex : o->nr;

	(void)kernel;
	ck_assert_uint_eq(listing_count(loop, NULL, "(%r"), steps * (bits_of(o->loads) + bits_of(o->stores)));
	ck_assert_uint_eq(loop->nr, steps * per_step + 4 * o->changes + 2);
}

TEST_OF(memory_has_short_passes, has_objdump() * NR_ELEMENTS(operations))
{
	const struct memory_operation *o = &operations[_i];

	for (size_t i = 0; i < NR_ELEMENTS(sets); i++) {
		struct memory_case c = {&sets[i], o, 1 + ((size_t)_i + i) % 3, 1, NULL};
		autofree char *fields = NULL;

		if (!kernels_tries(_i + (int)i) || (sets[i].width == 8 && strcmp(o->name, "TRIAD_NT") == 0))
			continue;
		fields = rot_format("bufferSize=384 operation=%s instructionSet=%s streams=%zu unroll=1", o->name,
				    sets[i].name, c.streams);
		examine_everywhere("Memory", fields, _i + (int)i, "run_small", look_at_small, &c);
	}
}

/* The longest loop that there is. */
TEST_OF(memory_has_long_loops, has_objdump())
{
	struct memory_case c = {&sets[3], &operations[7], 8, 32, "prefetcht0"};

	examine_everywhere(
		"Memory",
		"bufferSize=12288 operation=TRIAD instructionSet=AVX512 streams=8 unroll=32 prefetchDistance=64", 0,
		"run_loop", look_at_memory, &c);
}

/* 8 bytes a step, no stores; with RANDOM_READ a chain takes the value read into its state. */
static void
look_at_random(const struct kernel_base *kernel, const struct listing *loop, const void *context)
{
	size_t nr = (size_t)(number_of(kernel, "streams") * number_of(kernel, "unroll"));

	ck_assert_uint_eq(listing_count(loop, context, "(%r"), nr);
	ck_assert_uint_eq(listing_count(loop, NULL, "("), nr);
	if (strcmp(context, "xor") == 0)
		ck_assert_uint_eq(listing_count_destinations(loop, "xor"), (size_t)number_of(kernel, "streams"));
	ck_assert_uint_eq(loop->nr, 8 * nr + 2);
}

TEST_OF(random_read_waits_for_what_it_reads, has_objdump())
{
	examine_everywhere("Memory", "operation=RANDOM_READ streams=3 unroll=2", 0, "run_loop", look_at_random, "xor");
	examine_everywhere("Memory", "operation=RANDOM_LOAD streams=4 unroll=3", 1, "run_loop", look_at_random, "mov");
}

/* ---- runs ---- */

/* A run over buffers of several sizes: blocks that fit and do not, and nothing but a rest. */
static const char *const shapes[] = {
	"instructionSet=SCALAR bufferSize=192 iterations=3",
	"instructionSet=SCALAR bufferSize=12672 unroll=7 streams=3 iterations=3",
	"instructionSet=SSE bufferSize=12288 unroll=8 streams=4",
	"instructionSet=SSE bufferSize=1999872 unroll=5 streams=8 hugePages=false",
	"instructionSet=AVX2 bufferSize=19200 unroll=32 iterations=2",
	"instructionSet=AVX512 bufferSize=196608 unroll=4 streams=2 iterations=2",
	"instructionSet=AVX512 bufferSize=1920 unroll=16 streams=8 iterations=5",
	"instructionSet=AVX512 bufferSize=3145728 unroll=3 streams=5 prefetchDistance=512",
	/* One turn: of one part, of each of two, and of each of three. */
	"instructionSet=AVX512 bufferSize=384 unroll=2 streams=3 iterations=7",
	"instructionSet=SSE bufferSize=384 unroll=4 streams=3 iterations=7",
	"instructionSet=AVX2 bufferSize=384 unroll=4 streams=1 iterations=6",
	"instructionSet=SCALAR bufferSize=384 unroll=8 streams=2 iterations=4",
};

static struct loaded
load_operation(const char *operation, const char *shape)
{
	const char *more = strstr(operation, "COPY") && !strstr(shape, "iterations") ? " iterations=2" : "";
	char *fields = rot_format("operation=%s %s%s", operation, shape, more);
	struct loaded loaded = load("Memory", fields);

	free(fields);
	return loaded;
}

/* A copy of a part. */
static uint64_t *
copy_of(const struct kernel_buffer *part)
{
	uint64_t *copy = rot_calloc(part->bytes, 1);

	memcpy(copy, part->start, part->bytes);
	return copy;
}

static bool
is_here(const char *shape)
{
	return cpu_has(shape) && (!strstr(shape, "AVX2") || __builtin_cpu_supports("fma"));
}

/* Words that are zeros, or what was there before. One check of the whole: each costs more than what it looks at. */
static size_t
count_unchanged(const uint64_t *words, const uint64_t *before, size_t nr)
{
	size_t nr_unchanged = 0;

	for (size_t i = 0; i < nr; i++)
		nr_unchanged += words[i] == 0 || words[i] == before[i];
	return nr_unchanged;
}

TEST_OF(stores_change_everything, NR_ELEMENTS(shapes))
{
	static const char *const names[] = {"WRITE", "WRITE_NT", "LOAD2_STORE"};

	for (size_t n = 0; n < NR_ELEMENTS(names) && is_here(shapes[_i]); n++) {
		cleared_by(unload) struct loaded memory = {0};
		const uint64_t *words;

		if (!kernels_tries(_i + (int)n))
			continue;
		memory = load_operation(names[n], shapes[_i]);
		words = memory.buffers[0].start;
		ck_assert_uint_eq(memory.nr_buffers, n == 2 ? 3 : 1);
		for (int again = 0; again < 2; again++) {
			autofree uint64_t *before = copy_of(&memory.buffers[0]);

			run(&memory);
			ck_assert_uint_eq(count_unchanged(words, before, memory.buffers[0].bytes / 8), 0);
		}
	}
}

TEST_OF(updates_add_to_every_word, NR_ELEMENTS(shapes))
{
	struct loaded memory;
	uint64_t *before, added;
	const uint64_t *words;
	size_t nr_wrong = 0;

	if (!is_here(shapes[_i]))
		return;
	memory = load_operation("UPDATE", shapes[_i]);
	before = copy_of(&memory.buffers[0]);
	words = memory.buffers[0].start;
	run(&memory);
	added = 0x3ff123456789abcd * (uint64_t)number_of(memory.entity, "iterations");
	for (size_t i = 0; i < memory.buffers[0].bytes / 8; i++)
		nr_wrong += words[i] - before[i] != added;
	ck_assert_uint_eq(nr_wrong, 0);
	free(before);
	unload(&memory);
}

/* The destination is the sources' sum or copy, the sources stay, and so does what lies between the parts. */
TEST_OF(parts_are_combined, NR_ELEMENTS(shapes))
{
	static const char *const names[] = {"COPY", "COPY_NT", "TRIAD", "TRIAD_NT"};

	for (size_t n = 0; n < NR_ELEMENTS(names) && is_here(shapes[_i]); n++) {
		bool is_copy = n < 2;
		size_t nr_wrong = 0;

		if (!kernels_tries(_i + (int)n) || (n == 3 && strstr(shapes[_i], "SCALAR")))
			continue;
		if (is_copy && strstr(shapes[_i], "bufferSize=192 "))
			continue;
		cleared_by(unload) struct loaded memory = load_operation(names[n], shapes[_i]);
		ck_assert_uint_eq(memory.nr_buffers, is_copy ? 2 : 3);
		autofree uint64_t *source = copy_of(&memory.buffers[1]);
		const double *a = memory.buffers[0].start, *b = memory.buffers[1].start, *gap_end = b;
		const double *c = memory.buffers[memory.nr_buffers - 1].start, *gap = a + memory.buffers[0].bytes / 8;
		ck_assert_uint_ne((uintptr_t)a % 4096, (uintptr_t)b % 4096);
		run(&memory);
		ck_assert_mem_eq(source, b, memory.buffers[1].bytes);
		for (size_t i = 0; i < memory.buffers[0].bytes / 8; i++)
			nr_wrong +=
				!(fabs(a[i] - (is_copy ? b[i] : b[i] + 1.0711111 * c[i])) <= (is_copy ? 1e-15 : 1e-4));
		for (; gap < gap_end; gap++)
			nr_wrong += !(*gap == 0);
		ck_assert_uint_eq(nr_wrong, 0);
	}
}

/* Ends, and only loads. */
TEST(warming_ends)
{
	cleared_by(unload) struct loaded memory = load("Memory", "operation=READ bufferSize=65536 streams=2");

	memory.type->warm_data(memory.kernel);
}

UNIT_TESTS(.needs = {fixture_open}, .close = fixture_close);
