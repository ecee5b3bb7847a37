/* SPDX-License-Identifier: MIT */
/* Functions that begin with all kinds of instructions: what the victim kinds.c executes and a test stops at. */
#pragma once

/* In the code of the victim: this text with its final 0, then the distance from its begin to each function (int32_t).
 */
#define KINDS_MAGIC "rot-kinds-table"

/*
 * KIND(name, what the processor must have, first instruction, the rest, the result). In the result r are the registers
 * that the function was called with, sum is rdi + rsi of them.
 */
#define KINDS                                                                                                          \
	KIND(push, NOTHING, "push %rbx", "mov %rdi, %rbx; lea (%rbx,%rsi), %rax; pop %rbx; ret", sum)                  \
	KIND(push_memory, NOTHING, "pushq constant(%rip)", "pop %rax; ret", 77)                                        \
	KIND(sub_rsp, NOTHING, "sub $24, %rsp", "mov %rdi, 8(%rsp); mov 8(%rsp), %rax; add $24, %rsp; ret", r->rdi)    \
	KIND(endbr, NOTHING, "endbr64", "lea (%rdi,%rsi), %rax; ret", sum)                                             \
	KIND(call_near, NOTHING, "call helper", "add %rsi, %rax; ret", sum)                                            \
	KIND(call_memory, NOTHING, "call *helper_pointer(%rip)", "add %rsi, %rax; ret", sum)                           \
	KIND(call_indirect, NOTHING, "call *8(%r10)", "add %rsi, %rax; ret", sum)                                      \
	KIND(call_stack, NOTHING, "call *-16(%rsp)", "add %rsi, %rax; ret", sum)                                       \
	KIND(call_register, NOTHING, "call *%r11", "add %rsi, %rax; ret", sum)                                         \
	KIND(jmp_short, NOTHING, "jmp 1f", "ud2; 1: lea (%rdi,%rsi), %rax; ret", sum)                                  \
	KIND(jmp_near, NOTHING, ".byte 0xe9; .long sum_helper - 2f; 2:", "ud2", sum)                                   \
	KIND(jmp_memory, NOTHING, "jmp *sum_pointer(%rip)", "ud2", sum)                                                \
	KIND(jmp_register, NOTHING, "jmp *%r11", "ud2", r->rdi)                                                        \
	KIND(jcc_short, NOTHING, "je 1f", "lea (%rdi,%rsi), %rax; ret; 1: lea 1(%rdi,%rsi), %rax; ret",                \
	     sum + (r->first == r->second))                                                                            \
	KIND(jcc_near, NOTHING,                                                                                        \
	     ".byte 0x0f, 0x85; .long 1f - 2f; 2:", "lea (%rdi,%rsi), %rax; ret; 1: lea 1(%rdi,%rsi), %rax; ret",      \
	     sum + (r->first != r->second))                                                                            \
	KIND(loop, NOTHING, "loop 1f", "lea (%rdi,%rsi), %rax; ret; 1: lea 1(%rdi,%rsi), %rax; ret",                   \
	     sum + (r->rcx != 1))                                                                                      \
	KIND(jrcxz, NOTHING, "jrcxz 1f", "lea (%rdi,%rsi), %rax; ret; 1: lea 1(%rdi,%rsi), %rax; ret",                 \
	     sum + (r->rcx == 0))                                                                                      \
	KIND(ret, NOTHING, "ret", "ud2", r->rax)                                                                       \
	KIND(sse, NOTHING, "movdqa constant(%rip), %xmm0", "movq %xmm0, %rax; ret", 77)                                \
	KIND(sse_immediate, NOTHING, "pshufd $0x4e, constant(%rip), %xmm1", "movq %xmm1, %rax; ret", 78)               \
	KIND(avx, AVX, "vpermilpd $0, constant(%rip), %ymm15", "vmovq %xmm15, %rax; vzeroupper; ret", 77)              \
	KIND(avx512, AVX512, "vmovdqu64 constant(%rip), %zmm31", "vmovq %xmm31, %rax; vzeroupper; ret", 77)            \
	KIND(avx512_immediate, AVX512, "vpternlogq $0xff, constant(%rip), %zmm30, %zmm30",                             \
	     "vmovq %xmm30, %rax; vzeroupper; ret", UINT64_MAX)                                                        \
	KIND(rep_movs, NOTHING, "rep movsb", "movzbl -1(%rdi), %eax; ret", 55)                                         \
	KIND(pushf, NOTHING, "pushf", "pop %rax; and $0x1c5, %eax; ret", flags_of(r->first, r->second))                \
	KIND(cpuid, NOTHING, "cpuid", "ret", highest_leaf)                                                             \
	KIND(system_call, NOTHING, "syscall", "ret", process)                                                          \
	KIND(lea, NOTHING, "lea constant(%rip), %rax", "ret", (uint64_t)constant)                                      \
	KIND(cmpxchg, NOTHING, "lock cmpxchg %rdx, constant(%rip)", "ret", 77)                                         \
	KIND(compare, NOTHING, "cmpl $77, constant(%rip)", "sete %al; movzbl %al, %eax; ret", 1)                       \
	KIND(add_immediate, NOTHING, "lock addq $0x1000, total(%rip)", "lea (%rdi,%rsi), %rax; ret", sum)              \
	KIND(xchg, NOTHING, "xchg %rdi, %rsi", "lea (%rsi,%rsi), %rax; ret", 2 * r->rdi)                               \
	KIND(mov_immediate, NOTHING, "movabs $0x123456789abcdef0, %rax", "ret", 0x123456789abcdef0)                    \
	KIND(nop, NOTHING, "nop", "lea (%rdi,%rsi), %rax; ret", sum)                                                   \
	KIND(nop_long, NOTHING, "nopw %cs:0(%rax,%rax,1)", "lea (%rdi,%rsi), %rax; ret", sum)                          \
	KIND(fpu, NOTHING, "fldl float_constant(%rip)", "fistpll -8(%rsp); mov -8(%rsp), %rax; ret", 79)               \
	KIND(red_zone, NOTHING, "mov %rdi, -16(%rsp)", "mov -16(%rsp), %rax; add %rsi, %rax; ret", sum)                \
	KIND(leave, NOTHING, "leave", "ret", r->rax)                                                                   \
	KIND(fault, NOTHING, "mov (%rdx), %rax", "ret", 77)                                                            \
	KIND(undefined, NOTHING, "ud2", "ret", r->rax)                                                                 \
	KIND(divide, NOTHING, "div %rsi", "ret", r->rax)                                                               \
	KIND(own_trap, NOTHING, "int3", "ret", r->rax)

#define KIND(name, needs, first, rest, result) KIND_##name,
enum kind { KINDS NR_KINDS };
#undef KIND

/* Has this processor what a kind needs? */
#define HAS_NOTHING 1
#define HAS_AVX __builtin_cpu_supports("avx")
#define HAS_AVX512 __builtin_cpu_supports("avx512f")
