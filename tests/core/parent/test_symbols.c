/* SPDX-License-Identifier: MIT */
/* Functions, lines and markers are found in files that were linked and stripped in every way. */
#include "entity.h"
#include "parent/profile/functions.h"
#include "parent/symbols/code.h"
#include "parent/symbols/plain_name.h"
#include "parent/symbols/symbol_file.h"
#include "parent/symbols/symbols.h"
#include "testing.h"

#define TARGET "tests/core/parent/places_target"
#define DEBUGINFOD "DEBUGINFOD_URLS"

static char *folder;
static struct symbol_files *files;

static void
open_files(void)
{
	folder = temporary_folder_new();
	files = symbol_files_new();
}

static void
close_files(void)
{
	symbol_files_delete(files);
}

static struct symbol_file *
file_open(char *path)
{
	struct symbol_file *file = symbol_file_open(files, path, &why);

	ck_assert_msg(file, "%s", why.text);
	free(path);
	return file;
}

static struct symbol_file *
target(const char *variant)
{
	return file_open(built_path(TARGET "%s", variant));
}

/* Runs a shell command in the folder, with the target as $1. False: it failed. */
static bool
shell(const char *command)
{
	autofree char *line = rot_format("set -e; set -- '%s'; cd '%s'; %s", built_path(TARGET), folder, command);
	bool is_done = system(line) == 0;

	return is_done;
}

static struct symbol_ranges
functions(struct symbol_file *file, const char *name)
{
	struct symbol_ranges found = {0};

	symbols_find_function(file, name, &found);
	return found;
}

static struct symbol_range
function(struct symbol_file *file, const char *name)
{
	struct symbol_ranges found = functions(file, name);
	struct symbol_range range;

	ck_assert_msg(found.nr_ranges == 1, "%s: %zu found", name, found.nr_ranges);
	range = found.ranges[0];
	symbol_ranges_clear(&found);
	return range;
}

/* Every function begins with its bytes, wherever the file was linked to. */
TEST_OF(functions_are_found, 2)
{
	static const char *const variants[] = {"", "_no_pie"};
	struct symbol_file *file = target(variants[_i]);
	struct symbol_range range = function(file, "two_returns");
	const uint8_t *bytes = symbols_bytes(file, range.address, range.size);
	static const uint8_t wanted[] = {0x85, 0xff, 0x74, 0x01, 0xc3, 0xc3};
	uint64_t offset = 0;

	ck_assert_int_eq(range.size, sizeof(wanted));
	ck_assert(range.is_global && !range.is_resolver);
	ck_assert_mem_eq(bytes, wanted, sizeof(wanted));
	ck_assert(symbols_file_offset(file, range.address + 1, &offset));
	ck_assert_int_eq(offset, range.file_offset + 1);
	ck_assert(symbols_is_code(file, range.address));
	ck_assert(!symbols_is_code(file, 1) && !symbols_is_code(file, UINT64_MAX));
	ck_assert_ptr_null(symbols_bytes(file, range.address, UINT64_MAX));
}

/* The names of copies, without those of parts; versions; C++ names, whole and in part; local ones. */
TEST(names_are_matched)
{
	static const struct {
		const char *name;
		size_t nr_functions;
	} cases[] = {{"cloned", 1},         {"cloned.constprop.0", 1},
		     {"_ZN2ns5solveEi", 1}, {"ns::solve", 2},
		     {"solve", 3},          {"s::solve", 0},
		     {"olve", 0},           {"twin", 2},
		     {"alias_of", 1},       {"__alias_of", 1},
		     {"no_such_name", 0},   {"two_return", 0},
		     {"two_returns::x", 0}, {"printf", 0},
		     {"sink", 0},           {"", 0}};
	struct symbol_file *file = target("");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleared_by(symbol_ranges_clear) struct symbol_ranges found = functions(file, cases[i].name);

		ck_assert_msg(found.nr_ranges == cases[i].nr_functions, "%s: %zu found", cases[i].name,
			      found.nr_ranges);
	}
	ck_assert(!function(file, "cloned").is_global);
	ck_assert_str_eq(symbols_nearest(file, "two_retruns"), "two_returns");
	ck_assert_ptr_null(symbols_nearest(file, "nothing_like_this_here"));
}

