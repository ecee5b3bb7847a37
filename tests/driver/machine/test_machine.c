/* SPDX-License-Identifier: MIT */
/* Facts of recorded machines, and what is said where events cannot be counted. */
#include "machine/machine.h"
#include "testing.h"

static struct machine *
read_recorded(const char *name, struct rot_error *err)
{
	return machine_read(source_path("tests/machines/%s", name), err);
}

/* The facts that must be read, field by field; "" and 0 are unknown. */
/* clang-format off */
static const struct {
	const char *folder;
	const char *vendor, *name, *microcode, *release, *hypervisor, *governor;
	int family, model, stepping, line_bytes, nr_cpus, last_cpu;
	int64_t l1, l2, llc, memory;
	const char *flag, *no_flag, *caption;
} machines[] = {
	{"zen5-turin-kvm", "AuthenticAMD", "AMD EPYC", "0x1000065", "6.18.44", "KVM", "", 26, 2, 1, 64, 2, 1, 48 << 10,
	 1 << 20, 32 << 20, INT64_C(24684096) * 1024, "avx512f", "amx_tile", "AMD EPYC, family 26 model 2, KVM"},
	{"intel-skylake-server", "GenuineIntel", "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", "0x2006e05",
	 "5.14.0-362.el9.x86_64", "", "performance", 6, 85, 4, 64, 6, 39, 32 << 10, 1 << 20, 28160 << 10,
	 INT64_C(196608000) * 1024, "avx512vl", "sse4a", "Intel(R) Xeon(R) Gold 6148 CPU, family 6 model 85"},
	{"zen5-turin-no-caches", "AuthenticAMD", "AMD EPYC", "", "6.18.44-fc-v769", "bhyve", "", 26, 2, 1, 64, 2, 1,
	 48 << 10, 1 << 20, 0, INT64_C(24683620) * 1024, "avx512f", "amx_tile", "AMD EPYC, family 26 model 2, bhyve"},
	{"minimal", "AuthenticAMD", "", "", "", "", "", 0, 0, 0, 64, 1, 0, 0, 0, 0, 0, NULL, "fpu",
	 "unknown processor, family 0 model 0"},
};
/* clang-format on */

TEST_OF(recorded_machine_is_read, NR_ELEMENTS(machines))
{
	struct machine *machine = at_end(machine_delete, read_recorded(machines[_i].folder, &why));
	char *caption;

	ck_assert_msg(machine != NULL, "%s", why.text);
	ck_assert_str_eq(machine->cpu_vendor, machines[_i].vendor);
	ck_assert_str_eq(machine->cpu_name, machines[_i].name);
	ck_assert_str_eq(machine->microcode, machines[_i].microcode);
	ck_assert_str_eq(machine->kernel_release, machines[_i].release);
	ck_assert_str_eq(machine->hypervisor, machines[_i].hypervisor);
	ck_assert_str_eq(machine->governor, machines[_i].governor);
	ck_assert_int_eq(machine->cpu_family, machines[_i].family);
	ck_assert_int_eq(machine->cpu_model, machines[_i].model);
	ck_assert_int_eq(machine->cpu_stepping, machines[_i].stepping);
	ck_assert_int_eq(machine->line_bytes, machines[_i].line_bytes);
	ck_assert_int_eq((int)machine_nr_online_cpus(machine), machines[_i].nr_cpus);
	ck_assert_int_eq(machine_online_cpus_at(machine, machine_nr_online_cpus(machine) - 1), machines[_i].last_cpu);
	ck_assert_int_eq(machine->l1_data_bytes, machines[_i].l1);
	ck_assert_int_eq(machine->l2_bytes, machines[_i].l2);
	ck_assert_int_eq(machine->llc_bytes, machines[_i].llc);
	ck_assert_int_eq(machine->memory_bytes, machines[_i].memory);
	ck_assert(!machines[_i].flag || machine_has_flag(machine, machines[_i].flag));
	ck_assert(!machine_has_flag(machine, machines[_i].no_flag));
	caption = machine_caption(machine);
	ck_assert_str_eq(caption, machines[_i].caption);
	free(caption);
	for (size_t i = 1; i < machine_nr_cpu_flags(machine); i++)
		ck_assert_str_lt(machine_cpu_flags_at(machine, i - 1), machine_cpu_flags_at(machine, i));
}

