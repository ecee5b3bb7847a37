/* SPDX-License-Identifier: MIT */
/* Times of visits are kept, and taken only where they are complete and of this machine. */
#include "base/clock.h"
#include "base/paths.h"
#include "memory.h"
#include "roof/visits.h"
#include "rot.h"
#include "testing.h"

#define MIB INT64_C(1048576)

static struct residence_times times;
static struct measured_when when;

static void
fill(const char *created)
{
	times = (struct residence_times){.buffer_bytes = 256.0 * MIB, .nr_visits = 13, .seconds = 7.5};
	for (size_t visit = 0; visit < times.nr_visits; visit++)
		for (size_t i = 0; i < RESIDENCE_NR_PARTS; i++)
			times.ns[visit][i] = 1.5 + (double)visit + 100 * (double)i;
	snprintf(when.created, sizeof(when.created), "%s", created);
}

/* In 256 MiB, for a cache of so many sets of 64 bytes. Each place is another one, in its page. */
TEST_OF(parts_fill_all_sets_alike, 6)
{
	static const uint64_t nr_pages = 65536, parts[] = {1, 3, 64}, sets[] = {1024, 32768};
	const uint64_t part = parts[_i % 3], nr_sets = sets[_i / 3];
	autofree uint64_t *nr = rot_calloc(nr_sets, sizeof(*nr));

	for (uint64_t page = 0; page < nr_pages; page++) {
		uint64_t seen = 0;

		for (uint64_t number = 0; number < part; number++) {
			const uint64_t line = visits_place(number, page) / VISITS_LINE_BYTES;

			ck_assert_uint_eq(line / 64, page);
			ck_assert_uint_eq(seen >> line % 64 & 1, 0);
			seen |= UINT64_C(1) << line % 64;
			nr[line % nr_sets]++;
		}
	}
	for (uint64_t set = 0; set < nr_sets; set++)
		ck_assert_uint_eq(nr[set], nr_pages * part / nr_sets);
}

TEST(visits_are_read_back)
{
	static struct residence_times found;
	struct measured_when then;
	autofree char *text = NULL;

	fill("2026-11-22T09:00:00Z");
	strcpy(when.found_on, "{}");
	text = visits_text(&times, &when);
	ck_assert_int_eq(visits_parse(text, &found, &then), 0);
	ck_assert_mem_eq(&found, &times, sizeof(times));
	ck_assert_str_eq(then.created, when.created);
	ck_assert_str_eq(then.found_on, when.found_on);
}

TEST_OF(others_are_not_visits, 6)
{
	static const char *const texts[] = {
		"",
		"[1]",
		"{\"schema\": \"rot.visits/2\", \"bufferBytes\": 1, \"seconds\": 1, \"ns\": []}",
		"{\"schema\": \"rot.visits/1\", \"bufferBytes\": 1, \"seconds\": 1, \"ns\": [[1, 2]]}",
		"{\"schema\": \"rot.visits/1\", \"bufferBytes\": 1, \"seconds\": 1, \"ns\": [[0]]}",
		"{\"schema\": \"rot.visits/1\", \"bufferBytes\": 1, \"seconds\": 1, \"ns\": [1]}",
	};

	ck_assert_int_eq(visits_parse(texts[_i], &times, &when), -1);
}

/* The file has times that no measurement gives. */
TEST(kept_visits_are_taken)
{
	static struct visits found;
	struct paths paths = {.cache = temporary_folder_new()};
	struct rot rot = {.machine = at_end(machine_delete, machine_new()), .paths = &paths};
	autofree char *name = machine_file_name(rot.machine), *file = rot_format("visits-%s.json", name), *text = NULL;
	char today[CLOCK_DATE_SIZE];

	rot.machine->memory_bytes = 1024 * MIB;
	clock_date(today);
	fill(today);
	when = measured_on(rot.machine, today);
	text = visits_text(&times, &when);
	folder_write(paths.cache, file, text);
	found = (struct visits){.takes_kept = true};
	ck_assert_int_eq(visits_make(&rot, 32 * MIB, 1, &found, &why), 0);
	ck_assert_int_eq(visits_make(&rot, 32 * MIB, RESIDENCE_MAX_VISITS, &found, &why), 0);
	ck_assert_mem_eq(&found.times, &times, sizeof(times));
	ck_assert_str_eq(found.when.created, today);
}
