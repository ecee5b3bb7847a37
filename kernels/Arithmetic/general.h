/* SPDX-License-Identifier: MIT */
/*
 * Integers in general purpose registers: eleven chains, the constant in r14; what is left are the counter, the address
 * of the values, and the pointers to stack and frame. One constant: MUL_ADD and its kin add the multiplier.
 */
#if ROT_ARITHMETIC_PRECISION__INT32
#define CHAIN_0 "%%eax"
#define CHAIN_1 "%%ebx"
#define CHAIN_2 "%%edx"
#define CHAIN_3 "%%esi"
#define CHAIN_4 "%%edi"
#define CHAIN_5 "%%r8d"
#define CHAIN_6 "%%r9d"
#define CHAIN_7 "%%r10d"
#define CHAIN_8 "%%r11d"
#define CHAIN_9 "%%r12d"
#define CHAIN_10 "%%r13d"
#define CONSTANT "%%r14d"
#define SIZE "l "
#else
#define CHAIN_0 "%%rax"
#define CHAIN_1 "%%rbx"
#define CHAIN_2 "%%rdx"
#define CHAIN_3 "%%rsi"
#define CHAIN_4 "%%rdi"
#define CHAIN_5 "%%r8"
#define CHAIN_6 "%%r9"
#define CHAIN_7 "%%r10"
#define CHAIN_8 "%%r11"
#define CHAIN_9 "%%r12"
#define CHAIN_10 "%%r13"
#define CONSTANT "%%r14"
#define SIZE "q "
#endif
#define ADD(k) "add" SIZE CONSTANT ", " CHAIN_##k "\n"
#define MUL(k) "imul" SIZE CONSTANT ", " CHAIN_##k "\n"
#define LOAD(k, unused) "mov" SIZE START(k) ", " CHAIN_##k "\n"
#define STORE(k, unused) "mov" SIZE CHAIN_##k ", " RESULT(k) "\n"
#if ROT_ARITHMETIC_OPERATION__ADD
#define ENTER "mov" SIZE START(31) ", " CONSTANT "\n"
#else
#define ENTER "mov" SIZE START(30) ", " CONSTANT "\n"
#endif
#define LEAVE ""
#define FINISH ""
#define CLOBBERS "rax", "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14"
