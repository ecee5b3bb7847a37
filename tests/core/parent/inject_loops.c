/* SPDX-License-Identifier: MIT */
/* See inject_loops.h. */
#include "inject_loops.h"

#define FUNCTION(name) ".balign 16\n.globl " name "\n.type " name ", @function\n" name ":\n"
#define SAVE "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
#define RESTORE "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"

/* The loop's own instructions change no flag. */
__asm__(".text\n" FUNCTION("sum_integers") SAVE
	"mov %rdi, %rcx\n"
	"mov $1, %eax\nmov $2, %ebx\nmov $3, %edx\nmov $4, %esi\nmov $5, %edi\nmov $6, %ebp\nmov $7, %r8d\n"
	"mov $8, %r9d\nmov $9, %r10d\nmov $10, %r11d\nmov $11, %r12d\nmov $12, %r13d\nmov $13, %r14d\n"
	"mov $14, %r15d\nclc\n"
	"1: jrcxz 2f\n"
	"adc %rax, %rbx\nadc %rbx, %rdx\nadc %rdx, %rsi\nadc %rsi, %rdi\nadc %rdi, %rbp\nadc %rbp, %r8\n"
	"adc %r8, %r9\nadc %r9, %r10\nadc %r10, %r11\nadc %r11, %r12\nadc %r12, %r13\nadc %r13, %r14\n"
	"adc %r14, %r15\nadc %r15, %rax\n"
	"lea -1(%rcx), %rcx\njmp 1b\n"
	"2: adc $0, %rax\n"
	".irp r, rbx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15\n"
	"imul $31, %rax, %rax\nxor %\\r, %rax\n.endr\n" RESTORE);

__asm__(".text\n" FUNCTION(
	"sum_red_zone") "mov $1, %eax\n"
			".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\nmovq $\\i, -8*\\i(%rsp)\n.endr\n"
			"1: .irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
			"add -8*\\i(%rsp), %rax\nmov %rax, -8*\\i(%rsp)\n.endr\n"
			"dec %rdi\njnz 1b\n"
			"ret\n");

/* Each of the first registers of a kind gets its number, and then more and more of its neighbour's. */
#define NUMBERS_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define NUMBERS_32 NUMBERS_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"

__asm__(".text\n" FUNCTION(
	"sum_sse") ".irp i, " NUMBERS_16
		   "\nlea 1+\\i*7(%rdi), %rax\nmovq %rax, %xmm\\i\npunpcklqdq %xmm\\i, %xmm\\i\n.endr\n"
		   "1: .irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\npaddq %xmm0, %xmm\\i\npxor %xmm\\i, %xmm0\n.endr\n"
		   "dec %rdi\njnz 1b\n"
		   ".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\npaddq %xmm\\i, %xmm0\n.endr\n"
		   "movhlps %xmm0, %xmm1\npaddq %xmm1, %xmm0\nmovq %xmm0, %rax\nret\n");

__asm__(".text\n" FUNCTION(
	"sum_avx") ".irp i, " NUMBERS_16 "\nlea 1+\\i*7(%rdi), %rax\nvmovq %rax, %xmm\\i\n"
		   "vinsertf128 $1, %xmm\\i, %ymm\\i, %ymm\\i\n.endr\n"
		   "1: .irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
		   "vpaddq %ymm0, %ymm\\i, %ymm\\i\nvpxor %ymm\\i, %ymm0, %ymm0\n.endr\n"
		   "dec %rdi\njnz 1b\n"
		   ".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\nvpaddq %ymm\\i, %ymm0, %ymm0\n.endr\n"
		   "vextracti128 $1, %ymm0, %xmm1\nvmovq %xmm0, %rax\nvmovq %xmm1, %rdx\nimul $31, %rax, %rax\nadd "
		   "%rdx, %rax\n"
		   "vzeroupper\nret\n");

__asm__(".text\n" FUNCTION(
	"sum_avx512") ".irp i, " NUMBERS_32 "\nlea 1+\\i*7(%rdi), %rax\nvpbroadcastq %rax, %zmm\\i\n.endr\n"
		      ".irp i, 1,2,3,4,5,6,7\nlea 1+\\i*5(%rdi), %eax\nkmovw %eax, %k\\i\n.endr\n"
		      "1: .irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
		      "vpaddq %zmm0, %zmm\\i, %zmm\\i{%k1}\nvpxorq %zmm\\i, %zmm0, %zmm0\n.endr\n"
		      "kxorw %k1, %k7, %k1\n.irp i, 2,3,4,5,6,7\nkxnorw %k1, %k\\i, %k\\i\nkxorw %k\\i, %k1, "
		      "%k1\n.endr\n"
		      "dec %rdi\njnz 1b\n"
		      ".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
		      "vpaddq %zmm\\i, %zmm0, %zmm0\n.endr\n"
		      "vextracti64x4 $1, %zmm0, %ymm1\nvpaddq %ymm1, %ymm0, %ymm0\n"
		      "vextracti128 $1, %ymm0, %xmm1\nvmovq %xmm0, %rax\nvmovq %xmm1, %rdx\nimul $31, %rax, %rax\nadd "
		      "%rdx, %rax\n"
		      ".irp i, 1,2,3,4,5,6,7\nkmovw %k\\i, %edx\nimul $31, %rax, %rax\nadd %rdx, %rax\n.endr\n"
		      "vzeroupper\nret\n");

