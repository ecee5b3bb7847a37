/* SPDX-License-Identifier: MIT */
/*
 * Recording of the addresses that a block accesses. Where it begins, and wherever a register that an address needs has
 * been loaded anew, the translated code writes a frame: a header, and the values of these registers. What the
 * instructions do with them is known from their decode, and kept with the frame's site.
 *
 * A frame is written at gs:[AREA_RECORD], 8 bytes each word:
 *
 *	header                RECORD_HEADER | words of the frame | number of the site
 *	registers             in the order of their numbers, those of the site
 *	mask                  of a site with one instruction whose accesses depend on a mask
 *	index, 8 words        of a gather or scatter
 *
 * Where lines are sampled, the code first looks whether a frame has one that is, in tables (LOW_LEFT_OUT) that
 * leave none out at first. Frames of other than plain or masked accesses to whole addresses are always written.
 *
 * The upper byte of the header is an int3: the code behind a frame jumps there when the byte RECORD_FULL_BYTE of the
 * place of the next one is 0, so that neither flags nor another instruction are needed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parent/profile/counted_code.h"
#include "parent/stepping/work.h"
#include "parent/translate/basic_block.h"
#include "parent/translate/emit.h"

#define RECORD_HEADER UINT32_C(0xcc000000)
#define RECORD_SITE(header) ((uint32_t)(header)&0xfffff)
#define RECORD_MAX_SITES (1 << 20)
#define RECORD_FULL_BYTE 2

/* From the int3 in a header to the code that follows the frame. */
#define RECORD_BEHIND_INT3 25

/*
 * An access whose address is plain: base + (index << scale) + displacement, of the masked bits, and the fs base if
 * is_local. base, index: words of the frame; 0: none.
 * splits: of several accesses that are one here, how many go over an address that is so many bytes behind this one's;
 * NULL: it is one
 */
struct site_access {
	uint64_t displacement, address_mask;
	uint8_t *splits;
	uint32_t bytes;
	uint8_t base, index, scale, flush;
	bool is_local, is_store, is_streaming;
};

#define SITE_LINE 64 /* bytes of the usual line */
#define SITE_MAX_ACCESSES (BLOCK_MAX_ITEMS * WORK_MAX_PARTS)

/*
 * SITE_TURNS, SITE_TURNS_END: before and behind a repeated string instruction, with rcx, rsi and rdi
 * SITE_WORK: an instruction whose accesses depend on more than plain addresses
 * SITE_BANK: the thread goes to other counters (edges.h), whose address is in rdx
 * SITE_CALL: it calls a function that allocates (rdx, rsp, rsi, rdi); SITE_RESULT: it comes to where such a function
 *   returns to (rax, rsp)
 * registers: bits of the general registers that are recorded, by their numbers
 * at: where its first instruction is; whoever goes through frames does not look at it
 */
enum site_kind { SITE_PLAIN, SITE_TURNS, SITE_TURNS_END, SITE_WORK, SITE_BANK, SITE_CALL, SITE_RESULT };

/*
 * A function that returns memory. size: the number of bytes is the product of those of its first three arguments whose
 * bits are set. object: of data.h, that the memory is
 */
struct site_allocation {
	uint32_t size, object;
};
struct site {
	enum site_kind kind;
	uint16_t registers, nr_words;
	uint16_t nr_accesses;
	bool is_repeatable; /* of SITE_PLAIN: it neither streams nor flushes, nor has an access of more than a line */
	struct site_access *accesses;
	struct work *work; /* of SITE_TURNS and SITE_WORK */
	uint64_t origin;   /* of the instruction, likewise */
	struct site_allocation allocation;
	struct counted_at at;
};

/*
 * Sites by their numbers. They stay where they are, so that others may read those that they know of.
 * splits: accesses of each site that went from one line to the next; behind the last site: those of none
 */
#define SITES_CHUNK 4096
struct sites {
	uint64_t *splits;
	struct site *chunks[RECORD_MAX_SITES / SITES_CHUNK];
	uint32_t nr;
	bool merges;     /* accesses that follow each other, where lines have SITE_LINE bytes at least */
	bool leaves_out; /* frames without a sampled line, where lines have SITE_LINE bytes */
	bool has_causes; /* uses of lines are told apart by site (uses.h) */
	bool has_bank;
	uint32_t bank; /* of recording_bank_site */
};
struct sites *sites_new(void);
void sites_delete(struct sites *sites);

