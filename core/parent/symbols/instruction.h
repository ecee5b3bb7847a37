/* SPDX-License-Identifier: MIT */
/* One decoded x86-64 instruction, as far as rot asks: its length, where it goes on, and the parts of its encoding. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest instruction. Source: Intel SDM 2, 2.3.11. */
#define INSTRUCTION_MAX_BYTES 15

/* The next code to be executed. */
enum flow {
	FLOW_NEXT,          /* what follows it                                                          */
	FLOW_JUMP,          /* the target: jmp rel                                                      */
	FLOW_BRANCH,        /* the target if the condition holds, otherwise what follows: jcc, loop, jrcxz */
	FLOW_CALL,          /* the target; pushes the address of what follows: call rel                 */
	FLOW_INDIRECT_JUMP, /* the address in its operand: jmp r/m                                      */
	FLOW_INDIRECT_CALL, /* likewise, and pushes: call r/m                                           */
	FLOW_RETURN,        /* the address on the stack: ret                                            */
	FLOW_OTHER,         /* depends on more than its operands: far, iret, sysret, xbegin             */
};

/*
 * flow:       a branch with an operand-size prefix and without REX.W is FLOW_OTHER: processors disagree about it
 * condition:  of FLOW_BRANCH; see code_is_taken
 * immediate:  the first one, extended to 64 bits as encoded
 * relative:   of FLOW_JUMP, FLOW_BRANCH, FLOW_CALL: target - address of the next instruction
 * map:        of legacy instructions the opcode map, 0: one byte, 1: 0f ...; others: not 0 or 1
 * rex:        bits 3..0 are W, R, X, B
 * mod..base:  fields of ModRM and SIB as encoded, without the bits of REX; 0 where there is none
 * displacement_offset: from the first byte of the instruction; bytes 0: there is no displacement
 */
struct instruction {
	uint8_t length;
	enum flow flow;
	uint8_t condition;
	uint64_t immediate;
	int64_t relative;
	uint8_t map, opcode, rex;
	bool has_modrm, has_sib;
	bool has_address_size; /* prefix 67 */
	bool has_notrack;      /* prefix 3e */
	uint8_t mod, reg, rm, modrm_offset;
	uint8_t scale, index, base;
	uint8_t displacement_offset, displacement_bytes;
	int64_t displacement;
};

/* Decodes the first instruction of nr_bytes. False: these bytes are none (or one that Zydis does not know yet). */
bool instruction_decode(const uint8_t *bytes, size_t nr_bytes, struct instruction *instruction);

/* True if its memory operand is relative to the next instruction. */
bool instruction_is_rip_relative(const struct instruction *instruction);
