/* SPDX-License-Identifier: MIT */
/* See work_tables.h. */
#include "parent/stepping/work_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NR(table) (sizeof(table) / sizeof((table)[0]))

#define PACKED(name, nr)                                                                                               \
	{name "ps", STEP_PACKED_SINGLE, 4, nr},                                                                        \
	{                                                                                                              \
		name "pd", STEP_PACKED_DOUBLE, 8, nr                                                                   \
	}
#define SCALAR(name, nr)                                                                                               \
	{name "ss", STEP_SCALAR_SINGLE, 0, nr},                                                                        \
	{                                                                                                              \
		name "sd", STEP_SCALAR_DOUBLE, 0, nr                                                                   \
	}
#define ONE(name) PACKED(name, 1), SCALAR(name, 1), PACKED("v" name, 1), SCALAR("v" name, 1)
#define ONE_PACKED(name) PACKED(name, 1), PACKED("v" name, 1)
/* In three orders of operands, and with four of them (FMA4). */
#define FUSED_PACKED(name) PACKED(name "132", 2), PACKED(name "213", 2), PACKED(name "231", 2), PACKED(name, 2)
#define FUSED(name)                                                                                                    \
	FUSED_PACKED(name), SCALAR(name "132", 2), SCALAR(name "213", 2), SCALAR(name "231", 2), SCALAR(name, 2)
#define X87(name)                                                                                                      \
	{                                                                                                              \
		name, STEP_X87, 0, 1                                                                                   \
	}

#define INTEGER(name)                                                                                                  \
	{                                                                                                              \
		name, STEP_SCALAR_INTEGER, 0, 1                                                                        \
	}
/* Elements of a vector: as the names of MMX and SSE, and of AVX. */
#define INTEGERS(name, bytes, nr)                                                                                      \
	{name, STEP_PACKED_INTEGER, bytes, nr},                                                                        \
	{                                                                                                              \
		"v" name, STEP_PACKED_INTEGER, bytes, nr                                                               \
	}
#define INTEGERS_OF_2(name) INTEGERS(name "b", 1, 1), INTEGERS(name "w", 2, 1)
#define INTEGERS_OF_4(name) INTEGERS_OF_2(name), INTEGERS(name "d", 4, 1), INTEGERS(name "q", 8, 1)
/* Products of four bytes, or of two words, are added to each element. */
#define DOT_PRODUCTS(name) INTEGERS(name, 4, 8), INTEGERS(name "s", 4, 8)
#define DOT_PRODUCTS_OF_2(name) INTEGERS(name, 4, 4), INTEGERS(name "s", 4, 4)

static const struct work_operations operations[] = {
	ONE("add"),
	ONE("sub"),
	ONE("mul"),
	ONE("div"),
	ONE("sqrt"),
	ONE_PACKED("addsub"),
	ONE_PACKED("hadd"),
	ONE_PACKED("hsub"),
	FUSED("vfmadd"),
	FUSED("vfmsub"),
	FUSED("vfnmadd"),
	FUSED("vfnmsub"),
	FUSED_PACKED("vfmaddsub"),
	FUSED_PACKED("vfmsubadd"),
	PACKED("dp", 0),
	PACKED("vdp", 0),
	X87("fadd"),
	X87("faddp"),
	X87("fiadd"),
	X87("fsub"),
	X87("fsubp"),
	X87("fisub"),
	X87("fsubr"),
	X87("fsubrp"),
	X87("fisubr"),
	X87("fmul"),
	X87("fmulp"),
	X87("fimul"),
	X87("fdiv"),
	X87("fdivp"),
	X87("fidiv"),
	X87("fdivr"),
	X87("fdivrp"),
	X87("fidivr"),
	X87("fsqrt"),
	INTEGER("add"),
	INTEGER("adc"),
	INTEGER("adcx"),
	INTEGER("adox"),
	INTEGER("inc"),
	INTEGER("xadd"),
	INTEGER("sub"),
	INTEGER("sbb"),
	INTEGER("dec"),
	INTEGER("neg"),
	INTEGER("mul"),
	INTEGER("mulx"),
	INTEGER("imul"),
	INTEGER("div"),
	INTEGER("idiv"),
	INTEGERS_OF_4("padd"),
	INTEGERS_OF_4("psub"),
	INTEGERS_OF_2("padds"),
	INTEGERS_OF_2("paddus"),
	INTEGERS_OF_2("psubs"),
	INTEGERS_OF_2("psubus"),
	INTEGERS("phaddw", 2, 1),
	INTEGERS("phaddsw", 2, 1),
	INTEGERS("phaddd", 4, 1),
	INTEGERS("phsubw", 2, 1),
	INTEGERS("phsubsw", 2, 1),
	INTEGERS("phsubd", 4, 1),
	INTEGERS("pmullw", 2, 1),
	INTEGERS("pmulhw", 2, 1),
	INTEGERS("pmulhuw", 2, 1),
	INTEGERS("pmulhrsw", 2, 1),
	INTEGERS("pmulld", 4, 1),
	INTEGERS("pmullq", 8, 1),
	INTEGERS("pmuldq", 8, 1),
	INTEGERS("pmuludq", 8, 1),
	INTEGERS("pmaddwd", 4, 3),
	INTEGERS("pmaddubsw", 2, 3),
	INTEGERS("pmadd52luq", 8, 2),
	INTEGERS("pmadd52huq", 8, 2),
	DOT_PRODUCTS("pdpbusd"),
	DOT_PRODUCTS("pdpbssd"),
	DOT_PRODUCTS("pdpbsud"),
	DOT_PRODUCTS("pdpbuud"),
	DOT_PRODUCTS_OF_2("pdpwssd"),
	DOT_PRODUCTS_OF_2("pdpwsud"),
	DOT_PRODUCTS_OF_2("pdpwusd"),
	DOT_PRODUCTS_OF_2("pdpwuud"),
};

