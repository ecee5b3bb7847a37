/* SPDX-License-Identifier: MIT */
/* Which function a name is, and which one lies at an address: of tables of symbols and frames that are made up. */
#include "parent/symbols/symbol_file.h"
#include "testing.h"

#define MAX_RANGES 4
#define TO_END UINT64_MAX        /* a size: as far as the segment reaches */
#define OUTSIDE (UINT64_MAX / 2) /* an address: in no segment             */

static struct symbol_files *files;
static struct symbol_file file; /* this program, with other symbols */
static GElf_Phdr segment;

/* Addresses of made-up ranges count from the begin of a segment of this program. */
static uint64_t
address_of(uint64_t begin)
{
	return begin == OUTSIDE ? OUTSIDE : segment.p_vaddr + begin;
}

static void
open_file(void)
{
	struct symbol_file *self;

	files = symbol_files_new();
	self = symbol_file_open(files, "/proc/self/exe", &why);
	ck_assert_msg(self, "%s", why.text);
	ck_assert(symbol_file_segment(self, self->functions.ranges[0].address, &segment));
	ck_assert_uint_gt(segment.p_filesz, 0x100);
	file = *self;
	file.functions = file.frames = file.plt = (struct symbol_ranges){0};
	file.frames_are_read = file.plt_is_read = true;
}

static void
close_file(void)
{
	symbol_ranges_clear(&file.functions);
	symbol_ranges_clear(&file.frames);
	symbol_files_delete(files);
}

/* A symbol, in the order in which a file has them; size 0: a label. */
struct made_up {
	uint64_t begin, size;
	const char *name;
};

static void
add(struct symbol_ranges *ranges, const struct made_up *range)
{
	symbol_ranges_add(
		ranges,
		&(struct symbol_range){.address = address_of(range->begin), .size = range->size, .name = range->name});
}

/* Up to the first without a name and without a size. */
static void
fill(const struct made_up functions[MAX_RANGES], const struct made_up frames[MAX_RANGES])
{
	for (int i = 0; i < MAX_RANGES && functions[i].name; i++)
		add(&file.functions, &functions[i]);
	for (int i = 0; i < MAX_RANGES && frames[i].size; i++)
		add(&file.frames, &frames[i]);
	symbol_ranges_sort(&file.functions);
	symbol_ranges_sort(&file.frames);
}

static uint64_t
size_of(uint64_t begin, uint64_t size)
{
	return size == TO_END ? segment.p_filesz - begin : size;
}

/* ---- names ---- */

static const struct {
	const char *symbol, *name;
	bool is_called;
} names[] = {
	{"solve", "solve", true},
	{"solver", "solve", false},
	{"solv", "solve", false},
	{"solve@V1", "solve", true},
	{"solve@@V1", "solve", true},
	/* Copies do the same; parts begin elsewhere. */
	{"solve.constprop.0", "solve", true},
	{"solve.isra.0", "solve", true},
	{"solve.isra.0.constprop.1", "solve", true},
	{"solve.lto_priv.0", "solve", true},
	{"solve.llvm.123", "solve", true},
	{"solve.localalias", "solve", true},
	{"solve.constprop", "solve", false},
	{"solve.other.0", "solve", false},
	{"solve.cold", "solve", false},
	{"solve.part.0", "solve", false},
	{"solve.constprop.0.cold", "solve", false},
	{"solve.isra.0.part.1", "solve", false},
	{"solve.cold", "solve.cold", true},
	/* C++. */
	{"_ZN2ns5solveEi", "solve", true},
	{"_ZN2ns5solveEi", "ns::solve", true},
	{"_ZN2ns5solveEi", "_ZN2ns5solveEi", true},
	{"_ZN2ns5solveEi.constprop.0", "solve", true},
	{"_ZN2ns5solveEi.cold", "solve", false},
	{"_ZN2ns5solveEi.part.0", "solve", false},
	{"_ZN2ns5solveEi", "olve", false},
};

TEST_OF(symbols_are_called, NR_ELEMENTS(names))
{
	const struct made_up functions[MAX_RANGES] = {{0x10, 4, names[_i].symbol}}, none[MAX_RANGES] = {{0}};
	cleared_by(symbol_ranges_clear) struct symbol_ranges found = {0};

	fill(functions, none);
	symbols_find_function(&file, names[_i].name, &found);
	ck_assert_msg(found.nr_ranges == names[_i].is_called, "%s %s", names[_i].symbol, names[_i].name);
}

