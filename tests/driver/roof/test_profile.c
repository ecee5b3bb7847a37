/* SPDX-License-Identifier: MIT */
/* Profiles on recorded machines: what comes back, whose they are, what changed, what replaces what, damaged files. */
#include <jansson.h>

#include "base/files.h"
#include "base/paths.h"
#include "machine/machine.h"
#include "peaks_by_hand.h"
#include "roof/peak.h"
#include "roof/profile.h"
#include "rot.h"
#include "testing.h"

static struct paths paths;
static struct rot rot = {.paths = &paths};
static struct peak_list found, list;
static struct profile_state state;

static void
be_machine(const char *name)
{
	rot_graph_delete(rot.machine);
	rot.machine = machine_read(source_path("tests/machines/%s", name), &why);
	ck_assert_msg(rot.machine != NULL, "%s", why.text);
}

static void
set_up(void)
{
	paths.user = temporary_folder_new();
	be_machine("zen5-turin-kvm");
	found = peaks_by_hand();
}

static void
tear_down(void)
{
	peak_list_clear(&found);
	peak_list_clear(&list);
	rot_graph_delete(rot.machine);
	rot.machine = NULL;
}

static void
store(void)
{
	ck_assert_ok(profile_store(&rot, &found, &why));
}

static void
load(enum profile_match match)
{
	peak_list_clear(&list);
	ck_assert_ok(profile_load(&rot, &list, &state, &why));
	ck_assert_msg(state.match == match, "%d: %s", state.match, state.message);
	ck_assert(match == PROFILE_FRESH || match == PROFILE_STALE || list.nr == 0);
}

/* But for when they were found. */
static void
assert_same_peak(const struct peak *a, const struct peak *b)
{
	json_auto_t *first = peak_json(a);
	json_auto_t *second = peak_json(b);

	json_object_del(first, "foundAt");
	json_object_del(second, "foundAt");
	ck_assert_msg(json_equal(first, second), "%s", a->name);
}

TEST(what_is_stored_comes_back)
{
	found.peaks[3].has_huge_pages = true;
	found.peaks[3].nr_tainted = 2;
	found.peaks[4].per_cycle = (struct peak_estimate){8, NAN, NAN};
	found.peaks[4].clock_hz = NAN;
	store();
	load(PROFILE_FRESH);
	ck_assert_uint_eq(list.nr, found.nr);
	for (size_t i = 0; i < list.nr; i++) {
		assert_same_peak(&found.peaks[i], &list.peaks[i]);
		ck_assert_int_gt(list.peaks[i].found_at, 1700000000);
	}
	ck_assert_str_eq(state.message, "");
	ck_assert(path_ends_in(state.path, "/profiles/AuthenticAMD-26-2-1-KVM.json"));
}

TEST(without_a_file_there_is_nothing_to_say)
{
	load(PROFILE_NONE);
	ck_assert_str_eq(state.message, "");
}

/* Peaks that were not looked for again stay, with their own conditions. */
TEST(new_peaks_are_added_to_the_others)
{
	struct peak_list all = found, some = {.peaks = found.peaks + 1, .nr = 2};

	store();
	found = some;
	found.peaks[0].per_cycle = (struct peak_estimate){31, 30, 32};
	store();
	found = all;
	load(PROFILE_FRESH);
	ck_assert_uint_eq(list.nr, all.nr);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 FMA", 1)->per_cycle.value, 31);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 FMA+ADD", 1)->per_cycle.value, 47.985);
}

static void
set_search(const char *search, double factor)
{
	for (size_t i = 0; i < found.nr; i++) {
		found.peaks[i].search = search;
		found.peaks[i].per_cycle.value *= factor;
	}
}

static const char *
search_of(const char *name)
{
	load(PROFILE_FRESH);
	return peak_by_hand(&list, name, 1)->search;
}

/* Within the interval: the last search holds, but a quick one does not replace a full one. Latencies are better when
 * they are less. */
TEST(quick_results_replace_full_ones_only_if_better)
{
	store();
	set_search("quick", 0.9999);
	store();
	ck_assert_str_eq(search_of("AVX-512 FMA"), "full");
	ck_assert_str_eq(search_of("DRAM random access"), "quick");
	set_search("quick", 1.5);
	store();
	ck_assert_str_eq(search_of("AVX-512 FMA"), "quick");
	set_search("full", 0.9999);
	store();
	ck_assert_str_eq(search_of("AVX-512 FMA"), "full");
}