/* Up to the next function, or as far as its frame says. */
TEST(ends_are_found)
{
	struct symbol_file *file = target("");
	struct symbol_range sizeless = function(file, "sizeless"), behind = function(file, "behind_sizeless");
	struct symbol_range framed = function(file, "sizeless_with_frame"), at;

	ck_assert_int_eq(sizeless.size, 2);
	ck_assert_int_eq(behind.address, sizeless.address + 2);
	ck_assert_int_eq(framed.size, 3);
	ck_assert(symbols_function_at(file, sizeless.address + 1, &at));
	ck_assert_int_eq(at.address, sizeless.address);
	ck_assert(symbols_function_at(file, framed.address + 2, &at));
	ck_assert_str_eq(at.name, "sizeless_with_frame");
	ck_assert(!symbols_function_at(file, 1, &at));
}

TEST(addresses_get_names)
{
	struct symbol_file *file = target("");
	struct symbol_range wanted = function(file, "two_returns"), at;

	for (uint64_t i = 0; i < wanted.size; i++) {
		ck_assert(symbols_function_at(file, wanted.address + i, &at));
		ck_assert_str_eq(at.name, "two_returns");
		ck_assert_int_eq(at.address, wanted.address);
	}
	ck_assert(symbols_function_at(file, wanted.address + wanted.size, &at));
	ck_assert_str_eq(at.name, "tail_call");
	ck_assert(symbols_function_at(file, function(file, "alias_of").address, &at));
	ck_assert_str_eq(at.name, "alias_of");
}

/* This program is loaded to its link-time addresses, so the entry can be called. */
TEST(entries_of_the_plt_are_called_as_their_functions)
{
	struct symbol_file *file = file_open(rot_strdup("/proc/self/exe"));
	const struct symbol_ranges *plt = symbol_file_plt(file);
	const struct symbol_range *wanted = NULL;
	pid_t (*entry)(void);
	struct symbol_range at;

	for (size_t i = 0; i < plt->nr_ranges; i++)
		if (strcmp(plt->ranges[i].name, "getppid@plt") == 0)
			wanted = &plt->ranges[i];
	ck_assert_ptr_nonnull(wanted);
	*(void **)&entry = (void *)wanted->address;
	ck_assert_int_eq(entry(), getppid());
	ck_assert(symbols_function_at(file, wanted->address + wanted->size - 1, &at));
	ck_assert_str_eq(at.name, "getppid@plt");
	ck_assert_uint_eq(at.address, wanted->address);
}

/* Whichever is asked for first. */
TEST_OF(functions_within_others_are_told_apart, 2)
{
	static const char *const names[] = {"around", "inside", "inside", "around"};
	struct symbol_file *file = target("");
	const struct symbol_range around = function(file, "around");
	struct code_object object = {.origin = CODE_FILE, .path = built_path(TARGET)};
	struct functions *functions = functions_new(files, NULL, NULL, (struct parts_wanted){.of_all = false});
	struct program_profile *profile = program_profile_new();
	struct symbol_range at;
	struct stat status;

	ck_assert_int_eq(stat(object.path, &status), 0);
	object.inode = status.st_ino;
	for (uint64_t i = 0; i < 8; i++) {
		const uint64_t k = _i ? 3 - i % 4 : i % 4;

		ck_assert(symbols_function_at(file, around.address + k, &at));
		ck_assert_str_eq(at.name, names[k]);
		functions_add(functions, &object, around.file_offset + k, &(struct found){.samples = 1 + k * k});
	}
	functions_take(functions, profile);
	ck_assert_uint_eq(program_profile_nr_places(profile), 2);
	ck_assert_str_eq(program_profile_places_at(profile, 0)->symbol, "around");
	ck_assert_uint_eq(program_profile_places_at(profile, 0)->samples, 2 * (1 + 10));
	ck_assert_str_eq(program_profile_places_at(profile, 1)->symbol, "inside");
	ck_assert_uint_eq(program_profile_places_at(profile, 1)->samples, 2 * (2 + 5));
	rot_graph_delete(profile);
	functions_delete(functions);
	free(object.path);
}

