/* SPDX-License-Identifier: MIT */
/* The kernel Chase: one cycle through all lines, chains at equal distances, and nothing but loads that wait for each
 * other. */
#include "Chase/conflicts.h"
#include "fixture.h"
#include "listing.h"
#include "loaded.h"
#include "testing.h"

/* Member i behind the fields: the buffer, and where the chains begin. */
static char *
pointer_at(const struct loaded *chase, size_t i)
{
	char *pointer;

	memcpy(&pointer, (char *)chase->kernel + chase->entity->entity.class->size + i * sizeof(pointer),
	       sizeof(pointer));
	return pointer;
}

static const struct {
	const char *fields;
	size_t lines, chains, distance, pair_distance;
} cycles[] = {
	{"bufferSize=128", 2, 1, 64, 0},
	{"bufferSize=64000 chains=3", 1000, 3, 64, 0},
	{"bufferSize=3145728 chains=12", 49152, 12, 64, 0},
	{"bufferSize=1048576 hugePages=false chains=2 accesses=8", 16384, 2, 64, 0},
	{"bufferSize=3145728 chains=24", 49152, 24, 64, 0},
	{"bufferSize=64000 chains=3 order=ASCENDING", 1000, 3, 64, 0},
	{"bufferSize=416000 distance=4160", 100, 1, 4160, 0},
	{"bufferSize=65536 distance=1024 pairDistance=256 chains=2", 64, 2, 1024, 256},
};

TEST_OF(all_lines_are_one_cycle, NR_ELEMENTS(cycles))
{
	cleared_by(unload) struct loaded chase = load("Chase", cycles[_i].fields);
	size_t nr = cycles[_i].lines, steps = 0, chain = 0;
	char *seen = rot_calloc(nr, 1), *at;

	ck_assert_uint_eq(chase.nr_buffers, 1);
	ck_assert_uint_eq(chase.buffers[0].bytes, cycles[_i].distance * nr);
	at = pointer_at(&chase, 1);
	do {
		size_t offset = (size_t)(at - (char *)chase.buffers[0].start), line = offset / cycles[_i].distance;

		ck_assert_uint_eq(offset % cycles[_i].distance, 0);
		ck_assert_uint_lt(line, nr);
		ck_assert_int_eq(seen[line], 0);
		seen[line] = 1;
		if (chain < cycles[_i].chains && steps == chain * nr / cycles[_i].chains)
			ck_assert_ptr_eq(at, pointer_at(&chase, 1 + chain++));
		if (cycles[_i].pair_distance) {
			ck_assert_ptr_eq(*(char **)(void *)at, at + cycles[_i].pair_distance);
			at += cycles[_i].pair_distance;
		}
		at = *(char **)(void *)at;
	} while (++steps < nr);
	ck_assert_ptr_eq(at, pointer_at(&chase, 1));
	ck_assert_uint_eq(chain, cycles[_i].chains);
	free(seen);
}

/* Visits of each cycle, by name of the line; the second visit of one is marked by a dash. */
TEST(lines_are_visited_again)
{
	static const char *const orders[][2] = {{"ZIGZAG", "0 1 2 3 4 3- 2- 1-"}, {"HOT", "0 1 2 3 4 2-"}};

	for (size_t k = 0; k < NR_ELEMENTS(orders); k++) {
		autofree char *fields =
			rot_format("bufferSize=20480 distance=4096 pairDistance=64 order=%s", orders[k][0]);
		autofree char *visits = rot_strdup("");
		cleared_by(unload) struct loaded chase = load("Chase", fields);
		char *at = pointer_at(&chase, 1);
		size_t names[5] = {0}, nr_names = 0, line;

		do {
			const size_t offset = (size_t)(at - (char *)chase.buffers[0].start);

			for (line = 0; line < nr_names && names[line] != offset / 4096; line++)
				;
			if (line == nr_names)
				names[nr_names++] = offset / 4096;
			rot_append(&visits, "%s%zu%s", *visits ? " " : "", line, offset % 4096 == 8 ? "-" : "");
			at = *(char **)(void *)at;
			ck_assert_uint_eq((size_t)(at - (char *)chase.buffers[0].start), offset + 64);
			at = *(char **)(void *)at;
		} while (at != pointer_at(&chase, 1));
		ck_assert_str_eq(visits, orders[k][1]);
	}
}

/* The order is random enough: hardly a step goes to the line beside, as a prefetcher would guess. */
TEST(steps_go_anywhere)
{
	cleared_by(unload) struct loaded chase = load("Chase", "bufferSize=655360");
	char *at = pointer_at(&chase, 1);
	size_t nr_near = 0;

	for (size_t i = 0; i < 10240; i++) {
		char *next = *(char **)(void *)at;

		nr_near += labs(next - at) <= 512;
		at = next;
	}
	ck_assert_uint_lt(nr_near, 100);
}

/* The policy of the buffer: MPOL_BIND, asked with MPOL_F_ADDR. Some containers refuse both calls. */
TEST(buffer_is_bound_to_its_node)
{
	unsigned long nodes = 1;
	int policy = -1;

	if (syscall(SYS_mbind, NULL, (size_t)0, 2, &nodes, 8 * sizeof(nodes), 0) < 0) {
		printf("no buffer is bound to a node here: %s\n", strerror(errno));
		return;
	}
	for (int is_bound = 0; is_bound < 2; is_bound++) {
		cleared_by(unload) struct loaded chase = load("Chase", is_bound ? "node=0" : "node=-1");

		ck_assert_int_eq(syscall(SYS_get_mempolicy, &policy, NULL, 0, chase.buffers[0].start, 2), 0);
		ck_assert_int_eq(policy == 2, is_bound);
	}
}

