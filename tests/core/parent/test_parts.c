/* SPDX-License-Identifier: MIT */
/* The parts of rot-core that work without a child: wire, outbox, tail, table of threads; and one that gets none.
 */
#include <sys/resource.h>
#include <sys/socket.h>

#include "common/wire.h"
#include "parent/regions/empty_region.h"
#include "parent/supervisor/supervisor.h"
#include "parent/tracer/thread.h"
#include "testing.h"

/* ---- wire ---- */

static int ends[2];

static void
open_wire(void)
{
	ck_assert_int_eq(wire_open(ends, &why), 0);
}

TEST(wire_keeps_messages_whole)
{
	struct wire_message sent = {WIRE_RUN_FINISHED, -7, INT64_MIN}, got = {0};

	ck_assert_int_eq(wire_send(ends[0], &sent, true), 0);
	sent.tid = 8;
	ck_assert_int_eq(wire_send(ends[0], &sent, false), 0);
	ck_assert_int_eq(wire_receive(ends[1], &got, true), 0);
	ck_assert_int_eq(got.tid, -7);
	ck_assert_int_eq(got.argument, INT64_MIN);
	ck_assert_int_eq(wire_receive(ends[1], &got, false), 0);
	ck_assert_int_eq(got.tid, 8);
	ck_assert_int_lt(wire_receive(ends[1], &got, false), 0);
	ck_assert_int_eq(errno, EAGAIN);
}

TEST(wire_refuses_what_is_no_message)
{
	char bytes[sizeof(struct wire_message) + 1] = {0};
	struct wire_message got;

	ck_assert_int_eq(send(ends[0], bytes, sizeof(bytes), 0), sizeof(bytes));
	ck_assert_int_eq(send(ends[0], bytes, 3, 0), 3);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_lt(wire_receive(ends[1], &got, true), 0);
		ck_assert_int_eq(errno, EPROTO);
	}
}

/* A message that was sent before the end is still received. */
TEST(wire_tells_the_end)
{
	struct wire_message message = {.kind = WIRE_STARTUP};

	ck_assert_int_eq(wire_send(ends[0], &message, true), 0);
	close(ends[0]);
	ck_assert_int_eq(wire_receive(ends[1], &message, true), 0);
	ck_assert_int_lt(wire_receive(ends[1], &message, true), 0);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert_int_lt(wire_send(ends[1], &message, true), 0);
	ck_assert_int_eq(errno, EPIPE);
}

TEST(wire_says_when_it_is_full)
{
	struct wire_message message = {.kind = WIRE_STARTUP};

	while (wire_send(ends[0], &message, false) == 0)
		;
	ck_assert_int_eq(errno, EAGAIN);
}

/* ---- outbox ---- */

TEST(outbox_keeps_order_when_the_wire_is_full)
{
	enum { NR = 5000 };
	cleared_by(outbox_clear) struct outbox outbox = {0};
	struct wire_message message = {.kind = WIRE_THREAD_STARTED};
	int received = 0;

	for (int i = 0; i < NR; i++) {
		message.tid = i;
		outbox_add(&outbox, &message);
		outbox_flush(&outbox, ends[0]);
	}
	ck_assert(!outbox_is_empty(&outbox));
	while (received < NR) {
		while (wire_receive(ends[1], &message, false) == 0)
			ck_assert_int_eq(message.tid, received++);
		outbox_flush(&outbox, ends[0]);
	}
	ck_assert(outbox_is_empty(&outbox));
}

TEST(outbox_is_dropped_with_its_reader)
{
	cleared_by(outbox_clear) struct outbox outbox = {0};
	struct wire_message message = {.kind = WIRE_THREAD_STARTED};

	close(ends[1]);
	outbox_add(&outbox, &message);
	outbox_flush(&outbox, ends[0]);
	ck_assert(outbox_is_empty(&outbox));
}

/* ---- tail ---- */