TEST(no_machine_is_an_error)
{
	ck_assert_ptr_null(read_recorded("none", &why));
	ck_assert_msg(strstr(why.text, "none/proc/cpuinfo"), "%s", why.text);
}

TEST(own_machine_is_read_the_same_twice)
{
	struct machine *a = machine_read("/", &why), *b = machine_read("/", &why);

	ck_assert_msg(a && b, "%s", why.text);
	ck_assert(rot_graph_equal(a, b));
	ck_assert_int_gt(a->memory_bytes, 0);
	ck_assert_str_ne(a->kernel_release, "");
	ck_assert(machine_has_flag(a, "sse2"));
	/* The flag is the processor's own word for being a guest. */
	ck_assert(machine_has_flag(a, "hypervisor") == (a->hypervisor[0] != '\0'));
	machine_delete(a);
	machine_delete(b);
}

/* A machine with 16 GiB, the group of rot, and limits of it and of others: pairs of file and text. */
static const struct {
	const char *group;
	const char *files[8];
	int64_t limit;
} groups[] = {
	{"0::/user/rot\n", {"sys/fs/cgroup/user/rot/memory.max", "4294967296\n"}, 4294967296},
	{"0::/user/rot\n",
	 {"sys/fs/cgroup/user/memory.max", "1073741824\n", "sys/fs/cgroup/user/rot/memory.max", "max\n"},
	 1 << 30},
	{"0::/user/rot\n",
	 {"sys/fs/cgroup/user/memory.max", "1073741824\n", "sys/fs/cgroup/user/rot/memory.max", "4294967296\n"},
	 1 << 30},
	{"0::/\n", {"sys/fs/cgroup/memory.max", "536870912\n"}, 1 << 29},
	{"0::/user/rot\n",
	 {"sys/fs/cgroup/user/other/memory.max", "4096\n", "sys/fs/cgroup/memory/user/rot/memory.limit_in_bytes",
	  "4096\n"},
	 0},
	{"5:cpu:/a\n4:memory:/docker/123\n0::/\n",
	 {"sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"},
	 1 << 28},
	{"4:memory:/a/b\n",
	 {"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "268435456\n",
	  "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n"},
	 1 << 28},
	{"4:memory:/a\n", {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"}, 0},
	{"4:memory:/a\n0::/b\n", {"sys/fs/cgroup/unified/b/memory.max", "1048576\n"}, 1 << 20},
	{"0::/a\n", {"sys/fs/cgroup/a/memory.max", "17179869184\n"}, 0},
	{"nonsense\n\n:\n::\n", {NULL}, 0},
	{"", {NULL}, 0},
};

TEST_OF(memory_is_limited_by_control_groups, NR_ELEMENTS(groups))
{
	char *root = temporary_folder_new();
	struct machine *machine;

	folder_write(root, "proc/cpuinfo", "processor\t: 0\n");
	folder_write(root, "proc/meminfo", "MemTotal:       16777216 kB\n");
	folder_write(root, "proc/self/cgroup", groups[_i].group);
	for (int i = 0; groups[_i].files[i]; i += 2)
		folder_write(root, groups[_i].files[i], groups[_i].files[i + 1]);
	machine = machine_read(root, &why);
	ck_assert_msg(machine != NULL, "%s", why.text);
	ck_assert_int_eq(machine->memory_bytes, (int64_t)16 << 30);
	ck_assert_int_eq(machine->memory_limit_bytes, groups[_i].limit);
	ck_assert_int_eq(machine_usable_bytes(machine), groups[_i].limit ? groups[_i].limit : (int64_t)16 << 30);
	machine_delete(machine);
}

TEST(counting_works_or_says_what_to_do)
{
	if (machine_can_count(&why)) {
		ck_assert_str_eq(why.text, "");
	} else {
		ck_assert_str_ne(why.text, "");
		ck_assert_str_ne(why.hint, "");
	}
}
