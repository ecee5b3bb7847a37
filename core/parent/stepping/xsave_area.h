/* SPDX-License-Identifier: MIT */
/* The parts of an area in memory that XSAVE and its like load and store. Source: Intel SDM 1, chapter 13. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XSAVE_NR_COMPONENTS 63

/* A component from the third on: where it begins in the standard format, and its size in both; bytes 0: none. */
struct xsave_component {
	uint32_t offset, bytes;
	bool is_aligned; /* to 64 bytes, in the compacted format */
};

/* A component of this processor. number: 2 to XSAVE_NR_COMPONENTS - 1. */
const struct xsave_component *xsave_component(unsigned number);

/* The header, behind the first two components, begins with the bits of those that the area holds. */
#define XSAVE_HEADER_AT 512
#define XSAVE_HEADER_BYTES 64

enum xsave_kind {
	XSAVE_ALL,     /* XSAVE: what is asked for                            */
	XSAVE_COMPACT, /* XSAVEC: what of it is in use, without room for rest */
	XSAVE_RESTORE, /* XRSTOR: what the area holds of what is asked for    */
};

/*
 * Bits of components. asked_for: edx and eax. enabled: by the system (XCR0). in_use: not in the state that they have at
 * the start, of XSAVE_COMPACT. held, format: of XSAVE_RESTORE, the first two words of the header.
 */
struct xsave_request {
	enum xsave_kind kind;
	uint64_t asked_for, enabled, in_use, held, format;
};

/* Part of the area. */
struct xsave_span {
	uint32_t offset, bytes;
	bool is_store;
};

/* All that is accessed; returns how many. Spare bytes within components that are written are no span of their own. */
#define XSAVE_MAX_SPANS (XSAVE_NR_COMPONENTS + 6)
size_t xsave_spans(const struct xsave_request *request, struct xsave_span spans[XSAVE_MAX_SPANS]);
