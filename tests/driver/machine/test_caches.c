/* SPDX-License-Identifier: MIT */
/* Sizes of caches, and who told them: sysfs, or the processor where sysfs is silent. */
#include "machine/caches.h"
#include "machine/machine.h"
#include "testing.h"

#define AMD "AuthenticAMD"
#define INTEL "GenuineIntel"

/* CPUID of the reference machine (leaf 4 and 8000001D are there and empty). */
#define TURIN_IN_A_GUEST                                                                                               \
	"00000004 0: 00000000 00000000 00000000 00000000\n"                                                            \
	"8000001d 0: 00000000 00000000 00000000 00000000\n"                                                            \
	"80000005 0: ff60ff40 ff60ff40 300c0140 20080140\n"                                                            \
	"80000006 0: 40802040 60804040 04006140 0fe09140\n"

/* A Zen 5 that tells: L1 48 KiB, L2 1 MiB, L3 32 MiB; 80000006 has the package. */
#define TURIN                                                                                                          \
	"8000001d 0: 00004121 02c0003f 0000003f 00000000\n"                                                            \
	"8000001d 1: 00004122 01c0003f 0000003f 00000000\n"                                                            \
	"8000001d 2: 00004143 03c0003f 000003ff 00000002\n"                                                            \
	"8000001d 3: 0003c163 03c0003f 00007fff 00000001\n"                                                            \
	"8000001d 4: 00000000 00000000 00000000 00000000\n"                                                            \
	"80000006 0: 40802040 60804040 04006140 0fe09140\n"

/* A Skylake server: 32 KiB, 1 MiB, 27.5 MiB. */
#define SKYLAKE                                                                                                        \
	"00000004 0: 3c004121 01c0003f 0000003f 00000000\n"                                                            \
	"00000004 1: 3c004122 01c0003f 0000003f 00000000\n"                                                            \
	"00000004 2: 3c004143 03c0003f 000003ff 00000000\n"                                                            \
	"00000004 3: 3c07c163 0280003f 00009fff 00000004\n"                                                            \
	"00000004 4: 00000000 00000000 00000000 00000000\n"                                                            \
	"80000006 0: 00000000 00000000 01006040 00000000\n"

/* A K10 with two levels: 64 KiB, 512 KiB, and no third. */
#define TWO_LEVELS                                                                                                     \
	"80000005 0: ff30ff10 ff30ff20 40020140 40020140\n"                                                            \
	"80000006 0: 00000000 42004200 02008140 00000000\n"

/* index0: a first level of 16 KiB and 6 ways by sysfs. ways: how many lines each set holds, told by whoever tells the
 * sizes. */
static const struct {
	const char *vendor, *cpuid;
	bool has_sysfs;
	int64_t l1, l2, llc, package;
	const char *l1_source, *l2_source, *llc_source;
	struct cache_ways ways;
} machines[] = {
	{AMD,
	 TURIN_IN_A_GUEST,
	 false,
	 48 << 10,
	 1 << 20,
	 0,
	 INT64_C(508) << 20,
	 "cpuid 80000005",
	 "cpuid 80000006",
	 "",
	 {12, 8, 0}},
	{AMD,
	 TURIN,
	 false,
	 48 << 10,
	 1 << 20,
	 32 << 20,
	 0,
	 "cpuid 8000001D",
	 "cpuid 8000001D",
	 "cpuid 8000001D",
	 {12, 16, 16}},
	{INTEL, SKYLAKE, false, 32 << 10, 1 << 20, 28160 << 10, 0, "cpuid 4", "cpuid 4", "cpuid 4", {8, 16, 11}},
	{AMD,
	 TWO_LEVELS,
	 false,
	 64 << 10,
	 512 << 10,
	 512 << 10,
	 0,
	 "cpuid 80000005",
	 "cpuid 80000006",
	 "cpuid 80000006",
	 {2, 16, 16}},
	{INTEL, SKYLAKE, true, 16 << 10, 0, 16 << 10, 0, "sysfs", "", "sysfs", {6, 0, 6}},
	{INTEL, "", false, 0, 0, 0, 0, "", "", "", {0, 0, 0}},
	{AMD, "8000001d 0: zzz\n80000006 0: 1 2\n", false, 0, 0, 0, 0, "", "", "", {0, 0, 0}},
};

#define INDEX "sys/devices/system/cpu/cpu0/cache/index0/"

