/* SPDX-License-Identifier: MIT */
/* Memory of several nodes: made-up trees of the system, and times. */
#include <math.h>

#include "sheet/nodes.h"
#include "testing.h"

/* Node 1 has CPUs alone, node 2 memory alone, and node 4 is not for this process. */
static char *
made_up_root(void)
{
	char *root = temporary_folder_new();

	folder_write(root, "sys/devices/system/node/has_memory", "0,2-4\n");
	folder_write(root, "proc/self/status", "Name:\trot\nMems_allowed_list:\t0-3\n");
	folder_write(root, "sys/devices/system/node/node0/cpulist", "0-3\n");
	folder_write(root, "sys/devices/system/node/node1/cpulist", "4-7\n");
	folder_write(root, "sys/devices/system/node/node2/cpulist", "\n");
	folder_write(root, "sys/devices/system/node/node3/cpulist", "8-11\n");
	return root;
}

TEST(nodes_with_memory_are_read)
{
	static const int owns[][2] = {{2, 0}, {5, -1}, {11, 3}};
	autofree struct nodes *nodes = rot_calloc(1, sizeof(*nodes));
	const char *root = made_up_root();

	for (size_t i = 0; i < NR_ELEMENTS(owns); i++) {
		ck_assert_int_eq(nodes_read(nodes, owns[i][0], root), owns[i][1]);
		ck_assert_uint_eq(nodes->curves[0].nr, 3);
		ck_assert_double_eq(nodes->curves[1].at[1], 2);
	}
	ck_assert_int_eq(nodes_read(nodes, 0, temporary_folder_new()), -1);
	ck_assert_uint_eq(nodes->curves[0].nr, 0);
}

/* Two packages, and memory that hangs behind a link. */
static void
fill(struct nodes *nodes)
{
	static const double values[2][3] = {{90, 310, 140}, {20, 4, 11}};

	for (int kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < 3; i++) {
			nodes->curves[kind].cycles[0][i] = values[kind][i];
			nodes->curves[kind].cycles[1][i] = 1.01 * values[kind][i];
		}
}

TEST(the_own_node_and_the_farthest_are_told)
{
	static const double values[NODES_NR_ANSWERS] = {140, 310, 11, 4};
	autofree struct nodes *nodes = rot_calloc(1, sizeof(*nodes));
	const int own = nodes_read(nodes, 8, made_up_root());

	fill(nodes);
	nodes_conclude(nodes, own);
	for (int i = 0; i < NODES_NR_ANSWERS; i++) {
		ck_assert_double_eq(nodes->answers[i].number.value, values[i]);
		ck_assert_ptr_null(nodes->answers[i].remark);
	}
}

TEST(what_cannot_be_told_of_nodes_has_a_reason)
{
	autofree struct nodes *nodes = rot_calloc(1, sizeof(*nodes));

	nodes_conclude(nodes, 0);
	ck_assert_has(nodes->answers[NODES_FARTHEST_NS].remark, "one node");
	ck_assert_ptr_null(nodes->answers[NODES_FARTHEST_NS].curve);
	nodes_read(nodes, 5, made_up_root());
	fill(nodes);
	nodes_conclude(nodes, -1);
	ck_assert_has(nodes->answers[NODES_OWN_NS].remark, "no node");
	ck_assert_double_eq(nodes->answers[NODES_FARTHEST_NS].number.value, 310);
	nodes_read(nodes, 0, made_up_root());
	nodes->curves[0].cycles[0][1] = nodes->curves[0].cycles[1][1] = NAN;
	nodes_conclude(nodes, 0);
	ck_assert_ptr_null(nodes->answers[NODES_OWN_NS].remark);
	ck_assert_double_eq(nodes->answers[NODES_FARTHEST_NS].number.value, 140);
	ck_assert_has(nodes->answers[NODES_FARTHEST_NS].remark, "not sure: of another node");
	ck_assert_ptr_null(nodes->answers[NODES_FARTHEST_RATE].remark);
	nodes_read(nodes, 0, made_up_root());
	for (size_t i = 0; i < 3; i++)
		nodes->curves[0].cycles[0][i] = nodes->curves[0].cycles[1][i] = NAN;
	nodes_conclude(nodes, 0);
	ck_assert_has(nodes->answers[NODES_OWN_NS].remark, "others had");
	ck_assert_has(nodes->answers[NODES_FARTHEST_NS].remark, "others had");
}