/* Names as they stand in the table count first; what was found before stays, and says nothing. */
TEST(plain_names_count_where_there_are_no_others)
{
	const struct made_up functions[MAX_RANGES] = {{0x10, 4, "solve"},
						      {0x20, 4, "solve.isra.0"},
						      {0x20, 4, "solve.localalias"},
						      {0x30, 4, "_ZN2ns5otherEv"}},
			     none[MAX_RANGES] = {{0}}, before = {0x80, 4, "before"};
	struct symbol_ranges found = {0};

	fill(functions, none);
	add(&found, &before);
	symbols_find_function(&file, "other", &found);
	ck_assert_uint_eq(found.nr_ranges, 2);
	ck_assert_str_eq(found.ranges[0].name, "_ZN2ns5otherEv");
	symbols_find_function(&file, "solve", &found);
	ck_assert_uint_eq(found.nr_ranges, 4); /* of two names for one address one */
	for (size_t i = 1; i < found.nr_ranges; i++)
		ck_assert_uint_lt(found.ranges[i - 1].address, found.ranges[i].address);
	add(&file.functions, &(struct made_up){0x40, 4, "_ZN2ns5solveEi"});
	symbol_ranges_clear(&found);
	symbols_find_function(&file, "solve", &found);
	ck_assert_uint_eq(found.nr_ranges, 2);
	symbol_ranges_clear(&found);
}

TEST(names_are_told)
{
	const struct made_up functions[MAX_RANGES] = {{0x10, 4, "solve"}, {0x20, 4, "initialize"}, {0x30, 4, "zzzzz"}},
			     none[MAX_RANGES] = {{0}};

	ck_assert(!symbols_has_functions(&file));
	ck_assert_ptr_null(symbols_nearest(&file, "solve"));
	add(&file.functions, &(struct made_up){0x08, 4, "first"});
	ck_assert(symbols_has_functions(&file));
	fill(functions, none);
	ck_assert_str_eq(symbols_nearest(&file, "sovle"), "solve");
	ck_assert_str_eq(symbols_nearest(&file, "initialise"), "initialize");
	ck_assert_str_eq(symbols_nearest(&file, "zzzz"), "zzzzz");
}

/* ---- ends ---- */

/* How large the symbol "wanted" is. */
static const struct {
	const char *what;
	struct made_up functions[MAX_RANGES], frames[MAX_RANGES];
	uint64_t begin, size;
} ends[] = {
	{"as its symbol says", {{0x10, 1, "wanted"}}, {{0x10, 8, NULL}}, 0x10, 1},
	{"to the end of the segment", {{0x10, 0, "wanted"}}, {{0}}, 0x10, TO_END},
	{"all of its frame", {{0x10, 0, "wanted"}, {0x14, 0, "next"}}, {{0x10, 8, NULL}}, 0x10, 8},
	{"the rest of its frame", {{0x14, 0, "wanted"}}, {{0x10, 8, NULL}}, 0x14, 4},
	{"its frame has ended", {{0x18, 0, "wanted"}}, {{0x10, 8, NULL}}, 0x18, TO_END},
	{"to the next frame", {{0x18, 0, "wanted"}}, {{0x10, 8, NULL}, {0x30, 8, NULL}}, 0x18, 0x18},
	{"to the first frame", {{0x10, 0, "wanted"}}, {{0x30, 8, NULL}, {0x40, 8, NULL}}, 0x10, 0x20},
	{"to the next function", {{0x10, 0, "wanted"}, {0x20, 4, "next"}}, {{0}}, 0x10, 0x10},
	{"to the next label", {{0x08, 0, "before"}, {0x10, 0, "wanted"}, {0x20, 0, "next"}}, {{0}}, 0x10, 0x10},
	{"to the next function before a frame",
	 {{0x10, 0, "wanted"}, {0x20, 4, "next"}},
	 {{0x30, 8, NULL}},
	 0x10,
	 0x10},
	{"to the next frame before a function",
	 {{0x10, 0, "wanted"}, {0x40, 4, "next"}},
	 {{0x30, 8, NULL}},
	 0x10,
	 0x20},
	{"over a label at the same address",
	 {{0x10, 0, "other"}, {0x10, 0, "wanted"}, {0x10, 0, "third"}, {0x18, 0, "next"}},
	 {{0}},
	 0x10,
	 8},
	{"not behind the end of the segment", {{0x10, 0, "wanted"}, {OUTSIDE, 4, "next"}}, {{0}}, 0x10, TO_END},
	{"nothing where there is nothing", {{OUTSIDE, 0, "wanted"}}, {{0}}, OUTSIDE, 0},
};

TEST_OF(ends_are_found, NR_ELEMENTS(ends))
{
	cleared_by(symbol_ranges_clear) struct symbol_ranges found = {0};

	fill(ends[_i].functions, ends[_i].frames);
	symbols_find_function(&file, "wanted", &found);
	ck_assert_uint_eq(found.nr_ranges, 1);
	ck_assert_msg(found.ranges[0].address == address_of(ends[_i].begin) &&
			      found.ranges[0].size == size_of(ends[_i].begin, ends[_i].size),
		      "%s: %#llx bytes", ends[_i].what, (unsigned long long)found.ranges[0].size);
}

/* ---- addresses ---- */