/* The stack is as at the entry, except between push and pop. */
TEST_OF(depth_is_known_from_frames, 2)
{
	static const char *const variants[] = {"", "_stripped"};
	uint64_t address = function(target(""), "jumps_in_frame").address;
	struct symbol_file *file = target(variants[_i]);

	ck_assert(symbols_is_at_entry_depth(file, address));
	ck_assert(!symbols_is_at_entry_depth(file, address + 1));
	ck_assert(!symbols_is_at_entry_depth(file, address + 3));
	ck_assert(symbols_is_at_entry_depth(file, function(target(""), "two_returns").address));
}

/* The frames are still there, and say where functions begin and end, also when the table of sections is gone. */
TEST(stripped_files_have_frames)
{
	struct symbol_range wanted = function(target(""), "first_user"), at;
	struct symbol_file *file = target("_stripped");
	cleared_by(symbol_ranges_clear) struct symbol_ranges found = functions(file, "two_returns");

	ck_assert_int_eq(found.nr_ranges, 0);
	ck_assert(symbols_function_at(file, wanted.address + 1, &at));
	ck_assert_int_eq(at.address, wanted.address);
	ck_assert_int_eq(at.size, wanted.size);
	ck_assert_ptr_null(at.name);
}

TEST(files_without_sections_have_frames)
{
	struct symbol_range wanted = function(target(""), "first_user"), at;
	struct symbol_file *file;
	char *path = rot_format("%s/bare", folder);

	/* e_shoff, and e_shnum with e_shstrndx, of the header are cleared. */
	ck_assert(shell("cp \"${1}_stripped\" bare; chmod u+w bare;"
			" dd if=/dev/zero of=bare bs=1 seek=40 count=8 conv=notrunc 2>/dev/null;"
			" dd if=/dev/zero of=bare bs=1 seek=60 count=4 conv=notrunc 2>/dev/null"));
	file = file_open(path);
	ck_assert(symbols_function_at(file, wanted.address + 1, &at));
	ck_assert_int_eq(at.address, wanted.address);
	ck_assert_int_eq(at.size, wanted.size);
}

/* By the debug link, and by the build-id; what is asked of the network is left alone. */
TEST(separate_debug_information_is_read)
{
	struct symbol_range wanted = function(target(""), "two_returns");
	cleared_by(symbol_ranges_clear) struct symbol_ranges lines = {0};
	struct symbol_file *file;
	size_t nr_sources;

	if (!shell("command -v objcopy >/dev/null"))
		return;
	ck_assert(shell("objcopy --only-keep-debug \"$1\" separate.debug;"
			" objcopy --strip-all --add-gnu-debuglink=separate.debug \"$1\" separate"));
	ck_assert_int_eq(setenv(DEBUGINFOD, "http://127.0.0.1:1/", 1), 0);
	file = file_open(rot_format("%s/separate", folder));
	ck_assert_int_eq(function(file, "two_returns").address, wanted.address);
	ck_assert_ok(symbols_find_line(file, "lines.c", 102, &lines, &nr_sources, &why));
	ck_assert_int_eq(lines.nr_ranges, 3);
	ck_assert_str_eq(getenv(DEBUGINFOD), "http://127.0.0.1:1/");
}

TEST(small_debug_information_is_read)
{
	struct symbol_range wanted = function(target(""), "two_returns");

	if (!shell("command -v objcopy >/dev/null && command -v xz >/dev/null"))
		return;
	ck_assert(shell("objcopy --strip-debug \"$1\" small; xz -k small; objcopy --strip-all \"$1\" stripped;"
			" objcopy --add-section .gnu_debugdata=small.xz stripped mini"));
	ck_assert_int_eq(function(file_open(rot_format("%s/mini", folder)), "two_returns").address, wanted.address);
}

/* ---- lines ---- */

/* One place for each copy; all of them lie in the functions that the line was inlined in. */
TEST_OF(lines_are_found, 3)
{
	static const char *const sources[] = {"lines.c", "folder/lines.c", "./folder//../folder/lines.c"};
	struct symbol_file *file = target("");
	struct symbol_ranges found = {0};
	struct symbol_range at;
	size_t nr_sources;

	ck_assert_ok(symbols_find_line(file, sources[_i], 102, &found, &nr_sources, &why));
	ck_assert_uint_eq(nr_sources, 1);
	ck_assert_int_eq(found.nr_ranges, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert(symbols_function_at(file, found.ranges[i].address, &at));
		ck_assert_str_eq(at.name, i < 2 ? "first_user" : "second_user");
	}
	symbol_ranges_clear(&found);
	/* A loop's line has code in several places; one counts. */
	ck_assert_int_eq(symbols_find_line(file, sources[_i], 116, &found, &nr_sources, &why), 0);
	ck_assert_int_eq(found.nr_ranges, 1);
	symbol_ranges_clear(&found);
}

