/* SPDX-License-Identifier: MIT */
/* See caches.h. Sources: the kernel's sysfs-devices-system-cpu; Intel SDM vol. 2A and AMD64 APM vol. 3, CPUID. */
#include "machine/caches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpuid.h"
#include "support/files.h"
#include "support/pool.h"

#define CPU_FOLDER "sys/devices/system/cpu"
#define MAX_LEVEL 4

/* The caches that hold data, by level; bytes 0: unknown, or there is none. */
struct caches {
	struct {
		int64_t bytes;
		int64_t ways; /* 0: unknown */
		const char *source;
	} levels[MAX_LEVEL + 1];
	int line_bytes;        /* of the first level; 0: unknown */
	int64_t package_bytes; /* last level of all CPUs together; 0: not told */
	int64_t package_ways;
};

static void
add_cache(struct caches *caches, int level, int64_t bytes, int64_t ways, int64_t line_bytes, const char *source)
{
	if (level < 1 || level > MAX_LEVEL || bytes <= 0 || caches->levels[level].bytes)
		return;
	caches->levels[level].bytes = bytes;
	caches->levels[level].ways = ways;
	caches->levels[level].source = source;
	if (level == 1)
		caches->line_bytes = (int)line_bytes;
}

/* ---- sysfs ---- */

/* "32K" in bytes; 0 if it is no size. */
static int64_t
size_bytes(const char *text)
{
	static const struct {
		char unit;
		int shift;
	} units[] = {{'K', 10}, {'M', 20}, {'G', 30}};
	char *end;
	int64_t size = strtoll(text, &end, 10);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (*end == units[i].unit)
			return size << units[i].shift;
	return size;
}

/* What sysfs says of one cache of one CPU; each text may be NULL. */
struct index_texts {
	char *type, *level, *size, *ways, *line_bytes, *shared;
};

static char *
index_text(struct pool *pool, const char *root, int cpu, int index, const char *name)
{
	char *path = pool_format(pool, CPU_FOLDER "/cpu%d/cache/index%d/%s", cpu, index, name);

	return pool_own(pool, file_first_line(root, path), free);
}

static struct index_texts
index_texts_read(struct pool *pool, const char *root, int cpu, int index)
{
	return (struct index_texts){
		.type = index_text(pool, root, cpu, index, "type"),
		.level = index_text(pool, root, cpu, index, "level"),
		.size = index_text(pool, root, cpu, index, "size"),
		.ways = index_text(pool, root, cpu, index, "ways_of_associativity"),
		.line_bytes = index_text(pool, root, cpu, index, "coherency_line_size"),
		.shared = index_text(pool, root, cpu, index, "shared_cpu_list"),
	};
}

static bool
holds_data(const struct index_texts *texts)
{
	return strcmp(texts->type, "Instruction") != 0;
}

static int
number_of(const char *text)
{
	return text ? atoi(text) : 0;
}

/* One cache of one CPU. False: there is no such index. */
static bool
read_index(struct caches *caches, const char *root, int cpu, int index)
{
	autopool pool = {0};
	struct index_texts texts = index_texts_read(&pool, root, cpu, index);
	const bool is_found = texts.type && texts.level && texts.size;

	if (is_found && holds_data(&texts))
		add_cache(caches, atoi(texts.level), size_bytes(texts.size), number_of(texts.ways),
			  number_of(texts.line_bytes), "sysfs");
	return is_found;
}

static bool
read_sysfs(struct caches *caches, const char *root, int cpu)
{
	int index = 0;

	while (read_index(caches, root, cpu, index))
		index++;
	return index > 0;
}

static bool
read_owner(struct cache_owners *owners, int *last_level, int cpu, const char *root, int index)
{
	autopool pool = {0};
	struct index_texts texts = index_texts_read(&pool, root, cpu, index);
	const bool is_found = texts.type && texts.level && texts.shared;
	const int level = is_found && holds_data(&texts) ? atoi(texts.level) : 0;

	if (level == 1)
		owners->l1_data = atoi(texts.shared);
	if (level == 2)
		owners->l2 = atoi(texts.shared);
	if (level > *last_level) {
		owners->llc = atoi(texts.shared);
		*last_level = level;
	}
	return is_found;
}

struct cache_owners
cache_owners_of(int cpu, const char *root)
{
	struct cache_owners owners = {cpu, cpu, cpu};
	int last_level = 0, index = 0;

	while (read_owner(&owners, &last_level, cpu, root, index))
		index++;
	return owners;
}

/* ---- CPUID ---- */

enum { CACHE_NONE, CACHE_DATA, CACHE_INSTRUCTIONS, CACHE_UNIFIED };