static const struct {
	size_t lines, first_kept;
} streams[] = {{0, 0}, {1, 0}, {1638, 0}, {1639, 1}, {1640, 2}, {10000, 8362}};

/* Lines of ten bytes, written in pieces that do not fit the ring. */
TEST_OF(tail_keeps_whole_lines, NR_ELEMENTS(streams))
{
	autofree char *expected = rot_calloc(10 * 10000 + 64, 1), *all = rot_calloc(10 * 10000 + 1, 1), *text = NULL;
	autofree struct tail *tail = rot_calloc(1, sizeof(*tail));
	size_t bytes = 10 * streams[_i].lines;
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	for (size_t i = 0; i < streams[_i].lines; i++)
		sprintf(all + 10 * i, "%9zu\n", i);
	for (size_t done = 0, piece; done < bytes; done += piece) {
		piece = bytes - done < 7777 ? bytes - done : 7777;
		ck_assert_int_eq(write(fds[1], all + done, piece), piece);
		ck_assert(tail_read(tail, fds[0]));
	}
	ck_assert(tail_read(tail, fds[0]));
	close(fds[1]);
	ck_assert(!tail_read(tail, fds[0]));
	if (streams[_i].first_kept)
		sprintf(expected, "[the first %zu bytes are left out]\n", 10 * streams[_i].first_kept);
	strcat(expected, all + 10 * streams[_i].first_kept);
	text = tail_text(tail);
	ck_assert_str_eq(text, expected);
	close(fds[0]);
}

TEST_OF(tail_keeps_a_line_without_end, 2)
{
	char line[20001];
	const size_t length = _i == 0 ? TAIL_BYTES : sizeof(line); /* what just fits, and more */
	autofree struct tail *tail = rot_calloc(1, sizeof(*tail));
	autofree char *text = NULL;
	int fds[2];

	memset(line, 'x', sizeof(line));
	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	ck_assert_int_eq(write(fds[1], line, length), (ssize_t)length);
	ck_assert(tail_read(tail, fds[0]));
	text = tail_text(tail);
	if (_i > 0)
		ck_assert_ptr_eq(strstr(text, "[the first 3617 bytes are left out]\nxxx"), text);
	ck_assert_uint_eq(strlen(_i == 0 ? text : strchr(text, '\n') + 1), TAIL_BYTES);
	close(fds[0]);
	close(fds[1]);
}

/* ---- threads ---- */

TEST(threads_are_found)
{
	autofree struct threads *threads = rot_calloc(1, sizeof(*threads));

	for (pid_t tid = 1; tid < 5000; tid++)
		ck_assert_int_eq(threads_add(threads, 1, tid)->state, THREAD_NEW);
	for (pid_t tid = 1; tid < 5000; tid += 2)
		threads_remove(threads, tid);
	threads_remove(threads, 1);
	threads_remove(threads, 4194304);
	for (pid_t tid = 1; tid < 5000; tid++) {
		struct thread *thread = threads_find(threads, tid);

		ck_assert(tid % 2 ? thread == NULL : thread->tid == tid);
	}
	ck_assert_uint_eq(threads->nr, 2499);
	threads_clear(threads);
	ck_assert_uint_eq(threads->nr, 0);
	ck_assert_ptr_null(threads_find(threads, 2));
}

/* ---- empty regions ---- */

/* In a process group of its own, which is all that it may end. */
static int
measure_without_descriptors(void)
{
	const struct rlimit none = {0, 0};
	const struct counting nothing = {0};

	if (setpgid(0, 0) < 0 || setrlimit(RLIMIT_NOFILE, &none) < 0)
		return 2;
	return empty_region_measure(&nothing, "int3", &why) || !strstr(why.text, "cannot make a pipe");
}

TEST(empty_regions_without_a_process_end_nobody)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(measure_without_descriptors());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

UNIT_TESTS(.set_up = open_wire);
