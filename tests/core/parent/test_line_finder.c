/* SPDX-License-Identifier: MIT */
/* Lines of frames, found by machine code and by looking at the sites: of random sites, that come in random order. */
#include "parent/translate/line_finder.h"

#include "parent/stepping/cache_model.h"
#include "testing.h"

#define NR_SITES 60
#define NR_FRAMES 20000
#define ROOM 4096

static struct site all_sites[SITES_CHUNK];
static struct site_access accesses[NR_SITES][SITE_MAX_ACCESSES];
static uint64_t frames[16 * NR_FRAMES + 16], found[2][64 * NR_FRAMES];
static uint8_t split_by_place[SITE_LINE + 1];
static uint64_t splits[NR_SITES], nr_split;

static uint64_t
below(uint64_t limit)
{
	return (uint64_t)random() % limit;
}

static void
make_access(struct site_access *access, uint8_t nr_words)
{
	static const uint64_t displacements[] = {0, 8, -24ULL, 4096, -100000ULL, UINT64_C(0x7fff12345678), 1ULL << 33};

	*access = (struct site_access){.displacement = displacements[below(NR_ELEMENTS(displacements))],
				       .address_mask = below(5) ? UINT64_MAX : UINT32_MAX,
				       .splits = below(2) ? split_by_place : NULL,
				       .bytes = UINT32_C(1) << below(7),
				       .base = (uint8_t)below(nr_words),
				       .index = below(2) ? (uint8_t)below(nr_words) : 0,
				       .scale = (uint8_t)below(4),
				       .is_local = below(6) == 0,
				       .is_store = below(2)};
}

/* The last one has more accesses than one byte of a displacement can tell. */
static void
make_sites(struct sites *sites)
{
	memset(sites, 0, sizeof(*sites));
	sites->chunks[0] = all_sites;
	sites->nr = NR_SITES;
	sites->splits = splits;
	for (size_t i = 0; i < sizeof(split_by_place); i++)
		split_by_place[i] = (uint8_t)below(4);
	for (unsigned i = 0; i < NR_SITES; i++) {
		struct site *site = &all_sites[i];

		*site = (struct site){.kind = SITE_PLAIN, .is_repeatable = true, .accesses = accesses[i]};
		site->nr_words = (uint16_t)(1 + below(6));
		site->nr_accesses = (uint16_t)(i + 1 < NR_SITES ? 1 + below(8) : 40);
		for (unsigned j = 0; j < site->nr_accesses; j++)
			make_access(&accesses[i][j], (uint8_t)site->nr_words);
	}
}

/* Half of the time the same site comes again, mostly with the same values. Returns where they end. */
static const uint64_t *
make_frames(void)
{
	uint64_t *to = frames, values[8] = {0};
	uint32_t number = 0;

	for (unsigned i = 0; i < NR_FRAMES; i++) {
		if (below(2))
			number = (uint32_t)below(NR_SITES);
		*to++ = RECORD_HEADER | (uint32_t)all_sites[number].nr_words << 20 | number;
		for (unsigned word = 1; word < all_sites[number].nr_words; word++) {
			if (below(3) == 0)
				values[word] = UINT64_C(0x10000) * below(4) + below(300);
			*to++ = values[word];
		}
	}
	return to;
}

/* Returns where the frames end. */
static const uint64_t *
begin(unsigned seed, struct sites *sites)
{
	srandom(seed);
	make_sites(sites);
	return make_frames();
}

/* Returns how many uses there are in to. */
static size_t
find_sampled(const struct sites *sites, const uint64_t *end, unsigned line_shift, uint64_t nr_ways, uint64_t residues,
	     bool compiles, uint64_t *to)
{
	struct line_finder *finder = line_finder_new(sites, line_shift, nr_ways, residues, compiles);
	struct line_search search = {
		.frame = frames, .end = end, .to = to, .fs_base = UINT64_C(0x7f0000001040), .space = UINT64_C(3) << 48};

	memset(splits, 0, sizeof(splits));
	while (search.frame < end) {
		search.room = search.to + ROOM;
		ck_assert_ptr_null(line_finder_run(finder, &search));
		if (below(2))
			search.last = 0;
	}
	ck_assert_ptr_eq(search.frame, end);
	line_finder_delete(finder);
	nr_split = search.splits;
	return (size_t)(search.to - to);
}