/* The function at an address: name NULL and size 0: nothing. */
static const struct {
	const char *what;
	struct made_up functions[MAX_RANGES], frames[MAX_RANGES];
	uint64_t address;
	struct made_up wanted;
} addresses[] = {
	{"nothing at all", {{0}}, {{0}}, 0x10, {0}},
	{"before a function", {{0x10, 8, "f"}}, {{0}}, 0x0f, {0}},
	{"its first byte", {{0x10, 8, "f"}}, {{0}}, 0x10, {0x10, 8, "f"}},
	{"its last byte", {{0x10, 8, "f"}}, {{0}}, 0x17, {0x10, 8, "f"}},
	{"behind it", {{0x10, 8, "f"}}, {{0}}, 0x18, {0}},
	{"the first name counts", {{0x10, 8, "f"}, {0x10, 8, "g"}, {0x10, 8, "h"}}, {{0}}, 0x12, {0x10, 8, "f"}},
	{"the first longer name counts",
	 {{0x10, 4, "short"}, {0x10, 9, "f"}, {0x10, 8, "g"}},
	 {{0}},
	 0x12,
	 {0x10, 9, "f"}},
	{"shorter names do not reach", {{0x10, 4, "short"}, {0x10, 8, "f"}}, {{0}}, 0x16, {0x10, 8, "f"}},
	{"behind a function within", {{0x08, 0x80, "other"}, {0x10, 8, "f"}}, {{0}}, 0x18, {0x08, 0x80, "other"}},
	{"another function before", {{0x08, 0x80, "other"}, {0x10, 8, "f"}}, {{0}}, 0x12, {0x10, 8, "f"}},
	{"labels within", {{0x10, 8, "f"}, {0x12, 0, "a"}, {0x14, 0, "b"}}, {{0}}, 0x16, {0x10, 8, "f"}},
	{"a label at its begin", {{0x10, 8, "f"}, {0x10, 0, "a"}}, {{0}}, 0x10, {0x10, 8, "f"}},
	{"a label alone", {{0x10, 0, "a"}}, {{0}}, 0x40, {0x10, TO_END, "a"}},
	{"before a label", {{0x10, 0, "a"}}, {{0}}, 0x0f, {0}},
	{"a label before a function", {{0x10, 0, "a"}, {0x20, 8, "f"}}, {{0}}, 0x1f, {0x10, 0x10, "a"}},
	{"a label behind a function", {{0x10, 8, "f"}, {0x20, 0, "a"}}, {{0}}, 0x21, {0x20, TO_END, "a"}},
	{"between a function and a label", {{0x10, 8, "f"}, {0x20, 0, "a"}}, {{0}}, 0x1f, {0}},
	{"a frame", {{0}}, {{0x10, 8, NULL}}, 0x17, {0x10, 8, NULL}},
	{"behind a frame", {{0}}, {{0x10, 8, NULL}}, 0x18, {0}},
	{"a frame with a label", {{0x10, 0, "a"}}, {{0x10, 8, NULL}}, 0x14, {0x10, 8, "a"}},
	{"a frame with a label within", {{0x12, 0, "a"}}, {{0x10, 8, NULL}}, 0x14, {0x10, 8, NULL}},
	{"a frame with a label before", {{0x08, 0, "a"}}, {{0x10, 8, NULL}}, 0x14, {0x10, 8, NULL}},
	{"a label before a frame", {{0x08, 0, "a"}}, {{0x10, 8, NULL}}, 0x0c, {0x08, 8, "a"}},
	{"a label whose frame has ended", {{0x10, 0, "a"}}, {{0x10, 8, NULL}}, 0x18, {0}},
	{"a function before its frame", {{0x10, 4, "f"}}, {{0x10, 8, NULL}}, 0x12, {0x10, 4, "f"}},
	{"its frame reaches further", {{0x10, 4, "f"}}, {{0x10, 8, NULL}}, 0x16, {0x10, 8, "f"}},
	{"a label where there is nothing", {{OUTSIDE, 0, "a"}}, {{0}}, OUTSIDE, {0}},
};

TEST_OF(addresses_are_of_functions, NR_ELEMENTS(addresses))
{
	const struct made_up *wanted = &addresses[_i].wanted;
	struct symbol_range range = {0};
	bool is_found;

	fill(addresses[_i].functions, addresses[_i].frames);
	is_found = symbols_function_at(&file, address_of(addresses[_i].address), &range);
	ck_assert_msg(is_found == (wanted->size > 0), "%s: %s", addresses[_i].what, is_found ? "found" : "not found");
	if (!is_found)
		return;
	ck_assert_msg(range.address == address_of(wanted->begin) && range.size == size_of(wanted->begin, wanted->size),
		      "%s: %#llx bytes at %#llx", addresses[_i].what, (unsigned long long)range.size,
		      (unsigned long long)(range.address - segment.p_vaddr));
	ck_assert_pstr_eq(range.name, wanted->name);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_file, .tear_down = close_file);
