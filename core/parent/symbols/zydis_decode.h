/* SPDX-License-Identifier: MIT */
/* How Zydis is asked, in its versions 3 and 4. */
#pragma once

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config.h"

/* Zydis 4 keeps this of an instruction until its operands are asked for. */
#if !HAVE_DECL_ZYDISDECODERDECODEINSTRUCTION
typedef struct {
	char unused;
} ZydisDecoderContext;
#endif

/*
 * Decodes the first 64-bit instruction of nr_bytes but for its operands. False: these bytes are no instruction that is
 * known.
 */
static inline bool
zydis_begin(const uint8_t *bytes, size_t nr_bytes, ZydisDecodedInstruction *decoded, ZydisDecoderContext *context)
{
	ZydisDecoder decoder;
#if HAVE_DECL_ZYDISDECODERDECODEINSTRUCTION
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, context, bytes, nr_bytes, decoded));
#else
	(void)context;
	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_ADDRESS_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeBuffer(&decoder, bytes, nr_bytes, decoded));
#endif
}

/* operands: ZYDIS_MAX_OPERAND_COUNT, of which decoded->operand_count are filled. */
static inline bool
zydis_operands(const ZydisDecodedInstruction *decoded, const ZydisDecoderContext *context,
	       ZydisDecodedOperand *operands)
{
#if HAVE_DECL_ZYDISDECODERDECODEINSTRUCTION
	ZydisDecoder decoder;

	return decoded->operand_count == 0 ||
	       (ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
		ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, context, decoded, operands, decoded->operand_count)));
#else
	(void)context;
	memcpy(operands, decoded->operands, sizeof(decoded->operands));
	return true;
#endif
}

/* Both; operands NULL: they are not asked for. */
static inline bool
zydis_decode(const uint8_t *bytes, size_t nr_bytes, ZydisDecodedInstruction *decoded, ZydisDecodedOperand *operands)
{
	ZydisDecoderContext context;

	return zydis_begin(bytes, nr_bytes, decoded, &context) &&
	       (!operands || zydis_operands(decoded, &context, operands));
}

/* Is a mnemonic the pattern, or does it begin with that if it ends with a '*'? */
static inline bool
zydis_name_is(const char *name, const char *pattern)
{
	const size_t nr = strlen(pattern);

	return pattern[nr - 1] == '*' ? strncmp(name, pattern, nr - 1) == 0 : strcmp(name, pattern) == 0;
}

/* Writes an instruction in Intel's syntax; address: where it stands. False: these bytes are none. */
static inline bool
zydis_format(const uint8_t *bytes, size_t nr_bytes, uint64_t address, char *text, size_t room)
{
	static const ZydisFormatterProperty unpadded[] = {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
							  ZYDIS_FORMATTER_PROP_DISP_PADDING,
							  ZYDIS_FORMATTER_PROP_IMM_PADDING};
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction decoded;
	ZydisFormatter formatter;

	if (!zydis_decode(bytes, nr_bytes, &decoded, operands) ||
	    !ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
		return false;
	for (size_t i = 0; i < sizeof(unpadded) / sizeof(*unpadded); i++)
		ZydisFormatterSetProperty(&formatter, unpadded[i], ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
#if HAVE_DECL_ZYDISDECODERDECODEINSTRUCTION
	return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &decoded, operands,
							    decoded.operand_count_visible, text, room, address, NULL));
#else
	return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &decoded, text, room, address));
#endif
}