/* Subleaves of leaf 4 and 8000001D, which have the same form: one cache each, until one without a type. */
static void
read_deterministic(struct caches *caches, const char *root, uint32_t leaf, const char *source)
{
	struct cpuid_registers r;

	for (uint32_t i = 0; cpuid_read(root, leaf, i, &r) && (r.eax & 31) != CACHE_NONE && i < 16; i++) {
		int64_t line_bytes = (r.ebx & 0xfff) + 1, partitions = (r.ebx >> 12 & 0x3ff) + 1;
		int64_t ways = (r.ebx >> 22) + 1, sets = (int64_t)r.ecx + 1;

		if ((r.eax & 31) == CACHE_DATA || (r.eax & 31) == CACHE_UNIFIED)
			add_cache(caches, (int)(r.eax >> 5 & 7), line_bytes * partitions * ways * sets, ways,
				  line_bytes, source);
	}
}

/* As 80000006 has them, in four bits; 0: disabled, fully associative (15), or told elsewhere. */
static const uint8_t legacy_ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};

/* All bits set: fully associative. */
static int64_t
legacy_l1_ways(uint32_t ecx)
{
	const uint32_t ways = ecx >> 16 & 0xff;

	return ways == 0xff ? 0 : ways;
}

/* AMD: KiB in the highest bits; the last level of the package in units of 512 KiB. */
static void
read_legacy(struct caches *caches, const char *root)
{
	struct cpuid_registers r;

	if (cpuid_read(root, 0x80000005, 0, &r))
		add_cache(caches, 1, (int64_t)(r.ecx >> 24) << 10, legacy_l1_ways(r.ecx), r.ecx & 0xff,
			  "cpuid 80000005");
	if (cpuid_read(root, 0x80000006, 0, &r)) {
		add_cache(caches, 2, (int64_t)(r.ecx >> 16) << 10, legacy_ways[r.ecx >> 12 & 15], 0, "cpuid 80000006");
		caches->package_bytes = (int64_t)(r.edx >> 18) << 19;
		caches->package_ways = legacy_ways[r.edx >> 12 & 15];
	}
}

/* Other vendors than AMD reserve 80000005, and the last-level field of 80000006. */
static void
read_cpuid(struct caches *caches, const char *root, const char *vendor)
{
	bool is_amd = strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0;

	if (is_amd)
		read_deterministic(caches, root, 0x8000001d, "cpuid 8000001D");
	else
		read_deterministic(caches, root, 4, "cpuid 4");
	if (is_amd && !caches->levels[3].bytes)
		read_legacy(caches, root);
}

/* ---- both ---- */

static void
set(int64_t *bytes, char **source, const struct caches *caches, int level)
{
	if (!caches->levels[level].bytes)
		return;
	*bytes = caches->levels[level].bytes;
	rot_string_set(source, caches->levels[level].source);
}

static struct caches
read_caches(const struct machine *machine, const char *root)
{
	struct caches caches = {0};

	if (!read_sysfs(&caches, root, machine_online_cpus_at(machine, 0)))
		read_cpuid(&caches, root, machine->cpu_vendor);
	return caches;
}

static int
last_level(const struct caches *caches)
{
	int last = MAX_LEVEL;

	while (last > 0 && !caches->levels[last].bytes)
		last--;
	return last;
}

/* There is a third level, of unknown size: the second is not the last. */
static bool
has_only_package(const struct caches *caches)
{
	return caches->package_bytes && last_level(caches) < 3;
}

struct cache_ways
cache_ways_of(const struct machine *machine, const char *root)
{
	const struct caches caches = read_caches(machine, root);

	return (struct cache_ways){
		.l1_data = caches.levels[1].ways,
		.l2 = caches.levels[2].ways,
		.llc = has_only_package(&caches) ? caches.package_ways : caches.levels[last_level(&caches)].ways,
	};
}

void
machine_read_caches(struct machine *machine, const char *root)
{
	const struct caches caches = read_caches(machine, root);

	set(&machine->l1_data_bytes, &machine->l1_data_source, &caches, 1);
	set(&machine->l2_bytes, &machine->l2_source, &caches, 2);
	if (has_only_package(&caches))
		machine->package_llc_bytes = caches.package_bytes;
	else
		set(&machine->llc_bytes, &machine->llc_source, &caches, last_level(&caches));
	if (caches.line_bytes)
		machine->line_bytes = caches.line_bytes;
}

/* ---- others ---- */

/* One of "32K:8:plru,1M:full". policy: as StepMeasurer has it; NULL: not said */
struct asked_level {
	int64_t bytes, nr_ways;
	const char *policy;
};

#define LINE_BYTES 64
#define MAX_TREE_WAYS 64

