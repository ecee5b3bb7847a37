/* SPDX-License-Identifier: MIT */
/* From what people write for a region to addresses in running programs that were linked in every way. */
#include "parent/symbols/objects.h"
#include "parent/symbols/places.h"
#include "testing.h"

#define TARGET "tests/core/parent/places_target"

/* A running target, what it said of itself, and what was read of it. */
static pid_t child;
static int input = -1;
static uint64_t two_returns;
static struct objects objects;
static struct symbol_files *files;
static char *folder;

static void
open_files(void)
{
	files = symbol_files_new();
	folder = temporary_folder_new();
}

static void
become_target(const char *path, int in, int out)
{
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(9);
	execl(path, path, (char *)NULL);
	_exit(9);
}

/* Starts the program and waits until it has told its address. False: it is not there. Frees path. */
static bool
start_at(char *path)
{
	int in[2], out[2];
	char line[64] = "";
	ssize_t length;

	if (access(path, X_OK) < 0) {
		free(path);
		return false;
	}
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		become_target(path, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	input = in[1];
	length = read(out[0], line, sizeof(line) - 1);
	close(out[0]);
	ck_assert_int_gt(length, 0);
	two_returns = strtoull(line, NULL, 16);
	free(path);
	return true;
}

static bool
start(const char *variant)
{
	return start_at(built_path(TARGET "%s", variant));
}

static void
read_objects(void)
{
	ck_assert_ok(objects_read(child, &objects, &why));
}

static void
stop(void)
{
	int status;

	if (child <= 0)
		return;
	close(input);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	child = 0;
}

static void
close_all(void)
{
	stop();
	objects_clear(&objects);
	symbol_files_delete(files);
}

static struct object *
program(void)
{
	for (size_t i = 0; i < objects.nr_objects; i++)
		if (objects.objects[i].is_program)
			return &objects.objects[i];
	ck_abort_msg("no object is the program");
	return NULL;
}

/* ---- objects ---- */

/* The address that the program says is that of its function, wherever it was loaded. */
TEST_OF(addresses_are_those_of_the_process, 3)
{
	static const char *const variants[] = {"", "_no_pie", "_static_pie"};
	cleared_by(region_places_clear) struct region_places places = {0};
	autofree char *known = NULL;

	if (!start(variants[_i]))
		return;
	read_objects();
	ck_assert_ok(places_resolve(files, &objects, "two_returns", NULL, &places, &why));
	ck_assert_int_eq(places.nr_begins, 1);
	ck_assert_int_eq(places.begins[0].address, two_returns);
	ck_assert_ptr_eq(places.begins[0].object, program());
	ck_assert_int_eq(places.begins[0].address - program()->bias + 4, places.ends[0].address - program()->bias);
	known = rot_format("two_returns+0x4 (places_target%s:0x%llx)", variants[_i],
			   (unsigned long long)(two_returns + 4 - program()->bias));
	ck_assert_str_eq(places.ends[0].text, known);
}

/* A program that is gone from its folder is read through /proc. */
TEST(deleted_programs_are_read)
{
	autofree char *path = rot_format("%s/copy", folder), *from = built_path(TARGET), *command = NULL;
	cleared_by(region_places_clear) struct region_places places = {0};

	command = rot_format("cp '%s' '%s'", from, path);
	ck_assert_int_eq(system(command), 0);
	ck_assert(start_at(rot_strdup(path)));
	ck_assert_int_eq(unlink(path), 0);
	read_objects();
	ck_assert_str_eq(program()->path, path);
	ck_assert_str_ne(program()->file, path);
	ck_assert_ok(places_resolve(files, &objects, "two_returns", NULL, &places, &why));
	ck_assert_int_eq(places.begins[0].address, two_returns);
}

TEST(libraries_are_objects)
{
	struct region_places places;

	ck_assert(start(""));
	read_objects();
	/* Only the code that the kernel provides has no file. */
	for (size_t i = 0; i < objects.nr_objects; i++) {
		ck_assert_int_lt(objects.objects[i].start, objects.objects[i].end);
		ck_assert_int_eq(!objects.objects[i].file, strcmp(objects.objects[i].path, "[vdso]") == 0);
	}
	ck_assert_ok(places_resolve(files, &objects, "printf", NULL, &places, &why));
	ck_assert(!places.begins[0].object->is_program);
	region_places_clear(&places);
	ck_assert_ok(places_resolve(files, &objects, "libc:getpid", NULL, &places, &why));
	ck_assert_has(places.begins[0].text, "getpid+0x0 (libc");
	region_places_clear(&places);
}

TEST(nobody_has_no_objects)
{
	ck_assert_int_eq(objects_read(1 << 30, &objects, &why), -1);
	ck_assert_has(why.text, "cannot look into the memory of process 1073741824");
	ck_assert_int_eq(objects.nr_objects, 0);
}

static const struct {
	const char *path, *name;
	bool is_called;
} calls[] = {
	{"/usr/lib/libopenblas.so.0", "/usr/lib/libopenblas.so.0", true},
	{"/usr/lib/libopenblas.so.0", "libopenblas.so.0", true},
	{"/usr/lib/libopenblas.so.0", "lib/libopenblas.so.0", true},
	{"/usr/lib/libopenblas.so.0", "/libopenblas.so.0", true},
	{"/usr/lib/libopenblas.so.0", "libopenblas", true},
	{"/usr/lib/libopenblas.so.0", "openblas", true},
	{"/usr/lib/libopenblas.so.0", "libopenblas.so", true},
	{"/usr/lib/libopenblas-r0.3.21.so", "openblas", true},
	{"/usr/lib/libopenblas-r0.3.21.so", "libopenblas.so.0", true},
	{"/usr/lib/liblzma.so.5.4.1", "liblzma.so.5", true},
	{"/usr/lib/liblzma.so.5.4.1", "lzma.so", true},
	{"/usr/lib/liblzma.so.5.4.1", "liblzma.so.4", false},
	{"/usr/lib/liblzma.so.50", "liblzma.so.5", false},
	{"/usr/lib/libopenblas.so.0", "blas", false},
	{"/usr/lib/libopenblas.so.0", "open", false},
	{"/usr/lib/libopenblas.so.0", "ib/libopenblas.so.0", false},
	{"/usr/lib/libopenblas.so.0", "", false},
	{"/usr/bin/solver", "solver", true},
	{"/usr/bin/solver-2", "solver", false},
	{"/usr/bin/solver", "bin/solver", true},
	{"/usr/bin/solver", "olver", false},
	{"/usr/bin/solver", "/usr/bin/solver/and/more", false},
};

TEST_OF(objects_are_called_by_their_end, NR_ELEMENTS(calls))
{
	struct object object = {.path = (char *)calls[_i].path};

	ck_assert_msg(object_is_called(&object, calls[_i].name) == calls[_i].is_called, "%s %s", calls[_i].path,
		      calls[_i].name);
}

TEST(libraries_are_called_by_their_own_name)
{
	ck_assert(library_is_called("libopenblas.so.0", "libopenblas.so.0"));
	ck_assert(library_is_called("libopenblas.so.0", "libopenblas.so"));
	ck_assert(library_is_called("libopenblas.so.0", "openblas"));
	ck_assert(!library_is_called("libopenblas.so.0", "blas"));
	ck_assert(!library_is_called("libopenblas.so.0", ""));
}

/* Without its name, a library's own functions are not meant; the hint says how they would be. */
TEST(own_functions_of_libraries_are_named_with_them)
{
	struct region_places places;

	ck_assert(start(""));
	read_objects();
	program()->is_program = false;
	ck_assert_int_eq(places_resolve(files, &objects, "twin", NULL, &places, &why), -1);
	ck_assert_msg(strstr(why.hint, "places_target:twin"), "%s; %s", why.text, why.hint);
	ck_assert_ok(places_resolve(files, &objects, "places_target:twin", NULL, &places, &why));
	region_places_clear(&places);
	ck_assert_ok(places_resolve(files, &objects, "two_returns", NULL, &places, &why));
	region_places_clear(&places);
}

/* ---- regions ---- */

/* left: the first byte of each instruction where the region ends; the lengths of jumps are the assembler's choice. */
static const struct region_case {
	const char *variant, *begin, *end;
	size_t nr_begins;
	size_t nr_ends;
	uint8_t left[8];
	bool is_function, is_reentered;
} regions[] = {
	{"", "two_returns", NULL, 1, 2, {0xc3, 0xc3}, true, false},
	{"", "two_returns", "", 1, 2, {0xc3, 0xc3}, true, false},
	{"", "places_target:two_returns", NULL, 1, 2, {0xc3, 0xc3}, true, false},
	{"", "tail_call", NULL, 1, 1, {0xe9}, true, false},
	{"", "branch_call", NULL, 1, 2, {0x74, 0xc3}, true, false},
	{"", "pointer_call", NULL, 1, 1, {0xff}, true, false},
	{"", "spin", NULL, 1, 1, {0xc3}, true, true},
	{"", "with_endbr", NULL, 1, 1, {0xc3}, true, false},
	{"", "spin_behind_endbr", NULL, 1, 1, {0xc3}, true, false},
	{"", "split", NULL, 1, 2, {0xc3, 0xc3}, true, false},
	{"", "sizeless", NULL, 1, 1, {0xc3}, true, false},
	{"", "runs_on", NULL, 1, 1, {0xc3}, true, false},
	{"", "sizeless_with_frame", NULL, 1, 2, {0xc3, 0xc3}, true, false},
	{"", "jumps_in_frame", NULL, 1, 3, {0xff, 0xc3, 0xc3}, true, false},
	{"", "ns::solve", NULL, 2, 2, {0xc3, 0xc3}, true, false},
	{"", "with_team", NULL, 3, 3, {0xc3, 0xc3, 0xc3}, true, false},
	{"", "with_team._omp_fn.0", NULL, 2, 2, {0xc3, 0xc3}, true, false},
	{"", "ssc", NULL, 2, 1, {0x64}, false, false},
	{"_stripped", "ssc:111", "ssc", 1, 1, {0x64}, false, false},
	{"", "ssc:0xface", "ssc", 2, 1, {0x64}, false, false},
	{"", "places_target:ssc:111", "ssc:57005", 1, 1, {0x64}, false, false},
	{"", "two_returns", "ssc:0xFACE", 1, 2, {0x64, 0x64}, false, false},
	{"", "twin", NULL, 2, 2, {0xc3, 0xc3}, true, false},
	{"_no_pie", "own_table", NULL, 1, 1, {0xc3}, true, false},
	{"_no_pie", "table_of_functions", NULL, 1, 1, {0xff}, true, false},
	{"", "two_returns", "tail_call", 1, 1, {0x90}, false, false},
	{"", "two_returns", "marked_region", 1, 2, {0x90, 0x90}, false, false},
	{"", "marked_region", NULL, 2, 2, {0x90, 0x90}, false, false},
	{"_stripped", "marked_region", NULL, 2, 2, {0x90, 0x90}, false, false},
	{"", "marked_region", "two_returns", 2, 1, {0x85}, false, false},
	{"", "endless_region", "two_returns", 1, 1, {0x85}, false, false},
	{"", "lines.c:102", "two_returns", 3, 1, {0x85}, false, false},
	{"", "places_target:folder/lines.c:102", "two_returns", 3, 1, {0x85}, false, false},
};

/* The byte may also be that of a longer form of the same jump. */
static bool
is_opcode(const uint8_t *bytes, uint8_t wanted)
{
	if (wanted == 0xe9)
		return bytes[0] == 0xe9 || bytes[0] == 0xeb;
	if (wanted == 0x74)
		return bytes[0] == 0x74 || (bytes[0] == 0x0f && bytes[1] == 0x84);
	return bytes[0] == wanted;
}

TEST_OF(regions_are_found, NR_ELEMENTS(regions))
{
	const struct region_case *tested = &regions[_i];
	cleared_by(region_places_clear) struct region_places places = {0};
	struct symbol_file *file;

	ck_assert(start(tested->variant));
	read_objects();
	ck_assert_msg(places_resolve(files, &objects, tested->begin, tested->end, &places, &why) == 0, "%s: %s",
		      tested->begin, why.text);
	ck_assert_msg(places.nr_begins == tested->nr_begins && places.nr_ends == tested->nr_ends,
		      "%s: %zu begins, %zu ends", tested->begin, places.nr_begins, places.nr_ends);
	ck_assert_int_eq(places.is_function, tested->is_function);
	ck_assert_int_eq(places.is_reentered, tested->is_reentered);
	file = symbol_file_open(files, program()->file, NULL);
	for (size_t i = 0; i < places.nr_ends; i++) {
		const struct place *place = &places.ends[i];
		const uint8_t *bytes = symbols_bytes(file, place->address - place->object->bias, 1);
		uint64_t offset;

		ck_assert_msg(is_opcode(bytes, tested->left[i]), "%s: %02x at %s", tested->begin, bytes[0],
			      place->text);
		ck_assert(symbols_file_offset(file, place->address - place->object->bias, &offset));
		ck_assert_int_eq(place->file_offset, offset);
		ck_assert_int_eq(place->condition, tested->left[i] == 0x74 ? 4 : CODE_ALWAYS);
	}
}

/* The function that is named is entered; of a team are the parts whose addresses it has, and theirs. */
TEST(parts_of_a_team_are_told)
{
	struct region_places places;
	size_t nr_own = 0;

	ck_assert(start(""));
	read_objects();
	ck_assert_ok(places_resolve(files, &objects, "with_team", NULL, &places, &why));
	for (size_t i = 0; i < places.nr_begins; i++) {
		const bool is_own = strncmp(places.begins[i].text, "with_team+0x0 ", 14) == 0;

		ck_assert_msg(places.begins[i].is_team == !is_own, "%s", places.begins[i].text);
		nr_own += is_own;
	}
	ck_assert_uint_eq(nr_own, 1);
	for (size_t i = 0; i < places.nr_ends; i++)
		ck_assert(places.ends[i].is_team == (strncmp(places.ends[i].text, "with_team+", 10) != 0));
	ck_assert_ptr_null(places.team_below);
	region_places_clear(&places);
	ck_assert_ok(places_resolve(files, &objects, "above_team", NULL, &places, &why));
	ck_assert_uint_eq(places.nr_begins, 1);
	ck_assert_str_eq(places.team_below, "with_team");
	region_places_clear(&places);
}

/* An address is that of the file; at the begin of a function it is the function, otherwise it needs an end. */
TEST_OF(addresses_are_those_of_the_file, 2)
{
	static const char *const variants[] = {"", "_no_pie"};
	struct region_places places;
	autofree char *begin = NULL, *inside = NULL, *within = NULL;

	ck_assert(start(variants[_i]));
	read_objects();
	begin = rot_format("0x%llx", (unsigned long long)(two_returns - program()->bias));
	inside = rot_format("0x%llX", (unsigned long long)(two_returns - program()->bias + 4));
	within = rot_format("0x%llx", (unsigned long long)(two_returns - program()->bias + 1));
	ck_assert_ok(places_resolve(files, &objects, begin, NULL, &places, &why));
	ck_assert(places.is_function && places.begins[0].address == two_returns && places.nr_ends == 2);
	region_places_clear(&places);
	ck_assert_int_eq(places_resolve(files, &objects, inside, NULL, &places, &why), -1);
	ck_assert_has(why.text, "needs an end");
	ck_assert_int_eq(places_resolve(files, &objects, within, begin, &places, &why), -1);
	ck_assert_has(why.text, "no instruction");
	ck_assert_has(why.hint, begin);
	ck_assert_ok(places_resolve(files, &objects, begin, inside, &places, &why));
	ck_assert(!places.is_function && places.ends[0].address == two_returns + 4 && places.nr_ends == 1);
	region_places_clear(&places);
}

/* A function that is chosen at the start is the ones that it is chosen from; there may be none of them here. */
TEST(chosen_functions_are_found)
{
	cleared_by(region_places_clear) struct region_places places = {0};

	ck_assert(start(""));
	read_objects();
	if (places_resolve(files, &objects, "chosen", NULL, &places, &why) < 0) {
		ck_assert_msg(strstr(why.text, "no function"), "%s", why.text);
		return;
	}
	ck_assert_int_eq(places.nr_begins, 1);
	ck_assert_has(places.begins[0].text, "choice+0x0");
}

/* Whichever comes first: libraries that were compiled from a source of the same name may have no code on that line. */
TEST_OF(lines_are_those_of_the_object_that_has_them, 2)
{
	char *with = built_path(TARGET), *without = built_path(TARGET "_no_pie");
	struct object libraries[2] = {[0] = {.start = 0x100000}, [1] = {.start = 0x200000}};
	const struct objects both = {libraries, NR_ELEMENTS(libraries)};
	struct region_places places;

	libraries[_i].path = libraries[_i].file = with;
	libraries[1 - _i].path = libraries[1 - _i].file = without;
	ck_assert_msg(places_resolve(files, &both, "plugin.c:202", "plugin.c:202", &places, &why) == 0, "%s; %s",
		      why.text, why.hint);
	ck_assert_uint_eq(places.nr_begins, 1);
	ck_assert_ptr_eq(places.begins[0].object, &libraries[_i]);
	region_places_clear(&places);
	ck_assert_int_eq(places_resolve(files, &both, "plugin.c:400", "plugin.c:400", &places, &why), -1);
	ck_assert_has(why.text, "no code on line 400 of folder/plugin.c");
}

static const struct {
	const char *variant, *begin, *end, *text, *hint;
} failures[] = {
	{"", "two_retruns", NULL, "no function or marker is called 'two_retruns'", "did you mean 'two_returns'"},
	{"", "places_target:two_retruns", NULL, "'two_retruns' in places_target", "did you mean 'two_returns'"},
	{"", "two_returns", "two_retruns", "'two_retruns'", "did you mean 'two_returns'"},
	{"", "xxxxxxxxxxxxxxxxxxxxxx", NULL, "no function or marker", "FILE:LINE"},
	{"_stripped", "two_returns", NULL, "no function or marker", "stripped"},
	{"", "no_such_library:f", NULL, "no object of the process is called 'no_such_library'", "dlopen"},
	{"", "never_returns", NULL, "never_returns+0x0", "name the place where the region ends"},
	{"", "endless_region", NULL, "'endless_region' begins a region that ends nowhere",
	 "ROT_REGION_END(endless_region)"},
	{"", "lines.c:102", NULL, "needs an end", ""},
	{"", "ssc:0xFACE", NULL, "needs an end", "ssc"},
	{"", "ssc:222", "ssc", "there is no mark 'ssc:222'", "64 67 90"},
	{"", "libc:ssc", NULL, "there is no mark 'libc:ssc'", "64 67 90"},
	{"", "lines.c:103", "two_returns", "no code on line 103 of folder/lines.c", "104"},
	{"", "no_such.c:1", "two_returns", "no_such.c", ""},
	{"_stripped", "lines.c:102", "two_returns", "no debug information", "-g"},
	{"", "0x1", "two_returns", "has no code at 0x1", ""},
	{"", "0x", NULL, "names no address", ""},
	{"", "0x12x", NULL, "names no address", ""},
	{"", "0xfffffffffffffffff", NULL, "names no address", ""},
	{"", "lines.c:0", NULL, "names no line", ""},
	{"", "lines.c:99999999999", NULL, "names no line", ""},
	{"", "two_returns", "lines.c:0", "names no line", ""},
	{"", "", NULL, "names no place", "FUNCTION"},
	{"", ":102", NULL, "names no place", "FUNCTION"},
	{"", "libc:", NULL, "names no place", "FUNCTION"},
	{"", ":f", NULL, "names no place", "FUNCTION"},
};

TEST_OF(what_is_not_found_is_said, NR_ELEMENTS(failures))
{
	struct region_places places;

	ck_assert(start(failures[_i].variant));
	read_objects();
	ck_assert_msg(places_resolve(files, &objects, failures[_i].begin, failures[_i].end, &places, &why) == -1, "%s",
		      failures[_i].begin);
	ck_assert_msg(strstr(why.text, failures[_i].text) && strstr(why.hint, failures[_i].hint), "%s; %s", why.text,
		      why.hint);
	ck_assert_int_eq(places.nr_begins, 0);
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_files, .tear_down = close_all);
