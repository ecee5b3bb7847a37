/* SPDX-License-Identifier: MIT */
/*
 * The work of an instruction that a thread executes: operations on floating-point numbers, and accesses to memory.
 *
 * Operations are those of step_counts.h: additions, subtractions, multiplications, divisions and square roots of single
 * and double precision; each element of a result is one, of ADDSUB and of horizontal additions too, and 2 of a fused
 * multiply-add. A dot product (DPPS, DPPD) is n multiplications and n - 1 additions in each 128 bits, n being the
 * products that its immediate selects. Integer operations are additions, subtractions, multiplications and divisions,
 * as the table in work_decode.c has them; comparisons, logic, shifts, averages and LEA are none. x87: FADD, FSUB, FMUL,
 * FDIV and FSQRT with their variants are 1; remainders and transcendental functions are none. Arithmetic with FP16 and
 * BF16 is of neither precision, so none either.
 *
 * Accesses are those that the instruction asks for. One that stores where it loaded has two; a compare-and-exchange
 * stores in any case, as the processor does. Prefetches and LEA have none; flushes of a cache line move no bytes
 * (flush). XSAVE, XSAVEC and XRSTOR access the components that registers, the system and the area in memory say
 * (xsave_area.h), FXSAVE and FXRSTOR all of their 512 bytes. The descriptor tables, the page tables, the shadow stack
 * and what the kernel does in a system call are not seen.
 *
 * Unknown (is_unknown) is what would take a guess: XSAVEOPT (which may leave out what did not change), tiles (AMX),
 * MASKMOVQ, ENTER of 16 bits, far jumps, traps, I/O, what is privileged, 3DNow!, 4FMAPS and what only Knights Corner
 * had.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "common/step_counts.h"
#include "parent/symbols/zydis_decode.h"

/* One for each element of a gather or scatter, one for each run of active lanes of what is masked. */
#define WORK_MAX_ACCESSES 64

/* The effect of an access without bytes on the line in the caches. */
enum work_flush {
	WORK_NO_FLUSH,
	WORK_EVICT, /* it is written back if it was modified, and gone: CLFLUSH */
	WORK_CLEAN, /* likewise, and it stays: CLWB                             */
};

/* is_streaming: a non-temporal store. flush: enum work_flush; if any, it neither loads nor stores, and bytes is 1. */
struct work_access {
	uint64_t address;
	uint32_t bytes;
	bool is_store;
	bool is_streaming;
	uint8_t flush;
};

/*
 * The thread that executes it. Called by work_do at most once each: read_vectors only for what is masked, indexed by a
 * vector, or saves and restores these registers; read_memory for what restores them. Without one, or if it returns
 * NULL or false, these are unknown.
 */
struct work_thread {
	const struct user_regs_struct *registers; /* before it executes, as of PTRACE_GETREGS */
	const struct vector_registers *(*read_vectors)(void *context);
	void *context;
	bool (*read_memory)(void *context, uint64_t address, void *bytes, size_t nr_bytes);
};

/*
 * counts: instructions, operations, those that masks leave out, and bytes; the others are 0
 * accesses: loads first
 * is_unknown: it is not known what it does; it counts as an instruction alone
 */
struct work_done {
	uint64_t counts[STEP_NR_COUNTS];
	struct work_access accesses[WORK_MAX_ACCESSES];
	size_t nr_accesses;
	bool is_unknown;
};

#define WORK_MAX_PARTS 4
#define WORK_MAX_ALSO 2

/* How the bytes of an operand in memory follow from the active lanes. */
enum work_shape {
	WORK_WHOLE,   /* they do not                                                    */
	WORK_LANES,   /* each lane has its element; of fewer elements, several share one */
	WORK_PACKED,  /* as many elements from the first on as lanes are active          */
	WORK_INDEXED, /* each lane has an element at its own address: gather, scatter    */
};

/* The place that tells which lanes are active. */
enum work_mask {
	WORK_ALL_LANES,
	WORK_MASK_REGISTER, /* bits of k: AVX-512                                     */
	WORK_SIGNS,         /* sign bits of the elements of a vector register: VMASKMOV */
	WORK_COMPONENTS,    /* none: the parts of what is saved or restored; mask_register is enum xsave_kind */
};