static const struct work_special specials[] = {
	{"nop", WORK_NO_ACCESS, 0, 0},
	{"prefetch*", WORK_NO_ACCESS, 0, 0},
	{"cldemote", WORK_NO_ACCESS, 0, 0},
	{"vgatherpf*", WORK_NO_ACCESS, 0, 0},
	{"vscatterpf*", WORK_NO_ACCESS, 0, 0},
	{"monitor*", WORK_NO_ACCESS, 0, 0},
	{"umonitor", WORK_NO_ACCESS, 0, 0},
	/* Not executed by any processor of today: MPX, whose instructions are nop without it. */
	{"bnd*", WORK_NO_ACCESS, 0, 0},
	/* How much they access depends on more than the instruction. */
	{"xsave", WORK_XSAVE, 0, 0},
	{"xsave64", WORK_XSAVE, 0, 0},
	{"xsavec", WORK_XSAVEC, 0, 0},
	{"xsavec64", WORK_XSAVEC, 0, 0},
	{"xrstor", WORK_XRSTOR, 0, 0},
	{"xrstor64", WORK_XRSTOR, 0, 0},
	{"xsave*", WORK_UNKNOWN, 0, 0},
	{"xrstor*", WORK_UNKNOWN, 0, 0},
	{"xstore*", WORK_UNKNOWN, 0, 0},
	{"xcrypt*", WORK_UNKNOWN, 0, 0},
	{"xsha*", WORK_UNKNOWN, 0, 0},
	{"montmul", WORK_UNKNOWN, 0, 0},
	{"tileload*", WORK_UNKNOWN, 0, 0},
	{"tilestore*", WORK_UNKNOWN, 0, 0},
	{"lwp*", WORK_UNKNOWN, 0, 0},
	{"llwpcb", WORK_UNKNOWN, 0, 0},
	{"slwpcb", WORK_UNKNOWN, 0, 0},
	/* What they do is not what the thread does. */
	{"int1", WORK_UNKNOWN, 0, 0},
	{"int3", WORK_NO_ACCESS, 0, 0},
	{"iret*", WORK_UNKNOWN, 0, 0},
	{"uiret", WORK_UNKNOWN, 0, 0},
	{"ud0", WORK_UNKNOWN, 0, 0},
	{"ud1", WORK_UNKNOWN, 0, 0},
	{"ud2", WORK_UNKNOWN, 0, 0},
	{"in", WORK_UNKNOWN, 0, 0},
	{"out", WORK_UNKNOWN, 0, 0},
	{"insb", WORK_UNKNOWN, 0, 0},
	{"insw", WORK_UNKNOWN, 0, 0},
	{"insd", WORK_UNKNOWN, 0, 0},
	{"outs*", WORK_UNKNOWN, 0, 0},
	{"enqcmd*", WORK_UNKNOWN, 0, 0},
	/* Done to caches; Intel SDM 2, AMD APM 3. */
	{"clflush*", WORK_FLUSH_LINE, 0, 0},
	{"clwb", WORK_CLEAN_LINE, 0, 0},
	{"clzero", WORK_ZERO_LINE, 0, 0},
	{"xlat*", WORK_TABLE, 0, 0},
	/* Zydis does not tell the address, or how often. */
	{"maskmovq", WORK_UNKNOWN, 0, 0},
	{"v4f*", WORK_UNKNOWN, 0, 0},
	{"vp4dp*", WORK_UNKNOWN, 0, 0},
	/* Zydis 4.0 has them in a class that suppresses faults; Zen 4 takes them, as the Intel SDM says (E4NF). */
	{"vcvtne2ps2bf16", WORK_WHOLE_LOAD, 0, 0},
	{"vdbpsadbw", WORK_WHOLE_LOAD, 0, 0},
	{"vgf2p8affine*", WORK_WHOLE_LOAD, 0, 0},
	{"enter", WORK_ENTER, 0, 0},
	{"pop", WORK_POP, 0, 0},
	{"bt", WORK_BITS, 0, 0},
	{"btc", WORK_BITS, 0, 0},
	{"btr", WORK_BITS, 0, 0},
	{"bts", WORK_BITS, 0, 0},
	{"movntdqa", WORK_USUAL, 0, 0}, /* a load */
	{"movnt*", WORK_STREAMING, 0, 0},
	{"vmovntdqa", WORK_USUAL, 0, 0},
	{"vmovnt*", WORK_STREAMING, 0, 0},
	{"movdir*", WORK_STREAMING, 0, 0},
	{"maskmovdqu", WORK_STREAMING_SIGN_MASK, 1, 0},
	{"vmaskmovdqu", WORK_STREAMING_SIGN_MASK, 1, 0},
	{"vmaskmovps", WORK_SIGN_MASK, 4, 0},
	{"vmaskmovpd", WORK_SIGN_MASK, 8, 0},
	{"vpmaskmovd", WORK_SIGN_MASK, 4, 0},
	{"vpmaskmovq", WORK_SIGN_MASK, 8, 0},
	{"vcompressps", WORK_FRONT, 4, 0},
	{"vcompresspd", WORK_FRONT, 8, 0},
	{"vpcompressb", WORK_FRONT, 1, 0},
	{"vpcompressw", WORK_FRONT, 2, 0},
	{"vpcompressd", WORK_FRONT, 4, 0},
	{"vpcompressq", WORK_FRONT, 8, 0},
	{"vexpandps", WORK_FRONT, 4, 0},
	{"vexpandpd", WORK_FRONT, 8, 0},
	{"vpexpandb", WORK_FRONT, 1, 0},
	{"vpexpandw", WORK_FRONT, 2, 0},
	{"vpexpandd", WORK_FRONT, 4, 0},
	{"vpexpandq", WORK_FRONT, 8, 0},
	{"vgatherdps", WORK_GATHER_SCATTER, 4, 4},
	{"vgatherdpd", WORK_GATHER_SCATTER, 8, 4},
	{"vgatherqps", WORK_GATHER_SCATTER, 4, 8},
	{"vgatherqpd", WORK_GATHER_SCATTER, 8, 8},
	{"vpgatherdd", WORK_GATHER_SCATTER, 4, 4},
	{"vpgatherdq", WORK_GATHER_SCATTER, 8, 4},
	{"vpgatherqd", WORK_GATHER_SCATTER, 4, 8},
	{"vpgatherqq", WORK_GATHER_SCATTER, 8, 8},
	{"vscatterdps", WORK_GATHER_SCATTER, 4, 4},
	{"vscatterdpd", WORK_GATHER_SCATTER, 8, 4},
	{"vscatterqps", WORK_GATHER_SCATTER, 4, 8},
	{"vscatterqpd", WORK_GATHER_SCATTER, 8, 8},
	{"vpscatterdd", WORK_GATHER_SCATTER, 4, 4},
	{"vpscatterdq", WORK_GATHER_SCATTER, 8, 4},
	{"vpscatterqd", WORK_GATHER_SCATTER, 4, 8},
	{"vpscatterqq", WORK_GATHER_SCATTER, 8, 8},
};

static bool
matches(const char *name, const char *pattern)
{
	size_t nr = strlen(pattern);

	return pattern[nr - 1] == '*' ? strncmp(name, pattern, nr - 1) == 0 : strcmp(name, pattern) == 0;
}

const struct work_operations *
work_find_operations(const char *name)
{
	for (size_t i = 0; i < NR(operations); i++)
		if (strcmp(operations[i].name, name) == 0)
			return &operations[i];
	return NULL;
}

const struct work_special *
work_find_special(const char *name)
{
	static const struct work_special usual = {"", WORK_USUAL, 0, 0};

	for (size_t i = 0; i < NR(specials); i++)
		if (matches(name, specials[i].name))
			return &specials[i];
	return &usual;
}
