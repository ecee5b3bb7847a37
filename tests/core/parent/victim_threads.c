/* SPDX-License-Identifier: MIT */
/* Acts of the victim with threads: short ones, held ones, storms of them, and exec among them. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

static atomic_int nr_alive, nr_done;

static void *
short_thread(void *unused)
{
	(void)unused;
	nr_done++;
	return NULL;
}

static void
start_and_join(int nr)
{
	pthread_t threads[50];

	for (int done = 0; done < nr; done += 50) {
		for (int i = 0; i < 50; i++)
			CHECK(pthread_create(&threads[i], NULL, short_thread, NULL) == 0);
		for (int i = 0; i < 50; i++)
			pthread_join(threads[i], NULL);
	}
	CHECK(nr_done == nr);
}

/* Every thread was announced, with its id, and after that its end. Ids may be used again. */
static void
expect_notifications(int nr)
{
	static bool is_alive[1 << 22];
	struct wire_message message;
	int started = 0, exited = 0;

	while (exited < nr) {
		CHECK(recv(victim_wire, &message, sizeof(message), 0) == (ssize_t)sizeof(message));
		CHECK(message.tid > 0 && message.tid < 1 << 22 && message.tid != getpid());
		if (message.kind == WIRE_THREAD_STARTED) {
			CHECK(!is_alive[message.tid]);
			is_alive[message.tid] = true;
			started++;
		} else {
			CHECK(message.kind == WIRE_THREAD_EXITED && is_alive[message.tid]);
			is_alive[message.tid] = false;
			exited++;
		}
	}
	CHECK(started == nr);
	CHECK(recv(victim_wire, &message, sizeof(message), MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void
threads(void)
{
	start_and_join(200);
	expect_notifications(200);
	write_output("result\n");
}

/* More notifications than the wire holds. */
static void
many_threads(void)
{
	start_and_join(2000);
	expect_notifications(2000);
	write_output("result\n");
}

static void *
announced_thread(void *unused)
{
	struct wire_message message;

	(void)unused;
	CHECK(recv(victim_wire, &message, sizeof(message), MSG_DONTWAIT) == (ssize_t)sizeof(message));
	CHECK(message.kind == WIRE_THREAD_STARTED && message.tid == (int)syscall(SYS_gettid));
	return NULL;
}

/* The notification is there before the thread can do anything. */
static void
announced(void)
{
	struct wire_message message;
	pthread_t thread;

	for (int i = 0; i < 100; i++) {
		CHECK(pthread_create(&thread, NULL, announced_thread, NULL) == 0);
		pthread_join(thread, NULL);
		CHECK(recv(victim_wire, &message, sizeof(message), 0) == (ssize_t)sizeof(message));
		CHECK(message.kind == WIRE_THREAD_EXITED);
	}
	write_output("result\n");
}

/* ---- threads that are held ---- */

static pthread_t
start_held(void)
{
	pthread_t thread;

	say(WIRE_HOLD_THREADS, 1);
	CHECK(hear(WIRE_HOLDING).argument == 1);
	CHECK(pthread_create(&thread, NULL, short_thread, NULL) == 0);
	return thread;
}

/* Each waits until it is let go, however long; one that does not wait may be let go as well. */
static void
held(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t thread = start_held();
		int tid = hear(WIRE_THREAD_STARTED).tid;

		usleep(i == 0 ? 100000 : 0);
		CHECK(nr_done == i);
		say(WIRE_THREAD_READY, tid);
		say(WIRE_THREAD_READY, tid);
		pthread_join(thread, NULL);
		CHECK(nr_done == i + 1 && hear(WIRE_THREAD_EXITED).tid == tid);
	}
	say(WIRE_HOLD_THREADS, 0);
	CHECK(hear(WIRE_HOLDING).argument == 0);
	nr_done = 0;
	start_and_join(50);
	write_output("result\n");
}

static void
held_without_wire(void)
{
	pthread_t thread = start_held();

	close(victim_wire);
	pthread_join(thread, NULL);
	write_output("result\n");
}

static void
held_over_exit(void)
{
	start_held();
	write_output("result\n");
}

static void
held_over_exec(void)
{
	start_held();
	execl("/proc/self/exe", "victim", "after exec", victim_output, NULL);
	CHECK(false);
}

static void
held_for_ever(void)
{
	pthread_join(start_held(), NULL);
}

static void *
breeding_thread(void *unused)
{
	pthread_t thread;

	(void)unused;
	while (true) {
		if (nr_alive < 64) {
			nr_alive++;
			if (pthread_create(&thread, NULL, breeding_thread, NULL) == 0)
				pthread_detach(thread);
		} else {
			nr_alive--;
			return NULL;
		}
	}
}

void
breed(void)
{
	pthread_t thread;

	nr_alive = 1;
	CHECK(pthread_create(&thread, NULL, breeding_thread, NULL) == 0);
}

static void
wait_a_little(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	usleep((useconds_t)(now.tv_nsec / 1000 % 5000));
}

static void
storm(void)
{
	breed();
	wait_a_little();
	write_output("result\n");
	_exit(0);
}

static void
suicide(void)
{
	breed();
	wait_a_little();
	kill(getpid(), SIGKILL);
	pause();
}

static void
linger(void)
{
	breed();
	write_output("it lingers\n");
	hang();
}

static void *
end_of_process(void *unused)
{
	(void)unused;
	usleep(2000);
	result();
	exit(0);
}

static void
main_thread_ends_first(void)
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, end_of_process, NULL) == 0);
	pthread_exit(NULL);
}

/* ---- exec ---- */

static void *
exec_thread(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "victim", "after exec", victim_output, NULL);
	CHECK(!"exec");
	return NULL;
}

static void
exec_main(void)
{
	breed();
	exec_thread(NULL);
}

static void
exec_other(void)
{
	pthread_t thread;

	breed();
	CHECK(pthread_create(&thread, NULL, exec_thread, NULL) == 0);
	while (true)
		pause();
}

const struct act thread_acts[] = {
	{"announced", announced},
	{"exec_main", exec_main},
	{"exec_other", exec_other},
	{"held", held},
	{"held_for_ever", held_for_ever},
	{"held_over_exec", held_over_exec},
	{"held_over_exit", held_over_exit},
	{"held_without_wire", held_without_wire},
	{"linger", linger},
	{"main_thread_ends_first", main_thread_ends_first},
	{"many_threads", many_threads},
	{"storm", storm},
	{"suicide", suicide},
	{"threads", threads},
	{NULL, NULL},
};