static inline const struct site *
sites_at(const struct sites *sites, uint32_t number)
{
	return &sites->chunks[number / SITES_CHUNK][number % SITES_CHUNK];
}

static inline void
sites_set_at(struct sites *sites, uint32_t number, const struct counted_at *at)
{
	sites->chunks[number / SITES_CHUNK][number % SITES_CHUNK].at = *at;
}

/* NULL: there is none of that number, as in a frame that the program has written into. */
static inline const struct site *
sites_find(const struct sites *sites, uint32_t number)
{
	return number < __atomic_load_n(&sites->nr, __ATOMIC_ACQUIRE) ? sites_at(sites, number) : NULL;
}

/*
 * From LOW_LEFT_OUT on there is a word with the bits of an address that make an index, then 8 bytes for each value of
 * these bits: of a line's number modulo CACHE_RESIDUES, and which 8 bytes of the line. They are for accesses there of
 * up to 8, 16, 32 and 64 bytes: the first four are equal to the low byte of the index where the access may touch a
 * sampled line, the others 1 where it does not.
 */
#define LEFT_OUT_INDEX 0xff8
#define NR_LEFT_OUT_SIZES 4
#define LOW_TAKEN(size) (LOW_LEFT_OUT + 8 + (size))
#define LOW_NOT_TAKEN(size) LOW_TAKEN(NR_LEFT_OUT_SIZES + (size))
#define LOW_LEFT_OUT_END LOW_TAKEN(LEFT_OUT_INDEX + 8)

/* Sets the tables of a low part. residues: of lines that are sampled (cache_model_sample); UINT64_MAX: all are. */
void recording_leave_out(uint8_t *low, uint64_t residues);

/* rcx, rsi and rdi, as SITE_TURNS has them */
#define RECORD_TURNS (1 << 1 | 1 << 6 | 1 << 7)

/* rdx, rsp, rsi and rdi, as SITE_CALL has them; rax and rsp, as SITE_RESULT has them */
#define RECORD_CALL (1 << 2 | 1 << 4 | 1 << 6 | 1 << 7)
#define RECORD_RESULT (1 << 0 | 1 << 4)

/* The vector register with the indices of a gather or scatter; WORK_NO_REGISTER: it is none. */
uint8_t recording_index(const struct work *work);

/* A site is recorded before an item of a block; one of SITE_TURNS_END, behind it. */
struct recording {
	uint32_t site;
	uint16_t item;
};

#define RECORDING_MAX (2 * BLOCK_MAX_ITEMS)

/* Finds what has to be recorded of a block that is understood, in order. Returns how many. */
size_t recording_plan(struct sites *sites, const struct basic_block *block, struct recording recordings[RECORDING_MAX]);

/* The number of a SITE_BANK; UINT32_MAX: there are no more sites. */
uint32_t recording_bank_site(struct sites *sites);

/* A new SITE_CALL or SITE_RESULT, likewise. */
uint32_t recording_allocation_site(struct sites *sites, bool is_call, const struct site_allocation *allocation);

/* Writes a frame. */
void recording_emit(struct emitter *to, const struct sites *sites, uint32_t site);

/*
 * A frame that is written only if one of its lines may be sampled. As few are, the code that writes it stands aside.
 * jump: where the distance of the last jump to it stands, as long as it is not there, and is that of the one before
 * back: where it goes on
 * rcx: where the program's is
 * reg: that was changed; is_loaded: it is what the next instruction loads, and its value before is in AREA_LOADED
 */
enum rcx_place { RCX_THERE, RCX_SAVED, RCX_IN_REGISTER };
struct aside {
	uint32_t site, jump, back;
	enum rcx_place rcx;
	uint8_t reg;
	bool is_loaded;
};

/*
 * Values that nobody needs. reg: that the next instruction sets; -1: none. is_loaded: as that may fault, a handler
 * would see it
 */
struct recording_free {
	bool flags, is_loaded;
	int reg;
};

/*
 * Looks whether the frame of a site, that of aside, has to be written. False: it always has to be, and there is no
 * code. low_address: of the code cache's low part. aside: writes it.
 */
bool recording_emit_filter(struct emitter *to, const struct sites *sites, const struct recording_free *may_change,
			   uint64_t low_address, struct aside *aside);
void recording_emit_aside(struct emitter *to, const struct sites *sites, const struct aside *aside);