TEST_OF(lines_that_are_not_found, 6)
{
	static const struct {
		const char *variant, *source;
		int line;
		size_t nr_sources;
		const char *text, *hint;
	} cases[] = {
		{"", "lines.c", 103, 1, "no code on line 103 of", "code is 104"},
		{"", "lines.c", 900, 1, "no code on line 900 of", "none behind"},
		{"", "no_such.c", 1, 0, "is called 'no_such.c'", ""},
		{"", "ines.c", 102, 0, "is called 'ines.c'", ""},
		{"", "/folder/lines.c/x", 102, 0, "is called", ""},
		{"_stripped", "lines.c", 102, 0, "no debug information", "-g"},
	};
	struct symbol_ranges found = {0};
	size_t nr_sources;

	ck_assert_int_eq(symbols_find_line(target(cases[_i].variant), cases[_i].source, cases[_i].line, &found,
					   &nr_sources, &why),
			 -1);
	ck_assert_uint_eq(nr_sources, cases[_i].nr_sources);
	ck_assert_int_eq(found.nr_ranges, 0);
	ck_assert_msg(strstr(why.text, cases[_i].text) && strstr(why.hint, cases[_i].hint), "%s; %s", why.text,
		      why.hint);
}

/* ---- markers ---- */

/* One nop for each copy, within the function it was inlined in; a stripped file has them too. */
TEST_OF(markers_are_found, 3)
{
	static const char *const variants[] = {"", "_no_pie", "_stripped"};
	struct symbol_file *file = target(variants[_i]);
	cleared_by(symbol_ranges_clear) struct symbol_ranges begins = {0}, ends = {0}, none = {0};

	symbols_find_marker(file, "marked_region", false, &begins);
	symbols_find_marker(file, "marked_region", true, &ends);
	ck_assert_int_eq(begins.nr_ranges, 2);
	ck_assert_int_eq(ends.nr_ranges, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_lt(begins.ranges[i].address, ends.ranges[i].address);
		ck_assert_int_eq(*symbols_bytes(file, begins.ranges[i].address, 1), 0x90);
		ck_assert_int_eq(*symbols_bytes(file, ends.ranges[i].address, 1), 0x90);
	}
	symbols_find_marker(file, "endless_region", false, &none);
	ck_assert_int_eq(none.nr_ranges, 1);
	symbols_find_marker(file, "endless_region", true, &none);
	symbols_find_marker(file, "marked", false, &none);
	ck_assert_int_eq(none.nr_ranges, 1);
}

/* In C++, with one place for each instance of a template; strict compilers have nothing to say. */
TEST(markers_are_found_in_cpp)
{
	static const char source[] = "#include <rot-marker.h>\n"
				     "template <typename T> T twice(T x)\n"
				     "{ ROT_REGION_BEGIN(twice); T y = x + x; ROT_REGION_END(twice); return y; }\n"
				     "int main() { return twice(1) + int(twice(2.0)) > 9; }\n";
	struct symbol_ranges found = {0};
	struct symbol_file *file;
	char *folder_of_header, *command;

	if (!shell("command -v c++ >/dev/null && echo 'int main() { return 0; }' >try.cc && c++ -o try try.cc "
		   "2>/dev/null"))
		return;
	folder_write(folder, "twice.cc", source);
	folder_of_header = source_path("core/common");
	command = rot_format("c++ -std=c++11 -Wall -Wextra -pedantic -Werror -I '%s' -o twice twice.cc",
			     folder_of_header);
	ck_assert(shell(command));
	file = file_open(rot_format("%s/twice", folder));
	symbols_find_marker(file, "twice", false, &found);
	ck_assert_int_eq(found.nr_ranges, 2);
	symbols_find_marker(file, "twice", true, &found);
	ck_assert_int_eq(found.nr_ranges, 4);
	symbol_ranges_clear(&found);
	free(command);
}

/* ---- files ---- */