/* "32K"; behind it *end. False: it is none. */
static bool
parse_size(const char *text, const char **end, int64_t *bytes)
{
	static const char units[] = "KMG";
	const char *unit;
	char *behind;

	errno = 0;
	*bytes = strtoll(text, &behind, 10);
	if (errno || behind == text || *bytes <= 0 || *bytes > INT64_C(1) << 32)
		return false;
	unit = *behind ? strchr(units, *behind) : NULL;
	if (unit) {
		*bytes <<= 10 * (unit - units + 1);
		behind++;
	}
	*end = behind;
	return *bytes <= INT64_C(1) << 40;
}

/* A word behind the size, of that length. A tree needs a power of two of ways. */
static bool
parse_property(const char *text, size_t length, struct asked_level *level)
{
	static const char *const policies[] = {"lru", "fifo", "random", "plru"}; /* as StepMeasurer has them */
	char *end;

	if (length == strlen("full") && strncmp(text, "full", length) == 0) {
		level->nr_ways = level->bytes / LINE_BYTES;
		return level->nr_ways > 0;
	}
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		if (length != strlen(policies[i]) || strncmp(text, policies[i], length) != 0)
			continue;
		level->policy = policies[i];
		return strcmp(policies[i], "plru") != 0 || (level->nr_ways >= 2 && level->nr_ways <= MAX_TREE_WAYS &&
							    (level->nr_ways & (level->nr_ways - 1)) == 0);
	}
	level->nr_ways = strtoll(text, &end, 10);
	return end == text + length && length > 0 && level->nr_ways > 0 && level->nr_ways <= level->bytes / LINE_BYTES;
}

static bool
parse_level(const char *text, const char **end, struct asked_level *level)
{
	bool is_it = parse_size(text, &text, &level->bytes);

	while (is_it && *text == ':' && !level->policy) {
		const size_t length = strcspn(++text, ":,");

		is_it = parse_property(text, length, level);
		text += length;
	}
	*end = text;
	return is_it;
}

int
cache_levels_parse(const char *text, struct machine *machine, struct cache_ways *ways, struct cache_policies *policies,
		   struct rot_error *err)
{
	struct asked_level levels[3] = {{.bytes = 0}};
	const char *at = text;
	int nr = 0;

	while (nr < 3 && parse_level(at, &at, &levels[nr]) && (nr == 0 || levels[nr].bytes > levels[nr - 1].bytes)) {
		nr++;
		if (*at != ',')
			break;
		at++;
	}
	if (nr < 2 || *at) {
		rot_error_set(err, 0, "'%s' describes no caches", text);
		return rot_error_hint(err,
				      "-caches=32K:8,1M:16,32M:16: sizes and ways (or full) of two or three levels, "
				      "each larger than the one before, and behind them lru, plru, fifo or random; "
				      "auto: those of this machine; none");
	}
	machine->l1_data_bytes = levels[0].bytes;
	machine->l2_bytes = levels[1].bytes;
	machine->llc_bytes = levels[nr - 1].bytes;
	*ways = (struct cache_ways){levels[0].nr_ways, levels[1].nr_ways, levels[nr - 1].nr_ways};
	*policies = (struct cache_policies){levels[0].policy, levels[1].policy, levels[nr - 1].policy};
	return 0;
}

#define MOST_TLB_ENTRIES 4096 /* of the model */

/* A number or "full" between colons; *text: behind it. */
static bool
parse_tlb_ways(const char **text, struct tlb_shape *tlb)
{
	const size_t length = strcspn(*text, ":");
	char *end;

	if (length == strlen("full") && strncmp(*text, "full", length) == 0) {
		*text += length;
		return true;
	}
	tlb->ways = strtoll(*text, &end, 10);
	if (end != *text + length || tlb->ways <= 0 || tlb->ways > tlb->entries || tlb->entries % tlb->ways != 0)
		return false;
	*text = end;
	return true;
}

int
tlb_parse(const char *text, struct tlb_shape *tlb, struct rot_error *err)
{
	const char *at = text;
	bool is_it;

	*tlb = (struct tlb_shape){.page_bytes = 4096};
	is_it = parse_size(at, &at, &tlb->entries) && tlb->entries <= MOST_TLB_ENTRIES;
	if (is_it && *at == ':') {
		at++;
		is_it = parse_tlb_ways(&at, tlb);
	}
	if (is_it && *at == ':')
		is_it = parse_size(at + 1, &at, &tlb->page_bytes) && tlb->page_bytes >= 4096 &&
			(tlb->page_bytes & (tlb->page_bytes - 1)) == 0;
	if (is_it && !*at)
		return 0;
	rot_error_set(err, 0, "'%s' describes no TLB", text);
	return rot_error_hint(err,
			      "-tlb=128:4:2M: 1 to 4096 entries, ways (or full) that divide them, and the size of a "
			      "page, a power of two from 4K on; the last two may be left out");
}