/* A rate that was reached once can be reached, unless it is more than the processor can do, or long ago. */
TEST(disturbed_searches_replace_nothing)
{
	double fma;

	found.peaks[2].found_at = 1700000000;
	store();
	fma = found.peaks[1].per_cycle.value;
	set_search("full", 0.9);
	for (size_t i = 0; i < found.nr; i++) {
		found.peaks[i].per_cycle.low *= 0.9;
		found.peaks[i].per_cycle.high *= 0.9;
		found.peaks[i].found_at = 0;
	}
	store();
	load(PROFILE_FRESH);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 FMA", 1)->per_cycle.value, fma);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 ADD", 1)->per_cycle.value, 16 * 0.9);
	/* lower is better */
	ck_assert_double_eq(peak_by_hand(&list, "DRAM random access", 1)->per_cycle.value, 840 * 0.9);
}

/* But what is told of the memory may be wrong. */
TEST_OF(more_than_possible_is_not_kept, 2)
{
	const double before = found.peaks[1].per_cycle.value;

	found.peaks[1].limit_per_cycle = 30;
	found.peaks[1].limit_source = _i ? LIMIT_OF_MEMORY : "documents";
	store();
	found.peaks[1].limit_per_cycle = 32;
	found.peaks[1].per_cycle = (struct peak_estimate){29, 28, 30};
	store();
	load(PROFILE_FRESH);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 FMA", 1)->per_cycle.value, _i ? before : 29);
}

TEST(quick_results_replace_full_ones_of_other_conditions)
{
	store();
	set_search("quick", 0.9);
	rot_string_set(&rot.machine->kernel_release, "7.0");
	store();
	ck_assert_str_eq(search_of("AVX-512 FMA"), "quick");
}

/* Both modes of a peak are one line of the roof: they are replaced together. */
TEST(modes_are_replaced_together)
{
	struct peak_list all = found, one = {.nr = 1};

	store();
	for (size_t i = 0; i < all.nr; i++)
		if (strcmp(all.peaks[i].mode, "far") == 0)
			one.peaks = &all.peaks[i];
	one.peaks->mode = "";
	found = one;
	store();
	found = all;
	load(PROFILE_FRESH);
	ck_assert_uint_eq(list.nr, all.nr - 1);
	ck_assert_str_eq(peak_by_hand(&list, "DRAM load", 2)->mode, "");
}

/* Half of it, while the CPUs shared a core: replaced by what is better, however quickly found, and replaces nothing. */
TEST(shared_cores_are_replaced)
{
	struct peak *peak = peak_by_hand(&found, "AVX-512 FMA+ADD", 2);

	peak->per_cycle = (struct peak_estimate){24, 23.9, 47.9};
	peak->mode = "shared";
	store();
	set_search("quick", 2);
	peak->per_cycle.low = 47.9;
	peak->mode = "";
	store();
	load(PROFILE_FRESH);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 FMA+ADD", 2)->per_cycle.value, 48);
	ck_assert_str_eq(peak_by_hand(&list, "AVX-512 FMA+ADD", 2)->mode, "");
	set_search("full", 0.5);
	peak->per_cycle = (struct peak_estimate){24, 23.9, 24.1};
	peak->mode = "shared";
	store();
	load(PROFILE_FRESH);
	ck_assert_double_eq(peak_by_hand(&list, "AVX-512 FMA+ADD", 2)->per_cycle.value, 48);
}

TEST(changes_are_told)
{
	store();
	rot_string_set(&rot.machine->microcode, "0x2");
	rot_string_set(&rot.machine->kernel_release, "7.0");
	rot_string_set(&rot.machine->governor, "powersave");
	machine_online_cpus_add(rot.machine, 2);
	load(PROFILE_STALE);
	ck_assert_str_eq(state.message,
			 "the peaks of this machine were found under other conditions: microcode 0x1000065, now 0x2, "
			 "kernel 6.18.44, now 7.0, frequency governor unknown, now powersave, number of CPUs 2, now 3; "
			 "'rot peaks' finds them anew");
	ck_assert_uint_eq(list.nr, found.nr);
}

TEST(age_is_told)
{
	found.peaks[2].found_at = 1700000000;
	store();
	load(PROFILE_STALE);
	ck_assert_has(state.message, "up to ");
	ck_assert_has(state.message, " days old; 'rot peaks'");
}

/* A file that was copied to the name of this machine's. */
TEST(profiles_of_other_machines_are_refused)
{
	char *bytes, *copied;

	store();
	load(PROFILE_FRESH);
	bytes = file_text(state.path);
	be_machine("intel-skylake-server");
	load(PROFILE_FOREIGN);
	ck_assert_has(state.message, "of other machines (AuthenticAMD-26-2-1-KVM) and are not used");
	copied = rot_strdup(state.path);
	file_fill(copied, bytes);
	load(PROFILE_FOREIGN);
	ck_assert_has(state.message, "is of another machine (AMD EPYC, family 26 model 2, KVM; this is "
				     "Intel(R) Xeon(R) Gold 6148 CPU, family 6 model 85)");
	store();
	load(PROFILE_FRESH);
	ck_assert_uint_eq(list.nr, found.nr);
	free(copied);
	copied = rot_format("%s.other", state.path);
	ck_assert_int_eq(access(copied, R_OK), 0);
	be_machine("zen5-turin-kvm");
	rot_string_set(&rot.machine->hypervisor, "Xen");
	load(PROFILE_FOREIGN);
	free(copied);
}

