/* SPDX-License-Identifier: MIT */
/* Registers of 128, 256 and 512 bits: one number in them, or as many as fit. The last two hold M and A. */
#if ROT_ARITHMETIC_INSTRUCTION_SET__AVX512
#define REGISTER "%%zmm"
#elif ROT_ARITHMETIC_INSTRUCTION_SET__AVX2
#define REGISTER "%%ymm"
#else
#define REGISTER "%%xmm"
#endif

#if ROT_ARITHMETIC_INSTRUCTION_SET__AVX512 || ROT_ARITHMETIC_REGISTERS == 32
#define M REGISTER "30"
#define A REGISTER "31"
#define CLOBBERS                                                                                                       \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",     \
		"xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",     \
		"xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31"
#else
#define M REGISTER "14"
#define A REGISTER "15"
#define CLOBBERS                                                                                                       \
	"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",     \
		"xmm13", "xmm14", "xmm15"
#endif

/* IS_VEX: three operands. The encoding of SSE where it can do the work, else that of AVX. */
#if (ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR || ROT_ARITHMETIC_INSTRUCTION_SET__SSE) && !USES_FMA &&                    \
	ROT_ARITHMETIC_REGISTERS == 16
#define IS_VEX 0
#define VEX ""
#define FINISH ""
#else
#define IS_VEX 1
#define VEX "v"
#define FINISH "vzeroupper\n"
#endif

#if ROT_ARITHMETIC_PRECISION__INT32
#define ADD_NAME "paddd "
#define MUL_NAME "pmulld "
#elif ROT_ARITHMETIC_PRECISION__INT64
#define ADD_NAME "paddq "
#define MUL_NAME "pmullq "
#elif ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR
#define SHAPE "s" PRECISION " "
#else
#define SHAPE "p" PRECISION " "
#endif
#ifdef SHAPE
#define ADD_NAME "add" SHAPE
#define MUL_NAME "mul" SHAPE
#define DIV_NAME "div" SHAPE
#define SQRT_NAME "sqrt" SHAPE
#define FMA_NAME "vfmadd213" SHAPE
#endif

#if ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR
#define MOVE VEX "movs" PRECISION " "
#else
#define MOVE VEX "movups "
#endif

#if IS_VEX
#define WITH(name, constant, k) "v" name constant ", " REGISTER #k ", " REGISTER #k "\n"
#else
#define WITH(name, constant, k) name constant ", " REGISTER #k "\n"
#endif
#define ADD(k) WITH(ADD_NAME, A, k)
#define MUL(k) WITH(MUL_NAME, M, k)
#define DIV(k) WITH(DIV_NAME, M, k)
#define FMA(k) FMA_NAME A ", " M ", " REGISTER #k "\n"
/* Always of M: the root of a root of a root is soon 1, which some processors are faster with. */
#if IS_VEX && ROT_ARITHMETIC_INSTRUCTION_SET__SCALAR
#define SQRT(k) "v" SQRT_NAME M ", " M ", " REGISTER #k "\n"
#else
#define SQRT(k) VEX SQRT_NAME M ", " REGISTER #k "\n"
#endif

#define LOAD(k, unused) MOVE START(k) ", " REGISTER #k "\n"
#define STORE(k, unused) MOVE REGISTER #k ", " RESULT(k) "\n"
#define ENTER MOVE START(30) ", " M "\n" MOVE START(31) ", " A "\n"
#define LEAVE ""