static size_t
find(const struct sites *sites, const uint64_t *end, unsigned line_shift, uint64_t nr_ways, bool compiles, uint64_t *to)
{
	return find_sampled(sites, end, line_shift, nr_ways, 0, compiles, to);
}

TEST_OF(code_finds_the_same, 9)
{
	const unsigned line_shift = 6 + (unsigned)_i % 3;
	struct sites sites;
	const uint64_t *end = begin((unsigned)_i, &sites);
	const size_t nr = find(&sites, end, line_shift, 0, false, found[0]);
	const uint64_t nr_split_before = nr_split;
	uint64_t splits_before[NR_SITES], sum = 0;

	memcpy(splits_before, splits, sizeof(splits));
	ck_assert_uint_gt(nr, NR_FRAMES);
	ck_assert_uint_eq(find(&sites, end, line_shift, 0, true, found[1]), nr);
	ck_assert_mem_eq(found[0], found[1], nr * sizeof(*found[0]));
	ck_assert_mem_eq(splits, splits_before, sizeof(splits));
	for (size_t i = 0; i < NR_SITES; i++)
		sum += splits[i];
	ck_assert_uint_gt(sum, 0);
	ck_assert_uint_eq(sum, nr_split);
	ck_assert_uint_eq(sum, nr_split_before);
}

/* All lines, of which those of other residues are left out here. */
TEST_OF(only_sampled_lines_are_found, 4)
{
	const uint64_t residues = UINT64_C(0x8000000100000401) << _i | 1;
	struct sites sites;
	const uint64_t *end = begin((unsigned)_i, &sites);
	const size_t nr_all = find(&sites, end, 6, 0, false, found[0]);
	const uint64_t nr_split_of_all = nr_split;
	uint64_t nr_split_before = 0;
	size_t nr = 0;

	for (size_t i = 0; i < nr_all; i++) {
		if (residues >> (found[0][i] >> CACHE_NR_ENTRY_BITS) % CACHE_RESIDUES & 1)
			found[0][nr++] = found[0][i];
	}
	ck_assert_uint_gt(nr, NR_FRAMES / 100);
	for (int compiles = 0; compiles < 2; compiles++) {
		ck_assert_uint_eq(find_sampled(&sites, end, 6, 0, residues, compiles, found[1]), nr);
		ck_assert_mem_eq(found[0], found[1], nr * sizeof(*found[0]));
		ck_assert_uint_eq(nr_split, compiles ? nr_split_before : nr_split);
		nr_split_before = nr_split;
	}
	/* Lines of random addresses are not all alike. */
	ck_assert_uint_gt(nr_split, nr_split_of_all / 4);
	ck_assert_uint_lt(nr_split, nr_split_of_all * 4);
}

static void
model(const uint64_t *uses, size_t nr, uint64_t counts[STEP_NR_COUNTS])
{
	static const struct step_level levels[STEP_NR_LEVELS] = {{4096, 8}, {16384, 4}, {65536, 16}};
	struct cache_model *caches = at_end(cache_model_delete, cache_model_new(levels, 64));

	memset(counts, 0, STEP_NR_COUNTS * sizeof(*counts));
	cache_model_use_lines(caches, uses, nr);
	cache_model_add_counts(caches, counts);
}

/* The dropped lines change nothing, and are a good part. */
TEST_OF(caches_do_not_miss_what_is_dropped, 4)
{
	uint64_t all[STEP_NR_COUNTS], left[STEP_NR_COUNTS];
	struct sites sites;
	const uint64_t *end = begin((unsigned)_i, &sites);
	const size_t nr = find(&sites, end, 6, 0, false, found[0]);
	model(found[0], nr, all);
	ck_assert_uint_gt(all[STEP_L2_FILLS], 0);
	for (int compiles = 0; compiles < 2; compiles++) {
		const size_t nr_left = find(&sites, end, 6, 8, compiles, found[1]);

		ck_assert_uint_lt(nr_left, nr - nr / 20);
		model(found[1], nr_left, left);
		ck_assert_mem_eq(all, left, sizeof(all));
	}
}

