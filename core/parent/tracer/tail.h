/* SPDX-License-Identifier: MIT */
/* The last bytes of a stream that may be of any length. */
#ifndef CORE_PARENT_TRACER_TAIL_H
#define CORE_PARENT_TRACER_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#define TAIL_BYTES 16384

/* Zeroed: nothing was seen. */
struct tail {
	size_t seen; /* bytes; the last TAIL_BYTES of them are kept */
	char bytes[TAIL_BYTES];
};

/*
 * Takes all that can be read from fd, which must not block, up to a limit that leaves time for other things. Returns
 * false when fd has ended.
 */
bool tail_read(struct tail *tail, int fd);

/* What was kept, as text in fresh memory: NUL bytes become '?'; where the beginning is missing, a first line says so.
 */
char *tail_text(const struct tail *tail);

#endif
