/* SPDX-License-Identifier: MIT */
/*
 * PMUs of the whole machine in small trees of sysfs, with what Linux' drivers show: arch/x86/events/intel/uncore_snb.c
 * (client, free running), uncore_snbep.c (server), arch/x86/events/amd/uncore.c. Types and CPUs are invented.
 */
#include "machine/uncore.h"

#include "testing.h"

static const struct {
	const char *tree, *definition, *units;
	double scale;
} events[] = {
	{"intel-server", "uncore_imc/cas_count_read/",
	 "uncore_imc_0/cas_count_read/ 14 304 0; uncore_imc_0/cas_count_read/ 14 304 18; "
	 "uncore_imc_1/cas_count_read/ 15 304 0; uncore_imc_1/cas_count_read/ 15 304 18; ",
	 64},
	{"intel-server", "uncore_imc_1/cas_count_write/",
	 "uncore_imc_1/cas_count_write/ 15 c04 0; uncore_imc_1/cas_count_write/ 15 c04 18; ", 64},
	{"intel-server", "uncore_imc/clockticks/",
	 "uncore_imc_0/clockticks/ 14 0 0; uncore_imc_0/clockticks/ 14 0 18; "
	 "uncore_imc_1/clockticks/ 15 0 0; uncore_imc_1/clockticks/ 15 0 18; ",
	 1},
	{"intel-client", "uncore_imc/cas_count_read/ uncore_imc/data_reads/", "uncore_imc/data_reads/ 13 1 0; ", 64},
	{"intel-free-running", "uncore_imc/cas_count_write/ uncore_imc_free_running/data_write/",
	 "uncore_imc_free_running_0/data_write/ 23 30ff 0; uncore_imc_free_running_1/data_write/ 24 30ff 0; ", 64},
	{"amd-umc", "amd_umc/event=0x0a,rdwrmask=0x2/",
	 "amd_umc_0/event=0x0a,rdwrmask=0x2/ 15 20a 0; amd_umc_1/event=0x0a,rdwrmask=0x2/ 16 20a 0; "
	 "amd_umc_2/event=0x0a,rdwrmask=0x2/ 17 20a 0; ",
	 1},
	/* bits of the event in three places */
	{"amd-df", "amd_df/event=0x1c7,umask=0x38/",
	 "amd_df/event=0x1c7,umask=0x38/ 11 1000038c7 0; amd_df/event=0x1c7,umask=0x38/ 11 1000038c7 32; ", 1},
	{"amd-df", "amd_df/event=0x3000,umask/",
	 "amd_df/event=0x3000,umask/ 11 1800000000000100 0; amd_df/event=0x3000,umask/ 11 1800000000000100 32; ", 1},
	{"amd-df", "uncore_imc/data_reads/", "", 1},
	{"amd-df", "amd_df/rdwrmask=1/", "", 1},
	{"amd-df", "amd/event=1/", "", 1},
	{"intel-free-running", "uncore_imc/cas_count_read/", "", 1},
	{"no-such-tree", "amd_df/event=1/", "", 1},
};

TEST_OF(test_events_are_found, sizeof(events) / sizeof(*events))
{
	cleared_by(pool_clear) struct pool pool = {0};
	autofree char *text = rot_strdup("");
	struct uncore_event event;
	bool is_found = uncore_event_find(&event, &pool, source_path("tests/machines/uncore/%s", events[_i].tree),
					  events[_i].definition);

	for (size_t i = 0; i < event.nr_units; i++)
		rot_append(&text, "%s %llu %llx %d; ", event.units[i].name, (unsigned long long)event.units[i].type,
			   (unsigned long long)event.units[i].config, event.units[i].cpu);
	ck_assert_str_eq(text, events[_i].units);
	ck_assert_double_eq(event.scale, events[_i].scale);
	ck_assert(is_found == (*events[_i].units != '\0'));
}
