/* SPDX-License-Identifier: MIT */
/* How Zydis is asked, in its versions 3 and 4: for the files that know it, instruction.c and stepping/work_decode.c. */
#ifndef CORE_PARENT_SYMBOLS_ZYDIS_DECODE_H
#define CORE_PARENT_SYMBOLS_ZYDIS_DECODE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config.h"

/*
 * Decodes the first 64-bit instruction of nr_bytes. operands: ZYDIS_MAX_OPERAND_COUNT, of which decoded->operand_count
 * are filled; NULL: they are not asked for. False: these bytes are no instruction that is known.
 */
static inline bool
zydis_decode(const uint8_t *bytes, size_t nr_bytes, ZydisDecodedInstruction *decoded, ZydisDecodedOperand *operands)
{
	ZydisDecoder decoder;
#if HAVE_DECL_ZYDISDECODERDECODEINSTRUCTION
	ZydisDecoderContext context;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, nr_bytes, decoded)))
		return false;
	return !operands || decoded->operand_count == 0 ||
	       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &context, decoded, operands, decoded->operand_count));
#else
	if (!ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(&decoder, bytes, nr_bytes, decoded)))
		return false;
	if (operands)
		memcpy(operands, decoded->operands, sizeof(decoded->operands));
	return true;
#endif
}

#endif
