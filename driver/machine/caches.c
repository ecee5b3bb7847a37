/* SPDX-License-Identifier: MIT */
/* See caches.h. Sources: the kernel's sysfs-devices-system-cpu; Intel SDM vol. 2A and AMD64 APM vol. 3, CPUID. */
#include "machine/caches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/pool.h"
#include "machine/cpuid.h"
#include "memory.h"

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
			return size > 0 && size <= INT64_MAX >> units[i].shift ? size << units[i].shift : 0;
	return size;
}

/* The texts of sysfs for one cache of one CPU; each may be NULL. */
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

static bool
read_sysfs(struct caches *caches, const char *root, int cpu)
{
	for (int index = 0;; index++) {
		autopool pool = {0};
		struct index_texts texts = index_texts_read(&pool, root, cpu, index);

		if (!texts.type || !texts.level || !texts.size)
			return index > 0;
		if (holds_data(&texts))
			add_cache(caches, atoi(texts.level), size_bytes(texts.size), number_of(texts.ways),
				  number_of(texts.line_bytes), "sysfs");
	}
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

/* Ways by the four bits that 80000006 has for them; 0: disabled, fully associative (15), or told elsewhere. */
static const uint8_t legacy_ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};

/* AMD: KiB in the highest bits; the last level of the package in units of 512 KiB. */
static void
read_legacy(struct caches *caches, const char *root)
{
	struct cpuid_registers r;

	if (cpuid_read(root, 0x80000005, 0, &r)) {
		const uint32_t ways = r.ecx >> 16 & 0xff; /* all bits set: fully associative */

		add_cache(caches, 1, (int64_t)(r.ecx >> 24) << 10, ways == 0xff ? 0 : ways, r.ecx & 0xff,
			  "cpuid 80000005");
	}
	if (cpuid_read(root, 0x80000006, 0, &r)) {
		add_cache(caches, 2, (int64_t)(r.ecx >> 16) << 10, legacy_ways[r.ecx >> 12 & 15], 0, "cpuid 80000006");
		caches->package_bytes = (int64_t)(r.edx >> 18) << 19;
		caches->package_ways = legacy_ways[r.edx >> 12 & 15];
	}
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

	if (!read_sysfs(&caches, root, machine_online_cpus_at(machine, 0))) {
		bool is_amd = strcmp(machine->cpu_vendor, "AuthenticAMD") == 0 ||
			      strcmp(machine->cpu_vendor, "HygonGenuine") == 0;

		/* Other vendors than AMD reserve 80000005, and the last-level field of 80000006. */
		if (is_amd)
			read_deterministic(&caches, root, 0x8000001d, "cpuid 8000001D");
		else
			read_deterministic(&caches, root, 4, "cpuid 4");
		if (is_amd && !caches.levels[3].bytes)
			read_legacy(&caches, root);
	}
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

/* One of "32K:8:plru,1M:full". */
struct asked_level {
	int64_t bytes, nr_ways;
	bool is_full;
	struct cache_trait trait;
};

#define LINE_BYTES 64
#define WORD_BYTES 8
#define LEAST_LINE_BYTES 8
#define MOST_LINE_BYTES 256
#define MAX_TREE_WAYS 64

static bool
is_power_of_two(int64_t number)
{
	return number > 0 && (number & (number - 1)) == 0;
}

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

static const struct cache_preset {
	const char *name, *caches, *tlb;
} presets[] = {CACHE_PRESETS(CACHE_PRESET_ROW)};

/* NULL: there is none of that name. */
static const struct cache_preset *
preset_find(const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(*presets); i++)
		if (strcmp(name, presets[i].name) == 0)
			return &presets[i];
	return NULL;
}

/* Caches, and with has_tlb a TLB, of that name; else text. Fresh memory. */
static char *
expand(const char *text, bool has_tlb)
{
	const struct cache_preset *preset = preset_find(text);

	if (!preset)
		return rot_strdup(text);
	return rot_format(has_tlb ? "%s,tlb=%s" : "%s", preset->caches, preset->tlb);
}

static int64_t
line_bytes_of(const struct asked_level *level)
{
	return level->trait.line_bytes ? level->trait.line_bytes : LINE_BYTES;
}

static int64_t
nr_lines_of(const struct asked_level *level)
{
	return level->bytes / line_bytes_of(level);
}

