/* SPDX-License-Identifier: MIT */
/* See tail.h. A ring: byte number n of the stream is at n modulo the size. */
#include "parent/tracer/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

#define READS_AT_ONCE 16

bool
tail_read(struct tail *tail, int fd)
{
	for (int i = 0; i < READS_AT_ONCE; i++) {
		size_t at = tail->seen % TAIL_BYTES;
		ssize_t bytes = read(fd, tail->bytes + at, TAIL_BYTES - at);

		if (bytes < 0)
			return errno == EAGAIN || errno == EINTR;
		if (bytes == 0)
			return false;
		tail->seen += (size_t)bytes;
	}
	return true;
}

char *
tail_text(const struct tail *tail)
{
	bool is_cut = tail->seen > TAIL_BYTES;
	size_t length = is_cut ? TAIL_BYTES : tail->seen, start = is_cut ? tail->seen % TAIL_BYTES : 0;
	char *kept = rot_calloc(length + 1, 1), *text, *line = kept;

	for (size_t i = 0; i < length; i++) {
		char byte = tail->bytes[(start + i) % TAIL_BYTES];

		kept[i] = byte ? byte : '?';
	}
	if (!is_cut)
		return kept;
	if (strchr(kept, '\n'))
		line = strchr(kept, '\n') + 1;
	text = rot_format("[the first %zu bytes are left out]\n%s", tail->seen - strlen(line), line);
	free(kept);
	return text;
}