TEST_OF(sizes_have_sources, NR_ELEMENTS(machines))
{
	char *folder = temporary_folder_new();
	autofree char *cpuinfo = rot_format("vendor_id\t: %s\n\n", machines[_i].vendor);
	struct machine *machine;
	struct cache_ways ways;

	folder_write(folder, "proc/cpuinfo", cpuinfo);
	folder_write(folder, "cpuid", machines[_i].cpuid);
	if (machines[_i].has_sysfs) {
		folder_write(folder, INDEX "type", "Data\n");
		folder_write(folder, INDEX "level", "1\n");
		folder_write(folder, INDEX "size", "16K\n");
		folder_write(folder, INDEX "ways_of_associativity", "6\n");
	}
	machine = at_end(machine_delete, machine_read(folder, NULL));
	ck_assert_ptr_nonnull(machine);
	ck_assert_int_eq(machine->l1_data_bytes, machines[_i].l1);
	ck_assert_int_eq(machine->l2_bytes, machines[_i].l2);
	ck_assert_int_eq(machine->llc_bytes, machines[_i].llc);
	ck_assert_int_eq(machine->package_llc_bytes, machines[_i].package);
	ck_assert_str_eq(machine->l1_data_source, machines[_i].l1_source);
	ck_assert_str_eq(machine->l2_source, machines[_i].l2_source);
	ck_assert_str_eq(machine->llc_source, machines[_i].llc_source);
	ck_assert_int_eq(machine->line_bytes, 64);
	ways = cache_ways_of(machine, folder);
	ck_assert_int_eq(ways.l1_data, machines[_i].ways.l1_data);
	ck_assert_int_eq(ways.l2, machines[_i].ways.l2);
	ck_assert_int_eq(ways.llc, machines[_i].ways.llc);
}

/* Caches of one CPU by sysfs, and what is taken of them. The first without a size ends them; no level at all: nobody
 * told. */
static const struct {
	const char *indices[4][4]; /* type, level, size, line */
	int64_t l1, l2, llc;
	int line;
} told[] = {
	{{{"Data", "1", "32K", "128"}, {"Unified", "2", "1M", "32"}}, 32 << 10, 1 << 20, 1 << 20, 128},
	{{{"Data", "1", "32K", NULL}, {"Unified", "2", "1M", "32"}}, 32 << 10, 1 << 20, 1 << 20, 64},
	{{{"Data", "1", "32K", "128"}, {"Data", "1", "16K", "32"}}, 32 << 10, 0, 32 << 10, 128},
	{{{"Data", "0", "1K"}, {"Data", "1", "512"}, {"Unified", "4", "1G"}, {"Unified", "5", "777"}},
	 512,
	 0,
	 1 << 30,
	 64},
	{{{"Data", "1", "-1K"}, {"Unified", "2", "1M"}}, 0, 1 << 20, 1 << 20, 64},
	{{{"Instruction", "1", "32K", "128"}}, 0, 0, 0, 64},
	{{{"Data", "1", NULL}, {"Unified", "2", "1M"}}, 0, 0, 0, 64},
	{{{"Data", NULL, "32K"}, {"Unified", "2", "1M"}}, 0, 0, 0, 64},
	{{{NULL, "1", "32K"}, {"Unified", "2", "1M"}}, 0, 0, 0, 64},
};

TEST_OF(sysfs_tells_caches, NR_ELEMENTS(told))
{
	static const char *const names[] = {"type", "level", "size", "coherency_line_size"};
	char *folder = temporary_folder_new();
	struct machine *machine;

	folder_write(folder, "proc/cpuinfo", "vendor_id\t: " INTEL "\n\n");
	folder_write(folder, "cpuid", "");
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 4; k++) {
			autofree char *name = rot_format("sys/devices/system/cpu/cpu0/cache/index%zu/%s", i, names[k]);

			if (told[_i].indices[i][k])
				folder_write(folder, name, told[_i].indices[i][k]);
		}
	}
	machine = at_end(machine_delete, machine_read(folder, NULL));
	ck_assert_int_eq(machine->l1_data_bytes, told[_i].l1);
	ck_assert_int_eq(machine->l2_bytes, told[_i].l2);
	ck_assert_int_eq(machine->llc_bytes, told[_i].llc);
	ck_assert_int_eq(machine->line_bytes, told[_i].line);
}

TEST(size_as_text)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} sizes[] = {{0, "unknown"},
		     {512, "512 B"},
		     {49152, "48 KiB"},
		     {28160 << 10, "27.5 MiB"},
		     {INT64_C(1) << 40, "1 TiB"}};

	for (size_t i = 0; i < NR_ELEMENTS(sizes); i++) {
		autofree char *text = machine_size_text(sizes[i].bytes);

		ck_assert_str_eq(text, sizes[i].text);
	}
}