/* Rounds up, with 53 bits: another setting gives another sum. */
__asm__(".text\n" FUNCTION("sum_x87") "fnstcw -8(%rsp)\nmovw $0x0a7f, -16(%rsp)\nfldcw -16(%rsp)\n"
				      "fldpi\nfldl2e\nfldl2t\nfldln2\nfldlg2\nfld1\nfldpi\nfldl2e\n"
				      "1: .irp i, 1,2,3,4,5,6,7\nfadd %st(\\i), %st\nfxch %st(\\i)\nfsqrt\n.endr\n"
				      "dec %rdi\njnz 1b\n"
				      "xor %eax, %eax\n"
				      ".rept 8\nfstpl -24(%rsp)\nimul $31, %rax, %rax\nadd -24(%rsp), %rax\n.endr\n"
				      "fldcw -8(%rsp)\nret\n");

__asm__(".text\n" FUNCTION(
	"sum_rounding") "stmxcsr -8(%rsp)\nmovl $0x3f80, -16(%rsp)\nldmxcsr -16(%rsp)\n"
			"mov $3, %eax\ncvtsi2sd %eax, %xmm1\nmov $1, %eax\ncvtsi2sd %eax, %xmm0\nmovapd %xmm0, %xmm2\n"
			"1: divsd %xmm1, %xmm0\naddsd %xmm2, %xmm0\n"
			"movq %xmm0, %rdx\nimul $31, %rax, %rax\nadd %rdx, %rax\n"
			"dec %rdi\njnz 1b\n"
			"stmxcsr -16(%rsp)\nmovl -16(%rsp), %edx\nadd %rdx, %rax\nldmxcsr -8(%rsp)\nret\n");

/* 64 words, moved up by one again and again, the last one to the beginning. */
__asm__(".text\n" FUNCTION(
	"sum_backwards") "mov %rdi, %r8\nsub $640, %rsp\n"
			 "xor %ecx, %ecx\n1: lea 5(%rcx,%rcx,2), %rdx\nmov %rdx, (%rsp,%rcx,8)\ninc %ecx\ncmp $64, "
			 "%ecx\njne 1b\n"
			 "std\n"
			 "2: mov 504(%rsp), %r9\nadd %r8, %r9\nlea 496(%rsp), %rsi\nlea 504(%rsp), %rdi\nmov $63, "
			 "%ecx\nrep movsq\n"
			 "mov %r9, (%rsp)\ndec %r8\njnz 2b\n"
			 "cld\n"
			 "xor %eax, %eax\nxor %ecx, %ecx\n"
			 "3: imul $31, %rax, %rax\nadd (%rsp,%rcx,8), %rax\ninc %ecx\ncmp $64, %ecx\njne 3b\n"
			 "add $640, %rsp\nret\n");

/* ---- restartable sequences: as linux/rseq.h describes them, with glibc's signature ---- */

__asm__(".text\n" FUNCTION("rseq_add") "1: lea rseq_add_sequence(%rip), %rax\nmov %rax, 8(%rsi)\n"
				       "2: mov 4(%rsi), %ecx\nmov (%rdi,%rcx,8), %r8\nmov %rdx, %r9\n"
				       "3: dec %r9\njnz 3b\n"
				       "add $1, %r8\nmov %r8, (%rdi,%rcx,8)\n"
				       "4: movq $0, 8(%rsi)\nret\n"
				       ".byte 0x0f, 0xb9, 0x3d\n.long 0x53053053\n"
				       "5: jmp 1b\n"
				       ".pushsection .data.rel.local, \"aw\"\n.balign 32\n"
				       "rseq_add_sequence: .long 0, 0\n.quad 2b, 4b - 2b, 5b\n.popsection\n");

/* ---- from outside ---- */

__asm__(".text\n" FUNCTION("victim_trampoline") "call *%rax\nint3\n");

#define COUNT "lock incq (%rdi)\nmov %fs:0x10, %rax\ncmp %rax, 16(%rdi)\nje 1f\nlock incq 8(%rdi)\n1:\n"

__asm__(".text\n" FUNCTION("victim_clobber") COUNT
	"mov 24(%rdi), %r8\n"
	"mov $-256, %rcx\n2: movb $0x5a, (%rsp,%rcx)\ninc %rcx\njnz 2b\n"
	"fninit\nmovw $0x037f, -8(%rsp)\nfldcw -8(%rsp)\n"
	".rept 8\nfld1\n.endr\n"
	"movl $0x5f80, -8(%rsp)\nldmxcsr -8(%rsp)\n"
	"cmp $1, %r8\nja 4f\nje 3f\n"
	".irp i, " NUMBERS_16 "\npcmpeqd %xmm\\i, %xmm\\i\n.endr\njmp 5f\n"
	"3: .irp i, " NUMBERS_16 "\nvpcmpeqd %ymm\\i, %ymm\\i, %ymm\\i\n.endr\njmp 5f\n"
	"4: .irp i, " NUMBERS_32 "\nvpternlogd $0xff, %zmm\\i, %zmm\\i, %zmm\\i\n.endr\n"
	".irp i, 0,1,2,3,4,5,6,7\nkxnorw %k\\i, %k\\i, %k\\i\n.endr\n"
	"5: mov $-1, %rax\n"
	".irp r, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15\nmov %rax, %\\r\n.endr\n"
	"cmp $1, %rax\nstd\nstc\nret\n"
	".globl victim_clobber_end\nvictim_clobber_end:\n");

__asm__(".text\n" FUNCTION("victim_conflict") COUNT "mov 4(%rdx), %ecx\nincq (%rsi,%rcx,8)\nmov %rcx, %rax\nret\n");

__asm__(".text\n" FUNCTION("victim_fault") COUNT "xor %eax, %eax\nmov %rax, (%rax)\nret\n");