/*
 * One access, decoded. Registers are numbers of 64-bit words of struct user_regs_struct, WORK_NO_REGISTER: none; the
 * index of WORK_INDEXED is the number of a vector register.
 * displacement: with all that is constant, as the length of the instruction where it is relative to the next one
 * bytes: of the whole, otherwise of an element
 * index_mask: of the bits of the index that count
 * selector: a register that selects a bit of all memory from there, which lies in an element of that many bytes
 */
#define WORK_NO_REGISTER 0xff
struct work_part {
	uint64_t displacement, address_mask, index_mask;
	uint32_t bytes;
	uint8_t shape, nr_elements;
	uint8_t base, index, segment, selector;
	uint8_t flush;       /* enum work_flush */
	uint8_t scale;       /* bits */
	uint8_t index_bytes; /* of WORK_INDEXED: 4 or 8 */
	bool is_store, is_streaming;
};

/*
 * A decoded instruction; independent of registers. Besides the first three members only work_do has to know it.
 * is_repeated: a string instruction with a repeat prefix. A single step executes one iteration of it, which is what
 *              work_do tells of, as an instruction each time: only the one after which rip has moved completes it.
 * operation:   enum step_count of its operations; STEP_INSTRUCTIONS: it has none
 * also:        other counts that these operations are of; 0: no more
 * nr_converted: numbers that it converts
 * mask_register, mask_bytes: of k or a vector, and of each element of the latter
 */
struct work {
	const char *name; /* "xsaveopt"; static */
	uint8_t length;   /* bytes */
	bool is_repeated;
	bool is_unknown;
	uint8_t operation, nr_operations; /* for each active lane */
	uint8_t also[WORK_MAX_ALSO];
	uint8_t nr_converted;
	uint8_t nr_lanes;
	uint8_t mask, mask_register, mask_bytes;
	uint8_t nr_parts;
	uint64_t counter_mask; /* of is_repeated: the bits of rcx that count */
	struct work_part parts[WORK_MAX_PARTS];
};

/* Lanes that are not active would have done operations of single or double precision. */
static inline bool
work_may_mask_flops(const struct work *work)
{
	return work->mask == WORK_MASK_REGISTER && work->operation >= STEP_SCALAR_DOUBLE &&
	       work->operation <= STEP_PACKED_SINGLE;
}

/* Adds so many operations, of an instruction that has some, to all counts that they are of. */
#define WORK_ADD_OPERATIONS(work, nr, counts)                                                                          \
	do {                                                                                                           \
		(counts)[(work)->operation] += (nr);                                                                   \
		for (unsigned also = 0; also < WORK_MAX_ALSO && (work)->also[also]; also++)                            \
			(counts)[(work)->also[also]] += (nr);                                                          \
	} while (0)

/* Decodes the first instruction of nr_bytes. False: these bytes are none (or one that Zydis does not know yet). */
bool work_decode(const uint8_t *bytes, size_t nr_bytes, struct work *work);

/* Likewise of an instruction that is decoded already, with its operands. */
void work_of(const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands, struct work *work);

/* Tells what it does when this thread executes it next. Some ten nanoseconds without masks. */
void work_do(const struct work *work, const struct work_thread *thread, struct work_done *done);

/* ---- vector registers ---- */

#define VECTOR_NR_REGISTERS 32
#define VECTOR_REGISTER_BYTES 64
#define VECTOR_NR_MASKS 8

/*
 * vectors: zmm0 to zmm31, the lowest byte first; masks: k0 to k7. What the processor does not have is 0.
 * enabled, in_use: bits of the components of its state, as of XCR0 and of those that are not as at the start.
 */
struct vector_registers {
	uint8_t vectors[VECTOR_NR_REGISTERS][VECTOR_REGISTER_BYTES];
	uint64_t masks[VECTOR_NR_MASKS];
	uint64_t enabled, in_use;
};

/*
 * Reads the registers of a thread that this one traces and that is stopped. False: the kernel refuses (no such thread,
 * or one that runs). Source: ptrace(2), PTRACE_GETREGSET; Intel SDM 1, 13.4: the standard format of the XSAVE area.
 */
bool vector_registers_read(pid_t tid, struct vector_registers *registers);