/* CPU 1 shares the L3 with CPU 0, and has levels 1 and 2 alone; of CPU 2 nothing is told. */
TEST(cpus_share_caches)
{
	static const char *const caches[][3] = {
		{"Data", "1", "1"}, {"Instruction", "1", "0-3"}, {"Unified", "2", "1"}, {"Unified", "3", "0-1,8"}};
	char *folder = temporary_folder_new();
	struct cache_owners owners;

	for (size_t i = 0; i < NR_ELEMENTS(caches); i++) {
		static const char *const names[] = {"type", "level", "shared_cpu_list"};

		for (size_t k = 0; k < NR_ELEMENTS(names); k++) {
			autofree char *name = rot_format("sys/devices/system/cpu/cpu1/cache/index%zu/%s", i, names[k]);

			folder_write(folder, name, caches[i][k]);
		}
	}
	owners = cache_owners_of(1, folder);
	ck_assert_int_eq(owners.l1_data, 1);
	ck_assert_int_eq(owners.l2, 1);
	ck_assert_int_eq(owners.llc, 0);
	owners = cache_owners_of(2, folder);
	ck_assert_int_eq(owners.l1_data, 2);
	ck_assert_int_eq(owners.llc, 2);
}

/* Caches, as -caches has them. bytes of the first level 0: they are no caches. */
static const struct {
	const char *text;
	int64_t bytes[3];
	struct cache_ways ways;
} asked[] = {
	{"32K:8,1M:16,32M:16", {32 << 10, 1 << 20, 32 << 20}, {8, 16, 16}},
	{"48K,2M", {48 << 10, 2 << 20, 2 << 20}, {0, 0, 0}},
	{"512:8,4096,1G:4", {512, 4096, 1 << 30}, {8, 0, 4}},
	{"32K:full,1M:16:fifo,2M:random", {32 << 10, 1 << 20, 2 << 20}, {512, 16, 0}},
	{"32K:8:plru,1M:full:lru", {32 << 10, 1 << 20, 1 << 20}, {8, 16384, 16384}},
	{"4096W,1M:16", {32 << 10, 1 << 20, 1 << 20}, {4096, 16, 16}},
	{"4KW:fifo,1KB:8", {0}, {0}},
	{"512W:8,4096W", {0}, {0}},
	{"yonah", {32 << 10, 2 << 20, 2 << 20}, {8, 8, 8}},
	{"yonah,1M", {0}, {0}},
	{"48K:12:plru,1M", {0}, {0}},
	{"32K:plru,1M", {0}, {0}},
	{"32K:8:other,1M", {0}, {0}},
	{"32K:8:fifo:8,1M", {0}, {0}},
	{"32K:8:,1M", {0}, {0}},
	{"", {0}, {0}},
	{"32K", {0}, {0}},
	{"32K,", {0}, {0}},
	{"1M,32K", {0}, {0}},
	{"32K,32K", {0}, {0}},
	{"32K:0,1M", {0}, {0}},
	{"32K:1000,1M", {0}, {0}},
	{"32T,64T", {0}, {0}},
	{"-32K,1M", {0}, {0}},
	{"32K,1M,32M,64M", {0}, {0}},
	{"99999999999999999999,1M", {0}, {0}},
};

TEST_OF(other_caches_can_be_asked_for, NR_ELEMENTS(asked))
{
	const struct machine *own = at_end(machine_delete, machine_new());
	struct cache_shapes shapes = {.machine = own};
	struct machine changed, *machine = &changed;
	const bool is_it = cache_shapes_parse(asked[_i].text, false, machine, &shapes, &why) == 0;
	const struct cache_ways ways = shapes.ways;

	ck_assert_msg(is_it == (asked[_i].bytes[0] > 0), "%s: %s", asked[_i].text, why.text);
	if (is_it) {
		ck_assert_int_eq(machine->l1_data_bytes, asked[_i].bytes[0]);
		ck_assert_int_eq(machine->l2_bytes, asked[_i].bytes[1]);
		ck_assert_int_eq(machine->llc_bytes, asked[_i].bytes[2]);
		ck_assert_int_eq(ways.l1_data, asked[_i].ways.l1_data);
		ck_assert_int_eq(ways.l2, asked[_i].ways.l2);
		ck_assert_int_eq(ways.llc, asked[_i].ways.llc);
	} else {
		ck_assert_has(why.text, "describes no caches");
		ck_assert_has(why.hint, "32K:8,1M:16,32M:16");
	}
}

