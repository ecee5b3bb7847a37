/* SPDX-License-Identifier: MIT */
#include "common/perf_ring.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_MAX_BYTES ((size_t)1 << 16)

static size_t
page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int
perf_ring_map(struct perf_ring *ring, int fd, size_t bytes)
{
	void *page = mmap(NULL, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*ring = (struct perf_ring){page == MAP_FAILED ? NULL : page, bytes};
	return ring->page ? 0 : -1;
}

void
perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, page_bytes() + ring->bytes);
	ring->page = NULL;
}

/* Records may begin at the end of the ring and go on at its start. */
void
perf_ring_read(struct perf_ring *ring, void (*handle)(void *context, const struct perf_event_header *record),
	       void *context)
{
	const uint8_t *data = (const uint8_t *)ring->page + page_bytes();
	uint64_t head, tail;
	_Alignas(uint64_t) uint8_t copy[RECORD_MAX_BYTES];

	if (!ring->page)
		return;
	tail = ring->page->data_tail;
	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		size_t offset = tail & (ring->bytes - 1), room = ring->bytes - offset;
		const uint8_t *record = data + offset;
		struct perf_event_header header;

		memcpy(&header, record, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (header.size > room) {
			memcpy(copy, record, room);
			memcpy(copy + room, data, header.size - room);
			record = copy;
		}
		handle(context, (const struct perf_event_header *)record);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}