/* A word behind the size. has_ways: there were some already */
static int
parse_property(const char *word, struct asked_level *level, bool *has_ways, struct rot_error *err)
{
	static const char *const policies[] = {"lru", "fifo", "random", "plru"}; /* as StepMeasurer has them */
	int64_t number;
	char *end;

	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		if (strcmp(word, policies[i]) == 0) {
			level->trait.policy = policies[i];
			return 0;
		}
	if (strcmp(word, "shared") == 0 || strcmp(word, "private") == 0) {
		level->trait.sharing = *word == 's' ? CACHE_SHARED : CACHE_PRIVATE;
		return 0;
	}
	number = strtoll(word, &end, 10);
	if (end != word && strcmp(end, "B") == 0) {
		level->trait.line_bytes = number;
		return is_power_of_two(number) && number >= LEAST_LINE_BYTES && number <= MOST_LINE_BYTES
			       ? 0
			       : rot_error_set(err, 0, "lines of %s are no power of two from 8B to 256B", word);
	}
	level->is_full = strcmp(word, "full") == 0;
	if (!level->is_full && (end == word || *end || number <= 0))
		return rot_error_set(err, 0, "'%s' behind a size says nothing of a cache", word);
	if (*has_ways)
		return rot_error_set(err, 0, "'%s' is a second number of ways", word);
	*has_ways = true;
	level->nr_ways = number;
	return 0;
}

/* has_ways: these were asked for. Else those that the level had before are unknown if they do not divide it. A tree
 * needs a power of two of them. */
static int
check_level(const char *text, struct asked_level *level, bool has_ways, struct rot_error *err)
{
	const int64_t nr_lines = nr_lines_of(level);

	if (level->is_full)
		level->nr_ways = nr_lines;
	if (!has_ways && level->nr_ways && nr_lines % level->nr_ways != 0)
		level->nr_ways = 0;
	if (nr_lines == 0 || level->nr_ways > nr_lines)
		return rot_error_set(err, 0, "%s has %lld lines, which is fewer than its ways", text,
				     (long long)nr_lines);
	if (level->nr_ways && nr_lines % level->nr_ways != 0)
		return rot_error_set(err, 0, "%s has %lld lines, which %lld ways do not divide", text,
				     (long long)nr_lines, (long long)level->nr_ways);
	if (level->trait.policy && strcmp(level->trait.policy, "plru") == 0 &&
	    (!is_power_of_two(level->nr_ways) || level->nr_ways < 2 || level->nr_ways > MAX_TREE_WAYS))
		return rot_error_set(err, 0, "plru needs 2 to 64 ways, a power of two");
	return 0;
}

/* level: as it was before, which stays as far as text does not say it. */
static int
parse_level(const char *text, struct asked_level *level, struct rot_error *err)
{
	autofree char *copy = NULL;
	const char *behind = text;
	bool has_ways = false;
	char *word, *rest;

	level->is_full = level->nr_ways > 0 && level->nr_ways == nr_lines_of(level);
	if (preset_find(text))
		return rot_error_set(err, 0, "'%s' stands alone, as it names all levels of a machine", text);
	if (!parse_size(text, &behind, &level->bytes))
		return rot_error_set(err, 0, "'%s' does not begin with a size", text);
	if (*behind == 'W') {
		level->bytes *= WORD_BYTES;
		level->trait.line_bytes = WORD_BYTES;
		level->is_full = has_ways = true;
		behind++;
	}
	if (*behind && *behind != ':')
		return rot_error_set(err, 0, "'%s' is no size", text);
	copy = rot_strdup(*behind ? behind + 1 : "");
	rest = *behind ? copy : NULL;
	while ((word = strsep(&rest, ":")))
		if (parse_property(word, level, &has_ways, err) < 0)
			return -1;
	return check_level(text, level, has_ways, err);
}

static struct asked_level
level_of(const struct cache_shapes *shapes, int level)
{
	const struct machine *machine = shapes->machine;
	const int64_t bytes[] = {machine->l1_data_bytes, machine->l2_bytes,
				 machine->llc_bytes > machine->l2_bytes ? machine->llc_bytes : 0};
	const bool is_last_l2 = machine->llc_bytes > 0 && machine->llc_bytes <= machine->l2_bytes;
	const int64_t nr_ways[] = {shapes->ways.l1_data, shapes->ways.l2, is_last_l2 ? 0 : shapes->ways.llc};

	return (struct asked_level){.bytes = bytes[level], .nr_ways = nr_ways[level], .trait = shapes->traits[level]};
}