TEST(damaged_files_are_put_aside)
{
	static const char *const contents[] = {
		"",
		"{",
		"[]",
		"{\"schema\": \"rot.result/1\"}",
		"{\"schema\": \"rot.profile/1\"}",
		"{\"schema\": \"rot.profile/1\", \"peaks\": 3}",
	};
	autofree char *aside = NULL, *path = NULL;

	load(PROFILE_NONE);
	path = rot_strdup(state.path);
	aside = rot_format("%s.damaged", path);
	for (size_t i = 0; i < sizeof(contents) / sizeof(*contents); i++) {
		folder_write(paths.user, "profiles/AuthenticAMD-26-2-1-KVM.json", contents[i]);
		load(PROFILE_NONE);
		ck_assert_msg(strstr(state.message, "is damaged"), "%zu: %s", i, state.message);
		ck_assert_int_eq(access(path, F_OK), -1);
		ck_assert_int_eq(access(aside, F_OK), 0);
		unlink(aside);
		load(PROFILE_NONE);
		ck_assert_str_eq(state.message, "");
	}
}

TEST(profiles_of_later_versions_are_left_alone)
{
	folder_write(paths.user, "profiles/AuthenticAMD-26-2-1-KVM.json",
		     "{\"schema\": \"rot.profile/2\", \"roof\": 1}");
	load(PROFILE_NONE);
	ck_assert_has(state.message, "of a later rot ('rot.profile/2')");
	ck_assert_int_eq(access(state.path, F_OK), 0);
}

/* Nothing but the whole file is a profile; the last byte is white space. */
TEST(every_truncation_is_damaged)
{
	autofree char *bytes = NULL, *path = NULL;
	size_t nr = found.nr, nr_points = found.peaks[0].landscape.nr_points;

	found.nr = 1;
	found.peaks[0].landscape.nr_points = 3;
	store();
	found.nr = nr;
	found.peaks[0].landscape.nr_points = nr_points;
	load(PROFILE_FRESH);
	path = rot_strdup(state.path);
	bytes = file_text(path);
	for (size_t length = strlen(bytes) - 1; length > 0; length--) {
		bytes[length] = '\0';
		file_fill(path, bytes);
		load(PROFILE_NONE);
		ck_assert_msg(strstr(state.message, "is damaged"), "%zu: %s", length, state.message);
	}
}

/* One member at a time becomes something else: refused or read, never a crash. */
TEST_OF(members_of_other_types_are_survived, 13)
{
	static const struct {
		const char *text, *other;
		enum profile_match match;
	} changes[] = {
		{"\"kind\": \"performance\"", "\"kind\": \"beauty\"", PROFILE_NONE},
		{"\"name\": \"AVX-512 FMA+ADD\"", "\"name\": 3", PROFILE_NONE},
		{"\"threads\": 1", "\"threads\": 0", PROFILE_NONE},
		{"\"threads\": 1", "\"threads\": \"1\"", PROFILE_NONE},
		{"\"samples\": 20", "\"samples\": -1", PROFILE_NONE},
		{"\"dlp\": 12", "\"dlp\": []", PROFILE_NONE},
		{"\"perCycle\": {", "\"perDay\": {", PROFILE_NONE},
		{"\"axes\": [", "\"axis\": [", PROFILE_NONE},
		{"\"points\": [", "\"points\": [[1],", PROFILE_NONE},
		{"\"points\": [", "\"points\": [[1,2,3,4],", PROFILE_NONE},
		{"\"foundOn\": {", "\"lostOn\": {", PROFILE_STALE},
		{"\"foundAt\": ", "\"lostAt\": ", PROFILE_STALE},
		{"\"remark\": ", "\"remarks\": ", PROFILE_FRESH},
	};
	const char *text = changes[_i].text;
	char *bytes, *at, *changed;

	store();
	load(PROFILE_FRESH);
	bytes = file_text(state.path);
	at = strstr(bytes, text);
	ck_assert_msg(at != NULL, "%s", text);
	changed = rot_format("%.*s%s%s", (int)(at - bytes), bytes, changes[_i].other, at + strlen(text));
	file_fill(state.path, changed);
	load(changes[_i].match);
	free(changed);
}

TEST(a_folder_that_cannot_be_made_is_an_error)
{
	autofree char *below = rot_format("%s/data", folder_write(paths.user, "file", ""));

	paths.user = below;
	ck_assert_int_eq(profile_store(&rot, &found, &why), -1);
	ck_assert_has(why.text, "are not kept");
	ck_assert_has(why.hint, "-dataFolder=");
	load(PROFILE_NONE);
}

UNIT_TESTS(.set_up = set_up, .tear_down = tear_down);