/* Frames that are left to others: with longer accesses, and of no site at all, as if the program had written there. */
TEST(other_frames_are_left)
{
	struct sites sites;
	struct line_finder *finder;

	make_sites(&sites);
	finder = line_finder_new(&sites, 6, 8, 0, true);
	all_sites[0].is_repeatable = false;
	for (uint32_t i = 0; i < 3; i++) {
		static const uint32_t numbers[] = {0, NR_SITES, RECORD_MAX_SITES - 1};
		struct line_search search = {
			.frame = frames, .end = frames + 2, .to = found[0], .room = found[0] + ROOM};

		frames[0] = RECORD_HEADER | UINT32_C(1) << 20 | numbers[i];
		ck_assert_ptr_eq(line_finder_run(finder, &search), i == 0 ? &all_sites[0] : NULL);
		ck_assert_ptr_eq(search.frame, frames);
		ck_assert_ptr_eq(search.end, i == 0 ? frames + 2 : frames);
		ck_assert_ptr_eq(search.to, found[0]);
	}
	line_finder_delete(finder);
}

/* Is it looked whether a frame with an access to [rsi + index] has to be written? */
static bool
is_looked_at(unsigned index, bool leaves_out)
{
	static uint8_t bytes[512];
	static struct site_access access;
	const bool is_first = index < 6;
	struct sites sites = {.chunks = {all_sites}, .nr = 1, .leaves_out = leaves_out};
	struct emitter to = {.bytes = bytes};
	struct aside aside = {.site = 0};

	access = (struct site_access){
		.address_mask = UINT64_MAX, .bytes = 8, .base = is_first ? 2 : 1, .index = is_first ? 1 : 2};
	all_sites[0] = (struct site){.kind = SITE_PLAIN,
				     .is_repeatable = true,
				     .registers = (uint16_t)(1U << 6 | 1U << index),
				     .nr_words = 3,
				     .nr_accesses = 1,
				     .accesses = &access};
	return recording_emit_filter(&to, &sites, &(struct recording_free){.reg = -1}, 0x10000, &aside);
}

/* An instruction cannot have rsp as an index, but another register may have had a copy of it. */
TEST(frames_are_looked_at_if_that_can_be_done)
{
	for (unsigned index = 0; index < 16; index++) {
		ck_assert(!is_looked_at(index, false));
		if (index != 6)
			ck_assert_int_eq(is_looked_at(index, true), index != 4);
	}
}

/* ---- frames that are left out ---- */

#define ARCH_SET_GS 0x1001
#define RET 0xc3
#define PAGE 4096
#define RESIDUES UINT64_C(0x0040100000080003) /* of lines that are sampled */
#define LOW_TABLES_BYTES (LOW_LEFT_OUT_END / PAGE * PAGE + PAGE)

static bool
has_sampled_line(uint64_t address, uint64_t bytes)
{
	for (uint64_t line = address / SITE_LINE; line <= (address + bytes - 1) / SITE_LINE; line++) {
		if (RESIDUES >> line % CACHE_RESIDUES & 1)
			return true;
	}
	return false;
}

