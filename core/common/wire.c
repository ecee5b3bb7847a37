/* SPDX-License-Identifier: MIT */
/* See wire.h. A SOCK_SEQPACKET pair keeps messages whole and tells when the other end is gone. */
#include "common/wire.h"

#include <errno.h>
#include <sys/socket.h>

int
wire_open(int ends[2], struct rot_error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return rot_error_set(err, errno, "cannot make the wire between the processes of the core");
	return 0;
}

int
wire_send(int fd, const struct wire_message *message, bool wait)
{
	ssize_t bytes;

	do
		bytes = send(fd, message, sizeof(*message), MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
	while (bytes < 0 && errno == EINTR);
	if (bytes < 0 && errno == ECONNRESET)
		errno = EPIPE;
	return bytes < 0 ? -1 : 0;
}

int
wire_receive(int fd, struct wire_message *message, bool wait)
{
	ssize_t bytes;

	do
		bytes = recv(fd, message, sizeof(*message), MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT));
	while (bytes < 0 && errno == EINTR);
	if (bytes == (ssize_t)sizeof(*message))
		return 0;
	if (bytes == 0 || (bytes < 0 && errno == ECONNRESET))
		errno = EPIPE;
	else if (bytes > 0)
		errno = EPROTO;
	return -1;
}