/* bytes[0] 0: it is refused. The machine has 48 KiB with 12 ways, 1 MiB with 16 and 32 MiB with 16. */
static const struct {
	const char *text;
	int64_t bytes[3], ways[3], line_bytes[3];
	enum cache_sharing sharing[3];
	const char *policies[3];
	int64_t tlb_entries;
} changes[] = {
	{"32K:8:plru,1M:full:fifo,2M", {32 << 10, 1 << 20, 2 << 20}, {8, 16384}, .policies = {"plru", "fifo"}},
	{"32K,1M:random", {32 << 10, 1 << 20, 1 << 20}, .policies = {NULL, "random"}},
	{"l1=64K:16", {64 << 10, 1 << 20, 32 << 20}, .ways = {16, 16, 16}},
	{"l2=2M:plru,l3=64M:shared,l2=4M:8",
	 {48 << 10, 4 << 20, 64 << 20},
	 {12, 8, 16},
	 .sharing = {CACHE_SHARING_UNSAID, CACHE_SHARING_UNSAID, CACHE_SHARED},
	 .policies = {NULL, "plru"}},
	{"l1=64K", {64 << 10, 1 << 20, 32 << 20}, .ways = {0, 16, 16}}, /* 12 ways do not divide it */
	{"l1=96K", {96 << 10, 1 << 20, 32 << 20}, .ways = {12, 16, 16}},
	{"l1=4096W,l1=8192W", {64 << 10, 1 << 20, 32 << 20}, {8192, 16, 16}, .line_bytes = {8}},
	{"core2", {32 << 10, 4 << 20, 4 << 20}, {8, 16, 16}, .sharing = {0, CACHE_SHARED}, .tlb_entries = 256},
	{"l3=16M:lru:16,tlb=64:full:2M",
	 {48 << 10, 1 << 20, 16 << 20},
	 {12, 16, 16},
	 .policies = {NULL, NULL, "lru"},
	 .tlb_entries = 64},
	{"tlb=128", {48 << 10, 1 << 20, 32 << 20}, {12, 16, 16}, .tlb_entries = 128},
	{"l2=2M:16:128B:shared,l3=32M:16:128B:private",
	 {48 << 10, 2 << 20, 32 << 20},
	 {12, 16, 16},
	 {0, 128, 128},
	 .sharing = {CACHE_SHARING_UNSAID, CACHE_SHARED, CACHE_PRIVATE}},
	{"32K:8:32B,1M:16,4M:full:256B", {32 << 10, 1 << 20, 4 << 20}, {8, 16, 16384}, .line_bytes = {32, 0, 256}},
	{.text = "l2=2M:16:128B"}, /* behind it are lines of 64 bytes */
	{.text = "l2=64M"},        /* more than behind it             */
	{.text = "32K,1M,l3="},
	{.text = "l4=1G"},
	{.text = "32K:8:48B,1M"},
	{.text = "32K:8:512B,1M"},
	{.text = "32K:8:common,1M"},
	{.text = "tlb=0"},
};

TEST_OF(caches_may_differ_in_part, NR_ELEMENTS(changes))
{
	const struct machine own = {.l1_data_bytes = 48 << 10, .l2_bytes = 1 << 20, .llc_bytes = 32 << 20};
	struct cache_shapes shapes = {.machine = &own, .ways = {12, 16, 16}};
	struct machine machine;
	const bool is_it = cache_shapes_parse(changes[_i].text, true, &machine, &shapes, &why) == 0;

	ck_assert_msg(is_it == (changes[_i].bytes[0] > 0), "%s: %s", changes[_i].text, why.text);
	if (!is_it)
		return;
	ck_assert_ptr_eq(shapes.machine, &machine);
	ck_assert_int_eq(machine.l1_data_bytes, changes[_i].bytes[0]);
	ck_assert_int_eq(machine.l2_bytes, changes[_i].bytes[1]);
	ck_assert_int_eq(machine.llc_bytes, changes[_i].bytes[2]);
	ck_assert_int_eq(shapes.ways.l1_data, changes[_i].ways[0]);
	ck_assert_int_eq(shapes.ways.l2, changes[_i].ways[1]);
	ck_assert_int_eq(shapes.ways.llc, changes[_i].ways[2]);
	ck_assert_int_eq(shapes.tlb.entries, changes[_i].tlb_entries);
	for (int i = 0; i < 3; i++) {
		ck_assert_pstr_eq(shapes.traits[i].policy, changes[_i].policies[i]);
		ck_assert_int_eq(shapes.traits[i].line_bytes, changes[_i].line_bytes[i]);
		ck_assert_int_eq(shapes.traits[i].sharing, changes[_i].sharing[i]);
	}
}

