/* SPDX-License-Identifier: MIT */
/*
 * Sorts numbers on a heap; or, with the bytes and ways of two levels, reads from standard input what such a program
 * accessed (valgrind --tool=lackey --trace-mem=yes), and prints the misses of data in both by each of these rules.
 *
 * cachegrind: the second level has code, too; an access to two lines is one miss, and both lines of it are looked for
 * in the second level, even if one is in the first; modified lines that leave the first level are forgotten.
 * rot: data alone; each line is a miss of its own; modified lines go to the second level, where they are used again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a program ---- */

#define NR_NUMBERS 20000
static int numbers[NR_NUMBERS];

static void
sink(int at, int nr)
{
	for (int child; (child = 2 * at + 1) < nr; at = child) {
		const int number = numbers[at];

		if (child + 1 < nr && numbers[child + 1] > numbers[child])
			child++;
		if (number >= numbers[child])
			return;
		numbers[at] = numbers[child];
		numbers[child] = number;
	}
}

static void
sort(void)
{
	for (uint32_t i = 0, state = 1; i < NR_NUMBERS; i++)
		numbers[i] = (int)((state = state * 1664525 + 1013904223) >> 1);
	for (int i = NR_NUMBERS / 2; i-- > 0;)
		sink(i, NR_NUMBERS);
	for (int nr = NR_NUMBERS; nr-- > 1;) {
		const int largest = numbers[0];

		numbers[0] = numbers[nr];
		numbers[nr] = largest;
		sink(0, nr);
	}
}

/* ---- rules ---- */

#define LINE 64
#define MODIFIED 1 /* beside twice the number of a line, plus 2 */
#define MOST_ENTRIES 65536

/* entries: of each set the last used first */
struct level {
	uint64_t nr_sets, nr_ways, entries[MOST_ENTRIES];
};

/* True if the line was there; if not, *victim is the entry that went for it, or 0. */
static int
use(struct level *level, uint64_t line, int is_modified, uint64_t *victim)
{
	uint64_t *set = level->entries + line % level->nr_sets * level->nr_ways, moving = 2 * (line + 1);
	uint64_t i = 0;

	while (i + 1 < level->nr_ways && (set[i] & ~(uint64_t)MODIFIED) != moving)
		i++;
	*victim = set[i];
	memmove(set + 1, set, i * sizeof(*set));
	set[0] = moving | (uint64_t)is_modified;
	if ((*victim & ~(uint64_t)MODIFIED) != moving)
		return 0;
	set[0] |= *victim & MODIFIED;
	return 1;
}

static int
misses_any(struct level *level, uint64_t first, uint64_t last)
{
	uint64_t victim;
	const int misses = !use(level, first, 0, &victim);

	return (last != first && !use(level, last, 0, &victim)) || misses;
}

/* Levels by the rules of cachegrind: code, data and both; and by those of rot. */
static struct level code, data, last_level, rot_data, rot_second;

static void
access_as_rot(uint64_t line, int is_store, unsigned long misses[2])
{
	uint64_t victim, of_second;

	if (use(&rot_data, line, is_store, &victim))
		return;
	misses[0]++;
	misses[1] += (unsigned long)!use(&rot_second, line, 0, &of_second);
	if (victim & MODIFIED)
		use(&rot_second, victim / 2 - 1, 1, &of_second);
}

static void
level_open(struct level *level, char *const *size)
{
	level->nr_ways = (uint64_t)atol(size[1]);
	level->nr_sets = (uint64_t)atol(size[0]) / LINE / level->nr_ways;
}

static void
read_trace(char *const *sizes)
{
	unsigned long by_cachegrind[2] = {0}, by_rot[2] = {0}, address, bytes;
	char line[256], kind;

	level_open(&code, sizes);
	level_open(&data, sizes);
	level_open(&rot_data, sizes);
	level_open(&last_level, sizes + 2);
	level_open(&rot_second, sizes + 2);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, " %c %lx,%lu", &kind, &address, &bytes) != 3 || !strchr("ILSM", kind))
			continue;
		const uint64_t first = address / LINE, last = (address + bytes - 1) / LINE;

		if (misses_any(kind == 'I' ? &code : &data, first, last)) {
			by_cachegrind[0] += kind != 'I';
			by_cachegrind[1] += misses_any(&last_level, first, last) && kind != 'I';
		}
		for (uint64_t i = first; i <= last && kind != 'I'; i++)
			access_as_rot(i, kind != 'L', by_rot);
	}
	printf("%lu %lu %lu %lu\n", by_cachegrind[0], by_cachegrind[1], by_rot[0], by_rot[1]);
}

int
main(int argc, char **argv)
{
	if (argc == 5)
		read_trace(argv + 1);
	else
		sort();
	return 0;
}
