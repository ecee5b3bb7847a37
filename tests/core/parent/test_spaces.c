/* SPDX-License-Identifier: MIT */
/* Mappings at the time of a sample: by records as the kernel writes them. Pure. */
#include "parent/profile/spaces.h"
#include "testing.h"

static struct spaces *spaces;

static void
set_up(void)
{
	spaces = spaces_new();
	at_end(spaces_delete, spaces);
}

static void
map(uint32_t pid, uint64_t start, uint64_t bytes, uint64_t offset, uint64_t inode, const char *path)
{
	union {
		struct mapping_record record;
		char room[256];
	} mapped = {.record = {.header = {.type = PERF_RECORD_MMAP2},
			       .pid = pid,
			       .tid = pid,
			       .start = start,
			       .bytes = bytes,
			       .offset = offset,
			       .inode = inode}};

	strcpy(mapped.room + sizeof(mapped.record), path);
	spaces_handle(spaces, &mapped.record.header);
}

static void
task(uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid)
{
	const struct task_record record = {
		.header = {.type = type}, .pid = pid, .parent_pid = parent_pid, .tid = tid, .parent_tid = parent_pid};

	spaces_handle(spaces, &record.header);
}

static void
execute(uint32_t pid, bool is_program)
{
	struct command_record record = {.header = {.type = PERF_RECORD_COMM}, .pid = pid, .tid = pid};

	/* A thread that changes its name writes one as well. */
	record.header.misc = is_program ? PERF_RECORD_MISC_COMM_EXEC : 0;
	spaces_handle(spaces, &record.header);
}

static void
expect(uint32_t pid, uint64_t address, enum code_origin origin, const char *path, uint64_t offset)
{
	const struct sample_record sample = {
		.header = {.misc = PERF_RECORD_MISC_USER}, .address = address, .pid = pid, .tid = pid};
	const struct code_position at = spaces_find(spaces, &sample);
	const struct code_object *object = spaces_object(spaces, at.object);

	ck_assert_int_eq(object->origin, origin);
	ck_assert_str_eq(object->path, path);
	ck_assert_uint_eq(at.offset, offset);
}

TEST(files_are_found_by_address)
{
	map(7, 0x1000, 0x3000, 0x5000, 11, "/bin/a");
	map(7, 0x8000, 0x1000, 0, 12, "/lib/b");
	expect(7, 0x1000, CODE_FILE, "/bin/a", 0x5000);
	expect(7, 0x3fff, CODE_FILE, "/bin/a", 0x7fff);
	expect(7, 0x4000, CODE_UNKNOWN, "", 0);
	expect(7, 0xfff, CODE_UNKNOWN, "", 0);
	expect(7, 0x8010, CODE_FILE, "/lib/b", 0x10);
	expect(8, 0x1000, CODE_UNKNOWN, "", 0);
}

/* A library may be loaded where another one was. */
TEST(later_mappings_cover_earlier_ones)
{
	map(7, 0x1000, 0x6000, 0, 11, "/bin/a");
	map(7, 0x3000, 0x1000, 0x100, 12, "/lib/b");
	expect(7, 0x2fff, CODE_FILE, "/bin/a", 0x1fff);
	expect(7, 0x3004, CODE_FILE, "/lib/b", 0x104);
	expect(7, 0x4008, CODE_FILE, "/bin/a", 0x3008);
	map(7, 0x2000, 0x2800, 0, 13, "/lib/c");
	expect(7, 0x1fff, CODE_FILE, "/bin/a", 0xfff);
	expect(7, 0x3004, CODE_FILE, "/lib/c", 0x1004);
	expect(7, 0x47ff, CODE_FILE, "/lib/c", 0x27ff);
	expect(7, 0x4800, CODE_FILE, "/bin/a", 0x3800);
	map(7, 0, 0x10000, 0, 14, "/lib/d");
	expect(7, 0x1000, CODE_FILE, "/lib/d", 0x1000);
	expect(7, 0x6fff, CODE_FILE, "/lib/d", 0x6fff);
}

TEST(processes_begin_with_what_their_parent_had)
{
	map(7, 0x1000, 0x1000, 0, 11, "/bin/a");
	task(PERF_RECORD_FORK, 8, 7, 8);
	expect(8, 0x1010, CODE_FILE, "/bin/a", 0x10);
	execute(8, false);
	expect(8, 0x1010, CODE_FILE, "/bin/a", 0x10);
	execute(8, true);
	expect(8, 0x1010, CODE_UNKNOWN, "", 0);
	map(8, 0x1000, 0x1000, 0, 12, "/bin/b");
	expect(8, 0x1010, CODE_FILE, "/bin/b", 0x10);
	expect(7, 0x1010, CODE_FILE, "/bin/a", 0x10);
}

/* Then its number is somebody else's. */
TEST(processes_end_with_their_last_thread)
{
	map(7, 0x1000, 0x1000, 0, 11, "/bin/a");
	task(PERF_RECORD_FORK, 7, 7, 9);
	task(PERF_RECORD_EXIT, 7, 7, 7);
	expect(7, 0x1010, CODE_FILE, "/bin/a", 0x10);
	task(PERF_RECORD_EXIT, 7, 7, 9);
	expect(7, 0x1010, CODE_UNKNOWN, "", 0);
}

TEST(code_without_a_file)
{
	static const char *const anonymous[] = {"//anon", "/memfd:code (deleted)", "[heap]", "/dev/zero (deleted)"};
	const struct sample_record in_kernel = {
		.header = {.misc = PERF_RECORD_MISC_KERNEL}, .address = 0x1010, .pid = 7};

	for (int i = 0; i < NR_ELEMENTS(anonymous); i++) {
		map(7, 0x1000, 0x1000, 0, 0, anonymous[i]);
		expect(7, 0x1010, CODE_ANONYMOUS, "", 0x1010);
	}
	map(7, 0x1000, 0x1000, 0, 0, "[vdso]");
	expect(7, 0x1010, CODE_VDSO, "", 0x10);
	ck_assert_int_eq(spaces_object(spaces, spaces_find(spaces, &in_kernel).object)->origin, CODE_KERNEL);
}

UNIT_TESTS(.set_up = set_up);
