/* SPDX-License-Identifier: MIT */
/* See inject_waits.h. */
#include "inject_waits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Long enough that only a fault could let it pass. */
static const struct timespec very_long = {1000, 0};
static const struct timespec moment = {0, 200000};
#define MOMENT_NS 200000

static int64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- futex ---- */

static atomic_int word;

static long
futex(int operation, int value, const struct timespec *timeout)
{
	return syscall(SYS_futex, &word, operation, value, timeout, NULL, 0);
}

static bool
wait_futex_for(const struct timespec *timeout)
{
	int value = word;

	while (word == value) {
		if (futex(FUTEX_WAIT, value, timeout) != 0 && errno != EAGAIN)
			return false;
	}
	return true;
}

static bool
wait_futex(void)
{
	return wait_futex_for(NULL);
}

static bool
wait_futex_timed(void)
{
	return wait_futex_for(&very_long);
}

static void
wake_futex(pid_t tid)
{
	(void)tid;
	word++;
	futex(FUTEX_WAKE, INT32_MAX, NULL);
}

static atomic_int never;

static bool
wait_futex_timeout(void)
{
	int64_t start = now_ns();

	return syscall(SYS_futex, &never, FUTEX_WAIT, 0, &moment, NULL, 0) < 0 && errno == ETIMEDOUT &&
	       now_ns() - start >= MOMENT_NS;
}

/* ---- time ---- */

static bool
wait_nanosleep(void)
{
	int64_t start = now_ns();

	return nanosleep(&moment, NULL) == 0 && now_ns() - start >= MOMENT_NS;
}

static bool
wait_clock_nanosleep(void)
{
	int64_t until_ns = now_ns() + MOMENT_NS;
	struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0 && now_ns() >= until_ns;
}

static bool
wait_poll_timeout(void)
{
	int64_t start = now_ns();

	return poll(NULL, 0, 1) == 0 && now_ns() - start >= 1000000;
}

static bool
wait_timerfd(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t nr = 0;
	bool is_right;

	timerfd_settime(fd, 0, &(struct itimerspec){{0}, moment}, NULL);
	is_right = read(fd, &nr, sizeof(nr)) == sizeof(nr) && nr == 1;
	close(fd);
	return is_right;
}

/* ---- descriptors: each way of waiting has an event of its own ---- */

enum {
	BY_READ,
	BY_POLL,
	BY_PPOLL,
	BY_SELECT,
	BY_EPOLL_WAIT,
	BY_EPOLL_PWAIT,
	NR_WAYS,
};

static int events[NR_WAYS], epolls[NR_WAYS];

/* The event must be there, and be one. */
static bool
take(int way, bool is_ready)
{
	uint64_t nr = 0;
	int error = errno;
	bool is_right = is_ready && read(events[way], &nr, sizeof(nr)) == sizeof(nr) && nr > 0;

	errno = error;
	return is_right;
}

static bool
wait_eventfd(void)
{
	return take(BY_READ, true);
}

static bool
wait_poll(void)
{
	return take(BY_POLL, poll(&(struct pollfd){events[BY_POLL], POLLIN, 0}, 1, 1000000) == 1);
}

static bool
wait_ppoll(void)
{
	sigset_t none;

	sigemptyset(&none);
	return take(BY_PPOLL, ppoll(&(struct pollfd){events[BY_PPOLL], POLLIN, 0}, 1, &very_long, &none) == 1);
}

static bool
wait_select(void)
{
	struct timeval timeout = {1000, 0};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(events[BY_SELECT], &set);
	return take(BY_SELECT, select(events[BY_SELECT] + 1, &set, NULL, NULL, &timeout) == 1);
}

static bool
wait_epoll_wait(void)
{
	struct epoll_event event;

	return take(BY_EPOLL_WAIT, epoll_wait(epolls[BY_EPOLL_WAIT], &event, 1, -1) == 1);
}

static bool
wait_epoll_pwait(void)
{
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	return take(BY_EPOLL_PWAIT, epoll_pwait(epolls[BY_EPOLL_PWAIT], &event, 1, 1000000, &none) == 1);
}

static void
notify(int way)
{
	const uint64_t one = 1;

	if (write(events[way], &one, sizeof(one)) < 0)
		abort();
}

#define WAKE(name, way)                                                                                                \
	static void wake_##name(pid_t tid)                                                                             \
	{                                                                                                              \
		(void)tid;                                                                                             \
		notify(way);                                                                                           \
	}

WAKE(eventfd, BY_READ)
WAKE(poll, BY_POLL)
WAKE(ppoll, BY_PPOLL)
WAKE(select, BY_SELECT)
WAKE(epoll_wait, BY_EPOLL_WAIT)
WAKE(epoll_pwait, BY_EPOLL_PWAIT)

/* ---- pipes ---- */

static int to_read[2], to_write[2];

static bool
wait_pipe_read(void)
{
	char byte = 0;

	return read(to_read[0], &byte, 1) == 1 && byte == 'x';
}

/* Enough for a while, not so many that they fill the pipe. */
static void
wake_pipe_read(pid_t tid)
{
	(void)tid;
	if (write(to_read[1], "x", 1) < 0 && errno != EAGAIN)
		abort();
}

