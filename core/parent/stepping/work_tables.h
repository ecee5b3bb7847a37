/* SPDX-License-Identifier: MIT */
/*
 * What is to be known of instructions by name, because Zydis does not tell it: operations, and accesses of a kind of
 * their own. By name and not by number, which not all versions have. Internal to work_decode.c.
 */
#ifndef CORE_PARENT_STEPPING_WORK_TABLES_H
#define CORE_PARENT_STEPPING_WORK_TABLES_H

#include <stdint.h>

#include "common/step_counts.h"

/* The operations that an instruction does in each lane; nr 0: a dot product, which depends on its immediate. */
struct work_operations {
	const char *name;
	enum step_count count;
	uint8_t lane_bytes; /* 0: there is but one lane */
	uint8_t nr;
};

enum work_kind {
	WORK_USUAL,
	WORK_NO_ACCESS, /* an operand in memory that is not accessed                     */
	WORK_UNKNOWN,
	WORK_WHOLE_LOAD, /* of what is loaded inactive lanes are part, which Zydis does not tell   */
	WORK_STREAMING,  /* what it stores is non-temporal                                */
	WORK_FRONT,      /* compress and expand: as many elements as there are lanes      */
	WORK_SIGN_MASK,  /* the second operand has a sign bit for each lane               */
	WORK_STREAMING_SIGN_MASK,
	WORK_GATHER_SCATTER,
	WORK_ENTER,
	WORK_XSAVE, /* components of the thread's state: xsave_area.h              */
	WORK_XSAVEC,
	WORK_XRSTOR,
	WORK_FLUSH_LINE, /* a line leaves the caches, without bytes                     */
	WORK_CLEAN_LINE, /* a line is written back                                      */
	WORK_ZERO_LINE,  /* the line that rax is in is stored, non-temporally: CLZERO   */
	WORK_TABLE,      /* al selects a byte behind rbx: XLAT                          */
	WORK_POP,        /* an address with rsp is computed when rsp has been incremented */
	WORK_BITS,       /* a register as the second operand selects a bit of all memory  */
};

/* name: * at its end stands for the rest of any name. lane_bytes: of an element in memory. */
struct work_special {
	const char *name;
	enum work_kind kind;
	uint8_t lane_bytes;
	uint8_t index_bytes; /* of WORK_GATHER_SCATTER */
};

/* Of an instruction with that name, in small letters. NULL: it does none. */
const struct work_operations *work_find_operations(const char *name);

/* Never NULL. */
const struct work_special *work_find_special(const char *name);

#endif