TEST(ascending_steps_go_to_the_next_line)
{
	cleared_by(unload) struct loaded chase = load("Chase", "bufferSize=655360 distance=128 order=ASCENDING");
	char *at = pointer_at(&chase, 1);

	for (size_t i = 0; i < 5119; i++, at += 128)
		ck_assert_ptr_eq(*(char **)(void *)at, at + 128);
	ck_assert_ptr_eq(*(char **)(void *)at, pointer_at(&chase, 1));
}

/* The measured accesses begin where warming ended; each chain makes the accesses asked for. */
static const struct {
	const char *chains;
	size_t nr, first; /* accesses of each chain before: 480 of all, and 8 to warm the code */
} chains_that_go_on[] = {{"3", 3, 168 + 8}, {"12", 12, 48 + 8}, {"13", 13, 40 + 8}, {"24", 24, 24 + 8}};

TEST_OF(chains_go_on, NR_ELEMENTS(chains_that_go_on))
{
	const size_t nr = chains_that_go_on[_i].nr;
	autofree char *fields =
		rot_format("bufferSize=6400000 chains=%s accesses=1000 warmAccesses=480", chains_that_go_on[_i].chains);
	cleared_by(unload) struct loaded chase = load("Chase", fields);
	char *at[24];

	for (size_t k = 0; k < nr; k++) {
		at[k] = pointer_at(&chase, 1 + k);
		for (size_t i = 0; i < chains_that_go_on[_i].first + 1000; i++)
			at[k] = *(char **)(void *)at[k];
	}
	chase.type->warm_data(chase.kernel);
	chase.type->warm_code(chase.kernel);
	chase.type->run(chase.kernel);
	for (size_t k = 0; k < nr; k++)
		ck_assert_ptr_eq(pointer_at(&chase, 1 + k), at[k]);
}

TEST_OF(loops_only_load, has_objdump() * 3)
{
	static const char *const chains[] = {"chains=1", "chains=5", "chains=12"};

	for (size_t i = 0; kernels_compilers[i]; i++) {
		struct kernel_base *kernel = kernel_of("Chase", chains[_i]);
		char *name = rot_format("Chase-%ld.o", (long)getpid());
		char *object = kernel_compile(kernel, kernels_compilers[i], "-c", name);
		struct listing listing = listing_of_function(object, "follow"), loop = listing_first_loop(&listing);
		size_t nr = 8 * (size_t)atoi(chains[_i] + strlen("chains="));

		ck_assert_uint_eq(listing_count(&loop, "mov", "("), nr);
		ck_assert_uint_eq(listing_count(&loop, NULL, "("), nr);
		ck_assert_uint_eq(loop.nr, nr + 2);
		listing_clear(&listing);
		free(object);
		free(name);
	}
}

/* ---- lines of one set ---- */

/* A cache whose sets are chosen by a hash; of 100 tests, how many tell the contrary. */
struct simulated {
	uint32_t ways, nr_sets, wrong, state;
};

static uint32_t
set_of(const struct simulated *cache, uint32_t line)
{
	return (line * 2654435761u >> 7) % cache->nr_sets;
}

static bool
drives_out(void *context, uint32_t victim, const uint32_t *lines, uint32_t nr)
{
	struct simulated *cache = context;
	uint32_t nr_beside = 0;

	for (uint32_t i = 0; i < nr; i++)
		nr_beside += set_of(cache, lines[i]) == set_of(cache, victim);
	cache->state = cache->state * 1664525 + 1013904223;
	return (nr_beside >= cache->ways) != ((cache->state >> 8) % 100 < cache->wrong);
}

static const struct simulated caches[] = {
	{16, 16, 0, 1}, {16, 16, 1, 2}, {8, 16, 2, 3}, {20, 32, 1, 4}, {10, 32, 2, 5}, {16, 32, 1, 6}, {4, 64, 2, 7},
};

TEST_OF(lines_that_drive_each_other_out_are_of_one_set, NR_ELEMENTS(caches))
{
	struct simulated cache = caches[_i];
	uint32_t found[24], nr_others = 0;

	ck_assert(conflicts_find(drives_out, &cache, found, NR_ELEMENTS(found)));
	for (size_t i = 1; i < NR_ELEMENTS(found); i++) {
		nr_others += set_of(&cache, found[i]) != set_of(&cache, found[0]);
		for (size_t k = 0; k < i; k++)
			ck_assert_uint_ne(found[i], found[k]);
	}
	ck_assert_uint_eq(nr_others, 0);
}

/* Nothing drives a line out, or anything does: no set is made up. */
TEST_OF(no_set_is_made_up, 2)
{
	struct simulated cache = {_i ? 1 : CONFLICTS_POOL, 1, 0, 1};
	uint32_t found[24];

	ck_assert_int_eq(conflicts_find(drives_out, &cache, found, NR_ELEMENTS(found)), false);
}

UNIT_TESTS(.needs = {fixture_open}, .close = fixture_close);
