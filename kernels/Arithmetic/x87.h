/* SPDX-License-Identifier: MIT */
/*
 * The x87: st(0) holds the constant, st(1)... the chains. It computes with 80 bits, and only loads and stores in the
 * precision asked for. There is room for one constant: MUL_ADD and its kin add 1 - DELTA, up to CHUNK.
 */
#define CHAIN_0 "%%st(1)"
#define CHAIN_1 "%%st(2)"
#define CHAIN_2 "%%st(3)"
#define CHAIN_3 "%%st(4)"
#define CHAIN_4 "%%st(5)"
#define CHAIN_5 "%%st(6)"
#define CHAIN_6 "%%st(7)"
#if ROT_ARITHMETIC_PRECISION__FLOAT
#define X87_SIZE "s"
#else
#define X87_SIZE "l"
#endif
#define ADD(k) "fadd %%st, " CHAIN_##k "\n"
#define MUL(k) "fmul %%st, " CHAIN_##k "\n"
/* In this syntax the names of fdiv and fdivr are exchanged: this is st(i) = st(i) / st(0). */
#define DIV(k) "fdivr %%st, " CHAIN_##k "\n"
#define LOAD(k, unused) "fld" X87_SIZE " " START(k) "\n"
#define STORE(k, unused) "fstp" X87_SIZE " " RESULT(k) "\n"
#if ROT_ARITHMETIC_OPERATION__ADD
#define ENTER "fld" X87_SIZE " " START(31) "\n"
#else
#define ENTER "fld" X87_SIZE " " START(30) "\n"
#endif
#define LEAVE "fstp %%st\n"
#define FINISH ""
#define CLOBBERS "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
