/* SPDX-License-Identifier: MIT */
/*
 * A program to be looked into: functions with known exits, names of all kinds, lines and markers. It prints the address
 * of the function two_returns and waits for the end of its input.
 */
#include <stdio.h>
#include <unistd.h>

#include "rot-marker.h"

void two_returns(void);
int first_user(int x);
int second_user(int x);
int marked(int x);
int twin_of_other_file(int x);

volatile int sink;

#define FUNCTION(name) "	.globl " name "\n	.type " name ", @function\n" name ":\n"
#define END(name) "	.size " name ", . - " name "\n"

__asm__(".text\n"
	/* clang-format off */
	FUNCTION("two_returns") "	test %edi, %edi\n	je 1f\n	ret\n1:	ret\n" END("two_returns")
	FUNCTION("tail_call") "	nop\n	jmp two_returns\n" END("tail_call")
	FUNCTION("branch_call") "	test %edi, %edi\n	je two_returns\n	ret\n" END("branch_call")
	FUNCTION("pointer_call") "	mov (%rdi), %rax\n	jmp *%rax\n" END("pointer_call")
	FUNCTION("spin") "	dec %edi\n	jne spin\n	ret\n" END("spin")
	FUNCTION("with_endbr") "	endbr64\n	nop\n	ret\n" END("with_endbr")
	FUNCTION("spin_behind_endbr") "	endbr64\n1:	dec %edi\n	jne 1b\n	ret\n" END("spin_behind_endbr")
	FUNCTION("never_returns") "	nop\n1:	jmp 1b\n" END("never_returns")
	FUNCTION("jumps_in_frame") "	.cfi_startproc\n	push %rbx\n	.cfi_def_cfa_offset 16\n	jmp *%rax\n"
		"	jmp two_returns\n	pop %rbx\n	.cfi_def_cfa_offset 8\n	jmp *%rax\n	.cfi_endproc\n" END("jumps_in_frame")
	/* Parts that the compiler put elsewhere: by name, and by a jump back. */
	FUNCTION("split") "	test %edi, %edi\n	je split.cold\n	js 3f\n2:	nop\n	ret\n" END("split")
	FUNCTION("in_between") "	ret\n" END("in_between")
	FUNCTION("around") "	nop\n" FUNCTION("inside") "	nop\n	nop\n" END("inside") "	ret\n" END("around")
	"	.type split.cold, @function\nsplit.cold:\n	nop\n	ret\n" END("split.cold")
	"	.type nameless, @function\nnameless:\n3:	nop\n	jmp 2b\n" END("nameless")
	/* Ends that nobody told. */
	"	.globl sizeless\nsizeless:\n	nop\n	ret\n"
	"	.globl behind_sizeless\nbehind_sizeless:\n	ret\n"
	"	.globl runs_on\nruns_on:\n	nop\nrun_on_label:\n	dec %edi\n	jne run_on_label\n	ret\n"
	"	.globl sizeless_with_frame\nsizeless_with_frame:\n	.cfi_startproc\n	ret\n	nop\n	ret\n	.cfi_endproc\n	ret\n"
	/* Names that compilers make. */
	"	.type cloned.constprop.0, @function\ncloned.constprop.0:\n	ret\n" END("cloned.constprop.0")
	"	.type cloned.part.0, @function\ncloned.part.0:\n	ret\n" END("cloned.part.0")
	FUNCTION("_ZN2ns5solveEi") "	ret\n" END("_ZN2ns5solveEi")
	FUNCTION("_ZN2ns5solveEd") "	ret\n" END("_ZN2ns5solveEd")
	FUNCTION("_ZN5other5solveEv") "	ret\n" END("_ZN5other5solveEv")
	FUNCTION("with_team") "	lea with_team._omp_fn.0(%rip), %rdi\n	lea two_returns(%rip), %rsi\n	ret\n" END("with_team")
	FUNCTION("above_team") "	nop\n	call two_returns\n	jmp further_above_team\n" END("above_team")
	FUNCTION("further_above_team") "	call with_team\n	call above_team\n	ret\n" END("further_above_team")
	"	.type with_team._omp_fn.0, @function\nwith_team._omp_fn.0:\n	lea .omp_outlined..1(%rip), %rdi\n	ret\n"
		END("with_team._omp_fn.0")
	"	.type .omp_outlined..1, @function\n.omp_outlined..1:\n	lea with_team._omp_fn.0(%rip), %rdi\n	ret\n"
		END(".omp_outlined..1")
	/* Marks; the bytes of one stand within another instruction, too. */
	FUNCTION("with_marks") "	mov $0xface, %ebx\n	.byte 0x64, 0x67, 0x90\n	mov $111, %ebx\n	.byte 0x64, 0x67, 0x90\n"
		"	mov $0xface, %r11d\n	.byte 0x64, 0x67, 0x90\n	mov $0xdead, %ebx\n	.byte 0x64, 0x67, 0x90\n"
		"	mov $0xface, %ebx\n	.byte 0x64, 0x67, 0x90\n	ret\n" END("with_marks")
	FUNCTION("alias_of") FUNCTION("__alias_of") "	ret\n" END("alias_of") END("__alias_of")
#if !defined __PIE__ && !defined __PIC__
	FUNCTION("own_table") "	jmp *1f(,%rdi,8)\n2:	nop\n	ret\n" END("own_table")
	"	.section .rodata\n	.balign 8\n1:	.quad 2b, 2b\n	.text\n"
	FUNCTION("table_of_functions") "	jmp *1f(,%rdi,8)\n" END("table_of_functions")
	"	.section .rodata\n1:	.quad two_returns, two_returns\n	.text\n"
#endif
	/* clang-format on */
);

#ifdef __GLIBC__
int chosen(int x);

__attribute__((used, noinline)) static int
choice(int x)
{
	return sink = x + 1;
}

__attribute__((used)) static int (*resolve_chosen(void))(int)
{
	return choice;
}

__attribute__((ifunc("resolve_chosen"))) int chosen(int x);
#endif

/* Two functions of one name: the other one is in the other file. */
__attribute__((noinline)) static int
twin(int x)
{
	return sink = x - 1;
}

__attribute__((always_inline)) static inline int
mark(int x)
{
	ROT_REGION_BEGIN(marked_region);
	sink = x;
	ROT_REGION_END(marked_region);
	return sink;
}

__attribute__((noinline)) int
marked(int x)
{
	int sum = mark(x) + mark(x + 1);

	ROT_REGION_BEGIN(endless_region);
	return sum + twin(x);
}

/* Inlined in two functions, twice in one of them. Line 103 has no code, nor has anything behind line 126. */
/* clang-format off */
#line 100 "folder/lines.c"
__attribute__((always_inline)) static inline int copied(int x)
{
	sink = x;

	return sink + 1;
}

__attribute__((noinline)) int first_user(int x)
{
	int sum = copied(x);
	sum += copied(sum);
	return sum;
}

__attribute__((noinline)) int second_user(int x)
{
	for (int i = 0; i < x; i++)
		sink += i;
	return copied(x);
}

int main(void)
{
	char byte;
	printf("%p\n", (void *)two_returns), fflush(stdout), sink = first_user(1) + second_user(2) + marked(3);
	return read(0, &byte, 1) != 0;
}

/* Two objects that were compiled from sources of one name, of which one has code on line 202. */
#ifdef __PIE__
#line 200 "folder/plugin.c"
__attribute__((used, noinline)) static int plugin(int x)
{
	return sink = x + 3;
}
#else
#line 300 "folder/plugin.c"
__attribute__((used, noinline)) static int plugin(int x)
{
	return sink = x + 4;
}
#endif