/* More than the pipe holds. */
#define WRITE_BYTES (256 * 1024)
static char bytes[WRITE_BYTES];

static bool
wait_pipe_write(void)
{
	return write(to_write[1], bytes, WRITE_BYTES) == WRITE_BYTES;
}

static void
wake_pipe_write(pid_t tid)
{
	static char some[65536];

	(void)tid;
	if (read(to_write[0], some, sizeof(some)) < 0 && errno != EAGAIN)
		abort();
}

/* ---- sockets with a time limit ---- */

static int receiving[2], listening = -1;
static struct sockaddr_un listening_address;
static socklen_t listening_bytes = sizeof(listening_address);

static bool
wait_recv(void)
{
	char byte = 0;

	return recv(receiving[0], &byte, 1, 0) == 1 && byte == 'y';
}

static void
wake_recv(pid_t tid)
{
	(void)tid;
	if (send(receiving[1], "y", 1, MSG_DONTWAIT) < 0 && errno != EAGAIN)
		abort();
}

static bool
wait_accept(void)
{
	int fd = accept(listening, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
wake_accept(pid_t tid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	(void)tid;
	connect(fd, (struct sockaddr *)&listening_address, listening_bytes);
	close(fd);
}

static int
open_sockets(void)
{
	const struct timeval limit = {1000, 0};

	listening_address.sun_family = AF_UNIX;
	listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&listening_address, sizeof(sa_family_t)) < 0 ||
	    getsockname(listening, (struct sockaddr *)&listening_address, &listening_bytes) < 0 ||
	    listen(listening, 64) < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, receiving) < 0)
		return -1;
	setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return setsockopt(receiving[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

/* ---- System V ---- */

static int semaphores = -1;

static bool
wait_semop(void)
{
	return semop(semaphores, &(struct sembuf){0, -1, 0}, 1) == 0;
}

static void
wake_semop(pid_t tid)
{
	(void)tid;
	if (semctl(semaphores, 0, GETVAL) < 100)
		semop(semaphores, &(struct sembuf){0, 1, 0}, 1);
}

static bool
wait_semtimedop(void)
{
	return semtimedop(semaphores, &(struct sembuf){1, -1, 0}, 1, &very_long) == 0;
}

static void
wake_semtimedop(pid_t tid)
{
	(void)tid;
	if (semctl(semaphores, 1, GETVAL) < 100)
		semop(semaphores, &(struct sembuf){1, 1, 0}, 1);
}

/* ---- signals ---- */

static bool
wait_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &very_long) == SIGUSR2;
}

static void
wake_sigtimedwait(pid_t tid)
{
	syscall(SYS_tgkill, getpid(), tid, SIGUSR2);
}

/* All that can be blocked: nothing but an interruption reaches such a thread. */
static bool
wait_masked(void)
{
	static _Thread_local bool is_masked;
	volatile int turns = 0;
	sigset_t all;

	sigfillset(&all);
	if (!is_masked && pthread_sigmask(SIG_SETMASK, &all, NULL) != 0)
		return false;
	is_masked = true;
	while (turns < 100000)
		turns++;
	return true;
}

/* ---- all of them ---- */

static const struct wait waits[] = {
	{"futex", wait_futex, wake_futex},
	{"futex_timed", wait_futex_timed, wake_futex},
	{"futex_timeout", wait_futex_timeout, NULL},
	{"nanosleep", wait_nanosleep, NULL},
	{"clock_nanosleep", wait_clock_nanosleep, NULL},
	{"poll_timeout", wait_poll_timeout, NULL},
	{"timerfd", wait_timerfd, NULL},
	{"eventfd", wait_eventfd, wake_eventfd},
	{"poll", wait_poll, wake_poll},
	{"ppoll", wait_ppoll, wake_ppoll},
	{"select", wait_select, wake_select},
	{"epoll_wait", wait_epoll_wait, wake_epoll_wait},
	{"epoll_pwait", wait_epoll_pwait, wake_epoll_pwait},
	{"pipe_read", wait_pipe_read, wake_pipe_read},
	{"pipe_write", wait_pipe_write, wake_pipe_write},
	{"recv", wait_recv, wake_recv},
	{"accept", wait_accept, wake_accept},
	{"semop", wait_semop, wake_semop},
	{"semtimedop", wait_semtimedop, wake_semtimedop},
	{"sigtimedwait", wait_sigtimedwait, wake_sigtimedwait},
	{"masked", wait_masked, NULL},
};

int
waits_open(int *semaphores_to_remove)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	semaphores = *semaphores_to_remove = semget(IPC_PRIVATE, 2, 0600);
	if (pipe(to_read) < 0 || pipe(to_write) < 0 || open_sockets() < 0)
		return -1;
	fcntl(to_read[1], F_SETFL, O_NONBLOCK);
	fcntl(to_write[0], F_SETFL, O_NONBLOCK);
	for (int i = 0; i < NR_WAYS; i++) {
		events[i] = eventfd(0, EFD_CLOEXEC);
		epolls[i] = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(epolls[i], EPOLL_CTL_ADD, events[i], &(struct epoll_event){.events = EPOLLIN});
	}
	return 0;
}

const struct wait *
waits_find(const char *name)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (strcmp(waits[i].name, name) == 0)
			return &waits[i];
	}
	return NULL;
}