/* In the lowest 2 GB, as a process has it. */
static uint8_t *
map_tables(void)
{
	uint8_t *low =
		mmap(NULL, LOW_TABLES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ck_assert_ptr_ne(low, MAP_FAILED);
	recording_leave_out(low, RESIDUES);
	return low;
}

/* Accesses by rcx, rsi and rdi, to what is a thread's, or by none, some of which are beside each other. */
static void
make_near_site(struct site *site)
{
	*site = (struct site){.kind = SITE_PLAIN,
			      .is_repeatable = true,
			      .registers = 1U << 1 | 1U << 6 | 1U << 7,
			      .nr_words = 4,
			      .nr_accesses = (uint16_t)(1 + below(8)),
			      .accesses = accesses[0]};
	for (unsigned i = 0; i < site->nr_accesses; i++) {
		accesses[0][i] = (struct site_access){.displacement = below(160) - 80,
						      .address_mask = UINT64_MAX,
						      .bytes = 1 + (uint32_t)below(SITE_LINE),
						      .base = (uint8_t)below(4),
						      .index = below(4) ? 0 : (uint8_t)(1 + below(3)),
						      .scale = (uint8_t)below(4)};
		if (!accesses[0][i].index)
			accesses[0][i].scale = 0;
		if (!accesses[0][i].base)
			accesses[0][i].displacement += PAGE;
		accesses[0][i].is_local = !accesses[0][i].base && !accesses[0][i].index && below(2);
	}
}

/* A function that looks at the frame, and returns rcx. It may change flags, and one register that it has no use for. */
static void
emit_function(uint8_t *code, const struct sites *sites, const uint8_t *low)
{
	static const int registers[] = {-1, 0, 2, 8, 9, 10, 11};
	const struct recording_free may_change = {.flags = below(2), .reg = registers[below(NR_ELEMENTS(registers))]};
	struct emitter to = {.bytes = code, .at = 16};
	struct aside aside = {.site = 0};

	ck_assert_int_eq(mprotect(code, PAGE, PROT_READ | PROT_WRITE), 0);
	ck_assert(recording_emit_filter(&to, sites, &may_change, (uint64_t)(uintptr_t)low, &aside));
	EMIT(&to, 0x48, 0x89, 0xc8, RET); /* mov rax, rcx; ret */
	recording_emit_aside(&to, sites, &aside);
	ck_assert_int_eq(mprotect(code, PAGE, PROT_READ | PROT_EXEC), 0);
}

/* A frame without sampled lines may be written, but few are. */
TEST(no_frame_with_a_sampled_line_is_left_out)
{
	static uint8_t room[1 << 18];
	static uint64_t area[64];
	uint64_t records = (uint64_t)(uintptr_t)room;
	uint8_t *const low = map_tables(), *code = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *const first = code + 16;
	struct sites sites = {.chunks = {all_sites}, .nr = 1, .leaves_out = true};
	uint64_t (*write_frame)(uint64_t rdi, uint64_t rsi, uint64_t rdx, uint64_t rcx);
	unsigned nr_without = 0, nr_left_out = 0;

	if (!__builtin_cpu_supports("bmi2"))
		return;
	/* Where this byte of the place behind a frame is 0, the buffer is full. */
	while (!(records >> 8 * RECORD_FULL_BYTE & 0xff) || !((records + PAGE) >> 8 * RECORD_FULL_BYTE & 0xff))
		records += PAGE;
	ck_assert_int_eq(syscall(SYS_arch_prctl, ARCH_SET_GS, area), 0);
	memcpy(&write_frame, &first, sizeof(first));
	for (unsigned i = 0; i < 300; i++) {
		make_near_site(&all_sites[0]);
		emit_function(code, &sites, low);
		for (unsigned k = 0; k < 100; k++) {
			const uint64_t fs_base = below(1 << 20);
			const uint64_t frame[4] = {0, PAGE + below(1 << 20), PAGE + below(1 << 20),
						   PAGE + below(1 << 20)};
			bool is_sampled = false;

			for (unsigned j = 0; j < all_sites[0].nr_accesses; j++)
				is_sampled |= has_sampled_line(site_address(&accesses[0][j], frame, fs_base),
							       accesses[0][j].bytes);
			area[AREA_RECORD / 8] = records;
			area[AREA_FS_BASE / 8] = fs_base;
			ck_assert_uint_eq(write_frame(frame[3], frame[2], 0, frame[1]), frame[1]);
			ck_assert(!is_sampled || area[AREA_RECORD / 8] != records);
			if (area[AREA_RECORD / 8] != records)
				ck_assert_mem_eq((const uint64_t *)(uintptr_t)records + 1, frame + 1,
						 sizeof(frame) - 8);
			nr_without += !is_sampled;
			nr_left_out += area[AREA_RECORD / 8] == records;
		}
	}
	ck_assert_uint_gt(nr_left_out, nr_without / 2);
	munmap(low, LOW_TABLES_BYTES);
	munmap(code, PAGE);
}

UNIT_TESTS(.is_in_one_process = true);