TEST(a_level_that_was_not_there_has_no_ways)
{
	const struct machine own = {.l1_data_bytes = 64 << 10, .l2_bytes = 512 << 10, .llc_bytes = 512 << 10};
	struct cache_shapes shapes = {.machine = &own, .ways = {2, 16, 16}};
	struct machine machine;

	ck_assert_int_eq(cache_shapes_parse("l3=16M", false, &machine, &shapes, &why), 0);
	ck_assert_int_eq(shapes.ways.l2, 16);
	ck_assert_int_eq(shapes.ways.llc, 0);
}

/* is_known: somebody tells the caches of the machine */
static const struct {
	const char *text, *reason;
	bool is_known;
} refused[] = {
	{"32K:8:128B,1M", "lines of level 2, 64 bytes, are shorter than those of level 1, 128", true},
	{"l2=64M", "level 3 is no larger than level 2", true},
	{"l1=32K:1000", "has 512 lines, which is fewer than its ways", true},
	{"32K:7,1M", "32K:7 has 512 lines, which 7 ways do not divide", true},
	{"yonah,1M", "'yonah' stands alone, as it names all levels of a machine", true},
	{"l1=32K:8:4", "'4' is a second number of ways", true},
	{"l1=32K:48B", "no power of two from 8B to 256B", true},
	{"l1=48K:12:plru", "plru needs 2 to 64 ways", true},
	{"l1=32K:common", "'common' behind a size says nothing of a cache", true},
	{"l1=much", "'much' does not begin with a size", true},
	{"32Kx,1M", "'32Kx' is no size", true},
	{"32K", "two levels at least", true},
	{"32K,1M,2M,4M", "three levels at most", true},
	{"tlb=0", "describes no TLB", true},
	{"tlb=64", "nobody tells the caches of this machine", false},
	{"l1=64K", "nobody tells the caches of this machine", false},
	{"l2=1M", "there is no level before l2", false},
};

TEST_OF(what_is_wrong_with_caches_is_told, NR_ELEMENTS(refused))
{
	const struct machine known = {.l1_data_bytes = 48 << 10, .l2_bytes = 1 << 20, .llc_bytes = 32 << 20};
	const struct machine unknown = {.l1_data_bytes = 0};
	struct cache_shapes shapes = {.machine = refused[_i].is_known ? &known : &unknown};
	struct machine machine;

	ck_assert_int_lt(cache_shapes_parse(refused[_i].text, true, &machine, &shapes, &why), 0);
	ck_assert_has(why.text, "describes no caches");
	ck_assert_has(why.text, refused[_i].reason);
}

/* page_bytes: 0: it is refused */
static const struct {
	const char *text;
	int64_t entries, ways, page_bytes;
} tlbs[] = {
	{"64", 64, 0, 4096},
	{"128:full", 128, 0, 4096},
	{"1536:12", 1536, 12, 4096},
	{"64:full:2M", 64, 0, 2 << 20},
	{"64:4:8K", 64, 4, 8192},
	{"4096", 4096, 0, 4096},
	{"yonah", 128, 0, 4096},
	{"", 0, 0, 0},
	{"4097", 0, 0, 0},
	{"0", 0, 0, 0},
	{"64:", 0, 0, 0},
	{"64:5", 0, 0, 0},
	{"64:0", 0, 0, 0},
	{"64:128", 0, 0, 0},
	{"64:4:", 0, 0, 0},
	{"64:4:5000", 0, 0, 0},
	{"64:4:2K", 0, 0, 0},
	{"64:4:4K:", 0, 0, 0},
	{"many", 0, 0, 0},
};

TEST_OF(a_tlb_is_described, NR_ELEMENTS(tlbs))
{
	struct tlb_shape tlb;

	if (!tlbs[_i].page_bytes) {
		ck_assert_int_eq(tlb_parse(tlbs[_i].text, &tlb, &why), -1);
		ck_assert_has(why.text, "describes no TLB");
		return;
	}
	ck_assert_int_eq(tlb_parse(tlbs[_i].text, &tlb, &why), 0);
	ck_assert_int_eq(tlb.entries, tlbs[_i].entries);
	ck_assert_int_eq(tlb.ways, tlbs[_i].ways);
	ck_assert_int_eq(tlb.page_bytes, tlbs[_i].page_bytes);
}