/* Each level is larger than the one before, and its lines are at least as long. are_told: some were there before */
static int
check_levels(const struct asked_level *levels, int nr, bool are_told, struct rot_error *err)
{
	if (nr < 2)
		return rot_error_set(
			err, 0,
			are_told ? "there are two levels at least"
				 : "nobody tells the caches of this machine, so two levels are to be named");
	for (int i = 1; i < nr; i++) {
		const int64_t before = line_bytes_of(&levels[i - 1]), line_bytes = line_bytes_of(&levels[i]);

		if (levels[i].bytes <= levels[i - 1].bytes)
			return rot_error_set(err, 0, "level %d is no larger than level %d", i + 1, i);
		if (line_bytes < before)
			return rot_error_set(err, 0,
					     "lines of level %d, %lld bytes, are shorter than those of level %d, %lld",
					     i + 1, (long long)line_bytes, i, (long long)before);
	}
	return 0;
}

/* One of "l2=1M,l3=32M,tlb=64", or of "32K,1M,32M", of which it is the next level. *nr: how many there are then. */
static int
parse_item(const char *word, bool has_tlb, struct asked_level *levels, int *nr, int *next, struct tlb_shape *tlb,
	   struct rot_error *err)
{
	const bool is_named = word[0] == 'l' && word[1] >= '1' && word[1] <= '3' && word[2] == '=';
	const int level = is_named ? word[1] - '1' : *next;

	if (has_tlb && strncmp(word, "tlb=", 4) == 0)
		return tlb_parse(word + 4, tlb, err);
	if (level >= CACHE_NR_LEVELS)
		return rot_error_set(err, 0, "there are three levels at most");
	if (is_named && level > *nr)
		return rot_error_set(err, 0, "there is no level before %.2s", word);
	if (!is_named) {
		levels[(*next)++] = (struct asked_level){.bytes = 0};
		*nr = *next;
	} else if (level == *nr) {
		(*nr)++;
	}
	return parse_level(word + 3 * is_named, &levels[level], err);
}

int
cache_shapes_parse(const char *text, bool has_tlb, struct machine *machine, struct cache_shapes *shapes,
		   struct rot_error *err)
{
	struct asked_level levels[CACHE_NR_LEVELS];
	autofree char *copy = expand(text, has_tlb);
	char *rest = copy;
	int nr = 0, next = 0, rc = 0;
	bool are_told;

	for (int i = 0; i < CACHE_NR_LEVELS; i++) {
		levels[i] = level_of(shapes, i);
		nr += levels[i].bytes > 0;
	}
	are_told = nr > 0;
	for (char *word; rc == 0 && (word = strsep(&rest, ","));)
		rc = parse_item(word, has_tlb, levels, &nr, &next, &shapes->tlb, err);
	if (rc < 0 || check_levels(levels, nr, are_told, err) < 0) {
		rot_error_prefix(err, "'%s' describes no caches", text);
		return rot_error_hint(err,
				      "32K:8,1M:16,32M:16: sizes and ways (or full) of two or three levels, each "
				      "larger than the one before, or l3=16M: the others stay; behind them lru, plru, "
				      "fifo or random, 128B (lines, from level to level no shorter), shared or "
				      "private%s; 4096W and names: rot help caches",
				      has_tlb ? "; tlb=64:full:2M" : "; auto: those of this machine; none");
	}
	*machine = *shapes->machine;
	machine->l1_data_bytes = levels[0].bytes;
	machine->l2_bytes = levels[1].bytes;
	machine->llc_bytes = levels[nr - 1].bytes;
	shapes->machine = machine;
	shapes->ways = (struct cache_ways){levels[0].nr_ways, levels[1].nr_ways, levels[nr - 1].nr_ways};
	for (int i = 0; i < CACHE_NR_LEVELS; i++)
		shapes->traits[i] = i < nr ? levels[i].trait : (struct cache_trait){.policy = NULL};
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
	const struct cache_preset *preset = preset_find(text);
	const char *at = preset ? preset->tlb : text;
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