TEST(files_are_read_once)
{
	struct symbol_file *first = target(""), *again = target("");
	char *copy = rot_format("%s/copy", folder);
	struct symbol_file *before;

	ck_assert_ptr_eq(first, again);
	ck_assert(shell("cp \"$1\" copy; chmod u+w copy"));
	before = file_open(rot_strdup(copy));
	ck_assert_ptr_ne(before, first);
	/* Another file of the same name is another file. */
	ck_assert(shell("cp \"$1_no_pie\" new; mv new copy"));
	ck_assert_ptr_ne(file_open(copy), before);
}

TEST_OF(other_files_are_refused, 4)
{
	static const struct {
		const char *name, *content, *why;
	} cases[] = {
		{"text", "no program\n", "cannot read"},
		{"empty", "", "cannot read"},
		{"half", "\177ELF", "cannot read"},
		{"missing", NULL, "No such file"},
	};
	autofree char *path = cases[_i].content ? folder_write(folder, cases[_i].name, cases[_i].content)
						: rot_format("%s/%s", folder, cases[_i].name);

	ck_assert_ptr_null(symbol_file_open(files, path, &why));
	ck_assert_msg(strstr(why.text, cases[_i].why) && strstr(why.text, path), "%s", why.text);
}

/* ---- mangled names ---- */

static const struct {
	const char *symbol, *plain;
} mangled[] = {
	{"_Z5solvei", "solve"},
	{"_ZL5solvev", "solve"},
	{"_ZN2ns5solveEi", "ns::solve"},
	{"_ZN2nsL5solveEv", "ns::solve"},
	{"_ZNK2ns6Matrix4rowsEv", "ns::Matrix::rows"},
	{"_ZNKR2ns6Matrix4rowsEv", "ns::Matrix::rows"},
	{"_ZN12_GLOBAL__N_16hiddenEv", "hidden"},
	{"_ZN2ns12_GLOBAL__N_16hiddenEv", "ns::hidden"},
	{"_Z5solveIdEvT_", "solve"},
	{"_ZN2ns6MatrixIdLi3EE4rowsEv", "ns::Matrix::rows"},
	{"_ZN2ns6MatrixIN2ns4RealEE4rowsEv", "ns::Matrix::rows"},
	{"_ZN2ns6MatrixISaIiEE4rowsEv", "ns::Matrix::rows"},
	{"_ZN2ns6MatrixIS_S0_E4rowsEv", "ns::Matrix::rows"},
	{"_ZN2ns5solveB5cxx11Ev", "ns::solve"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	{"_ZN6MatrixC1Ev", NULL},
	{"_ZNSt6vectorIiE4sizeEv", NULL},
	{"_ZplRK1AS1_", NULL},
	{"_ZN2ns5solve", NULL},
	{"_ZN2ns99solveEv", NULL},
	{"_ZN2ns6MatrixI", NULL},
	{"_ZN2ns6MatrixIL", NULL},
	{"_ZN2ns6MatrixIS", NULL},
	{"_ZN99999999999999999999999999aE", NULL},
	{"_Z", NULL},
	{"_ZN", NULL},
	{"solve", NULL},
	{"", NULL},
};

TEST_OF(mangled_names_are_read, NR_ELEMENTS(mangled))
{
	autofree char *plain = plain_name(mangled[_i].symbol);

	if (mangled[_i].plain)
		ck_assert_pstr_eq(plain, mangled[_i].plain);
	else
		ck_assert_msg(!plain, "%s: %s", mangled[_i].symbol, plain);
}

TEST(ends_of_names_are_names)
{
	ck_assert(plain_name_ends_with("ns::Matrix::rows", "ns::Matrix::rows"));
	ck_assert(plain_name_ends_with("ns::Matrix::rows", "Matrix::rows"));
	ck_assert(plain_name_ends_with("ns::Matrix::rows", "rows"));
	ck_assert(!plain_name_ends_with("ns::Matrix::rows", "ows"));
	ck_assert(!plain_name_ends_with("ns::Matrix::rows", ":rows"));
	ck_assert(!plain_name_ends_with("rows", "Matrix::rows"));
	ck_assert(!plain_name_ends_with("rows", ""));
}

UNIT_TESTS(.is_in_one_process = true, .set_up = open_files, .tear_down = close_files);
